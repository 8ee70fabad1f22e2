# SPDX-License-Identifier: Apache-2.0
"""A trained detector and a trained segmentation network through the whole pipeline: their metrics after quantization,
within a budget and in the report, integers that are those of the simulation, and ONNX files."""

import json
import sys

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
pytest.importorskip("pycocotools", reason="pycocotools is not installed (tools/dev/setup)")

sys.path[:0] = [str(measure.REPOSITORY / "tools" / "dev" / folder) for folder in ("shapes", "downstream")]

import forks  # noqa: E402
import judge  # noqa: E402
import scenes  # noqa: E402
import tool_environments  # noqa: E402

# Most of them run the pipeline.
pytestmark = pytest.mark.alternating

# The float networks are at least that good.
LEAST = {"ap50": 0.8, "ap": 0.5, "miou": 0.8}
NETWORKS = ("detector", "unet")
CALIBRATION, TEST = 64, 120


@pytest.fixture(scope="module")
def calibration():
    return scenes.scenes(CALIBRATION, scenes.CALIBRATION)


@pytest.fixture(scope="module")
def test():
    return scenes.scenes(TEST, scenes.TEST)


@pytest.fixture(scope="module")
def quantize(calibration):
    """Quantizes a network, once for each set of options."""
    done = {}

    def run(network, **options):
        key = (network, str(options))
        if key not in done:
            model = mct.load(judge.FOLDER / f"{network}.mlirbc")
            done[key] = mct.quantize(model, data=calibration.images, progress=False, **options)
        return done[key]

    return run


@pytest.fixture(scope="module")
def losses(test):
    """Points of each metric that a quantized network loses against float."""
    outputs = {}

    def judge_network(quantized, network):
        if network not in outputs:
            outputs[network] = quantized.float_model.run(test.images)
        lost = {}
        for name, (metric, labels) in judge.metrics(network, test).items():
            if name == "miou":
                judged = quantized.evaluate(test.images, labels, metric=metric).metric
                reference, found = judged.reference, judged.value
            else:
                reference, found = (metric(each, labels) for each in (outputs[network], quantized.run(test.images)))
            assert reference > LEAST[name]
            lost[name] = 100 * (reference - found)
        return lost

    return judge_network


def test_scenes_are_the_same_for_a_seed():
    one, other = scenes.scenes(3, 5), scenes.scenes(3, 5)
    for part, again in zip(one, other, strict=True):
        np.testing.assert_array_equal(part, again)
    assert not np.array_equal(one.images, scenes.scenes(3, 6).images)


def test_shapes_fill_their_boxes(test):
    for boxes, classes in zip(test.boxes[:50], test.classes[:50], strict=True):
        for left, top, right, bottom, label in boxes[boxes[:, 4] >= 0]:
            inside = classes[int(top) : int(np.ceil(bottom)), int(left) : int(np.ceil(right))] == label + 1
            # Half of a triangle's box, the whole box of a square that is not turned.
            assert 0.3 < inside.sum() / ((right - left) * (bottom - top)) < 1.2


def test_the_largest_score_of_overlapping_boxes_is_left():
    rows = np.zeros((1, 4, 7), np.float32)
    rows[0, :, :4] = [[20, 20, 10, 10], [21, 20, 10, 10], [40, 40, 8, 6], [20, 20, 10, 10]]
    rows[0, 0, 4], rows[0, 1, 4], rows[0, 2, 6], rows[0, 3, 5] = 0.6, 0.9, 0.5, 0.3
    ((boxes, scores, labels),) = scenes.detections(rows)
    np.testing.assert_array_equal(boxes, [[16, 15, 26, 25], [15, 15, 25, 25], [36, 37, 44, 43]])
    np.testing.assert_allclose(scores, [0.9, 0.3, 0.5])
    assert labels.tolist() == [0, 1, 2]


@pytest.mark.parametrize("target", ["imx500", pytest.param("tflite", marks=pytest.mark.thorough)])
def test_boxes_and_scores_with_grids_of_their_own_keep_the_precision(quantize, losses, target):
    lost = losses(quantize("detector", target=target), "detector")
    # On 120 images; the table has 500.
    assert lost["ap50"] < 1 and lost["ap"] < 1.5, lost
    # Boxes of 8 bits lie on a grid of a quarter of a pixel, which the strictest overlaps of `ap` see.
    assert losses(quantize("detector", target=target, **judge.QUANTIZED_DECODING), "detector")["ap"] < 3
    # One grid for the numbers of boxes and of scores before the sigmoid, and one for both after the decoding.
    naive = losses(quantize("detector", target=target, effort="fast", **judge.ONE_GRID), "detector")
    assert naive["ap"] > 10, naive


@pytest.mark.parametrize("target", ["imx500", "tflite"])
def test_segmentation_keeps_its_classes(quantize, losses, target):
    assert losses(quantize("unet", target=target), "unet")["miou"] < 1


@pytest.mark.parametrize(
    ("network", "metric"), [("detector", "ap50"), pytest.param("unet", "miou", marks=pytest.mark.thorough)]
)
def test_reports_judge_by_the_metric(quantize, test, network, metric):
    quantized = quantize(network, target="imx500")
    judged_by, labels = judge.metrics(network, test)[metric]
    few = {"data": test.images[:16], "labels": labels[:16], "metric": judged_by}
    document = quantized.report(effect_samples=8, **few).document
    found = quantized.evaluate(few["data"], few["labels"], metric=judged_by).metric
    assert document["judged_by"]["name"] == metric
    assert document["simulated"]["judged"]["value"] == found.value
    assert document["floating"]["judged"]["value"] == found.reference


@pytest.mark.parametrize("network", ["detector", pytest.param("unet", marks=pytest.mark.thorough)])
def test_some_layers_of_fewer_bits_are_enough(quantize, losses, network):
    quantized = quantize(network, target="imx500", budget=["weights:60%"], remeasure=0)
    assert min(point.bits for point in quantized.points if point.weight) < 8
    assert max(losses(quantized, network).values()) < 5


@pytest.mark.parametrize("network", NETWORKS)
def test_integers_are_those_of_the_simulation(quantize, test, network):
    differing, values = judge.differing(quantize(network, target="imx500_v1_pot"), test.images)
    assert differing == 0
    assert values > 100_000


def test_no_layer_of_the_segmentation_stays_float(quantize):
    integer = mct.lower_to_integer(mct.simulate_integers(quantize("unet", target="tflite")), io="integer").text
    layers = [line for line in integer.splitlines() if "tosa.conv2d" in line or "tosa.transpose_conv2d" in line]
    assert len(layers) == 14
    assert all("xi32>" in line.split("->")[-1] for line in layers)


@pytest.mark.parametrize("network", NETWORKS)
def test_onnx_runtime_computes_the_same(quantize, test, tmp_path, network):
    program = tool_environments.program("onnx")
    if program is None:
        pytest.skip("ONNX Runtime is not installed (tools/dev/downstream --install onnx)")
    module = mct.simulate_integers(quantize(network, target="imx500_v1_pot"), rounding="half-even")
    files = [tmp_path / name for name in ("network.onnx", "images.npy", "found.npy")]
    mct.exporters.export_onnx(module, files[0], profile="qdq")
    np.save(files[1], test.images[:16])
    run = [program.parent / "python", measure.REPOSITORY / "tools" / "dev" / "downstream" / "run_onnx.py", *files]
    measure.succeeded(run, forks.run(run, "onnx,onnxruntime"))
    found, expected = np.load(files[2]), module.run(test.images[:16])
    assert found.shape == expected.shape
    # The detector's boxes and scores are decoded in float from the same codes: a sigmoid of another library differs by
    # the last bits, and boxes are up to 64.
    tolerance = 64 * 1e-6 if network == "detector" else 0
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def test_the_table_has_a_row_for_each_metric():
    calibration, few = scenes.scenes(8, scenes.CALIBRATION), scenes.scenes(8, scenes.TEST)
    rows = judge.rows("detector", "imx500", "quick", {"effort": "fast"}, calibration, few)
    assert [row[:3] + row[4:5] for row in rows] == [
        ["detector", "`imx500`", "quick", f"`{metric}`"] for metric in ("ap50", "ap")
    ]
    for row in rows:
        assert len(row) == len(judge.COLUMNS)
        # Bytes of 61 671 parameters, most of which have 8 bits and biases 32; the loss is the difference of its row.
        assert 60_000 < float(row[3]) < 70_000
        assert abs(float(row[5]) - float(row[6]) - float(row[7])) < 0.011


def test_a_drop_of_the_average_precision_is_promised(calibration, test, tmp_path):
    """The search calls Python for each network that it looks at."""
    path = tmp_path / "bits.json"
    made = mct.quantize(
        mct.load(judge.FOLDER / "detector.mlirbc"),
        "imx500",
        calibration.images,
        metric=mct.detection.AveragePrecision("ap", decode=scenes.detections),
        max_drop=0.1,
        validation=test.images[:60],
        labels=list(test.boxes[:60]),
        effort="fast",
        bit_widths_out=path,
        progress=False,
    )
    contract = json.loads(path.read_text())["contract"]
    kept = [look for look in contract["looks"] if look["held_out"] and look["holds"]][-1]
    assert (contract["metric"], kept["samples"]) == ("ap", 54)
    assert made.contract.text.startswith("'ap' drops by no more than 10.00 points: by ")
    assert kept["drop"] == made.contract.drop < made.contract.drop_at_most <= 0.1
    assert kept["use"] < contract["looks"][-1]["use"] or not contract["looks"][-1]["holds"]
    # It is the average precision of that network on those images: both parts together are all images.
    assert made.evaluate(test.images[:60], test.boxes[:60]).metric.loss == pytest.approx(kept["drop"], abs=0.05)


@pytest.mark.parametrize("target", ["imx500", "tflite"])
def test_a_network_that_ends_at_its_heads_decodes_to_the_same_boxes(quantize, test, target):
    """Offsets up to 2 and scores down to -34 come from one layer, which takes powers of two: one grid is enough."""
    whole, cut = (quantize("detector", target=target, effort="fast", decode=decode) for decode in ("float", "cut"))
    heads = cut.run(test.images[:40], function="main")
    assert heads.shape == (40, 8, 8, 7)
    assert np.array_equal(cut.run(heads, function="decode"), whole.run(test.images[:40]))
    # One layer on the device, whose powers of two what decodes takes back.
    assert "head_scaled" in {point.name for point in cut.points}
    assert "head_channels" not in cut.text
    # Its result is integers.
    integer = mct.lower_to_integer(mct.simulate_integers(cut), io="integer")
    main = json.loads(integer.module.signature("main"))
    assert [entry["type"] for entry in main["outputs"]] == ["tensor<1x8x8x7xi8>"]
