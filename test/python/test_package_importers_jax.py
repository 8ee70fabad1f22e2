# SPDX-License-Identifier: Apache-2.0
"""JAX: what a network of Flax computes, our executor computes from the import."""

import re

import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("jax", "flax", "torch_mlir"):
    pytest.importorskip(module, reason='the extra "jax" or Flax is not installed (tools/dev/importers jax)')

import importer_networks as networks  # noqa: E402
import jax  # noqa: E402
import numpy as np  # noqa: E402
from flax import linen as nn  # noqa: E402

# Relative to the range of the outputs: orders of summation differ, and quotients by constants are products (5e-7).
TOLERANCE = 1e-5


class Mlp(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(32, name="first")(x))
        x = nn.gelu(nn.Dense(16, name="second")(x), approximate=False)
        return nn.softmax(nn.Dense(10, name="head")(x))


class Cnn(nn.Module):
    @nn.compact
    def __call__(self, image):
        x = nn.Conv(8, (3, 3), use_bias=False, name="stem")(image)
        x = nn.relu(nn.BatchNorm(use_running_average=True, name="norm")(x))
        x = nn.hard_swish(nn.Conv(8, (3, 3), feature_group_count=8, strides=2, name="depthwise")(x))
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        x = nn.Conv(16, (3, 3), feature_group_count=2, name="grouped")(nn.max_pool(x, (2, 2), strides=(2, 2)))
        x = nn.silu(nn.ConvTranspose(16, (2, 2), strides=(2, 2), name="up")(x)) + nn.LayerNorm(name="layers")(
            jax.image.resize(x, (x.shape[0], 8, 8, 16), "nearest")
        )
        return nn.Dense(10, name="head")(x.mean(axis=(1, 2)))


def applied(network, shape, seed=0):
    """The function of one argument that applies a network whose biases and statistics are not 0 and 1."""
    variables = network.init(jax.random.key(seed), np.zeros((1, *shape), np.float32))
    generator = np.random.default_rng(seed)
    variables = jax.tree.map(lambda a: a + 0.1 * np.abs(generator.normal(size=a.shape)).astype(np.float32), variables)
    return jax.jit(lambda x: network.apply(variables, x))


def samples(count, shape, seed=1):
    return np.random.default_rng(seed).normal(size=(count, *shape)).astype(np.float32)


@pytest.mark.parametrize("network, shape", [(Mlp(), (20,)), (Cnn(), (32, 32, 3))])
def test_a_network_computes_what_jax_does_and_is_quantized(network, shape):
    function, given = applied(network, shape), samples(16, shape)
    model = mct.load(function, given[:1])
    assert not re.search(r"(linalg|tensor|arith|stablehlo)\.\w", model.text)
    expected = np.asarray(function(given))
    assert networks.relative_error(model.run(given), expected) < TOLERANCE
    quantized = mct.quantize(model, target="imx500", data=samples(64, shape, seed=2)).run(given)
    # Eight bits and untrained weights give 20 dB and more; a wrong import gives none.
    assert ((quantized - expected) ** 2).mean() < 0.01 * expected.var()


def points(network, shape):
    text = mct.quantize(
        mct.load(applied(network, shape), samples(1, shape)), target="imx500", data=samples(4, shape)
    ).text
    return re.findall(r' as "([^"]*)"( weight)?', text)


def test_parts_of_a_network_are_the_operators_that_they_stand_for():
    """No part of a GELU, a softmax or a norm has a point of its own."""
    found = points(Mlp(), (20,))
    assert [name for name, weight in found if weight] == ["first", "second", "head"]
    gelu, softmax = found[5][0], found[-1][0]
    assert [name for name, weight in found if not weight] == ["x", "relu", "second", gelu, "head", softmax]
    names = [name for name, weight in points(Cnn(), (32, 32, 3)) if not weight]
    assert "layers" in names and "hard_silu" in names and "silu" in names
    # Each of 16 operators at most.
    assert len(names) <= 16


def test_what_is_lowered_or_exported_is_taken_too():
    function, given = applied(Mlp(), (20,)), samples(3, (20,))
    expected = mct.load(function, given[:1]).run(given)
    lowered = function.lower(given[:1])
    assert np.array_equal(mct.load(lowered).run(given), expected)
    exported = jax.export.export(function)(given[:1])
    # The error function is a polynomial there.
    assert np.abs(mct.load(exported).run(given) - expected).max() < TOLERANCE
    with pytest.raises(mct.Error, match="has shapes of its own"):
        mct.load(lowered, given)


def test_arguments_may_be_named_and_nested():
    function = jax.jit(lambda pair, scale: {"sum": (pair["a"] + pair["b"]) * scale})
    rows = samples(3, (4,))
    model = mct.load(function, {"pair": {"a": rows[:1], "b": rows[:1]}, "scale": rows[:1].astype(np.float64)})
    assert np.allclose(model.run([rows, 2 * rows, rows]), 3 * rows * rows, atol=1e-6)


@pytest.mark.parametrize(
    "function, operation",
    [
        (lambda x: jax.lax.top_k(x, 2)[0], "chlo.top_k"),
        (lambda x: jax.lax.while_loop(lambda y: y.sum() < 9, lambda y: y + 1, x), "stablehlo.while"),
    ],
)
def test_operations_without_tosa_are_named(function, operation):
    def scoped(x):
        with jax.named_scope("part"):
            y = function(x)
        return y + 1

    with pytest.raises(mct.Error, match=f"torch-mlir has no TOSA for .*{operation}") as refused:
        mct.load(jax.jit(scoped), samples(1, (4,)))
    assert refused.value.location.startswith('scoped: "part')


def test_a_function_needs_an_example_and_one_that_fits():
    function = jax.jit(lambda x: x @ np.ones((3, 2), np.float32))
    with pytest.raises(mct.Error, match="give example_inputs") as refused:
        mct.load(function)
    assert refused.value.message == "a function has no shapes of its own"
    with pytest.raises(mct.Error, match="JAX cannot lower the function: "):
        mct.load(function, samples(1, (4,)))
