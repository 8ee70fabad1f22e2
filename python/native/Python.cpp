// SPDX-License-Identifier: Apache-2.0
//
// The module `mct._native`. The only file that is compiled with exceptions:
// they are those of Python, and none crosses a function of MLIR or of ours,
// which never call back.
#include "Module.h"
#include "OptionWords.h"
#include "Reports.h"
#include "Targets.h"

#include "mct/Execution/OutputFile.h"
#include "tpc_dialect/targets/Targets.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <pthread.h>

namespace nb = nanobind;
using namespace nb::literals;
using mct::python::Job;
using mct::python::Message;
using mct::python::Module;

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

/// Warnings and remarks to `logging`; errors wait in `errors`.
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
/// What runs in a thread of its own while the caller's waits for signals.
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
  /// Whether it ends within this time.
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

/// Runs `work` without the interpreter's lock. Meanwhile hears of Ctrl-C, logs
/// what the job tells, and calls `poll` (None: nothing) with the stage and the
/// samples of the run that is under way: done, of how many, and how many runs
/// there have been. An exception of either cancels the job, and is raised when
/// it has ended.
template <typename Work>
static void perform(Job &job, const nb::object &poll, Work &&work) {
  static constexpr auto kInterval = std::chrono::milliseconds(50);
  nb::list errors;
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
  // As deep as a main thread's, whatever thread calls: parsers recurse.
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t(64) << 20);
  bool isOwn = pthread_create(&thread, &attributes, runCall, &call) == 0;
  pthread_attr_destroy(&attributes);
  if (!isOwn) {
    // A thread was refused.
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
        poll(job.getStage(), counts.done, counts.total, counts.runs);
      }
    });
  }
  if (isOwn)
    pthread_join(thread, nullptr);
  attend([&] { deliver(job, errors); });
  if (raised)
    std::rethrow_exception(raised);
  if (!errors.empty() && job.hasFailed())
    raise(errors);
  // Of a success.
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
    const std::vector<std::pair<std::string, std::string>> &renamed) {
  Job job;
  std::shared_ptr<const Module> module;
  perform(job, poll, [&] {
    module = self.run(pipeline, job, renamed);
    job.end(module != nullptr);
  });
  return module;
}

static std::string
execute(const Module &self, const std::vector<std::string> &inputs,
        const std::vector<std::string> &outputs, const Module *reference,
        const std::string &labels, const std::vector<std::string> &floatPoints,
        const std::string &function, uint64_t samples, uint64_t batchSize,
        unsigned threads, const std::string &maxMemory, bool exact,
        const nb::object &poll) {
  mct::python::ExecuteOptions options{
      inputs,    outputs, floatPoints, labels,  function,
      maxMemory, samples, batchSize,   threads, exact};
  Job job;
  std::optional<std::string> found;
  perform(job, poll, [&] {
    found = self.execute(reference, options, job);
    job.end(found.has_value());
  });
  return std::move(*found);
}

static std::string report(const Module &self,
                          const std::vector<std::string> &inputs,
                          const Module &reference, const Module *integer,
                          const std::string &labels,
                          const std::string &function, uint64_t samples,
                          uint64_t effectSamples, uint64_t batchSize,
                          unsigned threads, const std::string &maxMemory,
                          const std::string &trace, const nb::object &poll) {
  mct::python::ExecuteOptions options{
      inputs,    {},      {},        labels,  function,
      maxMemory, samples, batchSize, threads, /*exact=*/false};
  Job job;
  std::optional<std::string> made;
  perform(job, poll, [&] {
    made = self.report(reference, integer, options, effectSamples, trace, job);
    job.end(made.has_value());
  });
  return std::move(*made);
}

static std::string signature(const Module &self, const std::string &function) {
  Job job;
  std::optional<std::string> found;
  perform(job, nb::none(), [&] {
    found = self.signature(function, job);
    job.end(found.has_value());
  });
  return std::move(*found);
}

static std::string explain(const Module &self, const std::string &format,
                           const std::string &overrides) {
  Job job;
  std::optional<std::string> text;
  perform(job, nb::none(), [&] {
    text = self.explain(format, overrides, job);
    job.end(text.has_value());
  });
  return std::move(*text);
}

/// What `work` writes, as bytes.
template <typename Work> static nb::bytes write(Work &&work) {
  Job job;
  std::optional<std::string> written;
  perform(job, nb::none(), [&] {
    written = work(job);
    job.end(written.has_value());
  });
  return nb::bytes(written->data(), written->size());
}

static nb::bytes exportOnnx(const Module &self, const std::string &profile,
                            const std::string &producer,
                            const std::string &producerVersion,
                            const std::string &function) {
  return write([&](Job &job) -> std::optional<std::string> {
    mct::OnnxOptions options;
    if (profile != "imx500" && profile != "none") {
      job.fail("there is no profile '" + profile +
               "'; there are 'imx500' and 'none'");
      return std::nullopt;
    }
    options.profile =
        profile == "none" ? mct::OnnxProfile::None : mct::OnnxProfile::Imx500;
    options.producer = producer;
    options.producerVersion = producerVersion;
    options.function = function;
    return self.exportOnnx(options, job);
  });
}

/// A file that has its name when it is complete, or never.
static void writeFile(const std::string &path, const nb::bytes &data) {
  mct::execution::OutputFile file(path);
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

NB_MODULE(_native, m) {
  m.doc() = "What mct-opt and mct-run do, for the package `mct`.";
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
      "Of options with one of a closed set of words: C++ type, initial value, "
      "its word, and the words with what they mean.");
  m.def("export_target", exportTarget, "target"_a,
        "The JSON of MCT of a stock target, by its name, or of a file's.");
  m.def("read_report", readReport, "text"_a, "name"_a = "report",
        "The JSON of a report as this version prints it; `name` is what "
        "messages call it. Raises `mct.Error` for what is none.");
  m.def("compare_reports", compareReports, "before"_a, "after"_a,
        "Two reports side by side: a JSON document with what changed.");
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

  nb::class_<Module>(m, "Module",
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
      .def("export_onnx", exportOnnx, "profile"_a = "imx500", "producer"_a = "",
           "producer_version"_a = "", "function"_a = "",
           "The ONNX file that mct-translate writes.")
      .def(
          "export_parameters",
          [](const Module &self, const std::string &function) {
            return write(
                [&](Job &job) { return self.exportParameters(function, job); });
          },
          "function"_a = "",
          "The JSON that mct-translate --export-parameters writes.")
      .def(
          "export_target",
          [](const Module &self, int64_t schema) {
            return write(
                [&](Job &job) { return self.exportTarget(schema, job); });
          },
          "schema"_a, "The target as JSON of MCT.")
      .def(
          "clone",
          [](const Module &self) { return run(self, "", nb::none(), {}); },
          "A copy, in a context of its own.")
      .def("run", run, "pipeline"_a, "poll"_a = nb::none(),
           "renamed"_a = std::vector<std::pair<std::string, std::string>>(),
           nb::sig("def run(self, pipeline: str, poll: "
                   "collections.abc.Callable[[str, int, int, int], object] | "
                   "None = None, renamed: collections.abc.Sequence[tuple[str, "
                   "str]] = ()) -> Module"),
           "A copy on which a textual pipeline of passes on a module has run."
           "\n\n"
           "`poll` is called a few times a second with the flag of the pass "
           "that runs, and of its run over samples that is under way the "
           "samples done, those there are (0: it does not run), and the number "
           "of runs there have been; what it raises, and Ctrl-C, cancels the "
           "run. `renamed`: of files in the pipeline that nobody keeps what "
           "`trace` calls them. Raises `mct.Error` where a pass fails; remarks "
           "and warnings go to `logging`.")
      .def("execute", execute, "inputs"_a,
           "outputs"_a = std::vector<std::string>(), nb::kw_only(),
           "reference"_a.none() = nb::none(), "labels"_a = "",
           "float_points"_a = std::vector<std::string>(), "function"_a = "",
           "samples"_a = 0, "batch_size"_a = 0, "threads"_a = 0,
           "max_memory"_a = "", "exact"_a = false, "poll"_a = nb::none(),
           nb::sig("def execute(self, inputs: collections.abc.Sequence[str], "
                   "outputs: collections.abc.Sequence[str] = (), *, reference: "
                   "Module | None = None, labels: str = '', float_points: "
                   "collections.abc.Sequence[str] = (), function: str = '', "
                   "samples: int = 0, batch_size: int = 0, threads: int = 0, "
                   "max_memory: str = '', exact: bool = False, poll: "
                   "collections.abc.Callable[[str, int, int, int], object] | "
                   "None = None) -> str"),
           "Run a function on `.npy` files, as mct-run does with the options "
           "of these names; `reference` is the module of its --compare.\n\n"
           "Returns the JSON object that mct-run prints. Output files appear "
           "when all has been done, or not at all.")
      .def("report", report, "inputs"_a, "reference"_a, nb::kw_only(),
           "integer"_a.none() = nb::none(), "labels"_a = "", "function"_a = "",
           "samples"_a = 0, "effect_samples"_a = 128, "batch_size"_a = 0,
           "threads"_a = 0, "max_memory"_a = "", "trace"_a = "",
           "poll"_a = nb::none(),
           nb::sig("def report(self, inputs: collections.abc.Sequence[str], "
                   "reference: Module, *, integer: Module | None = None, "
                   "labels: str = '', function: str = '', samples: int = 0, "
                   "effect_samples: int = 128, batch_size: int = 0, threads: "
                   "int = 0, max_memory: str = '', trace: str = '', poll: "
                   "collections.abc.Callable[[str, int, int, int], object] | "
                   "None = None) -> str"),
           "The JSON document of mct-run's --report: of this module, the "
           "quantized one, beside `reference`, the float one. Options as for "
           "`execute`; `effect_samples` as --report-samples; `trace` is the "
           "text of "
           "its --trace (default: that of this module).")
      .def("signature", signature, "function"_a = "",
           "The JSON object of mct-run's --signature.")
      .def("points", &Module::points, nb::call_guard<nb::gil_scoped_release>(),
           "A JSON array: what every point quantizes, and how.")
      .def("explain", explain, "format"_a = "text", "overrides"_a = "",
           "What the target asks of every op, and why: `text` or `json`.")
      .def_prop_ro("trace", &Module::getTrace,
                   "How it came about since it was parsed, as mct-opt "
                   "--mct-trace writes it.")
      .def_prop_ro("name", &Module::getName, "What messages call it.")
      .def_prop_ro("pipeline", &Module::getPipeline,
                   "The passes that it comes from, with all their options.");
}
