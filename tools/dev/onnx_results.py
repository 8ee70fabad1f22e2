#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a table of plain ONNX files: what ONNX Runtime computes and fuses of them, how fast, and who else takes them.

    build/venv/bin/python tools/dev/downstream --install onnx
    build/venv/bin/python tools/dev/zoo --import-only mobilenet_v2 vit_s lstm
    build/venv/bin/python tools/dev/onnx_results.py [NETWORK...]

Needs the built tools and ../shared (see measure.py); networks of the zoo that were not imported are left out. Each is
quantized for a target with steps that are powers of two and for `imx500`, whose kernels have other steps, and compared
with its simulation, halves to even, of `imx500` also where that sums exactly (mct-separate-steps). What is fused is
counted in ONNX Runtime's optimized graph of `imx500`. Times are those of one sample in one thread, of `imx500`, of
`tflite`, and of the file that ONNX Runtime's own quantizer makes from the float network.
docs/results/downstream.md has the table.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import corrections
import integer_results
import measure
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent / "downstream"))

import tool_environments

SCRIPTS = Path(__file__).resolve().parent / "downstream"
ZOO = measure.REPOSITORY / "build" / "zoo"
# True if sums of the simulation are made exact.
COMPARISONS = [("imx500_v1_pot", False), ("imx500", True), ("imx500", False)]


def of_zoo(name: str) -> dict:
    folder = ZOO / name
    samples = folder / "input0.npy"
    return {"model": folder / "network.mlirbc", "calibration": samples, "inputs": samples, "options": {}}


# Name, network, samples that are compared.
NETWORKS = [
    ("ResNet8", corrections.RESNET8, 2000),
    ("MobileNet-VWW", corrections.VWW, 100),
    ("wake word", corrections.WAKEWORD, 45),
    ("digits", integer_results.DIGITS, 899),
    ("autoencoder", corrections.AUTOENCODER, 200),
    ("ResNet-20", corrections.RESNET20, 200),
    ("Tiny Darknet", corrections.DARKNET, 16),
    ("MobileNetV2", of_zoo("mobilenet_v2"), 16),
    ("ViT-S", of_zoo("vit_s"), 4),
    ("LSTM", of_zoo("lstm"), 16),
]
FUSED = {
    "layers": ["QLinearConv", "QGemm", "QLinearMatMul"],
    "sums": ["QLinearAdd"],
    "pools": ["QLinearGlobalAveragePool", "QLinearAveragePool", "NhwcMaxPool", "MaxPool"],
}
FLOAT = ["Conv", "Gemm", "MatMul", "MatMulIntegerToFloat", "Add", "AveragePool", "GlobalAveragePool", "Concat"]


def export(module: Path, onnx: Path) -> Path:
    measure.run_ok([measure.BIN / "mct-translate", "--export-onnx", "--onnx-profile=qdq", module, "-o", onnx])
    return onnx


def compare(quantized: Path, onnx: Path, samples: np.ndarray, folder: Path, exact: bool) -> tuple[int, int]:
    """Values that ONNX Runtime and mct-run compute otherwise, and all. `exact`: sums of the simulation are."""
    even, given, ours, theirs = (folder / name for name in ("even.mlirbc", "x.npy", "ours.npy", "theirs.npy"))
    np.save(given, samples)
    passes = ["--mct-simulate-integers=rounding=half-even", *(["--mct-separate-steps"] if exact else [])]
    measure.run_ok([measure.BIN / "mct-opt", quantized, *passes, "-o", even])
    measure.run_ok([measure.BIN / "mct-run", even, f"--input={given}", f"--output={ours}"])
    measure.run_ok([python(), SCRIPTS / "run_onnx.py", onnx, given, theirs])
    expected = np.load(ours)
    return int(np.count_nonzero(expected != np.load(theirs))), expected.size


def python() -> Path:
    program = tool_environments.program("onnx")
    if program is None:
        raise SystemExit("ONNX Runtime is not installed (tools/dev/downstream --install onnx)")
    return program.parent / "python"


def row(name: str, network: dict, count: int, folder: Path) -> list[str]:
    options = network["options"]
    samples = np.load(network["inputs"], mmap_mode="r")[:count]
    scale, offset = (
        np.array([float(value) for value in str(options.get(key, default)).split(";")])
        for key, default in (("input_scale", 1), ("input_offset", 0))
    )
    samples = (samples * scale + offset).astype(np.float32)
    cells, onnx, total = [], folder / "network.onnx", 0
    for target, exact in COMPARISONS:
        quantized = folder / f"{target}.mlirbc"
        measure.run_ok(
            measure.ptq_command(network["model"], network["calibration"], quantized, target=target, **options)
        )
        differing, total = compare(quantized, export(quantized, onnx), samples, folder, exact)
        cells.append(str(differing))
    beside = folder / "tflite.mlirbc"
    measure.run_ok(measure.ptq_command(network["model"], network["calibration"], beside, target="tflite", **options))
    prepared = folder / "float.mlirbc"
    measure.run_ok([measure.BIN / "mct-opt", network["model"], "--mct-prepare", "-o", prepared])
    command = [python(), SCRIPTS / "run_qdq.py", onnx, "--openvino", "--calibration", folder / "x.npy"]
    command += ["--repeat=30" if samples[0].size > 100000 else "--repeat=1000"]
    command += ["--beside", export(beside, folder / "tflite.onnx")]
    command += ["--float", export(prepared, folder / "float.onnx")]
    found = json.loads(measure.run_ok(command).stdout)
    operators = found["operators"]
    fused = [str(sum(operators.get(each, 0) for each in kinds)) for kinds in FUSED.values()]
    left = [f"{operators[each]} {each}" for each in FLOAT if each in operators]
    times = [f"{found[key]:.3f}" for key in ("milliseconds", "beside_milliseconds", "theirs_milliseconds")]
    takes = "yes" if found["openvino"] else "no"
    values = f"{total:,}".replace(",", " ")
    return [f"{name} ({count})", values, *cells, " / ".join(fused), ", ".join(left) or "none", *times, takes]


def main() -> None:
    print(
        "| network (samples) | values | differing, powers of two | `imx500`, exact sums | `imx500` "
        "| fused: layers / sums / pools | float | ms | ms, `tflite` | ms, its own | OpenVINO |\n" + "|---" * 11 + "|"
    )
    for name, network, count in NETWORKS:
        if (sys.argv[1:] and name not in sys.argv[1:]) or not Path(network["model"]).exists():
            continue
        with tempfile.TemporaryDirectory() as folder:
            print("| " + " | ".join(row(name, network, count, Path(folder))) + " |", flush=True)


if __name__ == "__main__":
    main()
