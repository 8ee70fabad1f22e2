// SPDX-License-Identifier: Apache-2.0
#include "ScoreLogits.h"

#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mct;

/// Most uses after a point that are visited.
static constexpr size_t kMaxValues = 1024;

/// Distance from 0 or 1 below which the difference of scores is negligible.
static constexpr double kLeastScore = 1e-6;

namespace {
/// A value that holds elements of a point.
struct Moved {
  Value value;
  /// Axis that corresponds to the channels of the point.
  int64_t axis;
  /// True for each position along `axis` that holds elements of the point.
  SmallVector<bool> own;
  /// True if a sigmoid has been applied.
  bool areScores;
};
} // namespace

/// Follows such a value to the result of its user; returns none if that
/// computes anything but scores. `own` of the result is empty if it has no
/// elements of the point.
static std::optional<Moved> followUse(OpOperand &use, const Moved &from) {
  Operation *op = use.getOwner();
  Value result = op->getNumResults() == 1 ? op->getResult(0) : Value();
  if (isa<tpc::QuantizeOp>(op))
    return Moved{result, from.axis, from.own, from.areScores};
  if (isa<tosa::SigmoidOp>(op) && !from.areScores)
    return Moved{result, from.axis, from.own, true};
  auto moving = dyn_cast<DataMovementOpInterface>(op);
  std::optional<Movement> movement =
      moving ? moving.getMovement() : std::nullopt;
  if (!result || !movement || !takesElements(*movement))
    return std::nullopt;
  std::optional<ChannelMap> map =
      moving.mapChannels(use.getOperandNumber(), from.axis);
  if (!map)
    return std::nullopt;
  Moved moved{result, map->axis, {}, from.areScores};
  for (int64_t channel : map->channels)
    moved.own.push_back(channel != ChannelMap::kNone && from.own[channel]);
  if (!llvm::is_contained(moved.own, true))
    moved.own.clear();
  return moved;
}

bool mct::holdsScoreLogits(tpc::QuantizeOp point) {
  auto type = dyn_cast<RankedTensorType>(point.getType());
  if (!point.isActivation() || !type || !type.hasStaticShape() ||
      type.getRank() == 0)
    return false;
  SmallVector<Moved> open;
  open.push_back({point.getResult(), type.getRank() - 1,
                  SmallVector<bool>(type.getShape().back(), true), false});
  bool makesScores = false;
  llvm::DenseSet<std::pair<Operation *, unsigned>> visited;
  while (!open.empty()) {
    Moved from = open.pop_back_val();
    for (OpOperand &use : from.value.getUses()) {
      if (use.getOwner()->hasTrait<OpTrait::IsTerminator>()) {
        if (!from.areScores)
          return false;
        makesScores = true;
        continue;
      }
      // A value that is reached twice holds the elements in two ways.
      if (!visited.insert({use.getOwner(), use.getOperandNumber()}).second ||
          visited.size() > kMaxValues)
        return false;
      std::optional<Moved> moved = followUse(use, from);
      if (!moved)
        return false;
      if (!moved->own.empty())
        open.push_back(std::move(*moved));
    }
  }
  return makesScores;
}

std::pair<double, double> mct::getScoreRange(double low, double high,
                                             unsigned bits) {
  auto getLogit = [](double score) { return std::log(score / (1 - score)); };
  double most = -getLogit(kLeastScore);
  double nearOne = std::min(-getLogit(std::ldexp(1.0, -int(bits) - 1)), most);
  return {std::clamp(low, -most, most),
          std::clamp(std::max(high, nearOne), -most, most)};
}
