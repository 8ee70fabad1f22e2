// SPDX-License-Identifier: Apache-2.0
#include "ScalingPath.h"
#include "mct/Analysis/OpInterfaces.h"
#include "mct/Transforms/Passes.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace mct {
#define GEN_PASS_DEF_BOUNDRELUTOPOWEROFTWOPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// The bound that every other one becomes. MCT `RELU_POT_BOUND`.
static constexpr double kBound = 8;

static bool isPowerOfTwo(double value) {
  int exponent;
  return std::frexp(value, &exponent) == 0.5;
}

namespace {
struct BoundReluToPowerOfTwoPass
    : public WithOpModels<
          mct::impl::BoundReluToPowerOfTwoPassBase<BoundReluToPowerOfTwoPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    const KernelOps &kernels = getAnalysis<KernelOps>();
    markAnalysesPreserved<KernelOps>();
    SmallVector<KernelOp> layers;
    getOperation().walk([&](Operation *op) {
      if (std::optional<KernelOp> layer = kernels.get(op))
        layers.push_back(*layer);
    });
    for (const KernelOp &layer : layers)
      moveBound(kernels, layer);
  }

private:
  void moveBound(const KernelOps &kernels, const KernelOp &layer) {
    ScalingPath path = followScaling(kernels, layer.getResult());
    tosa::ClampOp clamp;
    for (tosa::ClampOp candidate : path.getClamps()) {
      if (isUnbounded(candidate))
        continue;
      if (clamp)
        return leave(clamp, "another bounded ReLU follows it; run "
                            "mct-normalize-activations before");
      clamp = candidate;
    }
    if (!clamp)
      return;
    double bound =
        cast<FloatAttr>(clamp.getMaxVal()).getValue().convertToFloat();
    if (isPowerOfTwo(bound))
      return;
    if (!path.getPoints().empty())
      return leave(clamp, "there are quantizer points around it; run this pass "
                          "before mct-insert-quantizers");
    if (!path.consumer)
      return leave(clamp,
                   "no layer reads it, and it alone, that could take "
                   "the factor",
                   path.obstacle);
    double factor = bound / kBound;
    OpBuilder builder(clamp);
    if (!scaleOutputs(
            builder, layer,
            std::vector<double>(layer.numOutputChannels(), 1 / factor)))
      return leave(clamp,
                   "the layer before it has a bias that is not constant "
                   "along its channels",
                   layer.getOperation());
    scaleInputs(builder, *path.consumer,
                std::vector<double>(path.consumer->numInputChannels(), factor));
    clamp.setMaxValAttr(builder.getF32FloatAttr(float(kBound)));
    renameChanged(layer, path.ops, "_scaled");
  }

  void leave(tosa::ClampOp clamp, StringRef why, Operation *culprit = nullptr) {
    if (!remarks)
      return;
    InFlightDiagnostic remark = clamp.emitRemark();
    remark << "keeps its bound "
           << cast<FloatAttr>(clamp.getMaxVal()).getValue().convertToFloat()
           << ": " << why;
    if (culprit)
      remark.attachNote(culprit->getLoc()) << "this op";
  }
};
} // namespace
