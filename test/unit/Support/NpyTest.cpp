// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/Npy.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cstring>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mct::support;

namespace {

class NpyTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("npy", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) { return (folder + "/" + name).str(); }
  std::string write(llvm::StringRef name, llvm::StringRef contents) {
    std::error_code error;
    llvm::raw_fd_ostream stream(path(name), error);
    stream << contents;
    return path(name);
  }
  /// A file of format 1 with this dictionary.
  static std::string file(const std::string &dictionary,
                          const std::string &data, char version = 1) {
    std::string text("\x93NUMPY", 6);
    text += version;
    text += '\0';
    size_t length = dictionary.size() + 1;
    text += static_cast<char>(length & 0xff);
    text += static_cast<char>(length >> 8);
    if (version > 1)
      text += std::string(2, '\0');
    return text + dictionary + "\n" + data;
  }
  std::string errorOf(const std::string &contents) {
    auto opened = NpyFile::open(write("bad.npy", contents));
    if (opened)
      return "";
    std::string text = llvm::toString(opened.takeError());
    std::string prefix = "'" + path("bad.npy") + "': ";
    EXPECT_EQ(text.substr(0, prefix.size()), prefix);
    return text.substr(prefix.size());
  }
  llvm::SmallString<128> folder;
};

const char *const kGood =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";

TEST_F(NpyTest, ReadsAllFormatVersions) {
  float values[6] = {0, 1, 2, 3, 4, 5};
  std::string data(reinterpret_cast<char *>(values), sizeof(values));
  for (char version : {1, 2, 3}) {
    auto opened = NpyFile::open(write("good.npy", file(kGood, data, version)));
    ASSERT_TRUE(static_cast<bool>(opened));
    EXPECT_EQ((*opened)->elementType(), ElementType::F32);
    EXPECT_EQ((*opened)->shape(), (llvm::ArrayRef<int64_t>{2, 3}));
    EXPECT_EQ(llvm::cantFail((*opened)->readAll<float>()),
              std::vector<float>(values, values + 6));
  }
}

TEST_F(NpyTest, Errors) {
  std::string data(24, '\0');
  EXPECT_EQ(errorOf(""), "expected a .npy file, found an empty file");
  EXPECT_EQ(errorOf("hello"), "expected a .npy file, found other contents");
  EXPECT_EQ(errorOf(file(kGood, data, 4)),
            "expected .npy format version 1, 2 or 3, found 4");
  EXPECT_EQ(errorOf(file(kGood, data).substr(0, 20)),
            "truncated: the header is incomplete");
  EXPECT_EQ(errorOf(file(kGood, data.substr(1))),
            "truncated: expected 24 bytes of data, found 23");
  EXPECT_EQ(errorOf(file(kGood, data + "x")),
            "expected 24 bytes of data, found 25");
  auto with = [&](const char *descriptor, const char *order,
                  const char *shape) {
    return errorOf(file(std::string("{'descr': ") + descriptor +
                            ", 'fortran_order': " + order +
                            ", 'shape': " + shape + "}",
                        data));
  };
  EXPECT_EQ(with("'<f4'", "False", "(2, 3)"), "");
  EXPECT_EQ(with("'>f4'", "False", "(2, 3)"),
            "expected elements of a supported little-endian type, found '>f4'");
  EXPECT_EQ(with("'<U3'", "False", "(2, 3)"),
            "expected elements of a supported little-endian type, found '<U3'");
  EXPECT_EQ(with("[('a', '<f4')]", "False", "(2, 3)"),
            "malformed .npy header: structured types are not supported");
  EXPECT_EQ(with("'<f4'", "Maybe", "(2, 3)"),
            "malformed .npy header: 'fortran_order' is neither True nor False");
  EXPECT_EQ(with("'<f4'", "False", "(2, -3)"),
            "malformed .npy header: 'shape' is not a tuple of sizes");
  EXPECT_EQ(with("'<f4'", "False", "(9223372036854775807, 8)"),
            "its shape is too large");
  EXPECT_EQ(errorOf(file("{'descr': '<f4'}", data)),
            "malformed .npy header: the header lacks 'descr', 'fortran_order' "
            "or 'shape'");
  auto missing = NpyFile::open(path("missing.npy"));
  ASSERT_FALSE(static_cast<bool>(missing));
  EXPECT_EQ(llvm::toString(missing.takeError()),
            "'" + path("missing.npy") +
                "': cannot open: No such file or directory");
}

TEST_F(NpyTest, OnlyRegularFiles) {
  auto error = [](const std::string &path) {
    auto opened = NpyFile::open(path);
    return opened ? "" : llvm::toString(opened.takeError());
  };
  auto message = [](const std::string &path, const char *found) {
    return "'" + path + "': expected a regular file, which can be read more " +
           "than once, found " + found;
  };
  // Neither endless nor blocking.
  EXPECT_EQ(error("/dev/zero"), message("/dev/zero", "a device"));
  std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error(pipe), message(pipe, "a pipe"));
  EXPECT_EQ(error(folder.str().str()), message(folder.str().str(), "a folder"));
}

TEST_F(NpyTest, FileThatIsShortenedWhileItIsRead) {
  std::string name = write("good.npy", file(kGood, std::string(24, '\1')));
  auto opened = llvm::cantFail(NpyFile::open(name));
  ASSERT_EQ(::truncate(name.c_str(), 80), 0);
  EXPECT_EQ(llvm::toString(opened->readAll<float>().takeError()),
            "'" + name +
                "': truncated while it was read: expected bytes at 80, found "
                "the end");
}

TEST_F(NpyTest, LongHeaders) {
  // Longer than what is read at first; longer than anybody writes.
  auto withLength = [&](uint32_t length) {
    std::string text("\x93NUMPY\x02\x00", 8);
    for (int i = 0; i < 4; ++i)
      text += static_cast<char>(length >> (8 * i) & 0xff);
    std::string dictionary = kGood;
    dictionary.resize(length, ' ');
    return text + dictionary + std::string(24, '\1');
  };
  EXPECT_EQ(errorOf(withLength(100000)), "");
  EXPECT_EQ(errorOf(withLength(100000).substr(0, 50000)),
            "truncated: the header is incomplete");
  EXPECT_EQ(errorOf(withLength(1 << 21)),
            "malformed .npy header: it has 2097152 bytes, more than 1048576");
}

TEST_F(NpyTest, MoreFilesThanThereAreDescriptors) {
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 32;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::string name = write("good.npy", file(kGood, std::string(24, '\1')));
  std::vector<std::unique_ptr<NpyFile>> files;
  for (int i = 0; i < 64; ++i)
    files.push_back(llvm::cantFail(NpyFile::open(name)));
  files.clear();
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(NpyTest, MutatedHeadersNeverCrash) {
  std::mt19937 random(1);
  const std::string good = file(kGood, std::string(24, '\1'));
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    for (int change = random() % 4; change >= 0; --change) {
      size_t at = random() % text.size();
      switch (random() % 3) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, random() % 8 + 1);
        break;
      case 2:
        text.insert(at, 1, "(){}[],:'\"0123456789 "[random() % 21]);
        break;
      }
      if (text.empty())
        break;
    }
    auto header =
        parseNpyHeader(llvm::ArrayRef<char>(text.data(), text.size()), "fuzz");
    if (header) {
      ++accepted;
      EXPECT_LE(header->dataOffset, text.size());
    } else {
      EXPECT_FALSE(llvm::toString(header.takeError()).empty());
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST_F(NpyTest, WriterRoundTripsAndLeavesNothingWithoutCommit) {
  std::vector<int32_t> values{1, -2, 3};
  std::string target = path("out.npy");
  {
    auto writer = NpyWriter::create(target, ElementType::I32, {3});
    ASSERT_TRUE(static_cast<bool>(writer));
    EXPECT_FALSE(llvm::sys::fs::exists(target));
    (*writer)->write(values.data(), 12);
    ASSERT_FALSE((*writer)->commit());
  }
  auto opened = NpyFile::open(target);
  ASSERT_TRUE(static_cast<bool>(opened));
  EXPECT_EQ((*opened)->elementType(), ElementType::I32);
  EXPECT_EQ((*opened)->shape(), llvm::ArrayRef<int64_t>{3});
  EXPECT_EQ(llvm::cantFail((*opened)->readAll<int32_t>()), values);
  {
    auto writer = NpyWriter::create(target, ElementType::I32, {4, 1});
    ASSERT_TRUE(static_cast<bool>(writer));
    (*writer)->write(values.data(), 12);
    EXPECT_EQ(llvm::toString((*writer)->commit()),
              "'" + target + "': expected 16 bytes of data, 12 were written");
  }
  // The old file is untouched, and nothing else is there.
  std::error_code error;
  int files = 0;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end;
       it.increment(error))
    ++files;
  EXPECT_EQ(files, 1);
  EXPECT_EQ((*NpyFile::open(target))->numElements(), 3);
  auto nowhere = NpyWriter::create(path("no/out.npy"), ElementType::F32, {1});
  ASSERT_FALSE(static_cast<bool>(nowhere));
  EXPECT_EQ(llvm::toString(nowhere.takeError()),
            "'" + path("no/out.npy") + "': No such file or directory");
}

} // namespace
