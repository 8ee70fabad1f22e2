# SPDX-License-Identifier: Apache-2.0
"""Runs a network that iree-compile made, sample by sample; the Python of iree-base-runtime runs this.

    run_iree.py NETWORK.vmfb FUNCTION FOLDER INPUTS

Reads FOLDER/input<i>.npy, whose first axis is the sample, writes FOLDER/iree<i>.npy.
"""

import sys
from pathlib import Path

import iree.runtime
import numpy as np


def evaluate(module, function, sample):
    """Returns the outputs for one sample, a list of arrays."""
    outputs = module[function](*sample)
    # to_host returns the device's memory, which the next call uses again.
    return [value.to_host().copy() for value in (outputs if isinstance(outputs, tuple) else (outputs,))]


def main(network, function, folder, count):
    module = iree.runtime.load_vm_flatbuffer_file(network, driver="local-sync")
    inputs = [np.load(Path(folder) / f"input{i}.npy") for i in range(int(count))]
    results = [evaluate(module, function, sample) for sample in zip(*inputs, strict=True)]
    for i, outputs in enumerate(zip(*results, strict=True)):
        np.save(Path(folder) / f"iree{i}.npy", np.stack(outputs))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
