# SPDX-License-Identifier: Apache-2.0
"""Post-training quantization by MCT's calls: 8 bits for the IMX500."""

import sys

if "--mct" not in sys.argv:
    import mct.compat  # the line that a script for MCT gets; with --mct it runs MCT itself

import common
import model_compression_toolkit as mct

network = common.trained()
tpc = mct.get_target_platform_capabilities(tpc_version="1.0", device_type="imx500")
config = mct.core.CoreConfig(
    quantization_config=mct.core.QuantizationConfig(
        activation_error_method=mct.core.QuantizationErrorMethod.MSE,
        weights_bias_correction=True,
        shift_negative_activation_correction=True,
    )
)
with common.Measured() as cost:
    quantized, information = mct.ptq.pytorch_post_training_quantization(
        network, common.representative_data, core_config=config, target_platform_capabilities=tpc
    )
common.show(network, quantized, cost)
