# SPDX-License-Identifier: Apache-2.0
"""A network of `torch_networks` with its samples, for the chains that start from PyTorch."""

from __future__ import annotations

import sys
from pathlib import Path

import chain
import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import torch_networks


class Reference:
    """PyTorch itself."""

    def __init__(self, network: nn.Module):
        self.network = network

    def __call__(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        with torch.no_grad():
            outputs = self.network(*map(torch.from_numpy, arrays))
        return [output.numpy() for output in (outputs if isinstance(outputs, tuple) else (outputs,))]


def network(name: str, folder: Path, specs: list[dict]) -> tuple[nn.Module, list[list[np.ndarray]]]:
    """The network with its batch norms settled, and its samples."""
    torch.set_num_threads(1)  # sums do not depend on the machine
    torch.backends.mha.set_fastpath_enabled(False)  # one operator that no exporter takes apart
    types = {"tokens": np.int64}
    arguments = [(spec["shape"], types.get(spec["kind"], np.float32), spec) for spec in specs]
    # The same samples for every chain.
    rows = chain.samples(name, arguments)
    return torch_networks.build(name, [torch.from_numpy(row[0]) for row in rows]), rows
