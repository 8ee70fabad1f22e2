// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_OUTPUTFILE_H
#define MCT_SUPPORT_OUTPUTFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <system_error>

namespace mct::support {

/// A file that has its name when it is complete, or never: what is written goes
/// to a nameless file in the same folder, which takes the name in `keep`. Until
/// then, and when the process fails or is killed, a file of that name stays as
/// it is and nothing lies beside it.
///
/// A path that is not a regular file (`/dev/null`, a pipe) is written directly.
///
/// `llvm::writeToOutput` leaves a named temporary file when the process is
/// killed, replaces links, and gives the file other permissions.
class OutputFile : public llvm::raw_ostream {
public:
  /// Touches nothing until the first byte is written.
  explicit OutputFile(llvm::StringRef path);
  /// Drops what was written, unless `keep` was called.
  ~OutputFile() override;

  /// Opens the file before anything is written, to report a folder that cannot
  /// be written to early.
  llvm::Error open();
  /// Gives the file its name. Returns the error of the first failing step, with
  /// the path.
  llvm::Error keep();

private:
  void write_impl(const char *data, size_t size) override;
  uint64_t current_pos() const override { return written; }
  std::error_code openDescriptor();
  std::error_code giveName();

  std::string path;
  /// Path of the file while it has another name: on file systems without
  /// nameless files, and while `keep` renames.
  std::string temporaryPath;
  std::error_code error;
  int descriptor = -1;
  bool isDirect = false;
  uint64_t written = 0;
};

} // namespace mct::support

#endif // MCT_SUPPORT_OUTPUTFILE_H
