# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch with quantizers, by the names of mct_quantizers: values and gradients against those of torch."""

import copy

import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
torch = pytest.importorskip("torch", reason='the extra "torch" is not installed')

from mct import quantizers, trainable_infrastructure, trained_quantizers  # noqa: E402
from mct.target_platform import TargetError  # noqa: E402
from mct.torch_layers import PytorchActivationQuantizationHolder, PytorchQuantizationWrapper  # noqa: E402

Method = mct.QuantizationMethod
THRESHOLDS = [0.2, 0.3, 0.1, 0.25]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def descend(parameters, loss, rate):
    """One step of gradient descent; the optimizers of torch take seconds to import."""
    loss.backward()
    with torch.no_grad():
        for one in parameters:
            if one.requires_grad:
                one -= rate * one.grad
                one.grad = None


def weights_config(method=Method.SYMMETRIC, **parameters):
    return trainable_infrastructure.TrainableQuantizerWeightsConfig(
        method, 4, parameters or {"threshold": THRESHOLDS}, True, (0, 1), True, 2**-16
    )


def activation_config(method=Method.SYMMETRIC, **parameters):
    return trainable_infrastructure.TrainableQuantizerActivationConfig(
        method, 4, parameters or {"threshold": 2.0}, True, 2**-16
    )


def fake_quantized(weight):
    """Returns what torch makes of a weight with the thresholds."""
    steps = torch.tensor(THRESHOLDS) / 8
    return torch.fake_quantize_per_channel_affine(weight, steps, torch.zeros(4, dtype=torch.int32), 0, -8, 7)


def test_a_wrapped_layer_computes_with_quantized_weights():
    convolution, inputs = torch.nn.Conv2d(3, 4, 3), torch.randn(2, 3, 6, 6)
    weight = convolution.weight.detach().clone().requires_grad_()
    expected = torch.nn.functional.conv2d(inputs, fake_quantized(weight), convolution.bias)
    expected.square().sum().backward()
    quantizer = quantizers.WeightsSymmetricInferableQuantizer(4, THRESHOLDS, True, 0)
    wrapper = PytorchQuantizationWrapper(convolution, {"weight": quantizer})
    found = wrapper(inputs)
    assert torch.equal(found, expected)
    found.square().sum().backward()
    # Some values are clipped: their gradient is 0.
    assert (wrapper.weight.grad == 0).any() and torch.equal(wrapper.weight.grad, weight.grad)
    assert sorted(name for name, _ in wrapper.named_parameters()) == ["layer.bias", "weight"]
    assert wrapper.is_weights_quantization and wrapper.num_weights_quantizers == 1
    assert torch.equal(wrapper.get_quantized_weights()["weight"], fake_quantized(weight))
    assert torch.equal(copy.deepcopy(wrapper)(inputs), expected)


@pytest.mark.parametrize("name", ["STEWeightQATQuantizer", "LSQWeightQATQuantizer"])
def test_a_wrapped_layer_is_trained_and_becomes_an_ordinary_one(name):
    inputs, target = torch.randn(16, 6), torch.randn(16, 4)
    quantizer = getattr(trained_quantizers, name)(weights_config())
    wrapper = PytorchQuantizationWrapper(torch.nn.Linear(6, 4), {"weight": quantizer})
    learns = {name for name, one in wrapper.named_parameters() if one.requires_grad}
    assert ("weight_threshold" in learns) == (name == "LSQWeightQATQuantizer") and {"weight", "layer.bias"} <= learns
    losses = []
    for _ in range(20):
        losses.append(torch.nn.functional.mse_loss(wrapper(inputs), target))
        descend(wrapper.parameters(), losses[-1], 0.02)
    assert losses[-1] < 0.9 * losses[0]
    trained = wrapper(inputs)
    wrapper.convert_to_inferable_quantizers()
    found = wrapper.weights_quantizers["weight"]
    assert type(found) is quantizers.WeightsSymmetricInferableQuantizer and found.channel_axis == 0
    assert (found.threshold != pytest.approx(THRESHOLDS)) == (name == "LSQWeightQATQuantizer")
    torch.testing.assert_close(wrapper(inputs), trained)
    assert "weight_threshold" not in dict(wrapper.named_parameters())


def test_a_function_gets_its_constants_quantized():
    quantizer = quantizers.WeightsUniformInferableQuantizer(2, [-1.0], [2.0], False)
    constant = torch.tensor([[0.4, 1.7, -0.6]])
    wrapper = PytorchQuantizationWrapper(torch.sub, {0: quantizer}, {0: constant})
    assert wrapper(torch.ones(2, 3)).tolist() == [[-1, 1, -2]] * 2
    wrapper = PytorchQuantizationWrapper(
        torch.cat, {1: quantizer}, {1: constant}, op_call_kwargs={"dim": 0}, is_inputs_as_list=True
    )
    assert wrapper(torch.ones(1, 3)).tolist() == [[1, 1, 1], [0, 2, -1]]


def rounded(values):
    """Rounds, with the gradient of the identity."""
    return values + (values.round() - values).detach()


def straight_through(values, threshold):
    step = threshold / 8
    codes = values / step
    passes = (codes.detach().round() == codes.detach().round().clamp(-8, 7)).float()
    # By the step the difference between the code and the value in steps; nothing comes back to clipped values.
    return step * (codes.round().clamp(-8, 7) - codes).detach() + values * passes + (values * (1 - passes)).detach()


def learned_step(values, threshold):
    # Scaled by 1 / sqrt(highest code * channels), which are second.
    scale = (7 * values.shape[1]) ** -0.5
    scaled = threshold * scale + (threshold * (1 - scale)).detach()
    return rounded(values / (scaled / 8)).clamp(-8, 7) * (scaled / 8)


@pytest.mark.parametrize(("name", "expected"), [("STESymmetric", straight_through), ("LSQSymmetric", learned_step)])
def test_a_holder_learns_its_threshold(name, expected):
    quantizer = getattr(trained_quantizers, f"{name}ActivationTrainableQuantizer")(activation_config())
    holder = PytorchActivationQuantizationHolder(quantizer)
    values = (2 * torch.randn(2, 3, 5, 5)).requires_grad_()
    theirs, threshold = values.detach().clone().requires_grad_(), torch.tensor(2.0, requires_grad=True)
    weights = torch.randn(2, 3, 5, 5)
    (holder(values) * weights).sum().backward()
    (expected(theirs, threshold) * weights).sum().backward()
    torch.testing.assert_close(values.grad, theirs.grad)
    (learned,) = holder.parameters()
    torch.testing.assert_close(learned.grad, threshold.grad.reshape(1))
    torch.testing.assert_close(holder(values), expected(theirs, threshold))
    with torch.no_grad():
        learned.fill_(1.5)
    trained = holder(values)
    holder.convert_to_inferable_quantizers()
    assert holder.activation_holder_quantizer.threshold == [1.5] and not list(holder.parameters())
    assert torch.equal(holder(values), trained)
    assert (holder(values.detach().numpy()) == trained.detach().numpy()).all()


def range_holder(name, bits):
    config = trainable_infrastructure.TrainableQuantizerActivationConfig(
        Method.UNIFORM, bits, {"range_min": -0.9, "range_max": 2.1}, True, 2**-16
    )
    quantizer = getattr(trained_quantizers, f"{name}ActivationTrainableQuantizer")
    return PytorchActivationQuantizationHolder(quantizer(config))


def test_a_range_gets_straight_through_gradients():
    # Two bits from -0.9 to 2.1 have the levels -1, 0, 1 and 2. By the upper end a value has the derivative of its code
    # less the value in steps, a third of it: 1, 0.3, 0.4, -0.4, -3.
    holder = range_holder("STEUniform", 2)
    values = torch.tensor([[-2, -0.3, 0.6, 1.4, 5]], requires_grad=True)
    quantized = holder(values)
    torch.testing.assert_close(quantized, torch.tensor([[-1.0, 0, 1, 1, 2]]))
    quantized.sum().backward()
    low, high = (one.grad.item() for one in holder.parameters())
    assert high == pytest.approx(-1.7 / 3, rel=1e-5) and low == pytest.approx(1.7 / 3, rel=1e-5)
    assert values.grad.tolist() == [[0, 1, 1, 1, 0]]
    holder.convert_to_inferable_quantizers()
    torch.testing.assert_close(holder(values), quantized)


def test_a_range_is_learned():
    # Both ends move by the same, for what comes back to them is that of the step: their middle stays.
    holder = range_holder("LSQUniform", 4)
    values = torch.linspace(-6, 6, 40)
    losses = []
    for _ in range(60):
        losses.append((holder(values) - values.clamp(-2, 3.2)).square().mean())
        descend(holder.parameters(), losses[-1], 0.5)
    low, high = (one.item() for one in holder.parameters())
    assert low < -1.5 and high > 2.7 and low + high == pytest.approx(1.2, abs=1e-3)
    assert losses[-1] < losses[0] / 4
    trained = holder(values)
    holder.convert_to_inferable_quantizers()
    torch.testing.assert_close(holder(values), trained, atol=1e-6, rtol=0)


def test_a_quantizer_of_a_script_computes_on_tensors():
    @trainable_infrastructure.mark_quantizer(
        trainable_infrastructure.QuantizationTarget.Weights, [Method.SYMMETRIC], "test on tensors"
    )
    class Own(trainable_infrastructure.BasePytorchTrainableQuantizer):
        def __init__(self, quantization_config: trainable_infrastructure.TrainableQuantizerWeightsConfig):
            super().__init__(quantization_config)

        def initialize_quantization(self, tensor_shape, name, layer):
            layer.register_parameter(f"{name}_scale", torch.nn.Parameter(torch.ones(tensor_shape)))
            self.add_quantizer_variable("scale", layer.get_parameter(f"{name}_scale"))

        def __call__(self, inputs, training):
            return torch.where(torch.tensor(training), inputs * self.get_quantizer_variable("scale"), inputs * 0)

    wrapper = PytorchQuantizationWrapper(torch.nn.Linear(2, 4, bias=False), {"weight": Own(weights_config())})
    inputs = torch.eye(2)
    assert torch.equal(wrapper(inputs).T, wrapper.weight) and not wrapper.eval()(inputs).any()
    assert [len(one) for one in wrapper.get_weights_vars()] == [3] and "weight_scale" in dict(
        wrapper.named_parameters()
    )


def test_what_cannot_be_wrapped_is_an_error():
    quantizer = quantizers.WeightsSymmetricInferableQuantizer(4, THRESHOLDS, True, 0)
    with pytest.raises(TargetError, match=r"the layer has no weight 'kernel'; it has weight, bias\."):
        PytorchQuantizationWrapper(torch.nn.Linear(2, 4), {"kernel": quantizer})
    with pytest.raises(TargetError, match="module must be a module of PyTorch or a function, but is 3"):
        PytorchQuantizationWrapper(3, {})
    with pytest.raises(TargetError, match=r"takes a quantizer of mct\.quantizers or a BaseTrainableQuantizer, not 3"):
        PytorchActivationQuantizationHolder(3)
    with pytest.raises(TargetError, match=r"weights_quantizers has \['0'\], and weight_values \['1'\]; each constant"):
        PytorchQuantizationWrapper(torch.sub, {0: quantizer}, {1: torch.ones(2)})
    with pytest.raises(TargetError, match="the constant at position 0 must be a tensor, but is 3"):
        PytorchQuantizationWrapper(torch.sub, {0: quantizer}, {0: 3})
    learned = trained_quantizers.LSQWeightQATQuantizer(weights_config())
    with pytest.raises(TargetError, match="has 5 channels along axis 0, but its quantizer has 4 parameters"):
        PytorchQuantizationWrapper(torch.nn.Linear(2, 5), {"weight": learned})(torch.ones(1, 2))
    with pytest.raises(TargetError, match=r"has no variables yet; call initialize_quantization\(shape, name, layer\)"):
        trained_quantizers.LSQWeightQATQuantizer(weights_config())(torch.ones(4, 2))
    with pytest.raises(
        TargetError, match=r"takes a tensor of real numbers, not of torch\.int64; convert it by \.float"
    ):
        quantizer(torch.ones(4, 2, dtype=torch.int64))
