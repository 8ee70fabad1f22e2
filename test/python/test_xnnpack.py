# SPDX-License-Identifier: Apache-2.0
"""tools/dev/xnnpack: what it refuses, and a real run where LiteRT is installed and MCT_TFLITE names an int8 network."""

import json
import os
import subprocess
import sys

import measure
import pytest

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "downstream"))

import tool_environments

XNNPACK = measure.REPOSITORY / "tools" / "dev" / "xnnpack"
NETWORK = measure.DIGITS / "integer.mlir"
# Takes two images at once.
PAIRS = """
func.func @main(%a: tensor<2x4xi8>) -> tensor<2x4xi8> {
  return %a : tensor<2x4xi8>
}
"""
FLOATS = """
func.func @main(%a: tensor<1x4xf32>) -> tensor<1x4xf32> {
  return %a : tensor<1x4xf32>
}
"""


def call(*arguments, **environment):
    command = [sys.executable, XNNPACK, *arguments]
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


@pytest.fixture
def model(tmp_path):
    """Begins as a .tflite does, and is none."""
    path = tmp_path / "model.tflite"
    path.write_bytes(b"\x1c\x00\x00\x00TFL3" + bytes(64))
    return path


@pytest.fixture
def litert():
    """Python of its environment."""
    program = tool_environments.program("litert")
    if not program:
        pytest.skip("LiteRT is not installed (tools/dev/xnnpack --install)")
    return program


def test_wrong_arguments_are_one_clear_error(model, tmp_path):
    for arguments, message in (
        ([], "name a network and a .tflite"),
        ([NETWORK], "name a network and a .tflite"),
        ([NETWORK, model, "--images", "0"], "at least 1"),
        ([NETWORK, model, "--rounds", "x"], "invalid int value"),
    ):
        finished = call(*arguments)
        assert finished.returncode == 2, arguments
        assert message in finished.stderr


def test_files_that_are_none_are_one_clear_error(model, tmp_path):
    for arguments, message in (
        ([tmp_path / "no.mlir", model], "no.mlir: no such file"),
        ([NETWORK, tmp_path / "no.tflite"], "no.tflite: no such file"),
        ([NETWORK, NETWORK], "integer.mlir: not a .tflite file"),
        ([NETWORK, model, "--json", tmp_path / "none" / "r.json"], "none: no such folder"),
    ):
        finished = call(*arguments)
        assert finished.returncode == 1, arguments
        assert finished.stdout == ""
        assert message in finished.stderr


def test_missing_tool_says_how_to_install_it(model, tmp_path):
    finished = call(NETWORK, model, MCT_DOWNSTREAM_DIR=tmp_path, PATH="/usr/bin")
    assert finished.returncode == 1
    assert "LiteRT is not installed; tools/dev/xnnpack --install does it" in finished.stderr


def test_networks_that_take_no_codes_are_refused(model, tools, litert, tmp_path):
    for text, message in (
        ("func.func", "other.mlir"),
        (PAIRS, "has a batch of 2, and single images are timed"),
        (FLOATS, "has the inputs 1x4xf32, and one of i8 is timed"),
    ):
        network = tmp_path / "other.mlir"
        network.write_text(text)
        finished = call(network, model)
        assert finished.returncode == 1, text
        assert message in finished.stderr


def test_model_that_litert_refuses_is_one_clear_error(model, tools, litert):
    finished = call(NETWORK, model, "--images", "1", "--rounds", "1")
    assert finished.returncode == 1
    assert finished.stderr.startswith("xnnpack: "), finished.stderr
    assert "Traceback" not in finished.stderr


def test_both_are_timed(tools, litert, tmp_path):
    model = os.environ.get("MCT_TFLITE", "")
    if not model:
        pytest.skip("MCT_TFLITE names no .tflite of one int8 input, and MCT_TFLITE_SHAPE none of its shape (1x32x32x3)")
    network = tmp_path / "network.mlir"
    shape = os.environ.get("MCT_TFLITE_SHAPE", "1x32x32x3")
    network.write_text(PAIRS.replace("2x4", shape))
    results = tmp_path / "results.json"
    finished = call(network, model, "--images", "20", "--rounds", "3", "--json", results)
    assert finished.returncode == 0, finished.stderr
    found = json.loads(results.read_text())
    assert all(len(found[name]) == 3 and min(found[name]) > 0 for name in ("mct-run", "xnnpack"))
    assert finished.stdout.splitlines()[-1].startswith("| network | ")
