# SPDX-License-Identifier: Apache-2.0
"""Two reports side by side: before and after, two targets, two settings."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from mct import _native

if TYPE_CHECKING:
    from mct.report import Report


class Comparison:
    """The differences of a report from an earlier one; see `Report.against`.

    before, after: the reports.
    json:          the document of the compiler that compares them.
    """

    def __init__(self, before: Report, after: Report) -> None:
        self.before, self.after = before, after
        self.json = _native.compare_reports(before.json, after.json)
        self._document: dict[str, Any] | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The same as objects of Python."""
        if self._document is None:
            self._document = json.loads(self.json)
        return self._document

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a page to a `.html`, the document to a `.json`. The file has its name when it is complete, or never."""
        from mct.report import check_suffix

        text = self.html() if check_suffix(path) == ".html" else self.json
        _native.write_file(os.fspath(path), text.encode())

    def html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The page of the later report, which begins with what changed, written to `path` where there is one."""
        from mct.report.page import render

        later = self.after
        text = render(later.document, self.document, images=later.pictures, classes=later.classes)
        if path is not None:
            _native.write_file(os.fspath(path), text.encode())
        return text

    def text(self, width: int = 80) -> str:
        """Returns what changed in the network, the points that changed most, and diagnoses that came and went."""
        from mct.report import terminal

        return terminal.to_text(terminal.render_comparison(self.document, width), width)

    def show(self) -> None:
        """Print that, in colours on a terminal."""
        from mct.report import terminal

        terminal.show(lambda width: terminal.render_comparison(self.document, width))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Comparison of {self.before!r} with {self.after!r}>"
