# SPDX-License-Identifier: Apache-2.0
"""Runs a plain ONNX file in several runtimes; the Python of the packages runs this.

    run_qdq.py NETWORK.onnx [--beside OTHER.onnx] [--openvino] [--repeat N] [--float FLOAT.onnx --calibration INPUT.npy]

Prints as JSON: the operators of the graph that ONNX Runtime runs (`operators`), which are those of the file behind its
optimizations, and the milliseconds of one sample in one thread, the least of `--repeat` runs. With `--openvino`: the
outputs of what it compiles of the file. With `--float`: the milliseconds of the file that ONNX Runtime's own quantizer
makes of that one with 16 samples, kernels by channel. All files take turns, so that they meet the same load; `--beside`
adds one.
"""

import argparse
import json
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

CALIBRATION_SAMPLES = 16


def open_session(path, optimized=None):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    if optimized:
        options.optimized_model_filepath = str(optimized)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def sample_for(session):
    random = np.random.default_rng(5)
    return {
        entry.name: random.standard_normal([s if isinstance(s, int) else 1 for s in entry.shape]).astype(np.float32)
        for entry in session.get_inputs()
    }


def measure(sessions, repeat):
    """Milliseconds of one run, the least of all, of sessions that take turns."""
    samples = [sample_for(session) for session in sessions]
    best = [float("inf")] * len(sessions)
    for _ in range(repeat):
        for i, session in enumerate(sessions):
            start = time.perf_counter()
            session.run(None, samples[i])
            best[i] = min(best[i], time.perf_counter() - start)
    return [1000 * seconds for seconds in best]


def quantize(source, calibration, path):
    """The file of ONNX Runtime's own quantizer, as its documentation proposes it for x86."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self):
            session = open_session(source)
            entry = session.get_inputs()[0]
            values = np.load(calibration)[:CALIBRATION_SAMPLES].astype(np.float32)
            if values.ndim == 4 and list(values.shape[1:]) != list(entry.shape[1:]):
                values = values.transpose(0, 3, 1, 2)
            self.left = iter([{entry.name: np.ascontiguousarray(values[i : i + 1])} for i in range(len(values))])

        def get_next(self):
            return next(self.left, None)

    prepared = Path(path).with_suffix(".prepared.onnx")
    quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
    quantize_static(
        str(prepared),
        str(path),
        Reader(),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("network", type=Path)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--openvino", action="store_true")
    parser.add_argument("--repeat", type=int, default=50)
    parser.add_argument("--float", type=Path, dest="source")
    parser.add_argument("--calibration", type=Path)
    options = parser.parse_args()
    onnx.checker.check_model(str(options.network), full_check=True)
    with tempfile.TemporaryDirectory() as folder:
        optimized = Path(folder, "optimized.onnx")
        sessions = [open_session(options.network, optimized)]
        operators = Counter(node.op_type for node in onnx.load(optimized, load_external_data=False).graph.node)
        keys = ["milliseconds"]
        if options.source:
            theirs = Path(folder, "theirs.onnx")
            quantize(options.source, options.calibration, theirs)
            sessions.append(open_session(theirs))
            keys.append("theirs_milliseconds")
        if options.beside:
            sessions.append(open_session(options.beside))
            keys.append("beside_milliseconds")
        times = measure(sessions, options.repeat)
    result = {"operators": dict(sorted(operators.items())), **dict(zip(keys, times, strict=True))}
    if options.openvino:
        import openvino

        core = openvino.Core()
        model = core.compile_model(core.read_model(str(options.network)), "CPU")
        result["openvino"] = [list(map(str, output.get_partial_shape())) for output in model.outputs]
    print(json.dumps(result, indent=1))


main()
