# SPDX-License-Identifier: Apache-2.0
"""Bit widths that are chosen for a budget on ResNet8; tools/dev/bit_widths.py prints the whole table."""

import json
import re

import bit_widths
import corrections
import measure
import pytest

# Top-1 and agreement with float on the 10 000 training images (see `RESNET8_TRAINING_IMAGES`), here and below. Required
# is half a point less than the lowest top-1 with the kernels that oneDNN has for AVX-512 and AVX2, and 0.7 points less
# than the lowest agreement.
REQUIRED = {
    "75%": (0.7784, 0.9595),
    "50%": (0.7747, 0.9434),
    "37.5%": (0.7602, 0.8938),
}
KERNEL_BYTES = 77360


def quantize(folder, budget, target="imx500", **options):
    return bit_widths.quantize(folder, budget, target, corrections.RESNET8_TRAINING_IMAGES, **options)


def keeps_to(result):
    assert result["budget"]
    for resource, limit in result["budget"].items():
        assert result["resources"][resource] <= limit


@pytest.mark.alternating
@pytest.mark.parametrize(
    "budget", ["37.5%", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("75%", "50%"))]
)
def test_resnet8_within_a_budget(shared, tmp_path, budget):
    result = quantize(tmp_path, f"weights:{budget}")
    assert result["resources"]["weights_bytes"] <= KERNEL_BYTES * float(budget[:-1]) / 100
    top1, agreement = REQUIRED[budget]
    assert result["top1"] >= top1
    assert result["agreement"] >= agreement


@pytest.mark.thorough
def test_resnet8_with_six_widths(shared, tmp_path):
    result = quantize(tmp_path, "weights:37.5%", bit_widths.choices(tmp_path, bit_widths.SIX))
    assert result["resources"]["weights_bytes"] <= KERNEL_BYTES * 0.375
    assert result["top1"] >= 0.7702
    assert result["agreement"] >= 0.9093


# Weights of two bits fit the samples that they are rounded on: there the sum of the sensitivities and the whole network
# prefer two bits for the largest kernel; samples that were not seen do not.
@pytest.mark.thorough
def test_what_samples_promise_that_were_fitted_is_not_believed(shared, tmp_path):
    widths = bit_widths.choices(tmp_path, bit_widths.SIX)
    judged = quantize(tmp_path, "weights:37.5%", widths)
    assert judged["measured"][0]["sum_of_sensitivities"] < judged["measured"][1]["sum_of_sensitivities"]
    assert judged["measured"][1]["distance"] < judged["measured"][0]["distance"]
    trusted = quantize(tmp_path, "weights:37.5%", widths, remeasure=0)
    assert judged["agreement"] > trusted["agreement"]


# Budgets of what activations use, alone and with others, of a network whose kernels have 8, 4 or 2 bits and whose
# activations 8 or 4. With 4 bits everywhere it reaches 68 %.
@pytest.mark.alternating
@pytest.mark.parametrize(
    ("kernels", "budget", "top1", "agreement"),
    [
        pytest.param((8,), "activations:50%", 0.7658, 0.8999, marks=pytest.mark.thorough),
        ((8,), "bops:75%", 0.7725, 0.9301),
        pytest.param(bit_widths.STOCK, "total:60%", 0.7672, 0.9012, marks=pytest.mark.thorough),
        pytest.param(bit_widths.STOCK, "bops:25%", 0.7551, 0.8755, marks=pytest.mark.thorough),
        pytest.param(bit_widths.STOCK, "weights:50%,activations:75%", 0.7678, 0.9008, marks=pytest.mark.thorough),
    ],
)
def test_resnet8_with_a_choice_of_activations(shared, tmp_path, kernels, budget, top1, agreement):
    result = quantize(tmp_path, budget, bit_widths.choices(tmp_path, kernels, (8, 4)))
    keeps_to(result)
    assert "4" in bit_widths.widths_of(result, "activation")
    assert result["top1"] >= top1
    assert result["agreement"] >= agreement


# The bytes of kernels are those that MCT reports for these widths. By its rule 49,152 bytes of activations are alive at
# once: what the first residual block reads, what its second layer reads, and what that makes.
@pytest.mark.parametrize(
    ("widths", "expected"),
    [
        ("8 8 8 8 8 8 8 8 8 8", KERNEL_BYTES),
        ("8 8 8 8 8 8 8 4 4 8", 57904),
        ("8 8 8 4 8 8 4 2 8 8", 38192),
        ("4 4 4 4 4 4 4 2 2 4", 28952),
    ],
)
def test_resnet8_uses_what_mct_says(shared, tmp_path, widths, expected):
    network = corrections.RESNET8
    rules = tmp_path / "rules.txt"
    names = ["conv2d"] + [f"conv2d_{number}" for number in range(1, 10)]
    rules.write_text("".join(f"name {name} weights={bits}\n" for name, bits in zip(names, widths.split(), strict=True)))
    flags = ["--tpc-attach-target=target=imx500", "--mct-prepare", f"--mct-insert-quantizers=overrides={rules}"]
    command = [
        measure.BIN / "mct-opt",
        network["model"],
        *flags,
        "--mct-report-resources=format=json",
        "-o",
        "/dev/null",
    ]
    totals = json.loads(measure.run_ok(command).stdout)["functions"][0]["totals"]
    assert totals["weights_bytes"] == expected
    assert totals["activations_bytes"] == 49152
    assert totals["total_bytes"] == expected + 49152


DIGITS = {"calibration-data": measure.DIGITS / "digits_calib.npy", "input-scale": 0.0625}


def opt(model, output, *flags, **options):
    """Runs mct-opt; the last flag is a pass that reads the samples of the digits."""
    texts = [f"{key.replace('_', '-')}={value}" for key, value in ({**DIGITS, **options}).items()]
    *before, last = flags
    return measure.run([measure.BIN / "mct-opt", model, *before, f"{last}={' '.join(texts)}", "-o", output])


@pytest.fixture(scope="session")
def measured(tools, tmp_path_factory):
    """The digits with all alternatives of a target measured."""
    done = {}

    def get(name):
        if name not in done:
            folder = tmp_path_factory.mktemp("measured")
            target = name if isinstance(name, str) else bit_widths.choices(folder, *name)
            points, calibrated, done[name] = (folder / f"{stage}.mlirbc" for stage in ("points", "calibrated", "done"))
            flags = [f"--tpc-attach-target=target={target}", "--mct-prepare", "--mct-insert-quantizers"]
            measure.run_ok([measure.BIN / "mct-opt", measure.DIGITS / "digits.mlirbc", *flags, "-o", points])
            assert opt(points, calibrated, "--mct-calibrate").returncode == 0
            flags = ["--mct-select-parameters", "--mct-select-weight-parameters", "--mct-measure-sensitivity"]
            assert opt(calibrated, done[name], *flags).returncode == 0
        return done[name]

    return get


# The choice keeps to the limits as the report counts, and no operator can take an alternative that costs less
# without exceeding one.
@pytest.mark.alternating
@pytest.mark.parametrize(
    ("target", "budget"),
    [
        (((8, 4, 2), (8, 4)), "activations:75%"),
        (((8, 4, 2), (8, 4)), "total:60%"),
        (((8, 4, 2), (8, 4)), "bops:30%"),
        (((8, 4, 2), (8, 4)), "weights:50%,activations:75%,bops:40%"),
        ("imx500_v1_lut", "weights:50%"),
        ("imx500_v3_lut", "weights:45%,bops:40%"),
    ],
)
def test_digits_get_the_cheapest_that_fits(measured, tmp_path, target, budget):
    model, output, chosen = measured(target), tmp_path / "assigned.mlirbc", tmp_path / "chosen.json"
    finished = opt(model, output, "--mct-assign-bit-widths", budget=budget, bit_widths_out=chosen, remeasure=0)
    assert finished.returncode == 0, finished.stderr
    result = json.loads(chosen.read_text())
    keeps_to(result)
    report = [measure.BIN / "mct-opt", output, "--mct-report-resources=format=json", "-o", "/dev/null"]
    assert json.loads(measure.run_ok(report).stdout)["functions"][0]["totals"] == result["resources"]
    cheaper = 0
    for operator in result["operators"]:
        before = operator["alternative"]
        costs = [each["sensitivity"] for each in operator["alternatives"]]
        for operator["alternative"], cost in enumerate(costs):
            if cost >= costs[before]:
                continue
            operator["bits"] = operator["alternatives"][operator["alternative"]]["bits"]
            edited = tmp_path / "edited.json"
            edited.write_text(json.dumps(result))
            finished = opt(model, "/dev/null", "--mct-assign-bit-widths", bit_widths_in=edited, budget=budget)
            assert finished.returncode == 1
            assert "cannot keep to its budget" in finished.stderr
            cheaper += 1
        operator["alternative"] = before
        operator["bits"] = operator["alternatives"][before]["bits"]
    assert cheaper > 0


# Gradients of the results weight points unequally, and are the same however they are computed.
@pytest.mark.alternating
def test_digits_with_points_weighted_by_gradients(measured, tmp_path):
    calibrated = measured("imx500").with_name("calibrated.mlirbc")
    passes = ["--mct-select-parameters", "--mct-select-weight-parameters", "--mct-measure-sensitivity"]
    tables = {}
    for name, options in {
        "average": {"weighting": "average"},
        "hessian": {"weighting": "hessian"},
        "one by one": {"weighting": "hessian", "threads": 1, "batch_size": 1},
        "three threads": {"weighting": "hessian", "threads": 3},
    }.items():
        output = tmp_path / f"{name}.mlir"
        finished = opt(calibrated, output, *passes, compare_points=1, **options)
        assert finished.returncode == 0, finished.stderr
        tables[name] = re.search(
            r"tpc.sensitivities = .*of = \{(.*?)\}, points = \{(.*?)\}", output.read_text()
        ).groups()
    assert tables["hessian"] == tables["one by one"] == tables["three threads"]
    assert 'weighting = "average"' in tables["average"][1] and 'weighting = "hessian"' in tables["hessian"][1]
    assert tables["hessian"][0] != tables["average"][0]


# Kernels that become tables: of 2 and 4 bits, rounded together, and the network still reads digits.
@pytest.mark.alternating
@pytest.mark.parametrize(("budget", "required"), [("50%", 0.98), ("30%", 0.95)])
def test_digits_with_kernels_that_are_tables(tools, tmp_path, budget, required):
    output, chosen = tmp_path / "quantized.mlir", tmp_path / "chosen.json"
    options = {"target": "imx500_v1_lut", "budget": f"weights:{budget}", "bit_widths_out": chosen}
    finished = opt(measure.DIGITS / "digits.mlirbc", output, "--mct-ptq", **options)
    assert finished.returncode == 0, finished.stderr
    result = json.loads(chosen.read_text())
    keeps_to(result)
    coarse = sum(each["bits"]["kernel_attr"] < 8 for each in result["operators"])
    tables = [
        line for line in output.read_text().splitlines() if "#tpc.lookup_table<method = lut_sym_quantizer" in line
    ]
    assert len(tables) == coarse > 0
    assert all('applied = ["rounded_weights"]' in line for line in tables)
    scores = measure.run_json(
        output, measure.DIGITS / "digits_test.npy", input_scale=0.0625, labels=measure.DIGITS / "digits_test_labels.npy"
    )
    assert scores["top1"] >= required
