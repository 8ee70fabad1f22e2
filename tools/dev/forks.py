# SPDX-License-Identifier: Apache-2.0
"""Runs programs in the Python of an environment, in forks of a process that has loaded the packages that they import.

Loading takes most of what a compiler or a runtime written in Python does for a small network.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import measure


@functools.cache
def server(python: Path, packages: str) -> subprocess.Popen:
    """The process that forks; it ends with this one, whose end closes its input."""
    command = [python, __file__, packages]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    atexit.register(started.communicate)
    return started


def run(command: Sequence[str | Path], packages: str) -> measure.Finished:
    """Does what `measure.run(command)` does for a command `PYTHON SCRIPT ARGUMENT…`.

    `packages` names what the script imports, with commas between the names.
    """
    python, *arguments = command
    kept = server(Path(python), packages)
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        start = time.monotonic()
        request = {"arguments": list(map(str, arguments)), "out": str(out), "err": str(err)}
        answer = b""
        try:
            kept.stdin.write(json.dumps(request).encode() + b"\n")
            kept.stdin.flush()
            answer = kept.stdout.readline()
        except BrokenPipeError:
            pass
        seconds = time.monotonic() - start
        if not answer:
            text = f"{python} ended with exit status {kept.wait()} before it ran {arguments[0]}"
            return measure.Finished(1, "", text, seconds, 0.0, 0.0)
        status, peak, cpu_seconds = json.loads(answer)
        texts = [stream.read_text(errors="replace") for stream in (out, err)]
    return measure.Finished(status, *texts, seconds, peak, cpu_seconds)


def become(request: dict) -> None:
    """Runs the script in this process, as `python SCRIPT ARGUMENT…` would."""
    for number, name in ((0, os.devnull), (1, request["out"]), (2, request["err"])):
        file = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(file, number)
    sys.argv = request["arguments"]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    status: object = 1
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code
        if isinstance(status, str):
            print(status, file=sys.stderr)
    except BaseException:  # a fork never continues the loop of the server
        sys.excepthook(*sys.exc_info())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


def serve(packages: str) -> None:
    replies = os.dup(1)
    os.dup2(2, 1)
    for name in packages.split(","):
        with contextlib.suppress(ImportError):  # the script reports the missing module
            importlib.import_module(name)
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            os.close(replies)
            become(json.loads(line))
        _, status, usage = os.wait4(process, 0)
        answer = [os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024 / 1e6, usage.ru_utime + usage.ru_stime]
        os.write(replies, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    serve(sys.argv[1])
