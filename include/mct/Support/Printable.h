// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_PRINTABLE_H
#define MCT_SUPPORT_PRINTABLE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mct::support {

/// Returns whether a text has no control characters, which could steer a
/// terminal, and is UTF-8.
bool isPrintable(llvm::StringRef text);

/// Returns the text with control characters, and bytes that are not UTF-8, as
/// `\1B`.
std::string makePrintable(llvm::StringRef text);

} // namespace mct::support

#endif // MCT_SUPPORT_PRINTABLE_H
