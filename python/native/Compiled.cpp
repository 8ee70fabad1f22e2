// SPDX-License-Identifier: Apache-2.0
#include "Module.h"

#include "mct/Execution/Executor.h"
#include "mct/Support/ContextThreads.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mct;
using namespace mct::python;

struct CompiledFunction::State {
  std::unique_ptr<execution::Executor> executor;
  /// Runs the executor, which it does not outlive.
  std::unique_ptr<execution::Worker> worker;
};

CompiledFunction::CompiledFunction(std::unique_ptr<Module> module,
                                   std::string name)
    : module(std::move(module)), name(std::move(name)),
      state(std::make_unique<State>()) {}

CompiledFunction::~CompiledFunction() {
  state->worker.reset();
  state.reset();
}

static bool areFloats(llvm::ArrayRef<execution::TensorSpec> specs) {
  return llvm::all_of(specs, [](const execution::TensorSpec &spec) {
    return spec.type.getElementType().isF32();
  });
}

static std::string print(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '(';
  llvm::interleaveComma(shape, stream);
  stream << ')';
  return text;
}

std::unique_ptr<CompiledFunction> Module::compile(StringRef function,
                                                  Job &job) const {
  std::unique_ptr<Module> own = read(getSource(), name, job);
  if (!own)
    return nullptr;
  ScopedDiagnosticHandler handler(
      own->context.get(), [&](Diagnostic &diagnostic) {
        // Remarks about slow ops do not concern users of a single point.
        if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
          job.addMessage(toMessage(diagnostic));
      });
  DialectRegistry dependencies;
  execution::Executor::registerDependencies(dependencies);
  own->context->appendDialectRegistry(dependencies);
  for (StringRef dialect : dependencies.getDialectNames())
    own->context->getOrLoadDialect(dialect);
  execution::CompileOptions options;
  options.function = function.str();
  options.keepTypes = true;
  FailureOr<std::unique_ptr<execution::Executor>> executor =
      execution::Executor::compile(*own->op, options);
  if (failed(executor))
    return nullptr;
  if (!areFloats((*executor)->inputs()) || !areFloats((*executor)->outputs())) {
    job.fail("function '" + function.str() +
             "' has arguments or results that are not f32; run it by "
             "mct.evaluation.run");
    return nullptr;
  }
  std::unique_ptr<CompiledFunction> compiled(
      new CompiledFunction(std::move(own), function.str()));
  compiled->state->executor = std::move(*executor);
  compiled->state->worker =
      std::make_unique<execution::Worker>(*compiled->state->executor);
  return compiled;
}

std::optional<std::vector<CompiledFunction::Result>>
CompiledFunction::run(ArrayRef<Array> arrays, Job &job) {
  std::lock_guard<std::mutex> lock(mutex);
  ArrayRef<execution::TensorSpec> inputs = state->executor->inputs();
  if (arrays.size() != inputs.size()) {
    job.fail("function '" + name + "' has " + std::to_string(inputs.size()) +
             " arguments, found " + std::to_string(arrays.size()) + " arrays");
    return std::nullopt;
  }
  SmallVector<const void *> read;
  for (auto [number, spec, array] : llvm::enumerate(inputs, arrays)) {
    if (spec.type.getShape() != ArrayRef<int64_t>(array.shape)) {
      job.fail("argument " + std::to_string(number) + " of function '" + name +
               "' has the shape " + print(spec.type.getShape()) +
               ", found an array of shape " + print(array.shape));
      return std::nullopt;
    }
    read.push_back(array.values.data());
  }
  std::vector<Result> results;
  SmallVector<void *> written;
  for (const execution::TensorSpec &spec : state->executor->outputs()) {
    results.emplace_back(spec.type.getShape().vec(),
                         std::vector<float>(spec.type.getNumElements()));
    written.push_back(results.back().second.data());
  }
  if (llvm::Error error =
          state->worker->run(read, written, state->executor->unit())) {
    job.fail(llvm::toString(std::move(error)));
    return std::nullopt;
  }
  return results;
}
