# SPDX-License-Identifier: Apache-2.0
"""tools/dev/downstream on a small integer network: with every consumer that is installed, and with none."""

import fcntl
import json
import os
import re
import subprocess
import sys

import compressed_results
import measure
import numpy as np
import pytest

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "downstream"))

import consumers
import integer_network
import tool_environments

DOWNSTREAM = measure.REPOSITORY / "tools" / "dev" / "downstream"
NETWORK = measure.DIGITS / "integer.mlir"
LOWERING = "--mct-lower-to-integer=io=integer softmax=cut batch=1"
EXAMPLES = measure.REPOSITORY / "test" / "Conversion" / "mct-lower-to-integer"
# Ethos-U55 compares nothing.
COMPARING = """
func.func @main(%a: tensor<1x4xi8>, %b: tensor<1x4xi8>, %c: tensor<1x4xi1>) -> tensor<1x4xi8> {
  %0 = tosa.select %c, %a, %b : (tensor<1x4xi1>, tensor<1x4xi8>, tensor<1x4xi8>) -> tensor<1x4xi8>
  return %0 : tensor<1x4xi8>
}
"""


@pytest.fixture
def network(tools):
    return NETWORK


def call(*arguments, **environment):
    command = [sys.executable, DOWNSTREAM, *arguments]
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def run_tools(folder, *arguments, **environment):
    """Exit status, and what was found. Skips by name where a tool is not installed."""
    path = folder / "results.json"
    finished = call(*arguments, "--json", path, **environment)
    assert path.exists(), finished.stderr
    found = json.loads(path.read_text())
    for entry in found:
        if "is not installed" in entry["reason"]:
            pytest.skip(f"{entry['reason'].removeprefix('skipped: ')} (tools/dev/downstream --install {entry['tool']})")
    return finished.returncode, found


def results(tmp_path, *arguments, **environment):
    """Exit status, and what was found for one network, by tool."""
    status, found = run_tools(tmp_path, *arguments, **environment)
    return status, {entry["tool"]: entry for entry in found}


def install_fake(folder, tool, script):
    """A program in the place of a consumer."""
    programs = folder / "env" / tool / "bin"
    programs.mkdir(parents=True)
    program = programs / tool_environments.PROGRAMS[tool]
    program.write_text(script)
    program.chmod(0o755)
    (programs / "python").symlink_to(sys.executable)
    (folder / "env" / tool / "installed.txt").write_text("fake\n")


@pytest.mark.alternating
@pytest.mark.parametrize("tool", ["ours", "iree"])
def test_executors_equal_the_reference_model(tool, network, tmp_path):
    status, found = results(tmp_path, network, "--tools", f"tosa,{tool}")
    assert status == 0
    entry = found[{"ours": "mct-run", "iree": "iree"}[tool]]
    # 8 samples of 4 x 4 x 2.
    assert (entry["differing"], entry["compared"]) == (0, 256)


@pytest.mark.alternating
def test_vela_maps_all_of_it_onto_both_devices(network, tmp_path):
    status, found = results(tmp_path, network, "--tools", "tosa,vela")
    assert status == 0
    for accelerator in ("ethos-u55-256", "ethos-u85-256"):
        entry = found[f"vela {accelerator}"]
        assert entry["taken"] and entry["cycles"] > 0 and entry["reason"] == ""


@pytest.mark.alternating
@pytest.mark.parametrize("device", ["ethos-u55", "ethos-u85"])
@pytest.mark.parametrize("budget", ["compressed:200%", "compressed:50%"])
def test_compressed_weights_are_estimated_within_3_percent(tools, tmp_path, device, budget):
    for tool in ("tosa", "vela"):
        if not tool_environments.program(tool):
            pytest.skip(f"{tool} is not installed (tools/dev/downstream --install {tool})")
    estimated, written = compressed_results.compare(compressed_results.NETWORKS["digits"], budget, device, tmp_path)
    assert written == pytest.approx(estimated, rel=0.03)


def test_ml_sdk_takes_it(network, tmp_path):
    status, found = results(tmp_path, network, "--tools", "mlsdk")
    assert status == 0
    assert found["model-converter"]["taken"]


def lower(source, target, *options):
    measure.run_ok([measure.BIN / "mct-opt", source, *options, "-o", target])
    return target


def take(network, tmp_path, *arguments):
    """Asks the consumers that the check installs. Returns Vela's two verdicts."""
    status, found = results(tmp_path, network, "--tools", "tosa,ours,vela", *arguments)
    assert status == 0, found
    assert found["reference model"]["taken"] and found["mct-run"]["differing"] == 0
    assert found["mct-run"]["compared"] > 0
    return found["vela ethos-u55-256"], found["vela ethos-u85-256"]


@pytest.mark.alternating
def test_lowered_digits_are_taken(quantize, tmp_path):
    digits = quantize(measure.DIGITS / "digits.mlirbc", measure.DIGITS / "digits_calib.npy", input_scale=0.0625)
    network = lower(digits, tmp_path / "digits.mlirbc", LOWERING)
    samples = ["--samples", measure.DIGITS / "digits_test.npy", "--input-scale", "0.0625", "--count", "50"]
    # Vela refuses a network with a part that stays float, and the profiles of mct-check-integer report it.
    take(network, tmp_path, *samples)


@pytest.mark.alternating
@pytest.mark.parametrize("tool", ["ours", "iree"])
def test_executors_equal_the_reference_model_at_every_point(tool, quantize, tmp_path):
    digits = quantize(
        measure.DIGITS / "digits.mlirbc",
        measure.DIGITS / "digits_calib.npy",
        input_scale=0.0625,
        target="imx500_v1_pot",
    )
    network = lower(digits, tmp_path / "digits.mlirbc", "--mct-simulate-integers", LOWERING)
    samples = ["--samples", measure.DIGITS / "digits_test.npy", "--input-scale", "0.0625", "--count", "40"]
    compared = {}
    for points in ([], ["--points"]):
        status, found = results(tmp_path, network, "--tools", f"tosa,{tool}", *samples, *points)
        assert status == 0
        entry = found[{"ours": "mct-run", "iree": "iree"}[tool]]
        assert entry["differing"] == 0
        compared[bool(points)] = entry["compared"]
    assert compared[False] == 40 * 10
    assert compared[True] > 100 * compared[False]


@pytest.mark.alternating
def test_lowered_resnet8_is_taken_at_its_cost(quantize, shared, tmp_path):
    images = shared / "cifar10"
    quantized = quantize(shared / "models" / "resnet8_cifar10.mlirbc", images / "calib_images.npy")
    network = lower(quantized, tmp_path / "resnet8.mlirbc", LOWERING)
    smaller, larger = take(network, tmp_path, "--samples", images / "test_images.npy", "--count", "50")
    # Cycles of Vela's model, the same on every machine. On Ethos-U55 the last layers wait for their weights, whose
    # compressed size follows from their values.
    assert smaller["taken"] and smaller["cycles"] <= 142000
    assert larger["taken"] and larger["cycles"] <= 95000


@pytest.mark.alternating
def test_weights_with_more_than_the_least_error_cost_resnet8_fewer_cycles(quantize, shared, tmp_path):
    images = shared / "cifar10"
    model = shared / "models" / "resnet8_cifar10.mlirbc"
    # Thresholds 1.5 times as large as those of the least error.
    quantized = quantize(model, images / "calib_images.npy", weights_error_tolerance=2.25)
    network = lower(quantized, tmp_path / "resnet8.mlirbc", "--mct-simulate-integers", LOWERING)
    figures = measure.run_json(quantized, images / "test_images.npy", labels=images / "test_labels.npy", compare=model)
    # Float: 74.85 %. With the least error 75.20 % and 97.60 %.
    assert figures["top1"] >= 0.746 and figures["agreement"] >= 0.97
    smaller, larger = take(network, tmp_path, "--samples", images / "test_images.npy", "--count", "50")
    # With the least error 141 186: codes that use the whole grid compress less, and the last layers wait for them.
    assert smaller["taken"] and smaller["cycles"] <= 138000
    assert larger["taken"] and larger["cycles"] <= 95000


@pytest.mark.alternating
def test_lowered_mobilenet_costs_no_more_than_that_of_the_converter(quantize, shared, tmp_path):
    images = shared / "vww"
    quantized = quantize(shared / "models" / "mobilenet_vww.mlirbc", images / "calib_images.npy", input_scale=1 / 255)
    samples = ["--samples", images / "test_images.npy", "--input-scale", str(1 / 255), "--count", "10"]
    smaller, _ = take(lower(quantized, tmp_path / "smaller.mlirbc", LOWERING), tmp_path, *samples)
    larger_lowering = f"{LOWERING} profile=ethos-u85"
    _, larger = take(lower(quantized, tmp_path / "larger.mlirbc", larger_lowering), tmp_path, *samples)
    # MLPerf Tiny's int8 network takes 161 459 and 212 034.
    assert smaller["taken"] and smaller["cycles"] <= 161459
    assert larger["taken"] and larger["cycles"] <= 160000


def examples():
    """Files whose RUN lines make one network of integers each, with the options for that."""
    for path in sorted(EXAMPLES.glob("**/*.mlir")):
        if "linalg." in path.read_text() or path.read_text().count("\nfunc.func @") > 1:
            continue
        runs = r"^// RUN: mct-opt %s --mct-lower-to-integer=\"(.*?)\"(?: --mct-check-integer)? \|"
        for options in re.findall(runs, path.read_text(), re.M):
            if "io=integer" in options:
                yield pytest.param(path, options, id=f"{path.stem}-{options.replace(' ', '-')}")
                break


@pytest.fixture(scope="module")
def taken(request, tools, tmp_path_factory):
    """Returns the verdicts on all examples that are tested, by name and tool. One process runs the consumers."""
    folder = tmp_path_factory.mktemp("examples")
    networks = []
    for item in request.session.items:
        if item.originalname == "test_examples_of_the_lowering_are_taken":
            path, options = (item.callspec.params[name] for name in ("path", "options"))
            networks.append(lower(path, folder / f"{path.stem}.mlirbc", f"--mct-lower-to-integer={options}"))
    _, found = run_tools(folder, *networks, "--tools", "tosa,ours,vela")
    return {path.stem: {entry["tool"]: entry for entry in found if entry["network"] == path.stem} for path in networks}


@pytest.mark.alternating
@pytest.mark.parametrize(("path", "options"), list(examples()))
def test_examples_of_the_lowering_are_taken(path, options, taken):
    verdicts = taken[path.stem]
    assert all(verdict["agrees"] for verdict in verdicts.values()), verdicts
    assert verdicts["reference model"]["taken"] and verdicts["mct-run"]["compared"] > 0


@pytest.mark.alternating
def test_refusal_by_vela_is_the_one_that_the_profile_tells(tools, tmp_path):
    path = tmp_path / "comparing.mlir"
    path.write_text(COMPARING)
    status, found = results(tmp_path, path, "--tools", "tosa,vela")
    assert status == 0
    assert not found["vela ethos-u55-256"]["taken"]
    assert "could not run on NPU" in found["vela ethos-u55-256"]["reason"]
    assert found["vela ethos-u85-256"]["taken"]


def test_values_outside_of_what_tosa_defines_are_no_reference(tools, tmp_path):
    # The shift takes values below 2^7 only, and 8 bits with a zero point have more.
    path = tmp_path / "undefined.mlir"
    path.write_text(
        NETWORK.read_text()
        .replace("dense<1073741824> : tensor<1xi32>", "dense<100> : tensor<1xi32>")
        .replace("dense<30> : tensor<1xi8>", "dense<7> : tensor<1xi8>")
    )
    status, found = results(tmp_path, path, "--tools", "tosa,ours")
    assert status == 1
    assert not found["mct-check-integer"]["taken"]
    assert "REQUIRE() fails" in found["reference model"]["reason"]
    assert found["mct-run"]["differing"] is None


def test_tool_that_is_missing_is_skipped_by_name(network, tmp_path):
    finished = call(
        network, MCT_DOWNSTREAM_DIR=str(tmp_path / "empty"), PATH=str(tmp_path), MCT_TOSA_TOOLS=str(tmp_path)
    )
    assert finished.returncode == 0, finished.stderr
    for name in ("tosa", "vela", "iree", "mlsdk"):
        assert f"skipped: {name} is not installed" in finished.stdout
    assert "| integer | mct-run | yes |" in finished.stdout


def test_networks_of_one_name_are_judged_one_after_the_other(network, tmp_path):
    # Two results scripts, each with its own integer.mlirbc, read each other's files.
    folder = tmp_path / "networks" / network.stem
    folder.parent.mkdir()
    command = [sys.executable, DOWNSTREAM, network, "--tools", "ours"]
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.PIPE, env={**os.environ, "MCT_DOWNSTREAM_DIR": str(tmp_path)}
        )
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(timeout=3)
        assert not folder.exists()
    printed, _ = waiting.communicate(timeout=120)
    assert waiting.returncode == 0 and b"| integer | mct-run | yes |" in printed


def test_refusal_that_no_check_foretells_is_a_disagreement(network, tmp_path):
    folder = tmp_path / "fake"
    install_fake(
        folder,
        "tosa",
        "#!/bin/sh\nfor option; do case $option in --tosa-serialize=*) "
        'touch "$(echo "$option" | sed "s/.*filename=//;s/ .*//")";; esac; done',
    )
    install_fake(folder, "vela", "import sys\nsys.exit('Error: no room')\n")
    status, found = results(tmp_path, network, "--tools", "tosa,vela", MCT_DOWNSTREAM_DIR=str(folder))
    assert status == 1 and not found["vela ethos-u55-256"]["agrees"]
    assert found["vela ethos-u55-256"]["reason"] == "no room; mct-check-integer=profile=ethos-u55 did not say so"


def test_values_that_differ_are_counted():
    expected = [np.array([[1, 2], [3, 4]], np.int8), np.array([0.5, 1e6], np.float32)]
    verdict = consumers.Verdict("iree", True)
    verdict.outputs = [np.array([[1, -2], [3, 4]], np.int8), np.array([0.50001, 1e6 + 10], np.float32)]
    consumers.compare(verdict, expected, None)
    # Whole numbers have to be equal, others nearly.
    assert (verdict.differing, verdict.compared, verdict.largest, verdict.agrees) == (1, 6, 10.0, False)
    verdict.outputs = [expected[0], expected[1][:1]]
    consumers.compare(verdict, expected, None)
    assert verdict.reason == "1 values, the reference model has 2"
    verdict.outputs = expected[:1]
    consumers.compare(verdict, expected, None)
    assert verdict.reason == "1 results, the reference model has 2"


def test_known_faults_of_a_tool_are_told_and_excused():
    network = integer_network.Network("x", None, "main", [], "tensor<4xi48>", False)
    for tool, agrees in (("iree", True), ("mct-run", False)):
        verdict = consumers.Verdict(tool, True, agrees=False)
        consumers.excuse(verdict, network)
        assert verdict.agrees == agrees
        assert ("known: zero-extends constants of 48 bits" in verdict.reason) == agrees


def test_real_samples_become_what_is_stored_for_them(tmp_path):
    entry = integer_network.Input("x", (1, 2), np.dtype(np.int8), scale=0.5, zero_point=3)
    np.save(tmp_path / "real.npy", np.array([[0.75, -0.25], [100.0, 1.0]], np.float32))
    np.save(tmp_path / "bytes.npy", np.array([[255, 0]], np.uint8))
    np.save(tmp_path / "stored.npy", np.array([[7, -9]], np.int8))
    load = integer_network.load
    # 1.5 and -0.5 are rounded up; 200 is beyond 8 bits.
    assert load([entry], [tmp_path / "real.npy"], 8, 1.0, 0.0)[0].tolist() == [[[5, 3]], [[127, 5]]]
    assert load([entry], [tmp_path / "bytes.npy"], 8, 0.125, -1.0)[0].tolist() == [[[65, 1]]]
    assert load([entry], [tmp_path / "stored.npy"], 8, 0.125, -1.0)[0].tolist() == [[[7, -9]]]


@pytest.mark.alternating
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a network, or what to --install"),
        (["--install", "gcc"], "no tool named gcc; there are tosa, vela, iree, mlsdk"),
        (["x.mlir", "--tools", "tosa,gcc"], "no tool named gcc; there are tosa, ours, iree, vela, mlsdk"),
        (["x.mlir", "--count", "0"], "--count: at least 1"),
        (["absent.mlir"], "absent.mlir"),
        (["{dynamic}"], "tensor<?x4xi8> has no fixed shape or is of no samples; mct-set-batch=size=1 sets the batch"),
        (["{small}", "--samples", "a.npy,b.npy"], "2 files of samples for 1 inputs; give one for each, in order"),
        (["{small}", "--samples", "absent.npy"], "absent.npy"),
        (["{small}", "--samples", "{odd}"], "shape (3, 5) is no number of samples of shape (1, 4, 4, 2)"),
        (["{comparing}", "--samples", "{one},{two},{bits}"], "files of 1, 2, 1 samples; give as many for each"),
        (
            ["{comparing}", "--samples", "{real},{two},{bits}"],
            "not int8, and input 'arg0' has no scale; write what is stored",
        ),
    ],
)
def test_bad_input_is_one_clear_error(arguments, message, network, tmp_path):
    files = {"small": network}
    for name, text in (
        ("comparing", COMPARING),
        ("dynamic", "func.func @main(%x: tensor<?x4xi8>) -> tensor<?x4xi8> {\n return %x : tensor<?x4xi8>\n}\n"),
    ):
        files[name] = tmp_path / f"{name}.mlir"
        files[name].write_text(text)
    for name, values in (
        ("odd", np.zeros((3, 5), np.int8)),
        ("one", np.zeros((1, 4), np.int8)),
        ("two", np.zeros((2, 4), np.int8)),
        ("real", np.zeros((1, 4), np.float32)),
        ("bits", np.zeros((1, 4), bool)),
    ):
        files[name] = tmp_path / f"{name}.npy"
        np.save(files[name], values)
    finished = call(*(argument.format(**files) for argument in arguments))
    assert finished.returncode != 0
    assert message in finished.stderr
    assert "Traceback" not in finished.stderr
