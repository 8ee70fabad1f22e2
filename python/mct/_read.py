# SPDX-License-Identifier: Apache-2.0
"""Reads a file of MLIR in a process of its own, which some damaged files end."""

from __future__ import annotations

import contextlib
import resource
import sys
from pathlib import Path

from mct import _native
from mct.errors import Error

# Bytes that reading may take, beside a multiple of the size of the file: counts in a file are taken as they are.
_MEMORY = 4 << 30


def main(path: Path) -> None:
    limit = _MEMORY + 20 * path.stat().st_size
    # A limit of the caller's is not raised.
    present = resource.getrlimit(resource.RLIMIT_AS)[1]
    if present != resource.RLIM_INFINITY:
        limit = min(limit, present)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    # The caller reads it again, and reports what is wrong.
    with contextlib.suppress(Error):
        _native.Module.parse(path.read_bytes(), str(path))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
