# SPDX-License-Identifier: Apache-2.0
"""Runs a `.tflite` file in TensorFlow Lite for microcontrollers; the Python of that package runs this.

run_micro.py FILE.tflite CODES.npy OUTPUT.npy
"""

import sys

import numpy as np
from tflite_micro.python.tflite_micro import runtime

ARENA_BYTES = 64 << 20


def main(path, codes, output):
    interpreter = runtime.Interpreter.from_file(path, arena_size=ARENA_BYTES)
    shape = interpreter.get_input_details(0)["shape"]
    found = []
    for sample in np.load(codes):
        interpreter.set_input(sample.reshape(shape), 0)
        interpreter.invoke()
        found.append(interpreter.get_output(0).reshape(-1).copy())
    np.save(output, np.stack(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
