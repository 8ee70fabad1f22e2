# SPDX-License-Identifier: Apache-2.0
"""The fuzzers of the check look at other files for every commit, and at the same ones when it is checked again."""

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FUZZER = ROOT / "build/unit/MctTargetFuzz"


@pytest.fixture
def checks(monkeypatch):
    monkeypatch.delenv("MCT_FUZZ_SEED", raising=False)
    spec = importlib.util.spec_from_file_location("run_checks", ROOT / "tools/dev/run_checks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def commit(folder: Path) -> str:
    """An empty commit, and its hash."""
    identity = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.com"]
    subprocess.run(["git", "init", "-q", folder], check=True)
    command = ["git", *identity, "commit", "-q", "--allow-empty", "-m", "A commit"]
    subprocess.run(command, cwd=folder, check=True)
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_the_seed_is_that_of_the_commit(checks, monkeypatch, tmp_path):
    head = commit(tmp_path)
    monkeypatch.setattr(checks, "ROOT", tmp_path)
    assert checks.fuzz_seed() == str(int(head[:8], 16))
    assert checks.fuzz_seed() == checks.fuzz_seed()


def test_a_seed_that_is_given_goes_before(checks, monkeypatch):
    monkeypatch.setenv("MCT_FUZZ_SEED", "7")
    assert checks.fuzz_seed() == "7"


def test_without_a_commit_there_is_a_seed(checks, monkeypatch, tmp_path):
    monkeypatch.setattr(checks, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert checks.fuzz_seed() == "1"


@pytest.mark.skipif(not FUZZER.exists(), reason="MctTargetFuzz is not built")
def test_fuzzers_print_their_seed():
    environment = dict(os.environ, MCT_FUZZ_SEED="1234567", MCT_FUZZ_SECONDS="0")
    finished = subprocess.run([FUZZER, "--gtest_filter=*Text*"], env=environment, capture_output=True, text=True)
    assert "MCT_FUZZ_SEED=1234567\n" in finished.stdout
