# SPDX-License-Identifier: Apache-2.0
"""Targets from and to the JSON of MCT 2.3 to 2.6."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from mct.errors import describe
from mct.target_platform._enums import QuantizationMethod, Signedness
from mct.target_platform._errors import NoTargetFileError, TargetError, TargetTypeError
from mct.target_platform._platform import TargetPlatformCapabilities, TargetPlatformModel
from mct.target_platform._schema import (
    AttributeQuantizationConfig,
    Fusing,
    OperatorSetGroup,
    OperatorsSet,
    OpQuantizationConfig,
    QuantizationConfigOptions,
)

T = TypeVar("T")

# ----------------------------------------------------------------------------------------------------------------------
# Writing
# ----------------------------------------------------------------------------------------------------------------------


def _write_weight(config: AttributeQuantizationConfig) -> dict[str, Any]:
    return {name: getattr(config, name) for name in config.field_names} | {
        "weights_quantization_method": config.weights_quantization_method.value
    }


def _write_config(config: OpQuantizationConfig, widths: list[int]) -> dict[str, Any]:
    return {
        "default_weight_attr_config": _write_weight(config.default_weight_attr_config),
        "attr_weights_configs_mapping": {
            name: _write_weight(weight) for name, weight in config.attr_weights_configs_mapping.items()
        },
        "activation_quantization_method": config.activation_quantization_method.value,
        "activation_n_bits": config.activation_n_bits,
        "supported_input_activation_n_bits": list(config.supported_input_activation_n_bits or widths),
        "enable_activation_quantization": config.enable_activation_quantization,
        "quantization_preserving": config.quantization_preserving,
        "signedness": config.signedness.value,
        "fixed_scale": config.fixed_scale,
        "fixed_zero_point": config.fixed_zero_point,
        "simd_size": config.simd_size,
    }


def _write_options(options: QuantizationConfigOptions | None, widths: list[int]) -> dict[str, Any] | None:
    if options is None:
        return None
    return {
        "quantization_configurations": [_write_config(c, widths) for c in options.quantization_configurations],
        "base_config": _write_config(options.base_config, widths),
    }


def _write_set(operators: OperatorsSet, widths: list[int]) -> dict[str, Any]:
    fields = {
        "name": operators.name,
        "qc_options": _write_options(operators.qc_options, widths),
        "type": operators.type,
    }
    # MCT ignores keys that it does not know.
    return fields | ({"one_by_one": True} if operators.one_by_one else {})


def write_json(platform: TargetPlatformCapabilities, schema: int) -> str:
    """The text of a file of that schema version, as MCT writes it."""
    if schema not in (1, 2):
        raise TargetError(f"schema version {schema!r} is not known; known: 1, 2")
    if schema == 1 and platform.insert_preserving_quantizers:
        raise TargetError("insert_preserving_quantizers cannot be said in schema version 1; write version 2")
    every = [platform.default_qco, *(s.qc_options for s in platform.plain_sets if s.qc_options)]
    widths = sorted({c.activation_n_bits for options in every for c in options.quantization_configurations})
    defined = {operators.name: operators for operators in platform.plain_sets}

    def write_group(group: OperatorsSet | OperatorSetGroup) -> dict[str, Any]:
        if isinstance(group, OperatorsSet):
            return _write_set(defined[group.name], widths)
        members = [_write_set(defined[member.name], widths) for member in group.operators_set]
        return {"operators_set": members, "name": group.name, "type": "OperatorSetGroup"}

    def write_fusing(pattern: Fusing) -> dict[str, Any]:
        fields: dict[str, Any] = {"operator_groups": [write_group(group) for group in pattern.operator_groups]}
        config = pattern.fuse_op_quantization_config
        if schema >= 2:
            fields["fuse_op_quantization_config"] = None if config is None else _write_config(config, widths)
        elif config is not None:
            raise TargetError("fuse_op_quantization_config cannot be said in schema version 1; write version 2")
        return fields | {"name": pattern.name}

    document: dict[str, Any] = {
        "default_qco": _write_options(platform.default_qco, widths),
        "operator_set": [_write_set(operators, widths) for operators in platform.plain_sets] or None,
        "fusing_patterns": [write_fusing(pattern) for pattern in platform.fusing_patterns] or None,
        "tpc_minor_version": platform.tpc_minor_version,
        "tpc_patch_version": platform.tpc_patch_version,
        "tpc_platform_type": platform.tpc_platform_type,
        "add_metadata": platform.add_metadata,
        "name": platform.name,
        "is_simd_padding": platform.is_simd_padding,
    }
    if schema >= 2:
        document["insert_preserving_quantizers"] = platform.insert_preserving_quantizers
    document["SCHEMA_VERSION"] = schema
    return json.dumps(document, indent=4, ensure_ascii=False)


# ----------------------------------------------------------------------------------------------------------------------
# Reading
# ----------------------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads the parts of a document; an error gives their positions (`operator_set[3].name`)."""

    def __init__(self, path: str = "") -> None:
        self.path = path

    def _of(self, key: str | int) -> _Reader:
        if isinstance(key, int):
            return _Reader(f"{self.path}[{key}]")
        return _Reader(f"{self.path}.{key}" if self.path else key)

    def error(self, message: str) -> TargetError:
        return TargetError(f"{self.path}: {message}" if self.path else message)

    def make(self, kind: Callable[..., T], **fields: Any) -> T:
        try:
            return kind(**fields)
        except TargetError as error:
            raise self.error(str(error)) from error

    def object(self, value: Any, known: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self.error(f"expected an object, but got {json.dumps(value)[:60]}")
        for key in value:
            if key not in known:
                raise self._of(key).error(f"unknown key; known: {', '.join(known)}")
        return value

    def list(self, value: Any, read: Callable[[_Reader, Any], T]) -> list[T]:
        if not isinstance(value, list):
            raise self.error(f"expected a list, but got {json.dumps(value)[:60]}")
        return [read(self._of(index), element) for index, element in enumerate(value)]

    def field(self, fields: Mapping[str, Any], key: str, read: Callable[[_Reader, Any], T]) -> T:
        if key not in fields:
            raise self.error(f"needs {key!r}")
        return read(self._of(key), fields[key])


def _read_code(value: Any, enum: type[QuantizationMethod] | type[Signedness]) -> Any:
    return enum.__members__.get(value.upper(), value) if isinstance(value, str) else value


_WEIGHT_FIELDS = tuple(AttributeQuantizationConfig().field_names)
_CONFIG_FIELDS = OpQuantizationConfig._names


def _read_weight(at: _Reader, value: Any) -> AttributeQuantizationConfig:
    fields = dict(at.object(value, _WEIGHT_FIELDS))
    key = "weights_quantization_method"
    if key in fields:
        fields[key] = _read_code(fields[key], QuantizationMethod)
    return at.make(AttributeQuantizationConfig, **fields)


def _read_weights(at: _Reader, value: Any) -> dict[str, AttributeQuantizationConfig]:
    if not isinstance(value, dict):
        raise at.error(f"expected an object, but got {json.dumps(value)[:60]}")
    return {name: _read_weight(at._of(name), config) for name, config in value.items()}


def _read_config(at: _Reader, value: Any) -> OpQuantizationConfig:
    fields = dict(at.object(value, _CONFIG_FIELDS))
    fields["default_weight_attr_config"] = at.field(fields, "default_weight_attr_config", _read_weight)
    fields["attr_weights_configs_mapping"] = at.field(fields, "attr_weights_configs_mapping", _read_weights)
    for key, enum in (("activation_quantization_method", QuantizationMethod), ("signedness", Signedness)):
        if key not in fields:
            raise at.error(f"needs {key!r}")
        fields[key] = _read_code(fields[key], enum)
    if fields.get("supported_input_activation_n_bits") is None:
        raise at.error("needs 'supported_input_activation_n_bits'")
    return at.make(OpQuantizationConfig, **fields)


def _read_options(at: _Reader, value: Any) -> QuantizationConfigOptions:
    fields = at.object(value, ("quantization_configurations", "base_config"))
    configs = at.field(fields, "quantization_configurations", lambda a, v: a.list(v, _read_config))
    base = fields.get("base_config")
    return at.make(
        QuantizationConfigOptions,
        quantization_configurations=configs,
        base_config=None if base is None else _read_config(at._of("base_config"), base),
    )


def _check_tag(at: _Reader, fields: Mapping[str, Any], tag: str) -> None:
    if fields.get("type", tag) != tag:
        raise at._of("type").error(f"expected {tag!r}, but got {fields['type']!r}")


def _read_set(at: _Reader, value: Any) -> OperatorsSet:
    fields = at.object(value, ("name", "qc_options", "type", "one_by_one"))
    _check_tag(at, fields, "OperatorsSet")
    options = fields.get("qc_options")
    name = fields.get("name")
    return at.make(
        OperatorsSet,
        # MCT misspells it.
        name="Expend" if name == "Expand" else name,
        qc_options=None if options is None else _read_options(at._of("qc_options"), options),
        one_by_one=fields.get("one_by_one", False),
    )


def _read_group(at: _Reader, value: Any) -> OperatorsSet | OperatorSetGroup:
    if not isinstance(value, dict) or value.get("type") != "OperatorSetGroup":
        return _read_set(at, value)
    fields = at.object(value, ("operators_set", "name", "type"))
    members = at.field(fields, "operators_set", lambda a, v: a.list(v, _read_set))
    return at.make(OperatorSetGroup, operators_set=members, name=fields.get("name"))


def _read_fusing(at: _Reader, value: Any) -> Fusing:
    fields = at.object(value, ("operator_groups", "fuse_op_quantization_config", "name"))
    config = fields.get("fuse_op_quantization_config")
    return at.make(
        Fusing,
        operator_groups=at.field(fields, "operator_groups", lambda a, v: a.list(v, _read_group)),
        name=fields.get("name"),
        fuse_op_quantization_config=(
            None if config is None else _read_config(at._of("fuse_op_quantization_config"), config)
        ),
    )


def read_json(text: str) -> TargetPlatformCapabilities:
    """The target of a document of schema version 1 or 2. Raises `TargetError` with the place in the document."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TargetError(f"invalid JSON: {error}") from error
    at = _Reader()
    fields = dict(at.object(document, (*TargetPlatformCapabilities._names, "SCHEMA_VERSION")))
    schema = fields.pop("SCHEMA_VERSION", 2)
    if schema not in (1, 2) or isinstance(schema, bool):
        raise at._of("SCHEMA_VERSION").error(f"schema version {schema!r} is not known; known: 1, 2")
    fields["default_qco"] = at.field(fields, "default_qco", _read_options)
    for key, read in (("operator_set", _read_set), ("fusing_patterns", _read_fusing)):
        if fields.get(key) is not None:
            fields[key] = at._of(key).list(fields[key], read)
    return at.make(TargetPlatformCapabilities, **fields)


def load_target_platform_capabilities(
    tpc_obj_or_path: TargetPlatformCapabilities | TargetPlatformModel | str | Path,
) -> TargetPlatformCapabilities:
    """The target of a `.json` file as MCT 2.3 to 2.6 write it; a target is given back as it is.

    Raises `TargetError` (a ValueError) for what the file has; one that is not there is a FileNotFoundError as well, and
    anything else than a target or a path a TypeError.
    """
    if isinstance(tpc_obj_or_path, TargetPlatformCapabilities):
        return tpc_obj_or_path
    if isinstance(tpc_obj_or_path, TargetPlatformModel):
        return TargetPlatformCapabilities(tpc_obj_or_path)
    if not isinstance(tpc_obj_or_path, (str, Path)):
        raise TargetTypeError(
            f"a target is a TargetPlatformCapabilities or the path of one, not {describe(tpc_obj_or_path)}",
            mct="tpc_obj_or_path must be either a TargetPlatformCapabilities instance or a string path to a JSON file, "
            f"but received type '{type(tpc_obj_or_path).__name__}'.",
        )
    path = Path(tpc_obj_or_path)
    if not path.is_file():
        raise NoTargetFileError(f"there is no file {str(path)!r}", mct=f"The path '{path}' is not a valid file.")
    if path.suffix.lower() != ".json":
        raise TargetError(
            f"{path}: a target of MCT is a file that ends in .json",
            mct=f"The file '{path}' does not have a '.json' extension.",
        )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TargetError(f"{path}: cannot be read: {error}") from error
    try:
        return read_json(text)
    except TargetError as error:
        raise TargetError(
            f"{path}: {error}", mct=f"Invalid JSON for loading TargetPlatformCapabilities in '{path}': {error}."
        ) from error


def export_target_platform_capabilities(model: TargetPlatformCapabilities, export_path: str | Path) -> None:
    """Writes the file that MCT 2.3 to 2.6 load, and its folder. Raises `TargetError` for anything but a target."""
    if not isinstance(model, TargetPlatformCapabilities):
        raise TargetError(
            f"a TargetPlatformCapabilities can be exported, not {describe(model)}",
            mct="The provided model is not a valid TargetPlatformCapabilities instance.",
        )
    text = model.to_json()
    path = Path(export_path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OSError(error.errno, f"Failed to write to file '{path}': {error.strerror}") from error
