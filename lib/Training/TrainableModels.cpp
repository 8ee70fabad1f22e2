// SPDX-License-Identifier: Apache-2.0
#include "TrainableModels.h"
#include "mct/Quantizers/Channels.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mct;
using mct::quantization::TrainedRange;

LogicalResult mct::noImplementation(tpc::QuantizeOp point) {
  return point.emitOpError()
         << "cannot be trained as " << point.getTrainableAttr()
         << ": nothing implements TrainableQuantizerAttrInterface for it";
}

SmallVector<int64_t> mct::getParameterShape(tpc::QuantizeOp point,
                                            size_t channels) {
  auto type = cast<RankedTensorType>(point.getInput().getType());
  SmallVector<int64_t> shape(type.getRank(), 1);
  if (channels != 1)
    for (int64_t axis : point.getChannelAxes())
      shape[axis] = type.getDimSize(axis);
  return shape;
}

double mct::getGradientScale(tpc::QuantizeOp point, std::optional<double> given,
                             tpc::StepGradient gradient, unsigned bits,
                             bool isSigned) {
  if (given)
    return *given;
  if (gradient == tpc::StepGradient::StraightThrough)
    return 1;
  int64_t parameters = 1;
  ArrayRef<int64_t> shape = GradientBuilder::shapeOf(point.getInput());
  if (point.isWeight())
    parameters =
        GradientBuilder::typeOf(point.getLearned().front()).getNumElements();
  else if (!shape.empty())
    parameters = shape.back();
  return quantization::learnedStepGradientScale(bits, isSigned, parameters);
}

FailureOr<SmallVector<TrainedRange>> mct::getRanges(tpc::QuantizeOp point,
                                                    bool isNarrow) {
  SmallVector<quantization::Grid> grids;
  if (tpc::QuantizerAttrInterface parameters = point.getParametersAttr())
    grids = parameters.getGrids();
  if (grids.empty())
    return point.emitOpError()
           << "has no range to learn from; select parameters of evenly spaced "
              "levels first";
  SmallVector<TrainedRange> ranges;
  for (const quantization::Grid &grid : grids) {
    int64_t lowest = grid.qmin - grid.zeroPoint;
    ranges.push_back({grid.step * double(lowest + int64_t(isNarrow)),
                      grid.step * double(grid.qmax - grid.zeroPoint)});
  }
  return ranges;
}

SmallVector<LearnedTensor> mct::getLearnedEnds(tpc::QuantizeOp point,
                                               ArrayRef<TrainedRange> ranges) {
  LearnedTensor min, max;
  min.shape = max.shape = getParameterShape(point, ranges.size());
  for (TrainedRange range : ranges) {
    min.values.push_back(static_cast<float>(range.min));
    max.values.push_back(static_cast<float>(range.max));
  }
  return {min, max};
}

Value mct::buildRound(GradientBuilder &b, Value values) {
  // TOSA's cast rounds half to even, and clips to the range of i32.
  return b.cast(b.cast(values, b.getI32Type()),
                GradientBuilder::typeOf(values).getElementType());
}

Value mct::buildClamp(GradientBuilder &b, Value values, double lowest,
                      double highest) {
  RankedTensorType type = GradientBuilder::typeOf(values);
  return b.make(
      "tosa.clamp", type, {values},
      {b.getNamedAttr("min_val", b.getFloatAttr(type.getElementType(), lowest)),
       b.getNamedAttr("max_val",
                      b.getFloatAttr(type.getElementType(), highest))});
}

OnGrid mct::buildOnGrid(GradientBuilder &b, Value values, Value step,
                        double lowest, double highest) {
  OnGrid grid;
  grid.step = step;
  grid.levels = b.mul(values, b.reciprocal(step));
  Value rounded = buildRound(b, grid.levels);
  grid.clipped = buildClamp(b, rounded, lowest, highest);
  grid.inside = b.equal(grid.clipped, rounded);
  return grid;
}

tpc::QuantizerAttrInterface
mct::createQuantizer(MLIRContext *context, tpc::QuantizationMethod method,
                     ArrayRef<quantization::SelectedParameters> parameters,
                     unsigned bits, bool isSigned) {
  quantization::SelectionOptions options;
  options.bits = bits;
  options.isSigned = isSigned;
  return tpc::MethodAttr::get(context, method)
      .createQuantizer(parameters, options);
}

tpc::QuantizerAttrInterface
mct::withRoundingOf(tpc::QuantizeOp point,
                    tpc::QuantizerAttrInterface parameters) {
  std::optional<quantization::Rounding> rounding;
  if (tpc::QuantizerAttrInterface present = point.getParametersAttr())
    rounding = present.getRoundingMode();
  return rounding ? parameters.withRoundingMode(*rounding) : parameters;
}

void mct::registerTrainableQuantizers(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tpc::TpcDialect *) {
    attachThresholdQuantizers(context);
    attachRangeQuantizers(context);
    attachRoundingQuantizers(context);
    attachObservedQuantizers(context);
    attachComposedQuantizers(context);
  });
}

LogicalResult mct::expandTrainablePoints(func::FuncOp function) {
  SmallVector<tpc::QuantizeOp> points;
  function.walk([&](tpc::QuantizeOp point) {
    if (!point.getLearned().empty())
      points.push_back(point);
  });
  GradientRules rules;
  for (tpc::QuantizeOp point : points) {
    auto trainable =
        dyn_cast<TrainableQuantizerAttrInterface>(point.getTrainableAttr());
    if (!trainable)
      return noImplementation(point);
    GradientBuilder builder(point.getLoc(), point, rules);
    point.replaceAllUsesWith(trainable.buildForward(builder, point));
    point.erase();
  }
  return success();
}

void mct::forEachWeight(
    tpc::QuantizeOp point, ArrayRef<quantization::Grid> grids,
    llvm::function_ref<void(size_t, const quantization::Grid &)> visit) {
  ArrayRef<int64_t> axes;
  if (grids.size() != 1)
    axes = point.getChannelAxes();
  quantization::forEachChannelRun(
      GradientBuilder::shapeOf(point.getInput()), axes,
      [&](size_t begin, size_t length, int64_t channel, int64_t channelStep) {
        for (size_t i = 0; i != length; ++i)
          visit(begin + i, grids[channel + channelStep * int64_t(i)]);
      });
}
