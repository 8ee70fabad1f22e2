# SPDX-License-Identifier: Apache-2.0
"""Samples in many forms, as the `.npy` files that runs of a network read.

One input:

* an array (also of torch), the samples along its first axis, or one sample alone;
* the path of a `.npy` file, or several; they are read where they are;
* paths of images, or of a folder of them, as `mct.images` takes them;
* any iterable of arrays, each one sample or a batch of them: a list, a generator, a torch `DataLoader`; lists of one
  array; tuples `(array, label)`;
* a function that returns such an iterable (MCT's `representative_data_gen`), called each time samples are needed;
* `mct.images(...)`: images, and what becomes of their pixels.

Several inputs: a dict by their names, or a list in their order, of arrays or paths; or an iterable of such.

Streamed: what does not lie in files already goes to a temporary one, sample by sample, which disappears. The first
sample of another shape or type, or with a value that is not finite, is an error that names its index.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import mmap
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from mct import _native
from mct.errors import Error, calling
from mct.preprocessing import LAYOUTS, Preprocessing

if TYPE_CHECKING:
    from mct.progress import Reporter

Array = npt.NDArray[Any]

_ELEMENT_TYPES = {
    "f32": "float32",
    "f16": "float16",
    "i1": "bool",
    "ui8": "uint8",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
}
# Suffixes of files that are read as images.
IMAGE_SUFFIXES = {".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}
_SUFFIX_HINT = f"samples are .npy files (numpy.save), or images: {', '.join(sorted(IMAGE_SUFFIXES))}"
# Types that the passes turn into f32 as they read them.
_READ_AS_REAL = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32")
_LAYOUT_AXES = {"NCHW": ("first", "last"), "NHWC": ("last", "first")}
_LAYOUT_HINT = (
    "the samples have the layout {0}, channels {1}, and the network has them {2}: give "
    'preprocessing=mct.Preprocessing.of(layout="{0}"), on the console --layout {0}, or transpose them; '
    "see docs/guide/troubleshooting.md#samples-that-do-not-fit"
)
# One piece of a large array is checked and written at a time.
_CHUNK_BYTES = 4 << 20


@dataclass(frozen=True)
class Input:
    """One input of a network. `shape` has the leading dimension, which holds the samples; None is a size not fixed."""

    name: str
    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]
    preprocessing: Preprocessing = field(default_factory=Preprocessing)
    # The type of the integers that an integer network reads; samples are real numbers nevertheless, or those.
    stored: np.dtype[Any] | None = None

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> Input:
        """Makes one of an entry of `inputs` in the output of `mct-run --signature --json`."""
        found = re.fullmatch(r"tensor<((?:(?:\d+|\?)x)*)(\w+)>", entry["type"])
        if not found or found[2] not in _ELEMENT_TYPES:
            raise Error(f"input '{entry['name']}' has type {entry['type']}, which no sample has")
        shape = tuple(None if size == "?" else int(size) for size in found[1].split("x")[:-1])
        dtype = np.dtype(_ELEMENT_TYPES[found[2]])
        record = Preprocessing.from_record(entry.get("preprocessing", {}))
        if "zero_point" in entry:
            return cls(entry["name"], shape, np.dtype(np.float32), record, dtype)
        return cls(entry["name"], shape, dtype, record)

    @property
    def row(self) -> tuple[int | None, ...]:
        """Dimensions after the leading one, in the order that samples have."""
        return self.preprocessing.sample_shape(self.shape[1:])


@dataclass
class Spooled:
    """Files that hold samples, for as long as the `with` block of `spool` lasts."""

    signature: tuple[Input, ...]
    paths: list[Path] = field(default_factory=list)
    # Index of the input of each path.
    inputs: list[int] = field(default_factory=list)
    count: int = 0
    # Labels of a stream of tuples.
    labels: Array | None = None
    # Folder of the files that go with the block.
    folder: Path | None = None
    # Some of `paths`, and what they stand for.
    links: list[tuple[Path, Path]] = field(default_factory=list)

    @property
    def arguments(self) -> list[str]:
        """Returns the samples in the syntax of the option `calibration-data` of passes and of `--input` of mct-run."""
        return [f"{number}:{path}" for number, path in zip(self.inputs, self.paths, strict=True)]

    @property
    def option(self) -> str:
        """Returns `arguments` as the value of an option in a textual pass pipeline."""
        return ",".join(self.arguments)

    @property
    def renamed(self) -> list[tuple[str, str]]:
        """The paths that go with the block, and words that stand for them where people read them."""
        gone = [path for path in self.paths if path.parent == self.folder]
        words = ["SAMPLES.npy"] if len(gone) == 1 else [f"SAMPLES_{number}.npy" for number in range(len(gone))]
        return [(str(path), word) for path, word in zip(gone, words, strict=True)]


def _shape_text(shape: Sequence[int | None]) -> str:
    return "x".join("?" if size is None else str(size) for size in shape) or "scalar"


def _matches(found: Sequence[int], expected: Sequence[int | None]) -> bool:
    return len(found) == len(expected) and all(e is None or f == e for f, e in zip(found, expected, strict=True))


def _check_mapped(array: Array) -> None:
    """Raises Error for an array in a mapped file that was truncated: reading it would end the process."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, mmap.mmap) and owner.size() < len(owner):
        raise Error(f"a file of {owner.size()} bytes is mapped as {len(owner)} bytes: it was truncated")


def as_array(value: Any) -> Array:
    """An array of whatever holds one: of numpy, torch, or anything with `__array__`.

    Raises Error for masked values, of which nothing is known, and for a mapped file that was truncated.
    """
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            raise Error("an array with masked values: fill them (numpy.ma.filled), or leave out their samples")
        return np.ma.getdata(value)
    if isinstance(value, np.ndarray):
        _check_mapped(value)
        return value
    if hasattr(value, "detach"):  # torch: a tensor with a gradient, or on a device, has no __array__
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            value = value.float()
        return np.asarray(value.numpy())
    return np.asarray(value)


def _is_array(value: Any) -> bool:
    return (
        isinstance(value, (np.ndarray, np.generic, memoryview))
        or hasattr(value, "__array__")
        or hasattr(value, "detach")
    )


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _is_nested_numbers(value: Any) -> bool:
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, (int, float))


def _is_loader(data: Any) -> bool:
    """Returns whether it is a torch DataLoader, which collates tuples into lists; without importing torch."""
    return any(base.__name__ == "DataLoader" for base in type(data).__mro__)


class _NpyFile:
    """Appends samples; the header, of a fixed size, gets their number at the end."""

    def __init__(self, path: Path, dtype: np.dtype[Any], row: tuple[int, ...]) -> None:
        self.path, self.dtype, self.row, self.count = path, dtype, row, 0
        self.file: BinaryIO = path.open("wb")
        self._write_header()

    def _write_header(self) -> None:
        # Room for any number of samples.
        shape = f"({self.count}, {''.join(f'{size}, ' for size in self.row)})"
        text = f"{{'descr': '{np.lib.format.dtype_to_descr(self.dtype)}', 'fortran_order': False, 'shape': {shape}, }}"
        length = 118 + 64 * math.ceil(max(0, 80 + 21 * len(self.row) - 118) / 64)
        self.file.write(b"\x93NUMPY\x01\x00" + length.to_bytes(2, "little"))
        self.file.write((text.ljust(length - 1) + "\n").encode("latin1"))

    def append(self, samples: Array) -> None:
        try:
            self.file.write(np.ascontiguousarray(samples).data)
        except OSError as error:
            # Samples that lie in a mapped file are read here.
            reason = "a mapped file was truncated" if error.errno == errno.EFAULT else error.strerror
            raise Error(f"samples: cannot be written to '{self.path.parent}': {reason}") from error
        self.count += len(samples)

    def close(self) -> None:
        if not self.file.closed:
            self.file.seek(0)
            self._write_header()
            self.file.close()


class _InputWriter:
    """Checks the samples of one input, and writes them."""

    def __init__(self, spec: Input, own_leading_size: bool, path: Path) -> None:
        self.spec, self.path = spec, path
        self.rows = (spec.shape[0] or 1) if own_leading_size and spec.shape else 1
        self.found: np.dtype[Any] | None = None
        self.file: _NpyFile | None = None
        self.count = 0

    def fail(self, index: int, message: str) -> Error:
        return Error(f"sample {index} of input '{self.spec.name}': {message}")

    def arrange(self, array: Array, first: int) -> Array:
        """Samples side by side: shape (samples * rows of each, *row). `first`: the index of the first of them."""
        row, leading = self.spec.row, self.spec.shape[:1]
        if not self.spec.shape:
            if array.ndim > 1:
                raise self.fail(
                    first, f"expected a number, or a vector of them, found shape {_shape_text(array.shape)}"
                )
            return array.reshape(-1)
        if _matches(array.shape, row) and self.rows == 1:
            return array[np.newaxis]
        if array.ndim == len(row) + 1 and _matches(array.shape[1:], row) and len(array) % self.rows == 0:
            return array
        if self.rows != 1 and _matches(array.shape[1:], (*leading, *row)):
            return array.reshape(-1, *array.shape[2:])
        expected, found = _shape_text(row), _shape_text(array.shape)
        if self.rows != 1:
            raise self.fail(first, f"expected shape {_shape_text((*leading, *row))}, found {found}")
        message = f"expected shape {expected}, or Nx{expected} for a batch, found {found}"
        error = self.fail(first, message)
        if layout := self._other_layout(array.shape):
            error = Error(error.message, notes=[_LAYOUT_HINT.format(layout, *_LAYOUT_AXES[layout])])
        raise error

    def _other_layout(self, shape: Sequence[int]) -> str | None:
        """The layout of images that a sample, or a batch, of this shape seems to have, where the input has the other;
        None for shapes that are wrong in other ways."""
        row = self.spec.row
        if len(row) != 3 or len(shape) not in (3, 4):
            return None
        for layout, (_, order) in LAYOUTS.items():
            wanted: list[int | None] = [None] * 3
            for dimension, source in enumerate(order):
                wanted[source] = row[dimension]
            if _matches(shape[-3:], wanted):
                return layout
        return None

    def stored_type(self, dtype: np.dtype[Any], first: int) -> np.dtype[Any]:
        """The type that samples of `dtype` are written in."""
        wanted = self.spec.dtype
        if wanted == np.float32:
            if dtype.name in _READ_AS_REAL:
                return dtype.newbyteorder("=")
            stored = {"float64": "float32", "bool": "uint8", "int64": "int32", "uint64": "int32"}.get(dtype.name)
            if stored:
                return np.dtype(stored)
        elif (wanted == np.float16 and dtype.kind == "f") or (wanted.kind in "iub" and dtype.kind in "iub"):
            return wanted
        raise self.fail(first, f"expected elements that can be read as {wanted}, found {dtype}")

    def convert(self, samples: Array, first: int) -> Array:
        """The samples in the type of the file, all values checked."""
        if self.found is None:
            self.found = samples.dtype
            dtype = self.stored_type(samples.dtype, first)
            row = tuple(int(size) for size in samples.shape[1:])
            self.file = _NpyFile(self.path, dtype, row)
        assert self.file
        if samples.dtype != self.found:
            raise self.fail(first, f"expected {self.found} elements as in the samples before it, found {samples.dtype}")
        if samples.shape[1:] != self.file.row:
            expected = _shape_text(self.file.row)
            raise self.fail(first, f"expected shape {expected} as before, found {_shape_text(samples.shape[1:])}")
        target = self.file.dtype
        converted = samples
        if target != samples.dtype:
            with np.errstate(over="ignore"):
                converted = samples.astype(target)
        bad: Array | None = None
        what = "finite values"
        if target.kind == "f":
            # The sum is finite where all are, but for overflow: cheaper than a mask of a piece that is all right.
            with np.errstate(over="ignore", invalid="ignore"):
                suspicious = not np.isfinite(np.sum(converted, dtype=np.float32))
            bad = ~np.isfinite(converted) if suspicious else None
        elif samples.dtype.kind in "iu" and not np.can_cast(samples.dtype, target):
            limits = (0, 1) if target.kind == "b" else (np.iinfo(target).min, np.iinfo(target).max)
            bad = (samples < limits[0]) | (samples > limits[1])
            what = f"values in [{limits[0]}, {limits[1]}]"
        if bad is not None and bad.any():
            place = np.unravel_index(int(np.argmax(bad)), bad.shape)
            value = samples[place]
            inside = [int(place[0]) % self.rows] * (self.rows != 1) + [int(i) for i in place[1:]]
            raise self.fail(first + int(place[0]) // self.rows, f"expected {what}, found {value} at {inside}")
        return converted

    def append(self, array: Array, first: int) -> int:
        """Writes the samples of `array`, of which the first has index `first`; returns how many."""
        samples = self.arrange(array, first)
        bytes_of_sample = max(1, self.rows * samples[:1].nbytes)
        piece = max(1, _CHUNK_BYTES // bytes_of_sample) * self.rows
        for begin in range(0, len(samples), piece):
            converted = self.convert(samples[begin : begin + piece], first + begin // self.rows)
            assert self.file
            self.file.append(converted)
        return len(samples) // self.rows

    def close(self) -> None:
        if self.file:
            self.file.close()


def _items(data: Any, inputs: int) -> Iterator[Any]:
    """Yields the elements of the data one by one: samples, or batches of them."""
    if _is_array(data):
        yield data
    elif isinstance(data, Mapping) or (inputs > 1 and isinstance(data, (list, tuple)) and all(map(_is_array, data))):
        # All samples of each input.
        yield list(data) if isinstance(data, (list, tuple)) else data
    elif isinstance(data, Iterable) or hasattr(data, "__getitem__"):
        yield from iter(data)
    else:
        raise Error(f"samples: expected an array, paths, an iterable or a function, found {type(data).__name__}")


class _Splitter:
    """Takes what a stream hands out apart, into an array for each input and the label."""

    def __init__(self, signature: Sequence[Input], labelled: bool) -> None:
        self.signature, self.labelled = signature, labelled
        self.labels: list[Array] = []

    def split(self, item: Any, first: int) -> list[Array]:
        count = len(self.signature)
        names = ", ".join(f"'{spec.name}'" for spec in self.signature)
        if isinstance(item, Mapping):
            unknown = [str(key) for key in item if key not in {spec.name for spec in self.signature}]
            missing = [spec.name for spec in self.signature if spec.name not in item]
            if unknown or missing:
                what = f"no input '{unknown[0]}'" if unknown else f"an input '{missing[0]}', which is missing"
                raise Error(f"sample {first}: the network has {what}; its inputs are {names}")
            return [self.array(item[spec.name], first) for spec in self.signature]
        if isinstance(item, (list, tuple)) and not (count == 1 and _is_nested_numbers(item)):
            values = list(item)
            # ((a, b), label)
            if values and isinstance(values[0], (list, tuple)) and not _is_nested_numbers(values[0]):
                values = [*values[0], *values[1:]]
            if len(values) == count + 1 and (self.labelled or isinstance(item, tuple)):
                self.labels.append(self.array(values.pop(), first).reshape(-1))
            if len(values) != count:
                raise Error(f"sample {first}: expected {count} arrays, one for each of {names}, found {len(values)}")
            return [self.array(value, first) for value in values]
        if count != 1:
            raise Error(
                f"sample {first}: the network has {count} inputs: {names}; expected a list with an array for each, "
                f"or a dict by name, found {type(item).__name__}"
            )
        return [self.array(item, first)]

    @staticmethod
    def array(value: Any, first: int) -> Array:
        try:
            array = as_array(value)
        except (ValueError, TypeError, RuntimeError, Error) as error:
            raise Error(f"sample {first}: {error}") from error
        if array.dtype.kind not in "iufb":
            raise Error(f"sample {first}: expected numbers, found {type(value).__name__}")
        return array


def _as_files(data: Any, signature: Sequence[Input]) -> list[tuple[int, Path]] | None:
    """The `.npy` files that the data consists of, with the numbers of their inputs; none where it is not all files."""

    def paths(value: Any) -> list[Path] | None:
        values = [value] if _is_path(value) else value
        if isinstance(values, (list, tuple)) and values and all(map(_is_path, values)):
            return [Path(path) for path in values]
        return None

    if isinstance(data, Mapping):
        given = {key: paths(value) for key, value in data.items()}
        numbers = {spec.name: number for number, spec in enumerate(signature)}
        if not given or any(files is None for files in given.values()):
            return None
        if unknown := [key for key in given if key not in numbers]:
            raise Error(f"samples: the network has no input '{unknown[0]}'; its inputs are {', '.join(numbers)}")
        return [(numbers[key], path) for key, files in given.items() for path in files or ()]
    files = paths(data)
    if files is None:
        return None
    if len(signature) == 1:
        return [(0, path) for path in files]
    if len(files) != len(signature):
        names = ", ".join(f"'{spec.name}'" for spec in signature)
        raise Error(f"samples: the network has {len(signature)} inputs: {names}; name them in a dict of paths")
    return list(enumerate(files))


# Other characters have a meaning in the text of a pass pipeline.
_PLAIN_PATH = re.compile(r"[\w./+@%=-]+")


def load_npy(path: str | os.PathLike[str], mmap_mode: Literal["r"] | None = None) -> Array:
    """The array of a `.npy` file. Raises Error for any other file."""
    try:
        with open(path, "rb") as file:
            magic = file.read(len(np.lib.format.MAGIC_PREFIX))
        if not magic:
            raise Error(f"'{os.fspath(path)}': expected a .npy file, found an empty file")
        if magic != np.lib.format.MAGIC_PREFIX:
            hint = "numpy.savez makes archives, numpy.save a .npy" if magic.startswith(b"PK") else _SUFFIX_HINT
            raise Error(f"'{os.fspath(path)}': expected a .npy file, found other contents", notes=[hint])
        array: Array = np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    except OSError as error:
        raise Error(f"'{os.fspath(path)}': cannot be read as a .npy file: {error.strerror or error}") from error
    except (ValueError, EOFError) as error:
        raise Error(f"'{os.fspath(path)}': cannot be read as a .npy file: {error}") from error
    return array


class _Spooler:
    def __init__(self, signature: Sequence[Input], folder: Path, limit: int | None) -> None:
        self.result = Spooled(tuple(signature), folder=folder)
        self.folder, self.limit = folder, limit
        leading = {spec.shape[0] if spec.shape else None for spec in signature}
        # As in the executor, a sample is a whole argument if the arguments have no common batch.
        own = len(leading) > 1 or any(not spec.shape for spec in signature)
        self.writers = [_InputWriter(spec, own, folder / f"input{number}.npy") for number, spec in enumerate(signature)]

    def add_files(self, files: list[tuple[int, Path]]) -> None:
        """Read where they are, but for those of an input of which one has a type that the passes do not read."""
        counts = []
        for number, writer in enumerate(self.writers):
            count, plain = 0, True
            arrays = []
            for path in (path for owner, path in files if owner == number):
                array = load_npy(path, mmap_mode="r")
                try:
                    samples = writer.arrange(array, count)
                    plain &= array.ndim == samples.ndim and writer.stored_type(array.dtype, count) == array.dtype
                except Error as error:
                    raise Error(f"'{path}': {error.message}", notes=error.notes) from error
                arrays.append((path, array))
                count += len(samples) // writer.rows
            counts.append(count)
            first = 0
            for path, array in arrays:
                if plain:
                    self.result.paths.append(self.plain_path(path))
                    self.result.inputs.append(number)
                else:
                    first += writer.append(array, first)
        self.finish(counts)

    def plain_path(self, path: Path) -> Path:
        """The file under a name that the text of a pass pipeline may hold."""
        target = path.absolute()
        if _PLAIN_PATH.fullmatch(str(target)):
            return target
        link = self.folder / f"file{len(self.result.paths)}.npy"
        link.symlink_to(target)
        self.result.links.append((link, path))
        return link

    def add_stream(self, data: Any, report: Reporter | None) -> None:
        splitter = _Splitter(self.result.signature, _is_loader(data))
        total: int | None = None
        if not isinstance(data, Mapping) and hasattr(data, "__len__") and not _is_array(data) and not _is_loader(data):
            total = len(data)
        count = 0
        for item in _items(data, len(self.writers)):
            arrays = splitter.split(item, count)
            if self.limit is not None:
                most = self.limit - count
                arrays = [writer.arrange(array, count)[: most * writer.rows] for writer, array in self.pairs(arrays)]
            added = [writer.append(array, count) for writer, array in self.pairs(arrays)]
            for writer, number in zip(self.writers[1:], added[1:], strict=True):
                if number != added[0]:
                    raise writer.fail(
                        count + min(number, added[0]),
                        f"expected {added[0]} samples as for '{self.writers[0].spec.name}', found {number}",
                    )
            count += added[0]
            if report:
                report("samples", count, total if total is None or total >= count else None, 1)
            if self.limit is not None and count >= self.limit:
                break
        if report:
            report("samples", count, count, 1)
        if splitter.labels:
            self.result.labels = np.concatenate(splitter.labels)[:count]
        self.finish([count] * len(self.writers))

    def pairs(self, arrays: list[Array]) -> Iterator[tuple[_InputWriter, Array]]:
        return zip(self.writers, arrays, strict=True)

    def finish(self, counts: list[int]) -> None:
        for number, writer in enumerate(self.writers):
            writer.close()
            if writer.file:
                self.result.paths.append(writer.path)
                self.result.inputs.append(number)
        if len(set(counts)) > 1:
            names = [f"{count} of '{writer.spec.name}'" for count, writer in zip(counts, self.writers, strict=True)]
            raise Error(f"samples: expected as many of every input, found {', '.join(names)}")
        self.result.count = counts[0] if counts else 0


@contextlib.contextmanager
def spool(
    data: Any,
    signature: Sequence[Input],
    directory: str | os.PathLike[str] | None = None,
    *,
    limit: int | None = None,
    report: Reporter | None = None,
) -> Iterator[Spooled]:
    """Samples as `.npy` files, for as long as the `with` block lasts.

    data:       see the module; `Spooled` is handed through.
    signature:  the inputs of the network, in order.
    directory:  where temporary files go; default: that of the system (`TMPDIR`), which should lie on a disk.
    limit:      largest number of samples that are taken from a stream.
    report:     callback that gets the number of samples that were read, and the number of all samples where known.

    Raises mct.Error for the first sample that is wrong, with its index, and for data without samples.
    """
    if isinstance(data, Spooled):
        yield data
        return
    if callable(data) and not _is_array(data) and not isinstance(data, type):
        data = data()
    data = bound(data, signature)
    with tempfile.TemporaryDirectory(prefix="mct-", dir=directory) as folder:
        spooler = _Spooler(signature, Path(folder), limit)
        try:
            files = _as_files(data, signature)
            if files is not None:
                spooler.add_files(files)
            else:
                spooler.add_stream(data, report)
        finally:
            for writer in spooler.writers:
                writer.close()
        if spooler.result.count == 0:
            exhausted = isinstance(data, Iterator)
            raise Error(
                "samples: expected at least one, found none"
                + ("; a generator can be read once: give the function that makes it" if exhausted else "")
            )
        with calling(spooler.result.links):
            yield spooler.result


def bound(data: Any, signature: Sequence[Input]) -> Any:
    """Images, of which the paths may be given alone, as the network reads them; other data as it is."""
    if len(signature) != 1:
        return data
    if (paths := image_paths(data)) is not None:
        from mct.image_folder import images

        data = images(paths)
    return data.bind(signature[0]) if hasattr(data, "bind") else data


def image_paths(data: Any) -> str | os.PathLike[str] | list[str | os.PathLike[str]] | None:
    """The paths of images, or of the folder of them, that the data consists of; None for other data.

    Raises Error for a list of images and other things.
    """
    if _is_path(data):
        path = Path(data)
        if path.is_dir():
            return path
        return [path] if path.suffix.lower() in IMAGE_SUFFIXES else None
    if not isinstance(data, (list, tuple)) or not data or not all(map(_is_path, data)):
        return None
    are_images = [Path(path).suffix.lower() in IMAGE_SUFFIXES for path in data]
    if not any(are_images):
        return None
    if not all(are_images):
        raise Error(
            f"samples: expected images or .npy files, found '{os.fspath(data[are_images.index(False)])}' beside images",
            notes=[_SUFFIX_HINT],
        )
    return list(data)


def preprocessing_of(data: Any, signature: Sequence[Input]) -> Preprocessing:
    """Returns the preprocessing of data that has its own (`mct.images`)."""
    data = bound(data, signature)
    found = getattr(data, "preprocessing", None)
    return found if isinstance(found, Preprocessing) else Preprocessing()


def recorded(
    module: _native.Module,
    data: Any = None,
    preprocessing: Preprocessing | Mapping[str, Preprocessing] | None = None,
    function: str = "",
) -> tuple[_native.Module, tuple[Input, ...]]:
    """The module with what is known of its samples written into it, and its inputs.

    preprocessing: of every input of real numbers, or by name; None: what `data` says of itself (`mct.images`). A scale
                   that the module has stays where nothing else is said.
    """
    signature = read_signature(module, function)
    if preprocessing is None:
        preprocessing = preprocessing_of(data, signature)
    if isinstance(preprocessing, Mapping):
        by_name = dict(preprocessing)
        if unknown := by_name.keys() - {spec.name for spec in signature}:
            names = ", ".join(f"'{spec.name}'" for spec in signature)
            raise Error(f"preprocessing: the network has no input '{min(unknown)}'; its inputs are {names}")
    else:
        by_name = {spec.name: preprocessing for spec in signature if spec.dtype == np.float32}
    changed = []
    for number, spec in enumerate(signature):
        wanted = by_name.get(spec.name, Preprocessing()).over(spec.preprocessing)
        if wanted != spec.preprocessing:
            changed.append(wanted.pass_pipeline(str(number), function))
    if not changed:
        return module, signature
    module = module.run(",".join(changed))
    return module, read_signature(module, function)


def read_signature(module: _native.Module, function: str = "") -> tuple[Input, ...]:
    """The inputs of the function that is run."""
    return tuple(map(Input.parse, json.loads(module.signature(function))["inputs"]))
