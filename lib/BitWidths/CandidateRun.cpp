// SPDX-License-Identifier: Apache-2.0
#include "CandidateRun.h"

#include "../Corrections/ChannelRun.h"
#include "mct/Analysis/KernelOp.h"
#include "mct/Analysis/OperatorPoints.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/Frontier.h"
#include "mct/Execution/RunCache.h"
#include "mct/Support/AlignedBuffer.h"
#include "mct/Transforms/Candidates.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;
using corrections::ChannelSummary;
using corrections::ChannelValue;
using execution::Executor;
using execution::Frontier;
using execution::TensorView;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

FailureOr<std::vector<OperatorCandidates>> mct::bit_widths::selectCandidates(
    func::FuncOp function, llvm::function_ref<LogicalResult(ModuleOp)> select) {
  auto module = function->getParentOfType<ModuleOp>();
  std::vector<OperatorCandidates> found;
  int64_t most = 1;
  for (const OperatorPoints &of : findOperatorPoints(function))
    if (int64_t number = of.numAlternatives(); number > 1) {
      found.push_back({of.name.str(), std::vector<Quantizers>(number)});
      most = std::max(most, number);
    }
  for (int64_t index = 0; index != most; ++index) {
    OwningOpRef<ModuleOp> copy = module.clone();
    KernelOps kernels = KernelOps::forModule(*copy);
    auto copied = cast<func::FuncOp>(
        SymbolTable::lookupSymbolIn(*copy, function.getSymName()));
    for (const OperatorPoints &of : findOperatorPoints(copied))
      if (index < of.numAlternatives() &&
          failed(chooseCandidate(of, index, kernels)))
        return failure();
    if (failed(select(*copy)))
      return failure();
    size_t number = 0;
    for (const OperatorPoints &of : findOperatorPoints(copied)) {
      if (of.numAlternatives() == 1)
        continue;
      OperatorCandidates &candidates = found[number++];
      if (index >= of.numAlternatives())
        continue;
      for (tpc::QuantizeOp point : of.points)
        candidates.alternatives[index][point.getUniqueName()] =
            point.getParametersAttr();
    }
  }
  return found;
}

LogicalResult mct::bit_widths::checkMeasurable(func::FuncOp function) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError(
        "cannot be measured: its body has several blocks");
  WalkResult result = function.walk([](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      call.emitOpError("calls another function, and alternatives are measured "
                       "within one; run --inline before");
      return WalkResult::interrupt();
    }
    auto point = dyn_cast<tpc::QuantizeOp>(op);
    if (!point || point.getParametersAttr())
      return WalkResult::advance();
    point.emitOpError("has no parameters, with which alternatives of others "
                      "could be measured; run mct-calibrate, "
                      "mct-select-parameters and mct-select-weight-parameters "
                      "before");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// The compiled network
//===----------------------------------------------------------------------===//

namespace {
/// A layer whose kernel has candidates.
struct CandidateLayer {
  /// Its bias may become another one.
  bool hasBias = false;
  /// What the channels of its result see in the base network.
  std::optional<ChannelSummary> base, empty;
  ChannelValue result;
};

/// A point that has candidates.
struct CandidatePoint {
  std::vector<float> kernel;
  SmallVector<int64_t> shape, axes;
  /// Of a kernel: the layers that read it, by number, which is that of the
  /// replaceable constant, too; of others: the number of the replaceable point.
  SmallVector<size_t> layers;
  std::optional<size_t> number;
  /// In the base network.
  Attribute quantizer;
};

/// The distance of one result of the function.
struct OutputDistance {
  SensitivityMetric metric = SensitivityMetric::MSE;
  /// Rows sum up to 1 in the float network.
  bool isDistribution = true;
  int64_t elements = 0, rowLength = 1;
  /// Of each sample the divergence, or the squared error; and the energy of the
  /// float result.
  std::vector<double> distances, energies;
};

class Summarize : public execution::TensorObserver {
public:
  explicit Summarize(ChannelSummary summary) : summary(std::move(summary)) {}
  void observe(const TensorView &values) override { summary.add(values); }
  ChannelSummary summary;
};

/// What one thread has.
struct Lane {
  explicit Lane(const Executor &executor) : worker(executor) {}
  execution::Worker worker;
  std::vector<support::AlignedBuffer> inputs, outputs;
  SmallVector<const void *> inputPointers;
  SmallVector<void *> outputPointers;
  support::AlignedBuffer crossing;
  std::vector<float> reference;
  std::vector<std::unique_ptr<Summarize>> observers;
};
} // namespace

namespace mct::bit_widths {
class CandidateRunImpl {
public:
  CandidateRunImpl(Location loc, ArrayRef<OperatorCandidates> candidates)
      : loc(loc), candidates(candidates) {}

  LogicalResult prepare(func::FuncOp function,
                        const execution::RunSettings &settings,
                        SensitivityMetric metric, int64_t maxSamples);
  FailureOr<std::vector<std::vector<double>>> measureEach();
  FailureOr<double> measureTogether(ArrayRef<unsigned> choices);

  SensitivityMetric usedMetric = SensitivityMetric::MSE;
  double baseDistance = 0;
  const execution::SampleSource &samples() const { return *source; }

private:
  using Executors = std::vector<std::unique_ptr<Executor>>;
  FailureOr<Executors> compile(func::FuncOp function,
                               const execution::RunSettings &settings);
  LogicalResult runFloat(std::unique_ptr<Executor> floating,
                         const execution::RunSettings &settings,
                         SensitivityMetric metric, int64_t maxSamples);
  LogicalResult createLanes();

  /// What a run of stages does with what it makes.
  struct Pass {
    unsigned first = 0, last = 0;
    /// What the stage before kept; what `last` makes is kept there.
    const Frontier *from = nullptr;
    Frontier *to = nullptr;
    /// Compare results.
    bool measure = false;
  };
  LogicalResult run(const Pass &pass);
  llvm::Error runUnit(const Pass &pass, Lane &lane, int64_t number);
  llvm::Error compare(Lane &lane, int64_t number, int64_t first, int64_t valid);
  double distance() const;

  LogicalResult observeBase();
  LogicalResult replace(const CandidatePoint &point, Attribute quantizer);
  LogicalResult apply(const Quantizers &quantizers);
  LogicalResult restore(const Quantizers &quantizers);
  /// Runs a stage and observes layers.
  FailureOr<std::vector<ChannelSummary>> observe(const Pass &pass,
                                                 ArrayRef<size_t> layers);
  void edit(ArrayRef<size_t> layers, ArrayRef<ChannelSummary> seen);
  void stopEditing(ArrayRef<size_t> layers);
  SmallVector<size_t> findLayers(const Quantizers &quantizers) const;
  unsigned firstStageOf(const OperatorCandidates &of) const;
  FailureOr<double> measureOne(const Quantizers &quantizers, unsigned stage,
                               const Frontier *before, Frontier &own);
  std::unique_ptr<Frontier> createFrontier() const {
    int64_t largest = 0;
    for (unsigned stage = 0; stage != executor->numStages(); ++stage)
      largest = std::max(largest, executor->savedBytes(stage));
    return std::make_unique<Frontier>(numUnits, largest, kFrontierBytes);
  }

  /// In memory, of each of three frontiers and of the float results.
  static constexpr int64_t kFrontierBytes = int64_t(16) << 20;

  Location loc;
  ArrayRef<OperatorCandidates> candidates;
  llvm::StringMap<CandidatePoint> points;
  std::vector<CandidateLayer> layers;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<Executor> executor;
  std::shared_ptr<const execution::SampleSource> source;
  execution::RunOptions runOptions;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<OutputDistance> outputs;
  std::unique_ptr<Frontier> reference;
  int64_t numUnits = 0, referenceBytes = 0;
};
} // namespace mct::bit_widths

/// Points whose values leave the function at once.
static bool isResult(tpc::QuantizeOp point) {
  return llvm::any_of(point->getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>();
  });
}

FailureOr<CandidateRunImpl::Executors>
CandidateRunImpl::compile(func::FuncOp function,
                          const execution::RunSettings &settings) {
  module = ModuleOp::create(loc);
  auto parent = function->getParentOfType<ModuleOp>();
  KernelOps kernels = KernelOps::forModule(parent);
  OpBuilder builder(module->getContext());
  func::FuncOp floating = function.clone(), quantized = function.clone();
  for (func::FuncOp copy : {floating, quantized}) {
    module->push_back(copy);
    copy.walk([&](Operation *op) {
      std::optional<KernelOp> layer = kernels.get(op);
      if (layer && layer->getCorrections() && layer->canTakeBackCorrections())
        layer->takeBackCorrections(builder);
    });
  }
  quantized.setName((function.getSymName() + "_quantized").str());

  SmallVector<execution::CompileOptions, 2> options(2);
  options[0].function = floating.getSymName().str();
  options[0].simulateQuantization = false;
  execution::CompileOptions &own = options[1];
  own.function = quantized.getSymName().str();
  llvm::StringSet<> chosen;
  for (const OperatorCandidates &of : candidates)
    for (const auto &[name, quantizer] : of.alternatives.front())
      chosen.insert(name);
  quantized.walk([&](tpc::QuantizeOp point) {
    if (!chosen.contains(point.getUniqueName())) {
      if (isResult(point))
        point.removeQuantizer();
      return;
    }
    CandidatePoint &candidate = points[point.getUniqueName()];
    candidate.shape.assign(
        cast<RankedTensorType>(point.getType()).getShape().begin(),
        cast<RankedTensorType>(point.getType()).getShape().end());
    candidate.axes.assign(point.getChannelAxes().begin(),
                          point.getChannelAxes().end());
    if (point.isWeight()) {
      bool isKernel = !point->use_empty();
      SmallVector<KernelOp> readers;
      for (Operation *user : point->getUsers()) {
        std::optional<KernelOp> layer = kernels.get(user);
        isKernel &= layer && layer->getKernelPoint() == point;
        if (isKernel)
          readers.push_back(*layer);
      }
      point.removeQuantizer();
      if (isKernel) {
        ArrayRef<float> values = readers.front().getKernel().values();
        candidate.kernel.assign(values.begin(), values.end());
        for (const KernelOp &layer : readers) {
          candidate.layers.push_back(layers.size());
          CandidateLayer &added = layers.emplace_back();
          added.hasBias = layer.getBias().has_value();
          added.result = {layer.getResult(), layer.resultAxis()};
          own.replaceable.push_back(&layer.getKernelOperand());
          own.observedValues.push_back(layer.getResult());
        }
        return;
      }
    }
    candidate.quantizer = point.getParametersAttr();
    candidate.number = own.replaceablePoints.size();
    own.replaceablePoints.push_back(point);
  });
  own.numEdited = layers.size();
  for (execution::CompileOptions &each : options)
    each.maxMemory = settings.maxMemory;
  // What runs slowly has been remarked when it was calibrated.
  ScopedDiagnosticHandler quiet(
      module->getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
      });
  FailureOr<Executors> executors =
      Executor::compileAll(*module, options, settings.cache);
  return executors;
}

/// Rows of the last axis that are distributions.
static bool isDistribution(ArrayRef<float> values, int64_t rowLength) {
  constexpr double kTolerance = 1e-3;
  for (size_t row = 0; row < values.size(); row += rowLength) {
    double sum = 0;
    for (float value : values.slice(row, rowLength)) {
      if (!(value >= 0))
        return false;
      sum += value;
    }
    if (!(std::abs(sum - 1) <= kTolerance))
      return false;
  }
  return rowLength > 1;
}

LogicalResult CandidateRunImpl::runFloat(std::unique_ptr<Executor> floating,
                                         const execution::RunSettings &settings,
                                         SensitivityMetric metric,
                                         int64_t maxSamples) {
  auto run = execution::NetworkRun::prepare(loc, std::move(floating), settings);
  if (failed(run) || failed(run->thin(maxSamples)))
    return failure();
  source = run->sharedSamples();
  runOptions = settings.run;
  int64_t unit = run->executor().unit();
  numUnits = int64_t(llvm::divideCeil(source->numSamples(), unit));
  for (const execution::TensorSpec &spec : run->executor().outputs()) {
    OutputDistance &output = outputs.emplace_back();
    if (!spec.type.getElementType().isF32() || spec.type.getRank() == 0 ||
        spec.type.getDimSize(0) % unit != 0)
      continue;
    output.elements = spec.type.getNumElements() / unit;
    output.rowLength =
        spec.type.getRank() > 1 ? spec.type.getShape().back() : 1;
    output.distances.resize(source->numSamples());
    output.energies.resize(source->numSamples());
    referenceBytes += spec.type.getNumElements() * int64_t(sizeof(float));
  }
  if (llvm::all_of(outputs, [](const OutputDistance &output) {
        return output.elements == 0;
      }))
    return emitError(loc) << "no result of the function is a tensor of f32 "
                             "with a batch, whose change could be measured";
  reference =
      std::make_unique<Frontier>(numUnits, referenceBytes, kFrontierBytes);
  std::vector<std::vector<char>> distributions(outputs.size(),
                                               std::vector<char>(numUnits, 1));
  std::vector<char> finite(numUnits, 1);
  if (failed(run->run(
          [](size_t, execution::Worker &) {},
          [&](const execution::Unit &done) -> llvm::Error {
            std::vector<float> block;
            for (auto [number, output] : llvm::enumerate(outputs)) {
              if (output.elements == 0)
                continue;
              ArrayRef<float> values(
                  static_cast<const float *>(done.outputs[number]),
                  output.elements * unit);
              ArrayRef<float> valid =
                  values.take_front(output.elements * done.validSamples);
              distributions[number][done.index] =
                  isDistribution(valid, output.rowLength);
              finite[done.index] &= llvm::all_of(
                  valid, [](float value) { return std::isfinite(value); });
              block.insert(block.end(), values.begin(), values.end());
            }
            return reference->write(
                done.index, {reinterpret_cast<const char *>(block.data()),
                             block.size() * sizeof(float)});
          })))
    return failure();
  if (llvm::is_contained(finite, 0))
    return emitError(loc) << "results of the float network are not finite";
  for (auto [output, isOne] : llvm::zip(outputs, distributions)) {
    output.isDistribution = !llvm::is_contained(isOne, 0);
    output.metric = metric != SensitivityMetric::Auto ? metric
                    : output.isDistribution           ? SensitivityMetric::KL
                                                      : SensitivityMetric::MSE;
    if (output.elements != 0 && output.metric == SensitivityMetric::KL)
      usedMetric = SensitivityMetric::KL;
  }
  return success();
}

LogicalResult CandidateRunImpl::createLanes() {
  int64_t largest = 0;
  for (unsigned stage = 0; stage != executor->numStages(); ++stage)
    largest = std::max(largest, executor->savedBytes(stage));
  size_t workers = execution::numWorkers(*executor, *source, runOptions);
  for (size_t number = 0; number != workers; ++number) {
    Lane &lane = *lanes.emplace_back(std::make_unique<Lane>(*executor));
    bool hasMemory = true;
    auto add = [&](std::vector<support::AlignedBuffer> &buffers,
                   int64_t bytes) {
      void *data = buffers.emplace_back(bytes).get();
      hasMemory &= data != nullptr || bytes == 0;
      return data;
    };
    for (size_t input = 0; input != source->numInputs(); ++input)
      lane.inputPointers.push_back(add(
          lane.inputs, int64_t(source->sampleBytes(input)) * executor->unit()));
    for (const execution::TensorSpec &spec : executor->outputs())
      lane.outputPointers.push_back(
          add(lane.outputs,
              spec.type.getNumElements() *
                  execution::getElementBytes(spec.type.getElementType())));
    lane.crossing = support::AlignedBuffer(largest);
    if (!hasMemory || (largest && !lane.crossing.get()))
      return emitError(loc)
             << "there is no memory for the values between the stages";
    lane.reference.resize(referenceBytes / int64_t(sizeof(float)));
  }
  return success();
}

LogicalResult CandidateRunImpl::prepare(func::FuncOp function,
                                        const execution::RunSettings &settings,
                                        SensitivityMetric metric,
                                        int64_t maxSamples) {
  FailureOr<Executors> executors = compile(function, settings);
  if (failed(executors) || failed(runFloat(std::move((*executors)[0]), settings,
                                           metric, maxSamples)))
    return failure();
  executor = std::move((*executors)[1]);
  if (llvm::Error error = execution::checkUnits(*executor, *source))
    return emitError(loc) << llvm::toString(std::move(error));
  numUnits = int64_t(llvm::divideCeil(source->numSamples(), executor->unit()));
  for (CandidateLayer &layer : layers)
    layer.empty.emplace(layer.result, /*samples=*/0, /*moments=*/false);
  if (failed(createLanes()))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

/// Of rows that are distributions, or become ones by softmax; mean over rows.
static double divergence(ArrayRef<float> expected, ArrayRef<float> actual,
                         int64_t rowLength, bool isDistribution) {
  // Nothing is impossible for a network of floats.
  constexpr double kLeast = 1e-10;
  std::vector<double> p(rowLength), q(rowLength);
  auto normalize = [&](ArrayRef<float> row, std::vector<double> &to) {
    double largest = *llvm::max_element(row), sum = 0;
    for (auto [value, probability] : llvm::zip(row, to)) {
      probability = isDistribution ? std::max(double(value), 0.0)
                                   : std::exp(double(value) - largest);
      sum += probability;
    }
    for (double &probability : to)
      probability = std::max(sum > 0 ? probability / sum : 0.0, kLeast);
  };
  double total = 0;
  for (size_t row = 0; row < expected.size(); row += rowLength) {
    normalize(expected.slice(row, rowLength), p);
    normalize(actual.slice(row, rowLength), q);
    for (auto [wanted, found] : llvm::zip(p, q))
      total += wanted * std::log(wanted / found);
  }
  return total * double(rowLength) / double(expected.size());
}

static double squaredError(ArrayRef<float> expected, ArrayRef<float> actual) {
  double error = 0;
  for (auto [wanted, found] : llvm::zip(expected, actual))
    error += (double(found) - wanted) * (double(found) - wanted);
  return error;
}

static double energy(ArrayRef<float> values) {
  double sum = 0;
  for (float value : values)
    sum += double(value) * value;
  return sum;
}

llvm::Error CandidateRunImpl::compare(Lane &lane, int64_t number, int64_t first,
                                      int64_t valid) {
  MutableArrayRef<float> block(lane.reference);
  if (llvm::Error error =
          reference->read(number, {reinterpret_cast<char *>(block.data()),
                                   block.size() * sizeof(float)}))
    return error;
  int64_t unit = executor->unit();
  for (auto [output, pointer] : llvm::zip(outputs, lane.outputPointers)) {
    if (output.elements == 0)
      continue;
    for (int64_t sample = 0; sample != valid; ++sample) {
      ArrayRef<float> expected =
          block.slice(sample * output.elements, output.elements);
      ArrayRef<float> actual(static_cast<const float *>(pointer) +
                                 sample * output.elements,
                             output.elements);
      output.distances[first + sample] =
          output.metric == SensitivityMetric::KL
              ? divergence(expected, actual, output.rowLength,
                           output.isDistribution)
              : squaredError(expected, actual);
      output.energies[first + sample] = energy(expected);
    }
    block = block.drop_front(output.elements * unit);
  }
  return llvm::Error::success();
}

/// Sums are in the order of samples and results.
double CandidateRunImpl::distance() const {
  double total = 0, count = 0;
  for (const OutputDistance &output : outputs) {
    if (output.elements == 0)
      continue;
    double sum = 0, scale = 0;
    for (auto [each, energyOfSample] :
         llvm::zip(output.distances, output.energies)) {
      sum += each;
      scale += output.metric == SensitivityMetric::KL ? 1 : energyOfSample;
    }
    total += scale > 0 ? sum / scale : sum;
    ++count;
  }
  return total / count;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

llvm::Error CandidateRunImpl::runUnit(const Pass &pass, Lane &lane,
                                      int64_t number) {
  int64_t unit = executor->unit();
  execution::SampleRange range;
  range.first = number * unit;
  range.count = std::min(unit, source->numSamples() - range.first);
  for (unsigned stage = pass.first; stage <= pass.last; ++stage)
    if (executor->readsInputs(stage)) {
      for (auto [input, buffer] : llvm::enumerate(lane.inputs))
        if (llvm::Error error = execution::loadUnit(
                *source, input, range.first, range.count, unit, buffer.get()))
          return error;
      break;
    }
  const char *crossing = nullptr;
  if (pass.first != 0) {
    MutableArrayRef<char> block(lane.crossing.get(),
                                executor->savedBytes(pass.first - 1));
    if (llvm::Error error = pass.from->read(number, block))
      return error;
    crossing = block.data();
  }
  if (llvm::Error error =
          lane.worker.runStages(pass.first, pass.last, crossing,
                                lane.inputPointers, lane.outputPointers, range))
    return error;
  if (pass.to) {
    MutableArrayRef<char> block(lane.crossing.get(),
                                executor->savedBytes(pass.last));
    lane.worker.save(pass.last, block.data());
    if (llvm::Error error = pass.to->write(number, block))
      return error;
  }
  return pass.measure ? compare(lane, number, range.first, range.count)
                      : llvm::Error::success();
}

LogicalResult CandidateRunImpl::run(const Pass &pass) {
  int64_t batch =
      std::clamp<int64_t>(runOptions.batchSize, 1, source->numSamples());
  if (llvm::Error error = execution::shareUnits(
          numUnits, int64_t(llvm::divideCeil(batch, executor->unit())),
          lanes.size(), runOptions.threads, [&](size_t worker, int64_t unit) {
            return runUnit(pass, *lanes[worker], unit);
          }))
    return emitError(loc) << llvm::toString(std::move(error));
  return success();
}

FailureOr<std::vector<ChannelSummary>>
CandidateRunImpl::observe(const Pass &pass, ArrayRef<size_t> seen) {
  for (std::unique_ptr<Lane> &lane : lanes)
    for (size_t layer : seen) {
      lane->observers.push_back(
          std::make_unique<Summarize>(layers[layer].empty->fresh()));
      lane->worker.setObserver(layer, lane->observers.back().get());
    }
  LogicalResult result = run(pass);
  std::vector<ChannelSummary> summaries;
  for (auto [number, layer] : llvm::enumerate(seen)) {
    ChannelSummary &summary = summaries.emplace_back(
        std::move(lanes.front()->observers[number]->summary));
    for (std::unique_ptr<Lane> &lane : llvm::drop_begin(lanes))
      summary.merge(lane->observers[number]->summary);
    if (succeeded(result))
      result = summary.checkFinite();
  }
  for (std::unique_ptr<Lane> &lane : lanes) {
    for (size_t layer : seen)
      lane->worker.setObserver(layer, nullptr);
    lane->observers.clear();
  }
  if (failed(result))
    return failure();
  return summaries;
}

LogicalResult CandidateRunImpl::replace(const CandidatePoint &point,
                                        Attribute quantizer) {
  auto check = [&](llvm::Error error) -> LogicalResult {
    if (error)
      return emitError(loc) << llvm::toString(std::move(error));
    return success();
  };
  if (point.number)
    return check(executor->replaceQuantizer(*point.number, quantizer));
  std::vector<float> values = point.kernel;
  if (auto own = dyn_cast_or_null<tpc::QuantizerAttrInterface>(quantizer))
    own.fakeQuantize(point.shape, point.axes, point.kernel.data(),
                     values.data());
  for (size_t layer : point.layers)
    if (failed(check(executor->replaceConstant(layer, values))))
      return failure();
  return success();
}

LogicalResult CandidateRunImpl::apply(const Quantizers &quantizers) {
  for (const auto &[name, quantizer] : quantizers)
    if (failed(replace(points.at(name), quantizer)))
      return failure();
  return success();
}

LogicalResult CandidateRunImpl::restore(const Quantizers &quantizers) {
  for (const auto &[name, quantizer] : quantizers)
    if (failed(replace(points.at(name), points.at(name).quantizer)))
      return failure();
  return success();
}

SmallVector<size_t>
CandidateRunImpl::findLayers(const Quantizers &quantizers) const {
  SmallVector<size_t> found;
  for (const auto &[name, quantizer] : quantizers)
    for (size_t layer : points.at(name).layers)
      if (layers[layer].hasBias)
        found.push_back(layer);
  return found;
}

unsigned CandidateRunImpl::firstStageOf(const OperatorCandidates &of) const {
  unsigned first = executor->numStages() - 1;
  for (const auto &[name, quantizer] : of.alternatives.front()) {
    const CandidatePoint &point = points.at(name);
    if (point.number)
      first = std::min(first, executor->stageOfPoint(*point.number));
    for (size_t layer : point.layers)
      first = std::min(first, executor->stageOf(layer));
  }
  return first;
}

namespace {
/// Adds to channels what a bias would.
struct AddOffsets {
  std::vector<float> offsets;
  int64_t axis;

  void operator()(MutableArrayRef<float> values,
                  ArrayRef<int64_t> shape) const {
    int64_t inner = 1;
    for (int64_t size : shape.drop_front(axis + 1))
      inner *= size;
    float *value = values.begin();
    while (value != values.end())
      for (float offset : offsets)
        for (int64_t i = 0; i != inner; ++i)
          *value++ += offset;
  }
};
} // namespace

void CandidateRunImpl::edit(ArrayRef<size_t> changed,
                            ArrayRef<ChannelSummary> seen) {
  for (auto [number, summary] : llvm::zip(changed, seen)) {
    const CandidateLayer &layer = layers[number];
    AddOffsets editor{{}, layer.result.axis};
    for (int64_t channel = 0; channel != summary.numChannels(); ++channel)
      editor.offsets.push_back(
          float(layer.base->mean(channel) - summary.mean(channel)));
    for (std::unique_ptr<Lane> &lane : lanes)
      lane->worker.setEditor(number, editor);
  }
}

void CandidateRunImpl::stopEditing(ArrayRef<size_t> changed) {
  for (size_t number : changed)
    for (std::unique_ptr<Lane> &lane : lanes)
      lane->worker.setEditor(number, nullptr);
}

FailureOr<double> CandidateRunImpl::measureOne(const Quantizers &quantizers,
                                               unsigned stage,
                                               const Frontier *before,
                                               Frontier &own) {
  unsigned last = executor->numStages() - 1;
  if (failed(apply(quantizers)))
    return failure();
  SmallVector<size_t> changed = findLayers(quantizers);
  // Layers of the operator lie in stages that follow each other. What is made
  // in the last one is not kept: that runs again.
  while (!changed.empty()) {
    SmallVector<size_t> here, behind;
    for (size_t layer : changed)
      (executor->stageOf(layer) == stage ? here : behind).push_back(layer);
    auto seen = observe(
        {stage, stage, before, stage == last ? nullptr : &own, false}, here);
    if (failed(seen))
      return failure();
    edit(here, *seen);
    if (stage == last)
      break;
    before = &own;
    ++stage;
    changed = behind;
  }
  LogicalResult measured = run({stage, last, before, nullptr, true});
  stopEditing(findLayers(quantizers));
  if (failed(measured) || failed(restore(quantizers)))
    return failure();
  return distance();
}

FailureOr<std::vector<std::vector<double>>> CandidateRunImpl::measureEach() {
  std::vector<std::vector<double>> distances;
  for (const OperatorCandidates &of : candidates)
    distances.emplace_back(of.alternatives.size());
  std::unique_ptr<Frontier> before = createFrontier(),
                            behind = createFrontier(), own = createFrontier();
  unsigned last = executor->numStages() - 1;
  for (unsigned stage = 0; stage <= last; ++stage) {
    SmallVector<size_t> here;
    for (size_t layer = 0; layer != layers.size(); ++layer)
      if (executor->stageOf(layer) == stage)
        here.push_back(layer);
    auto seen = observe({stage, stage, before.get(),
                         stage == last ? nullptr : behind.get(), stage == last},
                        here);
    if (failed(seen))
      return failure();
    for (auto [layer, summary] : llvm::zip(here, *seen))
      layers[layer].base = std::move(summary);
    if (stage == last)
      baseDistance = distance();
    for (auto [number, of] : llvm::enumerate(candidates)) {
      if (firstStageOf(of) != stage)
        continue;
      for (auto [index, quantizers] : llvm::enumerate(of.alternatives)) {
        FailureOr<double> measured =
            measureOne(quantizers, stage, before.get(), *own);
        if (failed(measured))
          return failure();
        distances[number][index] = *measured;
      }
    }
    std::swap(before, behind);
  }
  return distances;
}

/// Means of the layers in the base network, for one who has not measured each.
LogicalResult CandidateRunImpl::observeBase() {
  SmallVector<size_t> missing;
  for (auto [number, layer] : llvm::enumerate(layers))
    if (!layer.base)
      missing.push_back(number);
  if (missing.empty())
    return success();
  auto seen =
      observe({0, executor->numStages() - 1, nullptr, nullptr, false}, missing);
  if (failed(seen))
    return failure();
  for (auto [layer, summary] : llvm::zip(missing, *seen))
    layers[layer].base = std::move(summary);
  return success();
}

FailureOr<double>
CandidateRunImpl::measureTogether(ArrayRef<unsigned> choices) {
  if (failed(observeBase()))
    return failure();
  unsigned last = executor->numStages() - 1;
  std::unique_ptr<Frontier> before = createFrontier(),
                            behind = createFrontier();
  for (auto [of, choice] : llvm::zip(candidates, choices))
    if (failed(apply(of.alternatives[choice])))
      return failure();
  SmallVector<size_t> edited;
  for (unsigned stage = 0; stage <= last; ++stage) {
    SmallVector<size_t> here;
    for (size_t layer = 0; layer != layers.size(); ++layer)
      if (layers[layer].hasBias && executor->stageOf(layer) == stage)
        here.push_back(layer);
    auto seen = observe({stage, stage, before.get(),
                         stage == last ? nullptr : behind.get(), stage == last},
                        here);
    if (failed(seen))
      return failure();
    edit(here, *seen);
    edited.append(here);
    std::swap(before, behind);
  }
  stopEditing(edited);
  for (const OperatorCandidates &of : candidates)
    if (failed(restore(of.alternatives.front())))
      return failure();
  return distance();
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

CandidateRun::CandidateRun() = default;
CandidateRun::~CandidateRun() = default;

FailureOr<std::unique_ptr<CandidateRun>>
CandidateRun::create(func::FuncOp function,
                     ArrayRef<OperatorCandidates> candidates,
                     const execution::RunSettings &settings,
                     SensitivityMetric metric, int64_t maxSamples) {
  std::unique_ptr<CandidateRun> run(new CandidateRun());
  run->impl = std::make_unique<CandidateRunImpl>(function.getLoc(), candidates);
  if (failed(run->impl->prepare(function, settings, metric, maxSamples)))
    return failure();
  return run;
}

SensitivityMetric CandidateRun::usedMetric() const { return impl->usedMetric; }
int64_t CandidateRun::numSamples() const {
  return impl->samples().numSamples();
}
double CandidateRun::baseDistance() const { return impl->baseDistance; }
FailureOr<std::vector<std::vector<double>>> CandidateRun::measureEach() {
  return impl->measureEach();
}
FailureOr<double> CandidateRun::measureTogether(ArrayRef<unsigned> choices) {
  return impl->measureTogether(choices);
}
