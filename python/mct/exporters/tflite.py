# SPDX-License-Identifier: Apache-2.0
"""Quantized networks as `.tflite`, by the schema of the package `tflite`: `pip install "mct-mlir[tflite]"`."""

from __future__ import annotations

import base64
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mct import _extras, _native
from mct._arguments import checked
from mct.errors import Error
from mct.exporters import _tflite_metadata
from mct.model import Model

# Bytes 4 to 8 of every such file, and the version of its schema.
_IDENTIFIER = b"TFL3"
_VERSION = 3
# Readers of flatbuffers take offsets of 31 bits.
_LARGEST = 2**31 - 1
# Fields of options whose values are words of the schema, with the enumerations that have them.
_WORDS = {
    "padding": "Padding",
    "fused_activation_function": "ActivationFunctionType",
    "weights_format": "FullyConnectedOptionsWeightsFormat",
    "in_data_type": "TensorType",
    "out_data_type": "TensorType",
    "output_type": "TensorType",
}


@checked
def export_tflite(
    model: Model,
    path: str | os.PathLike[str],
    *,
    io: str = "integer",
    int4: bool = False,
    labels: Sequence[str] = (),
    function: str = "",
) -> None:
    """Write a quantized network for LiteRT, TensorFlow Lite for microcontrollers, Vela and others that read `.tflite`.

    model:    a network whose points have parameters; those of up to 8 bits become INT8, wider symmetric ones INT16.
    io:       "integer": inputs and outputs that have points are codes; "float": numbers, with QUANTIZE and DEQUANTIZE
              inside of the network.
    int4:     kernels of at most 4 bits are stored in INT4, two in a byte.
    labels:   names of classes, stored as the file `labels.txt` that belongs to the first output.
    function: the function, "" for `main` or the only public one.

    Ops without an operator on codes are computed with numbers between DEQUANTIZE and QUANTIZE; each is a message of
    level INFO, with the reason. The signature `serving_default` has the names of inputs and outputs, and the metadata
    the mean and the standard deviation that are recorded of samples.

    Raises ImportError with the command that installs it if the extra is missing, and `mct.Error`, with the place, for
    what the format cannot represent, before anything is written. Same as: mct-translate --export-tflite-json, and a
    flatbuffer of that.
    """
    _extras.require_modules("tflite", ("tflite", "flatbuffers"), "writing a .tflite file")
    document = json.loads(model.module.export_tflite(io, int4, function))
    for part in document["float_parts"]:
        logging.getLogger("mct").info("%s is computed with numbers: it %s", part["name"], part["reason"])
    size = sum(len(base64.b64decode(tensor.get("data", ""))) for tensor in document["tensors"])
    if size > _LARGEST:
        raise Error(
            f"the constants of '{document['function']}' have {size} bytes, and a .tflite file holds at most {_LARGEST}",
            notes=["quantize its weights, to fewer bits with int4=True, or split the network"],
        )
    _native.write_file(os.fspath(path), _Writer(document, Path(path).stem, labels).write())


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


class _Writer:
    """The flatbuffer of a document that `mct/Export/Tflite.h` describes."""

    def __init__(self, document: Mapping[str, Any], name: str, labels: Sequence[str]) -> None:
        import flatbuffers
        import tflite

        self.schema = tflite
        self.builder = flatbuffers.Builder(1 << 20)
        self.document = document
        self.name = name
        self.labels = labels
        # The first buffer is that of tensors without one.
        self.buffers: list[bytes] = [b""]

    def write(self) -> bytes:
        document, builder = self.document, self.builder
        names = [tensor["name"] for tensor in document["tensors"]]
        codes = dict.fromkeys((entry["operator"], entry["version"]) for entry in document["operators"])
        numbers = {code: number for number, code in enumerate(codes)}
        tensors = [self._tensor(entry) for entry in document["tensors"]]
        operators = [
            self._operator(entry, numbers[entry["operator"], entry["version"]]) for entry in document["operators"]
        ]
        graph = self._table(
            "SubGraph",
            tensors=self._offsets(tensors),
            inputs=self._integers(document["inputs"]),
            outputs=self._integers(document["outputs"]),
            operators=self._offsets(operators),
            name=builder.CreateString(document["function"]),
        )
        signature = self._signature(names)
        metadata = _tflite_metadata.write(document, self.name, self.labels)
        entries = [self._metadata("TFLITE_METADATA", metadata)] if metadata else []
        model = self._table(
            "Model",
            version=_VERSION,
            operator_codes=self._offsets([self._code(*code) for code in codes]),
            subgraphs=self._offsets([graph]),
            description=builder.CreateString("mct"),
            signature_defs=self._offsets([signature]),
            metadata=self._offsets(entries),
            buffers=self._offsets([self._buffer(data) for data in self.buffers]),
        )
        builder.Finish(model, _IDENTIFIER)
        data = bytes(builder.Output())
        # A file with labels is followed by an archive of them.
        return data + _tflite_metadata.archive(self.labels)

    def _table(self, table: str, **fields: int) -> int:
        """Writes a table; `fields` are numbers, and offsets of what was written before."""
        getattr(self.schema, f"{table}Start")(self.builder)
        for field, value in fields.items():
            getattr(self.schema, f"{table}Add{_camel(field)}")(self.builder, value)
        offset: int = getattr(self.schema, f"{table}End")(self.builder)
        return offset

    def _vector(self, values: Sequence[Any], size: int, prepend: Callable[[Any], None]) -> int:
        self.builder.StartVector(size, len(values), size)
        for value in reversed(values):
            prepend(value)
        offset: int = self.builder.EndVector()
        return offset

    def _offsets(self, values: Sequence[int]) -> int:
        return self._vector(values, 4, self.builder.PrependUOffsetTRelative)

    def _integers(self, values: Sequence[int]) -> int:
        return self._vector(values, 4, self.builder.PrependInt32)

    def _buffer(self, data: bytes) -> int:
        if not data:
            return self._table("Buffer")
        # Kernels are read in place, by instructions that want them aligned.
        self.builder.StartVector(1, len(data), 16)
        self.builder.head -= len(data)
        self.builder.Bytes[self.builder.head : self.builder.head + len(data)] = data
        return self._table("Buffer", data=self.builder.EndVector())

    def _tensor(self, entry: Mapping[str, Any]) -> int:
        builder = self.builder
        fields = {
            "shape": self._integers([max(size, 1) if size < 0 else size for size in entry["shape"]]),
            "type": getattr(self.schema.TensorType, entry["type"]),
            "name": builder.CreateString(entry["name"]),
            "buffer": 0,
            "has_rank": True,
        }
        if -1 in entry["shape"]:
            fields["shape_signature"] = self._integers(entry["shape"])
        if "data" in entry:
            fields["buffer"] = len(self.buffers)
            self.buffers.append(base64.b64decode(entry["data"]))
        if "scales" in entry:
            scales = self._vector(entry["scales"], 4, builder.PrependFloat32)
            points = self._vector(entry["zero_points"], 8, builder.PrependInt64)
            fields["quantization"] = self._table(
                "QuantizationParameters",
                scale=scales,
                zero_point=points,
                quantized_dimension=entry.get("axis", 0),
            )
        return self._table("Tensor", **fields)

    def _operator(self, entry: Mapping[str, Any], code: int) -> int:
        fields = {
            "opcode_index": code,
            "inputs": self._integers(entry["inputs"]),
            "outputs": self._integers(entry["outputs"]),
        }
        if table := entry.get("options_type"):
            options = {
                name: getattr(getattr(self.schema, _WORDS[name]), value) if name in _WORDS else value
                for name, value in entry["options"].items()
            }
            fields["builtin_options_type"] = getattr(self.schema.BuiltinOptions, table)
            fields["builtin_options"] = self._table(table, **options)
        return self._table("Operator", **fields)

    def _code(self, name: str, version: int) -> int:
        code = getattr(self.schema.BuiltinOperator, name)
        # Older readers look at the field of a byte.
        return self._table("OperatorCode", deprecated_builtin_code=min(code, 127), builtin_code=code, version=version)

    def _signature(self, names: Sequence[str]) -> int:
        def maps(numbers: Sequence[int]) -> int:
            entries = []
            for number in numbers:
                name = self.builder.CreateString(names[number])
                entries.append(self._table("TensorMap", name=name, tensor_index=number))
            return self._offsets(entries)

        inputs, outputs = maps(self.document["inputs"]), maps(self.document["outputs"])
        key = self.builder.CreateString("serving_default")
        return self._table("SignatureDef", inputs=inputs, outputs=outputs, signature_key=key, subgraph_index=0)

    def _metadata(self, name: str, data: bytes) -> int:
        self.buffers.append(data)
        return self._table("Metadata", name=self.builder.CreateString(name), buffer=len(self.buffers) - 1)
