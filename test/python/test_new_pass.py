# SPDX-License-Identifier: Apache-2.0
"""tools/dev/new_pass.py writes a pass that compiles, is listed in --help and passes its test and the lint."""

import subprocess
from pathlib import Path

import lint_tests
import pytest
from new_pass import Refused, with_source, write_pass
from scratch_tree import ScratchTree


@pytest.mark.alternating
def test_pass_builds_and_its_test_passes(tools: Path, tmp_path: Path) -> None:
    tree = ScratchTree(tmp_path / "tree")
    written = write_pass(tree.root, "mct-drop-identities", "Transforms")
    assert [path.name for path in written] == ["Passes.td", "CMakeLists.txt", "DropIdentities.cpp", "doc-example.mlir"]
    tree.make("mct-opt")
    tree.lit("Transforms/mct-drop-identities")
    text = subprocess.run([tree.build / "bin" / "mct-opt", "--help"], capture_output=True, text=True, check=True).stdout
    assert "--mct-drop-identities " in text
    assert [message for _, _, message in lint_tests.lint(tree.root) if "mct-drop-identities" in message] == []


@pytest.mark.parametrize(
    "flag, library, message",
    [
        ("fold", "Transforms", "'fold' is no flag of a pass; expected 'mct-'"),
        ("mct-Fold", "Transforms", "'mct-Fold' is no flag of a pass"),
        ("mct-fold", "Nothing", "there is no library of passes 'Nothing'; there are Conversion, Transforms"),
        ("mct-fold-constants", "Transforms", "lib/Transforms/FoldConstants.cpp exists already"),
    ],
)
def test_refusal_writes_nothing(tmp_path: Path, flag: str, library: str, message: str) -> None:
    for name in ("Conversion", "Transforms"):
        folder = tmp_path / "include" / "mct" / name
        folder.mkdir(parents=True)
        (folder / "Passes.td").write_text("#endif\n")
    (tmp_path / "lib" / "Transforms").mkdir(parents=True)
    (tmp_path / "lib" / "Transforms" / "FoldConstants.cpp").touch()
    with pytest.raises(Refused, match=message):
        write_pass(tmp_path, flag, library)
    assert not (tmp_path / "test").exists()
    assert (tmp_path / "include" / "mct" / "Transforms" / "Passes.td").read_text() == "#endif\n"


@pytest.mark.parametrize("source, place", [("A.cpp", 1), ("Both.cpp", 2), ("Zero.cpp", 3)])
def test_sources_stay_in_order(source: str, place: int) -> None:
    lines = with_source("add(Name\n  Aa.cpp\n  Bz.cpp\n  LINK Other)\n", source).splitlines()
    assert lines[place] == f"  {source}"
