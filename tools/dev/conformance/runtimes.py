# SPDX-License-Identifier: Apache-2.0
"""The runtimes: where they are installed, which form of a case they read, and by which rule that is judged."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import consumers
import measure
import tool_environments

HERE = Path(__file__).resolve().parent
PACKAGE = measure.REPOSITORY / "build" / "python"
IMPORTERS = measure.REPOSITORY / "build" / "importers" / "small" / "bin" / "python"


class Runtime(NamedTuple):
    """A column of the matrix.

    environment: of tools/dev/downstream, "mct" for our package, "" for the evaluator itself.
    form:        what it reads: tosa (flatbuffer), integers (bytecode), simulation (halves to even), pair (integers and
                 the simulation that they come from), onnx, tflite.
    rule:        the module that defines the expected integers; "" for a compiler that runs nothing.
    rounds:      whether its operators have roundings of their own (docs/results/conformance.md), so that each may be
                 a code away and the next ones compute with that.
    """

    title: str
    environment: str
    form: str
    rule: str
    rounds: bool = False


RUNTIMES = {
    "lowering": Runtime("`mct-lower-to-integer`", "", "", "simulation"),
    "mct-run": Runtime("`mct-run`, TOSA", "mct", "integers", "tosa"),
    "mct-simulation": Runtime("`mct-run`, simulation", "mct", "simulation", "half-even"),
    "mct-exact": Runtime("`mct-run --exact`", "mct", "pair", ""),
    "reference": Runtime("TOSA reference model", "tosa", "tosa", "tosa"),
    "iree": Runtime("IREE", "iree", "integers", "tosa"),
    "vela-u55": Runtime("Vela, U55", "vela", "tosa", ""),
    "vela-u85": Runtime("Vela, U85", "vela", "tosa", ""),
    "onnxruntime": Runtime("ONNX Runtime", "onnx", "onnx", "half-even"),
    "openvino": Runtime("OpenVINO", "onnx", "onnx", "half-even"),
    "litert": Runtime("LiteRT, XNNPACK", "litert", "tflite", "half-even", rounds=True),
    "litert-reference": Runtime("LiteRT, reference kernels", "litert", "tflite", "double-convolutions", rounds=True),
    "micro": Runtime("TFLite Micro", "micro", "tflite", "double"),
}


# Workers read these parts of a case.
NEEDED = ("files", "inputs", "outputs")


class RuntimeFailure(Exception):
    """A runtime that cannot be started, and why."""


def has_modules(*names: str) -> bool:
    return all(importlib.util.find_spec(name) for name in names)


def forms_python() -> Path:
    """A Python with what `export_tflite` needs where there is one."""
    return IMPORTERS if IMPORTERS.exists() and not has_modules("tflite", "flatbuffers") else Path(sys.executable)


def python_of(runtime: Runtime) -> Path | None:
    """Returns the interpreter of an environment, or nothing where it is not installed."""
    if runtime.environment in ("mct", ""):
        return Path(sys.executable) if (PACKAGE / "mct").is_dir() else None
    program = tool_environments.program(runtime.environment)
    return program.parent / "python" if program else None


def missing(keys: list[str]) -> dict[str, str]:
    """Returns the command that installs or builds it for each runtime that is not there."""
    return {
        key: f"tools/dev/downstream --install {RUNTIMES[key].environment}"
        if RUNTIMES[key].environment not in ("mct", "")
        else "tools/dev/build"
        for key in keys
        if python_of(RUNTIMES[key]) is None
    }


def call(python: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    settings = {"iree": consumers.IREE_OPTIONS, "vela": consumers.VELA_SYSTEMS}
    environment = dict(os.environ, PYTHONPATH=f"{PACKAGE}:{HERE.parent}", MCT_CONFORMANCE_SETTINGS=json.dumps(settings))
    return subprocess.run(
        [python, *command], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
    )


def make_forms(folder: Path) -> dict[str, dict]:
    finished = call(forms_python(), HERE / "make_forms.py", folder)
    if finished.returncode != 0:
        raise RuntimeFailure(f"the forms of the cases cannot be made:\n{finished.stderr[-2000:]}")
    return json.loads((folder / "forms.json").read_text())


def run(key: str, folder: Path, entries: dict[str, dict]) -> dict[str, dict]:
    """Returns the result of a runtime for each case: `outputs`, or `refused` with its reason. A case that ends the
    process is refused, and another process continues after it."""
    python = python_of(RUNTIMES[key])
    assert python
    needed = {name: {part: entry[part] for part in NEEDED if part in entry} for name, entry in entries.items()}
    (folder / f"{key}.json").write_text(json.dumps(needed))
    file = folder / f"{key}.jsonl"
    file.unlink(missing_ok=True)
    first = 0
    while True:
        finished = call(python, HERE / "worker.py", key, folder, str(first))
        lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        if finished.returncode == 0:
            break
        if not lines or "begun" not in lines[-1] or lines[-1]["begun"] < first:
            error_lines = finished.stderr.strip().splitlines()
            raise RuntimeFailure(f"{key} cannot be started: {error_lines[-1] if error_lines else finished.returncode}")
        first = lines[-1]["begun"] + 1
        how = f"signal {-finished.returncode}" if finished.returncode < 0 else f"status {finished.returncode}"
        with file.open("a") as results:
            results.write(json.dumps({"case": lines[-1]["case"], "refused": f"ends the process by {how}"}) + "\n")
    return {line["case"]: line for line in lines if "begun" not in line}


@functools.cache
def version(environment: str) -> bytes:
    """Returns bytes that change with a runtime: the packages of an environment, or our own library."""
    if environment == "mct":
        return b"".join(path.read_bytes() for path in sorted((PACKAGE / "mct").glob("_native*.so")))
    stamp = tool_environments.folder(environment) / "installed.txt"
    return stamp.read_bytes() if stamp.exists() else b""


@functools.cache
def called_by(environment: str) -> str:
    """Returns a hash of a version and of how it is called."""
    return hashlib.sha256(version(environment) + (HERE / "worker.py").read_bytes()).hexdigest()


def digest(key: str, entry: dict, folder: Path) -> str:
    """Returns a hash of all that an answer depends on."""
    hashed = hashlib.sha256((folder / entry["files"][RUNTIMES[key].form]).read_bytes())
    hashed.update(json.dumps(entry["inputs"]).encode())
    hashed.update(called_by(RUNTIMES[key].environment).encode())
    return hashed.hexdigest()


def answer(key: str, folder: Path, forms: dict[str, dict], kept: Path) -> dict[str, dict]:
    """Does what `run` does, and takes answers of cases that were asked before from the folder `kept`."""
    form = RUNTIMES[key].form
    entries = {name: entry for name, entry in forms.items() if form in entry.get("files", {})}
    kept.mkdir(parents=True, exist_ok=True)
    store = kept / f"{key}.jsonl"
    known = dict(map(json.loads, store.read_text().splitlines())) if store.exists() else {}
    digests = {name: digest(key, entry, folder) for name, entry in entries.items()}
    unknown = {name: entry for name, entry in entries.items() if digests[name] not in known}
    found = run(key, folder, unknown) if unknown else {}
    with store.open("a") as file:
        for name, one in found.items():
            known[digests[name]] = one
            file.write(json.dumps([digests[name], one]) + "\n")
    return {name: known[one] for name, one in digests.items()}


def serialize(folder: Path, forms: dict[str, dict]) -> None:
    """Adds the flatbuffers `tosa` to the forms: as many as possible in one process of Arm's serializer, which writes
    them consecutively. Cases that it refuses get a reason."""
    program = tool_environments.program("tosa")
    names = [
        name for name, entry in forms.items() if "tosa" in entry.get("modules", {}) and not entry["reasons"].get("tosa")
    ]
    if program:
        _serialize(program, folder, forms, names)
    (folder / "forms.json").write_text(json.dumps(forms))


def _serialize(program: Path, folder: Path, forms: dict[str, dict], names: list[str]) -> None:
    if not names:
        return
    source = folder / "serialized.mlir"
    source.write_text("\n// -----\n".join(forms[name]["modules"]["tosa"] for name in names))
    option = "--tosa-serialize=tosa-flatbuffer-filename=/dev/stdout retain-graph-input-output-names"
    finished = subprocess.run(
        [program, "--split-input-file", option, source, "-o", "/dev/null"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    files = split(finished.stdout)
    if len(files) == len(names):
        for name, content in zip(names, files, strict=True):
            (folder / f"{name}.tosa").write_bytes(content)
            forms[name]["files"]["tosa"] = f"{name}.tosa"
    elif len(names) == 1:
        forms[names[0]]["reasons"]["tosa"] = consumers.last_line(finished.stderr.decode(errors="replace"))
    else:
        middle = len(names) // 2
        for part in (names[:middle], names[middle:]):
            _serialize(program, folder, forms, part)


def split(stream: bytes) -> list[bytes]:
    """Returns the flatbuffers in a stream: each has the four letters of its kind after four bytes."""
    starts = [match.start() - 4 for match in re.finditer(b"TOSA", stream)]
    return [stream[start:end] for start, end in zip(starts, [*starts[1:], len(stream)], strict=True)]
