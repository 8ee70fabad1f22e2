// SPDX-License-Identifier: Apache-2.0
#include "mct/IntegerRanges/IntegerRanges.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace mct;

namespace mct {
static std::ostream &operator<<(std::ostream &stream, Interval interval) {
  return stream << '[' << interval.low << ", " << interval.high << ']';
}
} // namespace mct

//===----------------------------------------------------------------------===//
// Intervals, against all their values
//===----------------------------------------------------------------------===//

/// The least and the greatest result over all pairs that are `defined`.
template <typename Function, typename Defined>
static std::optional<Interval> bruteForce(Interval a, Interval b,
                                          Function function, Defined defined) {
  std::optional<Interval> result;
  for (int64_t x = a.low; x <= a.high; ++x)
    for (int64_t y = b.low; y <= b.high; ++y)
      if (defined(y)) {
        Interval value = Interval::point(function(x, y));
        result = result ? unite(*result, value) : value;
      }
  return result;
}

/// Compares over all intervals in -6 .. 6, and second ones in `limits`.
template <typename Arithmetic, typename Function, typename Defined>
static void compare(
    Arithmetic arithmetic, Function function, Interval limits = {-6, 6},
    Defined defined = [](int64_t) { return true; }) {
  for (int64_t a = -6; a <= 6; ++a)
    for (int64_t b = a; b <= 6; ++b)
      for (int64_t c = limits.low; c <= limits.high; ++c)
        for (int64_t d = c; d <= limits.high; ++d) {
          std::optional<Interval> expected =
              bruteForce({a, b}, {c, d}, function, defined);
          if (expected) {
            ASSERT_EQ(arithmetic(Interval{a, b}, Interval{c, d}), *expected)
                << Interval{a, b} << ' ' << Interval{c, d};
          }
        }
}
static bool always(int64_t) { return true; }

/// floor(value / 2^shift + 1/2), without a shift of negative numbers.
static int64_t halfUp(__int128 value, int64_t shift) {
  __int128 divisor = __int128(1) << shift, numerator = value + divisor / 2;
  __int128 quotient = numerator / divisor;
  return int64_t(numerator % divisor < 0 ? quotient - 1 : quotient);
}

TEST(IntervalTest, ArithmeticIsTight) {
  compare(add, [](int64_t x, int64_t y) { return x + y; }, {-6, 6}, always);
  compare(
      subtract, [](int64_t x, int64_t y) { return x - y; }, {-6, 6}, always);
  compare([](Interval a, Interval b) { return multiply(a, b); },
          [](int64_t x, int64_t y) { return x * y; }, {-6, 6}, always);
  compare([](Interval a, Interval b) { return multiply(a, b, 2); },
          [](int64_t x, int64_t y) { return halfUp(x * y, 2); }, {-6, 6},
          always);
  compare(
      divide, [](int64_t x, int64_t y) { return x / y; }, {-6, 6},
      [](int64_t y) { return y != 0; });
  compare([](Interval a, Interval) { return absolute(a); },
          [](int64_t x, int64_t) { return std::abs(x); }, {0, 0}, always);
}

TEST(IntervalTest, ShiftsAreTight) {
  compare([](Interval a, Interval b) { return shiftRight(a, b, true); },
          [](int64_t x, int64_t y) { return halfUp(x, y); }, {0, 4}, always);
  compare([](Interval a, Interval b) { return shiftRight(a, b, false); },
          [](int64_t x, int64_t y) {
            return int64_t(std::floor(std::ldexp(double(x), -int(y))));
          },
          {0, 4}, always);
  compare(
      shiftLeft, [](int64_t x, int64_t y) { return x * (1 << y); }, {0, 4},
      always);
  compare([](Interval a, Interval) { return countLeadingZeros(a); },
          [](int64_t x, int64_t) {
            int64_t zeros = 0;
            for (int bit = 31; bit >= 0 && !(uint32_t(x) >> bit & 1); --bit)
              ++zeros;
            return zeros;
          },
          {0, 0}, always);
}

TEST(IntervalTest, SaturatesAtTheEndsOfTheNumbers) {
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min(),
                    kHigh = std::numeric_limits<int64_t>::max();
  Interval all = {kLow, kHigh};
  EXPECT_EQ(add(all, all), all);
  EXPECT_EQ(subtract(all, all), all);
  EXPECT_EQ(multiply(all, all), all);
  EXPECT_EQ(absolute(all), (Interval{0, kHigh}));
  EXPECT_EQ(divide(all, {-1, 0}), (Interval{-kHigh, kHigh}));
  EXPECT_EQ(divide({1, 5}, {0, 0}), Interval());
}

TEST(IntervalTest, RescaleIsTheFormulaOfTosa) {
  std::mt19937_64 random(1);
  for (int i = 0; i != 20000; ++i) {
    RescaleFactor factor;
    factor.shift = 2 + int64_t(random() % 61);
    factor.multiplier = int64_t(random() % (uint64_t(1) << 31));
    factor.doubleRound = random() % 2;
    Interval domain = factor.getDomain();
    int64_t span = std::min<int64_t>(domain.high, (int64_t(1) << 31) - 1);
    int64_t value = int64_t(random() % uint64_t(2 * span + 1)) - span;
    __int128 numerator = __int128(value) * factor.multiplier +
                         (__int128(1) << (factor.shift - 1));
    if (factor.doubleRound && factor.shift > 31)
      numerator += value >= 0 ? 1 << 30 : -(1 << 30);
    __int128 divisor = __int128(1) << factor.shift;
    __int128 quotient = numerator / divisor;
    if (numerator % divisor < 0)
      --quotient;
    ASSERT_EQ(factor(value), int64_t(quotient));
    // The precondition keeps it within 32 bits.
    ASSERT_LE(std::abs(factor(value)), int64_t(1) << 31);
    // The order of values stays, so that the ends of an interval are enough.
    ASSERT_LE(factor(value), factor(value + 1));
  }
}

TEST(IntervalTest, TablesAreTight) {
  std::mt19937 random(2);
  std::vector<int64_t> narrow(256), wide(513);
  for (int64_t &entry : narrow)
    entry = int64_t(random() % 256) - 128;
  for (int64_t &entry : wide)
    entry = int64_t(random() % 65536) - 32768;
  for (int i = 0; i != 2000; ++i) {
    auto draw = [&](int64_t low, int64_t high) {
      int64_t a = low + int64_t(random() % (high - low + 1)),
              b = std::min<int64_t>(a + int64_t(random() % 700), high);
      return Interval{a, b};
    };
    Interval index = draw(-128, 127), wideIndex = draw(-32768, 32767);
    EXPECT_EQ(lookUp(narrow, index),
              *bruteForce(
                  index, {0, 0},
                  [&](int64_t x, int64_t) { return narrow[x + 128]; }, always));
    EXPECT_EQ(lookUp(wide, wideIndex),
              *bruteForce(
                  wideIndex, {0, 0},
                  [&](int64_t x, int64_t) {
                    int64_t offset = x + 32768, entry = offset / 128;
                    return wide[entry] * (128 - offset % 128) +
                           wide[entry + 1] * (offset % 128);
                  },
                  always));
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
class IntegerRangesTest : public testing::Test {
protected:
  IntegerRangesTest() {
    context.loadDialect<func::FuncDialect, tosa::TosaDialect>();
  }

  func::FuncOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    return module ? *module->getOps<func::FuncOp>().begin() : nullptr;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// One integer TOSA op after another on one argument of a single element, as
/// text, with the values for each of its 256 values beside them.
struct Chain {
  std::string text;
  std::vector<std::vector<int64_t>> values;

  /// The name of value `i`.
  static std::string name(size_t i) { return "%v" + std::to_string(i); }
  void addLine(std::vector<int64_t> made, const std::string &line) {
    text += "  " + name(values.size()) + " = " + line + "\n";
    values.push_back(std::move(made));
  }
};
} // namespace

static std::string constant(const std::string &values,
                            const std::string &type) {
  return "\"tosa.const\"() <{values = dense<" + values + "> : " + type +
         "}> : () -> " + type;
}

template <typename Function>
static std::vector<int64_t> mapped(const std::vector<int64_t> &from,
                                   Function function) {
  std::vector<int64_t> to;
  for (int64_t value : from)
    to.push_back(function(value));
  return to;
}

/// All values after a table are functions of its index, level by level, and
/// every range is that of the values. The first value that i32 does not hold is
/// reported, and the chain ends there.
TEST_F(IntegerRangesTest, ChainsAfterATableAreTight) {
  const std::string kI32 = "tensor<1xi32>";
  size_t overflows = 0, compared = 0;
  for (unsigned seed = 0; seed != 200; ++seed) {
    std::mt19937 random(seed);
    Chain chain;
    std::vector<int64_t> table;
    std::string entries;
    for (int i = 0; i != 256; ++i) {
      table.push_back(int64_t(random() % 256) - 128);
      entries += (i ? ", " : "") + std::to_string(table.back());
    }
    chain.addLine(table, "tosa.table %x, %table : (tensor<1xi8>, "
                         "tensor<256xi8>) -> tensor<1xi8>");
    chain.addLine(table, "tosa.cast " + Chain::name(0) +
                             " : (tensor<1xi8>) -> " + kI32);
    bool hasOverflow = false;
    for (int step = 0; step != 20 && !hasOverflow; ++step) {
      size_t a = 1 + random() % (chain.values.size() - 1),
             b = 1 + random() % (chain.values.size() - 1);
      std::vector<int64_t> left = chain.values[a], right = chain.values[b],
                           made;
      std::string names = Chain::name(a) + ", " + Chain::name(b);
      std::string types = " : (" + kI32 + ", " + kI32 + ") -> " + kI32;
      switch (random() % 9) {
      case 0:
      case 1: {
        bool isAdd = random() % 2;
        for (size_t i = 0; i != 256; ++i)
          made.push_back(isAdd ? left[i] + right[i] : left[i] - right[i]);
        chain.addLine(made,
                      (isAdd ? "tosa.add " : "tosa.sub ") + names + types);
        break;
      }
      case 2:
      case 7:
      case 8:
        for (size_t i = 0; i != 256; ++i)
          made.push_back(halfUp(left[i] * right[i], 3));
        chain.addLine(made, "tosa.mul " + names + ", %three : (" + kI32 + ", " +
                                kI32 + ", tensor<1xi8>) -> " + kI32);
        break;
      case 3:
        for (size_t i = 0; i != 256; ++i)
          made.push_back(std::max(left[i], right[i]));
        chain.addLine(made, "tosa.maximum " + names + types);
        break;
      case 4:
        chain.addLine(mapped(left, [](int64_t v) { return halfUp(v, 3); }),
                      "tosa.arithmetic_right_shift " + Chain::name(a) +
                          ", %amount {round = true}" + types);
        break;
      case 5:
        chain.addLine(mapped(left, [](int64_t v) { return std::abs(v); }),
                      "tosa.abs " + Chain::name(a) + " : (" + kI32 + ") -> " +
                          kI32);
        break;
      default:
        chain.addLine(
            mapped(left,
                   [](int64_t v) { return std::clamp<int64_t>(v, -99, 1000); }),
            "tosa.clamp " + Chain::name(a) +
                " {min_val = -99 : i32, max_val = 1000 : i32} : (" + kI32 +
                ") -> " + kI32);
      }
      for (int64_t value : chain.values.back())
        hasOverflow |= value != int32_t(value);
    }
    func::FuncOp function =
        parse("func.func @main(%x: tensor<1xi8>) {\n  %table = " +
              constant("[" + entries + "]", "tensor<256xi8>") +
              "\n  %three = " + constant("3", "tensor<1xi8>") +
              "\n  %amount = " + constant("3", kI32) + "\n" + chain.text +
              "  return\n}\n");
    ASSERT_TRUE(function);
    IntegerRanges ranges(function);
    ASSERT_EQ(ranges.getViolations().size(), size_t(hasOverflow)) << seed;
    overflows += hasOverflow;
    size_t index = 0;
    function.walk([&](Operation *op) {
      if (isa<tosa::ConstOp>(op) || op->getNumResults() == 0)
        return;
      const std::vector<int64_t> &values = chain.values[index++];
      auto [low, high] = std::minmax_element(values.begin(), values.end());
      if (hasOverflow && index == chain.values.size()) {
        EXPECT_EQ(ranges.getViolations().front().op, op);
        EXPECT_EQ(ranges.getViolations().front().found, (Interval{*low, *high}))
            << seed;
        return;
      }
      EXPECT_EQ(*ranges.get(op->getResult(0)), (Interval{*low, *high})) << seed;
      ++compared;
    });
    EXPECT_EQ(index, chain.values.size());
  }
  EXPECT_GT(overflows, 5u);
  EXPECT_GT(compared, 1500u);
}

/// The ends are reached without padding, by the inputs that suit each weight.
TEST_F(IntegerRangesTest, ConvolutionsReachTheirEnds) {
  for (unsigned seed = 0; seed != 50; ++seed) {
    std::mt19937 random(seed);
    int64_t low = int64_t(random() % 128) - 128,
            high = low + int64_t(random() % 128), zero = int64_t(random() % 20);
    bool isPadded = random() % 2;
    // 2 outputs of 4 inputs, at 3 places.
    int64_t weights[2][3][4], bias[2];
    std::string kernel;
    for (int out = 0; out != 2; ++out) {
      bias[out] = int64_t(random() % 2000) - 1000;
      kernel += out ? "], [" : "";
      for (int place = 0; place != 3; ++place) {
        kernel += place ? ", [" : "[[";
        for (int in = 0; in != 4; ++in) {
          weights[out][place][in] = int64_t(random() % 256) - 128;
          kernel += (in ? ", " : "") + std::to_string(weights[out][place][in]);
        }
        kernel += "]";
      }
      kernel += "]";
    }
    func::FuncOp function = parse(llvm::formatv(
        R"(func.func @main(%x: tensor<1x1x5x4xi8>) {{
  %0 = tosa.clamp %x {{min_val = {0} : i8, max_val = {1} : i8} : (tensor<1x1x5x4xi8>) -> tensor<1x1x5x4xi8>
  %w = {2}
  %b = {3}
  %zero = {4}
  %none = {5}
  %1 = tosa.conv2d %0, %w, %b, %zero, %none {{acc_type = i32, pad = array<i64: 0, 0, {6}, {6}>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x1x5x4xi8>, tensor<2x1x3x4xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x{7}x2xi32>
  return
})",
        low, high, constant("[[" + kernel + "]]", "tensor<2x1x3x4xi8>"),
        constant(llvm::formatv("[{0}, {1}]", bias[0], bias[1]),
                 "tensor<2xi32>"),
        constant(std::to_string(zero), "tensor<1xi8>"),
        constant("0", "tensor<1xi8>"), int(isPadded), isPadded ? 5 : 3));
    ASSERT_TRUE(function);
    IntegerRanges ranges(function);
    auto conv = *function.getOps<tosa::Conv2DOp>().begin();
    ArrayRef<Interval> channels = ranges.getChannels(conv.getResult());
    ASSERT_EQ(channels.size(), 2u);
    ASSERT_EQ(ranges.getAccumulators().size(), 1u);
    for (int out = 0; out != 2; ++out) {
      Interval expected = Interval::point(bias[out]);
      int64_t magnitude = std::abs(bias[out]);
      for (auto &place : weights[out])
        for (int64_t weight : place) {
          int64_t a = weight * (low - zero), b = weight * (high - zero);
          magnitude += std::max(std::abs(a), std::abs(b));
          if (isPadded) { // may be left out
            expected.low += std::min({a, b, int64_t(0)});
            expected.high += std::max({a, b, int64_t(0)});
          } else {
            expected.low += std::min(a, b);
            expected.high += std::max(a, b);
          }
        }
      EXPECT_EQ(channels[out], expected) << seed;
      EXPECT_EQ(ranges.getAccumulators().front().magnitudes[out], magnitude);
    }
  }
}

/// Newton's method divides by a number of 2^30 to 2^31: one step is wide, the
/// pieces are not.
TEST_F(IntegerRangesTest, StepsOfNewtonsMethodAreTakenTogether) {
  const char *text = R"(
func.func @main(%x: tensor<1xi32>) {
  %low = tosa.clamp %x {min_val = 1 : i32, max_val = 100000 : i32} : (tensor<1xi32>) -> tensor<1xi32>
  %one = "tosa.const"() <{values = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
  %31 = "tosa.const"() <{values = dense<31> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zeros = tosa.clz %low : (tensor<1xi32>) -> tensor<1xi32>
  %by = tosa.sub %zeros, %one : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  %d = tosa.logical_left_shift %low, %by : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  %factor = "tosa.const"() <{values = dense<-1010580540> : tensor<1xi32>}> : () -> tensor<1xi32>
  %start = "tosa.const"() <{values = dense<1515870810> : tensor<1xi32>}> : () -> tensor<1xi32>
  %first = tosa.mul %d, %factor, %31 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi8>) -> tensor<1xi32>
  %guess = tosa.add %first, %start : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  %product = tosa.mul %guess, %d, %31 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi8>) -> tensor<1xi32>
  return
})";
  func::FuncOp function = parse(text);
  ASSERT_TRUE(function);
  IntegerRanges ranges(function);
  EXPECT_TRUE(ranges.getViolations().empty());
  auto last = function.front().getTerminator()->getPrevNode()->getResult(0);
  Interval product = *ranges.get(last);
  // d * (48/17 - 32/17 * d) is within 1/17 of 1, in units of 2^29; one piece is
  // at most 1/32 wide.
  Interval exact;
  for (int64_t x = 1; x <= 100000; ++x) {
    int64_t d = x;
    while (d < (1 << 30))
      d *= 2;
    int64_t guess = halfUp(d * -1010580540, 31) + 1515870810;
    Interval value =
        Interval::point(int64_t((__int128(guess) * d + (1 << 30)) >> 31));
    exact = x == 1 ? value : unite(exact, value);
  }
  EXPECT_TRUE(product.contains(exact)) << product << exact;
  EXPECT_LT(product.high, int64_t(1.1 * (1 << 29)));
  EXPECT_GT(product.low, int64_t(0.8 * (1 << 29)));
}
