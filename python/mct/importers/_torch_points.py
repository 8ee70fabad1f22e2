# SPDX-License-Identifier: Apache-2.0
"""Cuts a program that PT2E has quantized at its points, so that the backend sees a float network, and any program at
its recurrent layers, which `_torch_recurrent` writes.

Values that are quantized become results, values that are dequantized arguments. The backend wants weights that are
constants: quantized ones become constants whose numbers name their elements, all different, which it moves about like
any others; their final positions are those of the program's codes in the result.
"""

from __future__ import annotations

import bisect
import operator
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import torch

from mct.importers import _points, _text, _torch_recurrent
from mct.importers._child import Refused, warn
from mct.importers._points import Parameters
from mct.importers._torch_recurrent import Output

_QUANTIZE = re.compile(r"quantized_decomposed\.quantize_per_(tensor|channel)\.|torchao\.quantize_affine\.")
_DEQUANTIZE = re.compile(r"quantized_decomposed\.dequantize_per_(tensor|channel)\.|torchao\.dequantize_affine\.")
_CHOOSE = re.compile(r"quantized_decomposed\.choose_qparams|torchao\.choose_qparams_affine\.")
_OTHERS = re.compile(r"(quantized_decomposed|torchao|pt2e_quant)\.\w*(quant|qparams)")
# They give values other places, and no others: on one grid, the point of what they read is theirs.
_MOVES = frozenset(
    """alias cat clone contiguous detach dropout expand flatten max_pool2d permute pixel_shuffle pixel_unshuffle repeat
    reshape select slice split split_with_sizes squeeze stack t to transpose unflatten unsqueeze view chunk narrow
    """.split()  # noqa: SIM905
)
# Each element of a constant in blocks has a scale of its own in a module.
_MOST_IN_BLOCKS = 1 << 22
# Bits of the numbers that name elements: normal floats, none of them a constant of a network.
_FIRST, _LAST = 0x10000000, 0x6F000000


class Constant(NamedTuple):
    """A quantized constant.

    first: of the numbers that name its elements.
    """

    name: str
    codes: np.ndarray
    parameters: Parameters
    first: int


class Cuts(NamedTuple):
    """Arguments and results of the cut program.

    inputs:    names of the arguments of the cut program: those that the network has, and its points.
    points:    the parameters of the last arguments, or the results of recurrent layers that these are.
    results:   for each result of the network, then for each point what it quantizes: the number of a result of the cut
               program, or the name of an argument.
    shapes:    of arguments, by their names.
    """

    inputs: list[str]
    points: list[Parameters | Output]
    results: list[int | str]
    constants: list[Constant]
    shapes: dict[str, tuple[tuple[int, ...], torch.dtype]]


def _kind(node: Any) -> str:
    return str(node.target) if node.op == "call_function" else ""


def _short(node: Any) -> str:
    parts = _kind(node).split(".")
    return parts[1] if len(parts) > 2 else parts[0]


def cut(program: torch.export.ExportedProgram) -> tuple[torch.export.ExportedProgram, Cuts | None]:
    """The program without quantizers and recurrent layers, or the program itself if it has none.

    Refused names the node that cannot become a point or part of a float network.
    """
    network = program.module(check_guards=False)
    cutter = _Cutter(network)
    if not any(_OTHERS.search(_kind(node)) or cutter.layer(node) for node in network.graph.nodes):
        return program, None
    cutter.run()
    if cutter.free:
        first = ", ".join(f'"{name}"' for name in cutter.free[:3]) + (", …" if len(cutter.free) > 3 else "")
        warn(
            f"{len(cutter.free)} values ({first}) are quantized with what is found at run time: weights are those of "
            "the program, and these activations are free"
        )
    # The program that it comes of checks its arguments.
    cut_network = torch.fx.GraphModule(network, network.graph)
    arguments, keywords = program.example_inputs or ((), {})
    leaves = [*torch.utils._pytree.tree_leaves((arguments, keywords)), *cutter.examples]
    with torch.no_grad():
        exported = torch.export.export(cut_network, tuple(leaves))
    return exported, cutter.cuts


class _Cutter:
    def __init__(self, network: Any) -> None:
        self.network, self.graph = network, network.graph
        placeholders = [node for node in self.graph.nodes if node.op == "placeholder"]
        self.last = placeholders[-1]
        self.cuts = Cuts([], [], [], [], {})
        for node in placeholders:
            self._record(node.name, node.meta["val"])
        self.examples: list[torch.Tensor] = []
        self.sources: list[Any] = []
        self.next = _FIRST
        # Values that are quantized with what is found while the network runs.
        self.free: list[str] = []

    def _record(self, name: str, value: Any) -> None:
        self.cuts.inputs.append(name)
        if isinstance(value, torch.Tensor):
            self.cuts.shapes[name] = (tuple(value.shape), value.dtype)

    def run(self) -> None:
        points: dict[Any, Any] = {}
        for node in list(self.graph.nodes):
            if _QUANTIZE.search(_kind(node)):
                self._check_users(node)
            elif _DEQUANTIZE.search(_kind(node)):
                source = node.args[0]
                if source.op == "get_attr" or (_QUANTIZE.search(_kind(source)) and source.args[0].op == "get_attr"):
                    node.replace_all_uses_with(self._constant(node, source))
                elif not _QUANTIZE.search(_kind(source)):
                    raise _refused(node, f"reads codes of {_short(source) or source.op}, which has none of its own")
                else:
                    if source not in points:
                        points[source] = self._point(node, source)
                    node.replace_all_uses_with(points[source])
            elif _OTHERS.search(_kind(node)) and not _CHOOSE.search(_kind(node)):
                raise _refused(node, f"{node.target} has no point")
            elif layer := self.layer(node):
                for user in list(node.users):
                    output = Output(layer, user.args[1])
                    user.replace_all_uses_with(self._argument(user.meta["val"], node.args[0], output))
        (output,) = (node for node in self.graph.nodes if node.op == "output")
        results = [*torch.utils._pytree.tree_leaves(output.args[0]), *self.sources]
        made: dict[Any, int] = {}
        for result in results:
            if result.op == "placeholder":
                self.cuts.results.append(result.name)
            else:
                self.cuts.results.append(made.setdefault(result, len(made)))
        output.args = (tuple(made),)
        self.graph.set_codegen(torch.fx.graph.CodeGen())
        self.graph.eliminate_dead_code()
        self.graph.lint()

    def layer(self, node: Any) -> _torch_recurrent.Layer | None:
        """The recurrent layer that a node is. The backend needs other operators than that."""
        layer = _torch_recurrent.read(node, self._value)
        others = (each for each in self.graph.nodes if each.op == "call_function")
        return (
            layer
            if layer
            and any(each.target is not operator.getitem and not _torch_recurrent.kind_of(each) for each in others)
            else None
        )

    def _argument(self, value: Any, source: Any, meaning: Parameters | Output) -> Any:
        """Adds an argument that stands for what is made of `source`."""
        example = torch.zeros(tuple(value.shape))
        with self.graph.inserting_after(self.last):
            self.last = self.graph.placeholder(f"point{len(self.cuts.points)}")
        self.last.meta["val"] = value
        self._record(self.last.name, example)
        self.cuts.points.append(meaning)
        self.examples.append(example)
        self.sources.append(source)
        return self.last

    def _check_users(self, node: Any) -> None:
        for user in node.users:
            if not _DEQUANTIZE.search(_kind(user)):
                raise _refused(user, f"{_short(user) or user.op} reads codes, whose real values a float network has")

    def _value(self, argument: Any) -> Any:
        """A number or a constant of the program."""
        if not isinstance(argument, torch.fx.Node):
            return argument
        value = self.network
        for part in argument.target.split("."):
            value = getattr(value, part)
        return value.detach()

    def _grid(self, node: Any) -> tuple[Parameters, tuple[int, int]]:
        """The parameters of a quantizer or its opposite, and the codes that it makes."""
        per_channel = "per_channel" in _kind(node)
        operands: list[Any] = [*node.args, *node.kwargs.values()]
        blocks: list[int] = []
        if _is_affine(node):
            blocks, scale, zero_point, dtype, *bounds = operands[1:]
            lowest, highest = _bounds(dtype, *bounds[:2])
            axis = 0
        else:
            scale, zero_point = operands[1:3]
            axis = operands.pop(3) if per_channel else 0
            lowest, highest, dtype = operands[3:6]
        if any(isinstance(value, torch.fx.Node) and value.op != "get_attr" for value in (scale, zero_point)):
            raise _refused(node, "its parameters are computed while it runs")
        # The operator takes scales of float64; what it computes with is float32.
        scales = tuple(torch.as_tensor(self._value(scale), dtype=torch.float32).reshape(-1).tolist())
        given = torch.as_tensor(0 if zero_point is None else self._value(zero_point))
        zeros = given.to(torch.int64)
        if (zeros != given).any():
            raise _refused(node, "a zero point of it is not an integer")
        zero_points = tuple(zeros.reshape(-1).tolist())
        if not all(np.isfinite(scales)) or not all(value > 0 for value in scales):
            raise _refused(node, f"the scale {min(scales):g} is not a positive number")
        is_signed = dtype.is_signed
        bits = 1 + is_signed
        while not (-(1 << (bits - 1)) if is_signed else 0) <= lowest or highest >= 1 << (bits - is_signed):
            bits += 1
        axes: tuple[int, ...] = (int(axis),) if per_channel and len(scales) > 1 else ()
        if len(scales) > 1 and blocks:
            axes, scales, zero_points = self._spread(node, blocks, scales, zero_points)
        return Parameters(scales, zero_points, bits, is_signed, axes), (int(lowest), int(highest))

    def _spread(
        self, node: Any, blocks: list[int], scales: tuple[float, ...], zero_points: tuple[int, ...]
    ) -> tuple[tuple[int, ...], tuple[float, ...], tuple[int, ...]]:
        """Axes and parameters of channels: along an axis with several blocks, every element is one."""
        shape = tuple(node.args[0].meta["val"].shape)
        counts = [extent // block for extent, block in zip(shape, blocks, strict=True)]
        axes = tuple(axis for axis, count in enumerate(counts) if count > 1)
        if any(blocks[axis] > 1 for axis in axes) and int(np.prod(shape)) > _MOST_IN_BLOCKS:
            message = f"a constant in blocks has at most {_MOST_IN_BLOCKS} elements here, and this one {np.prod(shape)}"
            raise _refused(node, message)

        def spread(values: tuple[Any, ...]) -> tuple[Any, ...]:
            if len(values) == 1:
                return values
            found = np.array(values).reshape(counts)
            for axis in axes:
                found = np.repeat(found, blocks[axis], axis)
            return tuple(found.reshape(-1).tolist())

        return axes, spread(scales), spread(zero_points)

    def _constant(self, node: Any, source: Any) -> Any:
        """A constant of numbers that name the elements of the one that is dequantized."""
        parameters, _ = self._grid(node)
        if source.op == "get_attr":
            codes, name = self._value(source), source.target
        else:
            operands = [self._value(argument) for argument in source.args]
            codes, name = source.target(*operands), source.args[0].target
        axes = tuple(axis % max(codes.dim(), 1) for axis in parameters.axes)
        count = codes.numel()
        if self.next + count > _LAST:
            raise _refused(node, "more weights than there are numbers to tell them apart")
        named = np.arange(self.next, self.next + count, dtype=np.uint32).view(np.float32).reshape(tuple(codes.shape))
        stored = np.ascontiguousarray(codes.cpu().numpy())
        self.cuts.constants.append(Constant(name, stored, parameters._replace(axes=axes), self.next))
        self.next += count
        attribute = f"mct_given_{len(self.cuts.constants)}"
        self.network.register_buffer(attribute, torch.from_numpy(named))
        with self.graph.inserting_before(node):
            result = self.graph.get_attr(attribute)
        result.meta.update({key: value for key, value in node.meta.items() if key != "val"})
        return result

    def _point(self, node: Any, source: Any) -> Any:
        """Returns an argument for the users of a quantized value, or where nothing changes it, the value itself."""
        value = source.args[0]
        if _is_chosen(source.args[2 if _is_affine(source) else 1]):
            self.free.append(value.name)
            return value
        parameters, bounds = self._grid(source)
        if parameters.axes:
            raise _refused(source, "an activation has one scale for all of its channels")
        if self._is_moved(value, parameters, bounds):
            return value
        low, high = (-(1 << (parameters.bits - 1)), (1 << (parameters.bits - 1)) - 1)
        low, high = (low, high) if parameters.is_signed else (0, (1 << parameters.bits) - 1)
        if bounds != (low, high):
            # Fewer codes than the bits have.
            ends = [(bound - parameters.zero_point[0]) * np.float32(parameters.scale[0]) for bound in bounds]
            with self.graph.inserting_before(source):
                value = self.graph.call_function(torch.ops.aten.clamp.default, (value, *map(float, ends)))
            value.meta.update(source.meta)
            value.meta["val"] = source.args[0].meta["val"]
        point = self._argument(source.args[0].meta["val"], value, parameters)
        point.meta["mct_grid"] = (parameters, bounds)
        return point

    def _is_moved(self, value: Any, parameters: Parameters, bounds: tuple[int, int]) -> bool:
        """Returns whether a value consists of values that are on the grid already."""
        if value.op == "placeholder":
            return bool(value.meta.get("mct_grid") == (parameters, bounds))
        if value.op != "call_function" or (value.target is not operator.getitem and _short(value) not in _MOVES):
            return False
        sources = [node for node in value.all_input_nodes if node.op != "get_attr"]
        return bool(sources) and all(self._is_moved(node, parameters, bounds) for node in sources)


def _is_affine(node: Any) -> bool:
    """Returns whether a quantizer of torchao has parameters for blocks."""
    return "_affine." in _kind(node)


def _bounds(dtype: torch.dtype, lowest: Any = None, highest: Any = None) -> tuple[int, int]:
    limits = torch.iinfo(dtype)
    return limits.min if lowest is None else int(lowest), limits.max if highest is None else int(highest)


def _is_chosen(scale: Any) -> bool:
    """Returns whether a scale is found while the network runs, from the values that it quantizes."""
    is_result = isinstance(scale, torch.fx.Node) and scale.target is operator.getitem
    return is_result and bool(_CHOOSE.search(_kind(scale.args[0])))


def _refused(node: Any, message: str) -> Refused:
    modules = node.meta.get("nn_module_stack")
    stack = list(modules.values()) if modules else []
    layer = stack[-1][0] if stack and stack[-1][0] else node.name
    notes = ["give the float network that it was made of, or quantize it again without this"]
    return Refused(f'"{node.name}": {message}', notes, layer=layer)


# ----------------------------------------------------------------------------------------------------------------------
# The result
# ----------------------------------------------------------------------------------------------------------------------

_CONSTANT = re.compile(
    r'^ *(%\w+) = "tosa\.const"\(\) <\{values = dense<(.*)> : (tensor<([\dx]*)f32>)\}>.*\n', re.MULTILINE
)
_MAIN = re.compile(r"^(  func\.func @main\()(.*)\) -> \(?(tensor<[^>]*>(?:, tensor<[^>]*>)*)?\)?(.*\{)$", re.MULTILINE)
_RETURN = re.compile(r"^(    return )(%[^:]*) : (tensor<.*>)(.*)$", re.MULTILINE)
_TYPES = {torch.float32: "f32", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64"}


def restore(text: str, cuts: Cuts, taken: Iterable[str]) -> str:
    """The module of the cut program with an argument for each argument of the network, each point and each quantized
    constant, and records of what they are. `taken`: names of the arguments that it has."""
    body = _text.body(text)
    rest = text[len(body) :]
    head = _MAIN.search(body)
    if not head:
        raise RuntimeError("the backend wrote no function `main`")
    entries = dict(zip(taken, re.split(r", (?=%arg\d+: )", head[2]) if head[2] else [], strict=True))
    arguments: list[str] = []
    for name in cuts.inputs:
        shape, dtype = cuts.shapes.get(name, ((), torch.float32))
        kind = f"tensor<{''.join(f'{extent}x' for extent in shape)}{_TYPES.get(dtype, 'f32')}>"
        arguments.append(entries.get(name) or f'%given{len(arguments)}: {kind} loc("{_text.escape(name)}")')
    body, constants, more = _take_constants(body, cuts)
    arguments += more
    # They are counted again, for what reads them next.
    names = {entry.partition(":")[0]: f"%arg{number}" for number, entry in enumerate(arguments)}
    values = {name: names[entry.partition(":")[0]] for name, entry in zip(cuts.inputs, arguments, strict=False)}
    types = {name: _type(entry) for name, entry in zip(cuts.inputs, arguments, strict=False)}
    body = _renamed(body, names)
    arguments = [_renamed(entry, names) for entry in arguments]
    returned = _RETURN.search(body)
    made = (
        list(zip(returned[2].split(", "), re.findall(r"tensor<[^>]*>", returned[3]), strict=True)) if returned else []
    )
    results = [(values[r], types[r]) if isinstance(r, str) else made[r] for r in cuts.results]
    own, made_by_network = len(cuts.inputs) - len(cuts.points), len(results) - len(cuts.points)
    parts = list(zip(cuts.inputs[own:], cuts.points, results[made_by_network:], strict=True))
    written, outputs = _write_layers([(values[name], point, source[0]) for name, point, source in parts])
    # Arguments and results at a recurrent layer are those of no one.
    points = [(name, point, source) for name, point, source in parts if not isinstance(point, Output)]
    arguments = [entry for entry in arguments if entry.partition(":")[0] not in outputs]
    results = [*results[:made_by_network], *(source for _, _, source in points)]
    results = [(outputs.get(value, value), type) for value, type in results]
    kinds = ", ".join(kind for _, kind in results)
    end = returned[4] if returned else ""
    line = f"    return {', '.join(name for name, _ in results)} : {kinds}{end}"
    body = _RETURN.sub(lambda _: "\n".join([*written, line]), body, count=1)
    if outputs:
        body = _in_order(_renamed(body, outputs))
    body = _MAIN.sub(lambda match: f"{match[1]}{', '.join(arguments)}) -> ({kinds}){match[4]}", body, count=1)
    records = {own + i: _points.point(name, point) for i, (name, point, _) in enumerate(points)}
    records |= {own + len(points) + i: record for i, record in enumerate(constants)}
    keys = {made_by_network + i: name for i, (name, _, _) in enumerate(points)}
    return _points.write_records(body + rest, records, keys)


def _write_layers(parts: list[tuple[str, Parameters | Output, str]]) -> tuple[list[str], dict[str, str]]:
    """The lines of recurrent layers, and what they make by the arguments that stand for it. `parts`: such arguments,
    what they stand for, and what that is made of."""
    lines: list[str] = []
    made: dict[int, list[str]] = {}
    outputs: dict[str, str] = {}
    for argument, point, source in parts:
        if not isinstance(point, Output):
            continue
        if id(point.layer) not in made:
            written, made[id(point.layer)] = _torch_recurrent.write(point.layer, source, f"%layer{len(made)}")
            lines += written
        outputs[argument] = made[id(point.layer)][point.number]
    return lines, outputs


def _in_order(body: str) -> str:
    """The module with the operations of its function after those that make their operands."""
    lines = body.split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("  func.func @main(")) + 1
    last = next(i for i, line in enumerate(lines) if line.startswith("    return "))
    # The regions of an operation stay behind it.
    operations: list[str] = []
    for line in lines[first:last]:
        if line.startswith("    %"):
            operations.append(line)
        else:
            operations[-1] += f"\n{line}"
    names = [re.findall(r"%\w+", operation) for operation in operations]
    makers = {own[0]: number for number, own in enumerate(names)}
    ordered: dict[int, None] = {}
    for number in range(len(operations)):
        pending = [number]
        while pending:
            needed = [makers[name] for name in names[pending[-1]][1:] if name in makers]
            needed = [each for each in needed if each not in ordered and each != pending[-1]]
            if needed:
                pending += needed
            else:
                ordered[pending.pop()] = None
    return "\n".join([*lines[:first], *(operations[number] for number in ordered), *lines[last:]])


def _type(entry: str) -> str:
    match = re.search(r"tensor<[^>]*>", entry)
    return match[0] if match else ""


def _renamed(text: str, names: dict[str, str]) -> str:
    return re.sub(r"%\w+", lambda match: names.get(match[0], match[0]), text)


def _take_constants(body: str, cuts: Cuts) -> tuple[str, list[str], list[str]]:
    """The text without the constants that stand for quantized ones; records and arguments of these."""
    firsts = [constant.first for constant in cuts.constants]
    end = _FIRST + sum(constant.codes.size for constant in cuts.constants)
    records: list[str] = []
    arguments: list[str] = []
    visited: set[int] = set()

    def take(match: re.Match[str]) -> str:
        shape = tuple(int(extent) for extent in match[4].split("x")[:-1])
        numbers = _numbers(match[2], shape).view(np.uint32).astype(np.int64)
        named = (numbers >= _FIRST) & (numbers < end)
        if not named.any():
            return match[0]
        index = bisect.bisect(firsts, int(numbers[named][0])) - 1
        constant = cuts.constants[index]
        places = numbers - constant.first
        if not named.all() or places.min() < 0 or places.max() >= constant.codes.size:
            raise Refused("the backend has computed with quantized weights", layer=constant.name)
        visited.add(index)
        records.append(_points.constant(constant.codes.reshape(-1)[places], _moved(constant, places)))
        arguments.append(f'{match[1]}: {match[3]} loc("{_text.escape(constant.name)}")')
        return ""

    body = _CONSTANT.sub(take, body)
    for index, constant in enumerate(cuts.constants):
        if index not in visited:
            warn(f'the quantized constant "{constant.name}" is in no layer of the result')
    return body, records, arguments


def _moved(constant: Constant, places: np.ndarray) -> Parameters:
    """The parameters of a constant in another layout, of which each element was at one of `places`."""
    parameters = constant.parameters
    if not parameters.axes:
        return parameters
    index = np.unravel_index(places.reshape(-1), constant.codes.shape)
    extents = [constant.codes.shape[axis] for axis in parameters.axes]
    channel = np.ravel_multi_index([index[axis] for axis in parameters.axes], extents).reshape(places.shape)
    axes = tuple(axis for axis in range(channel.ndim) if np.ptp(channel, axis=axis).any())
    order = channel[tuple(slice(None) if axis in axes else 0 for axis in range(channel.ndim))].reshape(-1).tolist()

    def in_order(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(values[number] for number in order) if len(values) > 1 else values

    scale, zero_point = in_order(parameters.scale), in_order(parameters.zero_point)
    return parameters._replace(scale=scale, zero_point=zero_point, axes=axes)


def _numbers(values: str, shape: tuple[int, ...]) -> np.ndarray:
    if values.startswith('"0x'):
        array = np.frombuffer(bytes.fromhex(values[3:-1]), "<f4")
    else:
        words = re.findall(r"0x[0-9A-Fa-f]+|[-+]?\d[\d.]*(?:[eE][-+]?\d+)?", values)
        hexadecimal = [word for word in words if word.startswith("0x")]
        if hexadecimal:
            bits = [int(word, 16) if word.startswith("0x") else int(np.float32(word).view(np.uint32)) for word in words]
            array = np.array(bits, np.uint32).view(np.float32)
        else:
            array = np.array(words, np.float64).astype(np.float32)
    size = int(np.prod(shape, dtype=np.int64))
    return np.array(np.broadcast_to(array, shape) if array.size == 1 and size != 1 else array.reshape(shape))
