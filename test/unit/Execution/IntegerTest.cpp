// SPDX-License-Identifier: Apache-2.0
//
// Integer kernels against the upstream lowering, which is compiled without
// them: all bits are the same, with every instruction set.
#include "Fixture.h"

#include "mct/Quantizers/InstructionSet.h"
#include "llvm/ADT/ScopeExit.h"

#include <algorithm>

using namespace mct::execution;
using mct::quantization::forceInstructionSetForTesting;
using mct::quantization::InstructionSet;

namespace {

using Sizes = std::vector<int64_t>;

/// Writes functions of integer ops, at random.
class Writer {
public:
  explicit Writer(unsigned seed) : random(seed) {}

  int64_t between(int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

  std::string name() { return "%v" + std::to_string(next++); }

  /// `number()` makes the elements, row-major.
  template <typename Number>
  std::string constant(const Sizes &shape, const std::string &element,
                       Number number) {
    std::string values;
    write(values, shape, 0, number);
    std::string made = name(), type = tensorType(shape, element.c_str());
    text += made + " = \"tosa.const\"() <{values = dense<" + values +
            "> : " + type + "}> : () -> " + type + "\n";
    return made;
  }
  std::string scalar(const std::string &element, int64_t value) {
    return constant({1}, element, [value] { return value; });
  }

  /// Weights or other factors: anything, or only what sums up to the most.
  std::string factors(const Sizes &shape, int bits) {
    int64_t low = -(1 << (bits - 1)), high = -low - 1;
    int kind = int(between(0, 3));
    return constant(shape, "i" + std::to_string(bits), [&, kind] {
      return kind == 0   ? low
             : kind == 1 ? high
             : kind == 2 ? (chance(50) ? low : high)
                         : between(low, high);
    });
  }
  int64_t zeroPoint() {
    return chance(30) ? -128 : chance(30) ? 127 : between(-128, 127);
  }
  int64_t biasValue() {
    return chance(10)   ? std::numeric_limits<int32_t>::min()
           : chance(10) ? std::numeric_limits<int32_t>::max()
                        : between(-100000, 100000);
  }

  std::string op(const std::string &op,
                 const std::vector<std::string> &operands,
                 const std::vector<std::string> &types,
                 const std::string &attributes, const std::string &type) {
    std::string made = name();
    text += made + " = \"tosa." + op + "\"(" + llvm::join(operands, ", ") +
            ")" + (attributes.empty() ? "" : " <{" + attributes + "}>") +
            " : (" + llvm::join(types, ", ") + ") -> " + type + "\n";
    return made;
  }

  /// Adds a rescale from one signed type to another.
  std::string rescale(const std::string &value, const Sizes &shape,
                      const std::string &from, const std::string &to,
                      bool mayBePerChannel = true) {
    bool perChannel = mayBePerChannel && chance(50), powersOfTwo = chance(30);
    Sizes parameters{perChannel ? shape.back() : 1};
    std::string multipliers = constant(parameters, "i32", [&] {
      return powersOfTwo  ? int64_t(1) << 30
             : chance(10) ? between(0, 1 << 20)
                          : between(1 << 30, 0x7fffffff);
    });
    bool small = from == "i8";
    std::string shifts = constant(parameters, "i8", [&] {
      return chance(10) ? between(2, 62)
             : small    ? between(10, 33)
                        : between(30, 46);
    });
    std::string in = scalar(from, from == "i8" ? zeroPoint() : 0);
    std::string out = scalar(to, to == "i8" ? zeroPoint() : 0);
    std::string vector = tensorType(parameters, "i32"),
                bytes = tensorType(parameters, "i8");
    std::string attributes =
        std::string("scale32 = true, rounding_mode = #tosa.rounding_mode<") +
        (chance(50) ? "SINGLE_ROUND" : "DOUBLE_ROUND") +
        ">, per_channel = " + (perChannel ? "true" : "false") +
        ", input_unsigned = false, output_unsigned = false";
    return op("rescale", {value, multipliers, shifts, in, out},
              {tensorType(shape, from.c_str()), vector, bytes,
               "tensor<1x" + from + ">", "tensor<1x" + to + ">"},
              attributes, tensorType(shape, to.c_str()));
  }
  std::string clamp(const std::string &value, const Sizes &shape,
                    const std::string &element) {
    int64_t low = between(-120, 20);
    std::string type = tensorType(shape, element.c_str());
    return op("clamp", {value}, {type},
              "min_val = " + std::to_string(low) + " : " + element +
                  ", max_val = " + std::to_string(between(low, 127)) + " : " +
                  element + ", nan_mode = #tosa.nan_mode<PROPAGATE>",
              type);
  }

  /// Adds the ops that are after sums of products in networks, or some of
  /// them.
  std::string finish(std::string value, const Sizes &shape) {
    std::string element = "i32";
    if (chance(85)) {
      element = chance(70) ? "i8" : chance(50) ? "i16" : "i32";
      value = rescale(value, shape, "i32", element);
      if (chance(50))
        value = clamp(value, shape, element);
    }
    resultType = tensorType(shape, element.c_str());
    return value;
  }

  std::string function(const std::string &result) const {
    std::string arguments;
    for (const auto &[name, type] : inputs)
      arguments += (arguments.empty() ? "" : ", ") + name + ": " + type;
    return "func.func @main(" + arguments + ") -> " + resultType + " {\n" +
           text + "return " + result + " : " + resultType + "\n}\n";
  }
  std::string input(const Sizes &shape, const std::string &element = "i8") {
    inputs.push_back({name(), tensorType(shape, element.c_str())});
    return inputs.back().first;
  }

  /// Sizes of a transposed convolution, but for the channels.
  struct Transposed {
    Sizes image, result, kernel, stride, pad;
    explicit Transposed(Writer &writer);
  };

  std::string convolution();
  std::string transposeConvolution();
  std::string wideTransposeConvolution();
  std::string matMul();
  std::string chain();
  std::string maximumPool();

private:
  template <typename Number>
  void write(std::string &values, const Sizes &shape, size_t axis,
             Number &number) {
    if (axis == shape.size()) {
      values += std::to_string(number());
      return;
    }
    values += "[";
    for (int64_t i = 0; i != shape[axis]; ++i) {
      values += i == 0 ? "" : ", ";
      write(values, shape, axis + 1, number);
    }
    values += "]";
  }
  static std::string array(const std::string &name, const Sizes &values) {
    std::string text;
    for (int64_t value : values)
      text += (text.empty() ? "" : ", ") + std::to_string(value);
    return name + " = array<i64: " + text + ">";
  }
  int64_t channels(int64_t most) {
    return chance(30) ? 16 * between(1, 3) : between(1, most);
  }

  std::mt19937_64 random;
  size_t next = 0;
  std::string text, resultType;
  std::vector<std::pair<std::string, std::string>> inputs;
};

/// Plain or depthwise.
std::string Writer::convolution() {
  bool depthwise = chance(50);
  Sizes image(4), result(4), kernel(2), stride(2), dilation(2), pad(4);
  image[0] = result[0] = between(1, 3);
  for (int axis : {0, 1}) {
    int64_t size;
    do {
      kernel[axis] = between(1, 5);
      stride[axis] = between(1, 3);
      dilation[axis] = chance(70) ? 1 : between(1, 3);
      pad[2 * axis] = between(0, kernel[axis]);
      pad[2 * axis + 1] = between(0, kernel[axis]);
      result[1 + axis] = between(1, 17);
      size = (result[1 + axis] - 1) * stride[axis] +
             (kernel[axis] - 1) * dilation[axis] + 1 - pad[2 * axis] -
             pad[2 * axis + 1];
    } while (size < 1);
    image[1 + axis] = size;
  }
  // Depthwise, also more than are computed side by side, and odd numbers.
  image[3] = depthwise && chance(25) ? between(60, 140) : channels(20);
  int64_t multiplier = depthwise && chance(30) ? between(2, 3) : 1;
  result[3] = depthwise ? image[3] * multiplier : channels(40);
  std::string in = input(image);
  Sizes weightShape = depthwise
                          ? Sizes{kernel[0], kernel[1], image[3], multiplier}
                          : Sizes{result[3], kernel[0], kernel[1], image[3]};
  int bits = chance(20) ? 4 : 8;
  std::string weights = factors(weightShape, bits);
  std::string element = "i" + std::to_string(bits);
  Sizes biasShape{chance(20) ? 1 : result[3]};
  std::string bias = constant(biasShape, "i32", [&] { return biasValue(); });
  std::string inZero = scalar("i8", zeroPoint()),
              weightZero = scalar(element, 0);
  std::string sum =
      op(depthwise ? "depthwise_conv2d" : "conv2d",
         {in, weights, bias, inZero, weightZero},
         {tensorType(image, "i8"), tensorType(weightShape, element.c_str()),
          tensorType(biasShape, "i32"), "tensor<1xi8>",
          "tensor<1x" + element + ">"},
         array("pad", pad) + ", " + array("stride", stride) + ", " +
             array("dilation", dilation) + ", acc_type = i32",
         tensorType(result, "i32"));
  return function(finish(sum, result));
}

Writer::Transposed::Transposed(Writer &writer)
    : image(4), result(4), kernel(2), stride(2), pad(4) {
  image[0] = result[0] = writer.between(1, 2);
  for (int axis : {0, 1}) {
    int64_t size;
    do {
      image[1 + axis] = writer.between(1, 6);
      kernel[axis] = writer.between(1, 5);
      stride[axis] = writer.between(1, 3);
      for (int end : {0, 1})
        pad[2 * axis + end] = writer.between(1 - kernel[axis], 2);
      size = (image[1 + axis] - 1) * stride[axis] + kernel[axis] +
             pad[2 * axis] + pad[2 * axis + 1];
    } while (size < 1);
    result[1 + axis] = size;
  }
}

std::string Writer::transposeConvolution() {
  auto [image, result, kernel, stride, pad] = Transposed(*this);
  image[3] = channels(20);
  result[3] = channels(40);
  std::string in = input(image);
  Sizes weightShape{result[3], kernel[0], kernel[1], image[3]};
  std::string weights = factors(weightShape, 8);
  std::string bias = constant({result[3]}, "i32", [&] { return biasValue(); });
  std::string inZero = scalar("i8", zeroPoint()), weightZero = scalar("i8", 0);
  std::string sum =
      op("transpose_conv2d", {in, weights, bias, inZero, weightZero},
         {tensorType(image, "i8"), tensorType(weightShape, "i8"),
          tensorType({result[3]}, "i32"), "tensor<1xi8>", "tensor<1xi8>"},
         array("out_pad", pad) + ", " + array("stride", stride) +
             ", acc_type = i32",
         tensorType(result, "i32"));
  return function(finish(sum, result));
}

/// Compares sums of codes of 8 bits with those of the same codes in 16 bits,
/// which are added in 48 bits.
std::string Writer::wideTransposeConvolution() {
  auto [image, result, kernel, stride, pad] = Transposed(*this);
  image[3] = between(1, 4);
  result[3] = between(1, 4);
  std::string in = input(image);
  Sizes weightShape{result[3], kernel[0], kernel[1], image[3]};
  std::string weights = factors(weightShape, 8), weightZero = scalar("i8", 0);
  int64_t bias = between(-100000, 100000);
  std::string attributes =
      array("out_pad", pad) + ", " + array("stride", stride) + ", acc_type = ";
  std::string wide =
      op("cast", {in}, {tensorType(image, "i8")}, "", tensorType(image, "i16"));
  std::vector<std::string> sums;
  for (const auto &[source, codes, added] :
       {std::tuple(in, "i8", "i32"), std::tuple(wide, "i16", "i48")})
    sums.push_back(op("transpose_conv2d",
                      {source, weights,
                       constant({result[3]}, added, [bias] { return bias; }),
                       scalar(codes, 0), weightZero},
                      {tensorType(image, codes), tensorType(weightShape, "i8"),
                       tensorType({result[3]}, added), tensorType({1}, codes),
                       "tensor<1xi8>"},
                      attributes + added, tensorType(result, added)));
  // 2^14 * 2^-14: the same number in 32 bits.
  std::string type = tensorType(result, "i32");
  std::string narrowed =
      op("rescale",
         {sums[1], scalar("i16", 1 << 14), scalar("i8", 14), scalar("i48", 0),
          scalar("i32", 0)},
         {tensorType(result, "i48"), "tensor<1xi16>", "tensor<1xi8>",
          "tensor<1xi48>", "tensor<1xi32>"},
         "scale32 = false, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, "
         "per_channel = false, input_unsigned = false, output_unsigned = false",
         type);
  resultType = tensorType(result, "i1");
  return function(
      op("equal", {sums[0], narrowed}, {type, type}, "", resultType));
}

std::string Writer::matMul() {
  int64_t batch = between(1, 3), rows = between(1, 20), inner = channels(40),
          columns = channels(40);
  Sizes first{batch, rows, inner}, second{batch, inner, columns},
      result{batch, rows, columns};
  std::string a = input(first);
  std::string b = chance(50) ? input(second) : factors(second, 8);
  std::string aZero = scalar("i8", zeroPoint()),
              bZero = scalar("i8", chance(50) ? 0 : zeroPoint());
  std::string sum = op("matmul", {a, b, aZero, bZero},
                       {tensorType(first, "i8"), tensorType(second, "i8"),
                        "tensor<1xi8>", "tensor<1xi8>"},
                       "", tensorType(result, "i32"));
  return function(finish(sum, result));
}

/// Rescales, sums, clamps and tables of one shape.
std::string Writer::chain() {
  Sizes shape{1, between(1, 3), between(1, 500)};
  auto lookUp = [&](const std::string &value) {
    std::string table =
        constant({256}, "i8", [&] { return between(-128, 127); });
    return op("table", {value, table},
              {tensorType(shape, "i8"), "tensor<256xi8>"}, "",
              tensorType(shape, "i8"));
  };
  if (chance(15)) {
    resultType = tensorType(shape, "i8");
    return function(lookUp(input(shape)));
  }
  auto operand = [&] {
    std::string value = input(shape);
    if (chance(20))
      value = lookUp(value);
    if (chance(20))
      value = clamp(value, shape, "i8");
    value = rescale(value, shape, "i8", "i32", /*mayBePerChannel=*/false);
    if (chance(30))
      value = rescale(value, shape, "i32", "i32", /*mayBePerChannel=*/false);
    return value;
  };
  std::string type = tensorType(shape, "i32");
  std::string value = operand();
  for (int64_t terms = between(0, 2); terms != 0; --terms) {
    std::string other = operand();
    if (chance(30))
      std::swap(value, other);
    value =
        op(chance(70) ? "add" : "sub", {value, other}, {type, type}, "", type);
    if (chance(20))
      value = clamp(value, shape, "i32");
  }
  std::string element = chance(70) ? "i8" : chance(50) ? "i16" : "i32";
  value = rescale(value, shape, "i32", element, /*mayBePerChannel=*/false);
  if (chance(30))
    value = clamp(value, shape, element);
  resultType = tensorType(shape, element.c_str());
  return function(value);
}

std::string Writer::maximumPool() {
  Sizes image(4), result(4), kernel(2), stride(2), pad(4);
  image[0] = result[0] = between(1, 2);
  image[3] = result[3] = channels(40);
  for (int axis : {0, 1}) {
    do {
      kernel[axis] = between(1, 4);
      stride[axis] = between(1, 3);
      pad[2 * axis] = between(0, kernel[axis] - 1);
      pad[2 * axis + 1] = between(0, kernel[axis] - 1);
      result[1 + axis] = between(1, 9);
      image[1 + axis] = (result[1 + axis] - 1) * stride[axis] + kernel[axis] -
                        pad[2 * axis] - pad[2 * axis + 1];
    } while (image[1 + axis] < 1);
  }
  resultType = tensorType(result, "i8");
  return function(op("max_pool2d", {input(image)}, {tensorType(image, "i8")},
                     array("kernel", kernel) + ", " + array("stride", stride) +
                         ", " + array("pad", pad) +
                         ", nan_mode = #tosa.nan_mode<PROPAGATE>",
                     resultType));
}

class IntegerTest : public ExecutionTest {
protected:
  using Bytes = std::vector<char>;

  static Bytes run(const Executor &executor, const std::vector<Bytes> &inputs) {
    Worker worker(executor);
    llvm::SmallVector<const void *> inputPointers;
    for (const Bytes &input : inputs)
      inputPointers.push_back(input.data());
    const TensorSpec &spec = executor.outputs()[0];
    Bytes output(spec.type.getNumElements() *
                 getElementBytes(spec.type.getElementType()));
    llvm::cantFail(worker.run(inputPointers, {output.data()}, executor.unit()));
    return output;
  }

  /// `kernels`: how many calls of integer kernels it becomes.
  void expectSame(const std::string &text, size_t kernels, unsigned seed) {
    CompileOptions options;
    options.usePrimitives = false;
    auto loops = compile(text, options);
    auto made = compile(text);
    ASSERT_TRUE(loops && made) << text << llvm::join(diagnostics, "\n");
    EXPECT_EQ(made->primitives().size(), kernels) << text;
    ASSERT_EQ(loops->unit(), made->unit());
    std::mt19937 random(seed);
    // Anything, and the numbers that make the largest sums.
    for (int kind = 0; kind != 3; ++kind) {
      std::vector<Bytes> inputs;
      for (const TensorSpec &spec : made->inputs()) {
        Bytes &input =
            inputs.emplace_back(spec.type.getNumElements() *
                                getElementBytes(spec.type.getElementType()));
        for (char &byte : input)
          byte = kind == 0   ? char(random())
                 : kind == 1 ? char(-128)
                             : (random() % 2 ? char(127) : char(-128));
      }
      Bytes expected = run(*loops, inputs);
      for (InstructionSet set :
           {InstructionSet::Portable, InstructionSet::AVX2,
            InstructionSet::AVX512, InstructionSet::AVX512VNNI}) {
        if (!forceInstructionSetForTesting(set))
          continue;
        llvm::scope_exit restore(
            [] { forceInstructionSetForTesting(std::nullopt); });
        ASSERT_EQ(run(*made, inputs), expected)
            << "with instruction set " << int(set) << ", input " << kind << "\n"
            << text;
      }
    }
  }
};

TEST_F(IntegerTest, ConvolutionsComputeWhatTheLoweringComputes) {
  for (unsigned seed = 0; seed != 60 && !HasFatalFailure(); ++seed)
    expectSame(Writer(seed).convolution(), 1, seed);
}

TEST_F(IntegerTest, TransposeConvolutionsComputeWhatTheLoweringComputes) {
  for (unsigned seed = 0; seed != 12 && !HasFatalFailure(); ++seed)
    expectSame(Writer(seed).transposeConvolution(), 1, seed);
}

TEST_F(IntegerTest, TransposeConvolutionsOf16BitsAddTheProductsOf8Bits) {
  for (unsigned seed = 0; seed != 6 && !HasFatalFailure(); ++seed) {
    std::string text = Writer(seed).wideTransposeConvolution();
    auto made = compile(text);
    ASSERT_TRUE(made) << text << llvm::join(diagnostics, "\n");
    std::mt19937 random(seed);
    Bytes input(made->inputs()[0].type.getNumElements());
    for (char &byte : input)
      byte = char(random());
    for (char isEqual : run(*made, {input}))
      ASSERT_TRUE(isEqual) << text;
  }
}

TEST_F(IntegerTest, MatrixProductsComputeWhatTheLoweringComputes) {
  for (unsigned seed = 0; seed != 40 && !HasFatalFailure(); ++seed)
    expectSame(Writer(seed).matMul(), 1, seed);
}

TEST_F(IntegerTest, ChainsComputeWhatTheLoweringComputes) {
  for (unsigned seed = 0; seed != 80 && !HasFatalFailure(); ++seed)
    expectSame(Writer(seed).chain(), 0, seed);
}

TEST_F(IntegerTest, MaximumPoolsComputeWhatTheLoweringComputes) {
  for (unsigned seed = 0; seed != 20 && !HasFatalFailure(); ++seed)
    expectSame(Writer(seed).maximumPool(), 0, seed);
}

TEST_F(IntegerTest, ChainsAreNotCompiled) {
  auto made = compile(Writer(1).chain());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->numCompiledParts(), 0U);
}

} // namespace
