# SPDX-License-Identifier: Apache-2.0
"""The words of a target: methods, formats, signedness, operator sets."""

from __future__ import annotations

from enum import Enum, EnumMeta, StrEnum


class QuantizationMethod(Enum):
    """Family of grids. `SYMMETRIC_UNIFORM` is how MCT 1.0 calls `POWER_OF_TWO`, `LUT_QUANTIZER` how MCT before 1.8
    calls `LUT_POT_QUANTIZER`."""

    POWER_OF_TWO = 0
    LUT_POT_QUANTIZER = 1
    SYMMETRIC = 2
    UNIFORM = 3
    LUT_SYM_QUANTIZER = 4
    SYMMETRIC_UNIFORM = 0
    LUT_QUANTIZER = 1


class QuantizationFormat(Enum):
    """The forms in which MCT 1.9 and 1.10 export. Here the exporter chooses the form, and the target does not."""

    FAKELY_QUANT = 0
    INT8 = 1


class Signedness(Enum):
    """Signedness of the grid of a result; `AUTO` follows the data."""

    AUTO = 0
    SIGNED = 1
    UNSIGNED = 2


class _SetNames(EnumMeta):
    def __contains__(cls, name: object) -> bool:
        return name in cls._value2member_map_


class OperatorSetNames(StrEnum, metaclass=_SetNames):
    """The operator sets of MCT 2.6. `EXPAND` is spelt as MCT does; those after `INDEX_SELECT` are ours."""

    CONV = "Conv"
    DEPTHWISE_CONV = "DepthwiseConv2D"
    CONV_TRANSPOSE = "ConvTranspose"
    FULLY_CONNECTED = "FullyConnected"
    CONCATENATE = "Concatenate"
    STACK = "Stack"
    UNSTACK = "Unstack"
    GATHER = "Gather"
    EXPAND = "Expend"
    BATCH_NORM = "BatchNorm"
    L2NORM = "L2Norm"
    RELU = "ReLU"
    RELU6 = "ReLU6"
    LEAKY_RELU = "LeakyReLU"
    ELU = "Elu"
    HARD_TANH = "HardTanh"
    ADD = "Add"
    SUB = "Sub"
    MUL = "Mul"
    DIV = "Div"
    MIN = "Min"
    MAX = "Max"
    PRELU = "PReLU"
    ADD_BIAS = "AddBias"
    SWISH = "Swish"
    SIGMOID = "Sigmoid"
    SOFTMAX = "Softmax"
    LOG_SOFTMAX = "LogSoftmax"
    TANH = "Tanh"
    GELU = "Gelu"
    HARDSIGMOID = "HardSigmoid"
    HARDSWISH = "HardSwish"
    FLATTEN = "Flatten"
    GET_ITEM = "GetItem"
    RESHAPE = "Reshape"
    UNSQUEEZE = "Unsqueeze"
    SQUEEZE = "Squeeze"
    PERMUTE = "Permute"
    TRANSPOSE = "Transpose"
    DROPOUT = "Dropout"
    SPLIT_CHUNK = "SplitChunk"
    MAXPOOL = "MaxPool"
    AVGPOOL = "AvgPool"
    SIZE = "Size"
    SHAPE = "Shape"
    EQUAL = "Equal"
    ARGMAX = "ArgMax"
    TOPK = "TopK"
    FAKE_QUANT = "FakeQuant"
    COMBINED_NON_MAX_SUPPRESSION = "CombinedNonMaxSuppression"
    ZERO_PADDING2D = "ZeroPadding2D"
    CAST = "Cast"
    RESIZE = "Resize"
    PAD = "Pad"
    FOLD = "Fold"
    STRIDED_SLICE = "StridedSlice"
    SSD_POST_PROCESS = "SSDPostProcess"
    EXP = "Exp"
    SIN = "Sin"
    COS = "Cos"
    TAKE = "Take"
    INDEX_SELECT = "IndexSelect"
    LAYER_NORM = "LayerNorm"
    RMS_NORM = "RMSNorm"
    GROUP_NORM = "GroupNorm"
    INSTANCE_NORM = "InstanceNorm"
    GLOBAL_AVG_POOL = "GlobalAvgPool"
    MEAN = "Mean"

    @classmethod
    def get_values(cls) -> list[str]:
        return [member.value for member in cls]
