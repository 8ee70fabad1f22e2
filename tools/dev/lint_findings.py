# SPDX-License-Identifier: Apache-2.0
"""Holds what the lints of the repository share: what they find, and how it is printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

# File, line and message.
Finding = tuple[Path, int, str]


def print_findings(lint: Callable[[Path], Iterable[Finding]]) -> int:
    """Prints what a lint finds below the folder that the command line names, else in the repository.

    Returns the exit status: 1 where there is a finding.
    """
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    findings = list(lint(root))
    for path, line, message in findings:
        print(f"{path.relative_to(root)}:{line}: {message}")
    return 1 if findings else 0
