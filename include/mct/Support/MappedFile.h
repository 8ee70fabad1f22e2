// SPDX-License-Identifier: Apache-2.0
//
// Modules of many weights are read where the file lies, so that the system may
// take their memory back: what is needed again comes from the file.
#ifndef MCT_SUPPORT_MAPPEDFILE_H
#define MCT_SUPPORT_MAPPEDFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace mct::support {

/// Bytecode of at least so many bytes is mapped by `readModuleFile`.
inline constexpr size_t kLeastMapped = size_t(4) << 20;

/// Reads a module as `readInputFile` does, but maps large files of bytecode
/// instead of copying them: nothing ends such a buffer in a zero.
///
/// While a mapped file is read, somebody may change it. `checkMappedFiles`
/// tells; and a process that reads what was cut off removes its temporary files
/// and ends with an error that names the file. For tools: it handles `SIGBUS`.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readModuleFile(llvm::StringRef path);

/// Gives the memory of all mapped files back, unless it is read at the moment.
/// Later reads take it from the file again. Others may read meanwhile.
void releaseMappedFiles();

/// Fails, naming it, when a file that is mapped was changed meanwhile.
llvm::Error checkMappedFiles();

} // namespace mct::support

#endif // MCT_SUPPORT_MAPPEDFILE_H
