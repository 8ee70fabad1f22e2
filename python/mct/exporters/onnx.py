# SPDX-License-Identifier: Apache-2.0
"""Quantized networks as ONNX."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from mct import _native, stages
from mct._arguments import checked
from mct.model import Model, QuantizedModel


@checked
def export_onnx(
    model: Model,
    path: str | os.PathLike[str],
    *,
    profile: str = "",
    producer: str = "",
    function: str = "",
    opset: int = 0,
    activations: str = "unsigned",
    external_data_above: int = 0,
    nms: str = "",
) -> None:
    """Write a quantized network as ONNX.

    model:    a network whose points have parameters and round halves to even.
    profile:  "qdq": points as QuantizeLinear and DequantizeLinear, for any user of ONNX; the network is that of
              `mct-simulate-integers=rounding=half-even`.
              A device ("imx500", or a file with a `tpc.device`): points as ops of `mct_quantizers`; what the device
              cannot run, or would quantize otherwise without a warning, is an error. "": that of the model's target.
              "mct_quantizers": the same ops, and no checks. A program that runs it has to register them, ONNX Runtime
              by `mct_quantizers.get_ort_session_options()`. ("none" is an older name of it, until 0.3.)
    opset:    version of ONNX's operators of a "qdq" file: 13, 21 or 25; 0: 21. Kernels of 4 bits are int4 from 21 on,
              those of 2 bits int2 from 25 on.
    activations: "unsigned" (uint8, uint16) or "signed" (int8, int16) integers of activations in a "qdq" file.
    external_data_above: size in bytes above which constants go to another file, `path` with the suffix `.data`; 0:
              what protobuf allows, 2^31 - 1.
    producer: NAME or NAME:VERSION of the tool that the file names as its producer; "": mct. The camera's converter
              takes files of "pytorch:2.0.0" and later only. The file's metadata name mct in any case.
    nms:      SCORE:OVERLAP:DETECTIONS, "0.25:0.7:300": the file of a detector ends with the op MultiClassNMS of Sony's
              custom layers. Results of the network are boxes by their corners, [batch, n, 4], and scores,
              [batch, n, classes], or the concatenation of both. A domain may follow, ":Sony" for older releases of the
              package; by default it is EdgeMDT.
    function: the function, "" for `main` or the only public one.

    Images are channels-first in the file; its metadata have `axes.NAME` for each input and output whose axes are in
    another order than those of the module. Raises `mct.Error`, with the place, before anything is written. Same as:
    mct-translate --export-onnx
    """
    name, _, version = producer.partition(":")
    if profile == "none":
        warnings.warn("profile 'none' is 'mct_quantizers' now; 0.3 no longer reads it", FutureWarning, stacklevel=2)
        profile = "mct_quantizers"
    if profile == "qdq" and isinstance(model, QuantizedModel):
        # The file has the values of this simulation; a loss is reported.
        stages.simulate_integers(model, rounding="half-even", progress=False)
    path = Path(path)
    beside = path.with_name(path.name + ".data")
    file, data = model.module.export_onnx(
        profile, name, version, function, opset, activations, beside.name, external_data_above, nms
    )
    # First, so that there is no network without its constants.
    if data:
        _native.write_file(os.fspath(beside), data)
    _native.write_file(os.fspath(path), file)
