// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/Constants.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Planning/KernelRows.h"
#include "mct/Quantization/FiniteValues.h"
#include "mct/Quantization/Parallel.h"
#include "mct/Quantizers/Channels.h"
#include "mct/Support/ContextThreads.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/SelectedParameters.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include <cmath>

namespace mct {
#define GEN_PASS_DEF_SELECTWEIGHTPARAMETERSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

namespace {
/// A point, its weights, and the parameters found for each channel.
struct WeightSearch {
  // `rows` refer to values of this object, so a copy would refer to the
  // original.
  WeightSearch() = default;
  WeightSearch(WeightSearch &&) = default;

  tpc::QuantizeOp point;
  quantization::SelectionOptions options;
  std::optional<ConstantFloats> values;
  quantization::ChannelRows rows;
  size_t channels = 0;
  /// Weight of each element's error, or empty.
  std::vector<float> elementWeights;
  quantization::ChannelRows weightRows;
  /// Empty for a table, and for a method with its own selection.
  std::vector<quantization::SelectedParameters> selected;

  tpc::QuantizationMethodAttrInterface method() const {
    return tpc::QuantizeOp(point).getWeightConfig().getMethod();
  }

  /// Searches for parameters of the channels from `first` on that are read
  /// together.
  void run(size_t first, const support::Threads &workers) {
    size_t count = std::min(rows.numTogether(), channels - first);
    std::vector<float> buffer, weightBuffer;
    ArrayRef<float> read = rows.read(first, count, buffer);
    ArrayRef<float> weights = weightRows.read(
        first, elementWeights.empty() ? 0 : count, weightBuffer);
    for (size_t i = 0; i != count && !workers.isCancelled(); ++i) {
      auto rowOf = [&](ArrayRef<float> all) {
        return all.empty() ? all : all.slice(i * rows.length(), rows.length());
      };
      selected[first + i] =
          quantization::selectForValues(rowOf(read), options, rowOf(weights));
    }
  }

  /// All channels share the table, so the work cannot be split by channel.
  quantization::LutParameters
  selectTable(const support::Threads &threads) const {
    return quantization::selectLut(values->values(), values->shape(),
                                   tpc::QuantizeOp(point).getChannelAxes(),
                                   options, threads);
  }
};
} // namespace

/// Returns the op that uses the point's result as its kernel.
static std::optional<KernelOp> findKernelOp(tpc::QuantizeOp point,
                                            const KernelOps &kernels) {
  for (Operation *user : point->getUsers())
    if (std::optional<KernelOp> kernel = kernels.get(user);
        kernel && kernel->getKernelPoint() == point)
      return kernel;
  return std::nullopt;
}

/// Returns the mean square of the input channel of each kernel element; empty
/// if mse is used instead.
static FailureOr<std::vector<float>> getElementWeights(tpc::QuantizeOp point,
                                                       const KernelOps &kernels,
                                                       size_t elements) {
  std::optional<KernelOp> kernel = findKernelOp(point, kernels);
  if (!kernel)
    return std::vector<float>();
  auto input = kernel->getInput().get().getDefiningOp<tpc::QuantizeOp>();
  auto inputType = cast<RankedTensorType>(kernel->getInput().get().getType());
  // Channel statistics are those of the last axis.
  if (!input || kernel->inputAxis() != inputType.getRank() - 1) {
    InFlightDiagnostic warning = point.emitWarning()
                                 << "takes mse instead of hmse";
    warning.attachNote(kernel->getLoc())
        << "the op reads no activation point whose last axis has its input "
           "channels";
    return std::vector<float>();
  }
  tpc::StatisticsAttr statistics = input.getStatisticsAttr();
  if (!statistics || !statistics.getChannelMeanSquare()) {
    InFlightDiagnostic diagnostic =
        point.emitOpError()
        << "needs the mean square of its op's input channels for hmse";
    diagnostic.attachNote(input.getLoc())
        << "this point has no channel statistics; run mct-calibrate with "
           "channel-statistics=true before";
    return diagnostic;
  }
  ElementsAttr meanSquares = statistics.getChannelMeanSquare();
  if (meanSquares.getNumElements() != kernel->numInputChannels())
    return point.emitOpError()
           << "has an op with " << kernel->numInputChannels()
           << " input channels, whose statistics are about "
           << meanSquares.getNumElements();
  std::vector<double> perChannel(meanSquares.value_begin<double>(),
                                 meanSquares.value_end<double>());
  // Only the ratios matter, and the square of a float may not be a float.
  double largest = 0;
  for (double square : perChannel) {
    if (!(square >= 0) || !std::isfinite(square))
      return point.emitOpError()
             << "needs the mean squares of its op's input channels for hmse, "
                "but one is "
             << square << "; run mct-calibrate again";
    largest = std::max(largest, square);
  }
  int exponent = largest > 0 ? std::ilogb(largest) : 0;
  for (double &square : perChannel)
    square = std::ldexp(square, -exponent);
  std::vector<float> weights(elements);
  forEachKernelElement(*kernel, [&](int64_t element, int64_t, int64_t from) {
    weights[element] = static_cast<float>(perChannel[from]);
  });
  return weights;
}

/// Returns the axis with the least error for a method with its own selection;
/// the first one if errors are equal.
static llvm::Expected<int64_t>
selectOwnAxis(tpc::QuantizationMethodAttrInterface method,
              const ConstantFloats &values,
              const quantization::SelectionOptions &options) {
  std::optional<std::pair<double, int64_t>> best;
  for (int64_t axis = 0; axis != int64_t(values.shape().size()); ++axis) {
    std::vector<float> rows =
        quantization::gatherChannels(values.values(), values.shape(), axis);
    int64_t channels = values.shape()[axis];
    llvm::Expected<tpc::QuantizerAttrInterface> found =
        method.selectForChannels(rows, channels, options);
    if (!found)
      return found.takeError();
    double error = meanSquaredError(*found, rows, channels);
    if (!best || error < best->first)
      best = {error, axis};
  }
  return best->second;
}

/// If the target quantizes a positional constant per channel, but its channel
/// axis is unknown, chooses the axis with the least error.
static LogicalResult chooseAxis(tpc::QuantizeOp point,
                                const ConstantFloats &values,
                                quantization::SelectionOptions options,
                                const support::Threads &threads) {
  options.errorTolerance = 1;
  if (point.getWeight() != tpc::kPositionalWeight || point.getAxes() ||
      !point.getWeightConfig().getPerChannel() || values.shape().empty())
    return success();
  tpc::QuantizationMethodAttrInterface method =
      point.getWeightConfig().getMethod();
  int64_t axis = 0;
  if (method.getGridSearch()) {
    axis = quantization::selectAxis(values.values(), values.shape(), options,
                                    threads)
               .axis;
  } else if (method.getTableSearch()) {
    axis = quantization::selectLutAxis(values.values(), values.shape(), options,
                                       threads);
  } else {
    llvm::Expected<int64_t> found = selectOwnAxis(method, values, options);
    if (!found)
      return point.emitOpError() << llvm::toString(found.takeError());
    axis = *found;
  }
  // A single channel is the same as one parameter for the tensor.
  if (values.shape()[axis] > 1)
    point.setAxes(ArrayRef<int64_t>(axis));
  return success();
}

static FailureOr<WeightSearch> createSearch(tpc::QuantizeOp point,
                                            const SelectionSettings &settings,
                                            const KernelOps *kernels,
                                            const support::Threads &threads) {
  tpc::AttrQuantConfigAttr config = point.getWeightConfig();
  if (!config)
    return point.emitOpError()
           << "has no config; run mct-insert-quantizers, or give it one";
  tpc::QuantizationMethodAttrInterface method = config.getMethod();
  bool searchesGrid = method.getGridSearch().has_value();
  // A table whose number of entries is that of the values is a grid.
  constexpr int64_t kMaxIndexBits = quantization::kTableBits - 1;
  if ((searchesGrid && failed(checkSelectableBits(point, config.getBits(),
                                                  settings.errorMethod))) ||
      (method.getTableSearch() &&
       failed(checkSelectableTable(point, config.getBits(), kMaxIndexBits,
                                   config.getLutValuesBits()))))
    return failure();
  std::optional<ConstantFloats> values = ConstantFloats::get(point.getInput());
  if (!values)
    return point.emitOpError() << "quantizes a weight that is not a constant "
                                  "f32 tensor; fold constants first";
  if (std::optional<size_t> index =
          quantization::findNonFinite(values->values(), threads))
    return point.emitOpError()
           << "quantizes a weight with the value " << values->values()[*index]
           << " at element " << *index;
  SelectionSettings own = settings;
  if (std::optional<int64_t> tolerance = config.getErrorTolerance())
    own.errorTolerance = std::max(own.errorTolerance, double(*tolerance));
  if (failed(own.verify([&] { return point.emitOpError(); })))
    return failure();
  WeightSearch search;
  search.point = point;
  search.options = own.optionsFor(method, config.getBits());
  search.options.isSigned = true;
  if (failed(chooseAxis(point, *values, search.options, threads)))
    return failure();
  ArrayRef<int64_t> axes = point.getChannelAxes();
  if (kernels && searchesGrid) {
    FailureOr<std::vector<float>> weights =
        getElementWeights(point, *kernels, values->values().size());
    if (failed(weights))
      return failure();
    search.elementWeights = std::move(*weights);
    search.weightRows =
        quantization::ChannelRows(search.elementWeights, values->shape(), axes);
  }
  search.channels = quantization::channelCount(values->shape(), axes);
  if (search.channels == 0)
    return point.emitOpError()
           << "quantizes per channel a weight of type " << point.getType()
           << ", which has no channels; leave it in float with a rule 'name \""
           << point.getPointName() << "\" weights=float' of an overrides file";
  if (searchesGrid)
    search.selected.resize(search.channels);
  search.values = std::move(values);
  search.rows = quantization::ChannelRows(search.values->values(),
                                          search.values->shape(), axes);
  return search;
}

namespace {
struct SelectWeightParametersPass
    : public mct::impl::SelectWeightParametersPassBase<
          SelectWeightParametersPass> {
  using SelectWeightParametersPassBase::SelectWeightParametersPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SelectionSettings settings = {errorMethod,      lpNorm,
                                  percentile,       minThreshold,
                                  /*zThreshold=*/0, errorTolerance};
    if (failed(settings.verify([&] { return module.emitError(); })))
      return signalPassFailure();
    support::Threads workers = support::getThreads(&getContext(), threads);
    const KernelOps *kernels = nullptr;
    if (errorMethod == quantization::ErrorMethod::HMSE)
      kernels = &getAnalysis<KernelOps>();

    std::vector<WeightSearch> searches;
    WalkResult result = module.walk([&](tpc::QuantizeOp point) {
      if (point.isActivation() || point.getParametersAttr())
        return WalkResult::advance();
      FailureOr<WeightSearch> search =
          createSearch(point, settings, kernels, workers);
      if (failed(search))
        return WalkResult::interrupt();
      searches.push_back(std::move(*search));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();

    // Collect the channels of all points, so that no thread waits at the end of
    // a point.
    std::vector<std::pair<size_t, size_t>> tasks;
    size_t elements = 0;
    for (auto [index, search] : llvm::enumerate(searches)) {
      elements += search.values->values().size();
      for (size_t channel = 0; channel < search.selected.size();
           channel += search.rows.numTogether())
        tasks.push_back({index, channel});
    }
    // Starting a thread takes longer than searching a few short rows.
    workers = workers.atMost(1 + elements / 2048);
    quantization::parallelFor(tasks.size(), workers, [&](size_t i) {
      searches[tasks[i].first].run(tasks[i].second, workers);
    });
    for (WeightSearch &search : searches) {
      if (workers.isCancelled()) {
        search.point.emitOpError() << "got no parameters: cancelled";
        return signalPassFailure();
      }
      if (failed(finish(search, workers)))
        return signalPassFailure();
      if (remarks)
        remarkOnSelection(
            search.point, getArgument(),
            llvm::count_if(search.selected, [](const auto &channel) {
              return channel.isLarger;
            }));
    }
  }

private:
  /// Sets the quantizer of the point, after the channels have been searched.
  static LogicalResult finish(WeightSearch &search,
                              const support::Threads &workers) {
    MLIRContext *context = search.point.getContext();
    tpc::QuantizationMethodAttrInterface method = search.method();
    if (method.getGridSearch()) {
      search.point.setQuantizer(
          method.createQuantizer(search.selected, search.options),
          describeSelection(context, search.selected, search.options));
      return success();
    }
    if (method.getTableSearch()) {
      quantization::LutParameters table = search.selectTable(workers);
      search.point.setQuantizer(
          method.createTableQuantizer(table, search.options),
          describeSelection(context, table));
      return success();
    }
    auto channels = int64_t(search.channels);
    std::vector<float> buffer;
    ArrayRef<float> rows = search.rows.read(0, search.channels, buffer);
    llvm::Expected<tpc::QuantizerAttrInterface> found =
        method.selectForChannels(rows, channels, search.options);
    if (!found)
      return search.point.emitOpError() << llvm::toString(found.takeError());
    search.point.setQuantizer(
        *found, describeError(context, tpc::ErrorMethod::Own,
                              meanSquaredError(*found, rows, channels)));
    return success();
  }
};
} // namespace
