// SPDX-License-Identifier: Apache-2.0
//
// Work that the Python package does with modules, without Python: nothing here
// throws, and what goes wrong is told to a job.
#ifndef MCT_PYTHON_NATIVE_MODULE_H
#define MCT_PYTHON_NATIVE_MODULE_H

#include "mct/Evaluation/Metric.h"
#include "mct/Evaluation/MetricHost.h"
#include "mct/Export/Onnx.h"
#include "mct/Export/Tflite.h"
#include "mct/IR/HostQuantizers.h"
#include "mct/Report/Trace.h"
#include "mct/Support/ContextThreads.h"
#include "mct/Training/TrainingHost.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mct::python {

/// A diagnostic, as text.
struct Message {
  enum class Kind { Error, Warning, Remark };
  Kind kind = Kind::Error;
  /// Name of the value and `file:line:column`, as far as they are known.
  std::string location, text;
  struct Note {
    std::string location, text;
  };
  std::vector<Note> notes;
};

/// The state of one call, for other threads. Thread safe.
class Job {
public:
  void cancel() { samples.cancel(); }
  bool isCancelled() const { return samples.isCancelled(); }

  void fail(llvm::StringRef text) {
    tell({Message::Kind::Error, "", text.str(), {}});
  }
  void tell(Message message);
  /// Returns the messages that were not taken yet.
  std::vector<Message> takeMessages();

  /// Quantizers of the program, for points that ask for one; none: not.
  void setHosts(HostQuantizers::Factory factory) { hosts = std::move(factory); }
  /// Tells a context of them. Once for each context.
  void attachHosts(mlir::MLIRContext *context) const {
    if (hosts)
      HostQuantizers::attach(context, hosts);
  }

  /// Sets the program's part in training; null: none. Outlives the
  /// job.
  void setTraining(TrainingHost *host) { training = host; }
  TrainingHost *getTraining() const { return training; }

  /// Sets the metric of the program that drops are those of; null: none.
  /// Outlives the job.
  void setMetric(execution::MetricHost *host) { metric = host; }
  execution::MetricHost *getMetric() const { return metric; }

  /// Says how it ended.
  void end(bool isDone) { done = isDone; }
  bool hasFailed() const { return !done; }

  void setStage(llvm::StringRef flag);
  /// The flag of the pass that runs; empty before the first.
  std::string getStage() const;
  /// How far the run over samples is that is under way.
  support::Progress &progress() { return samples; }

private:
  support::Progress samples;
  HostQuantizers::Factory hosts;
  TrainingHost *training = nullptr;
  execution::MetricHost *metric = nullptr;
  std::atomic<bool> done{false};
  mutable std::mutex mutex;
  std::vector<Message> messages;
  std::string stage;
};

/// How a module is run: as mct-run does by the options of these names.
/// Results of a metric of the user's for networks, computed by others.
struct UserMetric {
  std::string name;
  bool isHigherBetter = true;
  int64_t samples = 0;
  /// One number for each sample, or one for all of them; those of the float
  /// network and of the integer one may be empty.
  std::vector<double> values, reference, integer;
  bool hasRows = true;
  /// Detections after numbers that are average precisions; none for other
  /// metrics, and networks that are not there.
  std::optional<execution::MatchedDetections> detections, referenceDetections,
      integerDetections;

  execution::MetricResult judge() const;
  execution::MetricResult judgeInteger() const;
  /// Returns the JSON that mct-run prints of a metric.
  std::string print() const;
};

/// Returns whether it is the name of a metric of the compiler; what is none is
/// told to `job`.
bool checkMetric(llvm::StringRef text, Job &job);

struct ExecuteOptions {
  std::vector<std::string> inputs, outputs, floatPoints;
  std::string labels, function, maxMemory, metric;
  /// Table of costs for the report; empty: none.
  std::string costTable;
  uint64_t samples = 0, batchSize = 0;
  unsigned threads = 0;
  bool exact = false;
  /// Metric of the report; may be null.
  const UserMetric *judged = nullptr;
  /// Files of what shards have found out, the one of the shard that `inputs`
  /// are, and `I/N`.
  std::vector<std::string> shardsIn = {};
  std::string shardsOut = "", shard = "";
};

class Module;

/// A function that has been compiled, to be run on arrays many times.
class CompiledFunction {
public:
  ~CompiledFunction();

  /// Values of a tensor in row-major order.
  struct Array {
    std::vector<int64_t> shape;
    llvm::ArrayRef<float> values;
  };
  using Result = std::pair<std::vector<int64_t>, std::vector<float>>;

  /// Computes the results from as many arrays as there are arguments, of their
  /// shapes. None, and told to `job`, where arrays do not fit or a step fails.
  /// One thread runs at a time.
  std::optional<std::vector<Result>> run(llvm::ArrayRef<Array> arrays,
                                         Job &job);

private:
  friend class Module;
  CompiledFunction(std::unique_ptr<Module> module, std::string name);

  struct State;
  std::unique_ptr<Module> module;
  std::string name;
  std::unique_ptr<State> state;
  std::mutex mutex;
};

/// A module in a context of its own, never changed: threads may share it, and
/// all memory goes with it.
class Module {
public:
  /// Parses text or bytecode. Null, and told to `job`, where it is invalid.
  /// `name`: what messages call it.
  static std::shared_ptr<const Module> parse(std::string bytes,
                                             llvm::StringRef name, Job &job);

  /// A copy on which the passes of `pipeline`, a textual pipeline of passes on
  /// a module, have run. Null, and told to `job`, where one of them fails, and
  /// where the job is cancelled.
  /// `renamed`: of files in it that nobody keeps what traces call them, words
  /// in capitals.
  std::shared_ptr<const Module>
  run(llvm::StringRef pipeline, Job &job,
      llvm::ArrayRef<std::pair<std::string, std::string>> renamed = {}) const;
  /// A copy.
  std::shared_ptr<const Module> clone(Job &job) const { return run("", job); }

  /// Runs a function on samples, and `reference`, which may be null, beside it.
  /// A JSON object with what mct-run finds out, but for its own memory; none,
  /// and told to `job`, where it fails.
  std::optional<std::string> execute(const Module *reference,
                                     const ExecuteOptions &options,
                                     Job &job) const;
  /// The JSON document of mct-run's --report: this module, the quantized one,
  /// beside the float one; `integer` may be null. Of `options` neither outputs
  /// nor float points count. `trace`: what mct-opt --mct-trace writes; empty:
  /// that of this module. None, and told to `job`, where it fails.
  std::optional<std::string> report(const Module &reference,
                                    const Module *integer,
                                    const ExecuteOptions &options,
                                    uint64_t effectSamples,
                                    llvm::StringRef trace, Job &job) const;
  /// The JSON object of mct-run's --signature.
  std::optional<std::string> signature(llvm::StringRef function,
                                       Job &job) const;

  /// Compiles a function of tensors of f32 that all have a static shape. Null,
  /// and told to `job`, where it fails.
  std::unique_ptr<CompiledFunction> compile(llvm::StringRef function,
                                            Job &job) const;

  /// Returns whether a function can be run; what is wrong is told to `job`.
  bool check(llvm::StringRef function, Job &job) const;

  /// A JSON array: what every point quantizes, and how.
  std::string points() const;
  /// Returns what tpc-explain prints in this `format`; none, and told
  /// to `job`, where it fails.
  std::optional<std::string> explain(llvm::StringRef format,
                                     llvm::StringRef overrides, Job &job) const;
  /// Returns the JSON object that mct-report-resources prints; none, and told
  /// to `job`, where it fails.
  std::optional<std::string> reportResources(Job &job) const;
  /// Returns the JSON object that mct-report-costs prints by a table of costs,
  /// or by none for an empty path; none, and told to `job`, where it fails.
  std::optional<std::string> reportCosts(llvm::StringRef table, Job &job) const;
  /// Returns a JSON array: of each `function` the `names` of the ops that have
  /// a result, in program order, and as `results` the number of the op that
  /// makes each result of the function, or -1; an op without a name has an
  /// empty one.
  std::string opNames() const;

  /// The bytes that mct-opt writes.
  std::string text() const;
  std::string bytecode() const;

  /// The network as an ONNX file, as mct-translate writes it. None, and told to
  /// `job`, where it cannot be one.
  std::optional<std::string> exportOnnx(const OnnxOptions &options,
                                        Job &job) const;
  /// Returns what its numbers stand for, as JSON (`mct/Export/Parameters.h`).
  std::optional<std::string> exportParameters(llvm::StringRef function,
                                              Job &job) const;
  /// Returns what a `.tflite` file of it has, as JSON (`mct/Export/Tflite.h`).
  std::optional<std::string> exportTflite(const TfliteOptions &options,
                                          Job &job) const;
  /// The target that it holds, as JSON of MCT in that version of the schema.
  std::optional<std::string> exportTarget(int64_t schema, Job &job) const;

  const std::string &getName() const { return name; }
  /// The passes that it comes from, with all their options; empty for one that
  /// was parsed.
  const std::string &getPipeline() const { return pipeline; }
  /// How it came about since it was parsed, as mct-opt --mct-trace writes it.
  std::string getTrace() const;

private:
  Module(llvm::StringRef name);
  std::string write() const;
  /// Returns what `print` writes about a copy of the module; none, and told to
  /// `job`, where it fails.
  std::optional<std::string>
  printCopy(Job &job,
            llvm::function_ref<mlir::LogicalResult(mlir::ModuleOp,
                                                   llvm::raw_ostream &)>
                print) const;
  /// Returns the text that it was parsed from, or its bytecode. That does not
  /// change any more.
  const std::string &getSource() const;
  /// Returns what `work` writes about a copy.
  std::optional<std::string>
  translate(llvm::function_ref<llvm::LogicalResult(mlir::ModuleOp,
                                                   llvm::raw_ostream &)>
                work,
            Job &job) const;
  static std::unique_ptr<Module> read(const std::string &bytes,
                                      llvm::StringRef name, Job &job);
  static mlir::OwningOpRef<mlir::ModuleOp>
  readInto(mlir::MLIRContext &context, mlir::FallbackAsmResourceMap &resources,
           const std::string &bytes, llvm::StringRef name, Job &job);

  std::string name, pipeline;
  report::Trace trace;
  std::unique_ptr<mlir::MLIRContext> context;
  /// Resources of dialects that are not known, which are kept.
  mutable mlir::FallbackAsmResourceMap resources;
  mlir::OwningOpRef<mlir::ModuleOp> op;
  /// The text that it was parsed from; of a result of passes its bytecode, once
  /// asked.
  mutable std::string source;
  mutable std::mutex mutex;
};

Message toMessage(mlir::Diagnostic &diagnostic);

/// The dialects, and once the passes, that mct-opt has.
const mlir::DialectRegistry &getRegistry();

} // namespace mct::python

#endif // MCT_PYTHON_NATIVE_MODULE_H
