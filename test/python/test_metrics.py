# SPDX-License-Identifier: Apache-2.0
"""Metrics by name and as functions: of a network, beside its float one, and in reports."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

from mct import cli, evaluation  # noqa: E402

# Most of them run the pipeline.
pytestmark = pytest.mark.alternating

DATA = measure.REPOSITORY / "test" / "data"
DIGITS, TEST, LABELS = DATA / "digits.mlirbc", DATA / "digits_test.npy", DATA / "digits_test_labels.npy"


@pytest.fixture(scope="module")
def quantized() -> Any:
    return mct.quantize(
        mct.load(DIGITS),
        target="imx500",
        data=np.load(DATA / "digits_calib.npy"),
        preprocessing=mct.Preprocessing.of(0.0625),
        weights_error_method="no-clipping",
    )


def is_right(outputs: Any, labels: Any) -> Any:
    """1 for each sample whose label has the largest score."""
    return outputs.reshape(len(outputs), -1).argmax(axis=1) == labels.reshape(-1)


def margin(outputs: Any, labels: Any) -> Any:
    """The score of the label, above the mean of all."""
    rows = outputs.reshape(len(outputs), -1).astype(np.float64)
    return rows[np.arange(len(rows)), labels.reshape(-1)] - rows.mean(axis=1)


def test_a_function_says_what_the_metric_of_that_meaning_says(quantized: Any) -> None:
    found = quantized.evaluate(TEST, LABELS, metric="top1")
    own = quantized.evaluate(TEST, LABELS, metric=is_right).metric
    assert found.metric.value == found.top1 == quantized.evaluate(TEST, LABELS).top1
    assert (
        found.metric.reference
        == quantized.float_model.evaluate(TEST, LABELS, preprocessing=mct.Preprocessing.of(0.0625)).top1
    )
    assert found.metric.loss == pytest.approx(found.metric.reference - found.metric.value)
    assert found.metric.low < found.metric.value < found.metric.high
    assert found.metric.loss_low < found.metric.loss < found.metric.loss_high
    assert vars(own) == vars(found.metric) | {"name": "is_right"}
    assert f"top1       {100 * found.top1:.2f} % (95 %: " in str(found) and f"; the network {own.text}" in str(found)


TWO_RESULTS = """
func.func @main(%x: tensor<?x3xf32> loc("x")) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %0 = tosa.negate %x, %zero, %zero : (tensor<?x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x3xf32> loc("least")
  %1 = tosa.abs %x : (tensor<?x3xf32>) -> tensor<?x3xf32> loc("largest")
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xf32>
}
"""


def test_a_metric_is_about_the_result_that_it_names() -> None:
    zero = '  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>\n  %0 = tosa.negate'
    model = mct.Model.parse(TWO_RESULTS.replace("  %0 = tosa.negate", zero))
    rows = np.random.default_rng(0).uniform(0.1, 1, (30, 3)).astype(np.float32)
    least, largest = rows.argmin(axis=1), rows.argmax(axis=1)

    def value(metric: str, labels: Any) -> float:
        found: float = evaluation.evaluate(model, rows, labels, metric=metric).metric.value
        return found

    assert value("top1", least) == value("top1@least", least) == value("top1@0", least) == 1
    assert value("top1@largest", largest) == value("top1@1", largest) == 1 > value("top1@largest", least)
    # Labels by names of results.
    both = {"least": least, "largest": largest}
    assert value("top1@largest", both) == value("top1@least", both) == 1
    assert value("cosine@largest", {"largest": rows}) == pytest.approx(1)
    with pytest.raises(mct.Error, match="metric 'top1@middle': there is no result 'middle'; there are least, largest"):
        value("top1@middle", least)
    with pytest.raises(mct.Error, match="expected the name or the index of a result behind '@'"):
        value("top1@", least)
    with pytest.raises(mct.Error, match="labels: there are those of several results, by name: least, largest"):
        value("top1", both)
    with pytest.raises(mct.Error, match="labels: there are none of the result '1', by name: least, largest"):
        value("top1@1", both)


def test_metrics_of_numbers_are_those_of_numpy_for_any_number_of_threads(quantized: Any) -> None:
    data = np.load(TEST)[:40]
    outputs = quantized.run(data).astype(np.float64)
    wanted = np.random.default_rng(3).normal(size=outputs.shape)
    flat, labels = outputs.reshape(40, -1), wanted.reshape(40, -1)
    cosine = (flat * labels).sum(1) / np.sqrt((flat**2).sum(1) * (labels**2).sum(1))
    ratio = 10 * np.log10(36 / ((flat - labels) ** 2).mean(1))
    for name, expected in (("cosine", cosine), ("psnr:6", ratio)):
        found = [quantized.evaluate(data, wanted, metric=name, threads=threads).metric for threads in (1, 3)]
        assert found[0].value == pytest.approx(expected.mean(), rel=1e-6)
        assert found[0].low < found[0].value < found[0].high
        assert vars(found[0]) == vars(found[1])
        # The bootstrap interval reaches about two standard errors to each side.
        error = expected.std() / math.sqrt(40)
        assert found[0].high - found[0].low == pytest.approx(3.92 * error, rel=0.15)


def test_a_function_of_numbers_is_drawn_again_and_one_number_is_not(quantized: Any) -> None:
    each = quantized.evaluate(TEST, LABELS, metric=margin).metric
    assert each.unit == "number" and each.loss_low < each.loss < each.loss_high
    worse = quantized.evaluate(TEST, LABELS, metric=margin, higher_is_better=False).metric
    assert worse.loss == -each.loss and worse.value == each.value

    whole = quantized.evaluate(TEST, LABELS, metric=lambda outputs, labels: margin(outputs, labels).mean()).metric
    assert whole.value == pytest.approx(each.value) and whole.loss == pytest.approx(each.loss)
    assert math.isnan(whole.loss_low) and whole.text.endswith("; a number for all samples together has no interval")


def test_what_is_no_metric_is_refused(quantized: Any) -> None:
    def message(metric: Any, data: Any = TEST, labels: Any = LABELS) -> str:
        with pytest.raises(mct.Error) as error:
            quantized.evaluate(data, labels, metric=metric)
        return str(error.value)

    assert "there is no metric 'accuracy'; there are top1, " in message("accuracy")
    assert message(5) == "metric: expected a name of mct.evaluation.metrics(), or a function, found 5"
    assert "metric 'auc': it needs labels, which say what is right of each sample" in message("auc", labels=None)
    assert (
        "metric: expected one number, or an array of 900 numbers, one for each sample, from '<lambda>', found an array "
        "of shape (3,)"
    ).replace("900", str(len(np.load(TEST)))) == message(lambda *_: np.zeros(3))
    assert "from '<lambda>', found ['a']" in message(lambda *_: ["a"])
    answers = iter([0.5, is_right])
    mixed = message(lambda *given: answer(*given) if callable(answer := next(answers)) else answer)
    assert mixed == "metric: '<lambda>' returned one number for one network, and several for another one"
    once = message(is_right, (image for image in np.load(TEST)))
    assert once == "metric: a function sees the outputs of two networks; give samples that can be read twice"
    with pytest.raises(mct.Error, match="there is no metric 'best'"):
        mct.quantize(mct.load(DIGITS), target="imx500", data=np.load(TEST), metric="best")


def test_reports_judge_by_the_metric_of_the_quantization(quantized: Any, tmp_path: Path) -> None:
    named = mct.QuantizedModel(quantized.module, quantized.float_model, quantized.calibration, "top3")
    data, labels = np.load(TEST)[:200], np.load(LABELS)[:200]
    document = named.report(data=data, labels=labels, effect_samples=8).document
    found = named.evaluate(data, labels).metric
    assert document["judged_by"] == {"name": "top3", "unit": "share", "is_higher_better": True, "samples": 200}
    judged = document["simulated"]["judged"]
    assert judged["value"] == found.value and judged["loss"] == found.loss and judged["text"] == found.text
    assert document["floating"]["judged"]["value"] == found.reference
    assert document["verdict"].startswith(f"top3 is {judged['shown']} instead of ")
    assert f" in float: quantization {found.text}" in document["verdict"]

    report = quantized.report(data=data, labels=labels, effect_samples=8, metric=margin)
    expected = quantized.evaluate(data, labels, metric=margin).metric
    assert report.document["judged_by"]["name"] == "margin"
    assert report.document["simulated"]["judged"]["loss_high"] == expected.loss_high
    assert any(line.split()[:1] == ["margin"] for line in report.text().splitlines())
    assert json.dumps(expected.text) in report.html()


def test_a_quantized_network_keeps_its_metric() -> None:
    data = np.load(DATA / "digits_calib.npy")[:32]
    model = mct.quantize(
        mct.load(DIGITS), "imx500", data, preprocessing=mct.Preprocessing.of(0.0625), effort="fast", metric=is_right
    )
    assert model.metric is is_right
    assert model.evaluate(np.load(TEST)[:50], np.load(LABELS)[:50]).metric.name == "is_right"


def test_the_command_line_prints_metrics(
    quantized: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "q.mlirbc"
    quantized.save(path)
    samples = ["--data", str(TEST), "--labels", str(LABELS), "--metric", "top2", "--no-progress"]
    assert cli.main(["run", str(path), *samples, "--reference", str(DIGITS)]) == 0
    expected = quantized.evaluate(TEST, LABELS, metric="top2").metric
    assert f"top2       {expected}\n" in capsys.readouterr().out
    assert cli.main(["run", str(path), *samples, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metric"]["value"] == expected.value
    made = tmp_path / "report.json"
    report = ["report", str(path), "--model", str(DIGITS), *samples, "--effect-samples", "8", "--samples", "200"]
    assert cli.main([*report, "-o", str(made)]) == 0
    assert json.loads(made.read_text())["judged_by"]["name"] == "top2"
    capsys.readouterr()
    assert cli.main(["report", str(made), "--metric", "top2"]) == 1
    assert "--metric is about a model, and" in capsys.readouterr().err


def test_names_are_those_of_the_compiler() -> None:
    assert list(evaluation.metrics())[:3] == ["top1", "topK", "miou"]
