// SPDX-License-Identifier: Apache-2.0
//
// The file: a magic number, a version, three digests, the step, both lists of
// tensors, and a hash of all that. Numbers are of 8 bytes, little endian.
#include "TrainingCheckpoint.h"

#include "mct/Support/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace mct;
using llvm::StringRef;

static_assert(llvm::endianness::native == llvm::endianness::little,
              "numbers are written as they lie in memory");

static constexpr StringRef kMagic = "mct training\n";
static constexpr uint64_t kVersion = 1;

static uint64_t computeHash(StringRef bytes) {
  return llvm::xxh3_64bits(bytes);
}

namespace {
class Writer {
public:
  void write(uint64_t number) {
    bytes.append(reinterpret_cast<const char *>(&number), sizeof(number));
  }
  void write(StringRef text) {
    write(uint64_t(text.size()));
    bytes += text;
  }
  void write(const std::vector<std::vector<float>> &tensors) {
    write(uint64_t(tensors.size()));
    for (const std::vector<float> &tensor : tensors)
      write(StringRef(reinterpret_cast<const char *>(tensor.data()),
                      tensor.size() * sizeof(float)));
  }
  std::string bytes;
};

/// Reads a checkpoint; missing fields are read as empty values.
class Reader {
public:
  explicit Reader(StringRef bytes) : bytes(bytes) {}

  uint64_t number() {
    uint64_t read = 0;
    if (bytes.size() >= sizeof(read))
      std::memcpy(&read, bytes.data(), sizeof(read));
    else
      isComplete = false;
    bytes = bytes.drop_front(std::min(bytes.size(), sizeof(read)));
    return read;
  }
  StringRef text() {
    uint64_t size = number();
    isComplete &= size <= bytes.size();
    StringRef read = bytes.take_front(size);
    bytes = bytes.drop_front(read.size());
    return read;
  }
  std::vector<std::vector<float>> tensors() {
    uint64_t count = number();
    std::vector<std::vector<float>> read;
    for (uint64_t i = 0; i != count && isComplete; ++i) {
      StringRef values = text();
      std::vector<float> &tensor =
          read.emplace_back(values.size() / sizeof(float));
      // If there is no state, there is no memory to copy from.
      if (!tensor.empty())
        std::memcpy(tensor.data(), values.data(),
                    tensor.size() * sizeof(float));
    }
    return read;
  }

  StringRef bytes;
  bool isComplete = true;
};
} // namespace

llvm::Error TrainingCheckpoint::write(StringRef path) const {
  Writer writer;
  writer.bytes = kMagic.str();
  writer.write(kVersion);
  for (const std::string &digest : {network, settings, samples})
    writer.write(StringRef(digest));
  writer.write(uint64_t(step));
  writer.write(values);
  writer.write(states);
  writer.write(computeHash(writer.bytes));
  support::OutputFile file(path);
  file << writer.bytes;
  return file.keep();
}

llvm::Expected<TrainingCheckpoint> TrainingCheckpoint::read(StringRef path) {
  auto fail = [&](const llvm::Twine &what) {
    return llvm::createStringError("'" + path + "' " + what);
  };
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return fail("cannot be read: " + file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  if (!bytes.starts_with(kMagic))
    return fail("is not a checkpoint of a training run");
  Reader reader(bytes.drop_front(kMagic.size()));
  if (uint64_t version = reader.number();
      reader.isComplete && version != kVersion)
    return fail("is a checkpoint of version " + llvm::Twine(version) +
                ", and version " + llvm::Twine(kVersion) + " can be read");
  TrainingCheckpoint checkpoint;
  for (std::string *digest :
       {&checkpoint.network, &checkpoint.settings, &checkpoint.samples})
    *digest = reader.text().str();
  checkpoint.step = int64_t(reader.number());
  checkpoint.values = reader.tensors();
  checkpoint.states = reader.tensors();
  StringRef hashed = bytes.drop_back(reader.bytes.size());
  if (uint64_t hash = reader.number(); !reader.isComplete ||
                                       hash != computeHash(hashed) ||
                                       !reader.bytes.empty())
    return fail("is damaged; remove it to start again");
  return checkpoint;
}
