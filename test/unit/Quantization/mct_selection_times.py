# SPDX-License-Identifier: Apache-2.0
"""CPU seconds of MCT's parameter searches on this machine.

    python mct_selection_times.py 'WHAT|METHOD|ERROR METHOD|BITS' ...

prints one line "key<tab>seconds" (minimum of three runs) per search that MCT has. `WHAT` is
"weight search AxBxCxD per channel (axis 0)" or "activation histogram search" over 2048 bins;
the data are normal samples. MctSelectionBench runs it when MCT_PYTHON is set.
"""

import logging
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from model_compression_toolkit.core import QuantizationErrorMethod
from model_compression_toolkit.core.common.quantization.quantization_params_generation import (
    lut_kmeans_params,
    power_of_two_selection,
    symmetric_selection,
    uniform_selection,
)

WEIGHTS = {
    "POT": power_of_two_selection.power_of_two_selection_tensor,
    "SYMMETRIC": symmetric_selection.symmetric_selection_tensor,
    "UNIFORM": uniform_selection.uniform_selection_tensor,
    "LUT_POT": lut_kmeans_params.lut_kmeans_tensor,
    "LUT_SYM": lut_kmeans_params.lut_kmeans_tensor,
}
ACTIVATIONS = {
    "POT": power_of_two_selection.power_of_two_selection_histogram,
    "SYMMETRIC": symmetric_selection.symmetric_selection_histogram,
    "UNIFORM": uniform_selection.uniform_selection_histogram,
    "LUT_POT": lut_kmeans_params.lut_kmeans_histogram,
}


def search(what, method, error_method, bits):
    """A call without arguments that runs one search, None when MCT has none."""
    random = np.random.default_rng(1)
    arguments = {"p": 2, "n_bits": bits}
    if not method.startswith("LUT"):
        arguments["quant_error_method"] = QuantizationErrorMethod[error_method]
    else:
        arguments["is_symmetric"] = method == "LUT_SYM"
    if what.startswith("weight search "):
        shape = [int(size) for size in what.split()[2].split("x")]
        tensor = random.standard_normal(shape).astype(np.float32)
        function = WEIGHTS.get(method)
        return function and (lambda: function(tensor, per_channel=True, channel_axis=0, **arguments))
    samples = random.standard_normal(1 << 18)
    counts, edges = np.histogram(samples, bins=2048)
    arguments.pop("is_symmetric", None)
    function = ACTIVATIONS.get(method)
    return function and (
        lambda: function(
            edges,
            counts,
            min_value=float(samples.min()),
            max_value=float(samples.max()),
            is_signed=True,
            **arguments,
        )
    )


def main():
    logging.disable(logging.CRITICAL)
    for key in dict.fromkeys(sys.argv[1:]):
        what, method, error_method, bits = key.split("|")
        if not what:
            continue
        run = search(what, method, error_method, int(bits))
        if run is None:
            continue
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            run()
            best = min(best, time.process_time() - start)
        print(f"{key}\t{best:.9f}", flush=True)


if __name__ == "__main__":
    main()
