# SPDX-License-Identifier: Apache-2.0
"""A network of torch for the IMX500 by MCT's calls: quantized, and written as ONNX for its converter."""

import sys

if "--mct" not in sys.argv:
    import mct.compat  # the line that a script for MCT gets; with --mct it runs MCT itself

import tempfile
from pathlib import Path

import common
import model_compression_toolkit as mct

network = common.trained()
tpc = mct.get_target_platform_capabilities_sdsp(sdsp_version="3.14")
with tempfile.TemporaryDirectory() as folder, common.Measured() as cost:
    quantized, information = mct.ptq.pytorch_post_training_quantization(
        network, common.representative_data, target_platform_capabilities=tpc
    )
    path = Path(folder) / "digits.onnx"
    mct.exporter.pytorch_export_model(
        model=quantized, save_model_path=str(path), repr_dataset=common.representative_data
    )
    written = path.read_bytes()
print(f"{len(written)} bytes with {written.count(b'ActivationPOTQuantizer')} points of activations")
common.show(network, quantized, cost)
