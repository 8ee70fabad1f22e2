# SPDX-License-Identifier: Apache-2.0
"""`QuantizeConfig` of TensorFlow's model optimization toolkit: how the layers of a kind are quantized, as code.

Here it is asked once, with a stand-in for a layer, and what it answers becomes a config of a target:

    tp.OperatorsSet("FullyConnected", MyDenseQuantizeConfig().to_options())
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

from mct.target_platform import (
    BIAS_ATTR,
    KERNEL_ATTR,
    AttributeQuantizationConfig,
    OpQuantizationConfig,
    QuantizationConfigOptions,
    QuantizationMethod,
    Signedness,
    TargetError,
)
from mct.target_platform._schema import Frozen, check_bits, check_bool


class Quantizer(Frozen):
    """How one tensor is quantized.

    num_bits:     width.
    per_axis:     one grid per output channel.
    symmetric:    a symmetric grid, else one that covers a range.
    narrow_range: without the lowest level of a symmetric grid.
    """

    def __init__(
        self, num_bits: int = 8, per_axis: bool = False, symmetric: bool = True, narrow_range: bool = False
    ) -> None:
        owner = type(self).__name__
        self.num_bits = check_bits(owner, "num_bits", num_bits)
        self.per_axis = check_bool(owner, "per_axis", per_axis)
        self.symmetric = check_bool(owner, "symmetric", symmetric)
        if check_bool(owner, "narrow_range", narrow_range) and not symmetric:
            raise TargetError(f"{owner}: narrow_range is of symmetric grids")
        self.narrow_range = narrow_range

    @property
    def method(self) -> QuantizationMethod:
        return QuantizationMethod.SYMMETRIC if self.symmetric else QuantizationMethod.UNIFORM


class LastValueQuantizer(Quantizer):
    """Of weights. The grid is chosen from all that was seen, which for a constant is itself."""


class MovingAverageQuantizer(Quantizer):
    """Of activations. The grid is chosen from all samples by `activation_error_method`, not from a moving average."""

    def __init__(
        self, num_bits: int = 8, per_axis: bool = False, symmetric: bool = False, narrow_range: bool = False
    ) -> None:
        super().__init__(num_bits, per_axis, symmetric, narrow_range)


class AllValuesQuantizer(MovingAverageQuantizer):
    """Of activations, as `MovingAverageQuantizer`."""


class _Part(Frozen):
    """A weight or an activation of the stand-in."""

    def __init__(self, name: str) -> None:
        self.name = name


class StandInLayer:
    """What a `QuantizeConfig` is asked with: kernel, bias and activation, which it may set.

    name: of the layer.
    """

    def __init__(self, name: str = "layer") -> None:
        self.name = name
        self.kernel: Any = _Part(KERNEL_ATTR)
        self.depthwise_kernel: Any = self.kernel
        self.bias: Any = _Part(BIAS_ATTR)
        self.activation: Any = _Part("activation")


class QuantizeConfig(abc.ABC):
    """How a layer is quantized: six methods, as TensorFlow's toolkit asks them."""

    @abc.abstractmethod
    def get_weights_and_quantizers(self, layer: Any) -> Sequence[tuple[Any, Quantizer]]:
        """Weights of the layer that are quantized, and how."""

    @abc.abstractmethod
    def get_activations_and_quantizers(self, layer: Any) -> Sequence[tuple[Any, Quantizer]]:
        """Activations inside of the layer that are quantized, and how."""

    @abc.abstractmethod
    def set_quantize_weights(self, layer: Any, quantize_weights: Sequence[Any]) -> None:
        """Give the layer its quantized weights, in the order of `get_weights_and_quantizers`."""

    @abc.abstractmethod
    def set_quantize_activations(self, layer: Any, quantize_activations: Sequence[Any]) -> None:
        """Give the layer its quantized activations, in the order of `get_activations_and_quantizers`."""

    @abc.abstractmethod
    def get_output_quantizers(self, layer: Any) -> Sequence[Quantizer]:
        """How the results of the layer are quantized; none of them for an empty list."""

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """What the object is made of, for a file."""

    def to_op_config(self) -> OpQuantizationConfig:
        """The config of a target that says the same."""
        layer = StandInLayer()
        owner = type(self).__name__
        weights: dict[str, AttributeQuantizationConfig] = {}
        for part, quantizer in self._ask("get_weights_and_quantizers", layer):
            if part.name not in (KERNEL_ATTR, BIAS_ATTR):
                raise TargetError(f"{owner}: get_weights_and_quantizers may name kernel and bias of a layer only")
            weights[part.name] = AttributeQuantizationConfig(
                quantizer.method, quantizer.num_bits, quantizer.per_axis, enable_weights_quantization=True
            )
        inner = self._ask("get_activations_and_quantizers", layer)
        # The layer's own activation function, which comes last, makes its result.
        results = [quantizer for _, quantizer in inner] + list(self.get_output_quantizers(layer))
        for quantizer in results:
            if not isinstance(quantizer, Quantizer):
                raise TargetError(f"{owner}: get_output_quantizers must give quantizers, but gives {quantizer!r}")
            if quantizer.per_axis:
                raise TargetError(f"{owner}: an activation has one grid, so its quantizer cannot be per_axis")
        if len(results) > 1 and any(vars(one) != vars(results[0]) for one in results):
            raise TargetError(f"{owner}: the result of a layer has one quantizer, but several differ")
        result = results[0] if results else None
        return OpQuantizationConfig(
            default_weight_attr_config=AttributeQuantizationConfig(),
            attr_weights_configs_mapping=weights,
            activation_quantization_method=result.method if result else QuantizationMethod.POWER_OF_TWO,
            activation_n_bits=result.num_bits if result else 8,
            supported_input_activation_n_bits=None,
            enable_activation_quantization=result is not None,
            quantization_preserving=False,
            signedness=Signedness.AUTO,
        )

    def _ask(self, method: str, layer: StandInLayer) -> list[tuple[_Part, Quantizer]]:
        pairs = list(getattr(self, method)(layer))
        for pair in pairs:
            is_pair = isinstance(pair, tuple) and len(pair) == 2
            if not is_pair or not isinstance(pair[0], _Part) or not isinstance(pair[1], Quantizer):
                raise TargetError(
                    f"{type(self).__name__}: {method} must give pairs of a part of the layer and a quantizer of "
                    f"mct.quantize_config, but gives {pair!r}"
                )
        return pairs

    def to_options(self) -> QuantizationConfigOptions:
        """The same for an `OperatorsSet`."""
        return QuantizationConfigOptions([self.to_op_config()])
