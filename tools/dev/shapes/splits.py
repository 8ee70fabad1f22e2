# SPDX-License-Identifier: Apache-2.0
"""Prints what the detector costs and loses with its last layer divided by what channels mean, and as one layer.

    PYTHONPATH=build/python build/venv/bin/python tools/dev/shapes/splits.py

One layer has an exact scale of the coordinates in its kernel, 16, that what decodes takes back. With `decode=quantize`
it has no scale: its cycles are those that it would take, without those of the multiplication behind it. Needs
`tools/dev/downstream --install vela tosa`.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "downstream"))

import mct
import measure
import scenes
import tool_environments

ACCELERATORS = ("ethos-u55-256", "ethos-u85-256")
IMAGES = {"calibration": 256, "test": 500}
SCALE = 16.0
COLUMNS = ["`decode`", "device", "cycles, three layers", "cycles, one layer", "`ap` lost, three", "`ap` lost, one"]


def without_decoding(model: mct.Model) -> mct.Model:
    """Returns the network that the device runs, without the function of the host."""
    text = model.text
    begin = text.find("  func.func @decode")
    if begin < 0:
        return model
    end = text.index("\n", text.index("\n  }", begin) + 1)
    return mct.Model.parse(text[:begin] + text[end + 1 :], "network.mlir")


def scaled(model: mct.Model) -> mct.Model:
    """Returns the detector with a scale of the coordinates behind its last layer, and its inverse in what decodes.

    The layer takes the scale in its kernel. A minimum with a large number keeps the inverse from it.
    """
    values, channels, one = "tensor<1x64x7xf32>", "tensor<1x1x7xf32>", "tensor<1x1x1xf32>"
    found = re.search(rf"(%\w+) = tosa\.sigmoid (%\w+) : \({values}\) -> {values}", model.text)
    assert found, "the detector has a sigmoid over all channels of its last layer"
    scale, inverse = ([[[factor] * 4 + [1.0] * 3]] for factor in (SCALE, 1 / SCALE))
    product = f"({values}, {channels}, tensor<1xi8>) -> {values}"
    lines = [
        f'%scale = "tosa.const"() <{{values = dense<{scale}> : {channels}}}> : () -> {channels}',
        f'%inverse = "tosa.const"() <{{values = dense<{inverse}> : {channels}}}> : () -> {channels}',
        f'%large = "tosa.const"() <{{values = dense<1.0e30> : {one}}}> : () -> {one}',
        '%exact = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>',
        f"%scaled = tosa.mul {found[2]}, %scale, %exact : {product}",
        f"%apart = tosa.minimum %scaled, %large : ({values}, {one}) -> {values}",
        f"%back = tosa.mul %apart, %inverse, %exact : {product}",
        f"{found[1]} = tosa.sigmoid %back : ({values}) -> {values}",
    ]
    return mct.Model.parse(model.text[: found.start()] + "\n".join(lines) + model.text[found.end() :], "network.mlir")


def main() -> None:
    for variable, tool in (("MCT_VELA", "vela"), ("MCT_TOSA_TOOLS", "tosa")):
        program = tool_environments.program(tool)
        if program is None:
            sys.exit(f"{tool} is not installed (tools/dev/downstream --install {tool})")
        os.environ[variable] = str(program.parent)
    calibration = scenes.scenes(IMAGES["calibration"], scenes.CALIBRATION).images
    test = scenes.scenes(IMAGES["test"], scenes.TEST)
    model = mct.load(measure.REPOSITORY / "test" / "data" / "shapes" / "detector.mlirbc")
    precision = mct.detection.AveragePrecision("ap", decode=scenes.detections)
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for decode in ("quantize", "cut"):
        networks = (model, scaled(model) if decode == "cut" else model)
        both = [
            mct.quantize(network, "tflite", calibration, decode=decode, split_shared_grids=splits, progress=False)
            for network, splits in zip(networks, (True, False), strict=True)
        ]
        lost = ["-", "-"]
        if decode == "cut":
            judged = [
                mct.quantize(network, "tflite", calibration, split_shared_grids=splits, progress=False).evaluate(
                    test.images, test.boxes, metric=precision
                )
                for network, splits in zip(networks, (True, False), strict=True)
            ]
            lost = [f"{100 * each.metric.loss:.2f}" for each in judged]
        devices = [without_decoding(one) for one in both]
        for accelerator in ACCELERATORS:
            cycles = [str(mct.cost.ethos_u(one, accelerator).cycles) for one in devices]
            print("| " + " | ".join([f"`{decode}`", accelerator, *cycles, *lost]) + " |", flush=True)


if __name__ == "__main__":
    main()
