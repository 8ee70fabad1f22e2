#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refuses words that readers of LLVM would have to translate, in text that users see and in doc comments.

Text that users see is: summaries, descriptions and options in .td files; string literals with a space in C++
(diagnostics, remarks, reasons, help texts, keys of the report's schema); docstrings and messages in Python; pages of
docs/ and those beside the sources; texts of the report's page. The words to use instead are those of
docs/concepts/glossary.md. Doc comments and headers of files are sentences with a subject or a verb, or noun phrases
("Returns the step of channel `c`.", "Index of the worker."); no comment and no docstring begins with a relative clause.

    python3 tools/dev/lint_language.py [ROOT]

Prints `file:line: message` for each finding; exit status 1 when there is one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from lint_findings import Finding, print_findings

# A word, and what to write.
WORDS = {
    r"(?:nobody|somebody|whoever)": "name the caller, the user or the pass",
    r"(?<!screen )readers?": "write 'use' or 'user'",
    r"consumers?": "write 'use' or 'user'",
    r"cuts? off": "write 'clip'",
    r"of the ones": "name what is meant",
    r"quantizer points?": "write 'quantization point'",
    r"programs? around the compiler": "write 'caller'",
    r"(?<!there )(?:is|are|was|were) no (?!longer\b|more\b|better\b|worse\b|larger\b|smaller\b)": "write 'is not a'",
}
# At the beginning of a sentence that is not a question.
STARTS = {r"(?:Of|What|Whatever|Who|Whose)\b(?![^.?!]*\?)": "begin with a noun or a verb"}
# At the beginning of a comment of C++ or Python.
COMMENT_STARTS = re.compile(r"(?:Of|What|Whatever|Which|Whose|Who|Whoever|Whether|That|Those|Number of the)\b")
# At the beginning of a doc comment of C++, or of the header of a file.
DOC_STARTS = re.compile(
    COMMENT_STARTS.pattern
    + r"|(?:Nobody|About|Above|Across|After|Against|Along|As|At|Before|Behind|Below|Between|By|For|From|In|On|Over|Per"
    r"|To|Until|Where|With|Without)\b"
)
# Line of a file below which comments are no longer its header.
HEADER_END = 4
SENTENCE = r"(?:\A|(?<=[.:;!|] )|(?<=[.:;!]\n)|(?<=\n\n))\s*"

LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
BLOCK = re.compile(r"\[\{(.*?)\}\]", re.DOTALL)
COMMENT = re.compile(r"//[^\n]*")

Text = tuple[int, str]


def findings_of(path: Path, line: int, text: str) -> Iterator[Finding]:
    """`line` is that of the first character of the text. Text in backquotes is code."""
    text = re.sub(r"`[^`\n]*`", lambda match: "`" * len(match[0]), text)
    for words, before, flags in ((WORDS, r"\b", re.IGNORECASE), (STARTS, SENTENCE, re.NOFLAG)):
        for word, instead in words.items():
            for match in re.finditer(rf"{before}({word})", text, flags):
                found = line + text.count("\n", 0, match.start(1))
                yield path, found, f"'{match[1].strip()}' in text for users: {instead}"


def literals(source: str) -> Iterator[Text]:
    """Line and text of every literal with a space; literals beside each other are one."""
    blank = COMMENT.sub(lambda match: " " * len(match[0]), source)
    for match in LITERALS.finditer(blank):
        text = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', match[0]))
        if " " in text.strip():
            yield source.count("\n", 0, match.start()) + 1, text


def lint_definitions(path: Path) -> Iterator[Finding]:
    source = path.read_text()
    for match in BLOCK.finditer(source):
        yield from findings_of(path, source.count("\n", 0, match.start()) + 1, match[1])
    yield from lint_comments(path, source)
    outside = BLOCK.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)
    for line, text in literals(outside):
        yield from findings_of(path, line, text)


def lint_code(path: Path) -> Iterator[Finding]:
    for line, text in literals(path.read_text()):
        yield from findings_of(path, line, text)
    yield from lint_code_comments(path)


def lint_comments(path: Path, source: str, marks: tuple[str, ...] = ("//", "///")) -> Iterator[Finding]:
    before = ""
    for number, text in enumerate(source.split("\n"), 1):
        comment = text.strip()
        mark, _, words = comment.partition(" ")
        if mark in marks and (before == mark or before.partition(" ")[0] != mark):
            # A later paragraph may begin with a preposition.
            is_doc = (mark == "///" and before != mark) or (mark != "#" and number < HEADER_END)
            if (DOC_STARTS if is_doc else COMMENT_STARTS).match(words):
                yield path, number, f"'{comment}' begins without a subject or a verb: write 'Returns …', 'Index of …'"
        before = comment


def lint_code_comments(path: Path) -> Iterator[Finding]:
    yield from lint_comments(path, path.read_text())


def lint_script_comments(path: Path, is_for_users: bool = False) -> Iterator[Finding]:
    source = path.read_text()
    yield from lint_comments(path, source, ("#",))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            # `findings_of` finds the words of STARTS.
            is_found = is_for_users and any(re.match(start, text or "") for start in STARTS)
            if text and COMMENT_STARTS.match(text) and not is_found:
                first = text.split("\n")[0]
                yield path, node.body[0].lineno, f"'{first}' begins without a subject or a verb: write 'Returns …'"


def lint_python(path: Path) -> Iterator[Finding]:
    yield from lint_script_comments(path, is_for_users=True)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield from findings_of(path, node.lineno, node.value)


def lint_page(path: Path) -> Iterator[Finding]:
    # Code is checked where it is written.
    text = re.sub(r"^```.*?^```$", lambda match: "\n" * match[0].count("\n"), path.read_text(), flags=re.M | re.S)
    # A heading, a list item and a row of a table are texts of their own.
    line = 1
    for part in re.split(r"(\n(?=\s*(?:[*|#-]|\d+\.) ))", text):
        for finding in findings_of(path, line, re.sub(r"\A\s*(?:[*|#-]+|\d+\.) ", "", part)):
            # A page has readers.
            if not finding[2].startswith("'reader"):
                yield finding
        line += part.count("\n")


SCRIPT_TEXT = re.compile(r"//[^\n]*|/\*.*?\*/|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`", re.DOTALL)


def lint_script(path: Path) -> Iterator[Finding]:
    source = path.read_text()
    for match in SCRIPT_TEXT.finditer(source):
        text = match[1] or match[2] or ""
        if " " in text.strip():
            # A computed part stands for a word.
            text = re.sub(r"\$\{[^}]*\}", lambda inner: "x" * len(inner[0]), text)
            yield from findings_of(path, source.count("\n", 0, match.start()) + 1, text)


# The suffixes of files below each folder, and what is checked in them.
CHECKED = {
    "include": {".td": lint_definitions, ".h": lint_code, ".def": lint_code},
    "lib": {".cpp": lint_code, ".h": lint_code, ".inc": lint_code},
    "tpc_dialect": {".td": lint_definitions, ".cpp": lint_code, ".h": lint_code},
    "test": {".cpp": lint_code_comments, ".h": lint_code_comments, ".py": lint_script_comments},
    "tools": {".cpp": lint_code, ".h": lint_code, ".py": lint_script_comments},
    "python/mct": {".py": lint_python, ".js": lint_script},
    "python/native": {".cpp": lint_code, ".h": lint_code},
    "docs": {".md": lint_page},
}
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "python/README.md", "tpc_dialect/README.md")


def lint(root: Path) -> list[Finding]:
    findings: list[Finding] = []
    for folder, checks in CHECKED.items():
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in checks:
                findings += checks[path.suffix](path)
    for name in PAGES:
        if (root / name).is_file():
            findings += lint_page(root / name)
    return findings


if __name__ == "__main__":
    sys.exit(print_findings(lint))
