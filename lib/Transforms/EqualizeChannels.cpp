// SPDX-License-Identifier: Apache-2.0
#include "ScalingPath.h"
#include "mct/IR/Constants.h"
#include "mct/IR/Names.h"
#include "mct/IR/Records.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Quantization/Corrections.h"
#include "mct/Quantization/Selection.h"
#include "mct/Quantizers/Channels.h"
#include "mct/Transforms/ImportedPoints.h"
#include "mct/Transforms/OutputMoments.h"
#include "mct/Transforms/Passes.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <limits>
#include <tuple>

namespace mct {
#define GEN_PASS_DEF_EQUALIZECHANNELSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Returns the elements of an f64 attribute, or none if their number is not
/// `channels`. A splat may have more elements than fit in memory, but no layer
/// has that many channels.
static std::optional<std::vector<double>> readChannels(ElementsAttr elements,
                                                       int64_t channels) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(elements);
  constexpr int64_t kMostChannels = 1 << 24;
  if (!dense || dense.getNumElements() != channels ||
      channels > kMostChannels || !dense.getElementType().isF64())
    return std::nullopt;
  return std::vector<double>(dense.value_begin<double>(),
                             dense.value_end<double>());
}

static int64_t lastSize(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getRank() ? type.getShape().back() : 0;
}

namespace {
/// Describes how the kernel of a layer is going to be quantized.
struct KernelGrid {
  quantization::SelectionOptions options;
  SmallVector<int64_t> axes;
  /// A factor of an output channel only scales the grid of that channel.
  bool followsOutputs = false;
};
} // namespace

/// Returns none, without a reason, for a kernel that stays float. If the error
/// cannot be estimated, `reason` is set to why.
static std::optional<KernelGrid> getKernelGrid(const KernelOp &layer,
                                               std::optional<Record> &reason) {
  tpc::QuantizeOp point = layer.getKernelPoint();
  tpc::AttrQuantConfigAttr config =
      point ? point.getWeightConfig() : tpc::AttrQuantConfigAttr();
  if (!config || !config.getEnabled())
    return std::nullopt;
  KernelGrid grid;
  std::optional<quantization::QuantizationMethod> search =
      config.getMethod().getGridSearch();
  if (!search) {
    reason = Reason::ErrorUnknown;
    return std::nullopt;
  }
  grid.options.kind = *search;
  if (config.getBits() < 1 || config.getBits() > 16) {
    reason = Record(Reason::ErrorUnknown)
             << "no error can be estimated for the width of a kernel";
    return std::nullopt;
  }
  grid.options.bits = config.getBits();
  grid.options.isSigned = true;
  grid.axes = llvm::to_vector(point.getChannelAxes());
  grid.followsOutputs = !config.getMethod().hasPowerOfTwoThresholds() &&
                        llvm::all_of(layer.getOutAxes(), [&](int64_t axis) {
                          return layer.getKernelShape()[axis] == 1 ||
                                 llvm::is_contained(grid.axes, axis);
                        });
  return grid;
}

/// Returns the square of (quantized - float) for each element of the kernel.
static std::vector<double> squaredErrors(ArrayRef<float> kernel,
                                         ArrayRef<int64_t> shape,
                                         const KernelGrid &grid) {
  std::vector<quantization::SelectedParameters> selected =
      quantization::selectPerChannel(kernel, shape, grid.axes, grid.options,
                                     /*threads=*/1);
  SmallVector<quantization::Grid> grids;
  for (const quantization::SelectedParameters &parameters : selected)
    grids.push_back(quantization::gridFor(parameters, grid.options));
  std::vector<float> quantized(kernel.size());
  quantization::fakeQuantizePerChannel(grids, shape, grid.axes, kernel.data(),
                                       quantized.data());
  std::vector<double> errors(kernel.size());
  for (auto [error, before, after] : llvm::zip_equal(errors, kernel, quantized))
    error = (double(after) - before) * (double(after) - before);
  return errors;
}

namespace {
struct EqualizeChannelsPass
    : public WithOpModels<
          mct::impl::EqualizeChannelsPassBase<EqualizeChannelsPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    const KernelOps &kernels = getAnalysis<KernelOps>();
    markAnalysesPreserved<KernelOps>();
    meanSquares.clear();
    getOperation().walk([&](tpc::QuantizeOp point) {
      if (tpc::StatisticsAttr statistics = point.getStatisticsAttr())
        if (auto squares = readChannels(statistics.getChannelMeanSquare(),
                                        lastSize(point.getOutput())))
          meanSquares[point] = std::move(*squares);
    });
    for (const KernelOp &layer : kernels.findBelow(getOperation()))
      equalize(kernels, layer);
  }

private:
  /// Two layers with a ReLU between them.
  struct Pair {
    KernelOp first, second;
    ScalingPath path;
    /// Factors of the first layer's kernel and bias, per output channel.
    std::vector<double> factors;
    /// Factor of each input channel of the second layer, and the output channel
    /// of the first layer that it holds.
    std::vector<double> carried, channelOf;
    /// Mean square of each input channel of the second layer.
    std::vector<double> meanSquare;
  };

  void equalize(const KernelOps &kernels, const KernelOp &first);
  /// Returns the factors of the output channels of a layer and their mean
  /// squares after the ReLU, at `point`; both are empty if the deviations are
  /// not known.
  std::pair<std::vector<double>, std::vector<double>>
  getFactors(const KernelOp &first, tpc::QuantizeOp point);
  /// Returns the mean square of each input channel of a layer, or none if it is
  /// not known.
  std::optional<std::vector<double>> getInputMeanSquare(const KernelOp &layer);
  /// Returns the errors at the output of the second layer before and after, or
  /// none if they cannot be estimated (`reason` explains why) or neither kernel
  /// is quantized.
  std::optional<std::pair<double, double>> estimate(const Pair &pair,
                                                    Record &reason);
  void apply(const Pair &pair);
  void leave(const KernelOp &first, const Record &why) {
    if (remarks)
      emitWithCause(first.getOperation(), getArgument(), why,
                    "is not equalized: ");
  }

  /// Mean squares of the channels of each point, updated when factors are
  /// moved.
  llvm::DenseMap<Operation *, std::vector<double>> meanSquares;
};
} // namespace

std::pair<std::vector<double>, std::vector<double>>
EqualizeChannelsPass::getFactors(const KernelOp &first, tpc::QuantizeOp point) {
  int64_t channels = first.numOutputChannels();
  tpc::StatisticsAttr statistics = point.getStatisticsAttr();
  auto means = readChannels(
      statistics ? statistics.getChannelMean() : ElementsAttr(), channels);
  auto observed = meanSquares.find(point);
  bool hasObserved = means && observed != meanSquares.end() &&
                     int64_t(observed->second.size()) == channels;
  std::vector<double> factors, squares;
  if (std::optional<OutputMoments> moments = getOutputMoments(first)) {
    for (int64_t channel = 0; channel != channels; ++channel) {
      quantization::Moments before{moments->mean[channel],
                                   moments->deviation[channel]};
      factors.push_back(quantization::equalizationFactor(before));
      quantization::Moments after = quantization::rectifiedMoments(before);
      squares.push_back(hasObserved ? observed->second[channel]
                                    : after.mean * after.mean +
                                          after.deviation * after.deviation);
    }
  } else if (hasObserved) {
    for (int64_t channel = 0; channel != channels; ++channel) {
      double mean = (*means)[channel];
      squares.push_back(observed->second[channel]);
      double deviation =
          std::sqrt(std::max(0.0, squares[channel] - mean * mean));
      factors.push_back(deviation > 1 ? 1 / deviation : 1);
    }
  }
  return {factors, squares};
}

void EqualizeChannelsPass::equalize(const KernelOps &kernels,
                                    const KernelOp &first) {
  ScalingPath path = followScaling(kernels, first.getResult());
  SmallVector<tosa::ClampOp> clamps = path.getClamps();
  if (clamps.empty())
    return;
  for (tosa::ClampOp clamp : clamps)
    if (!isUnbounded(clamp) && !perChannelBounds)
      return leave(first, {Decision::Declined, Reason::OneBound, clamp});
  if (!path.consumer)
    return leave(first,
                 Record(Decision::Declined, Reason::NoLayerReads, path.obstacle)
                     << "no layer reads its ReLU, and it alone");

  // Before the ReLU, values may only be moved; after it, there must be a point.
  auto relu = llvm::find_if(path.ops, llvm::IsaPred<tosa::ClampOp>);
  for (Operation *op : llvm::make_range(path.ops.begin(), relu))
    if (!isa<tpc::QuantizeOp>(op) && !getMovedOperand(op, keepsDistribution))
      return leave(first, {Decision::Declined, Reason::MovedBeforeRelu, op});
  auto found =
      std::find_if(relu, path.ops.end(), llvm::IsaPred<tpc::QuantizeOp>);
  if (found == path.ops.end())
    return leave(first, Reason::ReluNotQuantized);
  auto point = cast<tpc::QuantizeOp>(*found);
  if (hasImportedKernel(first) || hasImportedKernel(*path.consumer) ||
      llvm::any_of(path.getPoints(), [](tpc::QuantizeOp each) {
        return each.hasImportedParameters();
      }))
    return leave(first, Reason::ImportedParameters);

  int64_t channels = first.numOutputChannels();
  Pair pair{first, *path.consumer, path, {}, {}, {}, {}};
  std::vector<double> squares;
  std::tie(pair.factors, squares) = getFactors(first, point);
  if (pair.factors.empty())
    return leave(first, Reason::NoDeviations);
  if (llvm::all_of(pair.factors, [](double factor) { return factor == 1; }))
    return leave(first, Reason::EqualAlready);

  // Carry channel numbers instead of factors to find out where each channel
  // ends up.
  std::vector<double> numbers;
  for (int64_t channel = 0; channel != channels; ++channel)
    numbers.push_back(double(channel));
  auto channelOf = carryFactors(path, first.getResult(), first.resultAxis(),
                                std::move(numbers));
  if (!channelOf ||
      int64_t(channelOf->size()) != pair.second.numInputChannels())
    return leave(first, {Decision::Declined, Reason::OtherChannels,
                         pair.second.getOperation()});
  pair.channelOf = std::move(*channelOf);
  for (double channel : pair.channelOf) {
    pair.carried.push_back(pair.factors[size_t(channel)]);
    pair.meanSquare.push_back(squares[size_t(channel)]);
  }
  if (!first.getBias())
    return leave(first, Reason::BiasNotConstant);

  if (onlyIfBetter) {
    Record reason = Record(Reason::KernelNotQuantized)
                    << "none of the two kernels is quantized";
    std::optional<std::pair<double, double>> errors = estimate(pair, reason);
    if (!errors)
      return leave(first, reason);
    auto [before, after] = *errors;
    auto addErrors = [&, before = before, after = after](Record record) {
      return record << named("error_before", before, "%.3g") << " before, "
                    << named("error_after", after, "%.3g") << " after";
    };
    // A difference of rounding errors is not an improvement.
    if (!(after < before * (1 - 1e-6)))
      return leave(first,
                   addErrors(Record(Reason::ErrorWouldRise)
                             << "the error of the kernels would not fall: "));
    if (remarks)
      emitRecord(
          first.getOperation(), getArgument(),
          addErrors(Record(Decision::Applied, Reason::Equalized)
                    << "is equalized with the layer behind it; error of the "
                       "kernels: "));
  } else if (remarks) {
    emitRecord(first.getOperation(), getArgument(),
               Record(Decision::Applied, Reason::Equalized));
  }
  apply(pair);
}

std::optional<std::vector<double>>
EqualizeChannelsPass::getInputMeanSquare(const KernelOp &layer) {
  Value value = layer.getInput().get();
  int64_t axis = layer.inputAxis();
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tpc::QuantizeOp>(op)) {
      auto found = meanSquares.find(op);
      if (found == meanSquares.end() ||
          int64_t(found->second.size()) != layer.numInputChannels() ||
          axis + 1 != cast<RankedTensorType>(value.getType()).getRank())
        return std::nullopt;
      return found->second;
    }
    OpOperand *moved = getMovedOperand(op);
    auto moving = dyn_cast<DataMovementOpInterface>(op);
    if (!moved)
      return std::nullopt;
    // A border of zeros makes the mean square only slightly smaller than it is
    // inside.
    if (moving.getMovement() == Movement::Fill && moving.getFill() == 0.0f) {
      std::optional<ChannelMap> map =
          moving.mapChannels(moved->getOperandNumber(), axis);
      if (!map || map->axis != axis ||
          !map->isIdentity(layer.numInputChannels()))
        return std::nullopt;
    } else if (std::optional<int64_t> from = followChannelsBack(op, axis)) {
      axis = *from;
    } else {
      return std::nullopt;
    }
    value = moved->get();
  }
  return std::nullopt;
}

std::optional<std::pair<double, double>>
EqualizeChannelsPass::estimate(const Pair &pair, Record &reason) {
  std::optional<Record> unknown;
  std::optional<KernelGrid> firstGrid = getKernelGrid(pair.first, unknown);
  std::optional<KernelGrid> secondGrid = getKernelGrid(pair.second, unknown);
  if (unknown)
    reason = *unknown;
  if (unknown || (!firstGrid && !secondGrid))
    return std::nullopt;

  ConstantFloats firstFloats = pair.first.getKernel(),
                 secondFloats = pair.second.getKernel();
  ArrayRef<float> firstKernel = firstFloats.values(),
                  secondKernel = secondFloats.values();
  double before = 0, after = 0;

  std::optional<std::vector<double>> input = getInputMeanSquare(pair.first);
  if (firstGrid && !input && !firstGrid->followsOutputs) {
    reason = Record(Reason::ErrorUnknown)
             << "the error of its kernel depends on the mean square of its "
                "input; calibrate with channel-statistics=true";
    return std::nullopt;
  }
  if (firstGrid && input) {
    // The weights that read an error of the first layer carry it to the output
    // of the second one.
    std::vector<double> gain(pair.factors.size(), 0.0);
    for (auto [element, value] : llvm::enumerate(secondKernel))
      gain[size_t(pair.channelOf[pair.second.inChannelOf(element)])] +=
          double(value) * value;
    std::vector<float> scaled(firstKernel);
    for (auto [element, value] : llvm::enumerate(scaled))
      value = float(pair.factors[pair.first.outChannelOf(element)] * value);
    std::vector<double> old =
        squaredErrors(firstKernel, pair.first.getKernelShape(), *firstGrid);
    std::vector<double> changed =
        squaredErrors(scaled, pair.first.getKernelShape(), *firstGrid);
    for (size_t element = 0; element != old.size(); ++element) {
      int64_t channel = pair.first.outChannelOf(element);
      double weight = (*input)[pair.first.inChannelOf(element)] * gain[channel];
      double factor = pair.factors[channel];
      before += old[element] * weight;
      after += changed[element] * weight / (factor * factor);
    }
  }
  if (secondGrid) {
    std::vector<float> scaled(secondKernel);
    for (auto [element, value] : llvm::enumerate(scaled))
      value = float(value / pair.carried[pair.second.inChannelOf(element)]);
    std::vector<double> old =
        squaredErrors(secondKernel, pair.second.getKernelShape(), *secondGrid);
    std::vector<double> changed =
        squaredErrors(scaled, pair.second.getKernelShape(), *secondGrid);
    for (size_t element = 0; element != old.size(); ++element) {
      int64_t channel = pair.second.inChannelOf(element);
      double factor = pair.carried[channel];
      before += old[element] * pair.meanSquare[channel];
      after += changed[element] * pair.meanSquare[channel] * factor * factor;
    }
  }
  return std::pair(before, after);
}

/// Removes the upper bound of a ReLU and inserts a minimum of its result and
/// the bound times `factors` along `axis` instead.
static void boundEachChannel(tosa::ClampOp clamp, int64_t axis,
                             ArrayRef<double> factors) {
  OpBuilder builder(clamp->getContext());
  builder.setInsertionPointAfter(clamp);
  auto type = cast<RankedTensorType>(clamp.getType());
  double bound = cast<FloatAttr>(clamp.getMaxVal()).getValueAsDouble();
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape[axis] = int64_t(factors.size());
  std::vector<float> bounds;
  for (double factor : factors)
    bounds.push_back(float(factor * bound));
  StringAttr name = getName(clamp->getLoc());
  Value constant =
      createConstant(builder, clamp.getLoc(),
                     RankedTensorType::get(shape, builder.getF32Type()), bounds,
                     ((name ? name.getValue() : "relu") + ".bound").str());
  auto minimum =
      tosa::MinimumOp::create(builder, clamp.getLoc(), type, clamp.getOutput(),
                              constant, clamp.getNanMode());
  clamp.getOutput().replaceAllUsesExcept(minimum.getOutput(), minimum);
  clamp.setMaxValAttr(
      builder.getF32FloatAttr(std::numeric_limits<float>::max()));
  // The bounded value keeps its name, to which points and groups refer.
  if (name)
    clamp->setLoc(NameLoc::get(
        builder.getStringAttr(name.getValue() + "_unbounded"), clamp.getLoc()));
}

void EqualizeChannelsPass::apply(const Pair &pair) {
  OpBuilder builder(pair.first.getOperation());
  struct Bounded {
    tosa::ClampOp clamp;
    int64_t axis;
    SmallVector<double> factors;
  };
  SmallVector<Bounded> bounded;
  scaleOutputs(builder, pair.first, pair.factors);
  scaleInputs(builder, pair.second, invertFactors(pair.carried));
  carryFactors(
      pair.path, pair.first.getResult(), pair.first.resultAxis(), pair.factors,
      [&](Operation *op, int64_t axis, ArrayRef<double> factors) {
        if (auto clamp = dyn_cast<tosa::ClampOp>(op);
            clamp && !isUnbounded(clamp))
          bounded.push_back({clamp, axis, llvm::to_vector(factors)});
        auto point = dyn_cast<tpc::QuantizeOp>(op);
        if (!point)
          return;
        point.removeStatisticsAttr();
        point.removeQuantizer();
        tpc::RangeAttr range = point.getRangeAttr();
        if (range && (range.getMin().value_or(0) != 0 ||
                      range.getMax().value_or(0) != 0))
          point.removeRangeAttr();
        auto found = meanSquares.find(op);
        if (found == meanSquares.end())
          return;
        auto type = cast<RankedTensorType>(point.getType());
        if (axis + 1 != type.getRank() ||
            found->second.size() != factors.size()) {
          meanSquares.erase(found);
          return;
        }
        for (auto [square, factor] : llvm::zip_equal(found->second, factors))
          square *= factor * factor;
      });
  renameChanged(pair.first, pair.path.ops, "_scaled");
  for (const Bounded &relu : bounded)
    boundEachChannel(relu.clamp, relu.axis, relu.factors);
}
