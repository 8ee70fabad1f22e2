# SPDX-License-Identifier: Apache-2.0
"""Reports on results that are not classes, on corrections that make them worse, and on remedies that it
tried: against what runs of networks made for that show."""

import json

import measure
import numpy as np
import pytest

SHAPE, KERNEL = "tensor<1x4x4x2xf32>", "tensor<2x1x1x2xf32>"
ZERO = '%z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>'
POINT = "activation parameters(#tpc.power_of_two<threshold = [{threshold}], bits = {bits}, is_signed = true>)"


@pytest.fixture
def samples(tmp_path):
    path = tmp_path / "samples.npy"
    np.save(path, np.random.default_rng(0).uniform(-1, 1, (64, 4, 4, 2)).astype(np.float32))
    return path


class Networks:
    """A float network and a quantized one, as text, and the report of mct-run on them."""

    def __init__(self, folder, samples, floating, quantized):
        self.folder, self.samples = folder, samples
        self.floating, self.quantized = folder / "float.mlir", folder / "quantized.mlir"
        self.floating.write_text(floating)
        self.quantized.write_text(quantized)

    def report(self):
        path = self.folder / "report.json"
        measure.run_ok(measure.run_command(self.quantized, self.samples, compare=self.floating, report=path))
        return json.loads(path.read_text())

    def run(self, **options):
        return measure.run_json(self.quantized, self.samples, compare=self.floating, **options)


def function(arguments, body, results, types):
    return (
        f"func.func @main({arguments}) -> ({', '.join(types)}) {{\n  "
        + "\n  ".join([*body, f"return {', '.join(results)} : {', '.join(types)}"])
        + "\n}\n"
    )


def boxes_and_scores(point):
    """Returns a network whose result has values made of pixels beside values made of shares."""
    constant = '%{} = "tosa.const"() <{{values = dense<{}> : {}}}> : () -> {}'
    one, both = "tensor<1x4x4x1xf32>", "tensor<1x4x4x2xf32>"
    body = [
        constant.format("factor", 200.0, "tensor<1x1x1x1xf32>", "tensor<1x1x1x1xf32>"),
        constant.format("shift", 0, "tensor<1xi8>", "tensor<1xi8>"),
        f"%s = tosa.reduce_sum %x {{axis = 3 : i32}} : ({both}) -> {one}",
        f'%b = tosa.mul %s, %factor, %shift : ({one}, tensor<1x1x1x1xf32>, tensor<1xi8>) -> {one} loc("boxes")',
        f'%p = tosa.sigmoid %s : ({one}) -> {one} loc("scores")',
        f'%c = tosa.concat %b, %p {{axis = 3 : i32}} : ({one}, {one}) -> {both} loc("head")',
        *([f'%q = tpc.quantize %c as "head" {POINT.format(threshold=512.0, bits=8)} : {both}'] if point else []),
    ]
    return function(f'%x: {both} loc("x")', body, ["%q" if point else "%c"], [both])


def test_a_lost_group_of_channels_is_in_the_verdict(tools, tmp_path, samples):
    networks = Networks(tmp_path, samples, boxes_and_scores(False), boxes_and_scores(True))
    report = networks.report()
    (result,) = report["results"]
    assert not result["is_scores"] and "agreement" not in report["simulated"]
    boxes, scores = result["groups"]
    assert (boxes["name"], boxes["channels"]) == ("boxes", [0])
    assert (scores["name"], scores["channels"]) == ("scores", [1])
    outputs = []
    for model in (networks.floating, networks.quantized):
        measure.run_ok(measure.run_command(model, samples, output=tmp_path / "o.npy"))
        outputs.append(np.load(tmp_path / "o.npy").astype(np.float64))
    for channel, group in enumerate((boxes, scores)):
        wanted, found = (output[..., channel] for output in outputs)
        sqnr = 10 * np.log10((wanted**2).sum() / ((found - wanted) ** 2).sum())
        assert group["simulated"]["sqnr"] == pytest.approx(sqnr, abs=1e-6)
    assert boxes["simulated"]["sqnr"] > 40 and scores["simulated"]["sqnr"] < 10
    assert scores["worst_point"] == "head"
    assert "of their channels, 'scores', is at" in report["verdict"] and "No cause stands out" not in report["verdict"]
    assert "'scores'" in result["verdict"] and "'head'" in result["verdict"]
    # The tensor that all of it shares is what the effects are about.
    assert report["diagnoses"][0]["subject"] == "head"


def two_results(points):
    body = [
        f'%a = tosa.abs %x : ({SHAPE}) -> {SHAPE} loc("fine")',
        f'%n = tosa.tanh %x : ({SHAPE}) -> {SHAPE} loc("coarse")',
    ]
    names = ["%a", "%n"]
    if points:
        body += [
            f'%qa = tpc.quantize %a as "fine" {POINT.format(threshold=1.0, bits=8)} : {SHAPE}',
            f'%qn = tpc.quantize %n as "coarse" {POINT.format(threshold=4.0, bits=2)} : {SHAPE}',
        ]
        names = ["%qa", "%qn"]
    return function(f'%x: {SHAPE} loc("x")', body, names, [SHAPE, SHAPE])


def test_several_results_have_a_verdict_each(tools, tmp_path, samples):
    networks = Networks(tmp_path, samples, two_results(False), two_results(True))
    report, run = networks.report(), networks.run()
    assert "agreement" not in run
    fine, coarse = report["results"]
    for found, printed in zip(report["results"], run["results"], strict=True):
        assert found["name"] == printed["name"]
        assert found["simulated"]["sqnr"] == printed["sqnr_db"]
        assert found["worst_point"] == found["name"] and found["worst_share"] == 1
        assert found["verdict"].startswith(f"'{found['name']}' is at ")
    assert fine["simulated"]["sqnr"] > 30 and coarse["simulated"]["sqnr"] < 10
    assert report["verdict"].startswith("The worst of 2 results and groups of their channels, 'coarse', is at")


def corrected(offset):
    """A layer with a good quantizer and a bias that was moved; None: the float network."""
    data = np.random.default_rng(1).uniform(-1, 1, (2, 1, 1, 2)).astype(np.float32)
    bias = [each + (offset or 0) for each in (0.25, -0.5)]
    conv = (
        f"%v = tosa.conv2d %x, %{'k' if offset is None else 'w'}, %b, %z, %z "
        "{acc_type = f32, dilation = array<i64: 1, 1>, "
        "pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : "
        f'({SHAPE}, {KERNEL}, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> {SHAPE} loc("conv")'
    )
    body = [
        ZERO,
        f'%k = "tosa.const"() <{{values = dense<"0x{data.tobytes().hex()}"> : {KERNEL}}}> : () -> {KERNEL}',
        f'%b = "tosa.const"() <{{values = dense<{bias}> : tensor<2xf32>}}> : () -> tensor<2xf32>',
    ]
    if offset is None:
        return function(f'%x: {SHAPE} loc("x")', [*body, conv], ["%v"], [SHAPE])
    body += [
        '%w = tpc.quantize %k as "conv" weight "kernel_attr" axes [0] '
        "parameters(#tpc.symmetric<threshold = [1.0, 1.0], bits = 8>) "
        'corrections(#tpc.corrections<applied = ["quantized_network"], '
        f"bias_offset = [{offset}, {offset}], kernel_scale = [1.0]>) : {KERNEL}",
        conv,
        f'%q = tpc.quantize %v as "conv" {POINT.format(threshold=4.0, bits=8)} : {SHAPE}',
    ]
    return function(f'%x: {SHAPE} loc("x")', body, ["%q"], [SHAPE])


def test_a_harmful_correction_comes_first_and_no_kernel_is_blamed(tools, tmp_path, samples):
    networks = Networks(tmp_path, samples, corrected(None), corrected(2.0))
    report = networks.report()
    whole, layer = report["corrections"]
    assert whole["is_whole"] and whole["is_harmful"] and layer["is_harmful"]
    assert layer["layers"] == ["conv/kernel_attr"]
    # Without the correction it is the network of the same points and the bias of float.
    without = Networks(tmp_path, samples, corrected(None), corrected(0.0))
    sqnr = without.run()["results"][0]["sqnr_db"]
    assert -10 * np.log10(whole["without"]) == pytest.approx(sqnr, abs=1e-3)
    worst = report["diagnoses"][0]
    assert (worst["rule"], worst["kind"], worst["paste"]) == (
        "harmful-correction",
        "option",
        "weights-bias-correction=false",
    )
    assert worst["severity"] >= 0.25 and "Bias correction" in report["verdict"]
    trial = report["trials"][worst["trial"]]
    assert trial["is_worthwhile"] and trial["after"] == whole["without"]
    # The kernel does what its quantizer does, and no more.
    kernel = next(point for point in report["points"] if point["name"] == "conv/kernel_attr")
    assert kernel["effect"]["share"] < 1e-3
    assert not [one for one in report["diagnoses"][1:] if one["severity"] >= 0.25]


def test_a_helpful_correction_is_no_diagnosis(tools, tmp_path, samples):
    # The float network has the bias that the correction brings back.
    moved = corrected(None).replace("[0.25, -0.5]", "[2.25, 1.5]")
    report = Networks(tmp_path, samples, moved, corrected(2.0)).report()
    assert not any(effect["is_harmful"] for effect in report["corrections"])
    assert report["corrections"][0]["loss"] < 0
    assert "harmful-correction" not in [one["rule"] for one in report["diagnoses"]]


def test_corrections_that_were_undone_are_told(tools, tmp_path, samples):
    entry = (
        '{correction = "quantized_network", layers = ["conv/kernel_attr"], loss = 5.9 : f64, output = 0 : i64, '
        "samples = 32 : i64, standard_error = 0.3 : f64}"
    )
    undone = corrected(0.0).replace(
        f"-> ({SHAPE}) {{", f"-> ({SHAPE}) attributes {{tpc.rejected_corrections = [{entry}]}} {{"
    )
    (found,) = Networks(tmp_path, samples, corrected(None), undone).report()["rejected_corrections"]
    layers = {"layers": ["conv/kernel_attr"], "result": "conv"}
    assert found == {"correction": "quantized_network", "loss": 5.9, "standard_error": 0.3, "samples": 32} | layers


def test_trials_are_what_runs_of_the_same_remedies_show(tools, tmp_path, samples):
    networks = Networks(tmp_path, samples, two_results(False), two_results(True))
    report = networks.report()
    assert [trial["lines"] for trial in report["trials"]] == [
        ['name "coarse" activation=float'],
        ['name "fine" activation=float'],
        ['name "coarse" activation=float', 'name "fine" activation=float'],
    ]
    for trial in report["trials"]:
        run = networks.run(float_points=",".join(trial["points"]))
        sqnr = next(one["sqnr_db"] for one in run["results"] if one["name"] == "coarse")
        if sqnr is None:
            assert trial["worst_after"] < 1e-9
        else:
            assert -10 * np.log10(trial["worst_after"]) == pytest.approx(sqnr, abs=1e-3)
        assert trial["worst"] == "coarse"
    # The second of two remedies has to gain beyond the first.
    assert [trial["is_worthwhile"] for trial in report["trials"]] == [True, False, False]
    # An override that gains nothing is proposed nowhere.
    assert 'name "fine" activation=float' not in [one["paste"] for one in report["diagnoses"]]
    proposed = [one for one in report["diagnoses"] if one["paste"]]
    assert proposed and all("Tried: 'coarse' goes from" in one["remedy"] for one in proposed)


def test_an_autoencoder_has_no_answers(tools, shared):
    model, windows = shared / "models" / "autoencoder_ad.mlirbc", shared / "ad" / "synthetic_test_windows.npy"
    found = measure.run_json(model, windows, compare=model)
    assert "agreement" not in found and [one["is_scores"] for one in found["results"]] == [False]


@pytest.mark.parametrize("spread", [0.0, 30.0])
def test_an_embedding_has_no_answers(tools, tmp_path, spread):
    """A layer with twelve results; those of an embedding have offsets of their own, and the largest ones win."""
    rng = np.random.default_rng(2)
    kernel = rng.normal(0, 1, (12, 1, 1, 8))
    offsets = spread * rng.normal(0, 1, 12)
    kernel, offsets = kernel - kernel.mean(axis=0), offsets - offsets.mean()
    inputs, outputs = tmp_path / "inputs.npy", tmp_path / "outputs.npy"
    np.save(inputs, rng.normal(0, 5, (200, 1, 1, 8)).astype(np.float32))
    image, row = "tensor<1x1x1x8xf32>", "tensor<1x1x1x12xf32>"
    body = [
        ZERO,
        *(
            f'%{name} = "tosa.const"() <{{values = dense<"0x{values.astype(np.float32).tobytes().hex()}"> : {kind}}}> '
            f": () -> {kind}"
            for name, values, kind in (
                ("k", kernel, "tensor<12x1x1x8xf32>"),
                ("b", offsets, "tensor<12xf32>"),
            )
        ),
        "%s = tosa.const_shape {values = dense<[1, 12]> : tensor<2xindex>} : () -> !tosa.shape<2>",
        "%v = tosa.conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, "
        "pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : "
        f"({image}, tensor<12x1x1x8xf32>, tensor<12xf32>, tensor<1xf32>, tensor<1xf32>) -> {row}",
        f"%r = tosa.reshape %v, %s : ({row}, !tosa.shape<2>) -> tensor<1x12xf32>",
    ]
    model = tmp_path / "layer.mlir"
    model.write_text(function(f'%x: {image} loc("x")', body, ["%r"], ["tensor<1x12xf32>"]))
    measure.run_ok(measure.run_command(model, inputs, output=outputs))
    rows = np.load(outputs).astype(np.float64)
    # Both look like what a softmax reads: one element has most of it, not the same one, and the mean is near 0.
    decided = (np.exp(rows - rows.max(axis=1, keepdims=True)).sum(axis=1) <= 2).mean()
    assert decided > 0.5 and len(set(rows.argmax(axis=1))) > 1
    assert (4 * rows.mean(axis=1) ** 2 < rows.var(axis=1)).mean() > 0.5
    found = measure.run_json(model, inputs, compare=model)
    assert [one["is_scores"] for one in found["results"]] == [spread == 0]
    assert ("agreement" in found) == (spread == 0)
