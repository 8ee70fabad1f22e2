# SPDX-License-Identifier: Apache-2.0
"""Float and integer networks as TOSA flatbuffers, by Arm's serializer, an extra: `pip install "mct-mlir[tosa]"`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mct import _extras, _native
from mct._arguments import checked
from mct.errors import Error
from mct.model import Model

# Points without parameters are no ops of TOSA, targets neither.
_PLAIN = "mct-lower-to-quant"


def find_serializer() -> Path:
    """Finds `tosa-opt` in $MCT_TOSA_TOOLS, beside this interpreter, or on the PATH.

    Raises ImportError if there is none.
    """
    folders = [os.environ.get("MCT_TOSA_TOOLS"), os.path.dirname(sys.executable), None]
    for folder in folders:
        found = shutil.which("tosa-opt", path=folder) if folder != "" else None
        if found:
            return Path(found)
    raise ImportError(f"a TOSA flatbuffer needs tosa-opt: {_extras.install_command('tosa')}")


@checked
def export_tosa(model: Model, path: str | os.PathLike[str], *, function: str = "") -> None:
    """Write a TOSA flatbuffer, and beside it a `.json` with what the format has no place for.

    model:    a float network, or an integer one (`mct-lower-to-integer`), with static shapes.
    path:     of the flatbuffer. The JSON, of the same name, has names, types, scales and zero points of inputs,
              outputs and points, as `export_parameters` does.
    function: the function that the JSON is about.

    Raises ImportError with the command that installs it if the serializer is missing, and `mct.Error` for what it does
    not take, before anything is written.
    """
    path = Path(path)
    if path.suffix == ".json":
        raise Error(f"cannot write a flatbuffer to '{path}'", notes=["the JSON beside it has that name; choose .tosa"])
    program = find_serializer()
    parameters = model.module.export_parameters(function)
    plain = model.module.run(_PLAIN)
    with tempfile.TemporaryDirectory(prefix="mct-export-") as work:
        source, result = Path(work, "network.mlirbc"), Path(work, "network.tosa")
        source.write_bytes(plain.bytecode())
        option = f"--tosa-serialize=tosa-flatbuffer-filename={result} retain-graph-input-output-names"
        finished = subprocess.run(
            [program, option, source, "-o", os.devnull],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if finished.returncode != 0 or not result.exists():
            raise _refused(finished)
        flatbuffer = result.read_bytes()
    _native.write_file(os.fspath(path), flatbuffer)
    _native.write_file(os.fspath(path.with_suffix(".json")), parameters)


def _refused(finished: subprocess.CompletedProcess[str]) -> Error:
    output = finished.stderr.strip()
    lines = [line for line in output.splitlines() if line.strip()]
    reason = next((line for line in lines if "error:" in line), lines[-1] if lines else "it says nothing")
    how = f"ended by signal {-finished.returncode}" if finished.returncode < 0 else "refuses the network"
    notes = ["mct-simulate-integers and mct-lower-to-integer make a network of integers of a quantized simulation"]
    return Error(f"tosa-opt {how}: {re.sub(r'^.*?error: ', '', reason)}", notes=notes, diagnostics=output)
