# SPDX-License-Identifier: Apache-2.0
"""Writes the LSTM and GRU nodes of an ONNX graph out, step by step: importers leave them as loops, or at all."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Layer:
    """Replaces one node. Activations are the standard's defaults, lengths of sequences are equal."""

    def __init__(self, graph: onnx.GraphProto, node: onnx.NodeProto, steps: int):
        self.graph, self.node, self.steps = graph, node, steps
        self.made: list[onnx.NodeProto] = []
        self.attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        constants = {tensor.name: tensor for tensor in graph.initializer}
        inputs = [*node.input, *[""] * 8]
        unsupported = [name for name in ("activations", "clip", "input_forget", "layout") if self.attributes.get(name)]
        if unsupported or inputs[4] or any(inputs[7:]):
            raise ValueError(f"{node.op_type} '{node.name}' has {', '.join(unsupported) or 'lengths or peepholes'}")
        self.x, self.initial_h, self.initial_c = inputs[0], inputs[5], inputs[6]
        # [directions, gates x hidden, ...]
        self.w, self.r = (numpy_helper.to_array(constants[name]) for name in inputs[1:3])
        self.hidden = self.r.shape[2]
        gates = self.r.shape[1]
        bias = numpy_helper.to_array(constants[inputs[3]]) if inputs[3] else np.zeros((len(self.w), 2 * gates), "f4")
        self.wb, self.rb = bias[:, :gates], bias[:, gates:]

    def constant(self, values) -> str:
        name = f"{self.node.name}/constant{len(self.graph.initializer)}"
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes) -> str | list[str]:
        name = f"{self.node.name}/{kind}{len(self.made)}"
        results = [f"{name}:{i}" for i in range(outputs)]
        self.made.append(helper.make_node(kind, inputs, results, name, **attributes))
        return results[0] if outputs == 1 else results

    def split(self, value: str, parts: int, extent: int, axis: int) -> list[str]:
        if parts == 1:
            return [value]
        return self.op("Split", value, self.constant(np.full(parts, extent, np.int64)), outputs=parts, axis=axis)

    def state(self, name: str, direction: int, batch: int) -> str:
        if not name:
            return self.constant(np.zeros((1, batch, self.hidden), np.float32))
        return self.split(name, len(self.w), 1, 0)[direction]

    def lstm(self, x: str, h: str, c: str, direction: int) -> tuple[str, str]:
        recurrent = self.op("MatMul", h, self.constant(self.r[direction].T))
        gates = self.op("Add", self.op("Add", x, recurrent), self.constant(self.rb[direction]))
        i, o, f, g = self.split(gates, 4, self.hidden, 2)
        i, o, f = (self.op("Sigmoid", gate) for gate in (i, o, f))
        c = self.op("Add", self.op("Mul", f, c), self.op("Mul", i, self.op("Tanh", g)))
        return self.op("Mul", o, self.op("Tanh", c)), c

    def gru(self, x: str, h: str, direction: int) -> str:
        size, weights, bias = self.hidden, self.r[direction].T, self.rb[direction]
        late = self.attributes.get("linear_before_reset", 0)
        columns = 3 * size if late else 2 * size
        recurrent = self.op("MatMul", h, self.constant(weights[:, :columns]))
        recurrent = self.op("Add", recurrent, self.constant(bias[:columns]))
        x_z, x_r, x_n = self.split(x, 3, size, 2)
        h_z, h_r, *h_n = self.split(recurrent, columns // size, size, 2)
        z = self.op("Sigmoid", self.op("Add", x_z, h_z))
        r = self.op("Sigmoid", self.op("Add", x_r, h_r))
        if late:
            n = self.op("Mul", r, h_n[0])
        else:
            n = self.op("MatMul", self.op("Mul", r, h), self.constant(weights[:, columns:]))
            n = self.op("Add", n, self.constant(bias[columns:]))
        n = self.op("Tanh", self.op("Add", x_n, n))
        return self.op("Add", n, self.op("Mul", z, self.op("Sub", h, n)))

    def write_out(self, batch: int) -> list[onnx.NodeProto]:
        directions, last_h, last_c = [], [], []
        for direction in range(len(self.w)):
            backward = direction == 1 or self.attributes.get("direction", b"forward") == b"reverse"
            x = self.op("MatMul", self.x, self.constant(self.w[direction].T))
            x = self.op("Add", x, self.constant(self.wb[direction]))
            steps = self.split(x, self.steps, 1, 0)
            h = self.state(self.initial_h, direction, batch)
            c = self.state(self.initial_c, direction, batch) if self.node.op_type == "LSTM" else ""
            hs = []
            for step in reversed(steps) if backward else steps:
                if self.node.op_type == "LSTM":
                    h, c = self.lstm(step, h, c, direction)
                else:
                    h = self.gru(step, h, direction)
                hs.append(h)
            sequence = self.op("Concat", *(reversed(hs) if backward else hs), axis=0)
            directions.append(self.op("Unsqueeze", sequence, self.constant(np.array([1]))))
            last_h.append(h)
            last_c.append(c)
        results = ((directions, 1), (last_h, 0), (last_c, 0))
        for output, (parts, axis) in zip(self.node.output, results, strict=False):
            if output:
                self.made.append(helper.make_node("Concat", parts, [output], f"{self.node.name}/{output}", axis=axis))
        return self.made


def write_out(model: onnx.ModelProto) -> onnx.ModelProto:
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    values = [*inferred.graph.value_info, *inferred.graph.input]
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in values}
    nodes = []
    for node in model.graph.node:
        if node.op_type in ("LSTM", "GRU"):
            steps, batch, _ = shapes[node.input[0]]
            nodes += Layer(model.graph, node, steps).write_out(batch)
        else:
            nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model
