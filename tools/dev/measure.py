# SPDX-License-Identifier: Apache-2.0
"""Running the tools and measuring them; used by demo_report.py, bench.py and the tests."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("MCT_BIN_DIR", REPOSITORY / "build" / "bin"))
SHARED = Path(os.environ.get("MCT_SHARED_DIR", REPOSITORY.parent / "shared"))
DIGITS = REPOSITORY / "test" / "data"


def has_saturating_sums() -> bool:
    """Returns whether runtimes add pairs of products of uint8 and int8 in 16 bits: on x86 without VNNI instructions."""
    flags = Path("/proc/cpuinfo").read_text() if platform.machine() == "x86_64" else "avx_vnni"
    return not re.search(r"\bavx(512)?_vnni\b", flags)


class Finished(NamedTuple):
    """A process that ended: what it printed, wall seconds, peak resident memory in MB (10^6 bytes), seconds of all its
    threads in user and system time, which other processes of a busy machine hardly change."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float
    peak_mb: float
    cpu_seconds: float


# Linux counts the memory of the process that calls exec into the peak of what it becomes. A small process in between
# starts the command, and writes what it has taken to a pipe.
_LAUNCH = """
import os, sys, time
os.set_inheritable(int(sys.argv[1]), False)
start = time.monotonic()
process = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(process, 0)
taken = status, time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss
os.write(int(sys.argv[1]), " ".join(map(str, taken)).encode())
"""


def run(command: Sequence[str | Path]) -> Finished:
    """Runs a command to its end, whatever its exit status."""
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, open(reader) as taken:
        launch = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(writer), *map(str, command)]
        process = subprocess.Popen(launch, stdin=subprocess.DEVNULL, stdout=out, stderr=err, pass_fds=[writer])
        os.close(writer)
        values = taken.read().split()
        process.wait()
        if not values:
            raise FileNotFoundError(f"cannot start {command[0]}")
        out.seek(0)
        err.seek(0)
        texts = [stream.read().decode(errors="replace") for stream in (out, err)]
    status, seconds, cpu_seconds, peak = int(values[0]), float(values[1]), float(values[2]), int(values[3])
    return Finished(os.waitstatus_to_exitcode(status), *texts, seconds, peak * 1024 / 1e6, cpu_seconds)


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
