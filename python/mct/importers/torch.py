# SPDX-License-Identifier: Apache-2.0
"""PyTorch, by `torch.export` and the Arm backend of ExecuTorch: batch norms folded, NHWC after a transposed input.

Names of modules become names of layers: `layer1.0.conv1`, and `layer1.0/add` for what a module's `forward` writes out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mct import _extras
from mct.errors import Error
from mct.importers import _process, _text

if TYPE_CHECKING:
    import torch

_CONVERTER = "ExecuTorch's TOSA backend"
# Where torchao defines these operators.
_TORCHAO = "torchao.quantization.quant_primitives"
_AFFINE = frozenset({"quantize_affine", "dequantize_affine", "choose_qparams_affine"})


def import_model(
    source: torch.nn.Module | torch.export.ExportedProgram | str | PathLike[str],
    example_inputs: Any = None,
    *,
    timeout: float | None = None,
) -> bytes:
    """The text of the module that a `torch.nn.Module`, an `ExportedProgram` or a `.pt2` file stands for.

    `example_inputs` are a tensor or an array, a sequence of them, or a dict by the names of `forward`'s parameters, of
    which each may be a tuple, a list or a dict of tensors; their shapes are those of the result, batch included, and
    neither their strides nor the precision of their numbers matters. A program has shapes of its own, and needs them
    only where those are dynamic. The network is exported as for inference and left as it was. A program that PT2E has
    quantized becomes a float network with points that have its parameters.
    Raises ImportError without the extra, Error for a network that cannot be exported or converted.
    """
    _extras.require("torch", "a PyTorch network")
    import torch

    name = type(source).__name__
    if isinstance(source, (str, PathLike)):
        name = Path(fspath(source)).name
        if not Path(fspath(source)).is_file():
            raise Error("cannot read it: No such file or directory", fspath(source))
        # Its operators are those of programs that PT2E has quantized.
        import torch.ao.quantization.fx._decomposed

        if find_spec("torchao") and b"torchao" in Path(fspath(source)).read_bytes():
            import_module(_TORCHAO)
        try:
            source = torch.export.load(fspath(source))
        except Exception as problem:
            raise Error(f"not a program that torch.export has saved: {_first_line(problem)}", name) from problem
    if isinstance(source, torch.export.ExportedProgram):
        program = _fixed(source, example_inputs, name)
    elif isinstance(source, torch.nn.Module):
        program = _export(source, example_inputs, name)
    else:
        raise TypeError(
            f"a torch.nn.Module, an ExportedProgram or the path of a .pt2 file, not {type(source).__name__}"
        )
    modules = _check_quantizers(program, name)
    with _process.folder() as work:
        try:
            torch.export.save(program, work / "program.pt2")
        except Exception as problem:
            raise Error(f"torch.export cannot save the network: {_first_line(problem)}", name) from problem
        command = ["mct.importers._torch_child", "program.pt2", "module.mlir", *modules]
        _process.run(_CONVERTER, name, command, work, timeout, keeps_loaded=True)
        text = _text.name_layers(_process.read(_CONVERTER, name, work / "module.mlir"))
    _check_layout(program, text, name)
    return re.sub(r'"(?:output_tag\w*|empty)[^"/]*":\d+:\d+', f'"{_text.escape(name)}":0:0', text).encode()


def _first_line(problem: BaseException) -> str:
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0]


def _example(value: Any, dtype: Any) -> Any:
    """Returns stand-ins for an example: contiguous tensors, those of real numbers of `dtype`.

    The layout of the result follows the strides of the example, and torch refuses other types than the parameters'.
    """
    import numpy as np
    import torch

    if isinstance(value, Mapping):
        return {key: _example(entry, dtype) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        entries = [_example(entry, dtype) for entry in value]
        # A named tuple has its own class.
        return type(value)(*entries) if hasattr(value, "_fields") else type(value)(entries)
    if not isinstance(value, torch.Tensor):
        # torch takes no negative strides.
        value = torch.as_tensor(np.ascontiguousarray(value) if isinstance(value, np.ndarray) and value.ndim else value)
    value = value.detach().contiguous()
    return value.to(dtype) if value.is_floating_point() else value


def _real_type(tensors: Iterable[torch.Tensor]) -> torch.dtype:
    """Returns the type of the parameters that are real numbers."""
    import torch

    return next((tensor.dtype for tensor in tensors if tensor.is_floating_point()), torch.float32)


def _arguments(example_inputs: Any, dtype: torch.dtype, name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if example_inputs is None:
        raise Error(
            "a PyTorch network has no shapes of its own",
            name,
            ["give example_inputs: one tensor or array for each parameter of `forward`"],
        )
    if isinstance(example_inputs, Mapping):
        return (), _example(example_inputs, dtype)
    if isinstance(example_inputs, (list, tuple)):
        return tuple(_example(value, dtype) for value in example_inputs), {}
    return (_example(example_inputs, dtype),), {}


def _export(network: torch.nn.Module, example_inputs: Any, name: str) -> torch.export.ExportedProgram:
    """Exports for inference; which modules are being trained is as before afterwards."""
    modes = {module: module.training for module in network.modules()}
    try:
        network.eval()
        return _trace(network, example_inputs, name)
    finally:
        for module, mode in modes.items():
            module.training = mode


def _trace(network: torch.nn.Module, example_inputs: Any, name: str) -> torch.export.ExportedProgram:
    dtype = _real_type(chain(network.parameters(), network.buffers()))
    return _without_strides(_capture(network, *_arguments(example_inputs, dtype, name), name), name)


def _capture(
    network: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> torch.export.ExportedProgram:
    import torch

    try:
        with torch.no_grad():
            return torch.export.export(network, args, kwargs)
    except Exception as problem:
        notes = [line for line in str(problem).splitlines()[1:] if line.strip()][:12]
        raise Error(f"torch.export refuses the network: {_first_line(problem)}", name, notes) from problem


def _fixed(program: torch.export.ExportedProgram, example_inputs: Any, name: str) -> torch.export.ExportedProgram:
    """The program with fixed shapes, for nothing else is converted: those of the example, or else its own example."""
    if not program.range_constraints:
        if example_inputs is not None:
            _check_example(program, example_inputs, name)
        return _without_strides(program, name)
    if example_inputs is None and program.example_inputs is not None:
        args, kwargs = program.example_inputs
        example_inputs = kwargs if kwargs and not args else args
    return _trace(program.module(check_guards=False), example_inputs, name)


def _check_example(program: torch.export.ExportedProgram, example_inputs: Any, name: str) -> None:
    """An example of a program that has shapes of its own has these."""
    from torch.utils import _pytree

    given = _pytree.tree_leaves(_arguments(example_inputs, _real_type(program.state_dict.values()), name))
    for number, (value, (input_, shape)) in enumerate(zip(given, _inputs(program), strict=False)):
        if tuple(value.shape) != shape:
            raise Error(
                f"input {number} ('{input_}') is {_extents(shape)}, its example {_extents(value.shape)}",
                name,
                ["the program has fixed shapes: leave example_inputs out, or export it again with dynamic ones"],
            )


def _check_quantizers(program: torch.export.ExportedProgram, name: str) -> list[str]:
    """The modules that define operators of a program; torchao's quantizers but the affine ones are refused."""
    modules: list[str] = []
    for node in program.graph.nodes:
        if node.op == "call_function" and str(node.target).startswith("torchao."):
            if str(node.target).split(".")[1] in _AFFINE:
                modules = [_TORCHAO]
                continue
            raise Error(
                f"{node.target} has no point",
                f'{name}: "{node.name}"',
                ["quantize by prepare_pt2e and convert_pt2e, or give the float network that it was made of"],
            )
    return modules


def _extents(shape: Iterable[int]) -> str:
    return "x".join(map(str, shape)) or "a scalar"


def _inputs(program: torch.export.ExportedProgram) -> list[tuple[str, tuple[int, ...]]]:
    """Names and shapes of what the network is called with, of tensors."""
    wanted = set(program.graph_signature.user_inputs)
    return [
        (node.name, tuple(node.meta["val"].shape))
        for node in program.graph.nodes
        if node.op == "placeholder" and node.name in wanted and hasattr(node.meta.get("val"), "shape")
    ]


def _without_strides(program: torch.export.ExportedProgram, name: str) -> torch.export.ExportedProgram:
    """The program with everything in the order of its dimensions: the converter takes other strides for another layout.

    They come of an example, of parameters (`network.to(memory_format=…)`), or of such a call in a `forward`.
    """
    import torch
    from torch.utils import _pytree

    def is_strided(value: Any) -> bool:
        return isinstance(value, torch.Tensor) and not value.is_contiguous()

    def is_format(value: Any) -> bool:
        return value in (torch.channels_last, torch.channels_last_3d)

    stored = [*program.state_dict.values(), *program.constants.values()]
    entries = [node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"]
    calls = [argument for node in program.graph.nodes for argument in (*node.args, *node.kwargs.values())]
    example: Any = program.example_inputs or ()
    if not any(map(is_strided, [*stored, *entries, *_pytree.tree_leaves(example)])) and not any(map(is_format, calls)):
        return program
    network = program.module(check_guards=False)
    with torch.no_grad():
        for module in network.modules():
            for key, parameter in list(module.named_parameters(recurse=False)):
                if is_strided(parameter):
                    setattr(module, key, torch.nn.Parameter(parameter.detach().contiguous(), requires_grad=False))
            for key, buffer in list(module.named_buffers(recurse=False)):
                if is_strided(buffer):
                    setattr(module, key, buffer.contiguous())
    for node in network.graph.nodes:
        node.args = tuple(torch.contiguous_format if is_format(value) else value for value in node.args)
        node.kwargs = {
            key: torch.contiguous_format if is_format(value) else value for key, value in node.kwargs.items()
        }
    network.recompile()
    args, kwargs = program.example_inputs
    dtype = _real_type(program.state_dict.values())
    return _capture(network, tuple(_example(value, dtype) for value in args), _example(kwargs, dtype), name)


def _check_layout(program: torch.export.ExportedProgram, text: str, name: str) -> None:
    """The converter has kept the shapes of images."""
    head = next((line for line in text.splitlines() if line.lstrip().startswith("func.func @main(")), "")
    inputs, _, results = head.partition(" -> ")
    last = list(program.graph.nodes)[-1]
    outputs = [tuple(node.meta["val"].shape) for node in last.all_input_nodes if hasattr(node.meta.get("val"), "shape")]
    for what, types, shapes in (
        ("input", inputs, [shape for _, shape in _inputs(program)]),
        ("output", results, outputs),
    ):
        # Behind those of the network come points and quantized constants.
        types, cut, _ = types.partition(" {tpc.imported")
        types = types.rpartition("tensor<")[0] if cut else types
        expected = Counter(shape for shape in shapes if len(shape) > 2)
        found = Counter(
            shape
            for match in re.finditer(r"tensor<((?:\d+x)*)\w+>", types)
            if len(shape := tuple(int(extent) for extent in match[1].split("x")[:-1])) > 2
        )
        if rest := found - expected:
            shape = next(iter(rest))
            raise Error(
                f"{_CONVERTER} has given an {what} the shape {_extents(shape)}, which none of the network has",
                name,
                [f"the {what}s of the network: {', '.join(map(_extents, shapes))}"],
            )
