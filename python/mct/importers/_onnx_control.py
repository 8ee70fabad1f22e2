# SPDX-License-Identifier: Apache-2.0
"""Writes out the control flow of an ONNX graph, `If`, `Loop` and `Scan`, for which TOSA has nothing.

The number of steps of a loop must be known. The names of the nodes of its step i begin with `loop/step<i>/` for a loop
`loop`. Both branches of an `If` whose condition depends on data are computed, and `Where` takes the results of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import compose, helper, numpy_helper

from mct.importers import _onnx_large
from mct.importers._child import Refused, warn
from mct.importers._onnx_recurrent import name_of, subgraphs

OPERATORS = frozenset({"If", "Loop", "Scan"})
# More than that is no network any more, and may never end.
MOST_STEPS = 4096


def _used(node: onnx.NodeProto) -> set[str]:
    """Names that a node reads, also from within its subgraphs."""
    names = set(node.input)
    for graph in subgraphs(node):
        inner = {name for each in graph.node for name in _used(each)} | {value.name for value in graph.output}
        own = {name for each in graph.node for name in each.output}
        own |= {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
        names |= inner - own
    return names - {""}


def _condition(body: onnx.GraphProto) -> tuple[list[onnx.NodeProto], list[int], list[str]]:
    """Returns what the condition of a loop depends on: nodes of its body, carried values by their indices among its
    inputs, and values from around it."""
    formal, results = [value.name for value in body.input], [value.name for value in body.output]
    needed, before = {results[0]}, 0
    kept: list[onnx.NodeProto] = []
    while len(needed) != before:
        before, kept = len(needed), []
        # A carried value depends on what the step before has computed for it.
        needed |= {results[i - 1] for i in range(2, len(formal)) if formal[i] in needed}
        for node in reversed(body.node):
            if needed & set(node.output):
                needed |= _used(node)
                kept.insert(0, node)
    carried = [i for i in range(2, len(formal)) if formal[i] in needed]
    own = {*formal, *(tensor.name for tensor in body.initializer), *(name for node in kept for name in node.output)}
    return kept, carried, sorted(needed - own)


class _Writer:
    """The nodes of a graph in which control flow is written out."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.constants = {tensor.name: tensor for tensor in model.graph.initializer}
        self.used = {value.name for value in model.graph.output}
        self.used |= {name for node in model.graph.node for name in _used(node)}
        self.nodes: list[onnx.NodeProto] = []
        self.steps: dict[str, int] = {}
        # Reasons why the remaining nodes cannot be written out.
        self.refusals: list[Refused] = []

    def constant(self, name: str, values: np.ndarray) -> str:
        self.model.graph.initializer.append(numpy_helper.from_array(values, name))
        return name

    def node(self, kind: str, name: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: object) -> None:
        self.nodes.append(helper.make_node(kind, inputs, outputs, name, **attributes))

    def scalar(self, name: str) -> np.ndarray | None:
        return numpy_helper.to_array(self.constants[name]).reshape(()) if name in self.constants else None

    def inline(self, body: onnx.GraphProto, prefix: str, actual: Sequence[str]) -> list[str]:
        """Adds the nodes of a body that is given `actual`; their names get the prefix. Returns its results."""
        formal = [value.name for value in body.input]
        names = dict(zip(formal, actual, strict=True))
        stored = {tensor.name for tensor in body.initializer}
        computed = {name for node in body.node for name in node.output}
        # Results may be computed, be arguments themselves, or come from around the body.
        names |= {value.name: prefix + value.name for value in body.output if value.name in computed | stored}
        copy = onnx.GraphProto()
        copy.CopyFrom(body)
        compose.add_prefix_graph(copy, prefix, rename_inputs=False, rename_outputs=False, inplace=True, name_map=names)
        self.nodes += copy.node
        self.model.graph.initializer.extend(copy.initializer)
        self.model.graph.sparse_initializer.extend(copy.sparse_initializer)
        return [names.get(value.name, value.name) for value in body.output]

    def branch(self, node: onnx.NodeProto, name: str) -> None:
        condition = self.scalar(node.input[0])
        if condition is None:
            raise Refused(
                f"If '{name}' chooses by a condition that is computed at run time, '{node.input[0]}'",
                ["replace it with Where, or export the network with the branch that is to be taken"],
            )
        (body,) = (a.g for a in node.attribute if a.name == ("then_branch" if condition else "else_branch"))
        for result, output in zip(self.inline(body, f"{name}/", []), node.output, strict=True):
            self.node("Identity", f"{name}/{output}", [result], [output])

    def shapes_of(self, names: Sequence[str]) -> list[list[int] | None]:
        """Returns the shapes of values of the nodes that are written; None for those that are not known."""
        graph = onnx.GraphProto(name="written", node=self.nodes)
        graph.input.extend(self.model.graph.input)
        graph.initializer.extend(self.model.graph.initializer)
        model = helper.make_model(graph, opset_imports=self.model.opset_import, ir_version=self.model.ir_version)
        inferred = _onnx_large.infer_shapes(model)
        found: dict[str, list[int] | None] = {tensor.name: list(tensor.dims) for tensor in inferred.initializer}
        for value in [*inferred.value_info, *inferred.input]:
            extents = value.type.tensor_type.shape.dim if value.type.tensor_type.HasField("shape") else None
            if extents is not None and all(extent.HasField("dim_value") for extent in extents):
                found[value.name] = [extent.dim_value for extent in extents]
        return [found.get(name) for name in names]

    def select(self, node: onnx.NodeProto, name: str) -> None:
        """Computes both branches of an `If`, which is allowed because no operator has an effect."""
        bodies = {attribute.name: attribute.g for attribute in node.attribute}
        ways = [self.inline(bodies[way], f"{name}/{way}/", []) for way in ("then_branch", "else_branch")]
        (decides, *shapes) = self.shapes_of([node.input[0], *ways[0], *ways[1]])
        count = len(node.output)
        for output, *values, taken, other in zip(node.output, *ways, shapes[:count], shapes[count:], strict=True):
            if taken is None or taken != other:
                raise Refused(
                    f"If '{name}' chooses by a condition that is computed at run time, '{node.input[0]}', between "
                    f"results of the shapes {taken or 'unknown'} and {other or 'unknown'} for '{output}'",
                    ["export the network with the branch that is to be taken, or with branches of one shape"],
                )
            condition = node.input[0]
            # It has one element, but the result has its own rank. A leading dimension may be the batch.
            if decides is None or len(decides) > len(taken):
                condition = f"{name}/{output}/condition"
                none = self.constant(f"{condition}/shape", np.zeros(0, np.int64))
                self.node("Reshape", condition, [node.input[0], none], [condition])
            self.node("Where", f"{name}/{output}", [condition, *values], [output])
        warn(f"both branches of If '{name}' are computed, as its condition '{node.input[0]}' depends on data")

    def trip_count(self, node: onnx.NodeProto, name: str, body: onnx.GraphProto) -> int:
        """Steps of a loop: ONNX Runtime runs it with nothing in its body but what its end depends on."""
        limit = self.scalar(node.input[0]) if node.input[0] else np.array(MOST_STEPS + 1)
        first = self.scalar(node.input[1]) if len(node.input) > 1 and node.input[1] else np.array(True)
        remedy = "export the network with a constant number of steps"
        if limit is None:
            raise Refused(f"Loop '{name}' has a trip count that is computed at run time, '{node.input[0]}'", [remedy])
        if first is None:
            raise Refused(f"Loop '{name}' has a condition that is computed at run time, '{node.input[1]}'", [remedy])
        if not first or limit <= 0:
            return 0
        kept, carried, outer = _condition(body)
        outer = [*(node.input[i] for i in carried), *outer]
        if computed := [value for value in outer if value not in self.constants]:
            message = f"Loop '{name}' ends by a condition that is computed at run time, from '{computed[0]}'"
            raise Refused(message, [remedy])
        step, steps = (
            helper.make_tensor_value_info(n, onnx.TensorProto.INT64, s) for n, s in (("#i", []), ("#", None))
        )
        inputs = [value for i, value in enumerate(body.input) if i < 2 or i in carried]
        results = [body.output[0], *(body.output[i - 1] for i in carried), step]
        count = helper.make_node("Identity", [body.input[0].name], [step.name])
        inner = helper.make_graph([*kept, count], "condition", inputs, results, list(body.initializer))
        bound = numpy_helper.from_array(np.array(min(int(limit), MOST_STEPS + 1)), "#limit")
        last = [f"#last{i}" for i in carried]
        loop = helper.make_node(
            "Loop", [bound.name, "", *(node.input[i] for i in carried)], [*last, steps.name], body=inner
        )
        stored = [bound, *(self.constants[value] for value in dict.fromkeys(outer))]
        graph = helper.make_graph([loop], "steps", [], [steps], stored)
        model = helper.make_model(graph, opset_imports=self.model.opset_import, ir_version=self.model.ir_version)
        session = _onnx_large.start_session(model)
        found = len(session.run(None, {})[0])
        if found > MOST_STEPS:
            raise Refused(f"Loop '{name}' runs more than {MOST_STEPS} steps", [remedy])
        return found

    def loop(self, node: onnx.NodeProto, name: str) -> None:
        (body,) = subgraphs(node)
        count = self.trip_count(node, name, body)
        carried = list(node.input[2:])
        scanned: list[list[str]] = [[] for _ in node.output[len(carried) :]]
        for step in range(count):
            prefix = f"{name}/step{step}/"
            iteration = self.constant(f"{prefix}iteration", np.array(step))
            goes_on = self.constant(f"{prefix}condition", np.array(True))
            _, *results = self.inline(body, prefix, [iteration, goes_on, *carried])
            for index, result in enumerate(results[len(carried) :]):
                scanned[index].append(result)
            carried = results[: len(carried)]
        self.finish(node, name, carried, scanned, [0] * len(scanned))
        self.steps[f"Loop '{name}'"] = count

    def scan(self, node: onnx.NodeProto, name: str, shapes: Mapping[str, Sequence[int]]) -> None:
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        inputs = int(attributes["num_scan_inputs"])
        states, sequences = list(node.input[:-inputs]), node.input[-inputs:]
        outputs = len(node.output) - len(states)
        axes = attributes.get("scan_input_axes", [0] * inputs)
        backward = attributes.get("scan_input_directions", [0] * inputs)
        count = shapes[sequences[0]][axes[0]] if shapes.get(sequences[0]) else 0
        if count < 1:
            raise Refused(
                f"Scan '{name}' runs over '{sequences[0]}', whose length is not fixed",
                ["give example_inputs / --shape NAME=… with the shapes to convert for"],
            )
        elements = []
        for index, (value, axis) in enumerate(zip(sequences, axes, strict=True)):
            part = f"{name}/input{index}"
            extents = self.constant(f"{part}/extents", np.ones(count, np.int64))
            self.node("Split", part, [value, extents], [f"{part}/{i}" for i in range(count)], axis=axis)
            squeezed = self.constant(f"{part}/axis", np.array([axis]))
            for i in range(count):
                self.node("Squeeze", f"{part}/{i}", [f"{part}/{i}", squeezed], [f"{part}/{i}/element"])
            values = [f"{part}/{i}/element" for i in range(count)]
            elements.append(values[::-1] if backward[index] else values)
        scanned: list[list[str]] = [[] for _ in range(outputs)]
        for step in range(count):
            results = self.inline(attributes["body"], f"{name}/step{step}/", [*states, *(e[step] for e in elements)])
            states = results[: len(states)]
            for values, result in zip(scanned, results[len(states) :], strict=True):
                values.append(result)
        for values, prepends in zip(scanned, attributes.get("scan_output_directions", [0] * outputs), strict=True):
            if prepends:
                values.reverse()
        self.finish(node, name, states, scanned, attributes.get("scan_output_axes", [0] * outputs))
        self.steps[f"Scan '{name}'"] = count

    def finish(
        self,
        node: onnx.NodeProto,
        name: str,
        carried: Sequence[str],
        scanned: Sequence[Sequence[str]],
        axes: Sequence[int],
    ) -> None:
        """Gives the results of all steps the names that those of the node have."""
        for value, output in zip(carried, node.output, strict=False):
            if output:
                self.node("Identity", f"{name}/{output}", [value], [output])
        for values, output, axis in zip(scanned, node.output[len(carried) :], axes, strict=True):
            if output not in self.used:
                continue
            if not values:
                raise Refused(f"{node.op_type} '{name}' runs no step, and its result '{output}' is empty")
            unsqueezed = self.constant(f"{name}/{output}/axis", np.array([axis]))
            parts = [f"{name}/{output}/{i}" for i in range(len(values))]
            for value, part in zip(values, parts, strict=True):
                self.node("Unsqueeze", part, [value, unsqueezed], [part])
            self.node("Concat", f"{name}/{output}", parts, [output], axis=axis)


def _write(model: onnx.ModelProto, selects: bool) -> _Writer:
    """Writes out what can be written out of control flow outside all subgraphs. `selects`: nothing but an `If` whose
    condition depends on data."""
    inferred = _onnx_large.infer_shapes(model)
    shapes = {
        value.name: [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
        for value in [*inferred.value_info, *inferred.input]
    }
    writer = _Writer(model)
    for node in model.graph.node:
        if node.op_type not in OPERATORS or (selects and node.op_type != "If"):
            writer.nodes.append(node)
            continue
        before, name = len(writer.nodes), name_of(node)
        try:
            if selects:
                writer.select(node, name)
            elif node.op_type == "If":
                writer.branch(node, name)
            elif node.op_type == "Loop":
                writer.loop(node, name)
            else:
                writer.scan(node, name, shapes)
        except Refused as refused:
            writer.refusals.append(refused)
            del writer.nodes[before:]
            writer.nodes.append(node)
    return writer


def write_out(model: onnx.ModelProto) -> dict[str, int]:
    """Replaces what can be replaced of control flow outside all subgraphs; steps of each loop that was.

    A loop that cannot be replaced may be after the graph is simplified again, and the condition of an `If` may become
    constant, so that both of its branches are only computed where nothing else can be replaced. Raises Refused where
    nothing can be replaced at all.
    """
    kinds = [node.op_type for node in model.graph.node if node.op_type in OPERATORS]
    writer = _write(model, selects=False)
    if len(writer.refusals) == len(kinds):
        refusals = writer.refusals
        if "If" not in kinds:
            raise refusals[0]
        writer = _write(model, selects=True)
        if len(writer.refusals) == kinds.count("If"):
            raise writer.refusals[0] if kinds[0] == "If" else refusals[0]
    del model.graph.node[:]
    model.graph.node.extend(writer.nodes)
    # The file describes values that are no more.
    del model.graph.value_info[:]
    return writer.steps
