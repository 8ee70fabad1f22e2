// SPDX-License-Identifier: Apache-2.0
//
// Maps modules with many weights instead of reading them, so that the system
// may reclaim their memory and read it from the file again.
#ifndef MCT_SUPPORT_MAPPEDFILE_H
#define MCT_SUPPORT_MAPPEDFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace mct::support {

/// Smallest size in bytes of bytecode that `MappedFiles` maps.
inline constexpr size_t kLeastMapped = size_t(4) << 20;

/// The files that a tool has mapped. Buffers must not outlive this object. A
/// mapped file may be changed by others while it is read, which `check`
/// detects. Reading a truncated part of a file raises `SIGBUS`, whose handler
/// calls `describeLoss`. Thread safe.
class MappedFiles {
public:
  MappedFiles();
  ~MappedFiles();

  /// Reads a module as `readInputFile` does, but maps large files of bytecode
  /// instead of copying them; such a buffer is not followed by a zero.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  readModule(llvm::StringRef path);

  /// Releases the memory of all files that is not being read. Later reads load
  /// it from the file again. Other threads may read meanwhile.
  void release();

  /// Fails, naming the file, if a mapped file has been changed.
  llvm::Error check();

  /// Returns the error message, with the name of the file, of a read from a
  /// truncated part of a mapped file at `address`; an empty text for other
  /// addresses. For signal handlers, which may interrupt every other call.
  llvm::StringRef describeLoss(const void *address) const;

private:
  struct Mapping;
  class Buffer;
  std::unique_ptr<llvm::MemoryBuffer> map(llvm::StringRef path);

  /// A signal handler may read the list at any time, so that entries are never
  /// removed.
  std::atomic<Mapping *> first{nullptr};
  /// Held while files are mapped, released or unmapped.
  std::mutex mutex;
};

} // namespace mct::support

#endif // MCT_SUPPORT_MAPPEDFILE_H
