// SPDX-License-Identifier: Apache-2.0
//
// Operations on modules for the Python package that do not depend on Python.
// They do not throw; errors are reported to a job, and results are null or
// empty then.
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
    addMessage({Message::Kind::Error, "", text.str(), {}});
  }
  void addMessage(Message message);
  /// Returns the messages that were not taken yet.
  std::vector<Message> takeMessages();

  /// Sets the factory of the program's quantizers, for points that ask for one;
  /// may be null.
  void setHosts(HostQuantizers::Factory factory) { hosts = std::move(factory); }
  /// Attaches these quantizers to a context; called once for each context.
  void attachHosts(mlir::MLIRContext *context) const {
    if (hosts)
      HostQuantizers::attach(context, hosts);
  }

  /// Sets the program's part in training; may be null. It must outlive the job.
  void setTraining(TrainingHost *host) { training = host; }
  TrainingHost *getTraining() const { return training; }

  /// Sets the program's metric, whose drops are measured; may be null. It must
  /// outlive the job.
  void setMetric(execution::MetricHost *host) { metric = host; }
  execution::MetricHost *getMetric() const { return metric; }

  /// Records whether the call succeeded.
  void end(bool isDone) { done = isDone; }
  bool hasFailed() const { return !done; }

  void setStage(llvm::StringRef flag);
  /// The flag of the pass that runs; empty before the first.
  std::string getStage() const;
  /// Returns the progress of the present run over samples.
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

/// Results of a user's metric for the networks.
struct UserMetric {
  std::string name;
  bool isHigherBetter = true;
  int64_t samples = 0;
  /// One number for each sample, or one for all of them; may be empty for the
  /// float and the integer network.
  std::vector<double> values, reference, integer;
  bool hasRows = true;
  /// Matched detections, if the metric is an average precision and there is
  /// such a network.
  std::optional<execution::MatchedDetections> detections, referenceDetections,
      integerDetections;

  execution::MetricResult judge() const;
  execution::MetricResult judgeInteger() const;
  /// Returns the JSON that mct-run prints for a metric.
  std::string print() const;
};

/// Returns whether `text` names a metric of the compiler; reports an error to
/// `job` if it does not.
bool checkMetric(llvm::StringRef text, Job &job);

/// Options of a run, with the names of those of mct-run.
struct ExecuteOptions {
  std::vector<std::string> inputs, outputs, floatPoints;
  std::string labels, function, maxMemory, metric;
  /// Table of costs for the report; may be empty.
  std::string costTable;
  uint64_t samples = 0, batchSize = 0;
  unsigned threads = 0;
  bool exact = false;
  /// Metric of the report; may be null.
  const UserMetric *judged = nullptr;
  /// Files with the results of shards, the file to write if `inputs` are a
  /// shard, and the shard as `I/N`.
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

  /// Computes the results from one array for each argument, of the argument's
  /// shape. Returns none, and reports to `job`, if arrays do not fit or the run
  /// fails. Only one thread runs at a time.
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

/// A module in its own context. It is never changed, so threads may share it,
/// and it frees all memory.
class Module {
public:
  /// Parses text or bytecode, which messages call `name`. Returns null, and
  /// reports to `job`, if it is invalid.
  static std::shared_ptr<const Module> parse(std::string bytes,
                                             llvm::StringRef name, Job &job);

  /// Returns a copy on which the passes of `pipeline`, a textual pipeline of
  /// passes on a module, have run. Returns null, and reports to `job`, if one
  /// of them fails or the job is cancelled. `renamed` maps temporary files in
  /// the pipeline to the words in capitals by which traces name them.
  std::shared_ptr<const Module>
  run(llvm::StringRef pipeline, Job &job,
      llvm::ArrayRef<std::pair<std::string, std::string>> renamed = {}) const;
  /// Returns a copy.
  std::shared_ptr<const Module> clone(Job &job) const { return run("", job); }

  /// Runs a function on samples together with `reference`, which may be null.
  /// Returns the JSON object of mct-run except for its memory; returns none,
  /// and reports to `job`, if the run fails.
  std::optional<std::string> execute(const Module *reference,
                                     const ExecuteOptions &options,
                                     Job &job) const;
  /// Returns the JSON document of mct-run's --report that compares this
  /// quantized module with the float one; `integer` may be null. Outputs and
  /// float points in `options` are ignored. `trace` is the text that mct-opt
  /// --mct-trace writes; if empty, it is the trace of this module. Returns
  /// none, and reports to `job`, if the run fails.
  std::optional<std::string> report(const Module &reference,
                                    const Module *integer,
                                    const ExecuteOptions &options,
                                    uint64_t effectSamples,
                                    llvm::StringRef trace, Job &job) const;
  /// Returns the JSON object of mct-run's --signature.
  std::optional<std::string> signature(llvm::StringRef function,
                                       Job &job) const;

  /// Compiles a function of f32 tensors with static shapes. Returns null, and
  /// reports to `job`, on failure.
  std::unique_ptr<CompiledFunction> compile(llvm::StringRef function,
                                            Job &job) const;

  /// Returns whether a function can be run; reports to `job` if it cannot.
  bool check(llvm::StringRef function, Job &job) const;

  /// Returns a JSON array that describes what each point quantizes, and how.
  std::string points() const;
  /// Returns the output of tpc-explain in this `format`; returns none, and
  /// reports to `job`, on failure.
  std::optional<std::string> explain(llvm::StringRef format,
                                     llvm::StringRef overrides, Job &job) const;
  /// Returns the JSON object that mct-report-resources prints; returns none,
  /// and reports to `job`, on failure.
  std::optional<std::string> reportResources(Job &job) const;
  /// Returns the JSON object that mct-report-costs prints with a table of
  /// costs, or without one for an empty path; returns none, and reports to
  /// `job`, on failure.
  std::optional<std::string> reportCosts(llvm::StringRef table, Job &job) const;
  /// Returns how many convolutions and matrix products of a function, the entry
  /// function for an empty name, are computed on integers; empty without any.
  std::string integerLayers(const std::string &function) const;
  /// Returns a JSON array with an object for each function: its name as
  /// `function`, the `names` of the ops with a result in program order (empty
  /// for an op without a name), and as `results` the index of the op that
  /// defines each result of the function, or -1.
  std::string opNames() const;

  /// Return the text and the bytecode that mct-opt writes.
  std::string text() const;
  std::string bytecode() const;

  /// Returns the network as the ONNX file that mct-translate writes. Returns
  /// none, and reports to `job`, if it cannot be exported.
  std::optional<std::string> exportOnnx(const OnnxOptions &options,
                                        Job &job) const;
  /// Returns the meaning of its integers as JSON (`mct/Export/Parameters.h`).
  std::optional<std::string> exportParameters(llvm::StringRef function,
                                              Job &job) const;
  /// Returns the content of a `.tflite` file of the network as JSON
  /// (`mct/Export/Tflite.h`).
  std::optional<std::string> exportTflite(const TfliteOptions &options,
                                          Job &job) const;
  /// Returns the target that the module contains as MCT's JSON, in that version
  /// of the schema.
  std::optional<std::string> exportTarget(int64_t schema, Job &job) const;

  const std::string &getName() const { return name; }
  /// Returns the passes that created the module with all their options; empty
  /// for a parsed module.
  const std::string &getPipeline() const { return pipeline; }
  /// Returns the trace of the passes since the module was parsed, as mct-opt
  /// --mct-trace writes it.
  std::string getTrace() const;

private:
  Module(llvm::StringRef name);
  std::string write() const;
  /// Returns the text that `print` writes about a copy of the module; returns
  /// none, and reports to `job`, on failure.
  std::optional<std::string>
  printCopy(Job &job,
            llvm::function_ref<mlir::LogicalResult(mlir::ModuleOp,
                                                   llvm::raw_ostream &)>
                print) const;
  /// Returns the text that the module was parsed from, or its bytecode. Later
  /// calls return the same.
  const std::string &getSource() const;
  /// Returns the text that `work` writes about a copy of the module.
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
  /// Resources of unknown dialects, which are preserved.
  mutable mlir::FallbackAsmResourceMap resources;
  mlir::OwningOpRef<mlir::ModuleOp> op;
  /// The text that the module was parsed from; for a result of passes, its
  /// bytecode after the first call of `getSource`.
  mutable std::string source;
  mutable std::mutex mutex;
};

Message toMessage(mlir::Diagnostic &diagnostic);

/// Returns the dialects of the package. The first call registers the passes.
const mlir::DialectRegistry &getRegistry();

} // namespace mct::python

#endif // MCT_PYTHON_NATIVE_MODULE_H
