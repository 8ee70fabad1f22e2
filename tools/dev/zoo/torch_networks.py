# SPDX-License-Identifier: Apache-2.0
"""PyTorch networks with seeded weights: torchvision's, and small ones of the kinds that it lacks.

Weights come from the network's own initialization, which a few make zero or next to it; those are drawn anew, so that
every layer matters. Batch norms take their means and variances from seeded samples: activations stay of order one.
"""

from __future__ import annotations

import importlib
import itertools
import zlib

import torch
from torch import nn
from torch.nn import functional as F


def torchvision(module: str):
    """A module of torchvision. Its compiled operators want the CUDA build of PyTorch; no network here calls one."""
    if not hasattr(torch.ops.torchvision, "nms"):
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        torchvision.library = library  # dropping it would take the definition back
    return importlib.import_module(f"torchvision.{module}")


def classifier(name: str, **options):
    return lambda: getattr(torchvision("models"), name)(weights=None, **options)


def convolution(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, groups: int = 1, activation=nn.ReLU):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)]
    return nn.Sequential(*layers, nn.BatchNorm2d(outputs), *([activation()] if activation else []))


class Segmentation(nn.Module):
    """torchvision's segmentation networks return a dictionary."""

    def __init__(self, name: str):
        super().__init__()
        models = torchvision("models.segmentation")
        self.network = getattr(models, name)(weights=None, weights_backbone=None, num_classes=21)

    def forward(self, image):
        return self.network(image)["out"]


class Swin(nn.Module):
    """torchvision's, with the biases of its windows looked up once: exporters trip over the index."""

    def __init__(self, name: str):
        super().__init__()
        models = torchvision("models")
        self.network = getattr(models, name)(weights=None)
        for layer in self.network.modules():
            if hasattr(layer, "get_relative_position_bias"):
                bias = layer.get_relative_position_bias().detach()
                layer.get_relative_position_bias = lambda bias=bias: bias

    def forward(self, image):
        return self.network(image)


class Mixer(nn.Module):
    """MLP-Mixer: layers over patches and layers over channels in turn."""

    class Block(nn.Module):
        def __init__(self, patches: int, width: int):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.tokens = nn.Sequential(nn.Linear(patches, 2 * patches), nn.GELU(), nn.Linear(2 * patches, patches))
            self.channels = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
            return x + self.channels(self.norm2(x))

    def __init__(self, size: int = 128, patch: int = 16, width: int = 128, depth: int = 6):
        super().__init__()
        self.stem = nn.Conv2d(3, width, patch, patch)
        self.blocks = nn.Sequential(*[self.Block((size // patch) ** 2, width) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 100)

    def forward(self, image):
        return self.head(self.norm(self.blocks(self.stem(image).flatten(2).transpose(1, 2))).mean(1))


class UNet(nn.Module):
    def __init__(self, widths=(16, 32, 64, 128), classes: int = 4):
        super().__init__()
        steps = list(itertools.pairwise((3, *widths)))
        self.down = nn.ModuleList(nn.Sequential(convolution(a, b), convolution(b, b)) for a, b in steps)
        ups = list(itertools.pairwise(widths[::-1]))
        self.up = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2) for a, b in ups)
        self.merge = nn.ModuleList(nn.Sequential(convolution(2 * b, b), convolution(b, b)) for _, b in ups)
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        skips = []
        for level in self.down:
            x = level(F.max_pool2d(x, 2) if skips else x)
            skips.append(x)
        for up, merge, skip in zip(self.up, self.merge, skips[-2::-1], strict=True):
            x = merge(torch.cat([up(x), skip], 1))
        return self.head(x)


class PreActivation(nn.Module):
    """Residual blocks whose sum is read by the next norm and by the next sum."""

    class Block(nn.Module):
        def __init__(self, inputs: int, outputs: int, stride: int):
            super().__init__()
            self.norm1, self.norm2 = nn.BatchNorm2d(inputs), nn.BatchNorm2d(outputs)
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False) if inputs != outputs else nn.Identity()

        def forward(self, x):
            active = F.relu(self.norm1(x))
            shortcut = self.shortcut(active) if isinstance(self.shortcut, nn.Conv2d) else x
            return self.conv2(F.relu(self.norm2(self.conv1(active)))) + shortcut

    def __init__(self):
        super().__init__()
        sizes = [(16, 16, 1), (16, 16, 1), (16, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1)]
        self.stem = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.blocks = nn.Sequential(*[self.Block(*size) for size in sizes])
        self.norm, self.head = nn.BatchNorm2d(64), nn.Linear(64, 10)

    def forward(self, x):
        return self.head(F.relu(self.norm(self.blocks(self.stem(x)))).mean((2, 3)))


class Grouped(nn.Module):
    """Grouped, dilated, asymmetric and depthwise convolutions, leaky and parametric ReLU, instance and group norm."""

    def __init__(self):
        super().__init__()
        self.stem = convolution(3, 32, 5, 2, activation=nn.PReLU)
        self.grouped = convolution(32, 64, 3, 1, groups=4, activation=nn.LeakyReLU)
        self.dilated = nn.ModuleList(nn.Conv2d(64, 64, 3, padding=d, dilation=d, groups=8) for d in (1, 2, 4))
        self.rows = nn.Conv2d(64, 64, (1, 7), padding=(0, 3))
        self.columns = nn.Conv2d(64, 64, (7, 1), padding=(3, 0))
        self.instance, self.group = nn.InstanceNorm2d(64, affine=True), nn.GroupNorm(8, 64)
        self.depthwise = convolution(64, 128, 3, 2, groups=64, activation=nn.ELU)
        self.head = nn.Conv2d(128, 12, 1)

    def forward(self, x):
        x = self.grouped(self.stem(x))
        x = F.softplus(self.instance(sum(layer(x) for layer in self.dilated)))
        x = F.hardsigmoid(self.group(self.columns(self.rows(x)))) * x
        return self.head(self.depthwise(x)).amax((2, 3))


class SuperResolution(nn.Module):
    """Residual blocks without norms, then pixels from channels."""

    def __init__(self, width: int = 32, blocks: int = 4, scale: int = 2):
        super().__init__()
        self.head = nn.Conv2d(3, width, 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1))
            for _ in range(blocks)
        )
        self.tail = nn.Sequential(nn.Conv2d(width, 3 * scale**2, 3, padding=1), nn.PixelShuffle(scale))

    def forward(self, image):
        x = head = self.head(image)
        for block in self.blocks:
            x = x + 0.5 * block(x)
        return self.tail(x + head) + F.interpolate(image, scale_factor=2, mode="bilinear", align_corners=False)


def twice(x):
    """Nearest neighbours at twice the size, written out: torch-mlir does not convert the operator."""
    batch, channels, height, width = x.shape
    x = x[:, :, :, None, :, None].expand(batch, channels, height, 2, width, 2)
    return x.reshape(batch, channels, 2 * height, 2 * width)


class BoxesAndScores(nn.Module):
    """Boxes in pixels beside scores: of a layer each, concatenated, or of one layer whose channels slices separate."""

    def __init__(self, sliced: bool, boxes: int = 4, classes: int = 3, width: int = 16):
        super().__init__()
        self.boxes, self.sliced = boxes, sliced
        self.stem = convolution(3, width, 3, 2)
        heads = [boxes + classes] if sliced else [boxes, classes]
        self.heads = nn.ModuleList(nn.Conv2d(width, channels, 1) for channels in heads)
        with torch.no_grad():
            # Pixels of a picture of some hundred.
            self.heads[0].weight[:boxes] *= 50
            self.heads[0].bias[:boxes].uniform_(150, 450)

    def forward(self, x):
        x = self.stem(x)
        if self.sliced:
            flat = self.heads[0](x).flatten(2).transpose(1, 2)
            return flat[..., : self.boxes], torch.sigmoid(flat[..., self.boxes :])
        parts = torch.cat([self.heads[0](x), torch.sigmoid(self.heads[1](x))], 1)
        return parts.flatten(2).transpose(1, 2)


class Detector(nn.Module):
    """One-stage detector: split and merged blocks, pyramid pooling, two scales, boxes decoded in the network."""

    class Split(nn.Module):
        def __init__(self, width: int, blocks: int):
            super().__init__()
            half = width // 2
            self.entry = convolution(width, width, 1, activation=nn.SiLU)
            self.blocks = nn.ModuleList(
                nn.Sequential(convolution(half, half, activation=nn.SiLU), convolution(half, half, activation=nn.SiLU))
                for _ in range(blocks)
            )
            self.exit = convolution(half * (blocks + 2), width, 1, activation=nn.SiLU)

        def forward(self, x):
            parts = list(self.entry(x).chunk(2, 1))
            for block in self.blocks:
                parts.append(parts[-1] + block(parts[-1]))
            return self.exit(torch.cat(parts, 1))

    def __init__(self, size: int = 160, classes: int = 8, bins: int = 8):
        super().__init__()
        self.classes, self.bins = classes, bins
        silu = {"activation": nn.SiLU}
        stem = [convolution(3, 16, 3, 2, **silu), convolution(16, 32, 3, 2, **silu)]
        self.stem = nn.Sequential(*stem, self.Split(32, 1))
        self.stage1 = nn.Sequential(convolution(32, 64, 3, 2, **silu), self.Split(64, 2))
        self.stage2 = nn.Sequential(convolution(64, 128, 3, 2, **silu), self.Split(128, 1))
        self.pool = convolution(512, 128, 1, **silu)
        self.merge = nn.Sequential(convolution(192, 64, 1, **silu), self.Split(64, 1))
        outputs = 4 * bins + classes
        self.heads = nn.ModuleList([nn.Conv2d(64, outputs, 1), nn.Conv2d(128, outputs, 1)])
        grids, strides = [], []
        for stride in (8, 16):
            y, x = torch.meshgrid(torch.arange(size // stride), torch.arange(size // stride), indexing="ij")
            grids.append(torch.stack([x.flatten() + 0.5, y.flatten() + 0.5]) * stride)
            strides.append(torch.full((grids[-1].shape[1],), float(stride)))
        self.register_buffer("centers", torch.cat(grids, 1)[None])
        self.register_buffer("strides", torch.cat(strides))
        self.register_buffer("distances", torch.arange(bins).float().reshape(1, 1, bins, 1))

    def forward(self, image):
        fine = self.stage1(self.stem(image))
        pools = [self.stage2(fine)]
        for _ in range(3):
            pools.append(F.max_pool2d(pools[-1], 5, 1, 2))
        coarse = self.pool(torch.cat(pools, 1))
        fine = self.merge(torch.cat([twice(coarse), fine], 1))
        raw = torch.cat([head(level).flatten(2) for head, level in zip(self.heads, (fine, coarse), strict=True)], 2)
        boxes, scores = raw.split((4 * self.bins, self.classes), 1)
        boxes = boxes.reshape(len(boxes), 4, self.bins, -1).softmax(2)
        boxes = (boxes * self.distances).sum(2) * self.strides
        low, high = boxes.chunk(2, 1)
        return torch.cat([self.centers - low, self.centers + high], 1), scores.sigmoid()


class Recurrent(nn.Module):
    def __init__(self, cell, features: int = 20, width: int = 48, classes: int = 6):
        super().__init__()
        self.cell = cell(features, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, classes)

    def forward(self, sequence):
        return self.head(self.cell(sequence)[0][:, -1])


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, causal: bool):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.exit = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, mask=None):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).reshape(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5
        if self.causal:
            future = torch.ones(length, length, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(future, float("-inf"))
        if mask is not None:
            scores = scores + mask
        return self.exit((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width))


class Transformer(nn.Module):
    """Token classifier: BERT's order of norms, or GPT's with its tanh GELU and a mask of the future."""

    class Block(nn.Module):
        def __init__(self, width: int, heads: int, causal: bool):
            super().__init__()
            self.causal = causal
            self.attention = Attention(width, heads, causal)
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            gelu = nn.GELU("tanh") if causal else nn.GELU()
            self.layers = nn.Sequential(nn.Linear(width, 4 * width), gelu, nn.Linear(4 * width, width))

        def forward(self, x, mask):
            if self.causal:
                x = x + self.attention(self.norm1(x))
                return x + self.layers(self.norm2(x))
            x = self.norm1(x + self.attention(x, mask))
            return self.norm2(x + self.layers(x))

    def __init__(
        self, causal: bool, tokens: int = 512, length: int = 32, width: int = 128, depth: int = 4, heads: int = 4
    ):
        super().__init__()
        self.causal = causal
        self.words, self.places = nn.Embedding(tokens, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(self.Block(width, heads, causal) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, tokens if causal else 8)

    def forward(self, tokens):
        x = self.words(tokens) + self.places.weight
        mask = None
        if not self.causal:
            mask = (tokens == 0).to(x.dtype)[:, None, None, :] * -10000.0
        for block in self.blocks:
            x = block(x, mask)
        x = self.norm(x)
        return self.head(x if self.causal else x[:, 0])


class Encoder(nn.Module):
    """PyTorch's own encoder layers on frames of features."""

    def __init__(self, features: int = 40, width: int = 96):
        super().__init__()
        self.entry = nn.Linear(features, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.head = nn.Linear(width, 30)

    def forward(self, frames):
        return self.head(self.encoder(self.entry(frames))).log_softmax(-1)


class Waveform(nn.Module):
    """Convolutions along time on raw audio."""

    def __init__(self):
        super().__init__()
        widths = [(1, 32, 80, 16), (32, 32, 3, 1), (32, 64, 3, 1), (64, 128, 3, 1)]
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Conv1d(a, b, k, s, bias=False), nn.BatchNorm1d(b), nn.ReLU(), nn.MaxPool1d(4))
            for a, b, k, s in widths
        )
        self.head = nn.Linear(128, 35)

    def forward(self, wave):
        for layer in self.layers:
            wave = layer(wave)
        return self.head(wave.mean(-1)).log_softmax(-1)


class Separator(nn.Module):
    """Gated dilated convolutions between a learned transform of audio and its inverse, with a mask (as Conv-TasNet)."""

    def __init__(self, width: int = 64):
        super().__init__()
        self.encoder = nn.Conv1d(1, width, 16, 8, bias=False)
        self.norm = nn.GroupNorm(1, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv1d(width, 2 * width, 3, padding=d, dilation=d), nn.GLU(1), nn.GroupNorm(1, width))
            for d in (1, 2, 4, 8)
        )
        self.mask = nn.Conv1d(width, 2 * width, 1)
        self.decoder = nn.ConvTranspose1d(width, 1, 16, 8, bias=False)

    def forward(self, wave):
        features = F.relu(self.encoder(wave))
        x = self.norm(features)
        for block in self.blocks:
            x = x + block(x)
        masks = self.mask(x).sigmoid().chunk(2, 1)
        return tuple(self.decoder(features * mask) for mask in masks)


class Speech(nn.Module):
    """Text to waveform: embedding, convolutions with layer norms, upsampling by transposed convolutions."""

    def __init__(self, tokens: int = 64, width: int = 64):
        super().__init__()
        self.words = nn.Embedding(tokens, width)
        self.layers = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2) for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.repeat = 2
        rates = [(width, 32, 8), (32, 16, 4)]
        self.ups = nn.ModuleList(nn.ConvTranspose1d(a, b, 2 * r, r, r // 2) for a, b, r in rates)
        self.residual = nn.ModuleList(
            nn.ModuleList(nn.Conv1d(b, b, 3, padding=d, dilation=d) for d in (1, 3)) for _, b, _ in rates
        )
        self.exit = nn.Conv1d(16, 1, 7, padding=3)

    def forward(self, tokens):
        x = self.words(tokens)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = norm(x + F.relu(layer(x.transpose(1, 2)).transpose(1, 2)))
        x = x.repeat_interleave(self.repeat, 1).transpose(1, 2)
        for up, residual in zip(self.ups, self.residual, strict=True):
            x = up(F.leaky_relu(x, 0.1))
            for layer in residual:
                x = x + layer(F.leaky_relu(x, 0.1))
        return torch.tanh(self.exit(F.leaky_relu(x)))


class Landmarks(nn.Module):
    """Depthwise blocks with squeeze and excitation, several outputs of different ranges."""

    def __init__(self):
        super().__init__()
        hardswish = {"activation": nn.Hardswish}
        self.stem = convolution(3, 16, 3, 2, **hardswish)
        widths = [(16, 32), (32, 64), (64, 96)]
        self.depthwise = nn.ModuleList(convolution(a, a, 5, 2, groups=a, **hardswish) for a, _ in widths)
        self.squeeze = nn.ModuleList(
            nn.Sequential(nn.Conv2d(a, 8, 1), nn.ReLU(), nn.Conv2d(8, a, 1), nn.Hardsigmoid()) for a, _ in widths
        )
        self.pointwise = nn.ModuleList(convolution(a, b, 1, activation=None) for a, b in widths)
        self.points, self.presence = nn.Linear(96, 42), nn.Linear(96, 1)

    def forward(self, x):
        x = self.stem(x)
        for depthwise, squeeze, pointwise in zip(self.depthwise, self.squeeze, self.pointwise, strict=True):
            x = depthwise(x)
            x = pointwise(x * squeeze(F.adaptive_avg_pool2d(x, 1)))
        x = x.mean((2, 3))
        return 64 + 32 * self.points(x), self.presence(x).sigmoid()


def gpt2() -> nn.Module:
    """A decoder of GPT-2's size with a head of its own: 162 million parameters."""
    return Transformer(causal=True, tokens=50257, length=64, width=768, depth=12, heads=12)


def gpt2_tied() -> nn.Module:
    """The same whose head multiplies by its embedding: 124 million parameters."""
    network = gpt2()
    network.head.weight = network.words.weight
    return network


NETWORKS = {
    "resnet18": classifier("resnet18"),
    "mobilenet_v2": classifier("mobilenet_v2"),
    "mobilenet_v3_small": classifier("mobilenet_v3_small"),
    "mobilenet_v3_large": classifier("mobilenet_v3_large"),
    "efficientnet_b0": classifier("efficientnet_b0"),
    "mnasnet": classifier("mnasnet0_5"),
    "regnet": classifier("regnet_y_400mf"),
    "densenet121": classifier("densenet121"),
    "squeezenet": classifier("squeezenet1_1"),
    "shufflenet": classifier("shufflenet_v2_x1_0"),
    "convnext": classifier("convnext_tiny"),
    "swin_t": lambda: Swin("swin_t"),
    "vit_s": lambda: torchvision("models").VisionTransformer(224, 16, 12, 6, 384, 1536, num_classes=1000),
    "deeplab": lambda: Segmentation("deeplabv3_mobilenet_v3_large"),
    "lraspp": lambda: Segmentation("lraspp_mobilenet_v3_large"),
    "mixer": Mixer,
    "unet": UNet,
    "preactivation": PreActivation,
    "grouped": Grouped,
    "superresolution": SuperResolution,
    "detector": Detector,
    "boxes_scores": lambda: BoxesAndScores(sliced=False),
    "boxes_scores_sliced": lambda: BoxesAndScores(sliced=True),
    "landmarks": Landmarks,
    "resnet50": classifier("resnet50"),
    "vit_b": classifier("vit_b_16"),
    "gpt2": gpt2,
    "gpt2_tied": gpt2_tied,
    "bert_base": lambda: Transformer(causal=False, tokens=30522, length=64, width=768, depth=12, heads=12),
    "unet_wide": lambda: UNet(widths=(32, 64, 128, 256, 512)),
    "detector_640": lambda: Detector(size=640, classes=80, bins=16),
    "lstm": lambda: Recurrent(nn.LSTM),
    "gru": lambda: Recurrent(nn.GRU),
    "bert_mini": lambda: Transformer(causal=False),
    "gpt_mini": lambda: Transformer(causal=True),
    "encoder": Encoder,
    "waveform": Waveform,
    "separator": Separator,
    "speech": Speech,
}


def build(name: str, samples: list[torch.Tensor]) -> nn.Module:
    """The network in inference mode. `samples` are what its batch norms see."""
    torch.manual_seed(zlib.crc32(name.encode()))
    network = NETWORKS[name]().eval()
    norms = (nn.BatchNorm1d, nn.BatchNorm2d, nn.LayerNorm, nn.GroupNorm, nn.InstanceNorm2d)
    with torch.no_grad():
        for path, parameter in network.named_parameters():
            if path.endswith("layer_scale"):
                parameter.uniform_(0.1, 0.5)
            elif parameter.ndim > 1 and not parameter.any():
                nn.init.normal_(parameter, std=parameter.shape[-1] ** -0.5)
        for layer in network.modules():
            if isinstance(layer, norms) and layer.weight is not None:
                layer.weight.uniform_(0.6, 1.4)
                layer.bias.normal_(0, 0.2)
        batch_norms = [m for m in network.modules() if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d))]
        for norm in batch_norms:
            norm.reset_running_stats()
            norm.momentum = None  # the mean over all samples
            norm.train()
        if batch_norms:
            # In one batch: the variance of a pooled map of one sample is zero.
            network(torch.cat(samples))
        return network.eval()
