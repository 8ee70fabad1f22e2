# SPDX-License-Identifier: Apache-2.0
"""The README is short, its commands and its Python run and print what it shows, and its links lead somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import measure
import pytest
from printed import is_shown

README = measure.REPOSITORY / "README.md"
TEXT = README.read_text()
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= 150


def test_every_link_leads_to_a_file() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#([\w-]+))?\)", TEXT)
    assert len(links) > 20
    for path, anchor in links:
        assert (measure.REPOSITORY / path).exists(), path
        if anchor:
            titles = re.findall(r"^#+ (.*)$", (measure.REPOSITORY / path).read_text(), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles], anchor


def test_pictures_are_small() -> None:
    pictures = list((measure.REPOSITORY / "docs" / "_static").iterdir())
    assert pictures and all(picture.stat().st_size < 100_000 for picture in pictures)


@pytest.mark.skipif(
    not all(importlib.util.find_spec(module) for module in ("mct", "vl_convert")),
    reason="the package is not built, or the extra report is missing",
)
def test_the_examples_print_what_is_shown(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "test").symlink_to(measure.REPOSITORY / "test")
    (tmp_path / "build").mkdir()
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
    commands = {"sh": ["bash", "-e", "-c"], "python": [sys.executable, "-c"]}
    printed, ran = "", 0
    for language, text in FENCE.findall(TEXT):
        if language in commands:
            command = [*commands[language], text]
            finished = subprocess.run(
                command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            assert finished.returncode == 0, f"{text}\n{finished.stderr[-2000:]}"
            printed, ran = finished.stdout, ran + 1
        elif printed:
            for line in text.splitlines():
                assert is_shown(line, printed), f"{line!r} is not in what was printed:\n{printed}"
            printed = ""
    assert ran == 2
