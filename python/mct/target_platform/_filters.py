# SPDX-License-Identifier: Apache-2.0
"""Filters of layers by their attributes."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from mct.errors import describe
from mct.target_platform._errors import TargetError
from mct.target_platform._schema import Frozen, check_name


class AttributeFilter(Frozen):
    """A condition on the attributes of a layer; `|` and `&` join conditions."""

    def match(self, attributes: Mapping[str, Any]) -> bool:
        """Returns whether a layer with these attributes meets it."""
        raise NotImplementedError

    def __or__(self, other: object) -> OrAttributeFilter:
        return OrAttributeFilter(self, _check_filter(other))

    def __and__(self, other: object) -> AndAttributeFilter:
        return AndAttributeFilter(self, _check_filter(other))


def _check_filter(value: object) -> AttributeFilter:
    if isinstance(value, AttributeFilter):
        return value
    raise TargetError(f"a filter can be joined with another one only, not with {describe(value)}")


class Comparison(AttributeFilter):
    """Compares one attribute with a value. An attribute that the layer does not have never matches.

    attr:  its name.
    value: what it is compared with.
    """

    # Word of the dialect, and the sign that people write.
    word: ClassVar[str]
    sign: ClassVar[str]
    compare: ClassVar[Callable[[Any, Any], Any]]

    attr: str
    value: Any

    def __init__(self, attr: str, value: Any) -> None:
        self.attr = check_name(type(self).__name__, attr)
        self.value = value

    def match(self, attributes: Mapping[str, Any]) -> bool:
        return self.attr in attributes and compare(self.word, attributes[self.attr], self.value)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Comparison)
            and (self.word, self.attr) == (other.word, other.attr)
            and bool(self.value == other.value)
        )

    def __hash__(self) -> int:
        return hash((self.word, self.attr))

    def __repr__(self) -> str:
        return f"{self.attr} {self.sign} {self.value}"


class Eq(Comparison):
    """The attribute is the value."""

    word, sign, compare = "eq", "=", operator.eq


class NotEq(Comparison):
    """The attribute is something else."""

    word, sign, compare = "ne", "!=", operator.ne


class Greater(Comparison):
    word, sign, compare = "gt", ">", operator.gt


class GreaterEq(Comparison):
    word, sign, compare = "ge", ">=", operator.ge


class Smaller(Comparison):
    word, sign, compare = "lt", "<", operator.lt


class SmallerEq(Comparison):
    word, sign, compare = "le", "<=", operator.le


class Contains(Comparison):
    """The value is a part of the attribute."""

    word, sign, compare = "contains", "contains", operator.contains


COMPARISONS: dict[str, type[Comparison]] = {
    kind.word: kind for kind in (Eq, NotEq, Greater, GreaterEq, Smaller, SmallerEq, Contains)
}


def compare(word: str, left: Any, right: Any) -> bool:
    """The comparison of that word; false for values that cannot be compared."""
    try:
        return bool(COMPARISONS[word].compare(left, right))
    except TypeError:
        return False


class _Connective(AttributeFilter):
    sign: ClassVar[str]
    filters: tuple[AttributeFilter, ...]

    def __init__(self, *filters: AttributeFilter) -> None:
        if len(filters) < 2:
            raise TargetError(f"{type(self).__name__} joins at least two filters, but got {len(filters)}")
        self.filters = tuple(_check_filter(part) for part in filters)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.filters == other.filters

    def __hash__(self) -> int:
        return hash((self.sign, self.filters))

    def __repr__(self) -> str:
        return f"({f' {self.sign} '.join(map(repr, self.filters))})"


class OrAttributeFilter(_Connective):
    """One condition or more holds."""

    sign = "|"

    def match(self, attributes: Mapping[str, Any]) -> bool:
        return any(part.match(attributes) for part in self.filters)


class AndAttributeFilter(_Connective):
    """All conditions hold."""

    sign = "&"

    def match(self, attributes: Mapping[str, Any]) -> bool:
        return all(part.match(attributes) for part in self.filters)


class LayerFilterParams(Frozen):
    """The layers of a kind whose attributes match.

    layer:      as in `OperationsSetToLayers`.
    conditions: filters that all hold.
    kwargs:     attributes and the values that they have.

    The attributes are those of the framework's layer (`max_value`, `kernel_size`), or, where the layer is an op such
    as "tosa.clamp", those of the op, and the `$` names of `#tpc.predicate`. One that cannot be determined from the ops
    that the layer becomes is an error in a target.
    """

    layer: Any
    conditions: tuple[AttributeFilter, ...]
    kwargs: dict[str, Any]

    def __init__(self, layer: Any, *conditions: AttributeFilter, **kwargs: Any) -> None:
        from mct.target_platform._layers import UnknownAttributeError, resolve_layer

        if isinstance(layer, LayerFilterParams):
            raise TargetError("LayerFilterParams takes a layer, not filtered layers; join the filters with '&'")
        for condition in conditions:
            if not isinstance(condition, AttributeFilter):
                raise TargetError(
                    f"LayerFilterParams: a condition must be a filter such as Eq, but is {describe(condition)}"
                )
        self.layer = layer
        self.conditions = conditions
        self.kwargs = kwargs
        # `match` knows every attribute. A target that has the filter does not.
        with contextlib.suppress(UnknownAttributeError):
            resolve_layer(self)

    def match(self, layer: Any, attributes: Mapping[str, Any]) -> bool:
        """Returns whether a layer of a kind, with these attributes, is meant."""
        return (
            (layer is self.layer or layer == self.layer)
            and all(condition.match(attributes) for condition in self.conditions)
            and all(attributes.get(name) == value for name, value in self.kwargs.items())
        )

    @property
    def filter(self) -> AttributeFilter | None:
        """All conditions as one."""
        parts = [*self.conditions, *(Eq(name, value) for name, value in self.kwargs.items())]
        if not parts:
            return None
        return parts[0] if len(parts) == 1 else AndAttributeFilter(*parts)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, LayerFilterParams)
            and (self.layer is other.layer or self.layer == other.layer)
            and (self.conditions, self.kwargs) == (other.conditions, other.kwargs)
        )

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        name = self.layer if isinstance(self.layer, str) else getattr(self.layer, "__name__", repr(self.layer))
        parts = [*(f"{key}={value}" for key, value in self.kwargs.items()), *map(repr, self.conditions)]
        return f"{name}({', '.join(parts)})"
