#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the scripts of docs/examples/mct by mct and by MCT, and prints a table: accuracy, processor seconds, memory.

    build/venv/bin/python tools/dev/mct_results.py [--mct PYTHON]... [--runs N]

PYTHON: an interpreter that has model_compression_toolkit, torch and torchvision; docs/results/mct-scripts.md says how
one is made. Ours runs in build/importers/torch. Each run is a process of its own; of several the one that took the
fewest processor seconds counts. Accuracies that differ between runs are told on the standard error.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import measure

FOLDER = measure.REPOSITORY / "docs/examples/mct"
SCRIPTS = ("ptq", "mixed_precision", "gptq", "qat", "imx500_export", "layers")
OURS = measure.REPOSITORY / "build/importers/torch/bin/python"
PRINTED = re.compile(r"float ([\d.]+) % quantized ([\d.]+) % processor ([\d.]+) s wall [\d.]+ s memory \d+ MB")
VERSIONS = "import numpy, torch; print('torch', torch.__version__, 'numpy', numpy.__version__, end=' ')"

# MCT 2.6.1 calls the exporter in the form of torch 2.4; since 2.9 the same form is another exporter, which refuses it.
FOREIGN = """
import functools, runpy, sys, torch
torch.onnx.export = functools.partial(torch.onnx.export, dynamo=False)
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""
_PR_SET_CHILD_SUBREAPER = 36


class Run(NamedTuple):
    """One run of a script: accuracies in percent, and processor seconds of the calls of MCT and peak memory in MB, each
    in its own process and in the importer's, where they are 0 if none was started."""

    before: float
    after: float
    seconds: tuple[float, float]
    memory: tuple[float, float]


def run(command: list[str], environment: dict[str, str]) -> Run:
    """Runs a script. The importer's process outlives it for a moment, and becomes a child of this one."""
    process = subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    out, err = process.communicate()
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n{err[-3000:]}")
    # The last process that ended before is counted in the script's own figures.
    importer, importer_peak = 0.0, 0.0
    while True:
        try:
            _, _, used = os.wait4(-1, 0)
        except ChildProcessError:
            break
        importer += used.ru_utime + used.ru_stime
        importer_peak = max(importer_peak, used.ru_maxrss * 1024 / 1e6)
    found = PRINTED.search(out)
    peak = re.search(r"memory (\d+) MB", out)
    if found is None or peak is None:
        sys.exit(f"{' '.join(command)} printed no figures:\n{out}")
    before, after, seconds = map(float, found.groups())
    return Run(before, after, (seconds, importer), (float(peak[1]) * 1.048576, importer_peak))


def best(command: list[str], environment: dict[str, str], runs: int) -> Run:
    done = [run(command, environment) for _ in range(runs)]
    if len({one.after for one in done}) > 1:
        print(f"{command[-1]}: accuracies differ between runs: {[one.after for one in done]}", file=sys.stderr)
    return min(done, key=lambda one: sum(one.seconds))


def row(script: str, tool: str, versions: str, found: Run) -> str:
    seconds = " + ".join(f"{one:.1f}" for one in found.seconds if one)
    megabytes = " + ".join(f"{one:.0f}" for one in found.memory if one)
    accuracy = [f"{found.before:.2f}", f"{found.after:.2f}"]
    return "| " + " | ".join([f"`{script}.py`", tool, *accuracy, seconds, megabytes, versions]) + " |"


def printed(python: str | Path, code: str, environment: dict[str, str]) -> str:
    command = [str(python), "-c", code]
    return subprocess.run(
        command, env=os.environ | environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mct", action="append", default=[], metavar="PYTHON", help="an interpreter that has MCT")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="how often each script runs (default: 3)")
    given = parser.parse_args()
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    own = {"PYTHONPATH": str(measure.REPOSITORY / "build/python")}
    tools = [(OURS, "mct", [], own, "import mct; print('mct', mct.__version__, end=' '); ")]
    # In MCT's own environment only the file of the script is ours.
    print_version = "import model_compression_toolkit as mct; print('MCT', mct.__version__, end=' '); "
    tools += [(Path(python), "MCT", ["--mct"], {}, print_version) for python in given.mct]
    columns = ["script", "tool", "float %", "quantized %", "processor s", "memory MB", "versions"]
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    versions_printed = [
        printed(python, print_version + VERSIONS, environment) for python, _, _, environment, print_version in tools
    ]
    for script in SCRIPTS:
        for (python, tool, words, environment, _), versions in zip(tools, versions_printed, strict=True):
            start = [str(python), *(["-c", FOREIGN] if words else []), str(FOLDER / f"{script}.py"), *words]
            print(row(script, tool, versions, best(start, environment, given.runs)), flush=True)


if __name__ == "__main__":
    main()
