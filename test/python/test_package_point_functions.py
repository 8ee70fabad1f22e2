# SPDX-License-Identifier: Apache-2.0
"""Single quantizers called on arrays, and functions that are compiled once for many arrays."""

import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
quantizers = pytest.importorskip("mct.quantizers")


def test_a_quantizer_of_weights_computes_an_array():
    values = np.random.default_rng(0).normal(0, 0.3, (3, 4, 2)).astype(np.float32)
    thresholds = [0.2, 0.3, 0.1, 0.25]
    steps = (np.float32(thresholds) / 8).reshape(1, 4, 1)
    # Rounded half to even, in a grid of 16 levels.
    expected = np.clip(np.round(values / steps), -8, 7) * steps
    found = quantizers.WeightsSymmetricInferableQuantizer(4, thresholds, True, -2)(values)
    assert found.shape == values.shape and np.array_equal(found, expected)
    table = quantizers.WeightsLUTSymmetricInferableQuantizer(2, [-64, 0, 64, 127], [1.0], False)
    assert table(np.array([-0.9, 0.2, 0.3, 5])).tolist() == [-0.5, 0, 0.5, 127 / 128]
    assert quantizers.ActivationPOTInferableQuantizer(4, [2.0], True)(0.3) == 0.25


@pytest.fixture(scope="module")
def module():
    return mct.Model.parse("""
    func.func @main(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) -> tensor<2x3xf32> {
      %0 = tosa.add %a, %b : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    }
    func.func @integers(%a: tensor<2xi32>) -> tensor<2xi32> {
      return %a : tensor<2xi32>
    }""").module


def test_a_compiled_function_runs_many_times(module):
    function = module.compile("main")
    rows, row = np.arange(6, dtype=np.float32).reshape(2, 3), np.float32([[10, 20, 30]])
    (first,) = function.run([rows, row])
    (second,) = function.run([rows + 1, row])
    assert np.array_equal(first, rows + row) and np.array_equal(second, rows + row + 1)


def test_arrays_that_do_not_fit_a_compiled_function_are_errors(module):
    function = module.compile("main")
    rows = np.zeros((2, 3), np.float32)
    with pytest.raises(mct.Error, match="function 'main' has 2 arguments, found 1 arrays"):
        function.run([rows])
    with pytest.raises(
        mct.Error, match=r"argument 1 of function 'main' has the shape \(1, 3\), found an array of shape \(2, 3\)"
    ):
        function.run([rows, rows])
    with pytest.raises(mct.Error, match=r"function 'integers' has arguments or results that are not f32; run it by"):
        module.compile("integers")
