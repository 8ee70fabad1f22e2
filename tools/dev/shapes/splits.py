# SPDX-License-Identifier: Apache-2.0
"""Prints what the detector costs and loses with its last layer divided by what channels mean, and as one layer.

    PYTHONPATH=build/python build/venv/bin/python tools/dev/shapes/splits.py

Needs `tools/dev/downstream --install vela tosa`.
"""

from __future__ import annotations

import os
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
COLUMNS = ["`decode`", "last layer", "device", "cycles", "`ap` lost, points"]
# Values of `decode`, what becomes of the last layer, and of `split_shared_grids`.
STUDIES = [("quantize", "three layers", True), ("quantize", "one grid", False), ("cut", "powers of two", True)]


def without_decoding(model: mct.Model) -> mct.Model:
    """Returns the network that the device runs, without the function of the host."""
    text = model.text
    begin = text.find("  func.func @decode")
    if begin < 0:
        return model
    end = text.index("\n", text.index("\n  }", begin) + 1)
    return mct.Model.parse(text[:begin] + text[end + 1 :], "network.mlir")


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
    for decode, shown, splits in STUDIES:
        options = {"split_shared_grids": splits, "progress": False}
        made = mct.quantize(model, "tflite", calibration, decode=decode, **options)
        # The network that is cut off computes the same, and its results are no boxes.
        whole = mct.quantize(model, "tflite", calibration, **options) if decode == "cut" else made
        lost = 100 * whole.evaluate(test.images, test.boxes, metric=precision).metric.loss
        for accelerator in ACCELERATORS:
            cycles = mct.cost.ethos_u(without_decoding(made), accelerator).cycles
            print("| " + " | ".join([f"`{decode}`", shown, accelerator, str(cycles), f"{lost:.2f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
