# SPDX-License-Identifier: Apache-2.0
"""Shared by the import chains: seeded samples, and the folder in which a chain leaves its result.

A chain is a script that runs in the environment of its converter and shares no process with anything else: converters
abort, and their packages do not agree on versions. It writes into the folder given

    module.mlir     the network in TOSA, with a location for every op that names its layer
    input<i>.npy    samples of argument i, one behind the other along the first dimension
    output<i>.npy   what the network's own framework makes of them, result i, in the same way
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

# The first half calibrates, the second is what quantization is judged by.
SAMPLES = 16


def random(name: str) -> np.random.Generator:
    """A generator that depends on the network's name alone."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def resample(values: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bilinear enlargement of [h, w, c] to [height, width, c]."""
    for axis, size in ((0, height), (1, width)):
        position = np.linspace(0, values.shape[axis] - 1, size)
        low = np.minimum(position.astype(int), max(values.shape[axis] - 2, 0))
        high = np.minimum(low + 1, values.shape[axis] - 1)
        fraction = (position - low).reshape([-1 if axis == i else 1 for i in range(3)])
        values = values.take(low, axis) * (1 - fraction) + values.take(high, axis) * fraction
    return values


def image(generator: np.random.Generator, height: int, width: int, channels: int) -> np.ndarray:
    """[height, width, channels] in [0, 1]: smooth colours, a rectangle and an ellipse with sharp edges, some noise."""
    picture = sum(resample(generator.random((n, n, channels)), height, width) / n for n in (2, 4, 8, 16))
    rows, columns = np.mgrid[0:height, 0:width] / max(height, width)
    top, left, bottom, right = generator.random(4) * 0.6 + [0, 0, 0.3, 0.3]
    picture[(rows > top) & (rows < bottom) & (columns > left) & (columns < right)] = generator.random(channels)
    y, x, a, b = generator.random(4) * 0.4 + [0.3, 0.3, 0.1, 0.1]
    picture[((rows - y) / a) ** 2 + ((columns - x) / b) ** 2 < 1] += generator.normal(0, 0.5, channels)
    picture += generator.normal(0, 0.02, picture.shape)
    return (picture - picture.min()) / (picture.max() - picture.min())


def page(generator: np.random.Generator, height: int, width: int, channels: int) -> np.ndarray:
    """[height, width, channels] in [0, 1]: dark letters made of strokes, in lines on light paper, softened, noisy."""
    ink = np.zeros((height, width, 1))
    size = int(generator.integers(10, 20))
    for top in range(4, height - size, int(size * 1.6)):
        left = int(generator.integers(4, 20))
        while left < width - size and generator.random() > 0.02:
            if generator.random() < 0.85:
                for _ in range(3):
                    y, x = generator.integers(0, size, 2)
                    if generator.random() < 0.5:
                        ink[top + y : top + y + 2, left : left + size * 2 // 3] = 1
                    else:
                        ink[top : top + size, left + x * 2 // 3 : left + x * 2 // 3 + 2] = 1
            left += size * 4 // 5
    soft = (ink + np.roll(ink, 1, 0) + np.roll(ink, 1, 1)) / 3
    paper = generator.uniform(0.7, 1.0, channels)
    return np.clip(paper * (1 - 0.9 * soft) + generator.normal(0, 0.02, (height, width, channels)), 0, 1)


def audio(generator: np.random.Generator, length: int) -> np.ndarray:
    """[length] in [-1, 1]: gliding harmonics that swell and fade, and noise."""
    time = np.arange(length) / 16000
    pitch = generator.uniform(90, 300) * (1 + 0.2 * np.sin(2 * np.pi * generator.uniform(1, 4) * time))
    phase = 2 * np.pi * np.cumsum(pitch) / 16000
    voice = sum(generator.random() / k * np.sin(k * phase) for k in range(1, 12))
    envelope = 0.5 + 0.5 * np.sin(2 * np.pi * generator.uniform(0.5, 3) * time + generator.uniform(0, 6))
    wave = voice * envelope + generator.normal(0, 0.03, length)
    return wave / np.abs(wave).max() * generator.uniform(0.2, 0.9)


def one_sample(generator: np.random.Generator, shape: Sequence[int], dtype: np.dtype, spec: dict) -> np.ndarray:
    """A sample of an argument. `spec["kind"]` is

    image     NHWC or NCHW (`spec["layout"]`) from `low` to `high`, by default 0 to 1
    page      the same with lines of letters
    audio     the last dimension of more than one element is time
    spectrum  logarithms of energies, smooth along the last two dimensions, of mean 0 and deviation about 1
    tokens    integers below `high`
    text      bytes of printable lines, padded with `pad` from a random length on
    normal    of deviation `scale`, by default 1
    zeros     an initial state
    """
    kind = spec.get("kind", "normal")
    if kind in ("image", "page"):
        draw = image if kind == "image" else page
        low, high = spec.get("low", 0.0), spec.get("high", 1.0)
        nchw = spec.get("layout", "NHWC") == "NCHW"
        channels, height, width = shape[1:] if nchw else (shape[3], shape[1], shape[2])
        batch = [draw(generator, height, width, channels) for _ in range(shape[0])]
        values = low + (high - low) * np.stack(batch)
        values = values.transpose(0, 3, 1, 2) if nchw else values
    elif kind == "audio":
        values = audio(generator, int(np.prod(shape))).reshape(shape) * spec.get("scale", 1.0)
    elif kind == "spectrum":
        smooth = resample(generator.normal(size=(24, 12, 1)), shape[-2], shape[-1])[..., 0]
        values = smooth + generator.normal(0, 0.3, shape)
        values = spec.get("mean", 0.0) + spec.get("scale", 1.0) * values
    elif kind == "tokens":
        values = generator.integers(0, spec["high"], shape)
    elif kind == "text":
        words = [bytes(generator.integers(97, 123, generator.integers(1, 10)).tolist()) for _ in range(200)]
        text = b" ".join(words[i] for i in generator.integers(0, 200, int(np.prod(shape))))
        values = np.frombuffer(text[: int(np.prod(shape))], np.uint8).astype(np.int64)
        values[generator.integers(len(values) // 4, len(values)) :] = spec["pad"]
        values = values.reshape(shape)
    elif kind == "zeros":
        values = np.zeros(shape)
    else:
        values = generator.normal(0, spec.get("scale", 1.0), shape)
    return np.ascontiguousarray(values.astype(dtype))


def samples(name: str, arguments: Sequence[tuple[Sequence[int], np.dtype, dict]]) -> list[list[np.ndarray]]:
    """SAMPLES lists of one array for each argument, given as (shape, type, spec)."""
    generator = random(name)
    return [[one_sample(generator, *argument) for argument in arguments] for _ in range(SAMPLES)]


def save(folder: Path, stem: str, rows: Iterable[Sequence[np.ndarray]]) -> None:
    for index, column in enumerate(zip(*rows, strict=True)):
        np.save(folder / f"{stem}{index}.npy", np.concatenate([np.atleast_1d(array) for array in column]))


def record(
    folder: Path, inputs: list[list[np.ndarray]], reference: Callable[[list[np.ndarray]], Sequence[np.ndarray]]
) -> None:
    """Writes the samples and what `reference`, the framework, makes of each."""
    save(folder, "input", inputs)
    save(folder, "output", [reference(row) for row in inputs])
