// SPDX-License-Identifier: Apache-2.0
#include "ConstantArithmetic.h"
#include "ElementWalk.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mct;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Function that an op applies to one element, or to two.
template <typename T> using Unary = T (*)(T);
template <typename T> using Binary = T (*)(T, T);
template <typename T> using Comparison = bool (*)(T, T);

template <typename T> static Binary<T> getBinary(Operation *op) {
  if constexpr (std::is_integral_v<T>) {
    // Integers wrap.
    if (isa<tosa::AddOp>(op))
      return [](T lhs, T rhs) { return T(uint64_t(lhs) + uint64_t(rhs)); };
    if (isa<tosa::SubOp>(op))
      return [](T lhs, T rhs) { return T(uint64_t(lhs) - uint64_t(rhs)); };
    if (isa<tosa::MulOp>(op))
      return [](T lhs, T rhs) { return T(uint64_t(lhs) * uint64_t(rhs)); };
    if (isa<tosa::MaximumOp>(op))
      return [](T lhs, T rhs) { return std::max(lhs, rhs); };
    if (isa<tosa::MinimumOp>(op))
      return [](T lhs, T rhs) { return std::min(lhs, rhs); };
    if (isa<tosa::LogicalAndOp>(op))
      return [](T lhs, T rhs) { return T(lhs & rhs); };
    if (isa<tosa::LogicalOrOp>(op))
      return [](T lhs, T rhs) { return T(lhs | rhs); };
    if (isa<tosa::LogicalXorOp>(op))
      return [](T lhs, T rhs) { return T(lhs ^ rhs); };
  } else {
    if (isa<tosa::AddOp>(op))
      return [](T lhs, T rhs) { return lhs + rhs; };
    if (isa<tosa::SubOp>(op))
      return [](T lhs, T rhs) { return lhs - rhs; };
    if (isa<tosa::MulOp>(op))
      return [](T lhs, T rhs) { return lhs * rhs; };
    if (isa<tosa::PowOp>(op))
      return [](T lhs, T rhs) { return std::pow(lhs, rhs); };
    // A NaN is propagated, unlike by std::max.
    if (auto maximum = dyn_cast<tosa::MaximumOp>(op);
        maximum && maximum.getNanMode() == tosa::NanPropagationMode::PROPAGATE)
      return
          [](T lhs, T rhs) { return lhs > rhs || std::isnan(lhs) ? lhs : rhs; };
    if (auto minimum = dyn_cast<tosa::MinimumOp>(op);
        minimum && minimum.getNanMode() == tosa::NanPropagationMode::PROPAGATE)
      return
          [](T lhs, T rhs) { return lhs < rhs || std::isnan(lhs) ? lhs : rhs; };
  }
  return nullptr;
}

template <typename T> static Unary<T> getUnary(Operation *op) {
  if constexpr (std::is_integral_v<T>) {
    if (isa<tosa::NegateOp>(op))
      return [](T operand) { return T(0 - uint64_t(operand)); };
    if (isa<tosa::AbsOp>(op))
      return [](T operand) {
        return operand < 0 ? T(0 - uint64_t(operand)) : operand;
      };
    if (isa<tosa::LogicalNotOp>(op))
      return [](T operand) { return T(operand == 0); };
  } else {
    if (isa<tosa::NegateOp>(op))
      return [](T operand) { return -operand; };
    if (isa<tosa::AbsOp>(op))
      return [](T operand) { return std::fabs(operand); };
    if (isa<tosa::RsqrtOp>(op))
      return [](T operand) { return 1 / std::sqrt(operand); };
    if (isa<tosa::ReciprocalOp>(op))
      return [](T operand) { return 1 / operand; };
    if (isa<tosa::ExpOp>(op))
      return [](T operand) { return std::exp(operand); };
    if (isa<tosa::LogOp>(op))
      return [](T operand) { return std::log(operand); };
    if (isa<tosa::CeilOp>(op))
      return [](T operand) { return std::ceil(operand); };
    if (isa<tosa::FloorOp>(op))
      return [](T operand) { return std::floor(operand); };
    if (isa<tosa::TanhOp>(op))
      return [](T operand) { return std::tanh(operand); };
    if (isa<tosa::SigmoidOp>(op))
      return [](T operand) { return 1 / (1 + std::exp(-operand)); };
    if (isa<tosa::ErfOp>(op))
      return [](T operand) { return std::erf(operand); };
    if (isa<tosa::SinOp>(op))
      return [](T operand) { return std::sin(operand); };
    if (isa<tosa::CosOp>(op))
      return [](T operand) { return std::cos(operand); };
  }
  return nullptr;
}

template <typename T> static Comparison<T> getComparison(Operation *op) {
  if (isa<tosa::GreaterOp>(op))
    return [](T lhs, T rhs) { return lhs > rhs; };
  if (isa<tosa::GreaterEqualOp>(op))
    return [](T lhs, T rhs) { return lhs >= rhs; };
  if (isa<tosa::EqualOp>(op))
    return [](T lhs, T rhs) { return lhs == rhs; };
  return nullptr;
}

bool mct::isBinary(Operation *op) {
  return getBinary<float>(op) || getBinary<int64_t>(op);
}

bool mct::isUnary(Operation *op) {
  return getUnary<float>(op) || getUnary<int64_t>(op);
}

bool mct::isComparison(Operation *op) { return getComparison<float>(op); }

/// Calls `compute(zero)` with a zero of the type in which elements are
/// computed: f32 for floats of less than 32 bits, which is rounded as often as
/// they are.
template <typename Compute>
static std::optional<ConstantTensor> withNumberType(Type element,
                                                    Compute compute) {
  if (element.isF64())
    return compute(double());
  if (isa<FloatType>(element))
    return compute(float());
  return compute(int64_t());
}

/// The elements of `tensor` as T, without a copy if they are stored as T.
template <typename T> class Decoded {
public:
  explicit Decoded(const ConstantTensor &tensor) {
    if constexpr (std::is_same_v<T, float>)
      values = tensor.getFloats();
    if (values.empty()) {
      owned = tensor.decode<T>();
      values = owned;
    }
  }
  const T *data() const { return values.data(); }
  size_t size() const { return values.size(); }

private:
  ArrayRef<T> values;
  std::vector<T> owned;
};

/// Returns combine(lhs, rhs) for all elements of two tensors, which are
/// broadcast.
template <typename T, typename Result, typename Combine>
static std::optional<std::vector<Result>>
zip(RankedTensorType type, const ConstantTensor &lhs, const ConstantTensor &rhs,
    Combine combine) {
  Decoded<T> left(lhs), right(rhs);
  // The result for two splats is a splat.
  if (left.size() == 1 && right.size() == 1 && type.getNumElements() != 0)
    return std::vector<Result>(1, combine(*left.data(), *right.data()));
  ArrayRef<int64_t> shape = type.getShape();
  auto leftStrides = getBroadcastStrides(lhs, shape);
  auto rightStrides = getBroadcastStrides(rhs, shape);
  if (!leftStrides || !rightStrides)
    return std::nullopt;
  std::vector<Result> values;
  if (type.getNumElements() == 0)
    return values;
  values.reserve(type.getNumElements());
  int64_t row = getRowSize(shape);
  int64_t leftStep = shape.empty() ? 0 : leftStrides->back();
  int64_t rightStep = shape.empty() ? 0 : rightStrides->back();
  forEachRow<2>(shape, {*leftStrides, *rightStrides}, [&](auto at) {
    const T *x = left.data() + at[0], *y = right.data() + at[1];
    for (int64_t i = 0; i != row; ++i, x += leftStep, y += rightStep)
      values.push_back(combine(*x, *y));
  });
  return values;
}

std::optional<ConstantTensor> mct::computeBinary(Operation *op,
                                                 RankedTensorType type,
                                                 const ConstantTensor &lhs,
                                                 const ConstantTensor &rhs) {
  return withNumberType(lhs.getType().getElementType(),
                        [&](auto zero) -> std::optional<ConstantTensor> {
                          using T = decltype(zero);
                          auto function = getBinary<T>(op);
                          if (!function)
                            return std::nullopt;
                          auto values = zip<T, T>(type, lhs, rhs, function);
                          if (!values)
                            return std::nullopt;
                          return ConstantTensor::create(type,
                                                        std::move(*values));
                        });
}

std::optional<ConstantTensor>
mct::computeComparison(Operation *op, RankedTensorType type,
                       const ConstantTensor &lhs, const ConstantTensor &rhs) {
  return withNumberType(
      lhs.getType().getElementType(),
      [&](auto zero) -> std::optional<ConstantTensor> {
        using T = decltype(zero);
        auto values = zip<T, int64_t>(type, lhs, rhs, getComparison<T>(op));
        if (!values)
          return std::nullopt;
        return ConstantTensor::create(type, std::move(*values));
      });
}

std::optional<ConstantTensor> mct::computeUnary(Operation *op,
                                                RankedTensorType type,
                                                const ConstantTensor &operand) {
  return withNumberType(
      operand.getType().getElementType(),
      [&](auto zero) -> std::optional<ConstantTensor> {
        using T = decltype(zero);
        auto function = getUnary<T>(op);
        if (!function)
          return std::nullopt;
        Decoded<T> decoded(operand);
        std::vector<T> values(decoded.data(), decoded.data() + decoded.size());
        for (T &value : values)
          value = function(value);
        return ConstantTensor::create(type, std::move(values));
      });
}

std::optional<ConstantTensor> mct::computeClamp(tosa::ClampOp op,
                                                RankedTensorType type,
                                                const ConstantTensor &operand) {
  auto low = dyn_cast<FloatAttr>(op.getMinVal());
  auto high = dyn_cast<FloatAttr>(op.getMaxVal());
  if (!low || !high || op.getNanMode() != tosa::NanPropagationMode::PROPAGATE)
    return std::nullopt;
  double least = low.getValueAsDouble(), most = high.getValueAsDouble();
  std::vector<double> values = operand.decode<double>();
  for (double &value : values)
    value = value < least ? least : value > most ? most : value;
  return ConstantTensor::create(type, std::move(values));
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Rounds floats to the nearest integer, half to even; larger values saturate.
/// Undefined for NaN.
static std::optional<ConstantTensor>
roundToIntegers(RankedTensorType type, const std::vector<double> &from) {
  unsigned width = type.getElementTypeBitWidth();
  bool isUnsigned = type.getElementType().isUnsignedInteger();
  int64_t least =
      isUnsigned ? 0 : std::numeric_limits<int64_t>::min() >> (64 - width);
  int64_t most = std::numeric_limits<int64_t>::max() >>
                 (64 - width - (isUnsigned && width < 64));
  std::vector<int64_t> values;
  values.reserve(from.size());
  for (double value : from) {
    if (std::isnan(value))
      return std::nullopt;
    double rounded = std::nearbyint(value);
    values.push_back(rounded <= double(least)  ? least
                     : rounded >= double(most) ? most
                                               : int64_t(rounded));
  }
  return ConstantTensor::create(type, std::move(values));
}

std::optional<ConstantTensor> mct::computeCast(RankedTensorType type,
                                               const ConstantTensor &operand) {
  Type from = operand.getType().getElementType(), to = type.getElementType();
  if (from == to)
    return operand.reshape(type);
  if (to.isInteger(1)) {
    std::vector<double> numbers = operand.decode<double>();
    std::vector<int64_t> values;
    for (double number : numbers)
      values.push_back(number != 0);
    return ConstantTensor::create(type, std::move(values));
  }
  if (to.isInteger())
    return from.isInteger()
               ? ConstantTensor::create(type, operand.decode<int64_t>())
               : roundToIntegers(type, operand.decode<double>());
  // Rounded once.
  if (to.isF32())
    return ConstantTensor::create(type, operand.decode<float>());
  return ConstantTensor::create(type, operand.decode<double>());
}
