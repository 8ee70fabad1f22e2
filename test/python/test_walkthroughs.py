# SPDX-License-Identifier: Apache-2.0
"""The pages docs/dev/add-*.md are followed step by step: files are written, differences applied, commands run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import measure
import pytest
from scratch_tree import BUILD, ScratchTree

PAGES = sorted((measure.REPOSITORY / "docs" / "dev").glob("add-*.md"))
# A file, an edit of a file, or commands.
BLOCK = re.compile(
    r"^```(?:\{code-block\} (?P<kind>\w+)\n:caption: (?P<path>\S+)\n\n|sh\n)(?P<text>.*?)^```$", re.M | re.S
)


def apply_difference(text: str, difference: str) -> str:
    """Replaces the lines that begin with `-` or a space, which the text has once, by those with `+` or a space."""
    lines = difference.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] != "+")
    new = "".join(line[1:] for line in lines if line[0] != "-")
    assert text.count(old) == 1, f"is {text.count(old)} times in the file:\n{old}"
    return text.replace(old, new)


def steps(page: str) -> Iterator[tuple[str, str, str]]:
    """Yields kind ("diff", "sh", or a language), path and text of every block that a reader acts on, in their order."""
    # A block of code may show one in its text; that one is indented.
    for match in BLOCK.finditer(page):
        yield match["kind"] or "sh", match["path"] or "", match["text"]


def environment(tree: ScratchTree) -> dict[str, str]:
    cache = (BUILD / "CMakeCache.txt").read_text()
    cmake = Path(re.search(r"^CMAKE_COMMAND:INTERNAL=(.*)$", cache, re.M)[1]).parent
    path = f"{tree.build / 'bin'}:{cmake}:{BUILD / 'venv' / 'bin'}:{os.environ['PATH']}"
    compiler = {"CC": "/usr/lib/llvm-22/bin/clang", "CXX": "/usr/lib/llvm-22/bin/clang++", "LDFLAGS": "-fuse-ld=lld"}
    return os.environ | compiler | {"PATH": path}


def follow(page: Path, tree: ScratchTree) -> None:
    for kind, name, text in steps(page.read_text()):
        path = tree.root / name
        if kind == "diff":
            path.write_text(apply_difference(path.read_text(), text))
        elif kind != "sh":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for line in text.splitlines() if kind == "sh" else ():
            if line.startswith("tools/dev/build "):
                tree.make(*shlex.split(line)[1:])
                continue
            command = ["bash", "-c", line]
            finished = subprocess.run(
                command, cwd=tree.root, env=environment(tree), capture_output=True, text=True, check=False
            )
            assert finished.returncode == 0, f"{line}\n{finished.stdout[-3000:]}\n{finished.stderr[-3000:]}"


def test_there_are_pages() -> None:
    assert [page.stem for page in PAGES] == [
        "add-a-diagnosis",
        "add-a-pass",
        "add-a-quantizer",
        "add-a-target",
        "add-an-op",
    ]


@pytest.mark.alternating
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_leads_to_its_result(tools: Path, tmp_path: Path, page: Path) -> None:
    tree = ScratchTree(tmp_path / "tree")
    # `cmake --install` and the command `mct` need these, too.
    for name in ("cmake_install.cmake", "python"):
        (tree.build / name).symlink_to(BUILD / name)
    follow(page, tree)
