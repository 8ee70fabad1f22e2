# SPDX-License-Identifier: Apache-2.0
"""Keras, by TensorFlow's converter to `.tflite` and Arm's from there: NHWC, dynamic batch, batch norms folded.

Recurrent layers are unrolled, which fixes the batch at 1.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from mct import _extras
from mct.errors import Error
from mct.importers import _process, tflite

_CONVERTER = "TensorFlow's converter"


def import_model(
    source: str | PathLike[str] | Any, example_inputs: Any = None, *, timeout: float | None = None
) -> bytes:
    """The text of the module that a Keras model, its file (`.keras`, `.h5`, `.hdf5`) or the folder of a SavedModel
    stands for.

    `example_inputs` is not needed: the model has its shapes.
    Raises ImportError without the extra, Error for a model that cannot be converted.
    """
    _extras.require("keras", "a Keras model")
    with _process.folder() as work:
        if isinstance(source, (str, PathLike)):
            path = Path(fspath(source))
            name = path.name
            if not path.exists():
                raise Error("cannot read it: No such file or directory", str(path))
            path = path.absolute()
            layers: dict[str, Any] = {}
        else:
            name, path = getattr(source, "name", None) or type(source).__name__, work / "model"
            save(source, path, name)
            layers = describe(source)
        command: list[str | Path] = ["mct.importers._keras_child", path, "model.tflite", "layers.json"]
        _process.run(_CONVERTER, name, command, work, timeout)
        data = (work / "model.tflite").read_bytes()
        if isinstance(source, (str, PathLike)):
            layers = json.loads((work / "layers.json").read_text())
    return tflite.convert(
        data,
        name,
        timeout,
        lambda tensor: layer_name(tensor, layers),
        lambda kind, called: layer_of(kind, called, layers),
    )


def describe(model: Any) -> dict[str, Any]:
    """Names of a model, of its inputs and outputs, and of its layers and theirs."""
    layers = [layer.name for layer in getattr(model, "_flatten_layers", lambda: [])()]
    outputs = list(getattr(model, "output_names", []))
    return {"model": getattr(model, "name", ""), "layers": layers, "outputs": outputs}


def layer_name(tensor: str, names: dict[str, Any]) -> str:
    """`conv/convolution` for the tensor `net_1/conv_1/convolution`: scopes are numbered each time a model is traced.

    Tensors of the signature are `serving_default_image:0` and `StatefulPartitionedCall:0`.
    """
    if match := re.fullmatch(r"serving_default_(.*):0", tensor):
        return match[1]
    if match := re.fullmatch(r"StatefulPartitionedCall(?:_\d+)?:(\d+)", tensor):
        return names["outputs"][int(match[1])] if int(match[1]) < len(names["outputs"]) else tensor
    return ";".join("/".join(_scopes(part.split("/"), names)) for part in tensor.split(";"))


def _scopes(scopes: list[str], names: dict[str, Any]) -> list[str]:
    known = {names["model"], *names["layers"]}
    # Where the model's own scope is numbered all are: `conv2d_1` is that of `conv2d`, also where there is a `conv2d_1`.
    are_numbered = scopes[0] != names["model"] and re.sub(r"_\d+$", "", scopes[0]) == names["model"]

    def own(scope: str) -> str:
        plain = re.sub(r"_\d+$", "", scope)
        order = (plain, scope) if are_numbered else (scope, plain)
        return next((name for name in order if name in known), scope)

    scopes = [own(scope) for scope in scopes]
    return scopes[1:] if len(scopes) > 1 and scopes[0] == names["model"] else scopes


# Operations of TOSA with a kernel, and how TensorFlow calls what has one.
_KERNELS = re.compile(r"conv|matmul|tensordot", re.IGNORECASE)


def layer_of(kind: str, name: str, names: dict[str, Any]) -> tuple[str, str]:
    """The layer of an operation of TOSA, empty where it is of none, and its own name for where another operation has
    that of the layer.

    `relu/Relu;stem/convolution` is the name of a convolution and of the activation that TensorFlow has fused with it.
    The layer of `block/conv/convolution` is `conv`, within the model `block`.
    """
    parts = name.split(";")
    has_kernel = _KERNELS.search(kind) is not None
    made = [part for part in parts if has_kernel and _KERNELS.search(part)]
    part = made[-1] if made else parts[0]
    # `_text.name_layers` has added this.
    suffix = f"/{kind}" if parts[-1].endswith(f"/{kind}") else ""
    part = part.removesuffix(suffix)
    layers = list(itertools.takewhile(lambda scope: scope in names["layers"], part.split("/")))
    return (layers[-1] if layers else "", part + suffix)


def recurrent_layers(model: Any) -> list[Any]:
    """LSTM, GRU and others that run over steps, also those inside of other layers."""
    kind = getattr(getattr(sys.modules.get("keras"), "layers", None), "RNN", ())
    return [layer for layer in getattr(model, "_flatten_layers", lambda: [])() if isinstance(layer, kind)]


def save(model: Any, path: Path, name: str) -> None:
    """As a graph, which needs none of the model's classes to be read."""
    if not callable(getattr(model, "export", None)):
        raise TypeError(f"a Keras model or the path of one, not {type(model).__name__}")
    layers = recurrent_layers(model)
    unroll = [layer.unroll for layer in layers]
    options: dict[str, Any] = {}
    if layers:
        options["input_signature"] = [_of_one_sample(model, name)]
    try:
        # Loops over lists of tensors are what the converter leaves of them otherwise.
        for layer in layers:
            layer.unroll = True
        model.export(path, format="tf_saved_model", verbose=False, **options)
    except Exception as problem:
        first = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
        raise Error(f"Keras cannot export the model: {first}", name) from problem
    finally:
        for layer, value in zip(layers, unroll, strict=True):
            layer.unroll = value


def _of_one_sample(model: Any, name: str) -> Any:
    """Returns the inputs of the model, with a batch of 1: the zeros that states begin with have a known shape then."""
    keras = sys.modules["keras"]
    inputs = getattr(getattr(model, "_functional", None) or model, "_inputs_struct", None)
    if inputs is None:
        raise Error(
            "a model with recurrent layers has to be Sequential or Functional", name, ["call it on a keras.Input"]
        )

    def specification(tensor: Any) -> Any:
        if None in tensor.shape[1:]:
            layers = ", ".join(f"'{layer.name}'" for layer in recurrent_layers(model))
            raise Error(
                f"input '{tensor.name}' has the shape {tuple(tensor.shape)}, and the recurrent layers {layers} need a "
                "fixed number of steps",
                name,
                ["give keras.Input a shape without None"],
            )
        return keras.InputSpec(shape=(1, *tensor.shape[1:]), dtype=tensor.dtype, name=tensor.name)

    return keras.tree.map_structure(specification, inputs)
