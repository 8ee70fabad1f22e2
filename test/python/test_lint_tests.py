# SPDX-License-Identifier: Apache-2.0
"""tools/dev/lint_tests.py finds what it is there to find, and nothing else."""

import pytest
from lint_tests import lint

PASS = """
def FoldPass : Pass<"mct-fold", "::mlir::ModuleOp"> {
  let summary = "Folds";
  let description = [{
    Folds.

    Before:
    ```mlir
    ```
    After:
    ```mlir
    ```
  }];
}
"""

ATTRIBUTE = """
def Tpc_NoteAttr
    : Tpc_Attr<"Note", "note", [Trait]> {
  let summary = "A note";
  let description = [{
    ```mlir
    #tpc.note<"text">
    ```
  }];
}
"""


def findings(tmp_path, test="", passes="", attributes="", code="", examples=("mct-fold",)):
    """Messages for a tree with one test, one Passes.td, attributes, code and the doc examples of the named passes."""
    folder = tmp_path / "test" / "Transforms"
    folder.mkdir(parents=True)
    (folder / "case.mlir").write_text(test)
    for flag in examples:
        (folder / flag).mkdir()
        (folder / flag / "doc-example.mlir").write_text("// RUN: mct-opt %s | FileCheck %s\n// CHECK: module\n")
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "Passes.td").write_text(passes)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "Code.cpp").write_text(code)
    (tmp_path / "tpc_dialect").mkdir()
    (tmp_path / "tpc_dialect" / "Attributes.td").write_text(attributes)
    return [f"{line}: {message}" for _, line, message in lint(tmp_path)]


@pytest.mark.parametrize(
    "text",
    [
        "// RUN: mct-opt %s | FileCheck %s\n// CHECK: a\n// CHECK-NEXT: b\n// CHECK-COUNT-2: c\n",
        "// RUN: mct-opt %s | FileCheck %s\n// CHECK{LITERAL}: [[d]]\n",
        "// RUN: mct-opt %s \\\n// RUN:   | FileCheck %s --check-prefixes=CHECK,FOLD\n// FOLD-SAME: a\n",
        "// RUN: mct-opt %s --verify-diagnostics --split-input-file\n",
        "// RUN: mct-opt %s -o %t.mlir\n// RUN: mct-opt %t.mlir | FileCheck %s\n",
        "// RUN: rm -rf %t && mkdir %t\n// RUN: mct-run %s --output=%t/a.npy\n// RUN: cmp %t/a.npy %t/a.npy\n",
        "// RUN: not mct-opt %s -o %t/a.mlir\n// RUN: ls %t | FileCheck %s\n",
        "// RUN: not mct-opt %s -o %t.mlir\n// RUN: not ls %t.mlir\n",
        "// RUN: mct-run %s | %python %S/compare.py\n",
        "// CHECK this prose: the file has no RUN line, so it is an input of other tests\n",
        "// RUN: mct-opt %s | FileCheck %s\n// Checks are below.\n// CHECKED twice.\n",
    ],
)
def test_accepts(tmp_path, text):
    assert findings(tmp_path, test=text) == []


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("// RUN: mct-opt %s | FileCheck %s\n// CHECK a\n", 2, "'CHECK'"),
        ("// RUN: mct-opt %s | FileCheck %s\n// CHECK-NEXT a\n", 2, "'CHECK-NEXT'"),
        ("// RUN: mct-opt %s | FileCheck %s\n// CHECK-NXT: a\n", 2, "'CHECK-NXT'"),
        ("// RUN: mct-opt %s | FileCheck %s --check-prefix=FOLD\n// FOLD-SAME a\n", 2, "'FOLD-SAME'"),
        ("// RUN: mct-opt %s\n", 1, "without an oracle"),
        ("// RUN: mct-opt %s -o %t.mlir\n// RUN: mct-opt %s | FileCheck %s\n", 1, "without an oracle"),
        ("// RUN: mct-opt %s -o %t/a.mlir\n// RUN: cmp %t/b.mlir %s\n", 1, "without an oracle"),
        ("// RUN: not mct-opt %s\n", 1, "without an oracle"),
    ],
)
def test_rejects(tmp_path, text, line, words):
    (finding,) = findings(tmp_path, test=text)
    assert finding.startswith(f"{line}: ")
    assert words in finding


def test_accepts_documented_pass(tmp_path):
    assert findings(tmp_path, passes=PASS) == []


@pytest.mark.parametrize(
    ("passes", "examples", "words"),
    [
        (PASS.replace("description", "note"), ("mct-fold",), "has no description"),
        (PASS.replace("Before:", "First:"), ("mct-fold",), "has no 'Before:'"),
        (PASS.replace("After:", "Then:"), ("mct-fold",), "has no 'After:'"),
        (PASS, (), "doc-example.mlir"),
    ],
)
def test_rejects_undocumented_pass(tmp_path, passes, examples, words):
    (finding,) = findings(tmp_path, passes=passes, examples=examples)
    assert finding.startswith("2: ")
    assert words in finding


def test_rejects_example_that_is_not_the_one_in_the_description(tmp_path):
    text = PASS.replace("```mlir\n", "```mlir\n    %0 = tosa.exp %arg0\n")
    found = findings(tmp_path, passes=text)
    assert len(found) == 2
    assert "'tosa.exp' stands under Before, but not in the input" in found[0]
    assert "'tosa.exp' stands under After, but not in the CHECK lines" in found[1]


def test_accepts_attribute_with_example(tmp_path):
    assert findings(tmp_path, attributes=ATTRIBUTE) == []


@pytest.mark.parametrize(
    "attributes",
    [
        ATTRIBUTE.replace("description", "note"),
        ATTRIBUTE.replace("```mlir", "```"),
        ATTRIBUTE.replace("#tpc.note", "#tpc.other"),
        ATTRIBUTE.replace("description", "note") + ATTRIBUTE.replace("Note", "Two").replace('"note"', '"two"'),
    ],
)
def test_rejects_attribute_without_example(tmp_path, attributes):
    finding = findings(tmp_path, attributes=attributes)[0]
    assert finding == "2: the description of attribute 'note' has no example"


def test_rejects_code_that_names_a_quantizer(tmp_path):
    code = "bool f(tpc::SymmetricConfig a);\nreturn isa<tpc::SymmetricAttr>(a);\n"
    (finding,) = findings(tmp_path, code=code)
    assert finding.startswith("2: names 'SymmetricAttr'")


def test_rejects_parameters_without_what_is_told_of_them(tmp_path):
    code = "point.setQuantizer(a, b);\npoint.setParametersAttr(a);\npoint.removeParametersAttr();\n"
    assert [finding.split(" ")[0] for finding in findings(tmp_path, code=code)] == ["2:", "3:"]


def test_rejects_remark_without_record(tmp_path):
    code = 'emitRecord(op, "mct-pass", Reason::Padded);\nop->emitRemark("padded");\n'
    (finding,) = findings(tmp_path, code=code)
    assert finding.startswith("2: emits a remark without a record")
