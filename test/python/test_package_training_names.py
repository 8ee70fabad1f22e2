# SPDX-License-Identifier: Apache-2.0
"""`mct.gptq` and `mct.qat`: configurations of MCT, checked and translated to options of passes."""

from __future__ import annotations

import inspect

import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
gptq = pytest.importorskip("mct.gptq")
qat = pytest.importorskip("mct.qat")
stages = pytest.importorskip("mct.stages")
tp = pytest.importorskip("mct.target_platform")

Rounding, Method = gptq.RoundingType, qat.TrainingMethod


def test_annealing_must_grow_within_its_bounds():
    for fractions in ((0.5, 0.5, 0, None), (-0.1, 1, 0, None), (0, 1.1, 0, None)):
        with pytest.raises(tp.TargetError, match=r"fractions must grow|must be a number that is not negative"):
            gptq.QFractionLinearAnnealingConfig(*fractions)
    with pytest.raises(tp.TargetError, match="start_step must be a whole number from 0 on, but is -1"):
        gptq.QFractionLinearAnnealingConfig(0, 1, -1, None)
    with pytest.raises(tp.TargetError, match="end_step must be behind start_step, 5, but is 5"):
        gptq.QFractionLinearAnnealingConfig(0, 1, 5, 5)
    policy = gptq.GradualActivationQuantizationConfig().q_fraction_scheduler_policy
    assert (policy.initial_q_fraction, policy.target_q_fraction, policy.start_step, policy.end_step) == (0, 1, 0, None)
    with pytest.raises(tp.TargetError, match="must be a QFractionLinearAnnealingConfig, but is 3"):
        gptq.GradualActivationQuantizationConfig(3)


def test_scores_of_samples_are_not_normalized_unless_asked():
    ours = gptq.GPTQHessianScoresConfig(per_sample=True, hessians_num_samples=None)
    assert (ours.norm_scores, ours.log_norm, ours.scale_log_norm, ours.hessian_batch_size) == (False, False, False, 32)
    ours = gptq.GPTQHessianScoresConfig(per_sample=False, hessians_num_samples=16, scale_log_norm=True)
    assert (ours.norm_scores, ours.log_norm, ours.scale_log_norm) == (True, True, True)
    with pytest.raises(tp.TargetError, match="hessians_num_samples must be a whole number from 1 on, but is 0"):
        gptq.GPTQHessianScoresConfig(False, 0)


def test_defaults_are_those_of_mct():
    for get in (gptq.get_pytorch_gptq_config, gptq.get_keras_gptq_config):
        config = get(5)
        assert config.to_options() == {
            "epochs": 5,
            "loss": "attention",
            "rounding": "soft",
            "softness": 0.5,
            "regularization": 10.0,
            "train_bias": True,
            "learn_scales": False,
            "schedule": "constant",
            "optimizer": "adam",
            "rate": 0.03,
            "momentum": 0.0,
            "bias_optimizer": "sgd",
            "bias_rate": 1e-4,
            "bias_momentum": 0.9,
            "quantizer_optimizer": "adam",
            "quantizer_rate": 1e-4,
            "quantizer_momentum": 0.0,
            "hessian_weights": True,
            "hessian_batch": 32,
            "gradual": True,
            "gradual_initial": 0.0,
            "gradual_target": 1.0,
            "gradual_start": 0,
            "gradual_end": -1,
        }
        without = get(5, use_hessian_sample_attention=False, gradual_activation_quantization=False).to_options()
        assert (without["loss"], without["regularization"], "gradual" in without) == ("mse", 0.01, False)
        assert (without["hessian_samples"], without["norm_scores"], without["log_norm"]) == (32, True, True)
        everything = gptq.GradientPTQConfig(5, hessian_weights_config=gptq.GPTQHessianScoresConfig(False, None))
        assert everything.to_options()["hessian_samples"] == 0
        plain = get(5, use_hessian_sample_attention=False, use_hessian_based_weights=False).to_options()
        assert not plain["hessian_weights"] and "hessian_batch" not in plain
        with pytest.raises(tp.TargetError, match="use_hessian_sample_attention needs use_hessian_based_weights=True"):
            get(5, use_hessian_based_weights=False)
        with pytest.raises(tp.TargetError, match="gradual_activation_quantization must be True, False or a Gradual"):
            get(5, gradual_activation_quantization=3)


@pytest.mark.skipif(not hasattr(stages, "train_rounding"), reason="the pass mct-gptq is not built")
def test_all_options_are_those_of_the_stage():
    known = inspect.signature(stages.train_rounding).parameters
    scores = gptq.GPTQHessianScoresConfig(False, 16)
    gradual = gptq.GradualActivationQuantizationConfig(gptq.QFractionLinearAnnealingConfig(0.1, 0.9, 2, 7))
    given = {"quantization_parameter_learning": True}
    for config in (
        gptq.get_pytorch_gptq_config(1),
        gptq.GradientPTQConfig(1, hessian_weights_config=scores, gradual_activation_quantization_config=gradual),
        gptq.GradientPTQConfig(1, rounding_type=Rounding.STE, gptq_quantizer_params_override=given),
    ):
        assert set(config.to_options()) <= set(known)
    assert set(qat.QATConfig().to_options()) <= set(inspect.signature(stages.make_trainable).parameters)


def test_rounding_and_what_overrides_it():
    config = gptq.GradientPTQConfig(
        2,
        rounding_type=Rounding.STE,
        gptq_quantizer_params_override={"max_lsbs_change_map": tp.DefaultDict({8: 2}, 2)},
    )
    options = config.to_options()
    assert (options["rounding"], options["most_levels"]) == ("perturbed", 2.0) and "softness" not in options
    learned = gptq.GradientPTQConfig(2, gptq_quantizer_params_override={"quantization_parameter_learning": True})
    assert learned.to_options()["learn_scales"]
    with pytest.raises(tp.TargetError, match="gptq_quantizer_params_override has no 'bits'; known: quantization_param"):
        gptq.GradientPTQConfig(2, gptq_quantizer_params_override={"bits": 2})
    with pytest.raises(tp.TargetError, match="max_lsbs_change_map must have one number for all widths"):
        gptq.GradientPTQConfig(2, gptq_quantizer_params_override={"max_lsbs_change_map": {8: 1, 4: 2}})


class FakeAdam:
    """As `torch.optim.Adam` shows what it was made of."""

    def __init__(self, **given):
        self.param_groups = [{"lr": 0.02, "betas": (0.9, 0.999), "weight_decay": 0, "amsgrad": False, **given}]


FakeAdam.__name__ = "Adam"


class FakeSGD:
    """As `keras.optimizers.SGD` does."""

    learning_rate, momentum, nesterov, weight_decay = 0.5, 0.25, False, None


FakeSGD.__name__ = "SGD"


def test_optimizers_of_frameworks_are_taken_by_what_they_say():
    options = gptq.GradientPTQConfig(1, optimizer=FakeAdam(), optimizer_bias=FakeSGD()).to_options()
    assert (options["optimizer"], options["rate"]) == ("adam", 0.02)
    assert (options["bias_optimizer"], options["bias_rate"], options["bias_momentum"]) == ("sgd", 0.5, 0.25)
    own = gptq.GradientPTQConfig(1, optimizer_rest=gptq.SGD(0.5)).to_options()
    assert (own["bias_optimizer"], own["quantizer_optimizer"], own["quantizer_rate"]) == ("sgd", "sgd", 0.5)
    for optimizer, message in [
        (FakeAdam(weight_decay=0.1), "optimizer has weight_decay=0.1, which training here has not"),
        (FakeAdam(betas=(0.5, 0.9)), "optimizer has betas="),
        (3, "optimizer cannot be 3; there are Adam and SGD, of mct.gptq, torch.optim or keras.optimizers"),
        (FakeAdam(lr="schedule"), "optimizer has a schedule, 'schedule'; give the rate that it begins with"),
    ]:
        with pytest.raises(tp.TargetError, match=message):
            gptq.GradientPTQConfig(1, optimizer=optimizer)


def test_optimizers_of_torch():
    torch = pytest.importorskip("torch")
    parameters = [torch.nn.Parameter(torch.zeros(1))]
    optimizer = torch.optim.Adam(parameters, lr=0.02)
    options = gptq.GradientPTQConfig(1, optimizer=optimizer, optimizer_bias=torch.optim.SGD(parameters, lr=0.5))
    assert options.to_options()["rate"] == 0.02 and options.to_options()["bias_optimizer"] == "sgd"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_epochs": -1}, "n_epochs must be a whole number from 0 on, but is -1"),
        (
            {"loss": 3},
            "loss cannot be 3; there are multiple_tensors_mse_loss and sample_layer_attention_loss, or give a",
        ),
        ({"loss": gptq.sample_layer_attention_loss}, "is made of Hessian scores; give hessian_weights_config"),
        (
            {
                "loss": gptq.sample_layer_attention_loss,
                "hessian_weights_config": gptq.GPTQHessianScoresConfig(True, None, log_norm=True),
            },
            "takes the scores of samples as they are",
        ),
        (
            {
                "loss": gptq.sample_layer_attention_loss,
                "hessian_weights_config": gptq.GPTQHessianScoresConfig(True, 8),
            },
            "needs the scores of all samples, not of 8",
        ),
        (
            {"hessian_weights_config": gptq.GPTQHessianScoresConfig(True, None)},
            "scores per sample are of sample_layer_attention_loss",
        ),
        ({"hessian_weights_config": 3}, "hessian_weights_config must be a GPTQHessianScoresConfig or None, but is 3"),
        ({"log_function": 3}, "log_function must be a function or None, but is 3"),
        ({"regularization_factor": "a"}, "regularization_factor must be a number that is not negative, but is 'a'"),
    ],
)
def test_bad_configurations(given, message):
    with pytest.raises(tp.TargetError, match=message):
        gptq.GradientPTQConfig(**{"n_epochs": 1, **given})


# A function is what it is, whatever its name.
def test_a_loss_of_ones_own_has_the_scores_of_layers():
    def multiple_tensors_mse_loss(quantized, floats, weights):
        return 0, quantized

    for loss in (multiple_tensors_mse_loss, gptq.multiple_tensors_mse_loss):
        options = gptq.get_pytorch_gptq_config(5, loss=loss).to_options()
        assert options["loss"] == ("program" if loss is multiple_tensors_mse_loss else "mse")
        assert (options["hessian_samples"], options["regularization"]) == (32, 0.01)


def test_losses_are_names():
    for loss in (gptq.multiple_tensors_mse_loss, gptq.sample_layer_attention_loss):
        with pytest.raises(tp.TargetError, match="is the name of a loss, for GradientPTQConfig; the compiler computes"):
            loss(1, 2)


def test_methods_of_quantization_aware_training():
    assert qat.QATConfig().to_options() == {"weights": "fixed", "activations": "ste"}
    assert qat.QATConfig(Method.LSQ, Method.LSQ).to_options() == {"weights": "lsq", "activations": "lsq"}
    frozen = qat.QATConfig(activation_quantizer_params_override={"freeze_quant_params": True})
    assert frozen.to_options() == {"weights": "fixed", "activations": "fixed"}
    for given, message in [
        ({"weight_training_method": Method.DQA}, "weight_training_method cannot be DQA"),
        ({"weight_training_method": "STE"}, "weight_training_method must be one of TrainingMethod.STE"),
        (
            {"weight_quantizer_params_override": {"bits": 2}},
            "weight_quantizer_params_override has no 'bits'; known: fr",
        ),
        (
            {
                "activation_training_method": Method.LSQ,
                "activation_quantizer_params_override": {"freeze_quant_params": True},
            },
            "activation_training_method LSQ learns what freeze_quant_params would keep; take STE",
        ),
    ]:
        with pytest.raises(tp.TargetError, match=message):
            qat.QATConfig(**given)
