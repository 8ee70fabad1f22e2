# SPDX-License-Identifier: Apache-2.0
"""PyTorch to linalg on tensors with torch-mlir, as it is.

    python from_linalg.py NETWORK FOLDER [SPECS]

Arguments are those of `from_torch.py`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import chain
import from_torch
import seeded
import torch


def main(name: str, folder: str, specs: str) -> None:
    network, rows = seeded.network(name, Path(folder), json.loads(specs))
    inputs = tuple(map(torch.from_numpy, rows[0]))
    (Path(folder) / "module.mlir").write_text(from_torch.export(network, inputs, "linalg-on-tensors"))
    chain.record(Path(folder), rows, seeded.Reference(network))


if __name__ == "__main__":
    main(*sys.argv[1:])
