// SPDX-License-Identifier: Apache-2.0
//
// Gradient functions, and the same derivatives as differences.
#ifndef MCT_TEST_UNIT_TRAINING_DIFFERENCES_H
#define MCT_TEST_UNIT_TRAINING_DIFFERENCES_H

#include "ReferenceEvaluator.h"

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
    });
  }
  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    registry.insert<mlir::func::FuncDialect, mlir::tosa::TosaDialect,
                    tpc::TpcDialect>();
    registerGradientModels(registry);
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

  /// What a function returns, in real numbers.
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
    number.value = low + (high - low) * double(random() >> 4) * 0x1p-28;
  return tensor;
}

/// A derivative along one direction.
struct Derivative {
  /// By the gradient function, and by a difference in the function.
  double gradient = 0, difference = 0;
  /// What `difference` may be away: roundings of double, and of the constants
  /// of the gradient function to f32.
  double tolerance = 0;
  /// Whether the differences of both sides agree, so that there is one.
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
  double here = at(0), before = at(-kStep), behind = at(kStep);
  result.difference = (behind - before) / (2 * kStep);
  result.tolerance = 1e-5 * scale + 1e-8 * magnitude + 1e-12;
  result.exists = std::abs((behind - here) - (here - before)) / kStep <=
                  1e-3 * scale + 1e-8 * magnitude + 1e-12;
  return result;
}

} // namespace mct::testing

#endif // MCT_TEST_UNIT_TRAINING_DIFFERENCES_H
