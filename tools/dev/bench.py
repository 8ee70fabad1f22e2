#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints one table of the figures that the project promises: accuracy, time, memory and throughput.

    tools/dev/build all mct-benchmarks && build/venv/bin/python tools/dev/bench.py [--only=accuracy,ptq,...]

Needs the real models and data (MCT_SHARED_DIR, default ../shared beside the repository). The PyTorch column needs
`build/venv/bin/pip install torch==2.13.0`. Rows whose inputs are missing are left out with a message. On a machine that
does other work at the same time the times mean little.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import measure
import numpy as np

DATA = measure.SHARED / "data"
MODELS = DATA / "models"
BENCHMARK = measure.REPOSITORY / "build" / "bench" / "MctExecutorBench"
PIXEL_TO_UNIT = {"input_scale": 1 / 255}
PTQ_RUNS = 5
THROUGHPUT_ROUNDS = 3
MANY_SAMPLES = 20000
RESNET50_SAMPLES = 16
# Ours over PyTorch without observers: what is promised for (network, threads, observers).
PROMISED_RATIO = {
    ("resnet8", 1, 0): 1.15,
    ("resnet8", 2, 0): 1.5,
    ("vww", 1, 0): 1.5,
    ("vww", 2, 0): 2.2,
    ("resnet8", 1, 1): 0.85,
    ("resnet8", 2, 1): 1.2,
    ("vww", 1, 1): 0.85,
    ("vww", 2, 1): 1.2,
}


class Row(NamedTuple):
    figure: str
    measured: str
    promised: str = ""
    kept: bool | None = None


def percent(value: float) -> str:
    return f"{100 * value:.2f} %"


def require(*paths: Path) -> None:
    """Raises FileNotFoundError for the first path that is not there; the caller leaves its rows out."""
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{path} is not there")


def accuracy(folder: Path) -> list[Row]:
    """Top-1, agreement with float and output SQNR of the three real networks, quantized for imx500."""
    require(DATA)
    rows = []

    def quantized(name: str, calibration: str, **options: object) -> Path:
        output = folder / f"{name}_quantized.mlir"
        samples = DATA / calibration
        measure.run_ok(measure.ptq_command(MODELS / f"{name}.mlirbc", samples, output, **options))
        return output

    model, images = MODELS / "resnet8_cifar10.mlirbc", DATA / "cifar10" / "test_images.npy"
    labels = {"labels": DATA / "cifar10" / "test_labels.npy"}
    before = measure.run_json(model, images, **labels)
    after = measure.run_json(quantized("resnet8_cifar10", "cifar10/calib_images.npy"), images, compare=model, **labels)
    loss = before["top1"] - after["top1"]
    rows.append(Row("ResNet8 top-1, float", percent(before["top1"]), "74.85 % (TFLite)"))
    rows.append(Row("ResNet8 top-1, quantized", percent(after["top1"]), "at most 0.5 points below", loss <= 0.005))
    rows.append(Row("ResNet8 agreement with float", percent(after["agreement"])))

    model, images = MODELS / "mobilenet_vww.mlirbc", DATA / "vww" / "test_images.npy"
    module = quantized("mobilenet_vww", "vww/calib_images.npy", **PIXEL_TO_UNIT)
    agreement = measure.run_json(module, images, compare=model, **PIXEL_TO_UNIT)["agreement"]
    rows.append(Row("VWW agreement with float", percent(agreement), ">= 97 %", agreement >= 0.97))

    module = quantized("autoencoder_ad", "ad/synthetic_calib_windows.npy")
    windows = DATA / "ad" / "synthetic_test_windows.npy"
    results = []
    for path in (MODELS / "autoencoder_ad.mlirbc", module):
        measure.run_json(path, windows, output=folder / "outputs.npy")
        results.append(np.load(folder / "outputs.npy").astype(np.float64))
    sqnr = 10 * np.log10(np.sum(results[0] ** 2) / np.sum((results[1] - results[0]) ** 2))
    rows.append(Row("autoencoder output SQNR", f"{sqnr:.1f} dB", ">= 20 dB", bool(sqnr >= 20)))
    return rows


def write_repeated(path: Path, array: np.ndarray, times: int) -> None:
    """The array several times over as one .npy, without holding that in memory (see measure.py on peaks)."""
    header = np.lib.format.header_data_from_array_1_0(array) | {"shape": (times * len(array), *array.shape[1:])}
    with path.open("wb") as out:
        np.lib.format.write_array_header_1_0(out, header)
        for _ in range(times):
            array.tofile(out)


def ptq(folder: Path) -> list[Row]:
    """Time and memory of the whole mct-ptq process on ResNet8."""
    images = DATA / "cifar10" / "calib_images.npy"
    model = MODELS / "resnet8_cifar10.mlirbc"
    require(images, model)
    few = np.load(images)
    many = folder / "many.npy"
    write_repeated(many, few, MANY_SAMPLES // len(few))

    def measured(**options: str) -> tuple[float, float, measure.Finished]:
        """Seconds and peak with few images, and the run with many."""
        runs = [
            measure.run_ok(measure.ptq_command(model, images, folder / "out.mlir", **options)) for _ in range(PTQ_RUNS)
        ]
        long_run = measure.run_ok(measure.ptq_command(model, many, folder / "out.mlir", **options))
        return min(run.seconds for run in runs), max(run.peak_mb for run in runs), long_run

    seconds, peak, long_run = measured(weights_bias_correction="false")
    corrected_seconds, corrected_peak, corrected_long_run = measured()
    many.unlink()
    growth = long_run.peak_mb - peak
    return [
        Row(
            f"ResNet8 mct-ptq without bias correction, {len(few)} images, best of {PTQ_RUNS}",
            f"{seconds:.3f} s",
            "< 0.4 s",
            seconds < 0.4,
        ),
        Row(f"  peak memory, {len(few)} images", f"{peak:.0f} MB", "< 200 MB", peak < 200),
        # The images themselves would be 61 MB; a tenth of that is what the kernel's read-ahead may leave.
        Row(f"  peak memory, {MANY_SAMPLES} images", f"{long_run.peak_mb:.0f} MB", "the same", abs(growth) < 6),
        Row(f"  time, {MANY_SAMPLES} images", f"{long_run.seconds:.2f} s"),
        Row(f"ResNet8 mct-ptq, {len(few)} images, best of {PTQ_RUNS}", f"{corrected_seconds:.3f} s"),
        Row(f"  peak memory, {len(few)} images", f"{corrected_peak:.0f} MB"),
        Row(f"  peak memory, {MANY_SAMPLES} images", f"{corrected_long_run.peak_mb:.0f} MB"),
        Row(f"  time, {MANY_SAMPLES} images", f"{corrected_long_run.seconds:.2f} s"),
    ]


def ours(network: str, threads: int) -> dict[tuple[str, int, int], dict[str, float]]:
    """Counters of each benchmark of a network: (network, threads, observers) to name and value."""
    chosen = f"--benchmark_filter=BM_Run/{network}/threads:{threads}/"
    report = json.loads(measure.run_ok([BENCHMARK, "--benchmark_format=json", chosen]).stdout)
    best: dict[tuple[str, int, int], dict[str, float]] = {}
    for entry in report["benchmarks"]:
        match = re.match(r"BM_Run/(\w+)/", entry["name"])
        if not match or "images_per_second" not in entry:
            continue
        fields = dict(re.findall(r"(\w+):(\d+)", entry["name"]))
        key = match[1], int(fields["threads"]), int(fields["observers"])
        if entry["images_per_second"] > best.get(key, {}).get("images_per_second", 0):
            best[key] = entry
    return best


def pytorch(network: str, threads: int) -> float:
    script = measure.REPOSITORY / "tools" / "dev" / "bench_torch.py"
    return float(measure.run_ok([sys.executable, script, network, str(threads)]).stdout)


def throughput(folder: Path) -> list[Row]:
    """Images per second of the executor beside PyTorch eager, in turns, the best of each."""
    require(BENCHMARK)
    has_torch = importlib.util.find_spec("torch") is not None
    if not has_torch:
        print(f"bench: no PyTorch column: {sys.executable} -m pip install torch==2.13.0", file=sys.stderr)
    best: dict[tuple[str, int, int], dict[str, float]] = {}
    reference: dict[tuple[str, int], float] = {}
    # In turns, so that both see the same moods of a shared machine.
    for _ in range(THROUGHPUT_ROUNDS):
        for network, threads in itertools.product(("resnet8", "vww"), (1, 2)):
            for key, entry in ours(network, threads).items():
                if entry["images_per_second"] > best.get(key, {}).get("images_per_second", 0):
                    best[key] = entry
            if has_torch:
                speed = pytorch(network, threads)
                reference[network, threads] = max(speed, reference.get((network, threads), 0))
        for network in ("resnet8_integer", "vww_integer"):
            for key, entry in ours(network, 1).items():
                if entry["images_per_second"] > best.get(key, {}).get("images_per_second", 0):
                    best[key] = entry

    rows = []
    for key in sorted(best):
        network, threads, observers = key
        speed = best[key]["images_per_second"]
        text, promised, kept = f"{speed:.0f}/s", "", None
        if (network, threads) in reference:
            ratio = speed / reference[network, threads]
            text += f" = {ratio:.2f} x PyTorch ({reference[network, threads]:.0f}/s)"
            if key in PROMISED_RATIO:
                promised, kept = f">= {PROMISED_RATIO[key]} x", ratio >= PROMISED_RATIO[key]
        if network.endswith("_integer"):
            float_speed = best[network.removesuffix("_integer"), threads, observers]["images_per_second"]
            text += f" = {speed / float_speed:.2f} x float"
            promised, kept = ">= 2 x", speed >= 2 * float_speed
        name = f"{network}, {threads} thread{'s' if threads > 1 else ''}{', all observers' if observers else ''}"
        rows.append(Row(name, text, promised, kept))
        if best[key].get("onednn_share"):
            rows.append(Row("  time inside oneDNN", percent(best[key]["onednn_share"])))
    return rows


def resnet50(folder: Path) -> list[Row]:
    """A network of 25 million parameters."""
    model, images = folder / "resnet50.mlirbc", folder / "resnet50.npy"
    script = measure.REPOSITORY / "tools" / "dev" / "make_resnet50.py"
    measure.run_ok([sys.executable, script, model, f"--calibration={images}", f"--samples={RESNET50_SAMPLES}"])
    options = {"input_scale": 0.0078125, "input_offset": -1.0}
    size = model.stat().st_size / 1e6
    rows = []
    for extra, words in (({"weights_bias_correction": "false"}, " without bias correction"), ({}, "")):
        command = measure.ptq_command(model, images, folder / "resnet50_quantized.mlirbc", **options, **extra)
        run = measure.run_ok(command)
        rows.append(Row(f"ResNet-50 size ({size:.0f} MB), {RESNET50_SAMPLES} images{words}", f"{run.seconds:.2f} s"))
        rows.append(Row("  peak memory", f"{run.peak_mb:.0f} MB"))
    return rows


def start(folder: Path) -> list[Row]:
    seconds = min(measure.run_ok([measure.BIN / "mct-opt", "--help"]).seconds for _ in range(PTQ_RUNS))
    return [Row(f"mct-opt --help, best of {PTQ_RUNS}", f"{seconds:.3f} s", "< 0.2 s", seconds < 0.2)]


def print_table(rows: list[Row]) -> None:
    verdict = {True: "yes", False: "NO", None: ""}
    cells = [("figure", "measured", "promised", "kept")]
    cells += [(row.figure, row.measured, row.promised, verdict[row.kept]) for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(4)]
    cells.insert(1, tuple("-" * width for width in widths))
    for line in cells:
        print("| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) + " |")


def processor() -> str:
    match = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return match[1] if match else "unknown processor"


def main() -> None:
    sections = {f.__name__: f for f in (accuracy, ptq, throughput, resnet50, start)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(sections), help=f"sections to run, of {', '.join(sections)}")
    chosen = parser.parse_args().only.split(",")
    if unknown := set(chosen) - set(sections):
        parser.error(f"unknown section: {', '.join(sorted(unknown))}")
    require(measure.BIN / "mct-opt", measure.BIN / "mct-run")

    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            print(f"bench: {name}", file=sys.stderr, flush=True)
            try:
                rows += sections[name](Path(folder))
            except (FileNotFoundError, RuntimeError, subprocess.SubprocessError) as error:
                print(f"bench: {name} left out: {error}", file=sys.stderr)
    print_table(rows)
    print(f"\n{processor()}, {len(os.sched_getaffinity(0))} processors")


if __name__ == "__main__":
    try:
        main()
    except FileNotFoundError as error:
        sys.exit(f"bench: {error}")
