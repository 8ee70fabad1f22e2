# SPDX-License-Identifier: Apache-2.0
"""Networks that PT2E has quantized become float networks whose points have the parameters and codes of the program."""

import json
import re

import importer_networks as networks
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("torch", "executorch", "tosa_tools_cli", "torchao"):
    pytest.importorskip(module, reason='the extra "torch" is not installed (tools/dev/importers)')
import torch  # noqa: E402
from torch import nn  # noqa: E402


class Small(nn.Module):
    """A batch norm, a depthwise convolution, a residual addition, a mean, views, a dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.depthwise, self.head = nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Linear(8, 5)

    def forward(self, image):
        x = torch.relu(self.norm(self.stem(image)))
        return self.head((x + self.depthwise(x)).mean((2, 3)))


def pictures(count: int) -> torch.Tensor:
    return torch.randn(count, 3, 8, 8, generator=torch.Generator().manual_seed(5))


def xnnpack(**options):
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(**options))


def arm(extensions: str = "", weights: str = "symmetric"):
    from executorch.backends.arm import quantizer
    from executorch.backends.arm.tosa.specification import TosaSpecification

    tool = quantizer.TOSAQuantizer(TosaSpecification.create_from_string("TOSA-1.0+INT" + extensions))
    getter = {"symmetric": "get_symmetric_quantization_config", "a16w8": "get_symmetric_a16w8_quantization_config"}
    tool.set_global(getattr(quantizer, getter[weights])())
    return tool


def quantized(quantizer, network: nn.Module | None = None, example: torch.Tensor | None = None):
    """The exported program of a network that PT2E has quantized."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    torch.manual_seed(2)
    network = (network or Small()).eval()
    example = pictures(1) if example is None else example
    prepared = prepare_pt2e(torch.export.export(network, (example,)).module(check_guards=False), quantizer)
    for picture in pictures(8) if example.dim() == 4 else [example[0]]:
        prepared(picture[None])
    return torch.export.export(convert_pt2e(prepared), (example,))


def of_runtime(program, samples: torch.Tensor) -> np.ndarray:
    network = program.module(check_guards=False)
    with torch.no_grad():
        return torch.cat([network(sample[None]) for sample in samples]).numpy()


def points(model, folder) -> list[dict]:
    path = folder / "parameters.json"
    mct.exporters.export_parameters(model, path)
    return json.loads(path.read_text())["points"]


QUANTIZERS = {
    "xnnpack": lambda: xnnpack(is_per_channel=True),
    "xnnpack, per tensor": xnnpack,
    "arm": arm,
    "arm, 16 bits": lambda: arm("+int16", "a16w8"),
}


@pytest.mark.parametrize("name", QUANTIZERS)
def test_a_quantized_program_has_points_of_its_parameters_and_computes_what_it_computed(name, tmp_path):
    program = quantized(QUANTIZERS[name]())
    model = mct.load(program)
    samples = pictures(20)
    found, expected = model.run(samples.numpy()), of_runtime(program, samples)
    # Results have one point; a step is what two codes differ by. Sums of another order decide halves, later points too.
    step = max(point["scale"][0] for point in points(model, tmp_path) if "weight" not in point)
    assert np.mean(found != expected) < 0.02
    assert np.abs(found - expected).max() <= 1.01 * step
    grids = set()
    for node in program.graph.nodes:
        if re.search(r"quantized_decomposed\.quantize_per_tensor", str(node.target)):
            _, scale, zero_point, *_ = node.args
            grids.add((scale, zero_point))
    activations = [point for point in points(model, tmp_path) if "weight" not in point]
    assert {(p["scale"][0], p["zero_point"][0]) for p in activations} == grids


@pytest.mark.parametrize("name", ["xnnpack", "arm"])
def test_codes_of_weights_are_those_of_the_program(name, tmp_path):
    program = quantized(QUANTIZERS[name]())
    model = mct.load(program)
    constants = networks.constants_in(model.text)
    parameters = {point["name"]: point for point in points(model, tmp_path) if "weight" in point}
    state = {**program.state_dict, **program.constants}
    codes = [value.numpy() for key, value in state.items() if "frozen" in key and value.dtype == torch.int8]
    found = {}
    weights = re.compile(r'tpc\.quantize (%\w+) as "([^"]*)" weight "kernel_attr"')
    for constant, layer in weights.findall(model.text):
        values, point = constants[constant], next(p for key, p in parameters.items() if key.startswith(layer))
        shape = [1] * values.ndim
        for axis in point.get("axes", []):
            shape[axis] = values.shape[axis]
        found[layer] = values / np.asarray(point["scale"], np.float64).reshape(shape)
    assert sorted(found) == ["depthwise", "head", "stem"]
    layouts = {"stem": (0, 3, 1, 2), "depthwise": (2, 3, 0, 1), "head": (0, 3, 1, 2)}
    for layer, values in found.items():
        real = values.transpose(layouts[layer])
        match = next(c for c in codes if c.size == real.size)
        assert np.abs(real.reshape(match.shape) - match).max() < 1e-4  # real numbers were rounded to float32
