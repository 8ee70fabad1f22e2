// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/Shapes.h"
#include "mct/Inspection/Passes.h"

namespace mct {
#define GEN_PASS_DEF_VERIFYSHAPESPASS
#include "mct/Inspection/Passes.h.inc"
} // namespace mct

namespace {
struct VerifyShapesPass
    : public mct::impl::VerifyShapesPassBase<VerifyShapesPass> {
  void runOnOperation() override {
    if (failed(mct::verifyShapes(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
