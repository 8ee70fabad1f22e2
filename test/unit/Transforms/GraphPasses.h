// SPDX-License-Identifier: Apache-2.0
//
// Networks of two layers as text, and passes run on them.
#ifndef MCT_TEST_UNIT_TRANSFORMS_GRAPHPASSES_H
#define MCT_TEST_UNIT_TRANSFORMS_GRAPHPASSES_H

#include "../Execution/Fixture.h"
#include "mct/IR/Constants.h"
#include "mct/Pipelines/Pipelines.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct::testing {

using namespace mlir;
using execution::constant;
using execution::Floats;
using execution::tensorType;

inline LogicalResult runPipeline(StringRef pipeline, ModuleOp module) {
  static const bool registered = [] {
    registerAllMctPasses();
    return true;
  }();
  (void)registered;
  PassManager passManager(module.getContext());
  return success(succeeded(parsePassPipeline(pipeline, passManager)) &&
                 succeeded(passManager.run(module)));
}

class GraphPassesTest : public execution::ExecutionTest {
protected:
  /// The result of @main on inputs in [-4, 4).
  Floats run() {
    execution::CompileOptions options;
    options.simulateQuantization = false;
    auto executor = execution::Executor::compile(*module, options);
    if (failed(executor)) {
      ADD_FAILURE() << llvm::join(diagnostics, "\n");
      return {};
    }
    std::vector<Floats> inputs = execution::randomInputs(**executor);
    for (Floats &input : inputs)
      for (float &value : input)
        value *= 4;
    return execution::runUnit(**executor, inputs);
  }

  std::string print() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }

  /// Runs passes on @main and expects them to change the text, but not what is
  /// computed. A factor or an offset rounds each weight once more: a few float
  /// steps of the largest value.
  void expectSame(const std::string &text, StringRef pipeline) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << llvm::join(diagnostics, "\n") << "\n" << text;
    std::string textBefore = print();
    Floats before = run();
    ASSERT_TRUE(succeeded(runPipeline(pipeline, *module)))
        << llvm::join(diagnostics, "\n");
    EXPECT_NE(textBefore, print());
    Floats after = run();
    ASSERT_EQ(before.size(), after.size());
    ASSERT_FALSE(before.empty());
    float largest = 0;
    for (float value : before)
      largest = std::max(largest, std::abs(value));
    ASSERT_GT(largest, 0);
    for (size_t i = 0; i != before.size(); ++i)
      ASSERT_NEAR(before[i], after[i], 1e-5f * largest) << "element " << i;
  }

  /// The elements of a constant operand of the op of a kind that comes
  /// `index`-th.
  template <typename Op> Floats constantOf(size_t index, unsigned operand) {
    Floats values;
    module->walk([&](Op op) {
      if (index-- != 0)
        return;
      if (auto floats = ConstantFloats::get(op->getOperand(operand)))
        values.assign(floats->values().begin(), floats->values().end());
    });
    return values;
  }
};

using Shape = std::vector<int64_t>;

inline std::string types(std::initializer_list<Shape> shapes) {
  std::string text = "(";
  for (const Shape &shape : shapes)
    text += (text.size() > 1 ? ", " : "") + tensorType(shape);
  return text + ") -> ";
}

inline std::string function(const Shape &input, const Shape &result,
                            const std::string &body) {
  return "func.func @main(%x: " + tensorType(input) + ") -> " +
         tensorType(result) + " {\n" + execution::kZero + body +
         "return %y : " + tensorType(result) + "\n}";
}

/// `%result = op %input, kernel, bias`, stride and dilation 1.
inline std::string convolution(const std::string &op, const std::string &result,
                               const std::string &input, const Shape &from,
                               const std::string &kernel,
                               const Shape &kernelShape,
                               const std::string &bias, const Shape &to,
                               int64_t pad = 0) {
  std::string p = std::to_string(pad);
  std::string attributes =
      op == "transpose_conv2d"
          ? "{acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = "
            "array<i64: 1, 1>}"
          : "{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: " +
                p + ", " + p + ", " + p + ", " + p +
                ">, stride = array<i64: 1, 1>}";
  return "%" + result + " = tosa." + op + " %" + input + ", %" + kernel +
         ", %" + bias + ", %zero, %zero " + attributes + " : " +
         types({from, kernelShape, {to.back()}, {1}, {1}}) + tensorType(to) +
         "\n";
}

inline std::string relu(const std::string &result, const std::string &input,
                        const Shape &shape,
                        const char *bound = "3.40282347E+38") {
  return "%" + result + " = tosa.clamp %" + input + " {min_val = 0.0 : f32, " +
         "max_val = " + bound + " : f32} : " + types({shape}) +
         tensorType(shape) + "\n";
}

inline std::string point(const std::string &result, const std::string &input,
                         const Shape &shape, const std::string &rest = "") {
  return "%" + result + " = tpc.quantize %" + input + " as \"" + result +
         "\" activation " + rest + " : " + tensorType(shape) + "\n";
}

/// `tpc.bias` whose channels deviate by up to 5.
inline std::string biasWithMoments(const std::string &name, int64_t channels) {
  std::string type = tensorType({channels});
  std::string mean, deviation, values;
  for (int64_t channel = 0; channel != channels; ++channel) {
    const char *comma = channel == 0 ? "" : ", ";
    mean += comma + std::to_string(0.25 * double(channel % 3) - 0.25);
    deviation += comma + std::to_string(0.5 + 1.5 * double(channel % 4));
    values += comma + std::to_string(0.5 - 0.25 * double(channel % 5));
  }
  return "%" + name + " = tpc.bias values(dense<[" + values + "]> : " + type +
         ") mean(dense<[" + mean + "]> : " + type + ") deviation(dense<[" +
         deviation + "]> : " + type + ") : " + type + "\n";
}

inline std::string softmax(const Shape &shape) {
  Shape one = shape;
  one.back() = 1;
  std::string axis =
      " {axis = " + std::to_string(shape.size() - 1) + " : i32} : ";
  return "%shift = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () "
         "-> tensor<1xi8>\n%max = tosa.reduce_max %q" +
         axis + types({shape}) + tensorType(one) +
         "\n%d = tosa.sub %q, %max : " + types({shape, one}) +
         tensorType(shape) + "\n%e = tosa.exp %d : " + types({shape}) +
         tensorType(shape) + "\n%s = tosa.reduce_sum %e" + axis +
         types({shape}) + tensorType(one) +
         "\n%r = tosa.reciprocal %s : " + types({one}) + tensorType(one) +
         "\n%y = tosa.mul %e, %r, %shift : (" + tensorType(shape) + ", " +
         tensorType(one) + ", tensor<1xi8>) -> " + tensorType(shape) + "\n";
}

} // namespace mct::testing

#endif // MCT_TEST_UNIT_TRANSFORMS_GRAPHPASSES_H
