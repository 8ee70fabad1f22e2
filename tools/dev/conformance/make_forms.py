# SPDX-License-Identifier: Apache-2.0
"""Writes the forms of cases: integer TOSA, QDQ ONNX, `.tflite`; a Python with `mct` and `tflite` runs this.

    make_forms.py FOLDER

Reads FOLDER/cases.json and writes FOLDER/forms.json: for each case its inputs and outputs, files, modules whose values
are those that a format asks for, and reasons where a format cannot say it. All cases in one process.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import mct
import numpy as np
from corpus import STAYS_FLOAT, Case, sample

LOWERING = "mct-lower-to-integer{{io=integer softmax=integer extensions={extensions}{rounding}}}"
DTYPES = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "f32": "float32"}
# Formats whose runtimes round in other places than TOSA: rules of `mct-lower-to-integer`.
ROUNDINGS = ("double-convolutions", "double")
# Real inputs without a grid lie between these.
LARGEST_REAL = 2.0


def run(model: mct.Model, pipeline: str) -> mct.Model:
    return mct.Model(model.module.run(pipeline))


def tensor(entry: dict) -> dict:
    match = re.fullmatch(r"tensor<((?:\d+x)*)(\w+)>", entry["type"])
    kept = {key: entry[key] for key in ("scale", "zero_point", "bits", "is_signed") if entry.get(key) is not None}
    shape = [int(size) for size in match[1].split("x")[:-1]]
    return {"shape": shape, "element": match[2], "dtype": DTYPES[match[2]], **kept}


def ends(entry: dict) -> tuple[int, int]:
    """Returns the smallest and the largest stored integer of an argument."""
    width = int(entry["element"][1:])
    if entry.get("bits", width) < width:
        bits = entry["bits"]
        return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if entry["is_signed"] else (0, (1 << bits) - 1)
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


def fill(case: Case, inputs: list[dict]) -> None:
    """Adds integers, and the numbers that they stand for; of inputs that stay float, numbers."""
    for number, entry in enumerate(inputs):
        if entry["element"] == "f32":
            random = np.random.default_rng([case.seed, number])
            real = random.uniform(-LARGEST_REAL, LARGEST_REAL, entry["shape"]).astype(np.float32)
            entry["values"] = real.reshape(-1).astype(float).tolist()
            continue
        codes = sample(case, number, tuple(entry["shape"]), *ends(entry)).reshape(-1)
        entry["values"] = codes.tolist()
        if "scale" in entry:
            real = (codes - entry["zero_point"]) * np.float64(entry["scale"])
            entry["numbers"] = real.astype(np.float32).astype(float).tolist()


def refusal(problem: Exception) -> str:
    return re.sub(r"<module>:\d+:\d+: |\(<module>:\d+:\d+\)", "", str(problem).splitlines()[0])


def both(source: mct.Model, rounding: str, extensions: str = "int16") -> tuple[mct.Model, mct.Model]:
    """Returns the simulation and the integer network of a rounding."""
    simulation = run(source, f"mct-simulate-integers{{rounding={rounding}}}")
    return simulation, run(simulation, LOWERING.format(extensions=extensions, rounding=f" rounding={rounding}"))


def write_files(case: Case, source: mct.Model, up: mct.Model, folder: Path, entry: dict) -> None:
    """Writes ONNX and `.tflite`, and adds the modules that these are judged by."""
    even = run(source, "mct-simulate-integers{rounding=half-even}")
    entry["modules"]["half-even"] = even.text
    (folder / f"{case.name}.even.mlirbc").write_bytes(even.bytecode)
    entry["files"]["simulation"] = f"{case.name}.even.mlirbc"
    for rounding in ROUNDINGS:
        _, lowered = both(source, rounding)
        if "f32>" not in lowered.text:
            entry["modules"][rounding] = lowered.text
    for format_, write in (
        ("onnx", lambda path: mct.exporters.export_onnx(source, path, profile="qdq")),
        ("tflite", lambda path: mct.exporters.export_tflite(up, path)),
    ):
        name = f"{case.name}.{format_}"
        try:
            write(folder / name)
            entry["files"][format_] = name
        except (mct.Error, ImportError) as problem:
            entry["reasons"][format_] = refusal(problem)


def write_case(case: Case, folder: Path) -> dict:
    """Raises mct.Error for a network that is none."""
    source = mct.Model.parse(case.text, case.name)
    entry: dict = {"files": {}, "modules": {}, "reasons": {}, "random": case.maker == "random"}
    if case.integers:
        integer = source
        for reason in ("onnx", "tflite"):
            entry["reasons"][reason] = "an integer network"
    else:
        rounding = case.arguments.get("rounding", "half-up")
        extensions = "int16,int4" if case.arguments.get("style") == "kernels of 4 bits" else "int16"
        simulation, integer = both(source, rounding, extensions)
        entry["modules"]["simulation"] = simulation.text
        (folder / f"{case.name}.pair.mlirbc").write_bytes(simulation.bytecode)
        if rounding == "half-up":
            write_files(case, source, simulation, folder, entry)
    parameters = json.loads(integer.module.export_parameters(""))
    entry["inputs"] = [tensor(one) for one in parameters["inputs"]]
    entry["outputs"] = [tensor(one) for one in parameters["outputs"]]
    fill(case, entry["inputs"])
    if "f32>" in integer.text:
        entry["reasons"]["tosa"] = STAYS_FLOAT
    # The matrix of the corpus is about integers.
    if "f32>" not in integer.text or entry["random"]:
        entry["modules"]["tosa"] = integer.text
        (folder / f"{case.name}.mlirbc").write_bytes(integer.bytecode)
        entry["files"]["integers"] = f"{case.name}.mlirbc"
        if not case.integers:
            entry["files"]["pair"] = f"{case.name}.pair.mlirbc"
    return entry


def main(folder: Path) -> None:
    found = {}
    for fields in json.loads((folder / "cases.json").read_text()):
        case = Case(**fields)
        try:
            found[case.name] = write_case(case, folder)
        except mct.Error as problem:
            found[case.name] = {"error": str(problem)}
    (folder / "forms.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
