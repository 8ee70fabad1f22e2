# SPDX-License-Identifier: Apache-2.0
"""The process that converts a PyTorch program: `python -m mct.importers._torch_child PROGRAM.pt2 MODULE.mlir`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed  # operators of quantized programs
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.exir import to_edge_transform_and_lower

from mct.importers import _text, _torch_points, _torch_rewrites
from mct.importers._child import Refused, run, warn

SPECIFICATION = "TOSA-1.0+FP"


def layer_name(modules: object, operation: str) -> str:
    """`block.conv` for the operation of one of PyTorch's modules, `block/add` for what a `forward` writes out."""
    stack = list(modules.values()) if isinstance(modules, Mapping) else []
    path, kind = stack[-1] if stack else ("", "")
    kind = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
    if path and kind.startswith("torch.nn."):
        return str(path)
    return f"{path}/{operation}" if path else operation


def short(target: str) -> str:
    """`topk` for `aten.topk.default`."""
    parts = target.split(".")
    return parts[1] if len(parts) > 2 else parts[0]


def left_over(program: torch.export.ExportedProgram) -> list[tuple[str, str]]:
    """Returns the ops outside of the part that the backend has taken."""
    names = []
    for node in program.graph.nodes:
        operation = getattr(node.target, "__name__", str(node.target))
        if node.op == "call_function" and operation not in ("executorch_call_delegate", "getitem"):
            names.append((operation, layer_name(node.meta.get("nn_module_stack"), short(operation))))
    return names


def names_of(events: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Kind and name of every operation of the result, in its order; the calls of a module are numbered."""
    calls: dict[str, dict[str, int]] = {}
    for event in events:
        source = event["torch_info"]
        trace = source["node_trace"]
        # The operation of the exported program that it comes from.
        call = trace[-1]["name"] if isinstance(trace, list) and trace else event["aten_info"]["node_name"]
        target = trace[-1]["target"] if isinstance(trace, list) and trace else event["aten_info"]["operator_name"]
        name = layer_name(source["nn_module_stack"], short(target))
        numbers = calls.setdefault(name, {})
        number = numbers.setdefault(call, len(numbers))
        kind = event["tosa_info"]["operator_name"].removeprefix("Op.").lower()
        yield kind, f"{name}_{number}" if number else name


def with_names(text: str, events: list[dict[str, Any]]) -> str:
    """The deserialized module with a location for each operation, which the flatbuffer does not carry.

    Its operations are those of `events`, in the same order, constants excepted; where they are not, it stays as it is.
    """
    names = list(names_of(events))
    lines = _text.body(text).split("\n")
    rest = text[len("\n".join(lines)) :]
    found = [(i, m) for i, line in enumerate(lines) if (m := _text.result_location(line))]
    if [kind for _, (kind, _) in found] != [kind for kind, _ in names]:
        warn("no names for layers: the operations are not those that the backend tells the origins of")
        return text
    for (index, (_, start)), (_, name) in zip(found, names, strict=True):
        lines[index] = f'{lines[index][:start]}loc("{_text.escape(name)}")'
    text = "\n".join(_text.name_arguments(line, "tosa.tensor_name") for line in lines) + rest
    # Names that the flatbuffer gives its tensors, and itself.
    text = re.sub(r"^module attributes \{.*\} \{$", "module {", text, count=1, flags=re.MULTILINE)
    return re.sub(r' \{tosa\.tensor_name = "(?:[^"\\]|\\.)*"\}', "", text)


def _call(program: torch.export.ExportedProgram) -> Any:
    """The call of the part that the backend has taken."""
    (call,) = (
        node for node in program.graph.nodes if getattr(node.target, "__name__", "") == "executorch_call_delegate"
    )
    return call


def arguments(program: torch.export.ExportedProgram) -> list[str]:
    """Names of the arguments of the network that the backend's part has, in their order."""
    taken = {argument.name for argument in _call(program).args[1:]}
    return [name for name in program.graph_signature.user_inputs if name in taken]


def positions(program: torch.export.ExportedProgram) -> tuple[list[int], list[int]]:
    """For each argument and each result of the network, in its order, the number that it has in the backend's part.

    The backend counts arguments as they are used and results as they are made.
    """
    call = _call(program)
    taken = [argument.name for argument in call.args[1:]]
    made = {node.name: node.args[1] for node in call.users if getattr(node.target, "__name__", "") == "getitem"}
    signature = program.graph_signature
    inputs = [taken.index(name) for name in signature.user_inputs if name in taken]
    return inputs, [made[name] for name in signature.user_outputs if name in made]


def in_order(text: str, inputs: list[int], outputs: list[int]) -> str:
    """The module with arguments and results of `main` in another order, given by their numbers."""

    def ordered(entries: list[str], order: list[int]) -> str:
        whole = sorted(order) == list(range(len(entries)))
        return ", ".join([entries[number] for number in order] if whole else entries)

    def function(match: re.Match[str]) -> str:
        arguments = re.split(r", (?=%arg\d+: )", match[2])
        results = re.findall(r"tensor<[^>]*>", match[4])
        return f"{match[1]}{ordered(arguments, inputs)}) -> {match[3]}{ordered(results, outputs)}{match[5]}"

    def returned(match: re.Match[str]) -> str:
        types = re.findall(r"tensor<[^>]*>", match[3])
        return f"{match[1]}{ordered(match[2].split(', '), outputs)} : {ordered(types, outputs)}{match[4]}"

    entry = r"^(  func\.func @main\()(.*)\) -> (\(?)(tensor<[^>]*>(?:, tensor<[^>]*>)*)(\)?.*\{)$"
    text = re.sub(entry, function, text, count=1, flags=re.MULTILINE)
    return re.sub(r"^(    return )(%[^:]*) : (tensor<.*>)(.*)$", returned, text, count=1, flags=re.MULTILINE)


def main(source: str, output: str, *modules: str) -> None:
    """`modules`: those that define operators of the program."""
    for module in modules:
        import_module(module)
    source_program = torch.export.load(source)
    _torch_rewrites.rewrite(source_program)
    source_program, cuts = _torch_points.cut(source_program)
    specification = TosaCompileSpec(SPECIFICATION).dump_intermediate_artifacts_to(".")
    specification.dump_debug_info(TosaCompileSpec.DebugMode.JSON)
    lowered = to_edge_transform_and_lower(source_program, partitioner=[TOSAPartitioner(specification)])
    rest = left_over(lowered.exported_program())
    if rest:
        raise Refused("", left_over=rest)
    buffers = list(Path().glob("*.tosa"))
    if len(buffers) != 1:
        raise RuntimeError(f"the backend takes {len(buffers)} parts of the network, not the whole")
    Path("empty.mlir").write_text("module {}\n")
    program = "from tosa_tools_cli.binary_entry_points import tosa_opt; tosa_opt()"
    options = [f"--tosa-deserialize=tosa-flatbuffer-filename={buffers[0]}", "--mlir-print-debuginfo"]
    subprocess.run([sys.executable, "-P", "-c", program, "empty.mlir", *options, "-o", "deserialized.mlir"], check=True)
    events = json.loads(Path("debug.json").read_text())
    text = with_names(Path("deserialized.mlir").read_text(), events)
    text = in_order(text, *positions(lowered.exported_program()))
    if cuts:
        text = _torch_points.restore(text, cuts, arguments(lowered.exported_program()))
    Path(output).write_text(text)


if __name__ == "__main__":
    run(main)
