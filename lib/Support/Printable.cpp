// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/Printable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace mct;
using llvm::StringRef;

/// Returns the number of bytes at the start of the text that are one printable
/// character; 0 if there is none.
static size_t takePrintable(StringRef text) {
  auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80)
    return llvm::isPrint(text.front()) ? 1 : 0;
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  unsigned size = llvm::getNumBytesForUTF8(first);
  if (size > text.size() || !llvm::isLegalUTF8Sequence(begin, begin + size))
    return 0;
  // U+0080 to U+009F.
  bool isControl = first == 0xc2 && begin[1] < 0xa0;
  return isControl ? 0 : size;
}

bool support::isPrintable(StringRef text) {
  while (!text.empty()) {
    size_t size = takePrintable(text);
    if (size == 0)
      return false;
    text = text.drop_front(size);
  }
  return true;
}

std::string support::makePrintable(StringRef text) {
  std::string result;
  while (!text.empty()) {
    size_t size = takePrintable(text);
    if (size == 0)
      result += "\\" + llvm::toHex(text.take_front(1));
    else
      result += text.take_front(size);
    text = text.drop_front(std::max<size_t>(size, 1));
  }
  return result;
}
