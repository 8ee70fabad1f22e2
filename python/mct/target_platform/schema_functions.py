# SPDX-License-Identifier: Apache-2.0
"""Questions to a target, as functions: what MCT 2.3 to 2.6 have in `schema_functions`."""

from __future__ import annotations

from mct.target_platform._platform import TargetPlatformCapabilities
from mct.target_platform._schema import OperatorSetConcat, OperatorsSet, OpQuantizationConfig, QuantizationConfigOptions


def max_input_activation_n_bits(op_quantization_config: OpQuantizationConfig) -> int:
    """The widest activation that an operator reads."""
    return op_quantization_config.max_input_activation_n_bits


def get_config_options_by_operators_set(
    tpc: TargetPlatformCapabilities, operators_set_name: str
) -> QuantizationConfigOptions | None:
    """The options of a set, or those of everything else."""
    return tpc.get_config_options_by_operators_set(operators_set_name)


def get_default_op_quantization_config(tpc: TargetPlatformCapabilities) -> OpQuantizationConfig:
    """The config of the operators that no set names."""
    return tpc.get_default_op_quantization_config()


def is_opset_in_model(tpc: TargetPlatformCapabilities, opset_name: str) -> bool:
    return tpc.is_opset_in_model(opset_name)


def get_opset_by_name(tpc: TargetPlatformCapabilities, opset_name: str) -> OperatorsSet | OperatorSetConcat | None:
    return tpc.get_opset_by_name(opset_name)
