# SPDX-License-Identifier: Apache-2.0
"""Names of MCT below `mct.exporter`: one function for each framework, whose formats are those of `mct.exporters`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from mct.errors import describe
from mct.target_platform import TargetError
from mct.target_platform._schema import check_enum

if TYPE_CHECKING:
    from mct.model import Model

__all__ = [
    "KerasExportSerializationFormat",
    "PytorchExportSerializationFormat",
    "QuantizationFormat",
    "keras_export_model",
    "pytorch_export_model",
]


class QuantizationFormat(Enum):
    """How quantized tensors stand in a file: FAKELY_QUANT as numbers between quantizers that any runtime knows, INT8 as
    codes, MCTQ with the operators of `mct_quantizers`."""

    FAKELY_QUANT = 0
    INT8 = 1
    MCTQ = 2


class PytorchExportSerializationFormat(Enum):
    """Files that `pytorch_export_model` writes; TORCHSCRIPT is an error that names what to take instead."""

    TORCHSCRIPT = 0
    ONNX = 1


class KerasExportSerializationFormat(Enum):
    """Files that `keras_export_model` writes; KERAS is an error that names what to take instead."""

    KERAS = 0
    TFLITE = 1


# Versions of ONNX's operators that "qdq" files have, and that of MCT's default and of our files of `mct_quantizers`.
_DEFAULT_OPSET = 15


def _check_model(owner: str, model: Any) -> Model:
    from mct.model import Model

    if isinstance(model, Model):
        return model
    raise TargetError(f"{owner}: model must be a quantized model of mct, but is {describe(model)}")


def pytorch_export_model(
    model: Model,
    save_model_path: str | os.PathLike[str],
    repr_dataset: Callable[..., Any] | None = None,
    is_layer_exportable_fn: Callable[..., bool] | None = None,
    serialization_format: PytorchExportSerializationFormat = PytorchExportSerializationFormat.ONNX,
    quantization_format: QuantizationFormat = QuantizationFormat.MCTQ,
    onnx_opset_version: int | None = None,
    output_names: Sequence[str] | None = None,
) -> None:
    """Write a quantized network as ONNX.

    The file takes any number of samples, as MCT's do, or one where the device runs one at once.

    quantization_format: MCTQ: `mct.exporters.export_onnx` for the device of the target, or with the operators of
                         `mct_quantizers` where it has none; FAKELY_QUANT: profile "qdq".
    onnx_opset_version:  version of ONNX's operators of a FAKELY_QUANT file: 13, 21 or 25. None, or MCT's default of
                         15: that of `export_onnx`.
    repr_dataset, is_layer_exportable_fn: have no effect: no sample is needed, and a layer is exportable or an error.
    output_names:        None: results have the names of the network.
    """
    owner = "pytorch_export_model"
    model = _check_model(owner, model)
    file = check_enum(owner, "serialization_format", serialization_format, PytorchExportSerializationFormat)
    form = check_enum(owner, "quantization_format", quantization_format, QuantizationFormat)
    if file is PytorchExportSerializationFormat.TORCHSCRIPT:
        raise TargetError(
            f"{owner}: there is no TorchScript; take PytorchExportSerializationFormat.ONNX, or model.save for a module "
            "that mct.load and mct-run read"
        )
    if output_names is not None:
        raise TargetError(f"{owner}: results have the names of the network; leave output_names out")
    from mct import exporters, stages

    opset = 0 if onnx_opset_version in (None, _DEFAULT_OPSET) else int(onnx_opset_version or 0)
    if form is QuantizationFormat.INT8:
        raise TargetError(
            f"{owner}: a file of codes is a .tflite, by keras_export_model or mct.exporters.export_tflite; ONNX has "
            "QuantizationFormat.MCTQ and FAKELY_QUANT"
        )
    if form is QuantizationFormat.FAKELY_QUANT:
        simulated = stages.set_batch(stages.simulate_integers(model, rounding="half-even"), size=0)
        exporters.export_onnx(simulated, save_model_path, profile="qdq", opset=opset)
        return
    if opset:
        raise TargetError(f"{owner}: onnx_opset_version is of QuantizationFormat.FAKELY_QUANT; leave it out")
    if _has_device(model):
        exporters.export_onnx(stages.set_batch(model, size=1), save_model_path)
    else:
        exporters.export_onnx(stages.set_batch(model, size=0), save_model_path, profile="mct_quantizers")


def _has_device(model: Model) -> bool:
    """Returns whether the target of the network names the device that runs it."""
    import json

    return "device" in json.loads(model.explain("json"))


def keras_export_model(
    model: Model,
    save_model_path: str | os.PathLike[str],
    is_layer_exportable_fn: Callable[..., bool] | None = None,
    serialization_format: KerasExportSerializationFormat = KerasExportSerializationFormat.KERAS,
    quantization_format: QuantizationFormat = QuantizationFormat.MCTQ,
) -> dict[str, type[Any]]:
    """Write a quantized network as `.tflite`, by `mct.exporters.export_tflite`; returns custom objects, of which there
    are none.

    quantization_format: INT8: inputs and results are codes; FAKELY_QUANT: they are numbers, and codes inside.
    """
    owner = "keras_export_model"
    model = _check_model(owner, model)
    file = check_enum(owner, "serialization_format", serialization_format, KerasExportSerializationFormat)
    form = check_enum(owner, "quantization_format", quantization_format, QuantizationFormat)
    if file is KerasExportSerializationFormat.KERAS:
        raise TargetError(
            f"{owner}: there is no .keras file of a compiled network; take KerasExportSerializationFormat.TFLITE, "
            "model.save for a module that mct.load and mct-run read, or pytorch_export_model for ONNX"
        )
    if form is QuantizationFormat.MCTQ:
        raise TargetError(
            f"{owner}: a .tflite has no operators of mct_quantizers; take QuantizationFormat.INT8 or FAKELY_QUANT"
        )
    from mct import exporters

    exporters.export_tflite(model, save_model_path, io="integer" if form is QuantizationFormat.INT8 else "float")
    return {}
