# SPDX-License-Identifier: Apache-2.0
"""PyTorch to TOSA with torch-mlir.

    python from_torch.py NETWORK FOLDER [SPECS]

NETWORK is a name of `torch_networks`; SPECS a JSON list, one object for each argument: `chain.one_sample`, and "shape".
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import chain
import seeded
import torch
from torch import nn
from torch_mlir import fx, ir
from torch_mlir.extras.fx_importer import ContextCache


def layer_name(node: torch.fx.Node) -> str:
    """`block.conv` for the operation of a module, `block/add` for one that a module's `forward` writes out."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    path, kind = stack[-1] if stack else ("", "")
    operation = getattr(node.target, "__name__", str(node.target)).split(".")[0]
    leaf = ".".join(str(getattr(kind, "__module__", kind)).split(".")[:2]) == "torch.nn"
    return path if leaf and path else f"{path}/{operation}" if path else operation


def convert(network: nn.Module, inputs: tuple[torch.Tensor, ...], output: Path) -> None:
    program = torch.export.export(network, inputs, strict=False)
    # The importer's own locations are lines of Python.
    ContextCache.get_node_location = lambda cache, node: ir.Location.name(layer_name(node), context=cache._c)
    module = fx.export_and_import(program, output_type="tosa")
    output.write_text(module.operation.get_asm(enable_debug_info=True))


def main(name: str, folder: str, specs: str) -> None:
    network, rows = seeded.network(name, Path(folder), json.loads(specs))
    convert(network, tuple(map(torch.from_numpy, rows[0])), Path(folder) / "module.mlir")
    chain.record(Path(folder), rows, seeded.Reference(network))


if __name__ == "__main__":
    main(*sys.argv[1:])
