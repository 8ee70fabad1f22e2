# SPDX-License-Identifier: Apache-2.0
"""PyTorch, by `torch.export` and the Arm backend of ExecuTorch: batch norms folded, NHWC behind a transposed input.

Names of modules become names of layers: `layer1.0.conv1`, and `layer1.0/add` for what a module's `forward` writes out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mct import _extras
from mct.errors import Error
from mct.importers import _process, _text

if TYPE_CHECKING:
    import torch

_CONVERTER = "ExecuTorch's TOSA backend"


def import_model(
    source: torch.nn.Module | torch.export.ExportedProgram | str | PathLike[str],
    example_inputs: Any = None,
    *,
    timeout: float | None = None,
) -> bytes:
    """The text of the module that a `torch.nn.Module`, an `ExportedProgram` or a `.pt2` file stands for.

    `example_inputs` are a tensor or an array, a sequence of them, or a dict by the names of `forward`'s parameters;
    their shapes are those of the result, batch included. A program has shapes of its own, and needs them only where
    those are dynamic. The network is exported as for inference and left as it was.
    Raises ImportError without the extra, Error for a network that cannot be exported or converted.
    """
    _extras.require("torch", "a PyTorch network")
    import torch

    name = type(source).__name__
    if isinstance(source, (str, PathLike)):
        name = Path(fspath(source)).name
        if not Path(fspath(source)).is_file():
            raise Error("cannot read it: No such file or directory", fspath(source))
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
    with _process.folder() as work:
        try:
            torch.export.save(program, work / "program.pt2")
        except Exception as problem:
            raise Error(f"torch.export cannot save the network: {_first_line(problem)}", name) from problem
        _process.run(_CONVERTER, name, ["mct.importers._torch_child", "program.pt2", "module.mlir"], work, timeout)
        text = _text.name_layers(_process.read(_CONVERTER, name, work / "module.mlir"))
    return re.sub(r'"(?:output_tag\w*|empty)[^"/]*":\d+:\d+', f'"{_text.escape(name)}":0:0', text).encode()


def _first_line(problem: BaseException) -> str:
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0]


def _arguments(example_inputs: Any, name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    import torch

    def tensor(value: Any) -> Any:
        return value if isinstance(value, torch.Tensor) else torch.as_tensor(value)

    if example_inputs is None:
        raise Error(
            "a PyTorch network has no shapes of its own",
            name,
            ["give example_inputs: one tensor or array for each parameter of `forward`"],
        )
    if isinstance(example_inputs, Mapping):
        return (), {key: tensor(value) for key, value in example_inputs.items()}
    if isinstance(example_inputs, (list, tuple)):
        return tuple(map(tensor, example_inputs)), {}
    return (tensor(example_inputs),), {}


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
    import torch

    args, kwargs = _arguments(example_inputs, name)
    try:
        with torch.no_grad():
            return torch.export.export(network, args, kwargs)
    except Exception as problem:
        notes = [line for line in str(problem).splitlines()[1:] if line.strip()][:12]
        raise Error(f"torch.export refuses the network: {_first_line(problem)}", name, notes) from problem


def _fixed(program: torch.export.ExportedProgram, example_inputs: Any, name: str) -> torch.export.ExportedProgram:
    """The program with fixed shapes, for nothing else is converted: those of the example, or else its own example."""
    if not program.range_constraints:
        return program
    if example_inputs is None and program.example_inputs is not None:
        args, kwargs = program.example_inputs
        example_inputs = kwargs if kwargs and not args else args
    return _trace(program.module(check_guards=False), example_inputs, name)
