// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TEST_UNIT_EXECUTION_FIXTURE_H
#define MCT_TEST_UNIT_EXECUTION_FIXTURE_H

#include "TestPaths.h"
#include "mct/Execution/Executor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace mct::execution {

using Floats = std::vector<float>;

/// `count` values in [-1, 1), the same on every machine.
inline Floats randomFloats(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Floats values(count);
  for (float &value : values)
    value = static_cast<float>(generator() >> 8) * 0x1p-23f - 1;
  return values;
}

inline int64_t elementCount(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

inline std::string tensorType(llvm::ArrayRef<int64_t> shape,
                              const char *element = "f32") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

/// `%name = "tosa.const"() ...` with these or with random values.
inline std::string constant(const std::string &name,
                            llvm::ArrayRef<int64_t> shape,
                            const Floats &values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  std::string type = tensorType(shape);
  return "%" + name + " = \"tosa.const\"() <{values = dense<\"0x" +
         llvm::toHex(bytes) + "\"> : " + type + "}> : () -> " + type + "\n";
}
inline std::string constant(const std::string &name,
                            llvm::ArrayRef<int64_t> shape, unsigned seed) {
  return constant(name, shape, randomFloats(elementCount(shape), seed));
}

/// Zero point operand.
inline const char *const kZero =
    "%zero = \"tosa.const\"() <{values = dense<0.0> : tensor<1xf32>}> : () -> "
    "tensor<1xf32>\n";

class ExecutionTest : public ::testing::Test {
protected:
  ExecutionTest()
      : context(registry(), mlir::MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    context.allowUnregisteredDialects();
    context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      stream << diagnostic.getLocation() << ": "
             << (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark
                     ? "remark: "
                     : "error: ")
             << diagnostic;
      diagnostics.push_back(text);
    });
  }

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    Executor::registerDependencies(registry);
    return registry;
  }

  std::unique_ptr<Executor> compile(const std::string &text,
                                    const CompileOptions &options = {}) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "cannot parse: " << llvm::join(diagnostics, "\n");
      return nullptr;
    }
    auto executor = Executor::compile(*module, options);
    return mlir::failed(executor) ? nullptr : std::move(*executor);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<std::string> diagnostics;
};

/// Keeps what it sees.
struct Recorder : TensorObserver {
  void observe(const TensorView &view) override {
    llvm::append_range(values, view.floats());
    lastShape = view.shape().vec();
  }
  Floats values;
  std::vector<int64_t> lastShape;
};

/// The outputs of one unit, each on its own.
inline std::vector<Floats> runOutputs(Worker &worker, const Executor &executor,
                                      llvm::ArrayRef<Floats> inputs,
                                      int64_t valid = -1) {
  llvm::SmallVector<const void *> inputPointers;
  for (const Floats &input : inputs)
    inputPointers.push_back(input.data());
  std::vector<Floats> outputs;
  for (const TensorSpec &spec : executor.outputs())
    outputs.emplace_back(spec.type.getNumElements());
  llvm::SmallVector<void *> outputPointers;
  for (Floats &output : outputs)
    outputPointers.push_back(output.data());
  llvm::cantFail(worker.run(inputPointers, outputPointers,
                            valid < 0 ? executor.unit() : valid));
  return outputs;
}
inline std::vector<Floats>
runOutputs(const Executor &executor, llvm::ArrayRef<Floats> inputs,
           int64_t valid = -1,
           llvm::ArrayRef<TensorObserver *> observers = {}) {
  Worker worker(executor);
  for (size_t i = 0; i < observers.size(); ++i)
    worker.setObserver(i, observers[i]);
  return runOutputs(worker, executor, inputs, valid);
}

/// The same, one after the other.
inline Floats runUnit(const Executor &executor, llvm::ArrayRef<Floats> inputs,
                      int64_t valid = -1,
                      llvm::ArrayRef<TensorObserver *> observers = {}) {
  Floats all;
  for (const Floats &output : runOutputs(executor, inputs, valid, observers))
    all.insert(all.end(), output.begin(), output.end());
  return all;
}

/// Random values for every input of a unit.
inline std::vector<Floats> randomInputs(const Executor &executor) {
  std::vector<Floats> inputs;
  for (const TensorSpec &spec : executor.inputs())
    inputs.push_back(
        randomFloats(spec.type.getNumElements(), 7 + inputs.size()));
  return inputs;
}

/// Returns the folder with models and data, with a slash, or nothing.
inline std::string sharedFolder() {
  std::string folder = testing::getSharedPath("data");
  return llvm::sys::fs::is_directory(folder + "/models") ? folder + "/" : "";
}

} // namespace mct::execution

#endif // MCT_TEST_UNIT_EXECUTION_FIXTURE_H
