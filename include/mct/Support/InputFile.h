// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_INPUTFILE_H
#define MCT_SUPPORT_INPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mct::support {

/// The contents of a file, or of standard input for `-`: text or bytecode.
///
/// They are a copy, aligned for bytecode and with a zero behind them, so that a
/// file that somebody shortens meanwhile is merely shorter. Pipes are read to
/// their end; one that has not ended after `largestPipe` bytes is an error, as
/// is a device.
///
/// Errors do not name the file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readInputFile(llvm::StringRef path, size_t largestPipe = size_t(2) << 30);

/// Which file a path leads to, whatever its spelling: by links, hard links,
/// folders above. A file that does not exist yet is known by its folder and
/// name.
class FileIdentity {
public:
  explicit FileIdentity(llvm::StringRef path);

  /// False where either is no file that could be overwritten, as a pipe, a
  /// device or a folder that does not exist.
  bool isSameFileAs(const FileIdentity &other) const;

private:
  bool isFile = false;
  uint64_t device = 0, inode = 0;
  /// Empty for a file that exists.
  std::string name;
};

/// What the whole process reads or writes, for all calls of `checkOutputFiles`
/// behind this one: a tool tells what its passes cannot know.
void setProcessFiles(llvm::StringRef input, llvm::StringRef output);

/// Fails, naming both, when a file that will be written is another one that
/// will be, or one of `inputs`, or one of the process. Empty paths stand for
/// nothing.
llvm::Error checkOutputFiles(llvm::ArrayRef<std::string> outputs,
                             llvm::ArrayRef<std::string> inputs);

} // namespace mct::support

#endif // MCT_SUPPORT_INPUTFILE_H
