// SPDX-License-Identifier: Apache-2.0
//
// Integer forms of sums, differences and clamps.
#include "IntegerModels.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using quantization::isPowerOfTwo;
using quantization::Rescale;

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// Returns the largest magnitude of an integer of the storage type minus the
/// zero point.
static double getStorageReach(const Encoding &encoding) {
  return std::ldexp(1, int(encoding.storageBits) - 1) +
         std::abs(double(encoding.zeroPoint));
}

static double getLargestMagnitude(ArrayRef<double> numbers) {
  double largest = 0;
  for (double number : numbers)
    largest = std::max(largest, std::abs(number));
  return largest;
}

static bool areIntegers(ArrayRef<double> numbers) {
  return llvm::all_of(
      numbers, [](double number) { return number == std::nearbyint(number); });
}

IntegerAccumulator mct::accumulate(IntegerBuilder &b,
                                   const StoredIntegers &stored) {
  const Encoding &encoding = stored.encoding;
  IntegerAccumulator result;
  result.value = b.widen(stored);
  result.scales = {encoding.scale};
  result.bound = encoding.getReach();
  result.shape = SmallVector<int64_t>(
      cast<RankedTensorType>(result.value.getType()).getShape());
  if (isPowerOfTwo(encoding.scale))
    result.history = FloatHistory{
        result.value, encoding.scale, encoding.low - encoding.zeroPoint,
        encoding.high - encoding.zeroPoint, int64_t(getStorageReach(encoding))};
  return result;
}

IntegerOr<IntegerAccumulator> mct::accumulate(IntegerContext &context,
                                              Value value) {
  if (IntegerOr<StoredIntegers> stored = context.getStored(value))
    return accumulate(context.getBuilder(), *stored);
  if (!value.getDefiningOp())
    return {IntegerReason::Unknown, nullptr};
  return context.getAccumulator(value);
}

IntegerOr<IntegerAccumulator> mct::getTerm(IntegerContext &context,
                                           Operation *op, Value value) {
  IntegerOr<IntegerAccumulator> result = accumulate(context, value);
  if (!result) {
    // Prefer the operand's own reason, which is closer to the cause.
    const IntegerFailure &failure = result.getFailure();
    if (failure.cause && failure.reason != IntegerReason::NoForm)
      return result;
    return {IntegerReason::InputNotQuantized, op};
  }
  if (!getElementTypeOrSelf(result->value).isInteger(32))
    return {IntegerReason::WideSums, op};
  if (result->scales.size() > 1 &&
      cast<RankedTensorType>(result->value.getType()).getShape().back() !=
          result->shape.back())
    return {IntegerReason::OtherScaleAxis, op};
  IntegerBuilder &b = context.getBuilder();
  result->value = b.reshape(result->value, result->shape);
  if (result->history)
    result->history->base = b.reshape(result->history->base, result->shape);
  return result;
}

std::optional<ExactCodes> mct::getExactCodes(ArrayRef<double> numbers) {
  ExactCodes result;
  if (!llvm::all_of(numbers, [](double each) { return std::isfinite(each); }))
    return std::nullopt;
  result.bound = getLargestMagnitude(numbers);
  if (result.bound == 0)
    return std::nullopt;
  result.unit = std::ldexp(1, std::ilogb(result.bound) - 14);
  for (double number : numbers) {
    double code = number / result.unit;
    if (code != std::nearbyint(code))
      return std::nullopt;
    result.values.push_back(int64_t(code));
  }
  // Choose the coarsest unit, which leaves most room.
  while (llvm::all_of(result.values,
                      [](int64_t value) { return value % 2 == 0; })) {
    for (int64_t &value : result.values)
      value /= 2;
    result.unit *= 2;
  }
  result.bound /= result.unit;
  return result;
}

/// Returns numbers in the units of `other` or in finer ones.
static IntegerOr<IntegerAccumulator>
getNumbers(IntegerBuilder &b, Operation *op, const ConstantTensor &numbers,
           const IntegerAccumulator &other) {
  std::vector<double> values = numbers.decode<double>();
  SmallVector<int64_t> shape(numbers.getShape());
  size_t count = other.scales.size();
  // One number for each channel if the units are per channel.
  if (count > 1 && shape.back() == 1) {
    std::vector<double> repeated;
    for (double value : values)
      repeated.insert(repeated.end(), count, value);
    values = std::move(repeated);
    shape.back() = int64_t(count);
  }
  auto getCodes = [&](int bits) {
    std::vector<double> codes;
    for (auto [i, value] : llvm::enumerate(values))
      codes.push_back(std::ldexp(value / other.scales[i % count], bits));
    return codes;
  };
  int bits = 0;
  std::vector<double> codes = getCodes(0);
  // Half of the range of sums.
  constexpr double kLimit = 0x1p28;
  while (!areIntegers(codes) &&
         2 * (getLargestMagnitude(codes) + std::ldexp(other.bound, bits)) <
             kLimit)
    codes = getCodes(++bits);
  if (!(getLargestMagnitude(codes) < kLimit))
    return {IntegerReason::NumberTooLarge, op};
  IntegerAccumulator result;
  std::vector<int64_t> rounded;
  for (double code : codes)
    rounded.push_back(std::llround(code));
  result.value = b.createConstant(shape, 32, rounded);
  for (double scale : other.scales)
    result.scales.push_back(std::ldexp(scale, -bits));
  result.bound = getLargestMagnitude(codes) + 1;
  result.shape = shape;
  return result;
}

//===----------------------------------------------------------------------===//
// Common units
//===----------------------------------------------------------------------===//

/// Converts all channels to the same unit, if their units are small multiples
/// of a power of two.
static void unify(IntegerBuilder &b, IntegerAccumulator &term) {
  if (llvm::all_of(term.scales, isPowerOfTwo))
    return;
  std::optional<ExactCodes> codes = getExactCodes(term.scales);
  if (!codes || !(term.bound * codes->bound < 0x1p28))
    return;
  term.value =
      b.multiply(term.value, b.createAlongLastAxis(term.value, codes->values));
  term.bound *= codes->bound;
  term.scales = {codes->unit};
}

/// Returns a unit for each channel in which sums of both are computed, or
/// nothing if the sums do not fit into 32 bits.
static std::optional<std::vector<double>>
getUnits(const IntegerAccumulator &first, const IntegerAccumulator &second) {
  // Results of rescales stay within this range.
  constexpr int kBits = 29;
  size_t count = std::max(first.scales.size(), second.scales.size());
  std::vector<double> units;
  bool isExact = true, arePowers = true;
  double bound = 0;
  for (size_t i = 0; i != count; ++i) {
    double a = first.getScale(i), c = second.getScale(i);
    double unit = std::min(a, c), ratio = std::max(a, c) / unit;
    isExact &= ratio == std::floor(ratio);
    arePowers &= isPowerOfTwo(ratio);
    bound = std::max(bound, a / unit * first.bound + c / unit * second.bound);
    units.push_back(unit);
  }
  if (isExact && std::ilogb(bound) < kBits)
    return units;
  if (arePowers)
    return std::nullopt;
  // This precision suffices, since f32 has only 24 bits.
  for (size_t i = 0; i != count; ++i) {
    double a = first.getScale(i), c = second.getScale(i);
    double large = std::max(a, c);
    double reach = a * first.bound + c * second.bound;
    units[i] = std::ldexp(large, std::ilogb(reach / large) - kBits + 1);
  }
  return units;
}

std::optional<IntegerFailure> mct::align(IntegerBuilder &b, Operation *op,
                                         IntegerAccumulator &first,
                                         IntegerAccumulator &second) {
  std::optional<std::vector<double>> units = getUnits(first, second);
  if (!units)
    return IntegerFailure{IntegerReason::SumsDoNotFit, op};
  for (IntegerAccumulator *term : {&first, &second}) {
    std::vector<double> factors;
    for (auto [i, unit] : llvm::enumerate(*units))
      factors.push_back(term->getScale(i) / unit);
    double largest = getLargestMagnitude(factors);
    bool isUniform = llvm::all_equal(factors);
    if (isUniform && largest == 1)
      continue;
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(term->value.getType()).getShape();
    if (!isUniform && shape.back() != int64_t(factors.size()))
      return IntegerFailure{IntegerReason::OtherScaleAxis, op};
    for (double factor : factors) {
      std::optional<Rescale> parts = Rescale::get(factor);
      if (!parts || !(term->bound < double(parts->getLimit())))
        return IntegerFailure{IntegerReason::SumsDoNotFit, op};
    }
    term->value = b.rescale(term->value, 0, factors, 0, 32);
    term->bound = term->bound * largest + 1;
  }
  if (llvm::all_equal(*units))
    units->resize(1);
  first.scales = second.scales = *units;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sums and differences
//===----------------------------------------------------------------------===//

/// Returns one number, or one for each position along the last axis; empty
/// otherwise.
static std::vector<float> getAlongLastAxis(const ConstantTensor &numbers) {
  std::vector<float> values = numbers.decode<float>();
  if (numbers.isSplat() || values.size() == 1)
    return {values.front()};
  if (int64_t(values.size()) == numbers.getShape().back())
    return values;
  return {};
}

/// Adds or subtracts in i32.
static Value createSum(IntegerBuilder &b, Operation *op, Value first,
                       Value second) {
  RankedTensorType type = b.getType(op->getResult(0), 32);
  if (isa<tosa::SubOp>(op))
    return tosa::SubOp::create(b, type, first, second);
  return tosa::AddOp::create(b, type, first, second);
}

/// Adds stored values.
static IntegerAccumulator addStored(IntegerContext &context, Operation *op,
                                    const StoredIntegers &first,
                                    const StoredIntegers &second) {
  IntegerBuilder &b = context.getBuilder();
  const Encoding &a = first.encoding, &c = second.encoding;
  double small = std::min(a.scale, c.scale), large = std::max(a.scale, c.scale);
  // Use the finer of two grids if it contains the other one. Otherwise give the
  // coarser one, which is then exact, 19 bits more.
  double unit = small, ratio = large / small;
  bool isNarrow = std::max(a.storageBits, c.storageBits) == 8;
  // Kernels that round twice always use these bits, and round half depending on
  // the sign only if bits are discarded.
  if (roundsTwice(context.getOptions().rounding) ||
      ratio != std::floor(ratio) || ratio > (isNarrow ? 32767 : 4096))
    unit = std::ldexp(large, isNarrow ? -19 : -12);
  IntegerAccumulator result;
  Value left = b.widen(first, a.scale / unit);
  Value right = b.widen(second, c.scale / unit);
  result.value = createSum(b, op, left, right);
  result.scales = {unit};
  result.bound = a.getReach() * (a.scale / unit) + 1;
  result.bound += c.getReach() * (c.scale / unit) + 1;
  if (isPowerOfTwo(small) && isPowerOfTwo(large) && result.bound < 0x1p24)
    result.history = FloatHistory{
        result.value, unit, -int64_t(result.bound), int64_t(result.bound),
        int64_t(getStorageReach(a) * (a.scale / unit) +
                getStorageReach(c) * (c.scale / unit))};
  return result;
}

/// Adds a stored value and numbers, which are the operand of this index.
static IntegerOr<IntegerAccumulator>
addNumbers(IntegerBuilder &b, Operation *op, const StoredIntegers &stored,
           const ConstantTensor &numbers, unsigned index) {
  const Encoding &encoding = stored.encoding;
  std::vector<double> values = numbers.decode<double>();
  double largest = getLargestMagnitude(values);
  // Use the coarsest unit of which all numbers are multiples, within the range.
  int bits = 0;
  auto isExact = [&] {
    return llvm::all_of(values, [&](double value) {
      double code = std::ldexp(value / encoding.scale, bits);
      return code == std::nearbyint(code);
    });
  };
  int maxBits = encoding.storageBits == 8 ? 19 : 12;
  while (bits < maxBits && !isExact() &&
         std::ldexp(largest / encoding.scale, bits + 1) < 0x1p29)
    ++bits;
  double unit = std::ldexp(encoding.scale, -bits);
  if (!(largest / unit < 0x1p30))
    return {IntegerReason::NumberTooLarge, op};
  std::vector<int64_t> codes;
  for (double value : values)
    codes.push_back(std::llround(value / unit));
  std::array<Value, 2> terms;
  terms[index] = b.createConstant(numbers.getShape(), 32, codes);
  terms[1 - index] = b.widen(stored, std::ldexp(1, bits));
  IntegerAccumulator result;
  result.value = createSum(b, op, terms[0], terms[1]);
  result.scales = {unit};
  result.bound = encoding.getReach() * std::ldexp(1, bits) + largest / unit;
  return result;
}

/// Adds terms that have not been rounded.
static IntegerOr<IntegerAccumulator> addTerms(IntegerContext &context,
                                              Operation *op) {
  IntegerBuilder &b = context.getBuilder();
  std::array<std::optional<ConstantTensor>, 2> numbers;
  std::array<std::optional<IntegerAccumulator>, 2> terms;
  std::optional<FloatHistory> history;
  for (unsigned i = 0; i != 2; ++i) {
    numbers[i] = context.getConstants().evaluate(op->getOperand(i));
    if (numbers[i])
      continue;
    IntegerOr<IntegerAccumulator> term =
        getTerm(context, op, op->getOperand(i));
    if (!term)
      return term;
    history = term->history;
    unify(b, *term);
    terms[i] = *term;
  }
  for (unsigned i = 0; i != 2; ++i)
    if (numbers[i]) {
      IntegerOr<IntegerAccumulator> term =
          getNumbers(b, op, *numbers[i], *terms[1 - i]);
      if (!term)
        return term;
      terms[i] = *term;
    }
  if (std::optional<IntegerFailure> failure =
          align(b, op, *terms[0], *terms[1]))
    return *failure;
  IntegerAccumulator result;
  result.value = createSum(b, op, terms[0]->value, terms[1]->value);
  result.scales = terms[0]->scales;
  result.bound = terms[0]->bound + terms[1]->bound;
  bool subtracts = isa<tosa::SubOp>(op);
  for (unsigned i = 0; i != 2; ++i) {
    if (!numbers[i] || !history ||
        op->getOperand(1 - i).getType() != op->getResult(0).getType())
      continue;
    std::vector<float> added = getAlongLastAxis(*numbers[i]);
    if (added.empty())
      continue;
    // a - x is -x + a, and x - a is x + -a.
    if (subtracts && i == 1)
      for (float &number : added)
        number = -number;
    if (subtracts && i == 0)
      history->steps.push_back({/*isSum=*/false, {-1.0f}});
    history->steps.push_back({/*isSum=*/true, std::move(added)});
    result.history = std::move(history);
    break;
  }
  return result;
}

template <typename Op>
static IntegerOr<IntegerAccumulator> accumulateSum(IntegerContext &context,
                                                   Op op) {
  std::array<std::optional<ConstantTensor>, 2> numbers;
  std::array<std::optional<StoredIntegers>, 2> stored;
  for (unsigned i = 0; i != 2; ++i) {
    numbers[i] = context.getConstants().evaluate(op->getOperand(i));
    if (numbers[i])
      continue;
    IntegerOr<StoredIntegers> operand = context.getStored(op->getOperand(i));
    if (!operand)
      return addTerms(context, op);
    stored[i] = *operand;
  }
  if (stored[0] && stored[1])
    return addStored(context, op, *stored[0], *stored[1]);
  IntegerBuilder &b = context.getBuilder();
  unsigned index = numbers[0] ? 0 : 1;
  return addNumbers(b, op, *stored[1 - index], *numbers[index], index);
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

namespace {
struct ClampModel
    : IntegerOpInterface::ExternalModel<ClampModel, tosa::ClampOp> {
  IntegerOr<IntegerAccumulator> getAccumulator(Operation *op,
                                               IntegerContext &context) const {
    auto clamp = cast<tosa::ClampOp>(op);
    IntegerOr<IntegerAccumulator> result =
        getTerm(context, op, clamp.getInput());
    if (!result)
      return result;
    auto getLimit = [&](Attribute attribute) -> std::optional<int64_t> {
      double real = cast<FloatAttr>(attribute).getValue().convertToFloat();
      double code = real / result->scales.front();
      if (std::abs(code) > result->bound)
        return int64_t(std::copysign(result->bound + 1, code));
      if (code != std::nearbyint(code) ||
          (code != 0 && result->scales.size() > 1))
        return std::nullopt;
      return int64_t(code);
    };
    std::optional<int64_t> low = getLimit(clamp.getMinVal()),
                           high = getLimit(clamp.getMaxVal());
    if (!low || !high)
      return {IntegerReason::BoundOffGrid, op};
    result->value = context.getBuilder().limit(result->value, *low, *high);
    result->mean.reset();
    result->summands.reset();
    result->history.reset();
    return result;
  }

  IntegerOr<Value> getCodes(Operation *op, IntegerContext &context,
                            const Encoding &encoding) const {
    auto clamp = cast<tosa::ClampOp>(op);
    IntegerOr<Value> before = context.getCodes(clamp.getInput(), encoding);
    if (!before)
      return before;
    auto quantize = [&](Attribute bound) {
      return encoding.quantize(
          cast<FloatAttr>(bound).getValue().convertToFloat());
    };
    return context.getBuilder().clamp(*before, quantize(clamp.getMinVal()),
                                      quantize(clamp.getMaxVal()), encoding);
  }
};
} // namespace

void mct::attachIntegerSumModels(MLIRContext *context) {
  attachAccumulators<accumulateSum<tosa::AddOp>, accumulateSum<tosa::SubOp>>(
      context);
  tosa::ClampOp::attachInterface<ClampModel>(*context);
}
