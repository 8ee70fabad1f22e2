# SPDX-License-Identifier: Apache-2.0
"""Samples that lie on several machines: shards of them, and workers of Dask that each read some.

    client = dask.distributed.Client("scheduler:8786")
    quantized = mct.quantize(model, "imx500", ["s3://images/0.npy", "s3://images/1.npy"], client=client)

Workers run the same passes on their shards as one process runs on all samples, and send what `shards-out` writes:
counts and exact sums, hashes, and the few samples that corrections look at; never activations. The passes merge it.
The result is that of one process, byte for byte, whatever the number of workers and the split. A shard whose worker
dies is run again by another one.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mct import _extras
from mct.errors import Error, describe
from mct.samples import load_npy, spool

if TYPE_CHECKING:
    from mct.model import Model
    from mct.progress import Reporter
    from mct.samples import Array, Input

# A `dask.distributed.Client`, or the address of a scheduler.
ClientLike: TypeAlias = Any
# Options that have no meaning on several machines, and what to do.
ALONE = {
    "calibration-samples": "with a client, all samples of `data` are read; give fewer of them",
    "statistics-in": "with a client, the workers calibrate; leave it out",
    "checkpoint": "with a client, the workers measure; leave it out",
    "validation-data": "with a client, nothing can be promised on samples with labels; give a budget",
    "shards-in": "with a client, shards are divided by it; leave it out",
    "shards-out": "with a client, shards are divided by it; leave it out",
    "shard": "with a client, shards are divided by it; leave it out",
}
# Options that name files which workers have not, and those that only the caller writes.
_READ = ("target", "overrides", "bit-widths-in")
_WRITTEN = ("statistics-out", "bit-widths-out")

# Samples in memory, and files on the machine of the caller, are divided into so many shards for each worker, so that
# one that is faster takes more of them.
_SHARDS_PER_WORKER = 2
# Time within which a scheduler must answer.
CONNECT_SECONDS = 10
# Number of times that a worker may die while it runs the same shard.
_RETRIES = 4


@dataclass(frozen=True)
class Piece:
    """Samples of one input in a shard.

    source: the path or URL of a `.npy` file, an array, or what a worker makes an array of: `()` gives it.
    begin, end: rows of a file that are taken; None: all.
    """

    source: Any
    begin: int | None = None
    end: int | None = None

    def open(self, folder: Path) -> Array:
        """Returns the samples. Runs on a worker."""
        source = self.source
        if isinstance(source, str):
            path = source
            if "://" in source:
                path = str(folder / f"{len(os.listdir(folder))}.npy")
                _download(source, path)
            rows: Array = load_npy(path, mmap_mode="r")
        else:
            rows = np.asarray(source)
        return rows[self.begin : self.end]


def _download(url: str, path: str) -> None:
    import fsspec

    try:
        with fsspec.open(url, "rb") as source, open(path, "wb") as target:
            while block := source.read(1 << 20):
                target.write(block)
    except (OSError, ValueError, ImportError) as error:
        raise Error(f"'{url}': cannot be read: {error}") from error


# One piece for each input of the network, in order.
Shard: TypeAlias = "list[Piece]"


@dataclass(frozen=True)
class ShardRequest:
    """The shard that a worker measures.

    arguments: the samples as `_native.Module.execute` takes them, and `option` as `calibration-data` does.
    labels:    a `.npy` of its labels; empty: none.
    files:     content of those that the job reads, by option.
    known:     files with the results of the shards so far.
    out:       the file that the worker writes.
    """

    arguments: Sequence[str]
    option: str
    labels: str
    files: Mapping[str, bytes]
    known: Sequence[str]
    out: str
    shard: str
    folder: Path


@dataclass(frozen=True)
class Job:
    """A module, as bytecode, and the pass or pipeline that runs on it, with its options as text."""

    source: bytes
    inputs: Sequence[Input]
    flag: str
    texts: Mapping[str, str]

    def measure(self, request: ShardRequest) -> bool:
        """Runs the passes on one shard; False if nothing is requested of it. Runs on a worker."""
        from mct import _native

        options = {"shard": request.shard, "shards-out": request.out, "calibration-data": request.option}
        for option, content in request.files.items():
            path = request.folder / f"{option}{Path(self.texts[option].strip(chr(34) + chr(39))).suffix}"
            path.write_bytes(content)
            options[option] = str(path)
        if request.known:
            options["shards-in"] = ",".join(request.known)
        if "threads" not in self.texts and (threads := _threads()):
            options["threads"] = str(threads)
        pipeline = self.write_pipeline(options, _WRITTEN)
        # A module where passes end, None where a shard does.
        ended: Any = _native.Module.parse(self.source, "model").run(pipeline)
        return ended is None

    def write_pipeline(self, added: Mapping[str, str], left_out: Sequence[str] = ()) -> str:
        from mct.running import _write_pipeline

        texts = {name: text for name, text in self.texts.items() if name not in left_out}
        return _write_pipeline(self.flag, texts | dict(added))

    def read_files(self) -> dict[str, bytes]:
        """The files that options name, by option."""
        paths = {name: self.texts[name].strip("\"'") for name in _READ if name in self.texts}
        return {name: Path(path).read_bytes() for name, path in paths.items() if os.path.isfile(path)}


@dataclass(frozen=True)
class RunJob:
    """A module beside others, as bytecode, that runs on samples.

    method:     `execute` or `report` of `_native.Module`.
    others:     modules of its keyword arguments.
    keywords:   the rest of them.
    are_classes: labels are class numbers.
    """

    source: bytes
    inputs: Sequence[Input]
    method: str
    others: Mapping[str, bytes]
    keywords: Mapping[str, Any]
    are_classes: bool = True

    def measure(self, request: ShardRequest) -> bool:
        """Runs the networks on one shard; returns False if nothing is requested of it. Runs on a worker."""
        from mct import _native

        keywords = dict(self.keywords)
        if not keywords.get("threads"):
            keywords["threads"] = _threads()
        others = {name: _native.Module.parse(source, name) for name, source in self.others.items()}
        run = getattr(_native.Module.parse(self.source, "model"), self.method)
        text = run(
            request.arguments,
            **others,
            **keywords,
            labels=request.labels,
            shards_in=list(request.known),
            shards_out=request.out,
            shard=request.shard,
        )
        return text is None

    def read_files(self) -> dict[str, bytes]:
        return {}


# ----------------------------------------------------------------------------------------------------------------------
# Shards of samples
# ----------------------------------------------------------------------------------------------------------------------


def _is_delayed(value: Any) -> bool:
    return hasattr(value, "to_delayed") and hasattr(value, "__dask_graph__")


def _divide(rows: int, parts: int) -> list[tuple[int, int]]:
    parts = max(1, min(parts, rows))
    borders = [rows * number // parts for number in range(parts + 1)]
    return list(itertools.pairwise(borders))


def _stack(samples: Any) -> Array:
    """Makes an array of one partition of a bag: samples, or batches of them."""
    return np.stack([np.asarray(sample) for sample in samples])


def _delayed_pieces(value: Any) -> list[Any]:
    """The blocks of a Dask array along its first axis, or the partitions of a bag."""
    from dask import delayed

    if hasattr(value, "rechunk"):
        whole = value.rechunk({axis: -1 for axis in range(1, value.ndim)})
        return list(whole.to_delayed().reshape(-1))
    return [delayed(_stack)(partition) for partition in value.to_delayed()]


def _pieces(value: Any, workers: int) -> list[Piece]:
    """The samples of one input in pieces, one for each shard."""
    if _is_delayed(value):
        return [Piece(one) for one in _delayed_pieces(value)]
    if isinstance(value, (str, os.PathLike)):
        value = [value]
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, (str, os.PathLike)) for one in value):
        pieces = []
        for path in map(os.fspath, value):
            if "://" in path or len(value) >= _SHARDS_PER_WORKER * workers:
                pieces.append(Piece(path if "://" in path else os.path.abspath(path)))
                continue
            rows = len(load_npy(path, mmap_mode="r"))
            parts = -(-_SHARDS_PER_WORKER * workers // len(value))
            pieces += [Piece(os.path.abspath(path), *borders) for borders in _divide(rows, parts)]
        return pieces
    if hasattr(value, "shape") and hasattr(value, "__array__"):
        array = np.asarray(value)
        return [Piece(array[begin:end]) for begin, end in _divide(len(array), _SHARDS_PER_WORKER * workers)]
    raise Error(
        f"data: with a client, expected .npy files, URLs of such, an array, or an array or bag of Dask, "
        f"found {describe(value)}"
    )


def _count(piece: Piece) -> int | None:
    """The number of samples of a piece; None if only a worker knows it."""
    if isinstance(piece.source, str) and "://" not in piece.source:
        return len(load_npy(piece.source, mmap_mode="r")[piece.begin : piece.end])
    return len(piece.source) if isinstance(piece.source, np.ndarray) else None


def _label_pieces(labels: Any, samples: Sequence[Piece], workers: int) -> list[Piece]:
    """Labels, an array or a `.npy`, are divided as the samples are; others lie in as many pieces."""
    counts = [_count(piece) for piece in samples]
    if _is_delayed(labels) or isinstance(labels, (list, tuple)):
        pieces = _pieces(labels, workers)
    elif None in counts:
        raise Error(
            "labels: with a client, and samples that workers fetch or compute, expected as many .npy files, or a Dask "
            f"array in chunks alike, found {describe(labels)}"
        )
    else:
        array = load_npy(labels) if isinstance(labels, (str, os.PathLike)) else np.asarray(labels)
        ends = list(itertools.accumulate(count or 0 for count in counts))
        if len(array) != ends[-1]:
            raise Error(f"labels: expected {ends[-1]} labels, found {len(array)}")
        pieces = [Piece(array[begin:end]) for begin, end in itertools.pairwise([0, *ends])]
    if len(pieces) != len(samples):
        raise Error(f"labels: expected as many shards as of the samples, {len(samples)}, found {len(pieces)}")
    return pieces


def shards_of(data: Any, inputs: Sequence[Input], workers: int, labels: Any = None) -> list[Shard]:
    """Returns the samples in shards, each with a piece for each input, followed by one for its labels if there are
    any; `data` is as `mct.quantize` takes it.

    Raises Error for data that cannot be divided, and for inputs that are divided in different ways.
    """
    if isinstance(data, Mapping):
        names = [spec.name for spec in inputs]
        if set(data) != set(names):
            raise Error(f"data: expected samples for {', '.join(names)}, found {', '.join(map(str, data))}")
        columns = [_pieces(data[name], workers) for name in names]
    elif len(inputs) == 1:
        columns = [_pieces(data, workers)]
    else:
        raise Error("data: with a client, the samples of several inputs come in a dict by their names")
    if len({len(column) for column in columns}) != 1:
        counts = ", ".join(f"{len(column)} of '{spec.name}'" for column, spec in zip(columns, inputs, strict=True))
        raise Error(f"data: expected as many shards of every input, found {counts}")
    if labels is not None:
        columns.append(_label_pieces(labels, columns[0], workers))
    return [list(shard) for shard in zip(*columns, strict=True)]


# ----------------------------------------------------------------------------------------------------------------------
# Workers
# ----------------------------------------------------------------------------------------------------------------------


def _threads() -> int:
    """Returns the threads of the worker that runs this task; 0 outside of one."""
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except (ValueError, AttributeError):
        return 0


def measure_shard(
    job: Job | RunJob, files: Mapping[str, bytes], parts: Sequence[bytes], number: int, count: int, *pieces: Any
) -> bytes:
    """Runs the job on one shard, and returns the file of `shards-out`, compressed. Runs on a worker.

    files:  those that options of the job name, by option.
    parts:  the results of the shards so far, compressed files.
    pieces: of each input, and of the labels.
    """
    with tempfile.TemporaryDirectory(prefix="mct-") as name:
        folder = Path(name)
        (folder / "samples").mkdir()
        arrays = [piece.open(folder / "samples") if isinstance(piece, Piece) else np.asarray(piece) for piece in pieces]
        names = [spec.name for spec in job.inputs]
        labels = ""
        if len(arrays) > len(names):
            from mct.evaluation import prepare_labels

            labels = str(folder / "labels.npy")
            np.save(labels, prepare_labels(arrays.pop(), getattr(job, "are_classes", True)))
        data: Any = arrays[0] if len(names) == 1 else dict(zip(names, arrays, strict=True))
        out = folder / "out.json"
        with spool(data, job.inputs, folder) as spooled:
            request = ShardRequest(
                spooled.arguments,
                spooled.option,
                labels,
                files,
                write_parts(parts, folder),
                str(out),
                f"{number}/{count}",
                folder,
            )
            if not job.measure(request):
                raise Error("nothing is asked of the samples any more; what the workers run is another version")
        return zlib.compress(out.read_bytes(), 1)


def write_parts(parts: Iterable[bytes], folder: Path) -> list[str]:
    """Writes compressed files of shards to a folder, and returns their paths."""
    paths = []
    for number, part in enumerate(parts):
        path = folder / f"part{number}.json"
        path.write_bytes(zlib.decompress(part))
        paths.append(str(path))
    return paths


@contextlib.contextmanager
def connected(client: ClientLike) -> Iterator[Any]:
    """The client, or one of the scheduler of that address for as long as the `with` block lasts.

    Within it, a scheduler or workers that are lost, and workers that cannot read or write a file, are Error.
    """
    _extras.require_modules("dask", ("dask", "distributed"), "distributing samples")
    from distributed import CancelledError, Client, KilledWorker

    connection: Any = contextlib.nullcontext(client)
    if isinstance(client, str):
        try:
            connection = Client(client, timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise Error(f"client: no scheduler answers at '{client}': {error}") from error
    elif not hasattr(client, "submit") or not hasattr(client, "scheduler_info"):
        raise Error(f"client: expected a dask.distributed.Client, or an address, found {describe(client)}")
    try:
        with connection as opened:
            yield opened
    except Error:
        # Some errors of ours are errors of files, too.
        raise
    except (CancelledError, KilledWorker, OSError) as error:
        raise Error(f"client: the scheduler, or a worker, does not answer or fails: {error}") from error


class Distribution:
    """The shards of the samples of one call, and their results so far."""

    def __init__(self, client: Any, job: Job | RunJob, data: Any, labels: Any = None) -> None:
        self.client, self.job = client, job
        workers = client.scheduler_info(n_workers=-1)["workers"]
        if not workers:
            raise Error("client: the scheduler has no workers; start some, or wait for them (client.wait_for_workers)")
        self.shards = shards_of(data, job.inputs, len(workers), labels)
        self.files = job.read_files()
        self.parts: list[bytes] = []
        # Bytes that the workers have sent, by round.
        self.received: list[int] = []

    def request_shards(self, kind: str, report: Reporter | None = None) -> None:
        """Lets the workers find out what is missing, the `kind` of statistics of all shards."""
        from distributed import CancelledError, KilledWorker, as_completed

        count = len(self.shards)
        send = self._scatter()
        futures = {self._submit(number, send): number for number in range(count)}
        completed = as_completed(list(futures))
        attempts = [0] * count
        found: dict[int, bytes] = {}
        stage = f"{kind} of shards"
        if report:
            report(stage, 0, count, 1)
        try:
            for future in completed:
                number = futures[future]
                try:
                    found[number] = future.result()
                except (CancelledError, KilledWorker):
                    # The data of the task may have gone with a worker.
                    attempts[number] += 1
                    if attempts[number] > _RETRIES:
                        raise
                    again = self._submit(number, self._scatter())
                    futures[again] = number
                    completed.add(again)
                    continue
                if report:
                    report(stage, len(found), count, 1)
        finally:
            for future in futures:
                future.cancel()
        self.received.append(sum(map(len, found.values())))
        self.parts += [found[number] for number in range(count)]

    def _scatter(self) -> list[Any]:
        """Sends the data of all shards to the workers; a list of futures goes to a task as what they stand for."""
        job, files = self.client.scatter([self.job, self.files], broadcast=True, hash=False)
        return [job, files, self.client.scatter(self.parts, broadcast=True, hash=False) if self.parts else []]

    def _submit(self, number: int, send: Sequence[Any]) -> Any:
        pieces = [self._send(piece) for piece in self.shards[number]]
        count = len(self.shards)
        return self.client.submit(measure_shard, *send, number, count, *pieces, retries=_RETRIES, pure=False)

    def _send(self, piece: Piece) -> Any:
        """Returns a future of what a worker makes itself, and other pieces as they are."""
        return self.client.compute(piece.source) if hasattr(piece.source, "__dask_graph__") else piece


def run(
    client: ClientLike,
    job: Job | RunJob,
    data: Any,
    work: Callable[[Sequence[str], str], Any],
    report: Reporter | None = None,
    *,
    labels: Any = None,
    kind: str = "calibration",
) -> Any:
    """Returns the result of `work` for the shards of the samples.

    work: takes the results of the shards so far, and the name of a file to which it writes the next request; returns
          None then.
    kind: the first request.
    """
    with connected(client) as connection, tempfile.TemporaryDirectory(prefix="mct-") as name:
        folder = Path(name)
        distribution = Distribution(connection, job, data, labels)
        while True:
            distribution.request_shards(kind, report)
            request = folder / f"asked{len(distribution.received)}.json"
            result = work(write_parts(distribution.parts, folder), str(request))
            if result is not None:
                return result
            kind = json.loads(request.read_text())["missing"]


def run_networks(
    client: ClientLike,
    model: Model,
    data: Any,
    labels: Any,
    method: str,
    others: Mapping[str, Model | None],
    keywords: Mapping[str, Any],
    report: Reporter | None,
    **alone: Any,
) -> str:
    """Runs a network beside others on samples that lie in shards, and returns the JSON of `execute` or `report`.

    others: networks beside it, by keyword.
    alone:  keywords of the process that merges.
    """
    from mct.samples import read_signature

    modules = {name: other.module for name, other in others.items() if other is not None}
    inputs = read_signature(model.module, keywords.get("function", ""))
    sources = {name: module.bytecode() for name, module in modules.items()}
    job = RunJob(model.module.bytecode(), inputs, method, sources, keywords, not keywords.get("metric"))

    def work(known: Sequence[str], request: str) -> Any:
        merge = getattr(model.module, method)
        return merge([], **modules, **keywords, **alone, shards_in=list(known), shards_out=request)

    text: str = run(client, job, data, work, report, labels=labels, kind="evaluation")
    return text
