# SPDX-License-Identifier: Apache-2.0
"""Names of `model_compression_toolkit.constants` that scripts use: keys of parameters and of configurations."""

from mct.quantization_config import MIN_THRESHOLD

THRESHOLD = "threshold"
SIGNED = "is_signed"
RANGE_MIN = "range_min"
RANGE_MAX = "range_max"
LUT_VALUES = "lut_values"
SCALE_PER_CHANNEL = "scale_per_channel"
# Fields of configurations, by which scripts edit them.
ACTIVATION_N_BITS_ATTRIBUTE = "activation_n_bits"
SUPPORTED_INPUT_ACTIVATION_NBITS_ATTRIBUTE = "supported_input_activation_n_bits"
OPS_SET_LIST = "ops_set_list"
# Keys of what `FrameworkQuantizationCapabilities.get_fusing_patterns` returns.
FUSED_LAYER_PATTERN = "fused_layer_pattern"
FUSED_OP_QUANT_CONFIG = "fused_op_quantization_config"
# Keys of `BaseTrainableQuantizer.quantizer_parameters`.
VAR = "var"
GROUP = "group"

__all__ = [
    "ACTIVATION_N_BITS_ATTRIBUTE",
    "FUSED_LAYER_PATTERN",
    "FUSED_OP_QUANT_CONFIG",
    "GROUP",
    "LUT_VALUES",
    "MIN_THRESHOLD",
    "OPS_SET_LIST",
    "RANGE_MAX",
    "RANGE_MIN",
    "SCALE_PER_CHANNEL",
    "SIGNED",
    "SUPPORTED_INPUT_ACTIVATION_NBITS_ATTRIBUTE",
    "THRESHOLD",
    "VAR",
]
