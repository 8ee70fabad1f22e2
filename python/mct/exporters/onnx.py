# SPDX-License-Identifier: Apache-2.0
"""Quantized networks as ONNX."""

from __future__ import annotations

import os

from mct import _native
from mct.model import Model


def export_onnx(
    model: Model,
    path: str | os.PathLike[str],
    *,
    profile: str = "imx500",
    producer: str = "",
    function: str = "",
) -> None:
    """Write a quantized network with the `mct_quantizers` ops that the tools of the IMX500 and ONNX Runtime read.

    model:    a network whose points have parameters and round halves to even.
    profile:  "imx500": what the camera cannot run, or would quantize otherwise without a warning, is an error; "none":
              everything that the format has.
    producer: NAME or NAME:VERSION that the file says made it; "": mct. The camera's converter takes files of
              "pytorch:2.0.0" and later only. The file's metadata name mct in any case.
    function: the function, "" for `main` or the only public one.

    Images are channels-first in the file; its metadata have `axes.NAME` for each input and output whose axes are in
    another order than those of the module. Raises `mct.Error`, with the place, before anything is written. Same as:
    mct-translate --export-onnx
    """
    name, _, version = producer.partition(":")
    data = model.module.export_onnx(profile, name, version, function)
    _native.write_file(os.fspath(path), data)
