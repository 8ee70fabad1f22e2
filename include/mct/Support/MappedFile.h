// SPDX-License-Identifier: Apache-2.0
//
// Modules of many weights are read where the file lies, so that the system may
// take their memory back: what is needed again comes from the file.
#ifndef MCT_SUPPORT_MAPPEDFILE_H
#define MCT_SUPPORT_MAPPEDFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace mct::support {

/// Bytecode of at least so many bytes is mapped by `MappedFiles`.
inline constexpr size_t kLeastMapped = size_t(4) << 20;

/// The files that a tool has mapped; its buffers must not outlive it. While a
/// mapped file is read, somebody may change it: `check` tells. Reading what was
/// cut off from a file raises `SIGBUS`, whose handler asks `describeLoss`.
/// Thread safe.
class MappedFiles {
public:
  MappedFiles();
  ~MappedFiles();

  /// Reads a module as `readInputFile` does, but maps large files of bytecode
  /// instead of copying them: nothing ends such a buffer in a zero.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  readModule(llvm::StringRef path);

  /// Gives the memory of all files back, unless it is read at the moment.
  /// Later reads take it from the file again. Others may read meanwhile.
  void release();

  /// Fails, naming it, when a file that is mapped was changed meanwhile.
  llvm::Error check();

  /// Returns the error, with the name of the file, of a read that found nothing
  /// at an address of a file that is mapped; empty text for other addresses.
  /// For handlers of signals, which may interrupt every other call.
  llvm::StringRef describeLoss(const void *address) const;

private:
  struct Mapping;
  class Buffer;
  std::unique_ptr<llvm::MemoryBuffer> map(llvm::StringRef path);

  /// A handler of signals may look at any time, so that what was mapped stays
  /// in the list.
  std::atomic<Mapping *> first{nullptr};
  /// Held while files are mapped, released or given up.
  std::mutex mutex;
};

} // namespace mct::support

#endif // MCT_SUPPORT_MAPPEDFILE_H
