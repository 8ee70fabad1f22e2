# SPDX-License-Identifier: Apache-2.0
"""Runs a quantized network as `.tflite` in LiteRT, beside its integers; the Python of the importers runs this.

    run_tflite.py SIMULATED.mlirbc SAMPLES.npy FILE.tflite [CODES.npy]

SIMULATED is what `mct-simulate-integers` made. Writes FILE.tflite, without the softmax at the end, and CODES.npy, the
codes that it reads of the samples. Prints as JSON how many values there are (`values`), and for each set of kernels how
many codes differ from those of `mct-lower-to-integer`, and by how much: `xnnpack`, the default, beside codes that are
rounded once, `reference` beside those of `rounding=double-convolutions` (`once`: beside those that are rounded once).
"""

import json
import sys

import mct
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from mct.exporters import tflite

REFERENCE_SAMPLES = 100


def write(model, path):
    """The file without the softmax at its end, whose one output are the logits."""
    document = json.loads(model.module.export_tflite())
    while document["operators"][-1]["operator"] in ("SOFTMAX", "QUANTIZE", "DEQUANTIZE"):
        last = document["operators"].pop()
        document["outputs"] = last["inputs"][:1]
    document["signature"]["outputs"] = [document["tensors"][tensor]["name"] for tensor in document["outputs"]]
    with open(path, "wb") as file:
        file.write(tflite._Writer(document, "network", ()).write())


def run(path, codes, kernels):
    interpreter = Interpreter(path, experimental_op_resolver_type=getattr(OpResolverType, kernels), num_threads=1)
    interpreter.allocate_tensors()
    (source,), (result,) = interpreter.get_input_details(), interpreter.get_output_details()
    found = []
    for sample in codes:
        interpreter.set_tensor(source["index"], sample.reshape(source["shape"]))
        interpreter.invoke()
        found.append(interpreter.get_tensor(result["index"]).reshape(-1).copy())
    return np.stack(found)


def lower(model, rounding):
    return mct.Model(model.module.run(f"mct-lower-to-integer{{io=integer softmax=cut rounding={rounding}}}"))


def compare(found, expected):
    differences = np.abs(found.astype(int) - expected.reshape(found.shape).astype(int))
    return {
        "values": differences.size,
        "differing": int(np.count_nonzero(differences)),
        "largest": int(differences.max()),
    }


def main(simulated, samples, path, written=None):
    model, samples = mct.load(simulated), np.load(samples)
    once, twice = (lower(model, rounding) for rounding in ("half-up", "double-convolutions"))
    (entry,) = json.loads(once.module.export_parameters(""))["inputs"]
    codes = np.clip(np.floor(samples / entry["scale"] + 0.5) + entry["zero_point"], -128, 127).astype(np.int8)
    write(model, path)
    if written:
        np.save(written, codes)
    expected, few = once.run(codes), codes[:REFERENCE_SAMPLES]
    reference = run(path, few, "BUILTIN_REF")
    document = {
        "xnnpack": compare(run(path, codes, "AUTO"), expected),
        "reference": compare(reference, twice.run(few)),
        "once": compare(reference, expected[: len(few)]),
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main(*sys.argv[1:])
