// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <sys/stat.h>

using mct::support::OutputFile;

namespace {
class OutputFileTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("mct", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) {
    llvm::SmallString<128> result(folder);
    llvm::sys::path::append(result, name);
    return std::string(result);
  }

  void write(const std::string &file, llvm::StringRef text) {
    OutputFile output(file);
    output << text;
    ASSERT_FALSE(static_cast<bool>(output.keep()));
  }

  std::string read(const std::string &file) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    return buffer ? (*buffer)->getBuffer().str() : "(absent)";
  }

  size_t filesInFolder() {
    std::error_code error;
    size_t count = 0;
    for (llvm::sys::fs::directory_iterator entry(folder, error), end;
         entry != end && !error; entry.increment(error))
      ++count;
    return count;
  }

  static mode_t mode(const std::string &file) {
    struct stat status = {};
    EXPECT_EQ(::stat(file.c_str(), &status), 0);
    return status.st_mode;
  }

  llvm::SmallString<128> folder;
};
} // namespace

TEST_F(OutputFileTest, HasItsNameOnlyWhenItIsKept) {
  OutputFile output(path("a"));
  output << "text";
  output.flush();
  EXPECT_EQ(filesInFolder(), 0u);
  ASSERT_FALSE(static_cast<bool>(output.keep()));
  EXPECT_EQ(read(path("a")), "text");
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(OutputFileTest, DroppedItLeavesAnExistingFileAndNothingElse) {
  write(path("a"), "old");
  {
    OutputFile output(path("a"));
    output << "new";
  }
  EXPECT_EQ(read(path("a")), "old");
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(OutputFileTest, EmptyFilesAreFilesToo) {
  write(path("empty"), "");
  EXPECT_EQ(read(path("empty")), "");
}

TEST_F(OutputFileTest, ReplacesAnExistingFileAndKeepsItsPermissions) {
  write(path("a"), "old");
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  write(path("a"), "new");
  EXPECT_EQ(read(path("a")), "new");
  EXPECT_EQ(mode(path("a")) & 07777, 0640u);
}

TEST_F(OutputFileTest, ALinkStaysALink) {
  write(path("target"), "old");
  ASSERT_FALSE(llvm::sys::fs::create_link(path("target"), path("link")));
  write(path("link"), "new");
  EXPECT_EQ(read(path("target")), "new");
  EXPECT_TRUE(llvm::sys::fs::is_symlink_file(path("link")));
}

// Renaming a file over a device would be possible for root, and a disaster.
TEST_F(OutputFileTest, ADeviceIsWrittenAndStaysADevice) {
  ASSERT_TRUE(S_ISCHR(mode("/dev/null")));
  write("/dev/null", "gone");
  EXPECT_TRUE(S_ISCHR(mode("/dev/null")));
}

TEST_F(OutputFileTest, ErrorsNameThePath) {
  OutputFile output(path("no/such/folder/a"));
  output << "text";
  llvm::Error error = output.keep();
  ASSERT_TRUE(static_cast<bool>(error));
  EXPECT_NE(llvm::toString(std::move(error)).find("no/such/folder/a"),
            std::string::npos);
  OutputFile directory{std::string(folder)};
  EXPECT_TRUE(static_cast<bool>(llvm::errorToBool(directory.open())));
}
