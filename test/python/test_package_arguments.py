# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments of public functions are one `mct.Error` that names the argument, before anything is written."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

DATA = measure.REPOSITORY / "test" / "data"
CALIBRATION = np.load(DATA / "digits_calib.npy")[:20]
TEST, LABELS = np.load(DATA / "digits_test.npy")[:50], np.load(DATA / "digits_test_labels.npy")[:50]
SCALE = mct.Preprocessing.of(1 / 16)


@pytest.fixture(scope="module")
def digits() -> Any:
    return mct.load(DATA / "digits.mlirbc")


@pytest.fixture(scope="module")
def quantized(digits: Any) -> Any:
    return quantize(digits)


def quantize(model: Any, data: Any = CALIBRATION, **options: Any) -> Any:
    return mct.quantize(model, "imx500", data, **{"preprocessing": SCALE, "effort": "fast", **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preprocessing": 3}, "preprocessing: expected an mct.Preprocessing or a dictionary, found 3"),
        (
            {"preprocessing": "imagenet"},
            "preprocessing: expected an mct.Preprocessing or",
        ),
        ({"config": {"a": 1}}, "config: expected an mct.QuantizationConfig, found {'a': 1}"),
        ({"weights": 10**30}, "weights: expected at most 4294967295, found 1000000000000000000000000000000"),
        ({"checkpoint": "a\0b"}, r"checkpoint: 'a\x00b' has the character NUL, which no path has"),
        ({"metric": "top10"}, "metric: 'top10' is 100 %: the result has 10 scores for each sample"),
        ({"preprocessing": None, "input_scale": 0}, "input_scale: a scale of 0 makes all samples equal"),
        ({"labels": LABELS}, "labels is for max-drop, which is not given"),
        ({"cost_table": "absent.json"}, "cost-table is for cycles, which nothing limits"),
        ({"shard": "3/2"}, "shard=3/2 says which of the samples these are"),
        ({"data": np.ma.masked_greater(CALIBRATION, 10)}, "sample 0: an array with masked values: fill them"),
    ],
)
def test_what_no_quantization_takes_is_refused(digits: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(mct.Error) as refused:
        quantize(digits, **options)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q: q.evaluate(TEST, reference="x"), "reference: expected a model (mct.load makes one), found 'x'"),
        (lambda q: q.evaluate(TEST, labels=LABELS, metrics="top1"), "there is no argument 'metrics'; did you mean"),
        (lambda q: q.evaluate(TEST, labels=LABELS > 3), "labels: expected integers, found bool"),
        (lambda q: q.run(TEST, batch_size=-1), "batch_size: expected a number that is not negative, found -1"),
        (lambda q: q.run(TEST, threads="2"), "threads: expected a whole number, found '2'"),
        (lambda q: q.run(TEST, max_memory="1M"), "max-memory is 1048576 bytes, and the process has "),
        (lambda q: q.report(data=TEST, effect_samples=-1), "effect_samples: expected a number that is not negative"),
        (lambda q: mct.Model.parse(None), "source: expected text or bytes, found None"),
        (lambda q: mct.load("a\0.mlir"), r"path: 'a\x00.mlir' has the character NUL"),
        (lambda q: mct.Preprocessing.of(0), "scale: a scale of 0 makes all samples equal"),
        (lambda q: mct.Preprocessing.of("255"), "scale: expected one finite number, or one for each channel"),
    ],
)  # fmt: skip
def test_what_no_function_takes_is_refused(quantized: Any, call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(mct.Error) as refused:
        call(quantized)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (None, "path: expected a path, found None"),
        ("a.onnx", "'a.onnx' would be a file of MLIR, which its name does not say"),
        ("a.TFLITE", "'a.TFLITE' would be a file of MLIR, which its name does not say"),
        ("a\0.mlirbc", r"path: 'a\x00.mlirbc' has the character NUL, which no path has"),
        ("\udcff.mlirbc", r"path: '\udcff.mlirbc' is not UTF-8"),
        ("absent/a.mlirbc", "cannot write 'absent/a.mlirbc': the folder is not there"),
    ],
)
def test_names_that_no_model_has_are_refused(
    quantized: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: Any, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(mct.Error) as refused:
        quantized.save(name)
    assert str(refused.value).startswith(message)
    assert not list(tmp_path.iterdir())


def test_more_samples_than_there_are_is_a_warning(digits: Any, caplog: pytest.LogCaptureFixture) -> None:
    quantize(digits, calibration_samples=10**6)
    assert "calibration_samples is 1000000, but there are 20 samples" in caplog.text
    caplog.clear()
    quantize(digits, calibration_samples=20)
    assert not caplog.records


def test_other_forms_of_the_same_arguments_are_taken(digits: Any, quantized: Any, tmp_path: Path) -> None:
    for same in (memoryview(CALIBRATION), np.ma.array(CALIBRATION)):
        assert quantize(digits, same).bytecode == quantized.bytecode
    quantized.evaluate(TEST, labels=LABELS, samples=np.int64(50), threads=np.uint8(1))
    mct.evaluation.execute(quantized, TEST, outputs=tmp_path / "one.npy", float_points="*/kernel_attr")
    assert len(np.load(tmp_path / "one.npy")) == len(TEST)


def test_a_mapped_file_that_was_truncated_is_an_error(digits: Any, tmp_path: Path) -> None:
    path = tmp_path / "samples.npy"
    np.save(path, np.zeros((1000, 8, 8, 1), np.uint8))
    mapped = np.load(path, mmap_mode="r")
    with open(path, "rb+") as file:
        file.truncate(mmap.PAGESIZE)
    with pytest.raises(mct.Error, match=r"a file of \d+ bytes is mapped as \d+ bytes: it was truncated"):
        quantize(digits, mapped[10:])


def test_names_in_errors_steer_no_terminal() -> None:
    error = mct.Error("no layer '\x1b[31mred\x9b'", "a\x1b]0;title\x07", ["one\ntwo\x1b[2J"])
    assert str(error) == r"a\x1b]0;title\x07: no layer '\x1b[31mred\x9b'" + "\nnote: one\ntwo" + r"\x1b[2J"
