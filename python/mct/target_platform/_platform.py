# SPDX-License-Identifier: Apache-2.0
"""The hardware as a whole, and which layers its operator sets are."""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import pprint
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, overload

from mct.errors import describe
from mct.target_platform._enums import QuantizationFormat
from mct.target_platform._errors import TargetError
from mct.target_platform._filters import LayerFilterParams
from mct.target_platform._layers import UnknownAttributeError, resolve_layer
from mct.target_platform._schema import (
    FROZEN,
    DefaultDict,
    Frozen,
    Fusing,
    OperatorSetConcat,
    OperatorSetGroup,
    OperatorsSet,
    OpQuantizationConfig,
    QuantizationConfigOptions,
    check_bool,
    check_enum,
    check_fields,
    check_instance,
    check_name,
)

if TYPE_CHECKING:
    from types import TracebackType

logger = logging.getLogger("mct.target_platform")


class _Open(threading.local):
    """The models and capabilities whose `with` blocks are open, of each thread."""

    def __init__(self) -> None:
        self.models: list[TargetPlatformModel] = []
        self.capabilities: list[TargetPlatformCapabilities | FrameworkQuantizationCapabilities] = []


_open = _Open()


def current_model() -> TargetPlatformModel | None:
    """The model whose `with` block is open."""
    return _open.models[-1] if _open.models else None


def get_default_quantization_config_options() -> QuantizationConfigOptions:
    """The default options of the model whose `with` block is open."""
    if model := current_model():
        return model.default_qco
    raise TargetError(
        "the default options are those of a TargetPlatformModel, inside its 'with' block",
        mct="Target platform model is not initialized.",
    )


def get_current_tpc() -> TargetPlatformCapabilities | FrameworkQuantizationCapabilities:
    """Returns the capabilities whose `with` block is open."""
    if _open.capabilities:
        return _open.capabilities[-1]
    raise TargetError(
        "there are current capabilities inside of the 'with' block of TargetPlatformCapabilities or "
        "FrameworkQuantizationCapabilities",
        mct="'FrameworkQuantizationCapabilities' (TPC) instance is not initialized.",
    )


class _Platform:
    """Members of both generations: the options of every operator, and what is fused."""

    default_qco: QuantizationConfigOptions
    operator_set: tuple[OperatorsSet | OperatorSetConcat, ...]
    fusing_patterns: tuple[Fusing, ...]
    tpc_minor_version: int | None
    tpc_patch_version: int | None
    tpc_platform_type: str | None
    add_metadata: bool
    name: str
    is_simd_padding: bool
    insert_preserving_quantizers: bool

    def _check(self) -> None:
        owner = type(self).__name__
        check_instance(owner, "default_qco", self.default_qco, QuantizationConfigOptions)
        if (count := len(self.default_qco.quantization_configurations)) != 1:
            only = "only" if isinstance(self, TargetPlatformModel) else "exactly"
            end = "" if isinstance(self, TargetPlatformModel) else "."
            raise TargetError(
                f"{owner}: default_qco must have one alternative, but has {count}",
                mct=f"Default QuantizationConfigOptions must contain {only} one option{end}",
            )
        check_bool(owner, "add_metadata", self.add_metadata)
        check_bool(owner, "is_simd_padding", self.is_simd_padding)
        check_bool(owner, "insert_preserving_quantizers", self.insert_preserving_quantizers)
        # MCT's own tests leave it empty.
        if self.name != "":
            check_name(owner, self.name)
        for field in ("tpc_minor_version", "tpc_patch_version"):
            value = getattr(self, field)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise TargetError(f"{owner}: {field} must be an integer, but is {describe(value)}")
        if self.tpc_platform_type is not None:
            check_name(f"{owner}: tpc_platform_type", self.tpc_platform_type)

    def _check_sets(self) -> None:
        owner = type(self).__name__
        sets: dict[str, OperatorsSet] = {}
        for index, operators in enumerate(self.operator_set):
            if isinstance(operators, OperatorSetConcat):
                continue
            if not isinstance(operators, OperatorsSet):
                raise TargetError(
                    f"{owner}: operator set #{index} must be an OperatorsSet, but is {describe(operators)}"
                )
            if operators.name in sets:
                raise TargetError(
                    f"{owner}: operator set {operators.name!r} is defined more than once",
                    mct="Operator Sets must have unique names.",
                )
            sets[operators.name] = operators
        for index, pattern in enumerate(self.fusing_patterns):
            if not isinstance(pattern, Fusing):
                raise TargetError(f"{owner}: fusing pattern #{index} must be a Fusing, but is {describe(pattern)}")
            if any(pattern.collides_with(earlier) for earlier in self.fusing_patterns[:index]):
                raise TargetError(f"{owner}: fusing pattern name {pattern.name!r} is used twice")
            for group in pattern.operator_groups:
                for member in group.operators_set if isinstance(group, OperatorSetGroup) else (group,):
                    self._check_member(index, member, sets.get(member.name))

    def _check_member(self, index: int, member: OperatorsSet, known: OperatorsSet | None) -> None:
        owner = type(self).__name__
        if known is None:
            raise TargetError(
                f"{owner}: fusing pattern #{index} names operator set {member.name!r}, which the platform "
                "does not define"
            )
        if member.qc_options is not None and member != known:
            raise TargetError(
                f"{owner}: operator set {member.name!r} of fusing pattern #{index} has other options than the "
                "platform's"
            )

    @property
    def plain_sets(self) -> tuple[OperatorsSet, ...]:
        """The operator sets without the joined ones that MCT up to 2.2 counts among them."""
        return tuple(operators for operators in self.operator_set if isinstance(operators, OperatorsSet))

    def get_default_op_quantization_config(self) -> OpQuantizationConfig:
        return self.default_qco.quantization_configurations[0]

    def is_opset_in_model(self, opset_name: str) -> bool:
        return self.get_opset_by_name(opset_name) is not None

    def get_opset_by_name(self, opset_name: str) -> OperatorsSet | OperatorSetConcat | None:
        return next((operators for operators in self.operator_set if operators.name == opset_name), None)

    def get_config_options_by_operators_set(self, operators_set_name: str) -> QuantizationConfigOptions | None:
        """Returns the options of a set, or those of everything else; None for sets that were joined."""
        is_joined = isinstance(self.get_opset_by_name(operators_set_name), OperatorSetConcat)
        return None if is_joined else self.options_of(operators_set_name)

    def options_of(self, set_name: str) -> QuantizationConfigOptions:
        """Returns the options of a set that is not joined of others, or those of everything else."""
        own = (operators.qc_options for operators in self.plain_sets if operators.name == set_name)
        return next(own, None) or self.default_qco

    def get_info(self) -> dict[str, Any]:
        return {
            "Model name": self.name,
            "Operators sets": [operators.get_info() for operators in self.operator_set],
            "Fusing patterns": [pattern.get_info() for pattern in self.fusing_patterns],
        }

    def show(self) -> None:
        pprint.pprint(self.get_info(), sort_dicts=False)

    def _equals(self, other: _Platform) -> bool:
        # A set that a pattern holds a copy of counts by its name.
        def describe(platform: _Platform) -> tuple[Any, ...]:
            patterns = [(p.get_info(), p.fuse_op_quantization_config) for p in platform.fusing_patterns]
            names = ("tpc_minor_version", "tpc_patch_version", "tpc_platform_type", "add_metadata", "name")
            flags = ("is_simd_padding", "insert_preserving_quantizers")
            return (
                platform.default_qco,
                list(platform.operator_set),
                patterns,
                *(getattr(platform, name) for name in (*names, *flags)),
            )

        return describe(self) == describe(other)


class TargetPlatformModel(_Platform):
    """Hardware as MCT 1.4 to 2.2 describe it: operator sets and patterns are made inside its `with` block.

    default_qco:  options, one alternative, of the operators that no set names.
    add_metadata: whether the exported model names the hardware that it is for.
    name:         of the model.
    The others are those of `TargetPlatformCapabilities`.

    It does not change once the block has closed.
    """

    def __init__(
        self,
        default_qco: QuantizationConfigOptions,
        add_metadata: bool = False,
        name: str = "default_tp_model",
        *,
        tpc_minor_version: int | None = None,
        tpc_patch_version: int | None = None,
        tpc_platform_type: str | None = None,
        is_simd_padding: bool = False,
    ) -> None:
        self._closed = False
        self.default_qco = default_qco
        self.add_metadata = add_metadata
        self.name = name
        self.tpc_minor_version = tpc_minor_version
        self.tpc_patch_version = tpc_patch_version
        self.tpc_platform_type = tpc_platform_type
        self.is_simd_padding = is_simd_padding
        self.insert_preserving_quantizers = False
        self.operator_set = ()
        self.fusing_patterns = ()
        self._check()

    @property
    def operator_sets(self) -> list[OperatorsSet | OperatorSetConcat]:
        return list(self.operator_set)

    def __setattr__(self, name: str, value: object) -> None:
        if self.__dict__.get("_closed"):
            raise TargetError(
                f"TargetPlatformModel {self.name!r} does not change once its block has closed",
                mct="Immutable class. Can't edit attributes.",
            )
        object.__setattr__(self, name, value)

    def append_component(self, component: OperatorsSet | OperatorSetGroup | Fusing | Any) -> None:
        """Adds an operator set or a pattern. A group is a part of patterns only; sets that were joined count as one."""
        if isinstance(component, (OperatorsSet, OperatorSetConcat)):
            self.operator_set = (*self.operator_set, component)
        elif isinstance(component, Fusing):
            self.fusing_patterns = (*self.fusing_patterns, component)
        elif not isinstance(component, OperatorSetGroup):
            raise TargetError(f"TargetPlatformModel has no place for {describe(component)}")

    def set_simd_padding(self, is_simd_padding: bool) -> None:
        self.is_simd_padding = check_bool("TargetPlatformModel", "is_simd_padding", is_simd_padding)

    def set_quantization_format(self, quantization_format: QuantizationFormat) -> None:
        """Does nothing; scripts of MCT 1.9 and 1.10 call it.

        A quantized module is a simulation, and passes lower it to integers.
        """
        check_enum("TargetPlatformModel", "quantization_format", quantization_format, QuantizationFormat)

    def __enter__(self) -> TargetPlatformModel:
        if self._closed:
            raise TargetError(f"TargetPlatformModel {self.name!r} does not change once its block has closed")
        _open.models.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _open.models.remove(self)
        if error is None:
            self._check_sets()
            self._closed = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TargetPlatformModel) and self._equals(other)

    __hash__ = None  # type: ignore[assignment]

    def to_mlir(self) -> str:
        """The text of a module with the `tpc.platform`; its layers are those of the stock bindings."""
        from mct.target_platform._mlir import write_module

        self._check_sets()
        return write_module(self, None)


# ----------------------------------------------------------------------------------------------------------------------
# Layers of operator sets
# ----------------------------------------------------------------------------------------------------------------------


class OperationsSetToLayers(Frozen):
    """Binds layers to an operator set. Stands inside the `with` block of `TargetPlatformCapabilities`.

    op_set_name:  of an `OperatorsSet`.
    layers:       framework classes and functions (`torch.nn.Conv2d`), names of layers ("Conv2D", "torch.nn.Conv2d",
                  TFLite's "CONV_2D", ONNX's "Gemm"), ops ("tosa.conv2d"), names of operator sets, and
                  `LayerFilterParams` of these.
    attr_mapping: by weight name of the configs, a `DefaultDict` (or dictionary) from layers to what the framework calls
                  that weight.
    """

    op_set_name: str
    layers: list[Any]
    attr_mapping: dict[str, DefaultDict]

    def __init__(
        self,
        op_set_name: str,
        layers: Sequence[Any],
        attr_mapping: Mapping[str, DefaultDict | Mapping[Any, str]] | None = None,
    ) -> None:
        owner = "OperationsSetToLayers"
        self.op_set_name = check_name(owner, op_set_name)
        self.layers, self.attr_mapping = check_layers(owner, layers, attr_mapping)
        if not _open.capabilities:
            raise TargetError(
                f"OperationsSetToLayers({op_set_name!r}) must stand inside 'with TargetPlatformCapabilities(...)'"
            )
        _open.capabilities[-1].append_component(self)

    def __repr__(self) -> str:
        return f"OperationsSetToLayers({self.op_set_name!r}, {self.layers!r})"

    def get_info(self) -> dict[str, Any]:
        return {self.op_set_name: [describe_layer(layer) for layer in self.layers]}


def check_layers(owner: str, layers: Any, attr_mapping: Any) -> tuple[list[Any], dict[str, DefaultDict]]:
    """Layers that are known, and the mapping of weight names with dictionaries that have a default."""
    if not isinstance(layers, (list, tuple)):
        raise TargetError(f"{owner}: layers must be a list, but are {describe(layers)}")
    for layer in layers:
        # Attributes that a filter needs are checked when the target is attached, not here.
        with contextlib.suppress(UnknownAttributeError):
            resolve_layer(layer)
    if attr_mapping is not None and not isinstance(attr_mapping, Mapping):
        raise TargetError(f"{owner}: attr_mapping must be a dictionary, but is {describe(attr_mapping)}")
    mapping = {}
    for name, by_layer in (attr_mapping or {}).items():
        check_name(f"{owner}: attr_mapping", name)
        if isinstance(by_layer, Mapping):
            by_layer = DefaultDict(by_layer)
        if not isinstance(by_layer, DefaultDict):
            raise TargetError(f"{owner}: attr_mapping[{name!r}] must be a DefaultDict, but is {by_layer!r}")
        mapping[name] = by_layer
    return list(layers), mapping


def describe_layer(layer: Any) -> str:
    if isinstance(layer, (str, LayerFilterParams)):
        return str(layer)
    return str(getattr(layer, "__name__", layer))


class OperationsToLayers:
    """Several `OperationsSetToLayers`.

    op_sets_to_layers: the list of them; every set once, and every layer in one set only.
    """

    def __init__(self, op_sets_to_layers: Sequence[OperationsSetToLayers] | None = None) -> None:
        if op_sets_to_layers is not None and not isinstance(op_sets_to_layers, (list, tuple)):
            raise TargetError(f"OperationsToLayers takes a list, but got {describe(op_sets_to_layers)}")
        self.op_sets_to_layers: list[OperationsSetToLayers] = []
        for entry in op_sets_to_layers or []:
            self += entry

    def __iadd__(self, entry: OperationsSetToLayers) -> OperationsToLayers:
        if not isinstance(entry, OperationsSetToLayers):
            raise TargetError(f"OperationsToLayers has no place for {describe(entry)}")
        known = [other.op_set_name for other in self.op_sets_to_layers]
        if entry.op_set_name in known:
            raise TargetError(f"operator set {entry.op_set_name!r} is mapped to layers more than once")
        taken = [layer for other in self.op_sets_to_layers for layer in other.layers]
        for layer in entry.layers:
            if any(is_same_layer(layer, other) for other in taken):
                raise TargetError(
                    f"layer {describe_layer(layer)} is in more than one operator set",
                    mct=f"Found layer {describe_layer(layer)} in more than one OperatorsSet",
                )
            taken.append(layer)
        self.op_sets_to_layers.append(entry)
        return self

    def __add__(self, entry: OperationsSetToLayers) -> OperationsToLayers:
        result = OperationsToLayers(self.op_sets_to_layers)
        result += entry
        return result

    def get_layers_by_op(self, op: OperatorsSet | OperatorSetGroup) -> list[Any]:
        """The layers of an operator set, or of the members of a group."""
        names = [member.name for member in op.operators_set] if isinstance(op, OperatorSetGroup) else [op.name]
        return [layer for e in self.op_sets_to_layers if e.op_set_name in names for layer in e.layers]

    def get_chains(self, pattern: Fusing) -> list[list[Any]]:
        """Returns every chain of layers that a fusing pattern means."""
        return list(map(list, itertools.product(*map(self.get_layers_by_op, pattern.operator_groups))))


def is_same_layer(one: Any, other: Any) -> bool:
    if isinstance(one, LayerFilterParams) and isinstance(other, LayerFilterParams):
        return one == other
    if isinstance(one, LayerFilterParams) or isinstance(other, LayerFilterParams):
        return False
    return bool(one is other or (isinstance(one, str) and isinstance(other, str) and one == other))


class CustomOpsetLayers(NamedTuple):
    """The layers of an operator set that MCT does not know (2.3 to 2.6)."""

    operators: list[Any]
    attr_mapping: Mapping[str, DefaultDict | Mapping[Any, str]] | None = None


# ----------------------------------------------------------------------------------------------------------------------
# Capabilities
# ----------------------------------------------------------------------------------------------------------------------


class TargetPlatformCapabilities(_Platform):
    """A target of `mct.quantize(target=...)`: the hardware, and which layers its operator sets are.

    In MCT 1.4 to 2.2 it gives layers to a model, `OperationsSetToLayers` standing inside its `with` block:

        TargetPlatformCapabilities(tp_model, name="base", version=None)

    tp_model: the `TargetPlatformModel`.
    name:     of the capabilities.
    version:  of the capabilities.

    In MCT 2.3 to 2.6 it is the hardware itself, by keywords:

    default_qco:     options, one alternative, of the operators that no set names.
    operator_set:    the `OperatorsSet`s. Names of `OperatorSetNames` need no layers.
    fusing_patterns: what runs as one operator.
    tpc_minor_version, tpc_patch_version, tpc_platform_type, name: what the hardware is called.
    add_metadata, is_simd_padding, insert_preserving_quantizers: switches of exporters and of pruning.
    """

    SCHEMA_VERSION: ClassVar[int] = 2
    _names: ClassVar[tuple[str, ...]] = (
        "default_qco",
        "operator_set",
        "fusing_patterns",
        "tpc_minor_version",
        "tpc_patch_version",
        "tpc_platform_type",
        "add_metadata",
        "name",
        "is_simd_padding",
        "insert_preserving_quantizers",
    )

    @overload
    def __init__(self, tp_model: TargetPlatformModel, name: str = "base", version: str | None = None) -> None: ...
    @overload
    def __init__(
        self,
        *,
        default_qco: QuantizationConfigOptions,
        operator_set: Sequence[OperatorsSet] | None = None,
        fusing_patterns: Sequence[Fusing] | None = None,
        tpc_minor_version: int | None = None,
        tpc_patch_version: int | None = None,
        tpc_platform_type: str | None = None,
        add_metadata: bool = True,
        name: str = "default_tpc",
        is_simd_padding: bool = False,
        insert_preserving_quantizers: bool = False,
        SCHEMA_VERSION: int = 2,
    ) -> None: ...
    def __init__(
        self,
        tp_model: TargetPlatformModel | None = None,
        name: str | None = None,
        version: str | None = None,
        **platform: Any,
    ) -> None:
        self._closed = False
        self.tp_model: TargetPlatformModel | None = tp_model
        self.version = version
        self.op_sets_to_layers = OperationsToLayers()
        if tp_model is not None:
            self._attach(tp_model, name, version, platform)
        else:
            self._define(name, version, platform)

    def _attach(
        self, tp_model: TargetPlatformModel, name: str | None, version: str | None, platform: dict[str, Any]
    ) -> None:
        check_instance("TargetPlatformCapabilities", "tp_model", tp_model, TargetPlatformModel)
        check_fields("TargetPlatformCapabilities of a tp_model", ["name", "version"], platform)
        if version is not None:
            check_name("TargetPlatformCapabilities: version", version)
        self.capabilities_name = check_name("TargetPlatformCapabilities", "base" if name is None else name)
        tp_model._check_sets()
        for field in self._names:
            setattr(self, field, getattr(tp_model, field))

    def _define(self, name: str | None, version: str | None, platform: dict[str, Any]) -> None:
        owner = "TargetPlatformCapabilities"
        if version is not None:
            raise TargetError(f"{owner}: 'version' belongs to a tp_model; take tpc_minor_version and tpc_patch_version")
        check_fields(owner, [*self._names, "SCHEMA_VERSION"], platform)
        if "default_qco" not in platform:
            raise TargetError(f"{owner} needs tp_model or default_qco")
        if (schema := platform.pop("SCHEMA_VERSION", 2)) not in (1, 2):
            raise TargetError(f"{owner}: schema version {schema!r} is not known; known: 1, 2")
        for field in ("operator_set", "fusing_patterns"):
            value = platform.get(field)
            if value is not None and not isinstance(value, (list, tuple)):
                raise TargetError(f"{owner}: {field} must be a list, but is {describe(value)}")
            platform[field] = tuple(value or ())
        defaults = {
            "tpc_minor_version": None,
            "tpc_patch_version": None,
            "tpc_platform_type": None,
            "add_metadata": True,
            "is_simd_padding": False,
            "insert_preserving_quantizers": False,
        }
        for field, value in (defaults | platform).items():
            setattr(self, field, value)
        self.name = "default_tpc" if name is None else name
        self.capabilities_name = "base"
        self._check()
        self._check_sets()
        self._closed = True

    def __setattr__(self, name: str, value: object) -> None:
        if self.__dict__.get("_closed"):
            raise TargetError(f"TargetPlatformCapabilities {self.name!r} does not change once it is made", mct=FROZEN)
        object.__setattr__(self, name, value)

    # The `with` block of MCT up to 2.2.

    def __enter__(self) -> TargetPlatformCapabilities:
        if self.tp_model is None:
            raise TargetError(
                "a 'with' block gives layers to a TargetPlatformModel; these capabilities take them from "
                "FrameworkQuantizationCapabilities or custom_tpc_opset_to_layer"
            )
        if self._closed:
            raise TargetError(f"TargetPlatformCapabilities {self.capabilities_name!r} does not change any more")
        _open.capabilities.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _open.capabilities.remove(self)
        if error is not None:
            return
        # Layers that are not known are an error here, beside the script; filters may be of a target that is never used.
        with contextlib.suppress(UnknownAttributeError):
            self.to_mlir()
        mapped = [entry.op_set_name for entry in self.op_sets_to_layers.op_sets_to_layers]
        for pattern in self.fusing_patterns:
            for group in pattern.operator_groups:
                mapped += [m.name for m in (group.operators_set if isinstance(group, OperatorSetGroup) else (group,))]
        for operators in self.plain_sets:
            if operators.name not in mapped:
                logger.warning("operator set %r is not mapped to layers; it will never apply", operators.name)
        self._closed = True

    def append_component(self, entry: OperationsSetToLayers) -> None:
        if not self.is_opset_in_model(entry.op_set_name):
            known = ", ".join(operators.name for operators in self.plain_sets)
            raise TargetError(
                f"operator set {entry.op_set_name!r} is not defined in the target platform model; known: {known}",
                mct=f"{entry.op_set_name} is not defined in the target platform model that is associated with the "
                "target platform capabilities.",
            )
        self.op_sets_to_layers += entry

    def get_layers_by_opset_name(self, opset_name: str) -> list[Any]:
        """The layers of a set; none for one that is not known."""
        operators = self.get_opset_by_name(opset_name)
        return self.op_sets_to_layers.get_layers_by_op(operators) if operators else []

    def get_layers_by_opset(self, op: OperatorsSet | OperatorSetGroup) -> list[Any]:
        return self.op_sets_to_layers.get_layers_by_op(op)

    def get_fusing_patterns(self) -> list[list[Any]]:
        """Every chain of layers that a fusing pattern means, in the order of the patterns."""
        return [chain for pattern in self.fusing_patterns for chain in self.op_sets_to_layers.get_chains(pattern)]

    def get_default_op_qc(self) -> OpQuantizationConfig:
        return self.get_default_op_quantization_config()

    def get_info(self) -> dict[str, Any]:
        info = super().get_info()
        if self.tp_model is not None:
            info |= {
                "Target Platform Capabilities": self.capabilities_name,
                "Version": self.version,
                "Layers": [entry.get_info() for entry in self.op_sets_to_layers.op_sets_to_layers],
            }
        return info

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TargetPlatformCapabilities) and self.to_mlir() == other.to_mlir()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TargetPlatformCapabilities({self.name!r}, {len(self.operator_set)} operator sets)"

    # Our side.

    def to_mlir(self) -> str:
        """The text of a module with the `tpc.platform`, and with a `tpc.binding` where layers were given.

        Without any the operator sets are those that the stock bindings know by name.
        """
        from mct.target_platform._mlir import write_module

        return write_module(self, self.op_sets_to_layers if self.op_sets_to_layers.op_sets_to_layers else None)

    def to_json(self, schema: int = 2) -> str:
        """The text of the file that MCT 2.3 to 2.6 load; it has no place for layers."""
        from mct.target_platform._json import write_json

        return write_json(self, schema)

    # As pydantic calls it, of which MCT's own object is.

    def model_dump_json(self, indent: int | None = None) -> str:
        """Returns the same text with that indentation; None: in one line."""
        document = json.loads(self.to_json())
        return json.dumps(document, indent=indent, ensure_ascii=False, separators=None if indent else (",", ":"))

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> TargetPlatformCapabilities:
        """Returns a copy with other values of some fields, checked as at construction."""
        if self.tp_model is not None:
            raise TargetError("model_copy is of capabilities without a tp_model; make others of the model")
        values = {name: getattr(self, name) for name in self._names}
        check_fields("TargetPlatformCapabilities.model_copy", values, update or {})
        return TargetPlatformCapabilities(**values | dict(update or {}))

    def with_version(self, version: str) -> TargetPlatformCapabilities:
        """Returns the same with the `version` that MCT up to 2.2 has of it."""
        copy = self.model_copy()
        object.__setattr__(copy, "version", check_name("TargetPlatformCapabilities: version", version))
        return copy


class FrameworkQuantizationCapabilities:
    """Capabilities of MCT 2.3 to 2.6 with the layers of their operator sets.

    tpc:  the `TargetPlatformCapabilities`.
    name: of these.
    custom_opset_to_layer: by name of a set the `CustomOpsetLayers`, in the place of those that are known. A set whose
        name is not one of `OperatorSetNames` needs an entry.

    Inside its `with` block `OperationsSetToLayers` gives the layers of all sets instead.
    """

    def __init__(
        self,
        tpc: TargetPlatformCapabilities,
        name: str = "base",
        custom_opset_to_layer: Mapping[str, CustomOpsetLayers | tuple[Any, ...]] | None = None,
    ) -> None:
        owner = "FrameworkQuantizationCapabilities"
        check_instance(owner, "tpc", tpc, TargetPlatformCapabilities)
        self.tpc = tpc
        self.name = check_name(owner, name)
        self.custom_opset_to_layer: dict[str, CustomOpsetLayers] = {}
        for set_name, layers in (custom_opset_to_layer or {}).items():
            entry = CustomOpsetLayers(*layers) if isinstance(layers, tuple) else CustomOpsetLayers(layers)
            check_layers(f"{owner}: {set_name}", entry.operators, entry.attr_mapping)
            self.custom_opset_to_layer[set_name] = entry
        self.op_sets_to_layers = OperationsToLayers()
        self._is_given = False

    def __enter__(self) -> FrameworkQuantizationCapabilities:
        self._is_given = True
        _open.capabilities.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _open.capabilities.remove(self)
        if error is None:
            with contextlib.suppress(UnknownAttributeError):
                self.to_mlir()

    def get_layers_by_opset_name(self, opset_name: str) -> list[Any]:
        """Returns the layers that the `with` block gives a set; none for one that is not known."""
        operators = self.tpc.get_opset_by_name(opset_name)
        return self.op_sets_to_layers.get_layers_by_op(operators) if operators else []

    def get_layers_by_opset(self, op: OperatorsSet | OperatorSetGroup) -> list[Any]:
        return self.op_sets_to_layers.get_layers_by_op(op)

    def get_fusing_patterns(self) -> list[dict[str, Any]]:
        """Returns every chain of layers that a fusing pattern means, each with the config of its inner results."""
        return [
            {"fused_layer_pattern": chain, "fused_op_quantization_config": pattern.fuse_op_quantization_config}
            for pattern in self.tpc.fusing_patterns
            for chain in self.op_sets_to_layers.get_chains(pattern)
        ]

    def append_component(self, entry: OperationsSetToLayers) -> None:
        if not self.tpc.is_opset_in_model(entry.op_set_name):
            known = ", ".join(operators.name for operators in self.tpc.plain_sets)
            raise TargetError(f"operator set {entry.op_set_name!r} is not defined in the capabilities; known: {known}")
        self.op_sets_to_layers += entry

    def to_mlir(self) -> str:
        """The text of a module with the `tpc.platform` and its `tpc.binding`s."""
        from mct.target_platform._mlir import write_module

        return write_module(self.tpc, self.op_sets_to_layers if self._is_given else self.custom_opset_to_layer)
