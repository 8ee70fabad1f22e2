// SPDX-License-Identifier: Apache-2.0
#include "mct/IntegerRanges/IntegerRanges.h"
#include "RangePropagation.h"
#include "mct/IR/QuantizedValues.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mct;

// A value with more levels is not split into single levels.
static constexpr int64_t kMaxLevels = 1 << 16;

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
  // The evaluator does not support i48.
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

void mct::tighten(Knowledge &knowledge) {
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
  // The pieces grow with the distance from the next lower power of two.
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
    // Both are rescaled in the same way, which preserves their order.
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

/// Reads the ranges of arguments with fewer bits than their type from their
/// records.
void RangePropagation::readArguments(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    Attribute attribute =
        function.getArgAttr(argument.getArgNumber(), kQuantizedAttrName);
    if (!attribute || !isa<RankedTensorType>(argument.getType()) ||
        !Interval::ofType(argument.getType()))
      continue;
    // A record that cannot be read is ignored.
    FailureOr<QuantizedValue> record =
        readQuantizedValue(attribute, argument.getType(), [&] {
          InFlightDiagnostic diagnostic = function.emitError();
          diagnostic.abandon();
          return diagnostic;
        });
    if (failed(record))
      continue;
    quantization::Grid grid = record->getGrid(
        getElementTypeOrSelf(argument.getType()).getIntOrFloatBitWidth());
    Knowledge knowledge = fromType(argument);
    for (Interval &channel : knowledge.channels)
      channel = intersect(channel, {grid.qmin, grid.qmax});
    known.try_emplace(argument, std::move(knowledge));
  }
}

void RangePropagation::run(func::FuncOp function) {
  readArguments(function);
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumResults() == 1 && !op->hasTrait<OpTrait::ConstantLike>() &&
        op->getNumRegions() == 0 &&
        isa<RankedTensorType>(op->getResult(0).getType()) &&
        Interval::ofType(op->getResult(0).getType())) {
      // Visit the operands first: a reference to an entry must not be
      // invalidated later.
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
