# SPDX-License-Identifier: Apache-2.0
"""PyTorch: what a module computes, our executor computes from the import."""

import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("torch", "executorch", "tosa_tools_cli"):
    pytest.importorskip(module, reason='the extra "torch" is not installed (tools/dev/importers)')

import importer_networks as networks  # noqa: E402
import importer_torch_networks as torch_networks  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from mct.importers import torch as torch_importer  # noqa: E402
from torch import nn  # noqa: E402

# Relative to the range of the outputs. Folded batch norms and orders of summation differ; 3e-6 is seen.
TOLERANCE = 1e-4


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm, self.relu = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.head = nn.Linear(8, 5)

    def forward(self, image):
        x = self.relu(self.norm(self.stem(image)))
        return self.head((self.relu(x) + nn.functional.hardswish(self.depthwise(x))).mean((2, 3)))


class TopTwo(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        return torch.topk(self.head(x), 2)[0]


def expected(network: nn.Module, samples: torch.Tensor) -> np.ndarray:
    with torch.no_grad():
        return network(samples).numpy()


def error(model, network: nn.Module, samples: torch.Tensor) -> float:
    return networks.relative_error(model.run(samples.numpy()), expected(network, samples))


@pytest.mark.thorough
@pytest.mark.parametrize("network", [torch_networks.ResNet18, torch_networks.MobileNetV3Small])
def test_a_network_goes_to_a_quantized_module(network):
    batch = torch_networks.images(8)
    module = torch_networks.calibrated(network, batch)
    model = mct.load(module, batch[:1])
    assert "tensor<1x3x224x224xf32>" in model.text  # channels first, as the network has it
    samples = torch_networks.images(4, seed=1)
    assert error(model, module, samples) < TOLERANCE
    quantized = mct.quantize(model, target="imx500", data=batch.numpy()).run(samples.numpy())
    difference = ((quantized - expected(module, samples)) ** 2).mean()
    # Eight bits and untrained weights give at least 10 dB; a wrong import gives none.
    assert difference < 0.1 * expected(module, samples).var()


@pytest.mark.alternating
def test_modules_give_layers_and_points_their_names():
    model = mct.load(Small().eval(), torch.zeros(1, 3, 16, 16))
    text = mct.quantize(model, target="imx500", data=torch_networks.images(2, 16).numpy()).text
    for name in ("image", "relu", "hardswish", "add"):
        assert f'as "{name}' in text
    for name in ("stem", "depthwise", "head"):
        assert f'as "{name}" weight' in text


EVENTS = [
    {
        "tosa_info": {"operator_name": f"Op.{kind}"},
        "aten_info": {"node_name": "node", "operator_name": "aten.relu.default"},
        "torch_info": {"nn_module_stack": {"key": [path, module]}, "node_trace": [{"name": call, "target": target}]},
    }
    for kind, path, module, call, target in (
        ("CLAMP", "block.relu", "torch.nn.modules.activation.ReLU", "relu", "aten.relu.default"),
        ("ADD", "block", "my.Block", "add", "aten.add.Tensor"),
        ("CLAMP", "block.relu", "torch.nn.modules.activation.ReLU", "relu_1", "aten.relu.default"),
    )
]
DESERIALIZED = """module {
  func.func @main(%arg0: tensor<4xf32> {tosa.tensor_name = "x"} loc("main"(#loc))) -> (tensor<4xf32>) {
    %0 = "tosa.const"() <{values = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32> loc(#loc)
    %1 = tosa.clamp %arg0 : (tensor<4xf32>) -> tensor<4xf32> loc(#loc)
    %2 = tosa.add %1, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc(#loc)
    %3 = tosa.clamp %2 : (tensor<4xf32>) -> tensor<4xf32> loc(#loc)
    return %3 : tensor<4xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
"""


@pytest.mark.alternating
def test_operations_have_the_names_of_the_modules_that_they_come_from(capsys):
    from mct.importers import _text, _torch_child

    text = _torch_child.with_names(DESERIALIZED, EVENTS)
    assert 'tensor<4xf32> loc("x")' in text
    names = [operation.name for operation in _text.operations(text) if operation.kind in ("tosa.clamp", "tosa.add")]
    assert names == ["block.relu", "block/add", "block.relu_1"]
    assert _torch_child.with_names(DESERIALIZED, EVENTS[1:]) == DESERIALIZED
    assert "no names for layers" in capsys.readouterr().err


@pytest.mark.alternating
def test_the_network_stays_as_it_was():
    """In training, but for a part that is not; the import is of inference."""
    network = Small().train()
    network.norm.eval()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    model = mct.load(network, np.zeros((1, 3, 16, 16), np.float32))
    assert network.training and network.relu.training and not network.norm.training
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert error(model, network.eval(), torch_networks.images(3, 16)) < TOLERANCE


@pytest.mark.alternating
def test_a_program_of_any_batch_is_imported_with_that_of_an_example(tmp_path):
    network = Small().eval()
    example = torch_networks.images(2, 16)
    program = torch.export.export(network, (example,), dynamic_shapes=({0: torch.export.Dim("batch")},))
    assert "tensor<2x3x16x16xf32>" in mct.load(program).text
    torch.export.save(program, tmp_path / "program.pt2")
    model = mct.load(tmp_path / "program.pt2", example[:1])
    assert "tensor<1x3x16x16xf32>" in model.text
    assert error(model, network, torch_networks.images(3, 16)) < TOLERANCE


def test_what_the_converter_leaves_is_refused_with_its_layer():
    with pytest.raises(mct.Error, match=r"has no TOSA for aten\.topk\.default") as caught:
        mct.load(TopTwo().eval(), torch.zeros(1, 8))
    assert caught.value.location == 'TopTwo: "topk"'


def test_shapes_are_asked_for():
    with pytest.raises(mct.Error, match="has no shapes of its own") as caught:
        mct.load(Small())
    assert "give example_inputs" in caught.value.notes[0]


def test_what_torch_cannot_export_is_one_error():
    class Branching(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.raises(mct.Error, match=r"Branching: torch\.export refuses the network"):
        mct.load(Branching(), torch.ones(1, 4))


def test_a_file_that_is_no_program_is_an_error(tmp_path):
    (tmp_path / "cut.pt2").write_bytes(b"PK\3\4")
    with pytest.raises(mct.Error, match=r"cut\.pt2: not a program that torch\.export has saved"):
        mct.load(tmp_path / "cut.pt2")
    with pytest.raises(mct.Error, match="cannot read it"):
        mct.load(tmp_path / "nothing.pt2")


class Strided(nn.Module):
    """It has as many channels as rows and columns, so that no shape distinguishes layouts."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 6, 3)

    def forward(self, x):
        return self.second(self.first(x.to(memory_format=torch.channels_last)).relu())


def strided(count: int) -> np.ndarray:
    """Channels first, stored with channels last."""
    return np.random.default_rng(0).normal(size=(count, 8, 8, 8)).astype(np.float32).transpose(0, 3, 1, 2)


def test_the_layout_depends_neither_on_strides_nor_on_the_precision_of_the_example():
    torch.manual_seed(0)
    network = nn.Conv2d(8, 5, 3).eval()
    samples = strided(3)
    example = samples[:1, ::-1].astype(np.float64)  # strides of any sign
    assert example.strides[1] < 0 or not example.flags.c_contiguous
    model = mct.load(network, example)
    found = model.run(samples)
    assert found.shape == (3, 5, 6, 6)
    assert networks.relative_error(found, expected(network, torch.from_numpy(samples.copy()))) < TOLERANCE


@pytest.mark.alternating
@pytest.mark.parametrize("form", [pytest.param("module", marks=pytest.mark.thorough), "program"])
def test_the_layout_depends_on_no_memory_format(form):
    torch.manual_seed(0)
    network = Strided().eval().to(memory_format=torch.channels_last)
    samples = torch.from_numpy(strided(3).copy())
    example = samples[:1].contiguous(memory_format=torch.channels_last)
    source = network if form == "module" else torch.export.export(network, (example,))
    model = mct.load(source, example if form == "module" else None)
    assert model.run(samples.numpy()).shape == (3, 6, 6, 6)
    assert error(model, network, samples) < TOLERANCE
    assert not network.first.weight.is_contiguous()  # it is left as it was


class Interpolation(nn.Module):
    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale, self.layer = scale, nn.Conv2d(2, 3, 1)

    def forward(self, image):
        return self.layer(nn.functional.interpolate(image, scale_factor=self.scale, mode="bilinear"))


class CausalAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.queries, self.head = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        query, key, value = self.queries(x / 100).reshape(-1, 6, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        attention = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.head(attention.transpose(1, 2).reshape(-1, 6, 8))


class Roll(nn.Module):
    def forward(self, x):
        return torch.roll(x, (2, -1), (2, 3))


class Function(nn.Module):
    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Written(nn.Module):
    """The tensor that `forward` makes is written to, and therefore not a constant."""

    def forward(self, x):
        values = torch.zeros(x.shape)
        rows = values.view(-1, 12)
        values += x
        return x + rows.view(x.shape).mul(2)


class Relative(nn.Module):
    """Attention whose scores have biases that are taken from a table, as that of Swin."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.linspace(-1, 1, 7))
        self.register_buffer("places", torch.arange(4)[:, None] - torch.arange(4)[None] + 3)

    def forward(self, x):
        return (x / 100 + self.table[self.places.view(-1)].view(4, 4)).softmax(-1)


def resized(mode: str, **options):
    return Function(lambda x: nn.functional.interpolate(x, mode=mode, **options))


REWRITTEN = {
    "bicubic": (resized("bicubic", scale_factor=2), (3, 6, 8)),
    "bicubic_to_corners": (resized("bicubic", size=(9, 5), align_corners=True), (3, 6, 8)),
    "bilinear_antialiased": (resized("bilinear", size=(3, 5), antialias=True), (3, 6, 8)),
    "bicubic_antialiased": (resized("bicubic", scale_factor=0.5, antialias=True), (3, 6, 8)),
    "linear": (resized("linear", scale_factor=1.5), (3, 8)),
    "nearest_exact": (resized("nearest-exact", size=(4, 11)), (3, 6, 8)),
    "nearest_exact_of_rows": (resized("nearest-exact", size=11), (3, 8)),
    "nearest_exact_of_many": (resized("nearest-exact", size=150), (3, 100)),
    "largest": (nn.AdaptiveMaxPool2d(1), (3, 6, 8)),
    "largest_of_windows": (nn.AdaptiveMaxPool2d((4, 5)), (3, 6, 8)),
    "largest_of_rows": (nn.AdaptiveMaxPool1d(3), (3, 8)),
    "triangle": (Function(lambda x: x.tril(-1) + 2 * x.triu(1)), (2, 5, 6)),
    "mask_of_scores": (Function(lambda x: (x + torch.full((6, 6), -torch.inf).triu(1)).softmax(-1)), (6, 6)),
    "masked_scores": (
        Function(lambda x: x.masked_fill(torch.ones(6, 6).tril() == 0, -torch.inf).softmax(-1)),
        (6, 6),
    ),
    "indices": (Function(lambda x: x[:, torch.tensor([2, 0, -1, 1])]), (3, 6)),
    "selected": (Function(lambda x: x.index_select(-1, torch.arange(4, -1, -1))), (3, 6)),
    "relative_biases": (Relative(), (4, 4)),
    "written": (Written(), (3, 4)),
    "local_response": (nn.LocalResponseNorm(3, alpha=1e-3), (5, 6, 8)),
    "windows": (nn.Unfold((3, 2), dilation=(1, 2), padding=1, stride=2), (3, 7, 8)),
    "truncated": (Function(lambda x: x.trunc() + torch.fmod(x, 0.75) + x.frac()), (3, 6)),
    "dilated": (nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, groups=2, dilation=(2, 1)), (4, 5, 7)),
    # The scale is not the quotient of the sizes, which are 7 and 5 before.
    "smaller": (Interpolation(0.6), (2, 7, 5)),
    "larger": (Interpolation(1.3), (2, 7, 5)),
    # Softmax of these is 0 in float32.
    "log_softmax": (nn.Sequential(nn.Hardtanh(-300, 300), nn.LogSoftmax(1)), (6, 4)),
    "instance_norm": (nn.InstanceNorm2d(3, affine=True), (3, 6, 5)),
    "instance_norm_of_rows": (nn.InstanceNorm1d(3, eps=0.1), (3, 8)),
    "causal_attention": (CausalAttention(), (6, 8)),
    "roll": (Roll(), (2, 5, 4)),
    "transposed_rows": (nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2), (4, 9)),
}


@pytest.mark.alternating
@pytest.mark.parametrize("name", REWRITTEN)
def test_operators_that_are_rewritten_compute_what_torch_computes(name):
    network, shape = REWRITTEN[name]
    samples = 100 * torch.randn(3, *shape, generator=torch.Generator().manual_seed(3))
    assert error(mct.load(network.eval(), samples[:1]), network, samples) < TOLERANCE


@pytest.mark.alternating
def test_nearest_elements_of_whole_scales_stay_a_resize():
    assert "tosa.resize" in mct.load(resized("nearest-exact", scale_factor=2), torch.randn(1, 3, 40, 40)).text


@pytest.mark.alternating
def test_an_interpolation_by_the_quotient_of_the_sizes_stays_one():
    """10 * 1.1 is 11.000000000000002."""
    assert "tosa.resize" in mct.load(Interpolation(1.1).eval(), torch.randn(1, 2, 10, 20)).text


@pytest.mark.alternating
def test_examples_may_be_nested():
    class Pair(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, pair, more):
            return self.layer(pair[0]) * pair[1] + more["offset"]

    torch.manual_seed(0)
    network = Pair().eval()
    a, b, c = (np.random.default_rng(i).normal(size=(1, 4)) for i in range(3))
    model = mct.load(network, ((a, [b][0]), {"offset": torch.from_numpy(c)}))
    arrays = [value.astype(np.float32) for value in (a, b, c)]
    with torch.no_grad():
        x, y, z = map(torch.from_numpy, arrays)
        want = network((x, y), {"offset": z}).numpy()
    assert np.allclose(model.run(arrays), want, atol=1e-5)


def test_an_example_of_other_shapes_than_those_of_a_program_is_an_error():
    program = torch.export.export(nn.Linear(4, 2).eval(), (torch.zeros(10, 4),))
    with pytest.raises(mct.Error, match=r"input 0 \('input'\) is 10x4, its example 1x4"):
        mct.load(program, np.zeros((1, 4), np.float32))


@pytest.mark.thorough
def test_samples_of_doubles_quantize_a_network():
    samples = np.random.default_rng(0).normal(size=(4, 3, 8, 8))
    quantized, _ = mct.ptq.pytorch_post_training_quantization(nn.Conv2d(3, 3, 3), lambda: [[samples]])
    assert quantized.run(samples).shape == (4, 3, 6, 6)


class Remembering(nn.Module):
    """The state is an argument and a result; the exported network reads it first and makes it first."""

    def __init__(self, kind) -> None:
        super().__init__()
        self.memory, self.head = kind(3, 4, batch_first=True), nn.Linear(4, 2)

    def forward(self, series, state):
        results, state = self.memory(series, state)
        return self.head(results[:, -1]), state


@pytest.mark.alternating
@pytest.mark.parametrize("kind", [nn.GRU, pytest.param(nn.RNN, marks=pytest.mark.thorough)])
def test_recurrent_layers_are_written_out_with_their_states_in_the_order_of_the_network(kind):
    torch.manual_seed(3)
    network = Remembering(kind).eval()
    series, state = torch.randn(1, 5, 3), torch.randn(1, 1, 4)
    found = mct.load(network, (series, state)).run([series.numpy(), state.numpy()])
    with torch.no_grad():
        wanted = network(series, state)
    for one, other in zip(found, wanted, strict=True):
        assert networks.relative_error(one, other.numpy()) < TOLERANCE


class Headed(nn.Module):
    """A recurrent layer between others, whose last states are results."""

    def __init__(self, kind, **options):
        super().__init__()
        self.memory = kind(3, 4, **options)
        self.head = nn.Linear(8 if options.get("bidirectional") else 4, 2)

    def forward(self, series):
        results, states = self.memory(series * 2)
        return self.head(results), *(states if isinstance(states, tuple) else (states,))


@pytest.mark.alternating
@pytest.mark.parametrize(
    ("kind", "shape", "options"),
    [
        (nn.LSTM, (1, 5, 3), {"batch_first": True, "num_layers": 2}),
        (nn.GRU, (5, 2, 3), {"num_layers": 2, "bidirectional": True}),
        pytest.param(nn.LSTM, (2, 5, 3), {"batch_first": True, "bidirectional": True}, marks=pytest.mark.thorough),
        pytest.param(nn.RNN, (5, 1, 3), {"nonlinearity": "relu", "bias": False}, marks=pytest.mark.thorough),
        pytest.param(nn.RNN, (1, 5, 3), {"batch_first": True}, marks=pytest.mark.thorough),
    ],
)
def test_steps_of_recurrent_layers_compute_what_torch_computes(kind, shape, options):
    torch.manual_seed(3)
    network, series = Headed(kind, **options).eval(), torch.randn(*shape)
    text = torch_importer.import_model(network, series)
    with torch.no_grad():
        wanted = network(series)
    for one, other in zip(mct.Model.parse(text, "network").run(series.numpy()), wanted, strict=True):
        assert networks.relative_error(one, other.numpy()) < TOLERANCE
    layer = "memory/layer0" if "num_layers" in options else "memory"
    layer += "/forward" if "bidirectional" in options else ""
    assert f'loc("{layer}/step3/h")' in text.decode() and 'loc("head")' in text.decode()


def test_steps_are_not_converted_one_by_one():
    """The backend would take minutes for the operators of these."""
    torch.manual_seed(3)
    network = Headed(nn.LSTM, num_layers=3, batch_first=True).eval()
    text = torch_importer.import_model(network, torch.randn(1, 160, 3))
    assert text.count(b"tosa.tanh") == 2 * 3 * 160


@pytest.mark.alternating
def test_arguments_and_results_get_the_order_of_the_network():
    from mct.importers import _torch_child

    text = """module {
  func.func @main(%arg0: tensor<1xf32> loc("h"), %arg1: tensor<2xf32> loc("x")) -> (tensor<3xf32>, tensor<4xf32>) {
    return %0, %1 : tensor<3xf32>, tensor<4xf32> loc(#loc)
  } loc(#loc)
}
"""
    assert _torch_child.in_order(text, [0, 1], [0, 1]) == text
    swapped = _torch_child.in_order(text, [1, 0], [1, 0]).splitlines()
    assert swapped[1].startswith(
        '  func.func @main(%arg1: tensor<2xf32> loc("x"), %arg0: tensor<1xf32> loc("h")) -> (ten'
    )
    assert swapped[1].endswith("-> (tensor<4xf32>, tensor<3xf32>) {")
    assert swapped[2] == "    return %1, %0 : tensor<4xf32>, tensor<3xf32> loc(#loc)"
    single = text.replace("(tensor<3xf32>, tensor<4xf32>)", "tensor<3xf32>").replace("%0, %1 : ", "%0 : ")
    assert "-> tensor<3xf32> {" in _torch_child.in_order(single.replace(", tensor<4xf32>", ""), [1, 0], [0])
