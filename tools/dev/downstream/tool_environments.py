# SPDX-License-Identifier: Apache-2.0
"""Where the consumers of our networks live: one environment each, below `build/downstream/env`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import measure
import python_environments

# MCT_DOWNSTREAM_DIR: environments that several checkouts share.
ROOT = Path(os.environ.get("MCT_DOWNSTREAM_DIR", measure.REPOSITORY / "build" / "downstream"))

# Exact versions: what they take and what they cost differs from one to the next.
PACKAGES = {
    "tosa": ["tosa-tools==2026.8.0"],
    "vela": ["ethos-u-vela==5.2.0"],
    "iree": ["iree-base-compiler==3.13.0", "iree-base-runtime==3.13.0"],
    "mlsdk": ["ai-ml-sdk-model-converter==0.11.0"],
    "onnx": [
        "mct-quantizers==1.6.0",
        "onnx==1.23.2",
        "onnxruntime==1.32.0",
        "onnxruntime-extensions==0.15.2",
        "openvino==2026.4.1",
    ],
    "litert": ["ai-edge-litert==2.3.0"],
    "micro": ["tflite-micro==0.dev20261023182759"],
}
# The program without which an environment is none.
PROGRAMS = {
    "tosa": "tosa-opt",
    "vela": "vela",
    "iree": "iree-compile",
    "mlsdk": "model-converter",
    "onnx": "check-model",
    "litert": "litert-benchmark",
    # It has no program of its own.
    "micro": "python",
}


def folder(tool: str) -> Path:
    return ROOT / "env" / tool


def program(tool: str, name: str = "") -> Path | None:
    """A program of a tool, or nothing when the tool is not installed. The result of `--install` takes precedence over
    the PATH."""
    name = name or PROGRAMS[tool]
    installed = folder(tool) / "bin" / name
    if python_environments.is_installed(folder(tool)) and installed.exists():
        return installed
    if name == "python":
        return None  # the one on the PATH need not have the packages
    # Searches the same places as test_reference_model.py.
    given = shutil.which(name, path=os.environ.get("MCT_TOSA_TOOLS") if tool == "tosa" else None)
    # The Python that has the package lies beside its programs.
    return Path(given) if given and (Path(given).parent / "python").exists() else None


def install(tool: str) -> None:
    """Installs a tool unless it is there in this version. Raises RuntimeError with pip's output."""
    python_environments.install(folder(tool), PACKAGES[tool], "downstream")
