# SPDX-License-Identifier: Apache-2.0
"""Attention masks that are computed at run time, in the forms in which exporters write them: the network quantizes as
the one that has the same mask as a constant, and its integers compute what is simulated."""

import measure
import numpy as np
import pytest
from mlir_text import const

TOKENS, WIDTH, SAMPLES = 8, 6, 40
TARGETS = ("imx500", "tflite_v1", "qnnpack")
SCORES = f"tensor<1x{TOKENS}x{TOKENS}xf32>"
MASK = f"tensor<1x1x{TOKENS}xf32>"
FLAGS = MASK.replace("f32", "i1")


def number(name, value):
    return const(name, np.full((1, 1, 1), value))


ONE = "tensor<1x1x1xf32>"
# Uses of the mask %m, 1 where there is a token, on the scores %s: the result is %masked.
INVERSE = [number("one", 1), f"%i = tosa.sub %one, %m : ({ONE}, {MASK}) -> {MASK}"]


def product(large):
    return [
        *INVERSE,
        number("large", large),
        f"%b = tosa.mul %i, %large, %shift : ({MASK}, {ONE}, tensor<1xi8>) -> {MASK}",
        f"%masked = tosa.add %s, %b : ({SCORES}, {MASK}) -> {SCORES}",
    ]


def filled(large):
    return [
        *INVERSE,
        number("large", large),
        f"%p = tosa.cast %i : ({MASK}) -> {FLAGS}",
        f"%b = tosa.select %p, %large, %i : ({FLAGS}, {ONE}, {MASK}) -> {MASK}",
        f"%masked = tosa.add %b, %s : ({MASK}, {SCORES}) -> {SCORES}",
    ]


def selected(large):
    return [
        number("zero", 0),
        number("large", large),
        f"%p = tosa.greater %m, %zero : ({MASK}, {ONE}) -> {FLAGS}",
        f"%masked = tosa.select %p, %s, %large : ({FLAGS}, {SCORES}, {ONE}) -> {SCORES}",
    ]


def shifted(large):
    return [
        number("one", 1),
        number("large", -large),
        f"%i = tosa.sub %m, %one : ({MASK}, {ONE}) -> {MASK}",
        f"%b = tosa.mul %large, %i, %shift : ({ONE}, {MASK}, tensor<1xi8>) -> {MASK}",
        f"%masked = tosa.add %s, %b : ({SCORES}, {MASK}) -> {SCORES}",
    ]


FORMS = {
    "product": (product, -10000),
    "product_of_least": (product, np.finfo(np.float32).min),
    "filled": (filled, np.finfo(np.float32).min),
    "selected": (selected, -np.inf),
    "selected_large": (selected, -1e9),
    "shifted": (shifted, -10000),
}


def network(form, mask=None):
    """softmax(mask(x k x^T)); `mask`: a constant instead of the argument."""
    build, large = FORMS[form]
    scalar, square = "tensor<1xf32>", f"tensor<1x{WIDTH}x{WIDTH}xf32>"
    columns = f"tensor<1x{WIDTH}x{TOKENS}xf32>"
    rows, column = f"tensor<1x{TOKENS}x{WIDTH}xf32>", f"tensor<1x{TOKENS}x1xf32>"
    argument = "" if mask is not None else f', %m: {MASK} loc("mask")'
    kernel = np.random.default_rng(5).normal(size=(1, WIDTH, WIDTH))
    lines = [
        '%shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>',
        '%z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>',
        const("k", kernel),
        *([const("m", mask)] if mask is not None else []),
        f"%q = tosa.matmul %x, %k, %z, %z : ({rows}, {square}, {scalar}, {scalar}) -> {rows}",
        f"%t = tosa.transpose %x {{perms = array<i32: 0, 2, 1>}} : ({rows}) -> {columns}",
        f'%s = tosa.matmul %q, %t, %z, %z : ({rows}, {columns}, {scalar}, {scalar}) -> {SCORES} loc("scores")',
        *build(large),
        f"%s1 = tosa.reduce_max %masked {{axis = 2 : i32}} : ({SCORES}) -> {column}",
        f"%s2 = tosa.sub %masked, %s1 : ({SCORES}, {column}) -> {SCORES}",
        f"%s3 = tosa.exp %s2 : ({SCORES}) -> {SCORES}",
        f"%s4 = tosa.reduce_sum %s3 {{axis = 2 : i32}} : ({SCORES}) -> {column}",
        f"%s5 = tosa.reciprocal %s4 : ({column}) -> {column}",
        f'%p1 = tosa.mul %s3, %s5, %shift : ({SCORES}, {column}, tensor<1xi8>) -> {SCORES} loc("softmax")',
        f"return %p1 : {SCORES}",
    ]
    body = "\n  ".join(lines)
    return f'func.func @main(%x: {rows} loc("x"){argument}) -> {SCORES} {{\n  {body}\n}}\n'


@pytest.mark.alternating
@pytest.mark.parametrize("form, target", list(zip(FORMS, 2 * TARGETS, strict=True)))
def test_a_mask_at_run_time_quantizes_as_the_same_constant(tools, tmp_path, form, target):
    random = np.random.default_rng(list(FORMS).index(form))
    x = random.normal(size=(SAMPLES, TOKENS, WIDTH)).astype(np.float32)
    mask = (np.arange(TOKENS) < random.integers(3, TOKENS)).astype(np.float32)
    random.shuffle(mask)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "mask.npy", np.repeat(mask[None, None], SAMPLES, axis=0))
    outputs = {}
    for name, text, data in (
        ("constant", network(form, mask[None, None]), [tmp_path / "x.npy"]),
        ("run_time", network(form), [f"x:{tmp_path / 'x.npy'}", f"mask:{tmp_path / 'mask.npy'}"]),
    ):
        model, quantized, integer = (tmp_path / f"{name}{end}" for end in (".mlir", ".q.mlirbc", ".i.mlirbc"))
        model.write_text(text)
        samples = ",".join(map(str, data))
        # Samples are held out by the values of all arguments, and a mask is one of them.
        options = {"target": target, "judge_corrections": "false"}
        measure.run_ok(measure.ptq_command(model, samples, quantized, **options))
        measure.run_ok([measure.BIN / "mct-opt", quantized, "--mct-lower-to-integer", "-o", integer])
        for stage in (model, quantized, integer):
            output = stage.with_suffix(".npy")
            measure.run_ok([measure.BIN / "mct-run", stage, *(f"--input={one}" for one in data), f"--output={output}"])
            outputs[name, stage.name.removeprefix(name)] = np.load(output)
    np.testing.assert_array_equal(outputs["run_time", ".mlir"], outputs["constant", ".mlir"])
    np.testing.assert_array_equal(outputs["run_time", ".q.mlirbc"], outputs["constant", ".q.mlirbc"])
    reference, simulated = outputs["run_time", ".mlir"], outputs["run_time", ".q.mlirbc"]
    assert np.all(simulated[..., mask == 0] == 0)
    # The SQNR is that of 8 bits for scores and probabilities; scores without codes give 10 dB at most.
    error = np.square(simulated - reference).sum()
    assert 10 * np.log10(np.square(reference).sum() / error) > 20
    # The scores are computed by integers, which round halves of a step up and not to even: few are halfway.
    integers = outputs["run_time", ".i.mlirbc"]
    assert np.all(integers[..., mask == 0] == 0)
    assert np.mean(integers != simulated) < 0.05
