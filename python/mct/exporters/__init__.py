# SPDX-License-Identifier: Apache-2.0
"""Files for other tools, each made of a module alone.

    mct.exporters.export_onnx(quantized, "network.onnx")             for the IMX500
    mct.exporters.export_onnx(quantized, "q.onnx", profile="qdq")    for ONNX Runtime, OpenVINO and others
    mct.exporters.export_tosa(integer, "network.tosa")               for Vela and other tools that read TOSA flatbuffers
    mct.exporters.export_parameters(quantized, "parameters.json")    or .npz
    mct.exporters.export_target(quantized, "target.json")            for MCT

Text and bytecode are what `Model.save` writes. A file has its name when it is complete, or never.
"""

from __future__ import annotations

from mct.exporters.onnx import export_onnx
from mct.exporters.parameters import export_parameters, export_target
from mct.exporters.tosa import export_tosa

__all__ = ["export_onnx", "export_parameters", "export_target", "export_tosa"]
