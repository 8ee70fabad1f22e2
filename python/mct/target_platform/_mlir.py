# SPDX-License-Identifier: Apache-2.0
"""Targets as text of the `tpc` dialect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mct.target_platform import _vocabulary as vocabulary
from mct.target_platform._enums import Signedness
from mct.target_platform._errors import TargetError
from mct.target_platform._layers import Layer, resolve_layer
from mct.target_platform._predicates import Truth, join, negate, quote, write_real
from mct.target_platform._schema import (
    BIAS_ATTR,
    KERNEL_ATTR,
    POSITIONAL_ATTR,
    AttributeQuantizationConfig,
    DefaultDict,
    Fusing,
    OperatorsSet,
    OpQuantizationConfig,
    QuantizationConfigOptions,
)
from mct.target_platform._vocabulary import Pattern

if TYPE_CHECKING:
    from mct.target_platform._platform import CustomOpsetLayers, OperationsToLayers, _Platform

# Names that MCT's configs may give a weight instead of its generic name, where no mapping explains it.
_GENERIC = {"kernel": KERNEL_ATTR, "depthwise_kernel": KERNEL_ATTR, "weight": KERNEL_ATTR, "bias": BIAS_ATTR}
_OPERANDS = {KERNEL_ATTR: 1, BIAS_ATTR: 2}


def write_symbol(name: str) -> str:
    """Returns `@name`, quoted if MLIR requires it."""
    bare = name.replace("_", "a").replace("$", "a").replace(".", "a")
    is_bare = bare.isascii() and bare.isalnum() and not name[0].isdigit() and name[0] not in "$."
    return f"@{name}" if is_bare else f"@{quote(name)}"


# ----------------------------------------------------------------------------------------------------------------------
# Attributes
# ----------------------------------------------------------------------------------------------------------------------


class _Writer:
    """Writes attributes, each once, with an alias for it."""

    def __init__(self, widths: tuple[int, ...]) -> None:
        self.lines: list[str] = []
        self.aliases: dict[str, str] = {}
        # Bits of the values that operators read, for configs that do not define them.
        self.widths = widths

    def _alias(self, prefix: str, text: str) -> str:
        if text not in self.aliases:
            count = sum(alias.startswith(f"#{prefix}") for alias in self.aliases.values())
            self.aliases[text] = f"#{prefix}{count}"
            self.lines.append(f"{self.aliases[text]} = {text}")
        return self.aliases[text]

    def weight(self, config: AttributeQuantizationConfig) -> str:
        parts = [
            f"method = {config.weights_quantization_method.name.lower()}",
            f"bits = {config.weights_n_bits}",
        ]
        if config.weights_per_channel_threshold:
            parts.append("per_channel = true")
        if config.enable_weights_quantization:
            parts.append("enabled = true")
        if config.lut_values_bitwidth is not None:
            parts.append(f"lut_values_bits = {config.lut_values_bitwidth}")
        return self._alias("weight", f"#tpc.attr_quant_config<{', '.join(parts)}>")

    def config(self, config: OpQuantizationConfig, has_kernel: bool = True) -> str:
        widths = config.supported_input_activation_n_bits or self.widths
        parts = [
            f"act_method = {config.activation_quantization_method.name.lower()}",
            f"act_bits = {config.activation_n_bits}",
            f"input_bits = [{', '.join(map(str, widths))}]",
        ]
        if not config.enable_activation_quantization:
            parts.append("act_enabled = false")
        if config.quantization_preserving:
            parts.append("preserving = true")
        if config.signedness is not Signedness.AUTO:
            parts.append(f"signedness = {config.signedness.name.lower()}")
        if config.fixed_scale is not None:
            parts += [
                f"fixed_scale = {write_real(config.fixed_scale)}",
                f"fixed_zero_point = {config.fixed_zero_point}",
            ]
        if config.simd_size is not None:
            parts.append(f"simd_size = {config.simd_size}")
        weights = {_GENERIC.get(name, name): weight for name, weight in config.attr_weights_configs_mapping.items()}
        if not has_kernel:
            weights = {name: weight for name, weight in weights.items() if name not in _OPERANDS}
        if weights:
            named = (f"{quote(name)} = {self.weight(weight)}" for name, weight in weights.items())
            parts.append(f"weights = {{{', '.join(named)}}}")
        parts.append(f"default_weight = {self.weight(config.default_weight_attr_config)}")
        return self._alias("config", f"#tpc.op_quant_config<{', '.join(parts)}>")

    def options(self, options: QuantizationConfigOptions, has_kernel: bool = True) -> str:
        configs = [self.config(config, has_kernel) for config in options.quantization_configurations]
        base = f", base = {self.config(options.base_config, has_kernel)}" if len(configs) > 1 else ""
        return self._alias("options", f"#tpc.qc_options<[{', '.join(configs)}]{base}>")

    def set(self, operators: OperatorsSet, options: QuantizationConfigOptions | None, has_kernel: bool = True) -> str:
        given = f", options = {self.options(options, has_kernel)}" if options else ""
        if operators.one_by_one:
            given = ", one_by_one"
        return f"#tpc.operator_set<{quote(operators.name)}{given}>"

    def fusing(self, pattern: Fusing) -> str:
        elements = []
        for group in pattern.operator_groups:
            if isinstance(group, OperatorsSet):
                elements.append(quote(group.name))
                continue
            members = [member.name for member in group.operators_set]
            name = "" if group.name == "_".join(members) else f", name = {quote(group.name)}"
            elements.append(f"#tpc.operator_set_group<[{', '.join(map(quote, members))}]{name}>")
        config = pattern.fuse_op_quantization_config
        parts = f", config = {self.config(config)}" if config else ""
        if pattern.has_own_name:
            parts += f", name = {quote(pattern.name)}"
        return f"#tpc.fusing<[{', '.join(elements)}]{parts}>"


# ----------------------------------------------------------------------------------------------------------------------
# Bindings
# ----------------------------------------------------------------------------------------------------------------------


@dataclass
class _Bound:
    """The layers of one operator set, and what becomes of them."""

    name: str
    layers: list[Layer]
    attr_mapping: Mapping[str, DefaultDict] = field(default_factory=dict)
    originals: list[Any] = field(default_factory=list)
    patterns: list[Pattern] = field(default_factory=list)
    linalg: list[Pattern] = field(default_factory=list)


def _unique(patterns: Iterable[Pattern]) -> list[Pattern]:
    return list(dict.fromkeys(patterns))


def _resolve(platform: _Platform, bound: list[_Bound]) -> None:
    """Returns the patterns of each set, where layers of several become the same ops."""
    claimed = {
        form.pattern: entry.name
        for entry in bound
        for layer in entry.layers
        for form in layer.forms
        if not form.is_extra
    }
    options = {entry.name: platform.options_of(entry.name) for entry in bound}
    owners: dict[Pattern, list[str]] = {}
    for entry in bound:
        for layer in entry.layers:
            for form in layer.forms:
                owners.setdefault(form.pattern, []).append(entry.name)
    narrowed = [
        (entry, form.pattern)
        for entry in bound
        for layer in entry.layers
        for form in layer.forms
        if form.is_narrowed and not (form.is_extra and claimed.get(form.pattern, entry.name) != entry.name)
    ]
    for entry in bound:
        for layer in entry.layers:
            linalg = layer.linalg
            for form in layer.forms:
                if form.is_extra and claimed.get(form.pattern, entry.name) != entry.name:
                    continue
                pattern: Pattern | None = form.pattern
                if form.sharper and any(options[name] != options[entry.name] for name in owners[form.pattern]):
                    pattern = form.sharper
                    # The forms of linalg do not distinguish these.
                    linalg = ()
                # A filter goes before the plain layer, as MCT has it; the dialect has that for plain ops only.
                if not form.is_narrowed and form.pattern.where:
                    pattern = _exclude(form.pattern, [p for other, p in narrowed if other is not entry])
                if pattern:
                    entry.patterns.append(pattern)
            entry.linalg += linalg
        entry.patterns, entry.linalg = _unique(entry.patterns), _unique(entry.linalg)


def _exclude(pattern: Pattern, others: list[Pattern]) -> Pattern | None:
    """The pattern without the ops of others; none where nothing is left."""
    where: Truth = pattern.where or True
    for other in others:
        if other.name == pattern.name and other.where and join("and", where, other.where) is not False:
            where = join("and", where, negate(other.where))
    return None if isinstance(where, bool) else replace(pattern, where=where)


def _write_weights(entry: _Bound, options: QuantizationConfigOptions, stock: vocabulary.Entry | None) -> str:
    """The operand numbers of the weights that the options name; empty if the framework's description has them."""
    named = [
        name
        for config in options.quantization_configurations
        for name in config.attr_weights_configs_mapping
        if name != POSITIONAL_ATTR
    ]
    operands: dict[str, int] = {}
    for name in dict.fromkeys([*named, *entry.attr_mapping]):
        generic = _GENERIC.get(name, name)
        if name not in entry.attr_mapping:
            if generic not in _OPERANDS:
                raise TargetError(
                    f"weight {name!r} of operator set {entry.name!r} is not known; give attr_mapping, or call it "
                    f"{KERNEL_ATTR!r} or {BIAS_ATTR!r}"
                )
            continue
        for original, layer in zip(entry.originals, entry.layers, strict=True):
            own = entry.attr_mapping[name].get(original)
            if own is None:
                continue
            operand = layer.weights.get(own)
            if operand is None:
                known = ", ".join(map(repr, layer.weights)) or "none"
                raise TargetError(
                    f"weight {own!r} of layer {layer.name!r} in operator set {entry.name!r} is not an operand of the "
                    f"op that it becomes; known: {known}"
                )
            if operands.setdefault(generic, operand) != operand:
                raise TargetError(f"weight {name!r} of operator set {entry.name!r} stands for kernel and bias")
    # The stock description has these weights already, for each of the forms of a layer.
    if operands.items() <= _OPERANDS.items():
        operands = dict(stock.weights) if stock else {}
    else:
        generic_names = [_GENERIC.get(name, name) for name in named]
        operands |= {name: _OPERANDS[name] for name in generic_names if name in _OPERANDS and name not in operands}
    if not operands:
        return ""
    return f", weights = {{{', '.join(f'{quote(name)} = {number}' for name, number in operands.items())}}}"


def _write_binding(ir: str, platform: _Platform, entries: list[tuple[str, list[Pattern], str]]) -> str:
    lines = [
        f"  #tpc.ops_of<{quote(name)}, [{', '.join(map(str, patterns))}]{weights}>"
        for name, patterns, weights in entries
    ]
    header = f"tpc.binding {write_symbol(f'{platform.name}_on_{ir}')} for {write_symbol(platform.name)}"
    return f"{header} [\n" + ",\n".join(lines) + "\n]\n"


def _bind(platform: _Platform, layers: OperationsToLayers | Mapping[str, CustomOpsetLayers]) -> list[_Bound]:
    """The layers of the sets: those that were given, and, for a mapping, else those that are known."""
    if not isinstance(layers, Mapping):
        return [
            _Bound(e.op_set_name, [resolve_layer(layer) for layer in e.layers], e.attr_mapping, e.layers)
            for e in layers.op_sets_to_layers
        ]
    from mct.target_platform._platform import check_layers

    bound = []
    for operators in platform.plain_sets:
        if custom := layers.get(operators.name):
            originals, mapping = check_layers(operators.name, custom.operators, custom.attr_mapping)
            bound.append(_Bound(operators.name, [resolve_layer(layer) for layer in originals], mapping, originals))
        elif operators.name in vocabulary.TOSA:
            bound.append(_Bound(operators.name, [resolve_layer(operators.name)], {}, [operators.name]))
        else:
            raise TargetError(
                f"operator set {operators.name!r} is not in OperatorSetNames and not mapped to layers; give "
                "custom_tpc_opset_to_layer an entry for it"
            )
    return bound


def _write_bindings(platform: _Platform, bound: list[_Bound]) -> str:
    _resolve(platform, bound)
    # In the order of the stock bindings, so that the same content is the same text.
    order = {name: index for index, name in enumerate([*vocabulary.TOSA, *(entry.name for entry in bound)][::-1])}
    tosa, linalg = [], []
    for entry in sorted(bound, key=lambda entry: -order[entry.name]):
        options = platform.options_of(entry.name)
        stock = vocabulary.TOSA.get(entry.name)
        is_stock = stock is not None and entry.patterns == list(stock.patterns)
        weights = _write_weights(entry, options, stock if is_stock else None)
        if weights and not is_stock:
            # Names of the script's own; the ops of linalg have no operand for a bias that one could stand for.
            entry.linalg = []
        tosa.append((entry.name, entry.patterns, weights))
    order = {name: index for index, name in enumerate([*vocabulary.LINALG, *(entry.name for entry in bound)][::-1])}
    for entry in sorted(bound, key=lambda entry: -order[entry.name]):
        if entry.linalg or entry.name in vocabulary.LINALG:
            linalg.append((entry.name, entry.linalg, ""))
    return _write_binding("tosa", platform, tosa) + (_write_binding("linalg", platform, linalg) if linalg else "")


# ----------------------------------------------------------------------------------------------------------------------
# Modules
# ----------------------------------------------------------------------------------------------------------------------


def _sets_without_kernel(bound: list[_Bound] | None) -> set[str]:
    """The operator sets of which no op has a kernel. Their options of kernels have no effect in MCT."""
    if bound is None:
        return {name for name in vocabulary.TOSA if name not in vocabulary.LINEAR_SETS}
    return {entry.name for entry in bound if not any(layer.weights for layer in entry.layers)}


def _write_platform(platform: _Platform, bound: list[_Bound] | None) -> str:
    every = [platform.default_qco, *(s.qc_options for s in platform.plain_sets if s.qc_options)]
    configs = [config for options in every for config in options.quantization_configurations]
    writer = _Writer(tuple(sorted({config.activation_n_bits for config in configs})))
    header = [f"tpc.platform {write_symbol(platform.name or 'unnamed')}"]
    if platform.tpc_platform_type is not None:
        header.append(f"type({quote(platform.tpc_platform_type)})")
    version = (platform.tpc_minor_version, platform.tpc_patch_version)
    if version != (None, None):
        header.append("version " + ", ".join("?" if number is None else str(number) for number in version))
    if platform.add_metadata:
        header.append("metadata")
    if platform.is_simd_padding:
        header.append("simd_padding")
    if platform.insert_preserving_quantizers:
        header.append("insert_preserving_quantizers")
    header.append(f"default({writer.options(platform.default_qco)})")

    without_kernel = _sets_without_kernel(bound)
    default_names = platform.default_qco.base_config.attr_weights_configs_mapping
    has_default_weights = any(_GENERIC.get(name, name) in _OPERANDS for name in default_names)
    sets = []
    for operators in platform.plain_sets:
        has_kernel = operators.name not in without_kernel
        options = operators.qc_options
        if options is None and has_default_weights and not has_kernel:
            options = platform.default_qco
        sets.append(f"    {writer.set(operators, options, has_kernel)}")
    text = " ".join(header) + "\n  operator_sets [" + ("\n" + ",\n".join(sets) + "\n  ]" if sets else "]") + "\n"
    patterns = [f"    {writer.fusing(pattern)}" for pattern in platform.fusing_patterns]
    if patterns:
        text += "  fusing [\n" + ",\n".join(patterns) + "\n  ]\n"
    return "\n".join(writer.lines) + "\n\n" + text


def write_module(platform: _Platform, layers: OperationsToLayers | Mapping[str, CustomOpsetLayers] | None) -> str:
    """The module of a target. `layers`: of its sets, or of those that are not known; None: the stock bindings'."""
    bound = None if layers is None else _bind(platform, layers)
    text = _write_platform(platform, bound)
    return text if bound is None else text + _write_bindings(platform, bound)


def write_derived(
    base: str,
    name: str,
    default: QuantizationConfigOptions | None,
    linear: QuantizationConfigOptions | None,
    sets: tuple[OperatorsSet, ...],
) -> str:
    """The module of a target that is like another one."""
    every = [o for o in (default, linear, *(s.qc_options for s in sets)) if o]
    configs = [config for options in every for config in options.quantization_configurations]
    writer = _Writer(tuple(sorted({config.activation_n_bits for config in configs})))
    text = f"tpc.derive {write_symbol(name)} from {quote(base)}\n"
    if default:
        text += f"  default({writer.options(default)})\n"
    if linear:
        text += f"  linear({writer.options(linear)})\n"
    if sets:
        text += (
            "  operator_sets [\n"
            + ",\n".join(f"    {writer.set(operators, operators.qc_options)}" for operators in sets)
            + "\n  ]\n"
        )
    return "\n".join(writer.lines) + "\n\n" + text
