// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/MappedFile.h"

#include "../../../tools/common/BusErrors.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

using namespace mct::support;

namespace {
class MappedFileTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("mct", folder));
    contents = "ML\xefR" + std::string(kLeastMapped, 'x') + "end";
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string write(llvm::StringRef text) {
    std::string path = (folder + "/a.mlirbc").str();
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    stream << text;
    return path;
  }
  /// Returns the kilobytes of files that are in the memory of the process.
  static int64_t residentOfFiles() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (llvm::StringRef(line).starts_with("RssFile:")) {
        int64_t kilobytes = 0;
        std::sscanf(line.c_str(), "RssFile: %ld", &kilobytes);
        return kilobytes;
      }
    return 0;
  }
  MappedFiles files;
  llvm::SmallString<128> folder;
  std::string contents;
};
} // namespace

TEST_F(MappedFileTest, LargeBytecodeIsReadWhereItLies) {
  std::string path = write(contents);
  auto buffer = llvm::cantFail(files.readModule(path));
  EXPECT_EQ(buffer->getBufferKind(), llvm::MemoryBuffer::MemoryBuffer_MMap);
  EXPECT_EQ(buffer->getBuffer(), contents);
  EXPECT_EQ(buffer->getBufferIdentifier(), path);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->getBufferStart()) % 4096, 0u);
}

TEST_F(MappedFileTest, TextAndSmallBytecodeAreCopies) {
  for (const std::string &text :
       {std::string(2 * kLeastMapped, 'x'), contents.substr(0, 100)}) {
    auto buffer = llvm::cantFail(files.readModule(write(text)));
    EXPECT_EQ(buffer->getBufferKind(), llvm::MemoryBuffer::MemoryBuffer_Malloc);
    EXPECT_EQ(buffer->getBuffer(), text);
    EXPECT_EQ(*buffer->getBufferEnd(), 0);
  }
}

TEST_F(MappedFileTest, WhatIsNoFileIsAnErrorAsElsewhere) {
  auto buffer = files.readModule((folder + "/absent").str());
  EXPECT_EQ(llvm::toString(buffer.takeError()), "No such file or directory");
}

TEST_F(MappedFileTest, ReleasedMemoryIsReadFromTheFileAgain) {
  auto buffer = llvm::cantFail(files.readModule(write(contents)));
  int64_t before = residentOfFiles();
  EXPECT_EQ(buffer->getBuffer(), contents);
  int64_t read = residentOfFiles();
  files.release();
  int64_t after = residentOfFiles();
  constexpr int64_t kKilobytes = kLeastMapped / 1024;
  EXPECT_GT(read - before, kKilobytes / 2);
  EXPECT_GT(read - after, kKilobytes / 2);
  EXPECT_EQ(buffer->getBuffer(), contents);
}

TEST_F(MappedFileTest, ChangedFilesAreAnErrorWhileTheyAreMapped) {
  std::string path = write(contents);
  auto buffer = llvm::cantFail(files.readModule(path));
  EXPECT_FALSE(static_cast<bool>(files.check()));
  write(contents + "more");
  EXPECT_EQ(llvm::toString(files.check()),
            "'" + path + "' was changed while it was read; run it again");
  buffer.reset();
  EXPECT_FALSE(static_cast<bool>(files.check()));
}

TEST_F(MappedFileTest, AFileThatTakesThePlaceOfAMappedOneChangesNothing) {
  std::string path = write(contents);
  auto buffer = llvm::cantFail(files.readModule(path));
  llvm::sys::fs::remove(path);
  write("another one");
  EXPECT_FALSE(static_cast<bool>(files.check()));
  EXPECT_EQ(buffer->getBuffer(), contents);
}

using MappedFileDeathTest = MappedFileTest;

TEST_F(MappedFileDeathTest, ReadingWhatWasCutOffEndsWithAnError) {
  std::string path = write(contents);
  EXPECT_EXIT(
      {
        mct::tools::BusErrors errors(files);
        auto buffer = llvm::cantFail(files.readModule(path));
        files.release();
        if (::truncate(path.c_str(), 4096) != 0)
          ::_exit(3);
        volatile char last = *(buffer->getBufferEnd() - 1);
        ::_exit(4 + (last == 'd'));
      },
      testing::ExitedWithCode(1),
      "error: '.*a.mlirbc' was shortened while it was read; run it again");
}

TEST_F(MappedFileDeathTest, OtherBusErrorsEndAsBefore) {
  EXPECT_EXIT(
      {
        struct sigaction action = {};
        action.sa_handler = [](int) { ::_exit(5); };
        ::sigaction(SIGBUS, &action, nullptr);
        mct::tools::BusErrors errors(files);
        std::string path = write(contents);
        int descriptor = ::open(path.c_str(), O_RDONLY);
        auto *begin = static_cast<volatile char *>(::mmap(
            nullptr, kLeastMapped, PROT_READ, MAP_PRIVATE, descriptor, 0));
        if (::truncate(path.c_str(), 0) != 0)
          ::_exit(3);
        ::_exit(6 + (begin[0] == 'M'));
      },
      testing::ExitedWithCode(5), "");
}

TEST_F(MappedFileTest, TwoSetsOfFilesKnowTheirOwn) {
  MappedFiles others;
  std::string path = write(contents);
  auto buffer = llvm::cantFail(files.readModule(path));
  const char *begin = buffer->getBufferStart();
  EXPECT_EQ(files.describeLoss(begin),
            "error: '" + path +
                "' was shortened while it was read; run it again\n");
  EXPECT_EQ(others.describeLoss(begin), "");
  write(contents + "more");
  EXPECT_FALSE(static_cast<bool>(others.check()));
  buffer.reset();
  EXPECT_EQ(files.describeLoss(begin), "");
}
