# SPDX-License-Identifier: Apache-2.0
"""Targets of a few operator sets, in MCT's words, for tests of single features."""

import mct.target_platform as tp
import mct_scripts


def config(**changes):
    default, _, _ = mct_scripts.imx500_op_configs()
    return default.clone_and_edit(**changes)


def options(*configs, **more):
    return tp.QuantizationConfigOptions(list(configs), **more)


def platform(*sets, **more):
    return tp.TargetPlatformCapabilities(default_qco=options(config()), operator_set=list(sets), **more)


def target_of(**layers):
    """A target whose operator sets are these layers."""
    default, linear, _ = mct_scripts.imx500_op_configs()
    model = tp.TargetPlatformModel(tp.QuantizationConfigOptions([default]), name="t")
    with model:
        for index, name in enumerate(layers):
            config = (linear if name == "Kernels" else default).clone_and_edit(simd_size=index + 1)
            tp.OperatorsSet(name, tp.QuantizationConfigOptions([config]))
    capabilities = tp.TargetPlatformCapabilities(model)
    with capabilities:
        for name, of_set in layers.items():
            tp.OperationsSetToLayers(name, of_set if isinstance(of_set, list) else [of_set])
    return capabilities
