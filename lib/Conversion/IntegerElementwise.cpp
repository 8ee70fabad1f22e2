// SPDX-License-Identifier: Apache-2.0
//
// Tables, sums, products and selections of integers.
#include "IntegerLowering.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace mct;

/// Ops of an expression that becomes one table.
static constexpr size_t kMaxTableOps = 64;

/// Ops between a selection and what decides it.
static constexpr unsigned kMaxPredicateDepth = 256;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

Value IntegerLowering::lowerTable(Value value, const Encoding &encoding,
                                  bool &isRefused) {
  // The expression: element-wise ops of one stored value and of numbers.
  llvm::SetVector<Operation *> ops;
  DenseMap<Value, ConstantTensor> numbers;
  Value source;
  std::optional<Stored> stored;
  SmallVector<Value> open = {value};
  bool isMoreThanClamps = false;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (next == source || numbers.count(next))
      continue;
    if (std::optional<ConstantTensor> number = constants.evaluate(next)) {
      if (number->getNumElements() != 1 && !number->isSplat())
        return nullptr;
      numbers[next] = *number;
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(next.getType());
    if (!type || type.getShape() != shape)
      return nullptr;
    if (std::optional<Stored> leaf = getStored(next)) {
      if (source)
        return nullptr;
      source = next;
      stored = leaf;
      continue;
    }
    Operation *op = next.getDefiningOp();
    auto elementwise = dyn_cast_or_null<ElementwiseOpInterface>(op);
    if (!elementwise || isa<tpc::QuantizeOp>(op) || !constants.knows(op))
      return nullptr;
    if (!ops.insert(op))
      continue;
    if (ops.size() > kMaxTableOps)
      return nullptr;
    isMoreThanClamps |= !isa<tosa::ClampOp, tosa::IdentityOp>(op);
    for (Value operand :
         op->getOperands().take_front(elementwise.getNumDataOperands()))
      open.push_back(operand);
  }
  if (!source || !isMoreThanClamps || shape.empty())
    return nullptr;
  if (stored->encoding.storageBits != 8 || encoding.storageBits != 8) {
    isRefused = true;
    return fail(value.getDefiningOp(),
                "has more than 8 bits: no table is exact");
  }

  // The same for all codes, beside the function.
  Block scratch;
  OpBuilder inner(builder.getContext());
  inner.setInsertionPointToStart(&scratch);
  int64_t rank = int64_t(shape.size());
  SmallVector<int64_t> one(rank, 1), all(rank, 1);
  all[0] = 256;
  std::vector<float> inputs;
  for (int64_t code = -128; code < 128; ++code)
    inputs.push_back(stored->encoding.dequantize(code));
  IRMapping mapping;
  ConstantEvaluator evaluator;
  auto provide = [&](Value of, ConstantTensor tensor) {
    Value argument = scratch.addArgument(tensor.getType(), loc);
    evaluator.provide(argument, std::move(tensor));
    mapping.map(of, argument);
  };
  auto elementType = cast<RankedTensorType>(source.getType()).getElementType();
  provide(source,
          ConstantTensor::create<float>(RankedTensorType::get(all, elementType),
                                        std::move(inputs)));
  for (auto &[number, tensor] : numbers) {
    auto type = RankedTensorType::get(one, tensor.getType().getElementType());
    provide(number, ConstantTensor::create<double>(
                        type, {tensor.decode<double>().front()}));
  }
  // In the order of the function, which is one of the expression.
  SmallVector<Operation *> ordered(ops.begin(), ops.end());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ordered) {
    Operation *copy = inner.clone(*op, mapping);
    for (OpResult result : copy->getResults())
      result.setType(cast<RankedTensorType>(result.getType()).clone(all));
  }
  std::optional<ConstantTensor> results =
      evaluator.evaluate(mapping.lookup(value));
  std::vector<int64_t> codes;
  if (results) {
    std::vector<float> values = results->decode<float>();
    if (values.size() == 1)
      values.assign(256, values.front());
    for (float result : values)
      codes.push_back(encoding.quantize(result));
  }
  scratch.dropAllReferences();
  scratch.clear();
  if (codes.size() != 256)
    return nullptr;
  return tosa::TableOp::create(builder, loc, getType(value, 8), stored->value,
                               createConstant(256, 8, codes));
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

/// The largest magnitude of any integer of its type, less its zero point.
static double getStorageReach(const Encoding &encoding) {
  return std::ldexp(1, int(encoding.storageBits) - 1) +
         std::abs(double(encoding.zeroPoint));
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulateSum(Operation *op, bool subtracts) {
  std::array<std::optional<Stored>, 2> stored;
  std::array<std::optional<ConstantTensor>, 2> numbers;
  for (unsigned i = 0; i != 2; ++i) {
    numbers[i] = constants.evaluate(op->getOperand(i));
    if (!numbers[i])
      stored[i] = getStored(op->getOperand(i));
    if (!numbers[i] && !stored[i])
      return accumulateTerms(op, subtracts);
  }
  Accumulator result;
  std::array<Value, 2> terms;
  if (stored[0] && stored[1]) {
    std::array<double, 2> scales = {stored[0]->encoding.scale,
                                    stored[1]->encoding.scale};
    double small = std::min(scales[0], scales[1]);
    double large = std::max(scales[0], scales[1]);
    // Onto the finer of two grids of which one contains the other; else 19 bits
    // more for the coarser one, which is then exact.
    double unit = small;
    double ratio = large / small;
    unsigned bits = std::max(stored[0]->encoding.storageBits,
                             stored[1]->encoding.storageBits);
    if (ratio != std::floor(ratio) || ratio > (bits == 8 ? 32767 : 4096))
      unit = std::ldexp(large, bits == 8 ? -19 : -12);
    for (unsigned i = 0; i != 2; ++i) {
      terms[i] = widen(*stored[i], scales[i] / unit);
      result.bound += stored[i]->encoding.getReach() * (scales[i] / unit) + 1;
    }
    result.scales = {unit};
    if (quantization::isPowerOfTwo(small) &&
        quantization::isPowerOfTwo(large) && result.bound < 0x1p24)
      result.history = History{
          {},
          unit,
          -int64_t(result.bound),
          int64_t(result.bound),
          int64_t(getStorageReach(stored[0]->encoding) * (scales[0] / unit) +
                  getStorageReach(stored[1]->encoding) * (scales[1] / unit))};
  } else {
    unsigned number = numbers[0] ? 0 : 1;
    const Encoding &encoding = stored[1 - number]->encoding;
    std::vector<double> values = numbers[number]->decode<double>();
    double largest = 0;
    for (double value : values)
      largest = std::max(largest, std::abs(value));
    // The coarsest unit that all numbers are multiples of, within the range.
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
      return failed(op, "adds a number that is too large for its scale");
    std::vector<int64_t> codes;
    for (double value : values)
      codes.push_back(std::llround(value / unit));
    terms[number] = createConstant(numbers[number]->getShape(), 32, codes);
    terms[1 - number] = widen(*stored[1 - number], std::ldexp(1, bits));
    result.scales = {unit};
    result.bound = encoding.getReach() * std::ldexp(1, bits) + largest / unit;
  }
  RankedTensorType type = getType(op->getResult(0), 32);
  if (subtracts)
    result.value = tosa::SubOp::create(builder, loc, type, terms[0], terms[1]);
  else
    result.value = tosa::AddOp::create(builder, loc, type, terms[0], terms[1]);
  if (result.history)
    result.history->base = result.value;
  return result;
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulate(Value value) {
  std::optional<Stored> stored = getStored(value);
  if (!stored)
    return value.getDefiningOp() ? getAccumulator(value) : std::nullopt;
  Accumulator result;
  result.value = widen(*stored);
  result.scales = {stored->encoding.scale};
  result.bound = stored->encoding.getReach();
  result.shape = SmallVector<int64_t>(
      cast<RankedTensorType>(result.value.getType()).getShape());
  const Encoding &encoding = stored->encoding;
  if (quantization::isPowerOfTwo(encoding.scale))
    result.history = History{
        result.value, encoding.scale, encoding.low - encoding.zeroPoint,
        encoding.high - encoding.zeroPoint, int64_t(getStorageReach(encoding))};
  return result;
}

namespace {
/// Numbers that are integers times a power of two.
struct ExactCodes {
  std::vector<int64_t> values;
  double unit = 1;
  double bound = 0;
};
} // namespace

/// None unless 16 bits hold them.
static std::optional<ExactCodes> getExactCodes(ArrayRef<double> numbers) {
  ExactCodes result;
  for (double number : numbers) {
    if (!std::isfinite(number))
      return std::nullopt;
    result.bound = std::max(result.bound, std::abs(number));
  }
  if (result.bound == 0)
    return std::nullopt;
  result.unit = std::ldexp(1, std::ilogb(result.bound) - 14);
  for (double number : numbers) {
    double code = number / result.unit;
    if (code != std::nearbyint(code))
      return std::nullopt;
    result.values.push_back(int64_t(code));
  }
  // The coarsest unit leaves most room.
  while (llvm::all_of(result.values,
                      [](int64_t value) { return value % 2 == 0; })) {
    for (int64_t &value : result.values)
      value /= 2;
    result.unit *= 2;
  }
  result.bound /= result.unit;
  return result;
}

/// Whether f32 has this for 1 / n, and that is not exact.
static bool isInverse(double factor) {
  double count = std::nearbyint(1 / factor);
  return count > 1 && double(float(1 / count)) == factor &&
         !quantization::isPowerOfTwo(count);
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::getTerm(Operation *op, Value value) {
  culprit = nullptr;
  std::optional<Accumulator> result = accumulate(value);
  if (!result) {
    // Its own reason is nearer to the cause, where it has one.
    if (!culprit || why == kNoForm)
      return failed(op, "reads an input that is not quantized");
    return std::nullopt;
  }
  if (!getElementTypeOrSelf(result->value).isInteger(32))
    return failed(op, "reads sums of more than 32 bits");
  if (result->scales.size() > 1 &&
      cast<RankedTensorType>(result->value.getType()).getShape().back() !=
          result->shape.back())
    return failed(op, "reads sums that have scales along another axis");
  result->value = reshape(result->value, result->shape);
  if (result->history)
    result->history->base = reshape(result->history->base, result->shape);
  return result;
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::getNumbers(Operation *op, const ConstantTensor &numbers,
                            const Accumulator &other) {
  std::vector<double> values = numbers.decode<double>();
  SmallVector<int64_t> shape(numbers.getShape());
  size_t count = other.scales.size();
  // One for each channel, where the units are.
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
  auto getLargest = [](const std::vector<double> &codes) {
    double largest = 0;
    for (double code : codes)
      largest = std::max(largest, std::abs(code));
    return largest;
  };
  int bits = 0;
  std::vector<double> codes = getCodes(0);
  auto isExact = [&] {
    return llvm::all_of(
        codes, [](double code) { return code == std::nearbyint(code); });
  };
  // Half of the range that sums have.
  constexpr double kLimit = 0x1p28;
  while (!isExact() &&
         2 * (getLargest(codes) + std::ldexp(other.bound, bits)) < kLimit)
    codes = getCodes(++bits);
  if (!(getLargest(codes) < kLimit))
    return failed(op, "adds a number that is too large for its scale");
  Accumulator result;
  std::vector<int64_t> rounded;
  for (double code : codes)
    rounded.push_back(std::llround(code));
  result.value = createConstant(shape, 32, rounded);
  for (double scale : other.scales)
    result.scales.push_back(std::ldexp(scale, -bits));
  result.bound = getLargest(codes) + 1;
  result.shape = shape;
  return result;
}

void IntegerLowering::unify(Accumulator &term) {
  if (llvm::all_of(term.scales, quantization::isPowerOfTwo))
    return;
  std::optional<ExactCodes> codes = getExactCodes(term.scales);
  if (!codes || !(term.bound * codes->bound < 0x1p28))
    return;
  auto type = cast<RankedTensorType>(term.value.getType());
  SmallVector<int64_t> channels(type.getRank(), 1);
  channels.back() = int64_t(codes->values.size());
  term.value = tosa::MulOp::create(builder, loc, type, term.value,
                                   createConstant(channels, 32, codes->values),
                                   createConstant(1, 8, 0));
  term.bound *= codes->bound;
  term.scales = {codes->unit};
}

bool IntegerLowering::align(Operation *op, Accumulator &a, Accumulator &b) {
  // What rescales make stays within their range.
  constexpr int kBits = 29;
  size_t count = std::max(a.scales.size(), b.scales.size());
  std::array<Accumulator *, 2> terms = {&a, &b};
  std::array<std::vector<double>, 2> scales, factors;
  for (unsigned i = 0; i != 2; ++i) {
    scales[i] = terms[i]->scales;
    if (scales[i].size() == 1)
      scales[i].assign(count, scales[i].front());
  }
  std::vector<double> units;
  bool isExact = true, arePowers = true;
  double bound = 0;
  for (size_t i = 0; i != count; ++i) {
    double unit = std::min(scales[0][i], scales[1][i]);
    double ratio = std::max(scales[0][i], scales[1][i]) / unit;
    isExact &= ratio == std::floor(ratio);
    arePowers &= quantization::isPowerOfTwo(ratio);
    bound = std::max(bound, scales[0][i] / unit * a.bound +
                                scales[1][i] / unit * b.bound);
    units.push_back(unit);
  }
  if (!isExact || !(std::ilogb(bound) < kBits)) {
    if (arePowers)
      return failed(op, "has sums that do not fit into 32 bits").has_value();
    // Numbers of f32 have 24 bits, too.
    for (size_t i = 0; i != count; ++i) {
      double large = std::max(scales[0][i], scales[1][i]);
      double reach = scales[0][i] * a.bound + scales[1][i] * b.bound;
      units[i] = std::ldexp(large, std::ilogb(reach / large) - kBits + 1);
    }
  }
  for (unsigned term = 0; term != 2; ++term) {
    std::vector<double> factors;
    double largest = 0;
    for (size_t i = 0; i != count; ++i) {
      factors.push_back(scales[term][i] / units[i]);
      largest = std::max(largest, factors.back());
    }
    bool isUniform = llvm::all_equal(factors);
    if (isUniform && largest == 1)
      continue;
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(terms[term]->value.getType()).getShape();
    if (!isUniform && shape.back() != int64_t(count))
      return failed(op, "reads sums that have scales along another axis")
          .has_value();
    for (double factor : factors) {
      std::optional<quantization::Rescale> parts =
          quantization::Rescale::get(factor);
      if (!parts || !(terms[term]->bound < double(parts->getLimit())))
        return failed(op, "has sums that do not fit into 32 bits").has_value();
    }
    terms[term]->value = rescale(terms[term]->value, 0, factors, 0, 32);
    terms[term]->bound = terms[term]->bound * largest + 1;
  }
  if (llvm::all_equal(units))
    units.resize(1);
  a.scales = b.scales = units;
  return true;
}

/// One number, or one for each position along the last axis; else nothing.
static std::vector<float> getAlongLastAxis(const ConstantTensor &numbers) {
  std::vector<float> values = numbers.decode<float>();
  if (numbers.isSplat() || values.size() == 1)
    return {values.front()};
  if (int64_t(values.size()) == numbers.getShape().back())
    return values;
  return {};
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulateTerms(Operation *op, bool subtracts) {
  std::array<std::optional<ConstantTensor>, 2> numbers;
  std::array<std::optional<Accumulator>, 2> terms;
  std::optional<History> history;
  for (unsigned i = 0; i != 2; ++i) {
    numbers[i] = constants.evaluate(op->getOperand(i));
    if (numbers[i])
      continue;
    terms[i] = getTerm(op, op->getOperand(i));
    if (!terms[i])
      return std::nullopt;
    history = terms[i]->history;
    unify(*terms[i]);
  }
  for (unsigned i = 0; i != 2; ++i)
    if (numbers[i]) {
      terms[i] = getNumbers(op, *numbers[i], *terms[1 - i]);
      if (!terms[i])
        return std::nullopt;
    }
  if (!align(op, *terms[0], *terms[1]))
    return std::nullopt;
  Accumulator result;
  RankedTensorType type = getType(op->getResult(0), 32);
  Value a = terms[0]->value, b = terms[1]->value;
  if (subtracts)
    result.value = tosa::SubOp::create(builder, loc, type, a, b);
  else
    result.value = tosa::AddOp::create(builder, loc, type, a, b);
  result.scales = terms[0]->scales;
  result.bound = terms[0]->bound + terms[1]->bound;
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

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulateClamp(tosa::ClampOp op) {
  std::optional<Accumulator> result = getTerm(op, op.getInput());
  if (!result)
    return std::nullopt;
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
  std::optional<int64_t> low = getLimit(op.getMinVal()),
                         high = getLimit(op.getMaxVal());
  if (!low || !high)
    return failed(op, "limits sums by numbers that are not on their grid");
  result->value = limit(result->value, *low, *high);
  result->mean.reset();
  result->summands.reset();
  result->history.reset();
  return result;
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::scale(Operation *op, std::optional<Accumulator> result,
                       ArrayRef<double> factors) {
  if (!result)
    return std::nullopt;
  auto type = cast<RankedTensorType>(result->value.getType());
  if (!llvm::all_of(factors,
                    [](double factor) { return std::isfinite(factor); }) ||
      !type.getElementType().isInteger(32) ||
      (factors.size() > 1 && type.getShape().back() != result->shape.back()))
    return failed(op, "multiplies by numbers that sums are not scaled with");
  // Factors of a rescale are positive: signs, or 0, are multiplied with before.
  size_t count = std::max(factors.size(), result->scales.size());
  std::vector<double> scales;
  std::vector<int64_t> signs;
  for (size_t i = 0; i != count; ++i) {
    double factor = factors[factors.size() == 1 ? 0 : i];
    signs.push_back((factor > 0) - (factor < 0));
    scales.push_back(result->scales[result->scales.size() == 1 ? 0 : i] *
                     (factor == 0 ? 1 : std::abs(factor)));
  }
  if (llvm::any_of(signs, [](int64_t sign) { return sign != 1; })) {
    SmallVector<int64_t> channels(type.getRank(), 1);
    channels.back() = int64_t(count);
    result->value = tosa::MulOp::create(builder, loc, type, result->value,
                                        createConstant(channels, 32, signs),
                                        createConstant(1, 8, 0));
    result->mean.reset();
  }
  if (result->mean && factors.size() == 1)
    result->mean->step *= factors.front();
  else
    result->mean.reset();
  if (result->summands && factors.size() == 1 && isInverse(factors.front()) &&
      kNudge * result->bound + 1 < 0x1p31)
    result->mean = result->summands;
  result->summands.reset();
  result->scales = std::move(scales);
  if (result->history)
    result->history->steps.push_back(
        {/*isSum=*/false, std::vector<float>(factors.begin(), factors.end())});
  return result;
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulateProduct(tosa::MulOp op) {
  // Numbers, one or one for each channel, times what is not yet rounded.
  for (unsigned i = 0; i != 2; ++i) {
    std::optional<ConstantTensor> number =
        constants.evaluate(op->getOperand(i));
    Value other = op->getOperand(1 - i);
    if (!number || op.getType() != other.getType())
      continue;
    if (number->isSplat() || number->getNumElements() == 1 ||
        number->getNumElements() == number->getShape().back())
      return scale(op, accumulate(other), number->decode<double>());
  }
  Accumulator result;
  result.bound = 1;
  std::array<Value, 2> factors;
  result.scales = {1};
  auto multiply = [&](ArrayRef<double> scales, double bound) {
    if (result.scales.size() < scales.size())
      result.scales.resize(scales.size(), result.scales.front());
    for (auto [i, scale] : llvm::enumerate(result.scales))
      scale *= scales[scales.size() == 1 ? 0 : i];
    result.bound *= bound;
  };
  for (unsigned i = 0; i != 2; ++i) {
    Value operand = op->getOperand(i);
    if (std::optional<Stored> stored = getStored(operand)) {
      factors[i] = widen(*stored);
      multiply(stored->encoding.scale, stored->encoding.getReach());
      continue;
    }
    if (std::optional<ConstantTensor> number = constants.evaluate(operand)) {
      std::optional<ExactCodes> codes = getExactCodes(number->decode<double>());
      if (!codes)
        return failed(op, "multiplies by numbers that are not quantized");
      factors[i] = createConstant(number->getShape(), 32, codes->values);
      multiply(codes->unit, codes->bound);
      continue;
    }
    std::optional<Accumulator> term = getTerm(op, operand);
    if (!term)
      return std::nullopt;
    factors[i] = term->value;
    multiply(term->scales, term->bound);
  }
  if (!(result.bound < 0x1p31))
    return failed(op, "has products that do not fit into 32 bits");
  result.value =
      tosa::MulOp::create(builder, loc, getType(op.getResult(), 32), factors[0],
                          factors[1], createConstant(1, 8, 0));
  return result;
}

Value IntegerLowering::lowerExtreme(Operation *op, const Encoding &encoding) {
  std::array<Value, 2> operands;
  for (unsigned i = 0; i != 2; ++i) {
    Value operand = lowerTo(op->getOperand(i), encoding);
    if (!operand)
      return nullptr;
    // TOSA compares 32 bits.
    operands[i] = rescale(operand, 0, 1.0, 0, 32);
  }
  RankedTensorType type = getType(op->getResult(0), 32);
  Value wide;
  if (isa<tosa::MaximumOp>(op))
    wide = tosa::MaximumOp::create(builder, loc, type, operands[0], operands[1],
                                   tosa::NanPropagationMode::PROPAGATE);
  else
    wide = tosa::MinimumOp::create(builder, loc, type, operands[0], operands[1],
                                   tosa::NanPropagationMode::PROPAGATE);
  return rescale(wide, 0, 1.0, 0, encoding.storageBits);
}

namespace {
/// x where it is not negative, slope * x elsewhere.
struct ParametricRelu {
  Value input;
  /// One, or one for each position along the last axis.
  std::vector<double> slopes;
};
} // namespace

static std::optional<ParametricRelu>
matchParametricRelu(tosa::SelectOp op, ConstantEvaluator &constants) {
  Operation *comparison = op.getPred().getDefiningOp();
  auto product = op.getOnFalse().getDefiningOp<tosa::MulOp>();
  Value input = op.getOnTrue();
  if (!isa_and_nonnull<tosa::GreaterEqualOp, tosa::GreaterOp>(comparison) ||
      comparison->getOperand(0) != input || !product ||
      input.getType() != op.getType())
    return std::nullopt;
  std::optional<ConstantTensor> zero =
      constants.evaluate(comparison->getOperand(1));
  if (!zero || !zero->isUniformly(0))
    return std::nullopt;
  unsigned slope = product.getInput1() == input ? 1 : 0;
  std::optional<ConstantTensor> slopes =
      product->getOperand(1 - slope) == input
          ? constants.evaluate(product->getOperand(slope))
          : std::nullopt;
  // One number for each position along the last axis at most.
  if (!slopes || slopes->getShape().empty() ||
      slopes->getNumElements() != slopes->getShape().back())
    return std::nullopt;
  return ParametricRelu{input, slopes->decode<double>()};
}

Value IntegerLowering::lowerPredicate(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || constants.evaluate(value))
    return value;
  if (isa<tosa::EqualOp, tosa::GreaterOp, tosa::GreaterEqualOp>(op) &&
      isa<Float32Type, Float64Type>(getElementTypeOrSelf(op->getOperand(0))))
    return lowerComparison(op);
  bool readsFloats = llvm::any_of(op->getOperandTypes(), [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  });
  if (readsFloats || depth == kMaxPredicateDepth)
    return fail(op, kNoForm);
  if (!getElementTypeOrSelf(value).isInteger(1))
    return value;
  IRMapping mapping;
  bool isSame = true;
  ++depth;
  for (Value operand : op->getOperands()) {
    Value other = lowerPredicate(operand);
    if (!other) {
      --depth;
      return nullptr;
    }
    mapping.map(operand, other);
    isSame &= other == operand;
  }
  --depth;
  if (isSame)
    return value;
  Operation *copy = builder.clone(*op, mapping);
  copy->setLoc(loc);
  return copy->getResult(0);
}

/// The f32 that was only made wider.
static Value skipWidening(Value value) {
  auto cast = value.getDefiningOp<tosa::CastOp>();
  return cast && getElementTypeOrSelf(cast.getType()).isF64() &&
                 getElementTypeOrSelf(cast.getInput()).isF32()
             ? cast.getInput()
             : value;
}

std::vector<int64_t>
IntegerLowering::getHalfSteps(const ConstantTensor &numbers,
                              const Encoding &encoding) {
  std::vector<int64_t> codes;
  for (double number : numbers.decode<double>()) {
    if (std::isnan(number))
      return {};
    int64_t low = encoding.low - 1, high = encoding.high + 1;
    // The largest code that is not above, and the smallest not below.
    while (high - low > 1) {
      int64_t middle = low + (high - low) / 2;
      if (double(encoding.dequantize(middle)) <= number)
        low = middle;
      else
        high = middle;
    }
    bool isCode =
        low >= encoding.low && double(encoding.dequantize(low)) == number;
    codes.push_back(2 * (low - encoding.zeroPoint) + (isCode ? 0 : 1));
  }
  return codes;
}

std::optional<bool> IntegerLowering::getAlways(Value predicate,
                                               unsigned level) {
  if (std::optional<ConstantTensor> constant = constants.evaluate(predicate)) {
    std::vector<int64_t> values = constant->decode<int64_t>();
    if (values.empty() || !llvm::all_equal(values))
      return std::nullopt;
    return values.front() != 0;
  }
  Operation *op = predicate.getDefiningOp();
  if (!op || level == kMaxPredicateDepth)
    return std::nullopt;
  if (isa<tosa::ReduceAllOp, tosa::ReduceAnyOp, tosa::ReshapeOp>(op))
    return getAlways(op->getOperand(0), level + 1);
  if (isa<tosa::LogicalNotOp>(op)) {
    std::optional<bool> always = getAlways(op->getOperand(0), level + 1);
    if (always)
      return !*always;
    return std::nullopt;
  }
  if (!isa<tosa::EqualOp>(op))
    return std::nullopt;
  // What is no code of the other operand equals none.
  std::optional<Numbers> numbers = findNumbers(op);
  if (!numbers || numbers->halfSteps.empty() ||
      llvm::any_of(numbers->halfSteps,
                   [](int64_t step) { return step % 2 == 0; }))
    return std::nullopt;
  return false;
}

std::optional<IntegerLowering::Numbers>
IntegerLowering::findNumbers(Operation *op) {
  for (unsigned i = 0; i != 2; ++i) {
    std::optional<ConstantTensor> numbers =
        constants.evaluate(op->getOperand(i));
    std::optional<Stored> stored =
        getStored(skipWidening(op->getOperand(1 - i)));
    if (numbers && stored)
      return Numbers{i, *stored, SmallVector<int64_t>(numbers->getShape()),
                     getHalfSteps(*numbers, stored->encoding)};
  }
  return std::nullopt;
}

/// Both sides in i32 with the same units, where that is exact; against numbers,
/// the codes themselves, which are in the order of what they stand for.
Value IntegerLowering::lowerComparison(Operation *op) {
  auto create = [&](Value a, Value b) -> Value {
    IRMapping mapping;
    mapping.map(op->getOperand(0), a);
    mapping.map(op->getOperand(1), b);
    Operation *copy = builder.clone(*op, mapping);
    copy->setLoc(loc);
    // Of two equal operands the mapping knows one.
    copy->setOperands({a, b});
    return copy->getResult(0);
  };
  if (std::optional<Numbers> numbers = findNumbers(op)) {
    if (numbers->halfSteps.empty())
      return fail(op, "compares with NaN");
    std::array<Value, 2> operands;
    operands[numbers->operand] =
        createConstant(numbers->shape, 32, numbers->halfSteps);
    operands[1 - numbers->operand] = widen(numbers->stored, 2);
    return create(operands[0], operands[1]);
  }
  std::array<std::optional<Accumulator>, 2> terms;
  for (unsigned i = 0; i != 2; ++i) {
    Value operand = skipWidening(op->getOperand(i));
    std::optional<Stored> stored = getStored(operand);
    terms[i] = stored ? getTerm(op, operand) : std::nullopt;
    if (!terms[i])
      return fail(op, "compares an input that is not quantized");
  }
  double ratio = terms[0]->scales.front() / terms[1]->scales.front();
  if (!quantization::isPowerOfTwo(ratio))
    return fail(op, "compares values on two grids that share no steps");
  if (!align(op, *terms[0], *terms[1]))
    return nullptr;
  return create(terms[0]->value, terms[1]->value);
}

Value IntegerLowering::lowerSelect(tosa::SelectOp op,
                                   const Encoding &encoding) {
  std::optional<ParametricRelu> relu = matchParametricRelu(op, constants);
  if (!relu) {
    // As in the masks of attention, where no code is minus infinity.
    if (std::optional<bool> always = getAlways(op.getPred()))
      if (Value chosen = *always ? op.getOnTrue() : op.getOnFalse();
          chosen.getType() == op.getType())
        return lowerTo(chosen, encoding);
    Value predicate = lowerPredicate(op.getPred());
    Value onTrue = predicate ? lowerTo(op.getOnTrue(), encoding) : nullptr;
    Value onFalse = onTrue ? lowerTo(op.getOnFalse(), encoding) : nullptr;
    if (!onFalse)
      return nullptr;
    return tosa::SelectOp::create(builder, loc,
                                  getType(op.getResult(), encoding.storageBits),
                                  predicate, onTrue, onFalse);
  }
  std::optional<Accumulator> sum = accumulate(relu->input);
  if (!sum)
    return nullptr;
  auto type = cast<RankedTensorType>(sum->value.getType());
  if (!type.getElementType().isInteger(32) || sum->mean)
    return fail(op, kNoForm);
  Value zero = createConstant(SmallVector<int64_t>(type.getRank(), 1), 32, 0);
  auto getHalf = [&](auto create) {
    Accumulator half = *sum;
    half.value = create(builder, loc, type, sum->value, zero,
                        tosa::NanPropagationMode::PROPAGATE);
    half.history.reset();
    return half;
  };
  Accumulator positive = getHalf([](auto &&...operands) {
    return tosa::MaximumOp::create(operands...).getResult();
  });
  Accumulator low = getHalf([](auto &&...operands) {
    return tosa::MinimumOp::create(operands...).getResult();
  });
  if (sum->history && sum->history->steps.empty())
    low.history = History{low.value, sum->history->step,
                          std::min<int64_t>(sum->history->low, 0), 0,
                          sum->history->reach};
  std::optional<Accumulator> negative = scale(op, low, relu->slopes);
  if (!negative)
    return nullptr;
  // Each half is rounded, and the other is 0 there.
  Encoding wide = encoding;
  wide.storageBits = 32;
  wide.zeroPoint = 0;
  wide.low = std::numeric_limits<int32_t>::min();
  wide.high = std::numeric_limits<int32_t>::max();
  Value above = requantize(positive, wide), below = requantize(*negative, wide);
  if (!above || !below)
    return nullptr;
  Value both = tosa::AddOp::create(builder, loc, above.getType(), above, below);
  // Far beyond what is stored, and within what a rescale takes.
  constexpr int64_t kFar = int64_t(1) << 20;
  both = limit(both, -kFar, kFar);
  return clamp(rescale(both, 0, 1.0, encoding.zeroPoint, encoding.storageBits),
               encoding.low, encoding.high, encoding);
}
