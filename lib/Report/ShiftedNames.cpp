// SPDX-License-Identifier: Apache-2.0
#include "ShiftedNames.h"
#include "mct/IR/Names.h"

using llvm::StringRef;

/// Returns a name without the suffix and the number that makes it unique; empty
/// if there is no suffix.
static StringRef dropSuffix(StringRef name) {
  StringRef plain = name.rtrim("0123456789");
  if (plain.size() != name.size() && plain.consume_back("_") &&
      plain.consume_back(mct::kShiftedSuffix))
    return plain;
  return name.consume_back(mct::kShiftedSuffix) ? name : StringRef();
}

std::string mct::report::unshift(StringRef name) {
  if (StringRef plain = dropSuffix(name); !plain.empty())
    return plain.str();
  auto [owner, weight] = name.rsplit('/');
  StringRef plain = weight.empty() ? StringRef() : dropSuffix(owner);
  return plain.empty() ? "" : (plain + "/" + weight).str();
}
