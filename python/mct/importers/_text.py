# SPDX-License-Identifier: Apache-2.0
"""The text of a module, as far as importers have to look into it: operations, their names, their locations.

Converters carry a newer MLIR than ours, and what they leave unconverted is of dialects that we do not have, so nothing
of ours can parse it. All of them print one operation on a line, followed by its location.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

# Dialects that our passes and our executor take.
DIALECTS = frozenset({"builtin", "func", "tosa"})

_STRING = r'"(?:[^"\\]|\\.)*"'
_OPERATION = re.compile(r'\s*(?:%[\w:]+(?:, %[\w:]+)* = )?"?([a-z_]\w*\.[\w.]+)"?')
_TRAILING_LOCATION = re.compile(rf"\bloc\((#\w+|{_STRING}.*|fused.*|callsite.*|unknown)\)\s*$")
_ALIAS = re.compile(r"^(#loc\w*) = loc\((.*)\)\s*$", re.MULTILINE)


# They show the values of another operation, and what computes those is the layer.
_VIEWS = frozenset({"tosa.reshape", "tosa.transpose", "tosa.cast", "tosa.identity"})
# Operations of these dialects that stand for something that a converter does not know.
_LEFT = frozenset({"tosa.custom", "builtin.unrealized_conversion_cast"})
_UNNAMED = frozenset({"tosa.const", "tosa.const_shape", "func.func", "builtin.module", "func.return", "tosa.yield"})


class Operation(NamedTuple):
    """An operation: `tfl.topk_v2`, and the name of its layer, empty where the source has none."""

    kind: str
    name: str


_STABLEHLO_ARTIFACT = re.compile(rb"ML\xefR.StableHLO_v", re.DOTALL)
_STABLEHLO_OPERATION = re.compile(rb'^\s*(?:%[\w:#, %]+ = )?"?(?:stablehlo|chlo|vhlo)\.\w', re.MULTILINE)


def is_stablehlo(head: bytes) -> bool:
    """Returns whether a file begins as a portable artifact of StableHLO, or as text with an operation of it."""
    return _STABLEHLO_ARTIFACT.match(head) is not None or _STABLEHLO_OPERATION.search(head) is not None


def body(text: str) -> str:
    """The module without the elements of its large constants, which follow it."""
    return text.split("\n{-#", 1)[0]


# Bytes from which on the elements of a constant stay on disk when a file is edited.
_LONG = 1 << 12
_LITERAL = b'dense<"0x'


def _literals(module: mmap.mmap, end: int) -> Iterator[tuple[int, int]]:
    """Yields where the digits of long constants begin and end in a module, up to `end`."""
    place = module.find(_LITERAL, 0, end)
    while place >= 0:
        start = place + len(_LITERAL)
        stop = module.find(b'"', start, end)
        if stop - start >= _LONG:
            yield start, stop
        place = module.find(_LITERAL, max(start, stop), end)


def edit(path: Path, change: Callable[[str], str]) -> None:
    """Replaces the module in a file by what `change` makes of it.

    The elements of long constants stay on disk, as they take gigabytes: `change` gets their numbers instead.
    """
    written = path.with_name(f"{path.name}.edited")
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as before,
        written.open("wb") as after,
    ):
        resources = before.find(b"\n{-#")
        end = len(before) if resources < 0 else resources
        literals = list(_literals(before, end))
        shortened, place = b"", 0
        for number, (start, stop) in enumerate(literals):
            shortened += before[place:start] + b"#%d#" % number
            place = stop
        shortened += before[place:end]
        parts: list[str] = re.split(r'(?<=dense<"0x)#(\d+)#(?=")', change(shortened.decode()))
        after.write(parts[0].encode())
        for which, text in zip(parts[1::2], parts[2::2], strict=True):
            _copy_range(file, after, *literals[int(which)])
            after.write(text.encode())
        _copy_range(file, after, end, len(before))
    written.replace(path)


def _copy_range(source: BinaryIO, target: BinaryIO, start: int, stop: int) -> None:
    """Copies bytes of a file to another one in pieces."""
    source.seek(start)
    while start < stop:
        piece = source.read(min(stop - start, 1 << 20))
        target.write(piece)
        start += len(piece)


def unescape(text: str) -> str:
    r"""The text that MLIR prints as `\22`, `\C3\A4` or `\\`."""
    raw = re.sub(rb"\\(?:(\\)|([0-9A-Fa-f]{2}))", lambda match: match[1] or bytes([int(match[2], 16)]), text.encode())
    return raw.decode(errors="replace")


def escape(text: str) -> str:
    """Returns `text` with the escapes of an MLIR string."""
    return "".join(
        "\\\\" if byte == 92 else chr(byte) if 32 <= byte < 127 and byte != 34 else f"\\{byte:02X}"
        for byte in text.encode(errors="replace")
    )


def _name(location: str, aliases: dict[str, str], depth: int = 0) -> str:
    """The first name in a location, as `mct-assign-names` takes it."""
    if depth > 20 or re.match(rf"{_STRING}:\d", location):  # a place in a file
        return ""
    if named := re.match(rf"({_STRING})", location):
        return unescape(named[1][1:-1])
    for part in re.findall(r"#loc\w*", location):
        if name := _name(aliases.get(part, ""), aliases, depth + 1):
            return name
    if fused := re.search(rf"({_STRING})(?!:\d)", location):
        return unescape(fused[1][1:-1])
    return ""


def _operation(line: str, aliases: dict[str, str]) -> tuple[re.Match[str], re.Match[str] | None, str] | None:
    """The operation on a line, its location, and the name in that."""
    match = _OPERATION.match(line)
    if not match:
        return None
    # The elements of a constant make its line long, and only its end matters.
    location = _TRAILING_LOCATION.search(line, max(match.end(), len(line) - 4096))
    return match, location, _name(location[1], aliases) if location else ""


def location_names(text: str) -> dict[str, str]:
    """The first name in each location that an operation has, by the location as the operation's line ends in it."""
    aliases = dict(_ALIAS.findall(text))
    found: dict[str, str] = {}
    for line in text.splitlines():
        location = _TRAILING_LOCATION.search(line, max(0, len(line) - 4096))
        if location:
            found.setdefault(f"{location[1]})", _name(location[1], aliases))
    return found


def operations(text: str) -> Iterator[Operation]:
    """Every operation of a dialect other than those whose names are left out (`module`, `return`), in their order."""
    text = body(text)
    aliases = dict(_ALIAS.findall(text))
    for line in text.splitlines():
        if found := _operation(line, aliases):
            yield Operation(found[0][1], found[2])


def result_location(line: str) -> tuple[str, int] | None:
    """Kind without its dialect and column of the location, of an operation of TOSA that is not a constant."""
    found = _operation(line, {})
    if not found or not found[1] or not found[0][1].startswith("tosa.") or found[0][1] in _UNNAMED:
        return None
    return found[0][1].removeprefix("tosa."), found[1].start()


_ARGUMENT = re.compile(rf"(%arg(\d+): [^%]*?) loc\((?:#\w+|{_STRING}(?:\([^()]*\))?)\)")


def name_arguments(line: str, attribute: str) -> str:
    """On the line of a function, the arguments with the names that this attribute of theirs has."""

    def name(match: re.Match[str]) -> str:
        given = re.search(rf'{re.escape(attribute)} = "((?:[^"\\]|\\.)*)"', match[1])
        return f'{match[1]} loc("{given[1]}")' if given else match[0]

    return _ARGUMENT.sub(name, line) if line.startswith("  func.func ") else line


def rename(text: str, name: Callable[[str], str]) -> str:
    """The text with other names in its locations, those of arguments included; places in files stay."""
    head, separator, resources = text.partition("\n{-#")

    def replace(match: re.Match[str]) -> str:
        return f'loc("{escape(name(unescape(match[1])))}"'

    return re.sub(r'\bloc\("((?:[^"\\]|\\.)*)"(?!:\d)', replace, head) + separator + resources


def left_over(text: str) -> list[Operation]:
    """The operations that a converter did not convert: it leaves them, and its exit status is 0.

    Among them are those of TOSA that it gives no shape.
    """
    text = body(text)
    aliases = dict(_ALIAS.findall(text))
    result = []
    for line in text.splitlines():
        found = _operation(line, aliases)
        if not found:
            continue
        kind = found[0][1]
        foreign = kind.split(".")[0] not in DIALECTS or kind in _LEFT
        if foreign or (kind.startswith("tosa.") and line.find("tensor<*x", max(0, len(line) - 4096)) >= 0):
            result.append(Operation(kind, found[2]))
    # An absent operand adds nothing if its operation is reported, too.
    return [operation for operation in result if operation.kind != "tfl.no_value"] or result


def name_layers(text: str) -> str:
    """The text in which of all operations that a layer became, one has its name: the last that computes something.

    That is what the source calls by this name; the others are called `name/exp` after what they do.
    """
    head, separator, resources = text.partition("\n{-#")
    aliases = dict(_ALIAS.findall(head))
    lines = head.split("\n")
    layers: dict[str, list[int]] = {}
    kinds: dict[int, tuple[str, int]] = {}
    for number, line in enumerate(lines):
        found = _operation(line, aliases)
        if found and found[1] and found[2] and found[0][1] not in _UNNAMED:
            layers.setdefault(found[2], []).append(number)
            kinds[number] = (found[0][1], found[1].start())
    for name, numbers in layers.items():
        computing = [number for number in numbers if kinds[number][0] not in _VIEWS]
        main = (computing or numbers)[-1]
        for number in numbers:
            if number != main:
                kind, start = kinds[number]
                suffixed = escape(f"{name}/{kind.split('.', 1)[1]}")
                lines[number] = f'{lines[number][:start]}loc("{suffixed}")'
    return "\n".join(lines) + separator + resources


# Takes the kind of an operation without its dialect, and its name; returns the layer that it is a part of, empty for
# none, and its name otherwise.
LayerOf = Callable[[str, str], tuple[str, str]]
_WITH_KERNEL = frozenset(
    {"tosa.conv2d", "tosa.conv3d", "tosa.depthwise_conv2d", "tosa.matmul", "tosa.transpose_conv2d"}
)


def give_layer_names(text: str, layer_of: LayerOf) -> str:
    """The text in which one operation of each layer has the name of the layer alone: the one with the kernel, or else
    the last that computes something. That is the operator that people mean by this name."""
    head, separator, resources = text.partition("\n{-#")
    aliases = dict(_ALIAS.findall(head))
    lines = head.split("\n")
    layers: dict[str, list[int]] = {}
    found: dict[int, tuple[str, int, str]] = {}
    for number, line in enumerate(lines):
        operation = _operation(line, aliases)
        if operation and operation[1] and operation[2] and operation[0][1] not in _UNNAMED:
            kind = operation[0][1]
            layer, own = layer_of(kind.split(".", 1)[1], operation[2])
            layers.setdefault(layer, []).append(number)
            found[number] = (kind, operation[1].start(), own)
    for layer, numbers in layers.items():
        with_kernel = [number for number in numbers if found[number][0] in _WITH_KERNEL]
        computing = [number for number in numbers if found[number][0] not in _VIEWS]
        main = (with_kernel or computing or numbers)[-1] if layer else None
        for number in numbers:
            kind, start, own = found[number]
            if layer and own == layer:
                own = f"{layer}/{kind.split('.', 1)[1]}"
            lines[number] = f'{lines[number][:start]}loc("{escape(layer if number == main else own)}")'
    return "\n".join(lines) + separator + resources
