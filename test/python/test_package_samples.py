# SPDX-License-Identifier: Apache-2.0
"""Samples in every form that people have them in become the same files, or one error that names the first wrong one."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (cmake --build build --target python)")

from mct.preprocessing import Preprocessing  # noqa: E402
from mct.progress import Report, Reporter  # noqa: E402
from mct.samples import Input, spool  # noqa: E402

IMAGE = Input("image", (1, 4, 5, 3), np.dtype(np.float32))
STATE = Input("state", (1, 6), np.dtype(np.float32))
RANDOM = np.random.default_rng(3)
IMAGES = RANDOM.integers(0, 256, (9, 4, 5, 3), dtype=np.uint8)
STATES = RANDOM.normal(size=(9, 6)).astype(np.float32)


def contents(data: Any, *signature: Input, **options: Any) -> list[np.ndarray]:
    """Returns the concatenated contents of the files of each input."""
    with spool(data, signature, **options) as spooled:
        pairs = list(zip(spooled.inputs, spooled.paths, strict=True))
        found = [
            np.concatenate([np.load(path) for owner, path in pairs if owner == number])
            for number in range(len(signature))
        ]
        assert all(len(array) == spooled.count for array in found)
    assert not any(path.exists() for path in spooled.paths if path.name.startswith("input"))
    return found


class Loader:
    """As torch's: what was a tuple is a list."""

    def __iter__(self) -> Iterator[Any]:
        for first in range(0, 9, 4):
            yield [IMAGES[first : first + 4], np.arange(first, min(first + 4, 9))]


DataLoader = type("DataLoader", (Loader,), {})


class Indexed:
    """As a torch Dataset: no __iter__."""

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        if index >= 9:
            raise IndexError
        return IMAGES[index], index

    def __len__(self) -> int:
        return 9


class WithArray:
    """As anything that numpy understands."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return IMAGES


@pytest.mark.parametrize(
    "data",
    [
        IMAGES,
        WithArray(),
        list(IMAGES),
        [IMAGES[:2], IMAGES[2:]],
        IMAGES.transpose(0, 2, 1, 3).copy().transpose(0, 2, 1, 3),
        (image for image in IMAGES),
        lambda: (image for image in IMAGES),
        lambda: ([image[np.newaxis]] for image in IMAGES),
        ({"image": image} for image in IMAGES),
        {"image": IMAGES},
        ((image, label) for label, image in enumerate(IMAGES)),
        DataLoader(),
        Indexed(),
        [image.tolist() for image in IMAGES],
    ],
    ids=[
        "array", "__array__", "list", "batches", "strides", "generator", "factory", "representative data", "dicts",
        "dict", "tuples with labels", "DataLoader", "Dataset", "nested lists",
    ],
)  # fmt: skip
def test_one_input(data: Any) -> None:
    (found,) = contents(data, IMAGE)
    np.testing.assert_array_equal(found, IMAGES)


@pytest.mark.parametrize(
    "data",
    [
        [IMAGES, STATES],
        (IMAGES, STATES),
        {"state": STATES, "image": IMAGES},
        ([image, state] for image, state in zip(IMAGES, STATES, strict=True)),
        ({"image": image, "state": state} for image, state in zip(IMAGES, STATES, strict=True)),
        (((image, state), 1) for image, state in zip(IMAGES, STATES, strict=True)),
        ((image, state, 1) for image, state in zip(IMAGES, STATES, strict=True)),
        [[IMAGES[:5], STATES[:5]], [IMAGES[5:], STATES[5:]]],
    ],
    ids=["list", "tuple", "dict", "lists", "dicts", "pairs and labels", "labels", "batches"],
)
def test_several_inputs(data: Any) -> None:
    images, states = contents(data, IMAGE, STATE)
    np.testing.assert_array_equal(images, IMAGES)
    np.testing.assert_array_equal(states, STATES)


def test_torch_has_loaders_and_tensors() -> None:
    torch = pytest.importorskip("torch", reason='the extra "torch" is not installed (tools/dev/importers)')
    pixels, labels = torch.from_numpy(IMAGES), torch.arange(9)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(pixels, labels), batch_size=4)
    with spool(loader, [IMAGE]) as spooled:
        np.testing.assert_array_equal(np.load(spooled.paths[0]), IMAGES)
        assert spooled.labels is not None and spooled.labels.tolist() == list(range(9))
    for data in (pixels, pixels.float().requires_grad_(), pixels.bfloat16(), list(pixels), [[row] for row in pixels]):
        (found,) = contents(data, IMAGE)
        np.testing.assert_array_equal(found, IMAGES)


def test_labels_of_a_stream_are_kept() -> None:
    with spool(DataLoader(), [IMAGE]) as spooled:
        assert spooled.labels is not None and spooled.labels.tolist() == list(range(9))
    with spool(IMAGES, [IMAGE]) as spooled:
        assert spooled.labels is None


def test_files_are_read_where_they_are(tmp_path: Path) -> None:
    first, second = tmp_path / "a.npy", tmp_path / "b.npy"
    np.save(first, IMAGES[:4])
    np.save(second, IMAGES[4:])
    with spool([first, str(second)], [IMAGE]) as spooled:
        assert spooled.paths == [first, second] and spooled.count == 9
        assert spooled.arguments == [f"0:{first}", f"0:{second}"]
    assert first.exists() and second.exists()


def test_a_path_that_pipelines_cannot_spell_gets_another_name(tmp_path: Path) -> None:
    path = tmp_path / "a, b {c}.npy"
    np.save(path, IMAGES)
    with spool(path, [IMAGE]) as spooled:
        (found,) = spooled.paths
        assert "," not in str(found) and found.samefile(path)
    assert path.exists() and not found.exists()


@pytest.mark.parametrize("dtype", ["float64", ">f4", "int64", "bool"])
def test_types_that_the_passes_do_not_read_are_converted(tmp_path: Path, dtype: str) -> None:
    values = RANDOM.integers(0, 2, (9, 6)).astype(dtype)
    path = tmp_path / "values.npy"
    np.save(path, values)
    for data in (values, path, [path, path]):
        (found,) = contents(data, STATE)
        assert found.dtype.str in ("<f4", "<i4", "|u1")
        np.testing.assert_array_equal(found[:9], values)


def test_streams_stop_at_the_limit_and_are_not_read_on() -> None:
    taken = []

    def stream() -> Iterator[np.ndarray]:
        for index in range(0, 9, 2):
            taken.append(index)
            yield IMAGES[index : index + 2]

    (found,) = contents(stream, IMAGE, limit=3)
    np.testing.assert_array_equal(found, IMAGES[:3])
    assert taken == [0, 2]
    (found,) = contents(IMAGES, IMAGE, limit=3)
    np.testing.assert_array_equal(found, IMAGES[:3])


def test_how_far_it_is_can_be_seen() -> None:
    reports: list[Report] = []
    contents(list(IMAGES), IMAGE, report=Reporter(reports.append, interval=0))
    assert [(one.stage, one.done, one.total) for one in reports] == [("samples", n, 9) for n in range(1, 10)]
    reports.clear()
    contents((image for image in IMAGES), IMAGE, report=Reporter(reports.append, interval=0))
    assert [(one.done, one.total) for one in reports] == [(number, None) for number in range(1, 10)] + [(9, 9)]


def test_without_a_common_batch_a_sample_is_a_whole_argument() -> None:
    state = Input("state", (4, 6), np.dtype(np.float32))
    wide = RANDOM.normal(size=(9, 4, 6)).astype(np.float32)
    with spool(({"image": i, "state": s} for i, s in zip(IMAGES, wide, strict=True)), [IMAGE, state]) as spooled:
        assert spooled.count == 9
        assert np.load(spooled.paths[1]).shape == (36, 6)
    with spool([IMAGES, wide], [IMAGE, state]) as spooled:
        assert spooled.count == 9
    with pytest.raises(mct.Error, match=r"sample 0 of input 'state': expected shape 4x6, found 3x6"):
        contents([[IMAGES[0], wide[0, :3]]], IMAGE, state)


def test_scalars_are_read_from_vectors() -> None:
    scalar = Input("factor", (), np.dtype(np.float32))
    (found,) = contents([1.0, 2.5], scalar)
    assert found.tolist() == [1.0, 2.5]


def test_integers_keep_within_their_type() -> None:
    indices = Input("indices", (1, 2), np.dtype(np.int32))
    (found,) = contents(np.array([[1, 2], [3, 4]]), indices)
    assert found.dtype == np.int32
    with pytest.raises(mct.Error, match=r"sample 1 of input 'indices': expected values in \[-2147483648, 2147483647\]"):
        contents(np.array([[1, 2], [3, 1 << 40]]), indices)


def test_samples_have_the_axes_that_the_record_says() -> None:
    turned = Input("image", (1, 3, 4, 5), np.dtype(np.float32), Preprocessing(permutation=(2, 0, 1)))
    (found,) = contents(IMAGES, turned)
    np.testing.assert_array_equal(found, IMAGES)
    with pytest.raises(
        mct.Error, match="sample 0 of input 'image': expected shape 4x5x3, or Nx4x5x3 for a batch, found"
    ):
        contents(IMAGES.transpose(0, 3, 1, 2), turned)


def with_nan(index: int) -> np.ndarray:
    values = STATES.copy()
    values[index, 2] = np.nan
    return values


@pytest.mark.parametrize("form", [lambda a: a, list, lambda a: (x for x in a), lambda a: iter([a[:5], a[5:]])])
def test_the_first_wrong_sample_is_named(form: Any) -> None:
    with pytest.raises(mct.Error, match=r"^sample 7 of input 'state': expected finite values, found nan at \[2\]$"):
        contents(form(with_nan(7)), STATE)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([STATES[0], STATES[1, :5]], "sample 1 of input 'state': expected shape 6, or Nx6 for a batch, found 5"),
        ([STATES[0], STATES[1].astype("f8")], "sample 1 of input 'state': expected float32 elements as in the samples"),
        (STATES.astype(complex), "sample 0: expected numbers, found ndarray"),
        (["a", "b"], "'a': cannot be read as a .npy file"),
        ([["a"]], "sample 0: expected numbers, found str"),
        (3, "samples: expected an array, paths, an iterable or a function, found int"),
        (np.full((1, 6), 1e300), r"sample 0 of input 'state': expected finite values, found 1e\+300"),
        ([], "samples: expected at least one, found none$"),
        (STATES[:0], "samples: expected at least one, found none$"),
        (iter([]), "found none; a generator can be read once: give the function that makes it"),
        ([[STATES, STATES]], "sample 0: expected 1 arrays, one for each of 'state', found 2"),
        ({"other": STATES}, "sample 0: the network has no input 'other'; its inputs are 'state'"),
        ({"other": "a.npy"}, "the network has no input 'other'; its inputs are state"),
    ],
)
def test_what_is_wrong_is_one_error(data: Any, message: str) -> None:
    with pytest.raises(mct.Error, match=message):
        contents(data, STATE)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([IMAGES, STATES[:5]], "sample 5 of input 'state': expected 9 samples as for 'image', found 5"),
        ((image for image in IMAGES), "sample 0: the network has 2 inputs: 'image', 'state'; expected a list"),
        ({"image": IMAGES}, "the network has an input 'state', which is missing"),
        (["a.npy"], "name them in a dict of paths"),
    ],
)
def test_what_is_wrong_of_several_inputs_is_one_error(data: Any, message: str) -> None:
    with pytest.raises(mct.Error, match=message):
        contents(data, IMAGE, STATE)


def test_files_of_another_shape_are_refused_before_anything_runs(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", STATES[:, :5])
    with pytest.raises(
        mct.Error, match=r"x.npy': sample 0 of input 'state': expected shape 6, or Nx6 for a batch, found"
    ):
        contents(tmp_path / "x.npy", STATE)
    np.save(tmp_path / "y.npy", STATES[:4])
    np.save(tmp_path / "z.npy", IMAGES)
    with pytest.raises(mct.Error, match="samples: expected as many of every input, found 9 of 'image', 4 of 'state'"):
        contents({"image": tmp_path / "z.npy", "state": tmp_path / "y.npy"}, IMAGE, STATE)


def test_what_files_and_open_sizes_cannot_be_is_one_error(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", STATES)
    with pytest.raises(mct.Error, match=r"x\.npz': expected a \.npy file, found other contents"):
        contents(tmp_path / "x.npz", STATE)
    scalar = Input("factor", (), np.dtype(np.float32))
    with pytest.raises(
        mct.Error, match="sample 0 of input 'factor': expected a number, or a vector of them, found sha"
    ):
        contents(STATES, scalar)
    open_size = Input("x", (1, None), np.dtype(np.float32))
    with pytest.raises(mct.Error, match="sample 1 of input 'x': expected shape 6 as before, found 5"):
        contents([STATES[0], STATES[1, :5]], open_size)
    with pytest.raises(
        mct.Error, match="sample 0 of input 'x': expected elements that can be read as float16, found in"
    ):
        contents(np.zeros((1, 2), np.int32), Input("x", (1, 2), np.dtype(np.float16)))
    with pytest.raises(mct.Error, match="sample 0: expected numbers, found str"):
        contents([["a", "b"]], IMAGE, STATE)


def test_an_exhausted_generator_says_so() -> None:
    stream = (state for state in STATES)
    contents(stream, STATE)
    with pytest.raises(mct.Error, match="a generator can be read once: give the function that makes it"):
        contents(stream, STATE)


def test_nothing_is_left_of_what_went_wrong(tmp_path: Path) -> None:
    with pytest.raises(mct.Error):
        contents(list(with_nan(7)), STATE, directory=tmp_path)
    with pytest.raises(ZeroDivisionError):
        contents((1 / 0 for _ in range(3)), STATE, directory=tmp_path)
    assert not list(tmp_path.iterdir())


def test_memory_does_not_grow_with_the_number_of_samples() -> None:
    """2000 images and 20000: what Python holds differs by less than a tenth of the 157 MB more that the files have."""
    script = textwrap.dedent("""
        import resource, sys
        import numpy as np
        from mct.samples import Input, spool
        image = np.zeros((32, 32, 3), np.float32)
        signature = [Input("image", (1, 32, 32, 3), np.dtype(np.float32))]
        with spool((image for _ in range(int(sys.argv[1]))), signature) as spooled:
            assert spooled.count == int(sys.argv[1])
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    """)
    few, many = (
        int(subprocess.run([sys.executable, "-c", script, count], capture_output=True, text=True, check=True).stdout)
        for count in ("2000", "20000")
    )
    assert many - few < 15 * 1024


def test_quantizing_a_generator_of_20000_images_takes_the_memory_of_500() -> None:
    script = textwrap.dedent("""
        import resource, sys
        import numpy as np
        import mct
        model = mct.load(sys.argv[1])
        images = np.load(sys.argv[2])
        stream = (images[number % len(images)] for number in range(int(sys.argv[3])))
        mct.quantize(model, "imx500", stream, preprocessing=mct.Preprocessing.of(0.0625))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    """)
    data = measure.REPOSITORY / "test" / "data"
    few, many = (
        int(
            subprocess.check_output(
                [sys.executable, "-c", script, data / "digits.mlirbc", data / "digits_calib.npy", n]
            )
        )
        for n in ("500", "20000")
    )
    assert many - few < 30 * 1024


def test_bad_samples_quantize_nothing(tmp_path: Path) -> None:
    model = mct.load(measure.REPOSITORY / "test" / "data" / "digits.mlirbc")
    good = np.load(measure.REPOSITORY / "test" / "data" / "digits_calib.npy").astype(np.float32)
    bad = good.copy()
    bad[7, 3, 2, 0] = np.nan
    exhausted = iter(good)
    list(exhausted)
    for data, message in (
        (bad, r"^sample 7 of input '.*': expected finite values, found nan at \[3, 2, 0\]$"),
        (lambda: iter(bad), "^sample 7 of input"),
        (good[:, :7], "^sample 0 of input '.*': expected shape 8x8x1, or Nx8x8x1 for a batch, found 300x7x8x1$"),
        (exhausted, "a generator can be read once"),
    ):
        with pytest.raises(mct.Error, match=message):
            mct.quantize(model, "imx500", data, statistics_out=tmp_path / "statistics.json")
    assert not list(tmp_path.iterdir())


def test_scale_and_mean_are_two_ways_to_say_it() -> None:
    record = Preprocessing.of(1 / 255, mean=[10, 20, 30])
    assert record.scale == (1 / 255,)
    np.testing.assert_allclose(record.offset, [-10 / 255, -20 / 255, -30 / 255])
    assert Preprocessing.of([1, 2], mean=3).offset == (-3, -6)
    assert record.pass_pipeline("0").startswith(
        "mct-record-preprocessing{input=0 scale=0.00392156862745098 offset=-0.0"
    )
    assert Preprocessing().pass_pipeline() == "mct-record-preprocessing"
    assert not Preprocessing() and record
    with pytest.raises(ValueError, match="give one of them"):
        Preprocessing.of(1, 2, mean=3)
    with pytest.raises(ValueError, match="mean has 2 channels, scale 3"):
        Preprocessing.of([1, 2, 3], mean=[1, 2])
    assert Preprocessing.of(layout="NHWC") == Preprocessing(axis=1, permutation=(2, 0, 1))
    assert Preprocessing.of(layout="NCHW").sample_shape((4, 5, 3)) == (3, 4, 5)
    with pytest.raises(ValueError, match="layout: expected one of NHWC, NCHW, got 'HWC'"):
        Preprocessing.of(layout="HWC")
    with pytest.raises(ValueError, match="layout: give it, or axis and permutation"):
        Preprocessing.of(layout="NHWC", axis=1)
    with pytest.raises(ValueError, match="does not order the 2 dimensions of a sample"):
        Preprocessing(permutation=(0, 2)).sample_shape((4, 5))
    with pytest.raises(ValueError, match="scale: expected one finite number"):
        Preprocessing.of(float("nan"))


def test_an_input_is_what_the_signature_says() -> None:
    entry = {"name": "x", "type": "tensor<?x3x?xi8>", "scale": 0.5, "zero_point": 3, "bits": 8, "is_signed": True}
    found = Input.parse(entry | {"preprocessing": {"scale": [0.5], "axis": [1]}})
    assert found == Input("x", (None, 3, None), np.dtype("f4"), Preprocessing((0.5,), axis=1), np.dtype("i1"))
    assert Input.parse({"name": "y", "type": "tensor<f32>"}).shape == ()
    with pytest.raises(mct.Error, match="input 'z' has type tensor<1xbf16>, which no sample has"):
        Input.parse({"name": "z", "type": "tensor<1xbf16>"})
