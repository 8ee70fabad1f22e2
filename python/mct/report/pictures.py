# SPDX-License-Identifier: Apache-2.0
"""Samples as pictures, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mct.samples import Array, Spooled


def _channels_last(sample: Array) -> Array | None:
    """Height x width x 1 or 3; none for other samples."""
    if sample.shape[2] not in (1, 3) and sample.shape[0] in (1, 3):
        sample = np.moveaxis(sample, 0, 2)
    return sample if sample.shape[2] in (1, 3) and min(sample.shape[:2]) > 1 else None


def read_pictures(spooled: Spooled, samples: Sequence[int]) -> dict[int, Array]:
    """Some samples by their index, as uint8 of height x width x channels: of the first input that holds images of 1 or
    3 channels. The smallest of all their values is black, the largest white, whatever the network makes of them."""
    for number, spec in enumerate(spooled.signature):
        paths = [path for path, owner in zip(spooled.paths, spooled.inputs, strict=True) if owner == number]
        arrays = [np.load(path, mmap_mode="r", allow_pickle=False) for path in paths]
        arrays = [array if array.ndim == len(spec.shape) else array[np.newaxis] for array in arrays]
        # If a sample is several rows, it is not known which one is the picture.
        if len(spec.shape) != 4 or sum(map(len, arrays)) != spooled.count:
            continue
        found: dict[int, Array] = {}
        first = 0
        for array in arrays:
            for sample in (sample for sample in samples if first <= sample < first + len(array)):
                picture = _channels_last(array[sample - first])
                if picture is not None:
                    found[sample] = picture
            first += len(array)
        if found:
            low = min(float(picture.min()) for picture in found.values())
            high = max(float(picture.max()) for picture in found.values())
            scale = 255 / (high - low) if high > low else 0.0
            return {
                sample: np.round((picture.astype(np.float64) - low) * scale).astype(np.uint8)
                for sample, picture in sorted(found.items())
            }
    return {}
