// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/OutputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mct::support;

static std::error_code lastError() {
  return std::error_code(errno, std::generic_category());
}

/// Permissions of a file that is created plainly.
static mode_t plainMode() {
  mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

OutputFile::OutputFile(llvm::StringRef path) : path(path.str()) {
  // Renaming onto a link would replace the link, not what it points to.
  llvm::SmallString<128> resolved;
  if (!llvm::sys::fs::real_path(path, resolved))
    this->path = std::string(resolved);
}

OutputFile::~OutputFile() {
  flush();
  if (descriptor >= 0)
    ::close(descriptor);
  if (!temporaryPath.empty()) {
    ::unlink(temporaryPath.c_str());
    llvm::sys::DontRemoveFileOnSignal(temporaryPath);
  }
}

std::error_code OutputFile::openDescriptor() {
  struct stat status;
  bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    isDirect = true;
    descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return descriptor < 0 ? lastError() : std::error_code();
  }
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  std::string folderPath = folder.empty() ? "." : folder.str();
  // A nameless file gets its name by way of /proc, which some containers lack.
  bool canName = ::access("/proc/self/fd", X_OK) == 0;
  if (canName)
    descriptor =
        ::open(folderPath.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (!canName ||
      (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR))) {
    // A file system without nameless files.
    temporaryPath = path + ".XXXXXX";
    descriptor = ::mkostemp(temporaryPath.data(), O_CLOEXEC);
    if (descriptor < 0)
      temporaryPath.clear();
    else
      llvm::sys::RemoveFileOnSignal(temporaryPath);
  }
  if (descriptor < 0)
    return lastError();
  ::fchmod(descriptor, exists ? status.st_mode & 07777 : plainMode());
  return {};
}

llvm::Error OutputFile::open() {
  if (!error && descriptor < 0)
    error = openDescriptor();
  return error ? llvm::createFileError(path, error) : llvm::Error::success();
}

void OutputFile::write_impl(const char *data, size_t size) {
  if (!error && descriptor < 0)
    error = openDescriptor();
  while (!error && size > 0) {
    ssize_t count = ::write(descriptor, data, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      error = lastError();
      return;
    }
    data += count;
    size -= count;
    written += count;
  }
}

std::error_code OutputFile::giveName() {
  if (temporaryPath.empty()) {
    // Linking cannot replace a file, renaming can: a name for a moment.
    std::string nameless = "/proc/self/fd/" + llvm::utostr(descriptor);
    std::string name = path + "." + llvm::utostr(::getpid()) + ".tmp";
    if (::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name.c_str(),
                 AT_SYMLINK_FOLLOW) != 0)
      return lastError();
    temporaryPath = name;
  }
  if (::rename(temporaryPath.c_str(), path.c_str()) != 0)
    return lastError();
  llvm::sys::DontRemoveFileOnSignal(temporaryPath);
  temporaryPath.clear();
  return {};
}

llvm::Error OutputFile::keep() {
  flush();
  if (llvm::Error failed = open())
    return failed;
  if (!isDirect)
    error = giveName();
  if (::close(std::exchange(descriptor, -1)) != 0 && !error)
    error = lastError();
  return error ? llvm::createFileError(path, error) : llvm::Error::success();
}
