// SPDX-License-Identifier: Apache-2.0
//
// The parts of ReferenceEvaluator: numbers with bounds, and one op with the
// tensors that it reads and makes.
#ifndef MCT_TEST_UNIT_EXECUTION_REFERENCEOPS_H
#define MCT_TEST_UNIT_EXECUTION_REFERENCEOPS_H

#include "ReferenceEvaluator.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace mct::testing::reference {

namespace tosa = mlir::tosa;
using mlir::APFloat;
using mlir::APInt;
using mlir::ArrayRef;
using mlir::FloatType;
using mlir::isa;
using mlir::Operation;
using mlir::SmallVector;
using mlir::Type;
using mlir::Value;

using Index = llvm::SmallVector<int64_t, 5>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestFloat = std::numeric_limits<float>::max();
/// Largest relative error of one rounding to float.
constexpr double kUnit = 0x1p-24;
/// Numbers below the smallest normal one may be flushed.
constexpr double kTiny = 0x1p-126;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// False while an evaluator that is `real` evaluates.
inline thread_local bool roundsToFloat = true;

/// Returns the number; its error is infinite if it may be outside of the range
/// of float.
inline Number checked(double value, double error) {
  if (!(std::abs(value) + error <= kLargestFloat))
    return {value, kInfinity};
  return {value, error};
}

/// Result of one correctly rounded float operation. The rounding of an exact
/// one is known: rounding to double first changes nothing for sums, products,
/// quotients and roots, because a double has more than twice the digits.
inline Number rounded(double value, double error) {
  if (error == 0)
    return checked(roundsToFloat ? static_cast<float>(value) : value, 0);
  return checked(value, error + kUnit * (std::abs(value) + error) + kTiny);
}

/// A function that only rises, or only falls, between the bounds of its
/// operand, computed with a relative error of `units` roundings.
template <typename Function>
inline Number monotone(const Number &x, double units, Function function) {
  double value = function(x.value);
  double spread = x.isExact() ? 0.0
                              : std::max(std::abs(function(x.low()) - value),
                                         std::abs(function(x.high()) - value));
  if (!(spread < kInfinity))
    return {value, kInfinity};
  return checked(value,
                 spread + units * kUnit * (std::abs(value) + spread) + kTiny);
}

/// The same without an error of its own: clamps, rounding to integers.
template <typename Function>
inline Number monotoneExact(const Number &x, Function function) {
  double value = function(x.value);
  if (x.isExact())
    return {value, 0};
  return {value, std::max(std::abs(function(x.low()) - value),
                          std::abs(function(x.high()) - value))};
}

/// Returns `value` for a number that is anywhere in [low, high].
inline Number within(double value, double low, double high) {
  return {value, std::max(high - value, value - low)};
}

inline Number largest(const Number &a, const Number &b) {
  if (!(a.error < kInfinity && b.error < kInfinity))
    return {std::max(a.value, b.value), kInfinity};
  return within(std::max(a.value, b.value), std::max(a.low(), b.low()),
                std::max(a.high(), b.high()));
}
inline Number negated(const Number &a) { return {-a.value, a.error}; }
inline Number smallest(const Number &a, const Number &b) {
  return negated(largest(negated(a), negated(b)));
}

/// Either of two numbers.
inline Number either(const Number &a, const Number &b) {
  if (a.isExact() && b.isExact() && a.value == b.value)
    return a;
  return {a.value, std::max(a.error, std::abs(a.value - b.value) + b.error)};
}

inline Number truth(bool value) { return {value ? 1.0 : 0.0, 0}; }
inline const Number kUnknownTruth = {0, kInfinity};

enum class Order { Less, Equal, Greater, Unknown };
inline Order compare(const Number &a, const Number &b) {
  if (a.isExact() && b.isExact())
    return a.value < b.value    ? Order::Less
           : a.value > b.value  ? Order::Greater
           : a.value == b.value ? Order::Equal
                                : Order::Unknown;
  if (a.high() < b.low())
    return Order::Less;
  if (a.low() > b.high())
    return Order::Greater;
  return Order::Unknown;
}

inline double roundHalfToEven(double value) { return std::nearbyint(value); }

/// Sum of products, as a kernel or a reduction may compute it: in any order,
/// with or without fused multiplication.
struct Sum {
  double value = 0, propagated = 0, magnitude = 0;
  int64_t terms = 0;

  void add(const Number &a) {
    value += a.value;
    propagated += a.error;
    magnitude += std::abs(a.value) + a.error;
    ++terms;
  }
  void addProduct(const Number &a, const Number &b) {
    ++terms;
    // A zero of the padding, or of a sparse kernel, has no error to pass on.
    if ((a.isExact() && a.value == 0) || (b.isExact() && b.value == 0))
      return;
    value += a.value * b.value;
    double error = std::abs(a.value) * b.error + std::abs(b.value) * a.error +
                   a.error * b.error;
    propagated += error;
    magnitude += std::abs(a.value * b.value) + error;
  }
  /// Higham, Accuracy and Stability of Numerical Algorithms, 3.1: n terms and
  /// their products are at most n roundings away, in any order.
  Number finish(int64_t moreRoundings = 1) const {
    if (magnitude == 0)
      return {0, 0};
    double n = double(terms + moreRoundings) * kUnit;
    return checked(value, propagated + n / (1 - n) * magnitude + kTiny);
  }
};

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

inline unsigned widthOf(Type type) { return type.getIntOrFloatBitWidth(); }
inline bool isFloat(Type type) { return isa<FloatType>(type); }
inline bool isTruth(Type type) { return type.isInteger(1); }

inline int64_t integer(const Number &number) {
  return static_cast<int64_t>(number.value);
}
/// Two's complement of `width` bits.
inline int64_t wrap(int64_t value, unsigned width) {
  uint64_t mask = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  uint64_t bits = static_cast<uint64_t>(value) & mask;
  uint64_t sign = uint64_t(1) << (width - 1);
  return static_cast<int64_t>((bits ^ sign) - sign);
}
inline uint64_t unsignedOf(int64_t value, unsigned width) {
  return static_cast<uint64_t>(value) & ((uint64_t(1) << width) - 1);
}
inline int64_t smallestOf(unsigned width, bool isUnsigned = false) {
  return isUnsigned ? 0 : -(int64_t(1) << (width - 1));
}
inline int64_t largestOf(unsigned width, bool isUnsigned = false) {
  return (int64_t(1) << (isUnsigned ? width : width - 1)) - 1;
}

/// `apply_scale_32` and `apply_scale_16` of the specification.
inline int64_t applyScale(int64_t value, int64_t multiplier, int64_t shift,
                          bool doubleRound) {
  int64_t round = int64_t(1) << (shift - 1);
  if (doubleRound && shift > 31)
    round += value >= 0 ? int64_t(1) << 30 : -(int64_t(1) << 30);
  return (value * multiplier + round) >> shift;
}

/// `reciprocal_scale` of the specification: what divides by a count.
inline std::pair<int64_t, int64_t> reciprocalScale(uint32_t value) {
  int64_t k = 0;
  while ((uint64_t(1) << k) < value)
    ++k;
  int64_t numerator = ((int64_t(1) << 30) + 1) << k;
  return {numerator / value, 30 + k};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

inline int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

inline int64_t flatten(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  int64_t flat = 0;
  for (size_t d = 0; d != shape.size(); ++d)
    flat = flat * shape[d] + index[d];
  return flat;
}

inline Index unflatten(ArrayRef<int64_t> shape, int64_t flat) {
  Index index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

/// The element that a broadcast operand has at a place of the result.
inline const Number &broadcast(const ReferenceTensor &tensor,
                               const Index &index) {
  Index own(index);
  for (size_t d = 0; d != tensor.shape.size(); ++d)
    if (tensor.shape[d] == 1)
      own[d] = 0;
  return tensor.numbers[flatten(tensor.shape, own)];
}

inline double zeroPoint(const ReferenceTensor &tensor) {
  return tensor.numbers[0].value;
}

/// The element less the zero point of its tensor.
inline Number less(const Number &number, double zeroPoint) {
  return {number.value - zeroPoint, number.error};
}

/// One op with the tensors that it reads and makes.
struct Evaluation {
  Operation &op;
  SmallVector<const ReferenceTensor *> inputs;
  ReferenceTensor result;

  const ReferenceTensor &input(size_t i) const { return *inputs[i]; }

  bool run();

private:
  template <typename Function> void elementwise(Function function) {
    for (size_t i = 0; i != result.numbers.size(); ++i) {
      Index index = unflatten(result.shape, int64_t(i));
      SmallVector<Number, 3> operands;
      for (const ReferenceTensor *tensor : inputs)
        operands.push_back(broadcast(*tensor, index));
      result.numbers[i] = function(operands);
    }
  }
  /// Integer arithmetic; nothing is known when an operand is not.
  template <typename Function> void integers(Function function) {
    elementwise([&](ArrayRef<Number> operands) -> Number {
      for (const Number &operand : operands)
        if (!operand.isExact())
          return {0, kInfinity};
      return {double(function(operands)), 0};
    });
  }
  /// Integer arithmetic on two operands, modulo the width of the result.
  template <typename Function> void wrapped(Function function) {
    unsigned width = widthOf(element());
    integers([&](ArrayRef<Number> x) {
      return wrap(function(integer(x[0]), integer(x[1])), width);
    });
  }
  template <typename Function> void truths(Function function) {
    integers([&](ArrayRef<Number> x) {
      return function(x[0].value != 0, x.size() > 1 && x[1].value != 0);
    });
  }
  template <typename Function> void unary(double units, Function function) {
    elementwise(
        [&](ArrayRef<Number> x) { return monotone(x[0], units, function); });
  }
  template <typename Function> void comparison(Function function) {
    elementwise([&](ArrayRef<Number> x) {
      Order order = compare(x[0], x[1]);
      return order == Order::Unknown ? kUnknownTruth : function(order);
    });
  }
  /// Calls `visit(element number, elements along the axis)`.
  template <typename Function> void along(int64_t axis, Function visit) {
    const ReferenceTensor &from = input(0);
    for (size_t i = 0; i != result.numbers.size(); ++i) {
      Index index = unflatten(result.shape, int64_t(i));
      if (index.size() < from.shape.size())
        index.insert(index.begin() + axis, 0);
      std::vector<Number> line;
      for (int64_t k = 0; k != from.shape[axis]; ++k) {
        index[axis] = k;
        line.push_back(from.numbers[flatten(from.shape, index)]);
      }
      result.numbers[i] = visit(line);
    }
  }
  /// result[index] = source(index), where `source` gives an input's index.
  template <typename Function> void gatherElements(Function source) {
    for (size_t i = 0; i != result.numbers.size(); ++i)
      result.numbers[i] = input(0).numbers[flatten(
          input(0).shape, source(unflatten(result.shape, i)))];
  }

  Type element() const { return result.element; }
  bool isFloatOp() const { return isFloat(input(0).element); }
  void finish(size_t i, const Sum &sum, const Number &bias);
  void convolution(int64_t spatial, bool depthwise);
  void transposeConvolution(tosa::TransposeConv2DOp conv);
  void matmul();
  void averagePool(tosa::AvgPool2dOp pool);
  void maximumPool(tosa::MaxPool2dOp pool);
  void clamp(tosa::ClampOp clampOp);
  void castElements();
  void resize(tosa::ResizeOp resizeOp);
  void rescale(tosa::RescaleOp rescaleOp);
  void scatter();
  bool arithmetic();
  /// Each evaluates the op of its family that has the name; false if none has.
  bool bits(mlir::StringRef name);
  bool logic(mlir::StringRef name);
  bool signs(mlir::StringRef name);
  bool functions(mlir::StringRef name);
  void addOrSubtract(double sign);
  void multiply();
  void power();
  void lookUp();
  bool reduction();
  bool movement();
};

/// Returns the elements of a constant.
ReferenceTensor readConstant(mlir::ElementsAttr attribute);
/// Values of a `tosa.const_shape`.
Index readShape(Value value);
/// Returns the result of a point with parameters.
/// `codesAway`: see ReferenceEvaluator; not of weights.
ReferenceTensor quantize(tpc::QuantizeOp op, const ReferenceTensor &input,
                         double codesAway);

} // namespace mct::testing::reference

#endif // MCT_TEST_UNIT_EXECUTION_REFERENCEOPS_H
