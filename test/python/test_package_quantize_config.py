# SPDX-License-Identifier: Apache-2.0
"""`QuantizeConfig` of one network: layers are annotated, and get the quantizers that a class of Python requests."""

from __future__ import annotations

import re

import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
tp = pytest.importorskip("mct.target_platform")
quantize_config = pytest.importorskip("mct.quantize_config")
infrastructure = pytest.importorskip("mct.trainable_infrastructure")
from mct.quantize_config import (  # noqa: E402
    LastValueQuantizer,
    MovingAverageQuantizer,
    QuantizeConfig,
    quantize_annotate_layer,
    quantize_annotate_model,
    quantize_apply,
    quantize_scope,
)

# A dense layer with a sigmoid, after a plain one.
NETWORK = """
func.func @main(%x: tensor<?x1x1x2xf32> loc("x")) -> tensor<?x1x1x2xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %w0 = "tosa.const"() {values = dense<[[[[0.5, 1.0]]], [[[-1.0, 0.25]]]]> : tensor<2x1x1x2xf32>}
    : () -> tensor<2x1x1x2xf32>
  %w1 = "tosa.const"() {values = dense<[[[[0.3, -0.7]]], [[[0.1, 1.0]]]]> : tensor<2x1x1x2xf32>}
    : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() {values = dense<[0.1, 0.2]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = tosa.conv2d %x, %w0, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>,
    stride = array<i64: 1, 1>} : (tensor<?x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>)
    -> tensor<?x1x1x2xf32> loc("plain")
  %1 = tosa.conv2d %0, %w1, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>,
    stride = array<i64: 1, 1>} : (tensor<?x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>)
    -> tensor<?x1x1x2xf32> loc("dense")
  %2 = tosa.sigmoid %1 : (tensor<?x1x1x2xf32>) -> tensor<?x1x1x2xf32> loc("sigmoid")
  return %2 : tensor<?x1x1x2xf32>
}
"""


class MyDenseQuantizeConfig(QuantizeConfig):
    def get_weights_and_quantizers(self, layer):
        return [(layer.kernel, LastValueQuantizer())]

    def get_activations_and_quantizers(self, layer):
        return [(layer.activation, MovingAverageQuantizer())]

    def set_quantize_weights(self, layer, quantize_weights):
        layer.kernel = quantize_weights[0]

    def set_quantize_activations(self, layer, quantize_activations):
        layer.activation = quantize_activations[0]

    def get_output_quantizers(self, layer):
        # Does not quantize output, since we return an empty list.
        return []

    def get_config(self):
        return {}


class Rounded(quantize_config.Quantizer):
    """Written in Python."""

    def __init__(self, step):
        self.step = step

    def __call__(self, inputs, training, weights, **kwargs):
        return np.round(inputs / self.step) * self.step

    def get_config(self):
        return {"step": self.step}


class InPython(MyDenseQuantizeConfig):
    """Its kernel to multiples of a half, its activation to those of another step."""

    def __init__(self, step=0.125):
        self.step = step

    def get_weights_and_quantizers(self, layer):
        return [(layer.kernel, Rounded(0.5))]

    def get_activations_and_quantizers(self, layer):
        return []

    def set_quantize_activations(self, layer, quantize_activations):
        pass

    def get_output_quantizers(self, layer):
        return [Rounded(self.step)]

    def get_config(self):
        return {"step": self.step}


@pytest.fixture
def model():
    return mct.Model.parse(NETWORK, "network.mlir")


def points(model):
    """Returns the weight of each point, and how it is trained."""
    return re.findall(r'tpc.quantize \S+ as "(\w+)" (?:weight "(\w+)"|activation).*?trainable\((.*)\) :', model.text)


def test_layers_have_what_a_configuration_asks_for(model):
    layers = quantize_config.layers(model)
    assert [(name, layer.operator_set, layer.weights) for name, layer in layers.items()] == [
        ("plain", "FullyConnected", ("bias_attr", "kernel_attr")),
        ("dense", "FullyConnected", ("bias_attr", "kernel_attr")),
        ("sigmoid", "Sigmoid", ()),
    ]
    dense = layers["dense"]
    assert (
        dense.kernel.name == "kernel_attr" and dense.bias.name == "bias_attr" and dense.depthwise_kernel is dense.kernel
    )
    with pytest.raises(tp.TargetError, match=r"layer 'sigmoid' \(Sigmoid\) has no kernel"):
        MyDenseQuantizeConfig().to_attribute(layers["sigmoid"])


def test_the_page_runs(model):
    annotated = quantize_annotate_layer(quantize_config.layers(model)["dense"], MyDenseQuantizeConfig())
    assert 'name = "test_package_quantize_config.MyDenseQuantizeConfig", config = {}' in annotated.text
    quantized = quantize_apply(annotated)
    last = "#tpc.observed_range<observer = last_value, bits = 8, is_symmetric = true>"
    average = "#tpc.observed_range<observer = moving_average, bits = 8>"
    found = points(quantized)
    assert ("dense", "kernel_attr", last) in found
    assert [weight for _, weight, _ in found].count("kernel_attr") == 1
    # In front of the sigmoid, and what the plain layer makes, which has no other quantizer.
    assert {name: kind for name, weight, kind in found if not weight} == {"plain": average, "dense": average}


def test_a_configuration_is_made_again_from_what_it_says(model):
    config = InPython(0.25)
    name = f"{InPython.__module__}.InPython"
    again = quantize_config.make_quantize_config(name, config.get_config())
    layer = quantize_config.layers(model)["dense"]
    assert type(again) is InPython and again.to_attribute(layer) == config.to_attribute(layer)
    with pytest.raises(
        tp.TargetError, match=r"no class is known by the name 'elsewhere.Mine'; define it, or name it in"
    ):
        quantize_config.make_quantize_config("elsewhere.Mine", {})
    with quantize_scope({"Mine": InPython}):
        assert quantize_config.make_quantize_config("elsewhere.Mine", {"step": 1}).step == 1
    with (
        quantize_scope({"Mine": Rounded}),
        pytest.raises(tp.TargetError, match="'Mine' makes, instead of a QuantizeConfig,"),
    ):
        quantize_config.make_quantize_config("Mine", {"step": 1})


def trainable(axis=None, per_channel=False, enabled=True):
    config = infrastructure.TrainableQuantizerWeightsConfig(
        mct.QuantizationMethod.SYMMETRIC, 4, {"threshold": 2.0}, enabled, axis, per_channel, 2.0**-16
    )
    return OfKernels(config)


@infrastructure.mark_quantizer(
    infrastructure.QuantizationTarget.Weights, [mct.QuantizationMethod.SYMMETRIC], "test kernels"
)
class OfKernels(infrastructure.BaseTrainableQuantizer):
    def __call__(self, inputs, training):
        return np.round(inputs)


@infrastructure.mark_quantizer(
    infrastructure.QuantizationTarget.Activation, [mct.QuantizationMethod.SYMMETRIC], "test results"
)
class OfResults(infrastructure.BaseTrainableQuantizer):
    def __call__(self, inputs, training):
        return np.round(inputs)


class Trainable(MyDenseQuantizeConfig):
    def __init__(self, kernel, enabled):
        config = infrastructure.TrainableQuantizerActivationConfig(
            mct.QuantizationMethod.SYMMETRIC, 4, {"threshold": 2.0}, enabled, 2.0**-16
        )
        self.kernel, self.result = kernel, OfResults(config)

    def get_weights_and_quantizers(self, layer):
        return [(layer.kernel, self.kernel)]

    def get_activations_and_quantizers(self, layer):
        return [(layer.activation, self.result)]


def test_what_is_not_enabled_is_not_quantized(model):
    layer = quantize_config.layers(model)["dense"]
    # Points of the marked layer; its input gets one in any case.
    for enabled, expected in [(False, []), (True, [("dense", "kernel_attr"), ("dense", "")])]:
        kernel = trainable(axis=1, per_channel=not enabled, enabled=enabled)
        quantized = quantize_apply(quantize_annotate_layer(layer, Trainable(kernel, enabled)))
        found = [(name, weight) for name, weight, kind in points(quantized) if name == "dense"]
        assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    ("axis", "per_channel", "message"),
    [
        (0, True, None),
        ((0,), True, None),
        (None, True, None),
        (3, False, None),
        (3, True, "run over axis 0 here, but weights_channels_axis is 3; say 0, or None"),
        (-1, True, "run over axis 0 here, but weights_channels_axis is -1; say 0, or None"),
        ((0, 1), True, r"run over axis 0 here, but weights_channels_axis is \(0, 1\); say 0, or None"),
    ],
)
def test_channels_are_where_the_layer_has_them(model, axis, per_channel, message):
    layer = quantize_config.layers(model)["dense"]
    assert layer.kernel_axes == (0,) and quantize_config.layers(model)["sigmoid"].kernel_axes is None
    config = Trainable(trainable(axis, per_channel), True)
    if message is None:
        axes = re.findall(r'"dense" weight "kernel_attr"(.*?) trainable', quantize_apply_to(layer, config).text)
        assert [bool(one.strip()) for one in axes] == [per_channel]
        return
    with pytest.raises(
        tp.TargetError, match=r"Trainable: the channels of the kernel of <FullyConnected 'dense'> " + message
    ):
        quantize_annotate_layer(layer, config)
    # A layer of which nothing is known takes any.
    assert "OfKernels" in config.to_attribute(quantize_config.Layer())
    # Annotating one layer keeps what is known of the others.
    plain = quantize_config.layers(quantize_annotate_layer(layer))["plain"]
    with pytest.raises(tp.TargetError, match=r"<FullyConnected 'plain'> " + message):
        quantize_annotate_layer(plain, config)


def quantize_apply_to(layer, config):
    return quantize_apply(quantize_annotate_layer(layer, config))


def test_quantizers_of_python_run_where_the_configuration_puts_them(model):
    quantized = quantize_apply(quantize_annotate_layer(quantize_config.layers(model)["sigmoid"], Outputs()))
    x = np.linspace(-2, 2, 12, dtype=np.float32).reshape(6, 1, 1, 2)
    exact = model.run(x)
    names = [(name, weight) for name, weight, kind in points(quantized) if "host_quantizer" in kind]
    assert names == [("sigmoid", "")]
    np.testing.assert_array_equal(quantized.run(x), np.round(exact / 0.125) * 0.125)
    with_kernel = quantize_apply(quantize_annotate_layer(quantize_config.layers(model)["dense"], InPython()))
    kinds = {weight for _, weight, kind in points(with_kernel) if "Rounded" in kind}
    assert kinds == {"kernel_attr", ""}
    kernel = np.round(np.float32([[0.3, -0.7], [0.1, 1.0]]) / 0.5) * 0.5
    hidden = x.reshape(6, 2) @ np.float32([[0.5, 1.0], [-1.0, 0.25]]).T + np.float32([0.1, 0.2])
    logits = hidden @ kernel.T + np.float32([0.1, 0.2])
    assert with_kernel.run(x).shape == x.shape and np.abs(logits).max() < 4


class Outputs(quantize_config.NoOpQuantizeConfig):
    def get_output_quantizers(self, layer):
        return [Rounded(0.125)]


def test_all_layers_are_annotated_at_once(model):
    layers = quantize_config.layers(model)
    some = quantize_annotate_layer(layers["dense"], MyDenseQuantizeConfig())
    annotated = quantize_annotate_model(some)
    assert list(annotated.annotations) == ["plain", "dense", "sigmoid"]
    assert [type(config).__name__ for config in annotated.annotations.values()].count("NoneType") == 2
    found = points(quantize_apply(annotated))
    assert {name for name, weight, _ in found if weight == "kernel_attr"} == {"plain", "dense"}
    plain = next(kind for name, weight, kind in found if (name, weight) == ("plain", "kernel_attr"))
    assert plain == "#tpc.observed_range<observer = last_value, bits = 8, is_symmetric = true, is_narrow = true>"
    again = quantize_config.layers(annotated)
    with pytest.raises(tp.TargetError, match="layer 'dense' is annotated already"):
        quantize_annotate_layer(again["dense"])
    assert points(quantize_config.quantize_model(model)) == points(quantize_apply(quantize_annotate_model(model)))


def test_schemes_choose_widths_and_configurations(model):
    annotated = quantize_annotate_model(model)
    scheme = quantize_config.DefaultNBitQuantizeScheme(num_bits_weight=4, num_bits_activation=6)
    kinds = {kind for _, weight, kind in points(quantize_apply(annotated, scheme)) if weight == "kernel_attr"}
    assert kinds and all("bits = 4" in kind for kind in kinds)

    class Registry(quantize_config.Default8BitQuantizeRegistry):
        def supports(self, layer):
            return layer.operator_set == "FullyConnected"

        def get_quantize_config(self, layer):
            return InPython()

    class Scheme:
        def get_quantize_registry(self):
            return Registry()

    with pytest.raises(
        tp.TargetError, match="the scheme does not support <Sigmoid 'sigmoid'>; give it a configuration"
    ):
        quantize_apply(annotated, Scheme())
    layers = quantize_config.layers(model)
    one = quantize_annotate_layer(layers["plain"])
    assert any("Rounded" in kind for _, _, kind in points(quantize_apply(one, Scheme())))
    with pytest.raises(tp.TargetError, match="a scheme of your own needs what quantize_annotate_layer or"):
        quantize_apply(mct.Model.parse(one.text), Scheme())


def test_the_default_registry_knows_operators():
    registry = quantize_config.Default8BitQuantizeRegistry()
    layer = quantize_config.Layer

    def counts(operators):
        config = registry.get_quantize_config(layer("x", operators))
        weights = [quantizer.per_axis for _, quantizer in config.get_weights_and_quantizers(layer("x"))]
        return (
            weights,
            len(config.get_activations_and_quantizers(layer("x"))),
            len(config.get_output_quantizers(layer())),
        )

    assert counts("Conv") == ([True], 1, 0) and counts("FullyConnected") == ([False], 1, 0)
    assert counts("Add") == ([], 0, 1) and counts("Softmax") == ([], 0, 0)
    assert not registry.supports(layer("x", "Mul"))
    with pytest.raises(tp.TargetError, match="the default scheme has no configuration for <Mul 'x'>"):
        registry.get_quantize_config(layer("x", "Mul"))
    for config in (quantize_config.Default8BitQuantizeConfig(False), quantize_config.NoOpQuantizeConfig()):
        again = type(config).from_config(config.get_config())
        assert again.to_attribute(layer()) == config.to_attribute(layer())


@pytest.mark.parametrize(
    ("quantizer", "attribute"),
    [
        (LastValueQuantizer(4, True, True, True), "last_value, bits = 4, is_symmetric = true, is_narrow = true>"),
        (MovingAverageQuantizer(), "#tpc.observed_range<observer = moving_average, bits = 8>"),
        (quantize_config.AllValuesQuantizer(6), "#tpc.observed_range<observer = all_values, bits = 6>"),
        (
            quantize_config.FixedQuantizer(4, 0, 1),
            "scale = [0.06666667014360428], zero_point = [0], bits = 4, rounding = half_up>",
        ),
        (
            quantize_config.FixedQuantizer(2, -0.9, 2.1),
            "#tpc.uniform<scale = [1.0], zero_point = [1], bits = 2, rounding = half_up>",
        ),
        (quantize_config.FixedQuantizer(4, -2, 1.5, True), "scale = [0.25], zero_point = [9], bits = 4, rounding"),
    ],
)
def test_quantizers_are_attributes_and_made_again(quantizer, attribute):
    assert attribute in quantizer.to_attribute()
    assert type(quantizer).from_config(quantizer.get_config()).to_attribute() == quantizer.to_attribute()


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize(
    ("bits", "low", "high"), [(8, 0, 1), (8, -6, 6), (4, -2, 1.75), (3, -0.3, 0.1), (16, -1, 3), (2, -1, 0)]
)
def test_a_fixed_quantizer_is_that_of_the_pass(bits, low, high, narrow):
    point = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = tpc.quantize %x as "x" activation {} : tensor<4xf32>
      %1 = tosa.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }}"""
    observed = "trainable(#tpc.observed_range<observer = all_values, bits = 8>)"
    options = dict(input_min=low, input_max=high, bits=bits, narrow=narrow, outputs=False)
    theirs = mct.fix_ranges(mct.Model.parse(point.format(observed)), **options)
    ours = quantize_config.FixedQuantizer(bits, low, high, narrow).to_attribute()
    assert mct.Model.parse(point.format(f"parameters({ours})")).text == theirs.text


def test_a_fixed_quantizer_has_its_bits(model):
    class Fixed(quantize_config.NoOpQuantizeConfig):
        def get_output_quantizers(self, layer):
            return [quantize_config.FixedQuantizer(4, 0, 1)]

    quantized = quantize_apply(quantize_annotate_layer(quantize_config.layers(model)["sigmoid"], Fixed()))
    x = np.linspace(-2, 2, 12, dtype=np.float32).reshape(6, 1, 1, 2)
    # Levels are fifteenths; the rounding of float32 is all that is left.
    levels = quantized.run(x) * 15
    assert np.abs(levels - np.round(levels)).max() < 1e-5 and len(np.unique(np.round(levels))) > 3


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"set_quantize_weights": lambda s, layer, made: None}, "must give the layer its quantized kernel, but leaves"),
        ({"set_quantize_activations": lambda s, layer, made: None}, "must give the layer its quantized activation"),
        (
            {"get_activations_and_quantizers": lambda s, layer: [(layer.kernel, MovingAverageQuantizer())]},
            "get_activations_and_quantizers may name the activation of a layer only",
        ),
        (
            {"get_weights_and_quantizers": lambda s, layer: [(layer.activation, LastValueQuantizer())]},
            "get_weights_and_quantizers may name kernel and bias of a layer only",
        ),
        ({"get_output_quantizers": lambda s, layer: [3]}, "get_output_quantizers must give quantizers, but gives 3"),
        (
            {"get_output_quantizers": lambda s, layer: [LastValueQuantizer(per_axis=True)]},
            "an activation has one grid, so its quantizer cannot be per_axis",
        ),
        ({"get_config": lambda s: {"x": object()}}, "get_config may give numbers, strings, truth values"),
    ],
)
def test_bad_configurations(methods, message):
    with pytest.raises(tp.TargetError, match=message):
        type("Bad", (MyDenseQuantizeConfig,), methods)().to_attribute(quantize_config.Layer())


def test_what_cannot_be_annotated(model):
    with pytest.raises(tp.TargetError, match=r"expected a layer of a network, found 3; mct.quantize_config.layers"):
        quantize_annotate_layer(3)
    with pytest.raises(tp.TargetError, match="expected a QuantizeConfig, found 3"):
        quantize_annotate_layer(quantize_config.layers(model)["dense"], 3)
    with pytest.raises(mct.Error):
        quantize_apply(model)
    for given, message in [((1, 0, 0), "must hold zero, but is from 0 to 0"), ((1, 1, 2), "must hold zero")]:
        with pytest.raises(tp.TargetError, match=message):
            quantize_config.FixedQuantizer(*given)
    for given, message in [
        ((1, 0, 1, True), "1 bit has no levels but the lowest and another; say narrow_range=False"),
        ((8, 0, 1, "yes"), "narrow_range must be True or False, but is 'yes'"),
        ((8, 0, 1e-44), "the range from 0 to 1e-44 has no step of float32"),
        ((8, 0, 1e300), r"the range from 0 to 1e\+300 has no step of float32"),
    ]:
        with pytest.raises(tp.TargetError, match=message):
            quantize_config.FixedQuantizer(*given)
    for method in ("__call__", "get_config"):
        with pytest.raises(NotImplementedError, match=f"Quantizer has no {method}"):
            getattr(quantize_config.Quantizer(), method)(*([1, 2, 3] if method == "__call__" else []))
