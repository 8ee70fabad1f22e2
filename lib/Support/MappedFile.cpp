// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/MappedFile.h"

#include "mct/Support/InputFile.h"

#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mct::support;

struct MappedFiles::Mapping {
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

class MappedFiles::Buffer : public llvm::MemoryBuffer {
public:
  Buffer(Mapping &file, std::mutex &mutex) : file(file), mutex(mutex) {
    init(file.begin, file.begin + file.size, /*RequiresNullTerminator=*/false);
  }
  ~Buffer() override {
    std::lock_guard<std::mutex> lock(mutex);
    ::munmap(file.begin.exchange(nullptr), file.size);
    ::close(file.descriptor);
  }
  llvm::StringRef getBufferIdentifier() const override { return file.path; }
  BufferKind getBufferKind() const override { return MemoryBuffer_MMap; }

private:
  Mapping &file;
  std::mutex &mutex;
};

MappedFiles::MappedFiles() = default;

MappedFiles::~MappedFiles() {
  while (Mapping *file = first.load()) {
    first = file->next;
    delete file;
  }
}

/// Maps a file of bytecode that is large enough; returns null for all others.
std::unique_ptr<llvm::MemoryBuffer> MappedFiles::map(llvm::StringRef path) {
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
  auto *file = new Mapping;
  file->path = name;
  file->message =
      "error: '" + name + "' was shortened while it was read; run it again\n";
  file->descriptor = descriptor;
  file->status = status;
  file->size = size_t(status.st_size);
  file->begin = static_cast<char *>(begin);
  file->next = first.load();
  first = file;
  return std::make_unique<Buffer>(*file, mutex);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
MappedFiles::readModule(llvm::StringRef path) {
  if (path != "-")
    if (auto buffer = map(path))
      return std::move(buffer);
  return readInputFile(path);
}

void MappedFiles::release() {
  std::lock_guard<std::mutex> lock(mutex);
  for (Mapping *file = first.load(); file; file = file->next)
    if (char *begin = file->begin.load())
      ::madvise(begin, file->size, MADV_DONTNEED);
}

llvm::Error MappedFiles::check() {
  std::lock_guard<std::mutex> lock(mutex);
  for (Mapping *file = first.load(); file; file = file->next) {
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

llvm::StringRef MappedFiles::describeLoss(const void *address) const {
  for (const Mapping *file = first.load(); file; file = file->next)
    if (file->contains(address))
      return file->message;
  return {};
}
