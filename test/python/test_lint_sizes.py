# SPDX-License-Identifier: Apache-2.0
"""tools/dev/lint_sizes.py counts the lines of files and functions as a reader does."""

import pytest
from lint_sizes import cpp_functions, lint

CPP = """// SPDX-License-Identifier: Apache-2.0
namespace {
class Node {
public:
  explicit Node(int number) : number(number) {}
  int get() const { return number; }

private:
  int number;
};

const char *kText = R"(func.func @main() {
  return
})";

template <typename T>
auto twice(T value)
    -> decltype(value + value) {
  if (value) {
    auto twice = [&](T other) { return other + other; }; // {
    return twice(value);
  }
  return value; // "}
}
} // namespace
TEST(NodeTest, HasItsNumber) {
  char brace = '{';
  EXPECT_EQ(Node(1'000).get(), 1000);
}
"""


def test_functions_are_found_by_their_first_and_last_line():
    assert list(cpp_functions(CPP)) == [(5, 5), (6, 6), (16, 24), (26, 29)]


def function(lines):
    return "int make(int value) {\n" + "  ++value;\n" * (lines - 2) + "}\n"


def script(lines):
    return "def make():\n" + "    pass\n" * (lines - 1)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("lib/IR/Long.cpp", function(100), None),
        ("lib/IR/Long.cpp", function(101), "1: function has 101 lines, expected at most 100"),
        ("test/python/test_long.py", script(100), None),
        ("test/python/test_long.py", script(101), "1: function has 101 lines, expected at most 100"),
        ("tools/dev/long", "#!/usr/bin/env python3\n" + script(101), "2: function has 101 lines"),
        ("include/mct/IR/Long.h", "int value;\n" * 800, None),
        (
            "include/mct/IR/Long.h",
            "int value;\n" * 801,
            "801: has 801 lines, expected at most 800",
        ),
        ("test/Transforms/long.mlir", "// CHECK: a\n" * 801, "801: has 801 lines"),
        ("python/mct/bad.py", "a = 1\n<<<<<<< HEAD\n", "2: cannot be read: invalid syntax"),
        ("docs/long.md", "text\n" * 801, None),
    ],
)
def test_long_files_and_functions_are_refused(tmp_path, name, text, message):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    found = [f"{line}: {finding}" for _, line, finding in lint(tmp_path)]
    assert len(found) == (message is not None)
    assert not found or found[0].startswith(message)
