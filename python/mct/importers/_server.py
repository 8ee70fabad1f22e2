# SPDX-License-Identifier: Apache-2.0
"""The process that has loaded a converter and forks for each network: `python -m mct.importers._server MODULE SECONDS`.

Loading is most of what some converters do for a small network. The process reads a line of JSON for each network and
answers with three numbers, a line each: its own process when it has read the line, that of the network, and how that
ended (`subprocess.Popen.returncode`). It ends with its input, or when no network comes for SECONDS.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import sys
from collections.abc import Iterator
from typing import Any


def _requests(source: int, seconds: float) -> Iterator[dict[str, Any]]:
    buffer = b""
    while select.select([source], [], [], seconds)[0]:
        read = os.read(source, 1 << 16)
        if not read:
            return
        buffer += read
        while b"\n" in buffer:
            line, _, buffer = buffer.partition(b"\n")
            yield json.loads(line)


def _send_output_to(file: str) -> None:
    with open(file, "ab", buffering=0) as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)


def _convert(module: str, request: dict[str, Any]) -> int:
    """Does in a fork what `python -m MODULE ARGUMENT…` does, and returns its exit status."""
    from mct.importers import _child

    os.setsid()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [module, *request["arguments"]]
    try:
        _child.run(importlib.import_module(module).main)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def main(module: str, seconds: str) -> None:
    # The input and output of the converter belong to no request.
    source, replies = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for request in _requests(source, float(seconds)):
        os.write(replies, f"{os.getpid()}\n".encode())
        _send_output_to(request["log"])
        # Import the module after the first request, so that errors are written to the log of that request.
        importlib.import_module(module)
        process = os.fork()
        if process == 0:
            os.close(source)
            os.close(replies)
            status = 1
            try:
                status = _convert(module, request)
            finally:
                os._exit(status)
        os.write(replies, f"{process}\n".encode())
        _, status = os.waitpid(process, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        os.write(replies, f"{os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
