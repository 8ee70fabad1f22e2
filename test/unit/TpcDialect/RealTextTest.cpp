// SPDX-License-Identifier: Apache-2.0
//
// Numbers are written as MLIR writes them.
#include "tpc_dialect/IR/RealText.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace mct;

namespace {
class RealText : public testing::Test {
protected:
  /// Returns what MLIR writes for `value`.
  std::string expected(double value) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    FloatAttr::get(type, value).print(stream, /*elideType=*/true);
    return text;
  }

  /// Returns whether `value` was written, which must be as MLIR does.
  bool check(double value) {
    SmallString<32> text;
    bool isWritten = tpc::writeReal(value, text);
    if (isWritten)
      EXPECT_EQ(text.str().str(), expected(value));
    else
      EXPECT_TRUE(text.empty());
    return isWritten;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  Type type = Float64Type::get(&context);
  std::mt19937_64 random{7};
};
} // namespace

TEST_F(RealText, KnownTexts) {
  auto write = [](double value) {
    SmallString<32> text;
    EXPECT_TRUE(tpc::writeReal(value, text));
    return text.str().str();
  };
  EXPECT_EQ(write(1), "1.000000e+00");
  EXPECT_EQ(write(-0.125), "-1.250000e-01");
  EXPECT_EQ(write(1234.5678), "1234.5678");
  EXPECT_EQ(write(0.10254350304603577), "0.10254350304603577");
  EXPECT_EQ(write(std::ldexp(1.0, -20)), "9.5367431640625E-7");
  // Cut, not rounded: 0.7 is less than seven tenths by 4.4e-17.
  EXPECT_EQ(write(0.7), "0.69999999999999996");
}

TEST_F(RealText, AnyBits) {
  for (int i = 0; i != 5000; ++i)
    check(llvm::bit_cast<double>(random()));
}

TEST_F(RealText, WritesWhatChannelsHave) {
  // Thresholds are floats, errors are doubles, larger than 1e-16.
  std::uniform_real_distribution<double> exponent(-53, 30);
  for (int i = 0; i != 5000; ++i) {
    double value = std::exp2(exponent(random));
    EXPECT_TRUE(check(value) || value > 1e6) << value;
    EXPECT_TRUE(check(float(value)) || value > 1e6) << value;
    check(-value);
  }
}

TEST_F(RealText, FewDigits) {
  for (int exponent = -30; exponent != 30; ++exponent)
    for (int i = 0; i != 60; ++i) {
      double value =
          double(random() % 2000000) * std::pow(10.0, double(exponent));
      check(value);
      check(std::nextafter(value, 0.0));
      check(std::nextafter(value, std::numeric_limits<double>::infinity()));
    }
}

TEST_F(RealText, PowersAndIntegers) {
  for (int exponent = -1074; exponent != 1024; ++exponent)
    for (double factor : {1.0, 3.0, 255.0, 1 - 0x1p-53, 1 + 0x1p-52})
      check(std::ldexp(factor, exponent));
  for (int exponent = -40; exponent != 40; ++exponent)
    for (double factor : {5.0, 25.0, 9.0})
      check(factor * std::pow(10.0, exponent));
  double power = 1;
  for (int i = 0; i != 25; ++i, power *= 5)
    check(power / 1024);
  for (int bits = 1; bits != 64; ++bits)
    for (int i = 0; i != 100; ++i)
      check(double(random() >> (64 - bits)));
}

TEST_F(RealText, LeavesTheRest) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (double value :
       {0.0, -0.0, kInfinity, -kInfinity,
        std::numeric_limits<double>::quiet_NaN(),
        std::numeric_limits<double>::denorm_min(), 1e-300, 1e300, 1234567.0})
    EXPECT_FALSE(check(value)) << value;
}
