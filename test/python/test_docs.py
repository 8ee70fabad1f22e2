# SPDX-License-Identifier: Apache-2.0
"""Commands and Python in the pages of docs/ run, from top to bottom of each page, and links lead somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import measure
import pytest

DOCS = measure.REPOSITORY / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md"))
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Commands that install or that change the shell of the reader.
NOT_RUN = ("tools/dev/", "source ", "pip install")

pytestmark = pytest.mark.skipif(
    not all(importlib.util.find_spec(module) for module in ("mct", "vl_convert")),
    reason="the package is not built, or the extra report is missing",
)


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(language, text) for language, text in FENCE.findall(page.read_text()) if language in ("sh", "python")]


def run(command: list[str], work: Path, environment: dict[str, str], shown: str) -> None:
    finished = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, f"{shown}\n{finished.stderr[-2000:]}"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_what_a_page_shows_runs(tools: Path, tmp_path: Path, page: Path) -> None:
    (tmp_path / "test").symlink_to(measure.REPOSITORY / "test")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "lib").symlink_to(tools.parent / "lib")
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
    # Later blocks of Python use the names of earlier ones; no page has commands behind its Python.
    script = "".join(text for language, text in blocks(page) if language == "python")
    for language, text in blocks(page):
        if language == "python":
            break
        for line in text.splitlines():
            if line and not line.startswith(("#", *NOT_RUN)):
                run(["bash", "-c", line], tmp_path, environment, line)
    if script:
        run([sys.executable, "-c", script], tmp_path, environment, script)


def test_relative_links_lead_to_pages() -> None:
    """Pages of the reference are generated; the site's build checks those again, with headings."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec and spec.loader
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    generated = {DOCS / "reference" / f"{name}.md" for name in generate.PAGES}
    for page in PAGES:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            target = (page.parent / link).resolve()
            assert target.exists() or target in generated, f"{page.relative_to(DOCS)}: {link}"


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = set(re.findall(r"^([\w/-]+)$", (DOCS / "index.md").read_text(), re.MULTILINE))
    written = {str(page.relative_to(DOCS).with_suffix("")) for page in PAGES} - {"index"}
    assert written <= listed
