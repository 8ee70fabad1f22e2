# SPDX-License-Identifier: Apache-2.0
"""Traces of models: what a model keeps, writes, and passes to a report."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

import report_minimal as documents  # noqa: E402

DIGITS = measure.DIGITS / "digits.mlirbc"
CALIBRATION, TEST = measure.DIGITS / "digits_calib.npy", measure.DIGITS / "digits_test.npy"
MCT_OPT = measure.REPOSITORY / "build" / "bin" / "mct-opt"


def quantize(data: Any, **options: Any) -> Any:
    preprocessing = mct.Preprocessing.of(0.0625)
    return mct.quantize(mct.load(DIGITS), target="imx500", data=data, preprocessing=preprocessing, **options)


def make_again(report: dict[str, Any], files: dict[str, Path], folder: Path) -> bytes:
    """The module that the command of a report makes; `files` take the places of its placeholders."""
    command = shlex.split(report["reproduce"])
    assert command[0] == "mct-opt"
    words = {**files, "QUANTIZED.mlirbc": folder / "again.mlirbc"}
    assert sorted(report["placeholders"]) == sorted(words)
    for word, path in words.items():
        command = [part.replace(word, str(path)) for part in command]
    subprocess.run([MCT_OPT, *command[1:]], check=True)
    return (folder / "again.mlirbc").read_bytes()


@pytest.mark.alternating
def test_a_quantized_model_tells_its_report_how_it_came_about(tmp_path: Path) -> None:
    quantized = quantize(np.load(CALIBRATION))
    report = quantized.report(data=np.load(TEST)[:20], effect_samples=5).document
    trace = json.loads(quantized.trace)
    assert report["calibration_digest"] == trace["calibration_digest"] != report["digest"]
    assert report["calibration_samples"] == 300
    assert {entry["pass"] for entry in report["passes"]} >= {"mct-calibrate", "mct-correct-bias", "mct-assign-names"}
    assert all(entry["decisions"] for entry in report["points"])
    assert make_again(report, {"SAMPLES.npy": CALIBRATION}, tmp_path) == quantized.bytecode


@pytest.mark.alternating
def test_files_that_are_kept_are_named_as_they_are(tmp_path: Path) -> None:
    quantized = quantize(CALIBRATION, shift_negative_ratio=0.0512345678)
    report = quantized.report(data=np.load(TEST)[:20], effect_samples=5).document
    assert str(CALIBRATION.absolute()) in report["reproduce"]
    # All digits of a number.
    assert "0.0512345678" in report["reproduce"]
    assert make_again(report, {}, tmp_path) == quantized.bytecode


@pytest.mark.alternating
def test_temporary_files_are_told_to_nobody(tmp_path: Path) -> None:
    rules = ['name "*" activation=8']
    named = tmp_path / "a name, with a comma.npy"
    shutil.copy(CALIBRATION, named)
    for data in (np.load(CALIBRATION), lambda: iter(np.load(CALIBRATION)), named):
        quantized = quantize(data, overrides=rules)
        trace = json.loads(quantized.trace)
        assert sorted(trace["placeholders"]) == ["OVERRIDES.rules", "SAMPLES.npy"]
        assert "/mct-" not in quantized.trace
        for text in (trace["asked"][-1], trace["pipelines"][-1]):
            assert "0:SAMPLES.npy" in text and "overrides=OVERRIDES.rules" in text


def test_remarks_go_to_nobody_who_has_not_asked(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        quantized = quantize(np.load(CALIBRATION))
    assert not caplog.records
    assert json.loads(quantized.trace)["records"]


@pytest.mark.alternating
def test_the_digest_does_not_depend_on_order_and_files(tmp_path: Path) -> None:
    samples = np.load(CALIBRATION)
    parts = [tmp_path / "a.npy", tmp_path / "b.npy"]
    for path, part in zip(parts, (samples[200:], samples[:200]), strict=True):
        np.save(path, part)
    traces = [json.loads(quantize(data).trace) for data in (samples, samples[::-1], parts, samples[:-1])]
    digests = [trace["calibration_digest"] for trace in traces]
    assert len(digests[0]) == 32
    assert digests[0] == digests[1] == digests[2] != digests[3]


@pytest.mark.alternating
def test_a_trace_is_saved_beside_the_model_and_read_again(tmp_path: Path) -> None:
    quantized = quantize(CALIBRATION)
    path, trace = tmp_path / "q.mlirbc", tmp_path / "q.json"
    quantized.save(path, trace=trace)
    assert trace.read_text() == quantized.trace
    loaded = mct.load(path)
    options = {"data": np.load(TEST)[:20], "reference": mct.load(DIGITS), "effect_samples": 5}
    assert loaded.report(**options).document["reproduce"] == ""
    reported = loaded.report(trace=trace, **options).document
    assert reported["reproduce"] == quantized.report(data=np.load(TEST)[:20], effect_samples=5).document["reproduce"]
    with pytest.raises(mct.Error, match="is the file of the model"):
        quantized.save(path, trace=path)
    for bad, why in ((tmp_path / "none" / "t.json", "the folder is not there"), (tmp_path, "it is a folder")):
        with pytest.raises(mct.Error, match=f"trace: cannot write '.*': {why}"):
            quantized.save(tmp_path / "other.mlirbc", trace=bad)
    assert not (tmp_path / "other.mlirbc").exists()
    with pytest.raises(mct.Error, match=r"cannot read '.*none.json': No such file"):
        loaded.report(trace=tmp_path / "none.json", **options)
    (tmp_path / "none.json").write_text("{}")
    with pytest.raises(mct.Error, match='the trace: expected an object with "format": "mct-trace"'):
        loaded.report(trace=tmp_path / "none.json", **options)


@pytest.mark.alternating
def test_the_console_command_is_what_makes_the_module_again(tmp_path: Path) -> None:
    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "mct", *map(str, words)], capture_output=True, text=True, cwd=tmp_path
        )

    quantize_words = ("quantize", DIGITS, "--target", "imx500", "--data", CALIBRATION, "--scale", "0.0625")
    assert run(*quantize_words, "--trace", "t.json", "-o", "q.mlirbc").returncode == 0
    before = (tmp_path / "q.mlirbc").read_bytes()
    made = run(
        *("report", "q.mlirbc", "--model", DIGITS, "--data", TEST, "--samples", "20", "--effect-samples", "5"),
        *("--trace", "t.json", "-o", "r.json"),
    )
    assert made.returncode == 0, made.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["placeholders"] == []
    command = shlex.split(report["reproduce"])
    assert command[0] == "mct" and "--trace" not in command
    (tmp_path / "q.mlirbc").unlink()
    assert run(*command[1:]).returncode == 0
    assert (tmp_path / "q.mlirbc").read_bytes() == before


@pytest.mark.alternating
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--trace", "q.mlirbc"), "--trace: 'q.mlirbc' is the output, too; give it a file of its own"),
        (("--trace=none/t.json",), "--trace: cannot write 'none/t.json': the folder is not there"),
    ],
)
def test_a_trace_that_cannot_be_written_is_refused_before_anything_runs(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "mct", "quantize", DIGITS, "--target", "imx500", "-o", "q.mlirbc", *words]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 1
    assert ran.stderr == f"error: {message}\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.alternating
def test_two_reports_are_compared_by_the_compiler() -> None:
    options = {"data": np.load(TEST)[:20], "effect_samples": 5}
    before = quantize(np.load(CALIBRATION)).report(**options)
    after = quantize(np.load(CALIBRATION), overrides=['name "*" weights=4']).report(**options)
    text = mct._native.compare_reports(before.json, after.json)
    assert text == mct._native.compare_reports(before.json, after.json)
    compared = json.loads(text)
    assert (compared["format"], compared["version"]) == ("mct-comparison", 1)
    assert compared["same_samples"] and compared["same_calibration"]
    assert compared["points_only_before"] == compared["points_only_after"] == []
    distance = next(change for change in compared["numbers"] if change["name"] == "distance")
    assert distance["difference"] == after.document["distance"] - before.document["distance"] > 0
    kernels = [point for point in compared["points"] if point["name"].endswith("/kernel_attr")]
    assert kernels
    for kernel in kernels:
        bits = next(change for change in kernel["numbers"] if change["name"] == "parameters.bits")
        assert (bits["before"], bits["after"]) == (8, 4)
        assert any(change["name"] == "parameters" for change in kernel["texts"])


@pytest.mark.parametrize("number", [0, 1])
def test_what_is_no_report_is_not_compared(number: int) -> None:
    texts = [json.dumps({"format": "mct-report", "version": 99})] * 2
    if number:
        texts[0] = documents.report([]).json
    with pytest.raises(mct.Error, match=f"the {('earlier', 'later')[number]} report: report has version 99"):
        mct._native.compare_reports(*texts)
