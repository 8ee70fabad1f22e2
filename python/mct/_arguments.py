# SPDX-License-Identifier: Apache-2.0
"""Arguments of public functions: each must be of a kind that its annotation declares."""

from __future__ import annotations

import difflib
import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, cast

from mct.errors import ArgumentTypeError, Error, describe

# A number of samples, threads and the like.
Count: TypeAlias = int

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _is_a(name: str) -> Callable[[object], bool]:
    """Returns whether an object is of a class of that name, which need not be imported for it."""
    return lambda value: any(base.__name__ == name for base in type(value).__mro__)


def _is_number(value: object) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, (bool, str, bytes))


def _is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def _is_sequence(value: object) -> bool:
    # One path stands for a list of it, as a text does.
    return isinstance(value, (Sequence, os.PathLike)) or hasattr(value, "__array__")


# Kinds of arguments by the names in annotations: words for them, and a function that recognizes an object of the kind.
_KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "None": ("None", lambda value: value is None),
    "bool": ("True or False", lambda value: isinstance(value, bool)),
    "int": ("a whole number", lambda value: hasattr(value, "__index__") and not isinstance(value, bool)),
    "float": ("a number", _is_number),
    "str": ("text", lambda value: isinstance(value, str)),
    "bytes": ("bytes", lambda value: isinstance(value, bytes)),
    "PathLike": ("a path", _is_path),
    "Callable": ("a function", callable),
    "Mapping": ("a dictionary", lambda value: isinstance(value, Mapping)),
    "Sequence": ("a sequence", _is_sequence),
    "Model": ("a model (mct.load makes one)", _is_a("Model")),
    "Report": ("a report", _is_a("Report")),
    "Preprocessing": ("an mct.Preprocessing", _is_a("Preprocessing")),
    "Config": ("an mct.QuantizationConfig", lambda value: hasattr(value, "to_options")),
}
_KINDS["Count"] = _KINDS["int"]
_ALIASES = {"str | os.PathLike[str]": "PathLike", "Callback": "Callable", "Progress": "bool | Callable | None"}


def _alternatives(annotation: str) -> list[str]:
    """The parts of a union: `int | Sequence[int | str]` has two."""
    parts, depth = [""], 0
    for character in annotation:
        depth += (character == "[") - (character == "]")
        if character == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def check_path(path: str | os.PathLike[str], name: str = "path") -> None:
    """Raises Error for a path that no file has, or that the compiler cannot take."""
    text = os.fspath(path)
    if "\0" in text:
        raise Error(f"{name}: {text!r} has the character NUL, which no path has")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Error(f"{name}: {text!r} is not UTF-8, in which paths are passed to the compiler") from None


class _Kind:
    """The kind of an argument. An annotation with other names than those above says nothing."""

    def __init__(self, annotation: str) -> None:
        for long, short in _ALIASES.items():
            annotation = annotation.replace(long, short)
        self.parts = _alternatives(annotation)
        self.names = [part.partition("[")[0] for part in self.parts]
        self.is_known = all(name in _KINDS for name in self.names)
        self.items = [_Kind(part[len("Sequence[") : -1]) for part in self.parts if part.startswith("Sequence[")]

    def check(self, name: str, value: object) -> None:
        if not self.is_known:
            return
        if not any(_KINDS[kind][1](value) for kind in self.names):
            words = dict.fromkeys(_KINDS[kind][0] for kind in self.names if kind != "None")
            raise ArgumentTypeError(f"{name}: expected {' or '.join(words)}, found {describe(value)}")
        if "Count" in self.names and value is not None and int(cast(int, value)) < 0:
            raise Error(f"{name}: expected a number that is not negative, found {value}")
        if "PathLike" in self.names and _is_path(value):
            check_path(cast(str, value), name)
        if self.items and isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                self.items[0].check(f"{name}[{index}]", item)


def _kinds(function: Callable[..., Any]) -> dict[str, _Kind]:
    parameters = inspect.signature(function).parameters.values()
    return {one.name: _Kind(one.annotation) for one in parameters if isinstance(one.annotation, str)}


def _unknown(name: str, known: Sequence[str]) -> ArgumentTypeError:
    near = difflib.get_close_matches(name, known, 1)
    return ArgumentTypeError(f"there is no argument '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))


def checked(function: _Function, *, options_of: Callable[..., Any] | None = None) -> _Function:
    """The function, which raises Error for arguments of another kind than their annotations declare.

    options_of: the function that gets the keywords of `**options`.
    """
    signature, kinds = inspect.signature(function), _kinds(function)
    rest = next((one.name for one in signature.parameters.values() if one.kind is one.VAR_KEYWORD), "")
    others = _kinds(options_of) if options_of else {}

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        if not rest:
            for name in keywords:
                if name not in signature.parameters:
                    raise _unknown(name, list(signature.parameters))
        try:
            given = signature.bind(*arguments, **keywords).arguments
        except TypeError as error:
            raise ArgumentTypeError(f"{function.__name__}: {error}") from None
        options = given.pop(rest, {})
        for name, value in given.items():
            if name in kinds:
                kinds[name].check(name, value)
        for name, value in options.items() if others else ():
            if name not in others:
                raise _unknown(name, [*kinds, *others])
            others[name].check(name, value)
        return function(*arguments, **keywords)

    return cast(_Function, call)


def with_options_of(other: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """`checked` for a function that passes its `**options` to the other one."""
    return functools.partial(checked, options_of=other)
