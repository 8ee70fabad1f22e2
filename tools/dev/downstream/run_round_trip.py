# SPDX-License-Identifier: Apache-2.0
"""Writes a quantized network as `.tflite` and reads it back; the Python of the importers runs this.

    run_round_trip.py SIMULATED.mlirbc FILE.tflite

SIMULATED is what `mct-simulate-integers` made. Prints as JSON how many points it has (`points`), how many of these the
file gives back (`same`), with their bits and all of their scales, and of activations with the same lowest and highest
value, and how many the file has beside them (`more`). Names change: LiteRT has a ReLU as a part of its layer.
"""

import json
import sys
from collections import Counter

import mct
import numpy as np


def grids(model):
    """Returns how often each grid occurs, of activations and of weights."""
    found = Counter()
    for point in json.loads(model.module.export_parameters(""))["points"]:
        scales = np.float32(point["scale"])
        zero, lowest, highest = (np.array(point[key]) for key in ("zero_point", "lowest", "highest"))
        if point.get("weight"):
            # A step for each channel, or one that all have.
            found["weight", point["bits"], *np.unique(scales).tolist()] += 1
        else:
            found["activation", scales.item(), (lowest - zero).item(), (highest - zero).item()] += 1
    return found


def main(simulated, file):
    model = mct.load(simulated)
    mct.exporters.export_tflite(model, file)
    ours, theirs = grids(model), grids(mct.load(file))
    result = {"points": ours.total(), "same": (ours & theirs).total(), "more": (theirs - ours).total()}
    print(json.dumps(result))


main(*sys.argv[1:])
