// SPDX-License-Identifier: Apache-2.0
//
// Ops that work on each element.
#include "ReferenceOps.h"

using namespace mlir;
using namespace mct::testing;
using namespace mct::testing::reference;

void Evaluation::clamp(tosa::ClampOp clampOp) {
  auto bound = [](Attribute attribute) {
    if (auto number = dyn_cast<FloatAttr>(attribute))
      return number.getValueAsDouble();
    return double(cast<IntegerAttr>(attribute).getValue().getSExtValue());
  };
  double low = bound(clampOp.getMinVal()), high = bound(clampOp.getMaxVal());
  elementwise([&](ArrayRef<Number> x) {
    return monotoneExact(
        x[0], [&](double v) { return std::min(std::max(v, low), high); });
  });
}

void Evaluation::castElements() {
  Type from = input(0).element, to = element();
  elementwise([&](ArrayRef<Number> x) -> Number {
    if (isTruth(to)) {
      Order order = compare(x[0], {0, 0});
      return order == Order::Unknown ? kUnknownTruth
                                     : truth(order != Order::Equal);
    }
    if (isFloat(to))
      return x[0].isExact() ? Number{double(float(x[0].value)), 0}
                            : rounded(x[0].value, x[0].error);
    if (isFloat(from))
      return monotoneExact(x[0], [&](double v) {
        return std::clamp(roundHalfToEven(v), double(smallestOf(widthOf(to))),
                          double(largestOf(widthOf(to))));
      });
    if (!x[0].isExact())
      return {0, kInfinity};
    return {double(wrap(integer(x[0]), widthOf(to))), 0};
  });
}

void Evaluation::rescale(tosa::RescaleOp rescaleOp) {
  const ReferenceTensor &x = input(0);
  const ReferenceTensor &multiplier = input(1), &shift = input(2);
  bool doubleRound =
      rescaleOp.getRoundingMode() == tosa::RoundingMode::DOUBLE_ROUND;
  unsigned width = widthOf(element());
  bool isUnsigned = rescaleOp.getOutputUnsigned();
  int64_t inZero = integer(input(3).numbers[0]),
          outZero = integer(input(4).numbers[0]);
  // Zero points have the sign that their values have: -128 is 128 there.
  if (rescaleOp.getInputUnsigned())
    inZero = int64_t(unsignedOf(inZero, widthOf(x.element)));
  if (isUnsigned)
    outZero = int64_t(unsignedOf(outZero, width));
  for (size_t i = 0; i != result.numbers.size(); ++i) {
    if (!x.numbers[i].isExact()) {
      result.numbers[i] = {0, kInfinity};
      continue;
    }
    size_t channel = rescaleOp.getPerChannel() ? i % size_t(x.shape.back()) : 0;
    int64_t value = integer(x.numbers[i]);
    if (rescaleOp.getInputUnsigned())
      value = int64_t(unsignedOf(value, widthOf(x.element)));
    int64_t scaled =
        applyScale(value - inZero, integer(multiplier.numbers[channel]),
                   integer(shift.numbers[channel]), doubleRound);
    int64_t clipped =
        std::clamp(scaled + outZero, smallestOf(width, isUnsigned),
                   largestOf(width, isUnsigned));
    result.numbers[i] = {double(wrap(clipped, width)), 0};
  }
}

void Evaluation::addOrSubtract(double sign) {
  if (!isFloat(element())) {
    wrapped([&](int64_t a, int64_t b) { return a + int64_t(sign) * b; });
    return;
  }
  int64_t terms = std::max(input(0).terms, input(1).terms);
  elementwise([&](ArrayRef<Number> x) {
    double error = x[0].error + x[1].error;
    Number sum = rounded(x[0].value + sign * x[1].value, error);
    // Unless every number is exact, the sum may have been begun with the
    // other operand.
    if (terms != 0 && error != 0)
      sum.error += double(terms + 1) * kUnit *
                   (std::abs(x[0].value) + std::abs(x[1].value) + error);
    return sum;
  });
}

void Evaluation::multiply() {
  int64_t shift = integer(input(2).numbers[0]);
  inputs.pop_back();
  if (isFloat(element())) {
    elementwise([&](ArrayRef<Number> x) {
      Sum product;
      product.addProduct(x[0], x[1]);
      return rounded(product.value, product.propagated);
    });
    return;
  }
  wrapped([&](int64_t a, int64_t b) {
    int64_t product = a * b;
    return shift == 0 ? product
                      : (product + (int64_t(1) << (shift - 1))) >> shift;
  });
}

void Evaluation::power() {
  // The power of a positive base is monotone in both operands, so that the
  // corners bound it.
  elementwise([&](ArrayRef<Number> x) -> Number {
    double value = std::pow(x[0].value, x[1].value), spread = 0;
    if (!(x[0].low() > 0))
      return {value, kInfinity};
    for (double a : {x[0].low(), x[0].high()})
      for (double b : {x[1].low(), x[1].high()})
        spread = std::max(spread, std::abs(std::pow(a, b) - value));
    return checked(value,
                   spread + 8 * kUnit * (std::abs(value) + spread) + kTiny);
  });
}

bool Evaluation::arithmetic() {
  StringRef name = op.getName().stripDialect();
  if (name == "add" || name == "sub") {
    addOrSubtract(name == "add" ? 1 : -1);
    return true;
  }
  if (name == "mul") {
    multiply();
    return true;
  }
  if (name == "pow") {
    power();
    return true;
  }
  if (name == "maximum") {
    elementwise([&](ArrayRef<Number> x) { return largest(x[0], x[1]); });
    return true;
  }
  if (name == "minimum") {
    elementwise([&](ArrayRef<Number> x) { return smallest(x[0], x[1]); });
    return true;
  }
  if (name == "intdiv") {
    wrapped([](int64_t a, int64_t b) { return a / b; });
    return true;
  }
  if (name == "identity") {
    result.numbers = input(0).numbers;
    return true;
  }
  if (name == "table") {
    lookUp();
    return true;
  }
  return bits(name) || logic(name) || signs(name) || functions(name);
}

bool Evaluation::bits(StringRef name) {
  unsigned width = element().isIntOrFloat() ? widthOf(element()) : 0;
  if (name == "bitwise_and") {
    wrapped([](int64_t a, int64_t b) { return a & b; });
    return true;
  }
  if (name == "bitwise_or") {
    wrapped([](int64_t a, int64_t b) { return a | b; });
    return true;
  }
  if (name == "bitwise_xor") {
    wrapped([](int64_t a, int64_t b) { return a ^ b; });
    return true;
  }
  if (name == "logical_left_shift") {
    wrapped([](int64_t a, int64_t b) {
      return int64_t(uint64_t(a) << uint64_t(b));
    });
    return true;
  }
  if (name == "logical_right_shift") {
    wrapped([&](int64_t a, int64_t b) {
      return int64_t(unsignedOf(a, width) >> b);
    });
    return true;
  }
  if (auto shift = dyn_cast<tosa::ArithmeticRightShiftOp>(op)) {
    wrapped([&](int64_t a, int64_t b) {
      bool up = shift.getRound() && b > 0 && ((a >> (b - 1)) & 1) != 0;
      return (a >> b) + (up ? 1 : 0);
    });
    return true;
  }
  if (name == "bitwise_not") {
    integers([](ArrayRef<Number> x) { return ~integer(x[0]); });
    return true;
  }
  if (name == "clz") {
    integers([&](ArrayRef<Number> x) {
      int64_t zeros = 0;
      uint64_t bits = unsignedOf(integer(x[0]), width);
      while (zeros < int64_t(width) &&
             ((bits >> (width - 1 - unsigned(zeros))) & 1) == 0)
        ++zeros;
      return zeros;
    });
    return true;
  }
  return false;
}

bool Evaluation::logic(StringRef name) {
  if (name == "logical_and") {
    truths([](bool a, bool b) { return a && b; });
    return true;
  }
  if (name == "logical_or") {
    truths([](bool a, bool b) { return a || b; });
    return true;
  }
  if (name == "logical_xor") {
    truths([](bool a, bool b) { return a != b; });
    return true;
  }
  if (name == "logical_not") {
    truths([](bool a, bool) { return !a; });
    return true;
  }
  if (name == "equal") {
    comparison([](Order order) { return truth(order == Order::Equal); });
    return true;
  }
  if (name == "greater") {
    comparison([](Order order) { return truth(order == Order::Greater); });
    return true;
  }
  if (name == "greater_equal") {
    comparison([](Order order) { return truth(order != Order::Less); });
    return true;
  }
  if (name == "select") {
    elementwise([&](ArrayRef<Number> x) {
      if (!x[0].isExact())
        return either(x[1], x[2]);
      return x[0].value != 0 ? x[1] : x[2];
    });
    return true;
  }
  return false;
}

bool Evaluation::signs(StringRef name) {
  unsigned width = element().isIntOrFloat() ? widthOf(element()) : 0;
  bool floats = isFloat(element());
  if (name == "abs") {
    elementwise([&](ArrayRef<Number> x) -> Number {
      if (!floats)
        return {double(wrap(std::abs(integer(x[0])), width)), x[0].error};
      if (x[0].isExact())
        return {std::abs(x[0].value), 0};
      double least = x[0].low() > 0    ? x[0].low()
                     : x[0].high() < 0 ? -x[0].high()
                                       : 0;
      return within(std::abs(x[0].value), least,
                    std::max(-x[0].low(), x[0].high()));
    });
    return true;
  }
  if (name == "negate") {
    int64_t inZero = floats ? 0 : integer(input(1).numbers[0]),
            outZero = floats ? 0 : integer(input(2).numbers[0]);
    inputs.resize(1);
    elementwise([&](ArrayRef<Number> x) -> Number {
      if (floats)
        return negated(x[0]);
      if (!x[0].isExact())
        return {0, kInfinity};
      return {double(std::clamp(-(integer(x[0]) - inZero) + outZero,
                                smallestOf(width), largestOf(width))),
              0};
    });
    return true;
  }
  if (name == "ceil" || name == "floor") {
    elementwise([&](ArrayRef<Number> x) {
      return monotoneExact(x[0], [&](double v) {
        return name == "ceil" ? std::ceil(v) : std::floor(v);
      });
    });
    return true;
  }
  return false;
}

bool Evaluation::functions(StringRef name) {
  // Errors of the executor's functions, in halves of a unit in the last place:
  // at most 2 units are allowed to each, 4 to those with more.
  if (name == "exp") {
    unary(4, [](double v) { return std::exp(v); });
    return true;
  }
  if (name == "log") {
    unary(4, [](double v) { return std::log(v); });
    return true;
  }
  if (name == "tanh") {
    unary(8, [](double v) { return std::tanh(v); });
    return true;
  }
  if (name == "erf") {
    unary(8, [](double v) { return std::erf(v); });
    return true;
  }
  if (name == "sigmoid") {
    // An exponential, a sum and a quotient.
    unary(8, [](double v) { return 1 / (1 + std::exp(-v)); });
    return true;
  }
  if (name == "rsqrt") {
    unary(4, [](double v) {
      return v > 0 ? 1 / std::sqrt(v)
                   : std::numeric_limits<double>::quiet_NaN();
    });
    return true;
  }
  if (name == "reciprocal") {
    elementwise([&](ArrayRef<Number> x) -> Number {
      if (x[0].isExact())
        return rounded(1 / x[0].value, 0);
      if (x[0].low() <= 0 && x[0].high() >= 0)
        return {1 / x[0].value, kInfinity};
      return monotone(x[0], 1, [](double v) { return 1 / v; });
    });
    return true;
  }
  if (name == "sin" || name == "cos") {
    elementwise([&](ArrayRef<Number> x) {
      double value =
          name == "sin" ? std::sin(x[0].value) : std::cos(x[0].value);
      return checked(value, std::min(x[0].error, 2.0) + 4 * kUnit);
    });
    return true;
  }
  return false;
}

void Evaluation::lookUp() {
  const ReferenceTensor &table = input(1);
  inputs.resize(1);
  integers([&](ArrayRef<Number> x) {
    int64_t value = integer(x[0]);
    if (widthOf(input(0).element) == 8)
      return integer(table.numbers[size_t(value + 128)]);
    int64_t position = value + 32768, index = position >> 7,
            fraction = position & 0x7f;
    int64_t base = integer(table.numbers[size_t(index)]),
            next = integer(table.numbers[size_t(index + 1)]);
    return base * 128 + (next - base) * fraction;
  });
}
