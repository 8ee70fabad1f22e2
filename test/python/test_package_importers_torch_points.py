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


@pytest.mark.alternating
@pytest.mark.parametrize("name", QUANTIZERS)
def test_a_quantized_program_has_points_of_its_parameters_and_computes_what_it_computed(name, tmp_path):
    program = quantized(QUANTIZERS[name]())
    model = mct.load(program)
    samples = pictures(20)
    found, expected = model.run(samples.numpy()), of_runtime(program, samples)
    # Means of 64 codes lie exactly in the middle of two codes once in 64 times, where sums of float32 in another order
    # decide: one such mean of a picture changes all of its results.
    step = points(model, tmp_path)[-1]["scale"][0]
    assert np.mean(found != expected) < 0.2
    assert np.abs(found - expected).max() <= 3 * step
    grids = set()
    for node in program.graph.nodes:
        if re.search(r"quantized_decomposed\.quantize_per_tensor", str(node.target)):
            _, scale, zero_point, lowest, *_ = node.args
            # A narrow range, from -32767 for example, is a clamp in front of a point with all codes.
            grids.add((scale, zero_point - (lowest - lowest % 2)))
    activations = [point for point in points(model, tmp_path) if "weight" not in point]
    assert {(p["scale"][0], p["zero_point"][0] - p["lowest"][0]) for p in activations} == grids


@pytest.mark.alternating
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


# ----------------------------------------------------------------------------------------------------------------------
# Programs of a few quantizers
# ----------------------------------------------------------------------------------------------------------------------


def decomposed(name: str, *operands):
    import torch.ao.quantization.fx._decomposed

    return getattr(torch.ops.quantized_decomposed, name)(*operands)


def exported(forward, *example: torch.Tensor, **buffers: torch.Tensor):
    """The program of a network whose `forward` gets its buffers and the values."""

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name, value in buffers.items():
                self.register_buffer(name, value)

        def forward(self, *values):
            return forward(*[getattr(self, name) for name in buffers], *values)

    return torch.export.export(Network(), example)


def load(forward, *example: torch.Tensor, **buffers: torch.Tensor):
    """The same, and its import."""
    program = exported(forward, *example, **buffers)
    return program, mct.load(program)


BYTE = (-128, 127, torch.int8)


@pytest.mark.alternating
def test_fewer_codes_than_the_bits_have_bound_the_values():
    def forward(x):
        grid = (0.1, 3, -100, 90, torch.int8)
        x = decomposed("dequantize_per_tensor", decomposed("quantize_per_tensor", x, *grid), *grid)
        return decomposed(
            "dequantize_per_tensor", decomposed("quantize_per_tensor", x * 2, 0.3, 1, *BYTE), 0.3, 1, *BYTE
        )

    values = torch.linspace(-20, 20, 64)[None]
    program, model = load(forward, values)
    assert np.array_equal(model.run(values.numpy()), program.module(check_guards=False)(values).numpy())


@pytest.mark.alternating
def test_activations_that_are_quantized_at_run_time_are_free(caplog):
    weights = torch.tensor([[3, -7, 100], [5, 0, -128]], dtype=torch.int8)

    def forward(x):
        scale, zero_point = decomposed("choose_qparams", x, -128, 127, 1e-6, torch.int8)
        codes = decomposed("quantize_per_tensor", x, scale, zero_point, *BYTE)
        x = decomposed("dequantize_per_tensor", codes, scale, zero_point, *BYTE)
        return x @ decomposed("dequantize_per_tensor", weights, 0.01, 0, *BYTE).t()

    with caplog.at_level("WARNING", "mct"):
        _, model = load(forward, torch.ones(1, 3))
    assert any("these activations are free" in record.message for record in caplog.records)
    values = np.array([[0.3, -0.2, 0.1]], np.float32)
    assert np.allclose(model.run(values), values @ (weights.numpy().T * np.float32(0.01)), atol=1e-6)
    assert model.text.count("tpc.quantize") == 1


def affine(name: str, *operands):
    import torchao  # noqa: F401

    return getattr(torch.ops.torchao, name)(*operands)


@pytest.mark.alternating
@pytest.mark.parametrize("blocks", [(1, 8), (2, 2)])
def test_kernels_in_blocks_keep_codes_and_parameters(blocks, tmp_path):
    generator = torch.Generator().manual_seed(1)
    counts = (4 // blocks[0], 8 // blocks[1])
    codes = torch.randint(-8, 8, (4, 8), generator=generator, dtype=torch.int8)
    scale = torch.rand(counts, generator=generator) / 10 + 0.01
    zero_point = torch.randint(-8, 8, counts, generator=generator, dtype=torch.int8)

    def forward(step, offset, codes, scale, zero_point, x):
        grid = (1, 8), step, offset, torch.int8, -128, 127
        x = affine("dequantize_affine", affine("quantize_affine", x, *grid), *grid)
        kernel = affine("dequantize_affine", codes, blocks, scale, zero_point, torch.int8, -8, 7)
        return torch.nn.functional.linear(x, kernel)

    values = torch.randn(1, 8, generator=generator)
    own = {"step": torch.tensor([0.05]), "offset": torch.tensor([3])}
    program = exported(forward, values, **own, codes=codes, scale=scale, zero_point=zero_point)
    torch.export.save(program, tmp_path / "blocks.pt2")
    model = mct.load(tmp_path / "blocks.pt2")
    expected = program.module(check_guards=False)(values).detach().numpy()
    assert np.allclose(model.run(values.numpy()), expected, atol=1e-6)
    (activation, kernel) = sorted(points(model, tmp_path), key=lambda point: "weight" in point)
    assert (
        activation["scale"] == [float(np.float32(0.05))]
        and activation["zero_point"][0] - activation["lowest"][0] == 131
    )
    assert kernel["bits"] == 4
    spread = [
        values.repeat_interleave(blocks[0], 0).repeat_interleave(blocks[1], 1).numpy() for values in (scale, zero_point)
    ]
    real = (codes.numpy() - spread[1]).astype(np.float32) * spread[0]
    assert any(np.array_equal(array.reshape(-1), real.reshape(-1)) for array in constants_of(model, 32))
    found = np.array(kernel["scale"], np.float32), np.array(kernel["zero_point"]) - np.array(kernel["lowest"]) - 8
    if blocks == (1, 8):  # one for each channel
        spread = [values[:, :1] for values in spread]
    assert all(np.array_equal(a, b.reshape(-1)) for a, b in zip(found, spread, strict=True))


def constants_of(model, size: int) -> list[np.ndarray]:
    return [array for array in networks.constants_in(model.text).values() if array.size == size]


def test_what_has_no_point_is_refused_with_its_node():
    def reads_codes(x):
        return decomposed(
            "dequantize_per_tensor", decomposed("quantize_per_tensor", x, 0.1, 0, *BYTE) + 1, 0.1, 0, *BYTE
        )

    def per_channel(scales, zero_points, x):
        grid = (scales, zero_points, 1, *BYTE)
        return decomposed("dequantize_per_channel", decomposed("quantize_per_channel", x, *grid), *grid)

    def computed(x):
        grid = (x.abs().max(), torch.tensor(0), *BYTE)
        return decomposed("dequantize_per_tensor", decomposed("quantize_per_tensor", x, *grid), *grid)

    channels = {"scales": torch.tensor([0.1, 0.2]), "zero_points": torch.tensor([0, 0])}
    for forward, buffers, message, node in (
        (reads_codes, {}, "reads codes, whose real values a float network has", "add"),
        (per_channel, channels, "an activation has one scale for all of its channels", "quantize_per_channel"),
        (computed, {}, "its parameters are computed while it runs", "quantize_per_tensor"),
    ):
        with pytest.raises(mct.Error, match=message) as caught:
            load(forward, torch.ones(1, 2), **buffers)
        assert node in str(caught.value)


@pytest.mark.alternating
def test_a_saved_program_has_its_points(tmp_path):
    program = quantized(arm())
    torch.export.save(program, tmp_path / "quantized.pt2")
    assert mct.load(tmp_path / "quantized.pt2").text == mct.load(program).text
