// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_BYTESIZE_H
#define MCT_SUPPORT_BYTESIZE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace mct::support {

/// Parses a number of bytes, which may have the suffix K, M or G for multiples
/// of 1024, 1024^2 or 1024^3. Empty text is 0. Fails for anything else, naming
/// the option.
llvm::Expected<int64_t> parseByteSize(llvm::StringRef text,
                                      llvm::StringRef option);

} // namespace mct::support

#endif // MCT_SUPPORT_BYTESIZE_H
