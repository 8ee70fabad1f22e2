# SPDX-License-Identifier: Apache-2.0
"""Runs an ONNX file with mct_quantizers ops in ONNX Runtime, sample by sample; the Python of those packages runs this.

    run_onnx.py NETWORK.onnx INPUT.npy[,INPUT.npy] OUTPUT.npy[,OUTPUT.npy]

The first axis of what is read and written is the sample. Axes are in the order that the module has, as the file's
metadata tell.
"""

import sys

import numpy as np
import onnx
import onnxruntime
from mct_quantizers import get_ort_session_options

# Not more than the ops of onnx.proto3 that every reader knows: the camera's tools stop at IR version 10.
LARGEST_IR_VERSION = 10


def main(path, inputs, outputs):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    if model.ir_version > LARGEST_IR_VERSION:
        print(f"{path}: IR version {model.ir_version}", file=sys.stderr)
        return 1
    axes = {
        entry.key.removeprefix("axes."): [int(axis) for axis in entry.value.split(",")]
        for entry in model.metadata_props
        if entry.key.startswith("axes.")
    }
    options = get_ort_session_options()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options)
    feeds = {}
    for entry, file in zip(session.get_inputs(), inputs.split(","), strict=True):
        values = np.load(file)
        if entry.name in axes:
            values = values.transpose(axes[entry.name])
        feeds[entry.name] = np.ascontiguousarray(values, np.float32)
    results = [
        session.run(None, {name: values[i : i + 1] for name, values in feeds.items()})
        for i in range(len(next(iter(feeds.values()))))
    ]
    for i, (entry, file) in enumerate(zip(session.get_outputs(), outputs.split(","), strict=True)):
        values = np.concatenate([result[i] for result in results])
        if entry.name in axes:
            values = values.transpose(np.argsort(axes[entry.name]))
        np.save(file, values)
    return 0


sys.exit(main(*sys.argv[1:]))
