# SPDX-License-Identifier: Apache-2.0
"""Discs, squares and triangles on textured backgrounds: what the networks of shapes are trained with, and judged by.

Images are made when they are needed, by numpy alone. The same seed gives the same images, so that none is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

SIZE = 64
CLASSES = ("disc", "square", "triangle")
MOST_SHAPES = 4
SMALLEST, LARGEST = 5.0, 13.0  # radii in pixels; those of the circle around it for what has corners

# Centers of the pixels, x first.
POINTS = np.stack(np.meshgrid(np.arange(SIZE) + 0.5, np.arange(SIZE) + 0.5), -1)

# Seeds of the images that networks learn from, are calibrated with, and are judged by.
TRAINING, CALIBRATION, TEST = 1, 2, 3

# Boxes that may be found, and how far those of one class may overlap.
LEAST_SCORE, MOST_OVERLAP = 0.01, 0.5


class Scenes(NamedTuple):
    """Images with what is on them.

    images:  [n, 3, 64, 64] in 0..1.
    boxes:   [n, 4, 5] as left, top, right, bottom and class, which is negative in rows without a shape.
    classes: [n, 64, 64], a number for each pixel: 0 is the background.
    """

    images: np.ndarray
    boxes: np.ndarray
    classes: np.ndarray


def scenes(count: int, seed: int) -> Scenes:
    random = np.random.default_rng(seed)
    made = [_scene(random) for _ in range(count)]
    return Scenes(*(np.stack(part) for part in zip(*made, strict=True)))


def _scene(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    image = _texture(random, random.uniform(0.15, 0.85, 3), random.uniform(0.05, 0.2))
    classes = np.zeros((SIZE, SIZE), np.uint8)
    boxes = np.full((MOST_SHAPES, 5), -1, np.float32)
    wanted, found = random.integers(1, MOST_SHAPES + 1), 0
    for _ in range(4 * MOST_SHAPES):
        label, radius = int(random.integers(len(CLASSES))), random.uniform(SMALLEST, LARGEST)
        center = random.uniform(radius, SIZE - radius, 2)
        coverage, box = _shape(label, center, radius, random.uniform(0, 2 * np.pi))
        if found == wanted or (overlaps(box[None], boxes[:found, :4]) > 0.02).any():
            continue
        # A colour that differs from what is below it, or the shape could not be seen.
        ground = (image * coverage).sum((1, 2)) / coverage.sum()
        color = random.uniform(0.05, 0.95, 3)
        if np.abs(color - ground).max() < 0.25:
            continue
        image = image * (1 - coverage) + coverage * _texture(random, color, random.uniform(0, 0.1))
        classes[coverage > 0.5] = label + 1
        boxes[found] = *box, label
        found += 1
    image += random.normal(0, 0.03, image.shape)
    # Eight bits, as a camera has them.
    return (np.rint(np.clip(image, 0, 1) * 255) / 255).astype(np.float32), boxes, classes


def _texture(random: np.random.Generator, color: np.ndarray, strength: float) -> np.ndarray:
    """Four waves of random directions and lengths around a colour."""
    angle, length, phase = random.uniform(0, np.pi, 4), random.uniform(4, 40, 4), random.uniform(0, 2 * np.pi, 4)
    along = 2 * np.pi * np.arange(SIZE)[:, None] / length
    x, y = along * np.cos(angle) + phase, along * np.sin(angle)
    # The sine of x + y, from those of x and of y.
    rows, columns = np.concatenate([np.cos(y), np.sin(y)], 1), np.concatenate([np.sin(x), np.cos(x)], 1)
    heights = np.tile(random.uniform(-strength, strength, (3, 1, 4)), 2)
    return color[:, None, None] + (rows * heights) @ columns.T


def _shape(label: int, center: np.ndarray, radius: float, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """How much of each pixel is covered, and the box around it."""
    if CLASSES[label] == "disc":
        inside = radius - np.linalg.norm(POINTS - center, axis=-1)
        box = np.concatenate([center - radius, center + radius])
    else:
        corners = {"square": 4, "triangle": 3}[CLASSES[label]]
        turns = angle + 2 * np.pi / corners * np.arange(corners)
        outline = center + radius * np.stack([np.cos(turns), np.sin(turns)], -1)
        normals = np.stack([np.cos(turns + np.pi / corners), np.sin(turns + np.pi / corners)], -1)
        inside = np.min([(start - POINTS) @ normal for start, normal in zip(outline, normals, strict=True)], 0)
        box = np.concatenate([outline.min(0), outline.max(0)])
    return np.clip(inside + 0.5, 0, 1), box


def overlaps(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union of each box [n, 4] with each other one [m, 4]."""
    one, other = boxes[:, None], others[None]
    sides = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
    common = np.maximum(sides, 0).prod(-1)
    areas = [(part[..., 2:] - part[..., :2]).prod(-1) for part in (one, other)]
    return common / np.maximum(sum(areas) - common, 1e-6)


def detections(outputs: Any) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Boxes, scores and classes for each image of what the detector returns, for `mct.detection.AveragePrecision`.

    Rows are center, width and height in pixels and a score for each class, [images, cells, 4 + classes]; of boxes of a
    class that overlap only the one with the largest score is left.
    """
    for rows in np.asarray(outputs):
        edges = np.concatenate([rows[:, :2] - rows[:, 2:4] / 2, rows[:, :2] + rows[:, 2:4] / 2], 1)
        overlapping = overlaps(edges, edges) > MOST_OVERLAP
        chosen: list[tuple[int, int]] = []
        for label, scores in enumerate(rows[:, 4:].T):
            left = scores >= LEAST_SCORE
            for cell in np.argsort(-scores, kind="stable")[: left.sum()]:
                if left[cell]:
                    chosen.append((cell, label))
                    left &= ~overlapping[cell]
        cells, labels = np.array(chosen, int).reshape(-1, 2).T
        yield edges[cells], rows[cells, 4 + labels], labels
