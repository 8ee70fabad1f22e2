# SPDX-License-Identifier: Apache-2.0
"""The packages of others that the importers run, with the one version of each that is known to be read here.

`python/pyproject.toml` has the same lists as its extras; a test compares them.
"""

from __future__ import annotations

import importlib.util
import logging
from importlib import metadata

PACKAGES: dict[str, tuple[str, ...]] = {
    "tflite": ("tosa-converter-for-tflite==2026.2.0",),
    "onnx": ("torch-mlir==20261001", "onnx==1.21.0", "onnxruntime==1.32.0"),
    "torch": ("torch==2.13.0", "executorch==1.5.1", "tosa-tools==2026.8.0"),
    "keras": ("tensorflow-cpu==2.21.0", "keras==3.15.1", "tosa-converter-for-tflite==2026.2.0"),
}
# Modules without which an extra is not there; looked for, never imported.
_MODULES = {
    "tflite": ("tosa_converter_for_tflite",),
    "onnx": ("torch_mlir", "onnx", "onnxruntime"),
    "torch": ("torch", "executorch", "tosa_tools_cli"),
    "keras": ("tensorflow", "keras", "tosa_converter_for_tflite"),
}


def missing(extra: str) -> list[str]:
    """Modules of an extra that are not installed."""
    return [name for name in _MODULES[extra] if importlib.util.find_spec(name) is None]


def require(extra: str, what: str) -> None:
    """Raises ImportError with the command that installs `extra`, which `what` needs ("a .tflite file").

    Another version than the pinned one is used, after a warning: nothing promises that it writes what this MLIR reads.
    """
    if absent := missing(extra):
        raise ImportError(
            f'{what} needs {", ".join(absent)}: pip install "mct[{extra}]" (which is {" ".join(PACKAGES[extra])})'
        )
    for requirement in PACKAGES[extra]:
        package, _, wanted = requirement.partition("==")
        try:
            installed = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue  # TensorFlow comes under several names
        if installed.split("+")[0] != wanted:
            logging.getLogger("mct").warning(
                'importing with %s %s; tested with %s: pip install "mct[%s]"', package, installed, wanted, extra
            )
