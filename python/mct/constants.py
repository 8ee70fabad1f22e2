# SPDX-License-Identifier: Apache-2.0
"""Names of `model_compression_toolkit.constants` that scripts use: keys of the parameters of quantizers."""

from mct.quantization_config import MIN_THRESHOLD

THRESHOLD = "threshold"
SIGNED = "is_signed"
RANGE_MIN = "range_min"
RANGE_MAX = "range_max"
LUT_VALUES = "lut_values"
SCALE_PER_CHANNEL = "scale_per_channel"

__all__ = ["LUT_VALUES", "MIN_THRESHOLD", "RANGE_MAX", "RANGE_MIN", "SCALE_PER_CHANNEL", "SIGNED", "THRESHOLD"]
