# SPDX-License-Identifier: Apache-2.0
"""Returns whether documentation shows what its commands print."""

from __future__ import annotations

import re

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# Results differ in the last bits between instruction sets, which moves decibels and percents by less than this.
TOLERANCE = 0.5


def is_shown(line: str, printed: str) -> bool:
    """Returns whether a line was printed, whatever its blanks and the last digits of its numbers."""
    words = " ".join(NUMBER.sub("#", line).split())
    for candidate in printed.splitlines():
        if words == " ".join(NUMBER.sub("#", candidate).split()):
            pairs = zip(NUMBER.findall(line), NUMBER.findall(candidate), strict=True)
            if all(abs(float(one) - float(other)) < TOLERANCE for one, other in pairs):
                return True
    return False
