// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/IR/TpcDevices.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mct::tpc;

#define GET_OP_CLASSES
#include "tpc_dialect/IR/TpcDevices.cpp.inc"

void TpcDialect::registerDeviceOps() {
  addOperations<
#define GET_OP_LIST
#include "tpc_dialect/IR/TpcDevices.cpp.inc"
      >();
}

bool mct::tpc::isTargetDescription(Operation *op) {
  return isa<PlatformOp, DeriveOp, BindingOp, FrameworkOp, DeviceOp>(op);
}

LogicalResult DeviceOp::verifyRegions() {
  llvm::SmallDenseMap<OperationName, Operation *> facts;
  for (Operation &fact : getBody().front()) {
    if (fact.getName().getDialect() != getOperation()->getDialect() ||
        !isa<RefuseOp, RepeatedLayersOp, StagedArgumentsOp, StridedLayersOp,
             ColumnSumsOp, CompressedWeightsOp, CostTableOp, OnnxOperatorsOp,
             OnnxLimitsOp>(fact))
      return fact.emitOpError("is not a fact about a device");
    // V1
    auto [first, isNew] = facts.try_emplace(fact.getName(), &fact);
    if (isNew || isa<RefuseOp>(fact))
      continue;
    InFlightDiagnostic diagnostic =
        fact.emitOpError("stands in a device more than once");
    diagnostic.attachNote(first->second->getLoc()) << "the first one is here";
    return diagnostic;
  }
  return success();
}

LogicalResult RefuseOp::verify() {
  // V2
  if (getOps().empty() && !getFilter())
    return emitOpError("refuses all ops; name some, or give a filter");
  return success();
}

LogicalResult RepeatedLayersOp::verify() {
  // V4
  for (const APFloat &cost : {getResult(), getProduct(), getWeight(), getSum()})
    if (!cost.isFinite() || cost.isNegative() || cost.isZero())
      return emitOpError("has a cost of ")
             << cost.convertToDouble() << ", which is not positive";
  return success();
}

LogicalResult CompressedWeightsOp::verify() {
  // V4
  const APFloat &cost = getByte();
  if (!cost.isFinite() || cost.isNegative() || cost.isZero())
    return emitOpError("has a cost of ")
           << cost.convertToDouble() << ", which is not positive";
  return success();
}

LogicalResult StagedArgumentsOp::verify() {
  // V4
  if (getBurst() <= 0 || getSmallest() <= 0 || getMemory() <= 0)
    return emitOpError("has a burst of ")
           << getBurst() << " bytes, a smallest copy of " << getSmallest()
           << " and a memory of " << getMemory() << "; all are positive";
  return success();
}

LogicalResult OnnxLimitsOp::verify() {
  // V4
  if (getBatch() <= 0 || getBytes() <= 0)
    return emitOpError("has a batch of ")
           << getBatch() << " and a memory of " << getBytes()
           << " bytes; both are positive";
  for (ArrayRef<int64_t> widths :
       {getSignedWidths(), getUnsignedWidths(), getWeightWidths()})
    for (int64_t width : widths)
      if (width <= 0)
        return emitOpError("has values of ")
               << width << " bits; widths are positive";
  return success();
}

/// Returns widths as "2, 4 or 8".
static std::string joinWidths(ArrayRef<int64_t> widths) {
  std::string text;
  for (auto [i, width] : llvm::enumerate(widths)) {
    if (i > 0)
      text += i + 1 == widths.size() ? " or " : ", ";
    text += std::to_string(width);
  }
  return text.empty() ? "no" : text;
}

StringRef OnnxLimitsOp::getDeviceName() {
  return (*this)->getParentOfType<DeviceOp>().getDisplayName();
}

std::string OnnxLimitsOp::describeWeights() {
  return ("weights of " + getDeviceName() + " have " +
          joinWidths(getWeightWidths()) + " bits")
      .str();
}

std::string OnnxLimitsOp::describeActivations() {
  return ("activations of " + getDeviceName() + " have " +
          joinWidths(getUnsignedWidths()) + " bits unsigned, " +
          joinWidths(getSignedWidths()) + " signed")
      .str();
}

LogicalResult StridedLayersOp::verify() {
  // V4
  if (int64_t(getFewest()) <= 0 || getFewest() > getChannels() ||
      int64_t(getSmallest()) <= 0)
    return emitOpError("has ")
           << getFewest() << " to " << getChannels()
           << " channels and a smallest image of " << int64_t(getSmallest())
           << " bytes; all are positive, in this order";
  return success();
}

LogicalResult ColumnSumsOp::verify() {
  // V5
  if (int64_t(getChannels()) <= 1 || getChannels() % 2 != 0 ||
      int64_t(getPositions()) <= 0)
    return emitOpError("has columns of ")
           << int64_t(getChannels()) << " channels and up to "
           << int64_t(getPositions())
           << " positions; both are positive, the first one even";
  return success();
}

LogicalResult CostTableOp::verify() {
  if (getPath().empty())
    return emitOpError("names no file; give the path of a table of costs");
  return success();
}
