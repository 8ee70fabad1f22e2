# SPDX-License-Identifier: Apache-2.0
"""Every line of the package's pages runs, in order, in a folder with a model and images."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (extra images)")

PACKAGE = measure.REPOSITORY / "python"
README = (PACKAGE / "README.md").read_text()
PAGE = (measure.REPOSITORY / "docs" / "guide" / "python-package.md").read_text()
DATA = measure.REPOSITORY / "test" / "data"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALLS = r"^pip install .*$"


def write_images(folder: Path) -> None:
    """Digits, each in the folder of its class."""
    pixels, labels = np.load(DATA / "digits_test.npy")[:40], np.load(DATA / "digits_test_labels.npy")
    for number, digit in enumerate(pixels):
        path = folder / str(labels[number]) / f"{number:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        image.fromarray(digit[..., 0]).save(path)


def write_model(folder: Path, kind: str) -> None:
    if kind == "mlirbc":
        (folder / "model.mlirbc").write_bytes((DATA / "digits.mlirbc").read_bytes())
        return
    for module in ("tosa_converter_for_tflite", "ai_edge_litert"):
        pytest.importorskip(module, reason='the extra "tflite" is not installed (tools/dev/importers)')
    import importer_networks

    (folder / "model.tflite").write_bytes(importer_networks.resnet8_tflite(importer_networks.seeded_parameters()))


@pytest.mark.alternating
@pytest.mark.parametrize("kind", ["mlirbc", "tflite"])
@pytest.mark.parametrize("page", ["README", "PAGE"])
def test_every_line_runs(page: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "mlirbc" and importlib.util.find_spec("tosa_converter_for_tflite"):
        pytest.skip("the same lines run with a .tflite file here")
    write_model(tmp_path, kind)
    write_images(tmp_path / "images")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "mct").write_text(f'#!/bin/sh\nexec {sys.executable} -m mct "$@"\n')
    (tools / "mct").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    ran = 0
    for language, block in BLOCK.findall(globals()[page]):
        text = re.sub(INSTALLS, "", block, flags=re.MULTILINE).replace("model.tflite", f"model.{kind}")
        # The imported file has a name of its own.
        text = text.replace(f"model.{kind} -o model.mlirbc", f"model.{kind} -o imported.mlirbc")
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text, page, "exec"), namespace)
        else:
            environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
            finished = subprocess.run(
                ["bash", "-e", "-c", text], capture_output=True, text=True, check=False, env=environment
            )
            told = re.sub(r"\d+ of \d+ layers? in integers\n", "", finished.stderr)
            assert finished.returncode == 0 and told == "", f"{text}\n{told}"
        ran += 1
    assert (tmp_path / "q.mlirbc").exists() and (tmp_path / "report.html").exists()
    assert ran == 3 if page == "README" else ran > 8 and (tmp_path / "q.onnx").exists()


@pytest.mark.alternating
def test_the_console_writes_what_python_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_model(tmp_path, "mlirbc")
    write_images(tmp_path / "images")
    monkeypatch.chdir(tmp_path)
    model = mct.load("model.mlirbc")
    mct.quantize(model, target="imx500", data=mct.images("images", scale=1 / 16)).save("python.mlirbc")
    words = "quantize model.mlirbc --target imx500 --data images/ --scale 0.0625 -o console.mlirbc"
    subprocess.run([sys.executable, "-m", "mct", *words.split()], check=True)
    assert (tmp_path / "python.mlirbc").read_bytes() == (tmp_path / "console.mlirbc").read_bytes()


def test_what_it_says_of_installing_is_there() -> None:
    extras = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    table = PAGE.split("## Extras")[1]
    assert set(re.findall(r"`([\w-]+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)[1:]))) == set(extras)
    for text in (README, PAGE):
        lines = re.findall(INSTALLS, text, re.MULTILINE)
        assert len(lines) == 2
        for line in lines:
            for name in re.findall(r"\[([\w,]+)\]", line):
                assert set(name.split(",")) <= set(extras)
