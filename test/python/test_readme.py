# SPDX-License-Identifier: Apache-2.0
"""The README's commands run, and it names every pass and tool there is."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import measure
import pytest

README = (measure.REPOSITORY / "README.md").read_text()
SECTIONS = README.split("## What there is")[1]
PROGRAMS = ("mct-opt ", "mct-run ", "mct-translate ", "mlir-opt-22 ", "mct ")
COMMANDS = [
    command
    for command in re.findall(r"\| `([^`]*)` \|$", SECTIONS, re.MULTILINE) + re.findall(r"^(mct-.*)$", SECTIONS, re.M)
    if command.startswith(PROGRAMS)
]


def test_every_command_runs(tools: Path, tmp_path: Path) -> None:
    """In order: later commands read what earlier ones wrote. The repository's `build` is replaced by a fresh folder."""
    console = tmp_path / "bin" / "mct"
    console.parent.mkdir()
    console.write_text(f'#!/bin/sh\nexec {sys.executable} -m mct "$@"\n')
    console.chmod(0o755)
    environment = os.environ | {"PATH": f"{measure.BIN}:{console.parent}:{os.environ['PATH']}"}
    work = tmp_path / "repository"
    work.mkdir()
    (work / "test").symlink_to(measure.REPOSITORY / "test")
    (work / "build" / "readme").mkdir(parents=True)
    (work / "build" / "lib").symlink_to(measure.BIN.parent / "lib")
    assert len(COMMANDS) > 15
    # The console command where the package is built, and can make pages.
    has_console = all(importlib.util.find_spec(module) for module in ("mct", "vl_convert"))
    for command in COMMANDS:
        if command.startswith("mct ") and not has_console:
            continue
        finished = subprocess.run(
            shlex.split(command), cwd=work, env=environment, capture_output=True, text=True, check=False
        )
        assert finished.returncode == 0, f"{command}\n{finished.stderr[-2000:]}"
    assert list((work / "build" / "readme" / "trace").rglob("*.mlir")), "the step-by-step command wrote no trace"


@pytest.mark.parametrize("tool", ["mct-opt", "mct-run", "mct-translate"])
def test_every_flag_of_ours_is_in_the_readme(tools: Path, tool: str) -> None:
    text = measure.run_ok([tools / tool, "--help"]).stdout
    ours = r"^  --([\w-]+)" if tool == "mct-run" else r"--((?:mct|tpc|import-tpc|export-tpc)-[\w-]+)"
    flags = set(re.findall(ours, text, re.MULTILINE))
    flags -= {"help", "help-list", "help-hidden", "help-list-hidden", "version", "print-options", "print-all-options"}
    # Options that mct-run shares with mct-ptq stand in the table of options.
    missing = [flag for flag in sorted(flags) if f"--{flag}" not in README and f"`{flag}" not in README]
    assert flags and not missing
