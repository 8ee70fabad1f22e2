# SPDX-License-Identifier: Apache-2.0
"""A small writer of TOSA 1.0 functions in MLIR text, shared by the model generators in this folder.

Values are (name, shape) pairs, all f32, NHWC. Each op gets the location `loc("name")`, so that an importer-given name
reaches the compiler. Constants of more than `INLINE_LIMIT` elements become `dense_resource` blobs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

INLINE_LIMIT = 16
BLOB_ALIGNMENT = 64
LARGEST_FLOAT = "3.40282347E+38"
MLIR_OPT = "mlir-opt-22"
VALIDATION = [
    "--tosa-attach-target=level=none profiles=pro_fp specification_version=1.0",
    "--tosa-validate=strict-op-spec-alignment",
]


class Value(NamedTuple):
    """An SSA value: its name with the percent sign, and its static shape."""

    name: str
    shape: tuple[int, ...]

    @property
    def type(self) -> str:
        return tensor_type(self.shape)


def tensor_type(shape: Sequence[int], element: str = "f32") -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def float_text(value: float) -> str:
    """Hexadecimal bits: the only spelling of an f32 that no parser can round differently."""
    return f"0x{np.float32(value).view(np.uint32):08X}"


def array_text(values: Sequence[int]) -> str:
    return f"array<i64: {', '.join(map(str, values))}>"


class TosaWriter:
    """Collects the body of one function `@main` with a single float input."""

    def __init__(self, input_shape: Sequence[int]):
        self.input = Value("%arg0", tuple(input_shape))
        self.constant_lines: list[str] = []
        self.op_lines: list[str] = []
        self.blobs: dict[str, np.ndarray] = {}
        self.names: set[str] = set()
        self.shapes: dict[tuple[int, ...], str] = {}
        self.zero = self.constant("zero_point", np.zeros(1, np.float32))
        self.shift = "%mul_shift"
        self.constant_lines.append(
            f'{self.shift} = "tosa.const"() <{{values = dense<0> : tensor<1xi8>}}> : () -> tensor<1xi8>'
        )

    def constant(self, key: str, data: np.ndarray) -> Value:
        """A float constant; `key` becomes part of the SSA name and the blob's name, and must be unique."""
        data = np.ascontiguousarray(data, dtype=np.float32)
        value = Value("%" + key.replace("/", "_"), data.shape)
        if data.size > INLINE_LIMIT:
            blob = key.replace("/", "_")
            if blob in self.blobs:
                raise ValueError(f"constant '{key}' is defined twice")
            self.blobs[blob] = data
            attribute = f"dense_resource<{blob}>"
        elif data.size == 1:
            attribute = f"dense<{float_text(data.item())}>"
        else:
            attribute = f'dense<"0x{data.tobytes().hex().upper()}">'
        self.constant_lines.append(
            f'{value.name} = "tosa.const"() <{{values = {attribute} : {value.type}}}> : () -> {value.type}'
        )
        return value

    def scalar(self, key: str, number: float, rank: int) -> Value:
        return self.constant(key, np.full((1,) * rank, number, np.float32))

    def shape_constant(self, shape: Sequence[int]) -> str:
        shape = tuple(shape)
        if shape not in self.shapes:
            name = "%shape_" + "x".join(map(str, shape))
            self.shapes[shape] = name
            values = f"dense<[{', '.join(map(str, shape))}]>" if len(set(shape)) > 1 else f"dense<{shape[0]}>"
            rank = len(shape)
            self.constant_lines.append(
                f"{name} = tosa.const_shape {{values = {values} : tensor<{rank}xindex>}} : () -> !tosa.shape<{rank}>"
            )
        return self.shapes[shape]

    def op(
        self,
        name: str,
        kind: str,
        operands: Sequence[Value],
        shape: Sequence[int],
        attributes: str = "",
        extra: Sequence[tuple[str, str]] = (),
    ) -> Value:
        """Appends `tosa.<kind>`; `extra` are further operands as (SSA name, type)."""
        if name in self.names:
            raise ValueError(f"op name '{name}' is used twice")
        self.names.add(name)
        result = Value("%" + name.replace("/", "_") + "_out", tuple(shape))
        pairs = [(operand.name, operand.type) for operand in operands] + list(extra)
        attribute_text = f" {{{attributes}}}" if attributes else ""
        self.op_lines.append(
            f"{result.name} = tosa.{kind} {', '.join(p[0] for p in pairs)}{attribute_text} : "
            f'({", ".join(p[1] for p in pairs)}) -> {result.type} loc("{name}")'
        )
        return result

    def binary(self, name: str, kind: str, left: Value, right: Value) -> Value:
        shape = tuple(max(a, b) for a, b in zip(left.shape, right.shape, strict=True))
        extra = [(self.shift, "tensor<1xi8>")] if kind == "mul" else []
        return self.op(name, kind, [left, right], shape, extra=extra)

    def convolution(
        self, name: str, x: Value, weight: np.ndarray, bias: np.ndarray, stride: int = 1, pad: Sequence[int] = (0,) * 4
    ) -> Value:
        """`weight` is [OC, KH, KW, IC]; `pad` is top, bottom, left, right."""
        channels, height, width, _ = weight.shape
        return self._windowed(name, "conv2d", x, weight, bias, (height, width), channels, stride, pad)

    def depthwise(
        self, name: str, x: Value, weight: np.ndarray, bias: np.ndarray, stride: int = 1, pad: Sequence[int] = (0,) * 4
    ) -> Value:
        """`weight` is [KH, KW, C, M]."""
        height, width, channels, multiplier = weight.shape
        return self._windowed(
            name, "depthwise_conv2d", x, weight, bias, (height, width), channels * multiplier, stride, pad
        )

    def _windowed(self, name, kind, x, weight, bias, kernel, channels, stride, pad) -> Value:
        operands = [
            x,
            self.constant(f"{name}/weight", weight),
            self.constant(f"{name}/bias", bias),
            self.zero,
            self.zero,
        ]
        attributes = (
            f"acc_type = f32, dilation = {array_text([1, 1])}, pad = {array_text(pad)}, "
            f"stride = {array_text([stride, stride])}"
        )
        return self.op(name, kind, operands, (*self._window_shape(x, kernel, stride, pad), channels), attributes)

    def pool(
        self, name: str, kind: str, x: Value, kernel: int, stride: int, pad: Sequence[int] = (0, 0, 0, 0)
    ) -> Value:
        """`kind`: avg_pool2d or max_pool2d."""
        average = kind == "avg_pool2d"
        operands = [x, self.zero, self.zero] if average else [x]
        attributes = ("acc_type = f32, " if average else "") + (
            f"kernel = {array_text([kernel, kernel])}, pad = {array_text(pad)}, stride = {array_text([stride, stride])}"
        )
        shape = (*self._window_shape(x, (kernel, kernel), stride, pad), x.shape[3])
        return self.op(name, kind, operands, shape, attributes)

    @staticmethod
    def _window_shape(x: Value, kernel: Sequence[int], stride: int, pad: Sequence[int]) -> tuple[int, int, int]:
        size = []
        for extent, window, before, after in zip(x.shape[1:3], kernel, pad[0::2], pad[1::2], strict=True):
            span = extent + before + after - window
            if span % stride:
                raise ValueError(
                    f"TOSA needs an exact window: {extent} + {before} + {after} - {window}, stride {stride}"
                )
            size.append(span // stride + 1)
        return (x.shape[0], *size)

    def clamp(self, name: str, x: Value, low: str = "0.0", high: str = LARGEST_FLOAT) -> Value:
        return self.op(name, "clamp", [x], x.shape, f"max_val = {high} : f32, min_val = {low} : f32")

    def reshape(self, name: str, x: Value, shape: Sequence[int]) -> Value:
        constant = self.shape_constant(shape)
        return self.op(name, "reshape", [x], shape, extra=[(constant, f"!tosa.shape<{len(shape)}>")])

    def slice_front(self, name: str, x: Value, size: Sequence[int]) -> Value:
        """The leading `size` elements along each axis."""
        kind = f"!tosa.shape<{len(size)}>"
        start = self.shape_constant((0,) * len(size))
        return self.op(name, "slice", [x], size, extra=[(start, kind), (self.shape_constant(size), kind)])

    def hard_swish(self, name: str, x: Value) -> Value:
        """x * clamp(x + 3, 0, 6) / 6, in the order that the TFLite importer writes."""
        rank = len(x.shape)
        shifted = self.binary(f"{name}/add", "add", x, self.scalar(f"{name}/three", 3.0, rank))
        gate = self.clamp(f"{name}/clamp", shifted, "0.0", "6.0")
        product = self.binary(f"{name}/mul", "mul", x, gate)
        return self.binary(f"{name}/scale", "mul", product, self.scalar(f"{name}/sixth", 1.0 / 6.0, rank))

    def swish(self, name: str, x: Value) -> Value:
        gate = self.op(f"{name}/sigmoid", "sigmoid", [x], x.shape)
        return self.binary(f"{name}/mul", "mul", x, gate)

    def batch_norm(self, name: str, x: Value, mean, variance, gamma, beta, epsilon: float) -> Value:
        """Unfolded: (x - mean) * rsqrt(variance + epsilon) * gamma + beta, constants shaped [1,1,1,C]."""

        def per_channel(key: str, data: np.ndarray) -> Value:
            return self.constant(f"{name}/{key}", np.reshape(data, (1, 1, 1, -1)))

        centred = self.binary(f"{name}/sub", "sub", x, per_channel("mean", mean))
        spread = self.binary(
            f"{name}/add_epsilon", "add", per_channel("variance", variance), self.scalar(f"{name}/epsilon", epsilon, 4)
        )
        scale = self.op(f"{name}/rsqrt", "rsqrt", [spread], spread.shape)
        normal = self.binary(f"{name}/normalize", "mul", centred, scale)
        scaled = self.binary(f"{name}/scale", "mul", normal, per_channel("gamma", gamma))
        return self.binary(f"{name}/shift", "add", scaled, per_channel("beta", beta))

    def softmax(self, name: str, x: Value) -> Value:
        """Along the last axis."""
        axis = len(x.shape) - 1
        reduced = (*x.shape[:-1], 1)
        largest = self.op(f"{name}/max", "reduce_max", [x], reduced, f"axis = {axis} : i32")
        shifted = self.binary(f"{name}/sub", "sub", x, largest)
        exponent = self.op(f"{name}/exp", "exp", [shifted], x.shape)
        total = self.op(f"{name}/sum", "reduce_sum", [exponent], reduced, f"axis = {axis} : i32")
        inverse = self.op(f"{name}/reciprocal", "reciprocal", [total], reduced)
        return self.binary(f"{name}/mul", "mul", exponent, inverse)

    def write(self, out: TextIO, result: Value) -> None:
        """Prints the module; blobs go out one by one, so that a large model needs no second copy as text."""
        out.write("module {\n")
        out.write(f'  func.func @main(%arg0: {self.input.type} loc("input")) -> {result.type} {{\n')
        # Without a location these would carry a line of this temporary text into the bytecode.
        for line in self.constant_lines:
            out.write(f"    {line} loc(unknown)\n")
        for line in self.op_lines:
            out.write(f"    {line}\n")
        out.write(f"    return {result.name} : {result.type} loc(unknown)\n  }} loc(unknown)\n}} loc(unknown)\n")
        out.write("{-#\n  dialect_resources: {\n    builtin: {\n")
        alignment = BLOB_ALIGNMENT.to_bytes(4, "little").hex().upper()
        for i, (key, data) in enumerate(self.blobs.items()):
            comma = "," if i + 1 < len(self.blobs) else ""
            out.write(f'      {key}: "0x{alignment}')
            out.write(data.tobytes().hex().upper())
            out.write(f'"{comma}\n')
        out.write("    }\n  }\n#-}\n")

    def write_bytecode(self, path: Path, result: Value) -> None:
        """Validates the module with the stock tool and lets it write `path` as bytecode."""
        # The target attribute that validation needs is not part of the model, so the validated copy is thrown away.
        for options in (["-o", "/dev/null", *VALIDATION], ["-o", str(path), "--emit-bytecode"]):
            with subprocess.Popen([MLIR_OPT, "-", *options], stdin=subprocess.PIPE, text=True) as process:
                self.write(process.stdin, result)
                process.stdin.close()
                if process.wait() != 0:
                    raise SystemExit(f"{MLIR_OPT} rejected the model for {path}")
