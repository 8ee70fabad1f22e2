# SPDX-License-Identifier: Apache-2.0
"""The result depends on the samples alone: not on threads, batch size, or the order and split of the files."""

import measure
import numpy as np
import pytest

MODEL = measure.DIGITS / "digits.mlirbc"
CALIBRATION = measure.DIGITS / "digits_calib.npy"
DIGITS = {"input_scale": 0.0625}

VARIANTS = [
    {"threads": 1, "batch_size": 1},
    {"threads": 2, "batch_size": 1},
    {"threads": 1, "batch_size": 7},
    {"threads": 2, "batch_size": 7},
    {"threads": 2, "batch_size": 32},
]

# The samples are cut to what shows an effect of the last, incomplete batch in little time.
REAL = {
    "resnet8_cifar10": ("cifar10/calib_images.npy", {"calibration_samples": 75}),
    "mobilenet_vww": ("vww/calib_images.npy", {"calibration_samples": 40, "input_scale": 1 / 255}),
    "autoencoder_ad": ("ad/synthetic_calib_windows.npy", {"calibration_samples": 75}),
}


def quantized(model, calibration, folder, **options):
    """The bytes of the quantized module."""
    output = folder / "quantized.mlir"
    measure.run_ok(measure.ptq_command(model, calibration, output, **options))
    return output.read_bytes()


@pytest.fixture
def shards(tmp_path):
    """The calibration images cut into two files of different length."""
    images = np.load(CALIBRATION)
    paths = tmp_path / "shard_a.npy", tmp_path / "shard_b.npy"
    np.save(paths[0], images[:113])
    np.save(paths[1], images[113:])
    return paths


@pytest.mark.alternating
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: f"threads{v['threads']}-batch{v['batch_size']}")
def test_digits_do_not_depend_on_workers_or_batch(tools, tmp_path, variant):
    reference = quantized(MODEL, CALIBRATION, tmp_path, threads=1, batch_size=32, **DIGITS)
    assert quantized(MODEL, CALIBRATION, tmp_path, **variant, **DIGITS) == reference


@pytest.fixture
def four_bits(tmp_path):
    """Options with which the weights of all convolutions are rounded together."""
    rules = tmp_path / "four_bits.rules"
    rules.write_text("op tosa.conv2d weights=4\n")
    return {"overrides": rules, **DIGITS}


@pytest.mark.alternating
def test_rounded_weights_do_not_depend_on_workers_batch_or_order(tools, tmp_path, shards, four_bits):
    reference = quantized(MODEL, CALIBRATION, tmp_path, threads=1, batch_size=32, **four_bits)
    assert b"rounded_weights" in reference
    for variant in VARIANTS:
        assert quantized(MODEL, CALIBRATION, tmp_path, **variant, **four_bits) == reference, variant
    for order in (shards, shards[::-1]):
        assert quantized(MODEL, ",".join(map(str, order)), tmp_path, **four_bits) == reference


@pytest.mark.alternating
def test_bit_widths_do_not_depend_on_workers_or_batch(tools, tmp_path):
    options = {"budget": "weights:40%", **DIGITS}
    reference = quantized(MODEL, CALIBRATION, tmp_path, threads=1, batch_size=32, **options)
    assert b"tpc.sensitivities" in reference
    for variant in VARIANTS:
        assert quantized(MODEL, CALIBRATION, tmp_path, **variant, **options) == reference, variant


@pytest.mark.alternating
@pytest.mark.parametrize("name", REAL)
def test_real_models_do_not_depend_on_workers_or_batch(shared, tmp_path, name):
    file, options = REAL[name]
    calibration = shared / file
    model = shared / "models" / f"{name}.mlirbc"
    reference = quantized(model, calibration, tmp_path, threads=1, batch_size=32, **options)
    for variant in VARIANTS:
        assert quantized(model, calibration, tmp_path, **variant, **options) == reference, variant


@pytest.mark.alternating
def test_outputs_do_not_depend_on_workers_or_batch(tools, tmp_path):
    results = []
    for threads, batch in ((1, 1), (2, 1), (1, 7), (2, 7), (2, 32)):
        path = tmp_path / f"outputs_{threads}_{batch}.npy"
        options = {"num_threads": threads, "batch_size": batch, "samples": 200, **DIGITS}
        measure.run_json(MODEL, measure.DIGITS / "digits_test.npy", output=path, **options)
        results.append(path.read_bytes())
    assert all(result == results[0] for result in results)


def test_order_and_split_of_files_do_not_matter(tools, tmp_path, shards):
    whole = quantized(MODEL, CALIBRATION, tmp_path, **DIGITS)
    for order in (shards, shards[::-1]):
        assert quantized(MODEL, ",".join(map(str, order)), tmp_path, **DIGITS) == whole


def test_fortran_order_is_read_as_what_it_is(tools, tmp_path):
    images = np.load(CALIBRATION)
    np.save(tmp_path / "fortran.npy", np.asfortranarray(images))
    assert b"'fortran_order': True" in (tmp_path / "fortran.npy").read_bytes()[:128]
    assert quantized(MODEL, tmp_path / "fortran.npy", tmp_path, **DIGITS) == quantized(
        MODEL, CALIBRATION, tmp_path, **DIGITS
    )


# Statistics stand for the samples in everything but the corrections, which run the network again.
# Without what runs the network on samples.
STATISTICS_ONLY = {
    "weights_bias_correction": "false",
    "weights_second_moment_correction": "false",
    "judge_corrections": "false",
}


def test_merged_statistics_equal_those_of_the_whole(tools, tmp_path, shards):
    files = {name: tmp_path / f"{name}.statistics" for name in ("whole", "first", "second", "merged")}
    whole = quantized(MODEL, CALIBRATION, tmp_path, statistics_out=files["whole"], **DIGITS, **STATISTICS_ONLY)
    quantized(MODEL, shards[0], tmp_path, statistics_out=files["first"], **DIGITS, **STATISTICS_ONLY)
    quantized(MODEL, shards[1], tmp_path, statistics_out=files["second"], **DIGITS, **STATISTICS_ONLY)
    for order in (("first", "second"), ("second", "first")):
        inputs = ",".join(str(files[name]) for name in order)
        merged = quantized(
            MODEL, None, tmp_path, statistics_in=inputs, statistics_out=files["merged"], **STATISTICS_ONLY
        )
        assert merged == whole
        assert files["merged"].read_bytes() == files["whole"].read_bytes()


def test_shards_end_in_the_bytes_of_one_process(tools, tmp_path, shards):
    """Statistics come from the files, and the samples of all shards serve the corrections: none is counted twice."""
    whole = quantized(MODEL, CALIBRATION, tmp_path, **DIGITS)
    files = [tmp_path / f"{number}.statistics" for number in range(len(shards))]
    for shard, file in zip(shards, files, strict=True):
        quantized(MODEL, shard, tmp_path, statistics_out=file, **DIGITS)
    for order in (files, files[::-1]):
        inputs = ",".join(map(str, order))
        assert quantized(MODEL, CALIBRATION, tmp_path, statistics_in=inputs, **DIGITS) == whole


# A concatenation of the input with a layer that has 256 times its range, whose parts are rescaled by what samples show.
PARTS = """
func.func @main(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[256.0], [0.0]]]> : tensor<1x2x1xf32>}> : () -> tensor<1x2x1xf32>
  %next = "tosa.const"() <{values = dense<[[[1.0], [-2.0], [0.25]]]> : tensor<1x3x1xf32>}> : () -> tensor<1x3x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %arg0, %kernel, %zero, %zero :
    (tensor<1x1x2xf32>, tensor<1x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  %1 = tosa.concat %arg0, %0 {axis = 2 : i32} : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  %2 = tosa.matmul %1, %next, %zero, %zero :
    (tensor<1x1x3xf32>, tensor<1x3x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  return %2 : tensor<1x1x1xf32>
}
"""


def test_ranges_of_parts_do_not_depend_on_order_or_shards(tools, tmp_path):
    """64 samples show the ranges; whether the large one is among them must not depend on its place."""
    network = tmp_path / "parts.mlir"
    network.write_text(PARTS)
    values = np.random.default_rng(0).uniform(-1, 1, (128, 1, 2)).astype(np.float32)
    modules = []
    for place in (0, 100):
        samples = np.insert(values, place, np.float32([[0.5, 8]]), axis=0)
        np.save(tmp_path / "whole.npy", samples)
        whole = quantized(network, tmp_path / "whole.npy", tmp_path)
        assert b"matmul_scaled" in whole
        modules.append(whole)
        for shard in range(2):
            np.save(tmp_path / f"{shard}.npy", samples[shard::2])
        files: list = []
        for turn in range(8):
            requests = [tmp_path / f"{turn}.{shard}.json" for shard in range(2)]
            output = tmp_path / "merged.mlir"
            known = {"shards_in": ",".join(map(str, files))} if files else {}
            if files:
                merged = measure.ptq_command(network, None, output, shards_out=tmp_path / "asked.json", **known)
                if measure.run(merged).returncode == 0:
                    break
            for shard, file in enumerate(requests):
                options = {"shard": f"{shard}/2", "shards_out": file, **known}
                measure.run_ok(measure.ptq_command(network, tmp_path / f"{shard}.npy", output, **options))
            files += requests
        assert output.read_bytes() == whole
    assert modules[0] == modules[1]
