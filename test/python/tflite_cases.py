# SPDX-License-Identifier: Apache-2.0
"""One network of one operator for every builtin operator of TensorFlow Lite that the importer takes, in the types that
the operator has, on values at the edges: saturation, ties, signed zeros, denormal numbers, infinities, NaN, empty
ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

F32, I8, U8, I16, I32 = np.float32, np.int8, np.uint8, np.int16, np.int32

# Zeros, ties, denormal numbers, bounds of activations, where exp and tanh end, integers that are none in float.
FINITE = [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.49999997, 1, -1, 2, 3, -3, 6, -6, 7, 1e-40, -1e-40]
FINITE += [1.2e-38, 20.5, -20.5, 88.7, -88.7, 100.3, -104, 70000, -70000, 8388609, 3e9, -3e9, 3e38, -3e38]
EDGES = np.array([*FINITE, np.inf, -np.inf, np.nan], F32)
SHORT = np.array([*range(-32768, -32760), *range(-3000, 3000, 7), *range(-4, 5), *range(32760, 32768)], I16)
WORDS = np.array([0, 1, -1, 2, -2, 7, -7, 100, -100, 65536, 2**31 - 1, -(2**31), -(2**31) + 1], I32)


@dataclass
class Tensor:
    """An operand: values, what integers stand for, whether the file has them."""

    values: np.ndarray
    scale: float = 0.0
    zero_point: int = 0
    constant: bool = False


@dataclass
class Result:
    dtype: Any
    scale: float = 0.0
    zero_point: int = 0


@dataclass
class Case:
    """An operator of the schema with operands and results; `form` distinguishes cases of one operator."""

    kind: str
    form: str
    operands: list[Tensor | None]
    results: list[Result]
    options: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    version: int = 1
    # Shape of the results, where LiteRT does not find it out.
    shape: Sequence[int] = ()

    @property
    def name(self) -> str:
        return f"{self.kind} {self.form}"


def pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every value beside every other one, as two samples of a row each."""
    rows, columns = np.meshgrid(values, values, indexing="ij")
    return rows.reshape(1, -1), columns.reshape(1, -1)


def row(values: Any, dtype: Any = F32) -> np.ndarray:
    return np.asarray(values, dtype).reshape(1, -1)


def codes(dtype: Any = I8) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.arange(limits.min, limits.max + 1).astype(dtype)


def fixed(values: Any, dtype: Any = I32, scale: float = 0.0, zero_point: int = 0) -> Tensor:
    return Tensor(np.asarray(values, dtype), scale, zero_point, constant=True)


def image(shape: Sequence[int], dtype: Any = F32, seed: int = 0) -> np.ndarray:
    """Returns values of both signs and zeros; integers of all sizes."""
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        values = np.round(generator.normal(0, 3, shape) * 4) / 4
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


class Cases(list[Case]):
    def unary(self, kind: str, options: str = "", **fields: Any) -> None:
        operand = Tensor(row(EDGES))
        self.append(Case(kind, "float", [operand], [Result(F32)], options, fields))

    def codes(self, kind: str, source: tuple[float, int], result: tuple[float, int], options: str = "", **fields: Any):
        """All codes of eight bits."""
        operand = Tensor(row(codes(), I8), *source)
        self.append(Case(kind, "int8", [operand], [Result(I8, *result)], options, fields))

    def shorts(self, kind: str, source: float, result: float, options: str = "", **fields: Any) -> None:
        self.append(Case(kind, "int16", [Tensor(row(SHORT, I16), source)], [Result(I16, result)], options, fields))

    def binary(self, kind: str, result: Any = F32, options: str = "", **fields: Any) -> None:
        left, right = pairs(EDGES)
        self.append(Case(kind, "float", [Tensor(left), Tensor(right)], [Result(result)], options, fields))

    def binary_codes(
        self, kind: str, result: Result, options: str = "", right: tuple[float, int] = (0.3, -4), **fields: Any
    ) -> None:
        """All pairs of codes."""
        a, b = pairs(codes())
        self.append(Case(kind, "int8", [Tensor(a, 0.5, 3), Tensor(b, *right)], [result], options, fields))

    def words(self, kind: str, result: Any = I32, options: str = "", values: np.ndarray = WORDS, **fields: Any) -> None:
        a, b = pairs(values)
        self.append(Case(kind, "int32", [Tensor(a), Tensor(b)], [Result(result)], options, fields))

    def moved(self, kind: str, shape: Sequence[int], constants: Sequence[Tensor], *rest: Any, form: str = "", **fields):
        """An operator that moves values, on floats and on integers."""
        options = rest[0] if rest else ""
        count = rest[1] if len(rest) > 1 else 1
        suffix = f", {form}" if form else ""
        values = image(shape)
        values.reshape(-1)[: len(EDGES)] = EDGES[-values.size :][: values.size]
        for word, tensor in (("float", Tensor(values)), ("int8", Tensor(image(shape, I8), 0.5, 3))):
            results = [Result(tensor.values.dtype.type, tensor.scale, tensor.zero_point)] * count
            self.append(Case(kind, word + suffix, [tensor, *constants], results, options, fields))


def elementwise() -> Cases:
    cases = Cases()
    for kind in ("ABS", "CEIL", "COS", "ELU", "EXP", "FLOOR", "HARD_SWISH", "LOG", "LOGISTIC", "NEG", "RELU"):
        cases.unary(kind)
    for kind in ("RELU_N1_TO_1", "RELU_0_TO_1", "RELU6", "ROUND", "RSQRT", "SIGN", "SIN", "SQRT", "SQUARE", "TANH"):
        cases.unary(kind)
    cases.unary("ZEROS_LIKE", "ZerosLikeOptions")
    cases.unary("LEAKY_RELU", "LeakyReluOptions", alpha=0.1)
    for approximate in (False, True):
        cases.unary("GELU", "GeluOptions", approximate=approximate)
        cases[-1].form = "float, tanh" if approximate else "float"
        cases.codes("GELU", (0.05, 3), (0.05, -100), "GeluOptions", approximate=approximate)
        cases[-1].form = "int8, tanh" if approximate else "int8"
    cases.unary("FAKE_QUANT", "FakeQuantOptions", min=-6.0, max=6.0, numBits=8, narrowRange=False)
    for kind in ("ABS", "EXP", "LOG", "ELU", "HARD_SWISH", "RELU", "RELU_N1_TO_1", "RELU_0_TO_1", "RELU6"):
        cases.codes(kind, (0.07, -3), (0.05, -100))
    cases.codes("LOGISTIC", (0.1, 3), (1 / 256, -128))
    cases.codes("TANH", (0.05, 3), (1 / 128, 0))
    cases.codes("SQRT", (0.07, -128), (0.02, -100))
    cases.append(Case("RSQRT", "int8", [Tensor(row(codes()[1:], I8), 0.07, -128)], [Result(I8, 0.02, -100)]))
    cases.codes("NEG", (0.5, 0), (0.5, 0), "NegOptions")
    cases.codes("LEAKY_RELU", (0.5, 3), (0.4, -9), "LeakyReluOptions", alpha=0.1)
    cases.shorts("LOGISTIC", 1 / 4096, 1 / 32768)
    cases.shorts("TANH", 1 / 4096, 1 / 32768)
    cases.shorts("RELU", 0.5, 0.5)
    cases.shorts("ABS", 0.5, 0.5)
    cases.shorts("LEAKY_RELU", 0.5, 0.4, "LeakyReluOptions", alpha=0.1)
    for kind in ("ABS", "NEG", "SIGN"):
        cases.append(Case(kind, "int32", [Tensor(row(WORDS, I32))], [Result(I32)]))

    activations = {"NONE": 0, "RELU": 1, "RELU6": 3}
    for kind, options in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions"), ("DIV", "DivOptions")):
        for word, activation in activations.items():
            cases.binary(kind, options=options, fusedActivationFunction=activation)
            cases[-1].form += "" if word == "NONE" else f", {word}"
        cases.words(kind, options=options, values=WORDS if kind != "DIV" else WORDS[WORDS != 0][:-2])
        if kind != "DIV":
            cases.binary_codes(kind, Result(I8, 0.4, 5), options)
            cases.append(
                Case(
                    kind,
                    "int16",
                    [Tensor(a, scale) for a, scale in zip(pairs(SHORT[::9]), (0.5, 0.3), strict=True)],
                    [Result(I16, 0.4)],
                    options,
                )
            )
    for kind in ("MAXIMUM", "MINIMUM"):
        cases.binary(kind, options="MaximumMinimumOptions")
        cases.binary_codes(kind, Result(I8, 0.5, 3), "MaximumMinimumOptions", right=(0.5, 3))
        cases.words(kind, options="MaximumMinimumOptions")
    for kind, options in (("POW", "PowOptions"), ("ATAN2", ""), ("FLOOR_MOD", "FloorModOptions")):
        cases.binary(kind, options=options)
    left, right = pairs(EDGES)
    kept = right != 0
    operands = [Tensor(row(left[kept])), Tensor(row(right[kept]))]
    cases.append(Case("FLOOR_DIV", "float", operands, [Result(F32)], "FloorDivOptions"))
    divisible = WORDS[WORDS != 0][:-2]
    cases.words("FLOOR_DIV", options="FloorDivOptions", values=divisible)
    cases.words("FLOOR_MOD", options="FloorModOptions", values=divisible)
    cases.binary("SQUARED_DIFFERENCE", options="SquaredDifferenceOptions")
    cases.binary_codes("SQUARED_DIFFERENCE", Result(I8, 2.0, -128), "SquaredDifferenceOptions")
    cases.words("SQUARED_DIFFERENCE", options="SquaredDifferenceOptions", values=WORDS[:10])
    left, right = pairs(EDGES)
    cases.append(Case("ADD_N", "float", [Tensor(left), Tensor(right)], [Result(F32)], "AddNOptions"))
    slope = fixed([-0.25], F32)
    cases.append(Case("PRELU", "float", [Tensor(row(EDGES)), slope], [Result(F32)]))
    slope = fixed([-100], I8, 0.01, 3)
    cases.append(Case("PRELU", "int8", [Tensor(row(codes(), I8), 0.5, 3), slope], [Result(I8, 0.4, 5)]))
    for kind in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"):
        options = "".join(word.capitalize() for word in kind.split("_")) + "Options"
        cases.binary(kind, np.bool_, options)
        cases.words(kind, np.bool_, options)
        cases.binary_codes(kind, Result(np.bool_), options)
        cases.binary_codes(kind, Result(np.bool_), options, right=(0.5, 3))
        cases[-2].form, cases[-1].form = "int8, other scale", "int8"
    truths = [np.array([[0, 0, 1, 1]], np.bool_), np.array([[0, 1, 0, 1]], np.bool_)]
    for kind, options in (("LOGICAL_AND", "LogicalAndOptions"), ("LOGICAL_OR", "LogicalOrOptions")):
        cases.append(Case(kind, "bool", [Tensor(truth) for truth in truths], [Result(np.bool_)], options))
    cases.append(Case("LOGICAL_NOT", "bool", [Tensor(truths[0])], [Result(np.bool_)], "LogicalNotOptions"))
    cases.words("BITWISE_XOR", options="BitwiseXorOptions")
    return cases


def conversions() -> Cases:
    cases = Cases()
    scales = {"int8": (I8, 0.9294, -128), "uint8": (U8, 0.5, 3), "int16": (I16, 0.01, 0)}
    # A scale of one half has ties; those of 0.9294 overflow 32 bits where floats are large.
    scales |= {"int8, ties": (I8, 0.5, 3), "uint8, middle": (U8, 0.5, 128), "int8, one": (I8, 1.0, -7)}
    for form, (dtype, scale, zero_point) in scales.items():
        ramp = np.arange(-300, 300, 0.25)
        source = Tensor(row(np.concatenate([EDGES, ramp])))
        cases.append(
            Case("QUANTIZE", f"float to {form}", [source], [Result(dtype, scale, zero_point)], "QuantizeOptions")
        )
    others = [(I8, 0.5, 3, I8, 0.9, -128), (I8, 0.5, 3, I8, 0.2, 100), (I8, 0.5, 3, U8, 0.5, 131)]
    others += [(U8, 0.5, 131, I8, 0.5, 3), (I16, 0.5, 0, I8, 0.9, -128), (I8, 0.5, 3, I16, 0.002, 0)]
    others += [(I16, 0.5, 0, I16, 0.2, 0), (I16, 0.5, 0, I32, 0.2, 0)]
    for number, (before, s1, z1, after, s2, z2) in enumerate(others):
        values = SHORT if before is I16 else codes(before)
        form = f"{np.dtype(before)} to {np.dtype(after)}" + ("" if number != 1 else ", finer")
        cases.append(
            Case("QUANTIZE", form, [Tensor(row(values, before), s1, z1)], [Result(after, s2, z2)], "QuantizeOptions")
        )
    for dtype, scale, zero_point in ((I8, 0.3, 3), (U8, 0.3, 131), (I16, 0.3, 0)):
        values = SHORT if dtype is I16 else codes(dtype)
        cases.append(
            Case(
                "DEQUANTIZE",
                str(np.dtype(dtype)),
                [Tensor(row(values, dtype), scale, zero_point)],
                [Result(F32)],
                "DequantizeOptions",
            )
        )
    small = row(np.concatenate([EDGES[np.abs(EDGES) < 1000], [126.5, 127.4, -128.4, 127.9]]))
    sources = {"float32": EDGES, "int32": WORDS, "int8": codes(), "uint8": codes(U8), "int16": SHORT}
    for before, values in sources.items():
        for after in ("float32", "int32", "int8", "uint8", "int16", "bool"):
            if before != after:
                tensor = Tensor(row(values, np.dtype(before)))
                cases.append(Case("CAST", f"{before} to {after}", [tensor], [Result(np.dtype(after))], "CastOptions"))
    cases.append(Case("CAST", "float32 to int8, in range", [Tensor(small)], [Result(I8)], "CastOptions"))
    truths = Tensor(np.array([[0, 1, 1, 0]], np.bool_))
    for after in ("float32", "int32"):
        cases.append(Case("CAST", f"bool to {after}", [truths], [Result(np.dtype(after))], "CastOptions"))
    return cases


def reductions() -> Cases:
    cases = Cases()
    # Each row has another kind of value in it.
    rows = image((1, 8, 5))
    rows[0, 1, 2], rows[0, 2, 3], rows[0, 3, :2], rows[0, 4, 1] = np.inf, -np.inf, (np.inf, -np.inf), np.nan
    rows[0, 5], rows[0, 6], rows[0, 7] = 3e38, -0.0, -np.inf
    for kind in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
        fields = {"options": "ReducerOptions", "fields": {"keepDims": False}}
        cases.append(Case(kind, "float", [Tensor(rows), fixed([2])], [Result(F32)], **fields))
        for result in ((0.5, 3), (0.1, -60)):
            if kind in ("REDUCE_MAX", "REDUCE_MIN") and result != (0.5, 3):
                continue
            tensor = Tensor(image((1, 64, 16), I8), 0.5, 3)
            form = "int8" if result == (0.5, 3) else "int8, finer"
            cases.append(Case(kind, form, [tensor, fixed([2])], [Result(I8, *result)], **fields))
        if kind != "MEAN":
            words = np.stack([WORDS, np.roll(WORDS, 1), np.roll(WORDS, 5)], -1)[None]
            cases.append(Case(kind, "int32", [Tensor(words), fixed([2])], [Result(I32)], **fields))
    truths = np.array([[[0, 0], [0, 1], [1, 1]]], np.bool_)
    for kind in ("REDUCE_ANY", "REDUCE_ALL"):
        fields = {"options": "ReducerOptions", "fields": {"keepDims": False}}
        cases.append(Case(kind, "bool", [Tensor(truths), fixed([2])], [Result(np.bool_)], **fields))
    ties = rows.copy()
    ties[0, 0, 1], ties[0, 0, 3] = 50, 50
    for kind, options in (("ARG_MAX", "ArgMaxOptions"), ("ARG_MIN", "ArgMinOptions")):
        cases.append(Case(kind, "float", [Tensor(ties), fixed([2])], [Result(I32)], options, {"outputType": 2}))
        tensor = Tensor(image((1, 64, 16), I8) // 16, 0.5, 3)
        cases.append(Case(kind, "int8", [tensor, fixed([2])], [Result(I32)], options, {"outputType": 2}))
    softmax = np.concatenate([rows, image((1, 4, 5)) * 40, np.full((1, 1, 5), -200, F32)], 1)
    logits = Tensor(image((1, 64, 16), I8), 0.1, 3)
    cases.append(Case("SOFTMAX", "float", [Tensor(softmax)], [Result(F32)], "SoftmaxOptions", {"beta": 1.0}))
    cases.append(Case("SOFTMAX", "float, beta 2", [Tensor(softmax)], [Result(F32)], "SoftmaxOptions", {"beta": 2.0}))
    cases.append(Case("SOFTMAX", "int8", [logits], [Result(I8, 1 / 256, -128)], "SoftmaxOptions", {"beta": 1.0}))
    shorts = Tensor(image((1, 64, 16), I16), 1 / 3000)
    cases.append(Case("SOFTMAX", "int16", [shorts], [Result(I16, 1 / 32768)], "SoftmaxOptions", {"beta": 1.0}))
    cases.append(Case("LOG_SOFTMAX", "float", [Tensor(softmax)], [Result(F32)], "LogSoftmaxOptions"))
    cases.append(Case("LOG_SOFTMAX", "int8", [logits], [Result(I8, 16 / 256, 127)], "LogSoftmaxOptions"))
    norm = rows.copy()
    norm[0, 6] = 0
    cases.append(Case("L2_NORMALIZATION", "float", [Tensor(norm)], [Result(F32)], "L2NormOptions"))
    tensor = Tensor(image((1, 64, 16), I8), 0.5, 0)
    cases.append(Case("L2_NORMALIZATION", "int8", [tensor], [Result(I8, 1 / 128, 0)], "L2NormOptions"))
    return cases


def movements() -> Cases:
    cases = Cases()
    picture = (1, 4, 6, 8)
    cases.moved("BATCH_TO_SPACE_ND", picture, [fixed([1, 1]), fixed([[1, 0], [0, 2]])], "BatchToSpaceNDOptions")
    cases.moved("SPACE_TO_BATCH_ND", picture, [fixed([2, 2]), fixed([[0, 0], [1, 1]])], "SpaceToBatchNDOptions")
    cases.moved("BROADCAST_TO", (1, 1, 3), [fixed([1, 4, 3])], "BroadcastToOptions")
    cases[-1].version = cases[-2].version = 2
    cases.moved("DEPTH_TO_SPACE", picture, [], "DepthToSpaceOptions", blockSize=2)
    cases.moved("SPACE_TO_DEPTH", picture, [], "SpaceToDepthOptions", blockSize=2)
    cases.moved("EXPAND_DIMS", picture, [fixed(-1)], "ExpandDimsOptions")
    cases.moved("GATHER", picture, [fixed([3, 0, 0])], "GatherOptions", axis=1)
    cases.moved("GATHER_ND", picture, [fixed([[0, 3], [0, 1]])], "GatherNdOptions")
    cases.moved("MIRROR_PAD", picture, [fixed([[0, 0], [1, 2], [2, 0], [0, 0]])], "MirrorPadOptions", mode=0)
    cases.moved("MIRROR_PAD", picture, [fixed([[0, 0], [4, 2], [2, 0], [0, 0]])], "MirrorPadOptions", mode=1)
    cases[-1].form, cases[-2].form = "int8, symmetric", "float, symmetric"
    cases.moved("PAD", picture, [fixed([[0, 0], [1, 2], [0, 0], [3, 0]])], "PadOptions")
    cases.moved("PAD", picture, [fixed([[0, 0]] * 4)], "PadOptions", form="by nothing")
    cases.moved("RESHAPE", picture, [fixed([1, -1, 12])], "ReshapeOptions", newShape=[1, -1, 12])
    cases.moved("REVERSE_V2", picture, [fixed([2])], "ReverseV2Options")
    cases.moved("SLICE", picture, [fixed([0, 1, 2, 0]), fixed([1, 2, -1, 3])], "SliceOptions")
    cases[-1].shape = cases[-2].shape = (1, 2, 4, 3)
    cases.moved("SLICE", picture, [fixed([0, 1, 2, 0]), fixed([1, 0, -1, 3])], "SliceOptions", form="empty")
    cases[-1].shape = cases[-2].shape = (1, 0, 4, 3)
    bounds = {"beginMask": 0, "endMask": 0, "ellipsisMask": 0, "newAxisMask": 0, "shrinkAxisMask": 0}
    whole = {"beginMask": 9, "endMask": 9}
    begin, end = fixed([0, 1, 5, 0]), fixed([0, 4, 1, 0])
    fields = bounds | whole
    cases.moved(
        "STRIDED_SLICE", picture, [begin, end, fixed([1, 2, -2, 1])], "StridedSliceOptions", form="backwards", **fields
    )
    cases.moved(
        "STRIDED_SLICE",
        picture,
        [fixed([0, -3, 0, 0]), fixed([0, 100, 3, 0]), fixed([1, 1, 1, 1])],
        "StridedSliceOptions",
        form="beyond the end",
        **fields,
    )
    fields = fields | {"shrinkAxisMask": 2}
    ends = fixed([0, 4, 6, 0])
    cases.moved("STRIDED_SLICE", picture, [begin, ends, fixed([1] * 4)], "StridedSliceOptions", form="index", **fields)
    fields = bounds | whole
    cases.moved("STRIDED_SLICE", picture, [begin, end, fixed([1] * 4)], "StridedSliceOptions", form="empty", **fields)
    ends = fixed([0, 4, 6, 0])
    cases.moved(
        "STRIDED_SLICE", picture, [begin, ends, fixed([1, 2, 1, 1])], "StridedSliceOptions", form="step", **fields
    )
    cases.moved("SQUEEZE", (1, 4, 1, 8), [], "SqueezeOptions", squeezeDims=[2])
    cases.moved("TILE", picture, [fixed([1, 2, 1, 3])], "TileOptions")
    cases.moved("TRANSPOSE", picture, [fixed([0, 3, 1, 2])], "TransposeOptions")
    cases.moved("UNPACK", picture, [], "UnpackOptions", 4, num=4, axis=1)
    cases.moved("SHAPE", picture, [], "ShapeOptions", outType=2)
    cases.moved("RANK", picture, [], "RankOptions")
    for case in cases[-4:]:
        case.results = [Result(I32)]
    for dtype, scale in ((F32, (0.0, 0)), (I8, (0.5, 3))):
        form = np.dtype(dtype).name.replace("float32", "float")
        values = [Tensor(image(picture, dtype, seed), *scale) for seed in (1, 2)]
        result = Result(dtype, *scale)
        cases.append(Case("CONCATENATION", form, values, [result], "ConcatenationOptions", {"axis": 2}))
        cases.append(Case("PACK", form, values, [result], "PackOptions", {"valuesCount": 2, "axis": 1}))
        pads = [fixed([[0, 0], [1, 2], [0, 0], [3, 0]]), fixed(-7, dtype, *scale)]
        cases.append(Case("PADV2", form, [values[0], *pads], [result], "PadV2Options"))
        operands = [fixed(2), values[0]]
        cases.append(Case("SPLIT", form, operands, [result] * 2, "SplitOptions", {"numSplits": 2}))
        operands = [values[0], fixed([1, 3]), fixed(1)]
        cases.append(Case("SPLIT_V", form, operands, [result] * 2, "SplitVOptions", {"numSplits": 2}))
        truths = Tensor(np.arange(4 * 6 * 8).reshape(picture) % 3 == 0)
        for kind, options in (("SELECT", "SelectOptions"), ("SELECT_V2", "SelectV2Options")):
            cases.append(Case(kind, form, [truths, *values], [result], options))
        dense = [fixed([1, 6]), fixed([3, 4], dtype, *scale)]
        if dtype is F32:
            chosen = Tensor(np.array([[0, 2, 3, 2]], I32))
            cases.append(
                Case(
                    "ONE_HOT",
                    form,
                    [chosen, fixed(4), fixed(np.float32(2), F32), fixed(np.float32(-1), F32)],
                    [Result(F32)],
                    "OneHotOptions",
                    {"axis": -1},
                )
            )
            cases.append(Case("FILL", form, [dense[0], Tensor(np.array([2], F32))], [Result(F32)], "FillOptions"))
            cases[-1].operands[1] = fixed(np.float32(2), F32)
            scattered = [fixed([[0, 1], [0, 3], [0, 1]]), Tensor(row([5, 7, 2])[0]), fixed([1, 6])]
            cases.append(Case("SCATTER_ND", form, scattered, [Result(F32)], "ScatterNdOptions"))
            sparse = [fixed([[0, 1], [0, 3]]), fixed([1, 6]), Tensor(row([5, 7])[0]), fixed(np.float32(-1), F32)]
            cases.append(Case("SPARSE_TO_DENSE", form, sparse, [Result(F32)], "SparseToDenseOptions"))
            buckets = {"boundaries": [-2.5, 0.0, 2.5]}
            cases.append(Case("BUCKETIZE", form, [Tensor(row(EDGES))], [Result(I32)], "BucketizeOptions", buckets))
    return cases


def layers() -> Cases:
    cases = Cases()
    generator = np.random.default_rng(4)
    window = {"padding": 0, "strideW": 2, "strideH": 2, "dilationWFactor": 1, "dilationHFactor": 1}
    sources = {"float": image((1, 7, 6, 8)), "float, infinities": image((1, 7, 6, 8))}
    sources["float, infinities"][0, 2, 3, 1], sources["float, infinities"][0, 5, 1, 0] = np.inf, np.nan
    for form, values in sources.items():
        kernel, bias = fixed(generator.normal(size=(5, 3, 3, 8)), F32), fixed(generator.normal(size=5), F32)
        for activation, word in ((0, ""), (3, ", RELU6")):
            fields = window | {"fusedActivationFunction": activation}
            operands = [Tensor(values), kernel, bias]
            cases.append(Case("CONV_2D", form + word, operands, [Result(F32)], "Conv2DOptions", fields))
        kernel, bias = fixed(generator.normal(size=(1, 3, 3, 16)), F32), fixed(generator.normal(size=16), F32)
        fields = window | {"depthMultiplier": 2, "fusedActivationFunction": 1}
        operands = [Tensor(values), kernel, bias]
        cases.append(Case("DEPTHWISE_CONV_2D", form, operands, [Result(F32)], "DepthwiseConv2DOptions", fields))
        kernel = fixed(generator.normal(size=(5, 3, 3, 8)), F32)
        operands = [fixed([1, 14, 12, 5]), kernel, Tensor(values)]
        fields = {"padding": 0, "strideW": 2, "strideH": 2}
        cases.append(Case("TRANSPOSE_CONV", form, operands, [Result(F32)], "TransposeConvOptions", fields))
        kernel, bias = fixed(generator.normal(size=(5, 8)), F32), fixed(generator.normal(size=5), F32)
        operands = [Tensor(values.reshape(1, -1, 8)), kernel, bias]
        fields = {"fusedActivationFunction": 1, "keepNumDims": True}
        cases.append(Case("FULLY_CONNECTED", form, operands, [Result(F32)], "FullyConnectedOptions", fields))
        operands = [Tensor(values), Tensor(image((1, 7, 8, 4), seed=9))]
        cases.append(Case("BATCH_MATMUL", form, operands, [Result(F32)], "BatchMatMulOptions"))
        volume = values.reshape(1, 7, 3, 2, 8)
        kernel = fixed(generator.normal(size=(2, 2, 2, 8, 3)), F32)
        fields = {"padding": 1, "strideD": 1, "strideW": 1, "strideH": 1}
        fields |= {"dilationDFactor": 1, "dilationWFactor": 1, "dilationHFactor": 1}
        operands = [Tensor(volume), kernel, fixed([1, 2, 3], F32)]
        cases.append(Case("CONV_3D", form, operands, [Result(F32)], "Conv3DOptions", fields))
        for kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
            for padding in (0, 1):
                fields = {"padding": padding, "strideW": 2, "strideH": 2, "filterWidth": 3, "filterHeight": 3}
                word = "" if padding == 0 else ", valid"
                cases.append(Case(kind, form + word, [Tensor(values)], [Result(F32)], "Pool2DOptions", fields))
        resizes(cases, form, Tensor(values))
    integers(cases, window)
    return cases


def resizes(cases: Cases, form: str, tensor: Tensor) -> None:
    results = [Result(tensor.values.dtype.type, tensor.scale, tensor.zero_point)]
    for kind, options in (
        ("RESIZE_BILINEAR", "ResizeBilinearOptions"),
        ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"),
    ):
        for word, corners, centers in (("", False, False), (", corners", True, False), (", centers", False, True)):
            for size, what in (([14, 12], ""), ([10, 9], ", by a fraction"), ([4, 3], ", smaller")):
                fields = {"alignCorners": corners, "halfPixelCenters": centers}
                cases.append(Case(kind, form + word + what, [tensor, fixed(size)], results, options, fields))


def integers(cases: Cases, window: dict[str, Any]) -> None:
    """Layers whose sums saturate."""
    generator = np.random.default_rng(5)
    source = Tensor(image((1, 7, 6, 8), I8), 0.5, 3)
    ends = generator.choice([-127, -3, 2, 127], (5, 3, 3, 8))
    for form, scale in (("int8", 6.0), ("int8, saturating", 0.7)):
        result = Result(I8, scale, -5)
        bias = fixed(generator.integers(-20000, 20000, 5), I32, 0.005)
        for activation, word in ((0, ""), (1, ", RELU"), (3, ", RELU6")):
            fields = window | {"fusedActivationFunction": activation}
            operands = [source, fixed(ends, I8, 0.01), bias]
            cases.append(Case("CONV_2D", form + word, operands, [result], "Conv2DOptions", fields))
        kernel = fixed(generator.choice([-127, -3, 2, 127], (1, 3, 3, 16)), I8, 0.01)
        fields = window | {"depthMultiplier": 2, "fusedActivationFunction": 0}
        operands = [source, kernel, fixed(generator.integers(-9999, 9999, 16), I32, 0.005)]
        cases.append(Case("DEPTHWISE_CONV_2D", form, operands, [result], "DepthwiseConv2DOptions", fields))
        operands = [fixed([1, 14, 12, 5]), fixed(ends, I8, 0.01), source]
        fields = {"padding": 0, "strideW": 2, "strideH": 2}
        cases.append(Case("TRANSPOSE_CONV", form, operands, [result], "TransposeConvOptions", fields))
        flat = Tensor(source.values.reshape(1, -1, 8), 0.5, 3)
        operands = [flat, fixed(ends[:, 0, 0], I8, 0.01), bias]
        fields = {"fusedActivationFunction": 0, "keepNumDims": True}
        cases.append(Case("FULLY_CONNECTED", form, operands, [result], "FullyConnectedOptions", fields))
        operands = [source, Tensor(image((1, 7, 8, 4), I8, 9), 0.3, -4)]
        cases.append(Case("BATCH_MATMUL", form, operands, [result], "BatchMatMulOptions"))
    for kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        for padding in (0, 1):
            fields = {"padding": padding, "strideW": 2, "strideH": 2, "filterWidth": 3, "filterHeight": 3}
            word = "int8" if padding == 0 else "int8, valid"
            cases.append(Case(kind, word, [source], [Result(I8, 0.5, 3)], "Pool2DOptions", fields))
    resizes(cases, "int8", source)
    sixteen = Tensor(image((1, 7, 6, 8), I16), 0.01)
    kernel, bias = fixed(ends, I8, 0.01), fixed(generator.integers(-20000, 20000, 5), np.int64, 0.0001)
    fields = window | {"fusedActivationFunction": 0}
    cases.append(Case("CONV_2D", "int16", [sixteen, kernel, bias], [Result(I16, 0.1)], "Conv2DOptions", fields))


def all_cases() -> list[Case]:
    return [*elementwise(), *conversions(), *reductions(), *movements(), *layers()]
