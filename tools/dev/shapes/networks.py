# SPDX-License-Identifier: Apache-2.0
"""A detector and a segmentation network for images of shapes, in PyTorch."""

from __future__ import annotations

import torch
from scenes import CLASSES, SIZE
from torch import nn


class Layer(nn.Sequential):
    def __init__(self, inputs: int, outputs: int, activation: type[nn.Module], stride: int = 1) -> None:
        convolution = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        super().__init__(convolution, nn.BatchNorm2d(outputs), activation())


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.layer = Layer(channels, channels, nn.SiLU)

    def forward(self, x):
        return x + self.layer(x)


class Detector(nn.Module):
    """Returns [images, 64, 4 + classes]: center, width and height in pixels and a score for each class, a row for each
    cell of 8x8 pixels. They are decoded as YOLOv5 and its successors do it, and lie in one tensor, as theirs do."""

    STRIDE = 8
    ANCHOR = 16.0

    def __init__(self) -> None:
        super().__init__()
        self.stem = Layer(3, 16, nn.SiLU, 2)
        self.halves = nn.Sequential(Layer(16, 24, nn.SiLU, 2), Residual(24))
        self.cells = nn.Sequential(Layer(24, 48, nn.SiLU, 2), Residual(48), Residual(48))
        self.head = nn.Conv2d(48, 4 + len(CLASSES), 1)
        steps = torch.arange(SIZE // self.STRIDE, dtype=torch.float32)
        y, x = torch.meshgrid(steps, steps, indexing="ij")
        self.register_buffer("corners", torch.stack([x.flatten(), y.flatten()], 1)[None], persistent=False)
        nn.init.constant_(self.head.bias[4:], -3.5)  # most cells are empty

    def logits(self, images):
        return self.head(self.cells(self.halves(self.stem(images)))).flatten(2).transpose(1, 2)

    def forward(self, images):
        parts = self.logits(images).sigmoid()
        centers = (2 * parts[..., :2] - 0.5 + self.corners) * self.STRIDE
        sides = (2 * parts[..., 2:4]) ** 2 * self.ANCHOR
        return torch.cat([centers, sides, parts[..., 4:]], 2)


class UNet(nn.Module):
    """Returns [images, 1 + classes, 64, 64]: a score for the background and each class, for each pixel."""

    def __init__(self) -> None:
        super().__init__()
        self.level0 = Layer(3, 8, nn.ReLU)
        self.level1 = nn.Sequential(Layer(8, 16, nn.ReLU), Layer(16, 16, nn.ReLU))
        self.level2 = nn.Sequential(Layer(16, 24, nn.ReLU), Layer(24, 24, nn.ReLU))
        self.bottom = nn.Sequential(Layer(24, 32, nn.ReLU), Layer(32, 32, nn.ReLU))
        self.up2, self.join2 = nn.ConvTranspose2d(32, 24, 2, 2), Layer(48, 24, nn.ReLU)
        self.up1, self.join1 = nn.ConvTranspose2d(24, 16, 2, 2), Layer(32, 16, nn.ReLU)
        self.up0, self.join0 = nn.ConvTranspose2d(16, 8, 2, 2), Layer(16, 8, nn.ReLU)
        self.head = nn.Conv2d(8, 1 + len(CLASSES), 1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, images):
        level0 = self.level0(images)
        level1 = self.level1(self.pool(level0))
        level2 = self.level2(self.pool(level1))
        x = self.up2(self.bottom(self.pool(level2)))
        x = self.up1(self.join2(torch.cat([x, level2], 1)))
        x = self.up0(self.join1(torch.cat([x, level1], 1)))
        return self.head(self.join0(torch.cat([x, level0], 1)))
