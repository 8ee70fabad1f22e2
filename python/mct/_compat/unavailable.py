# SPDX-License-Identifier: Apache-2.0
"""Names of MCT that have no meaning here."""

from __future__ import annotations

from typing import Any, NoReturn

from mct.target_platform import TargetError

__all__ = ["Unavailable"]


class Unavailable:
    """A name that can be imported. Calling it, or asking for an attribute, raises `TargetError`.

    path:    of the name in MCT.
    instead: what does the same.
    """

    def __init__(self, path: str, instead: str) -> None:
        self._path, self._instead = path, instead

    def _refuse(self) -> NoReturn:
        raise TargetError(f"{self._path} has no meaning here: {self._instead}")

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        self._refuse()

    def __getattr__(self, name: str) -> NoReturn:
        # Python itself looks up such names, and so does pytest.
        if name.startswith("_"):
            raise AttributeError(name)
        self._refuse()

    def __mro_entries__(self, bases: tuple[Any, ...]) -> NoReturn:
        self._refuse()

    def __repr__(self) -> str:
        return f"<{self._path}, which has no meaning here>"
