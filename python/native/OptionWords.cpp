// SPDX-License-Identifier: Apache-2.0
#include "OptionWords.h"

#include "mct/Conversion/Passes.h"
#include "mct/Inspection/Passes.h"
#include "mct/Pipelines/Pipelines.h"
#include "mct/Training/Passes.h"

using namespace mct::python;

namespace {
/// Owner of an option whose words are read.
template <typename T>
struct Probe : public mlir::PassPipelineOptions<Probe<T>> {
  explicit Probe(const llvm::cl::ValuesClass &values)
      : option(*this, "probe", llvm::cl::desc(""), values) {}
  typename mlir::detail::PassOptions::Option<T> option;
};
} // namespace

template <typename T>
static OptionWords collect(llvm::StringRef type, llvm::StringRef initial,
                           T value, const llvm::cl::ValuesClass &values) {
  OptionWords result{type.str(), initial.str(), "", {}};
  Probe<T> probe(values);
  auto &parser = probe.option.getParser();
  for (unsigned number = 0; number != parser.getNumOptions(); ++number) {
    llvm::StringRef word = parser.getOption(number);
    result.words.emplace_back(word, parser.getDescription(number));
    T meaning;
    if (!parser.parse(probe.option, "probe", word, meaning) && meaning == value)
      result.initialWord = word.str();
  }
  return result;
}

std::vector<OptionWords> mct::python::getOptionWords() {
  std::vector<OptionWords> all;
#define MCT_WORDS(Type, TypeName, Initial, InitialName, Values)                \
  all.push_back(collect<Type>(TypeName, InitialName, Initial, Values));
#include "OptionWords.inc"
#undef MCT_WORDS
  return all;
}
