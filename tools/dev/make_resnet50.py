#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a synthetic float TOSA network of ResNet-50 size, to measure time and memory on a large model.

The shapes are those of ResNet-50 with its stride in the 3x3 convolutions and batch norms already folded: input
1x224x224x3, blocks 3-4-6-3, 25.5 million parameters, 1000 logits. The weights are random (He scale, fixed seed), so its
answers mean nothing. Needs numpy and mlir-opt-22.

    python3 tools/dev/make_resnet50.py resnet50.mlirbc [--calibration=calib.npy --samples=16]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from tosa_text import TosaWriter, Value

SEED = 50
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))  # width of the 3x3, blocks, stride of the first block
EXPANSION = 4
# Each residual branch adds its own variance to the trunk. This factor keeps the sum of a stage's branches below the
# trunk itself, so that values stay of order one through all sixteen blocks.
BRANCH_GAIN = 0.4


class Builder:
    """Adds convolutions with He-scaled random weights, and counts parameters."""

    def __init__(self):
        self.writer = TosaWriter((1, 224, 224, 3))
        self.random = np.random.default_rng(SEED)
        self.parameters = 0

    def convolution(self, name, x: Value, channels: int, kernel: int, stride: int = 1, gain: float = 1.0) -> Value:
        fan_in = kernel * kernel * x.shape[3]
        weight = self.random.standard_normal((channels, kernel, kernel, x.shape[3]), dtype=np.float32)
        weight *= np.float32(gain * np.sqrt(2.0 / fan_in))
        bias = self.random.standard_normal(channels, dtype=np.float32) * np.float32(0.05)
        self.parameters += weight.size + bias.size
        # TOSA wants windows that fit exactly: what a strided window would leave over at the end is not padded at all.
        before = (kernel - 1) // 2
        leftover = (x.shape[1] + 2 * before - kernel) % stride
        after = before - leftover
        if after < 0:
            x = self.writer.slice_front(
                f"{name}/slice", x, (1, x.shape[1] - leftover, x.shape[2] - leftover, x.shape[3])
            )
            after = 0
        return self.writer.convolution(name, x, weight, bias, stride, (before, after, before, after))

    def block(self, name: str, x: Value, width: int, stride: int) -> Value:
        writer = self.writer
        y = writer.clamp(f"{name}/relu1", self.convolution(f"{name}/conv1", x, width, 1))
        y = writer.clamp(f"{name}/relu2", self.convolution(f"{name}/conv2", y, width, 3, stride))
        y = self.convolution(f"{name}/conv3", y, width * EXPANSION, 1, gain=BRANCH_GAIN)
        if x.shape != y.shape:
            x = self.convolution(f"{name}/shortcut", x, width * EXPANSION, 1, stride, gain=np.sqrt(0.5))
        return writer.clamp(f"{name}/relu3", writer.binary(f"{name}/add", "add", x, y))

    def network(self) -> Value:
        writer = self.writer
        x = writer.clamp("stem/relu", self.convolution("stem/conv", writer.input, 64, 7, 2))
        x = writer.pool("stem/max_pool", "max_pool2d", x, kernel=3, stride=2, pad=(1, 0, 1, 0))
        for stage, (width, blocks, stride) in enumerate(STAGES, start=1):
            for i in range(blocks):
                x = self.block(f"stage{stage}/block{i + 1}", x, width, stride if i == 0 else 1)
        x = writer.pool("head/average_pool", "avg_pool2d", x, kernel=x.shape[1], stride=x.shape[1])
        x = self.convolution("head/dense", x, 1000, 1, gain=np.sqrt(0.5))
        return writer.reshape("head/logits", x, (1, 1000))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="output, TOSA bytecode (.mlirbc)")
    parser.add_argument("--calibration", type=Path, help="also write random uint8 images [N,224,224,3] to this .npy")
    parser.add_argument("--samples", type=int, default=16, help="how many images (default 16)")
    options = parser.parse_args()

    builder = Builder()
    result = builder.network()
    builder.writer.write_bytecode(options.model, result)
    print(f"{options.model}: {builder.parameters / 1e6:.1f} million parameters")
    if options.calibration:
        images = np.random.default_rng(SEED).integers(0, 256, (options.samples, 224, 224, 3), dtype=np.uint8)
        np.save(options.calibration, images)
        print(f"{options.calibration}: {options.samples} images; use input-scale=0.0078125 input-offset=-1.0")


if __name__ == "__main__":
    main()
