# SPDX-License-Identifier: Apache-2.0
"""MCT under its own module paths: a script for it changes one line.

    import mct.compat as model_compression_toolkit

makes `model_compression_toolkit`, `mct_quantizers` and `tensorflow_model_optimization` importable, with the modules
below them that scripts name; the objects are those of `mct`. Where such a package is installed, ours takes its place in
this process. Errors about targets have the sentence of MCT as their text, and ours as a note.

A name that has no meaning here can be imported; using it is one error, which names what does the same. The page
"Names of MCT" lists all of them.
"""

from __future__ import annotations

import importlib
from typing import Any

from mct._compat import paths
from mct._compat.names import MCT_VERSION, NAMES, Name
from mct._compat.unavailable import Unavailable
from mct.target_platform import TargetError

__all__ = ["MCT_VERSION", "NAMES", "Name", "Unavailable"]

__version__ = MCT_VERSION


def __getattr__(name: str) -> Any:
    return getattr(importlib.import_module(paths.ROOT), name)


paths.register()
TargetError.speaks_mct = True
