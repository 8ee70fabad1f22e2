# SPDX-License-Identifier: Apache-2.0
"""Converters of others run in a process of their own: some abort, and none of them may end the interpreter.

A process works in a temporary folder that disappears with it, so nothing half-written remains.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import mct
from mct.errors import Error
from mct.importers import _child, _text

# Seconds until a converter is given up. The slowest chain takes half a minute for a network of ten million parameters.
TIMEOUT = 1800.0
# What to do with operations that a converter does not have.
REMEDY = ("replace these operations in the network, or cut it in front of them",)
# Lines of a converter's output that an error quotes.
_TAIL = 12


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mct-import-") as name:
        yield Path(name)


def _last_lines(text: str) -> list[str]:
    lines = [line.rstrip()[:500] for line in text.splitlines() if line.strip()]
    return lines[-_TAIL:]


def _reason(text: str) -> str:
    """The line that says what is wrong: the last error, or else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line or "Error:" in line or "exception:" in line.lower()]
    return (errors or lines or ["it says nothing"])[-1][:500]


def run(converter: str, source: str, arguments: Sequence[str | Path], work: Path, timeout: float | None = None) -> None:
    """Runs `python -m arguments` in `work`.

    `converter` and `source` are what messages call it and what it reads. Raises Error when it does not end well within
    `timeout` seconds; Ctrl-C ends it with everything that it has started.
    """
    environment = dict(os.environ)
    # The package may lie in a build tree that only this process knows.
    package = str(Path(mct.__file__).absolute().parents[1])
    environment["PYTHONPATH"] = os.pathsep.join([package, *filter(None, [environment.get("PYTHONPATH")])])
    # Their own messages are what an error quotes; TensorFlow's start-up is none.
    environment.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    limit = TIMEOUT if timeout is None else timeout
    log = work / "log.txt"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", *map(str, arguments)],
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            notes = ["timeout=SECONDS gives it more"]
            raise Error(f"{converter} did not end within {limit:g} seconds and was stopped", source, notes) from None
        finally:
            # Whatever happened, also to this process: nothing of the group remains.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    said = log.read_text(errors="replace")
    if status == 0:
        for line in said.splitlines():
            if line.startswith(_child.WARNING):
                logging.getLogger("mct").warning("%s: %s", source, line.removeprefix(_child.WARNING))
        return
    if (work / _child.REFUSED).exists():
        told = json.loads((work / _child.REFUSED).read_text())
        refuse(converter, source, [_text.Operation(*entry) for entry in told["left_over"]])
        if told["layer"]:
            raise Error(told["message"], f'{source}: "{told["layer"]}"', told["notes"], said)
        raise Error(f"{converter}: {told['message']}", source, told["notes"], said)
    if status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
        hint = ", for want of memory perhaps" if -status == signal.SIGKILL else ""
        raise Error(f"{converter} crashed ({name}{hint})", source, _last_lines(said), said)
    raise Error(f"{converter} failed: {_reason(said)}", source, _last_lines(said), said)


def refuse(converter: str, source: str, rest: Sequence[_text.Operation]) -> None:
    """Raises Error when there are operations that a converter has left."""
    if rest:
        kinds = ", ".join(dict.fromkeys(operation.kind for operation in rest))
        notes = [f'{operation.kind} of layer "{operation.name}"' for operation in rest[:20]]
        if len(rest) > len(notes):
            notes.append(f"and {len(rest) - len(notes)} more")
        notes += REMEDY
        raise Error(f"{converter} has no TOSA for {kinds}", f'{source}: "{rest[0].name}"', notes)


def read(
    converter: str,
    source: str,
    result: Path,
    prepare: Callable[[str], str] = str,
    operators: Mapping[str, str] | None = None,
) -> str:
    """The text that a converter wrote, after `prepare`; refuses operations that it has left, and no result at all.

    `operators`: what the source calls the operators of layers, by their names, where operations do not tell it.
    """
    if not result.exists():
        raise Error(f"{converter} ended without an error and wrote nothing", source)
    text = prepare(result.read_text())
    rest = [
        operation
        if operation.kind.partition(".")[2].upper() == (operator := (operators or {}).get(operation.name, ""))
        or not operator
        else operation._replace(kind=f"{operator} ({operation.kind})")
        for operation in _text.left_over(text)
    ]
    refuse(converter, source, rest)
    if not any(operation.kind == "func.func" for operation in _text.operations(text)):
        raise Error(f"{converter} wrote a module without a function", source)
    return text
