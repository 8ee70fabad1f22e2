// SPDX-License-Identifier: Apache-2.0
//
// Operators of several ops, in the forms in which importers write them, on a
// platform that defines every operator set.
#include "tpc_dialect/Lookup/Subgraphs.h"
#include "Fixture.h"
#include "TestPaths.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>

using namespace mct::tpc;
using namespace mlir;

using Names = std::vector<std::string>;

// The vocabulary of MCT 2.4, then what 2.6 added.
static constexpr StringRef kSetNames =
    "Conv DepthwiseConv2D ConvTranspose FullyConnected Concatenate Stack "
    "Unstack Gather Expend BatchNorm L2Norm ReLU ReLU6 LeakyReLU Elu HardTanh "
    "Add Sub Mul Div Min Max PReLU AddBias Swish Sigmoid Softmax LogSoftmax "
    "Tanh Gelu HardSigmoid HardSwish Flatten GetItem Reshape Unsqueeze Squeeze "
    "Permute Transpose Dropout SplitChunk MaxPool AvgPool Size Shape Equal "
    "ArgMax TopK FakeQuant CombinedNonMaxSuppression ZeroPadding2D Cast Resize "
    "Pad Fold StridedSlice SSDPostProcess Exp Sin Cos "
    "Take IndexSelect";

static constexpr StringRef kOwnSetNames[] = {"LayerNorm",     "RMSNorm",
                                             "GroupNorm",     "InstanceNorm",
                                             "GlobalAvgPool", "Mean"};

static SmallVector<StringRef> getSetNames() {
  SmallVector<StringRef> names;
  kSetNames.split(names, ' ');
  return names;
}

static std::string readSource(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(mct::testing::getSourcePath(path));
  EXPECT_TRUE(bool(file)) << path.str();
  return file ? (*file)->getBuffer().str() : std::string();
}

namespace {
class SubgraphTest : public LookupTest {
protected:
  SubgraphTest() {
    context.loadDialect<arith::ArithDialect, linalg::LinalgDialect,
                        tensor::TensorDialect>();
  }

  /// A module with a platform that defines all operator sets, the stock
  /// bindings and frameworks, and `function`.
  void parseForAllSets(StringRef function) {
    std::string sets;
    for (StringRef name : getSetNames())
      sets +=
          (sets.empty() ? "#tpc.operator_set<\"" : ", #tpc.operator_set<\"") +
          name.str() + "\">";
    parseWithTarget(
        R"(module attributes {tpc.target = @all} {
        tpc.platform @all default(#tpc.qc_options<[#tpc.op_quant_config<act_method = power_of_two, act_bits = 8,
          input_bits = [8], default_weight = #tpc.attr_quant_config<method = power_of_two, bits = 8>>]>)
          operator_sets [)" +
        sets + "]\n" + readSource("tpc_dialect/targets/tosa.mlir") +
        readSource("tpc_dialect/targets/linalg.mlir") + function.str() + "}");
  }

  /// The nodes of a function from `x`, with 1x4x4x2 elements, given as lines
  /// `RESULT = OP OPERAND...`. A number is a scalar constant, `table` one
  /// number for each channel; reductions run over the last axis. The last line
  /// is the result.
  Names matchLines(StringRef lines) {
    std::map<std::string, std::string> types = {{"x", "1x4x4x2xf32"}};
    std::string body =
        "%shift = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () "
        "-> tensor<1xi8>\n"
        "%table = \"tosa.const\"() <{values = dense<[[[[0.1, 0.3]]]]> : "
        "tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>\n";
    types["table"] = "1x1x1x2xf32";
    std::string last;
    for (StringRef line : llvm::split(lines, '\n')) {
      SmallVector<StringRef> words;
      line.trim().split(words, ' ', -1, /*KeepEmpty=*/false);
      if (words.empty())
        continue;
      last = words[0].str();
      StringRef op = words[2];
      std::string operands, operandTypes, type;
      for (StringRef word : ArrayRef(words).drop_front(3)) {
        double number;
        if (word.contains('{'))
          break;
        std::string name = word.str();
        if (!word.getAsDouble(number)) {
          name = "c" + std::to_string(types.size());
          types[name] = "1x1x1x1xf32";
          std::string value =
              word.contains('.') ? word.str() : word.str() + ".0";
          body += "%" + name + " = \"tosa.const\"() <{values = dense<" + value +
                  "> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>\n";
        }
        operands += (operands.empty() ? "%" : ", %") + name;
        operandTypes += (operandTypes.empty() ? "tensor<" : ", tensor<") +
                        types[name] + ">";
        // The shape of the result is the larger one, which is also the later
        // one in the alphabet.
        if (StringRef(types[name]).ends_with("f32"))
          type = std::max(type, types[name]);
      }
      if (op.starts_with("reduce"))
        type = "1x4x4x1xf32";
      if (op.starts_with("greater"))
        type = "1x4x4x2xi1";
      if (op == "mul") {
        operands += ", %shift";
        operandTypes += ", tensor<1xi8>";
      }
      std::string attributes;
      if (size_t brace = line.find('{'); brace != StringRef::npos)
        attributes = line.substr(brace).str();
      else if (op.starts_with("reduce"))
        attributes = "{axis = 3 : i32}";
      body += "%" + last + " = tosa." + op.str() + " " + operands + " " +
              attributes + " : (" + operandTypes + ") -> tensor<" + type +
              ">\n";
      types[last] = type;
    }
    std::string result = "tensor<" + types[last] + ">";
    parseForAllSets("func.func @main(%x: tensor<1x4x4x2xf32>) -> " + result +
                    " {\n" + body + "return %" + last + " : " + result + "\n}");
    return module ? describeAll() : Names();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static constexpr StringRef kRelu =
    "{min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32}";
static constexpr StringRef kNegative =
    "{min_val = -3.40282347E+38 : f32, max_val = 0.0 : f32}";

TEST_F(SubgraphTest, MaximumWithZeroIsReLU) {
  EXPECT_EQ(matchLines("y = maximum x 0"), Names({"ReLU(maximum)"}));
  EXPECT_EQ(matchLines("y = maximum x 1"), Names({"Max(maximum)"}));
}

TEST_F(SubgraphTest, SplitClampsAreReLU6AndHardTanh) {
  EXPECT_EQ(matchLines("c = clamp x " + kRelu.str() + "\n y = minimum c 6"),
            Names({"ReLU6(clamp minimum)"}));
  EXPECT_EQ(matchLines("m = maximum x 0\n y = minimum m 6"),
            Names({"ReLU6(maximum minimum)"}));
  EXPECT_EQ(matchLines("m = maximum x 0\n y = minimum m 1"),
            Names({"HardTanh(maximum minimum)"}));
  EXPECT_EQ(match().front().range.first, 0.0);
  // MCT knows no HardTanh with another lower bound.
  EXPECT_EQ(matchLines("m = maximum x -1\n y = minimum m 1"),
            Names({"Max(maximum)", "Min(minimum)"}));
}

TEST_F(SubgraphTest, LeakyReLUHasOneSlope) {
  EXPECT_EQ(matchLines("m = mul x 0.1\n y = maximum x m"),
            Names({"LeakyReLU(mul maximum)"}));
  EXPECT_EQ(matchLines("m = mul x 2.0\n y = maximum x m"),
            Names({"Mul(mul)", "Max(maximum)"}));
  EXPECT_EQ(
      matchLines("m = mul x 2.0\n c = greater_equal x 0\n y = select c x m"),
      Names({"LeakyReLU(mul greater_equal select)"}));
  EXPECT_EQ(matchLines("m = mul x 0.1\n c = greater 0 x\n y = select c m x"),
            Names({"LeakyReLU(mul greater select)"}));
  EXPECT_EQ(matchLines("p = maximum x 0\n n = minimum x 0\n m = mul n 0.1\n y "
                       "= add p m"),
            Names({"LeakyReLU(maximum minimum mul add)"}));
  EXPECT_EQ(matchLines("p = clamp x " + kRelu.str() + "\n n = clamp x " +
                       kNegative.str() + "\n m = mul n 0.1\n y = add p m"),
            Names({"LeakyReLU(clamp clamp mul add)"}));
}

TEST_F(SubgraphTest, PReLUHasATableOfSlopes) {
  EXPECT_EQ(
      matchLines("m = mul x table\n c = greater_equal x 0\n y = select c x m"),
      Names({"PReLU(mul greater_equal select)"}));
  EXPECT_EQ(matchLines("m = mul x table\n c = greater 0 x\n y = select c m x"),
            Names({"PReLU(mul greater select)"}));
  EXPECT_EQ(matchLines("p = clamp x " + kRelu.str() +
                       "\n n = minimum x 0\n m = mul n table\n y = add p m"),
            Names({"PReLU(clamp minimum mul add)"}));
}

TEST_F(SubgraphTest, SelectOfTheWrongSideIsNoLeakyReLU) {
  EXPECT_EQ(
      matchLines("m = mul x 0.1\n c = greater_equal x 0\n y = select c m x")
          .size(),
      3u);
}

TEST_F(SubgraphTest, EluOfBothImportersIsOneNode) {
  EXPECT_EQ(matchLines("e = exp x\n d = sub e 1\n c = greater_equal x 0\n y = "
                       "select c x d"),
            Names({"Elu(exp sub greater_equal select)"}));
  EXPECT_EQ(match().front().range.first, -1.0);
  EXPECT_EQ(matchLines(R"(p = maximum x 0
                          q = mul p 1
                          n = minimum x 0
                          i = mul n 1
                          e = exp i
                          d = sub e 1
                          s = mul d 1
                          m = mul s 1
                          y = add q m)"),
            Names({"Elu(maximum mul minimum mul exp sub mul mul add)"}));
}

// -1 is not the lower bound of 2 * (exp(x) - 1).
TEST_F(SubgraphTest, EluWithALargeScaleHasNoKnownRange) {
  EXPECT_EQ(matchLines("e = exp x\n d = sub e 1\n m = mul d 2.0\n c = "
                       "greater_equal x 0\n y = select c x m"),
            Names({"Elu(exp sub mul greater_equal select)"}));
  EXPECT_EQ(match().front().range.first, std::nullopt);
}

// scale * elu(x, alpha), with a scale that is not 1.
TEST_F(SubgraphTest, SeluIsNoElu) {
  EXPECT_GT(matchLines(R"(p = maximum x 0
                          q = mul p 1.0507
                          n = minimum x 0
                          e = exp n
                          d = sub e 1
                          m = mul d 1.7581
                          y = add q m)")
                .size(),
            1u);
}

TEST_F(SubgraphTest, GeluWithErrorFunctionIsOneNode) {
  EXPECT_EQ(matchLines(R"(s = mul x 0.70710678
                          e = erf s
                          a = add e 1
                          h = mul a 0.5
                          y = mul x h)"),
            Names({"Gelu(mul erf add mul mul)"}));
  EXPECT_EQ(match().front().range.first, -0.17);
  // torch-mlir standardizes with mean 0 first.
  EXPECT_EQ(matchLines(R"(z = sub x 0
                          s = mul z 0.70710678
                          e = erf s
                          a = add e 1
                          h = mul a 0.5
                          y = mul h x)"),
            Names({"Gelu(sub mul erf add mul mul)"}));
}

TEST_F(SubgraphTest, GeluWithTanhIsOneNode) {
  EXPECT_EQ(matchLines(R"(h = mul 0.5 x
                          c = pow x 3
                          k = mul c 0.044715
                          i = add x k
                          s = mul i 0.7978845608
                          t = tanh s
                          a = add 1 t
                          y = mul h a)"),
            Names({"Gelu(mul pow mul add mul tanh add mul)"}));
  EXPECT_EQ(matchLines(R"(q = mul x x
                          c = mul q x
                          k = mul c 0.044715
                          i = add x k
                          s = mul i 0.7978845608
                          t = tanh s
                          a = add 1 t
                          h = mul a 0.5
                          y = mul x h)"),
            Names({"Gelu(mul mul mul add mul tanh add mul mul)"}));
}

TEST_F(SubgraphTest, HardSigmoidOfAllImportersIsOneNode) {
  std::string sixth = "0.16666667";
  EXPECT_EQ(matchLines("a = add x 3\n m = mul a " + sixth +
                       "\n n = minimum m 1\n y = maximum n 0"),
            Names({"HardSigmoid(add mul minimum maximum)"}));
  EXPECT_EQ(match().front().range.second, 1.0);
  EXPECT_EQ(matchLines("a = add x 3\n r = reciprocal 6\n m = mul a r\n n = "
                       "minimum m 1\n y = maximum n 0"),
            Names({"HardSigmoid(add reciprocal mul minimum maximum)"}));
  EXPECT_EQ(
      matchLines(
          "a = add x 3\n c = clamp a {min_val = 0.0 : f32, max_val = 6.0 : "
          "f32}\n y = mul c " +
          sixth),
      Names({"HardSigmoid(add clamp mul)"}));
  // Keras 2.
  EXPECT_EQ(matchLines("m = mul x 0.2\n a = add m 0.5\n y = clamp a {min_val = "
                       "0.0 : f32, max_val = 1.0 : f32}"),
            Names({"HardSigmoid(mul add clamp)"}));
}

TEST_F(SubgraphTest, HardSwishIsLargerThanTheHardSigmoidInIt) {
  EXPECT_EQ(matchLines(R"(a = add x 3
                          c = clamp a {min_val = 0.0 : f32, max_val = 6.0 : f32}
                          m = mul c 0.16666667
                          y = mul x m)"),
            Names({"HardSwish(add clamp mul mul)"}));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

TEST_F(SubgraphTest, ProductWithAReciprocalIsADivision) {
  EXPECT_EQ(matchLines("e = exp x\n r = reciprocal e\n y = mul x r"),
            Names({"Exp(exp)", "Div(reciprocal mul)"}));
}

TEST_F(SubgraphTest, ReciprocalThatIsUsedTwiceIsNoDivision) {
  EXPECT_EQ(
      matchLines("e = exp x\n r = reciprocal e\n m = mul x r\n y = add m r"),
      Names({"Exp(exp)", "default(reciprocal)", "Mul(mul)", "Add(add)"}));
}

TEST_F(SubgraphTest, LogSoftmaxIsOneNode) {
  EXPECT_EQ(matchLines(R"(m = reduce_max x
                          d = sub x m
                          e = exp d
                          s = reduce_sum e
                          l = log s
                          y = sub d l)"),
            Names({"LogSoftmax(reduce_max sub exp reduce_sum log sub)"}));
}

TEST_F(SubgraphTest, L2NormOfBothImportersIsOneNode) {
  EXPECT_EQ(matchLines(R"(q = mul x x
                          s = reduce_sum q
                          m = maximum s 0.000001
                          r = rsqrt m
                          y = mul x r)"),
            Names({"L2Norm(mul reduce_sum maximum rsqrt mul)"}));
  EXPECT_EQ(matchLines(R"(q = mul x x
                          s = reduce_sum q
                          i = rsqrt s
                          n = reciprocal i
                          m = maximum n 0.000001
                          r = reciprocal m
                          y = mul x r)"),
            Names({"L2Norm(mul reduce_sum rsqrt reciprocal maximum reciprocal "
                   "mul)"}));
}

TEST_F(SubgraphTest, BatchNormOfTorchExportIsOneNode) {
  EXPECT_EQ(matchLines(R"(d = sub x table
                          v = add table 0.001
                          p = pow v 0.5
                          r = reciprocal p
                          n = mul d r
                          g = mul n table
                          y = add g table)"),
            Names({"BatchNorm(sub add pow reciprocal mul mul add)"}));
}

TEST_F(SubgraphTest, SumWithATableIsABias) {
  EXPECT_EQ(matchLines("y = add x table"), Names({"AddBias(add)"}));
  EXPECT_EQ(matchLines("y = add x 3"), Names({"Add(add)"}));
}

//===----------------------------------------------------------------------===//
// Moving data
//===----------------------------------------------------------------------===//

static constexpr StringRef kShapes = R"(
  %s22 = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s12 = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s00 = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s2 = tosa.const_shape {values = dense<2> : tensor<1xindex>} : () -> !tosa.shape<1>
  %s4 = tosa.const_shape {values = dense<4> : tensor<1xindex>} : () -> !tosa.shape<1>
)";

TEST_F(SubgraphTest, ConcatenationAndItsSplittingIsAStack) {
  std::string text =
      ("func.func @main(%x: tensor<2xf32>) -> tensor<2x2xf32> {" + kShapes + R"(
    %e = tosa.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    %c = tosa.concat %x, %e {axis = 0 : i32} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %y = tosa.reshape %c, %s22 : (tensor<4xf32>, !tosa.shape<2>) -> tensor<2x2xf32>
    return %y : tensor<2x2xf32>
    })")
          .str();
  parseForAllSets(text);
  EXPECT_EQ(describeAll(), Names({"Exp(exp)", "Stack(concat reshape)"}));
}

// Three pieces of two become two rows of three: no row is an input.
TEST_F(SubgraphTest, ConcatenationAndAnotherReshapeIsNoStack) {
  parseForAllSets(R"(func.func @main(%x: tensor<2xf32>) -> tensor<2x3xf32> {
    %s = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %c = tosa.concat %x, %x, %x {axis = 0 : i32} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32>
    %y = tosa.reshape %c, %s : (tensor<6xf32>, !tosa.shape<2>) -> tensor<2x3xf32>
    return %y : tensor<2x3xf32>
    })");
  EXPECT_EQ(describeAll(), Names({"Concatenate(concat)", "Flatten(reshape)"}));
}

TEST_F(SubgraphTest, ConcatenationOfRowsIsAStackOfAnyNumber) {
  std::string head =
      ("func.func @main(%x: tensor<2xf32>) -> tensor<3x2xf32> {" + kShapes +
       R"(
    %e = tosa.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    %t = tosa.tanh %x : (tensor<2xf32>) -> tensor<2xf32>
    %a = tosa.reshape %x, %s12 : (tensor<2xf32>, !tosa.shape<2>) -> tensor<1x2xf32>
    %b = tosa.reshape %e, %s12 : (tensor<2xf32>, !tosa.shape<2>) -> tensor<1x2xf32>
    )")
          .str();
  std::string tail = R"(
    %y = tosa.concat %a, %b, %c {axis = 0 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
    return %y : tensor<3x2xf32>
    })";
  parseForAllSets(head + R"(
    %c = tosa.reshape %t, %s12 : (tensor<2xf32>, !tosa.shape<2>) -> tensor<1x2xf32>)" +
                  tail);
  EXPECT_EQ(describeAll(), Names({"Exp(exp)", "Tanh(tanh)",
                                  "Stack(reshape reshape reshape concat)"}));
  // One piece that is made otherwise.
  parseForAllSets(head + R"(
    %c = tosa.exp %b : (tensor<1x2xf32>) -> tensor<1x2xf32>)" +
                  tail);
  EXPECT_EQ(describeAll(),
            Names({"Exp(exp)", "Tanh(tanh)", "Flatten(reshape)",
                   "Flatten(reshape)", "Exp(exp)", "Concatenate(concat)"}));
}

TEST_F(SubgraphTest, SliceWithoutItsAxisIsOneResultOfAnUnstack) {
  parseForAllSets(("func.func @main(%x: tensor<2x2xf32>) -> tensor<2xf32> {" +
                   kShapes +
                   R"(
    %a = tosa.slice %x, %s00, %s12 : (tensor<2x2xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x2xf32>
    %y = tosa.reshape %a, %s2 : (tensor<1x2xf32>, !tosa.shape<1>) -> tensor<2xf32>
    return %y : tensor<2xf32>
    })")
                      .str());
  EXPECT_EQ(describeAll(), Names({"Unstack(slice reshape)"}));
}

TEST_F(SubgraphTest, SliceThatIsFlattenedIsNoUnstack) {
  parseForAllSets(("func.func @main(%x: tensor<4x2xf32>) -> tensor<4xf32> {" +
                   kShapes +
                   R"(
    %a = tosa.slice %x, %s00, %s22 : (tensor<4x2xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x2xf32>
    %y = tosa.reshape %a, %s4 : (tensor<2x2xf32>, !tosa.shape<1>) -> tensor<4xf32>
    return %y : tensor<4xf32>
    })")
                      .str());
  EXPECT_EQ(describeAll(), Names({"SplitChunk(slice)", "Flatten(reshape)"}));
}

TEST_F(SubgraphTest, SliceWithNegativeStrideReversesFirst) {
  parseForAllSets(("func.func @main(%x: tensor<2x2xf32>) -> tensor<1x2xf32> {" +
                   kShapes +
                   R"(
    %r = tosa.reverse %x {axis = 0 : i32} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %y = tosa.slice %r, %s00, %s12 : (tensor<2x2xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x2xf32>
    return %y : tensor<1x2xf32>
    })")
                      .str());
  EXPECT_EQ(describeAll(), Names({"StridedSlice(reverse slice)"}));
}

TEST_F(SubgraphTest, SliceWithStrideTwoTakesTheFirstOfEachPair) {
  parseForAllSets(
      ("func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {" + kShapes + R"(
    %s21 = tosa.const_shape {values = dense<[2, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %r = tosa.reshape %x, %s22 : (tensor<4xf32>, !tosa.shape<2>) -> tensor<2x2xf32>
    %a = tosa.slice %r, %s00, %s21 : (tensor<2x2xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x1xf32>
    %y = tosa.reshape %a, %s2 : (tensor<2x1xf32>, !tosa.shape<1>) -> tensor<2xf32>
    return %y : tensor<2xf32>
    })")
          .str());
  EXPECT_EQ(describeAll(), Names({"StridedSlice(reshape slice reshape)"}));
}

TEST_F(SubgraphTest, BlocksThatMoveToTheBatchAreAFold) {
  std::string text =
      R"(func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<4x2x2x2xf32> {
    %s6 = tosa.const_shape {values = dense<[1, 2, 2, 2, 2, 2]> : tensor<6xindex>} : () -> !tosa.shape<6>
    %s4 = tosa.const_shape {values = dense<[4, 2, 2, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %r = tosa.reshape %x, %s6 : (tensor<1x4x4x2xf32>, !tosa.shape<6>) -> tensor<1x2x2x2x2x2xf32>
    %t = tosa.transpose %r {perms = array<i32: 2, 4, 0, 1, 3, 5>} : (tensor<1x2x2x2x2x2xf32>) -> tensor<2x2x1x2x2x2xf32>
    %y = tosa.reshape %t, %s4 : (tensor<2x2x1x2x2x2xf32>, !tosa.shape<4>) -> tensor<4x2x2x2xf32>
    return %y : tensor<4x2x2x2xf32>
    })";
  parseForAllSets(text);
  EXPECT_EQ(describeAll(), Names({"Fold(reshape transpose reshape)"}));
}

//===----------------------------------------------------------------------===//
// linalg
//===----------------------------------------------------------------------===//

TEST_F(SubgraphTest, ConvolutionsOfLinalgHaveTheirKernelAxes) {
  struct Case {
    StringRef op, input, kernel, result, set;
    SmallVector<int64_t> outAxes;
  };
  const Case cases[] = {
      {"conv_2d_nhwc_fhwc", "1x4x4x2", "8x3x3x2", "1x2x2x8", "Conv", {0}},
      {"conv_2d_nhwc_hwcf", "1x4x4x2", "3x3x2x8", "1x2x2x8", "Conv", {3}},
      {"conv_2d_nchw_fchw", "1x2x4x4", "8x2x3x3", "1x8x2x2", "Conv", {0}},
      {"depthwise_conv_2d_nhwc_hwc",
       "1x4x4x2",
       "3x3x2",
       "1x2x2x2",
       "DepthwiseConv2D",
       {2}},
      {"depthwise_conv_2d_nhwc_hwcm",
       "1x4x4x2",
       "3x3x2x1",
       "1x2x2x2x1",
       "DepthwiseConv2D",
       {2, 3}},
  };
  for (const Case &test : cases) {
    std::string input = ("tensor<" + test.input + "xf32>").str(),
                kernel = ("tensor<" + test.kernel + "xf32>").str(),
                result = ("tensor<" + test.result + "xf32>").str();
    parseForAllSets(
        "func.func @main(%x: " + input + ") -> " + result +
        " {\n%k = arith.constant dense<1.0> : " + kernel +
        "\n%z = arith.constant 0.0 : f32\n%e = tensor.empty() : " + result +
        "\n%f = linalg.fill ins(%z : f32) outs(%e : " + result + ") -> " +
        result + "\n%y = linalg." + test.op.str() +
        " {dilations = dense<1> : tensor<2xi64>, strides = "
        "dense<1> : tensor<2xi64>} ins(%x, %k : " +
        input + ", " + kernel + ") outs(%f : " + result + ") -> " + result +
        "\nreturn %y : " + result + "\n}");
    SmallVector<Node> nodes = match();
    // Storage and what fills it are no operators that are quantized.
    ASSERT_EQ(nodes.size(), 3u) << test.op.str();
    EXPECT_FALSE(nodes[0].info.getQuantize());
    EXPECT_FALSE(nodes[1].info.getQuantize());
    EXPECT_EQ(nodes[2].operatorSet.getValue(), test.set) << test.op.str();
    ASSERT_TRUE(nodes[2].weights) << test.op.str();
    EXPECT_EQ(nodes[2].weights.getAs<IntegerAttr>(kKernelWeight).getInt(), 1);
    EXPECT_EQ(nodes[2].info.getOutAxes(), ArrayRef<int64_t>(test.outAxes))
        << test.op.str();
  }
}

static constexpr StringRef kSquare =
    R"(func.func @main(%x: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %k = arith.constant dense<0.0> : tensor<4x4xf32>
    %b = arith.constant dense<1.0> : tensor<4xf32>
    %e = tensor.empty() : tensor<4x4xf32>
)";

TEST_F(SubgraphTest, MatmulOfLinalgWithConstantIsFullyConnected) {
  parseForAllSets((kSquare + R"(
    %m = linalg.matmul ins(%x, %k : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %w = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [0]
    %y = linalg.add ins(%m, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
    })")
                      .str());
  SmallVector<Node> nodes = match();
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(describe(nodes[1]), "FullyConnected(matmul broadcast add)");
  EXPECT_EQ(nodes[1].kernelOp, nodes[1].ops.front());
  ASSERT_TRUE(nodes[1].weights);
  EXPECT_EQ(nodes[1].weights.getAs<IntegerAttr>(kKernelWeight).getInt(), 1);
}

TEST_F(SubgraphTest, MatmulOfLinalgWithTwoActivationsIsNone) {
  parseForAllSets((kSquare + R"(
    %y = linalg.matmul ins(%x, %z : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
    })")
                      .str());
  EXPECT_EQ(describeAll().back(), "default(matmul)");
}

TEST_F(SubgraphTest, ElementwiseOpsOfLinalgAreTheirSets) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"add", "Add"}, {"sub", "Sub"}, {"mul", "Mul"},
      {"div", "Div"}, {"max", "Max"}, {"min", "Min"}};
  for (auto [op, set] : cases) {
    parseForAllSets(
        (kSquare + "%y = linalg." + op +
         R"( ins(%x, %z : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
    })")
            .str());
    EXPECT_EQ(describeAll().back(), (set + "(" + op + ")").str());
  }
  parseForAllSets((kSquare + R"(
    %m = linalg.max ins(%k, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = linalg.tanh ins(%m : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
    })")
                      .str());
  EXPECT_EQ(describeAll(),
            Names({"default(empty)", "ReLU(max)", "Tanh(tanh)"}));
}

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

/// Returns the part of a README between `<!-- NAME -->` and the next comment.
static std::string getBlock(const std::string &text, const std::string &name) {
  std::string begin = "<!-- " + name + " -->\n";
  size_t from = text.find(begin);
  EXPECT_NE(from, std::string::npos) << name;
  if (from == std::string::npos)
    return {};
  from += begin.size();
  return text.substr(from, text.find("<!--", from) - from);
}

TEST_F(SubgraphTest, EverySetIsBoundOrListedInTheReadme) {
  parseForAllSets("");
  std::string readme = getBlock(readSource("tpc_dialect/README.md"), "unbound");
  for (auto binding : module->getOps<BindingOp>()) {
    llvm::StringSet<> named;
    std::string unbound;
    for (auto entry : binding.getEntries().getAsRange<OpsOfAttr>()) {
      named.insert(entry.getSet().getValue());
      if (entry.getPatterns().empty())
        unbound += (unbound.empty() ? "" : ", ") + entry.getSet().str();
    }
    for (StringRef set : getSetNames())
      EXPECT_TRUE(named.contains(set)) << set.str();
    // Ours, of which MCT has no word, are bound without exception.
    for (const auto &name : named.keys())
      EXPECT_TRUE(llvm::is_contained(getSetNames(), name) ||
                  llvm::is_contained(kOwnSetNames, name))
          << name.str();
    EXPECT_NE(readme.find("| " + unbound + " |"), std::string::npos)
        << binding.getSymName().str() << ": " << unbound;
  }
}

//===----------------------------------------------------------------------===//
// Tags
//===----------------------------------------------------------------------===//

TEST_F(SubgraphTest, TagOverridesMatching) {
  std::string text =
      R"(func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %g = tosa.sigmoid %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %y = tosa.mul %x, %g, %s TAG : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<1xi8>) -> tensor<2x4xf32>
    return %y : tensor<2x4xf32>
    })";
  auto tagged = [&](const std::string &tag) {
    std::string copy = text;
    return copy.replace(copy.find("TAG"), 3, tag);
  };
  parseForAllSets(tagged(""));
  EXPECT_EQ(describeAll(), Names({"Swish(sigmoid mul)"}));
  parseForAllSets(tagged("{tpc.set = \"Gelu\"}"));
  EXPECT_EQ(describeAll(), Names({"Sigmoid(sigmoid)", "Gelu(mul)"}));
  EXPECT_FALSE(match().back().pattern);
}

TEST_F(SubgraphTest, TaggedOpKeepsItsWeights) {
  parseForAllSets(
      R"(func.func @main(%x: tensor<1x1x1x4xf32>) -> tensor<1x1x1x3xf32> {
    %k = "tosa.const"() <{values = dense<1.0> : tensor<3x1x1x4xf32>}> : () -> tensor<3x1x1x4xf32>
    %b = "tosa.const"() <{values = dense<1.0> : tensor<3xf32>}> : () -> tensor<3xf32>
    %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %y = tosa.conv2d %x, %k, %b, %z, %z {tpc.set = "Conv", acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x4xf32>, tensor<3x1x1x4xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x3xf32>
    return %y : tensor<1x1x1x3xf32>
    })");
  SmallVector<Node> nodes = match();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(describe(nodes[0]), "Conv(conv2d)");
  ASSERT_TRUE(nodes[0].weights);
  EXPECT_EQ(nodes[0].weights.getAs<IntegerAttr>(kKernelWeight).getInt(), 1);
  EXPECT_EQ(nodes[0].weights.getAs<IntegerAttr>(kBiasWeight).getInt(), 2);
}
