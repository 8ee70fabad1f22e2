# SPDX-License-Identifier: Apache-2.0
"""Numbers of the samples that are flattened, and meet a row of constants, as frameworks write an open batch."""

import measure
import numpy as np
import pytest

NETWORK = """
func.func @main(%arg0: tensor<?x3xf32>) -> tensor<?x4xf32> {
  %start = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[-1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %flat = tosa.const_shape {values = dense<-1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %c = "tosa.const"() <{values = dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
  %0 = tosa.slice %arg0, %start, %size : (tensor<?x3xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<?x1xf32>
  %1 = tosa.reshape %0, %flat : (tensor<?x1xf32>, !tosa.shape<1>) -> tensor<?xf32>
  %2 = tosa.reshape %1, %size : (tensor<?xf32>, !tosa.shape<2>) -> tensor<?x1xf32>
  %3 = tosa.add %2, %c : (tensor<?x1xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}
"""


@pytest.fixture
def network(tmp_path):
    path = tmp_path / "network.mlir"
    path.write_text(NETWORK)
    return path


def samples(tmp_path, count):
    values = np.random.default_rng(count).uniform(-1, 1, (count, 3)).astype(np.float32)
    np.save(tmp_path / "samples.npy", values)
    return values, tmp_path / "samples.npy"


def expected(values):
    return values[:, :1] + np.arange(1, 5, dtype=np.float32)


@pytest.mark.parametrize("batch", [None, 1, 2, 4, 5])
def test_runs_with_any_batch(tools, network, tmp_path, batch):
    values, file = samples(tmp_path, 20)
    if batch is not None:
        measure.run_ok([measure.BIN / "mct-opt", network, f"--mct-set-batch=size={batch}", "-o", tmp_path / "set.mlir"])
        network = tmp_path / "set.mlir"
    output = tmp_path / "output.npy"
    measure.run_ok(measure.run_command(network, file, output=output))
    np.testing.assert_array_equal(np.load(output), expected(values))


def test_is_quantized(tools, network, tmp_path):
    values, file = samples(tmp_path, 37)
    quantized, output = tmp_path / "quantized.mlir", tmp_path / "output.npy"
    measure.run_ok(measure.ptq_command(network, file, quantized, target="imx500"))
    measure.run_ok(measure.run_command(quantized, file, output=output))
    found = np.load(output)
    # Half a step of 8 bits on each of three grids: inputs in (-1, 1), constants up to 4, results up to 8.
    assert np.abs(found - expected(values)).max() <= (1 + 4 + 8) / 256
    assert len(np.unique(found)) > 20
