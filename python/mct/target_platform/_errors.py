# SPDX-License-Identifier: Apache-2.0
"""Exceptions of the classes of this package."""

from __future__ import annotations

from typing import ClassVar

from mct.errors import Error


class TargetError(Error, ValueError, AssertionError):
    """A description of hardware, or of how to quantize, that contradicts itself or cannot be said.

    MCT raises `AssertionError` up to version 2.2, and `Exception` or pydantic's `ValidationError`, a `ValueError`, from
    2.3 on; scripts may catch any of them.

    mct: the sentence of MCT for the same mistake. It is the text of the error once `mct.compat` is imported, and ours a
         note that Python prints below it.
    """

    # Set by `mct.compat`.
    speaks_mct: ClassVar[bool] = False

    def __init__(self, message: str, *, mct: str = "") -> None:
        if mct and self.speaks_mct:
            super().__init__(mct)
            self.add_note(message)
        else:
            super().__init__(message)


class TargetTypeError(TargetError, TypeError):
    """An object of a type that is none of a target's."""


class NoTargetFileError(TargetError, FileNotFoundError):
    """The file of a target, which is not there."""
