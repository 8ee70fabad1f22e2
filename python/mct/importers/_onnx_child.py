# SPDX-License-Identifier: Apache-2.0
"""The process that converts an ONNX model: `python -m mct.importers._onnx_child MODEL.onnx MODULE.mlir SHAPES`.

SHAPES is a JSON object with the shapes of inputs, by name or number.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import onnx
from onnx import helper, numpy_helper
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras import onnx_importer
from torch_mlir.passmanager import PassManager

from mct.importers import _onnx_control, _onnx_large, _onnx_quantized, _onnx_recurrent, _onnx_rewrites, _repairs, _text
from mct.importers._child import Refused, run
from mct.importers._onnx_recurrent import name_of

CONVERTER = "torch-mlir"
# torch-mlir's operators are those of this version; exporters have written older ones.
OPSET = 17
PIPELINE = "builtin.module(torch-onnx-to-torch-backend-pipeline,torch-backend-to-tosa-backend-pipeline)"


def close(model: onnx.ModelProto, shapes: dict[str, list[int]], batch: int = 1) -> list[str]:
    """Gives every input its shape, and removes the shapes of all other values.

    `batch` is the leading dimension of inputs that leave it open, whose names are the result.
    """
    batched = []
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in constants]
    unknown = set(shapes) - {value.name for value in inputs} - {str(i) for i in range(len(inputs))}
    if unknown:
        names = ", ".join(value.name for value in inputs)
        raise Refused(f"shapes or examples are given for {', '.join(sorted(unknown))}; the inputs are {names}")
    for index, value in enumerate(inputs):
        dimensions = value.type.tensor_type.shape.dim
        shape = shapes.get(value.name, shapes.get(str(index)))
        if shape is not None and len(shape) != len(dimensions):
            raise Refused(f"input '{value.name}' has {len(dimensions)} dimensions, its example has {len(shape)}")
        for axis, dimension in enumerate(dimensions):
            if shape is not None:
                if dimension.HasField("dim_value") and dimension.dim_value not in (0, -1, shape[axis]):
                    raise Refused(
                        f"dimension {axis} of input '{value.name}' is {dimension.dim_value}, "
                        f"of its example {shape[axis]}",
                        ["the file has fixed that size: leave example_inputs (`--shape`) out, or export it open"],
                    )
                extent = shape[axis]
            elif dimension.dim_value >= 1:
                extent = dimension.dim_value
            elif axis == 0 and len(dimensions) > 1:
                extent = batch
                batched.append(value.name)
            else:
                known = [str(d.dim_value) if d.dim_value >= 1 else "N" for d in dimensions]
                raise Refused(
                    f"input '{value.name}' leaves dimension {axis} open (only the first, the batch, may be): "
                    "give example_inputs of the shapes to convert for, "
                    f"or --shape {value.name}={'x'.join(known)} with sizes in place of N"
                )
            dimension.Clear()
            dimension.dim_value = extent
    # Files before version 4 of the format list the constants as inputs too.
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return batched


def inline_integers(model: onnx.ModelProto) -> None:
    """Makes the importer write indices as literals: upstream's constant folding crashes on them in resources."""
    for tensor in model.graph.initializer:
        if helper.tensor_dtype_to_np_dtype(tensor.data_type).kind == "i":
            values = numpy_helper.to_array(tensor)
            tensor.CopyFrom(helper.make_tensor(tensor.name, tensor.data_type, values.shape, values.ravel().tolist()))


def name_nodes(model: onnx.ModelProto) -> None:
    """The names of nodes become locations; a node without one is named after its first output."""
    for node in model.graph.node:
        node.name = name_of(node)


def unify_enlargements(model: onnx.ModelProto) -> None:
    """Gives every enlargement by nearest neighbours the one of its spellings that torch-mlir takes.

    For integer factors, rounding to the nearest equals rounding down without an offset.
    """
    shapes = {
        value.name: [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
        for value in [*model.graph.input, *model.graph.value_info, *model.graph.output]
    }
    same = {("asymmetric", "floor")}
    same |= {("half_pixel", f"round_prefer_{side}") for side in ("floor", "ceil")}
    same |= {("pytorch_half_pixel", f"round_prefer_{side}") for side in ("floor", "ceil")}
    for node in model.graph.node:
        given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        if node.op_type != "Resize" or given.get("mode", b"nearest") != b"nearest":
            continue
        spelling = (
            given.get("coordinate_transformation_mode", b"half_pixel").decode(),
            given.get("nearest_mode", b"round_prefer_floor").decode(),
        )
        before, after = shapes.get(node.input[0], []), shapes.get(node.output[0], [])
        whole = (
            bool(before)
            and len(before) == len(after)
            and all(b and a % b == 0 for b, a in zip(before, after, strict=True))
        )
        if spelling not in same or not whole:
            raise Refused(
                f"Resize '{node.name}' takes nearest neighbours by {' and '.join(spelling)} from {before} to {after}, "
                "which TOSA does not",
                ["enlarge by whole factors, with asymmetric and floor or half_pixel and round_prefer_floor"],
            )
        del node.attribute[:]
        modes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        node.attribute.extend(helper.make_attribute(key, value) for key, value in modes.items())


def unify_constants(text: str) -> str:
    """Writes as TOSA the constants that the last step of the pipeline leaves, such as those that are results."""
    constant = re.compile(r"^(\s*%\w+) = arith\.constant (dense.*) : (tensor<[^>]*>)", re.MULTILINE)
    return constant.sub(r'\1 = "tosa.const"() <{values = \2 : \3}> : () -> \3', text)


def lower(module: ir.Operation, operators: dict[str, str]) -> None:
    """To TOSA. `operators`: the operators of ONNX by the names of nodes."""
    try:
        with module.context:
            PassManager.parse(PIPELINE).run(module)
    except ir.MLIRError as error:
        left = []
        for diagnostic in error.error_diagnostics:
            operation = re.search(r"failed to legalize operation '([\w.]+)'", diagnostic.message)
            named = re.search(r'"((?:[^"\\]|\\.)*)"', str(diagnostic.location))
            if operation:
                layer = named[1] if named else ""
                operator = operators.get(layer)
                left.append((f"{operator} ({operation[1]})" if operator else operation[1], layer))
        # The operation follows, with all that is in it.
        lines = [d.message.splitlines()[0][:500] for d in error.error_diagnostics] or [str(error)]
        raise Refused(lines[0], lines[1:], left) from error


class Prepared(NamedTuple):
    """The graph that is converted: shapes fixed, no control flow, no recurrent layers or Fourier transforms, cut at its
    quantizers.

    batched: inputs whose leading dimension is a batch that the file leaves open.
    steps:   those that were written out by what they are of ("LSTM 'lstm'").
    cut:     what was cut of a network that is quantized already.
    """

    model: onnx.ModelProto
    batched: list[str]
    steps: dict[str, int]
    cut: _onnx_quantized.Cut | None


def prepare(path: Path, shapes: dict[str, list[int]], batch: int = 1) -> Prepared:
    """Prepares a model for the importer; dimensions that the file leaves open become `batch`."""
    model = onnx.load(path)
    batched = close(model, shapes, batch)
    cut = _onnx_quantized.read(model) if _onnx_quantized.is_quantized(model) else None
    for entry in model.opset_import:
        if entry.domain == "" and entry.version < OPSET:
            model = _onnx_large.convert_version(model, OPSET)
            break
    _onnx_recurrent.put_sequences_first(model.graph)
    _onnx_rewrites.expand_functions(model)
    model = _onnx_large.simplify(model)
    steps: dict[str, int] = {}
    while any(node.op_type in _onnx_control.OPERATORS for node in model.graph.node):
        steps |= _onnx_control.write_out(model)
        # Written out, more values are constant.
        model = _onnx_large.simplify(model)
    steps |= _onnx_recurrent.write_out(model)
    _onnx_rewrites.write_out(model)
    return Prepared(model, batched, steps, cut)


def check_batch(path: Path, shapes: dict[str, list[int]], batched: list[str], steps: dict[str, int]) -> None:
    """Refuses a network whose number of steps depends on the dimension that is taken for the batch."""
    if not batched or not steps:
        return
    try:
        others = prepare(path, shapes, batch=2).steps
    except Exception:
        return  # the model supports no other batch, although the file leaves it open
    if changed := [layer for layer, count in steps.items() if others.get(layer, count) != count]:
        raise Refused(
            f"{changed[0]} runs a number of steps that depends on the first dimension of input '{batched[0]}', which "
            "the file leaves open",
            [f"give example_inputs / --shape {batched[0]}=… with the shapes to convert for"],
        )


def convert(path: Path, output: Path, shapes: dict[str, list[int]]) -> None:
    model, batched, steps, cut = prepare(path, shapes)
    check_batch(path, shapes, batched, steps)
    inferred = _onnx_large.infer_shapes(model)
    for values, known in ((model.graph.value_info, inferred.value_info), (model.graph.output, inferred.output)):
        del values[:]
        values.extend(known)
    model.graph.name = "main"
    name_nodes(model)
    unify_enlargements(model)
    inline_integers(model)
    context = ir.Context()
    torch_dialect.register_dialect(context)
    info = onnx_importer.ModelInfo(model, config=onnx_importer.Config())
    module = info.create_module(context=context).operation
    importer = onnx_importer.NodeImporter.define_function(info.main_graph, module)
    importer.import_all()
    module.verify()
    lower(module, {node.name: node.op_type for node in model.graph.node})
    with output.open("wb") as stream:
        module.print(file=stream, binary=True, enable_debug_info=True)

    def repair(text: str) -> str:
        text = _repairs.round_positions_down(unify_constants(text))
        return cut.record(text) if cut else text

    _text.edit(output, repair)


def main(model: str, output: str, shapes: str) -> None:
    convert(Path(model), Path(output), json.loads(shapes))


if __name__ == "__main__":
    run(main)
