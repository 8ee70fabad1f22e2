// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/InputFile.h"
#include "mct/Support/Threads.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mct::support;

namespace {
class InputFileTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("mct", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) { return (folder + "/" + name).str(); }
  std::string write(llvm::StringRef name, llvm::StringRef contents) {
    std::error_code error;
    llvm::raw_fd_ostream stream(path(name), error);
    stream << contents;
    return path(name);
  }
  static std::string errorOf(const std::string &path) {
    auto buffer = readInputFile(path);
    return buffer ? "" : llvm::toString(buffer.takeError());
  }
  static bool same(const std::string &left, const std::string &right) {
    return FileIdentity(left).isSameFileAs(FileIdentity(right));
  }
  llvm::SmallString<128> folder;
};
} // namespace

TEST_F(InputFileTest, ContentsAreAlignedAndEndInAZero) {
  for (size_t size : {size_t(0), size_t(5), size_t(4096), size_t(100000)}) {
    std::string name = write("a", std::string(size, 'x'));
    auto buffer = llvm::cantFail(readInputFile(name));
    EXPECT_EQ(buffer->getBuffer(), std::string(size, 'x'));
    EXPECT_EQ(*buffer->getBufferEnd(), 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->getBufferStart()) % 64, 0u);
    EXPECT_EQ(buffer->getBufferIdentifier(), name);
  }
}

TEST_F(InputFileTest, PipesAreReadToTheirEnd) {
  std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // More than a pipe holds, and than one block.
  std::string text(3000001, 'y');
  Threads(2).run(2, [&](size_t number) {
    if (number == 0) {
      auto buffer = llvm::cantFail(readInputFile(pipe));
      EXPECT_EQ(buffer->getBuffer(), text);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->getBufferStart()) % 64, 0u);
      return;
    }
    write("pipe", text);
  });
}

TEST_F(InputFileTest, PipesThatDoNotEndAreAnError) {
  std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  constexpr size_t kLimit = size_t(2) << 20;
  Threads(2).run(2, [&](size_t number) {
    if (number == 1) {
      write("pipe", std::string(kLimit, 'y'));
      return;
    }
    auto buffer = readInputFile(pipe, kLimit);
    ASSERT_FALSE(static_cast<bool>(buffer));
    EXPECT_EQ(llvm::toString(buffer.takeError()),
              "expected at most 2097152 bytes from a pipe; write them to a "
              "file");
  });
}

TEST_F(InputFileTest, DevicesAndFoldersAreNoFiles) {
  EXPECT_EQ(errorOf("/dev/zero"), "expected a file, found a device");
  EXPECT_EQ(errorOf("/dev/null"), "");
  EXPECT_EQ(errorOf(folder.str().str()), "Is a directory");
  EXPECT_EQ(errorOf(path("absent")), "No such file or directory");
}

TEST_F(InputFileTest, FilesAreTheSameByWhatTheyAreNotBySpelling) {
  std::string a = write("a", "1"), b = write("b", "1");
  EXPECT_TRUE(same(a, a));
  EXPECT_FALSE(same(a, b));
  EXPECT_TRUE(same(a, path("./a")));
  ASSERT_EQ(::symlink(a.c_str(), path("link").c_str()), 0);
  EXPECT_TRUE(same(a, path("link")));
  ASSERT_EQ(::link(a.c_str(), path("hard").c_str()), 0);
  EXPECT_TRUE(same(a, path("hard")));
  // Files to be.
  EXPECT_TRUE(same(path("new"), path(".//new")));
  EXPECT_FALSE(same(path("new"), path("newer")));
  EXPECT_FALSE(same(path("new"), a));
  // A device that is written to loses nothing.
  EXPECT_FALSE(same("/dev/null", "/dev/null"));
  EXPECT_FALSE(same(path("no/new"), path("no/new")));
}

TEST_F(InputFileTest, OutputsAreDifferentFilesAndNoInputs) {
  auto error = [](const std::vector<std::string> &outputs,
                  const std::vector<std::string> &inputs,
                  const ToolFiles &tool = {}) {
    return llvm::toString(checkOutputFiles(outputs, inputs, tool));
  };
  std::string a = write("a", "1");
  EXPECT_EQ(error({path("x"), path("y"), ""}, {a, "", "-"}), "");
  EXPECT_EQ(error({path("x"), path("y"), path("./x")}, {a}),
            "'" + path("x") + "' and '" + path("./x") +
                "' are one file; write to two");
  EXPECT_EQ(error({path("x"), path("./a")}, {"-", a}),
            "'" + path("./a") + "' would overwrite '" + a +
                "', which is read; write to another file");
  EXPECT_EQ(error({"/dev/null", "/dev/null"}, {"/dev/null"}), "");

  // Files that only the tool knows.
  ToolFiles tool{a, path("out")};
  EXPECT_EQ(error({a}, {}, tool),
            "'" + a + "' would overwrite '" + a +
                "', which is read; write to another file");
  EXPECT_EQ(error({path("out")}, {}, tool), "'" + path("out") + "' and '" +
                                                path("out") +
                                                "' are one file; write to two");
}
