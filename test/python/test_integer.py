# SPDX-License-Identifier: Apache-2.0
"""Real networks as integers: the codes at every point are those that the simulation makes."""

import json
import subprocess

import measure
import numpy as np
import pytest

PIXEL_TO_UNIT = {"input_scale": 1 / 255}
# Network, calibration samples, test samples, how many of those, and how both are read.
NETWORKS = {
    "resnet8_cifar10": ("cifar10/calib_images.npy", "cifar10/test_images.npy", 100, {}),
    "resnet20_cifar10": ("cifar10/calib_images.npy", "cifar10/test_images.npy", 20, {}),
    "mobilenet_vww": ("vww/calib_images.npy", "vww/test_images.npy", 50, PIXEL_TO_UNIT),
    "autoencoder_ad": ("ad/synthetic_calib_windows.npy", "ad/synthetic_test_windows.npy", 50, {}),
    "wakeword_ds_cnn": ("ww/features.npy", "ww/features.npy", 45, {}),
    "tiny_darknet_imagenet": ("imagenet/calib_images.npy", "imagenet/test_images.npy", 8, PIXEL_TO_UNIT),
}


@pytest.fixture
def lowered(shared, tmp_path):
    """Makes (simulated, integer) modules of a network for a target."""

    def lower(network, target, options="softmax=cut"):
        calibration, _, _, reading = NETWORKS[network]
        quantized, simulated, integer = (tmp_path / f"{name}.mlirbc" for name in ("quantized", "simulated", "integer"))
        model = shared / "models" / f"{network}.mlirbc"
        measure.run_ok(measure.ptq_command(model, shared / calibration, quantized, **{"target": target, **reading}))
        opt = measure.BIN / "mct-opt"
        measure.run_ok([opt, quantized, "--mct-simulate-integers", "-o", simulated])
        result = measure.run_ok([opt, simulated, f"--mct-lower-to-integer={options}", "-o", integer])
        return simulated, integer, result

    return lower


def prove(shared, network, simulated, integer):
    """Returns the output of `mct-run --exact` as an object."""
    _, test, count, reading = NETWORKS[network]
    command = [measure.BIN / "mct-run", integer, f"--compare={simulated}", "--exact", "--json"]
    command += [f"--input={shared / test}", f"--samples={count}"]
    command += [f"--{name.replace('_', '-')}={value}" for name, value in reading.items()]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode in (0, 1), result.stderr
    return result.returncode, json.loads(result.stdout)


@pytest.mark.alternating
@pytest.mark.parametrize("network", NETWORKS)
def test_powers_of_two_are_computed_exactly(shared, lowered, network):
    simulated, integer, _ = lowered(network, "imx500_v1_pot")
    code, proof = prove(shared, network, simulated, integer)
    assert code == 0
    assert proof["total"]["differing"] == 0
    # Every point was compared, and none of them is empty.
    assert len(proof["points"]) >= 10
    assert all(point["values"] > 0 for point in proof["points"])


@pytest.mark.alternating
def test_images_copied_for_a_device_are_the_same(shared, lowered):
    simulated, integer, _ = lowered("mobilenet_vww", "imx500_v1_pot", "softmax=cut io=integer profile=ethos-u85")
    text = measure.run_ok([measure.BIN / "mct-opt", integer, "--mlir-elide-resource-strings-if-larger=8"]).stdout
    assert text.count("tosa.max_pool2d") == 1
    code, proof = prove(shared, "mobilenet_vww", simulated, integer)
    assert code == 0
    assert proof["total"]["differing"] == 0


def test_free_scales_differ_rarely(shared, lowered):
    # f32 rounds sums of products with free scales; what lies within that of the middle of two codes takes the other
    # one. Measured are 5e-4 of the values, most of them later layers' answers to a few of the first ones.
    simulated, integer, _ = lowered("resnet8_cifar10", "imx500")
    code, proof = prove(shared, "resnet8_cifar10", simulated, integer)
    assert code == 1
    assert proof["total"]["differing"] < 2e-3 * proof["total"]["values"]


@pytest.mark.alternating
def test_integer_resnet8_is_as_accurate_as_promised(shared, lowered):
    images = {"input": shared / "cifar10/test_images.npy", "labels": shared / "cifar10/test_labels.npy"}
    simulated, integer, _ = lowered("resnet8_cifar10", "imx500")
    model = shared / "models/resnet8_cifar10.mlirbc"
    ours = measure.run_json(integer, images["input"], labels=images["labels"], compare=model)
    simulation = measure.run_json(simulated, images["input"], labels=images["labels"])
    assert ours["top1"] >= 0.746
    assert ours["top1"] >= simulation["top1"] - 0.003
    assert ours["agreement"] >= 0.970


@pytest.mark.alternating
def test_integer_softmax_is_within_a_step(shared, lowered, tmp_path):
    simulated, integer, _ = lowered("resnet8_cifar10", "imx500_v1_pot", "softmax=integer")
    outputs = []
    for module in (simulated, integer):
        measure.run_json(module, shared / "cifar10/test_images.npy", samples=500, output=tmp_path / "out.npy")
        outputs.append(np.load(tmp_path / "out.npy"))
    step = 1 / 256
    assert np.abs(outputs[0] - outputs[1]).max() <= step
    assert (outputs[0] != outputs[1]).mean() < 0.01


def test_networks_whose_batch_only_one_can_follow_are_compared(shared):
    """The batch of a step of a GRU can be followed through the integer network, not through its simulation."""
    folder = shared.parent / "repro" / "turn4" / "observed-shape"
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    command = [measure.BIN / "mct-run", folder / "akiki_vad.imx500.int.mlirbc"]
    command += [f"--input={number}:{folder / f'akiki_vad.{number}.npy'}" for number in range(2)]
    command += [f"--compare={folder / 'akiki_vad.imx500.sim.mlirbc'}", "--exact"]
    total = measure.run_ok(command).stdout.splitlines()[-1].split()
    assert total[0] == "total" and int(total[1]) > 0
    assert total[2] == "0"
