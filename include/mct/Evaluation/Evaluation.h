// SPDX-License-Identifier: Apache-2.0
//
// Runs a module on samples, alone or together with a reference.
#ifndef MCT_EVALUATION_EVALUATION_H
#define MCT_EVALUATION_EVALUATION_H

#include "mct/Evaluation/Comparison.h"
#include "mct/Evaluation/EvaluationTotals.h"
#include "mct/Evaluation/Metric.h"
#include "mct/Evaluation/ResultComparison.h"
#include "mct/Execution/Run.h"
#include "mct/Execution/Shards.h"
#include "llvm/Support/JSON.h"

namespace mct::execution {

/// Results of a module and of its reference for the samples of one unit.
struct UnitResults {
  const Unit &unit;
  /// Number of samples of a whole unit.
  int64_t unitSize;
  /// Outputs of the module and of the reference (empty without one), in whole
  /// units.
  llvm::ArrayRef<TensorSpec> specs, referenceSpecs;
  llvm::ArrayRef<void *> reference;
  /// Classes of all samples; empty if unknown.
  llvm::ArrayRef<int64_t> labels;
};

struct EvaluationOptions {
  /// Function to run; empty: `main`, or the only public one.
  std::string function;
  /// Names of the modules in messages.
  std::string name, referenceName;
  /// Names, or patterns with *, of the points that do not quantize.
  std::vector<std::string> floatPoints;
  /// File (`.npy`) with the class of each sample, or the labels of the metric;
  /// empty if unknown.
  std::string labelsFile;
  /// Name of a metric (`Metric::create`); empty for none.
  std::string metric;
  /// Paths of an `.npy` file for each output; empty if outputs are not kept.
  std::vector<std::string> outputFiles;
  /// Set for a comparison with a reference: only the stored integers of an
  /// integer network are compared. With `local`, every point computes from
  /// those integers.
  bool exact = false, local = false;
  /// Set for a comparison with a reference: splits the error of every
  /// quantizing point into the part of its quantizer and the inherited part.
  bool splitErrors = false;
  /// Called for each unit, in the thread of the worker; may be null.
  std::function<llvm::Error(const UnitResults &)> onUnitDone;
  /// True to compute the digest of the samples, too.
  bool digest = false;
  /// True if there are labels, of this process or of the shards.
  bool hasLabels = false;
};

struct Evaluation {
  int64_t samples = 0;
  /// Digest of the samples (`digestSamples`); empty if it was not requested.
  std::string digest;
  double seconds = 0;
  /// Share of the samples whose largest score is the label, and share of those
  /// whose largest score is that of the reference; the latter only for scores
  /// of classes (`ResultComparison`).
  std::optional<double> top1, agreement;
  /// The requested metric, and its loss against the reference.
  std::optional<MetricResult> metric;
  /// Comparisons of the results that are real numbers in both networks.
  std::vector<ComparedResult> results;
  /// Comparisons of every point that the reference has, in program order.
  std::vector<ComparedPoint> points;
  /// Sum over all points that are stored as integers.
  StepCounts steps;
  /// Points that the reference does not have.
  std::vector<std::string> notCompared;
  /// True if there was a reference.
  bool compared = false, exact = false;
};

/// Runs the function on the samples of `settings`, and `reference`, which may
/// be null, on the same samples. Both modules are in one context, and their
/// values get names. Every failure is one diagnostic. Output files are created
/// when everything is complete, or not at all.
mlir::FailureOr<Evaluation> evaluate(mlir::ModuleOp module,
                                     mlir::ModuleOp reference,
                                     RunSettings settings,
                                     const EvaluationOptions &options);

/// Does the same, but returns totals, to which those of other samples can be
/// added.
mlir::FailureOr<EvaluationTotals> measure(mlir::ModuleOp module,
                                          mlir::ModuleOp reference,
                                          RunSettings settings,
                                          const EvaluationOptions &options);
/// Returns the evaluation of totals that include all samples; emits a
/// diagnostic if they have no value for the metric.
mlir::FailureOr<Evaluation> judgeEvaluation(mlir::Location loc,
                                            const EvaluationTotals &totals,
                                            const EvaluationOptions &options);

/// Kind of the parts of shards that hold evaluations.
inline constexpr llvm::StringLiteral kEvaluationPart = "evaluation";
/// Returns a name of an evaluation that is the same for all shards.
mlir::FailureOr<std::string> nameEvaluation(mlir::ModuleOp module,
                                            mlir::ModuleOp reference,
                                            const RunSettings &settings,
                                            const EvaluationOptions &options);
/// Returns the merged totals of the parts of all shards, of which there must be
/// at least one.
mlir::FailureOr<EvaluationTotals>
mergeEvaluations(const Shards &shards, llvm::ArrayRef<const ShardPart *> parts);
/// Adds the evaluation of other shards to `content`. Returns false for another
/// kind.
llvm::Expected<bool> mergeEvaluationParts(llvm::StringRef kind,
                                          llvm::json::Object &content,
                                          const llvm::json::Object &other);
/// Returns whether the shards that have evaluated a network had labels.
bool haveLabels(const Shards &shards);
/// Returns the merged evaluation of all shards, which equals that of `evaluate`
/// on all samples. If shards are missing, evaluates the shard of this process,
/// records it and returns none; without samples fails, as
/// `Shards::reportMissing` does.
mlir::FailureOr<std::optional<Evaluation>>
evaluateShards(Shards &shards, mlir::ModuleOp module, mlir::ModuleOp reference,
               RunSettings settings, const EvaluationOptions &options);

/// Writes the members of a JSON object; a number that is infinite or NaN is
/// null.
void printMembers(llvm::json::OStream &stream, const Evaluation &evaluation);

} // namespace mct::execution

#endif // MCT_EVALUATION_EVALUATION_H
