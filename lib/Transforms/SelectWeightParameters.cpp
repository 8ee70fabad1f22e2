// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/Constants.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/SelectedParameters.h"
#include <thread>

namespace mct {
#define GEN_PASS_DEF_SELECTWEIGHTPARAMETERSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

static LogicalResult selectParameters(tpc::QuantizeOp point,
                                      quantization::ErrorMethod errorMethod,
                                      unsigned threads) {
  tpc::AttrQuantConfigAttr config = point.getWeightConfig();
  if (!config)
    return point.emitOpError()
           << "has no config; run mct-insert-quantizers, or give it one";
  FailureOr<quantization::QuantizerKind> kind =
      getQuantizerKind(point, config.getMethod());
  if (failed(kind) || failed(checkSelectableBits(point, config.getBits())))
    return failure();
  std::optional<ConstantFloats> values = ConstantFloats::get(point.getInput());
  if (!values)
    return point.emitOpError() << "quantizes a weight that is not a constant "
                                  "f32 tensor; fold constants first";
  for (auto [index, value] : llvm::enumerate(values->values()))
    if (!std::isfinite(value))
      return point.emitOpError() << "quantizes a weight with the value "
                                 << value << " at element " << index;
  quantization::SelectionOptions options;
  options.kind = *kind;
  options.bits = config.getBits();
  options.isSigned = true;
  options.errorMethod = errorMethod;
  std::vector<quantization::SelectedParameters> selected =
      quantization::selectPerChannel(values->values(), values->shape(),
                                     point.getChannelAxes(), options, threads);
  point.setParametersAttr(
      createParameters(point.getContext(), selected, options));
  return success();
}

namespace {
struct SelectWeightParametersPass
    : public mct::impl::SelectWeightParametersPassBase<
          SelectWeightParametersPass> {
  using SelectWeightParametersPassBase::SelectWeightParametersPassBase;

  void runOnOperation() override {
    unsigned workers = threads
                           ? unsigned(threads)
                           : std::max(1u, std::thread::hardware_concurrency());
    WalkResult result = getOperation().walk([&](tpc::QuantizeOp point) {
      if (point.isActivation() || point.getParametersAttr())
        return WalkResult::advance();
      return WalkResult(selectParameters(point, errorMethod, workers));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
