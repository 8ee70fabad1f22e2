# SPDX-License-Identifier: Apache-2.0
"""PyTorch to TOSA with the Arm backend of ExecuTorch: NHWC, batch norms folded, no layer names.

    python from_executorch.py NETWORK FOLDER [SPECS]

The arguments are those of from_torch.py.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import chain
import seeded
import torch
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
from executorch.exir import to_edge_transform_and_lower
from torch import nn


def convert(network: nn.Module, inputs: tuple[torch.Tensor, ...], output: Path) -> None:
    spec = TosaCompileSpec("TOSA-1.0+FP").dump_intermediate_artifacts_to(str(output.parent))
    to_edge_transform_and_lower(torch.export.export(network, inputs), partitioner=[TOSAPartitioner(spec)])
    buffers = list(output.parent.glob("*.tosa"))
    if len(buffers) != 1:
        raise RuntimeError(f"the backend takes {len(buffers)} parts of the network, not the whole")
    empty = output.with_suffix(".empty.mlir")
    empty.write_text("module {}\n")
    command = [Path(sys.executable).with_name("tosa-opt"), empty, "-o", output]
    subprocess.run([*command, f"--tosa-deserialize=tosa-flatbuffer-filename={buffers[0]}"], check=True)
    buffers[0].unlink()


def main(name: str, folder: str, specs: str) -> None:
    network, rows = seeded.network(name, Path(folder), json.loads(specs))
    convert(network, tuple(map(torch.from_numpy, rows[0])), Path(folder) / "module.mlir")
    chain.record(Path(folder), rows, seeded.Reference(network))


if __name__ == "__main__":
    main(*sys.argv[1:])
