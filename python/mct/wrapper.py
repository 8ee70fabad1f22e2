# SPDX-License-Identifier: Apache-2.0
"""Names of MCT below `mct.wrapper`: quantizing and exporting in one call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mct import exporter, gptq, mct_names
from mct.core import CoreConfig, MixedPrecisionQuantizationConfig, QuantizationConfig, ResourceUtilization
from mct.errors import describe
from mct.quantization_config import QuantizationErrorMethod
from mct.target_platform import TargetError
from mct.target_platform._schema import check_bool

if TYPE_CHECKING:
    from mct.model import QuantizedModel

__all__ = ["MCTWrapper"]

_QUANTIZATION = (
    "activation_error_method",
    "weights_bias_correction",
    "z_threshold",
    "linear_collapsing",
    "residual_collapsing",
)
_MIXED = ("num_of_images", "weights_compression_ratio", "distance_weighting_method", "use_hessian_based_scores")
_GPTQ = ("n_epochs", "optimizer")
_DEFAULTS: dict[str, Any] = {
    "sdsp_version": "3.14",
    "activation_error_method": QuantizationErrorMethod.MSE,
    "weights_bias_correction": True,
    "z_threshold": float("inf"),
    "linear_collapsing": True,
    "residual_collapsing": True,
    "num_of_images": 32,
    "weights_compression_ratio": 0.75,
    "distance_weighting_method": None,
    "use_hessian_based_scores": False,
    "n_epochs": 5,
    "optimizer": None,
}


class MCTWrapper:
    """Quantizes a network for the IMX500 and writes it. An object may be used again."""

    def quantize_and_export(
        self,
        float_model: Any,
        representative_dataset: Callable[..., Any],
        framework: str = "pytorch",
        method: str = "PTQ",
        use_mixed_precision: bool = False,
        param_items: Sequence[Sequence[Any]] | None = None,
    ) -> tuple[bool, QuantizedModel]:
        """Returns True and the quantized network, which is written to `save_model_path`.

        framework:   "pytorch": ONNX, qmodel.onnx; "tensorflow": `.tflite`, qmodel.tflite.
        method:      "PTQ" or "GPTQ".
        use_mixed_precision: the bits of weights are chosen, within a part of what they need at the target's own.
        param_items: pairs of a name and a value: sdsp_version, save_model_path, and fields of the configurations. One
                     that the method does not have is left out, with a warning.
        """
        owner = "MCTWrapper.quantize_and_export"
        if framework not in ("pytorch", "tensorflow"):
            raise TargetError(f"{owner}: framework must be 'pytorch' or 'tensorflow', but is {describe(framework)}")
        if method not in ("PTQ", "GPTQ"):
            raise TargetError(f"{owner}: method must be 'PTQ' or 'GPTQ', but is {describe(method)}")
        is_mixed = check_bool(owner, "use_mixed_precision", use_mixed_precision)
        path = "./qmodel.onnx" if framework == "pytorch" else "./qmodel.tflite"
        values = self._read(owner, _DEFAULTS | {"save_model_path": path}, method, is_mixed, param_items or ())
        target = mct_names.get_target_platform_capabilities_sdsp(values["sdsp_version"])
        config = CoreConfig(QuantizationConfig(**{name: values[name] for name in _QUANTIZATION}))
        resources = None
        if is_mixed:
            needed = mct_names.resource_utilization_data(float_model, representative_dataset, config, target)
            resources = ResourceUtilization(weights_memory=needed.weights_memory * values["weights_compression_ratio"])
            mixed = MixedPrecisionQuantizationConfig(
                num_of_images=values["num_of_images"],
                distance_weighting_method=values["distance_weighting_method"],
                use_hessian_based_scores=values["use_hessian_based_scores"],
            )
            config = CoreConfig(config.quantization_config, mixed)
        training: dict[str, Any] = {}
        if method == "GPTQ":
            training["gptq_config"] = gptq.get_pytorch_gptq_config(values["n_epochs"], values["optimizer"])
        quantized, _ = mct_names.post_training_quantization(
            float_model, representative_dataset, resources, config, target, **training
        )
        if framework == "pytorch":
            exporter.pytorch_export_model(quantized, values["save_model_path"])
        else:
            form = exporter.KerasExportSerializationFormat.TFLITE
            codes = exporter.QuantizationFormat.INT8
            exporter.keras_export_model(
                quantized, values["save_model_path"], serialization_format=form, quantization_format=codes
            )
        return True, quantized

    @staticmethod
    def _read(
        owner: str, values: dict[str, Any], method: str, is_mixed: bool, items: Sequence[Sequence[Any]]
    ) -> dict[str, Any]:
        known = ["sdsp_version", "save_model_path", *_QUANTIZATION]
        known += [*(_MIXED if is_mixed else ()), *(_GPTQ if method == "GPTQ" else ())]
        for item in items:
            if not isinstance(item, (list, tuple)) or len(item) < 2 or not isinstance(item[0], str):
                raise TargetError(f"{owner}: param_items must be pairs of a name and a value, but has {describe(item)}")
            if item[0] not in known:
                logging.getLogger("mct").warning(
                    "MCTWrapper: %s%s has no parameter %r, which is left out; known: %s",
                    method,
                    " with mixed precision" if is_mixed else "",
                    item[0],
                    ", ".join(known),
                )
                continue
            values[item[0]] = item[1]
        return values
