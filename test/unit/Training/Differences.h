// SPDX-License-Identifier: Apache-2.0
//
// Gradient functions, and the same derivatives as differences.
#ifndef MCT_TEST_UNIT_TRAINING_DIFFERENCES_H
#define MCT_TEST_UNIT_TRAINING_DIFFERENCES_H

#include "ReferenceEvaluator.h"

#include "mct/Execution/Executor.h"
#include "mct/Training/Gradients.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace mct::testing {

using Tensors = std::vector<ReferenceTensor>;

/// Contexts with the rules; what is diagnosed is kept.
class GradientTest : public ::testing::Test {
protected:
  GradientTest() : context(registry(), mlir::MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
      llvm::raw_string_ostream stream(diagnostics);
      stream << diagnostic << "\n";
      for (mlir::Diagnostic &note : diagnostic.getNotes())
        stream << note << "\n";
    });
  }
  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    registry.insert<mlir::func::FuncDialect, mlir::tosa::TosaDialect,
                    tpc::TpcDialect>();
    registerGradientModels(registry);
    execution::Executor::registerDependencies(registry);
    return registry;
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << diagnostics << text;
    return module;
  }

  /// The gradient by all real arguments; null when there is none.
  mlir::func::FuncOp differentiate(mlir::func::FuncOp function,
                                   const GradientRules &rules = {}) {
    GradientRequest request;
    for (mlir::BlockArgument argument : function.getArguments())
      if (isReal(argument.getType()))
        request.inputs.push_back(argument);
    for (auto [number, type] : llvm::enumerate(function.getResultTypes()))
      if (isReal(type))
        request.results.push_back(unsigned(number));
    request.name = "gradient";
    request.rules = rules;
    mlir::FailureOr<mlir::func::FuncOp> gradient =
        addGradient(function, request);
    if (failed(gradient))
      return nullptr;
    EXPECT_TRUE(succeeded(mlir::verify(*gradient))) << diagnostics;
    return *gradient;
  }

  static bool isReal(mlir::Type type) {
    return mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(type));
  }

  /// Returns the results of a function in real numbers.
  static Tensors evaluate(mlir::func::FuncOp function,
                          const Tensors &arguments) {
    ReferenceEvaluator evaluator(function, /*simulate=*/false);
    evaluator.real = true;
    EXPECT_TRUE(evaluator.run(arguments)) << evaluator.error;
    Tensors results;
    for (mlir::Value value :
         function.getBody().front().getTerminator()->getOperands())
      results.push_back(evaluator[value]);
    return results;
  }

  /// Executes a function, and expects what it returns within the bounds of the
  /// reference. Returns the implementations of its primitives.
  std::vector<std::string> expectExecutes(mlir::func::FuncOp function,
                                          const Tensors &arguments) {
    execution::CompileOptions options;
    options.function = function.getName().str();
    options.simulateQuantization = false;
    options.keepTypes = true;
    auto executor = execution::Executor::compile(
        function->getParentOfType<mlir::ModuleOp>(), options);
    EXPECT_TRUE(succeeded(executor)) << diagnostics;
    if (failed(executor))
      return {};
    auto store = [](const ReferenceTensor &tensor) {
      std::vector<char> bytes;
      for (const Number &number : tensor.numbers) {
        auto append = [&](auto value) {
          const char *begin = reinterpret_cast<const char *>(&value);
          bytes.insert(bytes.end(), begin, begin + sizeof(value));
        };
        if (tensor.element.isF32())
          append(float(number.value));
        else if (tensor.element.isInteger(32))
          append(int32_t(number.value));
        else if (tensor.element.isInteger(16))
          append(int16_t(number.value));
        else
          append(int8_t(number.value));
      }
      return bytes;
    };
    std::vector<std::vector<char>> inputs;
    std::vector<std::vector<float>> outputs;
    llvm::SmallVector<const void *> inputData;
    llvm::SmallVector<void *> outputData;
    for (const ReferenceTensor &tensor : arguments)
      inputs.push_back(store(tensor));
    for (const execution::TensorSpec &spec : (*executor)->outputs())
      outputs.emplace_back(size_t(spec.type.getNumElements()));
    for (auto &input : inputs)
      inputData.push_back(input.data());
    for (auto &output : outputs)
      outputData.push_back(output.data());
    execution::Worker worker(**executor);
    llvm::cantFail(worker.run(inputData, outputData, (*executor)->unit()));

    ReferenceEvaluator evaluator(function, /*simulate=*/false);
    EXPECT_TRUE(evaluator.run(arguments)) << evaluator.error;
    for (auto [value, output] :
         llvm::zip(function.getBody().front().getTerminator()->getOperands(),
                   outputs))
      for (auto [i, number] : llvm::enumerate(evaluator[value].numbers))
        // Without a bound nothing is known.
        if (std::isfinite(number.error) &&
            !(std::abs(output[i] - number.value) <= number.error)) {
          ADD_FAILURE() << "element " << i << " of a result is " << output[i]
                        << ", not within " << number.error << " of "
                        << number.value;
          return {};
        }
    std::vector<std::string> implementations;
    for (const auto &primitive : (*executor)->primitives())
      implementations.push_back(primitive.implementation);
    return implementations;
  }

  std::string diagnostics;
  mlir::MLIRContext context;
};

/// A tensor of these numbers.
inline ReferenceTensor tensorOf(mlir::Type type,
                                llvm::ArrayRef<double> values) {
  ReferenceTensor tensor = ReferenceEvaluator::zeros(type);
  EXPECT_EQ(tensor.numbers.size(), values.size());
  for (auto [number, value] : llvm::zip(tensor.numbers, values))
    number.value = value;
  return tensor;
}

inline ReferenceTensor randomTensor(mlir::Type type, std::mt19937 &random,
                                    double low = -1, double high = 1) {
  ReferenceTensor tensor = ReferenceEvaluator::zeros(type);
  for (Number &number : tensor.numbers)
    // A number that an execution in float32 can be given, too.
    number.value = float(low + (high - low) * double(random() >> 8) * 0x1p-24);
  return tensor;
}

/// A derivative along one direction.
struct Derivative {
  /// Derivative by the gradient function, and by a difference in the function.
  double gradient = 0, difference = 0;
  /// Largest error of `difference`: roundings of double, and of the constants
  /// of the gradient function to f32.
  double tolerance = 0;
  /// True if the differences of both sides agree, so that there is one.
  bool exists = false;
};

/// `arguments` of the function, `weights` of its real results (the gradient of
/// s = their sum with these), `gradients` as evaluated, and a direction for
/// each real argument.
template <typename Evaluate>
Derivative derive(Evaluate evaluate, const Tensors &arguments,
                  const Tensors &weights, const Tensors &gradients,
                  const Tensors &directions) {
  double magnitude = 0;
  auto at = [&](double step) {
    Tensors moved = arguments;
    size_t real = 0;
    for (ReferenceTensor &tensor : moved)
      if (mlir::isa<mlir::FloatType>(tensor.element)) {
        for (auto [number, direction] :
             llvm::zip(tensor.numbers, directions[real].numbers))
          number.value += step * direction.value;
        ++real;
      }
    double sum = 0;
    magnitude = 0;
    real = 0;
    for (const ReferenceTensor &result : evaluate(moved)) {
      if (!mlir::isa<mlir::FloatType>(result.element))
        continue;
      for (auto [number, weight] :
           llvm::zip(result.numbers, weights[real].numbers)) {
        sum += number.value * weight.value;
        magnitude += std::abs(number.value * weight.value);
      }
      ++real;
    }
    return sum;
  };
  Derivative result;
  double scale = 0;
  for (auto [gradient, direction] : llvm::zip(gradients, directions))
    for (auto [slope, step] : llvm::zip(gradient.numbers, direction.numbers)) {
      result.gradient += slope.value * step.value;
      scale += std::abs(slope.value * step.value);
    }
  constexpr double kStep = 1e-6;
  double here = at(0), before = at(-kStep), after = at(kStep);
  result.difference = (after - before) / (2 * kStep);
  result.tolerance = 1e-5 * scale + 1e-8 * magnitude + 1e-12;
  result.exists = std::abs((after - here) - (here - before)) / kStep <=
                  1e-3 * scale + 1e-8 * magnitude + 1e-12;
  return result;
}

} // namespace mct::testing

#endif // MCT_TEST_UNIT_TRAINING_DIFFERENCES_H
