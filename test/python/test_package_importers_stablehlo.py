# SPDX-License-Identifier: Apache-2.0
"""StableHLO: text as JAX writes it, by torch-mlir alone; numpy computes the same."""

import math
import re

import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
pytest.importorskip("torch_mlir", reason='the extra "stablehlo" is not installed (tools/dev/importers)')

import numpy as np  # noqa: E402

# Orders of summation differ.
TOLERANCE = 1e-5

# A dense layer with a ReLU in a function of its own, followed by a residual one; locations are those of JAX.
DENSE = """#loc = loc(unknown)
#loc1 = loc("x")
#loc2 = loc("max")
#loc3 = loc("Net.__call__"("net.py":8:4 to :20))
module @jit_apply attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<1x3xf32> loc("x")) -> (tensor<1x2xf32> {jax.result_info = "result"}) {
    %kernel = stablehlo.constant dense<[[1.0, -2.0], [3.0, 0.5], [-0.25, 4.0]]> : tensor<3x2xf32> loc(#loc)
    %bias = stablehlo.constant dense<[0.5, -1.5]> : tensor<2xf32> loc(#loc)
    %0 = stablehlo.dot %arg0, %kernel : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32> loc(#loc4)
    %1 = stablehlo.reshape %bias : (tensor<2xf32>) -> tensor<1x2xf32> loc(#loc5)
    %2 = stablehlo.add %0, %1 : tensor<1x2xf32> loc(#loc6)
    %3 = call @relu(%2) : (tensor<1x2xf32>) -> tensor<1x2xf32> loc(#loc7)
    %4 = stablehlo.concatenate %3, %2, dim = 1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32> loc(#loc8)
    %5 = stablehlo.slice %4 [0:1, 1:3] : (tensor<1x4xf32>) -> tensor<1x2xf32> loc(#loc8)
    %6 = CALLED %5 : (tensor<1x2xf32>) -> tensor<1x2xf32> loc(#loc9)
    return %6 : tensor<1x2xf32> loc(#loc)
  } loc(#loc)
  func.func private @relu(%arg0: tensor<1x2xf32> loc(unknown)) -> tensor<1x2xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32> loc(#loc)
    %0 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<1x2xf32> loc(#loc2)
    %1 = stablehlo.maximum %arg0, %0 : tensor<1x2xf32> loc(#loc2)
    return %1 : tensor<1x2xf32> loc(#loc)
  } loc(#loc)
  func.func private @double(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<1x2xf32> loc(#loc2)
    return %0 : tensor<1x2xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc4 = loc("jit(apply)/Net/first/dot_general"(#loc3))
#loc5 = loc("jit(apply)/Net/first/reshape"(#loc3))
#loc6 = loc("jit(apply)/Net/first/add"(#loc3))
#loc7 = loc("jit(apply)/Net/jit(relu)"(#loc3))
#loc8 = loc("jit(apply)/Net/concatenate"(#loc3))
#loc9 = loc("jit(apply)/Net/last"(#loc3))
"""
KERNEL, BIAS = np.float32([[1, -2], [3, 0.5], [-0.25, 4]]), np.float32([0.5, -1.5])


def dense(x: np.ndarray) -> np.ndarray:
    y = x @ KERNEL + BIAS
    return np.concatenate([np.maximum(y, 0), y], 1)[:, 1:3]


def samples(count: int = 16) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(count, 3)).astype(np.float32)


@pytest.mark.alternating
@pytest.mark.parametrize(
    "operation, function",
    [
        ("stablehlo.tanh", np.tanh),
        ('"chlo.tan"', np.tan),
        ('"chlo.erf"', np.vectorize(math.erf)),
        ("CALL", lambda x: 2 * x),
    ],
)
def test_text_computes_what_numpy_does(operation, function, tmp_path):
    text = DENSE
    if operation == "CALL":
        call = 'stablehlo.composite "mine.double" %5 {decomposition = @double}'
        text = text.replace("CALLED %5", call)
    elif operation.startswith('"'):
        text = text.replace("CALLED %5", f"{operation}(%5)")
    else:
        text = text.replace("CALLED %5 : (tensor<1x2xf32>) -> ", f"{operation} %5 : ")
    path = tmp_path / "network.mlir"
    path.write_text(text)
    model = mct.load(path)
    assert not re.search(r"(linalg|tensor|arith|stablehlo)\.\w", model.text)
    assert np.abs(model.run(samples()) - function(dense(samples()))).max() < TOLERANCE


def module() -> str:
    return DENSE.replace("CALLED %5 : (tensor<1x2xf32>) -> ", "stablehlo.tanh %5 : ")


def test_layers_and_points_have_the_names_of_scopes(tmp_path):
    path = tmp_path / "network.stablehlo"
    path.write_text(module())
    text = mct.quantize(mct.load(path), target="tflite_v1", data=samples()).text
    names = re.findall(r' as "([^"]*)"( weight)?', text)
    assert ("x", "") in names and ("relu", "") in names
    assert ("first/dot_general", " weight") in names or ("first", " weight") in names


@pytest.mark.alternating
def test_a_portable_artifact_is_the_same_network(tmp_path):
    from torch_mlir import ir
    from torch_mlir._mlir_libs import _stablehlo

    context = ir.Context()
    _stablehlo.register_dialect(context)
    version = _stablehlo.get_minimum_version()
    artifact = _stablehlo.serialize_portable_artifact_str(module(), version)
    path = tmp_path / "network.bc"
    path.write_bytes(artifact)
    found = mct.load(path).run(samples())
    assert np.array_equal(mct.load(artifact).run(samples()), found)
    assert np.abs(found - np.tanh(dense(samples()))).max() < TOLERANCE


@pytest.mark.alternating
@pytest.mark.parametrize(
    "text, message, layer",
    [
        ("module { stablehlo.nothing }", "cannot read it: ", ""),
        (
            """func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = stablehlo.cosine %arg0 : tensor<1x4xf32>
  %1 = "stablehlo.sort"(%0) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("jit(f)/Net/order/sort")
  return %1 : tensor<1x4xf32>
}""",
            "has no TOSA for stablehlo.sort",
            "order",
        ),
        (
            """func.func @main(%arg0: tensor<4x2xf32>, %i: tensor<1x1xi32>, %u: tensor<1x2xf32>) -> tensor<4x2xf32> {
  %1 = "stablehlo.scatter"(%arg0, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<1x1xi32>, tensor<1x2xf32>) -> tensor<4x2xf32> loc("jit(f)/Net/place/scatter")
  return %1 : tensor<4x2xf32>
}""",
            "has no TOSA for stablehlo.scatter",
            "place",
        ),
        (
            """func.func @main(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = stablehlo.cosine %arg0 : tensor<?x4xf32> loc("wave")
  return %0 : tensor<?x4xf32>
}""",
            "'stablehlo.cosine' makes a tensor of open shape, tensor<?x4xf32>",
            "wave",
        ),
        ("module {\n  module @stablehlo.x {}\n}", None, ""),
    ],
)
def test_what_cannot_be_converted_is_named(text, message, layer, tmp_path):
    path = tmp_path / "network.stablehlo"
    path.write_text(text)
    with pytest.raises(mct.Error, match=re.escape(message or "the module has no function")) as refused:
        mct.load(path)
    assert not layer or refused.value.location == f'network.stablehlo: "{layer}"'


def test_shapes_are_those_of_the_module(tmp_path):
    path = tmp_path / "network.stablehlo"
    path.write_text(module())
    with pytest.raises(mct.Error, match="has shapes of its own"):
        mct.load(path, np.zeros((1, 3), np.float32))
    with pytest.raises(mct.Error, match="No such file"):
        mct.load(tmp_path / "missing.stablehlo")
