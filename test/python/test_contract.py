# SPDX-License-Identifier: Apache-2.0
"""Bit widths by the drop of a metric, as people call them in Python."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import mct
import measure
import numpy as np
import pytest
from mct import cli

jsonschema = pytest.importorskip("jsonschema")

SCHEMA = measure.REPOSITORY / "docs" / "reference" / "schemas" / "bit-widths.json"
DATA = measure.DIGITS
TEST, LABELS = np.load(DATA / "digits_test.npy"), np.load(DATA / "digits_test_labels.npy")


def quantize(**options: Any) -> Any:
    return mct.quantize(
        mct.load(DATA / "digits.mlirbc"),
        "imx500",
        np.load(DATA / "digits_calib.npy"),
        preprocessing=mct.Preprocessing.of(0.0625),
        **options,
    )


@pytest.mark.alternating
def test_what_is_promised_was_measured_of_the_network_that_is_returned(tmp_path: Path, tools: Path) -> None:
    """The search samples and the others are all samples together, so that drops on both add up to that on all."""
    path = tmp_path / "bits.json"
    made = quantize(metric="top1", max_drop=0.02, validation=TEST, labels=LABELS, bit_widths_out=path)
    written = json.loads(path.read_text())
    jsonschema.validate(written, json.loads(SCHEMA.read_text()))
    looks = written["contract"]["looks"]
    judged = [look for look in looks if look["held_out"]]
    kept = [look for look in judged if look["holds"]][-1]
    assert made.contract.max_drop == 0.02
    assert made.contract.drop == kept["drop"] < made.contract.drop_at_most == kept["drop_at_most"] <= 0.02
    assert made.contract.held_out_samples == kept["samples"] >= 0.9 * len(TEST) - 1
    assert made.contract.text == written["contract"]["text"]
    # Each is cheaper than the one before, and nothing is judged after the first that fails.
    assert all(first["use"] > second["use"] for first, second in pairwise(judged))
    assert all(look["holds"] for look in judged[:-1])
    [searched] = [look for look in looks if not look["held_out"] and look["alternatives"] == kept["alternatives"]]
    lost = made.evaluate(TEST, LABELS).metric.loss * len(TEST)
    assert lost == pytest.approx(kept["drop"] * kept["samples"] + searched["drop"] * searched["samples"])
    assert kept["samples"] + searched["samples"] == len(TEST)


# More than 10 000 of them judge.
MANY = np.tile(TEST, (13, 1, 1, 1))


def held_out_looks(path: Path) -> list[dict[str, Any]]:
    return [look for look in json.loads(path.read_text())["contract"]["looks"] if look["held_out"]]


@pytest.mark.alternating
def test_many_samples_first_judge_what_the_search_has_found(tmp_path: Path, tools: Path) -> None:
    path = tmp_path / "bits.json"
    quantize(
        metric=lambda outputs, labels: np.ones(len(labels)),
        max_drop=0.02,
        validation=MANY,
        labels=np.arange(len(MANY)),
        bit_widths_out=path,
    )
    looks = held_out_looks(path)
    # Zeros are the present alternatives.
    assert all(looks[0]["alternatives"])
    assert all(look["holds"] and look["confidence"] == 0.955 for look in looks)


@pytest.mark.alternating
def test_more_expensive_assignments_are_judged_if_what_the_search_has_found_fails(tmp_path: Path, tools: Path) -> None:
    """The search samples like every network, and the others only those that are as close to float as the present."""
    preprocessing = mct.Preprocessing.of(0.0625)
    floats = mct.load(DATA / "digits.mlirbc").run(TEST, preprocessing=preprocessing).reshape(len(TEST), -1)
    present = quantize().run(TEST, preprocessing=preprocessing).reshape(len(TEST), -1)
    largest = np.abs(present - floats).max()
    calls: list[int] = []

    def note(outputs: Any, labels: Any) -> Any:
        calls.extend(labels)
        return np.ones(len(labels))

    def judge(outputs: Any, labels: Any) -> Any:
        distances = np.abs(outputs.reshape(len(labels), -1) - floats[labels % len(TEST)]).max(axis=1)
        return np.isin(labels, searched) | (distances <= largest)

    path = tmp_path / "bits.json"
    options = {"max_drop": 0.02, "validation": MANY, "labels": np.arange(len(MANY)), "bit_widths_out": path}
    quantize(metric=note, **options)
    # The float network has run on all samples, and then another network on those of the search.
    searched = calls[len(MANY) : len(MANY) + json.loads(path.read_text())["contract"]["looks"][0]["samples"]]
    made = quantize(metric=judge, **options)
    looks = held_out_looks(path)
    assert [look["holds"] for look in looks] == [False, *[True] * (len(looks) - 2), False]
    assert [look["confidence"] for look in looks] == [0.955, *[0.995] * (len(looks) - 1)]
    assert any(looks[0]["alternatives"]) and not any(looks[1]["alternatives"])
    assert made.contract.drop_at_most == looks[-2]["drop_at_most"] <= 0.02


@pytest.mark.alternating
def test_the_judged_assignment_is_the_one_that_its_budget_takes(tmp_path: Path) -> None:
    """The least sum of sensitivities within 1491 bytes is that of 1468 bytes; 1440 bytes are closer to float."""
    float_scores = np.sqrt(mct.load(DATA / "digits.mlirbc").run(TEST, preprocessing=mct.Preprocessing.of(0.0625)))

    def closeness(outputs: Any, labels: Any) -> Any:
        return -np.abs(np.sqrt(outputs.reshape(labels.shape)) - labels).mean(axis=1)

    paths = {name: tmp_path / f"{name}.json" for name in ("promised", "closest", "least_sum")}
    labels = float_scores.reshape(len(TEST), -1)
    quantize(metric=closeness, max_drop=0.0075, validation=TEST, labels=labels, bit_widths_out=paths["promised"])
    quantize(budget="weights:1491", bit_widths_out=paths["closest"])
    quantize(budget="weights:1491", remeasure=0, bit_widths_out=paths["least_sum"])
    written = {name: json.loads(path.read_text()) for name, path in paths.items()}
    closest, least_sum = (
        [operator["alternative"] for operator in written[name]["operators"]] for name in ("closest", "least_sum")
    )
    assert closest != least_sum
    looks = written["promised"]["contract"]["looks"]
    searched = [look["alternatives"] for look in looks if not look["held_out"] and look["holds"]]
    judged = [look["alternatives"] for look in looks if look["held_out"]]
    assert closest in searched and least_sum in searched
    assert closest in judged and least_sum not in judged


@pytest.mark.alternating
def test_the_sequence_ends_before_an_assignment_that_the_search_samples_refute(tmp_path: Path) -> None:
    path = tmp_path / "bits.json"
    made = quantize(
        round_weights=False,
        weights_error_method="no-clipping",
        metric="top1",
        max_drop=0.039,
        validation=TEST,
        labels=LABELS,
        bit_widths_out=path,
    )
    looks = json.loads(path.read_text())["contract"]["looks"]
    [refuted] = [look for look in looks if look["refuted"]]
    judged = [look for look in looks if look["held_out"]]
    assert not refuted["held_out"] and all(look["use"] > refuted["use"] and look["holds"] for look in judged)
    # As far above the limit as chance may be on that many samples.
    assert refuted["drop"] - (refuted["drop_at_most"] - refuted["drop"]) > 0.039
    assert (
        f"the next cheaper assignment, {refuted['use']} bytes, drops by 11.24 points on 89 search" in made.contract.text
    )


def is_right(outputs: Any, labels: Any) -> Any:
    return outputs.reshape(len(outputs), -1).argmax(axis=1) == labels


@pytest.mark.alternating
def test_a_function_of_python_promises_what_the_metric_of_the_compiler_does(tmp_path: Path) -> None:
    paths = [tmp_path / "own.json", tmp_path / "top1.json"]
    for metric, path in zip((is_right, "top1"), paths, strict=True):
        made = quantize(
            effort="fast", metric=metric, max_drop=0.02, validation=TEST, labels=LABELS, bit_widths_out=path
        )
        assert made.contract.max_drop == 0.02
    own, top1 = (json.loads(path.read_text()) for path in paths)
    assert own["contract"]["metric"] == "is_right" and own["contract"]["text"].startswith("'is_right' drops by")
    assert own["contract"]["looks"] == top1["contract"]["looks"] and own["operators"] == top1["operators"]
    # Labels of the data do as well, in a list; numbers that are not 0 or 1 have a bootstrap.
    pairs = [(image, int(label)) for image, label in zip(TEST[:300], LABELS[:300], strict=True)]

    def probability(outputs: Any, labels: Any) -> Any:
        scores = np.exp(outputs.reshape(len(outputs), -1))
        return scores[np.arange(len(labels)), np.asarray(labels)] / scores.sum(axis=1)

    made = quantize(effort="fast", metric=probability, max_drop=0.05, validation=pairs)
    assert "'probability' drops by no more than 0.0500: by " in made.contract.text


def test_functions_that_no_promise_can_be_made_of_are_errors() -> None:
    def mean(outputs: Any, labels: Any) -> float:
        return 0.5

    def fails(outputs: Any, labels: Any) -> Any:
        raise ZeroDivisionError("of the user")

    options = {"effort": "fast", "max_drop": 0.02, "validation": TEST[:40], "labels": LABELS[:40]}
    with pytest.raises(mct.Error, match="'mean' returns one number for all samples, which says nothing of chance"):
        quantize(metric=mean, **options)
    with pytest.raises(ZeroDivisionError, match="of the user"):
        quantize(metric=fails, **options)
    with pytest.raises(mct.Error, match=r"expected one number, or an array of \d+ numbers, .* from '<lambda>'"):
        quantize(metric=lambda outputs, labels: [1, 2, 3], **options)
    with pytest.raises(mct.Error, match="labels: 39 for 40 samples"):
        quantize(metric=is_right, **{**options, "labels": LABELS[:39]})
    with pytest.raises(mct.Error, match="validation and validation_data are two ways to say the same; give one"):
        quantize(metric="top1", max_drop=0.02, validation=TEST, labels=LABELS, validation_data=["x.npy"])


@pytest.mark.alternating
def test_labels_may_come_with_the_samples_and_have_any_shape() -> None:
    """18 of 19 samples are too few for a bootstrap."""
    wanted = np.zeros((19, 10), np.float16)
    with pytest.raises(mct.Error, match="on 18 held-out samples, which are too few for a limit; give about 23 samples"):
        quantize(effort="fast", metric="psnr:6", max_drop=1.0, validation=TEST[:19], labels=wanted)
    pairs = [(image, int(label)) for image, label in zip(TEST[:40], LABELS[:40], strict=True)]
    with pytest.raises(mct.Error, match=r"'top1' drops by no more than 1\.00 points: .* on 36 held-out samples"):
        quantize(effort="fast", metric="top1", max_drop=0.01, validation=pairs)
    with pytest.raises(mct.Error, match=r"max-drop=0\.01 needs samples that nothing else has seen"):
        quantize(effort="fast", metric="top1", max_drop=0.01, validation=TEST[:40])
    with pytest.raises(mct.Error, match=r"1 samples are too few[^\n]*\n?(.|\n)*max-drop is judged"):
        quantize(effort="fast", metric="top1", max_drop=0.01, validation=TEST[:1], labels=LABELS[:1])


def test_the_command_line_prints_the_promise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge = ["--validation-data", str(DATA / "digits_test.npy"), "--labels", str(DATA / "digits_test_labels.npy")]
    samples = ["--data", str(DATA / "digits_calib.npy"), "--scale", "0.0625"]
    options = ["--max-drop", "0.05", "--drop-metric", "top1", "--effort", "fast", "--no-progress"]
    output = str(tmp_path / "q.mlirbc")
    model = str(DATA / "digits.mlirbc")
    assert cli.main(["quantize", model, "--target", "imx500", *samples, *judge, *options, "-o", output]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("'top1' drops by no more than 5.00 points: by ") and printed.endswith(f"\n{output}\n")
    assert mct.load(output).points
