// SPDX-License-Identifier: Apache-2.0
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mct;

#include "mct/Interfaces/OpInterfaces.cpp.inc"

/// Longer axes hold no channels of a network, and a map has an entry for each
/// position.
static constexpr int64_t kMaxChannels = int64_t(1) << 26;

bool ChannelMap::isIdentity(int64_t count) const {
  return int64_t(channels.size()) == count &&
         llvm::equal(channels, llvm::seq<int64_t>(0, count));
}

unsigned mct::getNumDataOperands(Operation *op) {
  if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
    return elementwise.getNumDataOperands();
  if (auto moving = dyn_cast<DataMovementOpInterface>(op))
    return moving.getNumDataOperands();
  return op->getNumOperands();
}

bool mct::readsPositionalConstants(Operation *op) {
  return isa<ElementwiseOpInterface, DataMovementOpInterface>(op) &&
         getNumDataOperands(op) > 1;
}

OpOperand *mct::getMovedOperand(Operation *op, bool (*is)(Movement)) {
  auto moving = dyn_cast<DataMovementOpInterface>(op);
  if (!moving)
    return nullptr;
  std::optional<Movement> movement = moving.getMovement();
  SmallVector<unsigned, 4> moved = moving.getMovedOperands();
  if (!movement || moved.size() != 1 || (is && !is(*movement)))
    return nullptr;
  return &op->getOpOperand(moved.front());
}

Value mct::getMovedSource(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    OpOperand *moved = getMovedOperand(op);
    if (!moved)
      break;
    value = moved->get();
  }
  return value;
}

bool mct::takesElements(Movement movement) {
  return movement != Movement::Average;
}

bool mct::keepsDistribution(Movement movement) {
  return movement == Movement::Permute || movement == Movement::Repeat;
}

bool mct::commutesWithAffine(Movement movement) {
  return movement != Movement::Fill;
}

static bool permutes(Movement movement) {
  return movement == Movement::Permute;
}

std::optional<int64_t> mct::followChannels(Operation *op, int64_t axis) {
  OpOperand *moved = getMovedOperand(op, permutes);
  auto type = moved ? dyn_cast<RankedTensorType>(moved->get().getType())
                    : RankedTensorType();
  if (!type || axis >= type.getRank())
    return std::nullopt;
  std::optional<ChannelMap> map = cast<DataMovementOpInterface>(op).mapChannels(
      moved->getOperandNumber(), axis);
  if (!map || !map->isIdentity(type.getDimSize(axis)))
    return std::nullopt;
  return map->axis;
}

std::optional<int64_t> mct::followChannelsBack(Operation *op, int64_t axis) {
  OpOperand *moved = getMovedOperand(op, permutes);
  auto type = moved ? dyn_cast<RankedTensorType>(moved->get().getType())
                    : RankedTensorType();
  if (!type)
    return std::nullopt;
  for (int64_t from = type.getRank(); from-- > 0;)
    if (followChannels(op, from) == axis)
      return from;
  return std::nullopt;
}

std::optional<ChannelMap> mct::mapThroughReshape(RankedTensorType from,
                                                 RankedTensorType to,
                                                 int64_t axis) {
  // Elements with the same position along an axis are `inner` neighbours, once
  // in every `inner` times the size of the axis.
  int64_t inner = 1, channels = from.getDimSize(axis);
  for (int64_t size : from.getShape().drop_front(axis + 1)) {
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(inner, size, inner))
      return std::nullopt;
  }
  int64_t period;
  if (ShapedType::isDynamic(channels) ||
      llvm::MulOverflow(inner, channels, period) || period == 0)
    return std::nullopt;
  // The last of the axes that they run along, but rather one that has nothing
  // else.
  std::optional<ChannelMap> best;
  int64_t innerTo = 1;
  for (int64_t next = to.getRank(); next-- > 0;) {
    int64_t size = to.getDimSize(next), periodTo;
    if (ShapedType::isDynamic(size) || size > kMaxChannels ||
        llvm::MulOverflow(innerTo, size, periodTo) || periodTo == 0)
      break;
    bool isWhole = size == channels && innerTo == inner;
    if (isWhole || (!best && inner % innerTo == 0 && periodTo % period == 0)) {
      best = ChannelMap{next, {}};
      int64_t neighbours = inner / innerTo;
      for (int64_t position = 0; position != size; ++position)
        best->channels.push_back(position / neighbours % channels);
    }
    if (isWhole)
      break;
    innerTo = periodTo;
  }
  return best;
}

std::optional<ChannelMap> mct::keepChannels(Value operand, int64_t axis) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!type || axis >= type.getRank() || type.isDynamicDim(axis) ||
      type.getDimSize(axis) > kMaxChannels)
    return std::nullopt;
  return ChannelMap{
      axis, llvm::to_vector(llvm::seq<int64_t>(0, type.getDimSize(axis)))};
}
