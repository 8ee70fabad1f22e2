# SPDX-License-Identifier: Apache-2.0
"""Compares what LiteRT and our executor make of the cases of `tflite_cases`, and writes what differs as a table:

PYTHONPATH=build/python build/importers/small/bin/python test/python/tflite_operators.py [OPERATOR…]
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import importer_networks as networks
import numpy as np
from tflite_cases import Case, Tensor, all_cases

Values = list[np.ndarray]


def _operand(file: networks.Tflite, name: str, tensor: Tensor) -> tuple[int, int | None, np.ndarray]:
    """The operand of the operator, the input of the network, and its sample.

    Samples are finite: what is not comes of a constant, by a SELECT_V2 in front.
    """
    values = tensor.values
    if tensor.constant:
        index = file.constant(name, values)
        if tensor.scale:
            file.quantize(index, tensor.scale, tensor.zero_point)
        return index, None, values
    index = file.tensor(name, values.shape, file.kind(values.dtype))
    if tensor.scale:
        file.quantize(index, tensor.scale, tensor.zero_point)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        finite = file.constant(f"{name}/finite", np.isfinite(values))
        constant = file.constant(f"{name}/rest", values)
        result = file.tensor(f"{name}/all", values.shape)
        file.operator("SELECT_V2", [finite, index, constant], [result], "SelectV2Options")
        return result, index, np.where(np.isfinite(values), values, np.float32(1))
    return index, index, values


def network(cases: Sequence[Case], shapes: Sequence[Sequence[Sequence[int]]]) -> tuple[bytes, dict[str, np.ndarray]]:
    """One file of the operators of all cases, side by side, whose results have these shapes; and its samples."""
    file = networks.Tflite()
    inputs: list[int] = []
    outputs: list[int] = []
    samples = {}
    for number, (case, sizes) in enumerate(zip(cases, shapes, strict=True)):
        operands = []
        for place, tensor in enumerate(case.operands):
            if tensor is None:
                operands.append(-1)
                continue
            name = f"input{number}_{place}"
            operand, index, values = _operand(file, name, tensor)
            operands.append(operand)
            if index is not None:
                inputs.append(index)
                samples[name] = values
        results = []
        for place, (result, shape) in enumerate(zip(case.results, sizes, strict=True)):
            results.append(file.tensor(f"result{number}_{place}", shape, file.kind(np.dtype(result.dtype))))
            if result.scale:
                file.quantize(results[-1], result.scale, result.zero_point)
        file.operator(case.kind, operands, results, case.options, version=case.version, **case.fields)
        outputs += results
    return file.finish(inputs, outputs), samples


def litert(data: bytes, samples: dict[str, np.ndarray], resolver: str) -> Values:
    """Runs LiteRT's kernels on the samples: "BUILTIN_REF", the reference ones, or "AUTO", those of XNNPACK."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(model_content=data, experimental_op_resolver_type=getattr(OpResolverType, resolver))
    interpreter.allocate_tensors()
    for details in interpreter.get_input_details():
        interpreter.set_tensor(details["index"], samples[details["name"]])
    interpreter.invoke()
    return [interpreter.get_tensor(details["index"]).copy() for details in interpreter.get_output_details()]


def reference(data: bytes, samples: dict[str, np.ndarray]) -> Values:
    """By the reference kernels, or the builtin ones where there are none."""
    try:
        return litert(data, samples, "BUILTIN_REF")
    except ValueError:
        return litert(data, samples, "BUILTIN_WITHOUT_DEFAULT_DELEGATES")


def result_shapes(case: Case) -> list[list[int]]:
    """Returns the shapes of the results in LiteRT. ValueError or RuntimeError where it does not take the case."""
    if case.shape:
        return [list(case.shape)]
    first = next(tensor for tensor in case.operands if tensor)
    for guess in ([1], [1] * first.values.ndim):  # some kernels want the rank
        try:
            found = reference(*network([case], [[guess] * len(case.results)]))
            break
        except RuntimeError:
            if len(guess) == first.values.ndim:
                raise
    return [list(values.shape) for values in found]


def ours(data: bytes, samples: dict[str, np.ndarray]) -> Values:
    import mct

    found = mct.load(data, quantized="integer").run(samples)
    return list(found) if isinstance(found, tuple) else [found]


class Kind(enum.Enum):
    """Kind of a difference, the first that holds."""

    ZERO = "signs of zeros"
    NAN = "NaN"
    INFINITE = "infinities"
    VALUE = "values"
    REFUSED = "refused"


KERNELS = {"reference": "reference kernels", "xnnpack": "XNNPACK"}


class Difference(NamedTuple):
    """Differences of a case; `largest`: between values."""

    kind: Kind
    kernels: str
    case: str
    largest: float = 0.0

    @property
    def key(self) -> tuple[Kind, str, str]:
        return self.kind, self.kernels, self.case


# Functions of libraries differ by so many units of the last place, and sums by this part of their largest value.
ULPS = 6
SUM_TOLERANCE = 2e-6
SUMS = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "FULLY_CONNECTED", "BATCH_MATMUL", "CONV_3D"})
SUMS |= {"RESIZE_BILINEAR", "MEAN", "SUM", "SOFTMAX", "LOG_SOFTMAX", "GELU", "COS", "SIN", "ATAN2"}
SMALLEST = 1.18e-38


def where(case: Case, shape: tuple[int, ...], predicate: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The places of a result for which an operand has a real number of which the predicate holds: those of the same
    place, or of the same row, or anywhere."""
    found = np.zeros(shape, bool)
    for tensor in case.operands:
        if tensor is None or tensor.constant or tensor.values.dtype.kind != "f":
            continue
        holds = predicate(tensor.values)
        if holds.shape == shape:
            found |= holds
        elif holds.shape[:-1] == shape:
            found |= holds.any(-1)
        elif case.kind in SUMS:
            found |= holds.any()
    return found


def compare(case: Case, kernels: str, expected: Values, found: Values) -> list[Difference]:
    """Numbers too small for a normal one are zero; XNNPACK takes them for that where it reads them, too."""
    differences: dict[Kind, float] = {}
    for a, b in zip(expected, found, strict=True):
        if a.shape != b.shape:
            return [Difference(Kind.VALUE, kernels, case.name, float("inf"))]
        bad = a != b
        if a.dtype.kind == "f":
            with np.errstate(all="ignore"):
                tolerance = np.maximum(ULPS * np.spacing(np.maximum(np.abs(a), np.abs(b))), SMALLEST)
                if case.kind in SUMS:
                    largest = np.abs(a[np.isfinite(a) & (np.abs(a) < 1e30)]).max(initial=0)
                    tolerance = np.maximum(tolerance, SUM_TOLERANCE * largest)
                bad &= ~(np.abs(a - b) <= tolerance) & ~(np.isnan(a) & np.isnan(b))
            zeros = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
            nan, infinite = np.isnan(a) | np.isnan(b), np.isinf(a) | np.isinf(b)
        else:
            zeros, nan, infinite = (np.zeros(a.shape, bool) for _ in range(3))
        if kernels == "xnnpack":
            denormal = where(case, a.shape, lambda values: (values != 0) & (np.abs(values) < SMALLEST))
            if case.kind not in SUMS:
                bad, zeros = bad & ~denormal, zeros & ~denormal
        nan |= where(case, a.shape, np.isnan)
        infinite |= where(case, a.shape, np.isinf)
        for kind, places in (
            (Kind.ZERO, zeros),
            (Kind.NAN, bad & nan),
            (Kind.INFINITE, bad & ~nan & infinite),
            (Kind.VALUE, bad & ~nan & ~infinite),
        ):
            if places.any():
                distance = np.abs(a[places].astype(np.float64) - b[places].astype(np.float64)).max()
                differences[kind] = max(differences.get(kind, 0.0), float(distance))
    return [
        Difference(kind, kernels, case.name, largest if kind is Kind.VALUE else 0.0)
        for kind, largest in differences.items()
    ]


def measure(cases: Sequence[Case], refused: Collection[str]) -> list[Difference]:
    """All differences. Cases of the names `refused` are taken one by one, all others as one network."""
    import mct

    shapes = {case.name: result_shapes(case) for case in cases}
    together = [case for case in cases if case.name not in refused]
    differences = []
    for case in cases:
        if case.name in refused:
            try:
                mct.load(network([case], [shapes[case.name]])[0], quantized="integer")
            except mct.Error:
                differences.append(Difference(Kind.REFUSED, "", case.name))
    found = ours(*network(together, [shapes[case.name] for case in together]))
    for case in together:
        results, found = found[: len(case.results)], found[len(case.results) :]
        alone = network([case], [shapes[case.name]])
        differences += compare(case, "reference", reference(*alone), results)
        differences += compare(case, "xnnpack", litert(*alone, "AUTO"), results)
    return differences


# ----------------------------------------------------------------------------------------------------------------------
# The table
# ----------------------------------------------------------------------------------------------------------------------

HEADER = "| what differs | from | operators (of values: the largest difference) |"


def table(differences: Sequence[Difference]) -> str:
    lines = [HEADER, "|---|---|---|"]
    for kind in Kind:
        for kernels in ("reference", "xnnpack", ""):
            names = [
                f"`{one.case}`" + (f" {one.largest:.2g}" if kind is Kind.VALUE else "")
                for one in differences
                if (one.kind, one.kernels) == (kind, kernels)
            ]
            if names:
                lines.append(f"| {kind.value} | {KERNELS.get(kernels, '-')} | {'; '.join(names)} |")
    return "\n".join(lines) + "\n"


def read_table(text: str) -> list[Difference]:
    """The differences in a table that is part of a longer text."""
    rows = text.partition(HEADER)[2].splitlines()[2:]
    kernels = {name: key for key, name in KERNELS.items()} | {"-": ""}
    differences = []
    for row in rows:
        if not row.startswith("| "):
            break
        what, source, names = (cell.strip() for cell in row.strip("|").split("|"))
        for entry in names.split("; "):
            _, name, largest = entry.split("`")
            differences.append(Difference(Kind(what), kernels[source], name, float(largest or 0)))
    return differences


if __name__ == "__main__":
    readme = (Path(__file__).resolve().parents[1] / "README.md").read_text()
    known = {one.case for one in read_table(readme) if one.kind is Kind.REFUSED}
    chosen = [case for case in all_cases() if not sys.argv[1:] or case.kind in sys.argv[1:]]
    print(table(measure(chosen, known)))
    print(f"{len(chosen)} cases of {len({case.kind for case in chosen})} operators")
