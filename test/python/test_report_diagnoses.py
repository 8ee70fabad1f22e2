# SPDX-License-Identifier: Apache-2.0
"""Diagnoses of reports: small networks that have one disease each are quantized and reported on; the rule for it names
the right tensor, and the text that it gives to paste reduces the error. Healthy networks get no grave diagnosis."""

import json
import math

import corrections
import measure
import numpy as np
import pytest

# Most of them run the pipeline.
pytestmark = pytest.mark.alternating

GRAVE, WORTHLESS = 0.25, 1
DIGITS = measure.DIGITS / "digits.mlirbc"
DIGITS_CALIBRATION = measure.DIGITS / "digits_calib.npy"
DIGITS_TEST = measure.DIGITS / "digits_test.npy"
DIGITS_LABELS = measure.DIGITS / "digits_test_labels.npy"
SCALE = {"input_scale": 0.0625}


# ===--- Networks -----------------------------------------------------------------------------------------------------


def tensor_type(shape):
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


class Network:
    """A chain of ops on images of 8x8, as text."""

    def __init__(self, channels=4):
        self.constants, self.lines = [], []
        self.value, self.shape = "%image", (1, 8, 8, channels)
        self.argument = tensor_type(self.shape)

    def constant(self, values):
        values = np.asarray(values, np.float32)
        name, kind = f"%c{len(self.constants)}", tensor_type(values.shape)
        data = f'dense<"0x{values.tobytes().hex()}"> : {kind}'
        self.constants.append(f'{name} = "tosa.const"() <{{values = {data}}}> : () -> {kind}')
        return name, kind

    def append(self, name, op, operands, attributes, shape):
        """Operands are pairs of a name and a type; the value so far is the first."""
        operands = [(self.value, tensor_type(self.shape)), *operands]
        names, types = ", ".join(one for one, _ in operands), ", ".join(kind for _, kind in operands)
        result = f"%v{len(self.lines)}"
        self.lines.append(f'{result} = {op} {names} {attributes} : ({types}) -> {tensor_type(shape)} loc("{name}")')
        self.value, self.shape = result, shape
        return self

    def conv(self, name, kernel, bias=None):
        """1x1; `kernel`: output x input channels."""
        kernel = np.asarray(kernel, np.float32)
        bias = np.zeros(len(kernel)) if bias is None else bias
        zero = self.constant([0.0])
        operands = [self.constant(kernel[:, None, None, :]), self.constant(bias), zero, zero]
        attributes = (
            "{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}"
        )
        return self.append(name, "tosa.conv2d", operands, attributes, (*self.shape[:3], len(kernel)))

    def unary(self, name, op, attributes=""):
        return self.append(name, op, [], attributes, self.shape)

    def relu(self, name):
        return self.unary(name, "tosa.clamp", "{min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32}")

    def swish(self, name):
        before = (self.value, tensor_type(self.shape))
        self.unary(f"{name}/sigmoid", "tosa.sigmoid")
        shift = "%shift"
        self.constants.append(f'{shift} = "tosa.const"() <{{values = dense<0> : tensor<1xi8>}}> : () -> tensor<1xi8>')
        return self.append(name, "tosa.mul", [before, (shift, "tensor<1xi8>")], "", self.shape)

    def max_pool(self, name):
        attributes = "{kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}"
        _, height, width, channels = self.shape
        return self.append(name, "tosa.max_pool2d", [], attributes, (1, height // 2, width // 2, channels))

    def text(self):
        result = tensor_type(self.shape)
        body = "\n  ".join([*self.constants, *self.lines, f"return {self.value} : {result}"])
        return f'func.func @main(%image: {self.argument} loc("image")) -> {result} {{\n  {body}\n}}\n'


def random(seed=0):
    return np.random.default_rng(seed)


def kernels(outputs=4, inputs=4, seed=1):
    return random(seed).uniform(-1, 1, (outputs, inputs))


def samples(count=200, low=0.0, high=1.0, channels=4, seed=0):
    return random(seed).uniform(low, high, (count, 8, 8, channels)).astype(np.float32)


def derive(act="", conv_act="", sets=(), kernel="per_channel = true, ", linear_bits=8):
    """A target that differs from the stock one in a few words: of all results, of those of convolutions, of kernels.
    `sets`: those that get results of their own although the base has none."""
    kernel = f"#tpc.attr_quant_config<method = symmetric, bits = {linear_bits}, {kernel}enabled = true>"
    common = "act_method = power_of_two, act_bits = 8, input_bits = [8]"
    default = "default_weight = #tpc.attr_quant_config<method = power_of_two, bits = 8>"
    named = ", ".join(f'#tpc.operator_set<"{one}", options = #tpc.qc_options<[#act]>>' for one in sets)
    operator_sets = f"  operator_sets [{named}]\n" if sets else ""
    return f"""\
#act = #tpc.op_quant_config<{common}, {act}{default}>
#conv = #tpc.op_quant_config<{common}, {conv_act}weights = {{kernel_attr = {kernel}}}, {default}>
tpc.derive @derived from "imx500" type("derived") version 1, 0
  default(#tpc.qc_options<[#act]>)
  linear(#tpc.qc_options<[#conv]>)
{operator_sets}"""


# ===--- Quantize, report, take the remedy ----------------------------------------------------------------------------


class Study:
    """A float network with samples, quantized and reported on in one way after another."""

    def __init__(self, folder, model, calibration, test, run_options=None, **options):
        self.folder, self.options, self.run_options = folder, options, run_options or {}
        self.model = model
        if isinstance(model, Network):
            self.model = folder / "float.mlir"
            self.model.write_text(model.text())
        self.calibration, self.test = (
            self.save(data, name) for data, name in ((calibration, "calibration"), (test, "test"))
        )
        if "target" in options and "\n" in options["target"]:
            path = folder / "target.mlir"
            path.write_text(options["target"])
            options["target"] = path
        self.overrides = []
        self.count = 0

    def save(self, data, name):
        if not isinstance(data, np.ndarray):
            return data
        path = self.folder / f"{name}.npy"
        np.save(path, data)
        return path

    def report(self, pasted=None, trace=False):
        """`pasted`: a diagnosis whose remedy is taken as it stands there. `trace`: of the quantization, too."""
        options, overrides = dict(self.options), list(self.overrides)
        if pasted and pasted["kind"] == "option":
            words = [word.split("=") for word in pasted["paste"].split()]
            options |= {key.replace("-", "_"): value for key, value in words}
        elif pasted:
            overrides.append(pasted["paste"])
        if overrides:
            rules = self.folder / f"{self.count}.rules"
            rules.write_text("\n".join(overrides) + "\n")
            options["overrides"] = rules
        self.count += 1
        self.quantized = self.folder / f"{self.count}.mlirbc"
        command = measure.ptq_command(self.model, self.calibration, self.quantized, **options)
        traced = {"trace": self.folder / f"{self.count}.trace.json"} if trace else {}
        measure.run_ok([*command, *(f"--mct-trace={path}" for path in traced.values())])
        output = self.folder / f"{self.count}.json"
        measure.run_ok(
            measure.run_command(
                self.quantized, self.test, compare=self.model, report=output, **self.run_options, **traced
            )
        )
        return json.loads(output.read_text())


@pytest.fixture
def study(tools, tmp_path):
    def make(model, calibration, test, **options):
        return Study(tmp_path, model, calibration, test, **options)

    return make


def find(report, rule, subject=None):
    """The only diagnosis of that rule, or that with the subject."""
    named = [one for one in report["diagnoses"] if one["rule"] == rule]
    found = [one for one in named if subject is None or one["subject"] == subject]
    assert len(found) == 1, [(one["rule"], one["subject"]) for one in report["diagnoses"]]
    return found[0]


def rules(report):
    return [one["rule"] for one in report["diagnoses"]]


def own_error(report, name):
    """Returns the mean squared error of a point, over the histogram of calibration or the elements of a weight.

    It is 0 where nothing is quantized.
    """
    for point in report["points"]:
        if point["name"] in (name, f"{name}_shifted") and point.get("parameters"):
            return next(trial["error"] for trial in point["selection"]["curve"] if trial["scale"] == 1)
    return 0


def relative_error(report, name):
    """Returns the error of a point against the float network, as a share of the mean square of its values."""
    for point in report["points"]:
        if point["name"] == name and point.get("parameters"):
            sqnr = point["own"]["sqnr"]
            return 0 if sqnr is None else 10 ** (-sqnr / 10)
    return 0


def output_error(report):
    sqnr = report["simulated"]["output"]["sqnr"]
    return 0 if sqnr is None else 10 ** (-sqnr / 10)


def check_cure(sick, rule, subject, measure_error=own_error):
    """The remedy, taken literally, lowers the error of the tensor, and that of the results; the rule is silent then."""
    before = sick.report()
    found = find(before, rule, subject)
    after = sick.report(found)
    assert measure_error(after, subject) < measure_error(before, subject)
    assert output_error(after) < output_error(before)
    assert not [one for one in after["diagnoses"] if one["rule"] == rule and one["subject"] == subject]
    return found


# ===--- Samples ------------------------------------------------------------------------------------------------------


def digits(study, calibration=DIGITS_CALIBRATION, labels=DIGITS_LABELS, **options):
    return study(DIGITS, calibration, DIGITS_TEST, run_options=SCALE | {"labels": labels}, **(SCALE | options))


def test_the_digits_network_is_healthy_and_says_what_was_shifted(study):
    report = digits(study).report()
    assert all(one["severity"] < GRAVE for one in report["diagnoses"])
    shifted = find(report, "shifted-activation", "reduce/swish/mul_shifted")
    numbers = {one["name"]: one["value"] for one in shifted["numbers"]}
    # Numbers that mct-correct-shift-negative itself prints with remarks=true for this point.
    assert numbers["shift"] == 0.3125
    assert numbers["error"] < numbers["error before"] / 2
    assert "'reduce/swish/mul_shifted' was shifted above zero by 0.312" in shifted["cause"]
    assert "dB" in shifted["cause"]


def test_a_tail_that_is_too_long_for_the_default_is_shifted_with_another_ratio(study):
    found = check_cure(digits(study), "wasted-sign", "stem/hard_swish/scale")
    assert found["paste"] == "shift-negative-activation-correction=true shift-negative-ratio=0.1"
    assert found["severity"] < GRAVE


def test_the_trace_tells_what_stands_nowhere_else(study):
    """The trace has the samples of the calibration and the reason why a tail was left."""
    sick = digits(study, DIGITS_TEST)
    report = sick.report()
    assert "same-samples" not in rules(report)
    traced = sick.report(trace=True)
    assert find(traced, "same-samples")["severity"] == 0
    decisions = {point["name"]: point["decisions"] for point in traced["points"]}["stem/hard_swish/scale"]
    assert "long-tail" in [one["reason"] for one in decisions]
    assert find(traced, "wasted-sign", "stem/hard_swish/scale")


def test_black_images_come_first(study):
    report = digits(study, np.zeros_like(np.load(DIGITS_CALIBRATION))).report()
    worst = report["diagnoses"][0]
    assert (worst["rule"], worst["subject"]) == ("one-value", "input")
    assert worst["severity"] > WORTHLESS
    assert worst["cause"] in report["verdict"]


@pytest.mark.parametrize(
    ("prepare", "wrong", "expected"),
    [
        (lambda images: images, {"input_scale": 1}, "input-scale=0.0625"),
        (lambda images: images, {"input_scale": 0.125, "input_offset": -1}, "input-scale=0.5 input-offset=0.5"),
    ],
)
def test_another_range_comes_first_and_is_scaled_back(study, prepare, wrong, expected):
    sick = digits(study, prepare(np.load(DIGITS_CALIBRATION)), **wrong)
    before = sick.report()
    worst = before["diagnoses"][0]
    assert (worst["rule"], worst["subject"]) == ("other-range", "input")
    assert worst["severity"] > WORTHLESS
    numbers = {one["name"]: one["value"] for one in worst["numbers"]}
    if "input_offset" not in wrong:
        assert worst["paste"] == expected
        after = sick.report(worst)
        assert "other-range" not in rules(after)
        assert output_error(after) < output_error(before)
    else:
        assert numbers["scale"] == pytest.approx(0.5) and numbers["offset"] == pytest.approx(0.5)


def test_four_samples_come_first_and_more_are_the_remedy(study):
    sick = digits(study, calibration_samples=4)
    before = sick.report()
    worst = before["diagnoses"][0]
    assert worst["rule"] == "too-few-samples"
    assert worst["severity"] > WORTHLESS
    assert worst["remedy"].startswith("Calibrate with ")
    after = sick.report({"kind": "option", "paste": "calibration-samples=300"})
    assert "too-few-samples" not in rules(after)
    assert output_error(after) < output_error(before)


def test_other_images_of_the_same_range_are_unlike(study):
    sick = digits(study, 16 - np.load(DIGITS_CALIBRATION))
    before = sick.report()
    worst = before["diagnoses"][0]
    assert (worst["rule"], worst["subject"]) == ("unlike-samples", "input")
    assert worst["severity"] > WORTHLESS
    sick.calibration = DIGITS_CALIBRATION
    after = sick.report()
    assert "unlike-samples" not in rules(after)
    assert output_error(after) < output_error(before)


def test_labels_in_another_order_make_the_float_network_guess(study, tmp_path):
    labels = np.random.default_rng(0).permutation(np.load(DIGITS_LABELS))
    path = tmp_path / "labels.npy"
    np.save(path, labels)
    assert rules(digits(study, labels=path).report())[0] == "float-network-fails"


def test_a_report_on_few_samples_is_uncertain(study):
    few = digits(study)
    few.run_options = few.run_options | {"report_samples": 4}
    report = few.report()
    assert report["effect_samples"] < 15
    assert find(report, "few-report-samples")["severity"] == 0
    few.run_options["report_samples"] = 256
    assert "few-report-samples" not in rules(few.report())


# ===--- Tensors ------------------------------------------------------------------------------------------------------


def long_tail(count=200, seed=0):
    """Most values are small; one in a hundred reaches 1."""
    values = samples(count, 0, 0.1, seed=seed)
    chosen = random(seed + 1).random(values.shape) < 0.01
    return np.where(chosen, samples(count, 0, 1, seed=seed + 2), values).astype(np.float32)


@pytest.mark.parametrize(
    ("options", "paste"),
    [
        ({"activation_error_method": "percentile", "percentile": 99}, "activation-error-method=mse"),
        ({"z_threshold": 1}, "z-threshold=0"),
    ],
)
def test_a_clipped_tail_takes_the_option_that_clips_less(study, options, paste):
    network = Network().conv("conv", np.eye(4))
    found = check_cure(study(network, long_tail(), long_tail(seed=9), **options), "clipped-tail", "image")
    assert found["paste"] == paste


def test_a_short_negative_tail_is_shifted(study):
    network = Network().conv("conv", 3 * kernels()).swish("act").conv("behind", kernels(seed=2))
    sick = study(network, samples(low=-1), samples(low=-1, seed=9), shift_negative_activation_correction="false")
    found = check_cure(sick, "wasted-sign", "act")
    assert found["paste"].startswith("shift-negative-activation-correction=true shift-negative-ratio=0.")


def test_a_sign_that_the_target_asks_for_is_wasted(study):
    network = Network().conv("conv", kernels()).relu("relu").conv("behind", kernels(seed=2))
    sick = study(network, samples(), samples(seed=9), target=derive(act="signedness = signed, "))
    check_cure(sick, "wasted-sign", "relu")


def test_a_sign_that_the_target_does_not_have_is_missing(study):
    network = Network().conv("conv", kernels()).conv("behind", kernels(seed=2))
    sick = study(
        network,
        samples(),
        samples(seed=9),
        target=derive(conv_act="signedness = unsigned, "),
        linear_collapsing="false",
    )
    check_cure(sick, "missing-sign", "conv")


def test_an_input_just_above_a_power_of_two_is_scaled(study):
    network = Network().conv("conv", kernels())
    sick = study(network, samples(high=1.1), samples(high=1.1, seed=9))
    found = check_cure(sick, "above-power-of-two", "image", relative_error)
    assert found["paste"] == "input-scaling=true"


def test_an_outlier_channel_of_a_kernel_gets_more_bits(study):
    kernel = kernels()
    kernel[2] *= 64
    network = Network().conv("conv", kernel).relu("relu")
    sick = study(network, samples(), samples(seed=9), target=derive(kernel=""))
    found = check_cure(sick, "outlier-channels", "conv/kernel_attr")
    assert "Channel 2 of 'conv/kernel_attr'" in found["cause"]


def test_an_outlier_channel_of_an_activation_gets_more_bits(study):
    kernel = kernels()
    kernel[2] *= 64
    network = Network().conv("conv", kernel)
    found = check_cure(study(network, samples(), samples(seed=9)), "outlier-channels", "conv")
    assert "Channel 2 of 'conv'" in found["cause"]


def test_dead_channels_can_go(study):
    kernel, following = kernels(), kernels(seed=2)
    kernel[1] = 0
    before = study(
        Network().conv("conv", kernel).relu("relu").conv("behind", following), samples(), samples(seed=9)
    ).report()
    found = find(before, "dead-channels", "conv/kernel_attr")
    assert found["severity"] == 0 and "Channel 1 of the 4" in found["cause"]
    assert "relu" in [one["subject"] for one in before["diagnoses"] if one["rule"] == "dead-channels"]
    alive = [0, 2, 3]
    after = study(
        Network().conv("conv", kernel[alive]).relu("relu").conv("behind", following[:, alive]),
        samples(),
        samples(seed=9),
    ).report()
    assert "dead-channels" not in rules(after)
    assert after["resources"]["weight_bytes"] < before["resources"]["weight_bytes"]
    # The rest is what bias correction measures, in other sums.
    assert output_error(after) == pytest.approx(output_error(before), rel=1e-2)


def test_a_constant_activation_stays_float(study):
    network = Network().conv("conv", np.zeros((4, 4)), np.full(4, 0.3)).conv("behind", kernels(seed=2))
    # The error is the same for all samples: a correction of biases and the rounding of the result would hide it.
    options = {"linear_collapsing": "false", "weights_bias_correction": "false"}
    sick = study(network, samples(), samples(seed=9), **options)
    sick.overrides = ['name "behind" activation=float']
    check_cure(sick, "constant-activation", "conv")


def test_small_values_beside_few_large_ones_need_more_than_8_bits(study):
    def spikes(seed):
        values = samples(1000, 0, 0.002, seed=seed)
        values[:5, 0, 0, 0] = 1
        return values

    check_cure(study(Network().conv("conv", kernels()), spikes(0), spikes(9)), "wide-range", "image")


def test_a_tensor_before_a_reciprocal_is_sensitive(study):
    network = Network().unary("reciprocal", "tosa.reciprocal")
    sick = study(network, samples(low=0.01), samples(low=0.01, seed=9))
    check_cure(sick, "sensitive-tensor", "image")


# ===--- Bits ---------------------------------------------------------------------------------------------------------


def test_few_bits_of_the_first_layer(study):
    sick = digits(study)
    sick.overrides = ['name "stem/batch_norm/shift" weights=2']
    before = sick.report()
    found = find(before, "few-bits-in-sensitive-layer", "stem/batch_norm/shift/kernel_attr")
    assert found["paste"] == 'name "stem/batch_norm/shift" weights.kernel_attr=4'
    after = sick.report(found)
    assert own_error(after, found["subject"]) < own_error(before, found["subject"])
    assert after["distance"] < before["distance"]


def test_few_bits_of_another_layer(study):
    sick = digits(study)
    sick.overrides = ['name "block/project" weights=2']
    before = sick.report()
    found = find(before, "few-bits", "block/project/kernel_attr")
    after = sick.report(found)
    assert own_error(after, found["subject"]) < own_error(before, found["subject"])
    assert after["distance"] < before["distance"]


def test_few_bits_are_rounded_together(study):
    sick = digits(study, round_weights="false")
    sick.overrides = ['name "*" weights=4']
    before = sick.report()
    found = find(before, "rounded-one-by-one")
    after = sick.report(found)
    assert "rounded-one-by-one" not in rules(after)
    assert after["distance"] < before["distance"]


def test_thresholds_are_compared_by_the_results(study, tmp_path):
    sick = digits(study, target=str(corrections.target_for("8-bit weights, 4-bit activations", tmp_path)))
    before = sick.report()
    found = find(before, "unrefined-thresholds")
    after = sick.report(found)
    assert "unrefined-thresholds" not in rules(after)
    assert after["distance"] < before["distance"]


# ===--- Operators ----------------------------------------------------------------------------------------------------


def test_an_unmatched_operator_is_left_in_float(study):
    network = Network().conv("conv", kernels()).unary("exp", "tosa.exp")
    check_cure(study(network, samples(), samples(seed=9)), "unmatched-operator", "exp")


def test_an_unfused_activation_needs_no_quantizer_before_it(study):
    network = Network().conv("conv", 4 * kernels()).unary("erf", "tosa.erf")
    check_cure(study(network, samples(), samples(seed=9)), "unfused-activation", "conv")


def test_a_pool_needs_no_quantizer(study):
    def with_few_large(seed):
        # These are so few that the least error clips them, but so many among the largest of four values that it does
        # not.
        values = samples(1000, seed=seed)
        for number in range(15):
            values[number, 0, 0, 0] = 1.2
        return values

    network = Network().max_pool("pool").conv("conv", kernels())
    sick = study(network, with_few_large(0), with_few_large(9), target=derive(sets=["MaxPool"]))
    check_cure(sick, "needless-quantizer", "pool")


def boxes_beside_scores():
    """Boxes up to hundreds of pixels and scores from 0 to 1 in one tensor."""
    network = Network().conv("boxes", 100 * np.abs(kernels()))
    boxes = network.value, tensor_type(network.shape)
    # Scores are spread from 0 to 1: the grid of the boxes has steps of a whole.
    network.conv("logits", kernels(seed=3) / 100).unary("scores", "tosa.sigmoid")
    kind = tensor_type((1, 8, 8, 8))
    network.lines.append(
        f"%head = tosa.concat {boxes[0]}, {network.value} {{axis = 3 : i32}} : ({boxes[1]}, {boxes[1]}) -> {kind} "
        'loc("head")'
    )
    network.value, network.shape = "%head", (1, 8, 8, 8)
    return network


def test_a_grid_for_boxes_and_scores_is_a_grave_matter(study):
    sick = study(boxes_beside_scores(), samples(), samples(seed=9), split_shared_grids="false")
    found = find(sick.report(), "shared-grid-concat", "head")
    assert found["severity"] >= GRAVE
    assert "'scores'" in found["cause"]
    after = sick.report(found)
    assert "shared-grid-concat" not in rules(after)
    # By default there is no such grid.
    healthy = study(boxes_beside_scores(), samples(), samples(seed=9))
    assert "shared-grid-concat" not in rules(healthy.report())


def test_a_bias_beyond_32_bits_gets_a_larger_threshold(study):
    """The simulation of integers leaves such a bias in float, with a warning."""
    kernel = kernels()
    kernel[1] = 1e-7
    sick = study(Network().conv("conv", kernel, [0, 4, 0, 0]), samples(), samples(seed=9))
    before = sick.report()
    found = find(before, "bias-off-grid", "conv")
    assert found["severity"] >= GRAVE

    def simulate():
        return measure.run_ok([measure.BIN / "mct-opt", sick.quantized, "--mct-simulate-integers", "-o", "/dev/null"])

    assert "more than 32 bits hold" in simulate().stderr
    after = sick.report(found)
    assert "bias-off-grid" not in rules(after)
    assert simulate().stderr == ""
    sums = {one["name"]: one.get("sums") for one in after["operators"]}["conv"]
    assert sums["largest_bias"] < 2**31


def test_a_bias_off_the_steps_of_the_accumulator_gets_smaller_steps(study):
    """Channels that are nearly equal are subtracted with weights of 2 bits: the result is smaller than the steps."""

    def twins(seed):
        values = samples(channels=1, seed=seed)
        return np.concatenate([values, values + samples(channels=1, high=0.004, seed=seed + 1)], axis=-1)

    network = Network(2).conv("conv", [[1, -1], [-1, 1]], [0.0123, -0.0211])
    sick = study(network, twins(0), twins(9), weights_bias_correction="false", round_weights="false")
    sick.overrides = ['name "conv" weights=2']

    def simulated_error():
        simulated = sick.folder / "simulated.mlirbc"
        measure.run_ok([measure.BIN / "mct-opt", sick.quantized, "--mct-simulate-integers", "-o", simulated])
        points = measure.run_json(simulated, sick.test, compare=sick.model)["points"]
        return next(10 ** (-one["sqnr_db"] / 10) for one in points if one["name"] == "conv")

    before = sick.report()
    error = simulated_error()
    found = find(before, "bias-off-grid", "conv")
    after = sick.report(found)
    assert "bias-off-grid" not in rules(after)
    assert simulated_error() < error


def test_sums_beyond_32_bits_get_smaller(study):
    kernel = kernels(4, 16, seed=3)
    # So small that it gets the smallest threshold there is, 1.528e-5. The bias alone is then 2147407770 steps of 2^-8
    # times 2^-7 of that, and the products add 220320: below and above 2^31.
    kernel[1] = random(4).uniform(0.3, 0.5, 16) * 2.0**-16
    sick = study(
        Network(16).conv("conv", kernel, [0, 1.0015, 0, 0]),
        samples(channels=16),
        samples(channels=16, seed=9),
    )
    before = sick.report()
    found = find(before, "saturated-accumulator", "conv")

    def lower():
        flags = ["--mct-simulate-integers", "--mct-lower-to-integer=io=integer"]
        return measure.run_ok([measure.BIN / "mct-opt", sick.quantized, *flags, "-o", "/dev/null"]).stderr

    assert "has sums that do not fit into its accumulator" in lower()
    after = sick.report(found)
    assert "saturated-accumulator" not in rules(after)
    assert lower() == ""


# ===--- Real networks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [pytest.param("resnet8", marks=pytest.mark.thorough), "vww"])
def test_real_networks_get_no_grave_diagnosis(study, shared, name):
    model, folder, options = {
        "resnet8": ("resnet8_cifar10", "cifar10", {}),
        "vww": ("mobilenet_vww", "vww", {"input_scale": repr(1 / 255)}),
    }[name]
    healthy = study(
        shared / "models" / f"{model}.mlirbc",
        shared / folder / "calib_images.npy",
        shared / folder / "test_images.npy",
        run_options=options,
        **options,
    )
    report = healthy.report()
    # Neither has values below zero that a shift could lift; both are ReLUs throughout.
    assert "shifted-activation" not in rules(report)
    assert [one for one in report["diagnoses"] if one["severity"] >= GRAVE] == []


@pytest.mark.parametrize(
    "fault", [*(pytest.param(each, marks=pytest.mark.thorough) for each in ("black", "range")), "few"]
)
def test_a_broken_calibration_of_vww_comes_first(study, shared, fault):
    images = np.load(shared / "vww" / "calib_images.npy")
    options = {"input_scale": repr(1 / 255)}
    broken = {
        "black": (np.zeros_like(images), options),
        "range": (images, {"input_scale": 1}),
        "few": (images[:4], options),
    }[fault]
    report = study(
        shared / "models" / "mobilenet_vww.mlirbc",
        broken[0],
        shared / "vww" / "test_images.npy",
        run_options=options,
        **broken[1],
    ).report()
    worst = report["diagnoses"][0]
    assert worst["rule"] == {"black": "one-value", "range": "other-range", "few": "too-few-samples"}[fault]
    assert worst["severity"] > WORTHLESS and math.isfinite(worst["severity"])
