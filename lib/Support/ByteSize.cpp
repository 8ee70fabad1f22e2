// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/ByteSize.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

llvm::Expected<int64_t> mct::support::parseByteSize(llvm::StringRef text,
                                                    llvm::StringRef option) {
  if (text.empty())
    return 0;
  llvm::StringRef digits =
      text.take_while([](char c) { return llvm::isDigit(c); });
  int64_t unit = llvm::StringSwitch<int64_t>(text.drop_front(digits.size()))
                     .Case("", 1)
                     .CaseLower("k", int64_t(1) << 10)
                     .CaseLower("m", int64_t(1) << 20)
                     .CaseLower("g", int64_t(1) << 30)
                     .Default(0);
  int64_t number, bytes;
  if (unit == 0 || digits.getAsInteger(10, number) ||
      llvm::MulOverflow(number, unit, bytes))
    return llvm::createStringError(option +
                                   ": expected a number of bytes, which may "
                                   "end in K, M or G, but got '" +
                                   text + "'");
  return bytes;
}
