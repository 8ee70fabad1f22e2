# SPDX-License-Identifier: Apache-2.0
"""Gradient-based quantization by MCT's calls: all weights in 4 bits or less, their rounding trained without labels."""

import sys

if "--mct" not in sys.argv:
    import mct.compat  # the line that a script for MCT gets; with --mct it runs MCT itself

import common
import model_compression_toolkit as mct

network = common.trained()
tpc = mct.get_target_platform_capabilities(tpc_version="1.0", device_type="imx500")
half = mct.core.pytorch_resource_utilization_data(
    network, common.representative_data, mct.core.CoreConfig(), target_platform_capabilities=tpc
)
limit = mct.core.ResourceUtilization(weights_memory=half.weights_memory * 0.5)
gptq_config = mct.gptq.get_pytorch_gptq_config(n_epochs=5)
with common.Measured() as cost:
    quantized, information = mct.gptq.pytorch_gradient_post_training_quantization(
        network,
        common.representative_data,
        target_resource_utilization=limit,
        gptq_config=gptq_config,
        core_config=mct.core.CoreConfig(
            mixed_precision_config=mct.core.MixedPrecisionQuantizationConfig(num_of_images=32)
        ),
        target_platform_capabilities=tpc,
    )
common.show(network, quantized, cost)
