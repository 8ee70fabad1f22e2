// SPDX-License-Identifier: Apache-2.0
//
// What mct-run finds out about a module, for whoever asks.
#ifndef MCT_EXECUTION_EVALUATION_H
#define MCT_EXECUTION_EVALUATION_H

#include "mct/Execution/Comparison.h"
#include "mct/Execution/ResultComparison.h"
#include "mct/Execution/Run.h"
#include "llvm/Support/JSON.h"

namespace mct::execution {

/// What a module and its reference make of the samples of one unit.
struct SeenResults {
  const Unit &unit;
  /// Samples that a whole unit has.
  int64_t unitSize;
  /// Of the module and of the reference (none: empty), whole units.
  llvm::ArrayRef<TensorSpec> specs, referenceSpecs;
  llvm::ArrayRef<void *> reference;
  /// Of all samples; empty: not known.
  llvm::ArrayRef<int64_t> labels;
};

struct EvaluationOptions {
  /// Function to run; empty: `main`, or the only public one.
  std::string function;
  /// How messages call the modules.
  std::string name, referenceName;
  /// Points that do not quantize: names, or patterns with *.
  std::vector<std::string> floatPoints;
  /// Class of each sample, in an `.npy` file; empty: not known.
  std::string labelsFile;
  /// One `.npy` for each output; empty: outputs are not kept.
  std::vector<std::string> outputFiles;
  /// With a reference: the stored integers of an integer network are compared,
  /// and nothing else. `local`: every point computes from those integers.
  bool exact = false, local = false;
  /// With a reference: of every point that quantizes, what its quantizer does
  /// and what comes in, beside both together.
  bool splitErrors = false;
  /// Of the units, in the thread of the worker; null: nobody is told.
  std::function<llvm::Error(const SeenResults &)> see;
  /// Which samples these are is found out, too.
  bool digest = false;
  /// Hears of what is wrong where no diagnostic says so.
  llvm::function_ref<void(const llvm::Twine &)> fail;
};

struct Evaluation {
  int64_t samples = 0;
  /// As digestSamples; empty where nobody asked.
  std::string digest;
  double seconds = 0;
  /// Shares of samples whose largest score is the label, or the reference's;
  /// the latter of scores of classes alone (`ResultComparison`).
  std::optional<double> top1, agreement;
  /// Comparisons of the results that are real numbers in both networks.
  std::vector<ComparedResult> results;
  /// Of every point that the reference has, in program order.
  std::vector<ComparedPoint> points;
  /// Of all points that are stored as integers.
  StepCounts steps;
  /// Points that the reference does not have.
  std::vector<std::string> notCompared;
  /// Whether there was a reference.
  bool compared = false, exact = false;
};

/// Classes of samples, integers in an `.npy` file of shape N or Nx1. Errors
/// name the file.
llvm::Expected<std::vector<int64_t>> readLabels(llvm::StringRef path);

/// Index of the largest of `count` elements of a sample of a unit, the first of
/// equals; -1 where one is NaN.
int64_t findAnswer(const TensorSpec &output, const void *data, int64_t sample,
                   int64_t count);
/// Whether an output of a network with this unit has its values of each sample
/// along one axis, as scores of classes are.
bool hasScores(const TensorSpec &output, int64_t unit);

/// Runs the function on the samples of `settings`, and `reference`, which may
/// be null, beside it. Both modules are in one context, and their values get
/// names. Output files appear when all has been done, or not at all.
mlir::FailureOr<Evaluation> evaluate(mlir::ModuleOp module,
                                     mlir::ModuleOp reference,
                                     RunSettings settings,
                                     const EvaluationOptions &options);

/// Writes the members of a JSON object; a number that is infinite or not
/// defined is null.
void printMembers(llvm::json::OStream &stream, const Evaluation &evaluation);

/// Inputs and outputs of a function, and what is recorded of their integers and
/// samples.
struct Signature {
  struct Entry {
    std::string name;
    mlir::Type type;
    std::optional<QuantizedValue> stored;
    std::optional<Preprocessing> preprocessing = std::nullopt;
  };
  std::string function;
  std::vector<Entry> inputs, outputs;
};
mlir::FailureOr<Signature> readSignature(mlir::ModuleOp module,
                                         llvm::StringRef function);
/// Writes a JSON object; its members alone, for one that has more; or that of a
/// record of preprocessing.
void print(llvm::json::OStream &stream, const Signature &signature);
void printMembers(llvm::json::OStream &stream, const Signature &signature);
void print(llvm::json::OStream &stream, const Preprocessing &record);

/// Each part of a record of preprocessing that says something, in order.
void forEachPart(
    const Preprocessing &record,
    llvm::function_ref<void(llvm::StringRef, llvm::ArrayRef<double>)> numbers,
    llvm::function_ref<void(llvm::StringRef, llvm::ArrayRef<int64_t>)>
        integers);

} // namespace mct::execution

#endif // MCT_EXECUTION_EVALUATION_H
