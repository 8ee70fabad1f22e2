// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_TEMPORARYFILE_H
#define MCT_SUPPORT_TEMPORARYFILE_H

#include "llvm/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace mct::support {

/// A nameless file in the system's folder for temporary files (`TMPDIR`), which
/// is deleted with this object, however the process ends. Thread safe.
class TemporaryFile {
public:
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  static llvm::Expected<std::unique_ptr<TemporaryFile>> create();

  /// Writes bytes. Errors name the folder.
  llvm::Error write(uint64_t offset, size_t size, const void *from);
  /// Reads bytes. Fails if they were not written before.
  llvm::Error read(uint64_t offset, size_t size, void *to) const;

private:
  explicit TemporaryFile(int descriptor) : descriptor(descriptor) {}
  int descriptor;
};

} // namespace mct::support

#endif // MCT_SUPPORT_TEMPORARYFILE_H
