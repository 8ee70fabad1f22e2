# SPDX-License-Identifier: Apache-2.0
"""A detector whose boxes are means of bins around the cells of a grid: its decoding part stays float, is quantized, or
is cut off, and computes what the whole network computes."""

import json
import sys

import measure
import numpy as np
import pytest
from mlir_text import const, const_shape, conv, shape_text

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "downstream"))

import run_nms
import tool_environments

# Most of them run the pipeline.
pytestmark = pytest.mark.alternating

SIZE, BINS, CLASSES, STRIDE, SAMPLES = 8, 4, 3, 8, 32
CELLS = SIZE * SIZE


def layer(name, value, inputs, outputs, seed):
    generator = np.random.default_rng(seed)
    kernel = generator.normal(size=(outputs, 1, 1, inputs)) / np.sqrt(inputs)
    return conv(name, value, kernel, generator.normal(size=outputs), SIZE)


def reshape(name, value, old, new):
    return [
        const_shape(f"{name}_shape", new),
        f"%{name} = tosa.reshape %{value}, %{name}_shape : ({shape_text(old)}, !tosa.shape<{len(new)}>) -> "
        f"{shape_text(new)}",
    ]


def elementwise(op, name, values, shapes, result, more=""):
    operands = ", ".join(f"%{value}" for value in values)
    kinds = ", ".join(map(shape_text, shapes))
    if op == "mul":
        operands, kinds = f"{operands}, %shift", f"{kinds}, tensor<1xi8>"
    return [f'%{name} = tosa.{op} {operands} {more}: ({kinds}) -> {shape_text(result)} loc("{name}")']


def detector():
    """A stem, a layer of boxes and one of scores; the result has the corners of the boxes and the scores of classes."""
    sides, bins, flat = (1, CELLS, 4), (1, CELLS, 4, BINS), (1, CELLS, 4, 1)
    half, scores = (1, CELLS, 2), (1, CELLS, CLASSES)
    cells = np.stack(np.meshgrid(np.arange(SIZE), np.arange(SIZE)), axis=-1).reshape(half) + 0.5
    lines = [const("zero", [0.0]), '%shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>']
    lines += layer("stem", "x", 4, 8, 1)
    lines += [
        f"%relu = tosa.clamp %stem {{min_val = 0.0 : f32, max_val = 3.4e38 : f32}} : "
        f"({shape_text((1, SIZE, SIZE, 8))}) -> {shape_text((1, SIZE, SIZE, 8))}"
    ]
    lines += layer("boxes", "relu", 8, 4 * BINS, 2) + layer("scores", "relu", 8, CLASSES, 3)
    # The mean of the bins: a softmax, and the product with 0, 1, 2, 3.
    lines += reshape("binned", "boxes", (1, SIZE, SIZE, 4 * BINS), bins)
    lines += elementwise("exp", "exp", ["binned"], [bins], bins)
    lines += elementwise("reduce_sum", "sum", ["exp"], [bins], flat, "{axis = 3 : i32} ")
    lines += elementwise("reciprocal", "inverse", ["sum"], [flat], flat)
    lines += elementwise("mul", "softmax", ["exp", "inverse"], [bins, flat], bins)
    lines += [const("bins", np.arange(BINS).reshape(1, 1, 1, BINS))]
    lines += elementwise("mul", "weighted", ["softmax", "bins"], [bins, (1, 1, 1, BINS)], bins)
    lines += elementwise("reduce_sum", "means", ["weighted"], [bins], flat, "{axis = 3 : i32} ")
    lines += reshape("sides", "means", flat, sides)
    for name, start in (("near", 0), ("far", 2)):
        lines += [const_shape(f"{name}_start", [0, 0, start]), const_shape(f"{name}_size", half)]
        lines += [
            f"%{name} = tosa.slice %sides, %{name}_start, %{name}_size : ({shape_text(sides)}, !tosa.shape<3>, "
            f"!tosa.shape<3>) -> {shape_text(half)}"
        ]
    lines += [const("cells", cells), const("stride", np.full((1, 1, 1), STRIDE))]
    lines += elementwise("sub", "first", ["cells", "near"], [half, half], half)
    lines += elementwise("add", "last", ["cells", "far"], [half, half], half)
    lines += elementwise("concat", "corners", ["first", "last"], [half, half], sides, "{axis = 2 : i32} ")
    lines += elementwise("mul", "places", ["corners", "stride"], [sides, (1, 1, 1)], sides)
    lines += reshape("rows", "scores", (1, SIZE, SIZE, CLASSES), scores)
    lines += elementwise("sigmoid", "probabilities", ["rows"], [scores], scores)
    lines += elementwise(
        "concat", "found", ["places", "probabilities"], [sides, scores], (1, CELLS, 4 + CLASSES), "{axis = 2 : i32} "
    )
    body = "\n  ".join(lines)
    kinds = shape_text((1, SIZE, SIZE, 4)), shape_text((1, CELLS, 4 + CLASSES))
    return f"func.func @main(%x: {kinds[0]}) -> {kinds[1]} {{\n  {body}\n  return %found : {kinds[1]}\n}}\n"


@pytest.fixture
def study(tools, tmp_path):
    return Study(tmp_path)


class Study:
    def __init__(self, folder):
        self.folder, self.model = folder, folder / "network.mlir"
        self.model.write_text(detector())
        generator = np.random.default_rng(5)
        self.calibration, self.inputs = folder / "calibration.npy", folder / "inputs.npy"
        for path in (self.calibration, self.inputs):
            np.save(path, generator.normal(size=(SAMPLES, SIZE, SIZE, 4)).astype(np.float32))

    def quantize(self, name, **options):
        """Returns the module and the messages of the tool."""
        output = self.folder / f"{name}.mlirbc"
        finished = measure.run_ok(measure.ptq_command(self.model, self.calibration, output, **options))
        return output, finished.stderr

    def run(self, module, count=1, inputs=None, function="main"):
        files = [self.folder / f"{function}{number}.npy" for number in range(count)]
        given = ",".join(map(str, inputs or [self.inputs]))
        command = [measure.BIN / "mct-run", module, f"--input={given}", f"--function={function}"]
        measure.run_ok([*command, "--output=" + ",".join(map(str, files))])
        return files

    def result(self, module):
        return np.load(self.run(module)[0])


@pytest.mark.parametrize("target", ["imx500", "tflite"])
def test_places_are_not_rounded_to_the_grid_of_a_result(study, target):
    expected = study.result(study.model)
    float_part, printed = study.quantize("float", target=target)
    quantized, _ = study.quantize("quantized", target=target, decode="quantize")
    assert "ops that decode the places of objects stay float; they read 'boxes', 'scores'" in printed
    errors = [np.sqrt(np.square(study.result(module) - expected).mean((0, 1))) for module in (float_part, quantized)]
    # Corners lie up to 90 pixels away, with a step of a third of a pixel; offsets are means of bins.
    assert errors[0][:4].max() < errors[1][:4].max() / 1.5
    # Scores are probabilities, each of a logit with 8 bits.
    assert errors[0][4:].max() < 0.005


def test_the_integer_network_ends_with_the_last_layers(study):
    quantized, _ = study.quantize("float", target="tflite")
    simulated, integer = study.folder / "simulated.mlirbc", study.folder / "integer.mlirbc"
    measure.run_ok([measure.BIN / "mct-opt", quantized, "--mct-simulate-integers", "-o", simulated])
    measure.run_ok([measure.BIN / "mct-opt", simulated, "--mct-lower-to-integer", "-o", integer])
    command = [measure.BIN / "mct-run", integer, f"--compare={simulated}", "--exact", "--json"]
    finished = measure.run_ok([*command, f"--input={study.inputs}"])
    assert '"differing": 0' in finished.stdout or '"differing":0' in finished.stdout
    assert "tosa.sigmoid" in measure.run_ok([measure.BIN / "mct-opt", integer]).stdout


def test_a_part_that_is_cut_off_computes_the_rest(study):
    cut, _ = study.quantize("cut", decode="cut", target="tflite")
    whole, _ = study.quantize("float", target="tflite")
    heads = study.run(cut, count=2)
    # The last layers are quantized in the same way, and the rest is the same in float.
    inputs = [f"{name}:{path}" for name, path in zip(("boxes", "scores"), heads, strict=True)]
    decoded = np.load(study.run(cut, inputs=inputs, function="decode")[0])
    assert np.array_equal(decoded, study.result(whole))


def test_a_camera_gets_the_heads_or_is_told_what_is_missing(study):
    def export(module):
        command = [measure.BIN / "mct-translate", "--export-onnx", module, "-o", study.folder / "network.onnx"]
        return measure.run(command)

    refused = export(study.quantize("float")[0])
    assert refused.returncode != 0 and "give decode=cut to end at the heads" in refused.stderr
    assert "it decodes the places of objects, which stays float" in refused.stderr
    found = export(study.quantize("cut", decode="cut")[0])
    assert found.returncode == 0, found.stderr
    written = (study.folder / "network.onnx").read_bytes()
    assert written.count(b"ActivationPOTQuantizer") >= 3 and b"Softmax" not in written


def test_the_bytes_are_those_of_a_whole_network_without_a_decoding_part(study):
    heads = study.folder / "heads.mlir"
    lines = study.model.read_text().splitlines()
    end = next(number for number, line in enumerate(lines) if "%binned_shape" in line)
    kind = shape_text((1, SIZE, SIZE, 4 * BINS))
    heads.write_text(
        "\n".join([*lines[:end], f"  return %boxes : {kind}", "}"]).replace(
            f") -> {shape_text((1, CELLS, 4 + CLASSES))} {{", f") -> {kind} {{"
        )
    )
    study.model = heads
    one, printed = study.quantize("one")
    other, _ = study.quantize("other", decode="quantize")
    assert "decode" not in printed
    assert one.read_bytes() == other.read_bytes()


def test_the_file_of_a_camera_ends_with_non_maximum_suppression(study):
    """ONNX Runtime runs the whole file, with a description of the op in numpy."""
    program = tool_environments.program("onnx", "python")
    if program is None:
        pytest.skip("ONNX Runtime is not installed (tools/dev/downstream --install onnx)")
    module, _ = study.quantize("quantized", decode="quantize")
    path = study.folder / "network.onnx"
    command = [measure.BIN / "mct-translate", "--export-onnx", "--onnx-profile=mct_quantizers", module, "-o", path]
    measure.run_ok([*command, "--onnx-nms=0.3:0.2:150"])
    files = [study.folder / f"{name}.npy" for name in ("boxes", "scores", "labels", "valid")]
    run = measure.REPOSITORY / "tools" / "dev" / "downstream" / "run_nms.py"
    finished = measure.run_ok([program, run, path, study.inputs, ",".join(map(str, files))])
    printed = json.loads(finished.stdout.splitlines()[0])
    assert printed["op"] == ["EdgeMDT", "MultiClassNMS"] and printed["sets"]["EdgeMDT"] == 1 and printed["unread"] == []
    expected = {"score_threshold": 0.3, "iou_threshold": 0.2, "max_detections": 150}
    assert printed["attributes"] == pytest.approx(expected)
    # FLOAT is 1 and INT32 is 6.
    assert printed["types"] == [1, 1, 6, 6] and printed["shapes"] == [[1, 150, 4], [1, 150], [1, 150], [1, 1]]
    results = study.result(module)
    wanted = run_nms.suppress(results[..., :4], results[..., 4:], np.float32(0.3), np.float32(0.2), 150)
    found = [np.load(file) for file in files]
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape and one == pytest.approx(other, abs=1e-4)
    valid = found[3].ravel()
    counts = (results[..., 4:] > 0.3).sum(axis=(1, 2))
    # Boxes are suppressed, and not all of them.
    assert valid.min() > 0 and (valid < counts).any() and len(set(valid)) > 1


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"decode": "cut"}, ["--onnx-nms=0.3:0.5:20"], "cannot end with MultiClassNMS: expected boxes [batch, n, 4]"),
        ({"decode": "cut"}, ["--onnx-nms=0.3:0.5:20"], "heads have no boxes: with decode=quantize"),
        ({"decode": "quantize"}, ["--onnx-nms=0.3:0.5"], "onnx-nms: expected SCORE:OVERLAP:DETECTIONS"),
        ({"decode": "quantize"}, ["--onnx-nms=0.3:1.5:20"], "found '0.3:1.5:20'"),
        ({"decode": "quantize"}, ["--onnx-nms=0.3:0.5:20", "--onnx-profile=qdq"], "have ops of ONNX itself alone"),
    ],
)
def test_a_file_that_cannot_end_so_is_an_error(study, options, arguments, message):
    module, _ = study.quantize("quantized", **options)
    output = study.folder / "network.onnx"
    finished = measure.run([measure.BIN / "mct-translate", "--export-onnx", *arguments, module, "-o", output])
    assert finished.returncode != 0 and message in finished.stderr and not output.exists()


def test_python_writes_it_for_older_releases_of_the_layers(study):
    mct = pytest.importorskip("mct")
    model = mct.load(study.quantize("quantized", decode="quantize")[0])
    path = study.folder / "network.onnx"
    mct.exporters.export_onnx(model, path, profile="mct_quantizers", nms="0.3:0.5:20:Sony")
    written = path.read_bytes()
    assert b"MultiClassNMS" in written and b"Sony" in written and b"EdgeMDT" not in written
    with pytest.raises(mct.Error, match="onnx-nms: expected SCORE:OVERLAP:DETECTIONS"):
        mct.exporters.export_onnx(model, path, profile="mct_quantizers", nms="0.3")
