# SPDX-License-Identifier: Apache-2.0
"""Names of MCT below `mct.trainable_infrastructure`: what a trainable quantizer starts from.

Here nothing is trained in Python: `round-weights` of the pipeline rounds weights of few bits together, which is what
training of weight quantizers is for. The configurations say which quantizer a point has (`to_mlir`); the base classes
check theirs, keep it, and say so where they would have to run inside Keras or torch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypeVar

from mct.quantization_config import MIN_THRESHOLD
from mct.target_platform import QuantizationMethod, TargetError
from mct.target_platform._predicates import write_real
from mct.target_platform._schema import Frozen, check_bits, check_bool, check_enum

# Keys of the parameters of quantizers, as in `model_compression_toolkit.constants`.
THRESHOLD = "threshold"
SIGNED = "is_signed"
RANGE_MIN = "range_min"
RANGE_MAX = "range_max"
LUT_VALUES = "lut_values"

__all__ = [
    "LUT_VALUES",
    "MIN_THRESHOLD",
    "RANGE_MAX",
    "RANGE_MIN",
    "SIGNED",
    "THRESHOLD",
    "BaseKerasTrainableQuantizer",
    "BasePytorchTrainableQuantizer",
    "TrainableQuantizerActivationConfig",
    "TrainableQuantizerWeightsConfig",
]

Q = TypeVar("Q", bound="_BaseTrainableQuantizer")


def _numbers(owner: str, name: str, value: Any) -> list[float]:
    """One number, or one per channel."""
    values = value.ravel().tolist() if hasattr(value, "ravel") else value
    values = list(values) if isinstance(values, Iterable) else [values]
    for one in values:
        if isinstance(one, bool) or not isinstance(one, (int, float)) or not math.isfinite(one):
            raise TargetError(f"{owner}: {name} must be numbers, but is {value!r}")
    return [float(one) for one in values]


def _write_list(values: list[float]) -> str:
    return f"[{', '.join(map(write_real, values))}]"


class _QuantizerConfig(Frozen):
    """Method, bits and parameters of one quantizer."""

    min_threshold: float

    def _check(self, side: str, method: Any, bits: Any, parameters: Any, enabled: Any, min_threshold: Any) -> None:
        owner = type(self).__name__
        setattr(
            self,
            f"{side}_quantization_method",
            check_enum(owner, f"{side}_quantization_method", method, QuantizationMethod),
        )
        setattr(self, f"{side}_n_bits", check_bits(owner, f"{side}_n_bits", bits))
        if not isinstance(parameters, Mapping):
            raise TargetError(f"{owner}: {side}_quantization_params must be a dictionary, but is {parameters!r}")
        setattr(self, f"{side}_quantization_params", dict(parameters))
        name = "enable_weights_quantization" if side == "weights" else "enable_activation_quantization"
        setattr(self, name, check_bool(owner, name, enabled))
        is_number = isinstance(min_threshold, (int, float)) and not isinstance(min_threshold, bool)
        if not is_number or not 0 < min_threshold < math.inf:
            raise TargetError(f"{owner}: min_threshold must be a positive number, but is {min_threshold!r}")
        self.min_threshold = min_threshold

    def _write(self, method: QuantizationMethod, bits: int, parameters: Mapping[str, Any], signed: bool) -> str:
        owner = type(self).__name__

        def needed(key: str) -> list[float]:
            if key not in parameters:
                raise TargetError(f"{owner}: a quantizer of method {method.name} needs the parameter {key!r}")
            return _numbers(owner, key, parameters[key])

        if method is QuantizationMethod.UNIFORM:
            scales, zero_points = [], []
            for low, high in zip(needed(RANGE_MIN), needed(RANGE_MAX), strict=True):
                low, high = min(low, 0.0), max(high, 0.0)
                if low == high:
                    raise TargetError(f"{owner}: the range from {low} to {high} is empty")
                scales.append((high - low) / ((1 << bits) - 1))
                zero_points.append(round(-low / scales[-1]))
            points = ", ".join(map(str, zero_points))
            return f"#tpc.uniform<scale = {_write_list(scales)}, zero_point = [{points}], bits = {bits}>"
        thresholds = [max(threshold, self.min_threshold) for threshold in needed(THRESHOLD)]
        sign = "" if parameters.get(SIGNED, signed) else ", is_signed = false"
        if method in (QuantizationMethod.POWER_OF_TWO, QuantizationMethod.SYMMETRIC):
            if method is QuantizationMethod.POWER_OF_TWO:
                thresholds = [2.0 ** math.ceil(math.log2(threshold)) for threshold in thresholds]
            return f"#tpc.{method.name.lower()}<threshold = {_write_list(thresholds)}, bits = {bits}{sign}>"
        table = ", ".join(str(int(entry)) for entry in sorted(needed(LUT_VALUES)))
        return (
            f"#tpc.lookup_table<method = {method.name.lower()}, threshold = {_write_list(thresholds)}, "
            f"table = [{table}], bits = {bits}{sign}>"
        )


class TrainableQuantizerWeightsConfig(_QuantizerConfig):
    """The quantizer of a weight.

    weights_quantization_method, weights_n_bits: its method and bits.
    weights_quantization_params:   by key its parameters: `THRESHOLD`, or `RANGE_MIN` and `RANGE_MAX` of a uniform one.
    enable_weights_quantization:   whether the weight is quantized.
    weights_channels_axis:         axis of the kernel over which its channels run.
    weights_per_channel_threshold: whether each channel has parameters of its own.
    min_threshold:                 smallest threshold.
    weights_quantization_candidates: others that a search may choose.
    """

    weights_quantization_method: QuantizationMethod
    weights_n_bits: int
    weights_quantization_params: dict[str, Any]
    enable_weights_quantization: bool

    def __init__(
        self,
        weights_quantization_method: QuantizationMethod,
        weights_n_bits: int,
        weights_quantization_params: Mapping[str, Any],
        enable_weights_quantization: bool,
        weights_channels_axis: int | tuple[int, ...] | None,
        weights_per_channel_threshold: bool,
        min_threshold: float,
        weights_quantization_candidates: list[Any] | None = None,
    ) -> None:
        owner = type(self).__name__
        self._check(
            "weights",
            weights_quantization_method,
            weights_n_bits,
            weights_quantization_params,
            enable_weights_quantization,
            min_threshold,
        )
        self.weights_channels_axis = weights_channels_axis
        self.weights_per_channel_threshold = check_bool(
            owner, "weights_per_channel_threshold", weights_per_channel_threshold
        )
        self.weights_quantization_candidates = weights_quantization_candidates

    def to_mlir(self) -> str:
        """The parameters of a `tpc.quantize` of a weight."""
        return self._write(
            self.weights_quantization_method, self.weights_n_bits, self.weights_quantization_params, signed=True
        )


class TrainableQuantizerActivationConfig(_QuantizerConfig):
    """The quantizer of an activation.

    activation_quantization_method, activation_n_bits: its method and bits.
    activation_quantization_params: by key its parameters: `THRESHOLD` and `SIGNED`, or `RANGE_MIN` and `RANGE_MAX`.
    enable_activation_quantization: whether the activation is quantized.
    min_threshold:                  smallest threshold.
    activation_quantization_candidates: others that a search may choose.
    """

    activation_quantization_method: QuantizationMethod
    activation_n_bits: int
    activation_quantization_params: dict[str, Any]
    enable_activation_quantization: bool

    def __init__(
        self,
        activation_quantization_method: QuantizationMethod,
        activation_n_bits: int,
        activation_quantization_params: Mapping[str, Any],
        enable_activation_quantization: bool,
        min_threshold: float,
        activation_quantization_candidates: list[Any] | None = None,
    ) -> None:
        self._check(
            "activation",
            activation_quantization_method,
            activation_n_bits,
            activation_quantization_params,
            enable_activation_quantization,
            min_threshold,
        )
        self.activation_quantization_candidates = activation_quantization_candidates

    def to_mlir(self) -> str:
        """The parameters of a `tpc.quantize` of an activation."""
        return self._write(
            self.activation_quantization_method,
            self.activation_n_bits,
            self.activation_quantization_params,
            signed=True,
        )


class _BaseTrainableQuantizer:
    _FRAMEWORK = ""

    def __init__(
        self, quantization_config: TrainableQuantizerWeightsConfig | TrainableQuantizerActivationConfig
    ) -> None:
        if not isinstance(quantization_config, _QuantizerConfig):
            raise TargetError(
                f"{type(self).__name__} takes a TrainableQuantizerWeightsConfig or TrainableQuantizerActivationConfig, "
                f"not {quantization_config!r}"
            )
        self.quantization_config = quantization_config

    def to_mlir(self) -> str:
        """The parameters that the quantizer starts from."""
        return self.quantization_config.to_mlir()

    def initialize_quantization(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse("initialize_quantization")

    def get_trainable_variables(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse("get_trainable_variables")

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse("__call__")

    def _refuse(self, what: str) -> NoReturn:
        raise TargetError(
            f"{type(self).__name__}.{what} works on variables of {self._FRAMEWORK} only; here weights of few bits are "
            "rounded together by the pipeline (round-weights), and a method of your own is a C++ attribute that "
            "implements QuantizationMethodAttrInterface (tpc_dialect/README.md)"
        )


class BaseKerasTrainableQuantizer(_BaseTrainableQuantizer):
    """Base of quantizers that are trained in Keras.

    quantization_config: of the weight or the activation.
    """

    _FRAMEWORK = "Keras"

    def get_config(self) -> dict[str, Any]:
        """What `from_config` makes the same quantizer of."""
        values = dict(vars(self.quantization_config))
        values = {
            name: value.name if isinstance(value, QuantizationMethod) else value for name, value in values.items()
        }
        is_weights = isinstance(self.quantization_config, TrainableQuantizerWeightsConfig)
        return {"quantization_config": values | {"is_weights": is_weights, "is_activations": not is_weights}}

    @classmethod
    def from_config(cls: type[Q], config: Mapping[str, Any]) -> Q:
        values = dict(config["quantization_config"])
        is_weights = values.pop("is_weights")
        values.pop("is_activations")
        for name in ("weights_quantization_method", "activation_quantization_method"):
            if name in values:
                values[name] = QuantizationMethod[values[name]]
        kind = TrainableQuantizerWeightsConfig if is_weights else TrainableQuantizerActivationConfig
        return cls(kind(**values))


class BasePytorchTrainableQuantizer(_BaseTrainableQuantizer):
    """Base of quantizers that are trained in torch.

    quantization_config: of the weight or the activation.
    """

    _FRAMEWORK = "torch"
