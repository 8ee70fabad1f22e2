# SPDX-License-Identifier: Apache-2.0
"""The check counts what each of its steps finds. Its fuzzers look at other files for every commit, and at the same ones
when it is checked again."""

import importlib.util
import os
import subprocess
import sys
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
    monkeypatch.setitem(sys.modules, "run_checks", module)  # results are read back by the name of their class
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


def test_steps_of_all_lanes_are_counted_with_what_they_print_and_leave_out(checks):
    def first():
        print("printed")
        subprocess.run(["sh", "-c", "echo by a program; echo to the other stream >&2"], check=True)
        return checks.Tally(passed=2)

    def second():
        checks.leave_out("some tests", "command")
        return checks.Tally(skipped=1)

    def third():
        checks.failed_output.append(("third", "what it printed"))
        return checks.Tally(failed=3)

    results = {result.name: result for result in checks.run_lanes([[first, second], [third]])}
    assert {name: result.tally for name, result in results.items()} == {
        "first": checks.Tally(2, 0, 0),
        "second": checks.Tally(0, 0, 1),
        "third": checks.Tally(0, 3, 0),
    }
    assert sorted(results["first"].output.splitlines()) == ["by a program", "printed", "to the other stream"]
    assert results["second"].left_out == [("some tests", "command")] and not results["first"].left_out
    assert results["third"].failed_output == [("third", "what it printed")]


def test_a_step_that_raises_is_a_failure_and_the_next_one_runs(checks):
    def broken():
        raise ValueError("no such file")

    def next_one():
        return checks.Tally(passed=1)

    results = list(checks.run_lanes([[broken, next_one]]))
    assert [result.tally for result in results] == [checks.Tally(failed=1), checks.Tally(passed=1)]
    assert "ValueError: no such file" in results[0].output


def test_a_lane_that_ends_early_is_a_failure_of_its_step(checks):
    def killed():
        os._exit(0)

    def never():
        return checks.Tally(passed=1)

    results = list(checks.run_lanes([[killed, never], [never]]))
    assert sorted((result.name, result.tally.failed) for result in results) == [("killed", 1), ("never", 0)]
