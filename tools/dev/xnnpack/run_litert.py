# SPDX-License-Identifier: Apache-2.0
"""Runs in the environment of LiteRT: MODEL SAMPLES. For each line that it reads it runs all samples: prints seconds."""

import json
import sys
import time

import numpy as np
from ai_edge_litert.interpreter import Interpreter


def answer(**fields):
    print(json.dumps(fields), flush=True)


def main(model, samples):
    codes = np.load(samples)
    try:
        # XNNPACK is what it takes by default.
        interpreter = Interpreter(model_path=model, num_threads=1)
        interpreter.allocate_tensors()
    except (RuntimeError, ValueError) as problem:
        return answer(error=f"{model}: {str(problem).strip()}")
    inputs = interpreter.get_input_details()
    if len(inputs) != 1 or inputs[0]["dtype"] not in (np.int8, np.uint8):
        return answer(error=f"{model}: one input of 8-bit integers is timed")
    shape = inputs[0]["shape"]
    if np.prod(shape) != codes[0].size:
        return answer(
            error=f"{model}: takes {list(map(int, shape))}, and the network an image of {list(codes[0].shape)}"
        )
    images = codes.view(inputs[0]["dtype"]).reshape(len(codes), *shape)
    index = inputs[0]["index"]

    def run(image):
        interpreter.set_tensor(index, image)
        interpreter.invoke()

    for image in images[:20]:
        run(image)
    answer(ready=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        for image in images:
            run(image)
        answer(seconds=time.perf_counter() - start)
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
