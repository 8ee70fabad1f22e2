// SPDX-License-Identifier: Apache-2.0
#include "Layers.h"
#include "mct/Corrections/Passes.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Transforms/StatisticsConversion.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <cmath>

namespace mct {
#define GEN_PASS_DEF_CORRECTACTIVATIONBIASPASS
#include "mct/Corrections/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using quantization::Affine;

/// Returns the point that quantizes the operand of the layer, before ops that
/// keep the distribution of its values; null if there is none.
static tpc::QuantizeOp getInputPoint(const KernelOp &op) {
  Value value = op.getInput().get();
  while (Operation *producer = value.getDefiningOp()) {
    if (auto point = dyn_cast<tpc::QuantizeOp>(producer))
      return point;
    OpOperand *moved = getMovedOperand(producer, keepsDistribution);
    if (!moved)
      return {};
    value = moved->get();
  }
  return {};
}

namespace {
/// Mean of the values of a point, and mean of their quantization errors.
struct PointMeans {
  double value = 0, error = 0;
};
} // namespace

/// Returns the means of a point, or none if it has values other than zero but
/// no histogram with data.
static std::optional<PointMeans> getMeans(tpc::QuantizeOp point,
                                          const quantization::Grid &grid) {
  tpc::StatisticsAttr statistics = point.getStatisticsAttr();
  tpc::HistogramAttr histogram = statistics.getHistogram();
  PointMeans means;
  if (!histogram) {
    if (statistics.getZeros() == statistics.getCount())
      return means;
    return std::nullopt;
  }
  std::optional<SmallVector<int64_t>> stored = readCounts(histogram);
  if (!stored)
    return std::nullopt;
  std::vector<double> counts(stored->begin(), stored->end());
  std::vector<double> edges;
  for (size_t bin = 0; bin != counts.size() + 1; ++bin)
    edges.push_back(std::ldexp(double(histogram.getFirst() + int64_t(bin)),
                               int(histogram.getStepExponent())));
  double sum = 0, binned = 0;
  for (auto [bin, count] : llvm::enumerate(counts)) {
    sum += count * (edges[bin] + edges[bin + 1]) / 2;
    binned += count;
  }
  // Zeros are not in the histogram. They have no error, since every grid has a
  // level for them.
  double total = double(statistics.getCount());
  means.value = sum / total;
  means.error =
      quantization::meanQuantizationError(edges, counts, grid) * binned / total;
  return means;
}

namespace {
struct CorrectActivationBiasPass
    : public mct::impl::CorrectActivationBiasPassBase<
          CorrectActivationBiasPass> {
  using CorrectActivationBiasPassBase::CorrectActivationBiasPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tpc::TpcDialect, tosa::TosaDialect, linalg::LinalgDialect,
                    tensor::TensorDialect>();
    registerOpModels(registry);
  }

  void runOnOperation() override {
    if (!(threshold >= 0)) {
      emitError(getOperation().getLoc())
          << "the threshold of mct-correct-activation-bias is a percentage "
             "that is not negative, but got "
          << double(threshold);
      return signalPassFailure();
    }
    FailureOr<Layers> found =
        Layers::find(getOperation(), getAnalysis<KernelOps>(), function,
                     getArgument(), remarks);
    if (failed(found))
      return signalPassFailure();
    for (const Layer &layer : found->layers) {
      FailureOr<std::optional<Record>> why = correct(layer);
      if (failed(why))
        return signalPassFailure();
      if (*why && remarks)
        remarkLeftAlone(layer.op.getOperation(), getArgument(), **why);
    }
  }

private:
  static std::optional<Record> decline(const Record &why) { return why; }
  /// Returns the reason why the layer was skipped, or none.
  FailureOr<std::optional<Record>> correct(const Layer &layer) {
    if (layer.isCorrected(tpc::kActivationBiasCorrection) ||
        layer.isCorrected(tpc::kQuantizedNetworkCorrection) ||
        layer.isCorrected(tpc::kRoundedWeights))
      return decline(Reason::CorrectedBefore);
    if (!layer.op.isPointwise())
      return decline(Reason::NotPointwise);
    tpc::QuantizeOp point = getInputPoint(layer.op);
    if (!point || !point.getParametersAttr() || !point.getStatisticsAttr())
      return decline(Record(Reason::NoParameters)
                     << "its input has no point with statistics and "
                        "parameters");
    SmallVector<quantization::Grid> grids =
        point.getParametersAttr().getGrids();
    if (grids.size() != 1)
      return decline(Reason::NoSingleGrid);
    std::optional<PointMeans> means = getMeans(point, grids.front());
    if (!means)
      return decline(Reason::NoHistogram);
    if (100 * std::abs(means->error) < threshold * std::abs(means->value) ||
        means->error == 0)
      return decline(Reason::BelowThreshold);

    ConstantFloats kernel = layer.op.getKernel();
    std::vector<double> ones(layer.op.numInputChannels(), means->error);
    SmallVector<Affine> correction;
    for (double term : layer.op.contract(kernel.values(), ones))
      correction.push_back({1, -term});
    if (failed(
            applyCorrection(layer, correction, tpc::kActivationBiasCorrection)))
      return failure();
    return std::optional<Record>();
  }
};
} // namespace
