// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/MappedFile.h"

#include "mct/Support/InputFile.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mct::support;

namespace {
/// A file that is mapped, or was: the handler of a signal may look at it at any
/// time, so that it stays in the list.
struct Mapping {
  std::string message;
  std::string path;
  int descriptor = -1;
  struct stat status = {};
  std::atomic<char *> begin{nullptr};
  std::atomic<size_t> size{0};
  Mapping *next = nullptr;

  bool contains(const void *address) const {
    const char *first = begin.load();
    return first && address >= first && address < first + size.load();
  }
};
} // namespace

static std::atomic<Mapping *> mappings{nullptr};
/// Held while files are mapped, released or given up.
static std::mutex mutex;
static struct sigaction previousHandler;

/// Ends the process when it has read what a file does not have any more.
static void handleBusError(int signal, siginfo_t *info, void *) {
  for (Mapping *file = mappings.load(); file; file = file->next)
    if (file->contains(info->si_addr)) {
      llvm::sys::RunInterruptHandlers();
      (void)!::write(STDERR_FILENO, file->message.data(), file->message.size());
      ::_exit(EXIT_FAILURE);
    }
  // The same instruction fails again.
  ::sigaction(signal, &previousHandler, nullptr);
}

namespace {
class MappedBuffer : public llvm::MemoryBuffer {
public:
  explicit MappedBuffer(Mapping &file) : file(file) {
    init(file.begin, file.begin + file.size, /*RequiresNullTerminator=*/false);
  }
  ~MappedBuffer() override {
    std::lock_guard<std::mutex> lock(mutex);
    ::munmap(file.begin.exchange(nullptr), file.size);
    ::close(file.descriptor);
  }
  llvm::StringRef getBufferIdentifier() const override { return file.path; }
  BufferKind getBufferKind() const override { return MemoryBuffer_MMap; }

private:
  Mapping &file;
};
} // namespace

/// Maps a file of bytecode that is large enough; returns null for all others.
static std::unique_ptr<llvm::MemoryBuffer> map(llvm::StringRef path) {
  std::string name = path.str();
  int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return nullptr;
  auto giveUp = [&]() -> std::unique_ptr<llvm::MemoryBuffer> {
    ::close(descriptor);
    return nullptr;
  };
  struct stat status;
  constexpr llvm::StringLiteral kMagic = "ML\xefR";
  char magic[kMagic.size()];
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
      size_t(status.st_size) < kLeastMapped ||
      ::pread(descriptor, magic, sizeof(magic), 0) != sizeof(magic) ||
      llvm::StringRef(magic, sizeof(magic)) != kMagic)
    return giveUp();
  void *begin = ::mmap(nullptr, size_t(status.st_size), PROT_READ, MAP_PRIVATE,
                       descriptor, 0);
  if (begin == MAP_FAILED)
    return giveUp();
  std::lock_guard<std::mutex> lock(mutex);
  if (!mappings.load()) {
    struct sigaction action = {};
    action.sa_sigaction = handleBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &previousHandler);
  }
  auto *file = new Mapping;
  file->path = name;
  file->message =
      "error: '" + name + "' was shortened while it was read; run it again\n";
  file->descriptor = descriptor;
  file->status = status;
  file->size = size_t(status.st_size);
  file->begin = static_cast<char *>(begin);
  file->next = mappings.load();
  mappings = file;
  return std::make_unique<MappedBuffer>(*file);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
mct::support::readModuleFile(llvm::StringRef path) {
  if (path != "-")
    if (auto buffer = map(path))
      return std::move(buffer);
  return readInputFile(path);
}

void mct::support::releaseMappedFiles() {
  std::lock_guard<std::mutex> lock(mutex);
  for (Mapping *file = mappings.load(); file; file = file->next)
    if (char *begin = file->begin.load())
      ::madvise(begin, file->size, MADV_DONTNEED);
}

llvm::Error mct::support::checkMappedFiles() {
  std::lock_guard<std::mutex> lock(mutex);
  for (Mapping *file = mappings.load(); file; file = file->next) {
    struct stat now;
    if (!file->begin.load() || ::fstat(file->descriptor, &now) != 0)
      continue;
    if (now.st_size != file->status.st_size ||
        now.st_mtim.tv_sec != file->status.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != file->status.st_mtim.tv_nsec)
      return llvm::createStringError("'" + file->path +
                                     "' was changed while it was read; run it "
                                     "again");
  }
  return llvm::Error::success();
}
