# SPDX-License-Identifier: Apache-2.0
"""Errors and diagnostics of the compiler."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import reprlib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

# Categories of control characters, of those that change the direction of text or are not seen, and of those that are no
# characters.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "remark": logging.INFO}


def printable(text: str, kept: str = "") -> str:
    """Text, names in which may come from any file, for a terminal: what is not seen, and could steer it, is written out
    as `\\x1b`, but for the characters in `kept`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in _HIDDEN and character not in kept
        else character
        for character in text
    )


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
        message = printable(message, "\n\t")
        super().__init__(message)
        self.message = message
        self.location = printable(location)
        self.notes = tuple(printable(note, "\n\t") for note in notes)
        self.diagnostics = diagnostics or str(self)

    def __str__(self) -> str:
        first = f"{self.location}: {self.message}" if self.location else self.message
        return "\n".join([first, *(f"note: {note}" for note in self.notes)])

    @classmethod
    def of(cls, errors: Iterable[Diagnostic]) -> Error:
        """Makes an error of diagnostics, the first of which is the error."""
        all_errors = [translate(error) for error in errors]
        first = all_errors[0]
        notes = [": ".join(filter(None, note)) for note in first.notes]
        return cls(first.text, first.location, notes, "\n".join(map(str, all_errors)))


class NoFileError(Error, FileNotFoundError):
    """A file that is not there."""


class ShardEnd(Error):
    """Raised when the answers of a shard of the samples have been written; the model is made of those of all shards.

    path: the file of `shards_out`.
    """

    def __init__(self, path: str) -> None:
        super().__init__(
            f"there is no model yet: '{path}' has what this shard says; give it with those of the other shards as "
            "shards_in"
        )
        self.path = path


class ArgumentTypeError(Error, TypeError):
    """An object of a type that a function does not take."""


class ArgumentValueError(Error, ValueError):
    """A value that a function does not take."""


def check_place(path: str | os.PathLike[str], option: str = "") -> None:
    """Checks that a file that is written later can be: its folder is there. `option` begins the message."""
    prefix = f"{option}: " if option else ""
    if not Path(path).absolute().parent.is_dir():
        raise NoFileError(f"{prefix}cannot write '{os.fspath(path)}': the folder is not there")
    if Path(path).is_dir():
        raise Error(f"{prefix}cannot write '{os.fspath(path)}': it is a folder")


# ----------------------------------------------------------------------------------------------------------------------
# Names that callers use
# ----------------------------------------------------------------------------------------------------------------------

# Patterns of the compiler's messages, and their replacements.
_Words = tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]


def _of_folder(name: str) -> re.Pattern[str]:
    """A file of that name in a temporary folder (`mct.running`, `mct.samples`), with its quotation marks."""
    temporary = re.escape(os.environ.get("TMPDIR", "/tmp").rstrip("/"))
    return re.compile(rf"(?P<quote>'?)(?:{temporary}|(?:/[^/\s':]+)*)/mct-[a-z0-9_]{{8}}/{name}(?P=quote)")


# An object that was given became a file: callers know the argument, and not the file.
_ARGUMENTS: _Words = (
    (_of_folder(r"overrides\.rules:(?P<line>\d+)(?::\d+)?"), lambda found: f"overrides[{int(found['line']) - 1}]"),
    (_of_folder(r"overrides\.rules"), "overrides"),
    (_of_folder(r"target\.mlir"), "target"),
    (_of_folder(r"labels\.npy"), "labels"),
    (_of_folder(r"input\d+\.npy"), "data"),
    (_of_folder(r"output\d+\.npy"), "the output"),
)
# Names of the compiler's options in messages, and those of functions and of the console command.
PYTHON_WORDS: _Words = (
    (re.compile(r"\bcalibration-data=FILE\.npy"), "data=…"),
    (re.compile(r"\bcalibration-data\b"), "data"),
    (re.compile(r"\bcalibration-samples\b"), "calibration_samples"),
    (re.compile(r"^input-scale: "), "input_scale: "),
    (re.compile(r"\blabels=FILE\.npy"), "labels=…"),
    # The place of a rule that stands in an option.
    (re.compile(r"^((?:weights|activations)=\d+):1:1$"), r"\1"),
    (re.compile(r"^keep-float=(.*):1:1$"), r"keep_float=\1"),
    (re.compile(r"\bgive input-scale=([^\s;]+)"), r"give preprocessing=mct.Preprocessing.of(\1)"),
)
CONSOLE_WORDS: _Words = (
    (re.compile(r"\bcalibration-data(=FILE\.npy)?"), "--data"),
    (re.compile(r"\bcalibration-samples\b"), "--samples"),
    (re.compile(r"^input-scale: "), "--scale: "),
    (re.compile(r"\blabels=FILE\.npy"), "--labels FILE.npy"),
    (re.compile(r"^(weights|activations|keep-float)=(.*):1:1$"), r"--\1 \2"),
    (re.compile(r"\bgive input-scale=([^\s;]+)"), r"give --scale \1"),
)
_words: ContextVar[_Words] = ContextVar("mct_words", default=PYTHON_WORDS)
_links: ContextVar[_Words] = ContextVar("mct_links", default=())


@contextlib.contextmanager
def use_words(words: _Words) -> Iterator[None]:
    """Within it, messages of the compiler name arguments by these words."""
    token = _words.set(words)
    try:
        yield
    finally:
        _words.reset(token)


@contextlib.contextmanager
def calling(links: Iterable[tuple[Path, Path]]) -> Iterator[None]:
    """Within it, messages of the compiler call each link by the file that it stands for."""
    # Backslashes of a path mean nothing here.
    token = _links.set(
        tuple((re.compile(re.escape(str(link))), str(file).replace("\\", r"\\")) for link, file in links)
    )
    try:
        yield
    finally:
        _links.reset(token)


def _say(text: str) -> str:
    for pattern, word in (*_links.get(), *_ARGUMENTS, *_words.get()):
        text = pattern.sub(word, text)
    return printable(text, "\n\t")


def translate(diagnostic: Diagnostic) -> Diagnostic:
    """The message in the words of the caller."""
    notes = tuple((_say(location), _say(text)) for location, text in diagnostic.notes)
    return Diagnostic(diagnostic.kind, _say(diagnostic.location), _say(diagnostic.text), notes)


class _Short(reprlib.Repr):
    """Short texts of values, of which some are long."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 200
        self.maxlist = self.maxtuple = self.maxset = self.maxdict = 8

    def repr_ndarray(self, value: object, level: int) -> str:
        shape = "x".join(map(str, value.shape)) or "scalar"  # type: ignore[attr-defined]
        return f"an array of {value.dtype}, {shape}"  # type: ignore[attr-defined]

    repr_Tensor = repr_ndarray


_short = _Short()


def describe(value: object) -> str:
    """A value as messages name it: as Python writes it, but of an array the shape and the type alone."""
    return _short.repr(value)


def log(diagnostic: Diagnostic) -> None:
    """A warning or remark, to the logger `mct`."""
    diagnostic = translate(diagnostic)
    logging.getLogger("mct").log(_LEVELS[diagnostic.kind], "%s", diagnostic, extra={"diagnostic": diagnostic})
