# SPDX-License-Identifier: Apache-2.0
"""Functions of MCT under their names: stock targets, and post-training quantization in one call.

Results are those of `mct.load` and `mct.quantize`, with the arguments of MCT 1.0 to 2.6.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from mct import network_editor
from mct.core import CoreConfig, ResourceUtilization
from mct.errors import describe
from mct.framework_info import FrameworkInfo
from mct.quantization_config import Option, QuantizationConfig
from mct.target_platform import (
    FrameworkQuantizationCapabilities,
    TargetError,
    TargetPlatformCapabilities,
    TargetPlatformModel,
    read_json,
)
from mct.target_platform._vocabulary import TOSA

if TYPE_CHECKING:
    from mct.model import Model, QuantizedModel

# ----------------------------------------------------------------------------------------------------------------------
# Stock targets
# ----------------------------------------------------------------------------------------------------------------------

# Versions of 2.6 by device, then of the converter, then of MCT up to 2.2; each with the stock target.
_DEVICES = {
    "imx500": {version: f"imx500_v{version.replace('.', '_')}" for version in ("1.0", "4.0", "5.0", "6.0")},
    "tflite": {"1.0": "tflite_v1"},
    "qnnpack": {"1.0": "qnnpack_v1"},
}
_CONVERTERS = {version: f"sdsp_{version.replace('.', '_')}" for version in ("3.14", "3.16", "3.17", "3.18")}
_EARLIER = {
    "default": {"latest": "imx500_v1_0", "v1": "imx500_v1_0"},
    "imx500": {
        "latest": "imx500_v1_0",
        "v1": "imx500_v1_0",
        **{version: f"imx500_{version}" for version in ("v1_lut", "v1_pot", "v2", "v2_lut", "v3", "v3_lut")},
    },
    "tflite": {"latest": "tflite_v1", "v1": "tflite_v1"},
    "qnnpack": {"latest": "qnnpack_v1", "v1": "qnnpack_v1"},
}
_FRAMEWORKS = ("tensorflow", "keras", "pytorch")


def _choose(what: str, value: object, known: dict[str, Any]) -> Any:
    if str(value) in known:
        return known[str(value)]
    raise TargetError(f"{what} {str(value)!r} is not known; known: {', '.join(known)}")


def _read_stock(name: str) -> TargetPlatformCapabilities:
    from mct import _native

    return read_json(_native.export_target(name))


@overload
def get_target_platform_capabilities(
    tpc_version: str | float = "1.0", device_type: str = "imx500"
) -> TargetPlatformCapabilities: ...
@overload
def get_target_platform_capabilities(
    fw_name: str, target_platform_name: str, target_platform_version: str | None
) -> TargetPlatformCapabilities: ...
@overload
def get_target_platform_capabilities(
    *, fw_name: str, target_platform_name: str, target_platform_version: str | None = None
) -> TargetPlatformCapabilities: ...
def get_target_platform_capabilities(*args: Any, **kwargs: Any) -> TargetPlatformCapabilities:
    """A stock target, as an object that a script can look into.

    In MCT 2.5 and 2.6: `(tpc_version="1.0", device_type="imx500")`; devices are imx500 (1.0, 4.0, 5.0, 6.0), tflite and
    qnnpack (1.0). Earlier: `(fw_name, target_platform_name, target_platform_version=None)`, where the name of the
    framework has no effect.

    TFLite and QNNPACK are those that the documentation of MCT means (`tflite_v1`), not those that it ships
    (`tflite_v1_mct`), of which one contradicts itself and one quantizes no weight.
    """
    is_earlier = any(key in kwargs for key in ("fw_name", "target_platform_name", "target_platform_version"))
    names: tuple[str, ...] = ("tpc_version", "device_type")
    if is_earlier or (args and args[0] in _FRAMEWORKS):
        names = ("fw_name", "target_platform_name", "target_platform_version")
    values = dict(zip(names, args, strict=False))
    for key in kwargs:
        if key not in names or key in values:
            raise TargetError(f"get_target_platform_capabilities: {key!r} is unknown or given twice; known: {names}")
    if len(args) > len(names):
        raise TargetError(f"get_target_platform_capabilities takes {len(names)} parameters, but got {len(args)}")
    values |= kwargs
    if names[0] == "tpc_version":
        versions = _choose("device", values.get("device_type", "imx500"), _DEVICES)
        return _read_stock(_choose("version", values.get("tpc_version", "1.0"), versions))
    _choose("framework", values.get("fw_name"), dict.fromkeys(_FRAMEWORKS))
    versions = _choose("target platform", values.get("target_platform_name"), _EARLIER)
    version = str(values.get("target_platform_version") or "latest")
    stock = _read_stock(_choose("version", version, versions))
    return stock.with_version("v1" if version == "latest" else version)


def get_target_platform_capabilities_sdsp(sdsp_version: str = "3.14") -> TargetPlatformCapabilities:
    """The IMX500 that a version of Sony's converter is for."""
    return _read_stock(_choose("SDSP version", sdsp_version, _CONVERTERS))


def get_tpc_model(name: str, tpc: TargetPlatformCapabilities) -> TargetPlatformCapabilities:
    """Returns `tpc`; the name has no effect, as in MCT."""
    return tpc


# ----------------------------------------------------------------------------------------------------------------------
# Post-training quantization
# ----------------------------------------------------------------------------------------------------------------------


class UserInformation:
    """The second result of the functions of MCT, beside the quantized model.

    mixed_precision_cfg: by name of an operator the index of the alternative that it takes, where bits were chosen.
    input_scale:         factor of the input that a user has to apply: 1, for `input_scaling` is a part of the model.
    gptq_info_dict:      None: traces and remarks describe training.
    """

    gptq_info_dict: None = None

    def __init__(self, model: Model, mixed_precision_cfg: dict[str, int], input_scale: float = 1.0) -> None:
        self._model = model
        self.mixed_precision_cfg = mixed_precision_cfg
        self.input_scale = input_scale

    @functools.cached_property
    def final_resource_utilization(self) -> ResourceUtilization:
        """The resources that the network uses, as `mct-report-resources` counts them."""
        return _used_by(self._model)

    def __repr__(self) -> str:
        return f"UserInformation(mixed_precision_cfg={self.mixed_precision_cfg}, input_scale={self.input_scale})"


def _used_by(model: Model) -> ResourceUtilization:
    """Returns the resources of the function `main`, or of the only one."""
    functions = model.resources()["functions"]
    totals = next((one for one in functions if one["name"] == "main"), functions[0])["totals"]
    return ResourceUtilization(
        totals["weights_bytes"], totals["activations_bytes"], totals["total_bytes"], totals["bops"]
    )


class _Options:
    """Options of `mct.quantize`, as `mct.quantize(config=...)` takes them."""

    def __init__(self, options: dict[str, Option]) -> None:
        self.options = options

    def to_options(self) -> dict[str, Option]:
        return self.options


class _Arguments(NamedTuple):
    """The request of a call of any generation."""

    model: Any
    data: Callable[[], Iterable[Any]]
    target: Any
    options: dict[str, Option]
    overrides: list[str]
    # Gradient-based training after quantization, and its samples.
    gptq_config: Any
    gptq_data: Callable[[], Iterable[Any]]


def batch_size(batches: Iterable[Any]) -> int | None:
    """Samples of the first batch; None if there is none, or if it is not known."""
    first: Any = next(iter(batches), None)
    if isinstance(first, dict):
        first = list(first.values())
    if isinstance(first, (list, tuple)) and first:
        first = first[0]
    shape: Any = getattr(first, "shape", ())
    return int(shape[0]) if len(shape) > 1 else None


def _take_target(
    target: Any, config: QuantizationConfig | CoreConfig | None, fw_info: Any
) -> tuple[Any, dict[str, Option]]:
    """The target, with the layers that the configuration gives its sets, and the options of the configuration."""
    if isinstance(config, QuantizationConfig):
        if target is None:
            return config.to_target(fw_info), config.to_options(target_is_made_of_it=True)
        if fw_info is not None:
            raise TargetError("fw_info and target_platform_capabilities both say how layers are quantized; give one")
        return target, config.to_options()
    if fw_info is not None:
        if target is not None:
            raise TargetError("fw_info and target_platform_capabilities both say how layers are quantized; give one")
        return QuantizationConfig().to_target(fw_info), {}
    if config is None:
        return ("default" if target is None else target), {}
    quantization, mixed = config.quantization_config, config.mixed_precision_config
    options = {} if quantization is None else quantization.to_options()
    options |= {} if mixed is None else mixed.to_options()
    layers = {} if quantization is None else quantization.custom_tpc_opset_to_layer
    target = "default" if target is None else target
    if isinstance(target, TargetPlatformModel):
        target = TargetPlatformCapabilities(target)
    if layers or isinstance(target, TargetPlatformCapabilities):
        if not isinstance(target, TargetPlatformCapabilities):
            target = _read_stock(os.fspath(target))
        is_plain = target.tp_model is None
        if layers or (is_plain and any(operators.name not in TOSA for operators in target.plain_sets)):
            target = FrameworkQuantizationCapabilities(target, custom_opset_to_layer=layers)
            # Report an unknown operator set before the model is read.
            target.to_mlir()
    return target, options


def _take_data(representative_data_gen: Any, n_iter: int | None) -> Callable[[], Iterable[Any]]:
    """A factory of samples. In MCT 1.0 the function gives one batch, and is called `n_iter` times."""
    if not callable(representative_data_gen):
        raise TargetError(
            f"representative_data_gen must be a function that gives samples, not {describe(representative_data_gen)}"
            + ("; give lambda: [[samples]]" if hasattr(representative_data_gen, "__array__") else "")
        )

    def repeat() -> Iterator[Any]:
        for _ in range(n_iter or 0):
            yield representative_data_gen()

    def limited() -> Iterable[Any]:
        batches = representative_data_gen()
        if isinstance(batches, Iterator):
            return batches if n_iter is None else itertools.islice(batches, n_iter)
        if isinstance(batches, (list, tuple)) and batches and all(isinstance(one, (list, tuple)) for one in batches):
            return batches if n_iter is None else batches[:n_iter]
        # A list of arrays, one for each input: one batch.
        return repeat() if n_iter is not None else [batches]

    return limited


def _collect(
    model: Any,
    representative_data_gen: Any,
    resources: Any,
    config: Any,
    target: Any,
    given: dict[str, Any],
) -> _Arguments:
    """Sorts out which generation of MCT the arguments are of."""
    n_iter, fw_info = given.pop("n_iter", None), given.pop("fw_info", None)
    quant_config, kpi = given.pop("quant_config", None), given.pop("target_kpi", None)
    # (model, data, n_iter, quant_config, fw_info) by position.
    if isinstance(resources, int) and not isinstance(resources, bool):
        n_iter, resources = resources, None
    if isinstance(target, FrameworkInfo):
        fw_info, target = target, None
    resources = kpi if resources is None else resources
    config = quant_config if config is None else config
    editor = given.pop("network_editor", None)
    rules = [] if editor is None else network_editor.to_rules("post_training_quantization", editor)
    gptq_config, gptq_data = given.pop("gptq_config", None), given.pop("gptq_representative_data_gen", None)
    if gptq_config is not None:
        from mct.gptq import GradientPTQConfig

        if not isinstance(gptq_config, GradientPTQConfig):
            raise TargetError(f"gptq_config must be a mct.gptq.GradientPTQConfig, but is {describe(gptq_config)}")
    if given.pop("analyze_similarity", False):
        raise TargetError("analyze_similarity draws plots of MCT; QuantizedModel.compare tells the same")
    if given:
        raise TargetError(f"post_training_quantization has no parameter {next(iter(given))!r}")
    if n_iter is not None and (isinstance(n_iter, bool) or not isinstance(n_iter, int) or n_iter < 1):
        raise TargetError(f"n_iter must be a positive integer, but is {describe(n_iter)}")
    if resources is not None and not isinstance(resources, ResourceUtilization):
        raise TargetError(f"target_resource_utilization must be a ResourceUtilization, but is {describe(resources)}")
    if config is not None and not isinstance(config, (QuantizationConfig, CoreConfig)):
        raise TargetError(
            f"the configuration must be a CoreConfig or mct.QuantizationConfig, but is {describe(config)}"
        )
    target, options = _take_target(target, config, fw_info)
    if resources is not None and (budget := resources.to_budget()):
        options["budget"] = budget
    if isinstance(config, CoreConfig):
        rules += [] if config.debug_config is None else config.debug_config.rules
        rules += [] if config.bit_width_config is None else config.bit_width_config.rules
    data = _take_data(representative_data_gen, n_iter)
    return _Arguments(
        model,
        data,
        target,
        options,
        rules,
        gptq_config,
        data if gptq_data is None else _take_data(gptq_data, n_iter),
    )


def _load(model: Any, data: Callable[[], Iterable[Any]]) -> Model:
    """The model, a torch module exported for the first batch."""
    import mct
    from mct.importers import importer_of

    if isinstance(model, mct.Model):
        return model
    if importer_of(model) != "torch":
        return mct.load(model)
    batch = next(iter(data()), None)
    if batch is None:
        raise TargetError("representative_data_gen gives no sample")
    return mct.load(model, example_inputs=batch)


def _read_choices(text: str) -> dict[str, int]:
    pattern = re.compile(r'#tpc\.alternatives<of = "((?:[^"\\]|\\.)*)", configs = \[[^\]]*\], chosen = (\d+)')
    return {name: int(index) for name, index in pattern.findall(text)}


def post_training_quantization(
    in_model: Any = None,
    representative_data_gen: Any = None,
    target_resource_utilization: ResourceUtilization | int | None = None,
    core_config: CoreConfig | QuantizationConfig | None = None,
    target_platform_capabilities: Any = None,
    *earlier: Any,
    in_module: Any = None,
    preprocessing: Any = None,
    progress: bool | Callable[..., object] = False,
    **given: Any,
) -> tuple[QuantizedModel, UserInformation]:
    """Quantizes a model, with the arguments of MCT; returns the quantized model and its `UserInformation`.

    in_model, in_module:         a model, or any argument of `mct.load`.
    representative_data_gen:     a function that gives batches of samples, each a list of arrays, one for each input.
    target_resource_utilization: limits of the resources of the network.
    core_config:                 a `mct.core.CoreConfig`.
    target_platform_capabilities: any target of `mct.quantize(target=...)`; None: the stock target `default`, or the
        one that a `QuantizationConfig` describes.

    preprocessing, progress:     as in `mct.quantize`.

    By the names of MCT 1.0: n_iter (how often the function is called, each time for one batch), quant_config, a
    `mct.QuantizationConfig`, fw_info, a `FrameworkInfo`, and gptq_config, a `mct.gptq.GradientPTQConfig`: then
    rounding is trained after it, and network_editor, a list of `mct.core.network_editor.EditRule`. analyze_similarity
    is an error that names the replacement.

    Same as `mct.quantize(mct.load(model), target, data, config=…, overrides=…)`.
    """
    import mct
    from mct.model import QuantizedModel

    names = ("network_editor", "gptq_config", "analyze_similarity")
    if len(earlier) > len(names):
        raise TargetError(f"post_training_quantization takes 8 parameters by position, but got {5 + len(earlier)}")
    given |= dict(zip(names, earlier, strict=False))
    if (in_model is None) == (in_module is None):
        raise TargetError("post_training_quantization needs one of in_model and in_module")
    collected = _collect(
        in_module if in_model is None else in_model,
        representative_data_gen,
        target_resource_utilization,
        core_config,
        target_platform_capabilities,
        given,
    )
    debug = core_config.debug_config if isinstance(core_config, CoreConfig) else None
    if debug is not None and debug.bypass:
        model = _load(collected.model, collected.data)
        return QuantizedModel(model.module, model), UserInformation(model, {})
    quantize: Any = mct.quantize
    quantized = quantize(
        _load(collected.model, collected.data),
        target=collected.target,
        data=collected.data,
        config=_Options(collected.options),
        overrides=collected.overrides,
        preprocessing=preprocessing,
        progress=progress,
    )
    if collected.gptq_config is not None:
        from mct import gptq

        quantized = gptq.train(quantized, collected.gptq_data, collected.gptq_config, progress)
    chosen = _read_choices(quantized.text) if "budget" in collected.options else {}
    return quantized, UserInformation(quantized, chosen)


def resource_utilization_data(
    in_model: Any,
    representative_data_gen: Any = None,
    core_config: CoreConfig | None = None,
    target_platform_capabilities: Any = None,
) -> ResourceUtilization:
    """Returns the resources that a network uses with the bits of its target, before any are chosen.

    in_model, core_config, target_platform_capabilities: as for `post_training_quantization`.
    representative_data_gen: samples, of which the first is the example that a torch module is exported with; no value
                             counts.
    """
    stages: Any = importlib.import_module("mct.stages")
    rows = (lambda: []) if representative_data_gen is None else representative_data_gen
    collected = _collect(in_model, rows, None, core_config, target_platform_capabilities, {})
    prepared: Any = {name: collected.options[name] for name in _PREPARING if name in collected.options}
    model = stages.attach_target(_load(collected.model, collected.data), target=collected.target)
    model = stages.prepare(model, **prepared)
    return _used_by(stages.insert_quantizers(model, overrides=collected.overrides))


# Options of `mct.quantize` that `mct.prepare` has as well.
_PREPARING = ("linear_collapsing", "residual_collapsing", "relu_bound_to_power_of_2")

# ----------------------------------------------------------------------------------------------------------------------
# Others
# ----------------------------------------------------------------------------------------------------------------------


def set_log_folder(folder: str | os.PathLike[str], level: int = logging.INFO) -> None:
    """Messages of mct of this level and above go to `mct.log` in the folder, which is made, and to the console."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    logger = logging.getLogger("mct")
    logger.setLevel(level)
    for kept in [one for one in logger.handlers if one.name == _LOG]:
        logger.removeHandler(kept)
        kept.close()
    handlers: tuple[logging.Handler, ...] = (
        logging.FileHandler(path / "mct.log", encoding="utf-8"),
        logging.StreamHandler(),
    )
    for handler in handlers:
        handler.name = _LOG
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        handler.setLevel(level)
        logger.addHandler(handler)


# The name of the handlers that `set_log_folder` adds.
_LOG = "mct.set_log_folder"

keras_post_training_quantization = post_training_quantization
pytorch_post_training_quantization = post_training_quantization
