#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a new pass that compiles, its entry in Passes.td and CMakeLists.txt, and its first test.

    tools/dev/new_pass.py mct-fold-negations [--library Transforms]

The pass replaces every `tosa.identity` by its operand until its author writes something else. docs/dev/add-a-pass.md
goes on from there.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

DECLARATION = """\
def {Name}Pass : Pass<"{flag}", "::mlir::func::FuncOp"> {{
  let summary = "Remove identities";
  let description = [{{
    Replaces every `tosa.identity` by its operand. Exact.

    Before:
    ```mlir
    %0 = tosa.identity %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %1 = tosa.exp %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
    ```

    After:
    ```mlir
    %0 = tosa.exp %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
    ```
  }}];
  let dependentDialects = ["::mlir::tosa::TosaDialect"];
}}
"""

SOURCE = """\
// SPDX-License-Identifier: Apache-2.0
#include "mct/{library}/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace mct {{
#define GEN_PASS_DEF_{NAME}PASS
#include "mct/{library}/Passes.h.inc"
}} // namespace mct

using namespace mlir;
using namespace mct;

namespace {{
struct {Name}Pass
    : public mct::impl::{Name}PassBase<{Name}Pass> {{
  using {Name}PassBase::{Name}PassBase;

  void runOnOperation() override {{
    getOperation().walk([](tosa::IdentityOp op) {{
      op.getResult().replaceAllUsesWith(op.getInput1());
      op.erase();
    }});
  }}
}};
}} // namespace
"""

TEST = """\
// RUN: mct-opt %s --{flag} | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[^:]*]]:
// CHECK-NEXT:    %[[Y:.*]] = tosa.exp %[[X]]
// CHECK-NEXT:    return %[[Y]]
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {{
  %0 = tosa.identity %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tosa.exp %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}}
"""


class Refused(Exception):
    """The pass cannot be written."""


def class_name(flag: str) -> str:
    return "".join(word.capitalize() for word in flag.split("-")[1:])


def with_source(cmake: str, source: str) -> str:
    """Returns the list file of a library with one more source, in the order of the alphabet."""
    lines = cmake.splitlines(keepends=True)
    sources = [number for number, line in enumerate(lines) if re.match(r" +\w+\.cpp$", line)]
    following = [number for number in sources if lines[number].strip() > source]
    lines.insert(following[0] if following else sources[-1] + 1, f"  {source}\n")
    return "".join(lines)


def write_pass(root: Path, flag: str, library: str) -> list[Path]:
    """Returns the files that it wrote or changed. Raises Refused before it has written anything."""
    if not re.fullmatch(r"mct(-[a-z][a-z0-9]*)+", flag):
        raise Refused(
            f"'{flag}' is no flag of a pass; expected 'mct-' and words in lower case, such as mct-fold-negations"
        )
    name = class_name(flag)
    declarations = root / "include" / "mct" / library / "Passes.td"
    cmake = root / "lib" / library / "CMakeLists.txt"
    source = root / "lib" / library / f"{name}.cpp"
    test = root / "test" / library / flag / "doc-example.mlir"
    if not declarations.exists():
        known = sorted(path.parent.name for path in (root / "include" / "mct").glob("*/Passes.td"))
        raise Refused(f"there is no library of passes '{library}'; there are {', '.join(known)}")
    for path in (source, test):
        if path.exists():
            raise Refused(f"{path.relative_to(root)} exists already")
    words = {"Name": name, "NAME": name.upper(), "flag": flag, "library": library}
    before, end, after = declarations.read_text().rpartition("#endif")
    declarations.write_text(f"{before}{DECLARATION.format(**words)}\n{end}{after}")
    cmake.write_text(with_source(cmake.read_text(), source.name))
    source.write_text(SOURCE.format(**words))
    test.parent.mkdir(parents=True)
    test.write_text(TEST.format(**words))
    return [declarations, cmake, source, test]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("flag", help="flag of the pass: mct-VERB-OBJECT")
    parser.add_argument("--library", default="Transforms", help="folder below lib/ (default: Transforms)")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2], help="the checkout to write to")
    options = parser.parse_args()
    try:
        for path in write_pass(options.root.resolve(), options.flag, options.library):
            print(path.relative_to(options.root.resolve()))
    except Refused as refusal:
        print(f"new_pass.py: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
