# SPDX-License-Identifier: Apache-2.0
"""Runs lints, GoogleTest binaries, lit and pytest over a finished build and sums their results; see tools/dev/check."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import multiprocessing
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
RESULTS = BUILD / "check"
WRITTEN = BUILD / "written"  # by the tools in lit tests
LLVM = Path("/usr/lib/llvm-22/bin")
# Seconds that a check has, with the build. clang-tidy takes what the other steps leave of them, and at least a minute:
# without a cache that is enough for a part of the sources, those that have changed last.
CHECK_SECONDS = 1700
LEAST_TIDY_SECONDS = 60
# Random networks of one check: a part of those that the tests make by themselves, for each commit another one.
RANDOM = {
    "MCT_RANDOM_NETWORKS": "20",
    "MCT_RANDOM_INTEGERS": "20",
    "MCT_RANDOM_TARGETS": "30",
    "MCT_RANDOM_GRAPHS": "50",
}
RANDOM_PARTS = 6
# Each check builds one of so many parts of the unit tests with the sanitizers, and runs one of so many parts of them,
SANITIZED_BINARIES = 4
SANITIZED_TESTS = 2
# and one of so many parts of the tests in Python that are marked `alternating`.
ALTERNATING_PARTS = 8
# One more than there are cores: tests wait for programs that they start, and for a browser.
WORKERS = (os.cpu_count() or 1) + 1
# Workers of the tests in environments of others, in proportion to what they take.
IMPORTER_WORKERS = {"small": max(1, (os.cpu_count() or 1) // 2), "torch": os.cpu_count() or 1}
# Each worker of pytest has one core: threads of libraries of others would wait actively for each other.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# Seconds that a check gives each test of a fuzzer: every commit looks at other files.
FUZZ = {"MCT_FUZZ_SECONDS": "8"}
# The fuzzers run where the sanitizers see what they do; pipelines that are run for their bytes are run by other tests.
FUZZERS = ("MctModuleFuzz", "MctTargetFuzz")
NOT_SANITIZED = "OutputDigests.*"
# Networks whose outputs are compared from context to context; by hand as many as one likes.
DIGESTS = {"MCT_DIGEST_NETWORKS": "2"}
LIT_PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
LIT_SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


# Tests and lints that were left out, each with the command that runs it.
left_out: list[tuple[str, str]] = []
# Names and output of GoogleTest binaries that failed. The summary repeats it, as logs are often cut to their end.
failed_output: list[tuple[str, str]] = []


class Tally(NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Tally) -> Tally:  # sums; NamedTuple's own + would concatenate
        return Tally(*(a + b for a, b in zip(self, other, strict=True)))

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def processor_seconds() -> float:
    """Returns the processor time of this process and of all processes that it has waited for."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in usage)


def verdict(ok: bool) -> Tally:
    return Tally(passed=1) if ok else Tally(failed=1)


def call(command: Sequence[str | Path], **options) -> int:
    return subprocess.run(
        list(map(str, command)), cwd=ROOT, stdin=subprocess.DEVNULL, check=False, **options
    ).returncode


def with_exit_status(tally: Tally, status: int, name: str) -> Tally:
    """A runner that found nothing, or failed without naming a failed test, is one failure more."""
    if sum(tally) == 0:
        print(f"{name}: no test was run")
        return Tally(failed=1)
    if status != 0 and tally.failed == 0:
        print(f"{name}: exit status {status}, although no test failed")
        return tally + Tally(failed=1)
    return tally


def source_files(*suffixes: str) -> list[str]:
    """Files that git tracks or would track, so that a new file is checked before its commit."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *(f"*{suffix}" for suffix in suffixes)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return sorted({line for line in listing.splitlines() if (ROOT / line).exists()})


def clang_format() -> Tally:
    files = source_files(".h", ".cpp")
    return verdict(not files or call([LLVM / "clang-format", "--dry-run", "-Werror", *files]) == 0)


def ruff_check() -> Tally:
    return verdict(call([BUILD / "venv/bin/ruff", "check", "--quiet", "."]) == 0)


def ruff_format() -> Tally:
    return verdict(call([BUILD / "venv/bin/ruff", "format", "--quiet", "--check", "--diff", "."]) == 0)


def mypy() -> Tally:
    """The Python package, as the build has put it together."""
    return verdict(call([BUILD / "venv/bin/mypy", "--config-file", "python/pyproject.toml"]) == 0)


def test_conventions() -> Tally:
    return verdict(call([sys.executable, "tools/dev/lint_tests.py"]) == 0)


def language() -> Tally:
    return verdict(call([sys.executable, "tools/dev/lint_language.py"]) == 0)


def sizes() -> Tally:
    return verdict(call([sys.executable, "tools/dev/lint_sizes.py"]) == 0)


def tidy_units() -> dict[str, list[str]]:
    """Returns the compiled files with their sources: themselves, or those that a file of a unity build includes."""
    sources = set(source_files(".cpp"))
    units = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = os.path.relpath(entry["file"], ROOT)
        if path in sources:
            units[path] = [path]
        elif "Unity" in path and (ROOT / path).exists():
            included = re.findall(r'^#include "(.+)"$', (ROOT / path).read_text(), re.MULTILINE)
            units[path] = [file for file in included if file in sources]
    return {unit: made_of for unit, made_of in units.items() if made_of}


def tidy_keys(units: Collection[str]) -> dict[str, str]:
    """For each file that is compiled a digest of all that its clang-tidy result depends on inside the repository.

    The files are those that the compiler reported to Ninja. What lies outside (LLVM's headers, the tool) is represented
    by the tool's version.
    """
    depends: dict[str, set[str]] = {}
    listing = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    for block in listing.split("\n\n"):
        files = {os.path.relpath(BUILD / line.strip(), ROOT) for line in block.splitlines()[1:]}
        inside = {file for file in files if not file.startswith("..")}
        for unit in inside.intersection(units):
            depends.setdefault(unit, set()).update(inside)
    commands = {
        os.path.relpath(entry["file"], ROOT): entry["command"].replace(str(ROOT), "")
        for entry in json.loads((BUILD / "compile_commands.json").read_text())
    }
    version = subprocess.run([LLVM / "clang-tidy", "--version"], check=True, capture_output=True).stdout
    keys = {}
    for unit in units:
        if unit not in depends:
            continue
        digest = hashlib.sha256(version + (ROOT / ".clang-tidy").read_bytes() + commands[unit].encode())
        for file in sorted(depends[unit]):
            # Generated files have the folder of the checkout in them.
            digest.update(file.encode() + b"\0" + (ROOT / file).read_bytes().replace(bytes(ROOT), b""))
        keys[unit] = digest.hexdigest()
    return keys


def clang_tidy(seconds: float) -> Tally:
    """All C++ sources that are built, those that changed last first. Clean results are remembered by content.

    Headers take most of the time, so that sources that are compiled together are looked at together. On a new machine
    those are left out for which `seconds` do not suffice.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "mct-clang-tidy"
    cache.mkdir(parents=True, exist_ok=True)
    units = tidy_units()
    keys = tidy_keys(units)
    order = change_order()
    pending = [unit for unit, key in keys.items() if not (cache / key).exists()]
    pending.sort(key=lambda unit: min(map(order, units[unit])))
    count = sum(len(units[unit]) for unit in keys)
    print(f"{count - sum(len(units[unit]) for unit in pending)} of {count} files known to be clean")
    end = time.monotonic() + float(os.environ.get("MCT_TIDY_SECONDS", seconds))
    late: list[str] = []

    def tidy(unit: str) -> bool:
        if time.monotonic() > end:
            late.extend(units[unit])
            return True
        # A file of a unity build includes sources, whose own headers come first; clang-format sorts the others.
        checks = [] if units[unit] == [unit] else ["--checks=-bugprone-suspicious-include,-llvm-include-order"]
        result = subprocess.run(
            [LLVM / "clang-tidy", "--quiet", "-p", BUILD, *checks, ROOT / unit],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode == 0:
            (cache / keys[unit]).touch()
        else:
            print(f"{unit}:\n{result.stdout}{result.stderr}", flush=True)
        return result.returncode == 0

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        result = verdict(all(list(pool.map(tidy, pending))))
    if late:
        leave_out(f"clang-tidy of {len(late)} files", "MCT_TIDY_SECONDS=3600 tools/dev/check --lint")
        result += Tally(skipped=1)
    return result


def unused_names() -> Tally:
    """Using-declarations and namespace aliases that nothing uses: clang-tidy knows them of sources compiled alone."""
    clean = True
    for name in source_files(".cpp"):
        text = re.sub(r"//.*", "", (ROOT / name).read_text())
        declared = re.findall(r"^\s*using (?:\w+::)+(\w+);", text, re.MULTILINE)
        declared += re.findall(r"^\s*namespace (\w+) =", text, re.MULTILINE)
        for each in declared:
            if len(re.findall(rf"\b{each}\b", text)) < 1 + declared.count(each):
                print(f"{name}: nothing uses '{each}'")
                clean = False
    return verdict(clean)


def change_order() -> Callable[[str], tuple[int, str]]:
    """A key that sorts files by their last change: what is not committed, then by commit, the last one first."""
    listing = subprocess.run(
        ["git", "log", "--format=", "--name-only", "--no-renames", "-n", "500"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    ).stdout
    places = {name: index for index, name in reversed(list(enumerate(listing.split("\n"))))}
    edited = subprocess.run(
        ["git", "diff", "--name-only", "HEAD"], cwd=ROOT, check=False, capture_output=True, text=True
    ).stdout.split("\n")
    return lambda name: (-1 if name in edited else places.get(name, len(listing)), name)


def documentation() -> Tally:
    """The site without warnings; links inside of it lead somewhere."""
    if not (BUILD / "docs-venv/installed.txt").exists():
        print("what builds the site is not installed (tools/dev/setup docs)")
        return Tally(skipped=1)
    return verdict(call(["tools/dev/docs"]) == 0)


def fuzz_seed() -> str:
    """The seed of the fuzzers, which they print: `MCT_FUZZ_SEED` where it is set, else a part of the commit's hash.

    Each commit looks at other files; who checks a commit again looks at the same.
    """
    given = os.environ.get("MCT_FUZZ_SEED")
    if given:
        return given
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, check=False, capture_output=True, text=True
    ).stdout.strip()
    return str(int(commit[:8], 16)) if commit else "1"


def part_of_commit() -> str:
    """Returns the part K/N of the tests marked `alternating` that this commit runs."""
    return f"{int(fuzz_seed()) % ALTERNATING_PARTS}/{ALTERNATING_PARTS}"


def google_test() -> Tally:
    first = str(1 + 50 * (int(fuzz_seed()) % RANDOM_PARTS))
    leave_out("most of the random networks", "build/unit/MctRandomNetworkTests; build/unit/MctRandomTargetTests")
    return run_google_tests(BUILD / "unit", "", DIGESTS | RANDOM | {"MCT_RANDOM_SEED": first}, leaving_out=FUZZERS)


def fuzzers() -> Tally:
    """The fuzzers without sanitizers, where those are left out."""
    return run_google_tests(BUILD / "unit", "", FUZZ | {"MCT_FUZZ_SEED": fuzz_seed()}, only=FUZZERS) + Tally(skipped=1)


def sanitized() -> list[str]:
    """Returns the tests that a check of this commit builds with the sanitizers: the fuzzers and a part of the others.

    `MCT_SANITIZE_ALL`: all of them. They are those of the first build.
    """
    names = sorted(binary.name for binary in (BUILD / "unit").glob("*") if os.access(binary, os.X_OK))
    others = [name for name in names if name not in FUZZERS]
    if not os.environ.get("MCT_SANITIZE_ALL"):
        others = others[int(fuzz_seed()) % SANITIZED_BINARIES :: SANITIZED_BINARIES]
    return [*FUZZERS, *others]


def sanitizers() -> Tally:
    """The fuzzers, and an eighth of the unit tests once more, with the address and undefined-behaviour sanitizers.

    The commit determines the eighth, and the seed of the fuzzers: some twenty commits see all of them, more or less,
    and who checks a commit again sees the same.
    """
    # MLIR's allocators poison memory in what we inline from their headers, and do not unpoison it in the
    # distribution's library, which is not instrumented. Memory that LLVM keeps until the process ends is not a leak of
    # this project. Too much memory is refused, as it is elsewhere.
    asan = "allow_user_poisoning=0:detect_leaks=0:allocator_may_return_null=1"
    options = {"ASAN_OPTIONS": asan, "UBSAN_OPTIONS": "print_stacktrace=1", "MCT_FUZZ_SEED": fuzz_seed()}
    options |= RANDOM | FUZZ
    folder = BUILD / "sanitize/unit"
    fuzzed = run_google_tests(folder, "sanitize-", options, only=FUZZERS)
    if not os.environ.get("MCT_SANITIZE_ALL"):
        part = int(fuzz_seed()) // SANITIZED_BINARIES % SANITIZED_TESTS
        print(f"part {part + 1} of {SANITIZED_TESTS} of {', '.join(sanitized())}")
        options |= {"GTEST_TOTAL_SHARDS": str(SANITIZED_TESTS), "GTEST_SHARD_INDEX": str(part)}
        leave_out("seven eighths of the sanitized tests", "MCT_SANITIZE_ALL=1 tools/dev/check")
    options |= {"GTEST_FILTER": f"-{NOT_SANITIZED}"}
    return fuzzed + run_google_tests(folder, "sanitize-", options, only=set(sanitized()) - set(FUZZERS))


def round_trip() -> Tally:
    """Reads back the files that the tools wrote in lit tests."""
    environment = dict(os.environ, MCT_ROUND_TRIP_DIR=str(WRITTEN))
    command = [BUILD / "unit/MctRoundTripTests", "--gtest_brief=1", "--gtest_filter=RoundTrip.WhatTestsWrite"]
    return verdict(call(command, env=environment) == 0)


def run_google_tests(
    folder: Path,
    prefix: str,
    environment: dict[str, str],
    leaving_out: Collection[str] = (),
    only: Collection[str] = (),
) -> Tally:
    """As many at once as there are cores, for most of them have one thread; each prints when it is done."""

    def run(binary: Path) -> Tally:
        report = RESULTS / f"{prefix}{binary.name}.json"
        finished = subprocess.run(
            [binary, "--gtest_brief=1", f"--gtest_output=json:{report}"],
            cwd=ROOT,
            env=dict(os.environ, **environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        print(f"-- {binary.name}\n{finished.stdout}", end="", flush=True)
        if finished.returncode != 0:
            failed_output.append((prefix + binary.name, finished.stdout))
        one = Tally()
        if report.exists():
            for suite in json.loads(report.read_text())["testsuites"]:
                for test in suite["testsuite"]:
                    skipped = test["status"] == "NOTRUN" or test["result"] in ("SKIPPED", "SUPPRESSED")
                    one += Tally(skipped=1) if skipped else verdict(not test.get("failures"))
        if environment.get("GTEST_TOTAL_SHARDS") and finished.returncode == 0 and sum(one) == 0:
            return one  # all of its tests are in other parts
        return with_exit_status(one, finished.returncode, binary.name)

    binaries = [
        binary
        for binary in folder.glob("*")
        if binary.is_file() and os.access(binary, os.X_OK)
        if binary.name in only or (not only and binary.name not in leaving_out)
    ]
    # The large ones take longest, more or less.
    binaries.sort(key=lambda binary: (-binary.stat().st_size, binary.name))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return with_exit_status(sum(pool.map(run, binaries), Tally()), 0, f"GoogleTest in {folder}")


def lit() -> Tally:
    report = RESULTS / "lit.json"
    shutil.rmtree(WRITTEN, ignore_errors=True)
    WRITTEN.mkdir()
    status = call(
        [
            sys.executable,
            LLVM / "lit",
            "-sv",
            "--no-progress-bar",
            "--show-unsupported",
            f"--output={report}",
            BUILD / "test",
        ],
        env=dict(os.environ, MCT_ROUND_TRIP_DIR=str(WRITTEN)),
    )
    tally = Tally()
    if report.exists():
        for test in json.loads(report.read_text())["tests"]:
            code = test["code"]
            tally += Tally(skipped=1) if code in LIT_SKIPPED else verdict(code in LIT_PASSED)
    return with_exit_status(tally, status, "lit")


def pytest() -> Tally:
    report = RESULTS / "pytest.xml"
    # A file's tests share what they have quantized.
    parallel = ["-n", str(WORKERS), "--dist", "loadfile"]
    options = ["-q", "-rs", "-p", "no:cacheprovider", "-m", "not thorough", f"--junit-xml={report}", *parallel]
    options.append(f"--part={part_of_commit()}")
    leave_out(
        "seven eighths of the tests marked as alternating",
        "build/venv/bin/python -m pytest -m alternating test/python; tools/dev/importers --no-install small torch",
    )
    status = call([sys.executable, "-m", "pytest", *options, "test/python"], env=dict(os.environ, **ONE_THREAD))
    return with_exit_status(pytest_tally(report), status, "pytest")


def importers() -> Tally:
    """The Python package's tests that need converters of others, or PyTorch: in two environments, at the same time.

    Each worker loads them anew, so that few workers of each environment take less time than more.
    """
    with ThreadPoolExecutor() as pool:
        return sum(pool.map(run_in_environment, IMPORTER_WORKERS.items()), Tally())


def run_in_environment(environment: tuple[str, int]) -> Tally:
    name, workers = environment
    report = RESULTS / f"importers-{name}.xml"
    options = ["--no-install", f"--part={part_of_commit()}", f"--workers={workers}", f"--junit-xml={report}"]
    command = [sys.executable, "tools/dev/importers", name, *options]
    finished = subprocess.run(
        command,
        cwd=ROOT,
        env=dict(os.environ, **ONE_THREAD, **FUZZ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(finished.stdout, end="", flush=True)
    if finished.returncode == 0 and not report.exists():
        leave_out(f"tests in the environment '{name}'", f"build/venv/bin/python tools/dev/importers {name}")
        return Tally(skipped=1)
    return with_exit_status(pytest_tally(report), finished.returncode, f"importers {name}")


def leave_out(what: str, command: str) -> None:
    left_out.append((what, command))


def list_left_out() -> None:
    """Prints what no step has run, and what would."""
    python = "build/venv/bin/python"
    for name, what in {"iree": "IREE", "mlsdk": "the ML SDK converter", "litert": "LiteRT"}.items():
        if not (BUILD / "downstream/env" / name / "installed.txt").exists():
            leave_out(f"tests with {what}", f"{python} tools/dev/downstream --install {name}, then the check")
    if not (BUILD / "importers/keras/installed.txt").exists():
        leave_out("the importer of Keras", f"{python} tools/dev/importers keras")
    elif not (RESULTS / "importers-keras.xml").exists():
        leave_out("the importer of Keras", f"{python} tools/dev/importers keras --no-install")
    if not list((BUILD / "wheel").glob("*.whl")):
        leave_out("the wheel", f"tools/dev/wheel && {python} -m pytest test/python/test_package_wheel.py")
    if not os.environ.get("MCT_TFLITE"):
        leave_out("timings against XNNPACK", f"{python} tools/dev/xnnpack NETWORK MODEL.tflite")
    leave_out("tests marked as thorough", f"{python} -m pytest -m thorough test/python; tools/dev/importers --thorough")
    width = max((len(what) for what, _ in left_out), default=0)
    for what, command in left_out:
        print(f"left out: {what:<{width}}  {command}")


def pytest_tally(report: Path) -> Tally:
    tally = Tally()
    if report.exists():
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            count = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
            failed = count["failures"] + count["errors"]
            tally += Tally(count["tests"] - failed - count["skipped"], failed, count["skipped"])
    return tally


Step = Callable[[], Tally]


class Result(NamedTuple):
    """Holds what a step has found and printed, and what it has added to `left_out` and `failed_output`."""

    name: str
    tally: Tally
    output: str
    seconds: float = 0.0
    processor: float = 0.0
    left_out: Sequence[tuple[str, str]] = ()
    failed_output: Sequence[tuple[str, str]] = ()


def run_step(step: Step) -> Result:
    """Runs a step in a process of its own, as it redirects what this process and those that it starts print."""
    with tempfile.TemporaryFile("w+", errors="replace") as printed, open(1, "w", buffering=1, closefd=False) as lines:
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
        left_out.clear()
        failed_output.clear()
        start, processor_start = time.monotonic(), processor_seconds()
        with contextlib.redirect_stdout(lines), contextlib.redirect_stderr(lines):
            try:
                tally = step()
            except Exception:
                traceback.print_exc()
                tally = Tally(failed=1)
        taken, processor = time.monotonic() - start, processor_seconds() - processor_start
        printed.seek(0)
        output = printed.read()
    return Result(step.__name__, tally, output, taken, processor, left_out, failed_output)


def run_lanes(lanes: Sequence[Sequence[Step]]) -> Iterator[Result]:
    """Runs the steps of each lane one after the other and the lanes at the same time; returns results as they come.

    Most steps end with a test or two that leave a core idle, which the steps of another lane take. Each lane has a
    process of its own. One that ends before its last step has failed in the step that it was in.
    """
    fork = multiprocessing.get_context("fork")

    def run(lane: Sequence[Step], sender: Connection) -> None:
        for step in lane:
            sender.send(run_step(step))

    pending: dict[Connection, list[Step]] = {}
    processes = []
    for lane in lanes:
        receiver, sender = fork.Pipe(duplex=False)
        processes.append(fork.Process(target=run, args=(lane, sender)))
        processes[-1].start()
        sender.close()
        pending[receiver] = list(lane)
    while pending:
        for receiver in wait(list(pending)):
            steps = pending[receiver]
            try:
                yield receiver.recv()
                steps.pop(0)
            except EOFError:
                del pending[receiver]
                if steps:
                    yield Result(steps[0].__name__, Tally(failed=1), "the step ended before it was done\n")
    for process in processes:
        process.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-tidy", action="store_true", help="leave out clang-tidy")
    parser.add_argument("--no-sanitizers", action="store_true", help="count the sanitized unit tests as skipped")
    parser.add_argument("--lint", action="store_true", help="run the lints and no test")
    parser.add_argument("--list-sanitized", action="store_true", help="print the sanitized tests to build, no more")
    parser.add_argument("--taken", type=float, default=0.0, help="seconds that the check has taken before")
    options = parser.parse_args()
    if options.list_sanitized:
        print(*sanitized())
        return 0
    end = time.monotonic() + CHECK_SECONDS - options.taken
    RESULTS.mkdir(parents=True, exist_ok=True)
    for old in RESULTS.iterdir():  # a runner that dies must not be judged by an earlier report
        old.unlink()

    def tidy() -> Tally:
        return clang_tidy(max(LEAST_TIDY_SECONDS, end - time.monotonic()))

    steps: list[Step] = [clang_format, ruff_check, ruff_format, mypy, test_conventions, language, sizes, unused_names]
    others: list[Step] = []
    if not options.lint:
        steps += [documentation, lit, round_trip, pytest]
        others += [google_test, fuzzers if options.no_sanitizers else sanitizers, importers]
    if not options.no_tidy:
        others.append(tidy)
    total = Tally()
    summary = []
    for result in run_lanes([steps, others]):
        print(f"== {result.name}\n{result.output}", end="", flush=True)
        time_taken = f"{result.seconds:.0f} s, {result.processor:.0f} s of processors"
        summary.append(f"{result.name:<16} {result.tally}  ({time_taken})")
        total += result.tally
        left_out.extend(result.left_out)
        failed_output.extend(result.failed_output)
    for name, output in failed_output:
        print(f"\n== {name} failed; it ended with\n" + "\n".join(output.splitlines()[-60:]))
    print("\n".join(["", *summary, ""]))
    if options.no_tidy:
        leave_out("clang-tidy", "tools/dev/check --lint")
    if options.no_sanitizers:
        leave_out("the sanitizers, but for the fuzzers", "tools/dev/check, with a compiler cache")
    if not options.lint:
        list_left_out()
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
