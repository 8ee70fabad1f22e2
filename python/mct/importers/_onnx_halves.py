# SPDX-License-Identifier: Apache-2.0
"""Numbers of 16 bits in an ONNX graph that is quantized become those of 32: every one of them is one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from mct.importers._child import warn
from mct.importers._onnx_recurrent import subgraphs


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for inner in subgraphs(node):
            yield from _graphs(inner)


def _widen(tensor: onnx.TensorProto) -> bool:
    if tensor.data_type != TensorProto.FLOAT16:
        return False
    name = tensor.name
    tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float32), name))
    return True


def widen(model: onnx.ModelProto) -> None:
    """Warns where there are any."""
    found = False
    for graph in _graphs(model.graph):
        for tensor in graph.initializer:
            found |= _widen(tensor)
        for value in [*graph.input, *graph.output, *graph.value_info]:
            if value.type.tensor_type.elem_type == TensorProto.FLOAT16:
                value.type.tensor_type.elem_type = TensorProto.FLOAT
                found = True
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.name in ("to", "dtype", "output_dtype") and attribute.i == TensorProto.FLOAT16:
                    attribute.CopyFrom(helper.make_attribute(attribute.name, int(TensorProto.FLOAT)))
                    found = True
                elif attribute.type == onnx.AttributeProto.TENSOR:
                    found |= _widen(attribute.t)
    if found:
        warn(
            "the file computes with numbers of 16 bits; here they have 32, which its scales and constants have exactly"
        )
