# SPDX-License-Identifier: Apache-2.0
"""Parameters of a quantized network, and its target, as files."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

from mct import _native
from mct._arguments import checked
from mct.errors import Error
from mct.model import Model

# Fields that a point has for every channel, or once for all.
_LISTS = ("axes", "threshold", "scale", "zero_point", "lowest", "highest", "levels")


def read_parameters(model: Model, function: str = "") -> dict[str, Any]:
    """Returns `function`, `inputs`, `outputs` and `points` of a module, as `export_parameters` writes them."""
    found: dict[str, Any] = json.loads(model.module.export_parameters(function))
    return found


@checked
def export_parameters(model: Model, path: str | os.PathLike[str], *, function: str = "") -> None:
    """Write the parameters of all points, and what the integers of inputs and outputs stand for.

    path: ends in `.json`, or in `.npz`: an archive with an array NAME/KEY for each list of a point (`threshold`,
          `scale`, `zero_point`, `lowest`, `highest`, `levels`, `axes`), and the whole JSON in `json`.

    `mct/Export/Parameters.h` describes each number. Same as: mct-translate --export-parameters
    """
    path = Path(path)
    data = model.module.export_parameters(function)
    if path.suffix == ".npz":
        data = _archive(json.loads(data), data)
    elif path.suffix != ".json":
        raise Error(f"cannot write parameters to '{path}'", notes=["give a name that ends in .json or .npz"])
    _native.write_file(os.fspath(path), data)


def _archive(found: dict[str, Any], text: bytes) -> bytes:
    import numpy as np

    arrays: dict[str, Any] = {"json": np.frombuffer(text, np.uint8)}
    for point in found["points"]:
        for key in _LISTS:
            value = point.get(key)
            if value is None:
                continue
            if key == "levels":
                # Pad all to the longest, since channels may have different numbers of levels.
                longest = max(map(len, value))
                value = [[*levels, *[float("nan")] * (longest - len(levels))] for levels in value]
            integral = key in ("axes", "zero_point", "lowest", "highest")
            arrays[f"{point['name']}/{key}"] = np.asarray(value, np.int64 if integral else np.float64)
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


@checked
def export_target(model: Model, path: str | os.PathLike[str], *, schema: int = 2) -> None:
    """Write the target that a module holds as JSON of MCT, schema version 1 or 2.

    Same as: mct-translate --export-tpc-json
    """
    _native.write_file(os.fspath(path), model.module.export_target(schema))
