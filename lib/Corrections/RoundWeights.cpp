// SPDX-License-Identifier: Apache-2.0
#include "ChannelRun.h"
#include "Layers.h"
#include "ProductLayout.h"
#include "mct/Corrections/Passes.h"
#include "mct/Execution/RunCache.h"
#include "mct/Quantization/LeastSquaresRounding.h"
#include "mct/Quantization/Parallel.h"
#include "mct/Transforms/SelectedParameters.h"
#include "mlir/IR/Matchers.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace mct {
#define GEN_PASS_DEF_ROUNDWEIGHTSPASS
#include "mct/Corrections/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using execution::TensorView;
using quantization::Affine;
using quantization::ProductMoments;
using quantization::WeightLevels;

/// Bytes of the rows that are kept of all layers that are measured together.
static constexpr int64_t kRowBytes = int64_t(32) << 20;

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

namespace {
/// A layer whose weights are rounded, and the quantizers that it may get.
struct RoundedLayer {
  RoundedLayer(ProductLayout layout, std::vector<size_t> parameterOf)
      : layout(std::move(layout)), parameterOf(std::move(parameterOf)) {}

  ProductLayout layout;
  /// Of each output channel its parameter of the quantizer.
  std::vector<size_t> parameterOf;
  /// Whether no two channels share a parameter.
  bool choosesPerChannel = false;
  /// Factors of the parameters, the first one is 1; for each what the levels
  /// are, one entry for the tensor or one for each output channel.
  std::vector<double> factors;
  std::vector<std::vector<WeightLevels>> candidates;

  // What became of it.
  tpc::QuantizerAttrInterface parameters;
  std::vector<float> kernel, bias;
  SmallVector<double> errors;
  double error = 0, nearestError = 0;
};
} // namespace

/// The same kind of quantizer with other parameters, or null.
static tpc::QuantizerAttrInterface scale(tpc::QuantizerAttrInterface quantizer,
                                         ArrayRef<double> factors) {
  ArrayRef<double> thresholds = quantizer.getThresholds();
  if (thresholds.empty())
    return quantizer.takesFactors() ? quantizer.scaledBy(factors)
                                    : tpc::QuantizerAttrInterface();
  SmallVector<double> scaled;
  for (auto [number, threshold] : llvm::enumerate(thresholds))
    scaled.push_back(threshold * factors[factors.size() == 1 ? 0 : number]);
  return quantizer.withThresholds(scaled);
}

/// Levels of each parameter, which is not always that of one channel.
static std::vector<WeightLevels>
getLevels(tpc::QuantizerAttrInterface quantizer) {
  std::vector<WeightLevels> levels;
  for (const quantization::Grid &grid : quantizer.getGrids())
    levels.push_back({grid, {}});
  if (levels.empty())
    for (size_t parameter = 0; parameter != quantizer.getNumChannels();
         ++parameter) {
      SmallVector<float> own = quantizer.getLevels(parameter);
      levels.push_back({{}, {own.begin(), own.end()}});
    }
  return levels;
}

/// Of each output channel the parameter of its weights; none where its weights
/// have several.
static std::optional<std::vector<size_t>>
getParameters(const Layer &layer, tpc::QuantizerAttrInterface quantizer) {
  std::vector<size_t> parameters(layer.op.numOutputChannels(), 0);
  if (quantizer.getNumChannels() == 1)
    return parameters;
  ArrayRef<int64_t> shape = layer.op.getKernelShape();
  tpc::QuantizeOp point = layer.point;
  ArrayRef<int64_t> axes = point.getChannelAxes();
  std::vector<bool> known(parameters.size(), false);
  SmallVector<int64_t> index(shape.size(), 0);
  auto elements = int64_t(layer.op.getKernel().values().size());
  for (int64_t element = 0; element != elements; ++element) {
    int64_t parameter = 0;
    for (int64_t axis : axes)
      parameter = parameter * shape[axis] + index[axis];
    int64_t channel = layer.op.outChannelOf(element);
    if (known[channel] && parameters[channel] != size_t(parameter))
      return std::nullopt;
    known[channel] = true;
    parameters[channel] = size_t(parameter);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] != shape[axis])
        break;
      index[axis] = 0;
    }
  }
  return parameters;
}

static bool hasDuplicates(ArrayRef<size_t> numbers) {
  std::vector<size_t> sorted(numbers.begin(), numbers.end());
  llvm::sort(sorted);
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

/// Why the weights of a layer cannot be rounded together, or how they are.
static std::variant<Record, RoundedLayer> describe(const Layer &layer,
                                                   unsigned maxBits) {
  tpc::QuantizeOp point = layer.point;
  tpc::QuantizerAttrInterface quantizer = point.getParametersAttr();
  if (quantizer.getBits() > maxBits)
    return Record(Reason::TooManyBits)
           << "its kernel has more bits than max-bits";
  std::optional<ProductLayout> layout = ProductLayout::create(layer.op);
  if (!layout)
    return Record(Reason::OtherLayout);
  std::optional<std::vector<size_t>> parameters =
      getParameters(layer, quantizer);
  if (!parameters)
    return Record(Reason::NotPerChannel)
           << "weights of one output channel have several thresholds";
  RoundedLayer rounded(std::move(*layout), std::move(*parameters));
  rounded.choosesPerChannel = !hasDuplicates(rounded.parameterOf);
  auto add = [&](double factor) {
    tpc::QuantizerAttrInterface scaled =
        factor == 1 ? quantizer : scale(quantizer, factor);
    if (!scaled ||
        failed(scaled.verifyParameters([&] { return InFlightDiagnostic(); })))
      return;
    std::vector<WeightLevels> levels = getLevels(scaled);
    if (levels.size() != 1) {
      std::vector<WeightLevels> byChannel;
      for (size_t parameter : rounded.parameterOf)
        byChannel.push_back(levels[parameter]);
      levels = std::move(byChannel);
    }
    rounded.factors.push_back(factor);
    rounded.candidates.push_back(std::move(levels));
  };
  add(1);
  // One threshold for all channels is one choice for all of them; several that
  // channels share in part stay.
  if (quantizer.getNumChannels() == 1 || rounded.choosesPerChannel)
    for (int step = -24; step <= 12; ++step)
      if (step != 0)
        add(std::exp2(step / 20.0));
  return rounded;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Scrambles a number, so that rows chosen by it stand in no relation to the
/// rows and columns of images.
static uint64_t scramble(uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

namespace {
/// Rows of the product of one layer: what it reads in the quantized network and
/// what it makes in the float one. Where all would take too much memory, of
/// every few rows in a row one; which one does not depend on anything else, so
/// that any number of workers in any order keeps the same.
class ProductRows {
public:
  ProductRows(const ProductLayout &layout, int64_t unit, int64_t rowsPerUnit,
              int64_t samples, int64_t bytes)
      : layout(layout), unit(unit), rowsPerUnit(rowsPerUnit) {
    total = rowsPerUnit % unit == 0
                ? rowsPerUnit / unit * samples
                : rowsPerUnit * int64_t(llvm::divideCeil(samples, unit));
    int64_t rowBytes =
        int64_t(sizeof(float)) * (layout.rowSize() + layout.channels());
    int64_t most = std::max<int64_t>(1, bytes / rowBytes);
    step = std::max<int64_t>(1, int64_t(llvm::divideCeil(total, most)));
    auto kept = int64_t(llvm::divideCeil(total, step));
    inputs.resize(kept * layout.rowSize());
    targets.resize(kept * layout.channels());
    seen.assign(kept, 0);
  }

  void add(LayerValue what, const TensorView &values) {
    bool isInput = what == LayerValue::Input;
    ArrayRef<int64_t> shape = values.shape();
    int64_t first = values.samples().first / unit * rowsPerUnit;
    int64_t rows = rowsPerUnit % unit == 0
                       ? rowsPerUnit / unit * values.samples().count
                       : rowsPerUnit;
    const float *data = values.floats().data();
    for (int64_t slot = first / step; slot * step < first + rows; ++slot) {
      int64_t begin = slot * step;
      auto among = uint64_t(std::min(step, total - begin));
      int64_t row = begin + int64_t(scramble(uint64_t(slot)) % among) - first;
      if (row < 0 || row >= rows)
        continue;
      if (isInput)
        layout.gatherInput(data, shape, row, &inputs[slot * layout.rowSize()]);
      else
        layout.gatherResult(data, shape, row,
                            &targets[slot * layout.channels()]);
      // Written by the worker of this row only.
      seen[slot] |= isInput ? 1 : 2;
    }
  }

  /// Numbers among what was kept that are NaN or infinite.
  int64_t countNonFinite() const {
    auto count = [](ArrayRef<float> values) {
      return llvm::count_if(values,
                            [](float value) { return !std::isfinite(value); });
    };
    return count(inputs) + count(targets);
  }

  /// Of each group.
  std::vector<ProductMoments> moments(const support::Threads &threads) {
    int64_t rows = compact(), width = layout.rowSize();
    std::vector<ProductMoments> groups(layout.groups());
    bool single = groups.size() == 1;
    auto compute = [&](size_t group, const support::Threads &own) {
      groups[group] = quantization::productMoments(
          {inputs.data() + int64_t(group) * layout.columns(), rows,
           layout.columns(), width},
          {targets.data() + int64_t(group) * layout.outputs(), rows,
           layout.outputs(), layout.channels()},
          own);
    };
    if (single)
      compute(0, threads);
    else
      quantization::parallelFor(groups.size(), threads,
                                [&](size_t group) { compute(group, 1); });
    return groups;
  }

private:
  /// Drops rows that were not seen; how many are left.
  int64_t compact() {
    int64_t rows = 0;
    for (int64_t slot = 0; slot != int64_t(seen.size()); ++slot) {
      if (seen[slot] != 3)
        continue;
      if (rows != slot) {
        std::copy_n(&inputs[slot * layout.rowSize()], layout.rowSize(),
                    &inputs[rows * layout.rowSize()]);
        std::copy_n(&targets[slot * layout.channels()], layout.channels(),
                    &targets[rows * layout.channels()]);
      }
      ++rows;
    }
    return rows;
  }

  const ProductLayout &layout;
  int64_t unit, rowsPerUnit, total = 0, step = 1;
  std::vector<float> inputs, targets;
  /// 1: what is read, 2: what is made.
  std::vector<uint8_t> seen;
};

/// Rounds layers, and corrects the biases of the others, one after the other.
class RoundingVisitor : public LayerVisitor {
public:
  struct Member {
    Layer *layer = nullptr;
    /// Null: only its bias is corrected.
    std::unique_ptr<RoundedLayer> rounded;
    /// Number of its kernel among the constants that may change.
    size_t kernelNumber = 0;
    SmallVector<Affine> biasChange;
  };

  RoundingVisitor(std::vector<Member> &members,
                  std::vector<ChannelSummary> empty,
                  const execution::Executor &executor, int64_t samples,
                  const support::Threads &threads)
      : members(members), empty(std::move(empty)), executor(executor),
        samples(samples), threads(threads), rows(members.size()),
        exact(members.size()), seen(members.size()) {}

  bool changesConstants() const override { return true; }
  void begin(ArrayRef<size_t> layers, size_t workers) override;
  void observe(size_t layer, size_t worker, LayerValue what,
               const TensorView &values) override;
  FailureOr<LayerChange> finish(size_t layer) override;

private:
  FailureOr<LayerChange> round(size_t layer);
  FailureOr<LayerChange> correctBias(size_t layer);

  std::vector<Member> &members;
  std::vector<ChannelSummary> empty;
  const execution::Executor &executor;
  int64_t samples;
  support::Threads threads;
  std::vector<std::unique_ptr<ProductRows>> rows;
  /// For each layer that is not rounded one for each worker.
  std::vector<std::vector<ChannelSummary>> exact, seen;
};
} // namespace

void RoundingVisitor::begin(ArrayRef<size_t> layers, size_t workers) {
  int64_t rounded = llvm::count_if(
      layers, [&](size_t layer) { return bool(members[layer].rounded); });
  for (size_t layer : layers) {
    if (!members[layer].rounded) {
      exact[layer].assign(workers, empty[layer].fresh());
      seen[layer].assign(workers, empty[layer].fresh());
      continue;
    }
    const ProductLayout &layout = members[layer].rounded->layout;
    rows[layer] = std::make_unique<ProductRows>(
        layout, executor.unit(),
        layout.rowsOf(executor.observed()[layer].type.getShape()), samples,
        kRowBytes / rounded);
  }
}

void RoundingVisitor::observe(size_t layer, size_t worker, LayerValue what,
                              const TensorView &values) {
  if (rows[layer]) {
    if (what == LayerValue::Input || what == LayerValue::FloatOutput)
      rows[layer]->add(what, values);
    return;
  }
  if (what == LayerValue::FloatOutput)
    exact[layer][worker].add(values);
  else if (what == LayerValue::Output)
    seen[layer][worker].add(values);
}

FailureOr<LayerChange> RoundingVisitor::finish(size_t layer) {
  return members[layer].rounded ? round(layer) : correctBias(layer);
}

FailureOr<LayerChange> RoundingVisitor::correctBias(size_t layer) {
  Member &member = members[layer];
  auto merge = [&](std::vector<ChannelSummary> &workers) {
    for (const ChannelSummary &other : llvm::drop_begin(workers))
      workers.front().merge(other);
    return workers.front().checkFinite();
  };
  if (failed(merge(exact[layer])) || failed(merge(seen[layer])))
    return failure();
  member.biasChange =
      biasCorrection(exact[layer].front(), seen[layer].front(), samples,
                     member.layer->bias, /*shrink=*/true);
  exact[layer].clear();
  seen[layer].clear();
  return LayerChange{member.biasChange, {}, {}};
}

FailureOr<LayerChange> RoundingVisitor::round(size_t layer) {
  Member &member = members[layer];
  RoundedLayer &rounded = *member.rounded;
  const KernelOp &op = member.layer->op;
  if (int64_t count = rows[layer]->countNonFinite())
    return emitError(op.getLoc())
           << "saw " << count
           << " values that are NaN or infinite; check the input scale and the "
              "weights";
  std::vector<ProductMoments> groups = rows[layer]->moments(threads);
  rows[layer].reset();
  auto isFinite = [](ArrayRef<double> values) {
    return llvm::all_of(values,
                        [](double value) { return std::isfinite(value); });
  };
  for (const ProductMoments &group : groups)
    if (!isFinite(group.covariance) || !isFinite(group.cross) ||
        !isFinite(group.targetVariance))
      return emitError(op.getLoc())
             << "saw values whose squares are beyond the range of f32; check "
                "the input scale and the weights";

  ConstantFloats kernel = op.getKernel();
  std::vector<float> weights = rounded.layout.fromKernel(kernel.values());
  quantization::RoundingProblem problem;
  problem.groups = groups;
  problem.weights = weights;
  problem.candidates = rounded.candidates;
  problem.choosesPerChannel = rounded.choosesPerChannel;
  quantization::RoundedWeights result =
      quantization::roundLeastSquares(problem, threads);

  tpc::QuantizeOp point = member.layer->point;
  rounded.parameters = point.getParametersAttr();
  SmallVector<double> factors(rounded.parameters.getNumChannels(), 1.0);
  rounded.errors.assign(factors.size(), 0.0);
  auto sharing = double(result.chosen.size()) / double(factors.size());
  LayerChange change;
  for (auto [channel, chosen] : llvm::enumerate(result.chosen)) {
    size_t parameter = rounded.parameterOf[channel];
    factors[parameter] = rounded.factors[chosen];
    rounded.errors[parameter] += std::max(0.0, result.error[channel]) / sharing;
    rounded.error += result.error[channel];
    rounded.nearestError += result.nearestError[channel];
    rounded.bias.push_back(float(result.bias[channel]));
    change.output.push_back(
        {1, double(rounded.bias.back()) - double(member.layer->bias[channel])});
  }
  if (llvm::any_of(factors, [](double factor) { return factor != 1; }))
    rounded.parameters = scale(rounded.parameters, factors);
  // Levels as the quantizer computes them.
  rounded.kernel = rounded.layout.toKernel(result.weights);
  rounded.parameters.fakeQuantize(kernel.shape(), point.getChannelAxes(),
                                  rounded.kernel.data(), rounded.kernel.data());
  change.constants.emplace_back(member.kernelNumber, rounded.kernel);
  return change;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The elements of the kernel as an attribute: that of the constant, where it
/// is one of the same type.
static ElementsAttr getKernelAttr(const Layer &layer) {
  tpc::QuantizeOp point = layer.point;
  auto type = cast<RankedTensorType>(point.getType());
  ElementsAttr elements;
  if (matchPattern(layer.op.getKernelConstant(), m_Constant(&elements)) &&
      elements.getType() == type)
    return elements;
  return createFloats(type, layer.op.getKernel().values(), "float_kernel");
}

/// Gives the layer what was found.
static void apply(const Layer &layer, const RoundedLayer &rounded,
                  std::optional<int64_t> samples) {
  tpc::QuantizeOp point = layer.point;
  MLIRContext *context = point.getContext();
  SmallVector<double> offsets;
  for (auto [now, before] : llvm::zip_equal(rounded.bias, layer.bias))
    offsets.push_back(double(now) - double(before));
  auto record = tpc::CorrectionsAttr::get(
      context, StringAttr::get(context, tpc::kRoundedWeights), offsets, 1.0,
      samples, getKernelAttr(layer));
  OpBuilder builder(point);
  layer.op.setBias(builder, rounded.bias, record);
  layer.op.setKernel(builder, rounded.kernel, record);
  point.setQuantizer(rounded.parameters,
                     describeRounding(context, rounded.errors));
}

namespace {
struct RoundWeightsPass
    : public mct::impl::RoundWeightsPassBase<RoundWeightsPass> {
  using RoundWeightsPassBase::RoundWeightsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tpc::TpcDialect>();
    execution::Executor::registerDependencies(registry);
  }

  void runOnOperation() override {
    FailureOr<Layers> found =
        Layers::find(getOperation(), function, getArgument(), remarks);
    if (failed(found))
      return signalPassFailure();
    std::vector<RoundingVisitor::Member> members;
    bool rounds = false;
    for (Layer &layer : found->layers) {
      auto leaveAlone = [&](const Record &why) {
        if (remarks)
          emitRecord(layer.op.getOperation(), getArgument(), why,
                     "'" + layer.op.getOperation()->getName().getStringRef() +
                         "' op keeps its weights: ");
      };
      if (layer.point.getCorrectionsAttr()) {
        leaveAlone(Reason::CorrectedBefore);
        continue;
      }
      RoundingVisitor::Member member;
      member.layer = &layer;
      auto how = describe(layer, maxBits);
      if (const auto *why = std::get_if<Record>(&how)) {
        leaveAlone(*why);
      } else {
        member.rounded = std::make_unique<RoundedLayer>(
            std::move(std::get<RoundedLayer>(how)));
        rounds = true;
      }
      if (member.rounded || correctBias)
        members.push_back(std::move(member));
    }
    // Biases alone are not this pass's.
    if (!rounds)
      return;
    FailureOr<execution::RunSettings> settings =
        parseSettings(getOperation().getLoc(), calibrationData, inputScale,
                      inputOffset, calibrationSamples, batchSize, threads,
                      maxMemory, getAnalysis<execution::RunCache>());
    if (failed(settings) || failed(round(*found, members, *settings)))
      signalPassFailure();
  }

private:
  LogicalResult round(const Layers &found,
                      std::vector<RoundingVisitor::Member> &members,
                      const execution::RunSettings &settings);
};
} // namespace

LogicalResult
RoundWeightsPass::round(const Layers &found,
                        std::vector<RoundingVisitor::Member> &members,
                        const execution::RunSettings &settings) {
  // Both networks in one module: they are compiled together.
  IRMapping floatMapping, mapping;
  OwningOpRef<ModuleOp> floating = found.cloneFloat(floatMapping);
  OwningOpRef<ModuleOp> quantized = found.clone(mapping);
  auto onlyFunction = [](ModuleOp module) {
    return *module.getOps<func::FuncOp>().begin();
  };
  func::FuncOp floatFunction = onlyFunction(*floating),
               function = onlyFunction(*quantized);
  function->remove();
  floating->push_back(function);
  function.setName((function.getSymName() + "_quantized").str());

  auto getResults = [&](const IRMapping &copies) {
    SmallVector<ChannelValue> results;
    for (const RoundingVisitor::Member &member : members)
      results.push_back({copies.lookup(member.layer->op.getResult()),
                         member.layer->op.resultAxis()});
    return results;
  };
  SmallVector<ChannelValue> floatResults = getResults(floatMapping),
                            results = getResults(mapping);
  SmallVector<OpOperand *> inputs, kernels;
  for (RoundingVisitor::Member &member : members) {
    const KernelOp &op = member.layer->op;
    Operation *copy = mapping.lookup(op.getOperation());
    inputs.push_back(&copy->getOpOperand(op.getInput().getOperandNumber()));
    if (!member.rounded)
      continue;
    member.kernelNumber = kernels.size();
    kernels.push_back(
        &copy->getOpOperand(op.getKernelOperand().getOperandNumber()));
  }
  SmallVector<execution::CompileOptions, 2> options{
      compileLayerwise(floatFunction, floatResults),
      compileLayerwise(function, results, inputs)};
  options.front().simulateQuantization = false;
  options.back().replaceable = kernels;
  auto executors = compileQuietly(*floating, options, settings);
  if (failed(executors))
    return failure();
  auto run = execution::NetworkRun::prepare(
      floating->getLoc(), std::move(executors->front()), settings);
  if (failed(run))
    return failure();
  int64_t available = run->samples().numSamples();
  if (failed(run->thin(int64_t(uint64_t(maxSamples)),
                       execution::SampleOrder::ByValue)))
    return failure();
  int64_t seen = run->samples().numSamples();

  RoundingVisitor visitor(
      members,
      createSummaries(*run, floatFunction, floatResults, /*moments=*/false),
      *executors->back(), seen, settings.run.threads);
  LayerwiseOptions layerwise;
  layerwise.run = settings.run;
  if (failed(runLayerwise(function.getLoc(), *executors->back(),
                          &run->executor(), results, run->samples(), layerwise,
                          visitor)))
    return failure();
  std::optional<int64_t> samples;
  if (seen != available)
    samples = seen;
  for (RoundingVisitor::Member &member : members) {
    const Layer &layer = *member.layer;
    if (!member.rounded) {
      if (failed(applyCorrection(layer, member.biasChange,
                                 tpc::kQuantizedNetworkCorrection, samples)))
        return failure();
      continue;
    }
    apply(layer, *member.rounded, samples);
    if (remarks)
      emitRecord(layer.op.getOperation(), getArgument(),
                 Record(Decision::Applied, Reason::RoundedTogether)
                     << "its weights are rounded together: mean squared error "
                     << named("error", member.rounded->error) << ", to the "
                     << "nearest levels "
                     << named("nearest_error", member.rounded->nearestError),
                 "'" + layer.op.getOperation()->getName().getStringRef() +
                     "' op: ");
  }
  return success();
}
