# SPDX-License-Identifier: Apache-2.0
"""A seeded classifier of digits for the scripts beside it, and what they print. Needs PyTorch."""

from __future__ import annotations

import functools
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

# A small network gains nothing from threads.
torch.set_num_threads(1)
DATA = Path(__file__).resolve().parents[3] / "test" / "data"
IMAGES = np.load(DATA / "digits_test.npy").transpose(0, 3, 1, 2).astype(np.float32) / 16
LABELS = np.load(DATA / "digits_test_labels.npy").astype(np.int64)
# The first ones train the network, the others judge it.
TRAINING = 500


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(x + self.norm2(self.conv2(inner)))


class Digits(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 12, 3, padding=1)
        self.block = Residual(12)
        self.down = nn.Conv2d(12, 24, 3, padding=1, stride=2)
        self.head = nn.Linear(24 * 16, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.block(torch.nn.functional.silu(self.stem(x)))
        x = torch.nn.functional.hardswish(self.down(x))
        return self.head(torch.flatten(x, 1))


@functools.cache
def trained(epochs: int = 12) -> nn.Module:
    """Returns the network, trained once; in double precision every machine trains the same one."""
    torch.manual_seed(0)
    network = Digits().double()
    images, labels = torch.from_numpy(IMAGES[:TRAINING]).double(), torch.from_numpy(LABELS[:TRAINING])
    optimizer = torch.optim.Adam(network.parameters(), 2e-3)
    for _ in range(epochs):
        for rows in torch.randperm(TRAINING).split(50):
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(images[rows]), labels[rows]).backward()
            optimizer.step()
    return network.float().eval()


def representative_data() -> Iterator[list[np.ndarray]]:
    """Yields images in batches, in the form in which MCT takes samples: a list with an array for each input."""
    images = np.load(DATA / "digits_calib.npy").transpose(0, 3, 1, 2).astype(np.float32) / 16
    for start in range(0, 200, 20):
        yield [images[start : start + 20]]


def accuracy(network: Any) -> float:
    """Returns the share of the images that judge whose largest score is the label, of a network of torch or of ours."""
    images = IMAGES[TRAINING:]
    if isinstance(network, nn.Module):
        # MCT moves its networks to the device that it finds.
        device = next((tensor.device for tensor in network.parameters()), torch.device("cpu"))
        with torch.no_grad():
            scores = network(torch.from_numpy(images).to(device)).cpu().numpy()
    else:
        scores = network.run(images)
    return float(np.mean(np.argmax(scores, 1) == LABELS[TRAINING:]))


class Measured:
    """Prints what the calls inside of its block cost: processor seconds, with those of child processes, and memory."""

    def __enter__(self) -> Measured:
        self.wall, self.begin = time.perf_counter(), self._processor()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = self._processor() - self.begin
        self.wall = time.perf_counter() - self.wall
        who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        self.megabytes = max(resource.getrusage(one).ru_maxrss for one in who) / 1024

    @staticmethod
    def _processor() -> float:
        who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, who))


def show(network: nn.Module, quantized: Any, cost: Measured) -> None:
    """Prints a line with names and numbers."""
    print(
        f"float {100 * accuracy(network):.2f} % quantized {100 * accuracy(quantized):.2f} % "
        f"processor {cost.seconds:.1f} s wall {cost.wall:.1f} s memory {cost.megabytes:.0f} MB"
    )
