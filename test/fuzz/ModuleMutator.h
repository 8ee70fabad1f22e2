// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TEST_FUZZ_MODULEMUTATOR_H
#define MCT_TEST_FUZZ_MODULEMUTATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mct::fuzz {

/// Numbers that depend on the seed alone, on every machine (SplitMix64).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// Returns a number below `end`, which is not 0.
  size_t below(size_t end) { return size_t(next() % end); }
  bool oneIn(size_t n) { return below(n) == 0; }
  template <typename Container> auto &pick(Container &container) {
    return container[below(std::size(container))];
  }

private:
  uint64_t state;
};

/// A piece of the text of a module; together they are the text.
struct Token {
  enum Kind {
    Space,
    Comment,
    NewLine,
    Number,
    Word,   // keyword, op or attribute name
    Value,  // %name
    Alias,  // #name, !name, @name, ^name
    Type,   // tensor<…>, memref<…>, …, with all that it holds
    String, // with its quotes
    Punctuation
  };
  Kind kind;
  std::string text;
};

std::vector<Token> split(llvm::StringRef text);

/// Changes the text of modules in ways of which many are still modules: numbers
/// become extreme ones, types change in one place or in all, clauses
/// (`parameters(…)`) move between ops and modules, ops become others of their
/// kind.
class TextMutator {
public:
  /// `modules`: what clauses, types and words are taken from.
  explicit TextMutator(llvm::ArrayRef<std::string> modules);
  std::string mutate(llvm::StringRef text, Random &random) const;

private:
  using Tokens = std::vector<Token>;
  void mutateOnce(Tokens &tokens, Random &random) const;
  void changeNumber(Tokens &tokens, Random &random) const;
  void changeType(Tokens &tokens, Random &random) const;
  void changeTypeEverywhere(Tokens &tokens, Random &random) const;
  void changeSizeEverywhere(Tokens &tokens, Random &random) const;
  void changeOperand(Tokens &tokens, Random &random) const;
  void changeOp(Tokens &tokens, Random &random) const;
  void changeLine(Tokens &tokens, Random &random) const;
  void changeClause(Tokens &tokens, Random &random) const;
  void changeEntry(Tokens &tokens, Random &random) const;
  void changeElements(Tokens &tokens, Random &random) const;
  void changeString(Tokens &tokens, Random &random) const;

  std::vector<std::string> types;
  /// Text from the opening to the closing bracket, by the word before it.
  std::map<std::string, std::vector<std::string>> clauses;
  /// Text of the value, by the name before `=`.
  std::map<std::string, std::vector<std::string>> entries;
};

/// Changes bytes of bytecode, mostly in place, mostly in the sections that say
/// what there is (attributes, types and ops).
std::string mutateBytecode(llvm::StringRef bytes, llvm::StringRef other,
                           Random &random);

} // namespace mct::fuzz

#endif // MCT_TEST_FUZZ_MODULEMUTATOR_H
