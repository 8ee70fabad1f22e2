# SPDX-License-Identifier: Apache-2.0
"""The examples in the descriptions of the attributes are attributes."""

import re
import subprocess
from pathlib import Path

import pytest
from lint_tests import attribute_examples

ATTRIBUTES = Path(__file__).resolve().parents[2] / "tpc_dialect" / "IR" / "TpcAttributes.td"
EXAMPLES = [
    pytest.param(mnemonic, example, id=f"{mnemonic}-{i}")
    for mnemonic, _, examples in attribute_examples(ATTRIBUTES.read_text())
    for i, example in enumerate(examples)
]


@pytest.mark.parametrize(("mnemonic", "example"), EXAMPLES)
def test_example_parses_and_prints_as_its_attribute(tools, mnemonic, example):
    lines = example.strip().splitlines()
    aliases = [line for line in lines if re.match(r"\s*#\w+ = ", line)]
    value = "\n".join(line for line in lines if line not in aliases)
    module = "\n".join([*aliases, f"module attributes {{test.example = {value}}} {{}}"])
    result = subprocess.run([tools / "mct-opt", "-"], input=module, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{module}\n{result.stderr}"
    assert f"#tpc.{mnemonic}<" in result.stdout
