// SPDX-License-Identifier: Apache-2.0
//
// Quantizers do what they say of themselves.
#include "mct/Quantization/Lut.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Json/TpcJson.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace mct;
using quantization::Rounding;
using tpc::QuantizerAttrInterface;

namespace {
constexpr StringLiteral kLookupTable =
    "#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.5, 0.25], "
    "table = [-90, -20, 0, 64], bits = 2>";
/// One of each kind, with the toy quantizer that LogarithmicQuantizer.cpp adds.
constexpr StringLiteral kQuantizers[] = {
    "#tpc.power_of_two<threshold = [2.0], bits = 3>",
    "#tpc.power_of_two<threshold = [4.0, 0.5], bits = 2, is_signed = false>",
    "#tpc.symmetric<threshold = [1.5, 0.25, 3.0], bits = 4>",
    "#tpc.symmetric<threshold = [1.3], bits = 8, is_signed = false>",
    "#tpc.uniform<scale = [0.75], zero_point = [5], bits = 3>",
    "#tpc.uniform<scale = [0.3, 0.01], zero_point = [0, 255], bits = 8>",
    kLookupTable,
    "#toy.logarithmic<[2.0, 0.3], 3>",
    "#toy.logarithmic<[1.0], 2 unsigned>"};

class Quantizers : public testing::Test {
protected:
  Quantizers() {
    DialectRegistry registry;
    registry.insert<tpc::TpcDialect>();
    mlirGetDialectPluginInfo().registerDialectRegistryCallbacks(&registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  QuantizerAttrInterface parse(StringRef text) {
    auto quantizer = dyn_cast_or_null<QuantizerAttrInterface>(
        parseAttribute(text, &context));
    EXPECT_TRUE(quantizer) << text.str();
    return quantizer;
  }

  static std::vector<float> run(QuantizerAttrInterface quantizer,
                                size_t channel, ArrayRef<float> values) {
    auto channels = int64_t(quantizer.getNumChannels());
    auto length = int64_t(values.size());
    std::vector<float> input, output(size_t(channels * length));
    for (int64_t i = 0; i != channels; ++i)
      input.insert(input.end(), values.begin(), values.end());
    quantizer.fakeQuantize({channels, length}, {0}, input.data(),
                           output.data());
    auto begin = output.begin() + int64_t(channel) * length;
    return {begin, begin + length};
  }

  std::string typeOf(StringRef text, ArrayRef<int64_t> axes) {
    std::string printed;
    llvm::raw_string_ostream os(printed);
    if (Type type =
            parse(text).getQuantizedType(Float32Type::get(&context), axes))
      os << type;
    return printed;
  }

  MLIRContext context;
};

TEST_F(Quantizers, LevelsAreWhatComesOut) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 2);
  for (StringRef text : kQuantizers) {
    QuantizerAttrInterface quantizer = parse(text);
    for (size_t channel = 0; channel != quantizer.getNumChannels(); ++channel) {
      SmallVector<float> levels = quantizer.getLevels(channel);
      EXPECT_EQ(run(quantizer, channel, levels),
                std::vector<float>(levels.begin(), levels.end()))
          << text.str();
      EXPECT_LE(levels.size(), size_t(1) << quantizer.getBits());
      std::vector<float> values;
      for (int i = 0; i != 1000; ++i)
        values.push_back(normal(random));
      std::vector<float> output = run(quantizer, channel, values);
      for (auto [value, level] : llvm::zip_equal(values, output)) {
        ASSERT_TRUE(llvm::is_contained(levels, level)) << text.str();
        // No other level is nearer, by more than the roundings of the kernels.
        for (float other : levels)
          ASSERT_LE(std::abs(value - level),
                    std::abs(value - other) + 1e-6f * std::abs(value))
              << text.str();
      }
    }
  }
}

TEST_F(Quantizers, RoundingsDifferAtTiesAlone) {
  // Steps are powers of two, or three quarters: every tie is exact.
  for (StringRef text :
       {"#tpc.power_of_two<threshold = [2.0], bits = 3>",
        "#tpc.power_of_two<threshold = [4.0], bits = 2, is_signed = false>",
        "#tpc.symmetric<threshold = [0.25], bits = 4>"}) {
    QuantizerAttrInterface even = parse(text);
    ASSERT_EQ(even.getRoundingMode(), Rounding::HalfToEven);
    QuantizerAttrInterface up = even.withRoundingMode(Rounding::HalfUp);
    ASSERT_EQ(up.getRoundingMode(), Rounding::HalfUp);
    EXPECT_EQ(up.withRoundingMode(Rounding::HalfToEven), even);
    SmallVector<float> levels = even.getLevels(0);
    int64_t first = even.getGrids().front().qmin;
    for (size_t i = 0; i + 1 != levels.size(); ++i) {
      float tie = (levels[i] + levels[i + 1]) / 2;
      float toEven = (first + int64_t(i)) % 2 ? levels[i + 1] : levels[i];
      EXPECT_EQ(run(up, 0, tie).front(), levels[i + 1]) << text.str();
      EXPECT_EQ(run(even, 0, tie).front(), toEven) << text.str();
      float below = std::nextafter(tie, -8.0f),
            above = std::nextafter(tie, 8.0f);
      for (QuantizerAttrInterface quantizer : {even, up}) {
        EXPECT_EQ(run(quantizer, 0, below).front(), levels[i]) << text.str();
        EXPECT_EQ(run(quantizer, 0, above).front(), levels[i + 1])
            << text.str();
      }
    }
  }
}

TEST_F(Quantizers, TablesRoundByTheirOwnRule) {
  QuantizerAttrInterface table = parse(kQuantizers[6]);
  EXPECT_EQ(table.getRoundingMode(), std::nullopt);
  EXPECT_FALSE(table.withRoundingMode(Rounding::HalfUp));
}

TEST_F(Quantizers, ScalingCommutesWithQuantizing) {
  std::vector<float> values;
  for (int i = -400; i != 400; ++i)
    values.push_back(float(i) * 0.01f);
  for (StringRef text : kQuantizers) {
    QuantizerAttrInterface quantizer = parse(text);
    for (double factor : {4.0, 0.5}) {
      QuantizerAttrInterface scaled = quantizer.scaledBy(factor);
      if (!scaled) {
        EXPECT_FALSE(quantizer.takesFactors()) << text.str();
        continue;
      }
      std::vector<float> large;
      for (float value : values)
        large.push_back(value * float(factor));
      for (size_t channel = 0; channel != quantizer.getNumChannels();
           ++channel) {
        std::vector<float> expected = run(quantizer, channel, values);
        for (float &value : expected)
          value *= float(factor);
        EXPECT_EQ(run(scaled, channel, large), expected) << text.str();
      }
    }
  }
  EXPECT_EQ(parse("#tpc.symmetric<threshold = [1.5, 0.25], bits = 4>")
                .scaledBy({3.0, 0.1}),
            parse("#tpc.symmetric<threshold = [4.5, 0.025], bits = 4>"));
  EXPECT_FALSE(parse(kQuantizers[0]).scaledBy(3.0));
  EXPECT_FALSE(parse(kQuantizers[0]).takesFactors());
  EXPECT_TRUE(parse(kQuantizers[2]).takesFactors());
  EXPECT_TRUE(parse(kQuantizers[4]).takesFactors());
}

TEST_F(Quantizers, OtherThresholds) {
  QuantizerAttrInterface powerOfTwo = parse(kQuantizers[0]);
  EXPECT_EQ(powerOfTwo.withThresholds(8.0),
            parse("#tpc.power_of_two<threshold = [8.0], bits = 3>"));
  EXPECT_FALSE(powerOfTwo.withThresholds(3.0));
  EXPECT_EQ(parse(kQuantizers[6]).withThresholds(0.3),
            parse("#tpc.lookup_table<method = lut_sym_quantizer, threshold = "
                  "[0.3], table = [-90, -20, 0, 64], bits = 2>"));
  EXPECT_FALSE(parse(kQuantizers[6]).withThresholds(-1.0));
  QuantizerAttrInterface uniform = parse(kQuantizers[4]);
  EXPECT_TRUE(uniform.getThresholds().empty());
  EXPECT_FALSE(uniform.withThresholds(1.0));
}

TEST_F(Quantizers, UpstreamTypes) {
  EXPECT_EQ(typeOf("#tpc.power_of_two<threshold = [4.0], bits = 8>", {}),
            "!quant.uniform<i8:f32, 3.125000e-02>");
  EXPECT_EQ(typeOf("#tpc.power_of_two<threshold = [4.0], bits = 8, "
                   "is_signed = false>",
                   {}),
            "!quant.uniform<u8:f32, 1.562500e-02>");
  EXPECT_EQ(typeOf("#tpc.symmetric<threshold = [1.0, 0.5], bits = 4>", 3),
            "!quant.uniform<i4:f32:3, {1.250000e-01,6.250000e-02}>");
  EXPECT_EQ(
      typeOf("#tpc.uniform<scale = [0.5], zero_point = [7], bits = 8>", {}),
      "!quant.uniform<u8:f32, 5.000000e-01:7>");
  // Channels on two axes, and levels that are not evenly spaced.
  EXPECT_EQ(typeOf("#tpc.symmetric<threshold = [1.0, 0.5], bits = 4>", {0, 2}),
            "");
  EXPECT_EQ(typeOf(kQuantizers[6], 0), "");
  EXPECT_EQ(typeOf("#toy.logarithmic<[1.0], 3>", {}), "");
}

TEST_F(Quantizers, MethodsNameTheirSearch) {
  auto method = [&](StringRef text) {
    return parse(text).getQuantizationMethod();
  };
  EXPECT_EQ(method(kQuantizers[0]).getMethodName(), "power_of_two");
  EXPECT_EQ(method(kQuantizers[6]).getMethodName(), "lut_sym_quantizer");
  EXPECT_EQ(method(kQuantizers[2]).getGridSearch(),
            quantization::QuantizationMethod::Symmetric);
  EXPECT_EQ(method(kQuantizers[2]).getTableSearch(), std::nullopt);
  EXPECT_EQ(method(kQuantizers[6]).getGridSearch(), std::nullopt);
  EXPECT_EQ(method(kQuantizers[6]).getTableSearch(),
            quantization::QuantizationMethod::LutSymmetric);
  EXPECT_EQ(method(kQuantizers[7]).getMethodName(), "#toy.logarithmic");
  EXPECT_EQ(method(kQuantizers[7]).getGridSearch(), std::nullopt);
  EXPECT_EQ(method(kQuantizers[7]).getTableSearch(), std::nullopt);
  EXPECT_EQ(llvm::toString(tpc::detail::cannotSelect(method(kQuantizers[7]),
                                                     "activations")),
            "asks for the method #toy.logarithmic, which has no selection of "
            "parameters for activations");
}

TEST_F(Quantizers, McTsJsonHasNoNumberForAMethodOfAnotherDialect) {
  auto module = parseSourceString<ModuleOp>(R"mlir(
    #w = #tpc.attr_quant_config<method = #toy.logarithmic, bits = 3, enabled = true>
    #a = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight = #w>
    tpc.platform @p type("p") version 1, 0 default(#tpc.qc_options<[#a]>) operator_sets []
  )mlir",
                                            &context);
  ASSERT_TRUE(module);
  std::string error, text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error = diagnostic.str();
    return success();
  });
  llvm::raw_string_ostream os(text);
  EXPECT_TRUE(failed(tpc::exportTpcJson(
      *module->getOps<tpc::PlatformOp>().begin(), os, /*schema=*/2)));
  EXPECT_EQ(error, "'tpc.platform' op asks for the method #toy.logarithmic, "
                   "which MCT's JSON has no number for");
  EXPECT_EQ(text, "");
}
} // namespace
