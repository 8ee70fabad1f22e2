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

/// Reads a file, or standard input for `-`: text or bytecode.
///
/// The contents are a copy, aligned for bytecode and followed by a zero, so
/// that truncating the file meanwhile only makes the contents shorter. Pipes
/// are read to their end; one that has not ended after `largestPipe` bytes is
/// an error, as is a device.
///
/// Errors do not name the file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readInputFile(llvm::StringRef path, size_t largestPipe = size_t(2) << 30);

/// Identifies the file at a path, whatever its spelling: links, hard links,
/// parent folders. A file that does not exist yet is identified by its folder
/// and name.
class FileIdentity {
public:
  explicit FileIdentity(llvm::StringRef path);

  /// Returns whether both are the same file; false if one of them is not a file
  /// that could be overwritten, such as a pipe, a device or a file in a folder
  /// that does not exist.
  bool isSameFileAs(const FileIdentity &other) const;

private:
  bool isFile = false;
  uint64_t device = 0, inode = 0;
  /// The name of a file that does not exist; empty for one that does.
  std::string name;
};

/// Files that a tool itself reads and writes, which its passes cannot know.
struct ToolFiles {
  std::string input, output;
};

/// Fails, naming both files, if an output is another output, one of `inputs`,
/// or a file of the tool. Empty paths are ignored.
llvm::Error checkOutputFiles(llvm::ArrayRef<std::string> outputs,
                             llvm::ArrayRef<std::string> inputs,
                             const ToolFiles &tool = {});

} // namespace mct::support

#endif // MCT_SUPPORT_INPUTFILE_H
