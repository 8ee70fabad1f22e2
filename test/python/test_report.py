# SPDX-License-Identifier: Apache-2.0
"""Reports of `mct-run --report`: the numbers of its other outputs, whatever the threads, for whatever names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import measure
import pytest

MODEL, CALIBRATION = measure.DIGITS / "digits.mlirbc", measure.DIGITS / "digits_calib.npy"
TEST, LABELS = measure.DIGITS / "digits_test.npy", measure.DIGITS / "digits_test_labels.npy"
SCALE = {"input_scale": 0.0625}


def make(module: Path, folder: Path, **options: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """The report, and what the run prints."""
    path = folder / "report.json"
    arguments = {"compare": MODEL, "report": path, "report_samples": 32} | SCALE | options
    printed = measure.run_json(module, TEST, **arguments)
    return json.loads(path.read_text()), printed


def steady(report: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key not in ("seconds", "passes")}


def by_name(things: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {thing["name"]: thing for thing in things}


def test_numbers_are_those_that_the_run_prints(quantize, tmp_path):
    report, printed = make(quantize(MODEL, CALIBRATION, **SCALE), tmp_path, labels=LABELS)
    assert report["samples"] == printed["samples"] == 899
    assert report["simulated"]["top1"] == printed["top1"]
    assert report["simulated"]["agreement"] == printed["agreement"]
    points = by_name(report["points"])
    assert printed["points"]
    for printed_point in printed["points"]:
        total = points[printed_point["name"]]["total"]
        assert total == {
            "sqnr": printed_point["sqnr_db"],
            "cosine": printed_point["cosine"],
            "largest": printed_point["max_error"],
        }, printed_point["name"]


def test_the_float_network_is_as_accurate_as_without_the_quantized_one(quantize, tmp_path):
    report, _ = make(quantize(MODEL, CALIBRATION, **SCALE), tmp_path, labels=LABELS)
    assert report["has_labels"]
    assert report["floating"]["top1"] == measure.run_json(MODEL, TEST, labels=LABELS, **SCALE)["top1"]


@pytest.mark.alternating
def test_a_report_does_not_depend_on_workers_or_batch(quantize, tmp_path):
    module = quantize(MODEL, CALIBRATION, **SCALE)
    expected, _ = make(module, tmp_path, num_threads=1, batch_size=32)
    for threads, batch in ((2, 1), (2, 7), (3, 0)):
        report, _ = make(module, tmp_path, num_threads=threads, batch_size=batch)
        assert steady(report) == steady(expected), (threads, batch)


def test_operators_say_what_the_target_asks(quantize, tmp_path):
    report, _ = make(quantize(MODEL, CALIBRATION, **SCALE), tmp_path)
    assert report["target"] == "imx500_tpc"
    operators = by_name(report["operators"])
    relu = operators["block/relu"]
    assert relu["operator_set"] == "ReLU" and "tosa.clamp" in relu["matched_by"]
    assert operators["block/batch_norm/shift"]["cover"] == "fused"
    assert operators["block/batch_norm/shift"]["group"] == relu["group"] == "block/relu"
    assert operators["block/batch_norm/shift"]["is_depthwise"]
    assert [each["weight_bits"] for each in operators["block/project"]["alternatives"]] == [8, 4, 2]
    assert operators["head/average_pool_shifted"]["operator_set"] == ""
    # The graph has one beginning, and everything is reached from it.
    reached: set[str] = set()
    for op in report["operators"]:
        assert set(op["inputs"]) <= reached
        reached.add(op["name"])
        assert op["inputs"] or op["ops"] == ["argument"]
    owned = [name for op in report["operators"] for name in op["points"]]
    assert sorted(owned) == sorted(point["name"] for point in report["points"])


def test_what_an_override_leaves_in_float_says_so(tools, tmp_path):
    rules = tmp_path / "float.rules"
    rules.write_text('name "block/add" activation=float\nop tosa.conv2d weights=4\n')
    # Bytecode keeps the names of values without a point.
    module = tmp_path / "quantized.mlirbc"
    measure.run_ok(measure.ptq_command(MODEL, CALIBRATION, module, overrides=rules, **SCALE))
    report, _ = make(module, tmp_path)
    operators = by_name(report["operators"])
    assert operators["block/add"]["cover"] == "float"
    assert operators["block/add"]["why_float"] == "the override of tpc.overrides:1 says so"
    assert operators["block/add"]["overridden_by"] == 'name "block/add" activation=float'
    assert operators["block/project"]["overridden_by"] == "op tosa.conv2d weights=4"
    assert operators["block/relu"]["overridden_by"] == ""
    assert operators["block/project"]["alternatives"][operators["block/project"]["chosen"]]["weight_bits"] == 4
    points = by_name(report["points"])
    assert points["block/project/kernel_attr"]["parameters"]["bits"] == 4
    decisions = points["block/project/kernel_attr"]["decisions"]
    assert [each["pass"] for each in decisions] == ["mct-round-weights"]


def test_shifted_activations_say_what_they_gained(quantize, tmp_path):
    report, _ = make(quantize(MODEL, CALIBRATION, **SCALE), tmp_path)
    shift = by_name(report["points"])["reduce/swish/mul_shifted"]["shift"]
    assert shift["by"] == 0.3125
    assert 0 < shift["error"] < shift["error_before"] / 2


def test_the_chosen_threshold_has_the_error_of_the_selection(quantize, tmp_path):
    """Errors of an activation are over the histogram, those of a weight over its elements, up to rounding of sums."""
    report, _ = make(quantize(MODEL, CALIBRATION, **SCALE), tmp_path)
    compared = 0
    for point in report["points"]:
        selection = point["selection"]
        if selection["error_method"] != "mse":
            continue
        chosen = next(trial["error"] for trial in selection["curve"] if trial["scale"] == 1)
        mean = sum(selection["error"]) / len(selection["error"])
        assert chosen == pytest.approx(mean, rel=1e-5), point["name"]
        # Exact, so that the curve has no better place.
        assert chosen <= min(trial["error"] for trial in selection["curve"]) * (1 + 1e-9)
        compared += 1
    assert compared > 8


@pytest.mark.alternating
def test_integers_are_counted_as_exact_counts_them(quantize, tools, tmp_path):
    simulated, integer = tmp_path / "simulated.mlirbc", tmp_path / "integer.mlirbc"
    options = f"target=imx500_v1_pot calibration-data={CALIBRATION} input-scale=0.0625"
    measure.run_ok([tools / "mct-opt", MODEL, f"--mct-ptq={options}", "--mct-simulate-integers", "-o", simulated])
    measure.run_ok([tools / "mct-opt", simulated, "--mct-lower-to-integer=io=integer", "-o", integer])
    report, _ = make(simulated, tmp_path, integer=integer, labels=LABELS)
    command = measure.run_command(integer, TEST, compare=simulated, **SCALE)
    exact = json.loads(measure.run_ok([*command, "--exact", "--json"]).stdout)
    points = by_name(report["points"])
    assert len(exact["points"]) > 8
    for counted in exact["points"]:
        found = points[counted["name"]]["integer"]
        assert (found["values"], found["differing"], found["largest"]) == (
            counted["values"],
            counted["differing"],
            counted["max_steps"],
        )
    assert report["integer"]["top1"] == measure.run_json(integer, TEST, labels=LABELS, **SCALE)["top1"]


STRANGE = ["</script><script>alert(1)</script>", 'a"b\\c', "x" * 10000, "zeile\\0A2", "\\FF\\FE"]


@pytest.mark.parametrize("name", STRANGE, ids=["markup", "quotes", "long", "newline", "no-utf8"])
def test_names_may_be_anything(tools, tmp_path, name):
    quoted = name.replace("\\c", "\\\\c").replace('"', '\\"')
    network = """func.func @main(%x: tensor<1x8x8x1xf32> loc("input")) -> tensor<1x8x8x1xf32> {{
  %0 = tosa.abs %x : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32> loc("{name}")
  {point}
  return %{result} : tensor<1x8x8x1xf32>
}}
"""
    point = (
        f'%1 = tpc.quantize %0 as "{quoted}" activation '
        "parameters(#tpc.power_of_two<threshold = [1.0], bits = 4, is_signed = false>) : tensor<1x8x8x1xf32>"
    )
    floating, quantized = tmp_path / "float.mlir", tmp_path / "quantized.mlir"
    floating.write_text(network.format(name=quoted, point="", result=0))
    quantized.write_text(network.format(name=quoted, point=point, result=1))
    report, _ = make(quantized, tmp_path, compare=floating, samples=20)
    # Points are named in messages: characters that could steer a terminal are shown as MLIR writes them.
    assert [point["name"] for point in report["points"]] == [name]
    expected = name.replace("\\0A", "\n").replace("\\FF", "\ufffd").replace("\\FE", "\ufffd")
    assert report["points"][0]["owner"] == expected
    assert expected in [op["name"] for op in report["operators"]]


def test_a_module_from_elsewhere_has_what_can_be_said_of_it(tools, tmp_path):
    """No target, no statistics, no value of the float network's names: parts are left out, none is invented."""
    quantized = tmp_path / "quantized.mlir"
    quantized.write_text(
        """func.func @main(%x: tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32> {
  %0 = tpc.quantize %x as "mine" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 4>)
    : tensor<1x8x8x1xf32>
  return %0 : tensor<1x8x8x1xf32>
}
"""
    )
    floating = tmp_path / "float.mlir"
    floating.write_text(
        "func.func @main(%x: tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32> {\n  return %x : tensor<1x8x8x1xf32>\n}\n"
    )
    report, _ = make(quantized, tmp_path, compare=floating, samples=20)
    assert report["target"] == ""
    assert report["calibration_digest"] == "" and "calibration_samples" not in report
    (point,) = report["points"]
    assert point["name"] == "mine"
    assert not {"statistics", "selection", "clipped", "used", "integer", "shift"} & set(point)
    assert not {"integer"} & set(report)
