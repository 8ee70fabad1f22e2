# SPDX-License-Identifier: Apache-2.0
"""The simulation of integers loses nothing where ops only move values, and warns of points that lose."""

import logging

import mct
import numpy as np
import pytest

# x / 48, in the shape of a batch, and a sine of it: each sample has one value, so that histograms are sparse.
MOVED = """
func.func @main(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %number = "tosa.const"() <{values = dense<0.020833334> : tensor<1xf32>}> : () -> tensor<1xf32>
  %turn = "tosa.const"() <{values = dense<6.28> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %flat = tosa.const_shape {values = dense<1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %full = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %x, %flat : (tensor<1x1xf32>, !tosa.shape<1>) -> tensor<1xf32> loc("squeeze")
  %1 = tosa.mul %0, %number, %shift : (tensor<1xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<1xf32> loc("divide")
  %2 = tosa.reshape %1, %full : (tensor<1xf32>, !tosa.shape<2>) -> tensor<1x1xf32> loc("expand")
  %3 = tosa.mul %2, %turn, %shift : (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x1xf32> loc("turn")
  %4 = tosa.sin %3 : (tensor<1x1xf32>) -> tensor<1x1xf32> loc("sine")
  return %4 : tensor<1x1xf32>
}
"""

# A table of the exponential function has 8 bits for sums from -20 to 2, of which the largest count.
STEEP = """
func.func @main(%x: tensor<1x4xf32>, %y: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.add %x, %y : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("sum")
  %1 = tosa.exp %0 : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("exp")
  return %1 : tensor<1x4xf32>
}
"""


def sqnr(model, samples, reference):
    return model.compare(samples, reference=reference).results[0].sqnr_db


@pytest.mark.parametrize("target", ["tflite", "imx500"])
def test_points_that_only_move_cost_nothing(target, caplog):
    samples = np.random.default_rng(0).uniform(0, 44, (32, 1)).astype(np.float32)
    model = mct.Model.parse(MOVED)
    quantized = mct.quantize(model, target, samples, progress=False)
    with caplog.at_level(logging.WARNING, "mct"):
        simulated = mct.simulate_integers(quantized)
    assert {point.name for point in simulated.points} == {point.name for point in quantized.points}
    assert sqnr(simulated, samples, model) > sqnr(quantized, samples, model) - 0.5
    assert not caplog.records


def test_a_loss_is_reported_with_its_size(caplog):
    samples = np.random.default_rng(1).uniform(-10, 1, (2, 64, 4)).astype(np.float32)
    model = mct.Model.parse(STEEP)
    quantized = mct.quantize(model, "imx500", list(samples), progress=False)
    with caplog.at_level(logging.WARNING, "mct"):
        simulated = mct.simulate_integers(quantized)
    inputs = [each[:32] for each in samples]
    loss = sqnr(quantized, inputs, model) - sqnr(simulated, inputs, model)
    assert loss > 0.5
    assert any(f"the integers of 'exp' are {loss:.1f} dB below" in record.message for record in caplog.records)
