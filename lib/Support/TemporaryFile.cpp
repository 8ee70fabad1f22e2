// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/TemporaryFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <unistd.h>

using namespace mct::support;

static llvm::Error fail(std::error_code code) {
  llvm::SmallString<128> folder;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  return llvm::createStringError(
      code, "a temporary file in '" + folder + "': " + code.message() +
                "; give TMPDIR a folder with more room");
}

static llvm::Error failWithErrno() {
  return fail(std::error_code(errno, std::generic_category()));
}

llvm::Expected<std::unique_ptr<TemporaryFile>> TemporaryFile::create() {
  int descriptor;
  llvm::SmallString<128> path;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("mct", "tmp", descriptor, path))
    return fail(code);
  llvm::sys::fs::remove(path);
  return std::unique_ptr<TemporaryFile>(new TemporaryFile(descriptor));
}

TemporaryFile::~TemporaryFile() { ::close(descriptor); }

llvm::Error TemporaryFile::write(uint64_t offset, size_t size,
                                 const void *from) {
  const auto *bytes = static_cast<const char *>(from);
  while (size != 0) {
    ssize_t count = ::pwrite(descriptor, bytes, size, off_t(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failWithErrno();
    bytes += count;
    offset += uint64_t(count);
    size -= size_t(count);
  }
  return llvm::Error::success();
}

llvm::Error TemporaryFile::read(uint64_t offset, size_t size, void *to) const {
  auto *bytes = static_cast<char *>(to);
  while (size != 0) {
    ssize_t count = ::pread(descriptor, bytes, size, off_t(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failWithErrno();
    if (count == 0)
      return fail(std::make_error_code(std::errc::io_error));
    bytes += count;
    offset += uint64_t(count);
    size -= size_t(count);
  }
  return llvm::Error::success();
}
