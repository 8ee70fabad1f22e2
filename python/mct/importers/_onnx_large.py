# SPDX-License-Identifier: Apache-2.0
"""Tools of ONNX on models of any size: protobuf serializes no message of 2 GB, and most tools serialize the model.

Shape inference and version conversion need no values of large constants and get a copy without them. ONNX Runtime reads
them from a file beside the model.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import onnx
import onnxruntime
from onnx import version_converter

# Smallest number of bytes of a constant that is kept separately. Constants that are shapes, axes or scales are
# smaller.
LARGE = 1 << 16
# Bytes of constants up to which ONNX Runtime writes one file. Beside a file of constants it writes attributes that have
# their default values, too.
ONE_FILE = 1 << 30
# Tensors in the file of large constants begin at multiples of this.
_ALIGNMENT = 64

# Called with a large tensor; returns where its values are: the entries of `external_data`.
_Place = Callable[[onnx.TensorProto], dict[str, str]]


def _copy_tensor(tensor: onnx.TensorProto, copy: onnx.TensorProto, place: _Place) -> None:
    if len(tensor.raw_data) < LARGE:
        copy.CopyFrom(tensor)
        return
    copy.name, copy.data_type, copy.data_location = tensor.name, tensor.data_type, onnx.TensorProto.EXTERNAL
    copy.dims.extend(tensor.dims)
    for key, value in place(tensor).items():
        copy.external_data.add(key=key, value=value)


def _copy_node(node: onnx.NodeProto, copy: onnx.NodeProto, place: _Place) -> None:
    kinds = {attribute.type for attribute in node.attribute}
    if not kinds & {onnx.AttributeProto.TENSOR, onnx.AttributeProto.GRAPH}:
        copy.CopyFrom(node)
        return
    for field, value in node.ListFields():
        if field.name != "attribute":
            _copy_field(copy, field.name, value)
    for attribute in node.attribute:
        target = copy.attribute.add()
        if attribute.type in (onnx.AttributeProto.TENSOR, onnx.AttributeProto.GRAPH):
            target.name, target.type = attribute.name, attribute.type
        if attribute.type == onnx.AttributeProto.TENSOR:
            _copy_tensor(attribute.t, target.t, place)
        elif attribute.type == onnx.AttributeProto.GRAPH:
            _copy_graph(attribute.g, target.g, place)
        else:
            target.CopyFrom(attribute)


def _copy_field(copy: onnx.ModelProto | onnx.GraphProto | onnx.NodeProto, name: str, value: object) -> None:
    if isinstance(value, (int, str)):
        setattr(copy, name, value)
    else:
        getattr(copy, name).MergeFrom(value)


def _copy_graph(graph: onnx.GraphProto, copy: onnx.GraphProto, place: _Place) -> None:
    for field, value in graph.ListFields():
        if field.name == "initializer":
            for tensor in value:
                _copy_tensor(tensor, copy.initializer.add(), place)
        elif field.name == "node":
            for node in value:
                _copy_node(node, copy.node.add(), place)
        else:
            _copy_field(copy, field.name, value)


def _copy(model: onnx.ModelProto, place: _Place) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    for field, value in model.ListFields():
        if field.name == "graph":
            copy.graph.SetInParent()
            _copy_graph(value, copy.graph, place)
        else:
            _copy_field(copy, field.name, value)
    return copy


def _without_values(model: onnx.ModelProto) -> tuple[onnx.ModelProto, list[onnx.TensorProto]]:
    """Returns a copy without the values of large tensors, and these, which "location" numbers in the copy."""
    tensors: list[onnx.TensorProto] = []

    def place(tensor: onnx.TensorProto) -> dict[str, str]:
        tensors.append(tensor)
        return {"location": str(len(tensors) - 1)}

    return _copy(model, place), tensors


def _tensors(graph: onnx.GraphProto) -> list[onnx.TensorProto]:
    found = list(graph.initializer)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                found.append(attribute.t)
            elif attribute.type == onnx.AttributeProto.GRAPH:
                found += _tensors(attribute.g)
    return found


def infer_shapes(model: onnx.ModelProto) -> onnx.GraphProto:
    """Returns the graph with the shapes that are known; its large tensors have no values."""
    return onnx.shape_inference.infer_shapes(_without_values(model)[0], data_prop=True).graph


def known_shapes(model: onnx.ModelProto) -> dict[str, list[int]]:
    """Returns the shapes of tensors by their names; a dimension that is not known is 0."""
    inferred = infer_shapes(model)
    shapes = {
        value.name: [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
        for value in [*inferred.value_info, *inferred.input, *inferred.output]
    }
    return shapes | {tensor.name: list(tensor.dims) for tensor in model.graph.initializer}


def convert_version(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    copy, values = _without_values(model)
    converted = version_converter.convert_version(copy, opset)
    for tensor in _tensors(converted.graph):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            (location,) = (int(entry.value) for entry in tensor.external_data if entry.key == "location")
            tensor.raw_data = values[location].raw_data
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
    return converted


def write(model: onnx.ModelProto, path: Path) -> None:
    """Writes a model with its large tensors in `path` with `.data` appended, and leaves the model as it is."""
    values = path.with_name(path.name + ".data")

    def place_in(stream: BinaryIO) -> _Place:
        def place(tensor: onnx.TensorProto) -> dict[str, str]:
            stream.write(bytes(-stream.tell() % _ALIGNMENT))
            offset, data = stream.tell(), tensor.raw_data
            stream.write(data)
            return {"location": values.name, "offset": str(offset), "length": str(len(data))}

        return place

    with values.open("wb") as stream:
        copy = _copy(model, place_in(stream))
    path.write_bytes(copy.SerializeToString())


def _start(
    model: onnx.ModelProto, folder: Path, options: onnxruntime.SessionOptions | None
) -> onnxruntime.InferenceSession:
    write(model, folder / "session.onnx")
    return onnxruntime.InferenceSession(str(folder / "session.onnx"), options, providers=["CPUExecutionProvider"])


def start_session(
    model: onnx.ModelProto, options: onnxruntime.SessionOptions | None = None
) -> onnxruntime.InferenceSession:
    """Returns a session of ONNX Runtime, which keeps the values of large tensors open while it lives."""
    with tempfile.TemporaryDirectory() as folder:
        return _start(model, Path(folder), options)


def simplify(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns the model after ONNX Runtime's optimizations that stay within the standard."""
    # The simplified model may refer to values of the model that the session reads: both are in one folder.
    with tempfile.TemporaryDirectory() as folder:
        simplified = Path(folder) / "simplified.onnx"
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(simplified)
        options.log_severity_level = 3
        if sum(len(tensor.raw_data) for tensor in _tensors(model.graph)) > ONE_FILE:
            external = "session.optimized_model_external_initializers"
            options.add_session_config_entry(f"{external}_file_name", simplified.name + ".data")
            options.add_session_config_entry(f"{external}_min_size_in_bytes", str(LARGE))
        _start(model, Path(folder), options)
        return onnx.load(simplified)
