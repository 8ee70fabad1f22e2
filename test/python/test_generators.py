# SPDX-License-Identifier: Apache-2.0
"""The writer of TOSA text that tools/dev/train_digits.py and make_resnet50.py use."""

import re
import subprocess

import numpy as np
import pytest
from make_resnet50 import Builder
from tosa_text import TosaWriter


def test_float_constants_keep_their_bits(tmp_path):
    writer = TosaWriter((1, 2, 2, 3))
    values = np.array([0.1, -1e-40, 3.4028235e38], np.float32).reshape(1, 1, 1, 3)
    result = writer.binary("sum", "add", writer.input, writer.constant("values", values))
    path = tmp_path / "model.mlirbc"
    writer.write_bytecode(path, result)
    text = subprocess.run(["mlir-opt-22", path], check=True, capture_output=True, text=True).stdout
    printed = re.search(r"dense<\[\[\[\[(.*?)\]\]\]\]>", text)[1]
    assert np.array_equal(np.array(printed.split(", ")).astype(np.float32), values.ravel())


def test_window_that_does_not_fit_is_refused():
    writer = TosaWriter((1, 8, 8, 1))
    with pytest.raises(ValueError, match="exact window"):
        writer.pool("pool", "max_pool2d", writer.input, kernel=3, stride=2)


def test_names_are_unique():
    writer = TosaWriter((1, 8, 8, 1))
    writer.clamp("relu", writer.input)
    with pytest.raises(ValueError, match="twice"):
        writer.clamp("relu", writer.input)


def test_resnet50_has_the_size_it_claims():
    builder = Builder()
    result = builder.network()
    assert result.shape == (1, 1000)
    # ResNet-50 has 25.56 million parameters with its batch norms, two numbers a channel; folding leaves one.
    assert 25.4e6 < builder.parameters < 25.6e6
