# SPDX-License-Identifier: Apache-2.0
"""Where the consumers of our networks live: one environment each, below `build/downstream/env`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import measure

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
}


def folder(tool: str) -> Path:
    return ROOT / "env" / tool


def program(tool: str, name: str = "") -> Path | None:
    """A program of a tool, or nothing when the tool is not installed. What `--install` did goes before the PATH."""
    name = name or PROGRAMS[tool]
    installed = folder(tool) / "bin" / name
    if (folder(tool) / "installed.txt").exists() and installed.exists():
        return installed
    # As test_reference_model.py finds it.
    given = shutil.which(name, path=os.environ.get("MCT_TOSA_TOOLS") if tool == "tosa" else None)
    # The Python that has the package lies beside its programs.
    return Path(given) if given and (Path(given).parent / "python").exists() else None


def install(tool: str) -> None:
    """Installs a tool unless it is there in this version. RuntimeError says what pip said."""
    stamp = folder(tool) / "installed.txt"
    wanted = "\n".join(PACKAGES[tool]) + "\n"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"downstream: installing {' '.join(PACKAGES[tool])} into {folder(tool)}", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder(tool)], check=True)
    python = folder(tool) / "bin" / "python"
    finished = measure.run(
        [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-compile", *PACKAGES[tool]]
    )
    if finished.returncode != 0:
        raise RuntimeError(f"pip cannot install {' '.join(PACKAGES[tool])}:\n{finished.stderr}")
    # Written last: an interrupted installation starts again.
    stamp.write_text(wanted)
