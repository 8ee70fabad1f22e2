// SPDX-License-Identifier: Apache-2.0
//
// The module `mct._native`. This file and its headers are compiled with
// exceptions, which are those of Python. No exception crosses a function of
// MLIR or of this project: callbacks keep an exception until these functions
// have returned.
#include "Module.h"
#include "OptionWords.h"
#include "PythonHosts.h"
#include "Reports.h"
#include "Targets.h"

#include "mct/Support/OutputFile.h"
#include "tpc_dialect/targets/Targets.h"
#include "llvm/ADT/StringSwitch.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <pthread.h>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;
using mct::python::Job;
using mct::python::makeHosts;
using mct::python::Message;
using mct::python::Module;
using mct::python::PythonMetric;
using mct::python::PythonTraining;
using mct::python::Raised;

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

static nb::object toPython(const Message &message) {
  static constexpr const char *kinds[] = {"error", "warning", "remark"};
  nb::list notes;
  for (const Message::Note &note : message.notes)
    notes.append(nb::make_tuple(note.location, note.text));
  return nb::module_::import_("mct.errors")
      .attr("Diagnostic")(kinds[int(message.kind)], message.location,
                          message.text, nb::tuple(notes));
}

/// Passes warnings and remarks to `logging`, and appends errors to `errors`.
static void deliver(Job &job, nb::list &errors) {
  for (const Message &message : job.takeMessages()) {
    nb::object diagnostic = toPython(message);
    if (message.kind == Message::Kind::Error)
      errors.append(diagnostic);
    else
      nb::module_::import_("mct.errors").attr("log")(diagnostic);
  }
}

[[noreturn]] static void raise(const nb::list &errors) {
  nb::object error =
      nb::module_::import_("mct.errors").attr("Error").attr("of")(errors);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())),
                  error.ptr());
  throw nb::python_error();
}

//===----------------------------------------------------------------------===//
// Calls that take time
//===----------------------------------------------------------------------===//

namespace {
/// A call that runs in its own thread while the thread of the caller waits for
/// signals.
struct Call {
  llvm::function_ref<void()> work;
  std::mutex mutex;
  std::condition_variable ended;
  bool hasEnded = false;

  void run() {
    work();
    std::lock_guard<std::mutex> lock(mutex);
    hasEnded = true;
    ended.notify_all();
  }
  /// Returns whether it ends within this time.
  bool waitFor(std::chrono::milliseconds time) {
    std::unique_lock<std::mutex> lock(mutex);
    return ended.wait_for(lock, time, [&] { return hasEnded; });
  }
};
} // namespace

static void *runCall(void *call) {
  static_cast<Call *>(call)->run();
  return nullptr;
}

/// Runs `work` without the interpreter's lock. Meanwhile handles Ctrl-C, logs
/// the messages of the job, and calls `poll` (unless None) with the stage and
/// the samples of the present run: how many are done, how many there are, and
/// the number of runs so far. An exception of either cancels the job, and is
/// raised after the job has ended.
template <typename Work>
static void perform(Job &job, const nb::object &poll, Work &&work,
                    PythonTraining *training = nullptr,
                    PythonMetric *metric = nullptr) {
  static constexpr auto kInterval = std::chrono::milliseconds(50);
  nb::list errors;
  Raised inCallback;
  job.setHosts(makeHosts(inCallback));
  if (training)
    training->raised = &inCallback;
  job.setTraining(training);
  if (metric)
    metric->raised = &inCallback;
  job.setMetric(metric);
  std::exception_ptr raised;
  auto attend = [&](auto &&action) {
    if (raised)
      return;
    try {
      action();
    } catch (...) {
      raised = std::current_exception();
      job.cancel();
    }
  };
  Call call{work, {}, {}};
  // The stack is as large as that of a main thread, whatever thread calls,
  // since parsers recurse.
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t(64) << 20);
  bool isOwn = pthread_create(&thread, &attributes, runCall, &call) == 0;
  pthread_attr_destroy(&attributes);
  if (!isOwn) {
    // The system refused to create a thread.
    nb::gil_scoped_release released;
    call.run();
  }
  for (bool ended = !isOwn; !ended;) {
    {
      nb::gil_scoped_release released;
      ended = call.waitFor(kInterval);
    }
    attend([&] {
      deliver(job, errors);
      if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
      if (!poll.is_none() && !ended) {
        mct::support::Progress::Counts counts = job.progress().counts();
        poll(job.getStage(), counts.done, counts.total, counts.runs,
             counts.partsDone, counts.parts);
      }
    });
  }
  if (isOwn)
    pthread_join(thread, nullptr);
  attend([&] { deliver(job, errors); });
  // The errors follow from the exception of a callback.
  if (inCallback.first && job.hasFailed())
    std::rethrow_exception(inCallback.first);
  if (raised)
    std::rethrow_exception(raised);
  if (!errors.empty() && job.hasFailed())
    raise(errors);
  // Log the messages of a successful call.
  for (nb::handle error : errors)
    nb::module_::import_("mct.errors").attr("log")(error);
}

static std::shared_ptr<const Module> parse(const nb::bytes &data,
                                           const std::string &name) {
  Job job;
  std::string bytes(data.c_str(), data.size());
  std::shared_ptr<const Module> module;
  perform(job, nb::none(), [&] {
    module = Module::parse(std::move(bytes), name, job);
    job.end(module != nullptr);
  });
  return module;
}

static std::shared_ptr<const Module>
run(const Module &self, const std::string &pipeline, const nb::object &poll,
    const std::vector<std::pair<std::string, std::string>> &renamed,
    const nb::object &training, const nb::object &metric) {
  Job job;
  std::optional<PythonTraining> host;
  if (!training.is_none())
    host.emplace(training);
  std::optional<PythonMetric> judge;
  if (!metric.is_none())
    judge.emplace(metric);
  std::shared_ptr<const Module> module;
  perform(
      job, poll,
      [&] {
        module = self.run(pipeline, job, renamed);
        job.end(module != nullptr);
      },
      host ? &*host : nullptr, judge ? &*judge : nullptr);
  return module;
}

/// Returns the text that `printed` computes, which reports to the job if it
/// fails; none without an error if the results of other shards are missing.
template <typename Print>
static std::optional<std::string> printUnlessSharded(const nb::object &poll,
                                                     Print &&printed) {
  Job job;
  std::optional<std::string> text;
  perform(job, poll, [&] {
    text = printed(job);
    job.end(text.has_value());
  });
  return text;
}
template <typename Print>
static std::string print(const nb::object &poll, Print &&printed) {
  return *printUnlessSharded(poll, std::forward<Print>(printed));
}

static std::optional<std::string>
execute(const Module &self, const std::vector<std::string> &inputs,
        const std::vector<std::string> &outputs, const Module *reference,
        const std::string &labels, const std::vector<std::string> &floatPoints,
        const std::string &function, uint64_t samples, uint64_t batchSize,
        unsigned threads, const std::string &maxMemory, bool exact,
        const std::string &metric, const std::vector<std::string> &shardsIn,
        const std::string &shardsOut, const std::string &shard,
        const nb::object &poll) {
  mct::python::ExecuteOptions options{inputs,   outputs,   floatPoints, labels,
                                      function, maxMemory, metric,      "",
                                      samples,  batchSize, threads,     exact,
                                      nullptr,  shardsIn,  shardsOut,   shard};
  return printUnlessSharded(
      poll, [&](Job &job) { return self.execute(reference, options, job); });
}

static std::optional<std::string>
report(const Module &self, const std::vector<std::string> &inputs,
       const Module &reference, const Module *integer,
       const std::string &labels, const std::string &function, uint64_t samples,
       uint64_t effectSamples, uint64_t batchSize, unsigned threads,
       const std::string &maxMemory, const std::string &trace,
       const std::string &metric, const mct::python::UserMetric *judged,
       const std::string &costTable, const std::vector<std::string> &shardsIn,
       const std::string &shardsOut, const std::string &shard,
       const nb::object &poll) {
  mct::python::ExecuteOptions options{
      inputs, {},        {},        labels,    function, maxMemory,
      metric, costTable, samples,   batchSize, threads,  /*exact=*/false,
      judged, shardsIn,  shardsOut, shard};
  return printUnlessSharded(poll, [&](Job &job) {
    return self.report(reference, integer, options, effectSamples, trace, job);
  });
}

static std::string signature(const Module &self, const std::string &function) {
  return print(nb::none(),
               [&](Job &job) { return self.signature(function, job); });
}

static void check(const Module &self, const std::string &function) {
  Job job;
  perform(job, nb::none(), [&] { job.end(self.check(function, job)); });
}

static std::string explain(const Module &self, const std::string &format,
                           const std::string &overrides) {
  return print(nb::none(),
               [&](Job &job) { return self.explain(format, overrides, job); });
}

static std::string resources(const Module &self) {
  return print(nb::none(), [&](Job &job) { return self.reportResources(job); });
}

static std::string costs(const Module &self, const std::string &table) {
  return print(nb::none(),
               [&](Job &job) { return self.reportCosts(table, job); });
}

using FloatArray = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

static std::shared_ptr<mct::python::CompiledFunction>
compile(const Module &self, const std::string &function) {
  Job job;
  std::shared_ptr<mct::python::CompiledFunction> compiled;
  perform(job, nb::none(), [&] {
    compiled = self.compile(function, job);
    job.end(compiled != nullptr);
  });
  return compiled;
}

/// Runs a compiled function; the results are arrays of their own.
static nb::list runCompiled(mct::python::CompiledFunction &self,
                            const std::vector<FloatArray> &arrays) {
  using Compiled = mct::python::CompiledFunction;
  std::vector<Compiled::Array> views;
  for (const FloatArray &array : arrays) {
    Compiled::Array &view = views.emplace_back();
    for (size_t axis = 0; axis != array.ndim(); ++axis)
      view.shape.push_back(int64_t(array.shape(axis)));
    view.values = {array.data(), array.size()};
  }
  Job job;
  std::optional<std::vector<Compiled::Result>> results;
  perform(job, nb::none(), [&] {
    results = self.run(views, job);
    job.end(results.has_value());
  });
  nb::list made;
  for (Compiled::Result &result : *results) {
    auto owned = std::make_unique<std::vector<float>>(std::move(result.second));
    float *values = owned->data();
    nb::capsule owner(owned.release(), [](void *kept) noexcept {
      delete static_cast<std::vector<float> *>(kept);
    });
    std::vector<size_t> sizes(result.first.begin(), result.first.end());
    made.append(nb::cast(nb::ndarray<nb::numpy, float>(values, sizes.size(),
                                                       sizes.data(), owner)));
  }
  return made;
}

/// Returns the output of `work` as bytes.
template <typename Work> static nb::bytes write(Work &&work) {
  Job job;
  std::optional<std::string> written;
  perform(job, nb::none(), [&] {
    written = work(job);
    job.end(written.has_value());
  });
  return nb::bytes(written->data(), written->size());
}

/// Returns the file, and the data that do not fit into it.
static std::pair<nb::bytes, nb::bytes>
exportOnnx(const Module &self, const std::string &profile,
           const std::string &producer, const std::string &producerVersion,
           const std::string &function, int64_t operatorSet,
           const std::string &activations, const std::string &dataName,
           uint64_t largestFile, const std::string &nms) {
  std::string data;
  llvm::raw_string_ostream stream(data);
  nb::bytes file = write([&](Job &job) -> std::optional<std::string> {
    mct::OnnxOptions options;
    if (activations != "unsigned" && activations != "signed") {
      job.fail("activations are 'unsigned' or 'signed', not '" + activations +
               "'");
      return std::nullopt;
    }
    options.setProfile(profile);
    options.producer = producer;
    options.producerVersion = producerVersion;
    options.function = function;
    options.operatorSet = operatorSet;
    options.activations = activations == "signed"
                              ? mct::OnnxActivations::Signed
                              : mct::OnnxActivations::Unsigned;
    options.dataName = dataName;
    options.openData = [&]() -> llvm::raw_ostream & { return stream; };
    if (largestFile)
      options.largestFile = largestFile;
    if (!nms.empty())
      if (llvm::Error error = options.setSuppression(nms)) {
        job.fail(llvm::toString(std::move(error)));
        return std::nullopt;
      }
    return self.exportOnnx(options, job);
  });
  return {file, nb::bytes(data.data(), data.size())};
}

static nb::bytes exportTflite(const Module &self, const std::string &io,
                              bool int4, const std::string &function) {
  return write([&](Job &job) -> std::optional<std::string> {
    mct::TfliteOptions options;
    if (io != "integer" && io != "float") {
      job.fail("there is no io '" + io + "'; there are 'integer' and 'float'");
      return std::nullopt;
    }
    options.boundary = io == "float" ? mct::IntegerBoundary::Float
                                     : mct::IntegerBoundary::Integer;
    options.allowsInt4 = int4;
    options.function = function;
    return self.exportTflite(options, job);
  });
}

/// Writes a file, which gets its name only when it is complete.
static void writeFile(const std::string &path, const nb::bytes &data) {
  mct::support::OutputFile file(path);
  std::optional<llvm::Error> failed;
  {
    llvm::StringRef bytes(data.c_str(), data.size());
    nb::gil_scoped_release released;
    file << bytes;
    failed.emplace(file.keep());
  }
  if (!*failed)
    return;
  nb::list errors;
  errors.append(toPython(
      {Message::Kind::Error, "", llvm::toString(std::move(*failed)), {}}));
  raise(errors);
}

static std::string exportTarget(const std::string &target) {
  Job job;
  std::string json;
  perform(job, nb::none(), [&] {
    json = mct::python::exportTarget(target, job);
    job.end(!json.empty());
  });
  return json;
}

static std::string compareReports(const std::string &before,
                                  const std::string &after) {
  Job job;
  std::string json;
  perform(job, nb::none(), [&] {
    json = mct::python::compareReports(before, after, job);
    job.end(!json.empty());
  });
  return json;
}

static std::string readReport(const std::string &text,
                              const std::string &name) {
  Job job;
  std::string json;
  perform(job, nb::none(), [&] {
    json = mct::python::readReport(text, name, job);
    job.end(!json.empty());
  });
  return json;
}

static void checkMetric(const std::string &text) {
  Job job;
  perform(job, nb::none(),
          [&] { job.end(mct::python::checkMetric(text, job)); });
}

/// Defines the class of modules, and how they are written and copied.
static nb::class_<Module> defineModule(nb::module_ &m) {
  return nb::class_<Module>(
             m, "Module",
             "A module in text or bytecode, never changed. Threads may "
             "share it.")
      .def_static("parse", parse, "data"_a, "name"_a = "<module>",
                  "Read text or bytecode; `name` is what messages call it.")
      .def("text", &Module::text, nb::call_guard<nb::gil_scoped_release>(),
           "The text that mct-opt writes.")
      .def(
          "bytecode",
          [](const Module &self) {
            std::string bytes;
            {
              nb::gil_scoped_release released;
              bytes = self.bytecode();
            }
            return nb::bytes(bytes.data(), bytes.size());
          },
          "The bytecode that mct-opt writes.")
      .def("export_onnx", exportOnnx, "profile"_a = "", "producer"_a = "",
           "producer_version"_a = "", "function"_a = "", "opset"_a = 0,
           "activations"_a = "unsigned", "data_name"_a = "",
           "largest_file"_a = 0, "nms"_a = "",
           "The ONNX file that mct-translate writes, and the one beside it, "
           "which is empty where there is none.")
      .def(
          "export_parameters",
          [](const Module &self, const std::string &function) {
            return write(
                [&](Job &job) { return self.exportParameters(function, job); });
          },
          "function"_a = "",
          "The JSON that mct-translate --export-parameters writes.")
      .def("export_tflite", exportTflite, "io"_a = "integer", "int4"_a = false,
           "function"_a = "",
           "The JSON that mct-translate --export-tflite-json writes.")
      .def(
          "export_target",
          [](const Module &self, int64_t schema) {
            return write(
                [&](Job &job) { return self.exportTarget(schema, job); });
          },
          "schema"_a, "The target as JSON of MCT.")
      .def(
          "clone",
          [](const Module &self) {
            return run(self, "", nb::none(), {}, nb::none(), nb::none());
          },
          "A copy, in a context of its own.");
}

/// Defines the functions that run or inspect a module.
static void defineRuns(nb::class_<Module> &module) {
  module
      .def("run", run, "pipeline"_a, "poll"_a = nb::none(),
           "renamed"_a = std::vector<std::pair<std::string, std::string>>(),
           "training"_a = nb::none(), "metric"_a = nb::none(),
           nb::sig("def run(self, pipeline: str, poll: "
                   "collections.abc.Callable[[str, int, int, int, int, int], "
                   "object] | "
                   "None = None, renamed: collections.abc.Sequence[tuple[str, "
                   "str]] = (), training: object | None = None, metric: object "
                   "| None = None) -> Module"),
           "A copy on which a textual pipeline of passes on a module has run."
           "\n\n"
           "`poll` is called a few times a second with the flag of the pass "
           "that runs, and of its run over samples that is under way the "
           "samples done, those there are (0: it does not run), and the number "
           "of runs there have been; what it raises, and Ctrl-C, cancels the "
           "run. `renamed`: for temporary files in the pipeline, what "
           "`trace` calls them. `training`, `metric`: of `mct._host`, what is "
           "asked while networks are trained, and what drops are those of. "
           "Raises `mct.Error` where a pass fails; remarks and warnings go to "
           "`logging`.")
      .def("execute", execute, "inputs"_a,
           "outputs"_a = std::vector<std::string>(), nb::kw_only(),
           "reference"_a.none() = nb::none(), "labels"_a = "",
           "float_points"_a = std::vector<std::string>(), "function"_a = "",
           "samples"_a = 0, "batch_size"_a = 0, "threads"_a = 0,
           "max_memory"_a = "", "exact"_a = false, "metric"_a = "",
           "shards_in"_a = std::vector<std::string>(), "shards_out"_a = "",
           "shard"_a = "", "poll"_a = nb::none(),
           nb::sig("def execute(self, inputs: collections.abc.Sequence[str], "
                   "outputs: collections.abc.Sequence[str] = (), *, reference: "
                   "Module | None = None, labels: str = '', float_points: "
                   "collections.abc.Sequence[str] = (), function: str = '', "
                   "samples: int = 0, batch_size: int = 0, threads: int = 0, "
                   "max_memory: str = '', exact: bool = False, metric: str = "
                   "'', shards_in: collections.abc.Sequence[str] = (), "
                   "shards_out: str = '', shard: str = '', poll: "
                   "collections.abc.Callable[[str, int, int, int, int, int], "
                   "object] | None = None) -> str | None"),
           "Run a function on `.npy` files, as mct-run does with the options "
           "of these names; `reference` is the module of its --compare.\n\n"
           "Returns the JSON object that mct-run prints, and None where other "
           "shards have to answer. Output files appear when all has been done, "
           "or not at all.")
      .def(
          "report", report, "inputs"_a, "reference"_a, nb::kw_only(),
          "integer"_a.none() = nb::none(), "labels"_a = "", "function"_a = "",
          "samples"_a = 0, "effect_samples"_a = 128, "batch_size"_a = 0,
          "threads"_a = 0, "max_memory"_a = "", "trace"_a = "", "metric"_a = "",
          "judged"_a.none() = nb::none(), "cost_table"_a = "",
          "shards_in"_a = std::vector<std::string>(), "shards_out"_a = "",
          "shard"_a = "", "poll"_a = nb::none(),
          nb::sig(
              "def report(self, inputs: collections.abc.Sequence[str], "
              "reference: Module, *, integer: Module | None = None, "
              "labels: str = '', function: str = '', samples: int = 0, "
              "effect_samples: int = 128, batch_size: int = 0, threads: "
              "int = 0, max_memory: str = '', trace: str = '', metric: "
              "str = '', judged: UserMetric | None = None, cost_table: str = "
              "'', shards_in: collections.abc.Sequence[str] = (), shards_out: "
              "str = '', shard: str = '', poll: "
              "collections.abc.Callable[[str, int, int, int, int, int], "
              "object] | None = None) -> str | None"),
          "The JSON document of mct-run's --report: of this module, the "
          "quantized one, beside `reference`, the float one. Options as for "
          "`execute`; `effect_samples` as --report-samples; `trace` is the "
          "text of "
          "its --trace (default: that of this module); `judged`: what a metric "
          "that others computed says.")
      .def("compile", compile, "function"_a,
           "Compile a function of float32 tensors, to be run many times.")
      .def("check", check, "function"_a = "",
           "Raises the error that running the function would end with before "
           "it sees samples.")
      .def("signature", signature, "function"_a = "",
           "The JSON object of mct-run's --signature.")
      .def("points", &Module::points, nb::call_guard<nb::gil_scoped_release>(),
           "A JSON array: what every point quantizes, and how.")
      .def("explain", explain, "format"_a = "text", "overrides"_a = "",
           "How the target quantizes every op, and why: `text` or `json`.")
      .def("resources", resources,
           "The JSON object that mct-report-resources prints.")
      .def("costs", costs, "table"_a = "",
           "The JSON object that mct-report-costs prints by a table of costs.")
      .def("integer_layers", &Module::integerLayers, "function"_a = "",
           "How many convolutions and matrix products are computed on "
           "integers: '19 of 20 layers in integers'; empty without any.")
      .def("op_names", &Module::opNames,
           nb::call_guard<nb::gil_scoped_release>(),
           "A JSON array: for each function the names of its ops with results.")
      .def_prop_ro("trace", &Module::getTrace,
                   "How it came about since it was parsed, as mct-opt "
                   "--mct-trace writes it.")
      .def_prop_ro("name", &Module::getName,
                   "The name that messages have for it.")
      .def_prop_ro("pipeline", &Module::getPipeline,
                   "The passes that it comes from, with all their options.");
}

/// Defines the class of compiled functions.
static void defineCompiled(nb::module_ &m) {
  nb::class_<mct::python::CompiledFunction>(
      m, "CompiledFunction",
      "A function that `Module.compile` has compiled. One thread runs at a "
      "time.")
      .def("run", runCompiled, "arrays"_a,
           nb::sig("def run(self, arrays: collections.abc.Sequence[object]) -> "
                   "list[object]"),
           "The results, as float32 arrays, for arrays of float32 in the "
           "order of the arguments.");
}

NB_MODULE(_native, m) {
  m.doc() = "Functions of mct-opt and mct-run, for the package `mct`.";
  mct::python::defineMetrics(m);
  defineCompiled(m);
  m.def("write_file", writeFile, "path"_a, "data"_a,
        "Write a file that has its name when it is complete, or never.");

  m.def(
      "option_words",
      [] {
        nb::list all;
        for (const mct::python::OptionWords &option :
             mct::python::getOptionWords()) {
          nb::list words;
          for (const auto &[word, text] : option.words)
            words.append(nb::make_tuple(word, text));
          all.append(nb::make_tuple(option.type, option.initial,
                                    option.initialWord, words));
        }
        return all;
      },
      nb::sig("def option_words() -> list[tuple[str, str, str, "
              "list[tuple[str, str]]]]"),
      "The options with one of a closed set of words: C++ type, initial value, "
      "its word, and the words with their meanings.");
  m.def("export_target", exportTarget, "target"_a,
        "The JSON of MCT of a stock target, by its name, or of a file's.");
  m.def("read_report", readReport, "text"_a, "name"_a = "report",
        "The JSON of a report as this version prints it; `name` is what "
        "messages call it. Raises `mct.Error` for what is none.");
  m.def("compare_reports", compareReports, "before"_a, "after"_a,
        "Two reports side by side: a JSON document with what changed.");
  m.def("metrics", &mct::execution::Metric::list,
        nb::sig("def metrics() -> list[tuple[str, str]]"),
        "Names of the metrics, and what they are.");
  m.def("check_metric", checkMetric, "text"_a,
        "Raises `mct.Error` where no metric has that name.");
  m.def("report_schema", mct::python::getReportSchema,
        "JSON Schema of reports, with what each key means.");
  m.def(
      "stock_targets",
      [] {
        std::vector<std::pair<std::string, std::string>> targets;
        for (const mct::tpc::StockTarget &target : mct::tpc::listTargets())
          targets.emplace_back(target.name, target.resolved);
        return targets;
      },
      "Names of the stock targets, and what they stand for: themselves, unless "
      "they are aliases.");
  m.def(
      "print_targets",
      [] {
        std::string text;
        llvm::raw_string_ostream os(text);
        mct::tpc::printTargets(os);
        return text;
      },
      "The list of mct-opt's --tpc-list-targets.");

  nb::class_<Module> module = defineModule(m);
  defineRuns(module);
}
