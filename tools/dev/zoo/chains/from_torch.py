# SPDX-License-Identifier: Apache-2.0
"""PyTorch to TOSA with torch-mlir.

    python from_torch.py NETWORK FOLDER [SPECS]

NETWORK is a name of `torch_networks`; SPECS a JSON list, one object for each argument: `chain.one_sample`, and "shape".
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import chain
import seeded
import torch
from torch import nn
from torch.nn import functional as F
from torch_mlir import fx, ir
from torch_mlir.extras.fx_decomp_util import get_decomposition_table
from torch_mlir.extras.fx_importer import ContextCache


def layer_name(node: torch.fx.Node) -> str:
    """`block.conv` for the operation of a module, `block/add` for one that a module's `forward` writes out."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    path, kind = stack[-1] if stack else ("", "")
    operation = getattr(node.target, "__name__", str(node.target)).split(".")[0]
    leaf = ".".join(str(getattr(kind, "__module__", kind)).split(".")[:2]) == "torch.nn"
    return path if leaf and path else f"{path}/{operation}" if path else operation


class Groups(nn.Module):
    """A grouped convolution as one for each group, which is what torch-mlir makes of those that it converts."""

    def __init__(self, layer: nn.Conv2d):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        layer = self.layer
        weights = layer.weight.chunk(layer.groups)
        biases = layer.bias.chunk(layer.groups) if layer.bias is not None else [None] * layer.groups
        parts = zip(x.chunk(layer.groups, 1), weights, biases, strict=True)
        geometry = (layer.stride, layer.padding, layer.dilation)
        return torch.cat([F.conv2d(part, weight, bias, *geometry) for part, weight, bias in parts], 1)


def split_groups(network: nn.Module) -> None:
    for parent in list(network.modules()):
        for name, layer in list(parent.named_children()):
            if isinstance(layer, nn.Conv2d) and 1 < layer.groups < layer.in_channels:
                setattr(parent, name, Groups(layer))


def roll(x, shifts, dims):
    """Without the slices of unknown size that torch-mlir makes of it."""
    for shift, dim in zip(shifts, dims, strict=True):
        size = x.shape[dim]
        shift %= size
        x = torch.cat([x.narrow(dim, size - shift, shift), x.narrow(dim, 0, size - shift)], dim)
    return x


def export(network: nn.Module, inputs: tuple[torch.Tensor, ...], output_type: str) -> str:
    """The network as torch-mlir writes it."""
    program = torch.export.export(network, inputs, strict=False)
    # The importer's own locations are lines of Python.
    ContextCache.get_node_location = lambda cache, node: ir.Location.name(layer_name(node), context=cache._c)
    decompositions = get_decomposition_table() | {torch.ops.aten.roll.default: roll}
    module = fx.export_and_import(program, output_type=output_type, decomposition_table=decompositions)
    return module.operation.get_asm(enable_debug_info=True)


def convert(network: nn.Module, inputs: tuple[torch.Tensor, ...], output: Path) -> None:
    split_groups(network)
    text = export(network, inputs, "tosa")
    # Some constants stay in the dialect of another step of its pipeline.
    constant = r"= arith\.constant (dense.*) : (tensor<[^>]*>)( loc.*)?$"
    text = re.sub(constant, r'= "tosa.const"() <{values = \1 : \2}> : () -> \2\3', text, flags=re.MULTILINE)
    output.write_text(text)


def main(name: str, folder: str, specs: str) -> None:
    network, rows = seeded.network(name, Path(folder), json.loads(specs))
    convert(network, tuple(map(torch.from_numpy, rows[0])), Path(folder) / "module.mlir")
    chain.record(Path(folder), rows, seeded.Reference(network))


if __name__ == "__main__":
    main(*sys.argv[1:])
