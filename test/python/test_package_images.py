# SPDX-License-Identifier: Apache-2.0
"""A folder of images becomes samples: sizes, channels, classes, and what the network does with pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (cmake --build build --target python)")
Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (extra images)")

from mct.image_folder import images  # noqa: E402
from mct.preprocessing import Preprocessing  # noqa: E402
from mct.samples import Input, preprocessing_of, spool  # noqa: E402

NHWC = Input("image", (1, 4, 6, 3), np.dtype(np.float32))
NCHW = Input("image", (1, 3, 4, 6), np.dtype(np.float32))
GRAY = Input("image", (1, 4, 6, 1), np.dtype(np.float32))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two classes, 3 images: left half red, right half blue, 12 wide and 4 high; a text file beside them."""
    pixels = np.zeros((4, 12, 3), np.uint8)
    pixels[:, :6] = [255, 0, 0]
    pixels[:, 6:] = [0, 0, 255]
    for name in ("cats/b.png", "cats/a.PNG", "dogs/c.bmp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(tmp_path / name)
    (tmp_path / "cats" / "notes.txt").write_text("no image")
    return tmp_path


def read(data: object, spec: Input) -> np.ndarray:
    with spool(data, [spec]) as spooled:
        return np.load(spooled.paths[0])


def test_sizes_are_those_of_the_network(folder: Path) -> None:
    found = read(images(folder), NHWC)
    assert found.shape == (3, 4, 6, 3) and found.dtype == np.uint8
    assert len(images(folder)) == 3


def test_cropping_stretching_and_padding_differ(folder: Path) -> None:
    cropped = read(images(folder), NHWC)[0]
    # The middle of the picture: three columns of each half.
    assert cropped[0, 0].tolist() == [255, 0, 0] and cropped[3, 5].tolist() == [0, 0, 255]
    padded = read(images(folder, resize="pad"), NHWC)[0]
    # Twice as wide as the network's: half as high, between two black rows.
    assert not padded[0].any() and not padded[3].any() and padded[1, 0].tolist() == [255, 0, 0]
    stretched = read(images(folder, resize="stretch"), NHWC)[0]
    assert stretched[0, 0].tolist() == [255, 0, 0] and not np.array_equal(stretched, padded)
    wide = read(images(folder, size=(4, 12)), Input("image", (1, 4, 12, 3), np.dtype(np.float32)))[0]
    assert wide[0, 5].tolist() == [255, 0, 0] and wide[0, 6].tolist() == [0, 0, 255]


def test_one_channel_is_gray(folder: Path) -> None:
    found = read(images(folder), GRAY)
    # ITU-R 601: 299/1000 of red, 114/1000 of blue.
    assert found.shape == (3, 4, 6, 1) and found[0, 0, 0, 0] == 76 and found[0, 0, 5, 0] == 29


def test_channels_first_is_for_the_record(folder: Path) -> None:
    data = images(folder, mean=[1, 2, 3], scale=0.5)
    assert preprocessing_of(data, [NHWC]) == Preprocessing((0.5,), (-0.5, -1, -1.5))
    record = preprocessing_of(data, [NCHW])
    assert record == Preprocessing((0.5,), (-0.5, -1, -1.5), axis=1, permutation=(2, 0, 1))
    recorded = Input(NCHW.name, NCHW.shape, NCHW.dtype, record)
    assert read(data, recorded).shape == (3, 4, 6, 3)


def test_folders_are_classes(folder: Path) -> None:
    data = images(folder)
    assert data.classes == ("cats", "dogs") and data.labels is not None and data.labels.tolist() == [0, 0, 1]
    assert [path.name for path in data.files] == ["a.PNG", "b.png", "c.bmp"]
    assert images(folder / "cats").labels is None


def test_a_limit_takes_images_from_everywhere(folder: Path) -> None:
    assert [path.name for path in images(folder, limit=2).files] == ["a.PNG", "b.png"]
    assert images(folder, limit=7).labels is not None and len(images(folder, limit=7)) == 3


def test_what_is_no_image_is_one_error(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (folder / "cats" / "ab.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    with pytest.raises(mct.Error, match=r"sample 1: '.*ab.png' cannot be read as an image"):
        read(images(folder), NHWC)
    with pytest.raises(mct.Error, match="images: no images below"):
        images(tmp_path_factory.mktemp("empty"))
    with pytest.raises(mct.Error, match="images: 'nowhere' is not a folder"):
        images("nowhere")


def test_what_cannot_be_is_refused(folder: Path) -> None:
    for options, message in (
        ({"resize": "fit"}, "resize: expected one of crop, stretch, pad, got 'fit'"),
        ({"limit": 0}, "limit: expected at least 1, got 0"),
        ({"size": (4, 5, 6)}, "size: expected height and width, got"),
        ({"scale": [1, 2], "mean": [1, 2, 3]}, "mean has 3 channels, scale 2"),
    ):
        with pytest.raises(ValueError, match=message):
            images(folder, **options)
    with pytest.raises(mct.Error, match="images: the size is not known; give it"):
        next(iter(images(folder)))
    with pytest.raises(mct.Error, match=r"images: input 'x' of shape \(1, 3\) takes no images"):
        read(images(folder), Input("x", (1, 3), np.dtype(np.float32)))
    with pytest.raises(mct.Error, match="expected an input with 1, 3 or 4 channels, found"):
        read(images(folder), Input("x", (1, 5, 5, 7), np.dtype(np.float32)))
    with pytest.raises(mct.Error, match="images: input 'x' has no fixed size; give it"):
        read(images(folder), Input("x", (1, None, None, 3), np.dtype(np.float32)))
