# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, and what the compiler says besides."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "remark": logging.INFO}


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler.

    kind:     "error", "warning" or "remark".
    location: name of the value and `file:line:column`, as far as they are known.
    notes:    locations and texts of what belongs to it.
    """

    kind: str
    location: str
    text: str
    notes: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        lines = [(self.location, self.kind, self.text)]
        lines += [(location, "note", text) for location, text in self.notes]
        return "\n".join(": ".join(filter(None, line)) for line in lines)


class Error(Exception):
    """A model, a target, samples or options that cannot be used; nothing was written.

    message:     what is wrong.
    location:    the value or the line it is about; "" where it is about none.
    notes:       what belongs to it, and what to do.
    diagnostics: all errors as text, as the tools print them.
    """

    def __init__(self, message: str, location: str = "", notes: Sequence[str] = (), diagnostics: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.notes = tuple(notes)
        self.diagnostics = diagnostics or str(self)

    def __str__(self) -> str:
        first = f"{self.location}: {self.message}" if self.location else self.message
        return "\n".join([first, *(f"note: {note}" for note in self.notes)])

    @classmethod
    def of(cls, errors: Iterable[Diagnostic]) -> Error:
        """That of diagnostics, of which the first says what went wrong."""
        all_errors = list(errors)
        first = all_errors[0]
        notes = [": ".join(filter(None, note)) for note in first.notes]
        return cls(first.text, first.location, notes, "\n".join(map(str, all_errors)))


def check_place(path: str | os.PathLike[str], option: str = "") -> None:
    """Of a file that is written later, behind something else: its folder is there. `option` begins the message."""
    prefix = f"{option}: " if option else ""
    if not Path(path).absolute().parent.is_dir():
        raise Error(f"{prefix}cannot write '{os.fspath(path)}': the folder is not there")
    if Path(path).is_dir():
        raise Error(f"{prefix}cannot write '{os.fspath(path)}': it is a folder")


def log(diagnostic: Diagnostic) -> None:
    """A warning or remark, to the logger `mct`."""
    logging.getLogger("mct").log(_LEVELS[diagnostic.kind], "%s", diagnostic, extra={"diagnostic": diagnostic})
