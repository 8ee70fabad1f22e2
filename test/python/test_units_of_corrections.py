# SPDX-License-Identifier: Apache-2.0
"""Corrections run the float network beside the quantized one, with the same samples in each call.

The network is two LSTM layers of PyTorch (3 features, 4 states, 3 steps, a layer of 2 after the last step): for some
targets the batch is followed through the float network alone.
"""

import measure
import numpy as np
import pytest

NETWORK = measure.REPOSITORY / "test" / "Corrections" / "Inputs" / "two_lstm_layers.mlirbc"


@pytest.mark.parametrize("target", ["tflite", "qnnpack", "imx500"])
def test_both_networks_read_the_same_samples(tools, tmp_path, target):
    samples, quantized = tmp_path / "samples.npy", tmp_path / "quantized.mlirbc"
    np.save(samples, np.random.default_rng(2).standard_normal((40, 3, 3)).astype(np.float32))
    measure.run_ok(
        [tools / "mct-opt", NETWORK, f"--mct-ptq=target={target} calibration-data={samples}", "-o", quantized]
    )
    outputs = []
    for module in (NETWORK, quantized):
        measure.run_ok([tools / "mct-run", module, f"--input={samples}", f"--output={tmp_path / 'out.npy'}"])
        outputs.append(np.load(tmp_path / "out.npy").astype(np.float64))
    noise = np.mean((outputs[0] - outputs[1]) ** 2)
    # A grid of 8 bits has 40 dB for each layer; the powers of two of imx500 have up to 6 less.
    assert 10 * np.log10(np.mean(outputs[0] ** 2) / noise) > 30
