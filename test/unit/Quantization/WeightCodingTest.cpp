// SPDX-License-Identifier: Apache-2.0
//
// The size of compressed weights, beside that which the encoder of Vela 5.2
// wrote for the same streams.

#include "mct/Quantization/WeightCoding.h"
#include "gtest/gtest.h"

#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

using namespace mct::quantization;

namespace {

/// The same numbers wherever they are made.
class Numbers {
public:
  /// Returns a number below `end`.
  int below(int end) {
    state = state * 1664525U + 1013904223U;
    return int((state >> 8) % unsigned(end));
  }

private:
  uint32_t state = 12345;
};

struct Recorded {
  const char *name;
  std::function<int(Numbers &, bool isSecondHalf)> make;
  /// Bytes of 4096 and of 40000 codes.
  int64_t small, large;
};

const std::vector<Recorded> &recorded() {
  static const std::vector<Recorded> all = {
      {"uniform", [](Numbers &n, bool) { return n.below(255) - 127; }, 4112,
       40016},
      {"triangular",
       [](Numbers &n, bool) {
         int first = n.below(21);
         return first + n.below(21) - 20;
       },
       2832, 27616},
      {"sparse",
       [](Numbers &n, bool) { return n.below(10) == 0 ? n.below(31) - 15 : 0; },
       528, 4784},
      {"four values",
       [](Numbers &n, bool) {
         constexpr int kValues[] = {-3, 0, 5, 7};
         return kValues[n.below(4)];
       },
       1040, 10016},
      {"two laws",
       [](Numbers &n, bool isSecondHalf) {
         return isSecondHalf ? n.below(201) - 100 : n.below(7) - 3;
       },
       3136, 31024},
      {"outliers",
       [](Numbers &n, bool) {
         int sum = -4;
         for (int i = 0; i != 4; ++i)
           sum += n.below(3);
         return n.below(20) == 0 ? sum + n.below(100) - 50 : sum;
       },
       2064, 20656},
      {"one value", [](Numbers &, bool) { return 4; }, 528, 5024},
  };
  return all;
}

std::vector<int16_t> makeStream(const Recorded &kind, size_t count) {
  Numbers numbers;
  std::vector<int16_t> stream(count);
  for (size_t i = 0; i != count; ++i)
    stream[i] = int16_t(kind.make(numbers, i >= count / 2));
  return stream;
}

TEST(WeightCodingTest, SizesAreThoseOfTheEncoder) {
  for (const Recorded &kind : recorded()) {
    SCOPED_TRACE(kind.name);
    auto small = double(estimateEncodedBits(makeStream(kind, 4096))) / 8;
    auto large = double(estimateEncodedBits(makeStream(kind, 40000))) / 8;
    // It decides greedily where to change a code, and this does not.
    EXPECT_NEAR(small, double(kind.small), 0.03 * double(kind.small));
    EXPECT_NEAR(large, double(kind.large), 0.03 * double(kind.large));
  }
}

TEST(WeightCodingTest, LongRunsOfZerosKeepTheCodeOfShortOnes) {
  // Kernels of one position are padded like this: most runs have no zeros.
  Numbers numbers;
  std::vector<int16_t> stream;
  for (int block = 0; block != 16; ++block) {
    for (int i = 0; i != 128; ++i)
      stream.push_back(int16_t(numbers.below(255) - 127));
    stream.insert(stream.end(), 512, 0);
  }
  // Bytes that the C++ encoder in the sources of Vela 5.2 writes.
  constexpr double kEncoder = 3072;
  EXPECT_NEAR(double(estimateEncodedBits(stream)) / 8, kEncoder,
              0.03 * kEncoder);
}

TEST(WeightCodingTest, SmallerCodesTakeLess) {
  std::vector<int16_t> stream = makeStream(recorded()[1], 4096);
  int64_t before = estimateEncodedBits(stream);
  for (int16_t &code : stream)
    code = int16_t(code / 2);
  int64_t after = estimateEncodedBits(stream);
  // A bit for each, and some as all of them fit into the palette then.
  EXPECT_GE(before - after, 4096);
  EXPECT_LE(before - after, 4096 * 3 / 2);
}

TEST(WeightCodingTest, NothingTakesNothing) {
  EXPECT_EQ(estimateEncodedBits(std::vector<int16_t>()), 0);
  EXPECT_EQ(estimateEncodedBits(KernelCodes(), WeightOrder::EthosU55), 0);
}

/// Returns a kernel whose codes identify their positions.
KernelCodes makeKernel(int64_t outputs, int64_t height, int64_t width,
                       int64_t inputs, bool isDepthwise = false) {
  KernelCodes kernel;
  kernel.outputs = outputs;
  kernel.height = height;
  kernel.width = width;
  kernel.inputs = inputs;
  kernel.isDepthwise = isDepthwise;
  kernel.codes.resize(outputs * height * width * inputs);
  std::iota(kernel.codes.begin(), kernel.codes.end(), int16_t(1));
  return kernel;
}

TEST(WeightCodingTest, DenseKernelsAreReadIn32Inputs) {
  // Two outputs of nine inputs; 8 outputs and 32 inputs fit.
  std::vector<int16_t> stream =
      orderForDevice(makeKernel(2, 1, 1, 9), WeightOrder::EthosU55);
  ASSERT_EQ(stream.size(), 8U * 32U);
  EXPECT_EQ(stream[0], 1);
  EXPECT_EQ(stream[7], 8);
  EXPECT_EQ(stream[8], 10);
  EXPECT_EQ(stream[15], 17);
  EXPECT_EQ(stream[16], 0);
  // The ninth input is in the next block.
  EXPECT_EQ(stream[64], 9);
  EXPECT_EQ(stream[65], 0);
  EXPECT_EQ(stream[72], 18);
}

TEST(WeightCodingTest, WindowsOfFewInputsAreReadFirst) {
  // 3x3 positions are filled up to 12.
  std::vector<int16_t> stream =
      orderForDevice(makeKernel(8, 3, 3, 3), WeightOrder::EthosU55);
  ASSERT_EQ(stream.size(), 12U * 64U);
  EXPECT_EQ(stream[0], 1);
  EXPECT_EQ(stream[2], 3);
  EXPECT_EQ(stream[3], 0);
  // The second output at the first position, and the first at the second.
  EXPECT_EQ(stream[8], 28);
  EXPECT_EQ(stream[64], 4);
}

TEST(WeightCodingTest, DepthwiseKernelsHaveNoInputs) {
  std::vector<int16_t> stream =
      orderForDevice(makeKernel(9, 3, 3, 1, true), WeightOrder::EthosU55);
  ASSERT_EQ(stream.size(), 2U * 12U * 8U);
  EXPECT_EQ(stream[0], 1);
  EXPECT_EQ(stream[1], 10);
  EXPECT_EQ(stream[8], 2);
  EXPECT_EQ(stream[96], 73);
  EXPECT_EQ(stream[97], 0);
}

TEST(WeightCodingTest, WindowsAreReadInPartsOf8x8) {
  // 10x4 positions are 8x4 and 2x4.
  std::vector<int16_t> stream =
      orderForDevice(makeKernel(1, 10, 4, 1), WeightOrder::EthosU85);
  ASSERT_EQ(stream.size(), (35U + 10U) * 8U * 16U);
  EXPECT_EQ(stream[31 * 128], 32);
  EXPECT_EQ(stream[32 * 128], 0);
  EXPECT_EQ(stream[35 * 128], 33);
}

TEST(WeightCodingTest, EthosU85FillsMoreUp) {
  auto count = [](int64_t outputs, int64_t size, int64_t inputs,
                  bool isDepthwise = false) {
    return orderForDevice(makeKernel(outputs, size, size, inputs, isDepthwise),
                          WeightOrder::EthosU85)
        .size();
  };
  // The window first: five positions and 16 inputs.
  EXPECT_EQ(count(8, 3, 64), 8U * 10U * 64U);
  EXPECT_EQ(count(8, 1, 32), 8U * 5U * 32U);
  // Inputs first: 64 of them.
  EXPECT_EQ(count(8, 1, 48), 8U * 64U);
  EXPECT_EQ(count(10, 1, 65), 16U * 128U);
  // Depthwise: ten positions and 16 outputs.
  EXPECT_EQ(count(9, 3, 1, true), 16U * 10U);
}

} // namespace
