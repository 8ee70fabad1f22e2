# SPDX-License-Identifier: Apache-2.0
"""Quantized `.tflite` files become float networks whose points have the scales, zero points and codes of the file."""

import json
import os
import re
import struct
import time

import importer_networks as networks
import numpy as np
import pytest
import quantized_tflite
import tflite_quantizer

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("tosa_converter_for_tflite", "ai_edge_litert"):
    pytest.importorskip(module, reason='the extra "tflite" is not installed (tools/dev/importers)')

from mct import cli  # noqa: E402
from mct.importers import _flatbuffer, _tflite_points  # noqa: E402


def file_of(name: str) -> bytes:
    return (quantized_tflite.FOLDER / f"{name}.tflite").read_bytes()


def tensors(data: bytes) -> dict[str, _flatbuffer.Tensor]:
    return {tensor.name: tensor for tensor in _flatbuffer.File(data).graphs[0].tensors}


def litert(data: bytes, samples: np.ndarray, kernels: str = "AUTO") -> np.ndarray:
    """The codes of the result, by the default kernels (XNNPACK where that has the operator), or others."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(model_content=data, experimental_op_resolver_type=getattr(OpResolverType, kernels))
    interpreter.allocate_tensors()
    (source,), (result,) = interpreter.get_input_details(), interpreter.get_output_details()
    limits, (scale, zero_point) = np.iinfo(source["dtype"]), source["quantization"]
    codes = np.clip(np.round(samples / np.float32(scale)) + zero_point, limits.min, limits.max).astype(source["dtype"])
    runs = []
    for sample in codes:
        interpreter.set_tensor(source["index"], sample[None])
        interpreter.invoke()
        runs.append(interpreter.get_tensor(result["index"])[0].copy())
    return np.stack(runs)


def points(model, folder) -> list[dict]:
    path = folder / "parameters.json"
    mct.exporters.export_parameters(model, path)
    return json.loads(path.read_text())["points"]


@pytest.mark.parametrize("name", ["w8a8", "w4a8", "w8a16"])
def test_points_have_the_scales_and_zero_points_of_the_file(name, tmp_path):
    found = {point["name"]: point for point in points(mct.load(file_of(name)), tmp_path) if "weight" not in point}
    quantized = {key: tensor for key, tensor in tensors(file_of(name)).items() if tensor.type in (7, 9)}
    for layer in ("image", "a", "b", "sum", "pool", "scores", "result"):
        # The quantizer left a convolution as it was where its kernel would have had 4 bits.
        tensor, point = quantized.get(layer) or quantized[f"{layer}_quantized"], found[layer]
        lowest = np.iinfo(np.int16 if tensor.type == 7 else np.int8).min
        assert point["scale"] == [tensor.scales[0]]
        assert point["bits"] == (16 if tensor.type == 7 else 8)
        # Codes count from 0 where they have a zero point.
        assert point["zero_point"][0] - point["lowest"][0] == tensor.zero_points[0] - lowest
    # A reshape gives the values of its operand.
    assert set(found) == {"image", "a", "b", "sum", "pool", "scores", "result"}


def codes_of(file: _flatbuffer.File, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes and scales of a constant, as NumPy reads what the file stores."""
    tensor = next(tensor for tensor in file.graphs[0].tensors if tensor.name == name)
    stored = file.buffer(tensor.buffer)
    dtypes = {9: np.int8, 2: np.int32, 4: np.int64}
    if tensor.type == 17:
        pairs = np.frombuffer(stored, np.int8)
        codes = np.stack([(pairs << 4) >> 4, pairs >> 4], 1).reshape(-1)[: int(np.prod(tensor.shape))]
    else:
        codes = np.frombuffer(stored, dtypes[tensor.type])
    axis = tensor.axis if len(tensor.scales) > 1 else 0
    extents = [-1 if i == axis else 1 for i in range(len(tensor.shape))]
    return codes.reshape(tensor.shape), np.asarray(tensor.scales).reshape(extents)


@pytest.mark.parametrize("name", ["w8a8", "w4a8", "w8a16", "weights8", "weights4"])
def test_weights_and_biases_are_what_their_codes_stand_for(name):
    file, text = _flatbuffer.File(file_of(name)), mct.load(file_of(name)).text
    arrays = networks.constants_in(text)
    names = {tensor.name for tensor in file.graphs[0].tensors if tensor.scales}
    layer = re.compile(
        r'(%\w+) = tpc\.quantize (%\w+) as "(\w+)(?:/\w+)?" weight "kernel_attr" axes .*\n(?:.*\n)*?'
        r".* = tosa\.(?:depthwise_)?conv2d %\w+, \1, (%\w+),"
    )
    found = {match[2]: match for match in layer.findall(text)}
    assert {f"{name}/kernel" for name in found} == {name for name in names if name.endswith("kernel")}
    for key, (_, kernel, _, bias) in found.items():
        for suffix, constant in (("kernel", kernel), ("bias", bias)):
            if f"{key}/{suffix}" in names:
                codes, scales = codes_of(file, f"{key}/{suffix}")
                # Kernels of depthwise convolutions have another shape in TOSA, in the same order.
                assert np.array_equal(arrays[constant].reshape(-1), (codes * scales).astype(np.float32).reshape(-1))


def test_scales_of_weights_are_those_of_the_file(tmp_path):
    found = {point["name"]: point for point in points(mct.load(file_of("w4a8")), tmp_path) if "weight" in point}
    assert {name: point["bits"] for name, point in found.items()} == {
        "a/conv2d/kernel_attr": 4,
        "scores/kernel_attr": 4,
    }
    assert found["a/conv2d/kernel_attr"]["scale"] == list(tensors(file_of("w4a8"))["a/kernel"].scales)


def test_layers_with_quantized_weights_alone_are_told(caplog):
    with caplog.at_level("WARNING", "mct"):
        model = mct.load(file_of("weights8"))
    assert ["activations are free" in record.message for record in caplog.records].count(True) == 1
    assert 'layers ("a", "b", "scores") have quantized weights' in caplog.text
    assert " activation" not in model.text


@pytest.mark.parametrize("activations, weights", [(8, 8), (8, 4)])
def test_the_network_computes_what_litert_computes(activations, weights):
    """The default kernels (XNNPACK) round each sum once, as the simulation does; those of 4 bits round twice."""
    data = tflite_quantizer.quantize(quantized_tflite.small(), quantized_tflite.samples(), activations, weights)
    samples = quantized_tflite.samples(40, seed=5)
    expected = litert(data, samples).astype(int)
    found = mct.load(data).run(samples)
    steps = np.round(found * 256) - 128 - expected
    # One step where a sum of float32 lies in the middle of two codes, and what follows from it.
    assert np.mean(steps != 0) <= (0.01 if weights == 8 else 0.25)
    assert np.abs(steps).max() <= 2


@pytest.mark.alternating
@pytest.mark.parametrize("weights", [8, 4])
def test_reference_kernels_round_twice(weights):
    """All codes are theirs, of the simulation and of the integers: what is rounded twice is so at the same places."""
    data = tflite_quantizer.quantize(quantized_tflite.small(), quantized_tflite.samples(), 8, weights)
    samples = quantized_tflite.samples(100, seed=5)
    expected = litert(data, samples, "BUILTIN_REF")
    module = mct.load(data).module
    simulated = mct.Model(module.run("mct-simulate-integers{rounding=double-convolutions}")).run(samples)
    assert np.array_equal(np.round(simulated * 256) - 128, expected)
    lowered = "mct-simulate-integers,mct-lower-to-integer{io=integer rounding=double-convolutions}"
    assert np.array_equal(mct.Model(module.run(lowered)).run(samples), expected)
    once = mct.Model(module.run("mct-simulate-integers,mct-lower-to-integer{io=integer}")).run(samples)
    assert not np.array_equal(once, expected)


@pytest.mark.alternating
@pytest.mark.parametrize("axes, keeps", [([1, 2], True), ([1], False)], ids=["image", "rows"])
@pytest.mark.parametrize("size", [7, 8])
def test_means_are_those_of_the_reference_kernels(size, axes, keeps):
    """A mean is one rescale, whose multiplier is divided by 49 / 32 or 7 / 4 where kernels round twice."""
    file, shape = networks.Tflite(), (1, size, size, 12)
    source = file.tensor("source", shape, "INT8")
    kept = [1 if i in axes else extent for i, extent in enumerate(shape) if keeps or i not in axes]
    mean = file.tensor("mean", tuple(kept), "INT8")
    file.quantize(source, 0.05, -20)
    file.quantize(mean, 0.0213, -128)
    operands = [source, file.constant("axes", np.array(axes, np.int32))]
    file.operator("MEAN", operands, [mean], "ReducerOptions", keepDims=keeps, version=2)
    data, generator = file.finish([source], [mean]), np.random.default_rng(1)
    centers = generator.integers(-60, 60, (30, 1, 1, 1))
    codes = np.clip(np.rint(generator.normal(0, 3, (30, *shape[1:]))) + centers, -128, 127)
    samples = ((codes + 20) * np.float32(0.05)).astype(np.float32)
    module = mct.load(data).module
    expected = litert(data, samples, "BUILTIN_REF")
    twice = mct.Model(module.run("mct-simulate-integers,mct-lower-to-integer{io=integer rounding=double}"))
    assert np.array_equal(twice.run(samples), expected)
    simulated = mct.Model(module.run("mct-simulate-integers{rounding=double}"))
    assert np.array_equal(np.round(simulated.run(samples) / np.float32(0.0213)) - 128, expected)
    once = mct.Model(module.run("mct-simulate-integers,mct-lower-to-integer{io=integer}")).run(samples)
    exact = np.floor((codes + 20).mean(tuple(axes), keepdims=keeps) * (0.05 / 0.0213) - 128 + 0.5)
    assert np.array_equal(once, np.clip(exact, -128, 127))
    # Means of seven values are not shifted.
    assert np.array_equal(once, expected) == (size == 7 and not keeps)


def test_files_are_compared_with_the_reference_kernels(tools):
    """Counts of tools/dev/integer_tflite_results.py, and the file without its softmax that Vela compiles."""
    import integer_tflite_results

    data = tflite_quantizer.quantize(quantized_tflite.small(), quantized_tflite.samples())
    model, reference = mct.load(data), integer_tflite_results.Reference(data, 20)
    differing, values = integer_tflite_results.compare(model, reference, "double-convolutions")
    once, same_values = integer_tflite_results.compare(model, reference, "half-up")
    # Two images of four channels and their sum, its mean and three scores.
    assert (differing, values) == (0, 20 * (3 * 256 + 4 + 3)) and values == same_values
    assert 0 < once < values / 50
    shorter = integer_tflite_results.without_softmax(data)
    assert np.array_equal(litert(shorter, reference.samples, "BUILTIN_REF"), reference.values["scores"][:, 0])
    assert integer_tflite_results.without_softmax(shorter) == shorter


@pytest.mark.thorough
def test_the_table_of_quantized_files_has_cycles(tools, tmp_path):
    import integer_tflite_results

    if not all(integer_tflite_results.tool_environments.program(name) for name in ("tosa", "vela")):
        pytest.skip("tosa and vela are not installed (tools/dev/downstream --install tosa vela)")
    path = tmp_path / "small.tflite"
    path.write_bytes(tflite_quantizer.quantize(quantized_tflite.small(), quantized_tflite.samples()))
    cells, holds = integer_tflite_results.judge(path, 2)
    assert len(cells) == len(integer_tflite_results.COLUMNS) and cells[0] == "small (2)" and holds
    file, shorter, ours = (int(cells[place].replace(" ", "")) for place in (4, 5, 6))
    assert ours <= shorter < file


def test_the_integers_of_the_converter_round_twice_behind_every_layer():
    data = tflite_quantizer.quantize(quantized_tflite.small(), quantized_tflite.samples())
    source, samples = tensors(data)["image"], quantized_tflite.samples(100, seed=5)
    codes = np.clip(np.round(samples / np.float32(source.scales[0])) + source.zero_points[0], -128, 127)
    expected = mct.load(data, quantized="integer").run(codes.astype(np.int8))
    lowered = "mct-simulate-integers,mct-lower-to-integer{io=integer rounding=double}"
    assert np.array_equal(mct.Model(mct.load(data).module.run(lowered)).run(samples), expected)


def run_streaming(model, samples: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Results of a network with one state on samples one after another, and the last state."""
    results = []
    for sample in samples:
        result, state = model.run([sample[None], state])
        results.append(np.asarray(result)[0])
    return np.stack(results), np.asarray(state)


def test_a_variable_of_codes_is_a_state_on_its_grid():
    """LiteRT keeps the variable from run to run; here results are passed on."""
    scale, zero = quantized_tflite.STATE_SCALE, quantized_tflite.STATE_ZERO
    data, start = quantized_tflite.streaming(), quantized_tflite.STATE_START
    codes = np.random.default_rng(3).integers(-128, 128, (20, 1, 1, 4)).astype(np.int8)
    samples = (codes - np.float32(zero)) * np.float32(scale)
    expected = litert(data, samples)
    assert len(np.unique(expected)) > 20
    model = mct.load(data)
    points = {point.name: point for point in model.points if not point.weight}
    assert set(points) == {"row", "rows", "result"}
    values = (start - np.float32(zero)) * np.float32(scale)
    found, last = run_streaming(model, samples, values)
    assert np.array_equal(np.round(found / np.float32(0.2)) + 3, expected)
    assert np.array_equal(last, np.concatenate(samples[-2:])[None])

    lowered = mct.Model(model.module.run("mct-simulate-integers,mct-lower-to-integer{io=integer}"))
    for integers in (lowered, mct.load(data, quantized="integer")):
        text = integers.text
        assert "unrealized_conversion_cast" not in text
        initial = re.search(r"tpc\.initial_value = dense<(\[.*?\])> : tensor<1x2x1x4xi8>", text)
        assert json.loads(initial[1]) == start.tolist()
        found, last = run_streaming(integers, codes, start)
        assert np.array_equal(found, expected)
        assert np.array_equal(last, np.concatenate(codes[-2:])[None])


def test_a_variable_has_one_grid():
    with pytest.raises(mct.Error, match='the variable "rows" has another scale or zero point in "before"') as caught:
        mct.load(quantized_tflite.streaming(read_scale=0.5))
    assert caught.value.location == 'model.tflite: "after"'


def simulated(narrow: bool = False, narrow_kernel: bool = False) -> bytes:
    """A float network in which FAKE_QUANT quantizes the input, the kernel and the result."""
    file, generator = networks.Tflite(), np.random.default_rng(1)
    image, a, kernel, b, c = (
        file.tensor(n, s) for n, s in {"x": (8, 6), "a": (8, 6), "k": (5, 6), "b": (8, 5), "c": (8, 5)}.items()
    )
    stored = file.constant("w", generator.normal(size=(5, 6)).astype(np.float32))
    bias = file.constant("bias", generator.normal(size=5).astype(np.float32))
    options = {"min": -1.0, "max": 2.7, "numBits": 8, "narrowRange": False}
    file.operator("FAKE_QUANT", [image], [a], "FakeQuantOptions", **options)
    weights = {"min": -2.0, "max": 2.0, "numBits": 4, "narrowRange": narrow_kernel}
    file.operator("FAKE_QUANT", [stored], [kernel], "FakeQuantOptions", **weights)
    file.operator("FULLY_CONNECTED", [a, kernel, bias], [b], "FullyConnectedOptions")
    file.operator("FAKE_QUANT", [b], [c], "FakeQuantOptions", **options | {"max": 4.0, "narrowRange": narrow})
    return file.finish([image], [c])


@pytest.mark.parametrize("name", ["w8a8", "w4a8"])
def test_what_is_exported_again_has_the_same_codes_and_parameters(name, tmp_path):
    model = mct.load(file_of(name))
    mct.exporters.export_tflite(model, tmp_path / "again.tflite", int4=name == "w4a8")
    again = mct.load(tmp_path / "again.tflite")

    def parameters(of):
        return [[p[key] for key in ("bits", "scale", "zero_point", "lowest")] for p in points(of, tmp_path)]

    assert parameters(again) == parameters(model)
    samples = quantized_tflite.samples(20, seed=8)
    assert np.array_equal(again.run(samples), model.run(samples))
    kernels = []
    for data in (file_of(name), (tmp_path / "again.tflite").read_bytes()):
        file = _flatbuffer.File(data)
        stored = [t for t in file.graphs[0].tensors if t.type in (9, 17) and file.buffer(t.buffer)]
        kernels.append(sorted(codes_of(file, tensor.name)[0].reshape(-1).tolist() for tensor in stored))
    assert kernels[0] == kernels[1] and len(kernels[0]) == (3 if name == "w8a8" else 2)


MEAN = """
func.func @main(%x: tensor<1x{side}x{side}x4xf32> loc("x")) -> tensor<1x1x1x4xf32> {{
  %q = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x{side}x{side}x4xf32>
  %z = "tosa.const"() <{{values = dense<0.0> : tensor<1xf32>}}> : () -> tensor<1xf32>
  {op}
  %p = tpc.quantize %m as "mean" activation parameters(#tpc.symmetric<threshold = [3.0], bits = 8>) : tensor<1x1x1x4xf32>
  return %p : tensor<1x1x1x4xf32>
}}
"""  # noqa: E501
POOL = """%m = tosa.avg_pool2d %q, %z, %z {{acc_type = f32,
  kernel = array<i64: {side}, {side}>, pad = array<i64: 0, 0, 0, 0>,
  stride = array<i64: 1, 1>}} : (tensor<1x{side}x{side}x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x4xf32>"""
SUM = """%a = tosa.reduce_sum %q {{axis = 1 : i32}} : (tensor<1x{side}x{side}x4xf32>) -> tensor<1x1x{side}x4xf32>
  %m = tosa.reduce_sum %a {{axis = 2 : i32}} : (tensor<1x1x{side}x4xf32>) -> tensor<1x1x1x4xf32>"""


# They are convolutions of ones in the file: a depthwise one, and of many positions one that has them as channels.
@pytest.mark.parametrize(
    ("op", "side", "kind"), [(POOL, 4, "DEPTHWISE_CONV_2D"), (POOL, 8, "CONV_2D"), (SUM, 4, "DEPTHWISE_CONV_2D")]
)
def test_means_and_sums_come_back_without_a_kernel(op, side, kind, tmp_path):
    (tmp_path / "mean.mlir").write_text(MEAN.format(side=side, op=op.format(side=side)))
    model = mct.simulate_integers(mct.load(tmp_path / "mean.mlir"))
    mct.exporters.export_tflite(model, tmp_path / "mean.tflite", io="float")
    data = (tmp_path / "mean.tflite").read_bytes()
    assert kind in [node.kind for node in _flatbuffer.File(data).graphs[0].nodes]
    back = mct.load(data)
    assert len(back.points) == len(model.points) == 2
    assert not any(point.weight for point in back.points)
    samples = np.random.default_rng(3).normal(1, 3, (20, side, side, 4)).astype(np.float32)
    assert np.array_equal(mct.simulate_integers(back).run(samples), model.run(samples))
    # Another step of the kernel makes another number of the sum.
    file = _flatbuffer.File(data)
    (ones,) = (tensor for tensor in file.graphs[0].tensors if tensor.name.endswith("/ones"))
    place = ones.table.table(_flatbuffer._TENSOR_QUANTIZATION).target(_flatbuffer._QUANTIZATION_SCALE) + 4
    changed = data[:place] + struct.pack("<f", 2 * ones.scales[0]) + data[place + 4 :]
    assert [point.weight for point in mct.load(changed).points if point.weight] == ["kernel_attr"]


def test_fake_quant_becomes_points(tmp_path):
    data = simulated()
    model = mct.load(data)
    samples = np.random.default_rng(2).normal(size=(8, 6)).astype(np.float32)
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_content=data)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], samples)
    interpreter.invoke()
    expected = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    assert np.abs(model.run(samples) - expected).max() < 1e-6
    found = {point["name"]: (point["bits"], point["zero_point"][0]) for point in points(model, tmp_path)}
    # 69 of 255 steps from -1 to 2.7 lie below zero, and 7.4999995 of 15 from -2 to 2.
    assert sorted(found.values()) == [(4, 7), (8, 51), (8, 69)]


def test_fake_quant_without_its_lowest_code_is_one_of_weights():
    """LiteRT runs neither; that of an activation is refused by its name."""
    kernel = next(
        a for a in networks.constants_in(mct.load(simulated(narrow_kernel=True)).text).values() if a.size == 30
    )
    assert np.abs(kernel).max() == 2
    with pytest.raises(mct.Error, match=re.escape("cannot convert FAKE_QUANT: 'tfl.fake_quant' op")) as caught:
        mct.load(simulated(narrow=True))
    assert caught.value.location == 'model.tflite: "c"'


def test_an_integer_network_is_made_of_the_points(tmp_path):
    model = mct.load(file_of("w8a8"))
    lowered = model.module.run(
        "mct-simulate-integers,mct-lower-to-integer{io=integer softmax=integer},mct-check-integer"
    )
    assert "f32" not in lowered.text().replace("acc_type = f32", "")
    samples = quantized_tflite.samples(10, seed=6)
    codes = mct.Model(lowered).run(samples)
    assert codes.dtype == np.int8


def test_the_integers_of_the_file_are_imported_where_they_are_asked_for(tmp_path):
    text = mct.load(file_of("w8a8"), quantized="integer").text
    assert "tensor<1x8x8x3xi8>" in text and "tpc.quantize %" not in text
    source, result = str(quantized_tflite.FOLDER / "w8a8.tflite"), tmp_path / "integer.mlir"
    assert cli.main(["import", "--quantized", "integer", source, "-o", str(result)]) == 0
    assert result.read_text() == text


def test_what_quantized_may_be():
    with pytest.raises(ValueError, match='quantized is "points" or "integer"'):
        mct.load(file_of("w8a8"), quantized="float")


# ----------------------------------------------------------------------------------------------------------------------
# Files that are refused, and damaged ones
# ----------------------------------------------------------------------------------------------------------------------


def changed(change) -> bytes:
    """The file of 8 bits after `change` of its model and the tensors of its graph by their names."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromPackedBuf(file_of("w8a8"), 0)
    change(model, {tensor.name.decode(): tensor for tensor in model.subgraphs[0].tensors})
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def scale(name: str, values: list[float]):
    return lambda model, tensors: setattr(tensors[name].quantization, "scale", values)


def zero_point(name: str, values: list[int]):
    return lambda model, tensors: setattr(tensors[name].quantization, "zeroPoint", values)


def blocks(model, tensors) -> None:
    from ai_edge_litert import schema_py_generated as schema

    details = schema.BlockwiseQuantizationT()
    details.blockSize = 2
    tensors["a/kernel"].quantization.detailsType = schema.QuantizationDetails.BlockwiseQuantization
    tensors["a/kernel"].quantization.details = details


def shorter(model, tensors) -> None:
    buffer = model.buffers[tensors["a/kernel"].buffer]
    buffer.data = buffer.data[:-1]


@pytest.mark.parametrize(
    "change, tensor, message",
    [
        (scale("a", [0.0]), "a", "the scale 0 is not a positive number"),
        (scale("a", [float("nan")]), "a", "the scale nan is not a positive number"),
        (scale("b/kernel", [0.1, 0.2]), "b/kernel", "2 scales do not fit axis 3 of 1x3x3x4"),
        (scale("a", [0.1, 0.2, 0.3, 0.4]), "a", "an activation has one scale for all of its channels, not 4"),
        (zero_point("a", [300]), "a", "the zero point 300 is not a number of 8 bits"),
        (zero_point("a/kernel", [0, 0]), "a/kernel", "2 zero points do not fit 4 scales"),
        (blocks, "a/kernel", "a tensor that is quantized in blocks has no point"),
        (shorter, "a/kernel", "108 bytes of values are expected, 107 are stored"),
        (lambda _, tensors: setattr(tensors["sum"], "type", 2), "sum", "an activation of 32 bits has no point"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_has_no_point_is_refused_with_its_tensor(change, tensor, message):
    with pytest.raises(mct.Error) as caught:
        mct.load(changed(change))
    assert caught.value.message == message
    assert caught.value.location == f'model.tflite: "{tensor}"'
    assert caught.value.notes[0].startswith('quantized="integer" imports the integer operators')


def test_operators_on_codes_are_refused_by_name():
    file = networks.Tflite()
    source, result = file.tensor("codes", (1, 4), "INT8"), file.tensor("bits", (1, 4), "INT32")
    file.quantize(source, 0.5, 3)
    file.operator("CAST", [source], [result], "CastOptions")
    with pytest.raises(mct.Error, match="CAST reads or makes codes") as caught:
        mct.load(file.finish([source], [result]))
    assert caught.value.location == 'model.tflite: "bits"'


def test_a_channel_of_scale_zero_has_no_values():
    """Some quantizers give a channel without weights this scale."""
    model = mct.load(changed(scale("a/kernel", [0.01, 0.0, 0.02, 0.03])))
    kernel = next(array for array in networks.constants_in(model.text).values() if array.shape == (4, 3, 3, 3))
    assert not kernel[1].any() and kernel[0].any() and kernel[2].any()


def mutants(generator: np.random.Generator):
    """Files with bytes, words or parts replaced, without end."""
    files = [file_of(name) for name in quantized_tflite.FILES]
    while True:
        data = bytearray(files[generator.integers(len(files))])
        for _ in range(generator.integers(1, 5)):
            place = int(generator.integers(len(data)))
            kind = generator.integers(5)
            if kind == 0:
                data[place] = generator.integers(256)
            elif kind == 1:
                data[place] ^= 1 << int(generator.integers(8))
            elif kind == 2:
                word = int(generator.choice([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, len(data), 0x10000]))
                data[place : place + 4] = struct.pack("<I", word)
            elif kind == 3:
                other = int(generator.integers(len(data)))
                data[place : place + 16] = data[other : other + 16]
            else:
                del data[place : place + int(generator.integers(1, 64))]
        yield bytes(data)


@pytest.mark.alternating
def test_damaged_files_are_taken_or_refused():
    """`MCT_FUZZ_SECONDS=600 MCT_FUZZ_SEED=7` for others, and for longer. The reader raises what its callers expect;
    the whole import ends in a model or in an error with a message."""
    seconds, seed = float(os.environ.get("MCT_FUZZ_SECONDS", "15")), int(os.environ.get("MCT_FUZZ_SEED", "1"))
    files = mutants(np.random.default_rng(seed))
    end, number, taken = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        data, number = next(files), number + 1
        start = time.monotonic()
        try:
            _tflite_points.cut(data, "mutant")
        except mct.Error as error:
            assert error.location and error.message
        except (struct.error, IndexError, ValueError, OverflowError):
            pass
        assert time.monotonic() - start < 10, f"mutant {number} of seed {seed} takes too long"
        if number % 40 or data[4:8] != b"TFL3":
            continue
        taken += 1
        try:
            mct.load(data)
        except mct.Error as error:
            assert str(error).strip(), f"mutant {number} of seed {seed} is refused without a word"
    assert number > 100 and taken > 1
