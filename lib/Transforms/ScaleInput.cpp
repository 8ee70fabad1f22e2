// SPDX-License-Identifier: Apache-2.0
#include "ScalingPath.h"
#include "mct/IR/Names.h"
#include "mct/IR/Records.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Transforms/ImportedPoints.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLExtras.h"

namespace mct {
#define GEN_PASS_DEF_SCALEINPUTPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Suffix of the name of a scaled value, which differs from the input.
static constexpr StringLiteral kScaledSuffix = "_scaled";

template <typename T>
static ElementsAttr scale(ElementsAttr elements, double factor) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(elements);
  if (!dense)
    return {};
  // A splat stands for any number of channels and is not expanded.
  if (dense.isSplat())
    return DenseElementsAttr::get(dense.getType(),
                                  T(factor * dense.getSplatValue<T>()));
  SmallVector<T> values;
  for (T value : dense.getValues<T>())
    values.push_back(T(factor * value));
  return DenseElementsAttr::get(dense.getType(), ArrayRef<T>(values));
}

/// Returns the statistics of values multiplied by `factor` > 0. The histogram
/// is dropped, since its counts cannot be redistributed to bins of another
/// width.
static tpc::StatisticsAttr scale(tpc::StatisticsAttr statistics,
                                 double factor) {
  return tpc::StatisticsAttr::get(
      statistics.getContext(), statistics.getCount(), statistics.getZeros(),
      float(factor * statistics.getMin()), float(factor * statistics.getMax()),
      /*histogram=*/tpc::HistogramAttr(),
      scale<double>(statistics.getChannelMean(), factor),
      scale<double>(statistics.getChannelMeanSquare(), factor * factor),
      scale<float>(statistics.getChannelMin(), factor),
      scale<float>(statistics.getChannelMax(), factor));
}

namespace {
struct ScaleInputPass
    : public WithOpModels<mct::impl::ScaleInputPassBase<ScaleInputPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    const KernelOps &kernels = getAnalysis<KernelOps>();
    markAnalysesPreserved<KernelOps>();
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (BlockArgument argument : function.getArguments())
        for (Operation *user : argument.getUsers())
          if (auto point = dyn_cast<tpc::QuantizeOp>(user);
              point && point.isActivation()) {
            scaleInput(kernels, argument, point);
            break;
          }
  }

private:
  void scaleInput(const KernelOps &kernels, BlockArgument argument,
                  tpc::QuantizeOp point) {
    if (!argument.hasOneUse())
      return leave(point, Reason::ReadUnquantized);
    if (!point.getParametersAttr() || !point.getStatisticsAttr())
      return leave(point, Reason::NoParameters);
    if (point.hasImportedParameters())
      return leave(point, Reason::ImportedParameters);
    std::optional<double> threshold =
        point.getParametersAttr().getGridThreshold();
    if (!threshold)
      return leave(point, Record(Reason::NoThreshold)
                              << "its quantizer has no threshold to fill");
    double largest = std::max(std::abs(point.getStatisticsAttr().getMin()),
                              std::abs(point.getStatisticsAttr().getMax()));
    if (largest == 0 || *threshold <= largest)
      return;
    SmallVector<KernelOp> consumers;
    for (OpOperand &use : point.getOutput().getUses()) {
      ScalingPath path = followScaling(kernels, use);
      // The parameters of another point are for the unscaled values.
      if (!path.consumer || !path.getPoints().empty() ||
          !llvm::all_of(path.getClamps(), isUnbounded))
        return leave(point, {Decision::Declined, Reason::UserTakesNoFactor,
                             path.obstacle ? path.obstacle : use.getOwner()});
      if (hasImportedKernel(*path.consumer))
        return leave(point, {Decision::Declined, Reason::ImportedParameters,
                             path.consumer->getOperation()});
      consumers.push_back(*path.consumer);
    }
    if (consumers.empty())
      return;

    double factor = largest / *threshold;
    OpBuilder builder(point);
    for (const KernelOp &consumer : consumers)
      scaleInputs(builder, consumer,
                  std::vector<double>(consumer.numInputChannels(), factor));
    builder.setInsertionPoint(point);
    auto type = cast<RankedTensorType>(point.getType());
    Location loc = argument.getLoc();
    if (StringAttr name = mct::getName(argument))
      loc = NameLoc::get(builder.getStringAttr(name.getValue() + kScaledSuffix),
                         loc);
    Value number = createConstant(
        builder, loc,
        RankedTensorType::get(SmallVector<int64_t>(type.getRank(), 1),
                              builder.getF32Type()),
        {float(1 / factor)}, "scale");
    tosa::MulOp scaled = createProduct(builder, loc, type, argument, number);
    point.getInputMutable().assign(scaled.getOutput());
    point.setStatisticsAttr(scale(point.getStatisticsAttr(), 1 / factor));
    point.removeRangeAttr();
    if (remarks)
      emitRecord(point, getArgument(),
                 Record(Decision::Applied, Reason::Scaled)
                     << "input '" << point.getPointName() << "' is scaled by "
                     << named("factor", 1 / factor));
    point.setPointName((point.getPointName() + kScaledSuffix).str());
  }

  void leave(tpc::QuantizeOp point, const Record &why) {
    if (remarks)
      emitWithCause(point, getArgument(), why,
                    "input '" + point.getPointName() + "' is not scaled: ");
  }
};
} // namespace
