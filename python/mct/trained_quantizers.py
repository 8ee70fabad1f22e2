# SPDX-License-Identifier: Apache-2.0
"""The trainable quantizers that MCT has classes for, which are attributes of the compiler here.

    STE: straight-through gradients of the threshold or the range. LSQ: those of learned steps.

`mct.make_trainable` gives them to all points of a network, as `mct.qat` does; by name they are found by
`get_trainable_quantizer_class`, and return their attribute (`to_attribute`) and the quantizer that they become.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from mct import quantizers
from mct.constants import MIN_THRESHOLD, RANGE_MAX, RANGE_MIN, SIGNED, THRESHOLD
from mct.target_platform import QuantizationMethod, TargetError
from mct.trainable_infrastructure import (
    BaseTrainableQuantizer,
    QuantizationTarget,
    TrainableQuantizerActivationConfig,
    TrainableQuantizerWeightsConfig,
    TrainingMethod,
    VariableGroup,
    VariableOwner,
    mark_quantizer,
)

__all__ = [
    "ActivationQuantizationHolder",
    "BasePytorchActivationTrainableQuantizer",
    "LSQSymmetricActivationTrainableQuantizer",
    "LSQUniformActivationTrainableQuantizer",
    "LSQUniformWeightQATQuantizer",
    "LSQWeightQATQuantizer",
    "STESymmetricActivationTrainableQuantizer",
    "STEUniformActivationTrainableQuantizer",
    "STEUniformWeightQATQuantizer",
    "STEWeightQATQuantizer",
]

_SYMMETRIC = [QuantizationMethod.POWER_OF_TWO, QuantizationMethod.SYMMETRIC]
_UNIFORM = [QuantizationMethod.UNIFORM]


def _list(value: Any) -> list[float]:
    return [float(one) for one in np.asarray(value, np.float64).reshape(-1)]


class _Trained(BaseTrainableQuantizer):
    """A quantizer whose values the compiler computes, at the points of a network."""

    _GRADIENT: ClassVar[str]

    def _parts(self) -> tuple[int, QuantizationMethod, dict[str, Any]]:
        config = self.quantization_config
        if isinstance(config, TrainableQuantizerWeightsConfig):
            return config.weights_n_bits, config.weights_quantization_method, config.weights_quantization_params
        return config.activation_n_bits, config.activation_quantization_method, config.activation_quantization_params

    def initialize_quantization(self, tensor_shape: Sequence[int | None], name: str, layer: VariableOwner) -> Any:
        """Make a variable of each parameter, with the value of the configuration."""
        _, method, parameters = self._parts()
        for key in (RANGE_MIN, RANGE_MAX) if method is QuantizationMethod.UNIFORM else (THRESHOLD,):
            if key not in parameters:
                raise TargetError(f"{type(self).__name__}: the configuration has no parameter {key!r} to begin with")
            values = np.asarray(_list(parameters[key]), np.float32)
            variable = layer.add_weight(f"{name}_{key}", values.shape, lambda _, v=values: v, not self._is_frozen())
            self.add_quantizer_variable(key, variable, VariableGroup.QPARAMS)
        return self.quantizer_parameters

    def _current(self) -> dict[str, Any]:
        """Returns the parameters, as learned where they are variables of torch."""
        _, method, parameters = self._parts()
        learned: dict[str, Any] = {}
        for key, entry in self.quantizer_parameters.items():
            if hasattr(entry["var"], "detach"):
                learned[key] = _list(entry["var"].detach().cpu().numpy())
        if THRESHOLD in learned:
            # The compiler clamps and rounds thresholds in the same way.
            learned[THRESHOLD] = [max(one, MIN_THRESHOLD) for one in learned[THRESHOLD]]
            if method is QuantizationMethod.POWER_OF_TWO:
                learned[THRESHOLD] = [2.0 ** math.ceil(math.log2(one)) for one in learned[THRESHOLD]]
        return dict(parameters) | learned

    def _is_frozen(self) -> bool:
        return self.freeze_quant_params

    def to_attribute(self) -> str | None:
        """The `trainable` attribute of a point, as `mct.make_trainable` writes it; None where it is not enabled."""
        if not self._is_enabled():
            return None
        if self._is_frozen():
            return "#tpc.straight_through<>"
        bits, method, parameters = self._parts()
        texts = [f"bits = {bits}"]
        if method is not QuantizationMethod.UNIFORM:
            if not parameters.get(SIGNED, True):
                texts.append("is_signed = false")
            if method is QuantizationMethod.POWER_OF_TWO:
                texts.append("power_of_two = true")
        if self._GRADIENT != "lsq":
            texts.append(f"gradient = {self._GRADIENT}")
        kind = "learned_range" if method is QuantizationMethod.UNIFORM else "learned_threshold"
        return f"#tpc.{kind}<{', '.join(texts)}>"

    def _channel_axis(self) -> int | None:
        """Returns the axis of the channels; None where there is one parameter."""
        config = self.quantization_config
        if not isinstance(config, TrainableQuantizerWeightsConfig) or not config.weights_per_channel_threshold:
            return None
        axes = config.weights_channels_axis
        # MCT's own configurations have the axes of the output and of the input channels.
        return axes[0] if isinstance(axes, tuple) else 0 if axes is None else axes

    def _is_enabled(self) -> bool:
        config = self.quantization_config
        if isinstance(config, TrainableQuantizerWeightsConfig):
            return config.enable_weights_quantization
        return config.enable_activation_quantization

    def __call__(self, inputs: Any, training: bool = True) -> Any:
        """Returns what it makes of a tensor of torch, differentiable by the tensor and by the variables."""
        if type(inputs).__module__.partition(".")[0] != "torch":
            raise TargetError(
                f"{type(self).__name__} is computed by the compiler, at the points of a network (mct.make_trainable, "
                "mct.train), or on a tensor of torch; convert2inferable() gives the quantizer that it becomes"
            )
        from mct.torch_layers import quantize_tensor

        attribute = self.to_attribute()
        if attribute is None:
            return inputs
        is_weight = isinstance(self.quantization_config, TrainableQuantizerWeightsConfig)
        axis = self._channel_axis()
        if self._is_frozen():
            parameters = f"parameters({self.quantization_config.to_mlir()})"
            return quantize_tensor(inputs, parameters, axis=axis, is_weight=is_weight)
        if not self.quantizer_parameters:
            raise TargetError(
                f"{type(self).__name__} has no variables yet; call initialize_quantization(shape, name, layer), as "
                "mct.torch_layers does"
            )
        learned = [entry["var"] for entry in self.quantizer_parameters.values()]
        return quantize_tensor(inputs, f"trainable({attribute})", learned, axis=axis, is_weight=is_weight)

    def convert2inferable(self) -> Any:
        """The ordinary quantizer with the parameters of the configuration, or with those that torch has learned."""
        bits, method, _ = self._parts()
        parameters = self._current()
        config = self.quantization_config
        if isinstance(config, TrainableQuantizerWeightsConfig):
            axis = self._channel_axis()
            channels: dict[str, Any] = {"per_channel": axis is not None, "channel_axis": axis}
            if method is QuantizationMethod.UNIFORM:
                low, high = _list(parameters[RANGE_MIN]), _list(parameters[RANGE_MAX])
                return quantizers.WeightsUniformInferableQuantizer(bits, low, high, **channels)
            is_power = method is QuantizationMethod.POWER_OF_TWO
            kind: Any = quantizers.WeightsPOTInferableQuantizer
            kind = kind if is_power else quantizers.WeightsSymmetricInferableQuantizer
            return kind(bits, _list(parameters[THRESHOLD]), **channels)
        if method is QuantizationMethod.UNIFORM:
            low, high = _list(parameters[RANGE_MIN]), _list(parameters[RANGE_MAX])
            return quantizers.ActivationUniformInferableQuantizer(bits, low, high)
        is_power = method is QuantizationMethod.POWER_OF_TWO
        kind = quantizers.ActivationPOTInferableQuantizer
        kind = kind if is_power else quantizers.ActivationSymmetricInferableQuantizer
        return kind(bits, _list(parameters[THRESHOLD]), signed=bool(parameters.get(SIGNED, True)))


class BasePytorchActivationTrainableQuantizer(_Trained):
    """Base of those of activations."""

    def __init__(
        self, quantization_config: TrainableQuantizerActivationConfig, freeze_quant_params: bool = False
    ) -> None:
        super().__init__(quantization_config, freeze_quant_params)


class _Weights(_Trained):
    """Base of those of weights."""

    def __init__(self, quantization_config: TrainableQuantizerWeightsConfig, freeze_quant_params: bool = False) -> None:
        super().__init__(quantization_config, freeze_quant_params)


class _FixedWeights(_Weights):
    """Weights are trained below a threshold or a range that stays: `weights=fixed` of `mct.make_trainable`."""

    _GRADIENT = "straight_through"

    def _is_frozen(self) -> bool:
        return True


@mark_quantizer(QuantizationTarget.Activation, _SYMMETRIC, TrainingMethod.STE)
class STESymmetricActivationTrainableQuantizer(BasePytorchActivationTrainableQuantizer):
    """A threshold that is learned by straight-through gradients."""

    _GRADIENT = "straight_through"


@mark_quantizer(QuantizationTarget.Activation, _UNIFORM, TrainingMethod.STE)
class STEUniformActivationTrainableQuantizer(BasePytorchActivationTrainableQuantizer):
    """A range that is learned by straight-through gradients."""

    _GRADIENT = "straight_through"


@mark_quantizer(QuantizationTarget.Activation, _SYMMETRIC, TrainingMethod.LSQ)
class LSQSymmetricActivationTrainableQuantizer(BasePytorchActivationTrainableQuantizer):
    """A threshold that is learned by the gradient of its step."""

    _GRADIENT = "lsq"


@mark_quantizer(QuantizationTarget.Activation, _UNIFORM, TrainingMethod.LSQ)
class LSQUniformActivationTrainableQuantizer(BasePytorchActivationTrainableQuantizer):
    """A range that is learned by the gradients of step and zero point."""

    _GRADIENT = "lsq"


@mark_quantizer(QuantizationTarget.Weights, _SYMMETRIC, TrainingMethod.STE)
class STEWeightQATQuantizer(_FixedWeights):
    """A weight that is trained below a fixed threshold."""


@mark_quantizer(QuantizationTarget.Weights, _UNIFORM, TrainingMethod.STE)
class STEUniformWeightQATQuantizer(_FixedWeights):
    """A weight that is trained within a fixed range."""


@mark_quantizer(QuantizationTarget.Weights, _SYMMETRIC, TrainingMethod.LSQ)
class LSQWeightQATQuantizer(_Weights):
    """A weight whose threshold is learned, too."""

    _GRADIENT = "lsq"


@mark_quantizer(QuantizationTarget.Weights, _UNIFORM, TrainingMethod.LSQ)
class LSQUniformWeightQATQuantizer(_Weights):
    """A weight whose range is learned, too."""

    _GRADIENT = "lsq"


# MCT up to 2.2 uses these names.
STEActivationQATQuantizer = STESymmetricActivationTrainableQuantizer
STEUniformActivationQATQuantizer = STEUniformActivationTrainableQuantizer
LSQActivationQATQuantizer = LSQSymmetricActivationTrainableQuantizer
LSQUniformActivationQATQuantizer = LSQUniformActivationTrainableQuantizer
BasePytorchQATActivationTrainableQuantizer = BasePytorchActivationTrainableQuantizer
BasePytorchQATWeightTrainableQuantizer = _Weights
BasePytorchQATTrainableQuantizer = _Trained


class ActivationQuantizationHolder(VariableOwner):
    """A place in a network with one quantizer, as `PytorchActivationQuantizationHolder` is: calling it quantizes.

    activation_holder_quantizer: one of `mct.quantizers`, or a trainable one, whose ordinary one is called.
    """

    def __init__(self, activation_holder_quantizer: Any) -> None:
        super().__init__("activation_holder")
        if not isinstance(activation_holder_quantizer, (quantizers.BaseInferableQuantizer, BaseTrainableQuantizer)):
            raise TargetError(
                "ActivationQuantizationHolder takes a quantizer of mct.quantizers or a BaseTrainableQuantizer, not "
                f"{activation_holder_quantizer!r}"
            )
        self.activation_holder_quantizer = activation_holder_quantizer

    def __call__(self, inputs: Any) -> Any:
        """Returns the quantized array, as a network with one point computes it."""
        quantizer = self.activation_holder_quantizer
        if isinstance(quantizer, BaseTrainableQuantizer):
            quantizer = quantizer.convert2inferable()
        return quantizers.quantize(quantizer, inputs)
