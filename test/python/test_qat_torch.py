# SPDX-License-Identifier: Apache-2.0
"""Quantization-aware training against the same run in torch, where torch is installed."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import measure  # noqa: E402
import qat_torch  # noqa: E402

STEPS, BATCH = 20, 32


@pytest.fixture(scope="module")
def module(shared, tmp_path_factory):
    """ResNet8 with weights of 2 and activations of 4 bits."""
    return qat_torch.quantized(tmp_path_factory.mktemp("qat"))


@pytest.mark.parametrize(
    "weights, activations",
    [
        ("lsq", "lsq"),
        *(
            pytest.param(*each, marks=pytest.mark.thorough)
            for each in (("ste", "ste"), ("lsq", "fixed"), ("fixed", "fixed"))
        ),
    ],
)
def test_first_steps_are_those_of_torch(module, tmp_path, weights, activations):
    samples = STEPS * BATCH
    output = tmp_path / "trained.mlir"
    options = {"weights": weights, "activations": activations, "batch": BATCH, "seed": 3}
    options |= {"calibration_samples": samples, "losses_out": tmp_path / "losses.npy"}
    measure.run_ok(qat_torch.qat_command(module, output, **options))
    ours = np.load(tmp_path / "losses.npy")

    methods = [None if method == "fixed" else method for method in (weights, activations)]
    network = qat_torch.Network(module.read_text(), *methods, stop=qat_torch.LOGITS)
    images, labels = (np.load(qat_torch.TRAIN[what])[:samples] for what in ("images", "labels"))
    theirs = np.array(qat_torch.train(network, images, labels, epochs=1, seed=3, batch=BATCH))

    # Sums have another order, so that a value halfway between two levels is sometimes rounded to the other one.
    assert len(ours) == STEPS
    assert np.abs(ours / theirs - 1).max() <= 1e-3
    trained = qat_torch.Network(output.read_text(), stop=qat_torch.LOGITS).learned()
    start = qat_torch.Network(module.read_text(), stop=qat_torch.LOGITS).learned()
    for name, expected in network.learned().items():
        error = np.linalg.norm((trained[name] - expected).astype(float)) / np.linalg.norm(expected.astype(float))
        assert error <= 1e-3, name
        if "threshold" not in name or weights != "fixed":
            assert not np.array_equal(trained[name], start[name]), name
