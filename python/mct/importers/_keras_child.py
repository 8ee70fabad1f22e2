# SPDX-License-Identifier: Apache-2.0
"""The process that makes a `.tflite` of a Keras model.

    python -m mct.importers._keras_child MODEL MODEL.tflite LAYERS

MODEL is the folder of a SavedModel or what Keras has saved; LAYERS gets the names of the latter as JSON.
"""

from __future__ import annotations

import json
from pathlib import Path

import keras
import tensorflow as tf

from mct.errors import Error
from mct.importers._child import Refused, run
from mct.importers.keras import describe, recurrent_layers, save


def main(source: str, output: str, layers: str) -> None:
    names = describe(None)
    if Path(source).is_dir():
        converter = tf.lite.TFLiteConverter.from_saved_model(source)
    else:
        model = keras.models.load_model(source, compile=False)
        names = describe(model)
        if recurrent_layers(model):
            try:
                save(model, Path("unrolled"), Path(source).name)
            except Error as problem:
                raise Refused(problem.message, problem.notes) from problem
            converter = tf.lite.TFLiteConverter.from_saved_model("unrolled")
        else:
            # Not from concrete functions: those leave weights as variables.
            converter = tf.lite.TFLiteConverter.from_keras_model(model)
    Path(layers).write_text(json.dumps(names))
    Path(output).write_bytes(converter.convert())


if __name__ == "__main__":
    run(main)
