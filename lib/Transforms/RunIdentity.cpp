// SPDX-License-Identifier: Apache-2.0
//
// Everything that the result of a run depends on.
#include "CheckpointFile.h"

#include "mct/Support/Digest.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "tpc_dialect/targets/Targets.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mct;

namespace {
/// Parses the options of passes word by word.
class OptionReader {
public:
  llvm::Error read(StringRef text);
  /// Digests of the text without the contents of files, and of those contents.
  support::DigestStream options, files;

private:
  llvm::Error readWord(StringRef option, StringRef word);
  llvm::Error readFile(StringRef path);
};
} // namespace

/// Returns whether results depend on the option.
static bool counts(StringRef option) {
  static constexpr StringLiteral kOthers[] = {"threads",    "batch-size",
                                              "max-memory", "remarks",
                                              "checkpoint", "checkpoint-every"};
  return !llvm::is_contained(kOthers, option) && !option.ends_with("-out");
}

/// Returns whether the value of the option is the path of a file. A file that
/// only has the name of a value of another option, or that of a stock target,
/// is not read.
static bool isFile(StringRef option, StringRef value) {
  static constexpr StringLiteral kFiles[] = {
      "bit-widths-in", "calibration-data", "cost-table", "device",
      "labels",        "overrides",        "profile",    "statistics-in",
      "target",        "validation-data"};
  return llvm::is_contained(kFiles, option) && !tpc::lookupTarget(value) &&
         llvm::sys::fs::is_regular_file(value);
}

llvm::Error OptionReader::readFile(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return llvm::createFileError(path, file.getError());
  support::DigestStream content;
  content << (*file)->getBuffer();
  files << content.digits() << ' ';
  options << "<file>";
  return llvm::Error::success();
}

llvm::Error OptionReader::readWord(StringRef option, StringRef word) {
  if (isFile(option, word))
    return readFile(word);
  // A file of samples is written as `input:FILE.npy`.
  for (size_t at = 0; (at = word.find(':', at)) != StringRef::npos; ++at)
    if (isFile(option, word.drop_front(at + 1))) {
      options << word.take_front(at + 1);
      return readFile(word.drop_front(at + 1));
    }
  options << word;
  return llvm::Error::success();
}

llvm::Error OptionReader::read(StringRef text) {
  constexpr StringLiteral kDelimiters = " \t\n,{}()='\"";
  StringRef option;
  while (!text.empty()) {
    char first = text.front();
    StringRef word;
    if (first == '\'' || first == '"') {
      word = text.drop_front().take_until([&](char c) { return c == first; });
      text = text.drop_front(std::min(word.size() + 2, text.size()));
    } else if (kDelimiters.contains(first)) {
      options << first;
      text = text.drop_front();
      if (first == ' ' || first == '}')
        option = {};
      continue;
    } else {
      word = text.take_front(text.find_first_of(kDelimiters));
      text = text.drop_front(word.size());
      if (text.starts_with("=")) {
        option = word;
        options << word;
        continue;
      }
    }
    if (!counts(option))
      continue;
    if (llvm::Error error = readWord(option, word))
      return error;
  }
  options << '\n';
  return llvm::Error::success();
}

llvm::Expected<RunIdentity> RunIdentity::of(ModuleOp module,
                                            ArrayRef<std::string> stages) {
  RunIdentity identity;
  identity.version = MCT_VERSION;
  support::DigestStream network;
  // Writing can only fail for an older version of the format.
  (void)writeBytecodeToFile(module, network);
  identity.network = network.digits();
  OptionReader reader;
  for (const std::string &stage : stages)
    if (llvm::Error error = reader.read(stage))
      return std::move(error);
  identity.options = reader.options.digits();
  identity.files = reader.files.digits();
  return identity;
}
