// SPDX-License-Identifier: Apache-2.0
//
// Runs a simulated network and the integer network made of it on the same
// samples; every output has to be the very same number.
#ifndef MCT_TEST_UNIT_CONVERSION_LOWERTOINTEGERFIXTURE_H
#define MCT_TEST_UNIT_CONVERSION_LOWERTOINTEGERFIXTURE_H

#include "mct/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "test/unit/Execution/Fixture.h"
#include "test/unit/Execution/ReferenceEvaluator.h"

namespace mct::testing {

using execution::CompileOptions;
using execution::constant;
using execution::elementCount;
using execution::Executor;
using execution::Floats;
using execution::kZero;
using execution::randomFloats;
using execution::runOutputs;
using execution::tensorType;

class LowerToInteger : public execution::ExecutionTest {
protected:
  LowerToInteger() {
    mlir::DialectRegistry more;
    registerAllMctPasses();
    context.appendDialectRegistry(more);
  }

  bool run(mlir::ModuleOp network, const std::string &pipeline) {
    mlir::PassManager passes(&context, mlir::ModuleOp::getOperationName());
    return succeeded(mlir::parsePassPipeline(pipeline, passes)) &&
           succeeded(passes.run(network));
  }

  /// The integer network of one, or null.
  mlir::OwningOpRef<mlir::ModuleOp> lower(const std::string &text,
                                          const std::string &options = "") {
    auto integers = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!integers) {
      ADD_FAILURE() << llvm::join(diagnostics, "\n") << "\n" << text;
      return nullptr;
    }
    if (!run(*integers, "mct-lower-to-integer{" + options + "}")) {
      ADD_FAILURE() << llvm::join(diagnostics, "\n") << "\n" << text;
      return nullptr;
    }
    return integers;
  }

  /// Runs both networks; `inputs` fit to the arguments. Ends with a failure
  /// unless all outputs are equal, or differ by at most `tolerance`.
  void expectSame(const std::string &body, llvm::ArrayRef<Floats> inputs,
                  const std::string &options = "", double tolerance = 0) {
    std::string text = "func.func @main" + body;
    CompileOptions keep;
    keep.keepTypes = true;
    auto simulation = compile(text, keep);
    ASSERT_TRUE(simulation) << llvm::join(diagnostics, "\n") << text;
    diagnostics.clear();
    auto integers = lower(text, options);
    ASSERT_TRUE(integers);
    // Nothing stays float.
    EXPECT_EQ(llvm::join(diagnostics, "\n"), "") << text;
    auto executor = Executor::compile(*integers, keep);
    ASSERT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
    std::vector<Floats> expected = runOutputs(*simulation, inputs);
    std::vector<Floats> results = runOutputs(**executor, inputs);
    ASSERT_EQ(expected.size(), results.size());
    for (size_t output = 0; output != expected.size(); ++output) {
      size_t numDifferent = 0, first = 0;
      // An output that is the same everywhere shows nothing.
      EXPECT_TRUE(expected[output].size() <= 3 ||
                  !llvm::all_equal(expected[output]))
          << text;
      for (size_t i = 0; i != expected[output].size(); ++i) {
        if (std::abs(expected[output][i] - results[output][i]) <= tolerance)
          continue;
        if (numDifferent++ == 0)
          first = i;
      }
      EXPECT_EQ(numDifferent, 0u)
          << "of " << expected[output].size() << ", the first at " << first
          << ": " << expected[output][first] << " is " << results[output][first]
          << "\n"
          << text;
    }
  }

  /// The same by the evaluator, for points that the executor does not
  /// simulate, inside of other ops. All is exact.
  void expectEvaluated(const std::string &body, const Floats &input,
                       const std::string &options = "") {
    std::string text = "func.func @main" + body;
    auto network = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(network) << llvm::join(diagnostics, "\n") << text;
    auto function = *network->getOps<mlir::func::FuncOp>().begin();
    ReferenceEvaluator evaluator(function, /*simulate=*/true);
    auto argument =
        ReferenceEvaluator::zeros(function.getArgument(0).getType());
    for (auto [number, value] : llvm::zip_equal(argument.numbers, input))
      number.value = value;
    ASSERT_TRUE(evaluator.run(argument)) << evaluator.error << text;
    diagnostics.clear();
    auto integers = lower(text, options);
    ASSERT_TRUE(integers);
    EXPECT_EQ(llvm::join(diagnostics, "\n"), "") << text;
    CompileOptions keep;
    keep.keepTypes = true;
    auto executor = Executor::compile(*integers, keep);
    ASSERT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
    std::vector<Floats> results = runOutputs(**executor, {input});
    for (auto [result, value] : llvm::zip_equal(
             results, function.front().getTerminator()->getOperands()))
      for (auto [found, number] :
           llvm::zip_equal(result, evaluator[value].numbers)) {
        EXPECT_TRUE(number.isExact());
        ASSERT_EQ(found, number.value) << text;
      }
  }

  /// Ops of a kind in the integer network.
  template <typename Op> size_t count(mlir::ModuleOp network) {
    size_t number = 0;
    network.walk([&](Op) { ++number; });
    return number;
  }

  /// Returns the parameters of a point.
  static std::string powerOfTwo(double threshold, unsigned bits = 8,
                                bool isSigned = true) {
    std::string text = "parameters(#tpc.power_of_two<threshold = [" +
                       std::to_string(threshold) +
                       "], bits = " + std::to_string(bits);
    if (!isSigned)
      text += ", is_signed = false";
    return text + ", rounding = half_up>)";
  }

  /// A quantized value.
  static std::string point(const std::string &result, const std::string &input,
                           const std::string &type,
                           const std::string &parameters) {
    return "%" + result + " = tpc.quantize %" + input + " as \"" + result +
           "\" activation " + parameters + " : " + type + "\n";
  }

  /// A kernel on the grid of one threshold for each of `channels` channels
  /// along `axis`; of 8 bits, or fewer.
  static std::string kernel(const std::string &name,
                            llvm::ArrayRef<int64_t> shape, int64_t axis,
                            unsigned seed, unsigned bits = 8) {
    std::string thresholds;
    for (int64_t i = 0; i < shape[axis]; ++i)
      thresholds += (i ? ", " : "") + std::to_string(i % 3 == 0 ? 1.0 : 0.5);
    return constant(name + "_floats", shape, seed) + "%" + name +
           " = tpc.quantize %" + name + "_floats as \"" + name +
           "\" weight \"kernel_attr\" axes [" + std::to_string(axis) +
           "] parameters(#tpc.power_of_two<threshold = [" + thresholds +
           "], bits = " + std::to_string(bits) + ">) : " + tensorType(shape) +
           "\n";
  }

  /// Biases that are multiples of every accumulator's unit here.
  static std::string bias(const std::string &name, int64_t count) {
    Floats values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(float((i * 37) % 23 - 11) / 64);
    return constant(name, {count}, values);
  }

  static constexpr const char *kShift =
      "%shift = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () -> "
      "tensor<1xi8>\n";

  static std::string shapeConstant(const std::string &name,
                                   llvm::ArrayRef<int64_t> sizes) {
    std::string values;
    for (int64_t size : sizes)
      values += (values.empty() ? "" : ", ") + std::to_string(size);
    std::string rank = std::to_string(sizes.size());
    return "%" + name + " = tosa.const_shape {values = dense<[" + values +
           "]> : tensor<" + rank + "xindex>} : () -> !tosa.shape<" + rank +
           ">\n";
  }

  /// Random samples for arguments of these shapes, in [-scale, scale).
  static std::vector<Floats>
  samples(llvm::ArrayRef<std::vector<int64_t>> shapes, float scale = 4) {
    std::vector<Floats> all;
    for (auto [number, shape] : llvm::enumerate(shapes)) {
      all.push_back(randomFloats(elementCount(shape), unsigned(number) + 3));
      for (float &value : all.back())
        value *= scale;
    }
    return all;
  }

  /// Every code of two 8-bit grids with the steps, for arguments [256, 1] and
  /// [1, 256].
  static std::vector<Floats> allPairs(float stepA, float stepB,
                                      int first = -128) {
    std::vector<Floats> all(2);
    for (int code = first; code < first + 256; ++code) {
      all[0].push_back(float(code) * stepA);
      all[1].push_back(float(code) * stepB);
    }
    return all;
  }

  static constexpr const char *kA = "tensor<256x1xf32>";
  static constexpr const char *kB = "tensor<1x256xf32>";
  static constexpr const char *kAB = "tensor<256x256xf32>";
};

} // namespace mct::testing

#endif // MCT_TEST_UNIT_CONVERSION_LOWERTOINTEGERFIXTURE_H
