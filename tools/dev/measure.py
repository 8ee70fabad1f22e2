# SPDX-License-Identifier: Apache-2.0
"""Running the tools and measuring them; used by demo_report.py, bench.py and the tests."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("MCT_BIN_DIR", REPOSITORY / "build" / "bin"))
SHARED = Path(os.environ.get("MCT_SHARED_DIR", REPOSITORY.parent / "shared"))
DIGITS = REPOSITORY / "test" / "data"


# Linux counts the memory of the process that calls exec into the peak of what it becomes. After vfork that is this
# process with its own peak; after fork it is a copy as large as this process is now, which is less than any tool needs.
subprocess._USE_VFORK = False


class Finished(NamedTuple):
    """A process that ended: what it printed, wall seconds, peak resident memory in MB (10^6 bytes), seconds of all its
    threads in user and system time, which other processes of a busy machine hardly change."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float
    peak_mb: float
    cpu_seconds: float


def run(command: Sequence[str | Path]) -> Finished:
    """Runs a command to its end, whatever its exit status."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        # wait4 gives the peak of this one process; RUSAGE_CHILDREN would give the largest of all so far.
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        texts = [stream.read().decode(errors="replace") for stream in (out, err)]
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return Finished(process.returncode, *texts, seconds, usage.ru_maxrss * 1024 / 1e6, cpu_seconds)


def run_ok(command: Sequence[str | Path]) -> Finished:
    """Like `run`, for commands that have to succeed."""
    return succeeded(command, run(command))


def succeeded(command: Sequence[str | Path], finished: Finished) -> Finished:
    """Returns `finished`, of a command that has to succeed."""
    if finished.returncode != 0:
        line = " ".join(map(str, command))
        raise RuntimeError(f"exit status {finished.returncode} from: {line}\n{finished.stderr}")
    return finished


def ptq_command(model: Path, calibration: Path | str | None, output: Path, **options: object) -> list[str | Path]:
    """The `mct-opt` command line; `options` are pipeline options with underscores for hyphens."""
    pipeline = {"target": "imx500"} | ({"calibration-data": calibration} if calibration else {})
    pipeline |= {key.replace("_", "-"): value for key, value in options.items()}
    return [
        BIN / "mct-opt",
        model,
        "--mct-ptq=" + " ".join(f"{key}={value}" for key, value in pipeline.items()),
        "-o",
        output,
    ]


def run_command(model: Path, inputs: Path, **options: object) -> list[str | Path]:
    """The `mct-run --json` command line; `options` are its options with underscores for hyphens."""
    flags = [f"--{key.replace('_', '-')}={value}" for key, value in options.items()]
    return [BIN / "mct-run", model, f"--input={inputs}", *flags, "--json"]


def run_json(model: Path, inputs: Path, **options: object) -> dict:
    return json.loads(run_ok(run_command(model, inputs, **options)).stdout)


def memory(module: Path) -> list[dict]:
    """Returns the report of `mct-report-memory` on each function."""
    report = run_ok([BIN / "mct-opt", module, "--mct-report-memory=format=json", "-o", "/dev/null"]).stdout
    return json.loads(report)["functions"]


def weight_bytes(module: Path) -> float:
    """Bytes that the float constants of a module need when each is stored in the bits of its quantizer point.

    Scalars are left out: they are constants of formulas. Constants without a weight point have the bits of their type.
    """
    tensors = [tensor for function in memory(module) for op in function["ops"] for tensor in op["tensors"]]
    return sum(tensor["elements"] * tensor["bits"] / 8 for tensor in tensors if tensor["kind"] != "activation")
