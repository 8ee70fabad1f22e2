# SPDX-License-Identifier: Apache-2.0
"""Exceptions of the classes of this package."""

from __future__ import annotations

from mct.errors import Error


class TargetError(Error, ValueError, AssertionError):
    """A description of hardware, or of how to quantize, that contradicts itself or cannot be said.

    MCT raises `AssertionError` up to version 2.2, and `Exception` or pydantic's `ValidationError`, a `ValueError`, from
    2.3 on; scripts may catch any of them.
    """
