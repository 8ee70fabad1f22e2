# SPDX-License-Identifier: Apache-2.0
"""Mixed precision by MCT's calls: weights in 60 % of the bytes that 8 bits take."""

import sys

if "--mct" not in sys.argv:
    import mct.compat  # the line that a script for MCT gets; with --mct it runs MCT itself

import common
import model_compression_toolkit as mct

network = common.trained()
tpc = mct.get_target_platform_capabilities(tpc_version="1.0", device_type="imx500")
config = mct.core.CoreConfig(
    mixed_precision_config=mct.core.MixedPrecisionQuantizationConfig(
        num_of_images=32, distance_weighting_method=mct.core.MpDistanceWeighting.AVG
    )
)
with common.Measured() as cost:
    needed = mct.core.pytorch_resource_utilization_data(
        network, common.representative_data, config, target_platform_capabilities=tpc
    )
    limit = mct.core.ResourceUtilization(weights_memory=needed.weights_memory * 0.6)
    quantized, information = mct.ptq.pytorch_post_training_quantization(
        network,
        common.representative_data,
        target_resource_utilization=limit,
        core_config=config,
        target_platform_capabilities=tpc,
    )
used = information.final_resource_utilization
print(f"weights {used.weights_memory:.0f} of {needed.weights_memory:.0f} bytes, within the limit:", end=" ")
print(limit.is_satisfied_by(used))
common.show(network, quantized, cost)
