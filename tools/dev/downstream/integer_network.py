# SPDX-License-Identifier: Apache-2.0
"""A network as the consumers read it, what goes in, and samples for that."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import measure
import numpy as np

DTYPES = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "f32": np.float32}


class NetworkError(Exception):
    """Says what is wrong with a file, and what to do."""


class Input(NamedTuple):
    """One argument. With `scale` it stands for scale * (stored - zero_point)."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    scale: float | None = None
    zero_point: int = 0
    bits: int = 8
    is_signed: bool = True


class Network(NamedTuple):
    """A network in bytecode, in a folder of its own."""

    name: str
    path: Path
    function: str
    inputs: list[Input]
    text: str  # without large constants
    floats: bool  # whether a result is floating-point


def prepare(source: Path, folder: Path, returns_points: bool = False) -> Network:
    """Bytecode and signature of a file that mct-opt reads; `returns_points`: its points are results. NetworkError when
    that or a consumer cannot read it."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*"):
        if old.is_file():
            old.unlink()
    path = folder / "network.mlirbc"
    passes = ["--mct-return-points"] if returns_points else []
    opened = measure.run([measure.BIN / "mct-opt", source, *passes, "-o", path])
    if opened.returncode != 0:
        raise NetworkError(opened.stderr.strip())
    text = measure.run_ok(
        [
            measure.BIN / "mct-opt",
            path,
            "--mlir-elide-elementsattrs-if-larger=16",
            "--mlir-elide-resource-strings-if-larger=16",
        ]
    ).stdout
    described = measure.run([measure.BIN / "mct-run", "--signature", "--json", path])
    if described.returncode != 0:
        raise NetworkError(described.stderr.strip())
    signature = json.loads(described.stdout)
    inputs = []
    for entry in signature["inputs"]:
        shape, dtype = shape_of(source, entry["type"])
        record = {key: entry[key] for key in ("scale", "zero_point", "bits", "is_signed") if key in entry}
        inputs.append(Input(entry["name"], shape, dtype, **record))
    floats = any(shape_of(source, entry["type"])[1] == np.float32 for entry in signature["outputs"])
    return Network(source.stem, path, signature["function"], inputs, text, floats)


def shape_of(source: Path, text: str) -> tuple[tuple[int, ...], np.dtype]:
    match = re.fullmatch(r"tensor<((?:\d+x)*)(\w+)>", text)
    if not match or match[2] not in DTYPES:
        raise NetworkError(
            f"{source}: {text} has no fixed shape or is of no samples; mct-set-batch=size=1 sets the batch"
        )
    return tuple(int(size) for size in match[1].split("x")[:-1]), np.dtype(DTYPES[match[2]])


def generate(inputs: list[Input], count: int) -> list[np.ndarray]:
    """Samples that depend on the signature alone: all values of at most 16 bits, and indices of 32 bits below 8."""
    random = np.random.default_rng(0)
    samples = []
    for entry in inputs:
        shape = (count, *entry.shape)
        if entry.dtype == np.float32:
            samples.append(random.standard_normal(shape).astype(np.float32))
        else:
            low, high = stored_range(entry) if entry.dtype != np.int32 else (0, 7)
            samples.append(random.integers(low, high, shape, endpoint=True).astype(entry.dtype))
    return samples


def stored_range(entry: Input) -> tuple[int, int]:
    """Returns the least and the largest stored value of an input."""
    if entry.dtype == np.bool_:
        return 0, 1
    info = np.iinfo(entry.dtype)
    if entry.scale is None or entry.bits >= info.bits:
        return int(info.min), int(info.max)
    return (-(2 ** (entry.bits - 1)), 2 ** (entry.bits - 1) - 1) if entry.is_signed else (0, 2**entry.bits - 1)


def load(inputs: list[Input], files: list[Path], count: int, scale: float, offset: float) -> list[np.ndarray]:
    """The first samples of files, in the order of the arguments; other types than the stored one are real numbers, as
    value * scale + offset, and become what is stored for them."""
    if len(files) != len(inputs):
        raise NetworkError(f"{len(files)} files of samples for {len(inputs)} inputs; give one for each, in order")
    samples = []
    for entry, file in zip(inputs, files, strict=True):
        try:
            values = np.load(file)
        except (OSError, ValueError) as problem:
            raise NetworkError(f"{file}: {problem}") from problem
        size = int(np.prod(entry.shape))
        if values.size == 0 or values.size % size:
            raise NetworkError(f"{file}: shape {values.shape} is no number of samples of shape {entry.shape}")
        values = values.reshape(-1, *entry.shape)[:count]
        if values.dtype != entry.dtype:
            values = store(entry, file, values * scale + offset)
        samples.append(values)
    if len({len(values) for values in samples}) != 1:
        raise NetworkError(
            f"files of {', '.join(str(len(values)) for values in samples)} samples; give as many for each"
        )
    return samples


def store(entry: Input, file: Path, values: np.ndarray) -> np.ndarray:
    """round(value / scale) + zero_point, halves up."""
    if entry.scale is None:
        raise NetworkError(f"{file}: not {entry.dtype}, and input '{entry.name}' has no scale; write what is stored")
    codes = np.floor(values.astype(np.float64) / entry.scale + 0.5) + entry.zero_point
    return np.clip(codes, *stored_range(entry)).astype(entry.dtype)
