# SPDX-License-Identifier: Apache-2.0
"""Average precision of boxes, by pycocotools."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
pytest.importorskip("pycocotools", reason="pycocotools is not installed (tools/dev/setup)")

from mct import _native as native  # noqa: E402
from mct import cli, evaluation  # noqa: E402

# Most of them run the pipeline.
pytestmark = pytest.mark.alternating

# Hands on boxes and scores of two boxes and two classes.
DETECTOR = """
func.func @main(%boxes: tensor<?x2x4xf32>, %scores: tensor<?x2x2xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x2xf32>) {
  %0 = tosa.abs %boxes : (tensor<?x2x4xf32>) -> tensor<?x2x4xf32>
  %1 = tosa.abs %scores : (tensor<?x2x2xf32>) -> tensor<?x2x2xf32>
  return %0, %1 : tensor<?x2x4xf32>, tensor<?x2x2xf32>
}
"""
# One object in each of two images, and a row without an object.
LABELS = np.array([[[0, 0, 10, 10, 0], [0, 0, 0, 0, -1]], [[20, 20, 30, 30, 1], [0, 0, 0, 0, -1]]], np.float32)
RIGHT = np.array([[[0, 0, 10, 10], [50, 50, 60, 60]], [[20, 20, 30, 30], [50, 50, 60, 60]]], np.float32)
SCORES = np.array([[[0.9, 0], [0, 0]], [[0, 0.9], [0, 0]]], np.float32)


@pytest.fixture
def detector(tmp_path: Path) -> Any:
    (tmp_path / "detector.mlir").write_text(DETECTOR)
    return mct.load(tmp_path / "detector.mlir")


def precision(detector: Any, metric: Any, boxes: Any = RIGHT, scores: Any = SCORES, labels: Any = LABELS) -> float:
    found: float = evaluation.evaluate(detector, (boxes, scores), labels, metric=metric).metric.value
    return found


def test_boxes_at_their_places_are_all_there_is(detector: Any) -> None:
    assert [precision(detector, name) for name in ("ap", "ap50")] == pytest.approx([1, 1])
    # Labels may be a list of arrays of different length.
    assert precision(detector, "ap", labels=[LABELS[0, :1], LABELS[1, :1]]) == pytest.approx(1)


def test_a_shifted_box_counts_up_to_its_overlap(detector: Any) -> None:
    boxes = RIGHT.copy()
    # 7.8 of 10 columns: 78 / (200 - 78) = 0.639, which is enough for 0.5, 0.55 and 0.6.
    boxes[1, 0, [0, 2]] += 2.2
    assert precision(detector, "ap50", boxes) == pytest.approx(1)
    assert precision(detector, "ap", boxes) == pytest.approx((1 + 0.3) / 2)


def test_a_more_certain_box_without_an_object_halves_the_precision(detector: Any) -> None:
    scores = SCORES.copy()
    scores[0, 1, 0] = 0.95
    # Class 0 finds its object with the second box: half of the boxes up to there are right. Class 1 is as it was.
    assert precision(detector, "ap50", scores=scores) == pytest.approx((0.5 + 1) / 2)


def random_images(images: int, seed: int = 0) -> tuple[Any, Any]:
    """Returns detections and labels of images with up to three objects of two classes, of which a part is found."""
    numbers = np.random.default_rng(seed)
    found, labels = [], []
    for _ in range(images):
        count = numbers.integers(0, 4)
        corners = numbers.uniform(0, 50, (count, 2))
        objects = np.concatenate([corners, corners + numbers.uniform(8, 20, (count, 2))], axis=1)
        classes = numbers.integers(0, 2, count)
        labels.append(np.column_stack([objects, classes]))
        others = numbers.uniform(0, 30, (3, 4)).cumsum(axis=1)[:, [0, 1, 2, 3]]
        boxes = np.concatenate([objects + numbers.uniform(-2, 2, (count, 4)), others])
        found.append((boxes, numbers.permutation(len(boxes)) / 10, np.append(classes, [0, 1, 1])))
    return found, labels


def test_images_that_count_several_times_are_as_several_images() -> None:
    found, labels = random_images(30)
    metric = mct.detection.AveragePrecision("ap", decode=lambda outputs: outputs)
    matched = metric.match(found, labels)
    assert 0.1 < matched.precision < 0.9
    for seed in range(5):
        counts = np.bincount(np.random.default_rng(seed).integers(0, 30, 30), minlength=30)
        images = np.repeat(np.arange(30), counts)
        repeated = metric([found[image] for image in images], [labels[image] for image in images])
        assert native.average_precision(matched.classes, matched.overlaps, counts.tolist()) == pytest.approx(repeated)


def test_precisions_have_an_interval(tmp_path: Path) -> None:
    # The second network finds the boxes two columns aside.
    kind = "tensor<?x1x4xf32>"
    for name, shift in (("left", "0.0"), ("right", "2.0")):
        (tmp_path / f"{name}.mlir").write_text(
            f"func.func @main(%boxes: {kind}, %scores: tensor<?x1x1xf32>) -> ({kind}, tensor<?x1x1xf32>) {{\n"
            f'  %s = "tosa.const"() <{{values = dense<[[[{shift}, 0.0, {shift}, 0.0]]]> : tensor<1x1x4xf32>}}> : '
            "() -> tensor<1x1x4xf32>\n"
            f"  %0 = tosa.add %boxes, %s : ({kind}, tensor<1x1x4xf32>) -> {kind}\n"
            f"  return %0, %scores : {kind}, tensor<?x1x1xf32>\n}}\n"
        )
    numbers = np.random.default_rng(0)
    corners = numbers.uniform(0, 30, (40, 1, 2))
    boxes = np.concatenate([corners, corners + numbers.uniform(6, 14, (40, 1, 2))], axis=2).astype(np.float32)
    labels = np.concatenate([boxes, np.zeros((40, 1, 1), np.float32)], axis=2)
    scores = numbers.uniform(0.5, 1, (40, 1, 1)).astype(np.float32)
    left, right = (mct.load(tmp_path / f"{name}.mlir") for name in ("left", "right"))
    found = evaluation.evaluate(right, (boxes, scores), labels, metric="ap", reference=left).metric
    assert found.reference == pytest.approx(1) and found.loss == pytest.approx(1 - found.value)
    assert found.low < found.value < found.high and found.loss_low < found.loss < found.loss_high
    assert found.is_beyond_chance and re.fullmatch(r"loses \d+\.\d+ ± \d+\.\d+ points \(95 %\)", found.text)
    # The same images judge both networks: of equal ones the difference is 0, whatever images are drawn.
    same = evaluation.evaluate(left, (boxes, scores), labels, metric="ap", reference=left).metric
    assert (same.loss, same.loss_low, same.loss_high) == (0, 0, 0)
    few = evaluation.evaluate(right, (boxes[:10], scores[:10]), labels[:10], metric="ap", reference=left).metric
    assert np.isnan(few.loss_low) and "10 samples are too few to tell" in few.text


def test_outputs_of_another_form_are_decoded(detector: Any) -> None:
    def decode(outputs: Any) -> Any:
        for boxes, scores in zip(*outputs, strict=True):
            yield boxes[:1], scores[:1].max(axis=1), scores[:1].argmax(axis=1)

    assert precision(detector, mct.detection.AveragePrecision("ap", decode=decode)) == pytest.approx(1)
    nothing = mct.detection.AveragePrecision("ap", decode=lambda outputs: [(np.zeros((0, 4)), [], [])] * 2)
    assert precision(detector, nothing) == 0


def test_the_console_prints_it_beside_the_reference(
    detector: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, values in (("boxes", RIGHT), ("scores", SCORES), ("labels", LABELS)):
        np.save(tmp_path / f"{name}.npy", values)
    model = str(tmp_path / "detector.mlir")
    data = [f"arg0:{tmp_path / 'boxes.npy'}", f"arg1:{tmp_path / 'scores.npy'}"]
    command = ["run", model, "--reference", model, "--data", *data, "--labels", str(tmp_path / "labels.npy")]
    assert cli.main([*command, "--metric", "ap50"]) == 0
    assert "ap50       100.00 %\nreference  100.00 %; the network loses 0.00 points" in capsys.readouterr().out
    assert cli.main([*command, "--metric", "ap50", "--output", str(tmp_path / "a.npy")]) != 0
    assert "--output: not with --metric ap50; write outputs in a run without it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        (SCORES, None, "labels: there are none; give boxes and classes, [images, m, 5]"),
        (SCORES, 5, "labels: expected rows of left, top, right, bottom, class for each image, found"),
        (SCORES, LABELS[:1], "labels: 1 for 2 images"),
        (SCORES, LABELS[..., :4], "expected rows of left, top, right, bottom, class, found an array of float32, 2x4"),
        (SCORES, -np.ones_like(LABELS), "labels: there is no box; without one there is no average precision"),
    ],
)
def test_labels_of_another_form_are_an_error(detector: Any, scores: Any, labels: Any, message: str) -> None:
    with pytest.raises(mct.Error) as raised:
        precision(detector, "ap", scores=scores, labels=labels)
    assert message in str(raised.value)


def test_outputs_that_are_no_boxes_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "one.mlir").write_text(
        "func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {\n"
        "  %0 = tosa.abs %x : (tensor<?x4xf32>) -> tensor<?x4xf32>\n  return %0 : tensor<?x4xf32>\n}\n"
    )
    with pytest.raises(mct.Error, match=r"found outputs of shape \(2, 4\)\n.*AveragePrecision\(decode=") as raised:
        evaluation.evaluate(mct.load(tmp_path / "one.mlir"), np.ones((2, 4), np.float32), LABELS, metric="ap")
    assert "expected boxes [images, n, 4] and scores [images, n, classes]" in str(raised.value)
    metric = mct.detection.AveragePrecision("ap", decode=lambda outputs: [(RIGHT[0], [0.5], [1])])
    with pytest.raises(mct.Error, match=r"of an image, found shapes \(2, 4\), \(1,\), \(1,\)"):
        metric(None, LABELS[:1])
    with pytest.raises(mct.Error, match="metric: expected one of ap, ap50, found 'ap75'"):
        mct.detection.AveragePrecision("ap75")


def test_the_console_asks_for_the_drop_of_boxes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The search reaches pycocotools, which has no boxes from a network that finds digits."""
    data = Path(__file__).parents[1] / "data"
    samples, labels = str(data / "digits_test.npy"), str(tmp_path / "labels.npy")
    np.save(labels, np.zeros((len(np.load(samples)), 1, 5), np.float32))
    command = ["quantize", str(data / "digits.mlirbc"), "--target", "imx500", "--data", str(data / "digits_calib.npy")]
    command += ["--scale", "0.0625", "--effort", "fast", "--max-drop", "0.02", "--drop-metric", "ap50", "--no-progress"]
    command += ["--validation-data", samples, "--labels", labels, "-o", str(tmp_path / "quantized.mlirbc")]
    assert cli.main(command) != 0
    assert "expected boxes [images, n, 4] and scores [images, n, classes], found outputs of" in capsys.readouterr().err
    assert not (tmp_path / "quantized.mlirbc").exists()
