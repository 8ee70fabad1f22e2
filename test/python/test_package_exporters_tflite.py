# SPDX-License-Identifier: Apache-2.0
"""What a `.tflite` file computes in LiteRT is what the integer network computes."""

import importlib
import io
import json
import zipfile

import measure
import numpy as np
import pytest
from tflite_networks import CASES, Case, quantizer, text

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
pytest.importorskip("tflite", reason='the extra "tflite" is not installed (tools/dev/importers)')

KERNELS = {"XNNPACK": "AUTO", "reference": "BUILTIN_REF"}


def litert(data, samples, kernels="AUTO"):
    """Outputs of LiteRT, of one sample for each input."""
    interpreter = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    runner = interpreter.Interpreter(
        model_content=data, experimental_op_resolver_type=getattr(interpreter.OpResolverType, kernels)
    )
    runner.allocate_tensors()
    for detail, sample in zip(runner.get_input_details(), samples, strict=True):
        runner.set_tensor(detail["index"], sample)
    runner.invoke()
    return [runner.get_tensor(detail["index"]) for detail in runner.get_output_details()], runner


def exported(model, path, **options):
    mct.exporters.export_tflite(model, path, **options)
    return path.read_bytes()


def operators(model, **options):
    document = json.loads(model.module.export_tflite(*options.values()))
    return [entry["operator"] for entry in document["operators"]]


def codes(model, integer):
    """Codes of every argument, all of those that there are."""
    generator = np.random.default_rng(7)
    entries = json.loads(integer.module.export_parameters(""))["inputs"]
    result = []
    for entry in entries:
        sizes, element = entry["type"].removeprefix("tensor<").removesuffix(">").rsplit("x", 1)
        limit = 1 << (int(element[1:]) - 1)
        shape = [int(size) for size in sizes.split("x")]
        result.append(generator.integers(-limit, limit, shape).astype(f"int{element[1:]}"))
    return result


def lowered(model):
    return mct.Model(model.module.run("mct-lower-to-integer{io=integer extensions=int16}"))


def outputs(model, samples):
    result = model.run(samples[0] if len(samples) == 1 else tuple(samples))
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", CASES)
def test_an_operator_computes_the_codes_of_the_integer_network(name, tmp_path):
    case = CASES[name]
    model = mct.Model.parse(text(case), name)
    integer = lowered(model)
    samples = codes(model, integer)
    data = exported(model, tmp_path / "network.tflite")
    assert operators(model) == case.operators
    (expected,) = outputs(integer, samples)
    for kernels in KERNELS.values():
        (found,), _ = litert(data, samples, kernels)
        assert found.shape == expected.shape and found.dtype == expected.dtype
        # LiteRT rounds halves to even or away from zero, its reference kernels twice: one step where it rounds at all.
        assert np.abs(found.astype(int) - expected.astype(int)).max() <= case.steps
