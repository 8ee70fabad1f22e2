# SPDX-License-Identifier: Apache-2.0
"""Runs an ONNX file in ONNX Runtime, sample by sample; the Python of that package runs this.

    run_onnx.py NETWORK.onnx INPUT.npy[,INPUT.npy] OUTPUT.npy[,OUTPUT.npy]

The first axis of what is read and written is the sample. Axes are in the order that the module has, as the file's
metadata tell. The ops of mct_quantizers are registered for a file that imports them, and for no other.
"""

import sys

import numpy as np
import onnx
import onnxruntime
from mct_quantizers import get_ort_session_options

QUANTIZERS = "mct_quantizers"
# The camera's tools stop at ops of mct_quantizers.
LARGEST_IR_VERSION = 10


def main(path, inputs, outputs):
    # By its path: constants may lie in a file beside it.
    onnx.checker.check_model(path, full_check=True)
    model = onnx.load(path, load_external_data=False)
    is_plain = all(entry.domain != QUANTIZERS for entry in model.opset_import)
    if is_plain:
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    elif model.ir_version > LARGEST_IR_VERSION:
        print(f"{path}: IR version {model.ir_version}", file=sys.stderr)
        return 1
    axes = {
        entry.key.removeprefix("axes."): [int(axis) for axis in entry.value.split(",")]
        for entry in model.metadata_props
        if entry.key.startswith("axes.")
    }
    options = onnxruntime.SessionOptions() if is_plain else get_ort_session_options()
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
