# SPDX-License-Identifier: Apache-2.0
"""Trainable quantizers by the names of MCT, and those that are written in Python: a point calls them back."""

from __future__ import annotations

import types
import typing

import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
infrastructure = pytest.importorskip("mct.trainable_infrastructure")
quantizers = pytest.importorskip("mct.quantizers")
tp = pytest.importorskip("mct.target_platform")

Method, Target = mct.QuantizationMethod, infrastructure.QuantizationTarget


def weights_config(method=Method.SYMMETRIC, bits=4, threshold=2.0):
    return infrastructure.TrainableQuantizerWeightsConfig(
        method, bits, {"threshold": threshold}, True, 0, False, infrastructure.MIN_THRESHOLD
    )


def activation_config(method=Method.SYMMETRIC, bits=4, threshold=2.0):
    return infrastructure.TrainableQuantizerActivationConfig(
        method, bits, {"threshold": threshold}, True, infrastructure.MIN_THRESHOLD
    )


@infrastructure.mark_quantizer(Target.Weights, [Method.POWER_OF_TWO, Method.SYMMETRIC], "test weights")
class Weights(infrastructure.BaseKerasTrainableQuantizer):
    def __init__(self, quantization_config: infrastructure.TrainableQuantizerWeightsConfig, scale: float = 1.0):
        super().__init__(quantization_config)
        self.scale = scale


@infrastructure.mark_quantizer(
    quantization_target=Target.Activation,
    quantization_method=[Method.POWER_OF_TWO, Method.SYMMETRIC],
    identifier=infrastructure.TrainingMethod.STE,
)
class StraightThrough(infrastructure.BasePytorchTrainableQuantizer):
    """As those of MCT's documentation: a threshold that is a variable."""

    def __init__(
        self,
        quantization_config: infrastructure.TrainableQuantizerActivationConfig,
        freeze_quant_params: bool = False,
    ):
        super().__init__(quantization_config, freeze_quant_params)
        self.bits = quantization_config.activation_n_bits
        self.threshold = quantization_config.activation_quantization_params[infrastructure.THRESHOLD]

    def initialize_quantization(self, tensor_shape, name, layer):
        threshold = layer.add_weight(f"{name}_threshold", (), self.threshold, trainable=not self.freeze_quant_params)
        self.add_quantizer_variable("threshold", threshold, infrastructure.VariableGroup.QPARAMS)

    def __call__(self, inputs, training):
        step = float(self.get_quantizer_variable("threshold").numpy()) / (1 << (self.bits - 1))
        return np.clip(np.round(inputs / step), -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1) * step

    def convert2inferable(self):
        threshold = float(self.get_quantizer_variable("threshold").numpy())
        return quantizers.ActivationSymmetricInferableQuantizer(self.bits, [threshold], True)


# ----------------------------------------------------------------------------------------------------------------------
# Names of MCT
# ----------------------------------------------------------------------------------------------------------------------


# The examples of the page, except for `==` after activation_quantization_params, which Python refuses.
EXAMPLES = [
    """
from model_compression_toolkit.target_platform_capabilities.target_platform import QuantizationMethod
from model_compression_toolkit.constants import THRESHOLD, MIN_THRESHOLD

TrainableQuantizerWeightsConfig(weights_quantization_method=QuantizationMethod.SYMMETRIC,
                                           weights_n_bits=8,
                                           weights_quantization_params={THRESHOLD: 2.0},
                                           enable_weights_quantization=True,
                                           weights_channels_axis=3,
                                           weights_per_channel_threshold=True,
                                           min_threshold=MIN_THRESHOLD)
""",
    """
from model_compression_toolkit.target_platform_capabilities.target_platform import QuantizationMethod
from model_compression_toolkit.constants import THRESHOLD, MIN_THRESHOLD

TrainableQuantizerActivationConfig(activation_quantization_method=QuantizationMethod.UNIFORM,
                                              activation_n_bits=8,
                                              activation_quantization_params={THRESHOLD: 2.0},
                                              enable_activation_quantization=True,
                                              min_threshold=MIN_THRESHOLD)
""",
]


def test_examples_of_the_page_run_with_their_import_lines():
    made = []
    for example in EXAMPLES:
        text = example.replace("model_compression_toolkit", "mct").replace("\nTrainable", "\nmade = Trainable")
        namespace = {
            name: getattr(infrastructure, name)
            for name in ("TrainableQuantizerWeightsConfig", "TrainableQuantizerActivationConfig")
        }
        exec(compile(text, "page", "exec"), namespace)
        made.append(namespace["made"])
        assert namespace["MIN_THRESHOLD"] == 2.0**-16 and mct.constants.MIN_THRESHOLD is namespace["MIN_THRESHOLD"]
    weights, activation = made
    assert (weights.weights_n_bits, weights.weights_channels_axis) == (8, 3)
    assert weights.to_mlir() == "#tpc.symmetric<threshold = [2.0], bits = 8>"
    # The page has the parameters of another method.
    assert activation.activation_quantization_params == {"threshold": 2.0}
    with pytest.raises(tp.TargetError) as error:
        activation.to_mlir()
    assert str(error.value) == (
        "TrainableQuantizerActivationConfig: a quantizer of method UNIFORM needs the parameter 'range_min', but has "
        "'threshold'; give activation_quantization_params={'range_min': ..., 'range_max': ...}"
    )


def test_targets_have_the_path_of_scripts():
    from mct.target_platform_capabilities import target_platform

    assert target_platform.__all__ == tp.__all__
    assert all(getattr(target_platform, name) is getattr(tp, name) for name in tp.__all__)


def test_the_base_class_has_both_names():
    base = infrastructure.BaseTrainableQuantizer
    assert infrastructure.BaseKerasTrainableQuantizer is base is infrastructure.BasePytorchTrainableQuantizer


def test_configurations_go_through_get_config():
    candidates = [infrastructure.TrainableQuantizerCandidateConfig(4, {"threshold": 1.0})]
    config = infrastructure.TrainableQuantizerWeightsConfig(
        Method.SYMMETRIC, 8, {"threshold": np.float32([1, 2])}, True, 0, True, 2**-16, candidates
    )
    stored = Weights(config).get_config()
    assert stored["quantization_config"]["weights_quantization_method"] == "SYMMETRIC"
    assert stored["quantization_config"]["weights_quantization_params"] == {"threshold": [1.0, 2.0]}
    assert stored["quantization_config"]["is_weights"] and not stored["quantization_config"]["is_activations"]
    again = Weights.from_config(stored)
    assert again.get_config() == stored and again.to_mlir() == config.to_mlir()
    assert again.quantization_config.weights_bits_candidates == candidates
    # MCT writes methods by number, and candidates by another name.
    theirs = dict(
        activation_quantization_method=2, activation_n_bits=4, activation_quantization_params={"threshold": 1}
    )
    theirs |= dict(enable_activation_quantization=True, min_threshold=0.1, activation_bits_candidates=None)
    read = StraightThrough.from_config({"quantization_config": theirs | {"is_weights": False, "is_activations": True}})
    assert read.quantization_config.activation_quantization_method is Method.SYMMETRIC
    assert read.quantization_config.activation_bits_candidates is None


@infrastructure.mark_quantizer(Target.Weights, [Method.SYMMETRIC], "test told weights")
class ToldWeights(Weights):
    """Says what it takes; its classes below say it, too, or not."""

    def __init__(self, config: infrastructure.TrainableQuantizerWeightsConfig, scale: float = 1.0):
        super().__init__(config, scale)

    def get_config(self):
        return super().get_config() | {"scale": self.scale}


def test_what_a_constructor_takes_must_be_in_get_config():
    with pytest.raises(tp.TargetError) as error:
        Weights(weights_config(), scale=3.0).to_attribute()
    assert str(error.value) == (
        "Weights: get_config leaves out 'scale', which the constructor takes; override it: "
        "return super().get_config() | {'scale': self.scale}"
    )
    told = ToldWeights(weights_config(), scale=3.0)
    assert '"scale" = 3.0 : f64' in told.to_attribute()
    assert ToldWeights.from_config(told.get_config()).scale == 3.0

    class Heir(ToldWeights):
        pass

    class More(ToldWeights):
        def __init__(self, config: infrastructure.TrainableQuantizerWeightsConfig, scale=1.0, shift=0.0, **others):
            super().__init__(config, scale)

    assert Heir.from_config(Heir(weights_config(), 2.0).get_config()).scale == 2.0
    assert "scale" in Heir(weights_config()).to_attribute()
    with pytest.raises(tp.TargetError, match="More: get_config leaves out 'shift', which the constructor takes"):
        More(weights_config()).to_attribute()


def test_what_the_base_takes_goes_through_get_config():
    for frozen in (False, True):
        made = StraightThrough(activation_config(), frozen)
        assert StraightThrough.from_config(made.get_config()).freeze_quant_params is frozen
        assert ("freeze_quant_params" in made.to_attribute()) is frozen

    class Always(ToldWeights):
        def __init__(self, config: infrastructure.TrainableQuantizerWeightsConfig):
            infrastructure.BaseTrainableQuantizer.__init__(self, config, True)
            self.scale = 1.0

        def get_config(self):
            return infrastructure.BaseTrainableQuantizer.get_config(self)

    assert Always.from_config(Always(weights_config()).get_config()).freeze_quant_params

    @infrastructure.mark_quantizer(Target.Weights, [Method.SYMMETRIC], "test plain")
    class Plain(infrastructure.BaseTrainableQuantizer):
        pass

    assert Plain.from_config(Plain(weights_config(), True).get_config()).freeze_quant_params


def test_what_is_not_enabled_has_no_parameters():
    weights = infrastructure.TrainableQuantizerWeightsConfig(
        Method.SYMMETRIC, 4, {"threshold": 2.0}, False, 0, False, infrastructure.MIN_THRESHOLD
    )
    activation = infrastructure.TrainableQuantizerActivationConfig(
        Method.SYMMETRIC, 4, {"threshold": 2.0}, False, infrastructure.MIN_THRESHOLD
    )
    for config, side in [(weights, "weights"), (activation, "activation")]:
        with pytest.raises(tp.TargetError, match=f"enable_{side}_quantization is False, so there are no parameters"):
            config.to_mlir()
    for quantizer in (ToldWeights(weights), StraightThrough(activation)):
        assert quantizer.to_attribute() is None
        assert type(quantizer).from_config(quantizer.get_config()).to_attribute() is None


def test_axes_of_channels_come_back_as_they_were():
    for given, kept in [(None, None), (1, 1), ([2, 3], (2, 3)), (np.int64(2), 2), (np.array([0]), (0,))]:
        config = infrastructure.TrainableQuantizerWeightsConfig(
            Method.SYMMETRIC, 4, {"threshold": 2.0}, True, given, True, infrastructure.MIN_THRESHOLD
        )
        again = ToldWeights.from_config(ToldWeights(config).get_config()).quantization_config
        assert config.weights_channels_axis == kept == again.weights_channels_axis
    for bad in ("last", True, 1.0, [0, None]):
        with pytest.raises(tp.TargetError, match="weights_channels_axis must be an axis of the kernel, but is"):
            infrastructure.TrainableQuantizerWeightsConfig(
                Method.SYMMETRIC, 4, {"threshold": 2.0}, True, bad, True, infrastructure.MIN_THRESHOLD
            )


def test_quantizers_are_found_by_what_they_are_marked_with():
    find, base = infrastructure.get_trainable_quantizer_class, infrastructure.BaseTrainableQuantizer
    assert find(Target.Weights, "test weights", Method.SYMMETRIC, base) is Weights
    assert find(Target.Activation, infrastructure.TrainingMethod.STE, Method.POWER_OF_TWO, base) is StraightThrough
    with pytest.raises(
        tp.TargetError,
        match=r"Weights by LUT_POT_QUANTIZER with the identifier <TrainingMethod.STE.*"
        r"but 0 were found: none is marked so",
    ):
        find(Target.Weights, infrastructure.TrainingMethod.STE, Method.LUT_POT_QUANTIZER, base)

    class Twin(Weights):
        pass

    with pytest.raises(tp.TargetError, match=r"but 2 were found: Weights, .*Twin"):
        find(Target.Weights, "test weights", Method.SYMMETRIC, base)
    infrastructure.mark_quantizer(Target.Weights, [Method.SYMMETRIC], "twin")(Twin)
    assert find(Target.Weights, "test weights", Method.SYMMETRIC, base) is Weights


def test_what_a_quantizer_must_be():
    with pytest.raises(tp.TargetError, match="quantizer of Weights and takes a TrainableQuantizerWeightsConfig, not <"):
        Weights(activation_config())
    with pytest.raises(tp.TargetError, match=r"Weights quantizes by POWER_OF_TWO, SYMMETRIC, .* asks for UNIFORM"):
        Weights(weights_config(Method.UNIFORM))

    class Undecorated(infrastructure.BaseTrainableQuantizer):
        pass

    with pytest.raises(tp.TargetError, match=r"Undecorated says neither .* decorate it with @mark_quantizer"):
        Undecorated(weights_config())

    class Second(Weights):
        def __init__(self, quantization_config: infrastructure.TrainableQuantizerWeightsConfig, scale):
            super().__init__(quantization_config)

    with pytest.raises(tp.TargetError, match="Second: parameter 'scale' of the constructor needs a default"):
        Second(weights_config(), 2)

    class First(Weights):
        def __init__(self, quantization_config):
            super().__init__(quantization_config)

    with pytest.raises(tp.TargetError, match="'quantization_config', must be annotated with TrainableQuantizerWeights"):
        First(weights_config())
    with pytest.raises(NotImplementedError, match="Weights has no __call__"):
        Weights(weights_config())(np.zeros(3), training=True)
    with pytest.raises(NotImplementedError, match="Weights has no convert2inferable"):
        Weights(weights_config()).convert2inferable()
    for arguments, message in [
        ((Target.Weights, Method.SYMMETRIC), "quantization_method must be a list"),
        (("Weights", [Method.SYMMETRIC]), "quantization_target must be one of QuantizationTarget.Activation"),
        ((Target.Weights, ["SYMMETRIC"]), "quantization_method must be one of"),
    ]:
        with pytest.raises(tp.TargetError, match=message):
            infrastructure.mark_quantizer(*arguments)


def test_variables_that_are_frozen_are_not_learned():
    groups = infrastructure.VariableGroup
    made = {}
    for frozen in (False, True):
        owner, quantizer = infrastructure.VariableOwner("relu"), StraightThrough(activation_config(), frozen)
        quantizer.initialize_quantization((1, 8), "out", owner)
        made[frozen] = quantizer.get_trainable_variables(groups.QPARAMS)
        assert quantizer.get_trainable_variables(groups.WEIGHTS) == []
        assert [variable.name for variable in owner.variables.values()] == ["out_threshold"]
    assert len(made[False]) == 1 and made[True] == []
    quantizer.add_quantizer_variable("forgotten", infrastructure.Variable("forgotten", 1.0), groups.QPARAMS)
    with pytest.raises(tp.TargetError, match="with freeze_quant_params, but 1 of its parameters are trainable"):
        quantizer.get_trainable_variables(groups.QPARAMS)
    quantizer.add_quantizer_variable("offsets", infrastructure.Variable("offsets", [1.0, 2.0]))
    assert quantizer.get_trainable_variables(groups.WEIGHTS)[0].numpy().tolist() == [1, 2]
    with pytest.raises(tp.TargetError, match="has no variable 'scale'; known: threshold, forgotten, offsets"):
        quantizer.get_quantizer_variable("scale")
    quantizer.add_quantizer_variable("bare", np.zeros(2))
    with pytest.raises(tp.TargetError, match="variable 'bare' says neither `trainable` nor `requires_grad`"):
        quantizer.get_trainable_variables(groups.WEIGHTS)


def test_variables_are_made_on_a_layer():
    owner = infrastructure.VariableOwner("dense")
    owner.register_parameter("scale", np.ones(2))
    owner.get_parameter("scale").assign(3)
    assert np.asarray(owner.get_parameter("scale")).tolist() == [3, 3] and owner.get_parameter("scale").requires_grad
    ones = owner.add_weight("ones", (2, 1), initializer=np.ones, trainable=False)
    assert ones.numpy().shape == (2, 1) and not ones.requires_grad and np.array(ones, np.float64).sum() == 2
    with pytest.raises(tp.TargetError, match="layer 'dense' has a variable 'ones' already"):
        owner.add_weight("ones")
    with pytest.raises(tp.TargetError, match="layer 'dense' has no variable 'zeros'; known: scale, ones"):
        owner.get_parameter("zeros")


# ----------------------------------------------------------------------------------------------------------------------
# Ordinary quantizers
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "method", "arguments", "written"),
    [
        (
            "Weights",
            "POWER_OF_TWO",
            dict(num_bits=4, threshold=[2.0], per_channel=False),
            "power_of_two<threshold = [2.0]",
        ),
        (
            "Weights",
            "SYMMETRIC",
            dict(num_bits=8, threshold=[1.0, 3.0], per_channel=True, channel_axis=0),
            "symmetric<threshold = [1.0, 3.0], bits = 8>",
        ),
        (
            "Weights",
            "UNIFORM",
            dict(num_bits=2, min_range=[-1.0], max_range=[2.0], per_channel=False),
            "uniform<scale = [1.0], zero_point = [1], bits = 2>",
        ),
        (
            "Weights",
            "LUT_POT_QUANTIZER",
            dict(num_bits=2, lut_values=[0, -9, 5], threshold=[1.0], per_channel=False),
            "lookup_table<method = lut_pot_quantizer, threshold = [1.0], table = [-9, 0, 5], bits = 2>",
        ),
        ("Activation", "POWER_OF_TWO", dict(num_bits=8, threshold=[4.0], signed=False), "is_signed = false"),
        ("Activation", "SYMMETRIC", dict(num_bits=8, threshold=[3.0], signed=True), "symmetric<threshold = [3.0]"),
        (
            "Activation",
            "UNIFORM",
            dict(num_bits=8, min_range=[0.0], max_range=[255.0]),
            "uniform<scale = [1.0], zero_point = [0], bits = 8>",
        ),
    ],
)
def test_ordinary_quantizers_say_what_a_point_has(target, method, arguments, written):
    found = quantizers.get_inferable_quantizer_class(Target[target], Method[method])
    made = found(**arguments)
    assert written in made.to_mlir()
    assert found.from_config(made.get_config()).to_mlir() == made.to_mlir()


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("WeightsPOTInferableQuantizer", (4, [3.0], False), "thresholds must be powers of two, but one is 3.0"),
        ("WeightsSymmetricInferableQuantizer", (4, [-3.0], False), "thresholds must be positive, but one is -3.0"),
        ("WeightsSymmetricInferableQuantizer", (4, 3.0, False), "threshold must be a list of numbers, but is 3.0"),
        ("WeightsSymmetricInferableQuantizer", (4, ["a"], False), "threshold must be a list of numbers, but has 'a'"),
        (
            "WeightsSymmetricInferableQuantizer",
            (4, [1.0, 2.0], False),
            "one parameter, but there are 2; say per_channel",
        ),
        ("WeightsSymmetricInferableQuantizer", (4, [1.0, 2.0], True), "parameters per channel need channel_axis"),
        ("WeightsUniformInferableQuantizer", (4, [1.0], [1.0], False), "the range from 1.0 to 1.0 is empty"),
        ("WeightsUniformInferableQuantizer", (4, [1.0], [2.0, 3.0], False), "min_range has 1 numbers, and max_range 2"),
        ("ActivationSymmetricInferableQuantizer", (4, [1.0, 2.0], True), "one threshold, but there are 2"),
        ("ActivationUniformInferableQuantizer", (4, [1.0, 2.0], [3.0, 4.0]), "one range, but there are 2"),
        ("ActivationLutPOTInferableQuantizer", (1, [1, 2, 3], [1.0], True), "choose from 2 entries at most, .* are 3"),
        ("ActivationLutPOTInferableQuantizer", (2, [-1], [1.0], False), "whole numbers from 0 to 255, but one is -1"),
        ("WeightsLUTPOTInferableQuantizer", (2, [1], [1.0], False, None, None, 4), "entries of 8 bits here, not of 4"),
    ],
)
def test_bad_ordinary_quantizers(name, arguments, message):
    with pytest.raises(tp.TargetError, match=message):
        getattr(quantizers, name)(*arguments)


# ----------------------------------------------------------------------------------------------------------------------
# Points that call Python
# ----------------------------------------------------------------------------------------------------------------------

quantize_config = pytest.importorskip("mct.quantize_config")
SAMPLES = np.linspace(-3, 3, 28, dtype=np.float32).reshape(7, 4)


class Halves(quantize_config.Quantizer):
    """As TensorFlow's quantizers are written: to multiples of a step, with what it has seen."""

    recorded: typing.ClassVar[list] = []

    def __init__(self, step=0.5, told=None):
        self.step, self.told = step, told

    def build(self, tensor_shape, name, layer):
        return {"calls": layer.add_weight("calls", (), 0, trainable=False), "name": name, "shape": tensor_shape}

    def __call__(self, inputs, training, weights, **kwargs):
        weights["calls"].assign(weights["calls"].numpy() + 1)
        Halves.recorded.append((weights["name"], inputs.shape, training, float(weights["calls"].numpy())))
        return np.round(inputs / self.step) * self.step

    def get_config(self):
        return {"step": self.step, "told": self.told}


class Doubled(Halves):
    def backward(self, inputs, gradients):
        return np.where(inputs > 0, 2 * gradients, 0)

    def convert2inferable(self):
        return quantizers.ActivationSymmetricInferableQuantizer(3, [4 * self.step], True)


def point(quantizer, sizes="?x4"):
    attribute = quantizer if isinstance(quantizer, str) else quantizer.to_attribute()
    return mct.Model.parse(
        f"""func.func @main(%x: tensor<{sizes}xf32>) -> tensor<{sizes}xf32> {{
          %0 = tpc.quantize %x as "a" activation trainable({attribute}) : tensor<{sizes}xf32>
          %1 = tosa.abs %0 : (tensor<{sizes}xf32>) -> tensor<{sizes}xf32>
          return %1 : tensor<{sizes}xf32>
        }}""",
        "point.mlir",
    )


def test_a_point_calls_python_for_valid_samples_in_their_order():
    Halves.recorded.clear()
    np.testing.assert_array_equal(point(Halves(0.25)).run(SAMPLES), np.abs(np.round(SAMPLES * 4) / 4))
    names, shapes, training, calls = zip(*Halves.recorded, strict=True)
    assert set(names) == {"a"} and set(training) == {False}
    assert sum(shape[0] for shape in shapes) == len(SAMPLES) and {shape[1:] for shape in shapes} == {(4,)}
    assert list(calls) == list(range(1, len(calls) + 1))
    many = np.tile(SAMPLES, (40, 1))
    Halves.recorded.clear()
    np.testing.assert_array_equal(point(Halves(0.25)).run(many, threads=4), np.abs(np.round(many * 4) / 4))
    assert [number for *_, number in Halves.recorded] == list(range(1, len(Halves.recorded) + 1)) and len(
        Halves.recorded
    ) > 1


def test_a_quantizer_of_mct_has_its_variables():
    quantizer = StraightThrough(activation_config(bits=3, threshold=2.0))
    expected = np.abs(np.clip(np.round(SAMPLES / 0.5), -4, 3) * 0.5)
    np.testing.assert_array_equal(point(quantizer).run(SAMPLES), expected)


def test_a_weight_is_quantized_once():
    model = mct.Model.parse(
        f"""func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {{
          %w = "tosa.const"() {{values = dense<[[0.3, 0.8]]> : tensor<1x2xf32>}} : () -> tensor<1x2xf32>
          %s = "tosa.const"() {{values = dense<0> : tensor<1xi8>}} : () -> tensor<1xi8>
          %q = tpc.quantize %w as "mul" weight "pos_attr" trainable({Halves().to_attribute()}) : tensor<1x2xf32>
          %0 = tosa.mul %x, %q, %s : (tensor<?x2xf32>, tensor<1x2xf32>, tensor<1xi8>) -> tensor<?x2xf32>
          return %0 : tensor<?x2xf32>
        }}""",
        "weight.mlir",
    )
    Halves.recorded.clear()
    x = np.ones((300, 2), np.float32)
    np.testing.assert_array_equal(model.run(x), x * np.float32([0.5, 1.0]))
    assert Halves.recorded == [("mul/pos_attr", (1, 2), False, 1.0)]


@pytest.mark.parametrize(("kind", "slope"), [(Halves, 1.0), (Doubled, 2.0)])
def test_gradients_are_its_own_or_straight_through(kind, slope):
    Halves.recorded.clear()
    model = mct.add_gradient(point(kind(), "4x4"), with_results=True)
    assert mct.Model.parse(model.bytecode, "again").text == model.text
    x = SAMPLES[2:6]
    gradients = {"0": x, "1": np.full_like(x, 3)}
    results, found = model.run(list(gradients.values()), function="main_gradient")
    quantized = np.round(x / 0.5) * 0.5
    np.testing.assert_array_equal(results, np.abs(quantized))
    back = 3 * np.sign(quantized)
    np.testing.assert_array_equal(found, back if slope == 1 else np.where(x > 0, 2 * back, 0))
    assert {training for _, _, training, _ in Halves.recorded} == {True}


def test_a_float_network_does_not_call_it():
    Halves.recorded.clear()
    x = SAMPLES.copy()
    comparison = mct.Model.run(point(Halves()), x, float_points=["a"])
    np.testing.assert_array_equal(comparison, np.abs(x))
    assert Halves.recorded == []


class Failing(Halves):
    def __call__(self, inputs, training, weights, **kwargs):
        raise KeyError("mine")


class Narrow(Halves):
    def __call__(self, inputs, training, weights, **kwargs):
        return inputs[..., :1]


class Unmade(Halves):
    def __init__(self, step=0.5):
        super().__init__(step)

    def build(self, tensor_shape, name, layer):
        raise LookupError("no place")


def test_what_goes_wrong_in_python_is_raised_as_it_is(tmp_path):
    for kind, raised, message in [
        (Failing, KeyError, "mine"),
        (Narrow, tp.TargetError, r"Narrow.__call__ must give an array of the shape \(\d+, 4\) of its input, but gives"),
        (Unmade, TypeError, "told"),
    ]:
        with pytest.raises(raised, match=message):
            point(kind()).run(SAMPLES)
    unmade = point(Unmade().to_attribute().replace(', "told" = unit', ""))
    with pytest.raises(LookupError, match="no place"):
        unmade.run(SAMPLES)
    # The next call is not troubled.
    np.testing.assert_array_equal(point(Halves(1.0)).run(SAMPLES), np.abs(np.round(SAMPLES)))


def test_a_name_that_nobody_knows_is_an_error():
    unknown = point('#tpc.host_quantizer<name = "some.where.Else", config = {step = 1.0 : f64}>')
    with pytest.raises(mct.Error) as error:
        unknown.run(SAMPLES)
    assert 'is quantized by "some.where.Else", but nothing is registered under this name' in str(error.value)
    assert "define the class, or name it in mct.quantize_config.quantize_scope, before" in str(error.value)
    assert str(error.value).endswith("troubleshooting.md#a-quantizer-of-python-is-missing")
    with quantize_config.quantize_scope({"Else": Halves}):
        np.testing.assert_array_equal(unknown.run(SAMPLES), np.abs(np.round(SAMPLES)))
    with pytest.raises(mct.Error, match="nothing is registered"):
        unknown.run(SAMPLES)
    with (
        pytest.raises(tp.TargetError, match="quantize_scope takes dictionaries of classes by name, but got 3"),
        quantize_config.quantize_scope(3),
    ):
        pass


def test_scopes_end_where_they_began():
    names = [type(name, (Halves,), {}) for name in ("First", "Second")]
    scope, find = quantize_config.quantize_scope, quantize_config._host.find
    with scope({"X": names[0]}):
        with scope({"X": names[1]}):
            with scope({"X": names[0]}):
                assert find("X") is names[0]
            assert find("X") is names[1]
        assert find("X") is names[0]
    assert find("X") is None


def test_sizes_that_nobody_knows_are_none():
    for quantizer in (Halves(), StraightThrough(activation_config()), OnGrid()):
        name = quantize_config._host.name_of(type(quantizer))
        hosted = quantize_config._host.make(name, quantizer.get_config(), "a", (None, 4))
        results = np.empty_like(SAMPLES)
        hosted.quantize(SAMPLES, results, False)
        assert np.isfinite(results).all()
    assert quantize_config._host.make(Halves.__module__ + ".Halves", {}, "a", (None, 4)).arguments["weights"][
        "shape"
    ] == (None, 4)
    assert quantize_config.MovingAverageQuantizer().build((None, 4), "a", infrastructure.VariableOwner()) == {}
    owner = infrastructure.VariableOwner("relu")
    with pytest.raises(
        tp.TargetError,
        match=r"layer 'relu': variable 'offsets' cannot have the shape \(None, 4\): None is a size .*; say 1, which",
    ):
        owner.add_weight("offsets", (None, 4), np.zeros)
    assert owner.variables == {} and owner.add_weight("offsets", (1, 4), np.zeros).numpy().shape == (1, 4)


def test_configurations_come_back_as_they_were():
    given = {"a": [1, -2.5, True, None, 'it\'s "so"'], "b c": {"d": np.float32([1, 2])}, "n": 1 << 40}
    Told = type(
        "Told", (Halves,), {"__init__": lambda self, **told: setattr(self, "told", told) or setattr(self, "step", 1)}
    )
    Told.get_config = lambda self: self.told
    made = []
    Told.build = lambda self, tensor_shape, name, layer: (
        made.append((self.told, tuple(tensor_shape))) or {"calls": infrastructure.Variable("calls", 0), "name": name}
    )
    point(Told(**given), "7x4").run(SAMPLES)
    (told, shape), *_ = made
    assert told == {**given, "b c": {"d": [1.0, 2.0]}} and shape[1:] == (4,)
    for bad in (float("nan"), 1 << 80, object(), {1: 2}):
        with pytest.raises(tp.TargetError, match=r"cannot be written as a number|get_config may give numbers, strings"):
            Told(value=bad).to_attribute()


class OnGrid(quantize_config.Quantizer):
    """A symmetric grid of 8 bits, as Python computes it; gradients pass."""

    calls: typing.ClassVar[set[str]] = set()

    def __init__(self, step=0.0625):
        self.step = step

    def build(self, tensor_shape, name, layer):
        return {}

    def __call__(self, inputs, training, weights, **kwargs):
        OnGrid.calls.add("training" if training else "running")
        return np.clip(np.round(inputs / self.step), -128, 127).astype(np.float32) * np.float32(self.step)

    def backward(self, inputs, gradient):
        OnGrid.calls.add("backward")
        return gradient

    def get_config(self):
        return {"step": self.step}

    def convert2inferable(self):
        return quantizers.WeightsSymmetricInferableQuantizer(num_bits=8, threshold=[self.step * 128], per_channel=False)


LAYER = """
func.func @main(%x: tensor<?x1x1x2xf32> loc("x")) -> tensor<?x1x1x2xf32> {{
  %z = "tosa.const"() {{values = dense<0.0> : tensor<1xf32>}} : () -> tensor<1xf32>
  %k = "tosa.const"() {{values = dense<[[[[0.3, -0.7]]], [[[0.1, 1.0]]]]> : tensor<2x1x1x2xf32>}}
    : () -> tensor<2x1x1x2xf32>
  %w = tpc.quantize %k as "layer" weight "kernel_attr" {point} : tensor<2x1x1x2xf32>
  %b = "tosa.const"() {{values = dense<[0.1, 0.2]> : tensor<2xf32>}} : () -> tensor<2xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>,
    stride = array<i64: 1, 1>}}
    : (tensor<?x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>)
    -> tensor<?x1x1x2xf32> loc("layer")
  return %0 : tensor<?x1x1x2xf32>
}}
"""


def test_a_quantizer_of_python_is_trained_as_the_same_one_of_the_compiler():
    OnGrid.calls.clear()
    ours = "parameters(#tpc.symmetric<threshold = [8.0], bits = 8>)"
    theirs = mct.Model.parse(LAYER.format(point=f"trainable({OnGrid().to_attribute()})"))
    same = mct.Model.parse(LAYER.format(point=f"{ours} trainable(#tpc.straight_through<clip = passed>)"))
    x = np.random.default_rng(5).normal(size=(48, 1, 1, 2)).astype(np.float32)
    labels = (x[:, 0, 0, 0] > 0).astype(np.int64)
    # A batch of one shard: the sums over samples are the same.
    settings = {"data": x, "labels": labels, "epochs": 2, "batch": 8, "weights_rate": 0.05}
    trained = mct.train(theirs, **settings)
    assert OnGrid.calls == {"training", "backward"}
    assert trained.text == mct.train(same, **settings).text
    assert "host_quantizer" not in trained.text and ours.split("<")[0] in trained.text
    assert not np.array_equal(trained.run(x), theirs.run(x))
    # Without training it is frozen as it is.
    np.testing.assert_array_equal(mct.train(theirs, epochs=0).run(x), theirs.run(x))


def test_what_python_learns_is_gone_with_an_interrupted_run(tmp_path):
    theirs = mct.Model.parse(LAYER.format(point=f"trainable({OnGrid().to_attribute()})"))
    x = np.zeros((8, 1, 1, 2), np.float32)
    with pytest.raises(mct.Error) as error:
        mct.train(theirs, data=x, labels=np.zeros(8, np.int64), epochs=1, checkpoint=str(tmp_path / "run"))
    assert "checkpoint" in str(error.value)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ("#tpc.method<uniform>", "cannot become #tpc.method<uniform>, which is not a quantizer"),
        (
            "#tpc.symmetric<threshold = [1.0, 2.0, 3.0], bits = 8>",
            "which has 3 parameters: it has 1 channels",
        ),
    ],
)
def test_what_a_quantizer_of_python_cannot_become(made, message):
    class Odd(OnGrid):
        def convert2inferable(self):
            return types.SimpleNamespace(to_mlir=lambda: made)

    theirs = mct.Model.parse(LAYER.format(point=f"trainable({Odd().to_attribute()})"))
    with pytest.raises((mct.Error, tp.TargetError)) as error:
        mct.train(theirs, epochs=0)
    assert message in str(error.value)
