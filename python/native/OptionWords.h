// SPDX-License-Identifier: Apache-2.0
//
// The words of options that have one of a closed set, as the command line
// knows them.
#ifndef MCT_PYTHON_NATIVE_OPTIONWORDS_H
#define MCT_PYTHON_NATIVE_OPTIONWORDS_H

#include <string>
#include <utility>
#include <vector>

namespace mct::python {

struct OptionWords {
  /// The C++ type, and the value that an option of that type begins with.
  std::string type, initial;
  /// The word of `initial`.
  std::string initialWord;
  /// Words and their descriptions.
  std::vector<std::pair<std::string, std::string>> words;
};

/// Returns an entry for each type and initial value in the definitions of the
/// options.
std::vector<OptionWords> getOptionWords();

} // namespace mct::python

#endif // MCT_PYTHON_NATIVE_OPTIONWORDS_H
