// SPDX-License-Identifier: Apache-2.0
//
// Functions that compiled parts compute by arithmetic of their own, against
// those of the C library in double.
#include "Fixture.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <limits>

using namespace mct::execution;

namespace {

using Function = double (*)(double);

class FunctionsTest : public ExecutionTest {
protected:
  /// Compiles an op on so many values of one sample.
  std::unique_ptr<Executor> compileOp(const std::string &op, size_t count) {
    std::string type = tensorType({1, int64_t(count)});
    CompileOptions options;
    options.unit = 1;
    return compile("func.func @main(%x: " + type + ") -> " + type + " {\n" +
                       op + "\nreturn %y : " + type + "\n}",
                   options);
  }
  Floats apply(const std::string &op, const Floats &values) {
    auto executor = compileOp(op, values.size());
    return executor ? runUnit(*executor, {values}) : Floats();
  }
  static std::string unary(const std::string &name, size_t count) {
    std::string type = tensorType({1, int64_t(count)});
    return "%y = tosa." + name + " %x : (" + type + ") -> " + type;
  }
  static std::string power(double exponent, size_t count) {
    std::string type = tensorType({1, int64_t(count)});
    return "%e = \"tosa.const\"() <{values = dense<" +
           std::to_string(exponent) +
           "> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>\n%y = tosa.pow %x, "
           "%e : (" +
           type + ", tensor<1x1xf32>) -> " + type;
  }
};

/// Values of all exponents and signs, NaN and infinities included, and many
/// where the functions are curved.
Floats denseFloats() {
  Floats values{0.0f, -0.0f, std::numeric_limits<float>::quiet_NaN(),
                std::numeric_limits<float>::infinity(),
                -std::numeric_limits<float>::infinity()};
  // A prime stride, so that mantissas differ from one exponent to the next.
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 16381)
    values.push_back(llvm::bit_cast<float>(uint32_t(bits)));
  for (float value : randomFloats(1 << 17, 1))
    for (float scale : {1.0f, 10.0f, 110.0f})
      values.push_back(value * scale);
  return values;
}

/// Returns the error in units in the last place of the exact result.
double unitsApart(float found, double exact) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isnan(exact))
    return std::isnan(found) ? 0 : kWrong;
  auto nearest = float(exact);
  if (std::isinf(nearest) || nearest == 0 || std::isinf(found))
    return found == nearest && std::signbit(found) == std::signbit(nearest)
               ? 0
               : std::abs(double(found)) / 0x1p-149;
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::abs(found - exact) /
         std::ldexp(1.0, std::max(exponent - 24, -149));
}

TEST_F(FunctionsTest, ErrorsAreBelowTheirBounds) {
  const struct {
    const char *name;
    Function exact;
    double bound;
  } functions[] = {
      {"exp", std::exp, 1}, {"tanh", std::tanh, 1.5}, {"erf", std::erf, 1}};
  Floats values = denseFloats();
  for (const auto &function : functions) {
    Floats found = apply(unary(function.name, values.size()), values);
    ASSERT_EQ(found.size(), values.size());
    for (auto [value, result] : llvm::zip(values, found))
      ASSERT_LT(unitsApart(result, function.exact(value)), function.bound)
          << function.name << " of " << value << " is " << result;
  }
}

TEST_F(FunctionsTest, PowersWithSmallExponentsAreProducts) {
  Floats values = denseFloats();
  Floats squares = apply(power(2, values.size()), values),
         cubes = apply(power(3, values.size()), values);
  for (auto [value, square, cube] : llvm::zip(values, squares, cubes)) {
    if (std::isnan(value))
      continue;
    ASSERT_EQ(square, value * value);
    ASSERT_EQ(cube, value * value * value);
  }
  // Other exponents are the C library's.
  Floats base{0.5f, 2.0f, 3.0f};
  Floats roots = apply(power(0.5, base.size()), base),
         fourth = apply(power(4, base.size()), base);
  for (auto [value, root, power] : llvm::zip(base, roots, fourth)) {
    EXPECT_LE(unitsApart(root, std::sqrt(double(value))), 1);
    EXPECT_LE(unitsApart(power, std::pow(double(value), 4)), 1);
  }
}

/// Vectors, and what is left of a loop after them, round alike.
TEST_F(FunctionsTest, BitsDoNotDependOnThePlaceOfAnElement) {
  for (const char *name : {"exp", "tanh", "erf"}) {
    Floats values = randomFloats(79, 2);
    for (float &value : values)
      value *= 6;
    Floats together = apply(unary(name, values.size()), values);
    auto alone = compileOp(unary(name, 1), 1);
    ASSERT_TRUE(alone);
    for (auto [value, result] : llvm::zip_equal(values, together))
      ASSERT_EQ(runUnit(*alone, {{value}}), Floats{result}) << name;
  }
}

} // namespace
