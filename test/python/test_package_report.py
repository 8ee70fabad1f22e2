# SPDX-License-Identifier: Apache-2.0
"""Reports of the package: made, read and written."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

import report_minimal as documents  # noqa: E402
from mct.report.pictures import read_pictures  # noqa: E402

DIGITS = measure.DIGITS / "digits.mlirbc"
CALIBRATION, TEST = measure.DIGITS / "digits_calib.npy", measure.DIGITS / "digits_test.npy"
LABELS = measure.DIGITS / "digits_test_labels.npy"


def test_a_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = documents.report([documents.point("conv")], [documents.diagnosis("conv", "Clipped.")])
    made.save(tmp_path / "r.json")
    read = mct.report.load(tmp_path / "r.json")
    assert read.json == made.json == (tmp_path / "r.json").read_text()
    assert read.document["points"][0]["name"] == "conv"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "r.json': "),
        ("[]", """expected an object with "format": "mct-report\""""),
        (json.dumps({"format": "mct-report", "version": 99}), "report has version 99"),
        (json.dumps(documents.document([]) | {"samples": "many"}), "expected an integer"),
        (json.dumps(documents.document([]) | {"extra": 1}), "extra"),
    ],
)
def test_what_is_no_report_is_an_error_that_names_the_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(mct.Error) as raised:
        mct.report.load(tmp_path / "r.json")
    assert message in str(raised.value) and str(tmp_path / "r.json") in str(raised.value)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(mct.Error, match=r"cannot read '.*none.json': No such file"):
        mct.report.load(tmp_path / "none.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe")
    with pytest.raises(mct.Error, match=r"cannot read '.*binary.json': it is not text"):
        mct.report.load(tmp_path / "binary.json")


def test_the_schema_tells_what_keys_mean() -> None:
    points = mct.report.schema()["properties"]["points"]["items"]["properties"]
    assert points["effect"]["properties"]["gain"]["description"]


# ----------------------------------------------------------------------------------------------------------------------
# Made
# ----------------------------------------------------------------------------------------------------------------------

SCALE = mct.Preprocessing.of(1 / 16)


@pytest.fixture(scope="module")
def model() -> mct.Model:
    return mct.load(DIGITS)


@pytest.fixture(scope="module")
def quantized(model: mct.Model) -> mct.QuantizedModel:
    return mct.quantize(model, "imx500", CALIBRATION, preprocessing=SCALE, overrides=['name "*" weights=2'])


@pytest.fixture(scope="module")
def saved(quantized: mct.QuantizedModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "q.mlirbc"
    quantized.save(path)
    return path


def steady(text: str) -> dict[str, Any]:
    """Without what is another in each run, and without names of files."""
    another = ("seconds", "passes", "model", "reproduce", "placeholders")
    return {key: value for key, value in json.loads(text).items() if key not in another}


@pytest.mark.alternating
def test_samples_are_read_again_where_they_can_be(model: mct.Model, quantized: mct.QuantizedModel) -> None:
    pixels = np.load(CALIBRATION)
    expected = steady(quantized.report(data=CALIBRATION).json)
    assert expected["samples"] == len(pixels)

    def batches() -> Iterator[list[Any]]:
        yield from ([pixels[first : first + 100]] for first in range(0, len(pixels), 100))

    for data in (str(CALIBRATION), [CALIBRATION], pixels, list(pixels), batches, {"input": CALIBRATION}):
        again = mct.quantize(model, "imx500", data, preprocessing=SCALE, overrides=['name "*" weights=2'])
        assert steady(again.report().json) == expected, type(data)
    named = mct.quantize(
        model,
        "imx500",
        calibration_data=[str(CALIBRATION)],
        preprocessing=SCALE,
        overrides=['name "*" weights=2'],
    )
    assert steady(named.report().json) == expected


@pytest.mark.alternating
def test_as_many_samples_as_the_calibration_took(model: mct.Model) -> None:
    q = mct.quantize(model, "imx500", CALIBRATION, preprocessing=SCALE, calibration_samples=20)
    assert q.report().document["samples"] == 20
    assert q.report(samples=7).document["samples"] == 7
    assert q.report(data=TEST, samples=30, effect_samples=10).document["samples"] == 30


def test_samples_that_are_gone_have_to_be_given(model: mct.Model, saved: Path, tmp_path: Path) -> None:
    q = mct.quantize(model, "imx500", iter(np.load(CALIBRATION)), preprocessing=SCALE)
    for one, options in ((q, {}), (mct.load(saved), {"reference": model})):
        with pytest.raises(mct.Error, match="the samples are not known; give data="):
            one.report(tmp_path / "r.html", **options)
    assert q.report(data=TEST, samples=20).document["samples"] == 20
    with pytest.raises(mct.Error, match=r"the float model is not known; give it: reference=mct.load"):
        mct.load(saved).report(data=TEST)
    assert not list(tmp_path.iterdir())


def test_labels_are_those_that_are_given_or_that_the_data_has(quantized: mct.QuantizedModel, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (extra images)")
    labels = np.load(LABELS)[:40]
    for number, (pixels, label) in enumerate(zip(np.load(TEST)[:40], labels, strict=True)):
        (tmp_path / str(label)).mkdir(exist_ok=True)
        image.fromarray(pixels[..., 0]).save(tmp_path / str(label) / f"{number:02}.png")
    of_folders = quantized.report(data=mct.images(tmp_path))
    given = quantized.report(data=np.load(TEST)[:40], labels=labels)
    none = quantized.report(data=np.load(TEST)[:40])
    assert of_folders.document["simulated"]["top1"] == given.document["simulated"]["top1"] > 0.5
    assert of_folders.classes == tuple(sorted(map(str, set(labels.tolist()))))
    assert given.document["has_labels"] and not none.document["has_labels"]
    assert "top1" not in none.document["simulated"]


def test_a_damaged_sample_is_an_error_and_no_file(quantized: mct.QuantizedModel, tmp_path: Path) -> None:
    pixels = np.load(TEST)[:20].astype(np.float32)
    pixels[7, 1, 2, 0] = np.nan
    with pytest.raises(mct.Error, match=r"sample 7 of input 'input': expected finite values"):
        quantized.report(tmp_path / "r.html", data=pixels)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("r.txt", "cannot write a report to '.*r.txt'\nnote: its name must end in .html or .json"),
        ("none/r.html", "cannot write '.*none/r.html': the folder is not there"),
        ("folder.html", "cannot write '.*folder.html': it is a folder"),
    ],
)
def test_where_it_cannot_be_written_nothing_runs(
    quantized: mct.QuantizedModel, tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "folder.html").mkdir()

    def data() -> Any:
        raise AssertionError("samples were read")

    with pytest.raises(mct.Error, match=message):
        quantized.report(tmp_path / name, data=data)


def test_samples_in_place_of_a_path_are_an_error_that_says_so(quantized: mct.QuantizedModel) -> None:
    with pytest.raises(mct.Error, match=r"path: expected a path, found an array of uint8, 899x8x8x1"):
        quantized.report(np.load(TEST))


@pytest.mark.alternating
def test_the_file_is_that_of_its_name(quantized: mct.QuantizedModel, tmp_path: Path) -> None:
    made = quantized.report(tmp_path / "r.html", data=TEST, labels=LABELS, samples=100)
    assert (tmp_path / "r.html").read_text() == made.html()
    made.save(tmp_path / "r.JSON")
    assert (tmp_path / "r.JSON").read_text() == made.json
    assert made.html(tmp_path / "again.html") == (tmp_path / "again.html").read_text()


def test_ctrl_c_ends_it(quantized: mct.QuantizedModel) -> None:
    class Stop(Exception):
        pass

    def stop(report: Any) -> None:
        raise Stop

    with pytest.raises(Stop):
        quantized.report(data=TEST, progress=stop)


def test_numbers_are_those_of_the_tools(tools: Path, model: mct.Model, saved: Path, tmp_path: Path) -> None:
    made = mct.load(saved).report(data=TEST, labels=LABELS, reference=model)
    options = {"labels": LABELS, "compare": DIGITS}
    run = measure.run_json(saved, TEST, **options, report=tmp_path / "tool.json")
    document = made.document
    # To the last digit: of mct-run's own comparison, of the report that it writes, and of what stands in the page.
    assert (document["simulated"]["top1"], document["simulated"]["agreement"]) == (run["top1"], run["agreement"])
    compared = {point["name"]: [point[key] for key in ("sqnr_db", "cosine", "max_error")] for point in run["points"]}
    totals = {
        point["name"]: [point["total"][key] for key in ("sqnr", "cosine", "largest")]
        for point in document["points"]
        if point["name"] in compared
    }
    assert totals == compared and len(totals) > 5
    assert steady((tmp_path / "tool.json").read_text()) == steady(made.json)
    (inside,) = re.findall(r'<script type="application/json" id="report">(.*?)</script>', made.html(), re.DOTALL)
    assert json.loads(inside) == document


# ----------------------------------------------------------------------------------------------------------------------
# Pictures
# ----------------------------------------------------------------------------------------------------------------------


def pictures(data: Any, shape: tuple[int | None, ...], samples: list[int]) -> dict[int, Any]:
    spec = mct.samples.Input("x", shape, np.dtype(np.float32))
    with mct.samples.spool(data, [spec]) as spooled:
        return read_pictures(spooled, samples)


def test_pictures_are_stretched_together() -> None:
    samples = np.zeros((4, 2, 2, 1), np.uint8)
    samples[1, 0, 0], samples[2, 0, 0], samples[3] = 10, 20, 255
    found = pictures(samples, (None, 2, 2, 1), [1, 2])
    assert {number: picture.shape for number, picture in found.items()} == {1: (2, 2, 1), 2: (2, 2, 1)}
    # 10 of 20 is half of white; sample 3 is not shown and stretches nothing.
    assert found[1].dtype == np.uint8 and found[1].max() == 128 and found[2].max() == 255


def test_pictures_of_floats_with_channels_first() -> None:
    samples = np.linspace(-1, 1, 2 * 3 * 4 * 5).reshape(2, 3, 4, 5).astype(np.float32)
    (found,) = pictures(samples, (None, 3, 4, 5), [1]).values()
    assert found.shape == (4, 5, 3) and found[0, 0, 0] == 0 and found[-1, -1, -1] == 255


def test_pictures_of_several_files_are_counted_through(tmp_path: Path) -> None:
    for number in range(3):
        np.save(tmp_path / f"{number}.npy", np.arange(number * 8, number * 8 + 8, dtype=np.uint8).reshape(2, 2, 2, 1))
    files = [tmp_path / f"{number}.npy" for number in range(3)]
    found = pictures(files, (None, 2, 2, 1), [0, 3, 5])
    assert {number: int(picture[0, 0, 0]) for number, picture in found.items()} == {0: 0, 3: 133, 5: 222}


@pytest.mark.parametrize("shape", [(10,), (8, 8), (8, 8, 2), (1, 8, 1), (2, 3, 4, 3)])
def test_what_is_no_picture_has_none(shape: tuple[int, ...]) -> None:
    assert pictures(np.ones((2, *shape), np.float32), (None, *shape), [0]) == {}


def test_a_constant_picture_is_black() -> None:
    assert not pictures(np.full((2, 4, 4, 3), 7, np.uint8), (None, 4, 4, 3), [0])[0].any()


# ----------------------------------------------------------------------------------------------------------------------
# On the console
# ----------------------------------------------------------------------------------------------------------------------


def call(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mct", "report", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.alternating
def test_the_console_writes_what_python_writes(saved: Path, model: mct.Model, tmp_path: Path) -> None:
    common = (saved, "--model", DIGITS, "--data", TEST, "--labels", LABELS, "--samples", "100")
    finished = call(*common, "-o", tmp_path / "r.html", "-o", tmp_path / "r.json")
    written = f"{tmp_path / 'r.html'}\n{tmp_path / 'r.json'}\n"
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, written, "")
    expected = mct.load(saved).report(data=TEST, labels=LABELS, samples=100, reference=model)
    assert steady((tmp_path / "r.json").read_text()) == steady(expected.json)
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    # A report that is there is read, and without a file shown as text.
    finished = call(tmp_path / "r.json", "-o", tmp_path / "again.html")
    assert finished.returncode == 0 and (tmp_path / "again.html").read_text().startswith("<!doctype html>")
    finished = call(tmp_path / "r.json")
    assert finished.returncode == 0 and finished.stdout == mct.report.load(tmp_path / "r.json").text()


@pytest.mark.alternating
def test_options_of_the_console_change_the_report(saved: Path, tmp_path: Path) -> None:
    common = (saved, "--model", DIGITS, "--data", TEST, "-o", tmp_path / "r.json", "--samples", "50")

    def document(*arguments: object) -> Any:
        finished = call(*common, *arguments)
        assert finished.returncode == 0, finished.stderr
        return json.loads((tmp_path / "r.json").read_text())

    assert document()["effect_samples"] == 50
    assert document("--effect-samples", "20")["effect_samples"] == 20
    assert not document()["has_labels"] and document("--labels", LABELS)["has_labels"]


@pytest.mark.alternating
def test_against_an_earlier_report(model: mct.Model, quantized: mct.QuantizedModel, tmp_path: Path) -> None:
    better = mct.quantize(model, "imx500", CALIBRATION, preprocessing=SCALE)
    options = {"data": TEST, "labels": LABELS, "samples": 100}
    before, after = (q.report(tmp_path / f"{q is better}.json", **options) for q in (quantized, better))
    found = after.against(before)
    numbers = {entry["name"]: entry for entry in found.document["numbers"]}
    distance = numbers["distance"]
    assert distance["before"] == before.document["distance"] > distance["after"] == after.document["distance"]
    assert distance["difference"] == distance["after"] - distance["before"] and found.document["same_samples"]
    finished = call(tmp_path / "True.json", "--against", tmp_path / "False.json")
    assert finished.returncode == 0 and finished.stdout == found.text() == str(found)
    assert re.search(r"^ distance .* -0.0", found.text(), re.MULTILINE)
    finished = call(tmp_path / "True.json", "--against", tmp_path / "False.json", "-o", tmp_path / "change.html")
    assert finished.returncode == 0, finished.stderr
    page = (tmp_path / "change.html").read_text()
    (inside,) = re.findall(r'<script type="application/json" id="comparison">(.*?)</script>', page, re.DOTALL)
    assert json.loads(inside) == found.document
    found.save(tmp_path / "change.json")
    assert json.loads((tmp_path / "change.json").read_text()) == found.document
    assert found.html(tmp_path / "again.html") == (tmp_path / "again.html").read_text()
    assert repr(found).startswith("<Comparison of <Report of ")


@pytest.mark.alternating
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("r.json", "--against", "damaged.json"), "'damaged.json': "),
        (("q.mlirbc", "--data", TEST), "--model: expected the float model that this one was made of"),
        (("q.mlirbc", "--model", DIGITS), "--data: expected samples to run both models on"),
        (("r.json", "--data", TEST), "--data is about a model, and 'r.json' is a report that was made of one"),
        (("r.json", "--effect-samples", "3"), "--effect-samples is about a model"),
        (("none.json",), "cannot read 'none.json': No such file or directory"),
        (("damaged.json",), "'damaged.json': "),
        (("r.json", "-o", "r.pdf"), "cannot write a report to 'r.pdf'"),
        (("q.mlirbc", "--model", DIGITS, "--data", "none.npy"), "'none.npy': cannot be read"),
        (("q.mlirbc", "--model", DIGITS, "--data", TEST, "--labels", "none.npy"), "'none.npy': cannot be read"),
    ],
)
def test_what_is_wrong_is_one_error(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.mlirbc").write_bytes(saved.read_bytes())
    (tmp_path / "r.json").write_text(documents.report([]).json)
    (tmp_path / "damaged.json").write_text("{")
    before = sorted(tmp_path.iterdir())
    finished = call(*arguments)
    assert finished.returncode == 1 and finished.stdout == ""
    assert finished.stderr.startswith("error: ") and message in finished.stderr, finished.stderr
    assert sorted(tmp_path.iterdir()) == before
