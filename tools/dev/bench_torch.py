# SPDX-License-Identifier: Apache-2.0
"""PyTorch eager throughput of a network with the shapes of a real one and random weights; called by bench.py.

    python3 bench_torch.py resnet8|vww THREADS

Prints images per second: the best single call in channels_last over batches of 4 and 32.
"""

from __future__ import annotations

import sys
import time

import torch
from torch import nn
from torch.nn import functional

BATCHES = (4, 32)
SECONDS_PER_BATCH = 1.0
# Output channels and stride of each depthwise-pointwise pair of MobileNet v1 0.25.
VWW_PAIRS = (
    *((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2)),
    *((128, 1), (128, 1), (128, 1), (128, 1), (128, 1), (256, 2), (256, 1)),
)


class SameConvolution(nn.Conv2d):
    """A convolution padded as TensorFlow does: for stride 2 on an even map one row and column at the end."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1):
        symmetric = stride == 1
        super().__init__(inputs, outputs, kernel, stride, padding=kernel // 2 if symmetric else 0, groups=groups)
        self.pad_end = 0 if symmetric or kernel == 1 else 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.pad_end:
            x = functional.pad(x, (0, self.pad_end, 0, self.pad_end))
        return super().forward(x)


class ResidualBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.first = SameConvolution(inputs, outputs, 3, stride)
        self.second = SameConvolution(outputs, outputs, 3)
        self.shortcut = SameConvolution(inputs, outputs, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.second(functional.relu(self.first(x), inplace=True))
        return functional.relu(y + self.shortcut(x), inplace=True)


def resnet8() -> nn.Sequential:
    return nn.Sequential(
        SameConvolution(3, 16, 3),
        nn.ReLU(inplace=True),
        ResidualBlock(16, 16, 1),
        ResidualBlock(16, 32, 2),
        ResidualBlock(32, 64, 2),
        nn.AvgPool2d(8),
        nn.Flatten(),
        nn.Linear(64, 10),
        nn.Softmax(dim=1),
    )


def vww() -> nn.Sequential:
    layers: list[nn.Module] = [SameConvolution(3, 8, 3, 2), nn.ReLU(inplace=True)]
    channels = 8
    for outputs, stride in VWW_PAIRS:
        layers += [SameConvolution(channels, channels, 3, stride, groups=channels), nn.ReLU(inplace=True)]
        layers += [SameConvolution(channels, outputs, 1), nn.ReLU(inplace=True)]
        channels = outputs
    return nn.Sequential(*layers, nn.AvgPool2d(3), nn.Flatten(), nn.Linear(channels, 2), nn.Softmax(dim=1))


def throughput(net: nn.Module, size: int, batch: int) -> float:
    """Images per second of the fastest call."""
    images = torch.rand(batch, 3, size, size).to(memory_format=torch.channels_last)
    best = float("inf")
    with torch.inference_mode():
        net(images)
        end = time.perf_counter() + SECONDS_PER_BATCH
        while time.perf_counter() < end:
            start = time.perf_counter()
            net(images)
            best = min(best, time.perf_counter() - start)
    return batch / best


def main() -> None:
    name, threads = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    build, size = {"resnet8": (resnet8, 32), "vww": (vww, 96)}[name]
    net = build().eval().to(memory_format=torch.channels_last)
    print(max(throughput(net, size, batch) for batch in BATCHES))


if __name__ == "__main__":
    main()
