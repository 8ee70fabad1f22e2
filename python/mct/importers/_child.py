# SPDX-License-Identifier: Apache-2.0
"""Errors of a converter's process, which it reports in a file, apart from its log."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

REFUSED = "refused.json"
# Prefix of the lines of the log that the user sees even if the import succeeds.
WARNING = "mct warning: "


class Refused(Exception):
    """Describes what is wrong with a network, for its user; `left_over` are pairs of operation and layer, `layer` is
    that of the message."""

    def __init__(
        self,
        message: str,
        notes: Sequence[str] = (),
        left_over: Sequence[tuple[str, str]] = (),
        layer: str = "",
    ) -> None:
        super().__init__(message)
        self.message, self.notes, self.left_over, self.layer = message, list(notes), list(left_over), layer


def warn(message: str) -> None:
    print(WARNING + message, file=sys.stderr)


def run(main: Callable[..., None]) -> None:
    """Calls `main` with the arguments of the command and ends the process."""
    try:
        main(*sys.argv[1:])
    except Refused as problem:
        report = {name: getattr(problem, name) for name in ("message", "notes", "left_over", "layer")}
    except Exception as problem:
        traceback.print_exc()
        lines = [line for line in str(problem).splitlines() if line.strip()] or [type(problem).__name__]
        report = {
            "message": f"{type(problem).__name__}: {lines[0]}",
            "notes": lines[1:12],
            "left_over": [],
            "layer": "",
        }
    else:
        sys.exit(0)
    Path(REFUSED).write_text(json.dumps(report))
    sys.exit(1)
