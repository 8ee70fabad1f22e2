# SPDX-License-Identifier: Apache-2.0
"""Modules run from Python as mct-run runs them, on samples in any form, with what the module records of them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

from mct import evaluation  # noqa: E402
from mct.preprocessing import Preprocessing  # noqa: E402
from mct.progress import Report  # noqa: E402
from mct.samples import read_signature, recorded  # noqa: E402

# Most of them run the pipeline.
pytestmark = pytest.mark.alternating

DATA = measure.REPOSITORY / "test" / "data"
DIGITS = DATA / "digits.mlirbc"
TEST, LABELS = DATA / "digits_test.npy", DATA / "digits_test_labels.npy"
SCALE = Preprocessing.of(0.0625)


@pytest.fixture(scope="module")
def digits() -> Any:
    return mct.load(DIGITS)


@pytest.fixture(scope="module")
def quantized(digits: Any) -> Any:
    module, _ = recorded(digits.module, preprocessing=SCALE)
    return mct.Model(module.run(f"mct-ptq{{target=imx500 calibration-data={DATA / 'digits_calib.npy'}}}"))


def mct_run(tools: Path, *arguments: object) -> Any:
    command = [tools / "mct-run", DIGITS, f"--input={TEST}", "--json", *arguments]
    return json.loads(subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout)


def images() -> Iterator[np.ndarray]:
    yield from np.load(TEST)


@pytest.mark.parametrize("data", [TEST, np.load(TEST), images], ids=["file", "array", "generator"])
def test_outputs_are_the_bytes_of_mct_run(tools: Path, tmp_path: Path, digits: Any, data: Any) -> None:
    mct_run(tools, "--input-scale=0.0625", f"--output={tmp_path / 'told.npy'}")
    found = evaluation.run(digits, data, preprocessing=SCALE)
    assert found.tobytes() == np.load(tmp_path / "told.npy").tobytes()


def test_what_is_recorded_needs_not_be_told_again(tools: Path, tmp_path: Path, quantized: Any) -> None:
    path = tmp_path / "quantized.mlirbc"
    path.write_bytes(quantized.bytecode)
    command = [tools / "mct-run", path, f"--input={TEST}", f"--output={tmp_path / 'recorded.npy'}"]
    subprocess.run(command, check=True, capture_output=True)
    found = evaluation.run(quantized, TEST)
    assert found.tobytes() == np.load(tmp_path / "recorded.npy").tobytes()
    again = mct.load(path)
    assert read_signature(again.module)[0].preprocessing == SCALE
    assert evaluation.run(again, TEST).tobytes() == found.tobytes()
    # An argument takes precedence over the record.
    assert evaluation.run(quantized, TEST, preprocessing=Preprocessing.of(1)).tobytes() != found.tobytes()


def test_channels_last_for_a_network_that_has_them_first() -> None:
    network = mct.Model.parse("""
        func.func @main(%x: tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> {
          %0 = tosa.abs %x : (tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32>
          return %0 : tensor<1x3x2x4xf32>
        }""")
    pixels = np.arange(48, dtype=np.uint8).reshape(2, 2, 4, 3)
    module, signature = recorded(
        network.module, preprocessing=Preprocessing.of([1, 2, 3], mean=[10, 20, 30], layout="NHWC")
    )
    assert signature[0].row == (2, 4, 3)
    expected = np.abs((pixels.astype("f4") - [10, 20, 30]) * [1, 2, 3]).transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(evaluation.run(mct.Model(module), pixels), expected.astype("f4"))
    np.testing.assert_array_equal(evaluation.run(mct.Model(module), list(pixels)), expected.astype("f4"))


def test_several_outputs_are_a_tuple() -> None:
    network = mct.Model.parse("""
        func.func @main(%x: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
          %0 = tosa.abs %x : (tensor<1x2xf32>) -> tensor<1x2xf32>
          return %0, %x : tensor<1x2xf32>, tensor<1x2xf32>
        }""")
    samples = np.array([[1, -2], [-3, 4]], dtype=np.float32)
    absolute, same = evaluation.run(network, samples)
    np.testing.assert_array_equal(absolute, np.abs(samples))
    np.testing.assert_array_equal(same, samples)


def test_accuracy_is_that_of_mct_run(tools: Path, digits: Any) -> None:
    expected = mct_run(tools, "--input-scale=0.0625", f"--labels={LABELS}")["top1"]
    for labels in (LABELS, np.load(LABELS), np.load(LABELS).tolist()):
        found = evaluation.evaluate(digits, TEST, labels, preprocessing=SCALE)
        assert found.top1 == expected and found.samples == 899
    stream = zip(np.load(TEST), np.load(LABELS), strict=True)
    assert evaluation.evaluate(digits, stream, preprocessing=SCALE).top1 == expected
    assert f"top-1      {100 * expected:.2f} %" in str(found)


def test_comparison_is_that_of_mct_run(tools: Path, tmp_path: Path, digits: Any, quantized: Any) -> None:
    path = tmp_path / "quantized.mlirbc"
    path.write_bytes(quantized.bytecode)
    command = [tools / "mct-run", path, f"--input={TEST}", f"--compare={DIGITS}", "--sort=error"]
    text = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout
    found = evaluation.compare(quantized, TEST, digits).worst()
    lines = [line for line in text.splitlines() if not line.startswith(("seconds", "peak MB"))]
    assert [line for line in str(found).splitlines() if not line.startswith("seconds")][:2] == lines[:2]
    assert str(found).splitlines()[-len(found.points) :] == lines[-len(found.points) :]
    assert found.agreement is not None and found.agreement > 0.95
    sqnr = [point.sqnr_db for point in found.points]
    assert sqnr == sorted(sqnr) and len(sqnr) > 5


def test_integers_are_compared_exactly() -> None:
    pipeline = f"mct-ptq{{target=imx500_v1_pot calibration-data={DATA / 'digits_calib.npy'}}},mct-simulate-integers"
    module, _ = recorded(mct.load(DIGITS).module, preprocessing=SCALE)
    simulated = mct.Model(module.run(pipeline))
    integer = mct.Model(simulated.module.run("mct-lower-to-integer{io=integer}"))
    found = evaluation.compare(integer, TEST, simulated, exact=True, samples=20)
    assert found.samples == 20 and found.exact and not found.points
    assert sum(point.differing for point in found.exact) == 0
    assert str(found).splitlines()[-1].split()[:1] == ["total"]
    with pytest.raises(mct.Error, match="is an integer network; run that one"):
        evaluation.compare(simulated, TEST, integer)


def test_points_may_be_left_out(quantized: Any) -> None:
    plain = evaluation.run(quantized, TEST, samples=50)
    assert len(plain) == 50
    others = evaluation.run(quantized, TEST, samples=50, float_points=["*/kernel_attr"], batch_size=7, threads=1)
    assert plain.tobytes() != others.tobytes()
    with pytest.raises(mct.Error, match="no point is named 'nothing'"):
        evaluation.run(quantized, TEST, float_points=["nothing"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"function": "other"}, "'other'"),
        ({"max_memory": "1"}, "max-memory is 1 bytes, and the process has "),
        ({"labels": np.zeros(5, np.int64)}, "expected 899 labels, found 5"),
        ({"labels": np.zeros(899)}, "labels: expected integers, found float64"),
        ({"labels": "none.npy"}, "'none.npy': cannot be read as a .npy file"),
        ({"outputs": ["a.npy", "b.npy"]}, "expected 1 output files, one for each output, but got 2"),
        ({"preprocessing": Preprocessing.of([1, 2])}, "expected one value, or one for each of the 1 channels"),
        ({"preprocessing": {"sound": SCALE}}, "preprocessing: the network has no input 'sound'; its inputs are"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_one_error(
    digits: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(mct.Error, match=message):
        evaluation.execute(digits, TEST, **({"outputs": ["out.npy"]} | options))
    assert not list(tmp_path.iterdir())


def test_evaluation_needs_labels_or_a_reference(digits: Any, quantized: Any) -> None:
    with pytest.raises(mct.Error, match="labels: there are none"):
        evaluation.evaluate(digits, TEST)
    with pytest.raises(mct.Error, match="compare: the float model is not known"):
        evaluation.compare(quantized, TEST)
    assert evaluation.evaluate(quantized, TEST, reference=digits).agreement is not None


def test_a_callback_sees_samples_of_every_stage(digits: Any) -> None:
    reports: list[Report] = []
    stream = np.tile(np.load(TEST), (60, 1, 1, 1))
    evaluation.run(digits, lambda: iter(np.split(stream, 10)), progress=reports.append)
    stages = list(dict.fromkeys(report.stage for report in reports))
    assert stages == ["samples", "run"]
    assert reports[-1].total in (0, len(stream))
    assert any(0 < report.done <= len(stream) == report.total for report in reports if report.stage == "run")


def test_ctrl_c_in_a_callback_ends_a_run_at_once(digits: Any) -> None:
    stream = np.tile(np.load(TEST), (60, 1, 1, 1))

    def stop(report: Report) -> None:
        if report.stage == "run" and report.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluation.run(digits, stream, progress=stop)
