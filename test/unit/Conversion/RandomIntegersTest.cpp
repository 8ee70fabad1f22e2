// SPDX-License-Identifier: Apache-2.0
//
// Random networks with a quantizer after every op: the integer network of each
// makes the very codes that the simulation makes. Where steps are no powers of
// two the simulation rounds its sums to f32, so there the codes are those of an
// evaluation in double, wherever f32 leaves no choice.
//
// MCT_RANDOM_INTEGERS: how many networks (default 150). MCT_RANDOM_SEED: the
// first one's seed.
#include "../Execution/Fixture.h"
#include "../Execution/ReferenceEvaluator.h"
#include "mct/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mct::execution;

namespace {
using Shape = std::vector<int64_t>;

/// Properties of one of the quantized values of a network.
struct Quantized {
  std::string name;
  Shape shape;
  /// Largest magnitude.
  double threshold;
  double step;
};

/// Text of one network, the same for a seed on every machine.
class Generator {
public:
  /// `isFree`: steps are any numbers, zero points too.
  Generator(unsigned seed, bool isFree) : random(seed), isFree(isFree) {}

  std::string make() {
    int64_t height = between(3, 9), width = between(3, 9);
    shapes.push_back({1, height, width, between(1, 6)});
    if (chance(40))
      shapes.push_back({1, height, width, between(1, 6)});
    for (auto [number, shape] : llvm::enumerate(shapes)) {
      std::string name = "a" + std::to_string(number);
      values.push_back(quantize(name, shape, 2.0, chance(60)));
    }
    for (int64_t i = between(3, 10); i != 0; --i)
      addOp();
    std::string arguments, types, results;
    for (auto [number, shape] : llvm::enumerate(shapes))
      arguments += (number ? ", %a" : "%a") + std::to_string(number) + ": " +
                   tensorType(shape);
    size_t first = values.size() - std::min<size_t>(values.size(), 3);
    for (size_t i = first; i != values.size(); ++i) {
      std::string separator = i == first ? "" : ", ";
      types += separator + tensorType(values[i].shape);
      results += separator + "%" + values[i].name;
    }
    return "func.func @main(" + arguments + ") -> (" + types + ") {\n" + kZero +
           "%shift = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : "
           "() -> tensor<1xi8>\n" +
           text + "return " + results + " : " + types + "\n}\n";
  }

  std::vector<Shape> shapes;

private:
  int64_t between(int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  }
  bool chance(int64_t percent) { return between(0, 99) < percent; }
  std::string newName() { return "v" + std::to_string(number++); }
  const Quantized &any() {
    return values[size_t(between(0, int64_t(values.size()) - 1))];
  }
  /// Returns a value of rank 4.
  const Quantized &anyImage() {
    std::vector<const Quantized *> images;
    for (const Quantized &value : values)
      if (value.shape.size() == 4)
        images.push_back(&value);
    return *images[size_t(between(0, int64_t(images.size()) - 1))];
  }

  /// A point on `input`, whose values rarely are beyond `reach`.
  Quantized quantize(const std::string &input, const Shape &shape, double reach,
                     bool isSigned) {
    static const unsigned widths[] = {8, 8, 8, 8, 8, 7, 6, 4, 3, 2};
    unsigned bits = widths[between(0, 9)];
    double threshold =
        std::exp2(std::round(std::log2(reach)) + double(between(-1, 1)));
    if (isFree)
      threshold *= fraction();
    Quantized result{newName(), shape, threshold,
                     std::ldexp(threshold, -int(bits - isSigned))};
    std::string kind = isFree ? "symmetric" : "power_of_two",
                limits = "threshold = [" + print(threshold) + "]",
                sign = isSigned ? "" : ", is_signed = false";
    if (isFree && chance(40)) {
      int64_t levels = (1 << bits) - 1;
      result.step = threshold / double(levels);
      kind = "uniform";
      limits = "scale = [" + print(result.step) + "], zero_point = [" +
               std::to_string(isSigned ? between(0, levels) : 0) + "]";
      sign = "";
    }
    text += "%" + result.name + " = tpc.quantize %" + input + " as \"" +
            result.name + "\" activation parameters(#tpc." + kind + "<" +
            limits + ", bits = " + std::to_string(bits) + sign +
            ", rounding = half_up>) : " + tensorType(shape) + "\n";
    return result;
  }
  /// Returns a number in [0.5, 1).
  double fraction() {
    return double(between(1 << 20, (1 << 21) - 1)) * 0x1p-21;
  }
  static std::string print(double value) {
    char buffer[40];
    snprintf(buffer, sizeof(buffer), "%.17e", value);
    return buffer;
  }
  std::string shapeValue(const Shape &sizes) {
    std::string name = newName(), list;
    for (int64_t size : sizes)
      list += (list.empty() ? "" : ", ") + std::to_string(size);
    std::string rank = std::to_string(sizes.size());
    text += "%" + name + " = tosa.const_shape {values = dense<[" + list +
            "]> : tensor<" + rank + "xindex>} : () -> !tosa.shape<" + rank +
            ">\n";
    return name;
  }
  std::string line(const std::string &op, const std::string &type) {
    std::string name = newName();
    text += "%" + name + " = " + op + " -> " + type + "\n";
    return name;
  }

  void addLayer() {
    const Quantized input = anyImage();
    bool isDepthwise = chance(30), isTransposed = !isDepthwise && chance(15);
    int64_t kernelHeight = std::min<int64_t>(between(1, 3), input.shape[1]);
    int64_t kernelWidth = std::min<int64_t>(between(1, 3), input.shape[2]);
    int64_t channels = input.shape[3], outputs = between(1, 6);
    Shape kernelShape = {outputs, kernelHeight, kernelWidth, channels};
    int64_t axis = 0;
    if (isDepthwise) {
      outputs = channels;
      kernelShape = {kernelHeight, kernelWidth, channels, 1};
      axis = 2;
    }
    unsigned bits = chance(70) ? 8 : unsigned(between(2, 7));
    std::string thresholds, kernel = newName(), floats = newName(),
                            bias = newName();
    Floats biases;
    for (int64_t i = 0; i < outputs; ++i) {
      double threshold = std::exp2(double(between(-2, 0)));
      if (isFree)
        threshold *= fraction();
      thresholds += (i ? ", " : "") + print(threshold);
      biases.push_back(float(double(between(-300, 300)) * input.step *
                             std::ldexp(threshold, 1 - int(bits))));
    }
    text += constant(floats, kernelShape, unsigned(random())) +
            constant(bias, {outputs}, biases) + "%" + kernel +
            " = tpc.quantize %" + floats + " as \"" + kernel +
            "\" weight \"kernel_attr\" axes [" + std::to_string(axis) +
            "] parameters(#tpc." + (isFree ? "symmetric" : "power_of_two") +
            "<threshold = [" + thresholds +
            "], bits = " + std::to_string(bits) +
            ">) : " + tensorType(kernelShape) + "\n";
    int64_t strideY = between(1, 2), strideX = between(1, 2);
    Shape shape = input.shape;
    shape[3] = outputs;
    std::string attributes;
    if (isTransposed) {
      shape[1] = (input.shape[1] - 1) * strideY + kernelHeight;
      shape[2] = (input.shape[2] - 1) * strideX + kernelWidth;
      attributes = "out_pad = array<i64: 0, 0, 0, 0>";
    } else {
      // Pad until the strides divide the padded size.
      int64_t top = between(0, kernelHeight - 1),
              left = between(0, kernelWidth - 1);
      int64_t bottom = 0, right = 0;
      while ((input.shape[1] + top + bottom - kernelHeight) % strideY)
        ++bottom;
      while ((input.shape[2] + left + right - kernelWidth) % strideX)
        ++right;
      shape[1] = (input.shape[1] + top + bottom - kernelHeight) / strideY + 1;
      shape[2] = (input.shape[2] + left + right - kernelWidth) / strideX + 1;
      attributes = "dilation = array<i64: 1, 1>, pad = array<i64: " +
                   std::to_string(top) + ", " + std::to_string(bottom) + ", " +
                   std::to_string(left) + ", " + std::to_string(right) + ">";
    }
    std::string result =
        line(std::string("tosa.") +
                 (isDepthwise    ? "depthwise_conv2d"
                  : isTransposed ? "transpose_conv2d"
                                 : "conv2d") +
                 " %" + input.name + ", %" + kernel + ", %" + bias +
                 ", %zero, %zero {acc_type = f32, " + attributes +
                 ", stride = array<i64: " + std::to_string(strideY) + ", " +
                 std::to_string(strideX) + ">} : (" + tensorType(input.shape) +
                 ", " + tensorType(kernelShape) + ", " + tensorType({outputs}) +
                 ", tensor<1xf32>, tensor<1xf32>)",
             tensorType(shape));
    double reach = input.threshold *
                   std::sqrt(double(elementCount(kernelShape) / outputs)) / 2;
    finish(result, shape, reach);
  }

  /// Perhaps a clamp, then a point.
  void finish(std::string value, const Shape &shape, double reach) {
    bool isSigned = chance(60);
    if (chance(40)) {
      std::string type = tensorType(shape);
      value = line("tosa.clamp %" + value +
                       " {min_val = " + print(chance(70) ? 0 : -reach / 3) +
                       " : f32, max_val = " +
                       (chance(50) ? "3.40282347E+38" : print(reach / 3)) +
                       " : f32} : (" + type + ")",
                   type);
    }
    values.push_back(quantize(value, shape, reach, isSigned));
  }

  void addUnary() {
    const Quantized input = any();
    static const char *const ops[] = {"sigmoid", "tanh", "erf",   "abs",
                                      "negate",  "ceil", "floor", "exp"};
    std::string op = ops[between(0, 7)], type = tensorType(input.shape);
    std::string result =
        op == "negate"
            ? line("tosa.negate %" + input.name + ", %zero, %zero : (" + type +
                       ", tensor<1xf32>, tensor<1xf32>)",
                   type)
            : line("tosa." + op + " %" + input.name + " : (" + type + ")",
                   type);
    finish(result, input.shape,
           op == "exp" ? std::exp2(std::min(4.0, input.threshold))
           : op[0] == 's' || op == "tanh" || op == "erf" ? 1
                                                         : input.threshold);
  }

  void addBinary() {
    const Quantized a = any();
    // Another value of the same shape, perhaps the same one.
    std::vector<const Quantized *> others;
    for (const Quantized &value : values)
      if (value.shape == a.shape)
        others.push_back(&value);
    const Quantized b = *others[size_t(between(0, int64_t(others.size()) - 1))];
    static const char *const ops[] = {"add", "sub", "mul", "maximum",
                                      "minimum"};
    std::string op = ops[between(0, 4)], type = tensorType(a.shape);
    bool isProduct = op == "mul";
    std::string result =
        line("tosa." + op + " %" + a.name + ", %" + b.name +
                 (isProduct ? ", %shift" : "") + " : (" + type + ", " + type +
                 (isProduct ? ", tensor<1xi8>)" : ")"),
             type);
    finish(result, a.shape,
           isProduct ? a.threshold * b.threshold / 2
                     : std::max(a.threshold, b.threshold));
  }

  void addPool() {
    const Quantized input = anyImage();
    int64_t height = std::min<int64_t>(between(1, 3), input.shape[1]);
    int64_t width = std::min<int64_t>(between(1, 3), input.shape[2]);
    bool isMean = chance(60), isPadded = chance(40);
    if (isMean && chance(30)) {
      height = input.shape[1];
      width = input.shape[2];
      isPadded = false;
    }
    Shape pads = {0, 0, 0, 0};
    if (isPadded)
      pads = {between(0, height - 1), between(0, height - 1),
              between(0, width - 1), between(0, width - 1)};
    Shape shape = input.shape;
    shape[1] += pads[0] + pads[1] - height + 1;
    shape[2] += pads[2] + pads[3] - width + 1;
    std::string from = tensorType(input.shape);
    std::string result = line(
        std::string("tosa.") + (isMean ? "avg" : "max") + "_pool2d %" +
            input.name + (isMean ? ", %zero, %zero {acc_type = f32, " : " {") +
            "kernel = array<i64: " + std::to_string(height) + ", " +
            std::to_string(width) +
            ">, pad = array<i64: " + std::to_string(pads[0]) + ", " +
            std::to_string(pads[1]) + ", " + std::to_string(pads[2]) + ", " +
            std::to_string(pads[3]) + ">, stride = array<i64: 1, 1>} : (" +
            from + (isMean ? ", tensor<1xf32>, tensor<1xf32>)" : ")"),
        tensorType(shape));
    finish(result, shape, input.threshold);
  }

  void addMovement() {
    const Quantized input = anyImage();
    std::string from = tensorType(input.shape), result;
    Shape shape = input.shape;
    switch (between(0, 5)) {
    case 0:
      shape = {1, elementCount(shape)};
      result = line("tosa.reshape %" + input.name + ", %" + shapeValue(shape) +
                        " : (" + from + ", !tosa.shape<2>)",
                    tensorType(shape));
      break;
    case 1:
      shape = {shape[0], shape[2], shape[1], shape[3]};
      result = line("tosa.transpose %" + input.name +
                        " {perms = array<i32: 0, 2, 1, 3>} : (" + from + ")",
                    tensorType(shape));
      break;
    case 2: {
      Shape start = {0, 0, 0, 0};
      for (int axis : {1, 2}) {
        start[axis] = between(0, shape[axis] - 1);
        shape[axis] -= start[axis];
      }
      std::string first = shapeValue(start), sizes = shapeValue(shape);
      result =
          line("tosa.slice %" + input.name + ", %" + first + ", %" + sizes +
                   " : (" + from + ", !tosa.shape<4>, !tosa.shape<4>)",
               tensorType(shape));
      break;
    }
    case 3: {
      Shape pads = {0, 0, between(0, 2), between(0, 2), between(0, 2),
                    0, 0, between(0, 1)};
      for (int axis = 0; axis < 4; ++axis)
        shape[axis] += pads[2 * axis] + pads[2 * axis + 1];
      std::string sizes = shapeValue(pads), fill = newName();
      text += constant(fill, {1}, Floats{chance(50) ? 0.0f : 0.3f});
      result = line("tosa.pad %" + input.name + ", %" + sizes + ", %" + fill +
                        " : (" + from + ", !tosa.shape<8>, tensor<1xf32>)",
                    tensorType(shape));
      break;
    }
    case 4: {
      // With itself, or with another of the same size.
      const Quantized *other = &input;
      for (const Quantized &value : values)
        if (value.shape.size() == 4 && value.shape[1] == shape[1] &&
            value.shape[2] == shape[2] && chance(50))
          other = &value;
      std::string second = tensorType(other->shape);
      shape[3] += other->shape[3];
      result = line("tosa.concat %" + input.name + ", %" + other->name +
                        " {axis = 3 : i32} : (" + from + ", " + second + ")",
                    tensorType(shape));
      break;
    }
    default:
      shape[1] = 1;
      result = line("tosa.reduce_max %" + input.name + " {axis = 1 : i32} : (" +
                        from + ")",
                    tensorType(shape));
    }
    finish(result, shape, input.threshold);
  }

  void addOp() {
    int64_t which = between(0, 99);
    if (which < 35)
      addLayer();
    else if (which < 50)
      addUnary();
    else if (which < 70)
      addBinary();
    else if (which < 83)
      addPool();
    else
      addMovement();
  }

  std::mt19937 random;
  bool isFree;
  std::string text;
  std::vector<Quantized> values;
  size_t number = 0;
};

class RandomIntegers : public ExecutionTest {
protected:
  std::vector<Floats> inputsOf(const Generator &generator, unsigned seed) {
    std::vector<Floats> inputs;
    for (const Shape &shape : generator.shapes) {
      inputs.push_back(
          randomFloats(elementCount(shape), seed + unsigned(inputs.size())));
      for (float &value : inputs.back())
        value *= 3;
    }
    return inputs;
  }
  /// The network that simulates what was compiled last with a rounding.
  std::unique_ptr<Executor> compileSimulation(const std::string &rounding) {
    return compileAfter(
        "mct-simulate-integers{table-points=false rounding=" + rounding + "}");
  }
  /// The integer network of what was compiled last. No value of a lowered
  /// network leaves its type or meets a rescale that is not defined for it.
  std::unique_ptr<Executor> compileIntegers() {
    return compileAfter("mct-lower-to-integer,mct-check-integer");
  }
  std::unique_ptr<Executor> compileAfter(const std::string &pipeline) {
    diagnostics.clear();
    mlir::PassManager passes(&context, mlir::ModuleOp::getOperationName());
    if (failed(mlir::parsePassPipeline(pipeline, passes)) ||
        failed(passes.run(*module)) || !diagnostics.empty())
      return nullptr;
    auto executor = Executor::compile(*module, options());
    return succeeded(executor) ? std::move(*executor) : nullptr;
  }
  static CompileOptions options() {
    CompileOptions options;
    options.keepTypes = true;
    return options;
  }
};
} // namespace

static unsigned readNumber(const char *name, unsigned otherwise) {
  const char *text = std::getenv(name);
  return text ? unsigned(std::atoi(text)) : otherwise;
}

/// Networks with steps that are powers of two, with every rounding.
class RandomRoundings : public RandomIntegers,
                        public ::testing::WithParamInterface<const char *> {};

TEST_P(RandomRoundings, NetworksEqualTheirSimulation) {
  mct::registerAllMctPasses();
  unsigned count = readNumber("MCT_RANDOM_INTEGERS", 150);
  unsigned first = readNumber("MCT_RANDOM_SEED", 1);
  size_t numValues = 0, numVaried = 0;
  for (unsigned seed = first; seed != first + count; ++seed) {
    Generator generator(seed, /*isFree=*/false);
    std::string text = generator.make();
    ASSERT_TRUE(compile(text, options()));
    auto simulation = compileSimulation(GetParam());
    ASSERT_TRUE(simulation) << "seed " << seed << "\n"
                            << llvm::join(diagnostics, "\n") << "\n"
                            << text;
    auto executor = compileIntegers();
    // Such points say that they round halves up.
    if (!executor && llvm::any_of(diagnostics, [](llvm::StringRef text) {
          return text.contains("halves go up");
        }))
      continue;
    ASSERT_TRUE(executor) << "seed " << seed << "\n"
                          << llvm::join(diagnostics, "\n") << "\n"
                          << text;
    std::vector<Floats> inputs = inputsOf(generator, seed);
    std::vector<Floats> expected = runOutputs(*simulation, inputs);
    std::vector<Floats> results = runOutputs(*executor, inputs);
    for (size_t i = 0; i != expected.size(); ++i) {
      numValues += expected[i].size();
      numVaried += !llvm::all_equal(expected[i]);
      ASSERT_EQ(expected[i], results[i])
          << "seed " << seed << ", result " << i << "\n"
          << text;
    }
  }
  // Networks that only make one number show nothing.
  EXPECT_GT(numVaried, count);
  EXPECT_GT(numValues, 10 * count);
}

INSTANTIATE_TEST_SUITE_P(All, RandomRoundings,
                         ::testing::Values("half-up", "half-even", "double",
                                           "double-convolutions"));

TEST_F(RandomIntegers, NetworksWithFreeScalesEqualTheirEvaluation) {
  using namespace mct::testing;
  mct::registerAllMctPasses();
  unsigned count = readNumber("MCT_RANDOM_INTEGERS", 150);
  unsigned first = readNumber("MCT_RANDOM_SEED", 1);
  size_t numValues = 0, numDecided = 0;
  for (unsigned seed = first; seed != first + count; ++seed) {
    Generator generator(seed, /*isFree=*/true);
    std::string text = generator.make();
    ASSERT_TRUE(compile(text, options()))
        << "seed " << seed << "\n"
        << llvm::join(diagnostics, "\n") << "\n"
        << text;
    std::vector<Floats> inputs = inputsOf(generator, seed);
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    ReferenceEvaluator evaluator(function, /*simulate=*/true);
    std::vector<ReferenceTensor> arguments;
    for (auto [argument, input] :
         llvm::zip_equal(function.getArguments(), inputs)) {
      arguments.push_back(ReferenceEvaluator::zeros(argument.getType()));
      for (auto [number, value] :
           llvm::zip_equal(arguments.back().numbers, input))
        number.value = value;
    }
    ASSERT_TRUE(evaluator.run(arguments)) << evaluator.error << "\n" << text;
    std::vector<ReferenceTensor> expected;
    for (mlir::Value result :
         function.getBody().front().getTerminator()->getOperands())
      expected.push_back(evaluator[result]);

    auto executor = compileIntegers();
    ASSERT_TRUE(executor) << "seed " << seed << "\n"
                          << llvm::join(diagnostics, "\n") << "\n"
                          << text;
    std::vector<Floats> results = runOutputs(*executor, inputs);
    for (size_t i = 0; i != expected.size(); ++i)
      for (size_t k = 0; k != results[i].size(); ++k) {
        const Number &number = expected[i].numbers[k];
        // A code times its step, rounded to f32.
        double rounding = 0x1p-22 * std::abs(number.value);
        ASSERT_LE(std::abs(results[i][k] - number.value),
                  number.error + rounding)
            << "seed " << seed << ", result " << i << ", element " << k << "\n"
            << text;
        ++numValues;
        numDecided += number.error <= rounding;
      }
  }
  EXPECT_GT(numValues, 10 * count);
  EXPECT_GT(double(numDecided), 0.98 * double(numValues));
}
