# SPDX-License-Identifier: Apache-2.0
"""Networks that keep state from run to run are loaded with the state outside, and quantized like others."""

import numpy as np
import pytest

mct = pytest.importorskip("mct")

NETWORK = """
module {
  tosa.variable @h = dense<[[0.5, -0.25]]> : tensor<1x2xf32>
  func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
    %half = "tosa.const"() <{values = dense<0.5> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
    %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %0 = tosa.variable_read @h : tensor<1x2xf32>
    %1 = tosa.mul %0, %half, %shift : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1xi8>) -> tensor<1x2xf32>
    %2 = tosa.add %1, %x : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    tosa.variable_write @h, %2 : tensor<1x2xf32>
    %3 = tosa.abs %2 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    return %3 : tensor<1x2xf32>
  }
}
"""


def steps(count):
    """Inputs, and for each step the state before it, the output and the state after it."""
    inputs = np.random.default_rng(1).uniform(-1, 1, (count, 2)).astype(np.float32)
    state = np.array([0.5, -0.25], np.float32)
    before, outputs, states = [], [], []
    for x in inputs:
        before.append(state)
        state = state * np.float32(0.5) + x
        states.append(state)
        outputs.append(np.abs(state))
    return inputs, np.array(before), np.array(outputs), np.array(states)


@pytest.mark.parametrize("suffix", ["mlir", "mlirbc"])
def test_state_becomes_an_argument_and_a_result(tmp_path, suffix):
    (tmp_path / "network.mlir").write_text(NETWORK)
    path = tmp_path / f"network.{suffix}"
    if suffix == "mlirbc":
        mct.Model.parse(NETWORK).save(path)
    model = mct.load(path)
    assert "tosa.variable" not in model.text
    assert "tpc.initial_value = dense<[[5.000000e-01, -2.500000e-01]]> : tensor<1x2xf32>" in model.text
    inputs, before, outputs, states = steps(7)
    found, after = model.run([inputs, before])
    np.testing.assert_array_equal(found, outputs)
    np.testing.assert_array_equal(after, states)


def test_is_quantized(tmp_path):
    path = tmp_path / "network.mlir"
    path.write_text(NETWORK)
    inputs, before, outputs, states = steps(64)
    quantized = mct.quantize(mct.load(path), target="imx500", data=[inputs, before])
    found, after = quantized.run([inputs, before])
    # Half a step of 8 bits in (-2, 2), on inputs, state, product and sum.
    assert np.abs(after - states).max() <= 4 * 2 / 128
    assert np.abs(found - outputs).max() <= 5 * 2 / 128


def test_codes_of_the_state_are_passed_on_as_they_are(tmp_path):
    """The state has a finer grid as an argument than the sum of which it is the next value."""
    path = tmp_path / "network.mlir"
    path.write_text(NETWORK)
    inputs, before, _, _ = steps(64)
    quantized = mct.quantize(mct.load(path), target="imx500", data=[3 * inputs, before])
    simulated = mct.Model(quantized.module.run("mct-simulate-integers"))
    thresholds = {point.name: point.thresholds for point in simulated.points}
    assert thresholds["h"] == thresholds["h_next"] < thresholds["add"]
    lowered = mct.Model(simulated.module.run("mct-lower-to-integer{io=integer}"))
    source, result = (4 / 128, 4 / 256)
    state, code = np.float32([[0.5, -0.25]]), np.int8([[32, -16]])
    for x in inputs:
        found, state = simulated.run([x[None], state])
        integers, code = lowered.run([np.round(x[None] / source).astype(np.int8), code])
        np.testing.assert_array_equal(state, np.float32(code) / 64)
        np.testing.assert_array_equal(found, (np.float32(integers) + 128) * result)
