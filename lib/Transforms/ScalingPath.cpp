// SPDX-License-Identifier: Apache-2.0
#include "ScalingPath.h"
#include "ChannelAffine.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Transforms/OutputMoments.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <limits>

using namespace mlir;
using namespace mct;

/// Returns the bounds of a clamp of f32 values, or none for other types.
static std::optional<std::pair<float, float>> getBounds(tosa::ClampOp clamp) {
  auto lowest = dyn_cast<FloatAttr>(clamp.getMinVal());
  auto highest = dyn_cast<FloatAttr>(clamp.getMaxVal());
  if (!lowest || !highest || !lowest.getType().isF32())
    return std::nullopt;
  return std::pair(lowest.getValue().convertToFloat(),
                   highest.getValue().convertToFloat());
}

bool mct::isUnbounded(tosa::ClampOp clamp) {
  std::optional<std::pair<float, float>> bounds = getBounds(clamp);
  return bounds && bounds->second >= std::numeric_limits<float>::max();
}

/// Returns whether scaling `use` scales the result of its op by the same
/// factor.
static bool commutesWithScaling(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto clamp = dyn_cast<tosa::ClampOp>(op)) {
    std::optional<std::pair<float, float>> bounds = getBounds(clamp);
    return bounds && bounds->first == 0 && bounds->second > 0;
  }
  if (auto point = dyn_cast<tpc::QuantizeOp>(op))
    return point.isActivation();
  return getMovedOperand(op) == &use &&
         (getMovedOperand(op, commutesWithAffine) ||
          cast<DataMovementOpInterface>(op).getFill() == 0.0f);
}

ScalingPath mct::followScaling(const KernelOps &kernels, Value start) {
  return start.hasOneUse() ? followScaling(kernels, *start.use_begin())
                           : ScalingPath();
}

ScalingPath mct::followScaling(const KernelOps &kernels, OpOperand &start) {
  ScalingPath path;
  for (OpOperand *next = &start; next;) {
    OpOperand &use = *next;
    Operation *user = use.getOwner();
    if (std::optional<KernelOp> consumer = kernels.get(user);
        consumer && &consumer->getInput() == &use) {
      path.consumer = consumer;
      return path;
    }
    auto type = user->getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(user->getResult(0).getType())
                    : RankedTensorType();
    if (!type || !commutesWithScaling(use)) {
      path.obstacle = user;
      return path;
    }
    path.ops.push_back(user);
    next = user->getResult(0).hasOneUse() ? &*user->getResult(0).use_begin()
                                          : nullptr;
  }
  return path;
}

SmallVector<tosa::ClampOp> ScalingPath::getClamps() const {
  SmallVector<tosa::ClampOp> clamps;
  for (Operation *op : ops)
    if (auto clamp = dyn_cast<tosa::ClampOp>(op))
      clamps.push_back(clamp);
  return clamps;
}

SmallVector<tpc::QuantizeOp> ScalingPath::getPoints() const {
  SmallVector<tpc::QuantizeOp> points;
  for (Operation *op : ops)
    if (auto point = dyn_cast<tpc::QuantizeOp>(op))
      points.push_back(point);
  return points;
}

std::optional<std::vector<double>> mct::carryFactors(
    const ScalingPath &path, Value start, int64_t axis,
    std::vector<double> factors,
    llvm::function_ref<void(Operation *, int64_t, ArrayRef<double>)> visit) {
  for (Operation *op : path.ops) {
    if (auto moving = dyn_cast<DataMovementOpInterface>(op)) {
      std::optional<ChannelMap> map =
          moving.mapChannels(getMovedOperand(op)->getOperandNumber(), axis);
      // Added channels do not have a factor.
      if (!map || llvm::is_contained(map->channels, ChannelMap::kNone))
        return std::nullopt;
      std::vector<double> moved;
      for (int64_t channel : map->channels)
        moved.push_back(factors[channel]);
      factors = std::move(moved);
      axis = map->axis;
    }
    if (visit)
      visit(op, axis, factors);
  }
  if (!path.consumer || path.consumer->inputAxis() != axis)
    return std::nullopt;
  return factors;
}

std::vector<double> mct::invertFactors(ArrayRef<double> factors) {
  std::vector<double> result;
  for (double factor : factors)
    result.push_back(1 / factor);
  return result;
}

bool mct::scaleOutputs(OpBuilder &builder, const KernelOp &kernelOp,
                       ArrayRef<double> factors) {
  std::optional<std::vector<float>> bias = kernelOp.getBias();
  if (!bias)
    return false;
  ConstantFloats old = kernelOp.getKernel();
  std::vector<float> kernel(old.values().begin(), old.values().end());
  for (auto [element, value] : llvm::enumerate(kernel))
    value = float(factors[kernelOp.outChannelOf(element)] * value);
  for (auto [channel, value] : llvm::enumerate(*bias))
    value = float(factors[channel] * value);
  tpc::CorrectionsAttr corrections =
      kernelOp.getCorrectionsAfter(*bias, factors, /*offset=*/{});
  kernelOp.setKernel(builder, kernel, corrections);
  std::optional<OutputMoments> moments = getOutputMoments(kernelOp);
  // Zeros do not change, so an op without a bias does not need one.
  if (llvm::any_of(*bias, [](float value) { return value != 0; }))
    kernelOp.setBias(builder, *bias, corrections);
  if (moments) {
    for (auto [channel, factor] : llvm::enumerate(factors)) {
      moments->mean[channel] = float(factor * moments->mean[channel]);
      moments->deviation[channel] = float(factor * moments->deviation[channel]);
    }
    setOutputMoments(builder, kernelOp, *moments);
  }
  return true;
}

void mct::scaleInputs(OpBuilder &builder, const KernelOp &kernelOp,
                      ArrayRef<double> factors) {
  ConstantFloats old = kernelOp.getKernel();
  std::vector<float> kernel(old.values().begin(), old.values().end());
  for (auto [element, value] : llvm::enumerate(kernel))
    value = float(factors[kernelOp.inChannelOf(element)] * value);
  // The float kernel is scaled in the same way as the corrected one.
  kernelOp.setKernel(
      builder, kernel,
      kernelOp.withScaledFloatKernel(
          kernelOp.getCorrections(), [&](size_t element) {
            return factors[kernelOp.inChannelOf(int64_t(element))];
          }));
}

/// Renames the fused ops of a point with `rename`.
static void renameGroup(tpc::QuantizeOp point,
                        llvm::function_ref<StringAttr(StringAttr)> rename) {
  if (ArrayAttr group = point.getGroupAttr())
    point.setGroupAttr(
        ArrayAttr::get(point.getContext(),
                       llvm::map_to_vector(group.getAsRange<StringAttr>(),
                                           [&](StringAttr name) -> Attribute {
                                             return rename(name);
                                           })));
}

void mct::forgetValues(tpc::QuantizeOp point) {
  point.removeStatisticsAttr();
  point.removeQuantizer();
  tpc::RangeAttr range = point.getRangeAttr();
  if (range &&
      (range.getMin().value_or(0) != 0 || range.getMax().value_or(0) != 0))
    point.removeRangeAttr();
}

void mct::renameChanged(const KernelOp &layer, ArrayRef<Operation *> path,
                        StringRef suffix) {
  SmallVector<Operation *> ops = {layer.getOperation()};
  while (ops.back()->getResult(0) != layer.getResult())
    ops.push_back(*ops.back()->getResult(0).user_begin());
  llvm::append_range(ops, path);
  llvm::StringSet<> old;
  for (Operation *op : ops) {
    auto point = dyn_cast<tpc::QuantizeOp>(op);
    if (!point) {
      if (StringAttr name = getName(op->getLoc()))
        old.insert(name.getValue());
      renameChanged(op, suffix);
      continue;
    }
    auto rename = [&](StringRef name) {
      return StringAttr::get(op->getContext(), name + suffix);
    };
    point.setPointNameAttr(rename(point.getPointName()));
    renameGroup(point, [&](StringAttr name) {
      return old.contains(name) ? rename(name) : name;
    });
  }
}

void ScaledNames::rename(Operation *op) {
  static constexpr StringLiteral kSuffix = "_scaled";
  auto point = dyn_cast<tpc::QuantizeOp>(op);
  if (!point)
    return renameChanged(op, kSuffix);
  std::string name = point.getPointName().str();
  renamed[name] = name + kSuffix.str();
  point.setPointName(renamed[name]);
  forgetValues(point);
}

void ScaledNames::renameInGroups(Operation *root) const {
  root->walk([&](tpc::QuantizeOp point) {
    renameGroup(point, [&](StringAttr name) {
      auto found = renamed.find(name.getValue());
      return found == renamed.end()
                 ? name
                 : StringAttr::get(root->getContext(), found->second);
    });
  });
}
