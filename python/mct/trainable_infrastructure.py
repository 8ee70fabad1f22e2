# SPDX-License-Identifier: Apache-2.0
"""Names of MCT below `mct.trainable_infrastructure`: quantizers that are trained, and what they start from.

The compiler has the quantizers that MCT has. A method of your own is a subclass of `BaseTrainableQuantizer`, of which
Keras' and torch's base classes are other names: it computes on numpy arrays, and a point calls it back. Each array
crosses from the compiler to Python and back, one at a time: for a try, not for speed.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from mct import _host
from mct.constants import LUT_VALUES, MIN_THRESHOLD, RANGE_MAX, RANGE_MIN, SIGNED, THRESHOLD
from mct.errors import describe
from mct.target_platform import QuantizationMethod, TargetError
from mct.target_platform._predicates import write_real
from mct.target_platform._schema import Frozen, check_bits, check_bool, check_enum

__all__ = [
    "LUT_VALUES",
    "MIN_THRESHOLD",
    "RANGE_MAX",
    "RANGE_MIN",
    "SIGNED",
    "THRESHOLD",
    "BaseKerasTrainableQuantizer",
    "BasePytorchTrainableQuantizer",
    "BaseTrainableQuantizer",
    "QuantizationTarget",
    "RoundingType",
    "TrainableQuantizerActivationConfig",
    "TrainableQuantizerCandidateConfig",
    "TrainableQuantizerWeightsConfig",
    "TrainingMethod",
    "Variable",
    "VariableGroup",
    "VariableOwner",
    "get_trainable_quantizer_class",
    "mark_quantizer",
]

B = TypeVar("B")
Q = TypeVar("Q", bound="BaseTrainableQuantizer")
C = TypeVar("C", bound=type)


class QuantizationTarget(Enum):
    """The kind of tensor of a quantizer."""

    Activation = "Activation"
    Weights = "Weights"


class TrainingMethod(Enum):
    """How quantizers of quantization-aware training learn. `DQA` is declared, as in MCT, and nothing implements it."""

    STE = "STE"
    DQA = "DQA"
    LSQ = "LSQ"


class RoundingType(Enum):
    """How gradient-based post-training quantization rounds weights."""

    STE = 0
    SoftQuantizer = 1


class VariableGroup(Enum):
    """Kind of a variable of a quantizer: one for each weight (offsets of its rounding), or a parameter of the grid."""

    WEIGHTS = 0
    QPARAMS = 1


# ----------------------------------------------------------------------------------------------------------------------
# Configurations
# ----------------------------------------------------------------------------------------------------------------------


def _numbers(owner: str, name: str, value: Any) -> list[float]:
    """One number, or one per channel."""
    values = value.ravel().tolist() if hasattr(value, "ravel") else value
    values = list(values) if isinstance(values, Iterable) else [values]
    for one in values:
        if isinstance(one, bool) or not isinstance(one, (int, float)) or not math.isfinite(one):
            raise TargetError(f"{owner}: {name} must be numbers, but is {describe(value)}")
    return [float(one) for one in values]


def _check_axes(owner: str, value: Any) -> int | tuple[int, ...] | None:
    """One axis, several, or None."""
    value = value.tolist() if hasattr(value, "tolist") else value
    is_list = isinstance(value, (list, tuple))
    for axis in value if is_list else [] if value is None else [value]:
        if isinstance(axis, bool) or not isinstance(axis, int):
            raise TargetError(f"{owner}: weights_channels_axis must be an axis of the kernel, but is {describe(value)}")
    axes: int | tuple[int, ...] | None = tuple(value) if is_list else value
    return axes


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
            raise TargetError(
                f"{owner}: {side}_quantization_params must be a dictionary, but is {describe(parameters)}"
            )
        setattr(self, f"{side}_quantization_params", dict(parameters))
        name = "enable_weights_quantization" if side == "weights" else "enable_activation_quantization"
        setattr(self, name, check_bool(owner, name, enabled))
        is_number = isinstance(min_threshold, (int, float)) and not isinstance(min_threshold, bool)
        if not is_number or not 0 <= min_threshold < math.inf:
            raise TargetError(f"{owner}: min_threshold must be a number from 0 on, but is {describe(min_threshold)}")
        self.min_threshold = min_threshold

    def _write(self, side: str) -> str:
        owner = type(self).__name__
        method: QuantizationMethod = getattr(self, f"{side}_quantization_method")
        bits: int = getattr(self, f"{side}_n_bits")
        parameters: Mapping[str, Any] = getattr(self, f"{side}_quantization_params")
        if not getattr(self, f"enable_{side}_quantization"):
            raise TargetError(
                f"{owner}: enable_{side}_quantization is False, so there are no parameters; say True, or leave out "
                "what asks for them"
            )

        def needed(key: str, *others: str) -> list[float]:
            if key not in parameters:
                all_needed = ", ".join(f"{describe(one)}: ..." for one in (key, *others))
                raise TargetError(
                    f"{owner}: a quantizer of method {method.name} needs the parameter {key!r}, but has "
                    f"{', '.join(map(repr, parameters)) or 'none'}; give "
                    f"{side}_quantization_params={{{all_needed}}}"
                )
            return _numbers(owner, key, parameters[key])

        if method is QuantizationMethod.UNIFORM:
            scales, zero_points = [], []
            for low, high in zip(needed(RANGE_MIN, RANGE_MAX), needed(RANGE_MAX), strict=True):
                low, high = min(low, 0.0), max(high, 0.0)
                if low == high:
                    raise TargetError(f"{owner}: the range from {low} to {high} is empty")
                scales.append((high - low) / ((1 << bits) - 1))
                zero_points.append(round(-low / scales[-1]))
            points = ", ".join(map(str, zero_points))
            return f"#tpc.uniform<scale = {_write_list(scales)}, zero_point = [{points}], bits = {bits}>"
        thresholds = [max(threshold, self.min_threshold) for threshold in needed(THRESHOLD)]
        if min(thresholds) <= 0:
            raise TargetError(f"{owner}: a threshold must be above 0, but is {min(thresholds)}; give a min_threshold")
        sign = "" if parameters.get(SIGNED, True) else ", is_signed = false"
        if method in (QuantizationMethod.POWER_OF_TWO, QuantizationMethod.SYMMETRIC):
            if method is QuantizationMethod.POWER_OF_TWO:
                thresholds = [2.0 ** math.ceil(math.log2(threshold)) for threshold in thresholds]
            return f"#tpc.{method.name.lower()}<threshold = {_write_list(thresholds)}, bits = {bits}{sign}>"
        table = ", ".join(str(int(entry)) for entry in sorted(needed(LUT_VALUES)))
        return (
            f"#tpc.lookup_table<method = {method.name.lower()}, threshold = {_write_list(thresholds)}, "
            f"table = [{table}], bits = {bits}{sign}>"
        )


class TrainableQuantizerCandidateConfig(Frozen):
    """Another width that a quantizer may have.

    n_bits:              width.
    quantization_params: parameters by key, for that width.
    """

    def __init__(self, n_bits: int, quantization_params: Mapping[str, Any]) -> None:
        self.n_bits = check_bits(type(self).__name__, "n_bits", n_bits)
        self.quantization_params = dict(quantization_params)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TrainableQuantizerCandidateConfig) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class TrainableQuantizerWeightsConfig(_QuantizerConfig):
    """The quantizer of a weight.

    weights_quantization_method, weights_n_bits: its method and bits.
    weights_quantization_params:   by key its parameters: `THRESHOLD`, or `RANGE_MIN` and `RANGE_MAX` of a uniform one.
    enable_weights_quantization:   whether the weight is quantized; if not, its quantizer is put nowhere.
    weights_channels_axis:         axis, or axes, over which output channels run in the kernel as a quantizer gets it:
                                   `kernel_axes` of a layer of `mct.quantize_config`, which takes no other one for
                                   parameters per channel; None: as the layer has them.
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
        self.weights_channels_axis = _check_axes(owner, weights_channels_axis)
        self.weights_per_channel_threshold = check_bool(
            owner, "weights_per_channel_threshold", weights_per_channel_threshold
        )
        self.weights_quantization_candidates = weights_quantization_candidates

    @property
    def weights_bits_candidates(self) -> list[Any] | None:
        """Returns the candidates by the name that they have in MCT."""
        return self.weights_quantization_candidates

    def to_mlir(self) -> str:
        """The parameters of a `tpc.quantize` of a weight."""
        return self._write("weights")


class TrainableQuantizerActivationConfig(_QuantizerConfig):
    """The quantizer of an activation.

    activation_quantization_method, activation_n_bits: its method and bits.
    activation_quantization_params: by key its parameters: `THRESHOLD` and `SIGNED`, or `RANGE_MIN` and `RANGE_MAX`.
    enable_activation_quantization: whether the activation is quantized; if not, its quantizer is put nowhere.
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

    @property
    def activation_bits_candidates(self) -> list[Any] | None:
        """Returns the candidates by the name that they have in MCT."""
        return self.activation_quantization_candidates

    def to_mlir(self) -> str:
        """The parameters of a `tpc.quantize` of an activation."""
        return self._write("activation")


# ----------------------------------------------------------------------------------------------------------------------
# Variables
# ----------------------------------------------------------------------------------------------------------------------


class Variable:
    """Numbers that a quantizer keeps, and may learn.

    name:      of the variable.
    value:     float32.
    trainable: whether it is learned; PyTorch's word for it is `requires_grad`.
    """

    def __init__(self, name: str, value: npt.ArrayLike, trainable: bool = True) -> None:
        self.name = name
        self.value: npt.NDArray[np.float32] = np.array(value, np.float32)
        self.trainable = trainable

    @property
    def requires_grad(self) -> bool:
        return self.trainable

    def assign(self, value: npt.ArrayLike) -> None:
        """Other numbers, of the same shape or of one that fills it."""
        self.value[...] = value

    def numpy(self) -> npt.NDArray[np.float32]:
        return self.value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False and dtype not in (None, np.float32):
            raise ValueError("a variable is of float32")
        return np.array(self.value, dtype) if copy or dtype is not None else self.value

    def __repr__(self) -> str:
        return f"Variable({self.name!r}, {self.value.tolist()!r}, trainable={self.trainable})"


class VariableOwner:
    """Creates the variables of a quantizer: the layer that `initialize_quantization` is given.

    name:      of the layer.
    variables: by name, in the order in which they were made.
    """

    def __init__(self, name: str = "layer") -> None:
        self.name = name
        self.variables: dict[str, Variable] = {}

    def add_weight(
        self,
        name: str,
        shape: Sequence[int] = (),
        initializer: Callable[..., Any] | float = 0.0,
        trainable: bool = True,
        **ignored: Any,
    ) -> Variable:
        """Adds a variable, by the name of the method in Keras.

        `initializer` is a number, or a function that makes an array of a shape.
        """
        if None in shape:
            raise TargetError(
                f"layer {self.name!r}: variable {name!r} cannot have the shape {tuple(shape)}: None is a size that "
                "differs from batch to batch; say 1, which fits all"
            )
        made = initializer(tuple(shape)) if callable(initializer) else initializer
        return self._add(Variable(name, np.broadcast_to(np.asarray(made, np.float32), tuple(shape)), trainable))

    def register_parameter(self, name: str, param: Any) -> None:
        """Adds a variable, by the name of the method in PyTorch; `param` is a variable, or an array of its numbers."""
        if not isinstance(param, Variable):
            array = param.detach().numpy() if hasattr(param, "detach") else param
            param = Variable(name, array, bool(getattr(param, "requires_grad", True)))
        self._add(param, name)

    def get_parameter(self, name: str) -> Variable:
        if name not in self.variables:
            raise TargetError(f"layer {self.name!r} has no variable {name!r}; known: {', '.join(self.variables)}")
        return self.variables[name]

    def _add(self, variable: Variable, name: str | None = None) -> Variable:
        name = variable.name if name is None else name
        if name in self.variables:
            raise TargetError(f"layer {self.name!r} has a variable {name!r} already")
        self.variables[name] = variable
        return variable


def _is_trainable(name: str, variable: Any) -> bool:
    for flag in ("trainable", "requires_grad"):
        if hasattr(variable, flag):
            return bool(getattr(variable, flag))
    raise TargetError(
        f"variable {name!r} says neither `trainable` nor `requires_grad`; make it by `add_weight` of the layer"
    )


# ----------------------------------------------------------------------------------------------------------------------
# Quantizers
# ----------------------------------------------------------------------------------------------------------------------


def mark_quantizer(
    quantization_target: QuantizationTarget, quantization_method: Sequence[QuantizationMethod], identifier: Any = None
) -> Callable[[C], C]:
    """Says of a class of quantizers what it is for; `get_trainable_quantizer_class` finds it by that.

    quantization_target: weights or activations.
    quantization_method: the methods that it can do.
    identifier:          which of several it is: a `TrainingMethod`, a `RoundingType`, or an object of yours.
    """
    target = check_enum("mark_quantizer", "quantization_target", quantization_target, QuantizationTarget)
    if not isinstance(quantization_method, (list, tuple)) or not quantization_method:
        raise TargetError(f"mark_quantizer: quantization_method must be a list, but is {quantization_method!r}")
    methods = [
        check_enum("mark_quantizer", "quantization_method", one, QuantizationMethod) for one in quantization_method
    ]

    def mark(quantizer_class: C) -> C:
        marked: Any = quantizer_class
        marked.quantization_target = target
        marked.quantization_method = methods
        marked.identifier = identifier
        return quantizer_class

    return mark


def _all_subclasses(base: type[Any]) -> list[type[Any]]:
    found: dict[type[Any], None] = {}
    for subclass in base.__subclasses__():
        found[subclass] = None
        found |= dict.fromkeys(_all_subclasses(subclass))
    return list(found)


def find_quantizer_class(
    quant_target: QuantizationTarget, quantizer_id: Any, quant_method: QuantizationMethod, quantizer_base_class: type[B]
) -> type[B]:
    """The one subclass of the base class that is marked so."""
    found = [
        subclass
        for subclass in _all_subclasses(quantizer_base_class)
        if getattr(subclass, "quantization_target", None) is quant_target
        and quant_method in (getattr(subclass, "quantization_method", None) or ())
        and getattr(subclass, "identifier", None) == quantizer_id
    ]
    # A class of a script takes precedence over one of this package, whichever is imported first.
    found = [one for one in found if one.__module__ != "mct.trained_quantizers"] or found
    if len(found) == 1:
        return found[0]
    names = "".join(f" {subclass.__qualname__}," for subclass in found).rstrip(",")
    raise TargetError(
        f"a quantizer of {quant_target.value} by {quant_method.name} with the identifier {quantizer_id!r} must be one "
        f"subclass of {quantizer_base_class.__name__}, but {len(found)} were found:{names or ' none is marked so'}"
    )


class BaseTrainableQuantizer:
    """Base of quantizers that are trained: those of your own, on numpy arrays.

    A subclass is marked (`mark_quantizer`), takes a configuration and nothing else that has no default, and has

        initialize_quantization(tensor_shape, name, layer)   once: makes its variables, by `layer.add_weight`; sizes
                                                             that differ from batch to batch are None
        __call__(inputs, training)                           what it makes of an array of float32, of the same shape
        backward(inputs, gradients)                          optional: what comes back to the inputs; without it,
                                                             the gradients as they are (straight-through)
        convert2inferable()                                  optional: the ordinary quantizer that it becomes
        get_config()                                         where the constructor takes more than the base: that, too

    quantization_config: of the weight or the activation.
    freeze_quant_params: its parameters are not learned, which the subclass promises.
    """

    quantization_target: ClassVar[QuantizationTarget | None] = None
    quantization_method: ClassVar[Sequence[QuantizationMethod] | None] = None
    identifier: ClassVar[Any] = None

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        _host.register(cls)

    def __init__(
        self,
        quantization_config: TrainableQuantizerWeightsConfig | TrainableQuantizerActivationConfig,
        freeze_quant_params: bool = False,
    ) -> None:
        self._check_signature()
        owner = type(self).__name__
        if self.quantization_target is None or not self.quantization_method:
            raise TargetError(
                f"{owner} says neither what it quantizes nor how; decorate it with "
                "@mark_quantizer(quantization_target=..., quantization_method=[...], identifier=...)",
                mct="Quantizer class inheriting from 'BaseTrainableQuantizer' is improperly defined. "
                "Ensure it includes the '@mark_quantizer' decorator and is correctly applied.",
            )
        is_weights = self.quantization_target is QuantizationTarget.Weights
        kind = TrainableQuantizerWeightsConfig if is_weights else TrainableQuantizerActivationConfig
        if not isinstance(quantization_config, kind):
            raise TargetError(
                f"{owner} is a quantizer of {self.quantization_target.value} and takes a {kind.__name__}, "
                f"not {describe(quantization_config)}",
                mct="Expected weight quantization configuration; received activation quantization instead."
                if is_weights
                else "Expected activation quantization configuration; received weight quantization instead.",
            )
        method = _method_of(quantization_config)
        if method not in self.quantization_method:
            known = ", ".join(one.name for one in self.quantization_method)
            raise TargetError(
                f"{owner} quantizes by {known}, but its configuration asks for {method.name}",
                mct=f"Quantization method mismatch. Expected methods: {list(self.quantization_method)}, "
                f"received: {method}.",
            )
        self.quantization_config = quantization_config
        self.freeze_quant_params = check_bool(owner, "freeze_quant_params", freeze_quant_params)
        self.quantizer_parameters: dict[str, dict[str, Any]] = {}

    @classmethod
    def _check_signature(cls) -> None:
        """A configuration alone must be enough to make one."""
        if cls.__init__ is BaseTrainableQuantizer.__init__:
            return
        kinds = (TrainableQuantizerWeightsConfig, TrainableQuantizerActivationConfig)
        names = tuple(kind.__name__ for kind in kinds)
        for number, parameter in enumerate(_parameters_of(cls)):
            if number == 0:
                declared = parameter.annotation
                if declared not in kinds and not (isinstance(declared, str) and declared.rpartition(".")[2] in names):
                    raise TargetError(
                        f"{cls.__name__}: the first parameter of the constructor, {parameter.name!r}, must be "
                        f"annotated with {' or '.join(names)}"
                    )
            elif parameter.default is parameter.empty and parameter.kind not in _VARIADIC:
                raise TargetError(
                    f"{cls.__name__}: parameter {parameter.name!r} of the constructor needs a default, for a "
                    "configuration alone must be enough to make a quantizer"
                )

    def initialize_quantization(self, tensor_shape: Sequence[int | None], name: str, layer: VariableOwner) -> Any:
        """Make the variables on the layer, and register each by `add_quantizer_variable`. Here: there are none."""
        return {}

    def __call__(self, inputs: npt.NDArray[np.float32], training: bool) -> npt.NDArray[np.float32]:
        raise NotImplementedError(f"{type(self).__name__} has no __call__(inputs, training), which quantizes")

    def add_quantizer_variable(self, name: str, variable: Any, group: VariableGroup = VariableGroup.WEIGHTS) -> None:
        """Remember a variable."""
        group = check_enum(type(self).__name__, "group", group, VariableGroup)
        self.quantizer_parameters[name] = {"var": variable, "group": group}

    def get_quantizer_variable(self, name: str) -> Any:
        """The variable of that name."""
        if name not in self.quantizer_parameters:
            known = ", ".join(self.quantizer_parameters) or "none"
            raise TargetError(f"{type(self).__name__} has no variable {name!r}; known: {known}")
        return self.quantizer_parameters[name]["var"]

    def get_trainable_variables(self, group: VariableGroup) -> list[Any]:
        """Returns the learned parameters of a group."""
        found = [
            entry["var"]
            for name, entry in self.quantizer_parameters.items()
            if entry["group"] is group and _is_trainable(name, entry["var"])
        ]
        if self.freeze_quant_params and group is VariableGroup.QPARAMS and found:
            raise TargetError(
                f"{type(self).__name__} was made with freeze_quant_params, but {len(found)} of its parameters are "
                "trainable; make them with trainable=not self.freeze_quant_params"
            )
        return found

    def convert2inferable(self) -> Any:
        """The ordinary quantizer that it becomes: one of `mct.quantizers`, or a configuration of this module."""
        raise NotImplementedError(
            f"{type(self).__name__} has no convert2inferable, which gives the quantizer that a deployed network has"
        )

    def to_mlir(self) -> str:
        """The parameters that the quantizer starts from."""
        return self.quantization_config.to_mlir()

    def to_attribute(self) -> str | None:
        """The `trainable` attribute of a point that calls the quantizer; None where the quantizer is not enabled."""
        self._check_config()
        return _host.write_quantizer(self) if _is_enabled(self.quantization_config) else None

    def _check_config(self) -> None:
        """Checks that `get_config` has the arguments of the constructor, unless both are of one class."""
        kind = type(self)
        if issubclass(_owner_of(kind, "get_config"), _owner_of(kind, "__init__")):
            return
        config = self.get_config()
        lost = [
            parameter.name
            for parameter in _parameters_of(kind)[1:]
            if parameter.kind not in _VARIADIC
            and parameter.name not in config
            and not (parameter.name == "freeze_quant_params" and not self.freeze_quant_params)
        ]
        if lost:
            raise TargetError(
                f"{kind.__name__}: get_config leaves out {', '.join(map(repr, lost))}, which the constructor takes; "
                f"override it: return super().get_config() | {{{', '.join(f'{name!r}: self.{name}' for name in lost)}}}"
            )

    def get_config(self) -> dict[str, Any]:
        """The configuration from which `from_config` makes the same quantizer."""
        values: dict[str, Any] = {}
        for name, value in vars(self.quantization_config).items():
            if isinstance(value, QuantizationMethod):
                value = value.name
            elif name.endswith("_params"):
                value = {key: one.tolist() if hasattr(one, "tolist") else one for key, one in value.items()}
            elif name.endswith("_candidates") and value is not None:
                value = [vars(one) if isinstance(one, TrainableQuantizerCandidateConfig) else one for one in value]
            values[name] = value
        is_weights = isinstance(self.quantization_config, TrainableQuantizerWeightsConfig)
        config: dict[str, Any] = {
            "quantization_config": values | {"is_weights": is_weights, "is_activations": not is_weights}
        }
        # MCT does not have this key, so it is written only if it is true and the class accepts it.
        takes = any(
            one.name == "freeze_quant_params" or one.kind is one.VAR_KEYWORD for one in _parameters_of(type(self))
        )
        return config | {"freeze_quant_params": True} if self.freeze_quant_params and takes else config

    @classmethod
    def from_config(cls: type[Q], config: Mapping[str, Any]) -> Q:
        """Makes a quantizer of the result of `get_config`, or of that of MCT, with methods by name or by value.

        The constructor gets all other keys.
        """
        others = {key: value for key, value in config.items() if key != "quantization_config"}
        values = dict(config["quantization_config"])
        is_weights = values.pop("is_weights")
        values.pop("is_activations")
        side = "weights" if is_weights else "activation"
        method = values[f"{side}_quantization_method"]
        if isinstance(method, str):
            values[f"{side}_quantization_method"] = QuantizationMethod[method]
        candidates = values.pop(f"{side}_bits_candidates", values.pop(f"{side}_quantization_candidates", None))
        if candidates is not None:
            candidates = [
                TrainableQuantizerCandidateConfig(**one) if isinstance(one, Mapping) else one for one in candidates
            ]
        values[f"{side}_quantization_candidates"] = candidates
        kind = TrainableQuantizerWeightsConfig if is_weights else TrainableQuantizerActivationConfig
        return cls(kind(**values), **others)


def get_trainable_quantizer_class(
    quant_target: QuantizationTarget,
    quantizer_id: Any,
    quant_method: QuantizationMethod,
    quantizer_base_class: type[Q],
) -> type[Q]:
    """The one quantizer for weights or activations, of an identifier, by a method: yours, or else that of MCT."""
    importlib.import_module("mct.trained_quantizers")
    return find_quantizer_class(quant_target, quantizer_id, quant_method, quantizer_base_class)


def _method_of(config: TrainableQuantizerWeightsConfig | TrainableQuantizerActivationConfig) -> QuantizationMethod:
    if isinstance(config, TrainableQuantizerWeightsConfig):
        return config.weights_quantization_method
    return config.activation_quantization_method


def _is_enabled(config: TrainableQuantizerWeightsConfig | TrainableQuantizerActivationConfig) -> bool:
    if isinstance(config, TrainableQuantizerWeightsConfig):
        return config.enable_weights_quantization
    return config.enable_activation_quantization


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _parameters_of(cls: type[Any]) -> list[inspect.Parameter]:
    """Arguments of the constructor."""
    try:
        signature = inspect.signature(cls, eval_str=True)
    except NameError:  # an annotation that names what only type checkers import
        signature = inspect.signature(cls)
    return list(signature.parameters.values())


def _owner_of(cls: type[Any], method: str) -> type[Any]:
    """The class that defines the method of a class."""
    return next(base for base in cls.__mro__ if method in vars(base))


def __getattr__(name: str) -> Any:
    # Quantizers that MCT has classes for stand in a module which needs this one.
    trained = importlib.import_module("mct.trained_quantizers")
    if name in trained.__all__:
        return getattr(trained, name)
    raise AttributeError(f"module 'mct.trainable_infrastructure' has no attribute {name!r}")


# There is one kind of array here, so one base; frameworks' names are for scripts.
BaseKerasTrainableQuantizer = BaseTrainableQuantizer
BasePytorchTrainableQuantizer = BaseTrainableQuantizer
