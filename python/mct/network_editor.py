# SPDX-License-Identifier: Apache-2.0
"""Names of MCT below `mct.core.network_editor`: rules for single operators, as `mct.core.DebugConfig` takes them.

    rule = EditRule(NodeNameFilter("conv1"), ChangeCandidatesActivationQuantConfigAttr(activation_n_bits=16))
    mct.core.CoreConfig(debug_config=mct.core.DebugConfig(network_editor=[rule]))

Bits, methods, and whether a tensor is quantized, become `overrides` of `mct.quantize`. A method is one that the target
offers, or a special case of it: power-of-two thresholds where any are, symmetric grids where there may be a zero
point. Functions that select parameters are an error that names the replacement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mct.core import BitWidthConfig, NodeNameFilter, NodeNameScopeFilter, NodeTypeFilter
from mct.errors import describe
from mct.target_platform import QuantizationMethod, TargetError
from mct.target_platform._schema import Frozen, check_bits, check_bool, check_enum

__all__ = [
    "ChangeCandidatesActivationQuantConfigAttr",
    "ChangeCandidatesActivationQuantizationMethod",
    "ChangeCandidatesWeightsQuantConfigAttr",
    "ChangeCandidatesWeightsQuantizationMethod",
    "ChangeFinalActivationQuantConfigAttr",
    "ChangeFinalWeightsQuantConfigAttr",
    "ChangeFinalWeightsQuantizationMethod",
    "ChangeQuantizationParamFunction",
    "EditRule",
    "NodeNameFilter",
    "NodeNameScopeFilter",
    "NodeTypeFilter",
]


class _Action(Frozen):
    """A change of an operator: words of a rule of `overrides`."""

    words: tuple[str, ...]


def _read_width(owner: str, changes: dict[str, Any], bits: str, enable: str) -> str:
    """Returns the width that a change requests, as a rule writes it."""
    for name in changes:
        if name not in (bits, enable):
            raise TargetError(
                f"{owner}: {name!r} cannot be changed for one operator; known: {bits}, {enable}. Error methods and "
                "corrections are options of the whole network, in mct.core.QuantizationConfig; methods are changed by "
                "Change…QuantizationMethod"
            )
    if enable in changes and not check_bool(owner, enable, changes[enable]):
        return "float"
    if bits not in changes:
        raise TargetError(f"{owner} needs {bits}, or {enable}=False")
    return str(check_bits(owner, bits, changes[bits]))


def _read_weight(owner: str, attr_name: Any) -> str:
    """Returns the suffix of a word in a rule for a weight: `.kernel_attr`, or nothing for all weights."""
    if attr_name is not None and not isinstance(attr_name, str):
        raise TargetError(f"{owner}: attr_name must be the name of a weight, but is {describe(attr_name)}")
    return "" if attr_name is None else f".{BitWidthConfig.WEIGHTS.get(attr_name, attr_name)}"


class ChangeCandidatesActivationQuantConfigAttr(_Action):
    """The result of an operator gets other bits, or stays float.

    kwargs: `activation_n_bits`, which the target has to offer, or `enable_activation_quantization=False`.
    """

    def __init__(self, **kwargs: Any) -> None:
        names = ("activation_n_bits", "enable_activation_quantization")
        self.kwargs = kwargs
        self.words = (f"activation={_read_width(type(self).__name__, kwargs, *names)}",)


class ChangeFinalActivationQuantConfigAttr(ChangeCandidatesActivationQuantConfigAttr):
    """The same: bits are decided before parameters are."""


class ChangeCandidatesWeightsQuantConfigAttr(_Action):
    """A weight of an operator gets other bits, or stays float.

    attr_name: name of the weight, as in the framework ("kernel", "weight", "bias") or its generic one; None: all.
    kwargs:    `weights_n_bits`, which the target has to offer, or `enable_weights_quantization=False`.
    """

    def __init__(self, attr_name: str | None = None, **kwargs: Any) -> None:
        owner = type(self).__name__
        self.attr_name, self.kwargs = attr_name, kwargs
        weight = _read_weight(owner, attr_name)
        width = _read_width(owner, kwargs, "weights_n_bits", "enable_weights_quantization")
        self.words = (f"weights{weight}={width}",)


class ChangeFinalWeightsQuantConfigAttr(ChangeCandidatesWeightsQuantConfigAttr):
    """The same: bits are decided before parameters are."""


class ChangeCandidatesActivationQuantizationMethod(_Action):
    """The result of an operator gets a quantizer of another method.

    activation_quantization_method: a `QuantizationMethod` that the target offers, or a special case of one.
    """

    def __init__(self, activation_quantization_method: QuantizationMethod | None = None) -> None:
        owner = type(self).__name__
        method = check_enum(owner, "activation_quantization_method", activation_quantization_method, QuantizationMethod)
        self.activation_quantization_method = method
        self.words = (f"activation-method={method.name.lower()}",)


class ChangeCandidatesWeightsQuantizationMethod(_Action):
    """A weight of an operator gets a quantizer of another method.

    attr_name: as for `ChangeCandidatesWeightsQuantConfigAttr`.
    weights_quantization_method: a `QuantizationMethod` that the target offers, or a special case of one.
    """

    def __init__(
        self, attr_name: str | None = None, weights_quantization_method: QuantizationMethod | None = None
    ) -> None:
        owner = type(self).__name__
        method = check_enum(owner, "weights_quantization_method", weights_quantization_method, QuantizationMethod)
        self.attr_name, self.weights_quantization_method = attr_name, method
        self.words = (f"weights-method{_read_weight(owner, attr_name)}={method.name.lower()}",)


class ChangeFinalWeightsQuantizationMethod(ChangeCandidatesWeightsQuantizationMethod):
    """The same: methods are decided before parameters are."""


class ChangeQuantizationParamFunction(_Action):
    """An error that names what does the same: a function of MCT's arrays cannot select parameters here."""

    def __init__(
        self,
        attr_name: str | None = None,
        activation_quantization_params_fn: Callable[..., Any] | None = None,
        weights_quantization_params_fn: Callable[..., Any] | None = None,
    ) -> None:
        raise TargetError(
            "ChangeQuantizationParamFunction: parameters are selected by activation_error_method and "
            "weights_error_method of mct.core.QuantizationConfig; a quantizer of your own belongs in "
            "mct.quantize_config"
        )


class EditRule(NamedTuple):
    """An action, and the operators that it changes."""

    filter: NodeNameFilter | NodeNameScopeFilter | NodeTypeFilter
    action: _Action

    def to_rules(self) -> list[str]:
        """Returns rules of `overrides`."""
        if not isinstance(self.filter, (NodeNameFilter, NodeNameScopeFilter, NodeTypeFilter)):
            raise TargetError(f"EditRule: filter must be a NodeNameFilter or the like, but is {describe(self.filter)}")
        if not isinstance(self.action, _Action):
            raise TargetError(
                f"EditRule: action must be one of mct.core.network_editor, but is {describe(self.action)}"
            )
        return [f"{selector} {words}" for selector in self.filter.selectors for words in self.action.words]


def to_rules(owner: str, rules: Any) -> list[str]:
    """Returns the rules of `overrides` for a list of `EditRule`."""
    if not isinstance(rules, (list, tuple)) or not all(isinstance(rule, EditRule) for rule in rules):
        raise TargetError(f"{owner}: network_editor must be a list of EditRule, but is {describe(rules)}")
    return [text for rule in rules for text in rule.to_rules()]
