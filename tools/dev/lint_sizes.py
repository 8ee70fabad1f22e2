#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refuses files of more than 800 lines, and functions of C++ and Python of more than 100 from their name to their end.

    python3 tools/dev/lint_sizes.py [ROOT]

Prints `file:line: message` for each finding; exit status 1 when there is one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from lint_findings import Finding, print_findings

FILE_LINES = 800
FUNCTION_LINES = 100

FOLDERS = ("include", "lib", "python", "test", "tools", "tpc_dialect")
CPP = (".cpp", ".h", ".inc")
OTHER = (".cmake", ".css", ".js", ".mlir", ".td", ".test", ".txt")

# No braces: comments, raw strings, strings and characters. A quote within a number separates digits.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\s"]*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"'
    r"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'",
    re.DOTALL,
)
ACCESS = re.compile(r"\s*(?:(?:public|protected|private):\s*)?")
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
# Blocks that hold functions, and are none.
HOLDER = re.compile(r"(?:^|\s)(?:namespace|class|struct|union|enum|extern)\b")
# A list of parameters, and what may follow it.
SIGNATURE = re.compile(r"\)\s*(?:(?:const|noexcept|override|final|mutable|&&?)\s*)*(?:->[^;{}]*|:(?!:)[^;{}]*)?$")


def blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def cpp_functions(source: str) -> Iterator[tuple[int, int]]:
    """First and last line of every function that is in none."""
    code = PREPROCESSOR.sub(blank, NO_CODE.sub(blank, source))
    head = 0  # Where the declaration begins that is being read.
    opened: list[tuple[bool, int]] = []  # For each open block, whether it is a function, and where it begins.
    inside = 0  # Open blocks that are functions, or within one.
    for match in re.finditer(r"[{};]", code):
        place = match.start()
        if match[0] == "{":
            text = ACCESS.sub("", code[head:place], count=1)
            begin = place - len(text)
            is_function = not inside and not HOLDER.search(text.split("(")[0]) and bool(SIGNATURE.search(text.rstrip()))
            inside += bool(is_function or inside)
            opened.append((is_function, begin))
        elif match[0] == "}" and opened:
            is_function, begin = opened.pop()
            inside -= bool(inside)
            if is_function:
                yield code.count("\n", 0, begin) + 1, code.count("\n", 0, place) + 1
        head = match.end()


def python_functions(source: str) -> Iterator[tuple[int, int]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.end_lineno or node.lineno


def lint_file(path: Path) -> Iterator[Finding]:
    source = path.read_text(errors="replace")
    lines = source.count("\n")
    if lines > FILE_LINES:
        yield path, FILE_LINES + 1, f"has {lines} lines, expected at most {FILE_LINES}: split it by subject"
    is_python = path.suffix == ".py" or source.startswith("#!/usr/bin/env python3")
    functions = python_functions if is_python else cpp_functions if path.suffix in CPP else None
    try:
        found = list(functions(source)) if functions else []
    except SyntaxError as error:
        yield path, error.lineno or 1, f"cannot be read: {error.msg}"
        return
    for first, last in found:
        if last - first + 1 > FUNCTION_LINES:
            message = f"has {last - first + 1} lines, expected at most {FUNCTION_LINES}: split it by what it does"
            yield path, first, f"function {message}"


def lint(root: Path) -> list[Finding]:
    findings: list[Finding] = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and (path.suffix in (*CPP, *OTHER, ".py") or not path.suffix):
                findings += lint_file(path)
    return findings


if __name__ == "__main__":
    sys.exit(print_findings(lint))
