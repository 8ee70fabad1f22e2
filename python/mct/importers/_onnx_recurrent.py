# SPDX-License-Identifier: Apache-2.0
"""Writes the recurrent layers of an ONNX graph out, step by step: torch-mlir has no TOSA for LSTM, GRU and RNN.

A layer `lstm` becomes one product of all its inputs, `lstm/input`, and for each time t the operators `lstm/step<t>/…`;
those of a layer with two directions stand below `lstm/forward` and `lstm/reverse`. Nodes that put the results of all
steps together have the name of the layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from mct.importers import _onnx_large
from mct.importers._child import Refused

# Gates of each, which are blocks of rows in W and R.
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_ACTIVATIONS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
# Activations that take alpha and beta, with the values where a node gives none. For some there is no such value: ONNX
# Runtime takes 0, the standard another or none.
_ALPHA = {
    "affine": None,
    "leakyrelu": 0.01,
    "thresholdedrelu": None,
    "scaledtanh": None,
    "hardsigmoid": 0.2,
    "elu": 1.0,
}
_BETA = {"affine": None, "scaledtanh": None, "hardsigmoid": 0.5}
# Activations that are operators of their own, by their names without case, as ONNX Runtime takes them.
_OPERATORS = {name.lower(): name for name in ("Relu", "Tanh", "Sigmoid", "Softplus", "LeakyRelu", "Elu", "HardSigmoid")}

# A tensor of the graph by its name, or a constant.
Value = str | np.ndarray
Activation = tuple[str, float, float]


def is_recurrent(node: onnx.NodeProto) -> bool:
    return node.op_type in GATES and node.domain in ("", "ai.onnx")


def name_of(node: onnx.NodeProto) -> str:
    """A node without a name is called after its first result."""
    return str(node.name or next(filter(None, node.output), node.op_type))


def subgraphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g


def put_sequences_first(graph: onnx.GraphProto) -> None:
    """Gives layers whose tensors begin with the batch (`layout` 1) the other layout, the one ONNX Runtime takes."""
    nodes = []
    for node in graph.node:
        for inner in subgraphs(node):
            put_sequences_first(inner)
        layout = [attribute for attribute in node.attribute if attribute.name == "layout" and attribute.i]
        if not is_recurrent(node) or not layout:
            nodes.append(node)
            continue
        node.attribute.remove(layout[0])
        node.name = name_of(node)
        before, after = [], []
        for index in (0, 5, 6):
            if index < len(node.input) and node.input[index]:
                name = f"{node.name}/input{index}"
                before.append(helper.make_node("Transpose", [node.input[index]], [name], name, perm=[1, 0, 2]))
                node.input[index] = name
        for index, result in enumerate(node.output):
            if result:
                name, order = f"{node.name}/output{index}", [1, 0, 2] if index else [2, 0, 1, 3]
                after.append(helper.make_node("Transpose", [name], [result], name, perm=order))
                node.output[index] = name
        nodes += [*before, node, *after]
    del graph.node[:]
    graph.node.extend(nodes)


class _Writer:
    """The nodes and constants that replace one node."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def constant(self, name: str, values: Any) -> str:
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(values).reshape(np.shape(values)), name))
        return name

    def number(self, number: float) -> np.ndarray:
        return np.array(number, self.dtype)

    def op(self, kind: str, name: str, *inputs: Value, outputs: int = 1, **attributes: Any) -> list[str]:
        """Adds a node and returns its results; arrays among its inputs become constants."""
        names = [
            value if isinstance(value, str) else self.constant(f"{name}/constant{index}", value)
            for index, value in enumerate(inputs)
        ]
        results = [f"{name}/result{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(kind, names, results, name, **attributes))
        return results

    def value(self, kind: str, name: str, *inputs: Value, **attributes: Any) -> str:
        return self.op(kind, name, *inputs, **attributes)[0]

    # These methods compute with constants here, and write out computations on other values.

    def add(self, name: str, left: Value | None, right: Value | None) -> Value | None:
        """The sum of the terms that are there."""
        if left is None or right is None:
            return right if left is None else left
        if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
            return left + right
        return self.value("Add", name, left, right)

    def transpose(self, name: str, value: Value) -> Value:
        return value.T if isinstance(value, np.ndarray) else self.value("Transpose", name, value, perm=[1, 0])

    def element(self, name: str, value: Value | None, index: int) -> Value | None:
        """Along the first dimension, which disappears."""
        if value is None or isinstance(value, np.ndarray):
            return None if value is None else value[index]
        return self.value("Gather", name, value, np.array(index), axis=0)

    def parts(self, name: str, value: Value, sizes: Sequence[int], axis: int) -> Sequence[Value]:
        if len(sizes) == 1:
            return [value]
        if isinstance(value, np.ndarray):
            return np.split(value, np.cumsum(sizes)[:-1], axis)
        return self.op("Split", name, value, np.array(sizes), outputs=len(sizes), axis=axis)


class _Layer:
    """One node with its attributes."""

    def __init__(
        self, node: onnx.NodeProto, name: str, shape: Sequence[int], constants: Mapping[str, onnx.TensorProto]
    ) -> None:
        """`shape`: of X, steps, batch and inputs."""
        self.node, self.name, self.kind = node, name, node.op_type
        self.steps, self.batch = shape[:2]
        given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        names = [*node.input, *[""] * 8][:8]
        self.x, self.w, self.r, self.b, lengths, self.h, self.c, self.p = (
            numpy_helper.to_array(constants[name]) if name in constants else name or None for name in names
        )
        direction = given.get("direction", b"forward").decode()
        self.directions = ["forward", "reverse"] if direction == "bidirectional" else [direction]
        if isinstance(self.r, np.ndarray):
            self.hidden = int(self.r.shape[2])
        elif "hidden_size" in given:
            self.hidden = int(given["hidden_size"])
        else:
            raise self.refusal("neither constant weights nor the attribute hidden_size")
        self.clip = float(given.get("clip", 0.0))
        self.couples = bool(given.get("input_forget", 0))
        # True if a reset gate is multiplied with the product of the state, not with the state.
        self.resets_late = bool(given.get("linear_before_reset", 0))
        self.lengths = self._lengths(lengths)
        self.activations = self._activations(given)
        self.writer = _Writer(self.r.dtype if isinstance(self.r, np.ndarray) else np.dtype(np.float32))

    def refusal(self, what: str, *remedies: str) -> Refused:
        return Refused(f"{self.kind} '{self.name}' has {what}", remedies)

    def _lengths(self, given: Value | None) -> np.ndarray:
        """Steps of each sequence of the batch; a single number where all are equal, which is right for any batch."""
        if isinstance(given, str):
            remedy = "leave sequence_lens out, or make it a constant"
            raise self.refusal(f"lengths of sequences that are computed at run time, '{given}'", remedy)
        lengths = np.array([self.steps]) if given is None else given
        if lengths.min() < 0 or lengths.max() > self.steps:
            raise self.refusal(f"lengths of sequences from {lengths.min()} to {lengths.max()} in {self.steps} steps")
        return lengths[:1] if (lengths == lengths[0]).all() else lengths

    def _activations(self, given: Mapping[str, Any]) -> list[list[Activation]]:
        """For each direction; alpha and beta are listed for the activations that take them only."""
        defaults = _ACTIVATIONS[self.kind]
        names = [name.decode() for name in given.get("activations", [])] or defaults * len(self.directions)
        if self.kind == "RNN" and names == ["Tanh", "Tanh"]:
            # The default of the standard, written out, has two activations for one direction, too.
            names = defaults * len(self.directions)
        if len(names) != len(defaults) * len(self.directions):
            raise self.refusal(f"{len(names)} activations, not {len(defaults)} for each direction")
        lists = {"alpha": list(given.get("activation_alpha", [])), "beta": list(given.get("activation_beta", []))}
        found: list[Activation] = []
        for name in names:
            kind = name.lower()
            if kind not in _OPERATORS and kind not in _ALPHA and kind != "softsign":
                raise self.refusal(f"an activation that ONNX does not define, '{name}'")
            numbers = []
            for key, values in (("alpha", _ALPHA), ("beta", _BETA)):
                number = lists[key].pop(0) if kind in values and lists[key] else values.get(kind, 0.0)
                if number is None:
                    raise self.refusal(f"an activation {name} without activation_{key}, for which there is no default")
                numbers.append(float(number))
            found.append((kind, numbers[0], numbers[1]))
        return [found[i : i + len(defaults)] for i in range(0, len(found), len(defaults))]

    def clipped(self, name: str, x: Value) -> Value:
        """Returns the input of the activation of a gate; that of the cell is not clipped."""
        if not self.clip:
            return x
        writer = self.writer
        return writer.value("Clip", f"{name}/clip", x, writer.number(-self.clip), writer.number(self.clip))

    def activate(self, activation: Activation, name: str, x: Value) -> str:
        kind, alpha, beta = activation
        writer = self.writer
        if kind == "affine":
            scaled = writer.value("Mul", f"{name}/scaled", x, writer.number(alpha))
            return writer.value("Add", name, scaled, writer.number(beta))
        if kind == "scaledtanh":
            scaled = writer.value("Mul", f"{name}/scaled", x, writer.number(beta))
            return writer.value("Mul", name, writer.value("Tanh", f"{name}/tanh", scaled), writer.number(alpha))
        if kind == "softsign":
            size = writer.value("Add", f"{name}/size", writer.value("Abs", f"{name}/abs", x), writer.number(1))
            return writer.value("Div", name, x, size)
        if kind == "thresholdedrelu":
            passes = writer.value("Greater", f"{name}/passes", x, writer.number(alpha))
            return writer.value("Where", name, passes, x, writer.number(0))
        attributes = {key: value for key, value, of in (("alpha", alpha, _ALPHA), ("beta", beta, _BETA)) if kind in of}
        return writer.value(_OPERATORS[kind], name, x, **attributes)

    def initial_states(self, given: Value | None, name: str) -> Sequence[Value | None]:
        """[1, batch, hidden] for each direction, or nothing for zeros, which then have no batch that could be wrong."""
        if given is None or (isinstance(given, np.ndarray) and not given.any()):
            return [None] * len(self.directions)
        return self.writer.parts(f"{self.name}/{name}", given, [1] * len(self.directions), 0)

    def write_out(self) -> _Writer:
        writer, several = self.writer, len(self.directions) > 1
        initial_h, initial_c = self.initial_states(self.h, "initial_h"), self.initial_states(self.c, "initial_c")
        sequences: list[Value] = []
        last_h: list[Value] = []
        last_c: list[Value] = []
        for index, direction in enumerate(self.directions):
            part = _Direction(self, index, f"{self.name}/{direction}" if several else self.name)
            results, h, c = part.write_out(initial_h[index], initial_c[index])
            sequences.append(writer.value("Unsqueeze", f"{part.name}/unsqueezed", results, np.array([1])))
            last_h.append(h)
            last_c.append(c)
        made = ((sequences, 1, self.name), (last_h, 0, f"{self.name}/Y_h"), (last_c, 0, f"{self.name}/Y_c"))
        for output, (values, axis, name) in zip(self.node.output, made, strict=False):
            if not output:
                continue
            if several:
                writer.op("Concat", name, *values, axis=axis)
            else:
                writer.op("Identity", f"{name}/result", *values)
            writer.nodes[-1].output[0] = output
        return writer


class _Direction:
    """One direction of a layer. States are [1, batch, hidden], or nothing where they are zeros."""

    def __init__(self, layer: _Layer, index: int, name: str) -> None:
        self.layer, self.name, self.writer = layer, name, layer.writer
        self.reverse = layer.directions[index] == "reverse"
        self.activations = layer.activations[index]
        writer, size, rows = layer.writer, layer.hidden, GATES[layer.kind] * layer.hidden
        self.gates = [size] * GATES[layer.kind]
        w, r, bias, peepholes = (
            writer.element(f"{name}/{label}", value, index)
            for value, label in ((layer.w, "w"), (layer.r, "r"), (layer.b, "b"), (layer.p, "p"))
        )
        assert w is not None and r is not None
        self.w, self.r = writer.transpose(f"{name}/w/columns", w), writer.transpose(f"{name}/r/columns", r)
        self.bias: Value | None = None
        self.state_bias: Value | None = None
        self.peepholes: list[Value | None] = [None] * 3
        if bias is not None:
            self.bias, self.state_bias = writer.parts(f"{name}/b/parts", bias, [rows, rows], 0)
        if not (layer.kind == "GRU" and layer.resets_late):
            # No gate multiplies the state's bias.
            self.bias, self.state_bias = writer.add(f"{name}/bias", self.bias, self.state_bias), None
        if peepholes is not None:
            self.peepholes = list(writer.parts(f"{name}/p/parts", peepholes, [size] * 3, 0))
        self.products: list[Value] = [self.r]
        if layer.kind == "GRU" and not layer.resets_late:
            self.products = list(writer.parts(f"{name}/r/parts", self.r, [2 * size, size], 1))
        # All steps share them.
        self.products = [
            value if isinstance(value, str) else writer.constant(f"{name}/r{i}", value)
            for i, value in enumerate(self.products)
        ]

    def write_out(self, h: Value | None, c: Value | None) -> tuple[Value, Value, Value]:
        """The results of all steps, [steps, batch, hidden], and the last states."""
        layer, writer, name = self.layer, self.writer, self.name
        assert layer.x is not None
        x = writer.add(f"{name}/input_bias", writer.value("MatMul", f"{name}/input", layer.x, self.w), self.bias)
        assert isinstance(x, str)
        inputs = writer.parts(f"{name}/steps", x, [1] * layer.steps, 0)
        count = int(layer.lengths.max())
        results: dict[int, Value] = {}
        for t in reversed(range(count)) if self.reverse else range(count):
            step = f"{name}/step{t}"
            before = h, c
            h, c = self.step(step, inputs[t], h, c)
            results[t] = h
            if not (t < layer.lengths).all():
                # States pass by the sequences that are shorter, and results are zeros there.
                runs = (t < layer.lengths)[None, :, None]
                results[t] = writer.value("Where", f"{step}/Y", runs, h, writer.number(0))
                h = self.kept(f"{step}/Y_h", runs, h, before[0])
                c = None if c is None else self.kept(f"{step}/Y_c", runs, c, before[1])
        if not (layer.lengths > 0).all():
            # As in ONNX Runtime, the states of an empty sequence are zero.
            runs = (layer.lengths > 0)[None, :, None]
            h, c = (
                self.kept(f"{name}/{label}", runs, state, None) if results and state is not None else None
                for state, label in ((h, "Y_h"), (c, "Y_c"))
            )
        zeros = np.zeros((1, layer.batch, layer.hidden), writer.dtype)
        if not results:
            y: Value = zeros.repeat(layer.steps, 0)
        elif len(results) == 1:
            y = results[0]
        else:
            whole = layer.name if name == layer.name else f"{name}/Y"
            y = writer.value("Concat", whole, *(results[t] for t in range(count)), axis=0)
        if 0 < count < layer.steps:
            y = writer.value(
                "Pad", f"{name}/padded", y, np.array([0, 0, 0, layer.steps - count, 0, 0]), writer.number(0)
            )
        return y, zeros if h is None else h, zeros if c is None else c

    def kept(self, name: str, runs: np.ndarray, new: Value, old: Value | None) -> str:
        return self.writer.value("Where", name, runs, new, self.writer.number(0) if old is None else old)

    def step(self, name: str, x: Value, h: Value | None, c: Value | None) -> tuple[Value, Value | None]:
        if self.layer.kind == "LSTM":
            return self.lstm(name, x, h, c)
        return (self.gru if self.layer.kind == "GRU" else self.rnn)(name, x, h), None

    def gate(self, name: str, activation: int, x: Value, term: Value | None = None) -> str:
        value = self.writer.add(f"{name}/sum", x, term)
        assert value is not None
        return self.layer.activate(self.activations[activation], name, self.layer.clipped(name, value))

    def product(self, name: str, h: Value | None, index: int = 0) -> Value | None:
        return None if h is None else self.writer.value("MatMul", name, h, self.products[index])

    def lstm(self, name: str, x: Value, h: Value | None, c: Value | None) -> tuple[Value, Value]:
        writer = self.writer

        def peephole(gate: str, state: Value | None, index: int) -> Value | None:
            weights = self.peepholes[index]
            return None if weights is None or state is None else writer.value("Mul", f"{name}/{gate}/c", state, weights)

        gates = writer.add(f"{name}/gates", x, self.product(f"{name}/state", h))
        assert gates is not None
        i, o, f, g = writer.parts(f"{name}/split", gates, self.gates, 2)
        i = self.gate(f"{name}/i", 0, i, peephole("i", c, 0))
        c_new: Value | None = writer.value("Mul", f"{name}/i_g", i, self.gate(f"{name}/g", 1, g))
        if c is not None:
            if self.layer.couples:
                f = writer.value("Sub", f"{name}/f", writer.number(1), i)
            else:
                f = self.gate(f"{name}/f", 0, f, peephole("f", c, 2))
            c_new = writer.add(f"{name}/c", writer.value("Mul", f"{name}/f_c", f, c), c_new)
        assert c_new is not None
        o = self.gate(f"{name}/o", 0, o, peephole("o", c_new, 1))
        return writer.value(
            "Mul", f"{name}/h", o, self.layer.activate(self.activations[2], f"{name}/h_c", c_new)
        ), c_new

    def gru(self, name: str, x: Value, h: Value | None) -> Value:
        writer, size = self.writer, self.layer.hidden
        x_z, x_r, x_n = writer.parts(f"{name}/split", x, self.gates, 2)
        h_z: Value | None = None
        h_r: Value | None = None
        n: Value | None = None
        state = writer.add(f"{name}/state_bias", self.product(f"{name}/state", h), self.state_bias)
        if state is not None:
            h_z, h_r, *rest = writer.parts(
                f"{name}/state_split", state, [size] * (3 if self.layer.resets_late else 2), -1
            )
            n = rest[0] if rest else None
        z = self.gate(f"{name}/z", 0, x_z, h_z)
        if n is not None:
            n = writer.value("Mul", f"{name}/r_h", self.gate(f"{name}/r", 0, x_r, h_r), n)
        elif h is not None:
            reset = writer.value("Mul", f"{name}/r_h", self.gate(f"{name}/r", 0, x_r, h_r), h)
            n = self.product(f"{name}/reset_state", reset, 1)
        n = self.gate(f"{name}/n", 1, x_n, n)
        if h is None:
            return writer.value("Sub", f"{name}/h", n, writer.value("Mul", f"{name}/z_n", z, n))
        change = writer.value("Mul", f"{name}/z_h", z, writer.value("Sub", f"{name}/h_n", h, n))
        return writer.value("Add", f"{name}/h", n, change)

    def rnn(self, name: str, x: Value, h: Value | None) -> Value:
        return self.gate(f"{name}/h", 0, x, self.product(f"{name}/state", h))


def write_out(model: onnx.ModelProto) -> dict[str, int]:
    """Replaces the recurrent layers of a model whose shapes are fixed; steps of each.

    Raises Refused where a length is not known.
    """
    if not any(map(is_recurrent, model.graph.node)):
        return {}
    shapes = _onnx_large.known_shapes(model)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes = []
    steps: dict[str, int] = {}
    for node in model.graph.node:
        if not is_recurrent(node):
            nodes.append(node)
            continue
        name = name_of(node)
        while f"{node.op_type} '{name}'" in steps:
            name += "_"
        shape = shapes.get(node.input[0], [])
        if len(shape) != 3 or min(shape) < 1:
            raise Refused(
                f"{node.op_type} '{name}' has a sequence whose length is not fixed",
                ["give example_inputs / --shape NAME=… with the shapes to convert for"],
            )
        writer = _Layer(node, name, shape, constants).write_out()
        nodes += writer.nodes
        model.graph.initializer.extend(writer.initializers)
        steps[f"{node.op_type} '{name}'"] = shape[0]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return steps
