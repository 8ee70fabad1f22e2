// SPDX-License-Identifier: Apache-2.0
//
// JSON that anybody may have written.
#ifndef TPC_DIALECT_JSON_PARSEJSON_H
#define TPC_DIALECT_JSON_PARSEJSON_H

#include "llvm/Support/JSON.h"

namespace mct::tpc {

/// Arrays and objects inside of each other that are read.
inline constexpr unsigned kMaxJsonDepth = 64;

/// `json::parse`, which calls itself for every level of nesting and keeps the
/// last of several members of one name: fails for more than kMaxJsonDepth
/// levels, and for an object that names a member twice.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace mct::tpc

#endif // TPC_DIALECT_JSON_PARSEJSON_H
