# SPDX-License-Identifier: Apache-2.0
"""Boxes and scores in one tensor, concatenated or as channels of one layer that slices separate again: with
split-shared-grids each has a grid of its own, float values stay, integers are those of the simulation, and networks
without such tensors are the same bytes with the option and without."""

import re

import measure
import numpy as np
import pytest
from mlir_text import const, const_shape, conv, shape_text

SAMPLES, SIZE = 48, 8


def function(lines, values):
    """A function of one picture; `values`: its results with their shapes."""
    kinds = ", ".join(shape_text(shape) for _, shape in values)
    body = "\n  ".join([const("zero", [0.0]), *lines])
    names = ", ".join(f"%{name}" for name, _ in values)
    picture = shape_text((1, SIZE, SIZE, 4))
    return f"func.func @main(%x: {picture}) -> ({kinds}) {{\n  {body}\n  return {names} : {kinds}\n}}\n"


def kernels():
    """Returns four channels of boxes, up to some hundred pixels, and two of scores around zero."""
    generator = np.random.default_rng(3)
    kernel = generator.normal(size=(6, 1, 1, 4))
    kernel[:4] *= 50
    bias = np.array([100, 120, 90, 80, 0.1, -0.2])
    return kernel, bias


def sliced(scale=1.0, moves="reshape", applied=None):
    """One layer that makes boxes and scores, which slices separate; `scale`: of scores; `applied`: to all of them."""
    kernel, bias = kernels()
    kernel[4:] *= scale
    bias[4:] *= scale
    lines = conv("head", "x", kernel, bias, SIZE)
    flat, count = (1, SIZE * SIZE, 6), SIZE * SIZE
    lines.append(const_shape("shape", flat))
    picture = shape_text((1, SIZE, SIZE, 6))
    lines.append(f"%flat = tosa.reshape %head, %shape : ({picture}, !tosa.shape<3>) -> {shape_text(flat)}")
    value, axis = "flat", 2
    if moves == "transpose":
        flat, value, axis = (1, 6, count), "turned", 1
        lines.append(
            f"%turned = tosa.transpose %flat {{perms = array<i32: 0, 2, 1>}} : ({shape_text((1, count, 6))}) -> "
            f"{shape_text(flat)}"
        )
    if applied:
        lines.append(f'%applied = tosa.{applied} %{value} : ({shape_text(flat)}) -> {shape_text(flat)} loc("applied")')
        value = "applied"
    results = []
    for name, first, last in (("boxes", 0, 4), ("scores", 4, 6)):
        start, size = [0, 0, 0], list(flat)
        start[axis], size[axis] = first, last - first
        lines += [const_shape(f"{name}_start", start), const_shape(f"{name}_size", size)]
        lines.append(
            f"%{name} = tosa.slice %{value}, %{name}_start, %{name}_size : "
            f'({shape_text(flat)}, !tosa.shape<3>, !tosa.shape<3>) -> {shape_text(size)} loc("{name}")'
        )
        results.append((name, size))
    return function(lines, results)


def concatenated(moves=False):
    """Two layers, whose results are in one tensor; with `moves`, after a reshape and a transposition."""
    kernel, bias = kernels()
    lines = [*conv("boxes", "x", kernel[:4], bias[:4], SIZE), *conv("scores", "x", kernel[4:], bias[4:], SIZE)]
    kinds = [shape_text((1, SIZE, SIZE, channels)) for channels in (4, 2, 6)]
    lines.append(
        f'%head = tosa.concat %boxes, %scores {{axis = 3 : i32}} : ({kinds[0]}, {kinds[1]}) -> {kinds[2]} loc("head")'
    )
    if not moves:
        return function(lines, [("head", (1, SIZE, SIZE, 6))])
    count = SIZE * SIZE
    flat, turned = shape_text((1, count, 6)), shape_text((1, 6, count))
    lines.append(const_shape("shape", (1, count, 6)))
    lines.append(f"%flat = tosa.reshape %head, %shape : ({kinds[2]}, !tosa.shape<3>) -> {flat}")
    lines.append(f"%turned = tosa.transpose %flat {{perms = array<i32: 0, 2, 1>}} : ({flat}) -> {turned}")
    return function(lines, [("turned", (1, 6, count))])


class Study:
    def __init__(self, folder, text):
        self.folder, self.model = folder, folder / "network.mlir"
        self.model.write_text(text)
        generator = np.random.default_rng(1)
        self.calibration, self.inputs = folder / "calibration.npy", folder / "inputs.npy"
        for path in (self.calibration, self.inputs):
            np.save(path, generator.normal(size=(SAMPLES, SIZE, SIZE, 4)).astype(np.float32))

    def quantize(self, name="quantized", **options):
        """Returns the module and the messages of the tool."""
        output = self.folder / f"{name}.mlirbc"
        finished = measure.run_ok(measure.ptq_command(self.model, self.calibration, output, **options))
        return output, finished.stderr

    def opt(self, module, name, *passes):
        output = self.folder / f"{name}.mlirbc"
        measure.run_ok([measure.BIN / "mct-opt", module, *passes, "-o", output])
        return output

    def run(self, module, count):
        files = [self.folder / f"result{number}.npy" for number in range(count)]
        command = [measure.BIN / "mct-run", module, f"--input={self.inputs}"]
        measure.run_ok([*command, "--output=" + ",".join(map(str, files))])
        return [np.load(path) for path in files]

    def sqnr(self, module, count=2):
        """dB of each result."""
        pairs = zip(self.run(module, count), self.run(self.model, count), strict=True)
        return [10 * np.log10(np.square(b).sum() / np.square(a - b).sum()) for a, b in pairs]

    def prove(self, simulated, integer):
        """Returns the comparison of the integer network with its simulation."""
        command = [measure.BIN / "mct-run", integer, f"--compare={simulated}", "--exact", "--json"]
        return measure.run([*command, f"--input={self.inputs}"])


@pytest.fixture
def study(tools, tmp_path):
    return lambda text: Study(tmp_path, text)


@pytest.mark.alternating
@pytest.mark.parametrize("target", ["imx500", "tflite_v1"])
@pytest.mark.parametrize("moves", ["reshape", "transpose"])
def test_channels_that_slices_separate_have_grids_of_their_own(study, target, moves):
    network = study(sliced(moves=moves))
    naive, _ = network.quantize("naive", target=target, split_shared_grids="false")
    split, messages = network.quantize(target=target)
    assert "'head' holds 'head_channels_4_5' up to" in messages
    assert "the layer becomes 2 layers, each with a grid of its own" in messages
    before, after = network.sqnr(naive), network.sqnr(split)
    # The scores have 8 bits instead of the two or three that the grid of the boxes leaves them.
    assert after[1] > before[1] + 20
    assert after[1] > 35
    assert after[0] > before[0] - 1


@pytest.mark.parametrize("applied", [None, "tanh"])
def test_split_layers_compute_what_the_layer_computed(study, applied):
    network = study(sliced(moves="transpose", applied=applied))
    # Corrections change the float network.
    module, _ = network.quantize(weights_bias_correction="false", shift_negative_activation_correction="false")
    texts = measure.run_ok([measure.BIN / "mct-opt", module]).stdout
    assert len(re.findall("= tosa.conv2d ", texts)) == 2
    assert "= tosa.slice " not in texts
    # Without quantizers: both make the same products, added in the same order up to the kernel that oneDNN takes.
    command = [measure.BIN / "mct-run", module, f"--input={network.inputs}", "--float-points=*"]
    files = [network.folder / f"float{number}.npy" for number in range(2)]
    measure.run_ok([*command, "--output=" + ",".join(map(str, files))])
    for path, expected in zip(files, network.run(network.model, 2), strict=True):
        np.testing.assert_allclose(np.load(path), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_channels_of_similar_ranges_stay_in_one_layer(study):
    network = study(sliced(scale=50))
    with_option, messages = network.quantize()
    without, _ = network.quantize("without", split_shared_grids="false")
    assert "grid of its own" not in messages
    assert with_option.read_bytes() == without.read_bytes()


@pytest.mark.alternating
@pytest.mark.parametrize(
    "text",
    [sliced(), sliced(moves="transpose"), sliced(applied="sigmoid"), concatenated(), concatenated(True)],
    ids=["sliced", "sliced-moved", "sliced-sigmoid", "concatenated", "concatenated-moved"],
)
@pytest.mark.parametrize("lowering", ["io=float", "io=integer", "io=integer profile=ethos-u55"])
def test_integers_are_those_of_the_simulation(study, text, lowering):
    network = study(text)
    # With thresholds that are powers of two sums are exact in f32, and no value may differ.
    module, _ = network.quantize(target="imx500_v1_pot")
    simulated = network.opt(module, "simulated", "--mct-simulate-integers")
    integer = network.opt(simulated, "integer", f"--mct-lower-to-integer={lowering}")
    measure.run_ok([measure.BIN / "mct-opt", integer, "--mct-check-integer", "-o", "/dev/null"])
    finished = network.prove(simulated, integer)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert '"differing": 0' in finished.stdout or '"differing":0' in finished.stdout


def test_results_without_a_grid_are_split_for_a_device(study):
    network = study(concatenated(moves=True))
    module, _ = network.quantize(target="imx500_v1_pot")
    simulated = network.opt(module, "simulated", "--mct-simulate-integers")
    (expected,) = network.run(simulated, 1)
    integer = network.opt(simulated, "integer", "--mct-lower-to-integer=io=integer profile=ethos-u55")
    text = measure.run_ok([measure.BIN / "mct-opt", integer]).stdout
    returned = re.search(r"return .* : (.*)", text)[1]
    assert returned == f"tensor<1x4x{SIZE * SIZE}xi8>, tensor<1x2x{SIZE * SIZE}xi8>"
    # The codes stand for the numbers that the one result holds: its first channels, and the others.
    scales = [float(scale) for scale in re.findall(r"tpc.quantized = \{[^}]*scale = ([0-9.e+-]+)", text)]
    zero_points = [int(zero) for zero in re.findall(r"tpc.quantized = \{[^}]*zero_point = (-?[0-9]+)", text)]
    codes = network.run(integer, 2)
    parts = [
        (part.astype(np.float32) - zero) * scale
        for part, scale, zero in zip(codes, scales[-2:], zero_points[-2:], strict=True)
    ]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1).reshape(expected.shape), expected)


@pytest.mark.alternating
def test_networks_without_such_tensors_are_the_same_bytes(tools, tmp_path):
    model, data = measure.DIGITS / "digits.mlirbc", measure.DIGITS / "digits_calib.npy"
    check_same_bytes(model, data, tmp_path, input_scale=0.0625)


@pytest.mark.alternating
@pytest.mark.parametrize(
    ("name", "data", "options"),
    [
        ("mobilenet_vww", "vww/calib_images.npy", {"input_scale": 1 / 255}),
        ("autoencoder_ad", "ad/synthetic_calib_windows.npy", {}),
    ],
)
def test_shared_networks_without_such_tensors_are_the_same_bytes(shared, tmp_path, name, data, options):
    model = shared / "models" / f"{name}.mlirbc"
    if not model.exists() or not (shared / data).exists():
        pytest.skip(f"{model} or {shared / data} is not there")
    check_same_bytes(model, shared / data, tmp_path, **options)


def check_same_bytes(model, data, folder, **options):
    for target in ("imx500", "tflite_v1"):
        modules = []
        for split in ("true", "false"):
            modules.append(folder / f"{target}_{split}.mlirbc")
            command = measure.ptq_command(model, data, modules[-1], target=target, split_shared_grids=split, **options)
            measure.run_ok(command)
        assert modules[0].read_bytes() == modules[1].read_bytes(), target
