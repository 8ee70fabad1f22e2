# SPDX-License-Identifier: Apache-2.0
"""Functions of MCT's modules of stock targets, by which scripts make targets like them with other configs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mct.mct_names import get_target_platform_capabilities
from mct.target_platform import (
    Fusing,
    OperatorSetGroup,
    OperatorsSet,
    OpQuantizationConfig,
    QuantizationConfigOptions,
    TargetPlatformCapabilities,
)
from mct.target_platform._vocabulary import LINEAR_SETS


def get_op_quantization_configs() -> tuple[OpQuantizationConfig, list[OpQuantizationConfig], OpQuantizationConfig]:
    """Returns the IMX500's config of layers with a kernel, their alternatives, and the config of everything else."""
    stock = get_target_platform_capabilities()
    linear = stock.options_of("Conv")
    return linear.base_config, list(linear.quantization_configurations), stock.get_default_op_quantization_config()


def generate_tpc(
    default_config: OpQuantizationConfig,
    base_config: OpQuantizationConfig,
    mixed_precision_cfg_list: Sequence[OpQuantizationConfig],
    name: str = "imx500_tpc",
) -> TargetPlatformCapabilities:
    """Returns the IMX500 with other configs: `default_config` of what no set names and of sets that keep their results
    as they are, and the alternatives for layers with a kernel."""
    stock = get_target_platform_capabilities()
    options = QuantizationConfigOptions(list(mixed_precision_cfg_list), base_config=base_config)
    sets = []
    for operators in stock.plain_sets:
        own = operators.qc_options
        if own is not None and operators.name in LINEAR_SETS:
            own = options
        elif own is not None:
            first = own.quantization_configurations[0]
            own = QuantizationConfigOptions(
                [
                    default_config.clone_and_edit(
                        enable_activation_quantization=first.enable_activation_quantization
                        and default_config.enable_activation_quantization,
                        quantization_preserving=first.quantization_preserving,
                        supported_input_activation_n_bits=first.supported_input_activation_n_bits,
                    )
                ]
            )
        sets.append(OperatorsSet(operators.name, own))
    return stock.model_copy(
        update={
            "default_qco": QuantizationConfigOptions([default_config]),
            "operator_set": sets,
            "fusing_patterns": [_by_name(pattern) for pattern in stock.fusing_patterns],
            "name": name,
        }
    )


def _by_name(pattern: Fusing) -> Fusing:
    """Returns a pattern of the same sets, whatever their options are."""
    groups: list[OperatorsSet | OperatorSetGroup] = []
    for group in pattern.operator_groups:
        if isinstance(group, OperatorSetGroup):
            groups.append(OperatorSetGroup([OperatorsSet(member.name) for member in group.operators_set]))
        else:
            groups.append(OperatorsSet(group.name))
    return Fusing(operator_groups=groups, fuse_op_quantization_config=pattern.fuse_op_quantization_config)


# MCT up to 2.2 uses this name.
generate_tp_model = generate_tpc


def get_tpc() -> TargetPlatformCapabilities:
    """Returns the IMX500 of version 1."""
    return get_target_platform_capabilities()


def generate_framework_tpc(name: str = "", tpc: Any = None, tp_model: Any = None) -> Any:
    """Returns the target that it is given, for no framework has another one."""
    return tp_model if tpc is None else tpc
