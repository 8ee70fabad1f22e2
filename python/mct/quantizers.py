# SPDX-License-Identifier: Apache-2.0
"""Names of `mct_quantizers`: ordinary quantizers, which a trained one becomes. They describe the settings of a point:
`to_mlir` is the attribute of the dialect. Calling one has the compiler compute it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from typing import Any, ClassVar

from mct.constants import LUT_VALUES, MIN_THRESHOLD, RANGE_MAX, RANGE_MIN, SIGNED, THRESHOLD
from mct.errors import describe
from mct.target_platform import QuantizationMethod, TargetError
from mct.target_platform._schema import Frozen, check_bits, check_bool
from mct.trainable_infrastructure import (
    QuantizationTarget,
    TrainableQuantizerActivationConfig,
    TrainableQuantizerWeightsConfig,
    find_quantizer_class,
    mark_quantizer,
)

__all__ = [
    "ActivationLutPOTInferableQuantizer",
    "ActivationPOTInferableQuantizer",
    "ActivationSymmetricInferableQuantizer",
    "ActivationUniformInferableQuantizer",
    "BaseInferableQuantizer",
    "QuantizerID",
    "WeightsLUTPOTInferableQuantizer",
    "WeightsLUTSymmetricInferableQuantizer",
    "WeightsPOTInferableQuantizer",
    "WeightsSymmetricInferableQuantizer",
    "WeightsUniformInferableQuantizer",
    "get_inferable_quantizer_class",
    "quantize",
]


class QuantizerID(Enum):
    """The identifier of ordinary quantizers."""

    INFERABLE = 0


def _numbers(owner: str, name: str, values: Any) -> list[float]:
    if not isinstance(values, (list, tuple)) or not values:
        raise TargetError(f"{owner}: {name} must be a list of numbers, but is {describe(values)}")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise TargetError(f"{owner}: {name} must be a list of numbers, but has {describe(value)}")
    return [float(value) for value in values]


class BaseInferableQuantizer(Frozen):
    """Base of them.

    num_bits: width.
    """

    quantization_target: ClassVar[QuantizationTarget]
    quantization_method: ClassVar[Sequence[QuantizationMethod]]
    identifier: ClassVar[Any]

    def __init__(self, num_bits: int, parameters: dict[str, Any]) -> None:
        self.num_bits = check_bits(type(self).__name__, "num_bits", num_bits)
        self._parameters = parameters

    def _check_thresholds(self, threshold: Sequence[float]) -> list[float]:
        owner = type(self).__name__
        thresholds = _numbers(owner, "threshold", threshold)
        is_power = self.quantization_method[0] in (
            QuantizationMethod.POWER_OF_TWO,
            QuantizationMethod.LUT_POT_QUANTIZER,
        )
        for value in thresholds:
            if value <= 0:
                raise TargetError(f"{owner}: thresholds must be positive, but one is {describe(value)}")
            if is_power and math.frexp(value)[0] != 0.5:
                raise TargetError(f"{owner}: thresholds must be powers of two, but one is {describe(value)}")
        return thresholds

    def _check_range(self, min_range: Sequence[float], max_range: Sequence[float]) -> dict[str, Any]:
        owner = type(self).__name__
        low, high = _numbers(owner, "min_range", min_range), _numbers(owner, "max_range", max_range)
        if len(low) != len(high):
            raise TargetError(f"{owner}: min_range has {len(low)} numbers, and max_range {len(high)}")
        for first, last in zip(low, high, strict=True):
            if first >= last:
                raise TargetError(f"{owner}: the range from {first!r} to {last!r} is empty")
        return {RANGE_MIN: low, RANGE_MAX: high}

    def _check_table(self, lut_values: Sequence[float], lut_values_bitwidth: int, signed: bool) -> list[int]:
        owner = type(self).__name__
        values = _numbers(owner, "lut_values", lut_values)
        if lut_values_bitwidth != 8:
            raise TargetError(f"{owner}: tables have entries of 8 bits here, not of {describe(lut_values_bitwidth)}")
        if len(set(values)) > 1 << self.num_bits:
            raise TargetError(
                f"{owner}: {self.num_bits} bits choose from {1 << self.num_bits} entries at most, "
                f"but there are {len(set(values))}"
            )
        low, high = (-128, 127) if signed else (0, 255)
        for value in values:
            if value != int(value) or not low <= value <= high:
                raise TargetError(
                    f"{owner}: entries must be whole numbers from {low} to {high}, but one is {describe(value)}"
                )
        return sorted({int(value) for value in values})

    def initialize_quantization(self, tensor_shape: Any, name: str, layer: Any) -> dict[str, Any]:
        """Returns no variable: an ordinary quantizer learns nothing."""
        return {}

    def __call__(self, inputs: Any) -> Any:
        """Returns what it makes of an array, or of a tensor of torch; gradients pass straight through where the nearest
        level lies on the grid."""
        is_weight = self.quantization_target is QuantizationTarget.Weights
        axis = getattr(self, "channel_axis", None) if getattr(self, "per_channel", False) else None
        attribute = f"parameters({self.to_mlir()})"
        if type(inputs).__module__.partition(".")[0] == "torch":
            from mct.torch_layers import quantize_tensor

            return quantize_tensor(inputs, attribute, axis=axis, is_weight=is_weight)
        import numpy as np

        from mct._point_function import PointFunction

        array = np.ascontiguousarray(inputs, np.float32)
        shaped = array if np.ndim(inputs) else array.reshape(1)
        function = PointFunction.of(shaped.shape, attribute, axis=axis, is_weight=is_weight)
        return function.values([shaped]).reshape(np.shape(inputs))

    def get_config(self) -> dict[str, Any]:
        """Its parameters, by name."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**config)

    def to_mlir(self) -> str:
        """The parameters of a `tpc.quantize`."""
        method = self.quantization_method[0]
        if self.quantization_target is QuantizationTarget.Weights:
            axis, per_channel = getattr(self, "channel_axis", None), getattr(self, "per_channel", False)
            return TrainableQuantizerWeightsConfig(
                method, self.num_bits, self._parameters, True, axis, per_channel, MIN_THRESHOLD
            ).to_mlir()
        return TrainableQuantizerActivationConfig(
            method, self.num_bits, self._parameters, True, MIN_THRESHOLD
        ).to_mlir()


class _Weights(BaseInferableQuantizer):
    def _check_channels(self, values: Sequence[Any], per_channel: bool, channel_axis: int | None) -> None:
        owner = type(self).__name__
        self.per_channel = check_bool(owner, "per_channel", per_channel)
        if per_channel and channel_axis is None:
            raise TargetError(f"{owner}: parameters per channel need channel_axis")
        if not per_channel and len(values) != 1:
            raise TargetError(f"{owner}: a tensor has one parameter, but there are {len(values)}; say per_channel=True")
        self.channel_axis = channel_axis


class _WeightsThreshold(_Weights):
    """Quantizer of weights.

    num_bits:     width.
    threshold:    one, or one for each channel.
    per_channel:  whether there is one for each channel.
    channel_axis: axis of the channels.
    input_rank:   of the weight; it has no effect.
    """

    def __init__(
        self,
        num_bits: int,
        threshold: Sequence[float],
        per_channel: bool,
        channel_axis: int | None = None,
        input_rank: int | None = None,
    ) -> None:
        self.threshold = self._check_thresholds(threshold)
        super().__init__(num_bits, {THRESHOLD: self.threshold})
        self._check_channels(self.threshold, per_channel, channel_axis)
        self.input_rank = input_rank


class _WeightsTable(_Weights):
    """Quantizer of weights, with a table of levels.

    num_bits:     width.
    lut_values:   the entries, whole numbers of 8 bits.
    threshold:    what the largest entry stands for: one, or one for each channel.
    per_channel:  whether there is one for each channel.
    channel_axis: axis of the channels.
    input_rank, eps: have no effect.
    """

    def __init__(
        self,
        num_bits: int,
        lut_values: Sequence[float],
        threshold: Sequence[float],
        per_channel: bool,
        channel_axis: int | None = None,
        input_rank: int | None = None,
        lut_values_bitwidth: int = 8,
        eps: float = 1e-8,
    ) -> None:
        self.threshold = self._check_thresholds(threshold)
        parameters: dict[str, Any] = {THRESHOLD: self.threshold}
        super().__init__(num_bits, parameters)
        self.lut_values = self._check_table(lut_values, lut_values_bitwidth, signed=True)
        parameters[LUT_VALUES] = self.lut_values
        self._check_channels(self.threshold, per_channel, channel_axis)
        self.input_rank, self.lut_values_bitwidth, self.eps = input_rank, lut_values_bitwidth, eps


class _ActivationThreshold(BaseInferableQuantizer):
    """Quantizer of activations.

    num_bits:  width.
    threshold: one.
    signed:    whether there are levels below zero.
    """

    def __init__(self, num_bits: int, threshold: Sequence[float], signed: bool) -> None:
        owner = type(self).__name__
        self.threshold = self._check_thresholds(threshold)
        if len(self.threshold) != 1:
            raise TargetError(f"{owner}: an activation has one threshold, but there are {len(self.threshold)}")
        self.signed = check_bool(owner, "signed", signed)
        super().__init__(num_bits, {THRESHOLD: self.threshold, SIGNED: signed})


@mark_quantizer(QuantizationTarget.Weights, [QuantizationMethod.POWER_OF_TWO], QuantizerID.INFERABLE)
class WeightsPOTInferableQuantizer(_WeightsThreshold):
    __doc__ = _WeightsThreshold.__doc__


@mark_quantizer(QuantizationTarget.Weights, [QuantizationMethod.SYMMETRIC], QuantizerID.INFERABLE)
class WeightsSymmetricInferableQuantizer(_WeightsThreshold):
    __doc__ = _WeightsThreshold.__doc__


@mark_quantizer(QuantizationTarget.Weights, [QuantizationMethod.UNIFORM], QuantizerID.INFERABLE)
class WeightsUniformInferableQuantizer(_Weights):
    """Quantizer of weights.

    num_bits:             width.
    min_range, max_range: the range: one, or one for each channel.
    per_channel:          whether there is one for each channel.
    channel_axis:         axis of the channels.
    input_rank:           of the weight; it has no effect.
    """

    def __init__(
        self,
        num_bits: int,
        min_range: Sequence[float],
        max_range: Sequence[float],
        per_channel: bool,
        channel_axis: int | None = None,
        input_rank: int | None = None,
    ) -> None:
        parameters = self._check_range(min_range, max_range)
        super().__init__(num_bits, parameters)
        self.min_range, self.max_range = parameters[RANGE_MIN], parameters[RANGE_MAX]
        self._check_channels(self.min_range, per_channel, channel_axis)
        self.input_rank = input_rank


@mark_quantizer(QuantizationTarget.Weights, [QuantizationMethod.LUT_SYM_QUANTIZER], QuantizerID.INFERABLE)
class WeightsLUTSymmetricInferableQuantizer(_WeightsTable):
    __doc__ = _WeightsTable.__doc__


@mark_quantizer(QuantizationTarget.Weights, [QuantizationMethod.LUT_POT_QUANTIZER], QuantizerID.INFERABLE)
class WeightsLUTPOTInferableQuantizer(_WeightsTable):
    __doc__ = _WeightsTable.__doc__


@mark_quantizer(QuantizationTarget.Activation, [QuantizationMethod.POWER_OF_TWO], QuantizerID.INFERABLE)
class ActivationPOTInferableQuantizer(_ActivationThreshold):
    __doc__ = _ActivationThreshold.__doc__


@mark_quantizer(QuantizationTarget.Activation, [QuantizationMethod.SYMMETRIC], QuantizerID.INFERABLE)
class ActivationSymmetricInferableQuantizer(_ActivationThreshold):
    __doc__ = _ActivationThreshold.__doc__


@mark_quantizer(QuantizationTarget.Activation, [QuantizationMethod.UNIFORM], QuantizerID.INFERABLE)
class ActivationUniformInferableQuantizer(BaseInferableQuantizer):
    """Quantizer of activations.

    num_bits:             width.
    min_range, max_range: the range, each a list of one number.
    """

    def __init__(self, num_bits: int, min_range: Sequence[float], max_range: Sequence[float]) -> None:
        parameters = self._check_range(min_range, max_range)
        self.min_range, self.max_range = parameters[RANGE_MIN], parameters[RANGE_MAX]
        if len(self.min_range) != 1:
            raise TargetError(
                f"{type(self).__name__}: an activation has one range, but there are {len(self.min_range)}"
            )
        super().__init__(num_bits, parameters)


@mark_quantizer(QuantizationTarget.Activation, [QuantizationMethod.LUT_POT_QUANTIZER], QuantizerID.INFERABLE)
class ActivationLutPOTInferableQuantizer(_ActivationThreshold):
    """Quantizer of activations, with a table of levels.

    num_bits:   width.
    lut_values: the entries, whole numbers of 8 bits.
    threshold:  one: what the largest entry stands for.
    signed:     whether there are levels below zero.
    eps:        has no effect.
    """

    def __init__(
        self,
        num_bits: int,
        lut_values: Sequence[float],
        threshold: Sequence[float],
        signed: bool,
        lut_values_bitwidth: int = 8,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(num_bits, threshold, signed)
        self.lut_values = self._check_table(lut_values, lut_values_bitwidth, signed)
        self._parameters[LUT_VALUES] = self.lut_values
        self.lut_values_bitwidth, self.eps = lut_values_bitwidth, eps


def get_inferable_quantizer_class(
    quant_target: QuantizationTarget,
    quant_method: QuantizationMethod,
    quantizer_base_class: type[Any] = BaseInferableQuantizer,
) -> type[Any]:
    """The one ordinary quantizer for weights or activations by a method."""
    return find_quantizer_class(quant_target, QuantizerID.INFERABLE, quant_method, quantizer_base_class)


def quantize(quantizer: BaseInferableQuantizer, values: Any) -> Any:
    """Returns what a quantizer of activations makes of an array, whatever it is in a network."""
    if not isinstance(quantizer, BaseInferableQuantizer):
        raise TargetError(f"quantize takes a quantizer of mct.quantizers, not {describe(quantizer)}")
    return quantizer(values)
