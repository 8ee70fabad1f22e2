# SPDX-License-Identifier: Apache-2.0
"""The metadata of a `.tflite` file: normalization of inputs, and labels of an output.

No package that is kept has TensorFlow's `metadata_schema.fbs`; the few tables that are needed are written here, field
by field in the order of the schema. Files that belong to a network are a ZIP archive after its flatbuffer.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

_IDENTIFIER = b"M001"
# Numbers in the union ProcessUnitOptions, and in AssociatedFileType.
_NORMALIZATION_OPTIONS = 1
_AXIS_LABELS = 2
_LABELS = "labels.txt"


def write(document: Mapping[str, Any], name: str, labels: Sequence[str]) -> bytes:
    """The flatbuffer, of a document that `mct/Export/Tflite.h` describes; empty if there are no data."""
    if not document["normalization"] and not labels:
        return b""
    import flatbuffers

    builder = flatbuffers.Builder(1024)
    normalized = {entry["input"]: entry for entry in document["normalization"]}
    signature = document["signature"]
    inputs = [_input(builder, input_name, normalized.get(input_name)) for input_name in signature["inputs"]]
    outputs = [
        _output(builder, output_name, labels if number == 0 else ())
        for number, output_name in enumerate(signature["outputs"])
    ]
    graph = _table(builder, 9, {2: _offsets(builder, inputs), 3: _offsets(builder, outputs)})
    graphs = _offsets(builder, [graph])
    builder.Finish(_table(builder, 8, {0: builder.CreateString(name), 3: graphs}), _IDENTIFIER)
    return bytes(builder.Output())


def archive(labels: Sequence[str]) -> bytes:
    """The archive that follows the flatbuffer of the network."""
    if not labels:
        return b""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        # With a time of its own, the same network would not be the same bytes.
        written.writestr(zipfile.ZipInfo(_LABELS), "\n".join(labels) + "\n")
    return file.getvalue()


def _table(builder: Any, size: int, offsets: Mapping[int, int], union: int = 0) -> int:
    """Writes a table of `size` fields, some of them offsets; field 0 is `union`, the type of field 1, where given."""
    builder.StartObject(size)
    if union:
        builder.PrependUint8Slot(0, union, 0)
    for slot, offset in offsets.items():
        builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
    table: int = builder.EndObject()
    return table


def _offsets(builder: Any, values: Sequence[int]) -> int:
    builder.StartVector(4, len(values), 4)
    for value in reversed(values):
        builder.PrependUOffsetTRelative(value)
    vector: int = builder.EndVector()
    return vector


def _numbers(builder: Any, values: Sequence[float]) -> int:
    builder.StartVector(4, len(values), 4)
    for value in reversed(values):
        builder.PrependFloat32(value)
    vector: int = builder.EndVector()
    return vector


def _input(builder: Any, name: str, normalization: Mapping[str, Any] | None) -> int:
    fields = {0: builder.CreateString(name)}
    if normalization:
        mean, std = _numbers(builder, normalization["mean"]), _numbers(builder, normalization["std"])
        unit = _table(builder, 2, {1: _table(builder, 2, {0: mean, 1: std})}, _NORMALIZATION_OPTIONS)
        fields[4] = _offsets(builder, [unit])
    return _table(builder, 7, fields)


def _output(builder: Any, name: str, labels: Sequence[str]) -> int:
    fields = {0: builder.CreateString(name)}
    if labels:
        file = builder.CreateString(_LABELS)
        builder.StartObject(5)
        builder.PrependUOffsetTRelativeSlot(0, file, 0)
        builder.PrependInt8Slot(2, _AXIS_LABELS, 0)
        fields[6] = _offsets(builder, [builder.EndObject()])
    return _table(builder, 7, fields)
