# SPDX-License-Identifier: Apache-2.0
"""tools/dev/lint_language.py finds private words in text for users, and nowhere else."""

from pathlib import Path

import pytest
from lint_language import lint

DESCRIPTION = (
    'def P : Pass<"mct-p"> {{\n  let summary = "{summary}";\n  let description = [{{\n    {text}\n  }}];\n}}\n'
)


def findings(root: Path, path: str, text: str) -> list[str]:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return [f"{line}: {message}" for _, line, message in lint(root)]


@pytest.mark.parametrize(
    "path, text, expected",
    [
        ("lib/A.cpp", 'emit() << "the value has other "\n          "readers";\n', "1: 'readers' in text for users"),
        ("lib/A.cpp", 'emit() << "nobody reads it";\n', "1: 'nobody' in text for users"),
        (
            "include/R.def",
            'MCT_REASON(A, "a",\n "values are cut off",\n "")\n',
            "2: 'cut off' in text for users: write 'clip'",
        ),
        ("include/P.td", DESCRIPTION.format(summary="Run", text="Whoever runs it."), "4: 'Whoever' in text for users"),
        ("include/P.td", DESCRIPTION.format(summary="What runs", text=""), "2: 'What' in text for users: begin with"),
        (
            "include/P.td",
            'Option<"a", "a", "bool", "false", "Of the other">\n',
            "1: 'Of' in text for users: begin with",
        ),
        ("tpc_dialect/P.td", 'let summary = "A quantizer point";\n', "1: 'quantizer point' in text for users: write"),
        ("python/mct/a.py", '"""Adds up.\n\nSomebody has to.\n"""\n', "3: 'Somebody' in text for users"),
        ("docs/a.md", "# A\n\nNobody reads it.\n", "3: 'Nobody' in text for users"),
        ("lib/A.cpp", 'emit() << "its operand is no tensor";\n', "1: 'is no' in text for users: write 'is not a'"),
        ("lib/A.cpp", 'emit() << "it failed. What was read is lost";\n', "1: 'What' in text for users: begin with"),
        ("python/mct/a.py", '"""What it returns."""\n', "1: 'What' in text for users: begin with"),
        ("docs/a.md", "# A\n\n* One.\n* Two. What is left\n  is here.\n", "4: 'What' in text for users: begin with"),
        ("README.md", "# A\n\n| a | b |\n|---|---|\n| c | Of d |\n", "5: 'Of' in text for users: begin with"),
        (
            "include/A.h",
            "/// Of a channel.\nint step();\n",
            "1: '/// Of a channel.' begins without a subject",
        ),
        ("python/mct/a.py", "a = 1\n# Of a channel.\nb = 2\n", "2: '# Of a channel.' begins without a subject"),
        ("test/unit/A.cpp", "\n\n\n// Whether it is.\nint a;\n", "4: '// Whether it is.' begins without a subject"),
        ("tools/dev/a.py", 'def f():\n    """What it returns."""\n', "2: 'What it returns.' begins without a subject"),
        (
            "lib/A.h",
            "/// Number of the worker.\nint worker;\n",
            "1: '/// Number of the worker.' begins without a subject",
        ),
        ("tools/dev/a.py", "# What is computed,\n# That is.\na = 1\n", "1: '# What is computed,' begins without"),
        (
            "lib/A.cpp",
            "/// What the op computes.\nint compute();\n",
            "1: '/// What the op computes.' begins without a subject",
        ),
        (
            "lib/A.h",
            "/// A pair.\nstruct P {\n  /// By index.\n  int a;\n};\n",
            "3: '/// By index.' begins without a subject",
        ),
        ("lib/A.h", "// SPDX\n//\n// From here to there.\n", "3: '// From here to there.' begins without a subject"),
        ("lib/A.cpp", "int a;\n\n\n// That of b.\nint c;\n", "4: '// That of b.' begins without a subject"),
        ("include/P.td", "// SPDX\n\n\n\n// Whether it is.\n", "5: '// Whether it is.' begins without a subject"),
        ("python/mct/a.js", "a('b', { c: 'd' });\ne('What it did', `${f} g`);\n", "2: 'What' in text for users: begin"),
    ],
)
def test_word_is_found(tmp_path: Path, path: str, text: str, expected: str) -> None:
    found = findings(tmp_path, path, text)
    assert len(found) == 1 and found[0].startswith(expected), found


@pytest.mark.parametrize(
    "path, text",
    [
        ("lib/A.cpp", 'int a;\n\n\n// Nobody reads it: a comment.\nget("readers");\n'),
        ("lib/A.h", "/// Returns the step\n/// Of a channel: a second line.\nint step();\n"),
        ("include/P.td", DESCRIPTION.format(summary="Run", text="The key `readers` is the old one.")),
        ("include/P.td", "// The readers\n"),
        ("python/mct/a.py", 'words = {"readers": 1}  # nobody\n'),
        ("docs/a.md", "A page has readers.\n\n```text\nnobody\n```\n"),
        ("test/a.py", '"""Nobody reads it."""\n'),
        ("lib/A.cpp", 'emit() << "there is no value, and it is no longer read";\n'),
        ("docs/a.md", "# What is new\n\nWhat does it do? It runs: of all ops, the last one.\n"),
        ("python/mct/a.js", "// Nobody: a comment.\na(b ? 'c' : 'd', { e: 'f' });\n"),
    ],
)
def test_other_text_is_left_alone(tmp_path: Path, path: str, text: str) -> None:
    assert findings(tmp_path, path, text) == []
