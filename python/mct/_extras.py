# SPDX-License-Identifier: Apache-2.0
"""Optional packages, with the version of each that is tested here.

`python/pyproject.toml` lists the same packages as its extras; a test compares them.
"""

from __future__ import annotations

import importlib.util
import logging
import shlex
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

DISTRIBUTION = "mct-mlir"

PACKAGES: dict[str, tuple[str, ...]] = {
    "images": ("pillow==13.0.0",),
    "detection": ("pycocotools==2.0.11",),
    "report": ("fast-sugiyama==0.5.3", "vl-convert-python==1.9.0.post1"),
    "tflite": ("tosa-converter-for-tflite==2026.2.0", "flatbuffers>=25.2.10", "tflite==2.18.0"),
    "onnx": ("torch-mlir==20261001", "onnx==1.21.0", "onnxruntime==1.32.0"),
    "torch": ("torch==2.13.0", "executorch==1.5.1", "tosa-tools==2026.8.0"),
    "keras": ("tensorflow-cpu==2.21.0", "keras==3.15.1", "tosa-converter-for-tflite==2026.2.0"),
    "stablehlo": ("torch-mlir==20261001",),
    "jax": ("jax==0.10.2", "torch-mlir==20261001"),
    "tosa": ("tosa-tools==2026.8.0",),
    "ethos-u": ("ethos-u-vela==5.2.0", "tosa-tools==2026.8.0"),
    "dask": ("dask==2026.8.0", "distributed==2026.8.0"),
}
# Modules whose absence means that an importer's extra is not installed. They are located, never imported.
_MODULES = {
    "tflite": ("tosa_converter_for_tflite", "flatbuffers"),
    "onnx": ("torch_mlir", "onnx", "onnxruntime"),
    "torch": ("torch", "executorch", "tosa_tools_cli"),
    "keras": ("tensorflow", "keras", "tosa_converter_for_tflite"),
    "stablehlo": ("torch_mlir",),
    "jax": ("jax", "torch_mlir"),
}


def missing(extra: str) -> list[str]:
    """Returns the modules of an importer's extra that are not installed."""
    return [name for name in _MODULES[extra] if importlib.util.find_spec(name) is None]


def is_installed_by_pip() -> bool:
    """Returns whether this package comes from an installed distribution, not from a build tree."""
    try:
        located = metadata.distribution(DISTRIBUTION).locate_file("mct/_extras.py")
    except metadata.PackageNotFoundError:
        return False
    return Path(str(located)).resolve() == Path(__file__).resolve()


def install_command(extra: str) -> str:
    """Returns the shell command that installs an extra into this Python.

    pip knows the extra by name only where the package itself was installed by pip; elsewhere the command names the
    packages.
    """
    if is_installed_by_pip():
        return f'pip install "{DISTRIBUTION}[{extra}]"'
    return f"{shlex.quote(sys.executable)} -m pip install {shlex.join(PACKAGES[extra])}"


def require_modules(extra: str, modules: Sequence[str], what: str) -> None:
    """Raises ImportError with the command that installs `extra` where one of these modules of it is missing."""
    if absent := [name for name in modules if importlib.util.find_spec(name) is None]:
        raise ImportError(f"{what} needs {', '.join(absent)}: {install_command(extra)}")


def require(extra: str, what: str) -> None:
    """Raises ImportError with the command that installs `extra`, which `what` ("a .tflite file") needs.

    A version other than the pinned one is used after a warning: it may write MLIR that this package does not read.
    """
    require_modules(extra, _MODULES[extra], what)
    for requirement in PACKAGES[extra]:
        package, _, wanted = requirement.partition("==")
        try:
            installed = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue  # TensorFlow comes under several names
        if installed.split("+")[0] != wanted:
            logging.getLogger("mct").warning(
                "importing with %s %s; tested with %s: %s", package, installed, wanted, install_command(extra)
            )
