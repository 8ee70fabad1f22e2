# SPDX-License-Identifier: Apache-2.0
"""Names of MCT below `mct.xquant`: reports on quantized networks, as `Model.compare` and `Model.report` make them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mct.errors import describe
from mct.mct_names import _take_data
from mct.target_platform import TargetError
from mct.target_platform._schema import Frozen

if TYPE_CHECKING:
    from mct.evaluation import ComparedPoint, ComparedResult
    from mct.model import Model

__all__ = [
    "XQuantConfig",
    "xquant_report_keras_experimental",
    "xquant_report_pytorch_experimental",
    "xquant_report_troubleshoot_pytorch_experimental",
]


class XQuantConfig(Frozen):
    """The folder of reports: `quant_report.json`, and of `troubleshoot` also `troubleshoot_report.json`.

    report_dir: the folder; it is made.

    The thresholds of MCT belong to its search for causes. The rules of a report here have none that a user sets; only
    MCT's defaults are taken, and `custom_similarity_metrics` is an error that names what does the same.
    """

    _OTHERS: Mapping[str, Any] = {
        "quantize_reported_dir": None,
        "threshold_quantize_error": {"mse": 0.1, "cs": 0.1, "sqnr": 0.1},
        "is_detect_under_threshold_quantize_error": {"mse": False, "cs": True, "sqnr": True},
        "threshold_degrade_layer_ratio": 0.5,
        "threshold_zscore_outlier_removal": 5.0,
        "threshold_ratio_unbalanced_concatenation": 16.0,
        "threshold_bitwidth_mixed_precision_with_model_output_loss_objective": 2,
    }

    def __init__(
        self,
        report_dir: str | os.PathLike[str],
        custom_similarity_metrics: Mapping[str, Callable[..., Any]] | None = None,
        **others: Any,
    ) -> None:
        if custom_similarity_metrics:
            raise TargetError(
                "XQuantConfig: custom_similarity_metrics compare tensors of MCT's layers; a metric of yours is "
                "metric=function of Model.evaluate and Model.report, and Model.run gives the results"
            )
        for name, value in others.items():
            if name not in self._OTHERS:
                raise TargetError(f"XQuantConfig has no parameter {name!r}; known: {', '.join(self._OTHERS)}")
            if value != self._OTHERS[name]:
                raise TargetError(
                    f"XQuantConfig: {name} belongs to the search of MCT for causes, which is not ours; leave it out "
                    "(the diagnoses of Model.report need no thresholds)"
                )
        if not isinstance(report_dir, (str, os.PathLike)):
            raise TargetError(f"XQuantConfig: report_dir must be a folder, but is {describe(report_dir)}")
        self.report_dir = os.fspath(report_dir)


def _measure(one: ComparedResult | ComparedPoint) -> dict[str, float]:
    return {"cs": one.cosine, "sqnr_db": one.sqnr_db, "max_error": one.max_error}


def _compare(quantized: Model, reference: Model, data: Callable[..., Any]) -> tuple[Any, Any]:
    """Returns the distances of results and of points."""
    compared = quantized.compare(_take_data(data, None), reference)
    return (
        {result.name: _measure(result) for result in compared.results},
        {point.name: _measure(point) for point in compared.points},
    )


def xquant_report_pytorch_experimental(
    float_model: Any,
    quantized_model: Model,
    repr_dataset: Callable[..., Any],
    validation_dataset: Callable[..., Any],
    xquant_config: XQuantConfig,
) -> dict[str, Any]:
    """Returns how far the quantized network is from float, on the samples of calibration and on others, and writes it.

    float_model:     the network that the quantized one was made of, which it knows; anything that `mct.load` takes.
    quantized_model: as the functions of `mct.ptq` and `mct.gptq` return it.

    Keys are those of MCT: `output_metrics_repr`, `output_metrics_val`, `intermediate_metrics_repr` and
    `intermediate_metrics_val`; a tensor has `cs`, the cosine, `sqnr_db` and `max_error`. Points have the names of the
    network. Same as: `Model.compare`.
    """
    return _report(float_model, quantized_model, repr_dataset, validation_dataset, xquant_config)[0]


def _report(
    float_model: Any, quantized: Any, repr_dataset: Any, validation_dataset: Any, config: Any
) -> tuple[dict[str, Any], Model]:
    import mct

    if not isinstance(config, XQuantConfig):
        raise TargetError(f"xquant_config must be a XQuantConfig, but is {describe(config)}")
    if not isinstance(quantized, mct.Model):
        raise TargetError(f"quantized_model must be a quantized model of mct, but is {describe(quantized)}")
    reference = getattr(quantized, "float_model", None)
    if reference is None:
        reference = float_model if isinstance(float_model, mct.Model) else mct.load(float_model)
    document: dict[str, Any] = {}
    for name, data in (("repr", repr_dataset), ("val", validation_dataset)):
        document[f"output_metrics_{name}"], document[f"intermediate_metrics_{name}"] = _compare(
            quantized, reference, data
        )
    _write(config, "quant_report.json", document)
    return document, reference


def _write(config: XQuantConfig, name: str, document: Any) -> None:
    from mct import _native

    folder = Path(config.report_dir)
    folder.mkdir(parents=True, exist_ok=True)
    _native.write_file(str(folder / name), json.dumps(document, indent=2).encode())


def xquant_report_troubleshoot_pytorch_experimental(
    float_model: Any,
    quantized_model: Model,
    repr_dataset: Callable[..., Any],
    validation_dataset: Callable[..., Any],
    xquant_config: XQuantConfig,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Returns the same, and the diagnoses of `Model.report` on the validation samples: cause, remedy and what to
    paste."""
    document, reference = _report(float_model, quantized_model, repr_dataset, validation_dataset, xquant_config)
    report = quantized_model.report(data=_take_data(validation_dataset, None), reference=reference)
    diagnoses: list[dict[str, Any]] = report.document["diagnoses"]
    _write(xquant_config, "troubleshoot_report.json", diagnoses)
    return document, diagnoses


xquant_report_keras_experimental = xquant_report_pytorch_experimental
