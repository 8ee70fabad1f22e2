// SPDX-License-Identifier: Apache-2.0
#include "mct/Report/Analyse.h"
#include "Costs.h"
#include "Describe.h"
#include "EffectRun.h"
#include "Observe.h"
#include "Remedies.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/RunCache.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/Planning/IntegerLayer.h"
#include "mct/Report/Diagnose.h"
#include "mct/Report/Effects.h"
#include "tpc_dialect/IR/TpcRejections.h"
#include "llvm/Config/llvm-config.h"
#include <chrono>

using namespace mlir;
using namespace mct;
using namespace mct::report;

/// Adds the corrections that mct-ptq undid, which an attribute of the function
/// lists.
static void addRejectedCorrections(func::FuncOp function, Report &report) {
  for (tpc::RejectedCorrection &each : tpc::readRejectedCorrections(function)) {
    RejectedCorrection &rejected = report.rejectedCorrections.emplace_back();
    rejected.correction = std::move(each.correction);
    rejected.layers = std::move(each.layers);
    for (const Result &result : report.results)
      if (result.number == each.output)
        rejected.result = result.name;
    rejected.loss = each.loss;
    rejected.standardError = each.standardError;
    rejected.samples = each.samples;
  }
}

/// Returns the name that a layer had when points were inserted.
static std::string nameLayer(Operation *layer) {
  for (Value operand : layer->getOperands())
    if (auto point = operand.getDefiningOp<tpc::QuantizeOp>();
        point && !point.isActivation())
      return point.getPointName().str();
  for (Operation *user : layer->getUsers())
    if (auto point = dyn_cast<tpc::QuantizeOp>(user))
      return point.getPointName().str();
  return getNameOrKind(layer);
}

/// Names layers that stay float, in a sentence after a space; empty if there
/// are none.
static std::string describeFloatLayers(func::FuncOp function,
                                       const KernelOps &kernels) {
  constexpr size_t kMost = 4;
  IntegerLayers layers = findIntegerLayers(function, kernels);
  if (layers.notInIntegers.empty())
    return "";
  std::vector<std::string> names;
  for (OpOperand *factor : ArrayRef(layers.notInIntegers).take_front(kMost))
    names.push_back("'" + nameLayer(factor->getOwner()) + "'");
  bool areMore = layers.notInIntegers.size() > kMost;
  return " " + layers.describe() + ": " + llvm::join(names, ", ") +
         (areMore             ? " and others stay float."
          : names.size() == 1 ? " stays float."
                              : " stay float.");
}

FailureOr<Report> report::analyse(const AnalyseInputs &inputs) {
  auto start = std::chrono::steady_clock::now();
  Report report;
  report.mctVersion = MCT_VERSION;
  report.llvmVersion = LLVM_VERSION_STRING;
  report.instructionSet = execution::Executor::instructionSet();
  report.model = inputs.name;
  FailureOr<func::FuncOp> function =
      findEntryFunction(inputs.quantized, inputs.function);
  if (failed(function))
    return failure();
  assignNames(*function);
  const KernelOps kernels(inputs.quantized);
  if (failed(describe(*function, kernels, inputs.settings.run.threads, report)))
    return failure();
  EffectOptions options;
  options.function = inputs.function;
  options.name = inputs.name;
  options.floatName = inputs.floatName;
  options.integerName = inputs.integerName;
  options.labelsFile = inputs.labelsFile;
  options.metric = inputs.metric;
  options.effectSamples = inputs.effectSamples;
  options.shards = inputs.shards;
  options.hasLabels = inputs.hasLabels;
  execution::RunSettings settings = inputs.settings;
  if (!settings.cache)
    settings.cache = std::make_shared<execution::RunCache>();
  // A shard observes and measures in the same run.
  if (failed(observe(inputs.quantized, kernels, inputs.function, settings,
                     inputs.shards, report)))
    return failure();
  std::unique_ptr<EffectRun> run;
  if (failed(measureEffects(inputs.quantized, kernels, inputs.floating,
                            inputs.integer, settings, options, report, &run)))
    return failure();
  if (inputs.judged)
    addJudged(*inputs.judged, report.simulated, report);
  if (inputs.judgedInteger && report.integer)
    addJudged(*inputs.judgedInteger, *report.integer, report);
  if (failed(addCosts(*function, kernels, inputs.costTable, report)))
    return failure();
  addRejectedCorrections(*function, report);
  if (inputs.trace)
    addTrace(report, *inputs.trace);
  report.diagnoses = diagnose(report);
  if (run && failed(tryRemedies(inputs.quantized, kernels, inputs.function,
                                *run, report)))
    return failure();
  for (Result &result : report.results)
    result.verdict = describeResult(report, result);
  report.verdict =
      describeVerdict(report) + describeFloatLayers(*function, kernels);
  report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return report;
}
