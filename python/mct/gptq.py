# SPDX-License-Identifier: Apache-2.0
"""Names of MCT below `mct.gptq`: gradient-based post-training quantization.

Configurations are checked here and become options of `mct.train_rounding` (the pass `mct-gptq`), which trains.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mct import _host
from mct.core import CoreConfig, ResourceUtilization
from mct.errors import describe
from mct.target_platform import TargetError
from mct.target_platform._schema import DefaultDict, Frozen, check_bool, check_enum
from mct.trainable_infrastructure import RoundingType

if TYPE_CHECKING:
    from mct.mct_names import UserInformation
    from mct.model import QuantizedModel

__all__ = [
    "SGD",
    "Adam",
    "GPTQHessianScoresConfig",
    "GradientPTQConfig",
    "GradualActivationQuantizationConfig",
    "QFractionLinearAnnealingConfig",
    "RoundingType",
    "get_keras_gptq_config",
    "get_pytorch_gptq_config",
    "keras_gradient_post_training_quantization",
    "multiple_tensors_mse_loss",
    "pytorch_gradient_post_training_quantization",
    "sample_layer_attention_loss",
    "torch_loss",
]

Option = bool | int | float | str
Arrays = list[npt.NDArray[np.float32]]
# Takes values of the quantized network, those of the float one, and their weights; returns the loss and its gradients.
Loss = Callable[[Arrays, Arrays, npt.NDArray[np.float64]], tuple[float, Arrays]]


def _whole(owner: str, name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
        raise TargetError(f"{owner}: {name} must be a whole number from {least} on, but is {describe(value)}")
    return int(value)


def _number(owner: str, name: str, value: Any) -> float:
    is_number = not isinstance(value, (bool, str)) and hasattr(value, "__float__")
    if not is_number or not math.isfinite(float(value)) or float(value) < 0:
        raise TargetError(f"{owner}: {name} must be a number that is not negative, but is {describe(value)}")
    return float(value)


# ----------------------------------------------------------------------------------------------------------------------
# Optimizers, losses
# ----------------------------------------------------------------------------------------------------------------------


class Adam(Frozen):
    """Adam, with the usual decays of 0.9 and 0.999.

    learning_rate: length of a step.
    """

    def __init__(self, learning_rate: float = 3e-2) -> None:
        self.learning_rate = _number("Adam", "learning_rate", learning_rate)
        self.momentum = 0.0


class SGD(Frozen):
    """Gradient descent.

    learning_rate: factor of gradients.
    momentum:      part of the last step that the next one has.
    """

    def __init__(self, learning_rate: float = 1e-4, momentum: float = 0.0) -> None:
        self.learning_rate = _number("SGD", "learning_rate", learning_rate)
        self.momentum = _number("SGD", "momentum", momentum)


# Parameters of optimizers of PyTorch and Keras that ours do not have, and the values with which they have no effect.
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "betas": ((0.9, 0.999), [0.9, 0.999]),
    "beta_1": (0.9,),
    "beta_2": (0.999,),
    "weight_decay": (0, None),
    "amsgrad": (False,),
    "nesterov": (False,),
    "dampening": (0,),
    "maximize": (False,),
    "clipnorm": (None,),
    "clipvalue": (None,),
    "global_clipnorm": (None,),
    "use_ema": (False,),
}


def read_optimizer(owner: str, name: str, value: Any) -> Adam | SGD:
    """One of ours, or of PyTorch or Keras, as one of ours."""
    if isinstance(value, (Adam, SGD)):
        return value
    kind = type(value).__name__
    if kind not in ("Adam", "SGD"):
        raise TargetError(
            f"{owner}: {name} cannot be {describe(value)}; there are Adam and SGD, of mct.gptq, torch.optim or "
            "keras.optimizers"
        )
    groups = getattr(value, "param_groups", None) or [getattr(value, "defaults", {})]
    given = groups[0] or {key: getattr(value, key) for key in (*_NEUTRAL, "momentum") if hasattr(value, key)}
    for key, neutral in _NEUTRAL.items():
        if key in given and given[key] not in neutral:
            raise TargetError(f"{owner}: {name} has {key}={given[key]!r}, which training here has not; leave it out")
    rate: Any = given.get("lr", getattr(value, "learning_rate", None))
    try:
        rate = float(rate)
    except (TypeError, ValueError):
        raise TargetError(
            f"{owner}: {name} has a schedule, {describe(rate)}; give the rate that it begins with"
        ) from None
    return Adam(rate) if kind == "Adam" else SGD(rate, float(given.get("momentum", 0) or 0))


def multiple_tensors_mse_loss(*_: Any) -> Any:
    """The name of a loss: mean squared errors of the layers, each divided by the mean square."""
    raise TargetError(
        "multiple_tensors_mse_loss is the name of a loss, for GradientPTQConfig; the compiler computes it"
    )


def sample_layer_attention_loss(*_: Any) -> Any:
    """The name of a loss: squared errors, by the Hessian scores of each sample and layer."""
    raise TargetError(
        "sample_layer_attention_loss is the name of a loss, for GradientPTQConfig; the compiler computes it"
    )


_LOSSES = {
    "multiple_tensors_mse_loss": "mse",
    "GPTQMultipleTensorsLoss": "mse",
    "sample_layer_attention_loss": "attention",
    "SampleLayerAttentionLoss": "attention",
}


def _loss_name(owner: str, loss: Any) -> str:
    for named in (loss, type(loss)):
        # A function of another module may have the same name.
        home = str(getattr(named, "__module__", "")).partition(".")[0]
        if home in ("mct", "model_compression_toolkit") and getattr(named, "__name__", "") in _LOSSES:
            return _LOSSES[named.__name__]
    if callable(loss):
        return "program"
    raise TargetError(
        f"{owner}: loss cannot be {describe(loss)}; there are multiple_tensors_mse_loss and "
        "sample_layer_attention_loss, or "
        "give a function that returns a loss and its gradients"
    )


def torch_loss(function: Callable[..., Any]) -> Loss:
    """A loss, for `GradientPTQConfig`, whose gradients PyTorch computes; the compiler needs none for anything else.

    function: takes two lists of tensors, values of the quantized and of the float network, and a tensor with the
              weight of each; returns a tensor with one number.
    """

    def loss(quantized: Arrays, floats: Arrays, weights: npt.NDArray[np.float64]) -> tuple[float, Arrays]:
        torch: Any = importlib.import_module("torch")
        values = [torch.from_numpy(value).requires_grad_() for value in quantized]
        result = function(values, [torch.from_numpy(value) for value in floats], torch.from_numpy(weights))
        result.backward()
        zeros = (np.zeros_like(value) for value in quantized)
        return float(result.detach()), [
            zero if value.grad is None else value.grad.numpy() for value, zero in zip(values, zeros, strict=True)
        ]

    loss.__qualname__ = f"torch_loss({getattr(function, '__qualname__', type(function).__qualname__)})"
    return loss


# ----------------------------------------------------------------------------------------------------------------------
# Configurations
# ----------------------------------------------------------------------------------------------------------------------


class GPTQHessianScoresConfig(Frozen):
    """How layers count by their Hessian scores.

    per_sample:          each sample has scores of its own.
    hessians_num_samples: samples for the scores; None: all.
    norm_scores:         scores of a sample are divided by their sum; None: unless per_sample.
    log_norm:            layers count by the logarithm of their score; None: unless per_sample.
    scale_log_norm:      the largest becomes 1.
    hessian_batch_size:  samples that are computed at once.
    """

    def __init__(
        self,
        per_sample: bool,
        hessians_num_samples: int | None,
        norm_scores: bool | None = None,
        log_norm: bool | None = None,
        scale_log_norm: bool = False,
        hessian_batch_size: int = 32,
    ) -> None:
        owner = type(self).__name__
        self.per_sample = check_bool(owner, "per_sample", per_sample)
        self.hessians_num_samples = (
            None if hessians_num_samples is None else _whole(owner, "hessians_num_samples", hessians_num_samples, 1)
        )
        self.norm_scores = not per_sample if norm_scores is None else check_bool(owner, "norm_scores", norm_scores)
        self.log_norm = not per_sample if log_norm is None else check_bool(owner, "log_norm", log_norm)
        self.scale_log_norm = check_bool(owner, "scale_log_norm", scale_log_norm)
        self.hessian_batch_size = _whole(owner, "hessian_batch_size", hessian_batch_size, 1)


class QFractionLinearAnnealingConfig(Frozen):
    """How the part of activations that is quantized grows.

    initial_q_fraction, target_q_fraction: at first, and in the end.
    start_step, end_step: steps between which it grows; end_step None: the last one.
    """

    def __init__(
        self, initial_q_fraction: float, target_q_fraction: float, start_step: int, end_step: int | None
    ) -> None:
        owner = type(self).__name__
        self.initial_q_fraction = _number(owner, "initial_q_fraction", initial_q_fraction)
        self.target_q_fraction = _number(owner, "target_q_fraction", target_q_fraction)
        if not self.initial_q_fraction < self.target_q_fraction <= 1:
            raise TargetError(
                f"{owner}: fractions must grow, from 0 on and up to 1, but go from {initial_q_fraction!r} to "
                f"{target_q_fraction!r}"
            )
        self.start_step = _whole(owner, "start_step", start_step, 0)
        self.end_step = None if end_step is None else _whole(owner, "end_step", end_step, 0)
        if self.end_step is not None and self.end_step <= self.start_step:
            raise TargetError(f"{owner}: end_step must be behind start_step, {start_step}, but is {end_step}")


class GradualActivationQuantizationConfig(Frozen):
    """Activations are quantized more and more.

    q_fraction_scheduler_policy: how; None: from 0 to 1 over all steps.
    """

    def __init__(self, q_fraction_scheduler_policy: QFractionLinearAnnealingConfig | None = None) -> None:
        if q_fraction_scheduler_policy is None:
            q_fraction_scheduler_policy = QFractionLinearAnnealingConfig(0, 1, 0, None)
        if not isinstance(q_fraction_scheduler_policy, QFractionLinearAnnealingConfig):
            raise TargetError(
                f"{type(self).__name__}: q_fraction_scheduler_policy must be a QFractionLinearAnnealingConfig, but is "
                f"{describe(q_fraction_scheduler_policy)}"
            )
        self.q_fraction_scheduler_policy = q_fraction_scheduler_policy


class GradientPTQConfig(Frozen):
    """How rounding is trained. Parameters and defaults are those of MCT.

    n_epochs:        how often all samples are seen; 0: nothing is trained.
    loss:            `multiple_tensors_mse_loss`, `sample_layer_attention_loss`, or a function: it gets lists of arrays,
                     what the quantized network makes in each layer of a batch and what the float one makes of it, and
                     the weight of each layer; it returns a number and the list of its gradients by the first arrays
                     (`torch_loss` makes one of a function of tensors).
    optimizer:       of the rounding; of mct.gptq, torch.optim or keras.optimizers.
    optimizer_rest:  of what has no other.
    train_bias:      whether biases are trained, with `optimizer_bias` or `optimizer_rest`.
    hessian_weights_config: how layers count; None: all alike.
    gradual_activation_quantization_config: None: activations are quantized from the start.
    regularization_factor: factor of the term that pulls weights to levels.
    rounding_type:   which of two levels a weight takes (SoftQuantizer), or by how far it is moved (STE).
    optimizer_quantization_parameter: optimizer of scales, where they are learned; None: `optimizer_rest`.
    log_function:    called after each step with the loss, the gradients of all that is trained and what it is now, two
                     lists of arrays, and the names of the layers that are compared. An exception ends the training.
    gptq_quantizer_params_override: `quantization_parameter_learning`, `max_lsbs_change_map`.
    """

    def __init__(
        self,
        n_epochs: int,
        loss: Any = None,
        optimizer: Any = None,
        optimizer_rest: Any = None,
        train_bias: bool = True,
        hessian_weights_config: GPTQHessianScoresConfig | None = None,
        gradual_activation_quantization_config: GradualActivationQuantizationConfig | None = None,
        regularization_factor: float = 0.01,
        rounding_type: RoundingType = RoundingType.SoftQuantizer,
        optimizer_quantization_parameter: Any = None,
        optimizer_bias: Any = None,
        log_function: Callable[..., Any] | None = None,
        gptq_quantizer_params_override: Mapping[str, Any] | None = None,
    ) -> None:
        owner = type(self).__name__
        self.n_epochs = _whole(owner, "n_epochs", n_epochs, 0)
        self.loss = multiple_tensors_mse_loss if loss is None else loss
        self._loss = _loss_name(owner, self.loss)
        self.optimizer = read_optimizer(owner, "optimizer", Adam(3e-2) if optimizer is None else optimizer)
        rest = Adam(1e-4) if optimizer_rest is None else optimizer_rest
        self.optimizer_rest = read_optimizer(owner, "optimizer_rest", rest)
        self.train_bias = check_bool(owner, "train_bias", train_bias)
        for name, value, kind in (
            ("hessian_weights_config", hessian_weights_config, GPTQHessianScoresConfig),
            (
                "gradual_activation_quantization_config",
                gradual_activation_quantization_config,
                GradualActivationQuantizationConfig,
            ),
        ):
            if value is not None and not isinstance(value, kind):
                raise TargetError(f"{owner}: {name} must be a {kind.__name__} or None, but is {describe(value)}")
        self.hessian_weights_config = hessian_weights_config
        self.gradual_activation_quantization_config = gradual_activation_quantization_config
        self.regularization_factor = _number(owner, "regularization_factor", regularization_factor)
        self.rounding_type = check_enum(owner, "rounding_type", rounding_type, RoundingType)
        scales = self.optimizer_rest if optimizer_quantization_parameter is None else optimizer_quantization_parameter
        self.optimizer_quantization_parameter = read_optimizer(owner, "optimizer_quantization_parameter", scales)
        biases = self.optimizer_rest if optimizer_bias is None else optimizer_bias
        self.optimizer_bias = read_optimizer(owner, "optimizer_bias", biases)
        if log_function is not None and not callable(log_function):
            raise TargetError(f"{owner}: log_function must be a function or None, but is {describe(log_function)}")
        self.log_function = log_function
        self.gptq_quantizer_params_override = dict(gptq_quantizer_params_override or {})
        self._check_loss(owner)
        self._read_override(owner)

    def _check_loss(self, owner: str) -> None:
        scores = self.hessian_weights_config
        if self._loss != "attention":
            if scores is not None and scores.per_sample:
                raise TargetError(f"{owner}: Hessian scores per sample are of sample_layer_attention_loss")
            return
        if scores is None:
            raise TargetError(
                f"{owner}: sample_layer_attention_loss is made of Hessian scores; give hessian_weights_config"
            )
        if not scores.per_sample or scores.norm_scores or scores.log_norm or scores.scale_log_norm:
            raise TargetError(
                f"{owner}: sample_layer_attention_loss takes the scores of samples as they are; give "
                "GPTQHessianScoresConfig(per_sample=True, hessians_num_samples=None)"
            )
        if scores.hessians_num_samples is not None:
            raise TargetError(
                f"{owner}: sample_layer_attention_loss needs the scores of all samples, not of "
                f"{scores.hessians_num_samples}; give hessians_num_samples=None"
            )

    def _read_override(self, owner: str) -> None:
        known = ("quantization_parameter_learning", "max_lsbs_change_map")
        for name in self.gptq_quantizer_params_override:
            if name not in known:
                raise TargetError(f"{owner}: gptq_quantizer_params_override has no {name!r}; known: {', '.join(known)}")
        learns = self.gptq_quantizer_params_override.get("quantization_parameter_learning", False)
        self._learns_scales = check_bool(owner, "quantization_parameter_learning", learns)
        levels = self.gptq_quantizer_params_override.get("max_lsbs_change_map", 1)
        if isinstance(levels, DefaultDict):
            levels = {*levels.values(), *([] if levels.default_value is None else [levels.default_value])}
        elif isinstance(levels, Mapping):
            levels = set(levels.values())
        else:
            levels = {levels}
        if len(levels) != 1:
            raise TargetError(
                f"{owner}: max_lsbs_change_map must have one number for all widths, but has {describe(levels)}"
            )
        self._most_levels = _number(owner, "max_lsbs_change_map", next(iter(levels)))

    def to_options(self) -> dict[str, Option]:
        """Returns the options of `mct.train_rounding`."""
        scores, gradual = self.hessian_weights_config, self.gradual_activation_quantization_config
        is_soft = self.rounding_type is RoundingType.SoftQuantizer
        options: dict[str, Option] = {
            "epochs": self.n_epochs,
            "loss": self._loss,
            "rounding": "soft" if is_soft else "perturbed",
            "train_bias": self.train_bias,
            "learn_scales": self._learns_scales and is_soft,
            "schedule": "constant",
            "hessian_weights": scores is not None,
        }
        for prefix, optimizer in (
            ("", self.optimizer),
            ("bias_", self.optimizer_bias),
            ("quantizer_", self.optimizer_quantization_parameter),
        ):
            options[f"{prefix}optimizer"] = "adam" if isinstance(optimizer, Adam) else "sgd"
            options[f"{prefix}rate"] = optimizer.learning_rate
            options[f"{prefix}momentum"] = optimizer.momentum
        if is_soft:
            # Training begins with the network whose weights are not rounded.
            options |= {"softness": 0.5, "regularization": self.regularization_factor}
        else:
            options["most_levels"] = self._most_levels
        if scores is not None:
            options["hessian_batch"] = scores.hessian_batch_size
            if self._loss != "attention":
                options |= {"norm_scores": scores.norm_scores, "log_norm": scores.log_norm}
                options["scale_log_norm"] = scores.scale_log_norm
                options["hessian_samples"] = scores.hessians_num_samples or 0
        if gradual is not None:
            policy = gradual.q_fraction_scheduler_policy
            options |= {
                "gradual": True,
                "gradual_initial": policy.initial_q_fraction,
                "gradual_target": policy.target_q_fraction,
                "gradual_start": policy.start_step,
                "gradual_end": -1 if policy.end_step is None else policy.end_step,
            }
        return options


def get_pytorch_gptq_config(
    n_epochs: int,
    optimizer: Any = None,
    optimizer_rest: Any = None,
    loss: Any = None,
    log_function: Callable[..., Any] | None = None,
    use_hessian_based_weights: bool = True,
    regularization_factor: float | None = None,
    hessian_batch_size: int = 32,
    use_hessian_sample_attention: bool = True,
    gradual_activation_quantization: bool | GradualActivationQuantizationConfig = True,
) -> GradientPTQConfig:
    """A `GradientPTQConfig` with what MCT recommends. `n_epochs` has no default; the others are as they are there."""
    owner = "get_gptq_config"
    if not check_bool(owner, "use_hessian_sample_attention", use_hessian_sample_attention):
        attends = False
    else:
        # Another loss has no attention to samples, and takes the scores of layers.
        attends = loss is None or _loss_name(owner, loss) == "attention"
    if attends:
        if not use_hessian_based_weights:
            raise TargetError(f"{owner}: use_hessian_sample_attention needs use_hessian_based_weights=True")
        scores = GPTQHessianScoresConfig(True, None, hessian_batch_size=hessian_batch_size)
    elif check_bool(owner, "use_hessian_based_weights", use_hessian_based_weights):
        scores = GPTQHessianScoresConfig(False, 32, hessian_batch_size=hessian_batch_size)
    else:
        scores = None
    if isinstance(gradual_activation_quantization, GradualActivationQuantizationConfig):
        gradual: GradualActivationQuantizationConfig | None = gradual_activation_quantization
    elif isinstance(gradual_activation_quantization, bool):
        gradual = GradualActivationQuantizationConfig() if gradual_activation_quantization else None
    else:
        raise TargetError(
            f"{owner}: gradual_activation_quantization must be True, False or a GradualActivationQuantizationConfig, "
            f"but is {describe(gradual_activation_quantization)}"
        )
    if loss is None:
        loss = sample_layer_attention_loss if attends else multiple_tensors_mse_loss
    if regularization_factor is None:
        regularization_factor = 10 if attends else 0.01
    return GradientPTQConfig(
        n_epochs,
        loss=loss,
        optimizer=optimizer,
        optimizer_rest=optimizer_rest,
        train_bias=True,
        hessian_weights_config=scores,
        gradual_activation_quantization_config=gradual,
        regularization_factor=regularization_factor,
        optimizer_bias=SGD(1e-4, 0.9),
        log_function=log_function,
    )


get_keras_gptq_config = get_pytorch_gptq_config

# ----------------------------------------------------------------------------------------------------------------------
# Functions
# ----------------------------------------------------------------------------------------------------------------------


def train(
    quantized: QuantizedModel,
    data: Callable[[], Iterable[Any]],
    config: GradientPTQConfig,
    progress: Any = False,
) -> QuantizedModel:
    """A quantized network with trained rounding, by batches as `data` makes them."""
    from mct import mct_names
    from mct.model import QuantizedModel

    if not isinstance(quantized, QuantizedModel):
        raise TargetError(
            f"training begins with what mct.quantize returns, not with {type(quantized).__name__}; "
            "mct.train_rounding takes any quantized model"
        )
    stages: Any = importlib.import_module("mct.stages")
    if config.n_epochs == 0:
        return quantized
    options: dict[str, Any] = {**config.to_options()}
    if size := mct_names.batch_size(data()):
        options["batch"] = size
    own_loss = config.loss if options["loss"] == "program" else None
    with _host.training(own_loss, config.log_function):
        trained = stages.train_rounding(quantized, data=data, progress=progress, **options)
    return QuantizedModel(trained.module, quantized.float_model, quantized.calibration, quantized.metric)


def pytorch_gradient_post_training_quantization(
    model: Any = None,
    representative_data_gen: Any = None,
    target_resource_utilization: ResourceUtilization | None = None,
    core_config: CoreConfig | None = None,
    gptq_config: GradientPTQConfig | None = None,
    gptq_representative_data_gen: Any = None,
    target_platform_capabilities: Any = None,
    **options: Any,
) -> tuple[QuantizedModel, UserInformation]:
    """Quantizes a model as `mct.ptq` does, and then trains its rounding, without labels.

    gptq_config:   of `get_pytorch_gptq_config`; None: nothing is trained.
    gptq_representative_data_gen: samples to train with; None: `representative_data_gen`.
    The others, and `preprocessing` and `progress`: as for `mct.ptq.pytorch_post_training_quantization`.
    """
    from mct import mct_names

    return mct_names.post_training_quantization(
        model if model is not None else options.pop("in_module", None),
        representative_data_gen,
        target_resource_utilization,
        core_config,
        target_platform_capabilities,
        gptq_config=gptq_config,
        gptq_representative_data_gen=gptq_representative_data_gen,
        **options,
    )


def keras_gradient_post_training_quantization(
    in_model: Any,
    representative_data_gen: Any,
    gptq_config: GradientPTQConfig | None = None,
    gptq_representative_data_gen: Any = None,
    target_resource_utilization: ResourceUtilization | None = None,
    core_config: CoreConfig | None = None,
    target_platform_capabilities: Any = None,
    **options: Any,
) -> tuple[QuantizedModel, UserInformation]:
    """The same in the order of parameters that Keras' function has."""
    return pytorch_gradient_post_training_quantization(
        in_model,
        representative_data_gen,
        target_resource_utilization,
        core_config,
        gptq_config,
        gptq_representative_data_gen,
        target_platform_capabilities,
        **options,
    )
