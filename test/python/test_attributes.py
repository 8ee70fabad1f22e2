# SPDX-License-Identifier: Apache-2.0
"""The examples in the descriptions of the attributes parse, and frozen bytecode has every attribute and op."""

import re
import subprocess
from pathlib import Path

import pytest
from lint_tests import attribute_examples

DIALECT = Path(__file__).resolve().parents[2] / "tpc_dialect" / "IR"
ATTRIBUTES = "\n".join(path.read_text() for path in sorted(DIALECT.glob("Tpc*Attributes.td")))
EXAMPLES = [
    pytest.param(mnemonic, example, id=f"{mnemonic}-{i}")
    for mnemonic, _, examples in attribute_examples(ATTRIBUTES)
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


def test_frozen_bytecode_has_every_attribute_and_op():
    """An attribute without a frozen file could change its form unnoticed (test/tpc_dialect/frozen-bytecode.test)."""
    texts = (DIALECT.parents[1] / "test" / "tpc_dialect" / "Inputs" / "frozen").glob("*.mlir")
    frozen = "\n".join(path.read_text() for path in texts)
    mnemonics = {mnemonic for mnemonic, _, _ in attribute_examples(ATTRIBUTES)}
    ops = set(re.findall(r"Tpc_Op<\"(\w+)\"", (DIALECT / "TpcOps.td").read_text()))
    assert len(mnemonics) > 15
    assert len(ops) > 4
    assert {name for name in mnemonics if f"#tpc.{name}<" not in frozen} == set()
    assert {name for name in ops if f"tpc.{name} " not in frozen} == set()
