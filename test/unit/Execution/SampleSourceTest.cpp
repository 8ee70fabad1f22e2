// SPDX-License-Identifier: Apache-2.0
#include "Fixture.h"

#include "mct/Execution/Run.h"
#include "mct/Execution/SampleParts.h"
#include "mct/Execution/SampleSource.h"

#include "mct/Support/ContextThreads.h"
#include "mct/Support/Threads.h"

#include <atomic>
#include <limits>
#include <mutex>
#include <numeric>

using namespace mct::execution;
using namespace mct::support;

namespace {

class SampleSourceTest : public ExecutionTest {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("samples", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  template <typename T>
  std::string write(const char *name, ElementType type,
                    llvm::ArrayRef<int64_t> shape, std::vector<T> values) {
    std::string path = (folder + "/" + name).str();
    auto writer = llvm::cantFail(NpyWriter::create(path, type, shape));
    writer->write(values.data(), values.size() * sizeof(T));
    llvm::cantFail(writer->commit());
    return path;
  }
  std::string floats(const char *name, llvm::ArrayRef<int64_t> shape,
                     Floats values) {
    return write<float>(name, ElementType::F32, shape, std::move(values));
  }
  mlir::RankedTensorType type(llvm::ArrayRef<int64_t> shape,
                              mlir::Type element = {}) {
    return mlir::RankedTensorType::get(
        shape, element ? element : mlir::Float32Type::get(&context));
  }
  /// Inputs with a unit of 2.
  llvm::Expected<std::unique_ptr<SampleSource>>
  open(const SampleOptions &options) {
    return SampleSource::open(options, specs, 2);
  }
  std::string errorOf(const SampleOptions &options) {
    auto source = open(options);
    return source ? "" : llvm::toString(source.takeError());
  }
  Floats load(const SampleSource &source, size_t input, int64_t first,
              int64_t count) {
    Floats values(source.sampleBytes(input) / sizeof(float) * count);
    llvm::cantFail(source.load(input, first, count, values.data()));
    return values;
  }
  llvm::SmallString<128> folder;
  std::vector<TensorSpec> specs{{"x", type({2, 2})}};
};

TEST_F(SampleSourceTest, ArraysAreReadWhereTheyLie) {
  std::vector<uint8_t> array{1, 2, 3, 4};
  SampleOptions options;
  options.scale = {0.5};
  options.tensors.push_back(
      {"x", viewArray("pixels", ElementType::U8, {2, 2}, array.data())});
  EXPECT_EQ(load(*llvm::cantFail(open(options)), 0, 0, 2),
            (Floats{0.5, 1, 1.5, 2}));
  options.tensors.front().input = "y";
  EXPECT_EQ(errorOf(options),
            "'pixels': the network has no input 'y', but 'x'");
  options.tensors.front() = {
      "", viewArray("pixels", ElementType::U8, {1, 4}, array.data())};
  EXPECT_EQ(errorOf(options),
            "'pixels': expected shape Nx2 for input 'x', found 1x4");
}

// The samples that are taken do not depend on the order of the files, and of
// those that are equal all are taken or none.
TEST_F(SampleSourceTest, ThinnedSamplesAreTheSameInAnyOrder) {
  Floats first = randomFloats(40, 1), second = randomFloats(60, 2);
  std::copy_n(first.begin(), 2, second.begin() + 4);
  std::string a = floats("a.npy", {20, 2}, first),
              b = floats("b.npy", {30, 2}, second);
  for (int64_t count : {1, 10, 49}) {
    std::vector<std::vector<std::pair<float, float>>> taken;
    for (const auto &files : {std::vector{a, b}, std::vector{b, a}}) {
      SampleOptions options;
      options.files.assign(files.begin(), files.end());
      std::shared_ptr<const SampleSource> all = llvm::cantFail(open(options));
      auto few = llvm::cantFail(thinSamples(all, count));
      EXPECT_GE(few->numSamples(), count);
      EXPECT_LE(few->numSamples(), count + 1);
      Floats values = load(*few, 0, 0, few->numSamples());
      taken.emplace_back();
      for (size_t i = 0; i != values.size(); i += 2)
        taken.back().emplace_back(values[i], values[i + 1]);
      // They keep their order, and parts of them can be read.
      Floats last = load(*few, 0, few->numSamples() - 1, 1);
      EXPECT_EQ(last[1], values.back());
      llvm::sort(taken.back());
    }
    EXPECT_EQ(taken[0], taken[1]) << count;
  }
}

// Every sample is in one half, equal ones in the same, whatever their order and
// however many of them were chosen before.
TEST_F(SampleSourceTest, HalvesShareNoSample) {
  using Pairs = std::set<std::pair<float, float>>;
  Floats first = randomFloats(80, 1), second = randomFloats(120, 2);
  std::copy_n(first.begin(), 2, second.begin() + 4);
  std::string a = floats("a.npy", {40, 2}, first),
              b = floats("b.npy", {60, 2}, second);
  auto read = [&](const SampleSource &source) {
    Floats values = load(source, 0, 0, source.numSamples());
    Pairs pairs;
    for (size_t i = 0; i != values.size(); i += 2)
      pairs.emplace(values[i], values[i + 1]);
    return pairs;
  };
  auto readHalf = [&](std::vector<std::string> files, SampleHalf half,
                      int64_t count) {
    SampleOptions options;
    options.files.assign(files.begin(), files.end());
    std::shared_ptr<const SampleSource> all = llvm::cantFail(open(options));
    auto taken = llvm::cantFail(takeHalf(all, half));
    EXPECT_EQ(read(*llvm::cantFail(takeHalf(taken, half))), read(*taken));
    return read(*llvm::cantFail(
        takeHalf(llvm::cantFail(thinSamples(all, count)), half)));
  };
  Pairs one = readHalf({a, b}, SampleHalf::First, 100),
        other = readHalf({a, b}, SampleHalf::Second, 100);
  EXPECT_EQ(one.size() + other.size(), 99U);
  EXPECT_GT(one.size(), 35U);
  EXPECT_GT(other.size(), 35U);
  Pairs both = one;
  both.insert(other.begin(), other.end());
  EXPECT_EQ(both, readHalf({a, b}, SampleHalf::All, 100));
  EXPECT_EQ(one, readHalf({b, a}, SampleHalf::First, 100));
  Pairs few = readHalf({a, b}, SampleHalf::First, 30);
  EXPECT_GT(few.size(), 5U);
  EXPECT_LT(few.size(), 25U);
  EXPECT_TRUE(std::includes(one.begin(), one.end(), few.begin(), few.end()));
}

// One sample, or samples that are all equal, have no halves.
TEST_F(SampleSourceTest, WhatHasNoHalvesIsTakenAsAWhole) {
  SampleOptions options;
  options.files = {floats("a.npy", {3, 2}, {1, 2, 1, 2, 1, 2})};
  std::shared_ptr<const SampleSource> all = llvm::cantFail(open(options));
  for (SampleHalf half : {SampleHalf::First, SampleHalf::Second})
    EXPECT_EQ(llvm::cantFail(takeHalf(all, half))->numSamples(), 3);
}

// Samples that judge are chosen by their values, and are none of those that are
// kept of all when fewer are taken.
TEST_F(SampleSourceTest, HeldOutSamplesAreNoneOfThoseThatThinningKeeps) {
  using Pairs = std::set<std::pair<float, float>>;
  Floats values = randomFloats(400, 3), reversed;
  for (size_t i = values.size(); i != 0; i -= 2)
    reversed.insert(reversed.end(), {values[i - 2], values[i - 1]});
  auto read = [&](const SampleSource &source) {
    Floats read = load(source, 0, 0, source.numSamples());
    Pairs pairs;
    for (size_t i = 0; i != read.size(); i += 2)
      pairs.emplace(read[i], read[i + 1]);
    return pairs;
  };
  auto openFile = [&](const char *name, const Floats &of) {
    SampleOptions options;
    options.files = {floats(name, {200, 2}, of)};
    return std::shared_ptr<const SampleSource>(llvm::cantFail(open(options)));
  };
  auto all = openFile("a.npy", values), other = openFile("b.npy", reversed);
  auto parts = llvm::cantFail(holdOut(all, 50));
  ASSERT_TRUE(parts);
  Pairs fitted = read(*parts->fitted), judging = read(*parts->judging);
  EXPECT_EQ(judging.size(), 50U);
  EXPECT_EQ(fitted.size(), 150U);
  Pairs both = fitted;
  both.insert(judging.begin(), judging.end());
  EXPECT_EQ(both, read(*all));
  EXPECT_EQ(judging, read(*llvm::cantFail(holdOut(other, 50))->judging));
  EXPECT_EQ(read(*llvm::cantFail(thinSamples(parts->fitted, 120))),
            read(*llvm::cantFail(thinSamples(all, 120))));
  EXPECT_FALSE(llvm::cantFail(holdOut(all, 200)));
  EXPECT_FALSE(llvm::cantFail(holdOut(all, 0)));
}

TEST_F(SampleSourceTest, FilesOfOneInputAreConcatenated) {
  SampleOptions options;
  options.files = {floats("a.npy", {1, 2}, {1, 2}),
                   floats("b.npy", {2, 2}, {3, 4, 5, 6})};
  auto source = llvm::cantFail(open(options));
  EXPECT_EQ(source->numSamples(), 3);
  EXPECT_EQ(load(*source, 0, 0, 3), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(load(*source, 0, 1, 1), (Floats{3, 4}));
  options.limit = 2;
  EXPECT_EQ(llvm::cantFail(open(options))->numSamples(), 2);
  EXPECT_EQ(llvm::cantFail(open(options))->numAvailable(), 3);
}

TEST_F(SampleSourceTest, ValuesAreScaledPerChannel) {
  SampleOptions options;
  options.files = {write<uint8_t>("a.npy", ElementType::U8, {1, 2}, {10, 200})};
  options.scale = {0.5, 2};
  options.offset = {1};
  EXPECT_EQ(load(*llvm::cantFail(open(options)), 0, 0, 1), (Floats{6, 401}));
  options.scale = {1, 2, 3};
  EXPECT_EQ(errorOf(options), "input scale: expected one value or 2, one for "
                              "each channel of input 'x', found 3");
}

TEST_F(SampleSourceTest, HalfPrecision) {
  // 1.5, the smallest subnormal, -2, the largest.
  std::vector<uint16_t> bits{0x3e00, 0x0001, 0xc000, 0x7bff};
  SampleOptions options;
  options.files = {write<uint16_t>("a.npy", ElementType::F16, {2, 2}, bits)};
  EXPECT_EQ(load(*llvm::cantFail(open(options)), 0, 0, 2),
            (Floats{1.5f, 0x1p-24f, -2, 65504}));
}

TEST_F(SampleSourceTest, FortranOrder) {
  std::string path =
      floats("a.npy", {2, 2}, {/*column 0*/ 1, 2, /*column 1*/ 3, 4});
  // The same bytes with the other order; the header keeps its length.
  int descriptor;
  ASSERT_FALSE(llvm::sys::fs::openFileForReadWrite(
      path, descriptor, llvm::sys::fs::CD_OpenExisting,
      llvm::sys::fs::OF_None));
  char text[128];
  ASSERT_EQ(::pread(descriptor, text, 128, 0), 128);
  size_t at = llvm::StringRef(text, 128).find("False");
  ASSERT_EQ(::pwrite(descriptor, "True ", 5, at), 5);
  ::close(descriptor);
  SampleOptions options;
  options.files = {path};
  auto source = llvm::cantFail(open(options));
  EXPECT_EQ(load(*source, 0, 0, 2), (Floats{1, 3, 2, 4}));
  EXPECT_EQ(load(*source, 0, 1, 1), (Floats{2, 4}));
}

TEST_F(SampleSourceTest, SeveralInputsByNameOrNumber) {
  specs.push_back({"1", type({2, 1})});
  SampleOptions options;
  options.files = {"1:" + floats("b.npy", {2, 1}, {7, 8}),
                   "x:" + floats("a.npy", {2, 2}, {1, 2, 3, 4})};
  auto source = llvm::cantFail(open(options));
  EXPECT_EQ(load(*source, 0, 1, 1), (Floats{3, 4}));
  EXPECT_EQ(load(*source, 1, 1, 1), (Floats{8}));
  options.files = {"x:" + (folder + "/a.npy").str()};
  EXPECT_EQ(errorOf(options), "input '1' of the network has no data");
  options.files = {(folder + "/a.npy").str()};
  EXPECT_EQ(errorOf(options), "'" + (folder + "/a.npy").str() +
                                  "': the network has 2 inputs ('x', '1'); "
                                  "write NAME:PATH");
  options.files = {"x:" + (folder + "/a.npy").str(),
                   "1:" + floats("c.npy", {3, 1}, {7, 8, 9})};
  EXPECT_EQ(errorOf(options),
            "expected 2 samples for input '1' as for 'x', found 3");
}

TEST_F(SampleSourceTest, WrongShapeTypeOrNoSamples) {
  SampleOptions options;
  std::string path = floats("a.npy", {1, 3}, {1, 2, 3});
  options.files = {path};
  EXPECT_EQ(errorOf(options),
            "'" + path + "': expected shape Nx2 for input 'x', found 1x3");
  path = write<double>("a.npy", ElementType::F64, {1, 2}, {1, 2});
  EXPECT_EQ(errorOf(options), "'" + path +
                                  "': expected elements that can be read as "
                                  "f32 for input 'x', found f64");
  path = floats("a.npy", {0, 2}, {});
  EXPECT_EQ(errorOf(options),
            "'" + path + "': expected at least one sample, found none");
}

TEST_F(SampleSourceTest, EveryArgumentHasItsOwnLeadingSize) {
  // Without a common batch a sample is what one call reads.
  specs = {{"x", type({1, 2})}, {"y", type({2, 2})}};
  auto open = [&](const SampleOptions &options) {
    return SampleSource::open(options, specs, 1);
  };
  auto errorOf = [&](const SampleOptions &options) {
    auto source = open(options);
    return source ? "" : llvm::toString(source.takeError());
  };
  SampleOptions options;
  std::string x = floats("x.npy", {2, 2}, {1, 2, 3, 4});
  std::string y = floats("y.npy", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  options.files = {"x:" + x, "y:" + y};
  auto source = llvm::cantFail(open(options));
  EXPECT_EQ(source->numSamples(), 2);
  EXPECT_EQ(load(*source, 0, 1, 1), (Floats{3, 4}));
  EXPECT_EQ(load(*source, 1, 1, 1), (Floats{5, 6, 7, 8}));
  // The same number of rows for both would read past the end.
  options.files = {"x:" + x, "y:" + floats("y2.npy", {2, 2}, {1, 2, 3, 4})};
  EXPECT_EQ(errorOf(options),
            "expected 2 samples for input 'y' as for 'x', found 1; the inputs "
            "have leading sizes of their own, so that a sample of 'y' is all "
            "of 2x2, and not one row of it");
  std::string y3 = floats("y3.npy", {3, 2}, {1, 2, 3, 4, 5, 6});
  options.files = {"x:" + x, "y:" + y3};
  EXPECT_EQ(errorOf(options),
            "'" + y3 +
                "': expected shape Nx2 with 2 rows for each sample, or Nx2x2 "
                "for input 'y', found 3x2");
}

TEST_F(SampleSourceTest, SamplesOfAnArgumentWithItsOwnLeadingSizeMayBeStacked) {
  specs = {{"x", type({1, 2})}, {"y", type({2, 2})}, {"s", type({})}};
  auto open = [&](const SampleOptions &options) {
    return SampleSource::open(options, specs, 1);
  };
  SampleOptions options;
  std::string s = "s:" + floats("s.npy", {3}, {7, 8, 9});
  std::string x = "x:" + floats("x.npy", {3, 1, 2}, {1, 2, 3, 4, 5, 6});
  std::string y = "y:" + floats("y.npy", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  // One of the other form after it.
  options.files = {x, y, "y:" + floats("y1.npy", {2, 2}, {9, 10, 11, 12}), s};
  auto source = llvm::cantFail(open(options));
  EXPECT_EQ(source->numSamples(), 3);
  EXPECT_EQ(load(*source, 0, 1, 2), (Floats{3, 4, 5, 6}));
  EXPECT_EQ(load(*source, 1, 1, 1), (Floats{5, 6, 7, 8}));
  EXPECT_EQ(load(*source, 1, 1, 2), (Floats{5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(load(*source, 2, 0, 3), (Floats{7, 8, 9}));
  // With a batch that all share there is one way to write its samples.
  specs = {{"x", type({1, 2})}};
  options.files = {x};
  EXPECT_EQ(llvm::toString(open(options).takeError()),
            "'" + (folder + "/x.npy").str() +
                "': expected shape Nx2 for input 'x', found 3x1x2");
}

TEST_F(SampleSourceTest, ScalarsAreReadFromVectors) {
  specs = {{"x", type({})}};
  SampleOptions options;
  options.files = {floats("a.npy", {3}, {1, 2, 3})};
  auto source = llvm::cantFail(SampleSource::open(options, specs, 1));
  EXPECT_EQ(source->numSamples(), 3);
  EXPECT_EQ(load(*source, 0, 1, 2), (Floats{2, 3}));
  options.files = {floats("b.npy", {3, 1}, {1, 2, 3})};
  EXPECT_EQ(llvm::toString(SampleSource::open(options, specs, 1).takeError()),
            "'" + (folder + "/b.npy").str() +
                "': expected shape N for input 'x', found 3x1");
}

TEST_F(SampleSourceTest, TypesThatNoFileCanHold) {
  SampleOptions options;
  options.files = {floats("a.npy", {1, 2}, {1, 2})};
  specs = {{"x", type({2, int64_t(1) << 62, 4})}};
  EXPECT_EQ(errorOf(options),
            "input 'x' of the network cannot be read: its type "
            "tensor<2x4611686018427387904x4xf32> is too large");
  specs = {{"x", type({2, 0})}};
  EXPECT_EQ(errorOf(options), "input 'x' of the network cannot be read: its "
                              "type tensor<2x0xf32> holds no elements");
  specs = {{"x", type({3, 2})}};
  EXPECT_EQ(errorOf(options), "input 'x' of the network cannot be read: its "
                              "type tensor<3x2xf32> does not hold 2 samples");
  specs = {{"x", type({2, 2}, mlir::IndexType::get(&context))}};
  EXPECT_EQ(errorOf(options),
            "input 'x' of the network cannot be read: its type "
            "tensor<2x2xindex> is not one of numbers of a known shape");
}

TEST_F(SampleSourceTest, TruthValuesAreZeroOrOne) {
  specs = {{"x", type({1, 2}, mlir::IntegerType::get(&context, 1))}};
  SampleOptions options;
  options.files = {
      write<uint8_t>("a.npy", ElementType::Bool, {2, 2}, {0, 1, 1, 2})};
  auto source = llvm::cantFail(SampleSource::open(options, specs, 1));
  char values[4];
  EXPECT_FALSE(static_cast<bool>(source->load(0, 0, 1, values)));
  EXPECT_EQ(llvm::toString(source->load(0, 0, 2, values)),
            "'" + (folder + "/a.npy").str() +
                "': sample 1: expected 0 or 1, found 2 at element 1");
}

TEST_F(SampleSourceTest, FileThatIsShortenedWhileItIsRead) {
  std::string path = floats("a.npy", {1000, 2}, Floats(2000, 1.0f));
  SampleOptions options;
  options.files = {path};
  auto source = llvm::cantFail(open(options));
  ASSERT_EQ(::truncate(path.c_str(), 4096), 0);
  Floats values(2000);
  EXPECT_FALSE(static_cast<bool>(source->load(0, 0, 100, values.data())));
  EXPECT_EQ(llvm::toString(source->load(0, 0, 1000, values.data())),
            "'" + path +
                "': truncated while it was read: expected bytes at 4096, "
                "found the end");
}

TEST_F(SampleSourceTest, ValuesThatAreNotFinite) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  float inf = std::numeric_limits<float>::infinity();
  SampleOptions options;
  options.files = {floats("a.npy", {2, 2}, {1, 2, 3, 4}),
                   floats("b.npy", {2, 2}, {5, 6, 7, -inf}),
                   floats("c.npy", {1, 2}, {nan, 1})};
  auto source = llvm::cantFail(open(options));
  Floats buffer(10);
  auto error = [&](int64_t first, int64_t count) {
    return llvm::toString(source->load(0, first, count, buffer.data()));
  };
  EXPECT_EQ(error(0, 3), "");
  // The sample's number within its own file.
  EXPECT_EQ(error(0, 5), "'" + (folder + "/b.npy").str() +
                             "': sample 1: expected finite values, found -inf "
                             "at element 1");
  EXPECT_EQ(error(4, 1), "'" + (folder + "/c.npy").str() +
                             "': sample 0: expected finite values, found nan "
                             "at element 0");
}

TEST_F(SampleSourceTest, TheErrorOfTheLowestSampleIsReported) {
  auto executor = compile(R"(
    func.func @main(%x: tensor<?x2xf32> loc("x")) -> tensor<?x2xf32> {
      %0 = tosa.exp %x : (tensor<?x2xf32>) -> tensor<?x2xf32>
      return %0 : tensor<?x2xf32>
    })");
  ASSERT_TRUE(executor);
  Floats values(2 * 1000, 1.0f);
  for (size_t bad : {300, 500, 900})
    values[2 * bad] = std::numeric_limits<float>::quiet_NaN();
  SampleOptions options;
  options.files = {floats("a.npy", {1000, 2}, values)};
  auto source = llvm::cantFail(
      SampleSource::open(options, executor->inputs(), executor->unit()));
  for (unsigned threads : {1, 2, 3})
    for (int64_t batch : {1, 100}) {
      llvm::Error error = forEachUnit(
          *executor, *source, {threads, batch}, [](size_t, Worker &) {},
          [](const Unit &) { return llvm::Error::success(); });
      EXPECT_EQ(llvm::toString(std::move(error)),
                "'" + (folder + "/a.npy").str() +
                    "': sample 300: expected finite values, found nan at "
                    "element 0");
    }
}

TEST_F(SampleSourceTest, RecordedPreprocessingIsApplied) {
  // Two rows of two columns and three channels become three planes.
  specs = {{"x", type({2, 3, 2, 2})}};
  mct::Preprocessing record;
  record.scale = {1, 10, 100};
  record.offset = {0.5};
  record.axis = 1;
  record.permutation = {2, 0, 1};
  specs.front().preprocessing = record;
  std::vector<uint8_t> pixels(24);
  std::iota(pixels.begin(), pixels.end(), 0);
  SampleOptions options;
  options.files = {write("a.npy", ElementType::U8, {2, 2, 2, 3}, pixels)};
  EXPECT_EQ(load(*llvm::cantFail(open(options)), 0, 1, 1),
            (Floats{12.5f, 15.5f, 18.5f, 21.5f, 130.5f, 160.5f, 190.5f, 220.5f,
                    1400.5f, 1700.5f, 2000.5f, 2300.5f}));
  // Options take the place of scale and offset.
  options.scale = {2};
  EXPECT_EQ(load(*llvm::cantFail(open(options)), 0, 0, 1),
            (Floats{0, 6, 12, 18, 2, 8, 14, 20, 4, 10, 16, 22}));
  // Another record takes the place of all of it.
  options.scale.clear();
  options.preprocessing = {std::nullopt};
  EXPECT_EQ(errorOf(options),
            "'" + options.files.front() +
                "': expected shape Nx3x2x2 for input 'x', "
                "found 2x2x2x3; the file has channels last, and the "
                "network has them first: transpose it, or run "
                "mct-record-preprocessing="
                "\"permutation=2,0,1 axis=1\" before; see "
                "docs/guide/troubleshooting.md#samples-that-do-not-fit");
  // Other types have an order, too.
  specs.front().type = type({2, 3, 2, 2}, mlir::IntegerType::get(&context, 8));
  options.preprocessing = {record};
  std::vector<uint8_t> bytes(12);
  llvm::cantFail(llvm::cantFail(open(options))->load(0, 0, 1, bytes.data()));
  EXPECT_EQ(bytes,
            (std::vector<uint8_t>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
}

TEST_F(SampleSourceTest, StoredIntegersAreReadWithoutPreprocessing) {
  specs.front().preprocessing = mct::Preprocessing{{100}, {}, {}, {}};
  SampleOptions options;
  options.codes = {mct::QuantizedValue{"x", 0.5, 1, 8, true}};
  options.files = {
      write<int8_t>("a.npy", ElementType::I8, {2, 2}, {1, 2, 3, 5})};
  EXPECT_EQ(load(*llvm::cantFail(open(options)), 0, 0, 2),
            (Floats{0, 0.5, 1, 2}));
  options.files = {
      write<uint8_t>("a.npy", ElementType::U8, {2, 2}, {1, 2, 3, 5})};
  EXPECT_EQ(load(*llvm::cantFail(open(options)), 0, 0, 2),
            (Floats{100, 200, 300, 500}));
}

/// Runs the identity on 5 samples, 2 in each unit.
static llvm::Error runIdentity(const Executor &executor,
                               const SampleSource &source,
                               mct::support::Progress &progress,
                               llvm::function_ref<void(const Unit &)> observe) {
  RunOptions options;
  options.threads = 1;
  options.progress = &progress;
  return forEachUnit(
      executor, source, options, [](size_t, Worker &) {},
      [&](const Unit &unit) {
        observe(unit);
        return llvm::Error::success();
      });
}

// A run whose samples are not counted ends when its threads are cancelled.
TEST_F(SampleSourceTest, CancelledThreadsEndRunsWithoutProgress) {
  mct::support::Progress progress;
  RunOptions options;
  options.threads = mct::support::Threads(2).watchedBy(&progress);
  std::atomic<int64_t> computed{0};
  auto run = [&] {
    return shareUnits(1000, 1, 2, options, [&](size_t, int64_t) {
      if (++computed == 10)
        progress.cancel();
      return llvm::Error::success();
    });
  };
  EXPECT_EQ(llvm::toString(run()), "cancelled");
  // The other worker was in the middle of a sample.
  EXPECT_LE(computed, 11);
  computed = 0;
  EXPECT_EQ(llvm::toString(run()), "cancelled");
  EXPECT_EQ(computed, 0);
}

TEST_F(SampleSourceTest, NothingIsCompiledForACancelledRun) {
  const char *network = R"(
    func.func @main(%x: tensor<2x2xf32> loc("x")) -> tensor<2x2xf32> {
      %0 = tosa.exp %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    })";
  mct::support::Progress progress;
  mct::support::ProgressScope scope(&context, progress);
  EXPECT_TRUE(compile(network));
  progress.cancel();
  std::string reported;
  mlir::ScopedDiagnosticHandler handler(
      &context,
      [&](mlir::Diagnostic &diagnostic) { reported += diagnostic.str(); });
  EXPECT_FALSE(compile(network));
  EXPECT_NE(reported.find("cancelled"), std::string::npos) << reported;
}

TEST_F(SampleSourceTest, ProgressCountsSamplesAndEndsRuns) {
  auto executor = compile(R"(
    func.func @main(%x: tensor<2x2xf32> loc("x")) -> tensor<2x2xf32> {
      return %x : tensor<2x2xf32>
    })");
  ASSERT_TRUE(executor);
  SampleOptions options;
  options.files = {floats("a.npy", {5, 2}, Floats(10, 1.0f))};
  auto source = llvm::cantFail(
      SampleSource::open(options, executor->inputs(), executor->unit()));
  mct::support::Progress progress;
  std::vector<int64_t> done;
  int64_t total = 0;
  llvm::cantFail(runIdentity(*executor, *source, progress, [&](const Unit &) {
    done.push_back(progress.counts().done);
    total = progress.counts().total;
  }));
  EXPECT_TRUE(llvm::is_sorted(done));
  EXPECT_EQ(total, 5);
  EXPECT_EQ(progress.counts().total, 0);
  EXPECT_EQ(progress.counts().runs, 1);

  done.clear();
  progress.cancel();
  llvm::Error error =
      runIdentity(*executor, *source, progress,
                  [&](const Unit &unit) { done.push_back(unit.index); });
  EXPECT_EQ(llvm::toString(std::move(error)), "cancelled");
  EXPECT_TRUE(done.empty());

  // A parser of options finds it by the context, while the scope lives.
  EXPECT_EQ(mct::support::findProgress(&context), nullptr);
  {
    mct::support::ProgressScope scope(&context, progress);
    auto settings = RunSettings::parse(mlir::UnknownLoc::get(&context), {}, "",
                                       "", 0, 0, 1, "");
    ASSERT_TRUE(succeeded(settings));
    EXPECT_EQ(settings->run.progress, &progress);
  }
  EXPECT_EQ(mct::support::findProgress(&context), nullptr);
}

TEST_F(SampleSourceTest, FixedBatchNeedsWholeUnits) {
  auto executor = compile(R"(
    func.func @main(%x: tensor<2x2xf32> loc("x")) -> tensor<2x2xf32> {
      %0 = tosa.reverse %x {axis = 0 : i32} : (tensor<2x2xf32>) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    })");
  ASSERT_TRUE(executor);
  SampleOptions options;
  options.files = {floats("a.npy", {3, 2}, Floats(6, 1.0f))};
  auto source = llvm::cantFail(
      SampleSource::open(options, executor->inputs(), executor->unit()));
  llvm::Error error = forEachUnit(
      *executor, *source, {}, [](size_t, Worker &) {},
      [](const Unit &) { return llvm::Error::success(); });
  EXPECT_EQ(llvm::toString(std::move(error)),
            "the network has a fixed batch of 2 that cannot be changed, and 3 "
            "samples are not a multiple of it");
}

} // namespace
