// SPDX-License-Identifier: Apache-2.0
//
// Maps modules with many weights instead of reading them, so that the system
// may reclaim their memory and read it from the file again.
#ifndef MCT_SUPPORT_MAPPEDFILE_H
#define MCT_SUPPORT_MAPPEDFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace mct::support {

/// Smallest size in bytes of bytecode that `readModuleFile` maps.
inline constexpr size_t kLeastMapped = size_t(4) << 20;

/// Reads a module as `readInputFile` does, but maps large files of bytecode
/// instead of copying them; such a buffer is not followed by a zero.
///
/// A mapped file may be changed by others while it is read, which
/// `checkMappedFiles` detects. A process that reads a truncated part removes
/// its temporary files and ends with an error that names the file. For tools:
/// it handles `SIGBUS`.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readModuleFile(llvm::StringRef path);

/// Releases the memory of all mapped files that is not being read. Later reads
/// load it from the file again. Other threads may read meanwhile.
void releaseMappedFiles();

/// Fails, naming the file, if a mapped file has been changed.
llvm::Error checkMappedFiles();

} // namespace mct::support

#endif // MCT_SUPPORT_MAPPEDFILE_H
