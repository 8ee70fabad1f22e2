// SPDX-License-Identifier: Apache-2.0
//
// Operators that are known by their formula: in the spellings of importers, and
// in random ones.
#include "Fixture.h"
#include "TestPaths.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <random>

using namespace mct::tpc;
using namespace mlir;

using Names = std::vector<std::string>;

namespace {

/// The text of a function from x.
class Text {
public:
  explicit Text(const std::string &shape) : shape(shape) {
    types["x"] = shape + "xf32";
  }

  std::string number(double value, StringRef shapeOfOnes,
                     StringRef element = "f32") {
    return constant("dense<" + std::to_string(value) + ">",
                    (shapeOfOnes + "x" + element).str());
  }
  /// A constant with different elements.
  std::string table(const std::string &shape, int64_t elements, int seed = 0) {
    std::string bytes;
    for (int64_t i = 0; i != elements; ++i) {
      float value = 0.5f + 0.125f * float((i + seed) % 7);
      for (size_t byte = 0; byte != sizeof(float); ++byte) {
        char digits[3];
        snprintf(digits, sizeof(digits), "%02X",
                 reinterpret_cast<unsigned char *>(&value)[byte]);
        bytes += digits;
      }
    }
    return constant("dense<\"0x" + bytes + "\">", shape + "xf32");
  }
  std::string op(StringRef name, const std::vector<std::string> &operands,
                 const std::string &type, const std::string &attributes = "") {
    std::string result = "v" + std::to_string(types.size());
    std::string list, typeList;
    for (const std::string &operand : operands) {
      list += (list.empty() ? "%" : ", %") + operand;
      typeList +=
          (typeList.empty() ? "tensor<" : ", tensor<") + types[operand] + ">";
    }
    if (name == "mul") {
      list += ", %shift";
      typeList += ", tensor<1xi8>";
    }
    body += "%" + result + " = tosa." + name.str() + " " + list + " " +
            attributes + " : (" + typeList + ") -> tensor<" + type + ">\n";
    types[result] = type;
    return result;
  }
  std::string reshape(const std::string &operand, std::string shape,
                      const std::string &element = "f32") {
    std::string sizes = shape;
    size_t rank = 1 + std::count(shape.begin(), shape.end(), 'x');
    for (size_t at; (at = sizes.find('x')) != std::string::npos;)
      sizes.replace(at, 1, ", ");
    std::string name = "s" + std::to_string(types.size());
    types[name] = "";
    body += "%" + name + " = tosa.const_shape {values = dense<[" + sizes +
            "]> : tensor<" + std::to_string(rank) +
            "xindex>} : () -> !tosa.shape<" + std::to_string(rank) + ">\n";
    std::string result = "v" + std::to_string(types.size());
    body += "%" + result + " = tosa.reshape %" + operand + ", %" + name +
            " : (tensor<" + types[operand] + ">, !tosa.shape<" +
            std::to_string(rank) + ">) -> tensor<" + shape + "x" + element +
            ">\n";
    types[result] = shape + "x" + element;
    return result;
  }
  std::string reduce(const std::string &operand, int axis,
                     const std::string &type, StringRef how = "reduce_sum") {
    return op(how, {operand}, type,
              "{axis = " + std::to_string(axis) + " : i32}");
  }
  std::string type(const std::string &value) { return types[value]; }

  std::string function(const std::vector<std::string> &results) {
    std::string values, valueTypes;
    for (const std::string &result : results) {
      values += (values.empty() ? "%" : ", %") + result;
      valueTypes +=
          (valueTypes.empty() ? "tensor<" : ", tensor<") + types[result] + ">";
    }
    return "func.func @main(%x: tensor<" + shape + "xf32>) -> (" + valueTypes +
           ") {\n%shift = \"tosa.const\"() <{values = dense<0> : "
           "tensor<1xi8>}> : () -> tensor<1xi8>\n" +
           body + "return " + values + " : " + valueTypes + "\n}";
  }

private:
  std::string constant(const std::string &values, const std::string &type) {
    std::string result = "c" + std::to_string(types.size());
    body += "%" + result + " = \"tosa.const\"() <{values = " + values +
            " : tensor<" + type + ">}> : () -> tensor<" + type + ">\n";
    types[result] = type;
    return result;
  }

  std::string shape, body;
  std::map<std::string, std::string> types;
};

class FormulaTest : public LookupTest {
protected:
  /// The nodes of the function on a platform that names LayerNorm, Gelu,
  /// Softmax, Add and Mul, without the reshapes around them.
  Names nodesOf(const std::string &function) {
    auto file = llvm::MemoryBuffer::getFile(
        mct::testing::getSourcePath("tpc_dialect/targets/tosa.mlir"));
    std::string sets;
    for (StringRef name : {"LayerNorm", "Gelu", "Softmax", "Add", "Mul"})
      sets +=
          (sets.empty() ? "#tpc.operator_set<\"" : ", #tpc.operator_set<\"") +
          name.str() + "\">";
    parseWithTarget(
        R"(module attributes {tpc.target = @chip} {
        tpc.platform @chip default(#tpc.qc_options<[#tpc.op_quant_config<act_method = power_of_two, act_bits = 8,
          input_bits = [8], default_weight = #tpc.attr_quant_config<method = power_of_two, bits = 8>>]>)
          operator_sets [)" +
        sets + "]\n" + (*file)->getBuffer().str() + function + "}");
    Names names;
    if (!module)
      return names;
    // A spelling may make what it does not use.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body())))
      if (isOpTriviallyDead(&op))
        op.erase();
    for (const Node &node : match()) {
      std::string text = describe(node);
      if (!StringRef(text).starts_with("default(reshape"))
        names.push_back(StringRef(text).split('(').first.str());
    }
    return names;
  }
  Names nodesOf(Text &text, const std::vector<std::string> &results) {
    return nodesOf(text.function(results));
  }
};

/// A layer norm over the last axis of 1x6x8 in one of very many spellings.
class Spelling {
public:
  explicit Spelling(unsigned seed) : random(seed), text("1x6x8") {}

  Text &write(std::string &result, bool isCentered = true) {
    bool usesDouble = choose(3) == 0;
    std::string wide = usesDouble ? "f64" : "f32";
    std::string x = usesDouble ? text.op("cast", {"x"}, full("f64")) : "x";
    std::string average = isCentered ? mean(x, wide) : "";
    std::string centered = !isCentered ? "x"
                           : choose(2) ? difference(x, average, wide)
                                       : "";
    // E[(x - E[x])^2], or E[x^2] - E[x]^2 as Keras has it.
    std::string variance;
    if (!isCentered || choose(2)) {
      std::string base = isCentered ? (!centered.empty() && choose(2)
                                           ? centered
                                           : difference(x, average, wide))
                                    : x;
      variance = mean(square(base, full(wide), wide), wide);
    } else {
      std::string squares = mean(square(x, full(wide), wide), wide);
      variance = text.op("sub", {squares, square(average, thin(wide), wide)},
                         thin(wide));
      if (choose(2))
        variance = either("maximum", variance, text.number(0, "1x1x1", wide),
                          thin(wide));
    }
    if (usesDouble)
      variance = text.op("cast", {variance}, thin("f32"));
    if (usesDouble && isCentered) {
      average = choose(2) ? mean("x", "f32")
                          : text.op("cast", {average}, thin("f32"));
      centered = "";
    }
    std::string sum =
        either("add", variance, text.number(1e-5, "1x1x1"), thin("f32"));
    std::string inverse = inverseRoot(sum);
    std::string gamma = text.table("1x1x8", 8, 1);
    std::string beta = text.table("1x1x8", 8, 3);
    bool hasScale = choose(3) != 0, hasShift = choose(3) != 0;
    if (isCentered && choose(3) == 0) {
      // x * s + (b - mean * s), as the TensorFlow converter has it.
      std::string s = inverse;
      if (hasScale)
        s = either("mul", inverse, gamma, full("f32"));
      std::string plain = either("mul", "x", s, full("f32"));
      std::string moved =
          either("mul", average, s, hasScale ? full("f32") : thin("f32"));
      if (!hasShift) {
        result = text.op("sub", {plain, moved}, full("f32"));
        return text;
      }
      std::string offset = text.op("sub", {beta, moved}, full("f32"));
      result = either("add", plain, offset, full("f32"));
      return text;
    }
    if (isCentered && (centered.empty() || choose(2)))
      centered = difference("x", average, "f32");
    if (hasScale && choose(2)) {
      std::string s = either("mul", inverse, gamma, full("f32"));
      result = either("mul", centered, s, full("f32"));
    } else {
      result = either("mul", centered, inverse, full("f32"));
      if (hasScale)
        result = either("mul", result, gamma, full("f32"));
    }
    if (hasShift)
      result = either("add", result, beta, full("f32"));
    return text;
  }

private:
  unsigned choose(unsigned choices) { return random() % choices; }
  std::string full(const std::string &element) { return "1x6x8x" + element; }
  std::string thin(const std::string &element) { return "1x6x1x" + element; }
  std::string either(StringRef op, const std::string &lhs,
                     const std::string &rhs, const std::string &type) {
    return choose(2) ? text.op(op, {lhs, rhs}, type)
                     : text.op(op, {rhs, lhs}, type);
  }
  std::string square(const std::string &value, const std::string &type,
                     const std::string &element) {
    return choose(2) ? text.op("mul", {value, value}, type)
                     : text.op("pow", {value, text.number(2, "1x1x1", element)},
                               type);
  }
  std::string mean(std::string value, const std::string &element) {
    std::string eighth =
        choose(2) ? text.number(0.125, "1x1x1", element)
                  : text.op("reciprocal", {text.number(8, "1x1x1", element)},
                            "1x1x1x" + element);
    if (choose(4) == 0) {
      value = either("mul", value, eighth, full(element));
      return text.reduce(value, 2, thin(element));
    }
    value = text.reduce(value, 2, thin(element));
    if (choose(3) == 0) {
      value = text.reshape(value, "1x6", element);
      value = either("mul", value, text.number(0.125, "1x1", element),
                     "1x6x" + element);
      return text.reshape(value, "1x6x1", element);
    }
    return either("mul", value, eighth, thin(element));
  }
  std::string difference(const std::string &x, const std::string &average,
                         const std::string &element) {
    if (choose(4))
      return text.op("sub", {x, average}, full(element));
    std::string negative = either(
        "mul", average, text.number(-1, "1x1x1", element), thin(element));
    return either("add", x, negative, full(element));
  }
  std::string inverseRoot(const std::string &sum) {
    switch (choose(4)) {
    case 0:
      return text.op("rsqrt", {sum}, thin("f32"));
    case 1:
      return text.op("pow", {sum, text.number(-0.5, "1x1x1")}, thin("f32"));
    case 2:
      return text.op(
          "reciprocal",
          {text.op("pow", {sum, text.number(0.5, "1x1x1")}, thin("f32"))},
          thin("f32"));
    default: {
      // The root as v * rsqrt(v).
      std::string inverse = text.op("rsqrt", {sum}, thin("f32"));
      std::string root = either("mul", sum, inverse, thin("f32"));
      return text.op("reciprocal", {root}, thin("f32"));
    }
    }
  }

  std::mt19937 random;
  Text text;
};
} // namespace

TEST_F(FormulaTest, LayerNormIsOneOperatorInEverySpelling) {
  for (unsigned seed = 0; seed != 300; ++seed) {
    std::string result;
    Spelling spelling(seed);
    Text &text = spelling.write(result);
    ASSERT_EQ(nodesOf(text, {result}), Names({"LayerNorm"}))
        << "seed " << seed << "\n"
        << text.function({result});
  }
}

TEST_F(FormulaTest, RmsNormIsOneOperatorInEverySpelling) {
  for (unsigned seed = 0; seed != 100; ++seed) {
    std::string result;
    Spelling spelling(seed);
    Text &text = spelling.write(result, /*isCentered=*/false);
    ASSERT_EQ(nodesOf(text, {result}), Names({"rms_norm"}))
        << "seed " << seed << "\n"
        << text.function({result});
  }
}

// Another factor of the mean, or the mean of fewer elements, is no layer norm.
TEST_F(FormulaTest, WhatIsNoLayerNorm) {
  auto build = [&](double ofMean, double ofVariance, const char *root) {
    Text text("1x6x8");
    std::string thin = "1x6x1xf32", full = "1x6x8xf32";
    auto mean = [&](const std::string &value, double factor) {
      return text.op(
          "mul", {text.reduce(value, 2, thin), text.number(factor, "1x1x1")},
          thin);
    };
    std::string centered = text.op("sub", {"x", mean("x", ofMean)}, full);
    std::string variance =
        mean(text.op("mul", {centered, centered}, full), ofVariance);
    std::string sum =
        text.op("add", {variance, text.number(1e-5, "1x1x1")}, thin);
    std::string result =
        text.op("mul", {centered, text.op(root, {sum}, thin)}, full);
    return nodesOf(text, {result});
  };
  EXPECT_EQ(build(0.125, 0.125, "rsqrt"), Names({"LayerNorm"}));
  // Over n - 1.
  EXPECT_EQ(build(0.125, 1.0 / 7, "rsqrt"), Names({"LayerNorm"}));
  EXPECT_FALSE(llvm::is_contained(build(0.25, 0.125, "rsqrt"), "LayerNorm"));
  EXPECT_FALSE(
      llvm::is_contained(build(0.125, 0.125, "reciprocal"), "LayerNorm"));
}

TEST_F(FormulaTest, NormWhoseDeviationIsReadElsewhereIsNotWhole) {
  Text text("1x6x8");
  std::string thin = "1x6x1xf32", full = "1x6x8xf32";
  std::string eighth = text.number(0.125, "1x1x1");
  std::string average =
      text.op("mul", {text.reduce("x", 2, thin), eighth}, thin);
  std::string centered = text.op("sub", {"x", average}, full);
  std::string variance =
      text.op("mul",
              {text.reduce(text.op("mul", {centered, centered}, full), 2, thin),
               eighth},
              thin);
  std::string inverse = text.op("rsqrt", {variance}, thin);
  std::string result = text.op("mul", {centered, inverse}, full);
  EXPECT_EQ(nodesOf(text, {result}), Names({"LayerNorm"}));
  EXPECT_FALSE(
      llvm::is_contained(nodesOf(text, {result, inverse}), "LayerNorm"));
  EXPECT_FALSE(
      llvm::is_contained(nodesOf(text, {result, average}), "LayerNorm"));
}

TEST_F(FormulaTest, InstanceNormOfBothLayouts) {
  for (bool channelsLast : {true, false}) {
    Text text(channelsLast ? "1x4x4x3" : "1x3x4x4");
    std::string thin = channelsLast ? "1x1x1x3xf32" : "1x3x1x1xf32";
    std::string full =
        (channelsLast ? "1x4x4x3" : "1x3x4x4") + std::string("xf32");
    std::string half = channelsLast ? "1x1x4x3xf32" : "1x3x1x4xf32";
    int axis = channelsLast ? 1 : 2;
    std::string part = text.number(1.0 / 16, "1x1x1x1");
    auto mean = [&](const std::string &value) {
      return text.op(
          "mul",
          {text.reduce(text.reduce(value, axis, half), axis + 1, thin), part},
          thin);
    };
    std::string centered = text.op("sub", {"x", mean("x")}, full);
    std::string variance = mean(text.op("mul", {centered, centered}, full));
    std::string inverse = text.op(
        "rsqrt",
        {text.op("add", {variance, text.number(1e-3, "1x1x1x1")}, thin)}, thin);
    std::string scaled = text.op("mul", {centered, inverse}, full);
    std::string result = text.op(
        "mul", {scaled, text.table(channelsLast ? "1x1x1x3" : "1x3x1x1", 3)},
        full);
    EXPECT_EQ(nodesOf(text, {result}), Names({"instance_norm"}));
  }
}

TEST_F(FormulaTest, GroupNormScalesAfterAReshape) {
  Text text("1x4x4x6");
  std::string groups = text.reshape("x", "1x2x48");
  std::string thin = "1x2x1xf32", full = "1x2x48xf32";
  std::string part = text.number(1.0 / 48, "1x1x1");
  auto mean = [&](const std::string &value) {
    return text.op("mul", {text.reduce(value, 2, thin), part}, thin);
  };
  std::string average = mean(groups);
  std::string centered = text.op("sub", {groups, average}, full);
  std::string variance = mean(text.op("mul", {centered, centered}, full));
  std::string inverse = text.op(
      "rsqrt", {text.op("add", {variance, text.number(1e-3, "1x1x1")}, thin)},
      thin);
  std::string normal = text.op("mul", {centered, inverse}, full);
  std::string back = text.reshape(normal, "1x4x4x6");
  std::string scaled =
      text.op("mul", {back, text.table("1x1x1x6", 6)}, "1x4x4x6xf32");
  std::string result =
      text.op("add", {text.table("1x1x1x6", 6, 2), scaled}, "1x4x4x6xf32");
  EXPECT_EQ(nodesOf(text, {result}), Names({"group_norm"}));
}

TEST_F(FormulaTest, MeanOverTheImageInTwoSteps) {
  Text text("1x4x4x3");
  std::string sum =
      text.reduce(text.reduce("x", 1, "1x1x4x3xf32"), 2, "1x1x1x3xf32");
  std::string flat = text.reshape(sum, "1x3");
  std::string result =
      text.op("mul", {text.number(1.0 / 16, "1x1"), flat}, "1x3xf32");
  EXPECT_EQ(nodesOf(text, {result}), Names({"global_avg_pool"}));
  // A sum is no mean.
  Text other("1x4x4x3");
  sum = other.reduce(other.reduce("x", 1, "1x1x4x3xf32"), 2, "1x1x1x3xf32");
  result = other.op("mul", {other.number(0.3, "1x1x1x1"), sum}, "1x1x1x3xf32");
  EXPECT_EQ(nodesOf(other, {result}), Names({"default", "default", "Mul"}));
}

TEST_F(FormulaTest, MeanOverOneAxis) {
  Text text("1x6x8");
  std::string sum = text.reduce("x", 1, "1x1x8xf32");
  std::string result =
      text.op("mul", {sum, text.number(1.0 / 6, "1x1x1")}, "1x1x8xf32");
  EXPECT_EQ(nodesOf(text, {result}), Names({"mean"}));
}

// 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), multiplied in
// every order.
TEST_F(FormulaTest, GeluWithTanhInEverySpelling) {
  for (unsigned choice = 0; choice != 64; ++choice) {
    Text text("1x6x8");
    std::string full = "1x6x8xf32";
    auto number = [&](double value) { return text.number(value, "1x1x1"); };
    auto either = [&](unsigned bit, StringRef op, const std::string &lhs,
                      const std::string &rhs) {
      return choice >> bit & 1 ? text.op(op, {lhs, rhs}, full)
                               : text.op(op, {rhs, lhs}, full);
    };
    std::string cube;
    if (choice & 1)
      cube = either(1, "mul", number(0.044715),
                    text.op("pow", {"x", number(3)}, full));
    else
      // tf2onnx of Keras.
      cube = either(
          1, "mul", "x",
          either(2, "mul", "x", either(3, "mul", number(0.044715), "x")));
    std::string inner = either(4, "add", "x", cube);
    std::string t =
        text.op("tanh", {either(5, "mul", number(0.7978845608), inner)}, full);
    std::string sum = either(1, "add", t, number(1));
    std::string result;
    if (choice & 2)
      result = either(3, "mul", "x", either(2, "mul", sum, number(0.5)));
    else if (choice & 4)
      result = either(3, "mul", either(0, "mul", number(0.5), "x"), sum);
    else
      result = either(0, "mul", number(0.5), either(3, "mul", "x", sum));
    ASSERT_EQ(nodesOf(text, {result}), Names({"Gelu"}))
        << text.function({result});
  }
}

TEST_F(FormulaTest, GeluWithErrorFunctionOfAQuotient) {
  Text text("1x6x8");
  std::string full = "1x6x8xf32";
  // x / sqrt(2)
  std::string s =
      text.op("mul",
              {"x", text.op("reciprocal", {text.number(1.4142135, "1x1x1")},
                            "1x1x1xf32")},
              full);
  std::string e = text.op("erf", {s}, full);
  std::string a = text.op("add", {text.number(1, "1x1x1"), e}, full);
  std::string m = text.op("mul", {"x", a}, full);
  std::string result = text.op("mul", {m, text.number(0.5, "1x1x1")}, full);
  EXPECT_EQ(nodesOf(text, {result}), Names({"Gelu"}));
  Text other("1x6x8");
  e = other.op("erf", {"x"}, full);
  a = other.op("add", {other.number(1, "1x1x1"), e}, full);
  m = other.op("mul", {"x", a}, full);
  result = other.op("mul", {m, other.number(0.5, "1x1x1")}, full);
  EXPECT_FALSE(llvm::is_contained(nodesOf(other, {result}), "Gelu"));
}

// tf2onnx bounds the maximum from below and drops its axis for that;
// torch.export makes zeros of rows that are masked as a whole.
TEST_F(FormulaTest, SoftmaxOfAnAttention) {
  Text text("1x6x8");
  std::string thin = "1x6x1xf32", full = "1x6x8xf32";
  std::string largest =
      text.reshape(text.reduce("x", 2, thin, "reduce_max"), "1x6");
  largest =
      text.op("maximum", {largest, text.number(-3.4e38, "1x1")}, "1x6xf32");
  std::string d = text.op("sub", {"x", text.reshape(largest, "1x6x1")}, full);
  std::string e = text.op("exp", {d}, full);
  std::string inverse = text.op("reciprocal", {text.reduce(e, 2, thin)}, thin);
  std::string result = text.op("mul", {inverse, e}, full);
  EXPECT_EQ(nodesOf(text, {result}), Names({"Softmax"}));
  std::string masked = text.op("reduce_all",
                               {text.op("equal",
                                        {text.op("cast", {"x"}, "1x6x8xf64"),
                                         text.number(-1e300, "1x1x1", "f64")},
                                        "1x6x8xi1")},
                               "1x6x1xi1", "{axis = 2 : i32}");
  result = text.op("select", {masked, text.number(0, "1x6x8"), result}, full);
  EXPECT_EQ(nodesOf(text, {result}), Names({"Softmax"}));
}

TEST_F(FormulaTest, SoftmaxWithoutAMaximum) {
  Text text("1x6x8");
  std::string thin = "1x6x1xf32", full = "1x6x8xf32";
  std::string e = text.op("exp", {"x"}, full);
  std::string inverse = text.op("reciprocal", {text.reduce(e, 2, thin)}, thin);
  EXPECT_EQ(nodesOf(text, {text.op("mul", {e, inverse}, full)}),
            Names({"Softmax"}));
}

// A value that very many ops read, and a very long chain: both are left after
// as many ops as a formula may have.
TEST_F(FormulaTest, LongChainsAreNoFormulas) {
  Text text("1x6x8");
  std::string full = "1x6x8xf32", value = "x";
  for (int i = 0; i != 2000; ++i) {
    value = text.op("tanh", {value}, full);
    value = text.op("add", {value, "x"}, full);
  }
  EXPECT_EQ(nodesOf(text, {value}).size(), 4000u);
}
