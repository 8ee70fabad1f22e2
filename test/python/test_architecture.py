# SPDX-License-Identifier: Apache-2.0
"""The table of docs/dev/architecture.md is what CMake links, and sources include what their library links."""

import functools
import re
import subprocess

import measure

ROOT = measure.REPOSITORY
TPC = "tpc_dialect"
# Libraries without passes.
BELOW_PASSES = (
    *("Support", "Quantizers", "Quantization", "IR", "Interfaces", "Planning", "IntegerRanges", "Cost"),
    *("Execution", "Evaluation"),
)
# Where all of the libraries are assembled.
ASSEMBLY = {"lib/Pipelines", "python", "tools"}


@functools.cache
def links():
    """By folder: those of ours that its libraries link themselves."""
    owners, linked = {}, {}
    for path in sorted([*ROOT.glob("lib/*/CMakeLists.txt"), *ROOT.glob("tpc_dialect/**/CMakeLists.txt")]):
        folder = str(path.parent.relative_to(ROOT))
        folder = TPC if folder.startswith(TPC) else folder
        text = re.sub(r"#.*", "", path.read_text())
        for call in re.findall(r"mct_add_library\(([^)]*)\)", text):
            owners[call.split()[0]] = folder
            _, found, libraries = call.partition("LINK")
            linked.setdefault(folder, set()).update(libraries.split() if found else [])
    return {
        folder: {owners[name] for name in names if name in owners} - {folder}
        for folder, names in sorted(linked.items())
    }


@functools.cache
def reached(folder):
    """The folders that a folder links, directly or not."""
    found = set()
    for other in links()[folder]:
        found |= {other} | reached(other)
    return found


def nearest(folder):
    """Returns the members of `reached` from which the others follow."""
    direct = links()[folder]
    return {other for other in direct if not any(other in reached(more) for more in direct)}


def table():
    """Dependencies of each folder by the page."""
    page = (ROOT / "docs" / "dev" / "architecture.md").read_text()
    rows = re.findall(r"^\| `([\w/]+?)/?` \| .* \| (.*) \|$", page.split("\n## ")[0], re.MULTILINE)
    return {folder: [name.strip().strip("`") for name in text.split(",")] for folder, text in rows}


def test_nothing_links_what_links_it():
    for folder in links():
        assert folder not in reached(folder)


def test_page_names_the_nearest_libraries_of_each():
    expected = {}
    for folder in links():
        names = {name.removeprefix("lib/") for name in nearest(folder)}
        expected[folder] = names or {"LLVM"}
    found = {folder: set(names) for folder, names in table().items() if folder not in ASSEMBLY}
    assert found == {folder: names for folder, names in expected.items() if folder not in ASSEMBLY}
    assert all(table()[folder] == ["all"] for folder in ASSEMBLY)


# Texts of options that `parse` functions read, and name in their errors.
PARSED = {"input-scale", "input-offset", "max-memory"}


def test_libraries_below_passes_name_no_options():
    options = {
        flag
        for path in ROOT.glob("include/mct/**/*.td")
        for flag in re.findall(r'Option<\s*"\w+",\s*"(\w+(?:-\w+)+)"', path.read_text())
    }
    assert options >= {"calibration-data", "max-drop"} | PARSED
    wrong = []
    for folder in BELOW_PASSES:
        for path in sorted((ROOT / "lib" / folder).glob("*.cpp")):
            text = re.sub(r"//.*", "", path.read_text())
            for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
                for word in set(re.findall(r"(?<![\w-])\w+(?:-\w+)+(?![\w-])", literal)) & options - PARSED:
                    wrong.append(f"{path.relative_to(ROOT)} speaks of {word}: {literal}")
            if re.search(r"\berrs\(\)|\bsigaction\b|\bsignal\(", text):
                wrong.append(f"{path.relative_to(ROOT)} writes to standard error, or handles signals")
    assert not wrong, "\n".join(wrong)


def test_sources_include_what_their_library_links():
    wrong = []
    for folder in links():
        headers = ROOT / "include" / "mct" / folder.removeprefix("lib/")
        allowed = {folder, *reached(folder)}
        for path in sorted([*(ROOT / folder).rglob("*.cpp"), *(ROOT / folder).rglob("*.h"), *headers.rglob("*.h")]):
            for include in re.findall(r'^#include "(mct/\w+|tpc_dialect)/', path.read_text(), re.MULTILINE):
                owner = include.replace("mct/", "lib/")
                if owner not in allowed:
                    wrong.append(f"{path.relative_to(ROOT)} includes {include}")
    assert not wrong, "\n".join(sorted(set(wrong)))


def test_the_top_level_is_that_of_a_public_project():
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    entries = {file.partition("/")[0] for file in files.splitlines()}
    assert {entry for entry in entries if not entry.startswith(".")} == {
        *("CMakeLists.txt", "include", "lib", "tools", "test", "tpc_dialect", "python", "README.md"),
        *("docs", "LICENSE", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CMakePresets.json", "Dockerfile"),
    }
