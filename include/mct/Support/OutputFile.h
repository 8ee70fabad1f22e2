// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_OUTPUTFILE_H
#define MCT_SUPPORT_OUTPUTFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <system_error>

namespace mct::support {

/// A file that gets its name when it is complete, or never: data are written to
/// a nameless file in the same folder, which gets the name in `keep`. Until
/// then, and if the process fails or is killed, an existing file of that name
/// stays as it is and no other file remains.
///
/// A path that is not a regular file (`/dev/null`, a pipe) is written directly.
///
/// `llvm::writeToOutput` leaves a named temporary file if the process is
/// killed, replaces links, and gives the file other permissions.
class OutputFile : public llvm::raw_ostream {
public:
  /// Does not access the file system until the first byte is written.
  explicit OutputFile(llvm::StringRef path);
  /// Discards the written data, unless `keep` was called.
  ~OutputFile() override;

  /// Opens the file before anything is written, in order to report an
  /// unwritable folder early.
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
