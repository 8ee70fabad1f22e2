# SPDX-License-Identifier: Apache-2.0
"""A folder of images as samples."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mct import _extras
from mct.errors import Error, describe
from mct.preprocessing import Numbers, Preprocessing
from mct.samples import IMAGE_SUFFIXES

if TYPE_CHECKING:
    from mct.samples import Input

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
_RESIZES = ("crop", "stretch", "pad")


@dataclass(frozen=True)
class Images:
    """Images as arrays of shape height x width x channels of uint8, read one at a time, each time anew."""

    files: tuple[Path, ...]
    # The class of each, where they lie in one folder for each class.
    labels: npt.NDArray[np.int64] | None
    classes: tuple[str, ...]
    # Height and width; None: those of the network.
    size: tuple[int, int] | None
    channels: int | None
    resize: str
    preprocessing: Preprocessing

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[npt.NDArray[np.uint8]]:
        if self.size is None:
            raise Error("images: the size is not known; give it: mct.images(folder, size=(224, 224))")
        for number in range(len(self.files)):
            yield self.read(number)

    def read(self, number: int) -> npt.NDArray[np.uint8]:
        try:
            from PIL import Image, ImageOps
        except ImportError as error:
            raise ImportError(f"reading images needs Pillow: {_extras.install_command('images')}") from error
        assert self.size
        height, width = self.size
        try:
            with Image.open(self.files[number]) as opened:
                image = ImageOps.exif_transpose(opened).convert(_MODES[self.channels or 3])
                if self.resize == "crop":
                    image = ImageOps.fit(image, (width, height), Image.Resampling.BILINEAR)
                elif self.resize == "pad":
                    image = ImageOps.pad(image, (width, height), Image.Resampling.BILINEAR)
                else:
                    image = image.resize((width, height), Image.Resampling.BILINEAR)
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            raise Error(f"sample {number}: '{self.files[number]}' cannot be read as an image: {error}") from error
        return np.asarray(image, dtype=np.uint8).reshape(height, width, self.channels or 3)

    def bind(self, spec: Input) -> Images:
        """Returns the folder with the size, channels and axis order of an input of a network."""
        row = spec.shape[1:]
        if len(row) != 3:
            raise Error(f"images: input '{spec.name}' of shape {spec.shape} takes no images")
        first = row[0] in _MODES and row[2] not in _MODES
        if first and not self.preprocessing.permutation:
            order = replace(self.preprocessing, axis=1, permutation=(2, 0, 1))
        else:
            order = self.preprocessing
        height, width, channels = (row[1], row[2], row[0]) if first else row
        if channels not in _MODES:
            raise Error(f"images: expected an input with 1, 3 or 4 channels, found {spec.shape} of '{spec.name}'")
        size = self.size
        if size is None:
            if height is None or width is None:
                raise Error(
                    f"images: input '{spec.name}' has no fixed size; give it: mct.images(folder, size=(224, 224))"
                )
            size = height, width
        return replace(self, size=size, channels=channels, preprocessing=order)


def _find(folder: str | os.PathLike[str]) -> list[Path]:
    root = Path(folder)
    if not root.is_dir():
        raise Error(f"images: '{root}' is not a folder")
    files = sorted(path for path in root.rglob("*") if path.suffix.lower() in IMAGE_SUFFIXES and path.is_file())
    if not files:
        raise Error(f"images: no images below '{root}' (looked for {', '.join(sorted(IMAGE_SUFFIXES))})")
    return files


def images(
    folder: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    size: int | tuple[int, int] | None = None,
    mean: Numbers | None = None,
    scale: Numbers | None = None,
    *,
    resize: str = "crop",
    limit: int | None = None,
) -> Images:
    """The images of a folder and those in it, by name, as samples of a network that reads `(pixel - mean) * scale`.

    folder: its path, or the paths of images, which keep their order.
    size:   height and width, or one number for both; default: those of the network's input.
    mean, scale: one number, or one for each channel, of pixels 0 to 255; recorded in the module, not applied here.
    resize: `crop` fills the size and cuts what sticks out, `pad` shows all of it on black, `stretch` does neither.
    limit:  takes so many of them, evenly spread.

    Where every image lies in a folder of its own class, `labels` are the numbers of these folders, sorted by name.
    Needs Pillow (`pip install "mct-mlir[images]"`). Raises mct.Error for a folder without images.
    """
    if resize not in _RESIZES:
        raise ValueError(f"resize: expected one of {', '.join(_RESIZES)}, got {describe(resize)}")
    if limit is not None and limit < 1:
        raise ValueError(f"limit: expected at least 1, got {limit}")
    root: Path | None = None
    if isinstance(folder, (str, os.PathLike)):
        root, files = Path(folder), _find(folder)
    else:
        files = [Path(path) for path in folder]
    if not files:
        raise Error("images: expected at least one path, found none")
    if limit is not None and limit < len(files):
        files = [files[i * len(files) // limit] for i in range(limit)]
    classes: tuple[str, ...] = ()
    labels: npt.NDArray[Any] | None = None
    if root is not None and all(path.parent != root for path in files):
        classes = tuple(sorted({path.relative_to(root).parts[0] for path in files}))
        labels = np.array([classes.index(path.relative_to(root).parts[0]) for path in files], dtype=np.int64)
    pair = (size, size) if isinstance(size, int) else size
    if pair is not None and (len(pair) != 2 or min(pair) < 1):
        raise ValueError(f"size: expected height and width, got {describe(size)}")
    return Images(tuple(files), labels, classes, pair, None, resize, Preprocessing.of(scale, mean=mean))
