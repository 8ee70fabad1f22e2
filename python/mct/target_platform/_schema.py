# SPDX-License-Identifier: Apache-2.0
"""The classes that describe hardware: enums, configs, operator sets, fusing patterns.

Names, parameters and defaults are those of MCT. Where its versions differ, both spellings are taken: the positional
ones of 1.9 to 2.2, which register themselves with the model whose `with` block they stand in, and the keywords of 2.3
to 2.6, which are plain values. Objects do not change once they are made, and are equal when all their fields are.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, ClassVar, TypeVar, overload

from mct.errors import describe
from mct.target_platform._enums import QuantizationMethod, Signedness
from mct.target_platform._errors import TargetError

KERNEL_ATTR = "kernel_attr"
BIAS_ATTR = "bias_attr"
POSITIONAL_ATTR = "pos_attr"
POS_ATTR = POSITIONAL_ATTR
FLOAT_BITWIDTH = 32
TENSORFLOW, PYTORCH = "tensorflow", "pytorch"
DEFAULT_TP_MODEL, IMX500_TP_MODEL, TFLITE_TP_MODEL, QNNPACK_TP_MODEL = "default", "imx500", "tflite", "qnnpack"
WEIGHTS_N_BITS = "weights_n_bits"
WEIGHTS_QUANTIZATION_METHOD = "weights_quantization_method"
# Names of `KERNEL_ATTR` and `BIAS_ATTR` in Keras and torch.
KERAS_KERNEL = "kernel"
KERAS_DEPTHWISE_KERNEL = "depthwise_kernel"
PYTORCH_KERNEL = "weight"
BIAS = "bias"

# The words of MCT for objects that do not change.
FROZEN = "Instance is frozen"

E = TypeVar("E", bound=Enum)


# ----------------------------------------------------------------------------------------------------------------------
# Checks
# ----------------------------------------------------------------------------------------------------------------------


def check_enum(owner: str, name: str, value: object, enum: type[E]) -> E:
    """The member that `value` is, or whose integer code it is."""
    if isinstance(value, enum):
        return value
    # An enum of MCT itself, or of mct_quantizers, is taken by its name: the codes changed between versions.
    if isinstance(value, Enum) and value.name in enum.__members__:
        return enum[value.name]
    if isinstance(value, int) and not isinstance(value, bool):
        for member in enum:
            if member.value == value:
                return member
    known = ", ".join(f"{enum.__name__}.{key}" for key in enum.__members__)
    raise TargetError(f"{owner}: {name} must be one of {known}, but is {describe(value)}")


def check_bool(owner: str, name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise TargetError(f"{owner}: {name} must be True or False, but is {describe(value)}")


def check_bits(owner: str, name: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise TargetError(f"{owner}: {name} must be a positive integer, but is {describe(value)}")


def check_instance(owner: str, name: str, value: object, kind: type[Any]) -> None:
    if not isinstance(value, kind):
        raise TargetError(f"{owner}: {name} must be a {kind.__name__}, but is {describe(value)}")


def check_name(owner: str, value: object) -> str:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str) and value:
        return value
    raise TargetError(f"{owner}: the name must be a string that is not empty, but is {describe(value)}")


def check_fields(owner: str, known: Iterable[str], given: Iterable[str]) -> None:
    known = list(known)
    for name in given:
        if name not in known:
            raise TargetError(f"{owner} has no parameter {name!r}; known: {', '.join(known)}")


class Frozen:
    """Attributes are set once, at construction."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__:
            raise TargetError(f"{type(self).__name__} does not change once it is made; make another one", mct=FROZEN)
        object.__setattr__(self, name, value)


class _Missing:
    def __repr__(self) -> str:
        return "<required>"


MISSING: Any = _Missing()


def take_one(owner: str, **spellings: Any) -> Any:
    """The value of the one spelling that was given."""
    given = {name: value for name, value in spellings.items() if value is not MISSING}
    if len(given) == 1:
        return next(iter(given.values()))
    names = " or ".join(repr(name) for name in spellings)
    raise TargetError(f"{owner} needs {names}" if not given else f"{owner} takes one of {names}, not both")


# ----------------------------------------------------------------------------------------------------------------------
# Configs
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AttributeQuantizationConfig:
    """How one weight of an operator may be quantized.

    weights_quantization_method:   family of grids.
    weights_n_bits:                width in bits, sign included.
    weights_per_channel_threshold: one threshold per output channel instead of one per tensor.
    enable_weights_quantization:   quantized at all.
    lut_values_bitwidth:           width of a table's entries; None: 8.
    """

    weights_quantization_method: QuantizationMethod = QuantizationMethod.POWER_OF_TWO
    weights_n_bits: int = FLOAT_BITWIDTH
    weights_per_channel_threshold: bool = False
    enable_weights_quantization: bool = False
    lut_values_bitwidth: int | None = None

    def __post_init__(self) -> None:
        owner = type(self).__name__
        method = check_enum(owner, "weights_quantization_method", self.weights_quantization_method, QuantizationMethod)
        object.__setattr__(self, "weights_quantization_method", method)
        check_bits(owner, "weights_n_bits", self.weights_n_bits)
        check_bool(owner, "weights_per_channel_threshold", self.weights_per_channel_threshold)
        check_bool(owner, "enable_weights_quantization", self.enable_weights_quantization)
        if self.lut_values_bitwidth is not None:
            check_bits(owner, "lut_values_bitwidth", self.lut_values_bitwidth)

    @property
    def field_names(self) -> list[str]:
        return [field.name for field in fields(self)]

    def clone_and_edit(self, **changes: Any) -> AttributeQuantizationConfig:
        """The same with other values, checked as at construction."""
        check_fields(type(self).__name__, self.field_names, changes)
        return replace(self, **changes)


# Parameters of the flat configs of MCT 1.3 to 1.11, whose one weight is the kernel.
_FLAT = {
    "weights_quantization_method": "weights_quantization_method",
    "weights_n_bits": "weights_n_bits",
    "weights_per_channel_threshold": "weights_per_channel_threshold",
    "enable_weights_quantization": "enable_weights_quantization",
}
_FLAT_POSITIONS = (
    "activation_quantization_method",
    "weights_quantization_method",
    "activation_n_bits",
    "weights_n_bits",
    "weights_per_channel_threshold",
    "enable_weights_quantization",
    "enable_activation_quantization",
    "quantization_preserving",
    "fixed_scale",
    "fixed_zero_point",
    "weights_multiplier_nbits",
    "simd_size",
)
_OP_FIELDS = (
    "default_weight_attr_config",
    "attr_weights_configs_mapping",
    "activation_quantization_method",
    "activation_n_bits",
    "supported_input_activation_n_bits",
    "enable_activation_quantization",
    "quantization_preserving",
    "fixed_scale",
    "fixed_zero_point",
    "simd_size",
    "signedness",
)


class OpQuantizationConfig:
    """One way to run one operator.

    default_weight_attr_config:        of every weight and constant that the mapping does not name.
    attr_weights_configs_mapping:      by weight name: `KERNEL_ATTR`, `BIAS_ATTR`, `POSITIONAL_ATTR`, or names of
                                       your own that `OperationsSetToLayers.attr_mapping` explains.
    activation_quantization_method, activation_n_bits: grid of the result.
    supported_input_activation_n_bits: a width, or several, that the operator reads; None: all of the platform.
    enable_activation_quantization:    False leaves the result as it is.
    quantization_preserving:           the result has the values of the input, moved or selected.
    fixed_scale, fixed_zero_point:     grid of the result in every network.
    simd_size:                         channels computed at once.
    signedness:                        a `Signedness`; True and False for signed and unsigned.

    The parameters of MCT 1.9 to 1.11 (`weights_n_bits` and so on, for the kernel of an operator) are taken too.
    """

    _names: ClassVar[tuple[str, ...]] = _OP_FIELDS

    default_weight_attr_config: AttributeQuantizationConfig
    attr_weights_configs_mapping: Mapping[str, AttributeQuantizationConfig]
    activation_quantization_method: QuantizationMethod
    activation_n_bits: int
    supported_input_activation_n_bits: tuple[int, ...] | None
    enable_activation_quantization: bool
    quantization_preserving: bool
    fixed_scale: float | None
    fixed_zero_point: int | None
    simd_size: int | None
    signedness: Signedness
    # True if it was made of the parameters of 1.9 to 1.11, and is edited by them.
    is_flat: bool

    @overload
    def __init__(
        self,
        default_weight_attr_config: AttributeQuantizationConfig,
        attr_weights_configs_mapping: Mapping[str, AttributeQuantizationConfig],
        activation_quantization_method: QuantizationMethod,
        activation_n_bits: int,
        supported_input_activation_n_bits: int | Sequence[int] | None = None,
        enable_activation_quantization: bool = ...,
        quantization_preserving: bool = ...,
        fixed_scale: float | None = None,
        fixed_zero_point: int | None = None,
        simd_size: int | None = None,
        signedness: Signedness | bool = Signedness.AUTO,
    ) -> None: ...
    @overload
    def __init__(
        self,
        activation_quantization_method: QuantizationMethod,
        weights_quantization_method: QuantizationMethod,
        activation_n_bits: int,
        weights_n_bits: int,
        weights_per_channel_threshold: bool,
        enable_weights_quantization: bool,
        enable_activation_quantization: bool,
        quantization_preserving: bool,
        fixed_scale: float | None = None,
        fixed_zero_point: int | None = None,
        weights_multiplier_nbits: None = None,
        simd_size: int | None = None,
    ) -> None: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        owner = type(self).__name__
        flat = (bool(args) and isinstance(args[0], (QuantizationMethod, int))) or any(key in _FLAT for key in kwargs)
        positions = _FLAT_POSITIONS if flat else _OP_FIELDS
        if len(args) > len(positions):
            raise TargetError(f"{owner} takes {len(positions)} parameters, but got {len(args)}: {', '.join(positions)}")
        values = dict(zip(positions, args, strict=False))
        for name in kwargs:
            if name in values:
                raise TargetError(f"{owner}: {name} is given twice")
        values |= kwargs
        check_fields(owner, _FLAT_POSITIONS if flat else _OP_FIELDS, values)
        if flat:
            values = _from_flat(owner, values)
        self._set(values, flat)

    def _set(self, values: dict[str, Any], is_flat: bool) -> None:
        owner = type(self).__name__
        optional = {
            "supported_input_activation_n_bits": None,
            "fixed_scale": None,
            "fixed_zero_point": None,
            "simd_size": None,
            "signedness": Signedness.AUTO,
        }
        missing = [name for name in _OP_FIELDS if name not in values and name not in optional]
        if missing:
            raise TargetError(f"{owner} needs {', '.join(missing)}")
        values = optional | values
        default = values["default_weight_attr_config"]
        check_instance(owner, "default_weight_attr_config", default, AttributeQuantizationConfig)
        weights = values["attr_weights_configs_mapping"]
        check_instance(owner, "attr_weights_configs_mapping", weights, Mapping)
        for name, config in weights.items():
            check_name(f"{owner}: attr_weights_configs_mapping", name)
            check_instance(owner, f"attr_weights_configs_mapping[{name!r}]", config, AttributeQuantizationConfig)
        values["attr_weights_configs_mapping"] = dict(weights)
        method = check_enum(
            owner, "activation_quantization_method", values["activation_quantization_method"], QuantizationMethod
        )
        if method is QuantizationMethod.LUT_SYM_QUANTIZER:
            raise TargetError(f"{owner}: activations cannot be quantized by LUT_SYM_QUANTIZER; take LUT_POT_QUANTIZER")
        values["activation_quantization_method"] = method
        check_bits(owner, "activation_n_bits", values["activation_n_bits"])
        values["supported_input_activation_n_bits"] = _check_widths(owner, values["supported_input_activation_n_bits"])
        check_bool(owner, "enable_activation_quantization", values["enable_activation_quantization"])
        check_bool(owner, "quantization_preserving", values["quantization_preserving"])
        # The page of 2.2 calls it a bool.
        if isinstance(values["signedness"], bool):
            values["signedness"] = Signedness.SIGNED if values["signedness"] else Signedness.UNSIGNED
        values["signedness"] = check_enum(owner, "signedness", values["signedness"], Signedness)
        _check_fixed_grid(owner, values)
        if values["simd_size"] is not None:
            check_bits(owner, "simd_size", values["simd_size"])
        for name in _OP_FIELDS:
            object.__setattr__(self, name, values[name])
        object.__setattr__(self, "is_flat", is_flat)

    def __setattr__(self, name: str, value: object) -> None:
        raise TargetError(f"{type(self).__name__} does not change; clone_and_edit({name}=...) gives another one")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpQuantizationConfig) and self.get_info() == other.get_info()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"OpQuantizationConfig({', '.join(f'{name}={value!r}' for name, value in self.get_info().items())})"

    def __deepcopy__(self, memo: dict[int, Any]) -> OpQuantizationConfig:
        return self

    def get_info(self) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in _OP_FIELDS}

    def clone_and_edit(
        self, attr_to_edit: Mapping[str, Mapping[str, Any]] | None = None, **changes: Any
    ) -> OpQuantizationConfig:
        """The same with other values, checked as at construction.

        attr_to_edit: by weight name, what changes in its config; the others stay.
        """
        values = self.get_info()
        weights = dict(self.attr_weights_configs_mapping)
        changes.pop("weights_multiplier_nbits", None)
        if flat := {_FLAT[name]: changes.pop(name) for name in _FLAT if name in changes and self.is_flat}:
            weights[KERNEL_ATTR] = weights[KERNEL_ATTR].clone_and_edit(**flat)
        check_fields(type(self).__name__, _OP_FIELDS, changes)
        for name, edits in (attr_to_edit or {}).items():
            if name not in weights:
                known = ", ".join(map(repr, weights)) or "none"
                raise TargetError(f"the config has no weight {name!r} to edit; known: {known}")
            weights[name] = weights[name].clone_and_edit(**edits)
        clone = object.__new__(OpQuantizationConfig)
        clone._set(values | {"attr_weights_configs_mapping": weights} | changes, self.is_flat)
        return clone

    def with_weights(self, weights: Mapping[str, AttributeQuantizationConfig]) -> OpQuantizationConfig:
        """The same with another `attr_weights_configs_mapping`."""
        return self.clone_and_edit(attr_weights_configs_mapping=weights)

    @property
    def max_input_activation_n_bits(self) -> int:
        """The widest activation that the operator reads."""
        return max(self.supported_input_activation_n_bits or (self.activation_n_bits,))


def _from_flat(owner: str, values: dict[str, Any]) -> dict[str, Any]:
    """The parameters of today from those of MCT 1.3 to 1.11."""
    missing = [name for name in _FLAT if name not in values]
    if missing:
        raise TargetError(f"{owner} needs {', '.join(missing)}")
    if values.pop("weights_multiplier_nbits", None) is not None:
        raise TargetError(f"{owner}: weights_multiplier_nbits has never been used by MCT; leave it None")
    kernel = AttributeQuantizationConfig(**{new: values.pop(old) for old, new in _FLAT.items()})
    values["attr_weights_configs_mapping"] = {KERNEL_ATTR: kernel}
    values["default_weight_attr_config"] = AttributeQuantizationConfig(weights_n_bits=8)
    return values


def _check_widths(owner: str, value: object) -> tuple[int, ...] | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        value = (value,)
    if not isinstance(value, (tuple, list)) or not value:
        raise TargetError(
            f"{owner}: supported_input_activation_n_bits must be a width or several of them, but is {describe(value)}"
        )
    return tuple(check_bits(owner, "supported_input_activation_n_bits", width) for width in value)


def _check_fixed_grid(owner: str, values: Mapping[str, Any]) -> None:
    scale, zero_point = values["fixed_scale"], values["fixed_zero_point"]
    if (scale is None) != (zero_point is None):
        raise TargetError(f"{owner}: fixed_scale and fixed_zero_point must be given together")
    if scale is None:
        return
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not 0 < scale < math.inf:
        raise TargetError(f"{owner}: fixed_scale must be a positive number, but is {scale!r}")
    if isinstance(zero_point, bool) or not isinstance(zero_point, int):
        raise TargetError(f"{owner}: fixed_zero_point must be an integer, but is {zero_point!r}")
    bits = values["activation_n_bits"]
    if not -(1 << (bits - 1)) <= zero_point < 1 << bits:
        raise TargetError(f"{owner}: fixed_zero_point {zero_point} does not fit in {bits} bits")


class QuantizationConfigOptions(Frozen):
    """The alternatives in which one operator may run.

    quantization_config_list (2.6: quantization_configurations): at least one `OpQuantizationConfig`; the order counts.
    base_config: the one without mixed precision; may be left out where there is one alternative.
    """

    quantization_configurations: tuple[OpQuantizationConfig, ...]
    base_config: OpQuantizationConfig

    def __init__(
        self,
        quantization_config_list: Sequence[OpQuantizationConfig] = MISSING,
        base_config: OpQuantizationConfig | None = None,
        *,
        quantization_configurations: Sequence[OpQuantizationConfig] = MISSING,
    ) -> None:
        owner = type(self).__name__
        configs = take_one(
            owner,
            quantization_config_list=quantization_config_list,
            quantization_configurations=quantization_configurations,
        )
        if not isinstance(configs, (list, tuple)):
            raise TargetError(f"{owner}: the alternatives must be a list of OpQuantizationConfig, but are {configs!r}")
        is_earlier = quantization_configurations is MISSING
        if not configs:
            raise TargetError(
                f"{owner} needs at least one OpQuantizationConfig",
                mct=f"'{owner}' requires at least one 'OpQuantizationConfig'. The provided "
                + ("list is empty." if is_earlier else "configurations are empty."),
            )
        for index, config in enumerate(configs):
            if not isinstance(config, OpQuantizationConfig):
                earlier = (
                    "Each option must be an instance of 'OpQuantizationConfig', but found an object of type: "
                    f"{type(config)}."
                )
                raise TargetError(
                    f"{owner}: alternative #{index} must be a OpQuantizationConfig, but is {describe(config)}",
                    mct=earlier if is_earlier else "Input should be a valid dictionary",
                )
        if base_config is None:
            if len(configs) > 1:
                raise TargetError(
                    f"{owner} needs base_config, for there are {len(configs)} alternatives",
                    mct="For multiple configurations, a 'base_config' is required for non-mixed-precision "
                    "optimization.",
                )
            base_config = configs[0]
        check_instance(owner, "base_config", base_config, OpQuantizationConfig)
        if base_config not in configs:
            raise TargetError(f"{owner}: base_config must be one of the alternatives")
        for index, config in enumerate(configs):
            _check_agreement(owner, index, config, configs[0])
        self.quantization_configurations = tuple(configs)
        self.base_config = base_config

    @property
    def quantization_config_list(self) -> list[OpQuantizationConfig]:
        return list(self.quantization_configurations)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, QuantizationConfigOptions)
            and self.quantization_configurations == other.quantization_configurations
            and self.base_config == other.base_config
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"QuantizationConfigOptions({self.quantization_config_list!r}, base_config={self.base_config!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> QuantizationConfigOptions:
        return self

    def _map(self, change: Any) -> QuantizationConfigOptions:
        base = self.quantization_configurations.index(self.base_config)
        configs = [change(config) for config in self.quantization_configurations]
        return QuantizationConfigOptions(configs, base_config=configs[base])

    def clone_and_edit(self, **changes: Any) -> QuantizationConfigOptions:
        """The same with a change in every alternative."""
        return self._map(lambda config: config.clone_and_edit(**changes))

    def clone_and_edit_weight_attribute(
        self, attrs: Sequence[str] | None = None, **changes: Any
    ) -> QuantizationConfigOptions:
        """The same with a change in the configs of some weights, or of all; the others stay."""

        def edit(config: OpQuantizationConfig) -> OpQuantizationConfig:
            names = list(config.attr_weights_configs_mapping) if attrs is None else attrs
            return config.clone_and_edit(attr_to_edit={name: changes for name in names})

        return self._map(edit)

    def clone_and_map_weights_attr_keys(
        self, layer_attrs_mapping: Mapping[str, str] | None
    ) -> QuantizationConfigOptions:
        """The same with other names of weights; those that the mapping does not name stay."""
        mapping = layer_attrs_mapping or {}

        def rename(config: OpQuantizationConfig) -> OpQuantizationConfig:
            weights: dict[str, AttributeQuantizationConfig] = {}
            for name, weight in config.attr_weights_configs_mapping.items():
                if (renamed := mapping.get(name, name)) in weights:
                    raise TargetError(f"two weights are both renamed to {renamed!r}")
                weights[renamed] = weight
            return config.with_weights(weights)

        return self._map(rename)

    def get_info(self) -> dict[str, Any]:
        return {f"option_{i}": config.get_info() for i, config in enumerate(self.quantization_configurations)}


def _check_agreement(owner: str, index: int, config: OpQuantizationConfig, first: OpQuantizationConfig) -> None:
    """Checks what MCT checks when an operator gets the alternatives."""

    def mode(config: OpQuantizationConfig) -> tuple[bool, bool]:
        return config.enable_activation_quantization, config.quantization_preserving

    if mode(config) != mode(first):
        raise TargetError(f"{owner}: alternatives #0 and #{index} disagree on whether the result is quantized")
    for name, weight in config.attr_weights_configs_mapping.items():
        other = first.attr_weights_configs_mapping.get(name, weight)
        if other.enable_weights_quantization != weight.enable_weights_quantization:
            raise TargetError(f"{owner}: alternatives #0 and #{index} disagree on whether {name!r} is quantized")


# ----------------------------------------------------------------------------------------------------------------------
# Operator sets and patterns of them
# ----------------------------------------------------------------------------------------------------------------------


class TargetPlatformComponent(Frozen):
    """A part of a `TargetPlatformModel`: made in its `with` block it belongs to it."""

    def _register(self) -> None:
        from mct.target_platform._platform import current_model

        if model := current_model():
            model.append_component(self)


class OperatorsSet(TargetPlatformComponent):
    """A named set of operators that share their options; without options of their own they have the default's.

    name:       its label: one of `OperatorSetNames`, or your own.
    qc_options: their alternatives.
    one_by_one: whether the hardware has no such operators: their ops are matched one by one, and the set has no
                options. MCT does not have it.
    """

    name: str
    qc_options: QuantizationConfigOptions | None
    one_by_one: bool
    type: ClassVar[str] = "OperatorsSet"

    def __init__(
        self, name: str, qc_options: QuantizationConfigOptions | None = None, *, one_by_one: bool = False
    ) -> None:
        self.name = check_name("OperatorsSet", name)
        if qc_options is not None:
            check_instance("OperatorsSet", "qc_options", qc_options, QuantizationConfigOptions)
        check_instance("OperatorsSet", "one_by_one", one_by_one, bool)
        if one_by_one and qc_options is not None:
            raise TargetError(f"OperatorsSet: '{name}' is matched one by one and must have no options")
        self.qc_options = qc_options
        self.one_by_one = one_by_one
        self._register()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OperatorsSet) and (self.name, self.qc_options, self.one_by_one) == (
            other.name,
            other.qc_options,
            other.one_by_one,
        )

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"OperatorsSet({self.name!r}{', options' if self.qc_options else ''})"

    @property
    def is_default(self) -> bool:
        """Returns whether its operators have the options of the platform's default."""
        return self.qc_options is None

    def get_info(self) -> dict[str, Any]:
        return {"name": self.name, "is_default_qc": self.is_default}


class OperatorSetGroup(TargetPlatformComponent):
    """Operator sets that are interchangeable in a fusing pattern.

    operators_set: the members, at least one.
    name:          None: the names of the members, joined.
    """

    operators_set: tuple[OperatorsSet, ...]
    name: str
    type: ClassVar[str] = "OperatorSetGroup"

    def __init__(self, operators_set: Sequence[OperatorsSet], name: str | None = None) -> None:
        owner = type(self).__name__
        if not isinstance(operators_set, (list, tuple)) or not operators_set:
            raise TargetError(f"{owner} needs at least one OperatorsSet")
        for index, member in enumerate(operators_set):
            check_instance(owner, f"member #{index}", member, OperatorsSet)
        for index, member in enumerate(operators_set):
            if member.name in [other.name for other in operators_set[:index]]:
                raise TargetError(f"{owner} names operator set {member.name!r} twice")
        self.operators_set = tuple(operators_set)
        self.name = "_".join(member.name for member in operators_set) if name is None else check_name(owner, name)
        self._register()

    @property
    def op_set_list(self) -> list[OperatorsSet]:
        return list(self.operators_set)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OperatorSetGroup) and (self.name, self.operators_set) == (
            other.name,
            other.operators_set,
        )

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(repr(member.name) for member in self.operators_set)})"

    def get_info(self) -> dict[str, Any]:
        return {"name": self.name, "operators_set": [member.name for member in self.operators_set]}


class OperatorSetConcat(OperatorSetGroup):
    """The name of a group in MCT up to 2.2: `OperatorSetConcat(conv, dense)`."""

    def __init__(self, *opsets: OperatorsSet, operators_set: Sequence[OperatorsSet] | None = None) -> None:
        if operators_set is not None and opsets:
            raise TargetError("OperatorSetConcat takes its members either way, not both")
        super().__init__(operators_set if operators_set is not None else list(opsets))


class Fusing(TargetPlatformComponent):
    """A chain of operators that runs as one: nothing is quantized between them.

    operator_groups_list (2.6: operator_groups): at least two operator sets or groups.
    name:                        None: the names of the elements, joined.
    fuse_op_quantization_config: of the inner results, where the hardware has a quantizer there.
    """

    operator_groups: tuple[OperatorsSet | OperatorSetGroup, ...]
    name: str
    fuse_op_quantization_config: OpQuantizationConfig | None

    def __init__(
        self,
        operator_groups_list: Sequence[OperatorsSet | OperatorSetGroup] = MISSING,
        name: str | None = None,
        *,
        operator_groups: Sequence[OperatorsSet | OperatorSetGroup] = MISSING,
        fuse_op_quantization_config: OpQuantizationConfig | None = None,
    ) -> None:
        groups = take_one("Fusing", operator_groups_list=operator_groups_list, operator_groups=operator_groups)
        if not isinstance(groups, (list, tuple)):
            raise TargetError(f"Fusing: the operator groups must be a list, but are {describe(groups)}")
        if len(groups) < 2:
            is_earlier = operator_groups is MISSING
            raise TargetError(
                f"Fusing needs at least two operator groups, but got {len(groups)}",
                mct="Fusing can not be created for a single operators group"
                if is_earlier
                else "Fusing cannot be created for a single operator.",
            )
        for index, group in enumerate(groups):
            if not isinstance(group, (OperatorsSet, OperatorSetGroup)):
                raise TargetError(
                    f"Fusing: element #{index} must be an OperatorsSet or a group, but is {describe(group)}"
                )
        if fuse_op_quantization_config is not None:
            check_instance("Fusing", "fuse_op_quantization_config", fuse_op_quantization_config, OpQuantizationConfig)
        self.operator_groups = tuple(groups)
        self.name = "_".join(group.name for group in groups) if name is None else check_name("Fusing", name)
        self.fuse_op_quantization_config = fuse_op_quantization_config
        self._register()

    @property
    def operator_groups_list(self) -> list[OperatorsSet | OperatorSetGroup]:
        return list(self.operator_groups)

    @property
    def has_own_name(self) -> bool:
        """Returns whether the name is another than that of the elements, joined."""
        return self.name != "_".join(group.name for group in self.operator_groups)

    def collides_with(self, other: Fusing) -> bool:
        """Returns whether a platform cannot have both, because of their names.

        Names that are made of those of the elements may be equal: (a, b or c) and (a, b, c).
        """
        has_own = self.has_own_name or other.has_own_name
        return self.name == other.name and (has_own or self.operator_groups == other.operator_groups)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Fusing)
            and (self.name, self.operator_groups) == (other.name, other.operator_groups)
            and self.fuse_op_quantization_config == other.fuse_op_quantization_config
        )

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Fusing({' -> '.join(group.name for group in self.operator_groups)})"

    def contains(self, other: object) -> bool:
        """Returns whether the other pattern is a part of this one: it has sets of this one or members of its groups."""
        if not isinstance(other, Fusing):
            return False

        def has(own: OperatorsSet | OperatorSetGroup, wanted: OperatorsSet | OperatorSetGroup) -> bool:
            return own == wanted or (isinstance(own, OperatorSetGroup) and wanted in own.operators_set)

        length = len(other.operator_groups)
        return any(
            all(map(has, self.operator_groups[start : start + length], other.operator_groups))
            for start in range(len(self.operator_groups) - length + 1)
        )

    def get_info(self) -> dict[str, str]:
        return {self.name: " -> ".join(group.name for group in self.operator_groups)}


class DefaultDict:
    """A dictionary with one value for every key that it does not have.

    known_dict:    keys and values.
    default_value: of every other key.
    """

    def __init__(self, known_dict: Mapping[Any, Any] | None = None, default_value: Any = None) -> None:
        if known_dict is not None and not isinstance(known_dict, Mapping):
            raise TargetError(f"DefaultDict: known_dict must be a dictionary, but is {describe(known_dict)}")
        self.known_dict: dict[Any, Any] = dict(known_dict or {})
        self.default_value = default_value

    def get(self, key: Any) -> Any:
        return self.known_dict[key] if key in self.known_dict else copy.deepcopy(self.default_value)

    def keys(self) -> Iterable[Any]:
        return self.known_dict.keys()

    def items(self) -> Iterable[tuple[Any, Any]]:
        return self.known_dict.items()

    def values(self) -> Iterable[Any]:
        return self.known_dict.values()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DefaultDict) and (self.known_dict, self.default_value) == (
            other.known_dict,
            other.default_value,
        )

    __hash__ = None  # type: ignore[assignment]
