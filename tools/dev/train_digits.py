#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the embedded digits network and writes everything that `test/data` holds of it.

Needs torch==2.13.0 (CPU), scikit-learn==1.9.1 and mlir-opt-22; the build and the tests need none of the first two,
because the results are committed. The same versions on the same kind of processor give the same files.

    python3 tools/dev/train_digits.py [--out=test/data]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional
from tosa_text import TosaWriter

SEED = 20240517
TRAIN_COUNT = 898
CALIBRATION_COUNT = 300
EXPECTED_COUNT = 64
EPOCHS = 120
BATCH = 32
INPUT_SCALE = 0.0625  # pixels are whole numbers 0..16


class DigitsNet(nn.Module):
    """1x8x8 image in 0..1 to 10 probabilities; `forward` gives the logits."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 16, 3, padding=1, bias=False)
        self.stem_norm = nn.BatchNorm2d(16)
        self.depthwise = nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False)
        self.depthwise_norm = nn.BatchNorm2d(16)
        self.project = nn.Conv2d(16, 16, 1)
        self.reduce = nn.Conv2d(16, 32, 3, stride=2, bias=False)
        self.reduce_norm = nn.BatchNorm2d(32)
        self.classify = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        stem = functional.hardswish(self.stem_norm(self.stem(x)))
        branch = functional.relu(self.depthwise_norm(self.depthwise(stem)))
        joined = stem + self.project(branch)
        # Stride 2 on an even map: one row and column at the end makes the window exact, as TOSA wants.
        reduced = self.reduce_norm(self.reduce(functional.pad(joined, (0, 1, 0, 1))))
        pooled = functional.avg_pool2d(functional.silu(reduced), 4)
        return self.classify(pooled.flatten(1))


def shifted(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Moves each image by up to one pixel in each direction; 898 images alone are too few to learn that."""
    padded = functional.pad(images, (1, 1, 1, 1))
    offsets = torch.randint(0, 3, (len(images), 2), generator=generator).tolist()
    return torch.stack([image[:, y : y + 8, x : x + 8] for image, (y, x) in zip(padded, offsets, strict=True)])


def train(images: torch.Tensor, labels: torch.Tensor) -> DigitsNet:
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # the order of additions, and so the weights, would depend on the number of threads
    torch.use_deterministic_algorithms(True)
    generator = torch.Generator().manual_seed(SEED)
    net = DigitsNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=1e-2)
    steps = EPOCHS * (len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=8e-3, total_steps=steps)
    net.train()
    for _ in range(EPOCHS):
        order = torch.randperm(len(images), generator=generator)
        for i in range(len(images) // BATCH):
            chosen = order[i * BATCH : (i + 1) * BATCH]
            loss = functional.cross_entropy(net(shifted(images[chosen], generator)), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return net.eval()


def array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().numpy()


def emit(net: DigitsNet, path: Path) -> None:
    """Writes the network as TOSA bytecode, batch norms unfolded, softmax included."""
    writer = TosaWriter((1, 8, 8, 1))
    around = (1, 1, 1, 1)

    def norm(name, x, module: nn.BatchNorm2d):
        parts = (module.running_mean, module.running_var, module.weight, module.bias)
        return writer.batch_norm(name, x, *map(array, parts), module.eps)

    def kernel(module: nn.Conv2d) -> np.ndarray:
        return array(module.weight).transpose(0, 2, 3, 1)

    no_bias = np.zeros(16, np.float32)
    x = writer.convolution("stem/conv", writer.input, kernel(net.stem), no_bias, pad=around)
    stem = writer.hard_swish("stem/hard_swish", norm("stem/batch_norm", x, net.stem_norm))

    weight = array(net.depthwise.weight).transpose(2, 3, 0, 1)
    x = writer.depthwise("block/depthwise", stem, weight, no_bias, pad=around)
    x = writer.clamp("block/relu", norm("block/batch_norm", x, net.depthwise_norm))
    x = writer.convolution("block/project", x, kernel(net.project), array(net.project.bias))
    x = writer.binary("block/add", "add", stem, x)

    no_bias = np.zeros(32, np.float32)
    x = writer.convolution("reduce/conv", x, kernel(net.reduce), no_bias, stride=2, pad=(0, 1, 0, 1))
    x = writer.swish("reduce/swish", norm("reduce/batch_norm", x, net.reduce_norm))
    x = writer.pool("head/average_pool", "avg_pool2d", x, kernel=4, stride=4)

    weight = array(net.classify.weight).reshape(10, 1, 1, 32)
    x = writer.convolution("head/dense", x, weight, array(net.classify.bias))
    x = writer.reshape("head/logits", x, (1, 10))
    writer.write_bytecode(path, writer.softmax("head/softmax", x))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[2] / "test" / "data")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)

    digits = load_digits()
    pixels = digits.images.astype(np.uint8)[..., np.newaxis]
    labels = digits.target.astype(np.int32)
    order = np.random.default_rng(SEED).permutation(len(pixels))
    train_part, test_part = order[:TRAIN_COUNT], order[TRAIN_COUNT:]

    def network_input(part: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(pixels[part].transpose(0, 3, 1, 2).astype(np.float32) * np.float32(INPUT_SCALE))

    net = train(network_input(train_part), torch.from_numpy(labels[train_part]).long())
    with torch.no_grad():
        probabilities = array(torch.softmax(net(network_input(test_part)), dim=1))
    accuracy = np.mean(probabilities.argmax(axis=1) == labels[test_part])
    print(f"float accuracy on {len(test_part)} held-out images: {100 * accuracy:.2f} %")
    if accuracy < 0.97:
        raise SystemExit("error: below 97 %, nothing written")

    emit(net, out / "digits.mlirbc")
    np.save(out / "digits_calib.npy", pixels[train_part[:CALIBRATION_COUNT]])
    np.save(out / "digits_test.npy", pixels[test_part])
    np.save(out / "digits_test_labels.npy", labels[test_part])
    np.save(out / "digits_expected.npy", probabilities[:EXPECTED_COUNT].astype(np.float32))


if __name__ == "__main__":
    main()
