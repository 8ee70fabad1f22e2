# SPDX-License-Identifier: Apache-2.0
"""How the operator sets of MCT are spelled in TOSA and linalg.

A binding that a script makes is built from these. They are those of `tpc_dialect/targets/tosa.mlir` and `linalg.mlir`,
in their order; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass

from mct.target_platform._predicates import Leaf, Predicate, Truth, join, quote, write_predicate


@dataclass(frozen=True)
class Pattern:
    """Ops of one name, `where` a predicate holds; or a named subgraph."""

    name: str
    where: Predicate | None = None
    is_subgraph: bool = False

    def __str__(self) -> str:
        if self.is_subgraph:
            return f"#tpc.subgraph<{quote(self.name)}>"
        return f"#tpc.op<{quote(self.name)}{f' where {write_predicate(self.where)}' if self.where else ''}>"

    @property
    def described_as(self) -> str:
        """Its name in `tpc.framework`."""
        return f"subgraph:{self.name}" if self.is_subgraph else self.name


@dataclass(frozen=True)
class Entry:
    """An `#tpc.ops_of`: its patterns, and operand numbers by weight name."""

    patterns: tuple[Pattern, ...]
    weights: tuple[tuple[str, int], ...] = ()


def _op(name: str, *conditions: Leaf) -> Pattern:
    where: Truth = join("and", *conditions)
    return Pattern(name, None if isinstance(where, bool) else where)


def _graph(name: str) -> Pattern:
    return Pattern(name, is_subgraph=True)


def _ops(*names: str) -> Entry:
    return Entry(tuple(Pattern(name) for name in names))


# Operator sets with a kernel.
LINEAR_SETS = ("Conv", "DepthwiseConv2D", "ConvTranspose", "FullyConnected")

LARGEST = "3.40282347E+38 : f32"
_FROM_ZERO = Leaf("min_val", "eq", "0.0 : f32")
_UNBOUNDED = Leaf("max_val", "ge", LARGEST)
_BOUNDED = Leaf("max_val", "lt", LARGEST)
RELU = _op("tosa.clamp", _FROM_ZERO, _UNBOUNDED)
RELU6 = _op("tosa.clamp", _FROM_ZERO, Leaf("max_val", "eq", "6.0 : f32"))
HARD_TANH = _op("tosa.clamp", _FROM_ZERO, Leaf("max_val", "ne", "6.0 : f32"), _BOUNDED)
# No operator set of MCT: `Hardtanh` from another bound than zero.
BELOW_ZERO = _op("tosa.clamp", Leaf("min_val", "ne", "0.0 : f32"), _BOUNDED)

_LAYER = (("kernel_attr", 1), ("bias_attr", 2))


def _custom(word: str, name: str) -> Entry:
    return Entry((_op("tosa.custom", Leaf("operator_name", word, quote(name))),))


TOSA: dict[str, Entry] = {
    "Conv": Entry((_op("tosa.conv2d"),), _LAYER),
    "DepthwiseConv2D": Entry((_op("tosa.depthwise_conv2d"),), _LAYER),
    "ConvTranspose": Entry((_op("tosa.transpose_conv2d"),), _LAYER),
    "FullyConnected": Entry((_graph("fully_connected"),)),
    "BatchNorm": Entry((_graph("batch_norm"),)),
    "AddBias": Entry((_op("tosa.add", Leaf("$const_axes", "eq", "1")),)),
    "L2Norm": Entry((_graph("l2_norm"),)),
    "ReLU": Entry((RELU, _graph("relu"))),
    "ReLU6": Entry((RELU6, _graph("relu6"))),
    "HardTanh": Entry((HARD_TANH, _graph("hard_tanh"))),
    "LeakyReLU": Entry((_graph("leaky_relu"),)),
    "PReLU": Entry((_graph("prelu"),)),
    "Elu": Entry((_graph("elu"), _graph("scaled_elu"))),
    "Gelu": Entry((_graph("gelu"),)),
    "Swish": Entry((_graph("swish"),)),
    "HardSwish": Entry((_graph("hard_swish"),)),
    "HardSigmoid": Entry((_graph("hard_sigmoid"),)),
    "Sigmoid": _ops("tosa.sigmoid"),
    "Tanh": _ops("tosa.tanh"),
    "Softmax": Entry((_graph("softmax"),)),
    "LogSoftmax": Entry((_graph("log_softmax"),)),
    "Add": _ops("tosa.add"),
    "Sub": _ops("tosa.sub"),
    "Mul": _ops("tosa.mul"),
    "Div": Entry((_graph("div"), _op("tosa.intdiv"))),
    "Min": _ops("tosa.minimum"),
    "Max": _ops("tosa.maximum"),
    "Exp": _ops("tosa.exp"),
    "Sin": _ops("tosa.sin"),
    "Cos": _ops("tosa.cos"),
    "MaxPool": _ops("tosa.max_pool2d"),
    "AvgPool": Entry((_op("tosa.avg_pool2d", Leaf("$whole_image", "eq", "0")),)),
    "Resize": _ops("tosa.resize"),
    "Concatenate": _ops("tosa.concat"),
    "Stack": Entry((_graph("stack"),)),
    "Unstack": Entry((_graph("slice_of_axis"),)),
    "SplitChunk": _ops("tosa.slice"),
    "GetItem": Entry((_op("tosa.slice"), _graph("slice_of_axis"))),
    "StridedSlice": Entry((_op("tosa.slice"), _graph("slice_of_axis"), _graph("strided_slice"))),
    "Flatten": _ops("tosa.reshape"),
    "Reshape": _ops("tosa.reshape"),
    "Squeeze": _ops("tosa.reshape"),
    "Unsqueeze": _ops("tosa.reshape"),
    "Permute": _ops("tosa.transpose"),
    "Transpose": _ops("tosa.transpose"),
    "Expend": _ops("tosa.tile"),
    "Pad": _ops("tosa.pad"),
    "ZeroPadding2D": _ops("tosa.pad"),
    "Fold": Entry((_graph("space_to_batch"),)),
    "Gather": _ops("tosa.gather"),
    "ArgMax": _ops("tosa.argmax"),
    "Equal": _ops("tosa.equal"),
    "Cast": _ops("tosa.cast"),
    "Dropout": _ops("tosa.identity"),
    "TopK": _custom("eq", "topk"),
    "CombinedNonMaxSuppression": _custom("contains", "nms"),
    "SSDPostProcess": _custom("eq", "ssd_post_process"),
    "FakeQuant": _custom("eq", "fake_quant"),
    "Take": _ops(),
    "IndexSelect": _ops(),
    "Size": _ops(),
    "Shape": _ops(),
    "LayerNorm": Entry((_graph("layer_norm"),)),
    "RMSNorm": Entry((_graph("rms_norm"),)),
    "GroupNorm": Entry((_graph("group_norm"),)),
    "InstanceNorm": Entry((_graph("instance_norm"),)),
    "GlobalAvgPool": Entry((_graph("global_avg_pool"), _op("tosa.avg_pool2d", Leaf("$whole_image", "eq", "1")))),
    "Mean": Entry((_graph("mean"),)),
}

LINALG: dict[str, Entry] = {
    "Conv": _ops("linalg.conv_2d_nhwc_fhwc", "linalg.conv_2d_nhwc_hwcf", "linalg.conv_2d_nchw_fchw"),
    "DepthwiseConv2D": _ops(
        "linalg.depthwise_conv_2d_nhwc_hwcm", "linalg.depthwise_conv_2d_nhwc_hwc", "linalg.depthwise_conv_2d_nchw_chw"
    ),
    "FullyConnected": Entry((_graph("fully_connected"),)),
    "ReLU": Entry((_graph("relu"),)),
    "ReLU6": Entry((_graph("relu6"),)),
    "HardTanh": Entry((_graph("hard_tanh"),)),
    "Tanh": _ops("linalg.tanh"),
    "Softmax": _ops("linalg.softmax"),
    "Add": _ops("linalg.add"),
    "Sub": _ops("linalg.sub"),
    "Mul": _ops("linalg.mul"),
    "Div": _ops("linalg.div"),
    "Min": _ops("linalg.min"),
    "Max": _ops("linalg.max"),
    "Exp": _ops("linalg.exp"),
    "MaxPool": _ops("linalg.pooling_nhwc_max", "linalg.pooling_nchw_max"),
    "AvgPool": Entry((_graph("avg_pool"),)),
    "Concatenate": _ops("tensor.concat"),
    "GetItem": _ops("tensor.extract_slice"),
    "SplitChunk": _ops("tensor.extract_slice"),
    "StridedSlice": _ops("tensor.extract_slice"),
    "Reshape": _ops("tensor.reshape", "tensor.collapse_shape", "tensor.expand_shape"),
    "Flatten": _ops("tensor.collapse_shape"),
    "Squeeze": _ops("tensor.collapse_shape"),
    "Unsqueeze": _ops("tensor.expand_shape"),
    "Permute": _ops("linalg.transpose"),
    "Transpose": _ops("linalg.transpose"),
    "Expend": _ops("linalg.broadcast"),
    "Pad": _ops("tensor.pad"),
    "ZeroPadding2D": _ops("tensor.pad"),
} | {
    name: _ops()
    for name in (
        "ConvTranspose",
        "BatchNorm",
        "AddBias",
        "L2Norm",
        "LeakyReLU",
        "PReLU",
        "Elu",
        "Gelu",
        "Swish",
        "HardSwish",
        "HardSigmoid",
        "Sigmoid",
        "LogSoftmax",
        "Sin",
        "Cos",
        "Resize",
        "Stack",
        "Unstack",
        "Fold",
        "Gather",
        "ArgMax",
        "Equal",
        "Cast",
        "Dropout",
        "TopK",
        "CombinedNonMaxSuppression",
        "SSDPostProcess",
        "FakeQuant",
        "Take",
        "IndexSelect",
        "Size",
        "Shape",
    )
}
