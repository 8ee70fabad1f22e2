// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/FrozenPoints.h"

#include "mct/IR/HostQuantizers.h"

using namespace mlir;
using namespace mct;

LogicalResult mct::requireNothingLearned(tpc::QuantizeOp point) {
  if (point.getLearned().empty())
    return success();
  return point.emitOpError(
      "has learned values, which are not in its parameters; replace it by its "
      "computation with mct-expand-trainable-points");
}

LogicalResult mct::requireFrozenPoints(Operation *root) {
  WalkResult result = root->walk([](tpc::QuantizeOp point) {
    if (failed(requireNothingLearned(point)))
      return WalkResult::interrupt();
    std::optional<HostPoint> host = getHostPoint(point);
    if (!host)
      return WalkResult::advance();
    point.emitOpError("is quantized by ")
        << host->quantizer.getName()
        << " of the caller, which its parameters do not describe; freeze it "
           "there with mct-qat=epochs=0";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
