# SPDX-License-Identifier: Apache-2.0
"""Where the accuracy of a quantized network goes, why, and what to do.

    print(mct.report.load("report.json").text())

All numbers come from the compiler, as one JSON document; `schema` tells what it may hold. Here it is shown: as a page,
as text, or beside another one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mct import _native
from mct.errors import Error
from mct.samples import Array

__all__ = ["Report", "load", "schema"]


class Report:
    """What is known of a quantized network.

    json:     the document of the compiler.
    pictures: of samples whose prediction changed, by their index, of height x width x 1 or 3 of uint8; only where the
              report was just made: the document has none.
    classes:  their names, where the samples know them.
    """

    def __init__(
        self,
        text: str,
        pictures: Mapping[int, Array] | None = None,
        classes: Sequence[str] = (),
        name: str = "report",
    ) -> None:
        """text: a JSON document, which messages call `name`."""
        self.json = _native.read_report(text, name)
        self.pictures = dict(pictures or {})
        self.classes = tuple(classes)
        self._document: dict[str, Any] | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The same as objects of Python: `report.document["points"]`."""
        if self._document is None:
            self._document = json.loads(self.json)
        return self._document

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document. The file has its name when it is complete, or never."""
        _native.write_file(os.fspath(path), self.json.encode())

    def text(self, width: int = 80) -> str:
        """What is wrong, and the ten worst points with cause and remedy."""
        from mct.report import terminal

        return terminal.to_text(terminal.render(self.document, width), width)

    def show(self) -> None:
        """Print that, in colours on a terminal."""
        from mct.report import terminal

        terminal.show(lambda width: terminal.render(self.document, width))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Report of {self.document['model']}>"


def load(path: str | os.PathLike[str]) -> Report:
    """A report from its JSON, of this version or an earlier one; a damaged one is an error that names the place."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise Error(f"cannot read '{os.fspath(path)}': {reason}") from error
    return Report(text, name=os.fspath(path))


def schema() -> dict[str, Any]:
    """JSON Schema of the document, with what each key means."""
    found: dict[str, Any] = json.loads(_native.report_schema())
    return found
