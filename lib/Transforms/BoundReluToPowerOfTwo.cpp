// SPDX-License-Identifier: Apache-2.0
#include "ScalingPath.h"
#include "mct/IR/Records.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Quantizers/Grid.h"
#include "mct/Transforms/Passes.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLExtras.h"

namespace mct {
#define GEN_PASS_DEF_BOUNDRELUTOPOWEROFTWOPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// The bound that replaces all others, `RELU_POT_BOUND` in MCT.
static constexpr double kBound = 8;

namespace {
struct BoundReluToPowerOfTwoPass
    : public WithOpModels<
          mct::impl::BoundReluToPowerOfTwoPassBase<BoundReluToPowerOfTwoPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    const KernelOps &kernels = getAnalysis<KernelOps>();
    markAnalysesPreserved<KernelOps>();
    for (const KernelOp &layer : kernels.findBelow(getOperation()))
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
        return leave(clamp, Reason::SeveralBounds);
      clamp = candidate;
    }
    if (!clamp)
      return;
    double bound =
        cast<FloatAttr>(clamp.getMaxVal()).getValue().convertToFloat();
    if (quantization::isPowerOfTwo(bound))
      return;
    if (!path.getPoints().empty())
      return leave(clamp, Reason::PointsPresent);
    if (!path.consumer)
      return leave(clamp,
                   {Decision::Declined, Reason::NoLayerReads, path.obstacle});
    double factor = bound / kBound;
    OpBuilder builder(clamp);
    if (!scaleOutputs(
            builder, layer,
            std::vector<double>(layer.numOutputChannels(), 1 / factor)))
      return leave(clamp,
                   Record(Decision::Declined, Reason::BiasNotConstant,
                          layer.getOperation())
                       << "the layer before it has a bias that is not constant "
                          "along its channels");
    scaleInputs(builder, *path.consumer,
                std::vector<double>(path.consumer->numInputChannels(), factor));
    clamp.setMaxValAttr(builder.getF32FloatAttr(float(kBound)));
    if (remarks)
      emitRecord(clamp, getArgument(),
                 Record(Decision::Applied, Reason::BoundMoved)
                     << "its bound goes from " << named("bound", bound)
                     << " to " << named("new_bound", kBound));
    renameChanged(layer, path.ops, "_scaled");
  }

  void leave(tosa::ClampOp clamp, const Record &why) {
    if (!remarks)
      return;
    double bound =
        cast<FloatAttr>(clamp.getMaxVal()).getValue().convertToFloat();
    emitWithCause(clamp, getArgument(),
                  Record(Decision::Declined, why.getReason(), why.getCause())
                      << "keeps its bound " << named("bound", bound) << ": "
                      << why.getText());
  }
};
} // namespace
