# SPDX-License-Identifier: Apache-2.0
"""Names of MCT below `mct.qat`: quantization-aware training.

    trainable, information = mct.qat.pytorch_quantization_aware_training_init_experimental(model, batches)
    trained = mct.train(trainable, data=images, labels=labels, epochs=10)

`mct.train` (the pass `mct-qat`) is the training that MCT leaves to its users; what it gives is final already. To
finalize a network that has not been trained gives the quantized one.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mct.core import CoreConfig, ResourceUtilization
from mct.errors import describe
from mct.target_platform import TargetError
from mct.target_platform._schema import Frozen, check_bool, check_enum
from mct.trainable_infrastructure import TrainingMethod

if TYPE_CHECKING:
    from mct.mct_names import UserInformation
    from mct.model import Model, QuantizedModel

__all__ = [
    "QATConfig",
    "TrainingMethod",
    "keras_quantization_aware_training_finalize_experimental",
    "keras_quantization_aware_training_init_experimental",
    "pytorch_quantization_aware_training_finalize_experimental",
    "pytorch_quantization_aware_training_init_experimental",
]


def _read_override(name: str, override: Mapping[str, Any] | None) -> bool:
    """Returns whether the parameters of quantizers stay."""
    for key in override or {}:
        if key != "freeze_quant_params":
            raise TargetError(
                f"QATConfig: {name} has no {key!r}; known: freeze_quant_params. Other methods are options of "
                "mct.make_trainable, and those of your own quantizers of mct.quantize_config"
            )
    return check_bool("QATConfig", "freeze_quant_params", (override or {}).get("freeze_quant_params", False))


class QATConfig(Frozen):
    """How quantizers are trained.

    weight_training_method:     STE: thresholds and ranges stay, and weights are trained below them; LSQ: they learn.
    activation_training_method: STE and LSQ: thresholds and ranges are learned, by gradients of two kinds.
    weight_quantizer_params_override, activation_quantizer_params_override: `freeze_quant_params`, for STE: they stay.
    """

    def __init__(
        self,
        weight_training_method: TrainingMethod = TrainingMethod.STE,
        activation_training_method: TrainingMethod = TrainingMethod.STE,
        weight_quantizer_params_override: Mapping[str, Any] | None = None,
        activation_quantizer_params_override: Mapping[str, Any] | None = None,
    ) -> None:
        self.weight_training_method = self._method("weight_training_method", weight_training_method)
        self.activation_training_method = self._method("activation_training_method", activation_training_method)
        self.weight_quantizer_params_override = dict(weight_quantizer_params_override or {})
        self.activation_quantizer_params_override = dict(activation_quantizer_params_override or {})
        self._frozen = (
            _read_override("weight_quantizer_params_override", weight_quantizer_params_override),
            _read_override("activation_quantizer_params_override", activation_quantizer_params_override),
        )
        for name, method, frozen in (
            ("weight_training_method", self.weight_training_method, self._frozen[0]),
            ("activation_training_method", self.activation_training_method, self._frozen[1]),
        ):
            if frozen and method is TrainingMethod.LSQ:
                raise TargetError(f"QATConfig: {name} LSQ learns what freeze_quant_params would keep; take STE")

    @staticmethod
    def _method(name: str, value: Any) -> TrainingMethod:
        method = check_enum("QATConfig", name, value, TrainingMethod)
        if method is TrainingMethod.DQA:
            raise TargetError(f"QATConfig: {name} cannot be DQA, which MCT declares and does not have; take LSQ or STE")
        return method

    def to_options(self) -> dict[str, str]:
        """Returns the options of `mct.make_trainable`."""
        activations = "lsq" if self.activation_training_method is TrainingMethod.LSQ else "ste"
        return {
            "weights": "lsq" if self.weight_training_method is TrainingMethod.LSQ else "fixed",
            "activations": "fixed" if self._frozen[1] else activations,
        }


def pytorch_quantization_aware_training_init_experimental(
    in_model: Any,
    representative_data_gen: Any,
    target_resource_utilization: ResourceUtilization | None = None,
    core_config: CoreConfig | None = None,
    qat_config: QATConfig | None = None,
    target_platform_capabilities: Any = None,
    **options: Any,
) -> tuple[QuantizedModel, UserInformation]:
    """Quantizes a model as `mct.ptq` does; its points contain the settings of their training.

    qat_config: None: `QATConfig()`. The others: as for `mct.ptq.pytorch_post_training_quantization`.
    """
    from mct import mct_names, stages
    from mct.model import QuantizedModel

    qat_config = QATConfig() if qat_config is None else qat_config
    if not isinstance(qat_config, QATConfig):
        raise TargetError(f"qat_config must be a QATConfig, but is {describe(qat_config)}")
    quantized, information = mct_names.post_training_quantization(
        in_model,
        representative_data_gen,
        target_resource_utilization,
        core_config,
        target_platform_capabilities,
        **options,
    )
    training_options: Any = qat_config.to_options()
    trainable = stages.make_trainable(quantized, **training_options)
    return QuantizedModel(trainable.module, quantized.float_model, quantized.calibration, quantized.metric), information


def keras_quantization_aware_training_init_experimental(
    *arguments: Any, **options: Any
) -> tuple[QuantizedModel, UserInformation, dict[str, Any]]:
    """The same, with the third result that Keras' function has: custom objects, of which there are none."""
    return *pytorch_quantization_aware_training_init_experimental(*arguments, **options), {}


def pytorch_quantization_aware_training_finalize_experimental(in_model: Model) -> Model:
    """A network whose points are ordinary ones; another one, and the same for one that is final already."""
    from mct.model import Model, QuantizedModel

    stages: Any = importlib.import_module("mct.stages")
    module = stages.train(in_model, epochs=0).module
    if isinstance(in_model, QuantizedModel):
        return QuantizedModel(module, in_model.float_model, in_model.calibration, in_model.metric)
    return Model(module)


keras_quantization_aware_training_finalize_experimental = pytorch_quantization_aware_training_finalize_experimental
