# SPDX-License-Identifier: Apache-2.0
"""A small float network as a `.tflite` file, and the files that `ai-edge-quantizer` made of it.

    VENV/bin/python test/python/quantized_tflite.py     # where ai-edge-quantizer 0.10 is: writes them again

into `test/data/tflite`. Tests read these, so that they do not need the quantizer.
"""

from __future__ import annotations

from pathlib import Path

import importer_networks as networks
import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "data" / "tflite"
# Bits of weights and of activations by the name of the file; none of activations that stay real numbers.
FILES = {"w8a8": (8, 8), "w4a8": (4, 8), "w8a16": (8, 16), "weights8": (8, 0), "weights4": (4, 0)}


def samples(count: int = 16, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 8, 8, 3)).astype(np.float32)


def small() -> bytes:
    """Convolutions, one of them depthwise, a residual addition, a pool, a dense layer and a softmax."""
    file, generator = networks.Tflite(), np.random.default_rng(4)
    window = {"padding": 0, "strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}

    def weights(name: str, *shape: int, outputs: int) -> list[int]:
        kernel = generator.normal(0, 0.4, shape).astype(np.float32)
        bias = generator.normal(0, 0.2, outputs).astype(np.float32)
        return [file.constant(f"{name}/kernel", kernel), file.constant(f"{name}/bias", bias)]

    image, a, b, total = (file.tensor(name, (1, 8, 8, n)) for name, n in {"image": 3, "a": 4, "b": 4, "sum": 4}.items())
    file.operator(
        "CONV_2D",
        [image, *weights("a", 4, 3, 3, 3, outputs=4)],
        [a],
        "Conv2DOptions",
        fusedActivationFunction=1,
        **window,
    )
    depthwise = window | {"depthMultiplier": 1}
    operands = [a, *weights("b", 1, 3, 3, 4, outputs=4)]
    file.operator("DEPTHWISE_CONV_2D", operands, [b], "DepthwiseConv2DOptions", **depthwise)
    file.operator("ADD", [a, b], [total], "AddOptions", fusedActivationFunction=1)
    pool = file.tensor("pool", (1, 1, 1, 4))
    sizes = {"filterHeight": 8, "filterWidth": 8, "strideH": 8, "strideW": 8, "padding": 1}
    file.operator("AVERAGE_POOL_2D", [total], [pool], "Pool2DOptions", **sizes)
    flat, scores, result = (file.tensor(name, (1, n)) for name, n in (("flat", 4), ("scores", 3), ("result", 3)))
    file.operator("RESHAPE", [pool, file.constant("shape", np.array([1, 4], np.int32))], [flat], "ReshapeOptions")
    file.operator("FULLY_CONNECTED", [flat, *weights("scores", 3, 4, outputs=3)], [scores], "FullyConnectedOptions")
    file.operator("SOFTMAX", [scores], [result], "SoftmaxOptions", beta=1.0)
    signature = file.schema.SignatureDefT()
    signature.signatureKey, signature.subgraphIndex = "serving_default", 0
    entries = []
    for name, index in (("image", image), ("result", result)):
        entry = file.schema.TensorMapT()
        entry.name, entry.tensorIndex = name, index
        entries.append([entry])
    signature.inputs, signature.outputs = entries
    file.model.signatureDefs = [signature]
    return file.finish([image], [result])


STATE_SCALE, STATE_ZERO = 0.125, -7
# Codes of the state before the first run.
STATE_START = np.array([[[[5, -7, 100, -128]], [[0, 1, 2, 3]]]], np.int8)


def streaming(read_scale: float = STATE_SCALE) -> bytes:
    """A convolution over the last three rows, the first two of which are a variable of codes, as streaming networks
    that spot keywords have it. `read_scale`: what the codes of the variable are read with."""
    file, generator = networks.Tflite(), np.random.default_rng(8)
    main = file.graph
    start = file.schema.SubGraphT()
    start.tensors, start.operators, start.name = [], [], "start"
    file.model.subgraphs.append(start)

    def handle() -> int:
        variable = file.tensor("handle", (), "RESOURCE")
        file.operator("VAR_HANDLE", [], [variable], "VarHandleOptions", container="", sharedName="rows")
        return variable

    def codes(name: str, *shape: int, scale: float = STATE_SCALE) -> int:
        return file.quantize(file.tensor(name, shape, "INT8"), scale, STATE_ZERO)

    file.graph = start
    initial = file.quantize(file.constant("initial", STATE_START), STATE_SCALE, STATE_ZERO)
    file.operator("ASSIGN_VARIABLE", [handle(), initial], [], "AssignVariableOptions")
    start.inputs = start.outputs = []
    file.graph = main
    file.operator("CALL_ONCE", [], [], "CallOnceOptions", initSubgraphIndex=1)
    row, rows = codes("row", 1, 1, 1, 4), handle()
    before = codes("before", 1, 2, 1, 4, scale=read_scale)
    file.operator("READ_VARIABLE", [rows], [before], "ReadVariableOptions")
    window = codes("window", 1, 3, 1, 4)
    file.operator("CONCATENATION", [before, row], [window], "ConcatenationOptions", axis=1)
    place = [
        file.constant(name, np.array(v, np.int32)) for name, v in (("first", [0, 1, 0, 0]), ("size", [1, 2, 1, 4]))
    ]
    after = codes("after", 1, 2, 1, 4)
    file.operator("SLICE", [window, *place], [after], "SliceOptions")
    file.operator("ASSIGN_VARIABLE", [rows, after], [], "AssignVariableOptions")
    kernel = file.constant("kernel", generator.integers(-127, 128, (3, 3, 1, 4), np.int8), [0.01])
    bias = file.constant("bias", generator.integers(-500, 500, 3, np.int32), [0.01 * STATE_SCALE])
    result = file.quantize(file.tensor("result", (1, 1, 1, 3), "INT8"), 0.2, 3)
    sizes = {"padding": 1, "strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}
    file.operator("CONV_2D", [window, kernel, bias], [result], "Conv2DOptions", **sizes)
    return file.finish([row], [result])


def main() -> None:
    from ai_edge_quantizer import qtyping, quantizer, recipe_manager

    FOLDER.mkdir(parents=True, exist_ok=True)
    source = FOLDER / "float.tflite"
    source.write_bytes(small())
    for name, (weights, activations) in FILES.items():
        recipe = recipe_manager.RecipeManager()
        scope = {"regex": ".*", "operation_name": qtyping.TFLOperationName.ALL_SUPPORTED}
        if activations:
            recipe.add_static_config(**scope, activation_num_bits=activations, weight_num_bits=weights)
        else:
            recipe.add_dynamic_config(**scope, num_bits=weights)
        tool = quantizer.Quantizer(str(source))
        tool.load_quantization_recipe(recipe.get_quantization_recipe())
        batch = [{"image": sample[None]} for sample in samples(64, seed=9)]
        statistics = tool.calibrate({"serving_default": batch}) if tool.need_calibration else None
        (FOLDER / f"{name}.tflite").write_bytes(tool.quantize(statistics).quantized_model)
    source.unlink()


if __name__ == "__main__":
    main()
