# SPDX-License-Identifier: Apache-2.0
"""Corrections that few samples can carry: judged by samples that no step has seen."""

import mct
import numpy as np
import pytest

LAYERS, WIDTH, HIDDEN = 6, 64, 192
SHAPE = f"tensor<1x1x{WIDTH}xf32>"


def constant(name: str, values: np.ndarray) -> str:
    data = np.ascontiguousarray(values, np.float32)
    kind = f"tensor<{'x'.join(map(str, data.shape))}xf32>"
    return f'%{name} = "tosa.const"() <{{values = dense<"0x{data.tobytes().hex().upper()}"> : {kind}}}> : () -> {kind}'


def network(random: np.random.Generator) -> str:
    """Residual blocks of two products each, whose channels differ in size, as those of transformers do."""
    hidden = f"tensor<1x1x{HIDDEN}xf32>"
    lines = ['%zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>']
    value = "%arg0"

    def product(result: str, left: str, right: str, columns: int, outputs: int) -> str:
        kinds = f"tensor<1x1x{columns}xf32>, tensor<1x{columns}x{outputs}xf32>, tensor<1xf32>, tensor<1xf32>"
        return f"%{result} = tosa.matmul {left}, {right}, %zero, %zero : ({kinds}) -> tensor<1x1x{outputs}xf32>"

    for layer in range(LAYERS):
        for name, rows, columns in ((f"a{layer}", WIDTH, HIDDEN), (f"b{layer}", HIDDEN, WIDTH)):
            kernel = random.normal(size=(1, rows, columns)) * np.exp(random.normal(size=(1, 1, columns)))
            lines.append(constant(name, kernel / rows**0.5))
        lines += [
            product(f"h{layer}", value, f"%a{layer}", WIDTH, HIDDEN),
            f"%r{layer} = tosa.clamp %h{layer} {{min_val = 0.0 : f32, max_val = 3.4e38 : f32}} : ({hidden})"
            f" -> {hidden}",
            product(f"m{layer}", f"%r{layer}", f"%b{layer}", HIDDEN, WIDTH),
            f"%x{layer} = tosa.add {value}, %m{layer} : ({SHAPE}, {SHAPE}) -> {SHAPE}",
        ]
        value = f"%x{layer}"
    body = "\n  ".join(lines)
    return f"func.func @main(%arg0: {SHAPE}) -> {SHAPE} {{\n  {body}\n  return {value} : {SHAPE}\n}}"


def decibels(reference: np.ndarray, result: np.ndarray) -> float:
    reference, result = reference.astype(np.float64), result.astype(np.float64)
    return float(10 * np.log10(np.sum(reference**2) / np.sum((result - reference) ** 2)))


# Each sample is one row for layers of 64 and 192 columns, so that weights which are fitted to the samples explain every
# error in them. Before fits were shrunk to what both halves of the samples show, the default lost 1.6 dB by rounding
# with 16 samples (and 2.7 dB with a vision transformer), and its judge, which sees four samples, kept it.
@pytest.mark.parametrize("count", [16, 24, 32])
def test_corrections_fitted_to_few_samples_lose_nothing_on_others(count):
    random = np.random.default_rng(0)
    model = mct.Model.parse(network(random))
    basis = np.random.default_rng(5).normal(size=(WIDTH, WIDTH)) * np.exp(np.random.default_rng(6).normal(size=WIDTH))

    def samples(seed: int, number: int) -> np.ndarray:
        return (np.random.default_rng(seed).normal(size=(number, 1, WIDTH)) @ basis).astype(np.float32)

    data, others = samples(1, count), samples(2, 300)
    expected = model.run(others)

    def quality(**options) -> float:
        quantized = mct.quantize(model, "tflite", data, progress=False, **options)
        return decibels(expected, quantized.run(others))

    default, without, fast = quality(), quality(round_weights=False), quality(effort="fast")
    # 0.1 dB is the loss that a judge ignores.
    assert default > without - 0.1
    assert default > fast - 0.1
