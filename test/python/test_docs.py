# SPDX-License-Identifier: Apache-2.0
"""Commands and Python in the pages of docs/ run, from top to bottom of each page, and links lead somewhere."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import corrections
import lint_language
import measure
import numpy as np
import pytest
import results
from printed import is_shown

DOCS = measure.REPOSITORY / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md"))
# Pages whose blocks need other files, or whose commands stand in a table: other tests run them.
RUN_ELSEWHERE = [DOCS / "guide" / "python-package.md", DOCS / "guide" / "commands.md"]
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Commands that install or that change the shell of the reader.
NOT_RUN = ("tools/dev/", "source ", "pip install")


def skip_without(*modules: str) -> None:
    if missing := [name for name in modules if not importlib.util.find_spec(name)]:
        pytest.skip(f"not installed or not built: {', '.join(missing)} (tools/dev/build, tools/dev/importers)")


def blocks(page: Path) -> list[tuple[str, str]]:
    if page.name.startswith("add-"):  # test_walkthroughs.py follows these, as they change the sources
        return []
    return [(language, text) for language, text in FENCE.findall(page.read_text()) if language in ("sh", "python")]


def run(command: list[str], work: Path, environment: dict[str, str], shown: str) -> str:
    finished = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, f"{shown}\n{finished.stderr[-2000:]}"
    return finished.stdout + finished.stderr


def needs(page: Path) -> list[str]:
    """A page may begin with what it needs beside the package: `<!-- needs: torch -->`. Others make pages of reports."""
    found = re.match(r"<!-- needs: (.*) -->", page.read_text())
    return found[1].split(", ") if found else ["vl_convert"]


def write_files(folder: Path, page: Path) -> None:
    """Writes the files that a page takes as the user's own."""
    if page.stem == "tflite-ethos-u":
        import importer_networks

        (folder / "network.tflite").write_bytes(importer_networks.resnet8_tflite(importer_networks.seeded_parameters()))
        images = np.random.default_rng(1).integers(0, 256, (64, 32, 32, 3), dtype=np.uint8)
        np.save(folder / "images.npy", images)
    if page.stem == "shapes":
        (folder / "tools").symlink_to(measure.REPOSITORY / "tools")
    if page.stem == "foreign-report":
        import importer_networks
        import tflite_quantizer

        network = importer_networks.resnet8_tflite(importer_networks.seeded_parameters())
        images = np.random.default_rng(1).integers(0, 3, (64, 32, 32, 3)).astype(np.float32)
        (folder / "network.tflite").write_bytes(network)
        (folder / "quantized.tflite").write_bytes(tflite_quantizer.quantize(network, images[:8], weight_bits=4))
        np.save(folder / "calibration.npy", images[:32])
        np.save(folder / "images.npy", images[32:])
        np.save(folder / "labels.npy", importer_networks.litert(network, images[32:]).argmax(1).astype(np.int32))


@pytest.mark.alternating
@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page) and page not in RUN_ELSEWHERE], ids=lambda page: page.stem
)
def test_what_a_page_shows_runs(tools: Path, tmp_path: Path, page: Path) -> None:
    skip_without("mct", *needs(page))
    (tmp_path / "test").symlink_to(measure.REPOSITORY / "test")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "lib").symlink_to(tools.parent / "lib")
    write_files(tmp_path, page)
    # The console command of the Python that runs the test, which has what the page needs.
    console = tmp_path / "bin" / "mct"
    console.parent.mkdir()
    console.write_text(f'#!/bin/sh\nexec {sys.executable} -m mct "$@"\n')
    console.chmod(0o755)
    environment = os.environ | {"PATH": f"{console.parent}:{tools}:{os.environ['PATH']}"}
    # Later blocks of Python use the names of earlier ones, and read what the commands of the page wrote.
    script = "".join(text for language, text in blocks(page) if language == "python")
    printed = ""
    for language, text in blocks(page):
        if language == "sh":
            lines = "".join(line for line in text.splitlines(True) if not line.startswith(NOT_RUN))
            printed += run(["bash", "-e", "-c", lines], tmp_path, environment, text)
    if script:
        printed += run([sys.executable, "-c", script], tmp_path, environment, script)
    for language, text in FENCE.findall(page.read_text()):
        for line in text.splitlines() if language == "output" else []:
            assert is_shown(line, printed), f"{line!r} is not in what the page prints:\n{printed}"


def load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec and spec.loader
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    return generate


def test_relative_links_lead_to_pages() -> None:
    """Pages of the reference are generated; the site's build checks those again, with headings."""
    generate = load_generator()
    generated = {DOCS / "reference" / f"{name}.md" for name in generate.PAGES}
    for page in PAGES:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", CODE.sub("", page.read_text())):
            target = (page.parent / link).resolve()
            assert target.exists() or target in generated, f"{page.relative_to(DOCS)}: {link}"


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = set(re.findall(r"^([\w/-]+)$", (DOCS / "index.md").read_text(), re.MULTILINE))
    written = {str(page.relative_to(DOCS).with_suffix("")) for page in PAGES} - {"index"}
    assert written <= listed


# ===--- The table of commands ---------------------------------------------------------------------------------------


COMMANDS_PAGE = (DOCS / "guide" / "commands.md").read_text()
PROGRAMS = ("mct-opt ", "mct-run ", "mct-translate ", "mlir-opt-22 ", "mct ")


@pytest.mark.alternating
def test_every_command_of_the_table_runs(tools: Path, tmp_path: Path) -> None:
    """In order: later commands read what earlier ones wrote. The repository's `build` is replaced by a fresh folder."""
    skip_without("mct", "vl_convert")
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
    (tmp_path / "test").symlink_to(measure.REPOSITORY / "test")
    (tmp_path / "build" / "commands").mkdir(parents=True)
    (tmp_path / "build" / "lib").symlink_to(tools.parent / "lib")
    commands = [text for text in re.findall(r"\| `([^`]*)` \|$", COMMANDS_PAGE, re.M) if text.startswith(PROGRAMS)]
    assert len(commands) > 80
    for command in commands:
        run(shlex.split(command), tmp_path, environment, command)


@pytest.mark.parametrize("tool", ["mct-opt", "mct-run", "mct-translate"])
def test_every_flag_of_ours_is_in_the_table(tools: Path, tool: str) -> None:
    text = measure.run_ok([tools / tool, "--help"]).stdout
    ours = r"^  --([\w-]+)" if tool == "mct-run" else r"--((?:mct|tpc|import-tpc|export-tpc)-[\w-]+)"
    flags = set(re.findall(ours, text, re.MULTILINE))
    flags -= {"help", "help-list", "help-hidden", "help-list-hidden", "version", "print-options", "print-all-options"}
    # mct-run shares options with mct-ptq, which stand in the table of these.
    pages = COMMANDS_PAGE + (DOCS / "guide" / "ptq.md").read_text()
    missing = [flag for flag in sorted(flags) if f"--{flag}" not in pages and f"`{flag}" not in pages]
    assert flags and not missing


def test_the_generated_page_of_diagnoses_has_every_rule_that_is_tested(tools: Path) -> None:
    page = load_generator().diagnoses(tools.parent)
    rules = set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE))
    tests = (measure.REPOSITORY / "test" / "python" / "test_report_diagnoses.py").read_text()
    tested = set(re.findall(r'find\(\w+, "([\w-]+)"', tests))
    assert len(tested) > 8 and tested <= rules


# ===--- Results -----------------------------------------------------------------------------------------------------


def test_pages_of_results_show_the_data_that_were_recorded() -> None:
    pages = sorted(results.RESULTS.glob("*.md"))
    for page in pages:
        text = page.read_text()
        assert results.render_page(text) == text, f"{page}: run tools/dev/results.py"
    shown = {name for page in pages for _, name, _ in results.BLOCK.findall(page.read_text())}
    recorded = {path.stem for path in (results.RESULTS / "data").iterdir()}
    assert shown == recorded


def test_a_table_is_recorded_with_its_date_and_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["results.py", "speed", "--command", "bench.py"])
    (tmp_path / "page.md").write_text("# Speed\n\n<!-- table speed -->\n<!-- end -->\n")
    for table in (
        "| a | b |\n|---|---|\n| 1 | `x\\|y` |\n| 2 | |\n",
        "| a | b |\n|---|---|\n| 3 | 4 |\n\n| c |\n|---|\n| 5 |\n",
    ):
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"before\n\n{table}\nafter\n"))
        results.main()
        page = (tmp_path / "page.md").read_text()
        assert f"*Measured on {results.read('speed')['date']}, " in page and page.endswith(
            ": `bench.py`*\n\n<!-- end -->\n"
        )
    # The second input has two tables, and the one with the columns that were recorded before is taken.
    assert results.read("speed")["rows"] == [["3", "4"]] and "| 3 | 4 |" in page and "| 5 |" not in page


def test_the_summary_of_corrections_is_a_table_that_can_be_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    four, eight = "4-bit weights", "imx500 (8/8)"
    corrections.summarize(
        {"one": {"the default": {eight: "75.20", four: "74.95"}}, "two": {"the default": {four: "1 dB"}}}
    )
    columns, rows = results.parse(capsys.readouterr().out)
    assert columns == ["network", "corrections", eight, four]
    assert rows == [["one", "the default", "75.20", "74.95"], ["two", "the default", "", "1 dB"]]


def code(text: str) -> list[str]:
    """Lines without comments, empty ones and indentation."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", "//"))]


def test_the_page_about_cmake_shows_the_project_that_is_built() -> None:
    """A test of test/Integration installs the package and builds the project."""
    project = measure.REPOSITORY / "test" / "Integration" / "Inputs" / "consumer"
    shown = dict(FENCE.findall((DOCS / "getting-started" / "cmake.md").read_text()))
    assert code(shown["cmake"]) == code((project / "CMakeLists.txt").read_text())
    source = [
        f"mlir::{line}" if line.startswith("Pass") else line for line in code((project / "consumer.cpp").read_text())
    ]
    # The last block of text is the source.
    assert all(line in source for line in code(shown["text"]))


@pytest.mark.alternating
@pytest.mark.parametrize("page", ["guide/ptq.md", "guide/troubleshooting.md"])
def test_rules_of_overrides_that_pages_show_are_read(tools: Path, tmp_path: Path, page: str) -> None:
    shown = [text for language, text in FENCE.findall((DOCS / page).read_text()) if language == "text"]
    rules = [line for text in shown for line in text.splitlines() if re.match(r"\??(?:name|op|set|pattern|all) ", line)]
    assert len(rules) > 4
    # Networks differ: none of the rules has to match in this one, and a width may be one that a user does not take.
    for rule in rules:
        file = tmp_path / "overrides.rules"
        file.write_text(f"{rule if rule.startswith(('?', 'all')) else '?' + rule}\n")
        passes = ["--tpc-attach-target=target=imx500_v4_0", f"--mct-insert-quantizers=overrides={file}"]
        finished = measure.run([tools / "mct-opt", measure.DIGITS / "digits.mlirbc", *passes, "-o", "/dev/null"])
        assert finished.returncode == 0 or "cannot have 16 bits" in finished.stderr, f"{rule}\n{finished.stderr}"


# ===--- What readers look for -----------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """Headings as the site and hosts of repositories write them into addresses."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def questions() -> list[tuple[str, str, str, str, str]]:
    """Question, page, heading, part of the answer and words to search for, of each question of a newcomer."""
    row = r"^\| (.*\?.*) \| \[.*\]\(\.\./([\w/.-]+)#([\w-]+)\) \| `(.*)` \| (.*) \|$"
    return re.findall(row, (DOCS / "dev" / "documentation.md").read_text(), re.MULTILINE)


def test_questions_of_newcomers_have_answers_within_two_clicks() -> None:
    rows = questions()
    assert len(rows) == 21
    contents = re.findall(r"^([\w/-]+)$", (DOCS / "index.md").read_text(), re.MULTILINE)
    for question, path, anchor, answer, _ in rows:
        # The first click is the page in the table of contents, the second one the heading.
        assert path.removesuffix(".md") in contents, question
        assert anchor in anchors(DOCS / path), question
        assert answer in (DOCS / path).read_text(), question


def test_diagnostics_lead_to_headings_that_exist() -> None:
    page = DOCS / "guide" / "troubleshooting.md"
    named = set()
    for folder, suffix in (("lib", "*.cpp"), ("tools", "*.cpp"), ("tpc_dialect", "*.cpp"), ("python", "*.py")):
        for path in (measure.REPOSITORY / folder).rglob(suffix):
            text = path.read_text()
            named |= set(re.findall(r'kTroubleshooting\s*<<\s*"([\w-]+)"', text))
            named |= set(re.findall(r"troubleshooting\.md#([\w-]+)", text))
    assert len(named) > 8 and named <= anchors(page)


# A remedy of a line has as many characters; what stands in braces is the form of an attribute.
LINE = 120
HELP = re.compile(r"cl::desc\(\s*\Z|clEnumValN\([^;]*\Z|nb::sig\(\s*\Z")


def long_texts(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of long literals whose statement names no section; help of options is something else."""
    blank = re.sub(r"//[^\n]*", lambda match: " " * len(match[0]), source)
    for match in lint_language.LITERALS.finditer(blank):
        text = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', match[0]))
        if len(re.sub(r"\{.*\}", "", text)) <= LINE or HELP.search(blank[: match.start()]):
            continue
        statement = lint_language.LITERALS.sub('""', blank[match.start() :]).partition(";")[0]
        if "kTroubleshooting" not in statement:
            yield source.count("\n", 0, match.start()) + 1, text


def test_a_remedy_of_several_lines_leads_to_its_section() -> None:
    found = []
    for folder in ("lib", "tools", "tpc_dialect"):
        for path in sorted((measure.REPOSITORY / folder).rglob("*.cpp")):
            # Texts of reports: their diagnoses are a page of the reference.
            if "Report" not in path.parts:
                found += [f"{path}:{line}: {text}" for line, text in long_texts(path.read_text())]
    assert not found, "shorten it, or end it in kTroubleshooting and a section of docs/guide/troubleshooting.md"


def test_a_diagnostic_ends_in_the_address_of_its_remedy(tools: Path) -> None:
    data = measure.DIGITS / "digits_calib.npy"
    command = measure.ptq_command(
        measure.DIGITS / "digits.mlirbc", data, Path("/dev/null"), input_scale=0.0625, budget="weights:1%"
    )
    finished = measure.run(command)
    assert finished.returncode == 1
    assert finished.stderr.rstrip().endswith("; see docs/guide/troubleshooting.md#no-bit-widths-keep-to-the-budget")


def test_the_container_runs_the_steps_of_a_machine() -> None:
    """There is no container engine here: what the file copies, calls and installs is that of the repository."""
    text = (measure.REPOSITORY / "Dockerfile").read_text()
    called = re.findall(r"^(?:RUN|CMD)\b.*?(tools/dev/\w+)", text, re.MULTILINE)
    assert called == ["tools/dev/setup", "tools/dev/build", "tools/dev/demo", "tools/dev/wheel"]
    copied = [path for words in re.findall(r"^COPY (.*)$", text, re.MULTILINE) for path in words.split()[:-1]]
    for path in [*called, *copied]:
        assert (measure.REPOSITORY / path).exists(), path
    assert "build*/" in (measure.REPOSITORY / ".dockerignore").read_text()
    extras = tomllib.loads((measure.REPOSITORY / "python" / "pyproject.toml").read_text())["project"]
    chosen = re.findall(r"mct_mlir-\*\.whl\)\[([\w,]+)\]", text)[0].split(",")
    assert set(chosen) <= set(extras["optional-dependencies"]) and extras["name"] == "mct-mlir"
