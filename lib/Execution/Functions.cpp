// SPDX-License-Identifier: Apache-2.0
//
// Functions of f32 as arithmetic, which loops compute for several elements at
// once; they would call the C library for each element. The lanes of a vector
// and the remainder of a loop round in the same way, because every step is an
// op of IEEE 754.
//
// Coefficients: least largest relative error, each rounded to f32 before the
// ones after it were fitted.
#include "Pipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace {

/// Inserts arithmetic before an op.
class Arithmetic {
public:
  explicit Arithmetic(Operation *op) : builder(op), loc(op->getLoc()) {}

  Value real(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(float(value)));
  }
  Value integer(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  }
  Value add(Value left, Value right) {
    return arith::AddFOp::create(builder, loc, left, right);
  }
  Value subtract(Value left, Value right) {
    return arith::SubFOp::create(builder, loc, left, right);
  }
  Value multiply(Value left, Value right) {
    return arith::MulFOp::create(builder, loc, left, right);
  }
  Value divide(Value left, Value right) {
    return arith::DivFOp::create(builder, loc, left, right);
  }
  /// Returns left * right + added, rounded once.
  Value multiplyAdd(Value left, Value right, Value added) {
    return math::FmaOp::create(builder, loc, left, right, added);
  }
  Value magnitude(Value value) {
    return math::AbsFOp::create(builder, loc, value);
  }
  Value withSignOf(Value value, Value sign) {
    return math::CopySignOp::create(builder, loc, value, sign);
  }
  /// Returns the first value if `left` is less; not if one is NaN.
  Value selectIfLess(Value left, Value right, Value first, Value second) {
    Value less = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                                       left, right);
    return arith::SelectOp::create(builder, loc, less, first, second);
  }
  /// Returns a polynomial, whose highest coefficient comes first.
  Value polynomial(Value at, ArrayRef<double> coefficients) {
    Value sum = real(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = multiplyAdd(sum, at, real(coefficient));
    return sum;
  }

  Value exp(Value x);
  Value tanh(Value x);
  Value erf(Value x);

private:
  Value bitsOf(Value value) {
    return arith::BitcastOp::create(builder, loc, builder.getI32Type(), value);
  }
  /// Returns 2^exponent, a normal number.
  Value powerOfTwo(Value exponent) {
    Value bits = arith::ShLIOp::create(
        builder, loc,
        arith::AddIOp::create(builder, loc, exponent, integer(127)),
        integer(23));
    return arith::BitcastOp::create(builder, loc, builder.getF32Type(), bits);
  }

  OpBuilder builder;
  Location loc;
};

} // namespace

/// The error is below 1 unit in the last place.
Value Arithmetic::exp(Value x) {
  // Outside of these limits results are 0 or infinite. A NaN stays one.
  Value least = real(-104), most = real(89);
  x = selectIfLess(x, least, least, x);
  x = selectIfLess(most, x, most, x);
  // x = exponent * log(2) + rest. A sum of this size has no fraction, and ends
  // in the bits of the exponent, also that of NaN in some bits.
  Value large = real(12582912);
  Value sum = multiplyAdd(x, real(1.4426950408889634), large);
  Value rounded = subtract(sum, large);
  Value exponent =
      arith::SubIOp::create(builder, loc, bitsOf(sum), integer(0x4B400000));
  // The first part of -log(2) has few bits, so that its multiples are exact.
  Value rest = multiplyAdd(rounded, real(-0.693145751953125), x);
  rest = multiplyAdd(rounded, real(-1.428606765330187e-6), rest);
  Value series = polynomial(rest, {0.0001973955804714933, 0.0013935096794739366,
                                   0.008333571255207062, 0.041666463017463684,
                                   0.1666666567325592, 0.5});
  Value power = multiplyAdd(multiply(series, rest), rest, rest);
  power = add(power, real(1));
  // In two steps: the result may be subnormal, or infinite.
  Value half = arith::ShRSIOp::create(builder, loc, exponent, integer(1));
  Value other = arith::SubIOp::create(builder, loc, exponent, half);
  return multiply(multiply(power, powerOfTwo(half)), powerOfTwo(other));
}

/// The error is below 1.5 units in the last place.
Value Arithmetic::tanh(Value x) {
  Value size = magnitude(x), square = multiply(size, size), one = real(1);
  Value quotient = divide(real(2), add(exp(add(size, size)), one));
  Value series = polynomial(square, {-0.005433565471321344, 0.02039214037358761,
                                     -0.05366308242082596, 0.13330517709255219,
                                     -0.33333247900009155});
  Value small = multiplyAdd(multiply(series, square), size, size);
  return withSignOf(
      selectIfLess(size, real(0.625), small, subtract(one, quotient)), x);
}

/// The error is below 1 unit in the last place.
Value Arithmetic::erf(Value x) {
  Value size = magnitude(x), square = multiply(size, size), end = real(4);
  // erf is 1 minus the exponential of a polynomial, which vanishes above `end`.
  Value inside = selectIfLess(end, size, end, size);
  Value logarithm =
      polynomial(inside, {0.0002136455150321126, -0.0032121434342116117,
                          0.022880906239151955, -0.10524765402078629,
                          -0.6357291340827942, -0.12851114571094513});
  logarithm = multiplyAdd(logarithm, inside, subtract(real(0), inside));
  Value series = polynomial(
      square, {7.996649947017431e-05, -0.0008049769676290452,
               0.005192405078560114, -0.02685573138296604, 0.11283625662326813,
               -0.3761262893676758, 0.12837916612625122});
  Value small = multiplyAdd(series, size, size);
  Value large = subtract(real(1), exp(logarithm));
  return withSignOf(selectIfLess(size, real(0.93), small, large), x);
}

/// Returns the power as products if the exponent is 2 or 3, as frameworks
/// compute it; null for others.
static Value multiplyOut(math::PowFOp op) {
  llvm::APFloat exponent(0.0f);
  if (!matchPattern(op.getRhs(), m_ConstantFloat(&exponent)))
    return {};
  bool isThree = exponent.isExactlyValue(3);
  if (!isThree && !exponent.isExactlyValue(2))
    return {};
  Arithmetic arithmetic(op);
  Value base = op.getLhs(), square = arithmetic.multiply(base, base);
  return isThree ? arithmetic.multiply(square, base) : square;
}

void mct::execution::expandFunctions(ModuleOp module) {
  module.walk([](Operation *op) {
    if (op->getNumResults() != 1 || !op->getResult(0).getType().isF32())
      return;
    Value result;
    if (auto exp = dyn_cast<math::ExpOp>(op))
      result = Arithmetic(op).exp(exp.getOperand());
    else if (auto tanh = dyn_cast<math::TanhOp>(op))
      result = Arithmetic(op).tanh(tanh.getOperand());
    else if (auto erf = dyn_cast<math::ErfOp>(op))
      result = Arithmetic(op).erf(erf.getOperand());
    else if (auto power = dyn_cast<math::PowFOp>(op))
      result = multiplyOut(power);
    if (!result)
      return;
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  });
}
