# SPDX-License-Identifier: Apache-2.0
"""Corrections on real networks; tools/dev/corrections.py prints the whole tables."""

import corrections
import pytest

# Top-1 and agreement with float that ResNet8 must reach on the 10 000 training images. The instruction set decides the
# last bits of sums, and roundings that follow each other multiply the difference: with the kernels that oneDNN has for
# AVX-512, AVX2 and SSE4.1, top-1 differs by 0.4 points with 4-bit weights, by 1.3 with 2-bit weights. Required is half
# a point less than the lowest top-1 of the three, and 0.7 points less than the lowest agreement.
REQUIRED = {
    "imx500 (8/8)": (0.7818, 0.9683),
    "4-bit weights": (0.772, 0.9342),
    "4-bit power-of-two weights": (0.7745, 0.9279),
    "3-bit weights": (0.7646, 0.8955),
    "2-bit weights": (0.6951, 0.7744),
    "4-bit weights, 4-bit activations": (0.7199, 0.7733),
    "8-bit weights, 4-bit activations": (0.7202, 0.7805),
}
# The others are thorough.
QUICK = ("imx500 (8/8)", "4-bit weights", "8-bit weights, 4-bit activations")
# Results without rounding are about those of MCT 2.6.1.
REQUIRED_WITHOUT_ROUNDING = {
    "4-bit weights": (0.7421, 0.8489),
    "4-bit power-of-two weights": (0.699, 0.7919),
    "3-bit weights": (0.6114, 0.6713),
    "4-bit weights, 4-bit activations": (0.6516, 0.6973),
}


@pytest.fixture
def judge(shared, tmp_path):
    def quantize_and_judge(network, target, row):
        output = tmp_path / "quantized.mlirbc"
        corrections.quantize(network, corrections.target_for(target, tmp_path), corrections.ROWS[row], output)
        return corrections.judge(network, output)

    return quantize_and_judge


@pytest.mark.alternating
@pytest.mark.parametrize(
    "target",
    [each if each in QUICK else pytest.param(each, marks=pytest.mark.thorough) for each in REQUIRED],
)
def test_resnet8_reaches_what_is_required(judge, target):
    result = judge(corrections.RESNET8_TRAINING_IMAGES, target, "the default")
    top1, agreement = REQUIRED[target]
    assert result["top1"] >= top1
    assert result["agreement"] >= agreement


@pytest.mark.alternating
@pytest.mark.parametrize("target", REQUIRED_WITHOUT_ROUNDING)
def test_resnet8_without_rounding_reaches_what_is_required(judge, target):
    result = judge(corrections.RESNET8_TRAINING_IMAGES, target, "without rounding")
    top1, agreement = REQUIRED_WITHOUT_ROUNDING[target]
    assert result["top1"] >= top1
    assert result["agreement"] >= agreement


# Each of these has layers that the others have not: depthwise ones, a product per layer, slopes, many small blocks.
# Measured are 5.1, 4.2, 3.8 and 6.1 dB; and with fine kernels that read coarse activations 1.3 and 2.7 dB. Rounding on
# a few images fewer gives 0.6 to 2.2 dB there, so that 0.5 is required of VWW.
@pytest.mark.alternating
@pytest.mark.parametrize(
    ("network", "target", "gain"),
    [
        ("VWW", "4-bit weights", 4),
        pytest.param("AUTOENCODER", "4-bit weights", 3.5, marks=pytest.mark.thorough),
        pytest.param("DARKNET", "4-bit weights", 3, marks=pytest.mark.thorough),
        pytest.param("RESNET20", "4-bit weights", 5, marks=pytest.mark.thorough),
        ("VWW", "8-bit weights, 4-bit activations", 0.5),
        pytest.param("RESNET20", "8-bit weights, 4-bit activations", 2, marks=pytest.mark.thorough),
    ],
)
def test_rounding_is_worth_decibels(judge, network, target, gain):
    rounded = judge(getattr(corrections, network), target, "the default")
    nearest = judge(getattr(corrections, network), target, "without rounding")
    assert rounded["sqnr"] >= nearest["sqnr"] + gain
    # Results that are no scores of classes have no agreement.
    assert nearest["agreement"] is None or rounded["agreement"] >= nearest["agreement"]


@pytest.mark.thorough
def test_resnet20_at_4_bits_loses_at_most_one_point(judge):
    assert judge(corrections.RESNET20, "4-bit weights", "the default")["top1"] >= 0.801 - 0.01


# Means that are right in all layers are worth more at 3 bits, and with coarse activations, than MCT's estimate.
@pytest.mark.alternating
@pytest.mark.parametrize(
    "target", [pytest.param("3-bit weights", marks=pytest.mark.thorough), "4-bit weights, 4-bit activations"]
)
def test_resnet8_gains_from_measuring_the_quantized_network(judge, target):
    ours = judge(corrections.RESNET8, target, "without second moment")
    theirs = judge(corrections.RESNET8, target, "bias by MCT's formula")
    # Half a decibel; measured are 0.9 and 2.
    assert ours["sqnr"] >= theirs["sqnr"] + 0.5
    assert ours["agreement"] > theirs["agreement"]


# No correction may cost more than 0.1 dB, alone or after the others; but for what chance leaves in bias correction.
@pytest.mark.thorough
def test_vww_at_4_bits_loses_by_no_correction(judge):
    sqnr = {row: judge(corrections.VWW, "4-bit weights", row)["sqnr"] for row in corrections.ROWS}
    for row in ["equalization alone", "activation bias alone", "bias by MCT's formula"]:
        assert sqnr[row] >= sqnr["no correction"] - 0.1, row
    for row in ["without second moment", "without bias", "without shift of negative tails"]:
        # Chance in the means of 100 images costs the bias correction 0.11 dB here.
        assert sqnr["without rounding"] >= sqnr[row] - 0.15, row
    assert sqnr["without bias"] >= sqnr["no correction"] - 0.1
    assert sqnr["without second moment"] >= sqnr["no correction"] - 0.1
    assert sqnr["with equalization"] >= sqnr["without rounding"] - 0.1
    assert sqnr["bias by MCT's formula, activation bias"] >= sqnr["bias by MCT's formula"] - 0.1
