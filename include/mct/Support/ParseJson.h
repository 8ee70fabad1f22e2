// SPDX-License-Identifier: Apache-2.0
//
// Parses JSON from untrusted files.
#ifndef MCT_SUPPORT_PARSEJSON_H
#define MCT_SUPPORT_PARSEJSON_H

#include "llvm/Support/JSON.h"

namespace mct::support {

/// Largest nesting depth of arrays and objects.
inline constexpr unsigned kMaxJsonDepth = 64;

/// Parses JSON, and fails for more than kMaxJsonDepth levels of nesting, and
/// for an object that names a member twice. `json::parse` alone recurses for
/// every level, and keeps the last of several members of one name.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace mct::support

#endif // MCT_SUPPORT_PARSEJSON_H
