#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what lit and TableGen let pass silently.

* A FileCheck directive without its colon, or with a suffix that FileCheck does not know, is never checked.
* A RUN line without an oracle (FileCheck, --verify-diagnostics, diff, cmp, grep, ...) passes whatever is printed.
* A pass needs a description with `Before:` and `After:`, and a folder test/**/<flag>/ with a doc-example.mlir that has
  their ops.
* An attribute needs an example in its description: a block of mlir code with its mnemonic.
* Code of lib/, include/ and tools/ speaks to quantizers through their interface and names none of them, gives points
  other parameters only together with what is told of them, and emits remarks only with the record that they carry.

    python3 tools/dev/lint_tests.py [ROOT]

Prints `file:line: message` for each finding; exit status 1 when there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from lint_findings import Finding, print_findings

TEST_SUFFIXES = (".mlir", ".test", ".td", ".py", ".sh")
COMMENT = r"^\s*(?://|#)\s*"
RUN_LINE = re.compile(COMMENT + r"RUN:\s*(.*?)\s*$")
DIRECTIVE_SUFFIX = r"(?:-(?:NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-\d+))?(?:\{LITERAL\})?:"
PREFIX_OPTION = re.compile(r"--?check-prefix(?:es)?[= ]\"?([\w,-]+)")
ORACLE = re.compile(
    r"\bFileCheck\b|--?verify-diagnostics\b|\bdiff\b|\bcmp\b|\bgrep\b|%\{?python\b|\bpython3?\s|\bcount\s+\d+"
    r"|\btest\s+[-!\"'%]|\bnot\s+ls\b"
)
PREPARATION = re.compile(r"^(?:rm|mkdir|cp|touch|chmod|cd|split-file|printf|echo)\b")
OP_NAME = re.compile(r"(?<![#!\w])(?:tosa|tpc)\.\w+")
PASS_START = re.compile(r"^def\s+\w+\s*:\s*(?:\w*Pass(?:Base)?|InterfacePass)\s*<\s*\"([\w-]+)\"", re.MULTILINE)

ATTRIBUTE_START = re.compile(r"^def\s+\w+Attr\s*:\s*\w+Attr\s*<\s*\"\w+\"\s*,\s*\"(\w+)\"", re.MULTILINE)
DESCRIPTION = re.compile(r"let\s+description\s*=\s*\[\{(.*?)\}\]", re.DOTALL)
CODE_BLOCK = re.compile(r"```mlir\n(.*?)```", re.DOTALL)

CONCRETE_QUANTIZER = re.compile(r"\btpc::((?:PowerOfTwo|Symmetric|Uniform|LookupTable)Attr)\b")

PARAMETERS_ALONE = re.compile(r"\b(?:set|remove)ParametersAttr\(")
PLAIN_REMARK = re.compile(r"\bemitRemark\(")


def run_commands(lines: list[str]) -> list[tuple[int, str]]:
    """RUN lines as (line number, command), those continued by a backslash joined."""
    commands: list[tuple[int, str]] = []
    open_command = False
    for number, line in enumerate(lines, start=1):
        match = RUN_LINE.match(line)
        if not match:
            continue
        text = match[1]
        if open_command:
            commands[-1] = (commands[-1][0], commands[-1][1] + " " + text.rstrip("\\"))
        else:
            commands.append((number, text.rstrip("\\")))
        open_command = text.endswith("\\")
    return commands


def lint_run_lines(path: Path, commands: list[tuple[int, str]]) -> Iterator[Finding]:
    for i, (number, command) in enumerate(commands):
        if ORACLE.search(command) or PREPARATION.match(command):
            continue
        # A step that writes a file is judged by the later step that reads it, or that looks into its folder.
        written = re.findall(r"%t[\w./%-]*", command)
        folders = [name.rsplit("/", 1)[0] for name in written if "/" in name]
        readers = [rf"{re.escape(name)}(?![\w.%-])" for name in written]
        readers += [rf"{re.escape(folder)}(?![\w./%-])" for folder in folders]
        if not any(re.search(reader, later) for reader in readers for _, later in commands[i + 1 :]):
            yield path, number, "RUN line without an oracle: nothing judges what it prints"


def lint_directives(path: Path, lines: list[str], commands: list[tuple[int, str]]) -> Iterator[Finding]:
    prefixes = {"CHECK"}
    for _, command in commands:
        for names in PREFIX_OPTION.findall(command):
            prefixes.update(names.split(","))
    known = "|".join(sorted(map(re.escape, prefixes), key=len, reverse=True))
    # A comment that starts like a directive of this file has to be one.
    candidate = re.compile(COMMENT + rf"((?:{known}|CHECK)(?:-[\w-]*)?)(?=[^\w-]|$)")
    directive = re.compile(COMMENT + rf"(?:{known}){DIRECTIVE_SUFFIX}")
    for number, line in enumerate(lines, start=1):
        match = candidate.match(line)
        if match and not directive.match(line):
            yield path, number, f"'{match[1]}' is no FileCheck directive: the colon is missing or the suffix is unknown"


def lint_test(path: Path) -> Iterator[Finding]:
    lines = path.read_text(errors="replace").splitlines()
    commands = run_commands(lines)
    if commands:
        yield from lint_run_lines(path, commands)
        yield from lint_directives(path, lines, commands)


def definitions(text: str, start: re.Pattern[str]) -> Iterator[tuple[str, int, re.Match[str] | None]]:
    """Name, line and description of everything in a .td file that begins like `start`."""
    starts = list(start.finditer(text))
    for i, match in enumerate(starts):
        end = starts[i + 1].start() if i + 1 < len(starts) else len(text)
        yield match[1], text.count("\n", 0, match.start()) + 1, DESCRIPTION.search(text, match.end(), end)


def lint_passes(path: Path, tests: Path) -> Iterator[Finding]:
    for flag, number, description in definitions(path.read_text(), PASS_START):
        if not description:
            yield path, number, f"pass '{flag}' has no description"
        else:
            for heading in ("Before:", "After:"):
                if heading not in description[1]:
                    yield path, number, f"the description of pass '{flag}' has no '{heading}'"
        examples = list(tests.glob(f"**/{flag}/doc-example.mlir"))
        if not examples:
            yield path, number, f"pass '{flag}' has no test/**/{flag}/doc-example.mlir"
        elif description:
            for finding in lint_example(description[1], examples[0].read_text()):
                yield path, number, f"pass '{flag}': {finding}"


def attribute_examples(text: str) -> Iterator[tuple[str, int, list[str]]]:
    """Mnemonic and line of every attribute in a .td file, and the examples in its description."""
    for mnemonic, number, description in definitions(text, ATTRIBUTE_START):
        blocks = CODE_BLOCK.findall(description[1]) if description else []
        yield mnemonic, number, [block for block in blocks if f"#tpc.{mnemonic}<" in block]


def lint_attributes(path: Path) -> Iterator[Finding]:
    for mnemonic, number, examples in attribute_examples(path.read_text()):
        if not examples:
            yield path, number, f"the description of attribute '{mnemonic}' has no example"


def lint_example(description: str, example: str) -> Iterator[str]:
    """Before and After are those of doc-example.mlir: its input and its CHECK lines have their ops."""
    checks, code = [], []
    for line in example.splitlines():
        (checks if re.match(COMMENT, line) else code).append(line)
    for heading, lines, where in (("Before", code, "input"), ("After", checks, "CHECK lines")):
        block = re.search(rf"{heading}:\s*```mlir\n(.*?)```", description, re.DOTALL)
        for op in sorted(set(OP_NAME.findall(block[1]))) if block else []:
            if op not in "\n".join(lines):
                yield f"'{op}' stands under {heading}, but not in the {where} of doc-example.mlir"


def lint_quantizers(path: Path) -> Iterator[Finding]:
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if match := CONCRETE_QUANTIZER.search(line):
            yield path, number, f"names '{match[1]}'; QuantizerAttrInterface says what there is to know of a quantizer"


def lint_records(path: Path) -> Iterator[Finding]:
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if PARAMETERS_ALONE.search(line):
            yield path, number, "leaves the point's selection as it was; use setQuantizer or removeQuantizer"
        if PLAIN_REMARK.search(line) and path.name != "Records.cpp":
            yield path, number, "emits a remark without a record; use emitRecord (mct/IR/Records.h)"


def lint(root: Path) -> list[Finding]:
    tests = root / "test"
    findings: list[Finding] = []
    for path in sorted(tests.rglob("*")):
        inside = path.relative_to(tests).parts
        # test/python holds pytest files; their texts may quote RUN lines.
        if path.is_file() and path.suffix in TEST_SUFFIXES and inside[0] != "python":
            findings += lint_test(path)
    for folder in ("tpc_dialect", "include", "lib"):
        for path in sorted((root / folder).rglob("*Passes.td")):
            findings += lint_passes(path, tests)
    for path in sorted((root / "tpc_dialect").rglob("*.td")):
        findings += lint_attributes(path)
    for folder in ("lib", "include", "tools"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".h"):
                findings += lint_quantizers(path)
                findings += lint_records(path)
    return findings


if __name__ == "__main__":
    sys.exit(print_findings(lint))
