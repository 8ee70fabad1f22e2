# SPDX-License-Identifier: Apache-2.0
"""One small network for each kind of op: its integer form is run on our executor and on Arm's reference model, and both
make the codes that the simulation has.

The networks are those of test/Conversion/mct-lower-to-integer/ops, lowered with the options of their RUN lines.
"""

import json
import re
import sys

import measure
import numpy as np
import pytest

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "downstream"))

import consumers
import integer_network

EXAMPLES = sorted((measure.REPOSITORY / "test" / "Conversion" / "mct-lower-to-integer" / "ops").glob("*.mlir"))
# Codes that may differ from the simulation, by how much and why. Nothing else may differ at all.
WITHIN_ONE_STEP = {
    "softmax": "its quotient of rounded exponentials is off by less than 2^-14",
    "layer-norm-whole": "its root has 13 bits",
}


def codes(entry, samples):
    """Stored integers for an input: each one there is where its elements are as many, random ones elsewhere."""
    low, high = integer_network.stored_range(entry)
    every = np.arange(low, high + 1)
    shape = (samples, *entry.shape)
    if np.prod(entry.shape) == every.size:
        return np.broadcast_to(every, (samples, every.size)).reshape(shape).astype(entry.dtype)
    return np.random.default_rng(0).integers(low, high, shape, endpoint=True).astype(entry.dtype)


def indices(entry, samples):
    """Rows to gather, of 8."""
    return np.random.default_rng(1).integers(0, 8, (samples, *entry.shape)).astype(entry.dtype)


@pytest.fixture
def integers(tools, tmp_path):
    """Makes a prepared integer network of an example, with samples beside it."""

    def make(example):
        options = re.search(r'--mct-lower-to-integer="(.*?)"', example.read_text())[1]
        lowered = tmp_path / f"{example.stem}.mlirbc"
        finished = measure.run_ok(
            [measure.BIN / "mct-opt", example, f"--mct-lower-to-integer={options}", "-o", lowered]
        )
        assert "stays float" not in finished.stderr
        network = integer_network.prepare(lowered, tmp_path / example.stem)
        assert "f32>" not in network.text
        # Every pair of codes is one sample.
        samples = 1 if all(np.prod(entry.shape) == 256 for entry in network.inputs) else 16
        for i, entry in enumerate(network.inputs):
            values = codes(entry, samples) if entry.scale is not None else indices(entry, samples)
            np.save(network.path.parent / f"input{i}.npy", values)
        return network

    return make


@pytest.mark.alternating
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_codes_are_those_of_the_simulation_and_of_the_reference_model(example, integers):
    network = integers(example)
    ours = consumers.executor(network)
    assert ours.taken, ours.reason
    assert all(np.unique(output).size > 1 for output in ours.outputs)
    # The simulation reads the real numbers that the codes stand for, which `executor` has written.
    rows = ",".join(f"{i}:{network.path.parent / f'rows{i}.npy'}" for i in range(len(network.inputs)))
    command = [measure.BIN / "mct-run", network.path, f"--compare={example}", "--exact", "--json", f"--input={rows}"]
    finished = measure.run(command)
    assert finished.returncode in (0, 1), finished.stderr
    proof = json.loads(finished.stdout)
    if example.stem in WITHIN_ONE_STEP:
        assert proof["total"]["max_steps"] <= 1
    else:
        assert proof["total"]["differing"] == 0
    assert consumers.serialize(network).taken is not False
    theirs = consumers.reference(network)
    if theirs.taken is None:
        pytest.skip(f"{theirs.reason} (tools/dev/downstream --install tosa)")
    assert theirs.taken, theirs.reason
    consumers.compare(ours, theirs.outputs, network)
    assert (ours.reason, ours.differing) == ("", 0)
