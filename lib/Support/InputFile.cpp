// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/InputFile.h"

#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <vector>

using namespace mct::support;

static llvm::Error systemError() {
  return llvm::createStringError(std::strerror(errno));
}

/// Returns false for terminals and /dev/null, which end; /dev/zero does not.
static bool isEndlessDevice(int descriptor, const struct stat &status) {
  if (S_ISBLK(status.st_mode))
    return true;
  return S_ISCHR(status.st_mode) && !::isatty(descriptor) &&
         status.st_rdev != makedev(1, 3);
}

/// Reads until `size` bytes are there or the file ends.
static llvm::Expected<size_t> readFully(int descriptor, char *to, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t count = ::read(descriptor, to + done, size - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError();
    if (count == 0)
      break;
    done += count;
  }
  return done;
}

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
read(int descriptor, llvm::StringRef name, size_t largestPipe) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0)
    return systemError();
  if (isEndlessDevice(descriptor, status))
    return llvm::createStringError("expected a file, found a device");

  // Bytecode contains constants that require the alignment of a page.
  const llvm::Align alignment(4096);
  auto allocate = [&](size_t size)
      -> llvm::Expected<std::unique_ptr<llvm::WritableMemoryBuffer>> {
    auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(size, name,
                                                                    alignment);
    if (!buffer)
      return llvm::createStringError(std::strerror(ENOMEM));
    return std::move(buffer);
  };

  // Files of the kernel have a size of 0 and contents nevertheless.
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    auto buffer = allocate(status.st_size);
    if (!buffer)
      return buffer.takeError();
    auto size = readFully(descriptor, (*buffer)->getBufferStart(),
                          (*buffer)->getBufferSize());
    if (!size)
      return size.takeError();
    if (*size == (*buffer)->getBufferSize())
      return std::move(*buffer);
    auto shorter = allocate(*size);
    if (!shorter)
      return shorter.takeError();
    std::memcpy((*shorter)->getBufferStart(), (*buffer)->getBufferStart(),
                *size);
    return std::move(*shorter);
  }

  constexpr size_t kBlock = size_t(1) << 20;
  std::vector<std::unique_ptr<char[]>> blocks;
  size_t total = 0;
  for (;;) {
    auto &block = blocks.emplace_back(new char[kBlock]);
    auto size = readFully(descriptor, block.get(), kBlock);
    if (!size)
      return size.takeError();
    total += *size;
    if (*size < kBlock)
      break;
    if (total >= largestPipe)
      return llvm::createStringError(
          "expected at most " + llvm::Twine(largestPipe) +
          " bytes from a pipe; write them to a file");
  }
  auto buffer = allocate(total);
  if (!buffer)
    return buffer.takeError();
  char *to = (*buffer)->getBufferStart();
  for (size_t begin = 0; begin < total; begin += kBlock)
    std::memcpy(to + begin, blocks[begin / kBlock].get(),
                std::min(kBlock, total - begin));
  return std::move(*buffer);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
mct::support::readInputFile(llvm::StringRef path, size_t largestPipe) {
  if (path == "-")
    return read(STDIN_FILENO, "<stdin>", largestPipe);
  int descriptor = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return systemError();
  auto buffer = read(descriptor, path, largestPipe);
  ::close(descriptor);
  return buffer;
}

FileIdentity::FileIdentity(llvm::StringRef path) {
  struct stat status;
  if (::stat(path.str().c_str(), &status) == 0) {
    isFile = S_ISREG(status.st_mode);
  } else {
    llvm::StringRef folder = llvm::sys::path::parent_path(path);
    isFile = ::stat(folder.empty() ? "." : folder.str().c_str(), &status) == 0;
    name = llvm::sys::path::filename(path).str();
  }
  if (isFile) {
    device = status.st_dev;
    inode = status.st_ino;
  }
}

bool FileIdentity::isSameFileAs(const FileIdentity &other) const {
  return isFile && other.isFile && device == other.device &&
         inode == other.inode && name == other.name;
}

llvm::Error mct::support::checkOutputFiles(llvm::ArrayRef<std::string> outputs,
                                           llvm::ArrayRef<std::string> inputs,
                                           const ToolFiles &tool) {
  for (size_t number = 0; number < outputs.size(); ++number) {
    const std::string &output = outputs[number];
    if (output.empty())
      continue;
    FileIdentity file(output);
    auto isSame = [&](const std::string &other) {
      return !other.empty() && file.isSameFileAs(FileIdentity(other));
    };
    auto overwrites = [&](const std::string &input) {
      return llvm::createStringError("'" + output + "' would overwrite '" +
                                     input +
                                     "', which is read; write to another file");
    };
    auto isTwice = [&](const std::string &other) {
      return llvm::createStringError("'" + other + "' and '" + output +
                                     "' are one file; write to two");
    };
    for (const std::string &input : inputs)
      if (isSame(input))
        return overwrites(input);
    if (isSame(tool.input))
      return overwrites(tool.input);
    for (const std::string &other : outputs.take_front(number))
      if (isSame(other))
        return isTwice(other);
    if (isSame(tool.output))
      return isTwice(tool.output);
  }
  return llvm::Error::success();
}
