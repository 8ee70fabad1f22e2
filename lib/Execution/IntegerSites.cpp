// SPDX-License-Identifier: Apache-2.0
//
// Finds the ops of a function that are calls of integer kernels.
#include "Sites.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mct;
using namespace mct::execution;

static bool isStaticInteger(Value value, ArrayRef<unsigned> widths) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() != 0 &&
         type.getElementType().isSignlessInteger() &&
         llvm::is_contained(widths, type.getElementTypeBitWidth()) &&
         !isTooLarge(type);
}

/// Returns the elements; none if the value is not a constant.
template <typename Number>
std::vector<Number> SiteFinder::evaluateIntegers(Value value) {
  std::optional<ConstantTensor> constant = constants.evaluate(value);
  if (!constant || !constant->getType().getElementType().isInteger() ||
      isTooLarge(constant->getType()))
    return {};
  std::vector<int64_t> stored = constant->decode<int64_t>();
  std::vector<Number> values(stored.begin(), stored.end());
  if (values.size() == 1)
    values.resize(constant->getNumElements(), values.front());
  return values;
}

/// Returns the rescale, or none unless it is between signed integers of up to
/// 32 bits and its parameters are known.
std::optional<RescaleShape> SiteFinder::readRescale(tosa::RescaleOp op) {
  if (!isStaticInteger(op.getInput(), {8, 16, 32}) ||
      !isStaticInteger(op.getResult(), {8, 16, 32}) || !op.getScale32() ||
      op.getInputUnsigned() || op.getOutputUnsigned())
    return std::nullopt;
  RescaleShape shape;
  shape.multipliers = evaluateIntegers<int32_t>(op.getMultiplier());
  shape.shifts = evaluateIntegers<int32_t>(op.getShift());
  std::vector<int32_t> in = evaluateIntegers<int32_t>(op.getInputZp()),
                       out = evaluateIntegers<int32_t>(op.getOutputZp());
  auto type = cast<RankedTensorType>(op.getType());
  size_t count = op.getPerChannel() && type.getRank() != 0
                     ? size_t(type.getShape().back())
                     : 1;
  if (in.size() != 1 || out.size() != 1 || shape.multipliers.size() != count ||
      shape.shifts.size() != count ||
      !llvm::all_of(shape.shifts,
                    [](int32_t shift) { return shift >= 1 && shift <= 62; }))
    return std::nullopt;
  if (op.getRoundingMode() == tosa::RoundingMode::DOUBLE_ROUND)
    shape.doubleRound = true;
  else if (op.getRoundingMode() != tosa::RoundingMode::SINGLE_ROUND)
    return std::nullopt;
  shape.inputZeroPoint = in.front();
  shape.outputZeroPoint = out.front();
  unsigned width = type.getElementTypeBitWidth();
  shape.low = int32_t(llvm::minIntN(width));
  shape.high = int32_t(llvm::maxIntN(width));
  shape.outputBytes = int(width / 8);
  return shape;
}

/// Returns the rescale, and clamp, that are the only users of the op's result.
SmallVector<Operation *, 2>
SiteFinder::readFusedRescale(Operation *op,
                             std::optional<RescaleShape> &rescale) {
  auto next = dyn_cast_or_null<tosa::RescaleOp>(soleUser(op->getResult(0)));
  if (!next)
    return {};
  rescale = readRescale(next);
  if (!rescale || rescale->inputZeroPoint != 0) {
    rescale = std::nullopt;
    return {};
  }
  auto clamp = dyn_cast_or_null<tosa::ClampOp>(soleUser(next));
  if (!clamp)
    return {next};
  auto low = dyn_cast<IntegerAttr>(clamp.getMinVal()),
       high = dyn_cast<IntegerAttr>(clamp.getMaxVal());
  if (!low || !high)
    return {next};
  rescale->low = int32_t(low.getValue().getSExtValue());
  rescale->high = int32_t(high.getValue().getSExtValue());
  return {next, clamp};
}

/// Creates the kernel for an op, with its operands; null if there is none.
std::unique_ptr<IntegerKernel>
SiteFinder::makeInteger(Operation *operation, const RescaleShape *rescale,
                        SmallVectorImpl<Value> &operands) {
  auto convolution = [&](auto op) -> std::unique_ptr<IntegerKernel> {
    if (!isStaticInteger(op.getInput(), {8}) ||
        !isStaticInteger(op.getWeight(), {4, 8}) ||
        !isStaticInteger(op.getResult(), {32}) || !isZero(op.getWeightZp()))
      return nullptr;
    std::vector<int8_t> weights = evaluateIntegers<int8_t>(op.getWeight());
    std::vector<int32_t> bias = evaluateIntegers<int32_t>(op.getBias()),
                         zero = evaluateIntegers<int32_t>(op.getInputZp());
    if (weights.empty() || bias.empty() || zero.size() != 1)
      return nullptr;
    ConvolutionShape shape = readShape(op);
    operands.push_back(dropUnreadRows(op.getInput(), shape));
    return makeIntegerConvolution(shape, weights, bias, zero.front(), rescale);
  };
  if (auto op = dyn_cast<tosa::Conv2DOp>(operation))
    return convolution(op);
  if (auto op = dyn_cast<tosa::DepthwiseConv2DOp>(operation))
    return convolution(op);
  if (auto op = dyn_cast<tosa::TransposeConv2DOp>(operation))
    return convolution(op);

  auto op = cast<tosa::MatMulOp>(operation);
  if (!isStaticInteger(op.getA(), {8}) || !isStaticInteger(op.getB(), {8}) ||
      !isStaticInteger(op.getResult(), {32}))
    return nullptr;
  std::vector<int32_t> first = evaluateIntegers<int32_t>(op.getAZp()),
                       second = evaluateIntegers<int32_t>(op.getBZp());
  if (first.size() != 1 || second.size() != 1)
    return nullptr;
  ArrayRef<int64_t> a = cast<RankedTensorType>(op.getA().getType()).getShape();
  ArrayRef<int64_t> b = cast<RankedTensorType>(op.getB().getType()).getShape();
  operands.push_back(op.getA());
  std::vector<int8_t> constant = evaluateIntegers<int8_t>(op.getB());
  if (constant.empty())
    operands.push_back(op.getB());
  return makeIntegerMatMul({a[0], a[1], a[2], b[2]}, constant, first.front(),
                           second.front(), rescale);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// Ops that a chain of steps computes, with the chains of their operands.
struct SiteFinder::Chain {
  SmallVector<ChainNode> nodes;
  SmallVector<Value, 2> operands;
  SmallVector<Operation *> ops;
  int registers = 0;
};

static bool isLinkType(Value value) {
  return isStaticInteger(value, {8, 16, 32});
}

/// Returns whether a step can compute the op.
bool SiteFinder::isLink(Operation *op) {
  if (op->getNumResults() != 1 || !isLinkType(op->getResult(0)) ||
      sites.contains(op) || covered.contains(op))
    return false;
  Value result = op->getResult(0);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(result.getType()).getShape();
  auto hasShape = [&](Value value) {
    return isLinkType(value) &&
           cast<RankedTensorType>(value.getType()).getShape() == shape;
  };
  if (auto rescale = dyn_cast<tosa::RescaleOp>(op)) {
    std::optional<RescaleShape> read = readRescale(rescale);
    return read && read->shifts.size() == 1;
  }
  if (auto clamp = dyn_cast<tosa::ClampOp>(op))
    return isa<IntegerAttr>(clamp.getMinVal());
  if (isa<tosa::AddOp, tosa::SubOp>(op))
    return isStaticInteger(result, {32}) && hasShape(op->getOperand(0)) &&
           hasShape(op->getOperand(1));
  if (auto table = dyn_cast<tosa::TableOp>(op))
    return isStaticInteger(table.getInput1(), {8}) &&
           isStaticInteger(result, {8}) &&
           evaluateIntegers<int8_t>(table.getTable()).size() == 256;
  return false;
}

/// Creates the step that computes the value; its destination is still open.
ChainNode SiteFinder::link(Value value, Chain &chain) {
  auto unbounded = [] {
    ChainNode node;
    node.rescale.low = std::numeric_limits<int32_t>::min();
    node.rescale.high = std::numeric_limits<int32_t>::max();
    return node;
  };
  Operation *op = value.getDefiningOp();
  bool isRoot = chain.ops.empty();
  constexpr size_t kLongestChain = 64;
  if (!op || chain.ops.size() >= kLongestChain ||
      (!isRoot && (!soleUser(value) || !isLink(op)))) {
    ChainNode node = unbounded();
    auto found = llvm::find(chain.operands, value);
    node.step.operand = int(found - chain.operands.begin());
    if (found == chain.operands.end())
      chain.operands.push_back(value);
    node.step.operandBytes = int(
        cast<RankedTensorType>(value.getType()).getElementTypeBitWidth() / 8);
    return node;
  }
  chain.ops.push_back(op);
  auto finish = [&](ChainNode node) {
    node.step.to = chain.registers++;
    chain.nodes.push_back(std::move(node));
    return chain.nodes.back().step.to;
  };
  auto isOpen = [](const ChainNode &node) {
    return node.table.empty() && node.step.combine == ChainStep::Combine::None;
  };
  auto reopen = [&](ChainNode node) {
    ChainNode next = unbounded();
    next.step.from = finish(std::move(node));
    return next;
  };
  auto isPlain = [&](const ChainNode &node) {
    return isOpen(node) && node.rescale.shifts.empty() &&
           node.rescale.low == std::numeric_limits<int32_t>::min() &&
           node.rescale.high == std::numeric_limits<int32_t>::max();
  };
  ChainNode node = link(op->getOperand(0), chain);
  if (auto rescale = dyn_cast<tosa::RescaleOp>(op)) {
    if (!isPlain(node))
      node = reopen(std::move(node));
    node.rescale = *readRescale(rescale);
  } else if (auto clamp = dyn_cast<tosa::ClampOp>(op)) {
    if (!isOpen(node))
      node = reopen(std::move(node));
    auto bound = [](Attribute attribute) {
      return int32_t(cast<IntegerAttr>(attribute).getValue().getSExtValue());
    };
    int32_t low = bound(clamp.getMinVal()), high = bound(clamp.getMaxVal());
    node.rescale.low = std::clamp(node.rescale.low, low, high);
    node.rescale.high = std::clamp(node.rescale.high, low, high);
  } else if (auto table = dyn_cast<tosa::TableOp>(op)) {
    if (!isPlain(node))
      node = reopen(std::move(node));
    node.table = evaluateIntegers<int8_t>(table.getTable());
  } else {
    int first = finish(std::move(node));
    node = link(op->getOperand(1), chain);
    if (!isOpen(node))
      node = reopen(std::move(node));
    node.step.combine = isa<tosa::AddOp>(op) ? ChainStep::Combine::Add
                                             : ChainStep::Combine::Subtract;
    node.step.combined = first;
  }
  return node;
}

/// Finds rescales, clamps, sums and tables of one shape, each with the next as
/// its only user.
void SiteFinder::findChain(Operation *op) {
  if (!isLink(op))
    return;
  // The call is created for the last op of the chain.
  Operation *user = soleUser(op->getResult(0));
  if (user && isLink(user))
    return;
  Chain chain;
  ChainNode last = link(op->getResult(0), chain);
  last.step.to = -1;
  chain.nodes.push_back(std::move(last));
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  program.integers.push_back(
      makeIntegerChain(chain.nodes, type.getNumElements(),
                       int(type.getElementTypeBitWidth() / 8)));
  for (Operation *next : llvm::drop_begin(chain.ops))
    covered.insert(next);
  sites[op] = {
      Step::Kind::Integer, program.integers.size() - 1, chain.operands, {}};
}

void SiteFinder::findInteger(Operation *op) {
  if (isa<tosa::RescaleOp, tosa::ClampOp, tosa::AddOp, tosa::SubOp,
          tosa::TableOp>(op))
    return findChain(op);
  if (!isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp,
           tosa::MatMulOp>(op))
    return;
  std::optional<RescaleShape> rescale;
  SmallVector<Operation *, 2> fused = readFusedRescale(op, rescale);
  Site site{Step::Kind::Integer, program.integers.size(), {}, {}};
  std::unique_ptr<IntegerKernel> kernel =
      makeInteger(op, rescale ? &*rescale : nullptr, site.operands);
  if (!kernel)
    return;
  program.integers.push_back(std::move(kernel));
  program.primitiveInfos.push_back(
      {describeOp(op), std::string("integer:") + integerLoops().name});
  Operation *last = op;
  for (Operation *next : fused) {
    covered.insert(last);
    last = next;
  }
  sites[last] = std::move(site);
}
