# SPDX-License-Identifier: Apache-2.0
"""Concatenations of parts with very different ranges that a layer reads: what mct-rescale-parts makes of them computes
the same bits in float, and quantizes better."""

import re

import measure
import numpy as np
import pytest
from mlir_text import const
from quantized_modules import calibrate, decibels, opt, quantize, run, write_samples

# Most of them run the pipeline.
pytestmark = pytest.mark.alternating

ROWS, WIDTH, SAMPLES = 6, 8, 48
VALUES = f"tensor<1x{ROWS}x{WIDTH}xf32>"
JOINED = f"tensor<1x{ROWS}x{2 * WIDTH}xf32>"


def dense(name, x, generator, inputs=WIDTH, gains=1.0):
    """A linear layer; `gains` multiplies what it makes of each input."""
    kernel = generator.normal(size=(1, inputs, WIDTH)) / np.sqrt(inputs) * np.reshape(gains, (-1, 1))
    kinds = f"(tensor<1x{ROWS}x{inputs}xf32>, tensor<1x{inputs}x{WIDTH}xf32>, tensor<1xf32>, tensor<1xf32>) -> {VALUES}"
    return [
        const(f"{name}k", kernel),
        const(f"{name}b", np.mean(gains) * generator.normal(size=(1, 1, WIDTH))),
        f"%{name}p = tosa.matmul %{x}, %{name}k, %zero, %zero : {kinds}",
        f'%{name} = tosa.add %{name}p, %{name}b : ({VALUES}, tensor<1x1x{WIDTH}xf32>) -> {VALUES} loc("{name}")',
    ]


def network(scale):
    """Maxima of two layers, `scale` times as large as a sigmoid, joined with that; a layer reads both."""
    generator = np.random.default_rng(1)
    lines = [
        const("zero", [0]),
        *dense("d0", "x", generator, gains=scale),
        *dense("d1", "x", generator, gains=scale),
        f'%m = tosa.maximum %d0, %d1 : ({VALUES}, {VALUES}) -> {VALUES} loc("m")',
        *dense("d2", "x", generator),
        f'%s = tosa.sigmoid %d2 : ({VALUES}) -> {VALUES} loc("s")',
        f'%c = tosa.concat %m, %s {{axis = 2 : i32}} : ({VALUES}, {VALUES}) -> {JOINED} loc("c")',
        *dense("d3", "c", generator, 2 * WIDTH, [1 / scale] * WIDTH + [1.0] * WIDTH),
    ]
    body = "\n".join([*lines, f"return %d3 : {VALUES}"])
    return f"module {{ func.func @main(%x: {VALUES}) -> {VALUES} {{ {body} }} }}"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "far.mlir").write_text(network(300.0))
    (tmp_path / "near.mlir").write_text(network(1.0))
    write_samples(tmp_path, (SAMPLES, ROWS, WIDTH))
    return tmp_path


def test_the_float_network_computes_the_same_bits(tools, files):
    calibrate(tools, files, "far.mlir", "tflite", "before.mlir")
    opt(tools, files, "before.mlir", "mct-rescale-parts", "after.mlir")
    text = (files / "after.mlir").read_text()
    for name in ("d0", "d1", "c"):
        assert f'as "{name}_scaled" activation' in text, name
    assert run(tools, files, "before.mlir").tobytes() == run(tools, files, "after.mlir").tobytes()


@pytest.mark.parametrize("target", ["imx500", "tflite", "qnnpack"])
def test_small_parts_keep_their_codes(tools, files, target):
    reference = run(tools, files, "far.mlir")
    without = quantize(tools, files, "far.mlir", target, "rescale-parts=false", "without.mlir")
    rescaled = quantize(tools, files, "far.mlir", target, "", "rescaled.mlir")
    assert decibels(reference, rescaled) > decibels(reference, without) + 10


def test_networks_with_similar_parts_stay_as_they_are(tools, files):
    quantize(tools, files, "near.mlir", "tflite", "", "with.mlir")
    quantize(tools, files, "near.mlir", "tflite", "rescale-parts=false", "without.mlir")
    # Keys of resources are numbered.
    texts = [
        re.sub(r"(histogram\.\w+?)_\d+\b", r"\1", (files / name).read_text()) for name in ("with.mlir", "without.mlir")
    ]
    assert texts[0] == texts[1]


def test_integers_compute_what_is_simulated(tools, files):
    quantize(tools, files, "far.mlir", "tflite", "", "quantized.mlirbc")
    opt(tools, files, "quantized.mlirbc", "mct-simulate-integers", "simulated.mlirbc")
    opt(tools, files, "simulated.mlirbc", "mct-lower-to-integer", "integers.mlirbc")
    assert run(tools, files, "simulated.mlirbc").tobytes() == run(tools, files, "integers.mlirbc").tobytes()


class RandomNetwork:
    """Values [1, 6, 8] that share layers, ReLUs, maxima and gains, joined and read; other layers read them."""

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)
        self.lines = [
            const("zero", [0]),
            '%shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>',
        ]
        self.names = 0

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def layer(self, x, inputs=WIDTH):
        name = self.name()
        gain = self.generator.choice([1.0, 1.0, 40.0, 700.0])
        self.lines += dense(name, x, self.generator, inputs, [gain] * inputs)
        return name

    def op(self, text):
        name = self.name()
        self.lines.append(f'%{name} = {text} loc("{name}")')
        return name

    def affine(self, x):
        gain, offset, channels = self.name(), self.name(), f"tensor<1x1x{WIDTH}xf32>"
        self.lines += [
            const(gain, self.generator.normal(size=(1, 1, WIDTH)) * 30),
            const(offset, np.ones((1, 1, WIDTH))),
        ]
        scaled = self.op(f"tosa.mul %{x}, %{gain}, %shift : ({VALUES}, {channels}, tensor<1xi8>) -> {VALUES}")
        return self.op(f"tosa.add %{scaled}, %{offset} : ({VALUES}, {channels}) -> {VALUES}")

    def relu(self, x):
        return self.op(
            f"tosa.clamp %{x} {{min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32}} : ({VALUES}) -> {VALUES}"
        )

    def reversed(self, x):
        return self.op(f"tosa.reverse %{x} {{axis = {self.generator.integers(1, 3)} : i32}} : ({VALUES}) -> {VALUES}")

    def together(self, x, y):
        kind = self.generator.choice(["add", "sub", "maximum", "minimum"])
        return self.op(f"tosa.{kind} %{x}, %{y} : ({VALUES}, {VALUES}) -> {VALUES}")

    def text(self):
        values = [self.layer("x"), self.layer("x"), "x"]
        for _ in range(6):
            x = self.generator.choice(values)
            step = self.generator.integers(6)
            if step == 5:
                values.append(self.together(x, self.generator.choice(values)))
            else:
                values.append((self.layer, self.affine, self.relu, self.reversed, self.relu)[step](x))
        parts = [values[-1], *self.generator.choice(values[:-1], 2, replace=False)]
        joined = f"tensor<1x{ROWS}x{3 * WIDTH}xf32>"
        operands = ", ".join(f"%{part}" for part in parts)
        whole = self.op(f"tosa.concat {operands} {{axis = 2 : i32}} : ({', '.join([VALUES] * 3)}) -> {joined}")
        results = [self.layer(whole, 3 * WIDTH), self.layer(parts[0])]
        self.lines.append(f"return {', '.join(f'%{result}' for result in results)} : {VALUES}, {VALUES}")
        body = "\n".join(self.lines)
        return f"module {{ func.func @main(%x: {VALUES}) -> ({VALUES}, {VALUES}) {{ {body} }} }}"


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 8))])
def test_random_networks_compute_the_same_bits(tools, files, seed):
    changed = 0
    for number in range(5):
        (files / "random.mlir").write_text(RandomNetwork(100 * seed + number).text())
        calibrate(tools, files, "random.mlir", "tflite", "before.mlir")
        opt(tools, files, "before.mlir", "mct-rescale-parts", "after.mlir")
        changed += "_scaled" in (files / "after.mlir").read_text()
        outputs = []
        for module in ("before.mlir", "after.mlir"):
            paths = [files / f"{module}.{result}.npy" for result in range(2)]
            output = ",".join(map(str, paths))
            measure.run_ok([tools / "mct-run", files / module, f"--input={files / 'others.npy'}", f"--output={output}"])
            outputs.append([np.load(path).tobytes() for path in paths])
        assert outputs[0] == outputs[1], f"network {100 * seed + number}"
    assert changed
