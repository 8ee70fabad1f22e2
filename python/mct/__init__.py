# SPDX-License-Identifier: Apache-2.0
"""Quantizes neural networks for the chip that a target describes.

    model = mct.load("model.tflite")
    quantized = mct.quantize(model, target="imx500", data=images)
    quantized.save("quantized.mlirbc")

Names are imported when they are first used, so that `import mct` is quick and loads no framework.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from mct.errors import Error

if TYPE_CHECKING:
    from mct._version import __version__
    from mct.framework_info import FrameworkInfo
    from mct.image_folder import images
    from mct.mct_names import (
        get_target_platform_capabilities,
        get_target_platform_capabilities_sdsp,
        get_tpc_model,
        keras_post_training_quantization,
        post_training_quantization,
        pytorch_post_training_quantization,
        set_log_folder,
    )
    from mct.model import Model, Point, QuantizedModel, load
    from mct.preprocessing import Preprocessing
    from mct.quantization_config import QuantizationConfig, QuantizationErrorMethod, ThresholdSelectionMethod
    from mct.quantize_config import QuantizeConfig
    from mct.stages import *  # noqa: F403
    from mct.target_platform import DefaultDict, QuantizationMethod

# Public names, by the module that has them; an empty tuple exports the module itself. The imports for type checkers
# above are the same list. The functions of mct.stages, which is made of the definitions of the passes, are public as
# well.
_MODULES = {
    "mct.model": ("Model", "Point", "QuantizedModel", "load"),
    "mct.cost": (),
    "mct.detection": (),
    "mct.distributed": (),
    "mct.errors": (),
    "mct.evaluation": (),
    "mct.exporters": (),
    "mct.image_folder": ("images",),
    "mct.importers": (),
    "mct.preprocessing": ("Preprocessing",),
    "mct.progress": (),
    "mct.report": (),
    "mct.samples": (),
    "mct.stages": (),
    # Names of MCT.
    "mct.constants": (),
    "mct.compat": (),
    "mct.core": (),
    "mct.exporter": (),
    "mct.framework_info": ("FrameworkInfo",),
    "mct.gptq": (),
    "mct.mct_names": (
        "get_target_platform_capabilities",
        "get_target_platform_capabilities_sdsp",
        "get_tpc_model",
        "keras_post_training_quantization",
        "post_training_quantization",
        "pytorch_post_training_quantization",
        "set_log_folder",
    ),
    "mct.network_editor": (),
    "mct.ptq": (),
    "mct.qat": (),
    "mct.quantization_config": ("QuantizationConfig", "QuantizationErrorMethod", "ThresholdSelectionMethod"),
    "mct.quantize_config": ("QuantizeConfig",),
    "mct.quantizers": (),
    "mct.target_platform_capabilities": (),
    "mct.target_platform": ("DefaultDict", "QuantizationMethod"),
    "mct.trainable_infrastructure": (),
    "mct.trained_quantizers": (),
    "mct.wrapper": (),
    "mct.xquant": (),
}
_NAMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "DefaultDict",
    "Error",
    "FrameworkInfo",
    "Model",
    "Point",
    "Preprocessing",
    "QuantizationConfig",
    "QuantizationErrorMethod",
    "QuantizationMethod",
    "QuantizeConfig",
    "QuantizedModel",
    "ThresholdSelectionMethod",
    "__version__",
    "get_target_platform_capabilities",
    "get_target_platform_capabilities_sdsp",
    "get_tpc_model",
    "images",
    "keras_post_training_quantization",
    "load",
    "post_training_quantization",
    "pytorch_post_training_quantization",
    "set_log_folder",
]


def _import_native() -> object:
    """The compiler. Where another LLVM is visible to all libraries, as TensorFlow makes its own, ours goes first."""
    import ctypes
    import os
    import sys

    flags = sys.getdlopenflags()
    if hasattr(ctypes.CDLL(None), "LLVMContextCreate"):
        sys.setdlopenflags(os.RTLD_NOW | os.RTLD_DEEPBIND)
    try:
        return importlib.import_module("mct._native")
    finally:
        sys.setdlopenflags(flags)


def __getattr__(name: str) -> object:
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
    elif name == "__version__":
        value = importlib.import_module("mct._version").__version__
    elif name == "_native":
        value = _import_native()
    elif f"mct.{name}" in _MODULES:
        value = importlib.import_module(f"mct.{name}")
    elif not name.startswith("_") and name in importlib.import_module("mct.stages").__all__:
        value = getattr(importlib.import_module("mct.stages"), name)
    else:
        raise AttributeError(f"module 'mct' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from mct import stages

    return sorted(set(globals()) | set(_NAMES) | set(stages.__all__))
