# SPDX-License-Identifier: Apache-2.0
"""Runs a serialized network in Arm's reference model, sample by sample; the Python of tosa-tools runs this.

    run_reference.py NETWORK.tosa FOLDER INPUTS

Reads FOLDER/input<i>.npy, whose first axis is the sample, writes FOLDER/reference<i>.npy. A process of its own: the
model ends it on what it does not like.
"""

import sys
from pathlib import Path

import numpy as np
import tosa_reference_model


class UndefinedError(Exception):
    """The model reports that TOSA defines no result. It also writes numbers, which have no meaning."""


def evaluate(content, sample):
    """Returns the outputs for one sample, a list of arrays."""
    outputs, status = tosa_reference_model.run(content, list(sample), tosa_level="EIGHTK")
    if status.name != "TOSA_VALID":
        raise UndefinedError(status.name)
    return outputs


def main(network, folder, count):
    content = Path(network).read_bytes()
    inputs = [np.load(Path(folder) / f"input{i}.npy") for i in range(int(count))]
    results = []
    for number, sample in enumerate(zip(*inputs, strict=True)):
        try:
            results.append(evaluate(content, sample))
        except UndefinedError as problem:
            print(f"{problem} on sample {number}", file=sys.stderr)
            return 3
    for i, outputs in enumerate(zip(*results, strict=True)):
        np.save(Path(folder) / f"reference{i}.npy", np.stack(outputs))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
