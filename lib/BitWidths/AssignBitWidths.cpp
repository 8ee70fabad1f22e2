// SPDX-License-Identifier: Apache-2.0
#include "AccuracyContract.h"
#include "BestAssignments.h"
#include "BitWidthModel.h"
#include "BitWidthsFile.h"
#include "CandidateRun.h"
#include "CompressedWeights.h"
#include "LayerCycles.h"
#include "MeasureTogether.h"
#include "SelectionOptions.h"
#include "Sensitivities.h"
#include "mct/Corrections/Passes.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/NestedPasses.h"
#include "mct/IR/Records.h"
#include "mct/IR/ResourceKeys.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/Device.h"
#include "mct/Support/InputFile.h"
#include "mct/Support/Troubleshooting.h"
#include "mct/Transforms/Candidates.h"
#include "tpc_dialect/IR/TpcBudget.h"
#include <cmath>
#include <memory>

namespace mct {
#define GEN_PASS_DEF_ASSIGNBITWIDTHSPASS
#include "mct/BitWidths/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;
using quantization::AllocationProblem;
using quantization::AllocationResult;

namespace {
struct AssignBitWidthsPass
    : public WithOpModels<SelectingPass<EntryFunctionPass<
          mct::impl::AssignBitWidthsPassBase<AssignBitWidthsPass>>>> {
  using WithOpModels::WithOpModels;

  void getDependentDialects(DialectRegistry &registry) const override {
    WithOpModels::getDependentDialects(registry);
    for (const OpPassManager &passes : completedBy)
      passes.getDependentDialects(registry);
  }

  LogicalResult runOn(func::FuncOp found) override {
    entry = found;
    if (failed(checkFiles()) || failed(checkDecidingOptions()))
      return failure();
    if (!llvm::hasSingleElement(entry.getBody()))
      return entry.emitOpError("has several blocks, so that its resources are "
                               "not known");
    choices = findChoices(entry);
    FailureOr<std::optional<Sensitivities>> table =
        Sensitivities::readFrom(entry, choices);
    if (failed(table))
      return failure();
    sensitivities = std::move(*table);
    if (failed(bitWidthsIn.empty() ? solve() : read()))
      return failure();
    if (remarks)
      remarkBitWidths(entry, getArgument(), choices, sensitivities, assignment);
    const KernelOps &kernels = getAnalysis<KernelOps>();
    for (auto [of, index] : llvm::zip(choices, assignment.alternatives))
      if (failed(chooseCandidate(of, index, kernels)))
        return failure();
    if (DictionaryAttr kept = limits.toAttribute(&getContext()))
      entry->setAttr(tpc::kBudgetAttrName, kept);
    else
      entry->removeAttr(tpc::kBudgetAttrName);
    return success();
  }

private:
  LogicalResult report(llvm::Error error) {
    return entry.emitError() << llvm::toString(std::move(error));
  }
  LogicalResult checkFiles() {
    if (llvm::Error error =
            support::checkOutputFiles({bitWidthsOut}, {bitWidthsIn, overrides}))
      return emitError(getOperation().getLoc())
             << llvm::toString(std::move(error));
    return success();
  }
  LogicalResult checkDecidingOptions();
  LogicalResult checkMaxDrop();
  LogicalResult resolveDevice();
  LogicalResult parseBudget(BitWidthModel &model);
  LogicalResult estimateCompressed(BitWidthModel &model);
  LogicalResult estimateCycles(BitWidthModel &model);
  bool needsCycles();
  FailureOr<std::vector<std::vector<unsigned>>> findAllowed();
  LogicalResult read();
  LogicalResult solve();
  LogicalResult refuse(const BitWidthModel &model,
                       ArrayRef<unsigned> alternatives);
  LogicalResult checkRules(ArrayRef<std::vector<unsigned>> allowed);
  LogicalResult remeasureBest(const BitWidthModel &model, const Budget &within,
                              Assignment &chosen);
  LogicalResult solveByLoss(const BitWidthModel &model);
  LogicalResult solveByDrop(const BitWidthModel &model);
  FailureOr<OwningOpRef<ModuleOp>> complete(ArrayRef<unsigned> alternatives,
                                            TrialConstants &constants);
  AllocationProblem createLossProblem(const BitWidthModel &model);
  FailureOr<double> measure(ArrayRef<unsigned> alternatives);
  FailureOr<std::vector<double>>
  measureHalves(ArrayRef<HalfMeasurement> measurements,
                execution::RunSettings settings);
  FailureOr<double> measureHalf(ModuleOp module, execution::SampleHalf fitted,
                                const execution::RunSettings &judged);
  FailureOr<OwningOpRef<ModuleOp>> choose(ArrayRef<unsigned> alternatives);
  FailureOr<OwningOpRef<ModuleOp>> copyWith(ArrayRef<unsigned> alternatives);
  LogicalResult write(const BitWidthModel &model);

  func::FuncOp entry;
  std::vector<OperatorPoints> choices;
  std::optional<Sensitivities> sensitivities;
  /// The sensitivities that are minimized.
  Sensitivities smoothed;
  Budget limits;
  /// The device that reads the weights, or null.
  std::shared_ptr<Device> resolvedDevice;
  /// Largest loss in dB, or 0 if a budget determines the assignment.
  double loss = 0;
  CompressedWeights compressed;
  Assignment assignment;
};
} // namespace

/// Determines how the alternatives are chosen: by a budget, a file, or the
/// allowed loss.
LogicalResult AssignBitWidthsPass::checkDecidingOptions() {
  constexpr double kDefaultLoss = 0.1;
  loss = maxLoss;
  bool isDecided = !budget.empty() || !bitWidthsIn.empty();
  if (failed(checkMaxDrop()))
    return failure();
  if (!costTable.empty() && !needsCycles())
    return fail() << "cost-table is for cycles, which nothing limits; give "
                     "budget=cycles:90%, or max-drop with minimize=cycles";
  if (maxDrop != 0)
    return resolveDevice();
  if (!(loss >= 0 && loss <= 100))
    return emitError(getOperation().getLoc())
           << "max-loss is " << loss << "; give a number of dB from 0 to 100";
  if (failed(resolveDevice()))
    return failure();
  if (resolvedDevice && loss == 0 && !isDecided)
    loss = kDefaultLoss;
  if (loss == 0 && !isDecided)
    return entry.emitOpError(
        "gets no bit widths: give a budget, for example budget=weights:50%, a "
        "file, bit-widths-in, max-loss, or max-drop");
  if (loss != 0 && isDecided)
    return entry.emitOpError()
           << "gets bit widths by max-loss=" << loss
           << ", and by a budget or by bit-widths-in; give one of them";
  if (loss != 0 && !hasSamples())
    return emitError(getOperation().getLoc())
           << "max-loss=" << loss
           << " needs samples; give calibration-data=FILE.npy";
  return success();
}

LogicalResult AssignBitWidthsPass::resolveDevice() {
  if (device.empty())
    return success();
  FailureOr<Device> found = Device::find(device, getOperation());
  if (failed(found))
    return failure();
  if (!needsCycles() && !found->getFact<tpc::CompressedWeightsOp>())
    return emitError(getOperation().getLoc())
           << "device=" << device
           << " reads weights as they are stored; give one with "
              "tpc.compressed_weights, or no device";
  resolvedDevice = std::make_shared<Device>(std::move(*found));
  return success();
}

/// Formats a number for a message.
static std::string print(double number) { return named("", number, "%g").text; }

/// Checks the options about a metric.
LogicalResult AssignBitWidthsPass::checkMaxDrop() {
  if (maxDrop == 0) {
    const char *given = !validationData.empty() ? "validation-data"
                        : !labels.empty()       ? "labels"
                        : !dropMetric.empty()   ? "drop-metric"
                        : minimize != MinimizedResource::Weights ? "minimize"
                                                                 : nullptr;
    return given ? fail() << given
                          << " is for max-drop, which is not given; give "
                             "max-drop=0.005, for example, or leave it out"
                 : success();
  }
  if (!(maxDrop > 0 && std::isfinite(maxDrop)))
    return fail() << "max-drop is " << print(maxDrop)
                  << "; give a number above 0 in the unit of the metric: of a "
                     "share, 0.005 is half a point";
  bool hasOtherDevice =
      !device.empty() && minimize != MinimizedResource::Cycles;
  if (!budget.empty() || !bitWidthsIn.empty() || maxLoss != 0 || hasOtherDevice)
    return entry.emitOpError()
           << "gets bit widths by max-drop=" << print(maxDrop) << ", and by "
           << (!budget.empty()        ? "a budget"
               : !bitWidthsIn.empty() ? "bit-widths-in"
               : maxLoss != 0         ? "max-loss"
                                      : "device")
           << "; give one of them";
  if (dropMetric.empty())
    return fail() << "max-drop=" << print(maxDrop)
                  << " says of no metric how much it may drop; give "
                     "drop-metric=top1, for example";
  // A metric computed by the caller has its own labels.
  bool needsLabels = !execution::MetricHostScope::find(&getContext());
  if (validationData.empty() || (labels.empty() && needsLabels))
    return fail() << "max-drop=" << print(maxDrop)
                  << " needs samples that nothing else has seen, and what is "
                     "right of them; give validation-data=FILE.npy and "
                     "labels=FILE.npy";
  return success();
}

LogicalResult AssignBitWidthsPass::parseBudget(BitWidthModel &model) {
  ResourceUse full = model.getUseAt8Bits();
  if (needsCycles()) {
    if (failed(estimateCycles(model)))
      return failure();
    std::vector<unsigned> present;
    for (const OperatorPoints &of : choices)
      present.push_back(unsigned(of.getChosen()));
    full.cycles = model.getUse(present).cycles;
  }
  auto parsed = Budget::parse(budget, full);
  if (!parsed)
    return report(parsed.takeError());
  limits = *parsed;
  return limits.of(Resource::Compressed) || loss != 0
             ? estimateCompressed(model)
             : success();
}

bool AssignBitWidthsPass::needsCycles() {
  return (maxDrop != 0 && minimize == MinimizedResource::Cycles) ||
         llvm::any_of(budget, [](StringRef limit) {
           return limit.starts_with("cycles:");
         });
}

LogicalResult AssignBitWidthsPass::estimateCycles(BitWidthModel &model) {
  const auto &kernels = getAnalysis<KernelOps>();
  auto table = findCostTable(costTable, resolvedDevice.get(), getOperation());
  if (failed(table))
    return failure();
  if (!*table)
    return fail() << "cycles are known by a table of costs; give "
                     "cost-table=FILE.json, as mct.cost.write_table writes it"
                  << support::kTroubleshooting << "a-cost-table-cannot-be-used";
  auto candidates = selectCandidates(
      entry, kernels, [&](ModuleOp copy) { return selectMissing(copy); });
  if (failed(candidates))
    return failure();
  auto found =
      computeLayerCycles(entry, kernels, choices, *candidates, **table);
  if (failed(found))
    return failure();
  model.setCycles(std::move(found->cycles), found->others);
  return success();
}

LogicalResult AssignBitWidthsPass::estimateCompressed(BitWidthModel &model) {
  const auto &kernels = getAnalysis<KernelOps>();
  auto candidates = selectCandidates(
      entry, kernels, [&](ModuleOp copy) { return selectMissing(copy); });
  if (failed(candidates))
    return failure();
  compressed = estimateCompressedWeights(entry, kernels, choices, *candidates,
                                         resolvedDevice ? resolvedDevice->get()
                                                        : tpc::DeviceOp());
  model.setCompressed(compressed.bits, compressed.others);
  return success();
}

/// Returns the alternatives of each operator that the user's rules would not
/// change.
FailureOr<std::vector<std::vector<unsigned>>>
AssignBitWidthsPass::findAllowed() {
  std::vector<std::vector<unsigned>> allowed(choices.size());
  int64_t most = 0;
  for (const OperatorPoints &of : choices)
    most = std::max(most, of.numAlternatives());
  for (int64_t index = 0; index != most; ++index) {
    std::vector<int64_t> kept(choices.size(), index);
    if (!overrides.empty()) {
      OwningOpRef<ModuleOp> copy = getOperation().clone();
      auto copied = cast<func::FuncOp>(
          SymbolTable::lookupSymbolIn(*copy, entry.getSymName()));
      const auto &kernels = getAnalysis<KernelOps>();
      for (const OperatorPoints &of : findChoices(copied))
        if (index < of.numAlternatives() &&
            failed(chooseCandidate(of, index, kernels)))
          return failure();
      ChooseCandidatesPassOptions options;
      options.overrides = overrides;
      options.function = function;
      PassManager passes(&getContext(), ModuleOp::getOperationName());
      passes.addPass(createChooseCandidatesPass(options));
      if (failed(passes.run(*copy)))
        return failure();
      for (auto [number, of] : llvm::enumerate(findChoices(copied)))
        kept[number] = of.getChosen();
    }
    for (auto [number, of] : llvm::enumerate(choices))
      if (index < of.numAlternatives() && kept[number] == index)
        allowed[number].push_back(unsigned(index));
  }
  return allowed;
}

LogicalResult AssignBitWidthsPass::refuse(const BitWidthModel &model,
                                          ArrayRef<unsigned> alternatives) {
  ResourceUse use = model.getUse(alternatives);
  InFlightDiagnostic diagnostic = entry.emitOpError()
                                  << "cannot keep to its budget: ";
  bool isFirst = true;
  for (Resource resource : limits.findExceeded(use)) {
    diagnostic << (isFirst ? "" : ", and ") << stringifyResource(resource)
               << " would be " << describeUse(resource, getUse(use, resource))
               << " instead of " << describeUse(resource, *limits.of(resource));
    isFirst = false;
  }
  diagnostic.attachNote(entry.getLoc())
      << (choices.empty() ? "no operator has alternatives"
                          : "the alternatives that come closest: " +
                                describeAlternatives(choices, alternatives))
      << "; give it more, let other rules of the overrides leave it a choice, "
         "or a target with fewer bits"
      << support::kTroubleshooting << "no-bit-widths-keep-to-the-budget";
  return diagnostic;
}

/// Refuses a file that contradicts the user's rules.
LogicalResult
AssignBitWidthsPass::checkRules(ArrayRef<std::vector<unsigned>> allowed) {
  for (auto [of, index, requested] :
       llvm::zip(choices, assignment.alternatives, allowed)) {
    if (llvm::is_contained(requested, index))
      continue;
    InFlightDiagnostic diagnostic = emitError(of.points.front().getLoc());
    diagnostic << "'" << of.name.getValue() << "' has alternative "
               << describeAlternative(of, index)
               << " with bit-widths-in=" << bitWidthsIn
               << ", but the rules of '" << overrides << "' ask for ";
    StringRef separator = "alternative ";
    for (unsigned each : requested) {
      diagnostic << separator << describeAlternative(of, each);
      separator = " or ";
    }
    return diagnostic << "; give it that in the file, or change the rules";
  }
  return success();
}

LogicalResult AssignBitWidthsPass::read() {
  auto alternatives = readBitWidths(bitWidthsIn, entry.getSymName(), choices);
  if (!alternatives)
    return report(alternatives.takeError());
  assignment.alternatives = std::move(*alternatives);
  FailureOr<std::vector<std::vector<unsigned>>> allowed = findAllowed();
  if (failed(allowed) || failed(checkRules(*allowed)))
    return failure();
  std::vector<std::vector<double>> none;
  for (const OperatorPoints &of : choices)
    none.emplace_back(of.numAlternatives(), 0.0);
  ArrayRef<std::vector<double>> distances =
      sensitivities ? sensitivities->distances : none;
  BitWidthModel model(entry, getAnalysis<KernelOps>(), choices,
                      std::move(*allowed), distances);
  if (failed(parseBudget(model)))
    return failure();
  if (!limits.findExceeded(model.getUse(assignment.alternatives)).empty())
    return refuse(model, assignment.alternatives);
  if (sensitivities) {
    assignment.sum = 0;
    for (auto [row, index] : llvm::zip(distances, assignment.alternatives))
      *assignment.sum += row[index];
  }
  return write(model);
}

LogicalResult AssignBitWidthsPass::solve() {
  // The default value of the option does not require samples.
  if (remeasure > 1 && !hasSamples() &&
      remeasure != AssignBitWidthsPassOptions().remeasure)
    return emitError(getOperation().getLoc())
           << "remeasure=" << unsigned(remeasure)
           << " needs samples; give calibration-data=FILE.npy, or remeasure=0";
  if (!sensitivities && !choices.empty())
    return entry.emitOpError()
           << "has no '" << tpc::TpcDialect::kSensitivitiesAttrName
           << "'; run mct-measure-sensitivity before";
  FailureOr<std::vector<std::vector<unsigned>>> allowed = findAllowed();
  if (failed(allowed))
    return failure();
  ArrayRef<std::vector<double>> distances;
  if (sensitivities) {
    smoothed = *sensitivities;
    smoothed.smooth(choices);
    distances = smoothed.distances;
  }
  BitWidthModel model(entry, getAnalysis<KernelOps>(), choices,
                      std::move(*allowed), distances);
  if (failed(parseBudget(model)))
    return failure();

  if (loss != 0)
    return failed(solveByLoss(model)) ? failure() : write(model);
  if (maxDrop != 0)
    return failed(solveByDrop(model)) ? failure() : write(model);
  llvm::Expected<AllocationResult> result =
      quantization::allocate(model.createProblem(limits));
  if (!result)
    return report(result.takeError());
  if (result->best.empty())
    return refuse(model, model.toAlternatives(result->closest.choices));
  assignment.alternatives = model.toAlternatives(result->best.front().choices);
  assignment.sum = result->best.front().cost;
  if (failed(remeasureBest(model, limits, assignment)))
    return failure();
  if (auto front = computeAllocationFront(model.createWeightProblem())) {
    assignment.front.emplace();
    for (const quantization::FrontPoint &point : *front)
      assignment.front->push_back(
          {point.amount, point.allocation.cost,
           model.toAlternatives(point.allocation.choices)});
  }
  // Check the use of the function itself, since the problem approximates it.
  if (!limits.findExceeded(model.getUse(assignment.alternatives)).empty())
    return refuse(model, assignment.alternatives);
  return write(model);
}

/// Corrects a module, whose points all have parameters, on one half of the
/// samples, and returns its distance from the float network on the other half.
FailureOr<double>
AssignBitWidthsPass::measureHalf(ModuleOp module, execution::SampleHalf fitted,
                                 const execution::RunSettings &judged) {
  TrialConstants trial;
  TrialConstantsScope scope(&getContext(), trial);
  if (failed(correctOn(module, fitted)))
    return failure();
  CandidateRunOptions options;
  options.metric = sensitivities->metric;
  options.maxSamples = int64_t(uint64_t(maxSamples));
  options.keepsCorrections = true;
  auto run =
      CandidateRun::create(cast<func::FuncOp>(SymbolTable::lookupSymbolIn(
                               module, entry.getSymName())),
                           getAnalysis<KernelOps>(), {}, judged, options);
  if (failed(run) || failed((*run)->measureEach()))
    return failure();
  return (*run)->baseDistance();
}

/// Returns the distances of several modules, which the shards measure together.
FailureOr<std::vector<double>>
AssignBitWidthsPass::measureHalves(ArrayRef<HalfMeasurement> measurements,
                                   execution::RunSettings settings) {
  using execution::SampleHalf;
  std::optional<execution::Shards> shards;
  std::string key = entry.getSymName().str();
  if (isSharded()) {
    auto opened = openShards();
    if (failed(opened))
      return failure();
    shards = std::move(*opened);
    key += nameMeasurements(measurements);
  }
  return measureTogether(shards ? &*shards : nullptr,
                         "distances of assignments", key, measurements.size(),
                         [&](size_t number) {
                           auto [module, fitted] = measurements[number];
                           settings.half = fitted == SampleHalf::First
                                               ? SampleHalf::Second
                                               : SampleHalf::First;
                           OwningOpRef<ModuleOp> corrected = module.clone();
                           return measureHalf(*corrected, fitted, settings);
                         });
}

/// Returns a copy of the module in which the operators have these alternatives.
FailureOr<OwningOpRef<ModuleOp>>
AssignBitWidthsPass::choose(ArrayRef<unsigned> alternatives) {
  OwningOpRef<ModuleOp> copy = getOperation().clone();
  auto copied = cast<func::FuncOp>(
      SymbolTable::lookupSymbolIn(*copy, entry.getSymName()));
  const auto &kernels = getAnalysis<KernelOps>();
  for (auto [of, index] : llvm::zip(findChoices(copied), alternatives))
    if (failed(chooseCandidate(of, index, kernels)))
      return failure();
  return std::move(copy);
}

/// Same as `choose`, but also selects the parameters.
FailureOr<OwningOpRef<ModuleOp>>
AssignBitWidthsPass::copyWith(ArrayRef<unsigned> alternatives) {
  auto copy = choose(alternatives);
  if (failed(copy) || failed(selectMissing(**copy)))
    return failure();
  return copy;
}

/// Chooses the assignment of `findBestAssignments` that is closest to the float
/// network when its weights are rounded together. Weights of few bits are
/// fitted to the samples on which they are rounded, so the other half of the
/// samples judges them, in both directions.
LogicalResult AssignBitWidthsPass::remeasureBest(const BitWidthModel &model,
                                                 const Budget &within,
                                                 Assignment &chosen) {
  using execution::SampleHalf;
  // On one half, the mean distance is known to about a tenth, and the common
  // part of the error cancels when distances are compared, so a ratio like this
  // is not chance.
  constexpr double kClearly = 1.5;
  if (remeasure < 2 || !hasSamples())
    return success();
  auto found = findBestAssignments(model, within, remeasure);
  if (!found)
    return report(found.takeError());
  if (found->size() < 2)
    return success();
  if (failed(checkMeasurable(entry)))
    return failure();
  FailureOr<execution::RunSettings> settings =
      parseRunSettings("measuring", batchSize, threads,
                       {int64_t(uint64_t(maxSamples)), /*halves=*/true});
  if (failed(settings))
    return failure();
  std::vector<OwningOpRef<ModuleOp>> modules;
  std::vector<HalfMeasurement> measurements;
  for (const Assignment::Measured &each : *found) {
    auto module = copyWith(each.alternatives);
    if (failed(module))
      return failure();
    measurements.push_back({**module, SampleHalf::First});
    modules.push_back(std::move(*module));
  }
  auto onFirst = measureHalves(measurements, *settings);
  if (failed(onFirst))
    return failure();
  double limit = kClearly * *llvm::min_element(*onFirst);
  std::vector<Assignment::Measured *> near;
  measurements.clear();
  for (auto [each, module, distance] :
       llvm::zip_equal(*found, modules, *onFirst)) {
    each.distance = distance;
    if (distance > limit)
      continue;
    near.push_back(&each);
    measurements.push_back({*module, SampleHalf::Second});
  }
  auto onSecond = measureHalves(measurements, *settings);
  if (failed(onSecond))
    return failure();
  const Assignment::Measured *best = nullptr;
  for (auto [each, distance] : llvm::zip_equal(near, *onSecond)) {
    each->distance = (each->distance + distance) / 2;
    if (!best || each->distance < best->distance)
      best = each;
  }
  if (best) {
    chosen.alternatives = best->alternatives;
    chosen.sum = best->sum;
  }
  chosen.measured = std::move(*found);
  return success();
}

/// Returns the problem whose resource is the cost of compressed weights.
AllocationProblem
AssignBitWidthsPass::createLossProblem(const BitWidthModel &model) {
  // This is larger than any sum of distances.
  constexpr double kNever = 1e9;
  if (!resolvedDevice)
    return model.createProblem(compressed.bits);
  AllocationProblem problem = model.createProblem(compressed.waits);
  // A layer that does not wait for its weights gains nothing from a change.
  for (auto [number, of] : llvm::enumerate(choices)) {
    if (!llvm::all_equal(compressed.waits[number]))
      continue;
    for (auto [choice, cost] : llvm::enumerate(problem.costs[number]))
      if (model.toAlternative(number, choice) != of.getChosen())
        cost += kNever;
  }
  return problem;
}

/// Returns the distance from the float network of the network with these
/// alternatives: the mean over both halves of the samples, where the network is
/// corrected on the other half each time.
FailureOr<double>
AssignBitWidthsPass::measure(ArrayRef<unsigned> alternatives) {
  using execution::SampleHalf;
  FailureOr<execution::RunSettings> settings =
      parseRunSettings("measuring", batchSize, threads,
                       {int64_t(uint64_t(maxSamples)), /*halves=*/true});
  auto module = copyWith(alternatives);
  if (failed(settings) || failed(module))
    return failure();
  auto distances = measureHalves(
      {{**module, SampleHalf::First}, {**module, SampleHalf::Second}},
      *settings);
  if (failed(distances))
    return failure();
  return ((*distances)[0] + (*distances)[1]) / 2;
}

/// Chooses the assignment with the cheapest weights whose loss compared to the
/// present one is at most `loss`.
LogicalResult AssignBitWidthsPass::solveByLoss(const BitWidthModel &model) {
  constexpr size_t kMostPoints = 64;
  for (const OperatorPoints &of : choices)
    assignment.alternatives.push_back(unsigned(of.getChosen()));
  if (choices.empty())
    return success();
  if (failed(checkMeasurable(entry)))
    return failure();
  AllocationProblem problem = createLossProblem(model);
  auto front = computeAllocationFront(problem);
  if (!front)
    return entry.emitOpError("has too many alternatives for max-loss; give a "
                             "budget, for example budget=compressed:75%");
  FailureOr<double> present = measure(assignment.alternatives);
  if (failed(present))
    return failure();
  double limit = *present * std::pow(10.0, loss / 10);
  // Apart from chance, distances fall as weights grow.
  size_t step = llvm::divideCeil(front->size(), kMostPoints);
  size_t first = 0, last = llvm::divideCeil(front->size(), step);
  while (first < last) {
    size_t middle = (first + last) / 2;
    const quantization::Allocation &tried = (*front)[middle * step].allocation;
    Assignment::Measured measured{model.toAlternatives(tried.choices),
                                  problem.computeCost(tried.choices), 0};
    FailureOr<double> distance = measure(measured.alternatives);
    if (failed(distance))
      return failure();
    measured.distance = *distance;
    assignment.measured.push_back(measured);
    if (*distance > limit) {
      first = middle + 1;
      continue;
    }
    last = middle;
    assignment.alternatives = measured.alternatives;
    assignment.sum = measured.sum;
  }
  return success();
}

/// Returns the complete network after the pass for an assignment.
FailureOr<OwningOpRef<ModuleOp>>
AssignBitWidthsPass::complete(ArrayRef<unsigned> alternatives,
                              TrialConstants &constants) {
  TrialConstantsScope scope(&getContext(), constants);
  if (completedBy.empty())
    return copyWith(alternatives);
  auto copy = choose(alternatives);
  if (failed(copy))
    return failure();
  if (failed(runQuietly(completedBy, **copy)))
    return failure();
  return copy;
}

/// Chooses the cheapest assignment whose drop is shown not to be larger than
/// allowed.
LogicalResult AssignBitWidthsPass::solveByDrop(const BitWidthModel &model) {
  static constexpr Resource kMinimized[] = {Resource::Weights, Resource::Total,
                                            Resource::Bops, Resource::Cycles};
  for (const OperatorPoints &of : choices)
    assignment.alternatives.push_back(unsigned(of.getChosen()));
  FailureOr<execution::RunSettings> settings = execution::RunSettings::parse(
      getOperation().getLoc(), validationData, inputScale, inputOffset,
      /*limit=*/0, batchSize, threads, maxMemory);
  if (failed(settings))
    return failure();
  execution::MetricDrop::Options options{function, dropMetric, labels, maxDrop};
  if (hasSamples()) {
    auto calibration =
        parseRunSettings("measuring", batchSize, threads,
                         {int64_t(uint64_t(maxSamples)), /*halves=*/true});
    if (failed(calibration))
      return failure();
    options.calibration = calibration->samples;
  }
  auto drop = [&] {
    ScopedDiagnosticHandler judging(&getContext(), [](Diagnostic &found) {
      if (found.getSeverity() == DiagnosticSeverity::Error)
        found.attachNote() << "max-drop is judged by drop-metric and labels of "
                              "validation-data, which must share no sample "
                              "with calibration-data";
      return failure();
    });
    return execution::MetricDrop::create(getOperation(), *settings, options);
  }();
  if (failed(drop))
    return failure();
  ContractSearch search(
      entry, model, **drop, maxDrop, kMinimized[size_t(minimize.getValue())],
      [&](ArrayRef<unsigned> alternatives, TrialConstants &constants) {
        return complete(alternatives, constants);
      },
      [&](const Budget &budget,
          std::vector<unsigned> optimum) -> FailureOr<std::vector<unsigned>> {
        Assignment closest;
        closest.alternatives = std::move(optimum);
        if (failed(remeasureBest(model, budget, closest)))
          return failure();
        return std::move(closest.alternatives);
      });
  auto contract = search.run(assignment.alternatives);
  if (failed(contract))
    return failure();
  const AccuracyContract::Look *kept = contract->getKept();
  if (!kept)
    return entry.emitOpError()
           << contract->describeRefusal() << support::kTroubleshooting
           << "a-drop-cannot-be-promised";
  assignment.alternatives = kept->alternatives;
  assignment.sum = 0;
  for (auto [row, index] :
       llvm::zip(smoothed.distances, assignment.alternatives))
    *assignment.sum += row[index];
  assignment.contract = std::move(*contract);
  return success();
}

LogicalResult AssignBitWidthsPass::write(const BitWidthModel &model) {
  reportBitWidths(&getContext(), choices, assignment,
                  model.getUse(assignment.alternatives));
  if (bitWidthsOut.empty())
    return success();
  if (llvm::Error error = writeBitWidths(
          bitWidthsOut, entry.getSymName(), choices, sensitivities, assignment,
          limits, model.getUse(assignment.alternatives)))
    return entry.emitError()
           << "cannot write bit widths: " << llvm::toString(std::move(error));
  return success();
}
