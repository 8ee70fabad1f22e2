# SPDX-License-Identifier: Apache-2.0
"""Two classifiers of images in PyTorch, layer by layer as their papers have them, with seeded weights.

Names of layers are those that torchvision gives to the same networks. Batch norms are calibrated: they normalize what
they see of seeded images, so that activations stay of order one.
"""

from __future__ import annotations

import torch
from torch import nn


class Block(nn.Module):
    """Two 3x3 convolutions beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class ResNet18(nn.Module):
    """ResNet-18 of 11.7 million parameters for images of 224x224."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        self.relu, self.maxpool = nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(Block(64, 64, 1), Block(64, 64, 1))
        self.layer2 = nn.Sequential(Block(64, 128, 2), Block(128, 128, 1))
        self.layer3 = nn.Sequential(Block(128, 256, 2), Block(256, 256, 1))
        self.layer4 = nn.Sequential(Block(256, 512, 2), Block(512, 512, 1))
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(512, 1000)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def layer(inputs: int, outputs: int, kernel: int = 1, stride: int = 1, groups: int = 1, activation=None):
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    norm = nn.BatchNorm2d(outputs, eps=0.001, momentum=0.01)
    return nn.Sequential(convolution, norm, *([activation(inplace=True)] if activation else []))


class SqueezeExcitation(nn.Module):
    """Factors for channels from their means."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        # A quarter, to the nearest multiple of eight, and not more than a tenth below.
        narrow = max(8, int(channels / 4 + 4) // 8 * 8)
        narrow += 8 if narrow < 0.9 * channels / 4 else 0
        self.avgpool, self.activation, self.scale_activation = nn.AdaptiveAvgPool2d(1), nn.ReLU(), nn.Hardsigmoid()
        self.fc1, self.fc2 = nn.Conv2d(channels, narrow, 1), nn.Conv2d(narrow, channels, 1)

    def forward(self, x):
        return x * self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(x)))))


class Inverted(nn.Module):
    """1x1 wider, depthwise, factors, 1x1 narrower; beside a shortcut where the shapes allow it."""

    def __init__(self, inputs, kernel, wide, outputs, excite, hard, stride) -> None:
        super().__init__()
        activation = nn.Hardswish if hard else nn.ReLU
        layers = [layer(inputs, wide, activation=activation)] if wide != inputs else []
        layers += [layer(wide, wide, kernel, stride, wide, activation)]
        layers += [SqueezeExcitation(wide)] if excite else []
        self.block = nn.Sequential(*layers, layer(wide, outputs))
        self.shortcut = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.block(x) if self.shortcut else self.block(x)


class MobileNetV3Small(nn.Module):
    """MobileNetV3-Small of 2.5 million parameters for images of 224x224."""

    # Inputs, kernel, wide, outputs, excite, hard-swish, stride.
    BLOCKS = (
        (16, 3, 16, 16, True, False, 2),
        (16, 3, 72, 24, False, False, 2),
        (24, 3, 88, 24, False, False, 1),
        (24, 5, 96, 40, True, True, 2),
        (40, 5, 240, 40, True, True, 1),
        (40, 5, 240, 40, True, True, 1),
        (40, 5, 120, 48, True, True, 1),
        (48, 5, 144, 48, True, True, 1),
        (48, 5, 288, 96, True, True, 2),
        (96, 5, 576, 96, True, True, 1),
        (96, 5, 576, 96, True, True, 1),
    )

    def __init__(self) -> None:
        super().__init__()
        blocks = [Inverted(*block) for block in self.BLOCKS]
        first, last = layer(3, 16, 3, 2, activation=nn.Hardswish), layer(96, 576, activation=nn.Hardswish)
        self.features = nn.Sequential(first, *blocks, last)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        head = [nn.Linear(576, 1024), nn.Hardswish(inplace=True), nn.Dropout(0.2, inplace=True), nn.Linear(1024, 1000)]
        self.classifier = nn.Sequential(*head)

    def forward(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def images(count: int, size: int = 224, seed: int = 0) -> torch.Tensor:
    """[count, 3, size, size]: smooth colours and some noise, of about unit size."""
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.randn((count, 3, 7, 7), generator=generator)
    smooth = nn.functional.interpolate(coarse, (size, size), mode="bilinear")
    return smooth + 0.2 * torch.randn((count, 3, size, size), generator=generator)


def calibrated(network: type[nn.Module], batch: torch.Tensor) -> nn.Module:
    """A network for inference whose batch norms have seen `batch`."""
    torch.manual_seed(18)
    result = network()
    norms = [module for module in result.modules() if isinstance(module, nn.BatchNorm2d)]
    with torch.no_grad():
        for norm in norms:
            norm.weight.uniform_(0.6, 1.4)
            norm.bias.normal_(0, 0.2)
            norm.momentum = None  # the mean over all that it sees
        result.train()
        result(batch)
    return result.eval()
