// SPDX-License-Identifier: Apache-2.0
#include "mct/Report/Analyse.h"
#include "Describe.h"
#include "Observe.h"
#include "mct/Analysis/EntryFunction.h"
#include "mct/Analysis/Names.h"
#include "mct/Execution/Executor.h"
#include "mct/Report/Diagnose.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include <chrono>

using namespace mlir;
using namespace mct;
using namespace mct::report;

static Distance toDistance(const execution::ErrorSums &sums) {
  return {sums.sqnr(), sums.cosine(), sums.largest};
}

static llvm::StringMap<Point *> byName(Report &report) {
  llvm::StringMap<Point *> points;
  for (Point &point : report.points)
    points[point.name] = &point;
  return points;
}

/// What mct-run says of the same runs.
static void repeat(const execution::Evaluation &evaluation, Report &report) {
  report.samples = evaluation.samples;
  report.simulated.samples = evaluation.samples;
  report.simulated.top1 = evaluation.top1;
  report.simulated.agreement = evaluation.agreement;
  llvm::StringMap<Point *> points = byName(report);
  for (const execution::ComparedPoint &compared : evaluation.points)
    if (Point *point = points.lookup(compared.name))
      point->total = toDistance(compared.sums);
}

/// The integer network beside its simulation, and its answers beside those of
/// the float network.
static LogicalResult compareIntegers(const AnalyseInputs &inputs,
                                     Report &report) {
  execution::EvaluationOptions options;
  options.function = inputs.function;
  options.name = inputs.integerName;
  options.labelsFile = inputs.labelsFile;
  options.fail = inputs.fail;
  auto run = [&](ModuleOp reference, StringRef name, bool exact) {
    options.referenceName = name.str();
    options.exact = exact;
    return execution::evaluate(inputs.integer, reference, inputs.settings,
                               options);
  };
  FailureOr<execution::Evaluation> steps =
      run(inputs.quantized, inputs.name, /*exact=*/true);
  if (failed(steps))
    return failure();
  FailureOr<execution::Evaluation> answers =
      run(inputs.floating, inputs.floatName, /*exact=*/false);
  if (failed(answers))
    return failure();
  Accuracy &accuracy = report.integer.emplace();
  accuracy.samples = answers->samples;
  accuracy.top1 = answers->top1;
  accuracy.agreement = answers->agreement;
  llvm::StringMap<Point *> points = byName(report);
  for (const execution::ComparedPoint &compared : steps->points)
    if (Point *point = points.lookup(compared.name))
      point->integer = {compared.steps->values, compared.steps->differing,
                        compared.steps->largest};
  return success();
}

FailureOr<Report> report::analyse(const AnalyseInputs &inputs) {
  auto start = std::chrono::steady_clock::now();
  Report report;
  report.mctVersion = MCT_VERSION;
  report.llvmVersion = LLVM_VERSION_STRING;
  report.instructionSet = execution::Executor::instructionSet();
  report.model = inputs.name;
  report.hasLabels = !inputs.labelsFile.empty();
  FailureOr<func::FuncOp> function =
      findEntryFunction(inputs.quantized, inputs.function);
  if (failed(function))
    return failure();
  assignNames(*function);
  if (failed(describe(*function, inputs.settings.run.threads, report)))
    return failure();
  if (inputs.integer && failed(compareIntegers(inputs, report)))
    return failure();
  if (inputs.evaluation)
    repeat(*inputs.evaluation, report);
  if (failed(
          observe(inputs.quantized, inputs.function, inputs.settings, report)))
    return failure();
  report.diagnoses = diagnose(report);
  report.verdict = describeVerdict(report);
  report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return report;
}
