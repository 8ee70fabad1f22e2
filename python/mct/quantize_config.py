# SPDX-License-Identifier: Apache-2.0
"""`QuantizeConfig` of TensorFlow's model optimization toolkit: how the layers of a network are quantized, as code.

    layers = mct.quantize_config.layers(model)
    annotated = quantize_annotate_layer(layers["dense"], MyDenseQuantizeConfig())
    quantized = quantize_apply(annotated)

or, for the layers of a kind on a target, `tp.OperatorsSet("FullyConnected", MyDenseQuantizeConfig().to_options())`.

A quantizer of your own is a subclass of `Quantizer` (or of `mct.trainable_infrastructure.BaseTrainableQuantizer`) that
computes on numpy arrays. Its point calls it wherever the network runs from Python, one call at a time and on one
thread: for a try, not for speed. Elsewhere such a network is an error, until `convert2inferable` has made the point an
ordinary one.
"""

from __future__ import annotations

import abc
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from mct import _host
from mct.errors import describe
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
from mct.target_platform._predicates import quote, write_real
from mct.target_platform._schema import Frozen, check_bits, check_bool
from mct.trainable_infrastructure import BaseTrainableQuantizer, TrainableQuantizerWeightsConfig, VariableOwner

if TYPE_CHECKING:
    from mct.model import AnnotatedModel, Model

Q = TypeVar("Q", bound="Quantizer")
C = TypeVar("C", bound="QuantizeConfig")

# ----------------------------------------------------------------------------------------------------------------------
# Quantizers
# ----------------------------------------------------------------------------------------------------------------------


class Quantizer:
    """Base of quantizers. One of your own has

    build(tensor_shape, name, layer)        what `__call__` gets as `weights`; makes variables by `layer.add_weight`;
                                            sizes that differ from batch to batch are None
    __call__(inputs, training, weights)     what it makes of an array of float32, of the same shape
    get_config()                            what its constructor is given when it is made again
    backward(inputs, gradients)             optional: what comes back to the inputs; else straight-through
    convert2inferable()                     optional: the quantizer of `mct.quantizers` that it becomes
    """

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        _host.register(cls)

    def build(self, tensor_shape: Sequence[int | None], name: str, layer: VariableOwner) -> dict[str, Any]:
        return {}

    def __call__(
        self, inputs: npt.NDArray[np.float32], training: bool, weights: Mapping[str, Any], **kwargs: Any
    ) -> npt.NDArray[np.float32]:
        raise NotImplementedError(f"{type(self).__name__} has no __call__(inputs, training, weights), which quantizes")

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} has no get_config, which says how to make it again")

    @classmethod
    def from_config(cls: type[Q], config: Mapping[str, Any]) -> Q:
        return cls(**config)

    def to_attribute(self) -> str | None:
        """The attribute of a point with this quantizer; None: no quantizer."""
        return _host.write_quantizer(self)


class _ObservedRange(Frozen, Quantizer):
    """A grid that covers a range, which training shows to it.

    num_bits:     width.
    per_axis:     one grid per output channel, of a weight.
    symmetric:    as wide on both sides of zero.
    narrow_range: without the lowest level.
    """

    _OBSERVER: ClassVar[str]

    def __init__(
        self, num_bits: int = 8, per_axis: bool = False, symmetric: bool = False, narrow_range: bool = False
    ) -> None:
        owner = type(self).__name__
        self.num_bits = check_bits(owner, "num_bits", num_bits)
        self.per_axis = check_bool(owner, "per_axis", per_axis)
        self.symmetric = check_bool(owner, "symmetric", symmetric)
        self.narrow_range = check_bool(owner, "narrow_range", narrow_range)

    @property
    def method(self) -> QuantizationMethod:
        return QuantizationMethod.SYMMETRIC if self.symmetric else QuantizationMethod.UNIFORM

    def get_config(self) -> dict[str, Any]:
        return dict(vars(self))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def to_attribute(self) -> str | None:
        symmetric = ", is_symmetric = true" if self.symmetric else ""
        narrow = ", is_narrow = true" if self.narrow_range else ""
        return f"#tpc.observed_range<observer = {self._OBSERVER}, bits = {self.num_bits}{symmetric}{narrow}>"


class LastValueQuantizer(_ObservedRange):
    __doc__ = (_ObservedRange.__doc__ or "").replace("which training shows to it", "that of the last values")
    _OBSERVER = "last_value"

    def __init__(
        self, num_bits: int = 8, per_axis: bool = False, symmetric: bool = True, narrow_range: bool = False
    ) -> None:
        super().__init__(num_bits, per_axis, symmetric, narrow_range)


class MovingAverageQuantizer(_ObservedRange):
    __doc__ = (_ObservedRange.__doc__ or "").replace("which training shows to it", "a moving average of ranges")
    _OBSERVER = "moving_average"


class AllValuesQuantizer(_ObservedRange):
    __doc__ = (_ObservedRange.__doc__ or "").replace("which training shows to it", "that of all values")
    _OBSERVER = "all_values"


class FixedQuantizer(Frozen, Quantizer):
    """A grid that covers a given range: that of `mct.fix_ranges`.

    num_bits:           width. TensorFlow's own always has 8.
    init_min, init_max: the range; it is moved so that zero is a level.
    narrow_range:       the range is that of the levels without the lowest one.
    """

    per_axis = False

    def __init__(self, num_bits: int, init_min: float, init_max: float, narrow_range: bool = False) -> None:
        owner = type(self).__name__
        self.num_bits = check_bits(owner, "num_bits", num_bits)
        if not init_min <= 0 <= init_max or init_min == init_max or not math.isfinite(init_max - init_min):
            raise TargetError(f"{owner}: the range must hold zero, but is from {init_min!r} to {init_max!r}")
        self.init_min, self.init_max = float(init_min), float(init_max)
        self.narrow_range = check_bool(owner, "narrow_range", narrow_range)
        if narrow_range and num_bits == 1:
            raise TargetError(f"{owner}: 1 bit has no levels but the lowest and another; say narrow_range=False")
        with np.errstate(all="ignore"):
            is_normal = all(np.isfinite(one) and one > 0 for one in (self._step(), 1 / self._step()))
        if not is_normal:
            raise TargetError(f"{owner}: the range from {init_min!r} to {init_max!r} has no step of float32")

    def get_config(self) -> dict[str, Any]:
        return dict(vars(self))

    def _step(self) -> np.float32:
        steps = (1 << self.num_bits) - 1 - self.narrow_range
        return (np.float32(self.init_max) - np.float32(self.init_min)) * np.float32(1 / steps)

    def to_attribute(self) -> str | None:
        # As `mct-fix-ranges` computes it, one operation of float32 after the other.
        step = self._step()
        lowest, highest = np.float32(self.narrow_range), np.float32((1 << self.num_bits) - 1)
        below = np.float32(self.init_min) * (np.float32(1) / step)
        zero_point = math.floor(np.clip(lowest - below, lowest, highest) + np.float32(0.5 + float(highest) * 2.0**-20))
        return (
            f"#tpc.uniform<scale = [{write_real(float(step))}], zero_point = [{zero_point}], bits = {self.num_bits}, "
            "rounding = half_up>"
        )


class NoQuantizer(Frozen, Quantizer):
    """Leaves values as they are."""

    per_axis = False

    def get_config(self) -> dict[str, Any]:
        return {}

    def to_attribute(self) -> str | None:
        return None


# ----------------------------------------------------------------------------------------------------------------------
# Layers
# ----------------------------------------------------------------------------------------------------------------------


class _Part(Frozen):
    """A weight or an activation of a layer; once it has been given a quantizer, the quantized one."""

    def __init__(self, name: str, quantized: bool = False) -> None:
        self.name = name
        self.quantized = quantized

    def __repr__(self) -> str:
        return f"<{'quantized ' if self.quantized else ''}{self.name}>"


class Layer:
    """An operator of a network as a `QuantizeConfig` sees it: with kernel, bias and activation, which it may set.

    name:         of the value that it makes.
    operator_set: what it is, in the words of targets: "Conv", "FullyConnected", "ReLU", ...
    weights:      names of the weights that it has.
    model:        the network; None of a stand-in for all layers of a kind.
    kernel_axes:  of the kernel, over which its output channels run; None where it is not known.
    """

    def __init__(
        self,
        name: str = "layer",
        operator_set: str | None = None,
        weights: Sequence[str] = (KERNEL_ATTR, BIAS_ATTR),
        model: Model | None = None,
        kernel_axes: Sequence[int] | None = None,
    ) -> None:
        self.name = name
        self.operator_set = operator_set
        self.weights = tuple(weights)
        self.model = model
        self.kernel_axes = None if kernel_axes is None else tuple(kernel_axes)
        self.activation: Any = _Part("activation")
        if KERNEL_ATTR in weights:
            self.kernel: Any = _Part(KERNEL_ATTR)
        if BIAS_ATTR in weights:
            self.bias: Any = _Part(BIAS_ATTR)

    @property
    def depthwise_kernel(self) -> Any:
        """Returns the kernel by the name that a depthwise convolution of Keras has for it."""
        return self.kernel

    @depthwise_kernel.setter
    def depthwise_kernel(self, kernel: Any) -> None:
        self.kernel = kernel

    def __getattr__(self, name: str) -> Any:
        if name in ("kernel", "bias"):
            raise TargetError(f"layer {self.name!r} ({self.operator_set}) has no {name}")
        raise AttributeError(f"layer {self.name!r} has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<{self.operator_set} {self.name!r}>"


# The layer for which a target is queried.
StandInLayer = Layer


def _name_values(model: Model) -> Model:
    from mct.model import Model

    return Model(model.module.run("func.func(mct-raise-linalg,mct-assign-names)"))


def layers(model: Model) -> dict[str, Layer]:
    """The operators of a network by name, in its order; several ops that are one operator are one."""
    from mct import stages

    if isinstance(model, _annotated_class()):
        names = layers(model.base)
        return {name: Layer(name, one.operator_set, one.weights, model, one.kernel_axes) for name, one in names.items()}
    named = _name_values(model)
    explained = json.loads(stages.attach_target(named, "default").explain("json"))
    found = {}
    for function in explained["functions"]:
        for node in function["nodes"]:
            weights = node["options"][0]["weights"] if node["operator_set"] in _KERNELS else {}
            axes = {one["name"]: one.get("axes") for one in node["weights"]}.get(KERNEL_ATTR)
            found[node["name"]] = Layer(node["name"], node["operator_set"], list(weights), named, axes)
    return found


# ----------------------------------------------------------------------------------------------------------------------
# Configurations
# ----------------------------------------------------------------------------------------------------------------------


class QuantizeConfig(abc.ABC):
    """How a layer is quantized: six methods, as TensorFlow's toolkit calls them."""

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        _host.register(cls)

    @abc.abstractmethod
    def get_weights_and_quantizers(self, layer: Any) -> Sequence[tuple[Any, Any]]:
        """Weights of the layer that are quantized, and how."""

    @abc.abstractmethod
    def get_activations_and_quantizers(self, layer: Any) -> Sequence[tuple[Any, Any]]:
        """Activations inside of the layer that are quantized, and how."""

    @abc.abstractmethod
    def set_quantize_weights(self, layer: Any, quantize_weights: Sequence[Any]) -> None:
        """Give the layer its quantized weights, in the order of `get_weights_and_quantizers`."""

    @abc.abstractmethod
    def set_quantize_activations(self, layer: Any, quantize_activations: Sequence[Any]) -> None:
        """Give the layer its quantized activations, in the order of `get_activations_and_quantizers`."""

    @abc.abstractmethod
    def get_output_quantizers(self, layer: Any) -> Sequence[Any]:
        """How the results of the layer are quantized; none of them for an empty list."""

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, for a file."""

    @classmethod
    def from_config(cls: type[C], config: Mapping[str, Any]) -> C:
        """Makes an object of the result of `get_config`."""
        return cls(**config)

    def to_attribute(self, layer: Layer) -> str:
        """The attribute that marks the layer."""
        owner = type(self).__name__
        weights = self._call_method("get_weights_and_quantizers", layer)
        activations = self._call_method("get_activations_and_quantizers", layer)
        for part, _ in weights:
            if part.name not in (KERNEL_ATTR, BIAS_ATTR):
                raise TargetError(f"{owner}: get_weights_and_quantizers may name kernel and bias of a layer only")
        for part, quantizer in weights:
            self._check_axis(layer, part, quantizer)
        for part, quantizer in activations:
            if part.name != "activation":
                raise TargetError(f"{owner}: get_activations_and_quantizers may name the activation of a layer only")
            self._check_activation(quantizer)
        self._check_setters(layer, weights, activations)
        outputs = list(self.get_output_quantizers(layer))
        for quantizer in outputs:
            if not isinstance(quantizer, (Quantizer, BaseTrainableQuantizer)):
                raise TargetError(
                    f"{owner}: get_output_quantizers must give quantizers, but gives {describe(quantizer)}"
                )
            self._check_activation(quantizer)
        by_name = {part.name: text for part, quantizer in weights if (text := quantizer.to_attribute()) is not None}
        per_channel = [quote(part.name) for part, one in weights if part.name in by_name and _is_per_channel(one)]
        listed = ", ".join(f"{name} = {text}" for name, text in by_name.items())
        texts = [
            f"weights = {{{listed}}}",
            f"activations = [{_join(quantizer for _, quantizer in activations)}]",
            f"outputs = [{_join(outputs)}]",
            f"name = {quote(_host.name_of(type(self)))}",
            f"config = {_host.write_attribute(self.get_config())}",
        ]
        if per_channel:
            texts.insert(1, f"per_channel = [{', '.join(per_channel)}]")
        return f"#tpc.quantize_config<{', '.join(texts)}>"

    def to_op_config(self) -> OpQuantizationConfig:
        """The equivalent config of a target."""
        layer = Layer()
        owner = type(self).__name__
        weights: dict[str, AttributeQuantizationConfig] = {}
        for part, quantizer in self._call_method("get_weights_and_quantizers", layer):
            if part.name not in (KERNEL_ATTR, BIAS_ATTR):
                raise TargetError(f"{owner}: get_weights_and_quantizers may name kernel and bias of a layer only")
            grid = self._check_grid(quantizer)
            weights[part.name] = AttributeQuantizationConfig(
                grid.method, grid.num_bits, grid.per_axis, enable_weights_quantization=True
            )
        inner = self._call_method("get_activations_and_quantizers", layer)
        # The layer's own activation function, which comes last, makes its result.
        results = [quantizer for _, quantizer in inner] + list(self.get_output_quantizers(layer))
        for quantizer in results:
            if not isinstance(quantizer, (Quantizer, BaseTrainableQuantizer)):
                raise TargetError(
                    f"{owner}: get_output_quantizers must give quantizers, but gives {describe(quantizer)}"
                )
            self._check_grid(quantizer)
            self._check_activation(quantizer)
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

    def to_options(self) -> QuantizationConfigOptions:
        """The same for an `OperatorsSet`."""
        return QuantizationConfigOptions([self.to_op_config()])

    def _call_method(self, method: str, layer: Layer) -> list[tuple[_Part, Any]]:
        pairs = list(getattr(self, method)(layer))
        for pair in pairs:
            is_pair = isinstance(pair, tuple) and len(pair) == 2
            is_quantizer = is_pair and isinstance(pair[1], (Quantizer, BaseTrainableQuantizer))
            if not is_pair or not isinstance(pair[0], _Part) or not is_quantizer:
                raise TargetError(
                    f"{type(self).__name__}: {method} must give pairs of a part of the layer and a quantizer of "
                    f"mct.quantize_config, but gives {describe(pair)}"
                )
        return pairs

    def _check_activation(self, quantizer: Any) -> None:
        if _is_per_channel(quantizer):
            raise TargetError(f"{type(self).__name__}: an activation has one grid, so its quantizer cannot be per_axis")

    def _check_axis(self, layer: Layer, part: _Part, quantizer: Any) -> None:
        """The layer knows where its channels are."""
        if part.name != KERNEL_ATTR or not _is_per_channel(quantizer) or layer.kernel_axes is None:
            return
        config = getattr(quantizer, "quantization_config", None)
        given = getattr(config, "weights_channels_axis", None)
        axes = given if isinstance(given, tuple) else () if given is None else (given,)
        if not set(axes) <= set(layer.kernel_axes):
            value = layer.kernel_axes[0] if len(layer.kernel_axes) == 1 else layer.kernel_axes
            raise TargetError(
                f"{type(self).__name__}: the channels of the kernel of {describe(layer)} run over axis {value} "
                "here, but "
                f"weights_channels_axis is {describe(given)}; say {value}, or None"
            )

    def _check_grid(self, quantizer: Any) -> _ObservedRange:
        if isinstance(quantizer, _ObservedRange) and not (quantizer.narrow_range and not quantizer.symmetric):
            return quantizer
        raise TargetError(
            f"{type(self).__name__}: a target cannot ask for {describe(quantizer)}; it knows ranges that are "
            "observed, or "
            "quantize_annotate_layer for one network"
        )

    def _check_setters(
        self, layer: Layer, weights: list[tuple[_Part, Any]], activations: list[tuple[_Part, Any]]
    ) -> None:
        """A layer gets what its quantizers make: the methods are called, and must put it where it was."""
        probe = Layer(layer.name, layer.operator_set, layer.weights, layer.model, layer.kernel_axes)
        for method, pairs in (("set_quantize_weights", weights), ("set_quantize_activations", activations)):
            made = [_Part(part.name, quantized=True) for part, _ in pairs]
            getattr(self, method)(probe, list(made))
            for part in made:
                place = {KERNEL_ATTR: "kernel", BIAS_ATTR: "bias"}.get(part.name, part.name)
                if getattr(probe, place) is not part:
                    raise TargetError(
                        f"{type(self).__name__}: {method} must give the layer its quantized {place}, but leaves "
                        f"{getattr(probe, place)!r} there"
                    )


def _is_per_channel(quantizer: Any) -> bool:
    if isinstance(quantizer, BaseTrainableQuantizer):
        config = quantizer.quantization_config
        if not isinstance(config, TrainableQuantizerWeightsConfig):
            return False
        return config.enable_weights_quantization and config.weights_per_channel_threshold
    return bool(getattr(quantizer, "per_axis", False))


def _join(quantizers: Iterator[Any] | Sequence[Any]) -> str:
    return ", ".join(text for one in quantizers if (text := one.to_attribute()) is not None)


class NoOpQuantizeConfig(QuantizeConfig):
    """Quantizes nothing of a layer."""

    def get_weights_and_quantizers(self, layer: Any) -> Sequence[tuple[Any, Any]]:
        return []

    def get_activations_and_quantizers(self, layer: Any) -> Sequence[tuple[Any, Any]]:
        return []

    def set_quantize_weights(self, layer: Any, quantize_weights: Sequence[Any]) -> None:
        pass

    def set_quantize_activations(self, layer: Any, quantize_activations: Sequence[Any]) -> None:
        pass

    def get_output_quantizers(self, layer: Any) -> Sequence[Any]:
        return []

    def get_config(self) -> dict[str, Any]:
        return {}


class Default8BitOutputQuantizeConfig(NoOpQuantizeConfig):
    """Quantizes the result of a layer, and nothing else."""

    def get_output_quantizers(self, layer: Any) -> Sequence[Any]:
        return [MovingAverageQuantizer()]


class Default8BitQuantizeConfig(NoOpQuantizeConfig):
    """Quantizes kernel and activation of a layer.

    per_axis: one grid per output channel of the kernel.
    """

    def __init__(self, per_axis: bool = True) -> None:
        self.per_axis = per_axis

    def get_weights_and_quantizers(self, layer: Any) -> Sequence[tuple[Any, Any]]:
        return [(layer.kernel, LastValueQuantizer(8, self.per_axis, symmetric=True, narrow_range=True))]

    def get_activations_and_quantizers(self, layer: Any) -> Sequence[tuple[Any, Any]]:
        return [(layer.activation, MovingAverageQuantizer())]

    def set_quantize_weights(self, layer: Any, quantize_weights: Sequence[Any]) -> None:
        layer.kernel = quantize_weights[0]

    def set_quantize_activations(self, layer: Any, quantize_activations: Sequence[Any]) -> None:
        layer.activation = quantize_activations[0]

    def get_config(self) -> dict[str, Any]:
        return {"per_axis": self.per_axis}


# ----------------------------------------------------------------------------------------------------------------------
# Schemes
# ----------------------------------------------------------------------------------------------------------------------

_KERNELS = {"Conv": True, "DepthwiseConv2D": True, "ConvTranspose": False, "FullyConnected": False}
_OUTPUTS = ("ReLU", "ReLU6", "LeakyReLU", "Swish", "Gelu", "Add", "Concatenate", "Resize", "AvgPool", "GlobalAvgPool")
_NOTHING = (
    "Softmax",
    "Sigmoid",
    "Tanh",
    "MaxPool",
    "Flatten",
    "Permute",
    "Reshape",
    "Transpose",
    "ZeroPadding2D",
    "Pad",
)


class Default8BitQuantizeRegistry:
    """The default scheme of layers.

    disable_per_axis: one grid for each kernel.
    """

    def __init__(self, disable_per_axis: bool = False) -> None:
        self.disable_per_axis = disable_per_axis

    def supports(self, layer: Layer) -> bool:
        return layer.operator_set in (*_KERNELS, *_OUTPUTS, *_NOTHING)

    def get_quantize_config(self, layer: Layer) -> QuantizeConfig:
        if layer.operator_set in _KERNELS:
            return Default8BitQuantizeConfig(_KERNELS[layer.operator_set] and not self.disable_per_axis)
        if layer.operator_set in _OUTPUTS:
            return Default8BitOutputQuantizeConfig()
        if layer.operator_set in _NOTHING:
            return NoOpQuantizeConfig()
        raise TargetError(
            f"the default scheme has no configuration for {describe(layer)}; give it one by quantize_annotate_layer"
        )


class DefaultNBitQuantizeScheme:
    """The compiler's own scheme: `mct-quantize-apply` describes what it quantizes, and where.

    disable_per_axis:    one grid for each kernel.
    num_bits_weight, num_bits_activation: widths.
    """

    def __init__(self, disable_per_axis: bool = False, num_bits_weight: int = 8, num_bits_activation: int = 8) -> None:
        owner = type(self).__name__
        self.disable_per_axis = check_bool(owner, "disable_per_axis", disable_per_axis)
        self.num_bits_weight = check_bits(owner, "num_bits_weight", num_bits_weight)
        self.num_bits_activation = check_bits(owner, "num_bits_activation", num_bits_activation)

    def get_quantize_registry(self) -> Default8BitQuantizeRegistry:
        return Default8BitQuantizeRegistry(self.disable_per_axis)


class Default8BitQuantizeScheme(DefaultNBitQuantizeScheme):
    """The same with 8 bits.

    disable_per_axis: one grid for each kernel.
    """

    def __init__(self, disable_per_axis: bool = False) -> None:
        super().__init__(disable_per_axis)


# ----------------------------------------------------------------------------------------------------------------------
# Annotating, applying
# ----------------------------------------------------------------------------------------------------------------------


def _annotated_class() -> type[AnnotatedModel]:
    from mct.model import AnnotatedModel

    return AnnotatedModel


def quantize_scope(*objects: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Within the block, modules may name these classes by these names; classes that are subclasses of `Quantizer`,
    `QuantizeConfig` or `BaseTrainableQuantizer` are known by their own names anyway."""
    return _host.scope(*objects)


def make_quantize_config(name: str, config: Mapping[str, Any]) -> QuantizeConfig:
    """The object that a mark names: `name` and `config` of `#tpc.quantize_config`."""
    found = _host.find(name)
    if found is None:
        raise TargetError(f"no class is known by the name {name!r}; define it, or name it in quantize_scope, before")
    made = found.from_config(config)
    if not isinstance(made, QuantizeConfig):
        raise TargetError(f"{name!r} makes, instead of a QuantizeConfig, {describe(made)}")
    return made


def quantize_annotate_layer(layer: Layer, quantize_config: QuantizeConfig | None = None) -> Model:
    """The network of a layer, with the layer marked.

    quantize_config: how it is to be quantized; None: as in the scheme.
    """
    from mct import stages

    if not isinstance(layer, Layer) or layer.model is None:
        raise TargetError(
            f"expected a layer of a network, found {describe(layer)}; mct.quantize_config.layers(model) has them"
        )
    if quantize_config is not None and not isinstance(quantize_config, QuantizeConfig):
        raise TargetError(f"expected a QuantizeConfig, found {quantize_config!r}")
    kind = _annotated_class()
    before = layer.model.annotations if isinstance(layer.model, kind) else {}
    if layer.name in before:
        raise TargetError(f"layer {layer.name!r} is annotated already")
    text = "" if quantize_config is None else quantize_config.to_attribute(layer)
    marked = stages.quantize_annotate(layer.model, layers=[layer.name], config=text.replace("'", "\\27"))
    base = layer.model.base if isinstance(layer.model, kind) else layer.model
    return kind(marked.module, base, {**before, layer.name: quantize_config})


def quantize_annotate_model(model: Model) -> Model:
    """The network with all layers marked; those that are already keep their configurations."""
    from mct import stages

    kind = _annotated_class()
    before = model.annotations if isinstance(model, kind) else {}
    base = model.base if isinstance(model, kind) else _name_values(model)
    marked = stages.quantize_annotate(model)
    return kind(marked.module, base, {**dict.fromkeys(layers(base)), **before})


def quantize_apply(model: Model, scheme: Any = None) -> Model:
    """The network with the quantizers that its marks request; `mct.qat` trains it.

    scheme: what layers get that were annotated without a configuration; None: `Default8BitQuantizeScheme()`. One of
            your own has `get_quantize_registry`, whose `supports(layer)` and `get_quantize_config(layer)` are called.
    """
    from mct import stages

    scheme = Default8BitQuantizeScheme() if scheme is None else scheme
    if isinstance(scheme, DefaultNBitQuantizeScheme):
        return stages.quantize_apply(
            model,
            weight_bits=scheme.num_bits_weight,
            activation_bits=scheme.num_bits_activation,
            per_channel=not scheme.disable_per_axis,
        )
    if not isinstance(model, _annotated_class()):
        raise TargetError("a scheme of your own needs what quantize_annotate_layer or quantize_annotate_model returned")
    registry = scheme.get_quantize_registry()
    marked = model.base
    for name, config in model.annotations.items():
        layer = layers(marked)[name]
        if config is None:
            if not registry.supports(layer):
                raise TargetError(
                    f"the scheme does not support {describe(layer)}; give it a configuration by quantize_annotate_layer"
                )
            config = registry.get_quantize_config(layer)
        marked = quantize_annotate_layer(layer, config)
    return stages.quantize_apply(marked)


def quantize_model(model: Model) -> Model:
    """Returns `quantize_apply(quantize_annotate_model(model))`."""
    return quantize_apply(quantize_annotate_model(model))
