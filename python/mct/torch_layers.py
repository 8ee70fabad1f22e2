# SPDX-License-Identifier: Apache-2.0
"""Names of `mct_quantizers` for modules of PyTorch: a layer with quantized weights, and a place that quantizes.

The compiler computes the values and their gradients, in float32 on the processor, as it does at the points of a
network; `mct.train` trains a whole network without going through PyTorch, and far faster. Needs PyTorch.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from mct import quantizers
from mct._point_function import PointFunction
from mct.errors import describe
from mct.target_platform import TargetError

__all__ = ["PytorchActivationQuantizationHolder", "PytorchQuantizationWrapper", "quantize_tensor"]


class _Quantize(torch.autograd.Function):  # type: ignore[misc]
    """The values of a point, with the gradients that it has in the compiler."""

    @staticmethod
    def forward(ctx: Any, function: PointFunction, *tensors: torch.Tensor) -> torch.Tensor:
        ctx.function = function
        ctx.save_for_backward(*tensors)
        return _to_tensor(function.values(_to_arrays(tensors)), tensors[0])

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        tensors = ctx.saved_tensors
        (gradient,) = _to_arrays(gradients)
        found = ctx.function.gradients(_to_arrays(tensors), gradient)
        return None, *(_to_tensor(one, tensor) for one, tensor in zip(found, tensors, strict=True))


def _to_arrays(tensors: Sequence[torch.Tensor]) -> list[Any]:
    return [np.ascontiguousarray(one.detach().to("cpu", torch.float32).numpy()) for one in tensors]


def _to_tensor(array: Any, like: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(array).to(like.device, like.dtype)


def quantize_tensor(
    tensor: torch.Tensor,
    attribute: str,
    learned: Sequence[torch.Tensor] = (),
    *,
    axis: int | None = None,
    is_weight: bool = False,
) -> torch.Tensor:
    """Returns what a point makes of a tensor, differentiable by it and by what the point learns.

    attribute: `parameters(…)` or `trainable(…)`, as a `tpc.quantize` has them.
    learned:   what the point learns: one number each, or one for each channel.
    axis:      of the channels of a weight; None: one parameter for the tensor.
    """
    if not tensor.is_floating_point():
        raise TargetError(f"a quantizer takes a tensor of real numbers, not of {tensor.dtype}; convert it by .float()")
    if tensor.numel() == 0:
        return tensor
    # Networks of torch have the channels second, those of the compiler last.
    is_moved = not is_weight and tensor.ndim > 2
    shaped = tensor.reshape(1) if tensor.ndim == 0 else tensor.movedim(1, -1) if is_moved else tensor
    function = PointFunction.of(shaped.shape, attribute, axis=axis, is_weight=is_weight, num_learned=len(learned))
    count = int(np.prod(function.learned))
    for one in learned:
        if one.numel() not in (1, count):
            raise TargetError(
                f"a tensor of shape {tuple(tensor.shape)} has {count} channels along axis {axis}, but its quantizer "
                f"has {one.numel()} parameters; set the axis of the channels, or one parameter"
            )
    tensors = [one.reshape(-1).expand(count).reshape(function.learned) for one in learned]
    quantized: torch.Tensor = _Quantize.apply(function, shaped, *tensors)
    return quantized.movedim(-1, 1) if is_moved else quantized.reshape(tensor.shape)


class _Owner(nn.Module):  # type: ignore[misc]
    """A module on which quantizers make their variables, by the calls of Keras, too."""

    def add_weight(
        self,
        name: str,
        shape: Sequence[int] = (),
        initializer: Callable[..., Any] | float = 0.0,
        trainable: bool = True,
        **ignored: Any,
    ) -> nn.Parameter:
        """Makes a parameter. `initializer`: a number, or a function that makes an array of a shape."""
        made = initializer(tuple(shape)) if callable(initializer) else initializer
        values = np.array(np.broadcast_to(np.asarray(made, np.float32), tuple(shape)))
        parameter = nn.Parameter(torch.from_numpy(values), requires_grad=trainable)
        self.register_parameter(name, parameter)
        return parameter

    def _drop_variables(self, kept: Sequence[str] = ()) -> None:
        """Removes the variables of quantizers that are no longer used."""
        for name in [name for name in self._parameters if name not in kept]:
            del self._parameters[name]


def _check_quantizer(owner: str, quantizer: Any) -> None:
    if not callable(quantizer) or not hasattr(quantizer, "initialize_quantization"):
        raise TargetError(
            f"{owner} takes a quantizer of mct.quantizers or a BaseTrainableQuantizer, not {describe(quantizer)}"
        )


def _call(quantizer: Any, tensor: torch.Tensor, training: bool) -> torch.Tensor:
    """Calls a quantizer, whose `__call__` need not take `training`."""
    takes = "training" in inspect.signature(quantizer.__call__).parameters
    found: torch.Tensor = quantizer(tensor, training) if takes else quantizer(tensor)
    return found


def _to_inferable(quantizer: Any) -> Any:
    return quantizer.convert2inferable() if hasattr(quantizer, "convert2inferable") else quantizer


class PytorchQuantizationWrapper(_Owner):
    """A layer whose weights are quantized in each call. The float weights are parameters of this module, by name.

    module:             a module of PyTorch, or a function that takes constants.
    weights_quantizers: by name of a weight (of a constant its position among the arguments) its quantizer.
    weight_values:      the constants of a function, by position.
    op_call_args, op_call_kwargs: further arguments of the function.
    is_inputs_as_list:  whether the function takes its tensors as one list.
    """

    def __init__(
        self,
        module: nn.Module | Callable[..., Any],
        weights_quantizers: Mapping[Any, Any],
        weight_values: Mapping[int, torch.Tensor] | None = None,
        op_call_args: Sequence[Any] | None = None,
        op_call_kwargs: Mapping[str, Any] | None = None,
        is_inputs_as_list: bool = False,
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        if not callable(module):
            raise TargetError(f"{owner}: module must be a module of PyTorch or a function, but is {describe(module)}")
        values = dict(weight_values or {})
        self.layer = module
        self.weights_quantizers = dict(weights_quantizers)
        self.op_call_args, self.op_call_kwargs = list(op_call_args or ()), dict(op_call_kwargs or {})
        self.is_inputs_as_list = is_inputs_as_list
        self._is_by_position = bool(values)
        for quantizer in self.weights_quantizers.values():
            _check_quantizer(owner, quantizer)
        if values and set(values) != set(self.weights_quantizers):
            raise TargetError(
                f"{owner}: weights_quantizers has {sorted(map(str, self.weights_quantizers))}, and weight_values "
                f"{sorted(map(str, values))}; each constant needs a value and a quantizer"
            )
        for key in self.weights_quantizers:
            value = values[key] if values else self._take_weight(owner, key)
            if not isinstance(value, torch.Tensor):
                raise TargetError(f"{owner}: the constant at position {key} must be a tensor, but is {describe(value)}")
            parameter = nn.Parameter(value.detach().clone(), requires_grad=not values)
            self.register_parameter(self._name_of(key), parameter)
        self._initialize()

    def _take_weight(self, owner: str, name: Any) -> torch.Tensor:
        """Returns a weight of the layer, which has a plain tensor in its place."""
        weight = getattr(self.layer, name, None) if isinstance(name, str) else None
        if not isinstance(weight, torch.Tensor):
            known = [name for name, _ in self.layer.named_parameters()] if isinstance(self.layer, nn.Module) else []
            raise TargetError(
                f"{owner}: the layer has no weight {name!r}; it has {', '.join(known) or 'none'}. Constants of a "
                "function go by position, with their weight_values"
            )
        delattr(self.layer, name)
        setattr(self.layer, name, weight.detach())
        return weight

    def _name_of(self, key: Any) -> str:
        return f"pos_weight_{key}" if self._is_by_position else str(key)

    def _initialize(self) -> None:
        for key, quantizer in self.weights_quantizers.items():
            name = self._name_of(key)
            quantizer.initialize_quantization(self._parameters[name].shape, name, self)

    @property
    def is_weights_quantization(self) -> bool:
        """Returns whether there is a quantizer."""
        return bool(self.weights_quantizers)

    @property
    def num_weights_quantizers(self) -> int:
        """The number of quantizers."""
        return len(self.weights_quantizers)

    def get_weights_vars(self) -> list[tuple[Any, Any, Any]]:
        """Returns name, float weight and quantizer of each weight."""
        return [(key, self._parameters[self._name_of(key)], one) for key, one in self.weights_quantizers.items()]

    def get_quantized_weights(self) -> dict[Any, torch.Tensor]:
        """Returns the quantized weights by name."""
        return {key: _call(quantizer, weight, self.training) for key, weight, quantizer in self.get_weights_vars()}

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        quantized = self.get_quantized_weights()
        given: list[Any] = list(args)
        if self._is_by_position:
            for position in sorted(quantized):
                given.insert(position, quantized[position])
        else:
            for name, weight in quantized.items():
                setattr(self.layer, name, weight)
        operands = [given] if self.is_inputs_as_list else given
        results = self.layer(*operands, *self.op_call_args, **(self.op_call_kwargs | kwargs))
        # Copies of a module cannot have tensors of a graph.
        for name, weight in quantized.items() if not self._is_by_position else ():
            setattr(self.layer, name, weight.detach())
        return results

    def convert_to_inferable_quantizers(self) -> None:
        """Trainable quantizers become the ordinary ones that have what was learned."""
        self.weights_quantizers = {key: _to_inferable(one) for key, one in self.weights_quantizers.items()}
        self._drop_variables([self._name_of(key) for key in self.weights_quantizers])
        self._initialize()


class PytorchActivationQuantizationHolder(_Owner):
    """A place in a network with one quantizer.

    activation_holder_quantizer: one of `mct.quantizers`, or a trainable one.
    """

    def __init__(self, activation_holder_quantizer: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        _check_quantizer(type(self).__name__, activation_holder_quantizer)
        self.activation_holder_quantizer = activation_holder_quantizer
        self.activation_holder_quantizer.initialize_quantization(None, "activation_holder_quantizer_out", self)

    def forward(self, inputs: Any) -> Any:
        if not isinstance(inputs, torch.Tensor):
            return quantizers.quantize(_to_inferable(self.activation_holder_quantizer), inputs)
        return _call(self.activation_holder_quantizer, inputs, self.training)

    def convert_to_inferable_quantizers(self) -> None:
        """A trainable quantizer becomes the ordinary one that has what was learned."""
        self.activation_holder_quantizer = _to_inferable(self.activation_holder_quantizer)
        self._drop_variables()
