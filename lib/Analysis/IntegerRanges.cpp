// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/IntegerRanges.h"
#include "mct/Analysis/ConstantEvaluator.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace mct;

// A last axis that is longer is looked at as a whole.
static constexpr int64_t kMaxChannels = 1 << 16;
// Of a sum whose terms are looked at one by one; a splat may have any number.
static constexpr int64_t kMaxTerms = 1 << 26;
// A value with more levels is not taken apart into single ones.
static constexpr int64_t kMaxLevels = 1 << 16;

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

static constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
static constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

static int64_t saturate(__int128 value) {
  return value < kLowest ? kLowest : value > kHighest ? kHighest : value;
}
static int64_t addSaturating(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (llvm::AddOverflow(a, b, sum))
    return a < 0 ? kLowest : kHighest;
  return sum;
}
static int64_t multiplySaturating(int64_t a, int64_t b) {
  return saturate(__int128(a) * b);
}

/// For a function that is monotone in each operand, whatever the other is.
template <typename Function>
static Interval atCorners(Interval a, Interval b, Function function) {
  std::array<int64_t, 4> values = {
      function(a.low, b.low), function(a.low, b.high), function(a.high, b.low),
      function(a.high, b.high)};
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high};
}

std::optional<Interval> Interval::ofType(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  if (!integer || !integer.isSignless() || integer.getWidth() > 48)
    return std::nullopt;
  if (integer.getWidth() == 1)
    return Interval{0, 1};
  int64_t half = int64_t(1) << (integer.getWidth() - 1);
  return Interval{-half, half - 1};
}

Interval mct::unite(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval mct::intersect(Interval a, Interval b) {
  Interval both = {std::max(a.low, b.low), std::min(a.high, b.high)};
  return both.low <= both.high ? both : a;
}

Interval mct::add(Interval a, Interval b) {
  return {addSaturating(a.low, b.low), addSaturating(a.high, b.high)};
}

Interval mct::subtract(Interval a, Interval b) {
  return {saturate(__int128(a.low) - b.high),
          saturate(__int128(a.high) - b.low)};
}

Interval mct::multiply(Interval a, Interval b, unsigned shift) {
  // Most products are those of weights.
  if (shift == 0 && b.low == b.high)
    return b.low >= 0 ? Interval{multiplySaturating(a.low, b.low),
                                 multiplySaturating(a.high, b.low)}
                      : Interval{multiplySaturating(a.high, b.low),
                                 multiplySaturating(a.low, b.low)};
  __int128 half = shift == 0 ? 0 : __int128(1) << (shift - 1);
  return atCorners(a, b, [&](int64_t x, int64_t y) {
    return saturate((__int128(x) * y + half) >> shift);
  });
}

Interval mct::divide(Interval a, Interval b) {
  auto quotient = [](int64_t x, int64_t y) {
    return saturate(__int128(x) / y);
  };
  std::optional<Interval> result;
  if (b.low < 0)
    result = atCorners(a, {b.low, std::min<int64_t>(b.high, -1)}, quotient);
  if (b.high > 0) {
    Interval positive =
        atCorners(a, {std::max<int64_t>(b.low, 1), b.high}, quotient);
    result = result ? unite(*result, positive) : positive;
  }
  return result.value_or(Interval());
}

Interval mct::clamp(Interval a, Interval limits) {
  return {std::clamp(a.low, limits.low, limits.high),
          std::clamp(a.high, limits.low, limits.high)};
}

Interval mct::absolute(Interval a) {
  int64_t low = saturate(-__int128(a.low)), high = a.high;
  if (a.low >= 0)
    return a;
  if (a.high <= 0)
    return {-a.high, low};
  return {0, std::max(low, high)};
}

Interval mct::shiftRight(Interval a, Interval amount, bool round) {
  return atCorners(a, amount, [&](int64_t value, int64_t by) {
    __int128 half = round && by > 0 ? __int128(1) << (by - 1) : 0;
    return int64_t((value + half) >> by);
  });
}

Interval mct::shiftLeft(Interval a, Interval amount) {
  return atCorners(a, amount, [](int64_t value, int64_t by) {
    return multiplySaturating(value, int64_t(1) << by);
  });
}

Interval mct::countLeadingZeros(Interval a) {
  auto count = [](int64_t value) {
    return int64_t(llvm::countl_zero(uint32_t(value)));
  };
  // Negative values have none.
  if (a.high < 0)
    return Interval::point(0);
  int64_t most = count(std::max<int64_t>(a.low, 0));
  return {a.low < 0 ? 0 : count(a.high), most};
}

int64_t RescaleFactor::operator()(int64_t value) const {
  __int128 half = __int128(1) << (shift - 1);
  if (doubleRound && shift > 31)
    half += value >= 0 ? 1 << 30 : -(1 << 30);
  return saturate((__int128(value) * multiplier + half) >> shift);
}

Interval mct::lookUp(ArrayRef<int64_t> table, Interval index) {
  index = table.size() == 256 ? clamp(index, {-128, 127})
                              : clamp(index, {-32768, 32767});
  std::optional<Interval> result;
  auto extend = [&](int64_t value) {
    result = result ? unite(*result, Interval::point(value))
                    : Interval::point(value);
  };
  if (table.size() == 256) {
    for (int64_t i = index.low; i <= index.high; ++i)
      extend(table[i + 128]);
    return *result;
  }
  // Linear between the multiples of 128.
  auto interpolate = [&](int64_t value) {
    int64_t entry = (value + 32768) >> 7, fraction = value & 127;
    int64_t base = table[entry], next = table[entry + 1];
    extend(base * 128 + (next - base) * fraction);
  };
  interpolate(index.low);
  interpolate(index.high);
  for (int64_t i = llvm::alignTo<128>(uint64_t(index.low + 32768)) - 32768;
       i <= index.high; i += 128)
    interpolate(i);
  return *result;
}

//===----------------------------------------------------------------------===//
// Ranges of a function
//===----------------------------------------------------------------------===//

namespace {
/// What is known of the elements of a tensor.
struct Knowledge {
  /// One for all, or one for each index of the last axis.
  std::vector<Interval> channels;
  /// Each element is computed from one element of `root` alone, whose range is
  /// in pieces: if that is in piece i, this is in `pieces[i]`. Null: not known.
  Value root;
  std::vector<Interval> pieces;
  /// In every row along `axis` there is an element in `witness`: the one where
  /// `source` has its greatest. Null: not known.
  Value source;
  int64_t axis = 0;
  Interval witness;

  Interval all() const {
    Interval result = channels.front();
    for (Interval channel : ArrayRef(channels).drop_front())
      result = unite(result, channel);
    return result;
  }
};
} // namespace

static int64_t lastSize(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 ? type.getShape().back() : 1;
}

namespace mct {
/// Goes through a function once.
class RangePropagation {
public:
  RangePropagation(IntegerRanges &result) : result(result) {}

  void run(func::FuncOp function);

private:
  /// Of an operand; none for what is no tensor of integers.
  Knowledge *know(Value value);
  /// Nothing but the type is known.
  Knowledge fromType(Value value);
  /// All elements of a constant; those of a splat once for each.
  std::optional<std::vector<int64_t>> readIntegers(Value value);
  /// The stored elements of a constant, one for a splat; false: it is none.
  bool visitElements(Value value,
                     llvm::function_ref<void(int64_t, int64_t)> visitor,
                     bool &isSplat);
  std::optional<int64_t> readScalar(Value value);

  /// The range of index `channel`, for tensors that have one or all.
  static Interval channelOf(const Knowledge &knowledge, int64_t channel) {
    return knowledge.channels.size() == 1 ? knowledge.channels.front()
                                          : knowledge.channels[channel];
  }
  /// Keeps the ranges of the channels where the last axis is the same.
  Knowledge moved(const Knowledge &from, bool keepsLast);
  Knowledge reduced(const Knowledge &from, Value input, int64_t axis);
  /// Element by element, the ranges of operand and result.
  template <typename Function> Knowledge map(Value input, Function function);
  template <typename Function>
  Knowledge combine(Value a, Value b, Function function);
  /// Values become functions of the elements of this one, level by level.
  void makeRoot(Value value);
  /// Those of leading zeros: they change slowly behind a power of two.
  void makeOctaves(Value value);
  /// The axis along which `maximum` has the greatest of `value`.
  std::optional<int64_t> axisOfMaximum(Value value, Value maximum);

  void report(RangeViolation::Kind kind, Operation *op, Interval found,
              Interval allowed, std::optional<int64_t> channel = {});
  /// Reports what the type does not hold, and limits it to that.
  Knowledge limit(Operation *op, Knowledge raw, Interval allowed,
                  RangeViolation::Kind kind);

  /// What is known of the result; none: its type.
  std::optional<Knowledge> visit(Operation *op);
  std::optional<Knowledge> visitRescale(tosa::RescaleOp op);
  std::optional<Knowledge> visitSub(tosa::SubOp op);
  std::optional<Knowledge> visitMul(tosa::MulOp op);
  std::optional<Knowledge> visitShift(Operation *op, bool left, bool round);
  std::optional<Knowledge> visitTable(tosa::TableOp op);
  std::optional<Knowledge> visitReduceSum(tosa::ReduceSumOp op);
  std::optional<Knowledge> visitAvgPool(tosa::AvgPool2dOp op);
  std::optional<Knowledge> visitConcat(tosa::ConcatOp op);
  std::optional<Knowledge> visitResize(tosa::ResizeOp op);
  std::optional<Knowledge> visitMatMul(tosa::MatMulOp op);
  std::optional<Knowledge> visitNegate(tosa::NegateOp op);
  std::optional<Knowledge> visitFloatCast(tosa::CastOp op);
  template <typename ConvOp>
  std::optional<Knowledge> visitConv(ConvOp op, bool isPadded);

  /// Sums of products with constants, for one output channel after another.
  struct Sums {
    std::vector<Interval> values;
    /// With any of the terms left out.
    std::vector<Interval> partial;
    std::vector<int64_t> magnitudes;

    explicit Sums(int64_t size)
        : values(size), partial(size), magnitudes(size) {}
    void add(int64_t channel, Interval term) {
      values[channel] = mct::add(values[channel], term);
      partial[channel] =
          mct::add(partial[channel], {std::min<int64_t>(term.low, 0),
                                      std::max<int64_t>(term.high, 0)});
      magnitudes[channel] =
          addSaturating(magnitudes[channel],
                        std::max(saturate(-__int128(term.low)), term.high));
    }
  };
  Knowledge finish(Operation *op, Sums sums, bool mayLeaveOut);

  IntegerRanges &result;
  ConstantEvaluator constants;
  llvm::DenseMap<Value, Knowledge> known;
  /// Readers of values that are not visited yet.
  llvm::DenseMap<Value, size_t> unread;
};
} // namespace mct

Knowledge RangePropagation::fromType(Value value) {
  Knowledge knowledge;
  knowledge.channels = {*Interval::ofType(value.getType())};
  return knowledge;
}

bool RangePropagation::visitElements(
    Value value, llvm::function_ref<void(int64_t, int64_t)> visitor,
    bool &isSplat) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !Interval::ofType(type))
    return false;
  if (std::optional<ConstantTensor> tensor = constants.evaluate(value)) {
    isSplat = tensor->isSplat();
    if (tensor->getElementSize() == 1) {
      for (auto [i, byte] : llvm::enumerate(tensor->getBytes()))
        visitor(i, type.getElementType().isInteger(1)
                       ? byte != 0
                       : static_cast<signed char>(byte));
      return true;
    }
    for (auto [i, element] : llvm::enumerate(tensor->decode<int64_t>()))
      visitor(i, element);
    return true;
  }
  // i48 is no type that the evaluator computes with.
  DenseIntElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return false;
  isSplat = constant.isSplat();
  if (isSplat)
    visitor(0, constant.getSplatValue<APInt>().getSExtValue());
  else
    for (auto [i, element] : llvm::enumerate(constant.getValues<APInt>()))
      visitor(i, element.getSExtValue());
  return true;
}

std::optional<std::vector<int64_t>>
RangePropagation::readIntegers(Value value) {
  std::vector<int64_t> values;
  bool isSplat = false;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() > kMaxTerms)
    return std::nullopt;
  if (!visitElements(
          value, [&](int64_t, int64_t element) { values.push_back(element); },
          isSplat))
    return std::nullopt;
  if (isSplat)
    values.resize(type.getNumElements(), values.front());
  return values;
}

std::optional<int64_t> RangePropagation::readScalar(Value value) {
  std::optional<std::vector<int64_t>> values = readIntegers(value);
  if (!values || values->empty())
    return std::nullopt;
  return values->front();
}

Knowledge *RangePropagation::know(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return &found->second;
  if (!isa<RankedTensorType>(value.getType()) ||
      !Interval::ofType(value.getType()))
    return nullptr;
  Knowledge knowledge = fromType(value);
  Operation *op = value.getDefiningOp();
  if (op && op->hasTrait<OpTrait::ConstantLike>()) {
    int64_t size = lastSize(value);
    bool apart = size <= kMaxChannels, isSplat = false;
    std::vector<Interval> channels;
    visitElements(
        value,
        [&](int64_t i, int64_t element) {
          size_t channel = apart ? i % size : 0;
          if (channel == channels.size())
            channels.push_back(Interval::point(element));
          else
            channels[channel] =
                unite(channels[channel], Interval::point(element));
        },
        isSplat);
    if (llvm::all_equal(channels))
      channels.resize(std::min<size_t>(channels.size(), 1));
    if (!channels.empty())
      knowledge.channels = std::move(channels);
  }
  return &known.try_emplace(value, std::move(knowledge)).first->second;
}

Knowledge RangePropagation::moved(const Knowledge &from, bool keepsLast) {
  Knowledge to;
  to.channels = keepsLast ? from.channels : std::vector<Interval>{from.all()};
  return to;
}

Knowledge RangePropagation::reduced(const Knowledge &from, Value input,
                                    int64_t axis) {
  auto type = cast<RankedTensorType>(input.getType());
  return moved(from, axis + 1 < type.getRank());
}

template <typename Function>
Knowledge RangePropagation::map(Value input, Function function) {
  const Knowledge &from = *know(input);
  Knowledge to;
  for (Interval channel : from.channels)
    to.channels.push_back(function(channel));
  if (from.root) {
    to.root = from.root;
    for (Interval piece : from.pieces)
      to.pieces.push_back(function(piece));
  }
  if (from.source) {
    to.source = from.source;
    to.axis = from.axis;
    to.witness = function(from.witness);
  }
  return to;
}

template <typename Function>
Knowledge RangePropagation::combine(Value left, Value right,
                                    Function function) {
  const Knowledge &a = *know(left), &b = *know(right);
  Knowledge to;
  size_t size = std::max(a.channels.size(), b.channels.size());
  // Sizes that differ otherwise are a broadcast of one element.
  bool fits = llvm::all_of(ArrayRef<const Knowledge *>{&a, &b},
                           [&](const Knowledge *operand) {
                             return operand->channels.size() == 1 ||
                                    operand->channels.size() == size;
                           });
  if (fits)
    for (size_t i = 0; i != size; ++i)
      to.channels.push_back(function(channelOf(a, i), channelOf(b, i)));
  else
    to.channels = {function(a.all(), b.all())};
  bool sameRoot = a.root && a.root == b.root;
  if (a.root && (sameRoot || !b.root)) {
    to.root = a.root;
    for (size_t i = 0; i != a.pieces.size(); ++i)
      to.pieces.push_back(
          function(a.pieces[i], sameRoot ? b.pieces[i] : b.all()));
  } else if (b.root && !a.root) {
    to.root = b.root;
    for (Interval piece : b.pieces)
      to.pieces.push_back(function(a.all(), piece));
  }
  // An operand that is one element for the row keeps the place of the other.
  auto isConstantAlong = [](Value operand, int64_t axis) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    return type && axis < type.getRank() && type.getDimSize(axis) == 1;
  };
  bool sameSource = a.source && a.source == b.source;
  if (a.source && (sameSource || isConstantAlong(right, a.axis))) {
    to.source = a.source;
    to.axis = a.axis;
    to.witness = function(a.witness, sameSource ? b.witness : b.all());
  } else if (b.source && isConstantAlong(left, b.axis)) {
    to.source = b.source;
    to.axis = b.axis;
    to.witness = function(a.all(), b.witness);
  }
  return to;
}

/// What the pieces know holds for all channels, and the other way round.
static void tighten(Knowledge &knowledge) {
  if (knowledge.root) {
    Interval all = knowledge.pieces.front();
    for (Interval piece : knowledge.pieces)
      all = unite(all, piece);
    for (Interval &channel : knowledge.channels)
      channel = intersect(channel, all);
  }
  Interval all = knowledge.all();
  for (Interval &piece : knowledge.pieces)
    piece = clamp(piece, all);
  knowledge.witness = clamp(knowledge.witness, all);
}

void RangePropagation::makeRoot(Value value) {
  Knowledge &knowledge = *know(value);
  Interval all = knowledge.all();
  if (knowledge.root || all.high - all.low >= kMaxLevels)
    return;
  knowledge.root = value;
  for (int64_t level = all.low; level <= all.high; ++level)
    knowledge.pieces.push_back(Interval::point(level));
}

void RangePropagation::makeOctaves(Value value) {
  Knowledge &knowledge = *know(value);
  Interval all = knowledge.all();
  if (knowledge.root || all.high > std::numeric_limits<int32_t>::max())
    return;
  knowledge.root = value;
  int64_t low = all.low;
  if (low <= 0) {
    knowledge.pieces.push_back({low, std::min<int64_t>(all.high, 0)});
    low = 1;
  }
  // Pieces grow with the distance from the power of two below.
  while (low <= all.high) {
    int64_t power = int64_t(llvm::bit_floor(uint64_t(low)));
    int64_t end = std::min({low + std::max<int64_t>((low - power) / 32, 1),
                            2 * power, all.high + 1});
    knowledge.pieces.push_back({low, end - 1});
    low = end;
  }
}

std::optional<int64_t> RangePropagation::axisOfMaximum(Value value,
                                                       Value maximum) {
  while (true) {
    if (auto reduce = maximum.getDefiningOp<tosa::ReduceMaxOp>())
      if (reduce.getInput() == value)
        return reduce.getAxis();
    // The same rescale of both, which keeps their order.
    auto a = value.getDefiningOp<tosa::RescaleOp>();
    auto b = maximum.getDefiningOp<tosa::RescaleOp>();
    if (!a || !b || a.getPerChannel() || a.getInputUnsigned() ||
        a.getOutputUnsigned() ||
        a->getDiscardableAttrDictionary() !=
            b->getDiscardableAttrDictionary() ||
        a.getProperties() != b.getProperties())
      return std::nullopt;
    for (unsigned i = 1; i != a->getNumOperands(); ++i) {
      std::optional<int64_t> left = readScalar(a->getOperand(i)),
                             right = readScalar(b->getOperand(i));
      if (!left || left != right)
        return std::nullopt;
    }
    if (*readScalar(a.getMultiplier()) < 0)
      return std::nullopt;
    value = a.getInput();
    maximum = b.getInput();
  }
}

void RangePropagation::report(RangeViolation::Kind kind, Operation *op,
                              Interval found, Interval allowed,
                              std::optional<int64_t> channel) {
  auto excess = [](const RangeViolation &violation) {
    return std::max(
        saturate(__int128(violation.allowed.low) - violation.found.low),
        saturate(__int128(violation.found.high) - violation.allowed.high));
  };
  RangeViolation violation{kind, op, found, allowed, channel};
  if (!result.violations.empty()) {
    RangeViolation &last = result.violations.back();
    if (last.op == op && last.kind == kind) {
      if (excess(violation) > excess(last))
        last = violation;
      return;
    }
  }
  result.violations.push_back(violation);
}

Knowledge RangePropagation::limit(Operation *op, Knowledge raw,
                                  Interval allowed, RangeViolation::Kind kind) {
  tighten(raw);
  bool fits = true;
  for (auto [i, channel] : llvm::enumerate(raw.channels))
    if (!allowed.contains(channel)) {
      report(kind, op, channel, allowed,
             raw.channels.size() == 1 ? std::nullopt
                                      : std::optional<int64_t>(i));
      fits = false;
    }
  return fits ? std::move(raw) : fromType(op->getResult(0));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::optional<Knowledge> RangePropagation::visitRescale(tosa::RescaleOp op) {
  Value input = op.getInput();
  std::optional<std::vector<int64_t>> multipliers =
      readIntegers(op.getMultiplier());
  std::optional<std::vector<int64_t>> shifts = readIntegers(op.getShift());
  std::optional<int64_t> inputZero = readScalar(op.getInputZp()),
                         outputZero = readScalar(op.getOutputZp());
  Interval type = *Interval::ofType(op.getInput().getType()),
           resultType = *Interval::ofType(op.getType());
  if (!multipliers || !shifts || !inputZero || !outputZero ||
      multipliers->empty() || multipliers->size() != shifts->size())
    return std::nullopt;
  auto isLegal = [](int64_t shift) { return shift >= 2 && shift <= 62; };
  if (!llvm::all_of(*shifts, isLegal) ||
      llvm::any_of(*multipliers, [](int64_t value) { return value < 0; }))
    return std::nullopt;

  // Unsigned values are stored in types that read them as signed.
  int64_t modulus = type.high - type.low + 1,
          resultModulus = resultType.high - resultType.low + 1;
  auto read = [&](Interval stored) -> Interval {
    if (!op.getInputUnsigned() || stored.low >= 0)
      return stored;
    if (stored.high < 0)
      return {stored.low + modulus, stored.high + modulus};
    return {0, modulus - 1};
  };
  auto store = [&](Interval value) -> Interval {
    if (!op.getOutputUnsigned())
      return clamp(value, resultType);
    value = clamp(value, {0, resultModulus - 1});
    if (value.high <= resultType.high)
      return value;
    if (value.low > resultType.high)
      return {value.low - resultModulus, value.high - resultModulus};
    return resultType;
  };
  int64_t zero = op.getInputUnsigned() && *inputZero < 0 ? *inputZero + modulus
                                                         : *inputZero;
  int64_t resultZero = op.getOutputUnsigned() && *outputZero < 0
                           ? *outputZero + resultModulus
                           : *outputZero;
  bool doubleRound = op.getRoundingMode() == tosa::RoundingMode::DOUBLE_ROUND;
  const Interval word =
      *Interval::ofType(IntegerType::get(op.getContext(), 32));
  bool isDefined = true;
  auto scale = [&](Interval stored, int64_t channel,
                   bool judge = false) -> Interval {
    RescaleFactor factor{(*multipliers)[channel], (*shifts)[channel],
                         doubleRound};
    Interval value = subtract(read(stored), Interval::point(zero));
    std::optional<int64_t> where;
    if (op.getPerChannel() && multipliers->size() > 1)
      where = channel;
    if (judge && op.getScale32() && !factor.getDomain().contains(value)) {
      report(RangeViolation::Kind::RescaleInput, op, value, factor.getDomain(),
             where);
      isDefined = false;
    }
    Interval scaled = factor(value);
    if (judge && !op.getScale32() && !word.contains(scaled)) {
      report(RangeViolation::Kind::Result, op, scaled, word, where);
      isDefined = false;
    }
    return store(mct::add(scaled, Interval::point(resultZero)));
  };

  const Knowledge &from = *know(input);
  bool perChannel = op.getPerChannel() && multipliers->size() > 1;
  if (!perChannel) {
    for (Interval channel : from.channels)
      scale(channel, 0, /*judge=*/true);
    if (!isDefined)
      return std::nullopt;
    return map(input, [&](Interval values) { return scale(values, 0); });
  }
  if (from.channels.size() != 1 && from.channels.size() != multipliers->size())
    return std::nullopt;
  Knowledge to;
  for (size_t i = 0; i != multipliers->size(); ++i)
    to.channels.push_back(scale(channelOf(from, i), i, /*judge=*/true));
  if (!isDefined)
    return std::nullopt;
  return to;
}

std::optional<Knowledge> RangePropagation::visitSub(tosa::SubOp op) {
  Knowledge raw = combine(op.getInput1(), op.getInput2(), subtract);
  if (std::optional<int64_t> axis =
          axisOfMaximum(op.getInput1(), op.getInput2())) {
    for (Interval &channel : raw.channels)
      channel = {std::min<int64_t>(channel.low, 0),
                 std::min<int64_t>(channel.high, 0)};
    raw.root = nullptr;
    raw.pieces.clear();
    raw.source = op.getResult();
    raw.axis = *axis;
    raw.witness = Interval::point(0);
  }
  return limit(op, std::move(raw), *Interval::ofType(op.getType()),
               RangeViolation::Kind::Result);
}

std::optional<Knowledge> RangePropagation::visitMul(tosa::MulOp op) {
  std::optional<int64_t> shift = readScalar(op.getShift());
  if (!shift || *shift < 0 || *shift > 62)
    return std::nullopt;
  Knowledge raw =
      combine(op.getInput1(), op.getInput2(), [&](Interval a, Interval b) {
        return multiply(a, b, unsigned(*shift));
      });
  return limit(op, std::move(raw), *Interval::ofType(op.getType()),
               RangeViolation::Kind::Result);
}

std::optional<Knowledge> RangePropagation::visitShift(Operation *op, bool left,
                                                      bool round) {
  Value value = op->getOperand(0), amount = op->getOperand(1);
  Interval type = *Interval::ofType(value.getType()), by = know(amount)->all(),
           allowed = {0,
                      getElementTypeOrSelf(value).getIntOrFloatBitWidth() - 1};
  if (!allowed.contains(by)) {
    report(RangeViolation::Kind::ShiftAmount, op, by, allowed);
    return std::nullopt;
  }
  // Pieces of the amount may be wider than their union.
  Knowledge raw = combine(value, amount, [&](Interval a, Interval b) {
    b = clamp(b, allowed);
    return left ? shiftLeft(a, b) : shiftRight(a, b, round);
  });
  tighten(raw);
  // What is shifted out is lost: any value may be left.
  for (Interval channel : raw.channels)
    if (!type.contains(channel))
      return std::nullopt;
  return raw;
}

std::optional<Knowledge> RangePropagation::visitTable(tosa::TableOp op) {
  Value input = op.getInput1();
  std::optional<std::vector<int64_t>> table = readIntegers(op.getTable());
  bool isWide = getElementTypeOrSelf(input).isInteger(16);
  if (!table || table->size() != (isWide ? 513u : 256u) ||
      (!isWide && !getElementTypeOrSelf(input).isInteger(8)))
    return std::nullopt;
  makeRoot(input);
  Knowledge to =
      map(input, [&](Interval index) { return lookUp(*table, index); });
  tighten(to);
  return to;
}

std::optional<Knowledge>
RangePropagation::visitReduceSum(tosa::ReduceSumOp op) {
  const Knowledge &from = *know(op.getInput());
  auto type = cast<RankedTensorType>(op.getInput().getType());
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= type.getRank() || type.isDynamicDim(axis))
    return std::nullopt;
  int64_t size = type.getDimSize(axis);
  Knowledge to;
  if (axis + 1 == type.getRank() && int64_t(from.channels.size()) == size) {
    Interval sum;
    for (Interval channel : from.channels)
      sum = mct::add(sum, channel);
    to.channels = {sum};
  } else {
    to = reduced(from, op.getInput(), axis);
    for (Interval &channel : to.channels)
      channel = multiply(channel, Interval::point(size));
  }
  if (from.source && from.axis == axis && size > 0)
    for (Interval &channel : to.channels) {
      Interval others = multiply(from.all(), Interval::point(size - 1));
      channel = intersect(channel, mct::add(others, from.witness));
    }
  std::vector<int64_t> magnitudes;
  for (Interval channel : reduced(from, op.getInput(), axis).channels)
    magnitudes.push_back(multiplySaturating(absolute(channel).high, size));
  result.accumulators.push_back({op, std::move(magnitudes)});
  return limit(op, std::move(to), *Interval::ofType(op.getType()),
               RangeViolation::Kind::Result);
}

std::optional<Knowledge> RangePropagation::visitAvgPool(tosa::AvgPool2dOp op) {
  std::optional<int64_t> inputZero = readScalar(op.getInputZp()),
                         outputZero = readScalar(op.getOutputZp());
  if (!inputZero || !outputZero || !Interval::ofType(op.getAccType()))
    return std::nullopt;
  int64_t count = multiplySaturating(op.getKernel()[0], op.getKernel()[1]);
  Knowledge to = moved(*know(op.getInput()), /*keepsLast=*/true);
  Interval type = *Interval::ofType(op.getType()),
           allowed = *Interval::ofType(op.getAccType());
  for (auto [i, channel] : llvm::enumerate(to.channels)) {
    Interval value = subtract(channel, Interval::point(*inputZero));
    Interval sum = multiply(value, Interval::point(count));
    if (!allowed.contains(sum)) {
      report(RangeViolation::Kind::Result, op, sum, allowed,
             to.channels.size() == 1 ? std::nullopt
                                     : std::optional<int64_t>(i));
      return std::nullopt;
    }
    channel = clamp(mct::add(value, Interval::point(*outputZero)), type);
  }
  return to;
}

std::optional<Knowledge> RangePropagation::visitConcat(tosa::ConcatOp op) {
  Knowledge to;
  auto type = cast<RankedTensorType>(op.getType());
  bool isLast = int64_t(op.getAxis()) + 1 == type.getRank() &&
                type.getShape().back() <= kMaxChannels;
  for (Value operand : op.getInput1()) {
    const Knowledge &from = *know(operand);
    int64_t size = lastSize(operand);
    if (isLast && !ShapedType::isDynamic(size)) {
      for (int64_t i = 0; i != size; ++i)
        to.channels.push_back(channelOf(from, i));
    } else if (to.channels.empty()) {
      to.channels = from.channels;
    } else if (to.channels.size() == from.channels.size()) {
      for (auto [i, channel] : llvm::enumerate(to.channels))
        channel = unite(channel, from.channels[i]);
    } else {
      to.channels = {unite(to.all(), from.all())};
    }
  }
  if (to.channels.empty())
    return std::nullopt;
  if (llvm::all_equal(to.channels))
    to.channels.resize(1);
  return to;
}

std::optional<Knowledge> RangePropagation::visitResize(tosa::ResizeOp op) {
  Knowledge to = moved(*know(op.getInput()), /*keepsLast=*/true);
  if (op.getMode() != tosa::ResizeMode::BILINEAR)
    return to;
  DenseIntElementsAttr scale;
  if (!matchPattern(op.getScale(), m_Constant(&scale)) ||
      scale.getNumElements() != 4)
    return std::nullopt;
  SmallVector<APInt> values(scale.getValues<APInt>());
  Interval factor = Interval::point(
      multiplySaturating(values[0].getSExtValue(), values[2].getSExtValue()));
  for (Interval &channel : to.channels)
    channel = multiply(channel, factor);
  return limit(op, std::move(to), *Interval::ofType(op.getType()),
               RangeViolation::Kind::Result);
}

std::optional<Knowledge> RangePropagation::visitNegate(tosa::NegateOp op) {
  std::optional<int64_t> inputZero = readScalar(op.getInput1Zp()),
                         outputZero = readScalar(op.getOutputZp());
  if (!inputZero || !outputZero)
    return std::nullopt;
  Interval type = *Interval::ofType(op.getType());
  bool isWide = getElementTypeOrSelf(op.getType()).isInteger(32);
  Knowledge raw = map(op.getInput1(), [&](Interval values) {
    Interval negated =
        subtract(Interval::point(*inputZero + *outputZero), values);
    return isWide ? negated : clamp(negated, type);
  });
  return limit(op, std::move(raw), type, RangeViolation::Kind::Result);
}

Knowledge RangePropagation::finish(Operation *op, Sums sums, bool mayLeaveOut) {
  result.accumulators.push_back({op, std::move(sums.magnitudes)});

  Interval type = *Interval::ofType(op->getResult(0).getType());
  Knowledge partial, to;
  to.channels = mayLeaveOut ? sums.partial : std::move(sums.values);
  partial.channels = std::move(sums.partial);
  size_t before = result.violations.size();
  limit(op, std::move(partial), type, RangeViolation::Kind::Result);
  return before == result.violations.size() ? std::move(to)
                                            : fromType(op->getResult(0));
}

template <typename ConvOp>
std::optional<Knowledge> RangePropagation::visitConv(ConvOp op, bool isPadded) {
  auto weightType = dyn_cast<RankedTensorType>(op.getWeight().getType());
  std::optional<int64_t> inputZero = readScalar(op.getInputZp()),
                         weightZero = readScalar(op.getWeightZp());
  if (!weightType || !weightType.hasStaticShape() || !inputZero ||
      !weightZero || weightType.getNumElements() == 0 ||
      weightType.getNumElements() > kMaxTerms)
    return std::nullopt;
  constexpr bool isDepthwise = std::is_same_v<ConvOp, tosa::DepthwiseConv2DOp>;
  ArrayRef<int64_t> shape = weightType.getShape();
  int64_t inputs = isDepthwise ? shape[2] : shape.back();
  int64_t outputs = isDepthwise ? shape[2] * shape[3] : shape.front();

  const Knowledge &input = *know(op.getInput()), &bias = *know(op.getBias());
  if ((input.channels.size() != 1 &&
       int64_t(input.channels.size()) != inputs) ||
      (bias.channels.size() != 1 && int64_t(bias.channels.size()) != outputs))
    return std::nullopt;
  std::vector<Interval> values;
  for (Interval channel : input.channels)
    values.push_back(subtract(channel, Interval::point(*inputZero)));
  auto inputOf = [&](int64_t channel) {
    return values.size() == 1 ? values.front() : values[channel];
  };

  Sums sums(outputs);
  int64_t kernelSize = weightType.getNumElements() / outputs;
  auto addTerm = [&](int64_t index, Interval weight) {
    int64_t in = index % inputs, out = index / kernelSize;
    if (isDepthwise) {
      out = index % outputs;
      in = out / shape[3];
    }
    sums.add(out, multiply(inputOf(in),
                           subtract(weight, Interval::point(*weightZero))));
  };
  bool isSplat = false;
  Interval all = know(op.getWeight())->all();
  if (!visitElements(
          op.getWeight(),
          [&](int64_t index, int64_t weight) {
            addTerm(index, Interval::point(weight));
          },
          isSplat))
    for (int64_t i = 0, end = weightType.getNumElements(); i != end; ++i)
      addTerm(i, all);
  else if (isSplat)
    for (int64_t i = 1, end = weightType.getNumElements(); i != end; ++i)
      addTerm(i, all);
  for (int64_t i = 0; i != outputs; ++i) {
    Interval offset = channelOf(bias, i);
    sums.values[i] = mct::add(sums.values[i], offset);
    sums.partial[i] = mct::add(sums.partial[i], offset);
    sums.magnitudes[i] =
        addSaturating(sums.magnitudes[i], absolute(offset).high);
  }
  return finish(op, std::move(sums), isPadded);
}

std::optional<Knowledge> RangePropagation::visitMatMul(tosa::MatMulOp op) {
  std::optional<int64_t> aZero = readScalar(op.getAZp()),
                         bZero = readScalar(op.getBZp());
  int64_t depth = lastSize(op.getA());
  if (!aZero || !bZero || ShapedType::isDynamic(depth))
    return std::nullopt;
  const Knowledge &a = *know(op.getA()), &b = *know(op.getB());
  if ((a.channels.size() != 1 && int64_t(a.channels.size()) != depth) ||
      depth > kMaxTerms / int64_t(b.channels.size()))
    return std::nullopt;
  // What all terms of a column of b can be; along its rows it is one range.
  Sums sums(b.channels.size());
  for (auto [i, column] : llvm::enumerate(b.channels)) {
    Interval factor = subtract(column, Interval::point(*bZero));
    for (int64_t row = 0; row != depth; ++row)
      sums.add(i, multiply(subtract(channelOf(a, row), Interval::point(*aZero)),
                           factor));
  }
  return finish(op, std::move(sums), /*mayLeaveOut=*/false);
}

/// Of the conversion of floating-point numbers: the limits of a clamp.
std::optional<Knowledge> RangePropagation::visitFloatCast(tosa::CastOp op) {
  auto limits = op.getInput().getDefiningOp<tosa::ClampOp>();
  if (!limits)
    return std::nullopt;
  auto low = dyn_cast<FloatAttr>(limits.getMinVal()),
       high = dyn_cast<FloatAttr>(limits.getMaxVal());
  if (!low || !high)
    return std::nullopt;
  Interval type = *Interval::ofType(op.getType());
  auto round = [&](const FloatAttr &limit) {
    // What the type does not hold saturates.
    return int64_t(std::clamp(std::nearbyint(limit.getValueAsDouble()),
                              double(type.low), double(type.high)));
  };
  if (!(low.getValueAsDouble() <= high.getValueAsDouble()))
    return std::nullopt;
  Knowledge to;
  to.channels = {{round(low), round(high)}};
  // No number becomes zero.
  if (limits.getNanMode() != tosa::NanPropagationMode::IGNORE)
    to.channels.front() = unite(to.channels.front(), Interval::point(0));
  return to;
}

std::optional<Knowledge> RangePropagation::visit(Operation *op) {
  if (auto cast = dyn_cast<tosa::CastOp>(op))
    if (isa<FloatType>(getElementTypeOrSelf(cast.getInput().getType())))
      return visitFloatCast(cast);
  for (Value operand : op->getOperands())
    if (isa<ShapedType>(operand.getType()) && !know(operand))
      return std::nullopt;
  auto type = *Interval::ofType(op->getResult(0).getType());
  auto limited = [&](Knowledge raw) {
    return limit(op, std::move(raw), type, RangeViolation::Kind::Result);
  };
  using Result = std::optional<Knowledge>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](tosa::RescaleOp rescale) { return visitRescale(rescale); })
      .Case([&](tosa::Conv2DOp conv) {
        return visitConv(conv, llvm::any_of(conv.getPad(), [](int64_t size) {
                           return size != 0;
                         }));
      })
      .Case([&](tosa::Conv3DOp conv) {
        return visitConv(conv, llvm::any_of(conv.getPad(), [](int64_t size) {
                           return size != 0;
                         }));
      })
      .Case([&](tosa::DepthwiseConv2DOp conv) {
        return visitConv(conv, llvm::any_of(conv.getPad(), [](int64_t size) {
                           return size != 0;
                         }));
      })
      .Case([&](tosa::TransposeConv2DOp conv) {
        // Most positions meet a part of the kernel.
        return visitConv(conv, /*isPadded=*/true);
      })
      .Case([&](tosa::MatMulOp matmul) { return visitMatMul(matmul); })
      .Case([&](tosa::AvgPool2dOp pool) { return visitAvgPool(pool); })
      .Case([&](tosa::TableOp table) { return visitTable(table); })
      .Case([&](tosa::ReduceSumOp sum) { return visitReduceSum(sum); })
      .Case([&](tosa::ConcatOp concat) { return visitConcat(concat); })
      .Case([&](tosa::ResizeOp resize) { return visitResize(resize); })
      .Case([&](tosa::NegateOp negate) { return visitNegate(negate); })
      .Case([&](tosa::SubOp sub) { return visitSub(sub); })
      .Case([&](tosa::MulOp mul) { return visitMul(mul); })
      .Case([&](tosa::AddOp) -> Result {
        return limited(combine(op->getOperand(0), op->getOperand(1), mct::add));
      })
      .Case([&](tosa::MaximumOp) -> Result {
        return combine(op->getOperand(0), op->getOperand(1),
                       [](Interval a, Interval b) -> Interval {
                         return {std::max(a.low, b.low),
                                 std::max(a.high, b.high)};
                       });
      })
      .Case([&](tosa::MinimumOp) -> Result {
        return combine(op->getOperand(0), op->getOperand(1),
                       [](Interval a, Interval b) -> Interval {
                         return {std::min(a.low, b.low),
                                 std::min(a.high, b.high)};
                       });
      })
      .Case([&](tosa::IntDivOp) -> Result {
        Interval divisor = know(op->getOperand(1))->all();
        if (divisor.contains(0)) {
          report(RangeViolation::Kind::Divisor, op, divisor, {1, type.high});
          return std::nullopt;
        }
        return limited(combine(op->getOperand(0), op->getOperand(1), divide));
      })
      .Case([&](tosa::ArithmeticRightShiftOp shift) {
        return visitShift(op, /*left=*/false, shift.getRound());
      })
      .Case([&](tosa::LogicalLeftShiftOp) {
        return visitShift(op, /*left=*/true, /*round=*/false);
      })
      .Case([&](tosa::LogicalRightShiftOp) -> Result {
        // The same as the arithmetic one where there is no sign.
        Result shifted = visitShift(op, /*left=*/false, /*round=*/false);
        if (shifted && know(op->getOperand(0))->all().low < 0)
          return std::nullopt;
        return shifted;
      })
      .Case([&](tosa::ClzOp) -> Result {
        if (!getElementTypeOrSelf(op->getResult(0)).isInteger(32))
          return std::nullopt;
        makeOctaves(op->getOperand(0));
        Knowledge to = map(op->getOperand(0), countLeadingZeros);
        tighten(to);
        return to;
      })
      .Case([&](tosa::AbsOp) -> Result {
        return limited(map(op->getOperand(0), absolute));
      })
      .Case([&](tosa::ClampOp clampOp) -> Result {
        auto low = dyn_cast<IntegerAttr>(clampOp.getMinVal()),
             high = dyn_cast<IntegerAttr>(clampOp.getMaxVal());
        if (!low || !high || low.getValue().sgt(high.getValue()))
          return std::nullopt;
        Interval limits = {low.getValue().getSExtValue(),
                           high.getValue().getSExtValue()};
        return map(op->getOperand(0),
                   [&](Interval values) { return clamp(values, limits); });
      })
      .Case([&](tosa::CastOp) -> Result {
        return limit(op, map(op->getOperand(0), [](Interval v) { return v; }),
                     type, RangeViolation::Kind::Cast);
      })
      .Case([&](tosa::BitwiseNotOp) -> Result {
        return map(op->getOperand(0), [](Interval values) -> Interval {
          return {~values.high, ~values.low};
        });
      })
      .Case([&](tosa::BitwiseAndOp) -> Result {
        return combine(op->getOperand(0), op->getOperand(1),
                       [&](Interval a, Interval b) -> Interval {
                         if (a.low >= 0 && b.low >= 0)
                           return {0, std::min(a.high, b.high)};
                         if (a.low >= 0 || b.low >= 0)
                           return {0, a.low >= 0 ? a.high : b.high};
                         return type;
                       });
      })
      .Case<tosa::BitwiseOrOp, tosa::BitwiseXorOp>([&](auto) -> Result {
        return combine(op->getOperand(0), op->getOperand(1),
                       [&](Interval a, Interval b) -> Interval {
                         if (a.low < 0 || b.low < 0)
                           return type;
                         uint64_t both = uint64_t(a.high) | uint64_t(b.high);
                         return {0, int64_t(llvm::bit_ceil(both + 1) - 1)};
                       });
      })
      .Case([&](tosa::SelectOp) -> Result {
        Knowledge to;
        const Knowledge &a = *know(op->getOperand(1)),
                        &b = *know(op->getOperand(2));
        if (a.channels.size() == b.channels.size())
          for (size_t i = 0; i != a.channels.size(); ++i)
            to.channels.push_back(unite(a.channels[i], b.channels[i]));
        else
          to.channels = {unite(a.all(), b.all())};
        return to;
      })
      .Case<tosa::MaxPool2dOp>([&](auto) -> Result {
        return moved(*know(op->getOperand(0)), /*keepsLast=*/true);
      })
      .Case<tosa::IdentityOp>([&](auto) -> Result {
        return map(op->getOperand(0), [](Interval values) { return values; });
      })
      .Case<tosa::ReduceMaxOp, tosa::ReduceMinOp>([&](auto reduce) -> Result {
        return reduced(*know(reduce.getInput()), reduce.getInput(),
                       reduce.getAxis());
      })
      .Case([&](tosa::ArgMaxOp argMax) -> Result {
        auto from = cast<RankedTensorType>(argMax.getInput().getType());
        int64_t axis = argMax.getAxis();
        if (axis < 0 || axis >= from.getRank() || from.isDynamicDim(axis))
          return std::nullopt;
        Knowledge to;
        to.channels = {{0, std::max<int64_t>(from.getDimSize(axis) - 1, 0)}};
        return to;
      })
      .Case([&](tosa::ReshapeOp reshape) -> Result {
        return moved(*know(reshape.getInput1()),
                     lastSize(reshape.getInput1()) ==
                         lastSize(reshape.getResult()));
      })
      .Case([&](tosa::TransposeOp transpose) -> Result {
        ArrayRef<int32_t> axes = transpose.getPerms();
        return moved(*know(transpose.getInput1()),
                     axes.empty() || axes.back() + 1 == int64_t(axes.size()));
      })
      .Case([&](tosa::ReverseOp reverse) -> Result {
        auto from = cast<RankedTensorType>(reverse.getInput1().getType());
        return moved(*know(reverse.getInput1()),
                     int64_t(reverse.getAxis()) + 1 < from.getRank());
      })
      .Case<tosa::SliceOp, tosa::TileOp>([&](auto) -> Result {
        return moved(*know(op->getOperand(0)),
                     lastSize(op->getOperand(0)) == lastSize(op->getResult(0)));
      })
      .Case([&](tosa::PadOp pad) -> Result {
        Knowledge to =
            moved(*know(pad.getInput1()),
                  lastSize(pad.getInput1()) == lastSize(pad.getResult()));
        for (Interval &channel : to.channels)
          channel = unite(channel, know(pad.getPadConst())->all());
        return to;
      })
      .Case([&](tosa::GatherOp gather) -> Result {
        return moved(*know(gather.getValues()), /*keepsLast=*/true);
      })
      .Case([&](tosa::ScatterOp scatter) -> Result {
        Knowledge to;
        to.channels = {unite(know(scatter.getValuesIn())->all(),
                             know(scatter.getInput())->all())};
        return to;
      })
      .Default([](Operation *) { return std::nullopt; });
}

void RangePropagation::run(func::FuncOp function) {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumResults() == 1 && !op->hasTrait<OpTrait::ConstantLike>() &&
        op->getNumRegions() == 0 &&
        isa<RankedTensorType>(op->getResult(0).getType()) &&
        Interval::ofType(op->getResult(0).getType())) {
      // Operands first: a reference to what is known must not move later.
      for (Value operand : op->getOperands())
        know(operand);
      std::optional<Knowledge> knowledge = visit(op);
      Value value = op->getResult(0);
      if (knowledge)
        tighten(*knowledge);
      known[value] = knowledge ? std::move(*knowledge) : fromType(value);
    }
    for (Value operand : op->getOperands()) {
      auto [count, isNew] = unread.try_emplace(operand, 0);
      if (isNew)
        count->second = std::distance(operand.use_begin(), operand.use_end());
      auto found = known.find(operand);
      if (--count->second == 0 && found != known.end()) {
        found->second.root = nullptr;
        found->second.pieces = {};
      }
    }
  });
  for (auto &[value, knowledge] : known)
    result.ranges[value] = std::move(knowledge.channels);
}

IntegerRanges::IntegerRanges(func::FuncOp function) {
  RangePropagation(*this).run(function);
}

ArrayRef<Interval> IntegerRanges::getChannels(Value value) const {
  auto found = ranges.find(value);
  return found == ranges.end() ? ArrayRef<Interval>()
                               : ArrayRef<Interval>(found->second);
}

std::optional<Interval> IntegerRanges::get(Value value) const {
  ArrayRef<Interval> channels = getChannels(value);
  if (channels.empty())
    return std::nullopt;
  Interval all = channels.front();
  for (Interval channel : channels)
    all = unite(all, channel);
  return all;
}
