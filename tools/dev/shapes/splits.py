# SPDX-License-Identifier: Apache-2.0
"""Prints what Vela says of the detector with its last layer divided by what channels mean, and as one layer.

    PYTHONPATH=build/python build/venv/bin/python tools/dev/shapes/splits.py

One layer is what an exact scale of the coordinates, put into its kernel, would leave: it would take these cycles, and
those of the multiplication behind it where the device runs that. Needs `tools/dev/downstream --install vela tosa`.
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
    calibration = scenes.scenes(64, scenes.CALIBRATION).images
    model = mct.load(measure.REPOSITORY / "test" / "data" / "shapes" / "detector.mlirbc")
    print("| `decode` | device | cycles, three layers | cycles, one layer |\n|---|---|---|---|")
    for decode in ("quantize", "cut"):
        divided, whole = (
            without_decoding(
                mct.quantize(model, "tflite", calibration, decode=decode, split_shared_grids=splits, progress=False)
            )
            for splits in (True, False)
        )
        for accelerator in ACCELERATORS:
            cycles = [mct.cost.ethos_u(one, accelerator).cycles for one in (divided, whole)]
            print(f"| `{decode}` | {accelerator} | {cycles[0]} | {cycles[1]} |", flush=True)


if __name__ == "__main__":
    main()
