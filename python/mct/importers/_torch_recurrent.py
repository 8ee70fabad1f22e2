# SPDX-License-Identifier: Apache-2.0
"""Writes recurrent layers of PyTorch (LSTM, GRU, RNN) out step by step, as TOSA.

The backend takes minutes for the operators of some hundred steps, and a step is the same each time: a layer is cut out
of the program (`_torch_points`), and its text written here. Layers of step t have names such as `lstm/step3/gates`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from mct.importers import _text

Array = np.ndarray[Any, Any]

# Gates of each kind, in the order of their weights.
_GATES = {"lstm": "ifgo", "gru": "rzn", "rnn_tanh": "h", "rnn_relu": "h"}


class Layer(NamedTuple):
    """weights: for each layer and direction the kernels of input and state, then their biases if it has any.
    states:    those before the first step, h and for an LSTM c, [layers * directions, batch, hidden].
    shape:     of the input, which has the batch first if `batch_first`."""

    name: str
    kind: str
    weights: list[list[Array]]
    states: list[Array]
    shape: tuple[int, ...]
    directions: int
    batch_first: bool


class Output(NamedTuple):
    """One of the results of a layer: all steps, or its last states."""

    layer: Layer
    number: int


def kind_of(node: Any) -> str:
    """The kind of recurrent layer that a node is; "" for other nodes."""
    return next((kind for kind in _GATES if str(node.target) == f"aten.{kind}.input"), "")


def read(node: Any, value_of: Callable[[Any], torch.Tensor]) -> Layer | None:
    """The layer that a node of a program is; None for other nodes, and for layers that the backend has to convert.

    `value_of`: returns the elements of a constant.
    """
    kind = kind_of(node)
    if not kind:
        return None
    source, states, params, has_biases, layers, _, _, bidirectional, batch_first = node.args
    states = states if isinstance(states, list | tuple) else [states]
    directions = 1 + bool(bidirectional)
    count = 4 if has_biases else 2
    # A projection has a third kernel.
    if (
        len(source.meta["val"].shape) != 3
        or any(each.op != "get_attr" for each in [*states, *params])
        or len(params) != count * layers * directions
    ):
        return None
    values = [value_of(each).cpu().float().numpy() for each in params]
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    return Layer(
        str(stack[-1][0]) if stack and stack[-1][0] else kind,
        kind,
        [values[i : i + count] for i in range(0, len(values), count)],
        [value_of(each).cpu().float().numpy() for each in states],
        tuple(source.meta["val"].shape),
        directions,
        bool(batch_first),
    )


class _Value(NamedTuple):
    name: str
    shape: tuple[int, ...]

    @property
    def type(self) -> str:
        return f"tensor<{'x'.join(map(str, self.shape))}xf32>"


class _Writer:
    """Lines of operations. Values are images [steps * batch, 1, 1, features], steps first."""

    def __init__(self, layer: Layer, prefix: str) -> None:
        self.layer, self.prefix = layer, prefix
        self.lines: list[str] = []
        self.shapes: dict[tuple[int, ...], str] = {}
        self.zero = self.constant(np.zeros(1))
        self.shift = self._name()
        self.lines.append(
            f'    {self.shift} = "tosa.const"() <{{values = dense<0> : tensor<1xi8>}}> : () -> tensor<1xi8>'
        )

    def _name(self) -> str:
        return f"{self.prefix}_{len(self.lines)}"

    def constant(self, elements: Array) -> _Value:
        value = _Value(self._name(), elements.shape)
        data = np.ascontiguousarray(elements, "<f4").tobytes().hex().upper()
        attribute = f'<{{values = dense<"0x{data}"> : {value.type}}}>'
        self.lines.append(f'    {value.name} = "tosa.const"() {attribute} : () -> {value.type}')
        return value

    def sizes(self, numbers: Sequence[int]) -> tuple[str, str]:
        kind = f"!tosa.shape<{len(numbers)}>"
        if tuple(numbers) not in self.shapes:
            name = self.shapes[tuple(numbers)] = self._name()
            values = f"dense<[{', '.join(map(str, numbers))}]> : tensor<{len(numbers)}xindex>"
            self.lines.append(f"    {name} = tosa.const_shape {{values = {values}}} : () -> {kind}")
        return self.shapes[tuple(numbers)], kind

    def op(self, kind: str, name: str, shape: Sequence[int], *operands: Any, attributes: str = "") -> _Value:
        """`operands`: values, and pairs of a name and its type."""
        result = _Value(self._name(), tuple(shape))
        pairs = [(each.name, each.type) if isinstance(each, _Value) else each for each in operands]
        read = ", ".join(each for each, _ in pairs)
        types = ", ".join(type for _, type in pairs)
        options = f" {{{attributes}}}" if attributes else ""
        place = f'loc("{_text.escape(name)}")'
        self.lines.append(f"    {result.name} = tosa.{kind} {read}{options} : ({types}) -> {result.type} {place}")
        return result

    def product(self, name: str, value: _Value, kernel: _Value, bias: _Value) -> _Value:
        attributes = (
            "acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>"
        )
        shape = (*value.shape[:3], kernel.shape[0])
        return self.op("conv2d", name, shape, value, kernel, bias, self.zero, self.zero, attributes=attributes)

    def kernel(self, weights: Array) -> _Value:
        return self.constant(weights.reshape(weights.shape[0], 1, 1, weights.shape[1]))

    def slice(self, name: str, value: _Value, axis: int, first: int, size: int) -> _Value:
        starts, shape = [0] * len(value.shape), list(value.shape)
        starts[axis], shape[axis] = first, size
        return self.op("slice", name, shape, value, self.sizes(starts), self.sizes(shape))

    def reshape(self, name: str, value: _Value, shape: Sequence[int]) -> _Value:
        return value if value.shape == tuple(shape) else self.op("reshape", name, shape, value, self.sizes(shape))

    def concat(self, name: str, values: Sequence[_Value], axis: int) -> _Value:
        if len(values) == 1:
            return values[0]
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        return self.op("concat", name, shape, *values, attributes=f"axis = {axis} : i32")

    def swapped(self, name: str, value: _Value, shape: Sequence[int]) -> _Value:
        """Steps and batch in the other order."""
        if 1 in value.shape[:2]:
            return self.reshape(name, value, shape)
        return self.op("transpose", name, shape, value, attributes="perms = array<i32: 1, 0, 2>")

    def binary(self, kind: str, name: str, left: _Value, right: _Value) -> _Value:
        shift = [(self.shift, "tensor<1xi8>")] if kind == "mul" else []
        return self.op(kind, name, left.shape, left, right, *shift)

    def unary(self, kind: str, name: str, value: _Value) -> _Value:
        limits = "max_val = 3.40282347E+38 : f32, min_val = 0.000000e+00 : f32" if kind == "clamp" else ""
        return self.op(kind, name, value.shape, value, attributes=limits)


class _Direction:
    """One direction of one of the layers."""

    def __init__(self, writer: _Writer, name: str, weights: list[Array], states: list[Array]) -> None:
        self.writer, self.name, self.kind = writer, name, writer.layer.kind
        self.hidden = weights[1].shape[1]
        size = weights[0].shape[0]
        given, state = weights[2:] or (np.zeros(size), np.zeros(size))
        # A GRU multiplies a part of the products of the state, with the bias, by a gate.
        late = self.kind == "gru"
        self.input_bias = writer.constant(given if late else given + state)
        self.state_bias = writer.constant(state if late else np.zeros(size))
        self.input_kernel, self.state_kernel = (writer.kernel(each) for each in weights[:2])
        self.states = [writer.constant(each[:, None, None, :]) for each in states]

    def run(self, value: _Value, steps: int, is_reverse: bool) -> tuple[_Value, list[_Value]]:
        """Returns the results of all steps, and the last states."""
        writer, states = self.writer, self.states
        batch = value.shape[0] // steps
        given = writer.product(f"{self.name}/input", value, self.input_kernel, self.input_bias)
        results: list[_Value] = []
        for step in range(steps)[:: -1 if is_reverse else 1]:
            name = f"{self.name}/step{step}"
            part = writer.slice(f"{name}/x", given, 0, step * batch, batch)
            product = writer.product(f"{name}/state", states[0], self.state_kernel, self.state_bias)
            states = getattr(self, self.kind)(name, part, product, *states)
            results.append(states[0])
        return writer.concat(f"{self.name}/steps", results[:: -1 if is_reverse else 1], 0), states

    def parts(self, name: str, value: _Value) -> list[_Value]:
        return [
            self.writer.slice(f"{name}/{gate}", value, 3, i * self.hidden, self.hidden)
            for i, gate in enumerate(_GATES[self.kind])
        ]

    def lstm(self, name: str, given: _Value, product: _Value, _: _Value, c: _Value) -> list[_Value]:
        writer = self.writer
        i, f, g, o = self.parts(f"{name}/split", writer.binary("add", f"{name}/gates", given, product))
        i, f, o = (writer.unary("sigmoid", f"{name}/{gate}", value) for gate, value in (("i", i), ("f", f), ("o", o)))
        kept = writer.binary("mul", f"{name}/f_c", f, c)
        new = writer.binary("mul", f"{name}/i_g", i, writer.unary("tanh", f"{name}/g", g))
        c = writer.binary("add", f"{name}/c", kept, new)
        return [writer.binary("mul", f"{name}/h", o, writer.unary("tanh", f"{name}/h_c", c)), c]

    def gru(self, name: str, given: _Value, product: _Value, h: _Value) -> list[_Value]:
        writer = self.writer
        x_r, x_z, x_n = self.parts(f"{name}/split", given)
        h_r, h_z, h_n = self.parts(f"{name}/state_split", product)
        r, z = (
            writer.unary("sigmoid", f"{name}/{gate}", writer.binary("add", f"{name}/{gate}/sum", x, state))
            for gate, x, state in (("r", x_r, h_r), ("z", x_z, h_z))
        )
        reset = writer.binary("mul", f"{name}/r_h", r, h_n)
        n = writer.unary("tanh", f"{name}/n", writer.binary("add", f"{name}/n/sum", x_n, reset))
        change = writer.binary("mul", f"{name}/z_h", z, writer.binary("sub", f"{name}/h_n", h, n))
        return [writer.binary("add", f"{name}/h", n, change)]

    def rnn_tanh(self, name: str, given: _Value, product: _Value, _: _Value, kind: str = "tanh") -> list[_Value]:
        return [self.writer.unary(kind, f"{name}/h", self.writer.binary("add", f"{name}/h/sum", given, product))]

    def rnn_relu(self, name: str, given: _Value, product: _Value, h: _Value) -> list[_Value]:
        return self.rnn_tanh(name, given, product, h, "clamp")


def write(layer: Layer, source: str, prefix: str) -> tuple[list[str], list[str]]:
    """The lines that compute a layer of the value `source`, and the values that are its results.

    `prefix`: of the names of values.
    """
    writer = _Writer(layer, prefix)
    batch, steps = layer.shape[:2] if layer.batch_first else layer.shape[1::-1]
    value = _Value(source, layer.shape)
    if layer.batch_first:
        value = writer.swapped(f"{layer.name}/steps_first", value, (steps, batch, layer.shape[2]))
    value = writer.reshape(f"{layer.name}/images", value, (steps * batch, 1, 1, layer.shape[2]))
    last: list[list[_Value]] = []
    for number in range(len(layer.weights) // layer.directions):
        name = layer.name if len(layer.weights) == layer.directions else f"{layer.name}/layer{number}"
        found = []
        for direction in range(layer.directions):
            own = name if layer.directions == 1 else f"{name}/{('forward', 'reverse')[direction]}"
            index = number * layer.directions + direction
            states = [each[index] for each in layer.states]
            result, states_after = _Direction(writer, own, layer.weights[index], states).run(
                value, steps, bool(direction)
            )
            found.append(result)
            last.append(states_after)
        value = writer.concat(f"{name}/directions", found, 3)
    result = writer.reshape(f"{layer.name}/rows", value, (steps, batch, value.shape[3]))
    if layer.batch_first:
        result = writer.swapped(f"{layer.name}/batch_first", result, (batch, steps, value.shape[3]))
    outputs = [result.name]
    for number in range(len(layer.states)):
        kept = writer.concat(f"{layer.name}/last{number}", [states[number] for states in last], 0)
        shape = (len(last), batch, math.prod(kept.shape) // len(last) // batch)
        outputs.append(writer.reshape(f"{layer.name}/state{number}", kept, shape).name)
    return writer.lines, outputs
