// SPDX-License-Identifier: Apache-2.0
#include "ReferenceEvaluator.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "tpc_dialect/IR/TpcDialect.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

using namespace mlir;
using namespace mct::testing;
namespace tpc = mct::tpc;

namespace {

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

/// Nothing is said of what leaves the range of float.
Number checked(double value, double error) {
  if (!(std::abs(value) + error <= kLargestFloat))
    return {value, kInfinity};
  return {value, error};
}

/// Result of one correctly rounded float operation. The rounding of an exact
/// one is known: rounding to double first changes nothing for sums, products,
/// quotients and roots, because a double has more than twice the digits.
Number rounded(double value, double error) {
  if (error == 0)
    return checked(static_cast<float>(value), 0);
  return checked(value, error + kUnit * (std::abs(value) + error) + kTiny);
}

/// A function that only rises, or only falls, between the bounds of its
/// operand, computed with a relative error of `units` roundings.
template <typename Function>
Number monotone(const Number &x, double units, Function function) {
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
Number monotoneExact(const Number &x, Function function) {
  double value = function(x.value);
  if (x.isExact())
    return {value, 0};
  return {value, std::max(std::abs(function(x.low()) - value),
                          std::abs(function(x.high()) - value))};
}

/// The number that lies in [low, high], as near to `value` as may be said.
Number within(double value, double low, double high) {
  return {value, std::max(high - value, value - low)};
}

Number largest(const Number &a, const Number &b) {
  if (!(a.error < kInfinity && b.error < kInfinity))
    return {std::max(a.value, b.value), kInfinity};
  return within(std::max(a.value, b.value), std::max(a.low(), b.low()),
                std::max(a.high(), b.high()));
}
Number negated(const Number &a) { return {-a.value, a.error}; }
Number smallest(const Number &a, const Number &b) {
  return negated(largest(negated(a), negated(b)));
}

/// Either of two numbers.
Number either(const Number &a, const Number &b) {
  if (a.isExact() && b.isExact() && a.value == b.value)
    return a;
  return {a.value, std::max(a.error, std::abs(a.value - b.value) + b.error)};
}

Number truth(bool value) { return {value ? 1.0 : 0.0, 0}; }
const Number kUnknownTruth = {0, kInfinity};

enum class Order { Less, Equal, Greater, Unknown };
Order compare(const Number &a, const Number &b) {
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

double roundHalfToEven(double value) { return std::nearbyint(value); }

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

unsigned widthOf(Type type) { return type.getIntOrFloatBitWidth(); }
bool isFloat(Type type) { return isa<FloatType>(type); }
bool isTruth(Type type) { return type.isInteger(1); }

int64_t integer(const Number &number) {
  return static_cast<int64_t>(number.value);
}
/// Two's complement of `width` bits.
int64_t wrap(int64_t value, unsigned width) {
  uint64_t mask = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  uint64_t bits = static_cast<uint64_t>(value) & mask;
  uint64_t sign = uint64_t(1) << (width - 1);
  return static_cast<int64_t>((bits ^ sign) - sign);
}
uint64_t unsignedOf(int64_t value, unsigned width) {
  return static_cast<uint64_t>(value) & ((uint64_t(1) << width) - 1);
}
int64_t smallestOf(unsigned width, bool isUnsigned = false) {
  return isUnsigned ? 0 : -(int64_t(1) << (width - 1));
}
int64_t largestOf(unsigned width, bool isUnsigned = false) {
  return (int64_t(1) << (isUnsigned ? width : width - 1)) - 1;
}

/// `apply_scale_32` and `apply_scale_16` of the specification.
int64_t applyScale(int64_t value, int64_t multiplier, int64_t shift,
                   bool doubleRound) {
  int64_t round = int64_t(1) << (shift - 1);
  if (doubleRound && shift > 31)
    round += value >= 0 ? int64_t(1) << 30 : -(int64_t(1) << 30);
  return (value * multiplier + round) >> shift;
}

/// `reciprocal_scale` of the specification: what divides by a count.
std::pair<int64_t, int64_t> reciprocalScale(uint32_t value) {
  int64_t k = 0;
  while ((uint64_t(1) << k) < value)
    ++k;
  int64_t numerator = ((int64_t(1) << 30) + 1) << k;
  return {numerator / value, 30 + k};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

int64_t countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t flatten(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  int64_t flat = 0;
  for (size_t d = 0; d != shape.size(); ++d)
    flat = flat * shape[d] + index[d];
  return flat;
}

Index unflatten(ArrayRef<int64_t> shape, int64_t flat) {
  Index index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

/// The element that a broadcast operand has at a place of the result.
const Number &broadcast(const ReferenceTensor &tensor, const Index &index) {
  Index own(index);
  for (size_t d = 0; d != tensor.shape.size(); ++d)
    if (tensor.shape[d] == 1)
      own[d] = 0;
  return tensor.numbers[flatten(tensor.shape, own)];
}

double zeroPoint(const ReferenceTensor &tensor) {
  return tensor.numbers[0].value;
}

/// The element less the zero point of its tensor.
Number less(const Number &number, double zeroPoint) {
  return {number.value - zeroPoint, number.error};
}

double readElement(const char *data, int64_t i, Type type) {
  auto read = [&](auto value) {
    std::memcpy(&value, data + i * sizeof(value), sizeof(value));
    return static_cast<double>(value);
  };
  if (type.isF32())
    return read(float());
  if (type.isF64())
    return read(double());
  if (type.isInteger(8))
    return read(int8_t());
  if (type.isInteger(16))
    return read(int16_t());
  if (type.isInteger(32))
    return read(int32_t());
  return read(int64_t());
}

ReferenceTensor readConstant(ElementsAttr attribute) {
  auto type = cast<RankedTensorType>(attribute.getShapedType());
  ReferenceTensor tensor = ReferenceEvaluator::zeros(type);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    for (size_t i = 0; i != tensor.numbers.size(); ++i)
      tensor.numbers[i].value =
          readElement(data.data(), int64_t(i), type.getElementType());
    return tensor;
  }
  auto dense = cast<DenseElementsAttr>(attribute);
  size_t i = 0;
  if (isa<FloatType>(type.getElementType()))
    for (APFloat value : dense.getValues<APFloat>())
      tensor.numbers[i++].value = value.convertToDouble();
  else
    for (APInt value : dense.getValues<APInt>())
      tensor.numbers[i++].value = isTruth(type.getElementType())
                                      ? double(value.getZExtValue())
                                      : double(value.getSExtValue());
  return tensor;
}

Index readShape(Value value) {
  Index shape;
  auto op = value.getDefiningOp<tosa::ConstShapeOp>();
  for (APInt size : cast<DenseElementsAttr>(op.getValues()).getValues<APInt>())
    shape.push_back(size.getSExtValue());
  return shape;
}

//===----------------------------------------------------------------------===//
// Quantizers
//===----------------------------------------------------------------------===//

/// A level that depends on x / step. `units`: roundings of the float
/// quantizer before the level is known.
struct AffineQuantizer {
  double step, zeroPoint, lowest, highest;

  /// Whether steps and their inverses are floats, so that no rounding happens.
  bool isPowerOfTwo() const {
    int exponent;
    return std::frexp(step, &exponent) == 0.5;
  }
  double level(double position) const {
    return std::clamp(roundHalfToEven(position) + zeroPoint, lowest, highest) -
           zeroPoint;
  }
  Number operator()(const Number &x) const {
    // step, 1 / step and the product are rounded to float.
    double slack = isPowerOfTwo() ? 0 : 3.01 * kUnit;
    double position = x.value / step;
    double error =
        x.error / step + slack * (std::abs(position) + x.error / step);
    double value = level(position);
    double below = level(position - error), above = level(position + error);
    // Of two levels that a rounding error lies between either may come out.
    Number chosen = within(value, below, above);
    double scale = isPowerOfTwo() ? 0 : 2.01 * kUnit;
    return {chosen.value * step,
            chosen.error * step +
                scale * (std::abs(chosen.value) + chosen.error) * step};
  }
};

struct TableQuantizer {
  double threshold, shift, lowest, highest;
  ArrayRef<int64_t> table;

  double entry(double position) const {
    position = std::clamp(position, lowest, highest);
    int64_t best = table.front();
    for (int64_t candidate : table)
      if (std::abs(position - double(candidate)) <
          std::abs(position - double(best)))
        best = candidate;
    return double(best);
  }
  Number operator()(const Number &x) const {
    double unit = shift / (threshold + 1e-8);
    double position = x.value * unit;
    // threshold, its sum, the quotient and both distances are rounded. A
    // position that is no further than that from the middle of two entries
    // may go to either.
    double error = x.error * unit +
                   6 * kUnit * (std::abs(position) + x.error * unit) +
                   2 * kUnit * shift;
    double value = entry(position);
    Number chosen =
        within(value, entry(position - error), entry(position + error));
    double scale = threshold / shift;
    return {chosen.value * scale,
            chosen.error * scale +
                3 * kUnit * scale * (std::abs(chosen.value) + chosen.error)};
  }
};

std::function<Number(const Number &)>
quantizerOfChannel(tpc::QuantizerAttrInterface parameters, size_t channel) {
  auto of = [&](auto list) {
    return list.size() == 1 ? list[0] : list[channel];
  };
  auto symmetric = [&](auto attribute) {
    unsigned bits = attribute.getBits();
    bool isSigned = attribute.getIsSigned();
    double levels = std::ldexp(1.0, int(bits) - (isSigned ? 1 : 0));
    return AffineQuantizer{of(attribute.getThreshold()) / levels, 0,
                           isSigned ? -levels : 0, levels - 1};
  };
  Attribute attribute = parameters;
  if (auto power = dyn_cast<tpc::PowerOfTwoAttr>(attribute))
    return symmetric(power);
  if (auto free = dyn_cast<tpc::SymmetricAttr>(attribute))
    return symmetric(free);
  if (auto uniform = dyn_cast<tpc::UniformAttr>(attribute))
    return AffineQuantizer{of(uniform.getScale()),
                           double(of(uniform.getZeroPoint())), 0,
                           std::ldexp(1.0, int(uniform.getBits())) - 1};
  auto lookup = cast<tpc::LookupTableAttr>(attribute);
  double shift = std::ldexp(1.0, int(lookup.getTableBits()) -
                                     (lookup.getIsSigned() ? 1 : 0));
  return TableQuantizer{of(lookup.getThreshold()), shift,
                        lookup.getIsSigned() ? -shift : 0, shift - 1,
                        lookup.getTable()};
}

ReferenceTensor quantize(tpc::QuantizeOp op, const ReferenceTensor &input) {
  ReferenceTensor result = input;
  result.terms = 0;
  for (size_t i = 0; i != input.numbers.size(); ++i) {
    Index index = unflatten(input.shape, int64_t(i));
    int64_t channel = 0;
    for (int64_t axis : op.getChannelAxes())
      channel = channel * input.shape[axis] + index[axis];
    result.numbers[i] =
        quantizerOfChannel(*op.getParameters(), channel)(input.numbers[i]);
  }
  return result;
}

} // namespace

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {

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
  bool reduction();
  bool movement();
};

/// Puts the end of a convolution's sum into the result.
void Evaluation::finish(size_t i, const Sum &sum, const Number &bias) {
  if (!isFloat(element())) {
    result.numbers[i] = {
        double(wrap(int64_t(sum.value + bias.value), widthOf(element()))),
        sum.propagated == 0 && bias.isExact() ? 0 : kInfinity};
    return;
  }
  result.terms = std::max(result.terms, sum.terms + 1);
  if (sum.magnitude == 0) {
    result.numbers[i] = bias;
    return;
  }
  Sum all = sum;
  all.add(bias);
  result.numbers[i] = all.finish();
}

/// Direct convolution over `spatial` dimensions behind the batch.
void Evaluation::convolution(int64_t spatial, bool depthwise) {
  const ReferenceTensor &x = input(0), &w = input(1), &b = input(2);
  double xZero = zeroPoint(input(3)), wZero = zeroPoint(input(4));
  auto pad = op.getAttrOfType<DenseI64ArrayAttr>("pad").asArrayRef();
  auto stride = op.getAttrOfType<DenseI64ArrayAttr>("stride").asArrayRef();
  auto dilation = op.getAttrOfType<DenseI64ArrayAttr>("dilation").asArrayRef();
  Index window(depthwise ? ArrayRef<int64_t>(w.shape).take_front(spatial)
                         : ArrayRef<int64_t>(w.shape).slice(1, spatial));
  int64_t inputs = x.shape.back();
  for (size_t i = 0; i != result.numbers.size(); ++i) {
    Index out = unflatten(result.shape, int64_t(i));
    int64_t channel = out.back();
    Sum sum;
    for (int64_t k = 0; k != countOf(window); ++k) {
      Index tap = unflatten(window, k);
      Index place{out[0]};
      bool inside = true;
      for (int64_t d = 0; d != spatial; ++d) {
        place.push_back(out[1 + d] * stride[d] - pad[2 * d] +
                        tap[d] * dilation[d]);
        inside &= place.back() >= 0 && place.back() < x.shape[1 + d];
      }
      if (!inside)
        continue;
      place.push_back(0);
      int64_t multiplier = depthwise ? w.shape.back() : 1;
      int64_t first = depthwise ? channel / multiplier : 0;
      int64_t last = depthwise ? first + 1 : inputs;
      for (int64_t c = first; c != last; ++c) {
        place.back() = c;
        Index weight;
        if (depthwise) {
          weight.assign(tap.begin(), tap.end());
          weight.push_back(c);
          weight.push_back(channel % multiplier);
        } else {
          weight.push_back(channel);
          weight.append(tap.begin(), tap.end());
          weight.push_back(c);
        }
        sum.addProduct(less(x.numbers[flatten(x.shape, place)], xZero),
                       less(w.numbers[flatten(w.shape, weight)], wZero));
      }
    }
    finish(i, sum, b.numbers[b.numbers.size() == 1 ? 0 : channel]);
  }
}

void Evaluation::transposeConvolution(tosa::TransposeConv2DOp conv) {
  const ReferenceTensor &x = input(0), &w = input(1), &b = input(2);
  double xZero = zeroPoint(input(3)), wZero = zeroPoint(input(4));
  ArrayRef<int64_t> pad = conv.getOutPad(), stride = conv.getStride();
  std::vector<Sum> sums(result.numbers.size());
  // As the specification has it: every input adds to the outputs it reaches.
  for (int64_t n = 0; n != x.shape[0]; ++n)
    for (int64_t iy = 0; iy != x.shape[1]; ++iy)
      for (int64_t ix = 0; ix != x.shape[2]; ++ix)
        for (int64_t ky = 0; ky != w.shape[1]; ++ky)
          for (int64_t kx = 0; kx != w.shape[2]; ++kx) {
            int64_t oy = iy * stride[0] + pad[0] + ky,
                    ox = ix * stride[1] + pad[2] + kx;
            if (oy < 0 || ox < 0 || oy >= result.shape[1] ||
                ox >= result.shape[2])
              continue;
            for (int64_t oc = 0; oc != w.shape[0]; ++oc)
              for (int64_t ic = 0; ic != w.shape[3]; ++ic)
                sums[flatten(result.shape, {n, oy, ox, oc})].addProduct(
                    less(x.numbers[flatten(x.shape, {n, iy, ix, ic})], xZero),
                    less(w.numbers[flatten(w.shape, {oc, ky, kx, ic})], wZero));
          }
  for (size_t i = 0; i != sums.size(); ++i)
    finish(i, sums[i],
           b.numbers[b.numbers.size() == 1 ? 0 : i % result.shape.back()]);
}

void Evaluation::matmul() {
  const ReferenceTensor &a = input(0), &b = input(1);
  double aZero = zeroPoint(input(2)), bZero = zeroPoint(input(3));
  for (size_t i = 0; i != result.numbers.size(); ++i) {
    Index out = unflatten(result.shape, int64_t(i));
    Sum sum;
    for (int64_t k = 0; k != a.shape[2]; ++k)
      sum.addProduct(
          less(a.numbers[flatten(a.shape, {out[0], out[1], k})], aZero),
          less(b.numbers[flatten(b.shape, {out[0], k, out[2]})], bZero));
    finish(i, sum, {0, 0});
  }
}

void Evaluation::averagePool(tosa::AvgPool2dOp pool) {
  const ReferenceTensor &x = input(0);
  double inZero = zeroPoint(input(1)), outZero = zeroPoint(input(2));
  for (size_t i = 0; i != result.numbers.size(); ++i) {
    Index out = unflatten(result.shape, int64_t(i));
    Sum sum;
    for (int64_t ky = 0; ky != pool.getKernel()[0]; ++ky)
      for (int64_t kx = 0; kx != pool.getKernel()[1]; ++kx) {
        int64_t y = out[1] * pool.getStride()[0] - pool.getPad()[0] + ky,
                column = out[2] * pool.getStride()[1] - pool.getPad()[2] + kx;
        if (y >= 0 && column >= 0 && y < x.shape[1] && column < x.shape[2])
          sum.add(less(x.numbers[flatten(x.shape, {out[0], y, column, out[3]})],
                       inZero));
      }
    if (isFloat(element())) {
      Number total = sum.finish(2);
      result.numbers[i] = checked(total.value / double(sum.terms),
                                  total.error / double(sum.terms));
      continue;
    }
    auto [multiplier, shift] = reciprocalScale(uint32_t(sum.terms));
    int64_t mean = applyScale(int64_t(sum.value), multiplier, shift, false);
    result.numbers[i] = {double(std::clamp(mean + int64_t(outZero),
                                           smallestOf(widthOf(element())),
                                           largestOf(widthOf(element())))),
                         sum.propagated == 0 ? 0 : kInfinity};
  }
}

void Evaluation::maximumPool(tosa::MaxPool2dOp pool) {
  const ReferenceTensor &x = input(0);
  for (size_t i = 0; i != result.numbers.size(); ++i) {
    Index out = unflatten(result.shape, int64_t(i));
    std::optional<Number> best;
    for (int64_t ky = 0; ky != pool.getKernel()[0]; ++ky)
      for (int64_t kx = 0; kx != pool.getKernel()[1]; ++kx) {
        int64_t y = out[1] * pool.getStride()[0] - pool.getPad()[0] + ky,
                column = out[2] * pool.getStride()[1] - pool.getPad()[2] + kx;
        if (y < 0 || column < 0 || y >= x.shape[1] || column >= x.shape[2])
          continue;
        const Number &number =
            x.numbers[flatten(x.shape, {out[0], y, column, out[3]})];
        best = best ? largest(*best, number) : number;
      }
    result.numbers[i] = *best;
  }
}

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

void Evaluation::resize(tosa::ResizeOp resizeOp) {
  const ReferenceTensor &x = input(0);
  Index scale = readShape(resizeOp.getScale()),
        offset = readShape(resizeOp.getOffset());
  bool nearest = resizeOp.getMode() == tosa::ResizeMode::NEAREST_NEIGHBOR;
  for (size_t i = 0; i != result.numbers.size(); ++i) {
    Index out = unflatten(result.shape, int64_t(i));
    int64_t from[2][2], rest[2], numerator[2];
    for (int axis : {0, 1}) {
      int64_t n = scale[2 * axis], d = scale[2 * axis + 1];
      int64_t position = out[1 + axis] * d + offset[axis];
      int64_t whole = position >= 0 ? position / n : -((-position + n - 1) / n);
      rest[axis] = position - whole * n;
      numerator[axis] = n;
      from[axis][0] = std::max<int64_t>(whole, 0);
      from[axis][1] = std::min(whole + 1, x.shape[1 + axis] - 1);
    }
    auto at = [&](int y, int column) {
      return x.numbers[flatten(x.shape,
                               {out[0], from[0][y], from[1][column], out[3]})];
    };
    if (nearest) {
      result.numbers[i] = at(2 * rest[0] >= numerator[0] ? 1 : 0,
                             2 * rest[1] >= numerator[1] ? 1 : 0);
      continue;
    }
    Sum sum;
    for (int y : {0, 1})
      for (int column : {0, 1}) {
        double weight = double(y ? rest[0] : numerator[0] - rest[0]) *
                        double(column ? rest[1] : numerator[1] - rest[1]);
        if (isFloat(element()))
          weight /= double(numerator[0] * numerator[1]);
        sum.addProduct(at(y, column), {weight, 0});
      }
    if (!isFloat(element())) {
      result.numbers[i] = {sum.value, sum.propagated == 0 ? 0 : kInfinity};
      continue;
    }
    // A fraction, its complement and their product are rounded too, and the
    // complement of a fraction near 1 in units of 1.
    double outer = 0;
    for (int y : {0, 1})
      for (int column : {0, 1})
        outer = std::max(outer,
                         std::abs(at(y, column).value) + at(y, column).error);
    Number total = sum.finish(6);
    bool exact = rest[0] == 0 && rest[1] == 0;
    result.numbers[i] =
        exact ? at(0, 0)
              : checked(total.value, total.error + 8 * kUnit * outer);
  }
}

void Evaluation::rescale(tosa::RescaleOp rescaleOp) {
  const ReferenceTensor &x = input(0);
  const ReferenceTensor &multiplier = input(1), &shift = input(2);
  bool doubleRound =
      rescaleOp.getRoundingMode() == tosa::RoundingMode::DOUBLE_ROUND;
  int64_t inZero = integer(input(3).numbers[0]),
          outZero = integer(input(4).numbers[0]);
  unsigned width = widthOf(element());
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
    bool isUnsigned = rescaleOp.getOutputUnsigned();
    int64_t clipped =
        std::clamp(scaled + outZero, smallestOf(width, isUnsigned),
                   largestOf(width, isUnsigned));
    result.numbers[i] = {double(wrap(clipped, width)), 0};
  }
}

void Evaluation::scatter() {
  const ReferenceTensor &values = input(0), &indices = input(1),
                        &updates = input(2);
  result.numbers = values.numbers;
  for (int64_t n = 0; n != indices.shape[0]; ++n)
    for (int64_t w = 0; w != indices.shape[1]; ++w) {
      const Number &k = indices.numbers[flatten(indices.shape, {n, w})];
      for (int64_t c = 0; c != values.shape[2]; ++c) {
        if (!k.isExact()) {
          // It may have gone anywhere.
          for (int64_t row = 0; row != values.shape[1]; ++row)
            result.numbers[flatten(values.shape, {n, row, c})].error =
                kInfinity;
          continue;
        }
        result.numbers[flatten(values.shape, {n, integer(k), c})] =
            updates.numbers[flatten(updates.shape, {n, w, c})];
      }
    }
}

bool Evaluation::arithmetic() {
  unsigned width = element().isIntOrFloat() ? widthOf(element()) : 0;
  bool floats = isFloat(element());
  auto wrapped = [&](auto function) {
    integers([&](ArrayRef<Number> x) {
      return wrap(function(integer(x[0]), integer(x[1])), width);
    });
  };
  StringRef name = op.getName().stripDialect();

  if (name == "add" || name == "sub") {
    double sign = name == "add" ? 1 : -1;
    if (!floats) {
      wrapped([&](int64_t a, int64_t b) { return a + int64_t(sign) * b; });
      return true;
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
    return true;
  }
  if (name == "mul") {
    int64_t shift = integer(input(2).numbers[0]);
    inputs.pop_back();
    if (floats) {
      elementwise([&](ArrayRef<Number> x) {
        Sum product;
        product.addProduct(x[0], x[1]);
        return rounded(product.value, product.propagated);
      });
      return true;
    }
    wrapped([&](int64_t a, int64_t b) {
      int64_t product = a * b;
      return shift == 0 ? product
                        : (product + (int64_t(1) << (shift - 1))) >> shift;
    });
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
  if (name == "pow") {
    // Of a positive base it is monotone in both operands, so that the corners
    // bound it.
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
    return true;
  }
  if (name == "intdiv") {
    wrapped([](int64_t a, int64_t b) { return a / b; });
    return true;
  }
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
  // Errors of the C library's functions, in halves of its unit in the last
  // place: at most 2 units are allowed to each, 4 to those with more.
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
  if (name == "identity") {
    result.numbers = input(0).numbers;
    return true;
  }
  if (name == "table") {
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
      return (base << 7) + (next - base) * fraction;
    });
    return true;
  }
  return false;
}

bool Evaluation::reduction() {
  StringRef name = op.getName().stripDialect();
  auto attribute = op.getAttrOfType<IntegerAttr>("axis");
  if (!attribute)
    return false;
  int64_t axis = attribute.getInt();
  bool floats = isFloat(element());

  if (name == "reduce_sum") {
    along(axis, [&](ArrayRef<Number> line) -> Number {
      Sum sum;
      for (const Number &number : line)
        sum.add(number);
      if (floats)
        return line.size() == 1 ? line[0] : sum.finish(0);
      return {double(wrap(int64_t(sum.value), widthOf(element()))),
              sum.propagated == 0 ? 0 : kInfinity};
    });
    return true;
  }
  if (name == "reduce_product") {
    along(axis, [&](ArrayRef<Number> line) {
      Number product{1, 0};
      double roundings = 0;
      for (const Number &number : line) {
        Sum next;
        next.addProduct(product, number);
        product = {next.value, next.propagated};
        roundings += kUnit;
      }
      return checked(product.value,
                     product.error +
                         1.01 * roundings *
                             (std::abs(product.value) + product.error) +
                         (product.value == 0 ? 0 : kTiny));
    });
    return true;
  }
  if (name == "reduce_max" || name == "reduce_min") {
    along(axis, [&](ArrayRef<Number> line) {
      Number best = line[0];
      for (const Number &number : line.drop_front())
        best = name == "reduce_max" ? largest(best, number)
                                    : smallest(best, number);
      return best;
    });
    return true;
  }
  if (name == "reduce_all" || name == "reduce_any") {
    // One number may decide although others are not known.
    double decisive = name == "reduce_any" ? 1 : 0;
    along(axis, [&](ArrayRef<Number> line) -> Number {
      bool known = true;
      for (const Number &number : line) {
        if (number.isExact() && number.value == decisive)
          return number;
        known &= number.isExact();
      }
      return known ? truth(decisive == 0) : kUnknownTruth;
    });
    return true;
  }
  if (name == "argmax") {
    along(axis, [&](ArrayRef<Number> line) -> Number {
      size_t best = 0;
      for (size_t i = 1; i != line.size(); ++i)
        if (line[i].value > line[best].value)
          best = i;
      for (size_t i = 0; i != line.size(); ++i) {
        if (i == best)
          continue;
        Order order = compare(line[best], line[i]);
        if (order != Order::Greater && !(order == Order::Equal && i > best))
          return {double(best), kInfinity};
      }
      return {double(best), 0};
    });
    return true;
  }
  if (name == "reverse") {
    gatherElements([&](Index index) {
      index[axis] = input(0).shape[axis] - 1 - index[axis];
      return index;
    });
    return true;
  }
  if (name == "concat") {
    int64_t begin = 0;
    for (const ReferenceTensor *part : inputs) {
      for (size_t i = 0; i != part->numbers.size(); ++i) {
        Index index = unflatten(part->shape, int64_t(i));
        index[axis] += begin;
        result.numbers[flatten(result.shape, index)] = part->numbers[i];
      }
      begin += part->shape[axis];
    }
    return true;
  }
  return false;
}

bool Evaluation::movement() {
  if (isa<tosa::ReshapeOp>(op)) {
    result.numbers = input(0).numbers;
    // The sums behind a reshape may still be in the making.
    result.terms = input(0).terms;
    return true;
  }
  if (auto slice = dyn_cast<tosa::SliceOp>(op)) {
    Index start = readShape(slice.getStart());
    gatherElements([&](Index index) {
      for (size_t d = 0; d != index.size(); ++d)
        index[d] += start[d];
      return index;
    });
    return true;
  }
  if (isa<tosa::TileOp>(op)) {
    gatherElements([&](Index index) {
      for (size_t d = 0; d != index.size(); ++d)
        index[d] %= input(0).shape[d];
      return index;
    });
    return true;
  }
  if (auto transpose = dyn_cast<tosa::TransposeOp>(op)) {
    gatherElements([&](const Index &index) {
      Index source(index.size());
      for (size_t d = 0; d != index.size(); ++d)
        source[transpose.getPerms()[d]] = index[d];
      return source;
    });
    return true;
  }
  if (auto pad = dyn_cast<tosa::PadOp>(op)) {
    Index padding = readShape(pad.getPadding());
    const ReferenceTensor &constant = input(inputs.size() - 1);
    for (size_t i = 0; i != result.numbers.size(); ++i) {
      Index index = unflatten(result.shape, int64_t(i));
      bool inside = true;
      for (size_t d = 0; d != index.size(); ++d) {
        index[d] -= padding[2 * d];
        inside &= index[d] >= 0 && index[d] < input(0).shape[d];
      }
      result.numbers[i] = inside
                              ? input(0).numbers[flatten(input(0).shape, index)]
                              : constant.numbers[0];
    }
    return true;
  }
  if (isa<tosa::GatherOp>(op)) {
    const ReferenceTensor &values = input(0), &indices = input(1);
    for (size_t i = 0; i != result.numbers.size(); ++i) {
      Index out = unflatten(result.shape, int64_t(i));
      const Number &k =
          indices.numbers[flatten(indices.shape, {out[0], out[1]})];
      result.numbers[i] =
          k.isExact() ? values.numbers[flatten(values.shape,
                                               {out[0], integer(k), out[2]})]
                      : Number{0, kInfinity};
    }
    return true;
  }
  if (isa<tosa::ScatterOp>(op)) {
    scatter();
    return true;
  }
  return false;
}

bool Evaluation::run() {
  if (isa<tosa::Conv2DOp>(op))
    convolution(2, false);
  else if (isa<tosa::Conv3DOp>(op))
    convolution(3, false);
  else if (isa<tosa::DepthwiseConv2DOp>(op))
    convolution(2, true);
  else if (auto conv = dyn_cast<tosa::TransposeConv2DOp>(op))
    transposeConvolution(conv);
  else if (isa<tosa::MatMulOp>(op))
    matmul();
  else if (auto pool = dyn_cast<tosa::AvgPool2dOp>(op))
    averagePool(pool);
  else if (auto pool = dyn_cast<tosa::MaxPool2dOp>(op))
    maximumPool(pool);
  else if (auto clampOp = dyn_cast<tosa::ClampOp>(op))
    clamp(clampOp);
  else if (isa<tosa::CastOp>(op))
    castElements();
  else if (auto resizeOp = dyn_cast<tosa::ResizeOp>(op))
    resize(resizeOp);
  else if (auto rescaleOp = dyn_cast<tosa::RescaleOp>(op))
    rescale(rescaleOp);
  else
    return reduction() || movement() || arithmetic();
  return true;
}

} // namespace

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

ReferenceTensor ReferenceEvaluator::zeros(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  ReferenceTensor result;
  llvm::append_range(result.shape, tensor.getShape());
  result.element = tensor.getElementType();
  result.numbers.resize(size_t(countOf(result.shape)));
  return result;
}

const ReferenceTensor &ReferenceEvaluator::operator[](Value value) const {
  return values.find(value)->second;
}

bool ReferenceEvaluator::run(ArrayRef<ReferenceTensor> arguments) {
  Block &body = function.getBody().front();
  for (auto [argument, tensor] : llvm::zip(body.getArguments(), arguments))
    values[argument] = tensor;
  return evaluate(body);
}

bool ReferenceEvaluator::evaluate(Block &block) {
  for (Operation &op : block.without_terminator())
    if (!evaluate(op))
      return false;
  return true;
}

bool ReferenceEvaluator::evaluate(Operation &op) {
  auto fail = [&](const Twine &why) {
    error = (op.getName().getStringRef() + ": " + why).str();
    return false;
  };
  if (isa<tosa::ConstShapeOp>(op))
    return true;
  if (auto constant = dyn_cast<tosa::ConstOp>(op)) {
    ReferenceTensor tensor = readConstant(constant.getValues());
    for (Number &number : tensor.numbers)
      number.error = uncertain.lookup(constant);
    values[constant] = std::move(tensor);
    return true;
  }
  if (auto bias = dyn_cast<tpc::BiasOp>(op)) {
    values[bias] = readConstant(bias.getValues());
    return true;
  }
  if (auto point = dyn_cast<tpc::QuantizeOp>(op)) {
    ReferenceTensor input = (*this)[point.getInput()];
    values[point] =
        simulate && point.getParameters() ? quantize(point, input) : input;
    return true;
  }
  auto runBlock =
      [&](Block &block,
          ValueRange arguments) -> std::optional<std::vector<ReferenceTensor>> {
    std::vector<ReferenceTensor> results;
    for (Value argument : arguments)
      results.push_back((*this)[argument]);
    for (auto [argument, tensor] : llvm::zip(block.getArguments(), results))
      values[argument] = tensor;
    if (!evaluate(block))
      return std::nullopt;
    results.clear();
    for (Value result : block.getTerminator()->getOperands())
      results.push_back((*this)[result]);
    return results;
  };
  if (auto branch = dyn_cast<tosa::IfOp>(op)) {
    const Number condition = (*this)[branch.getCondition()].numbers[0];
    auto results =
        runBlock(condition.value != 0 ? branch.getThenGraph().front()
                                      : branch.getElseGraph().front(),
                 branch.getInputList());
    if (!results)
      return false;
    for (auto [result, tensor] : llvm::zip(branch.getResults(), *results)) {
      if (!condition.isExact())
        for (Number &number : tensor.numbers)
          number.error = kInfinity;
      values[result] = tensor;
    }
    return true;
  }
  if (auto loop = dyn_cast<tosa::WhileOp>(op)) {
    std::vector<ReferenceTensor> state;
    for (Value input : loop.getInputList())
      state.push_back((*this)[input]);
    while (true) {
      Block &test = loop.getCondGraph().front();
      Block &body = loop.getBodyGraph().front();
      for (auto [argument, tensor] : llvm::zip(test.getArguments(), state))
        values[argument] = tensor;
      if (!evaluate(test))
        return false;
      const Number &condition =
          (*this)[test.getTerminator()->getOperand(0)].numbers[0];
      if (!condition.isExact())
        return fail("the number of iterations is not known");
      if (condition.value == 0)
        break;
      for (auto [argument, tensor] : llvm::zip(body.getArguments(), state))
        values[argument] = tensor;
      if (!evaluate(body))
        return false;
      state.clear();
      for (Value result : body.getTerminator()->getOperands())
        state.push_back((*this)[result]);
    }
    for (auto [result, tensor] : llvm::zip(loop.getResults(), state))
      values[result] = tensor;
    return true;
  }
  if (!isa<tosa::TosaDialect>(op.getDialect()) || op.getNumResults() != 1)
    return fail("is not known");

  Evaluation evaluation{op, {}, zeros(op.getResult(0).getType())};
  // The map moves its entries when it grows; nothing is added before the end.
  for (Value operand : op.getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      evaluation.inputs.push_back(&values.find(operand)->second);
  if (!evaluation.run())
    return fail("is not known");
  values[op.getResult(0)] = std::move(evaluation.result);
  return true;
}
