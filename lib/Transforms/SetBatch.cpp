// SPDX-License-Identifier: Apache-2.0
#include "mct/Interfaces/SetBatch.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Transforms/Passes.h"

using namespace mlir;

namespace mct {
#define GEN_PASS_DEF_SETBATCHPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

namespace {
struct SetBatchPass
    : mct::WithOpModels<mct::impl::SetBatchPassBase<SetBatchPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    // Limit the size, since sizes are multiplied with each other.
    constexpr int64_t kLargest = int64_t(1) << 31;
    if (size < -1 || size > kLargest) {
      getOperation().emitOpError("cannot get a batch of ")
          << static_cast<int64_t>(size);
      return signalPassFailure();
    }
    int64_t batch = size <= 0 ? ShapedType::kDynamic : size;
    if (failed(mct::setBatch(getOperation(), batch)))
      return signalPassFailure();
  }
};
} // namespace
