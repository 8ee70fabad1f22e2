// SPDX-License-Identifier: Apache-2.0
//
// JSON files of measurements, which have a common header.
#ifndef MCT_SUPPORT_MEASUREDFILE_H
#define MCT_SUPPORT_MEASUREDFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <set>
#include <string>

namespace mct::support {

/// Reads such a file of version 1. `format` is "mct-" followed by the name of
/// the document in messages. `read` gets the members after the header; if it
/// returns false, it has reported an error at the path, and `detail` is added
/// to the message. `instructionSets` gets those of the machines that created
/// the file. Errors name the file.
llvm::Error
readMeasuredFile(llvm::StringRef path, llvm::StringRef format,
                 std::set<std::string> &instructionSets,
                 llvm::function_ref<bool(llvm::json::Object &, llvm::json::Path,
                                         std::string &detail)>
                     read);

/// Writes the header of such a file.
void writeMeasuredHeader(llvm::json::OStream &stream, llvm::StringRef format,
                         const std::set<std::string> &instructionSets);

} // namespace mct::support

#endif // MCT_SUPPORT_MEASUREDFILE_H
