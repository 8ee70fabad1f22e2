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

QUANTIZERS = "mct_quantizers"
# The camera's tools stop at ops of mct_quantizers.
LARGEST_IR_VERSION = 10


def read_axes(model):
    """Returns, by the name of an input or output, the axes of the module in the order of the file."""
    return {
        entry.key.removeprefix("axes."): [int(axis) for axis in entry.value.split(",")]
        for entry in model.metadata_props
        if entry.key.startswith("axes.")
    }


def in_file_order(values, name, axes):
    """Returns an input as the file takes it; real numbers are those of float32."""
    values = values.transpose(axes[name]) if name in axes else values
    return np.ascontiguousarray(values, np.float32 if values.dtype.kind == "f" else None)


def in_module_order(values, name, axes):
    """Returns an output as the module has it."""
    return values.transpose(np.argsort(axes[name])) if name in axes else values


def session_options(is_plain):
    if is_plain:
        options = onnxruntime.SessionOptions()
        # Otherwise, sums of 8-bit products saturate in 16 bits on processors without VNNI.
        options.add_session_config_entry("session.x64quantprecision", "1")
        return options
    from mct_quantizers import get_ort_session_options

    return get_ort_session_options()


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
    axes = read_axes(model)
    options = session_options(is_plain)
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options)
    feeds = {}
    for entry, file in zip(session.get_inputs(), inputs.split(","), strict=True):
        feeds[entry.name] = in_file_order(np.load(file), entry.name, axes)
    results = [
        session.run(None, {name: values[i : i + 1] for name, values in feeds.items()})
        for i in range(len(next(iter(feeds.values()))))
    ]
    for i, (entry, file) in enumerate(zip(session.get_outputs(), outputs.split(","), strict=True)):
        values = np.concatenate([result[i] for result in results])
        np.save(file, in_module_order(values, entry.name, axes))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
