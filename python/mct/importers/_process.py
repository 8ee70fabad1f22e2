# SPDX-License-Identifier: Apache-2.0
"""Converters of others run in a process of their own: some abort, and none of them may end the interpreter.

A process works in a temporary folder that disappears with it, so nothing half-written remains.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import ClassVar

import mct
from mct.errors import Error
from mct.importers import _child, _text

# Seconds until a converter is given up. The slowest chain takes half a minute for a network of ten million parameters.
TIMEOUT = 1800.0
# The remedy for operations that a converter does not have.
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
    """The line with the error: the last error, or else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line or "Error:" in line or "exception:" in line.lower()]
    return (errors or lines or ["it says nothing"])[-1][:500]


def _kill_group(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


@contextlib.contextmanager
def _deferred_interrupt() -> Iterator[None]:
    """Defers Ctrl-C to the end of the block: `run` cannot end a process that it does not have yet."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: caught.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if caught:
        handler(*caught[0])


class _Process:
    """A Python process in a session of its own."""

    def __init__(self, arguments: Sequence[str], work: Path, environment: Mapping[str, str], log: Path) -> None:
        with log.open("wb") as stream:
            self._process = subprocess.Popen(
                [sys.executable, "-P", *arguments],
                cwd=work,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )

    def wait(self, seconds: float) -> int:
        return self._process.wait(seconds)

    def end(self) -> None:
        _kill_group(self._process.pid)
        self._process.wait()


class _Kept:
    """A process that has loaded a converter (`_server`), for the next network of this process."""

    # Seconds without a network until it ends by itself.
    IDLE = 60.0
    # Seconds until a server that has no network to convert has read a request, on a machine that is busy.
    _ANSWERS_WITHIN = 60.0
    _lock = threading.Lock()
    _free: ClassVar[dict[tuple[str, str], _Kept]] = {}

    def __init__(self, module: str, environment: Mapping[str, str]) -> None:
        self._key, self._owner = (module, environment["PYTHONPATH"]), os.getpid()
        self._server = subprocess.Popen(
            [sys.executable, "-P", "-m", "mct.importers._server", module, str(self.IDLE)],
            cwd="/",
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._answers = b""
        self._job: int | None = None
        self._is_acknowledged = self._is_done = False

    @classmethod
    def start(cls, command: Sequence[str], work: Path, environment: Mapping[str, str], log: Path) -> _Kept:
        """Returns the process that converts a network: one that no other thread uses, new where there is none."""
        module, *arguments = command
        request = {
            "folder": str(work),
            "arguments": arguments,
            "environment": environment,
            "log": str(log),
        }
        line = json.dumps(request).encode() + b"\n"
        with cls._lock:
            kept = cls._free.pop((module, environment["PYTHONPATH"]), None)
        # A server that dies before it reads the request writes none.
        log.touch()
        # A fork of this process has pipes of its parent's.
        if kept and kept._owner == os.getpid() and kept._is_ready_for(line):
            return kept
        if kept:
            kept._stop()
        kept = cls(module, environment)
        kept._send(line)
        return kept

    def _send(self, line: bytes) -> None:
        assert self._server.stdin is not None
        self._job, self._is_acknowledged, self._is_done = None, False, False
        # `wait` finds that the server has ended.
        with contextlib.suppress(BrokenPipeError):
            self._server.stdin.write(line)
            self._server.stdin.flush()

    def _is_ready_for(self, line: bytes) -> bool:
        """Sends a request and returns whether the server has taken it: it may have ended by itself."""
        self._send(line)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._is_acknowledged = self._answer(time.monotonic() + self._ANSWERS_WITHIN) is not None
        return self._is_acknowledged

    def _answer(self, end: float) -> int | None:
        """Returns the next number that the server sends, or nothing where it has ended."""
        assert self._server.stdout is not None
        stream = self._server.stdout.fileno()
        while b"\n" not in self._answers:
            left = end - time.monotonic()
            if left <= 0 or not select.select([stream], [], [], left)[0]:
                raise subprocess.TimeoutExpired(self._key[0], left)
            read = os.read(stream, 1 << 12)
            if not read:
                return None
            self._answers += read
        line, _, self._answers = self._answers.partition(b"\n")
        return int(line)

    def wait(self, seconds: float) -> int:
        end = time.monotonic() + seconds
        if not self._is_acknowledged and self._answer(end) is None:
            return self._server.wait()
        self._job = self._answer(end)
        status = None if self._job is None else self._answer(end)
        self._is_done = status is not None
        return self._server.wait() if status is None else status

    def end(self) -> None:
        if not self._is_done:
            self._stop()
            return
        with self._lock:
            other = self._free.pop(self._key, None)
            self._free[self._key] = self
        if other:
            other._stop()

    def _stop(self) -> None:
        if self._owner != os.getpid():
            return
        for process in (self._job, self._server.pid):
            if process is not None:
                _kill_group(process)
        self._server.communicate()


def run(
    converter: str,
    source: str,
    arguments: Sequence[str | Path],
    work: Path,
    timeout: float | None = None,
    *,
    keeps_loaded: bool = False,
) -> None:
    """Runs `python -m arguments` in `work`.

    `converter` and `source` are what messages call it and what it reads. Raises Error when it does not end well within
    `timeout` seconds; Ctrl-C ends it with everything that it has started. `keeps_loaded`: a process that has loaded the
    module stays for a minute, and the next network is converted by a fork of it.
    """
    environment = dict(os.environ)
    # The package may lie in a build tree that only this process knows.
    package = str(Path(mct.__file__).absolute().parents[1])
    environment["PYTHONPATH"] = os.pathsep.join([package, *filter(None, [environment.get("PYTHONPATH")])])
    # Their own messages are what an error quotes; TensorFlow's start-up is none.
    environment.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    limit = TIMEOUT if timeout is None else timeout
    log = work / "log.txt"
    command = [str(argument) for argument in arguments]
    job: _Kept | _Process | None = None
    try:
        with _deferred_interrupt():
            if keeps_loaded:
                job = _Kept.start(command, work, environment, log)
            else:
                job = _Process(["-m", *command], work, environment, log)
        status = job.wait(limit)
    except subprocess.TimeoutExpired:
        notes = ["timeout=SECONDS gives it more"]
        raise Error(f"{converter} did not end within {limit:g} seconds and was stopped", source, notes) from None
    finally:
        # No process of the group remains, whatever happened to this one.
        if job is not None:
            job.end()
    output = log.read_text(errors="replace")
    if status == 0:
        for line in output.splitlines():
            if line.startswith(_child.WARNING):
                logging.getLogger("mct").warning("%s: %s", source, line.removeprefix(_child.WARNING))
        return
    if (work / _child.REFUSED).exists():
        report = json.loads((work / _child.REFUSED).read_text())
        refuse(converter, source, [_text.Operation(*entry) for entry in report["left_over"]])
        if report["layer"]:
            raise Error(report["message"], f'{source}: "{report["layer"]}"', report["notes"], output)
        raise Error(f"{converter}: {report['message']}", source, report["notes"], output)
    if status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
        hint = ", for want of memory perhaps" if -status == signal.SIGKILL else ""
        raise Error(f"{converter} crashed ({name}{hint})", source, _last_lines(output), output)
    raise Error(f"{converter} failed: {_reason(output)}", source, _last_lines(output), output)


def refuse(converter: str, source: str, rest: Sequence[_text.Operation]) -> None:
    """Raises Error when there are operations that a converter has left."""
    if rest:
        kinds = ", ".join(dict.fromkeys(operation.kind for operation in rest))
        notes = [f'{operation.kind} of layer "{operation.name}"' for operation in rest[:20]]
        if len(rest) > len(notes):
            notes.append(f"and {len(rest) - len(notes)} more")
        notes += REMEDY
        raise Error(f"{converter} has no TOSA for {kinds}", f'{source}: "{rest[0].name}"', notes)


def _check_result(converter: str, source: str, text: str, operators: Mapping[str, str]) -> None:
    """Refuses operations that a converter has left, and a module without a function.

    `operators`: what the source calls the operators of layers, by their names, where operations do not tell it.
    """
    rest = [
        operation
        if operation.kind.partition(".")[2].upper() == (operator := operators.get(operation.name, "")) or not operator
        else operation._replace(kind=f"{operator} ({operation.kind})")
        for operation in _text.left_over(text)
    ]
    refuse(converter, source, rest)
    if not any(operation.kind == "func.func" for operation in _text.operations(text)):
        raise Error(f"{converter} wrote a module without a function", source)


def _check_exists(converter: str, source: str, result: Path) -> None:
    if not result.exists():
        raise Error(f"{converter} ended without an error and wrote nothing", source)


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
    _check_exists(converter, source, result)
    text = prepare(result.read_text())
    _check_result(converter, source, text, operators or {})
    return text


def read_large(converter: str, source: str, result: Path, change: Callable[[str], str]) -> bytes:
    """The text that a converter wrote, like `read`, with `change`, by `_text.edit`."""
    _check_exists(converter, source, result)
    if result.stat().st_size == 0:
        _check_result(converter, source, "", {})

    def check_and_change(text: str) -> str:
        _check_result(converter, source, text, {})
        return change(text)

    _text.edit(result, check_and_change)
    return result.read_bytes()
