// SPDX-License-Identifier: Apache-2.0
//
// Effects of points in the report, against networks that are made by taking
// points out of a module, and run as a whole.
#include "mct/Report/Effects.h"
#include "../Execution/Fixture.h"
#include "../Execution/RandomNetworks.h"
#include "mct/Evaluation/Evaluation.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Planning/OperatorPoints.h"
#include "mct/Support/Npy.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <map>
#include <mutex>

using namespace mct;
using namespace mct::support;
using namespace mct::execution;
using namespace mct::report;

namespace {

/// Results of the function, one after the other, of each sample.
using Results = std::vector<std::vector<Floats>>;

class EffectsTest : public ExecutionTest {
protected:
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    auto parsed = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(parsed) << llvm::join(diagnostics, "\n");
    return parsed;
  }

  /// The network in which only these points quantize, with the corrections of
  /// these kernels alone.
  mlir::OwningOpRef<mlir::ModuleOp>
  with(mlir::ModuleOp quantized, const llvm::StringSet<> &points,
       const llvm::StringSet<> &corrected = {}) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = quantized.clone();
    KernelOps kernels = KernelOps::forModule(*copy);
    mlir::OpBuilder builder(&context);
    std::vector<KernelOp> layers;
    copy->walk([&](mlir::Operation *op) {
      if (auto layer = kernels.get(op))
        layers.push_back(*layer);
    });
    for (const KernelOp &layer : layers)
      if (layer.getCorrections() &&
          !corrected.contains(layer.getKernelPoint().getUniqueName()))
        takeBack(layer, builder);
    copy->walk([&](tpc::QuantizeOp point) {
      if (!points.contains(point.getUniqueName()))
        point.removeQuantizer();
    });
    return copy;
  }

  /// Takes the correction of a layer back, whose kernel keeps its quantizer:
  /// that of a kernel with a factor is wider by as much without it.
  void takeBack(const KernelOp &layer, mlir::OpBuilder &builder) {
    tpc::QuantizeOp point = layer.getKernelPoint();
    auto quantizer = point.getParametersAttr();
    double scale = layer.getCorrections().getKernelScale().front();
    layer.takeBackCorrections(builder);
    if (auto power = mlir::dyn_cast_or_null<tpc::PowerOfTwoAttr>(quantizer);
        power && scale != 1)
      quantizer = tpc::PowerOfTwoAttr::get(
          &context, {power.getThreshold().front() / scale}, power.getBits(),
          power.getIsSigned(), power.getRounding());
    point.setParametersAttr(quantizer);
  }

  llvm::StringSet<> pointsOf(mlir::ModuleOp module) {
    llvm::StringSet<> names;
    module.walk([&](tpc::QuantizeOp point) {
      if (point.getParametersAttr())
        names.insert(point.getUniqueName());
    });
    return names;
  }

  /// `samples` of every input, all the same for a seed.
  RunSettings makeSettings(mlir::ModuleOp module, int64_t samples,
                           unsigned threads = 2, int64_t batch = 0) {
    RunSettings settings;
    settings.run.threads = support::Threads(threads);
    settings.run.batchSize = batch;
    mlir::OwningOpRef<mlir::ModuleOp> named = module.clone();
    auto function = *findEntryFunction(*named, "");
    assignNames(function);
    data.clear();
    for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
      llvm::SmallVector<int64_t> shape(
          mlir::cast<mlir::RankedTensorType>(type).getShape());
      shape[0] = samples;
      data.push_back(randomFloats(elementCount(shape), 100 + unsigned(number)));
      settings.samples.tensors.push_back(
          {getName(function.getArgument(unsigned(number))).str(),
           viewArray("input", ElementType::F32, shape, data.back().data())});
    }
    return settings;
  }

  Results run(mlir::ModuleOp module, const RunSettings &settings) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
    std::map<int64_t, Results> units;
    std::mutex mutex;
    EvaluationOptions options;
    options.onUnitDone = [&](const UnitResults &unit) {
      Results own;
      for (int64_t sample = 0; sample != unit.unit.validSamples; ++sample) {
        own.emplace_back();
        for (auto [spec, data] : llvm::zip(unit.specs, unit.unit.outputs)) {
          int64_t count = spec.type.getNumElements() / unit.unitSize;
          auto *floats = static_cast<const float *>(data) + sample * count;
          own.back().emplace_back(floats, floats + count);
        }
      }
      std::lock_guard<std::mutex> lock(mutex);
      units[unit.unit.index] = own;
      return llvm::Error::success();
    };
    EXPECT_TRUE(mlir::succeeded(evaluate(*copy, nullptr, settings, options)))
        << llvm::join(diagnostics, "\n");
    Results all;
    for (auto &[number, unit] : units)
      all.insert(all.end(), unit.begin(), unit.end());
    return all;
  }

  /// Returns the distance of mct-measure-sensitivity: KL of rows that are
  /// distributions, or the squared error over the energy; the mean over the
  /// results.
  static double distance(const Results &floats, const Results &found, bool kl) {
    double total = 0;
    size_t results = floats.front().size();
    for (size_t result = 0; result != results; ++result) {
      double sum = 0, scale = 0;
      for (size_t sample = 0; sample != floats.size(); ++sample)
        for (size_t i = 0; i != floats[sample][result].size(); ++i) {
          double p = floats[sample][result][i], q = found[sample][result][i];
          sum += kl ? p * std::log(p / q) : (p - q) * (p - q);
          scale += kl ? 0 : p * p;
        }
      total += sum / (kl ? double(floats.size()) : scale);
    }
    return total / double(results);
  }

  /// Names of points and operators, nothing else.
  static Report describe(mlir::ModuleOp module) {
    Report report;
    for (const OperatorPoints &of :
         findOperatorPoints(*findEntryFunction(module, ""))) {
      Operator &added = report.operators.emplace_back();
      added.name = of.name.str();
      for (tpc::QuantizeOp point : of.points) {
        added.points.push_back(point.getUniqueName());
        Point &own = report.points.emplace_back();
        own.name = point.getUniqueName();
        own.weight = point.getWeight().value_or("").str();
      }
    }
    return report;
  }

  Report measure(mlir::ModuleOp quantized, mlir::ModuleOp floating,
                 const RunSettings &settings, int64_t effectSamples = 0,
                 const std::string &labels = "") {
    Report report = describe(quantized);
    EffectOptions options;
    options.effectSamples = effectSamples;
    options.labelsFile = labels;
    EXPECT_TRUE(mlir::succeeded(measureEffects(quantized, KernelOps(quantized),
                                               floating, nullptr, settings,
                                               options, report)))
        << llvm::join(diagnostics, "\n");
    return report;
  }

  static std::string toText(const Report &report) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::json::OStream json(stream, 1);
    print(json, report);
    return text;
  }

  std::vector<Floats> data;
};

std::string quantizer(double threshold, unsigned bits) {
  return llvm::formatv(
      " parameters(#tpc.power_of_two<threshold = [{0}], bits = {1}, is_signed "
      "= true>)",
      llvm::formatv("{0:e}", threshold), bits);
}

/// A network with a shortcut. Points on its argument, on every kernel, on a
/// bias, on a constant that is added, and on what is made; the first layer was
/// rounded, the others got other biases. `isSoftmax`: the result is a
/// distribution; else there are two results.
std::string branched(bool isSoftmax) {
  const char *convolution =
      " {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, "
      "1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, "
      "tensor<3x3x3x3xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> "
      "tensor<1x4x4x3xf32>";
  const std::string image = "tensor<1x4x4x3xf32>",
                    kernel = "tensor<3x3x3x3xf32>";
  std::string floats(81 * sizeof(float), '\0');
  Floats rounded = randomFloats(81, 3);
  std::memcpy(floats.data(), rounded.data(), floats.size());
  for (float &value : rounded)
    value += 0.05f;
  // Results that are no certainties.
  Floats small = randomFloats(48 * 48, 5);
  for (float &value : small)
    value /= 16;
  std::string text =
      "func.func @main(%x: " + image + " loc(\"x\")) -> (" +
      (isSoftmax ? "tensor<1x48xf32>" : image + ", tensor<1x48xf32>") +
      ") {\n" + kZero + constant("k1", {3, 3, 3, 3}, rounded) +
      constant("k2", {3, 3, 3, 3}, 4) + constant("k3", {1, 48, 48}, small) +
      constant("b1", {3}, 6) + constant("b2", {3}, 7) +
      constant("b3", {1, 1, 48}, 8) + constant("c", {1, 1, 1, 3}, 9) +
      "%shape = tosa.const_shape {values = dense<[1, 1, 48]> : "
      "tensor<3xindex>} : () -> !tosa.shape<3>\n"
      "%flat = tosa.const_shape {values = dense<[1, 48]> : "
      "tensor<2xindex>} : () -> !tosa.shape<2>\n";
  text += "%xq = tpc.quantize %x as \"x\" activation" + quantizer(1, 4) +
          " : " + image + "\n";
  text += "%w1 = tpc.quantize %k1 as \"one\" weight \"kernel\" axes [0] "
          "parameters(#tpc.symmetric<threshold = [1.0, 0.9, 0.8], bits = 4>) "
          "corrections(#tpc.corrections<applied = [\"rounded_weights\"], "
          "bias_offset = [0.25, -0.125, 0.0625], kernel_scale = [1.0], kernel "
          "= dense<\"0x" +
          llvm::toHex(floats) + "\"> : " + kernel + ">) : " + kernel + "\n";
  text += "%w2 = tpc.quantize %k2 as \"two\" weight \"kernel\" axes []" +
          quantizer(1, 3) +
          " corrections(#tpc.corrections<applied = [\"quantized_network\"], "
          "bias_offset = [0.5, 0.125, -0.25], kernel_scale = [0.5]>) : " +
          kernel + "\n";
  text += "%v2 = tpc.quantize %b2 as \"two\" weight \"bias\" axes []" +
          quantizer(2, 5) + " : tensor<3xf32>\n";
  text += "%w3 = tpc.quantize %k3 as \"three\" weight \"kernel\" axes []" +
          quantizer(0.0625, 4) +
          " corrections(#tpc.corrections<applied = [\"quantized_network\"], "
          "bias_offset = [";
  for (int channel = 0; channel != 48; ++channel)
    text +=
        (channel ? ", " : "") + llvm::formatv("{0:f6}", channel / 256.0).str();
  text += "], kernel_scale = [1.0]>) : tensor<1x48x48xf32>\n";
  text += "%cq = tpc.quantize %c as \"sum\" weight \"pos_attr\" axes []" +
          quantizer(1, 2) + " : tensor<1x1x1x3xf32>\n";
  text += "%0 = tosa.conv2d %xq, %w1, %b1, %zero, %zero" +
          std::string(convolution) + " loc(\"conv1\")\n" +
          "%1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (" +
          image + ") -> " + image + " loc(\"one\")\n" +
          "%q1 = tpc.quantize %1 as \"one\" activation" + quantizer(4, 4) +
          " : " + image + "\n" +
          "%2 = tosa.conv2d %q1, %w2, %v2, %zero, %zero" + convolution +
          " loc(\"two\")\n" + "%q2 = tpc.quantize %2 as \"two\" activation" +
          quantizer(8, 5) + " : " + image + "\n" +
          "%3 = tosa.add %q2, %q1 : (" + image + ", " + image + ") -> " +
          image + " loc(\"add\")\n" + "%4 = tosa.add %3, %cq : (" + image +
          ", tensor<1x1x1x3xf32>) -> " + image + " loc(\"sum\")\n" +
          "%q4 = tpc.quantize %4 as \"sum\" activation" + quantizer(8, 4) +
          " : " + image + "\n" + "%5 = tosa.reshape %q4, %shape : (" + image +
          ", !tosa.shape<3>) -> tensor<1x1x48xf32>\n"
          "%6 = tosa.matmul %5, %w3, %zero, %zero : (tensor<1x1x48xf32>, "
          "tensor<1x48x48xf32>, tensor<1xf32>, tensor<1xf32>) -> "
          "tensor<1x1x48xf32>\n"
          "%7 = tosa.add %6, %b3 : (tensor<1x1x48xf32>, tensor<1x1x48xf32>) -> "
          "tensor<1x1x48xf32> loc(\"three\")\n"
          "%q7 = tpc.quantize %7 as \"three\" activation" +
          quantizer(4, 5) + " : tensor<1x1x48xf32>\n" +
          "%8 = tosa.reshape %q7, %flat : (tensor<1x1x48xf32>, "
          "!tosa.shape<2>) -> tensor<1x48xf32>\n";
  if (!isSoftmax)
    return text + "return %q4, %8 : " + image + ", tensor<1x48xf32>\n}";
  return text +
         "%9 = tosa.exp %8 : (tensor<1x48xf32>) -> tensor<1x48xf32>\n"
         "%10 = tosa.reduce_sum %9 {axis = 1 : i32} : (tensor<1x48xf32>) -> "
         "tensor<1x1xf32>\n"
         "%11 = tosa.reciprocal %10 : (tensor<1x1xf32>) -> tensor<1x1xf32>\n"
         "%s = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () -> "
         "tensor<1xi8>\n"
         "%12 = tosa.mul %9, %11, %s : (tensor<1x48xf32>, tensor<1x1xf32>, "
         "tensor<1xi8>) -> tensor<1x48xf32>\n"
         "return %12 : tensor<1x48xf32>\n}";
}

// Each point alone, everything but it, and the points of each operator: what
// networks made for that and run as a whole show.
TEST_F(EffectsTest, EffectsAreThoseOfNetworksWithoutTheOtherPoints) {
  for (bool isSoftmax : {true, false}) {
    auto quantized = parse(branched(isSoftmax));
    ASSERT_TRUE(quantized);
    llvm::StringSet<> all = pointsOf(*quantized);
    EXPECT_EQ(all.size(), 10u);
    auto floating = with(*quantized, {});
    RunSettings settings = makeSettings(*quantized, 37);
    Report report = measure(*quantized, *floating, settings);
    EXPECT_EQ(report.noEffectsReason, "");
    EXPECT_EQ(report.metric, isSoftmax ? "kl" : "mse");
    EXPECT_EQ(report.effectSamples, 37);
    Results floats = run(*floating, settings);
    auto distanceWith = [&](const llvm::StringSet<> &points) {
      return distance(floats, run(*with(*quantized, points), settings),
                      isSoftmax);
    };
    double whole = distanceWith(all);
    llvm::StringSet<> kernels;
    for (const CorrectionEffect &effect : report.corrections)
      if (!effect.isWhole)
        kernels.insert(effect.layers.front());
    EXPECT_EQ(kernels.size(), 3u);
    // Sums of float32 in another order.
    auto expectNear = [&](double found, double expected,
                          const std::string &what) {
      EXPECT_NEAR(found, expected, 1e-4 * expected + 1e-9) << what;
    };
    expectNear(report.uncorrectedDistance, whole, "all");
    expectNear(report.distance,
               distance(floats, run(*quantized, settings), isSoftmax),
               "with corrections");
    for (const CorrectionEffect &effect : report.corrections) {
      llvm::StringSet<> others = kernels;
      for (const std::string &layer : effect.layers)
        others.erase(layer);
      expectNear(effect.without,
                 distance(floats, run(*with(*quantized, all, others), settings),
                          isSoftmax),
                 "without the correction of " + effect.layers.front());
      EXPECT_NEAR(effect.loss, report.distance - effect.without,
                  1e-9 + 1e-9 * report.distance);
    }
    auto check = [&](const std::optional<Effect> &effect,
                     llvm::ArrayRef<std::string> names,
                     const std::string &what) {
      ASSERT_TRUE(effect) << what;
      llvm::StringSet<> own, others;
      for (const std::string &name : names)
        own.insert(name);
      for (const auto &name : all)
        if (!own.contains(name.getKey()))
          others.insert(name.getKey());
      expectNear(effect->own, distanceWith(own), what + " alone");
      expectNear(effect->without, distanceWith(others), "without " + what);
      EXPECT_DOUBLE_EQ(effect->gain,
                       report.uncorrectedDistance - effect->without);
      EXPECT_GT(effect->own, 1e-6) << what;
    };
    for (const Point &point : report.points)
      check(point.effect, point.name, point.name);
    size_t several = 0;
    for (const Operator &of : report.operators) {
      check(of.effect, of.points, "operator " + of.name);
      several += of.points.size() > 1;
    }
    EXPECT_EQ(several, 4u);
    // None of 48 elements alone is the score of a class in an image.
    EXPECT_EQ(report.points.front().effect->agreement.has_value(), isSoftmax);
  }
}

// A probability that is made 0 has no divergence: distances are
// those of the network that does not quantize its result.
TEST_F(EffectsTest, DistributionsAreComparedBeforeTheyAreQuantized) {
  std::string text = branched(true);
  const std::string end = "return %12";
  text.replace(text.find(end), end.size(),
               "%p = tpc.quantize %12 as \"p\" activation" + quantizer(1, 3) +
                   " : tensor<1x48xf32>\nreturn %p");
  auto quantized = parse(text), plain = parse(branched(true));
  ASSERT_TRUE(quantized && plain);
  auto floating = with(*plain, {});
  RunSettings settings = makeSettings(*quantized, 20);
  Report report = measure(*quantized, *floating, settings),
         expected = measure(*plain, *floating, settings);
  EXPECT_EQ(report.distance, expected.distance);
  EXPECT_EQ(report.points.back().name, "p");
  EXPECT_FALSE(report.points.back().effect);
  EXPECT_FALSE(report.operators.back().effect);
  for (auto [point, other] : llvm::zip(report.points, expected.points)) {
    EXPECT_EQ(point.effect->own, other.effect->own) << point.name;
    EXPECT_EQ(point.effect->without, other.effect->without) << point.name;
  }
}

// An op that is fused to a layer has its result, which the layer costs, too.
TEST_F(EffectsTest, LayersHaveTheResultOfTheirGroup) {
  auto quantized = parse(branched(true));
  auto floating = with(*quantized, {});
  RunSettings settings = makeSettings(*quantized, 20);
  Report report = describe(*quantized);
  // Give the layer another name than the ops that are fused to it.
  Operator &one = report.operators[1], layer = one;
  ASSERT_EQ(one.name, "one");
  std::vector<std::string> points = one.points;
  ASSERT_EQ(points.size(), 2u);
  layer.name = "conv1";
  layer.group = "one";
  layer.points = {"one/kernel"};
  one.points = {"one"};
  report.operators.push_back(layer);
  Operator together = layer;
  together.group = "";
  together.points = points;
  report.operators.push_back(together);
  ASSERT_TRUE(mlir::succeeded(measureEffects(*quantized, KernelOps(*quantized),
                                             *floating, nullptr, settings,
                                             EffectOptions(), report)));
  auto ownOf = [&](size_t back) {
    return report.operators[report.operators.size() - back].effect->own;
  };
  EXPECT_EQ(ownOf(1), ownOf(2));
  EXPECT_NE(report.operators[1].effect->own, ownOf(1));
}

// Values of weights are compared with those of the float network, without
// effects of the rest of the network.
TEST_F(EffectsTest, WeightsAreComparedWithThoseOfTheFloatNetwork) {
  auto quantized = parse(branched(true));
  auto floating = with(*quantized, {});
  Report report = measure(*quantized, *floating, makeSettings(*quantized, 5));
  KernelOps kernels = KernelOps::forModule(*quantized);
  mlir::Operation *conv = nullptr, *floatConv = nullptr;
  quantized->walk([&](mlir::tosa::Conv2DOp op) { conv = op; });
  floating->walk([&](mlir::tosa::Conv2DOp op) { floatConv = op; });
  KernelOp layer = *kernels.get(conv), exact = *kernels.get(floatConv);
  tpc::QuantizeOp point = layer.getKernelPoint();
  Floats values = layer.getKernel().values().vec();
  point.getParametersAttr().fakeQuantize({3, 3, 3, 3}, {}, values.data(),
                                         values.data());
  ErrorSums sums;
  sums.add(values, exact.getKernel().values());
  const Point *found = nullptr;
  for (const Point &each : report.points)
    if (each.name == "two/kernel")
      found = &each;
  ASSERT_TRUE(found && found->total && found->own);
  EXPECT_EQ(found->total->sqnr, sums.sqnr());
  EXPECT_EQ(found->own->largest, sums.largest);
  EXPECT_FALSE(found->inherited);
  // The scale of 0.5 is taken back: half of the values would be 6 dB.
  EXPECT_LT(found->total->sqnr, 7);
}

// Both parts together are the error that mct-run prints for the same points, to
// the last bit. The input inherits no error, and a point with exact inputs
// causes all of its error.
TEST_F(EffectsTest, TotalErrorsAreThoseOfAComparison) {
  auto quantized = parse(branched(true));
  auto floating = with(*quantized, {});
  RunSettings settings = makeSettings(*quantized, 37);
  Report report = measure(*quantized, *floating, settings);
  EvaluationOptions options;
  mlir::OwningOpRef<mlir::ModuleOp> own = quantized->clone(),
                                    other = floating->clone();
  auto found = evaluate(*own, *other, settings, options);
  ASSERT_TRUE(mlir::succeeded(found));
  EXPECT_EQ(found->points.size(), 5u);
  for (const ComparedPoint &point : found->points)
    for (const Point &each : report.points)
      if (each.name == point.name) {
        ASSERT_TRUE(each.total && each.own && each.inherited) << point.name;
        EXPECT_EQ(each.total->sqnr, point.sums.sqnr()) << point.name;
        EXPECT_EQ(each.total->cosine, point.sums.cosine()) << point.name;
        EXPECT_EQ(each.total->largest, point.sums.largest) << point.name;
        if (point.name == "x") {
          EXPECT_TRUE(std::isinf(each.inherited->sqnr));
          EXPECT_EQ(each.own->sqnr, each.total->sqnr);
        } else {
          EXPECT_GT(each.inherited->sqnr, each.total->sqnr) << point.name;
          EXPECT_GT(each.own->sqnr, each.total->sqnr) << point.name;
        }
      }
  EXPECT_EQ(report.simulated.agreement, found->agreement);
}

// Answers counted by hand.
TEST_F(EffectsTest, ChangedPredictionsAreThoseThatDiffer) {
  auto quantized = parse(branched(true));
  auto floating = with(*quantized, {});
  RunSettings settings = makeSettings(*quantized, 150);
  Results floats = run(*floating, settings), found = run(*quantized, settings);
  llvm::SmallString<64> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("labels", "npy", path));
  std::vector<int32_t> labels;
  for (size_t sample = 0; sample != 150; ++sample)
    labels.push_back(int32_t(sample * 7 % 48));
  auto writer =
      llvm::cantFail(NpyWriter::create(path, ElementType::I32, {150}));
  writer->write(labels.data(), labels.size() * sizeof(int32_t));
  llvm::cantFail(writer->commit());
  Report report = measure(*quantized, *floating, settings, 0, path.str().str());
  llvm::sys::fs::remove(path);

  auto answer = [](const Floats &row) {
    return std::max_element(row.begin(), row.end()) - row.begin();
  };
  std::vector<std::vector<int64_t>> confusion(48, std::vector<int64_t>(48));
  size_t changed = 0;
  double correct = 0, floatCorrect = 0;
  for (size_t sample = 0; sample != 150; ++sample) {
    const Floats &f = floats[sample][0], &s = found[sample][0];
    int64_t wanted = answer(f), actual = answer(s);
    ++confusion[wanted][actual];
    correct += actual == labels[sample];
    floatCorrect += wanted == labels[sample];
    if (wanted == actual)
      continue;
    ASSERT_LT(changed, report.changed.size());
    const ChangedPrediction &each = report.changed[changed++];
    EXPECT_EQ(each.sample, int64_t(sample));
    EXPECT_EQ(each.floatClass, wanted);
    EXPECT_EQ(each.simulatedClass, actual);
    EXPECT_EQ(each.label, labels[sample]);
    EXPECT_EQ(each.floatMargin, double(f[wanted]) - f[actual]);
    EXPECT_EQ(each.simulatedMargin, double(s[actual]) - s[wanted]);
    if (changed == 64)
      break;
  }
  EXPECT_GT(changed, 5u);
  if (changed < 64) {
    EXPECT_EQ(report.numChanged, int64_t(changed));
    EXPECT_EQ(report.confusion, confusion);
    EXPECT_DOUBLE_EQ(*report.simulated.agreement, 1 - changed / 150.0);
    EXPECT_DOUBLE_EQ(*report.simulated.top1, correct / 150);
    EXPECT_DOUBLE_EQ(*report.floating.top1, floatCorrect / 150);
  }
  EXPECT_TRUE(report.hasLabels);
  ErrorSums sums;
  for (size_t sample = 0; sample != 150; ++sample)
    sums.add(found[sample][0], floats[sample][0]);
  EXPECT_NEAR(report.simulated.output->sqnr, sums.sqnr(), 1e-9);
  EXPECT_EQ(report.simulated.output->largest, sums.largest);
  EXPECT_FALSE(report.floating.output);
}

TEST_F(EffectsTest, ThreadsAndBatchesChangeNothing) {
  auto quantized = parse(branched(true));
  auto floating = with(*quantized, {});
  std::string expected;
  for (auto [threads, batch] :
       {std::pair<unsigned, int64_t>{1, 0}, {2, 0}, {3, 16}, {4, 1}}) {
    Report report = measure(*quantized, *floating,
                            makeSettings(*quantized, 150, threads, batch), 40);
    EXPECT_EQ(report.effectSamples, 40);
    EXPECT_EQ(report.samples, 150);
    if (expected.empty())
      expected = toText(report);
    EXPECT_EQ(toText(report), expected) << threads << " " << batch;
  }
}

TEST_F(EffectsTest, DeviationIsThatOfTheSamples) {
  auto quantized = parse(branched(true));
  auto floating = with(*quantized, {});
  RunSettings settings = makeSettings(*quantized, 37);
  Report report = measure(*quantized, *floating, settings);
  Results floats = run(*floating, settings), found = run(*quantized, settings);
  double mean = 0, squares = 0;
  std::vector<double> each;
  for (size_t sample = 0; sample != 37; ++sample)
    each.push_back(distance({floats[sample]}, {found[sample]}, true));
  for (double value : each)
    mean += value / 37;
  for (double value : each)
    squares += (value - mean) * (value - mean);
  EXPECT_NEAR(report.deviation, std::sqrt(squares / 36),
              1e-4 * report.deviation);
}

// A bias that linalg broadcasts first is no constant of the layer; it is
// changed after the layer.
TEST_F(EffectsTest, BiasesThatAreBroadcastAreSwitched) {
  const std::string image = "tensor<1x5x5x3xf32>",
                    kernel = "tensor<1x1x3x3xf32>";
  std::string text = "func.func @main(%x: " + image + " loc(\"x\")) -> " +
                     image + " {\n%e = tensor.empty() : " + image + "\n";
  std::string value = "x";
  for (std::string name : {"one", "two"}) {
    Floats weights = randomFloats(9, unsigned(name.size() + name[0]));
    std::string k, b = "dense<[0.25, -0.5, 0.75]> : tensor<3xf32>";
    for (float weight : weights)
      k += (k.empty() ? "" : ", ") + llvm::formatv("{0:f6}", weight).str();
    text += "%k" + name + " = arith.constant dense<[[[[" + k +
            "]]]]> : " + kernel + "\n";
    for (size_t at = text.rfind("[[[["), count = 0;
         (at = text.find(", ", at)) != std::string::npos && count != 8;
         ++count) {
      bool ends = count == 2 || count == 5;
      if (ends)
        text.replace(at, 2, "], [");
      at += 2;
    }
    text +=
        "%b" + name + " = arith.constant " + b + "\n%w" + name +
        " = tpc.quantize %k" + name + " as \"" + name +
        "\" weight \"kernel\" axes [3] parameters(#tpc.symmetric<threshold = "
        "[1.0, 0.75, 0.5], bits = 3>) corrections(#tpc.corrections<applied "
        "= [\"quantized_network\"], bias_offset = [0.125, -0.25, 0.0625], "
        "kernel_scale = [1.0]>) : " +
        kernel + "\n%i" + name + " = linalg.broadcast ins(%b" + name +
        " : tensor<3xf32>) outs(%e : " + image +
        ") dimensions = [0, 1, 2]\n%c" + name +
        " = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, "
        "strides = dense<1> : tensor<2xi64>} ins(%" +
        value + ", %w" + name + " : " + image + ", " + kernel + ") outs(%i" +
        name + " : " + image + ") -> " + image + " loc(\"" + name + "\")\n%q" +
        name + " = tpc.quantize %c" + name + " as \"" + name + "\" activation" +
        quantizer(4, 5) + " : " + image + "\n";
    value = "q" + name;
  }
  text += "return %" + value + " : " + image + "\n}";
  auto quantized = parse(text);
  ASSERT_TRUE(quantized);
  auto floating = with(*quantized, {});
  RunSettings settings = makeSettings(*quantized, 21);
  Report report = measure(*quantized, *floating, settings);
  EXPECT_EQ(report.noEffectsReason, "");
  Results floats = run(*floating, settings);
  llvm::StringSet<> all = pointsOf(*quantized);
  ASSERT_EQ(all.size(), 4u);
  for (const Point &point : report.points) {
    llvm::StringSet<> own, others = all;
    own.insert(point.name);
    others.erase(point.name);
    ASSERT_TRUE(point.effect) << point.name;
    double alone =
               distance(floats, run(*with(*quantized, own), settings), false),
           without = distance(floats, run(*with(*quantized, others), settings),
                              false);
    EXPECT_NEAR(point.effect->own, alone, 1e-4 * alone) << point.name;
    EXPECT_NEAR(point.effect->without, without, 1e-4 * without) << point.name;
  }
}

// Points that cannot be switched, or results that cannot be compared:
// everything else is there.
TEST_F(EffectsTest, WhyThereAreNoEffects) {
  const std::string type = "tensor<1x4xf32>",
                    head = "func.func @main(%x: " + type + " loc(\"x\")) -> " +
                           type + " {\n",
                    point = "tpc.quantize %x as \"p\" activation" +
                            quantizer(1, 3) + " : " + type + "\n",
                    end = "return %0 : " + type + "\n}";
  auto plain =
      parse(head + "%0 = tosa.abs %x : (" + type + ") -> " + type + "\n" + end);
  auto nothing =
      parse(head + "%0 = tosa.abs %x : (" + type + ") -> " + type + "\n" + end);
  RunSettings settings = makeSettings(*plain, 7);
  EXPECT_EQ(measure(*nothing, *plain, settings).noEffectsReason,
            "no point of it quantizes");

  auto quantized = parse(head + "%0 = " + point + end);
  auto other = parse("func.func @main(%x: " + type +
                     " loc(\"x\")) -> tensor<1x1xf32> {\n%0 = tosa.reduce_sum "
                     "%x {axis = 1 : i32} : (" +
                     type +
                     ") -> tensor<1x1xf32>\nreturn %0 : "
                     "tensor<1x1xf32>\n}");
  Report report = measure(*quantized, *other, settings);
  EXPECT_EQ(report.noEffectsReason,
            "its results have other types than those of the float network");
  EXPECT_EQ(report.samples, 7);

  auto root =
      parse(head + "%0 = tosa.log %x : (" + type + ") -> " + type + "\n" + end);
  EXPECT_EQ(measure(*quantized, *root, settings).noEffectsReason,
            "results of the float network are not finite");

  auto integers = parse("func.func @main(%x: " + type +
                        " loc(\"x\")) -> tensor<1x4xi32> {\n%1 = " + point +
                        "%0 = tosa.cast %1 : (" + type +
                        ") -> tensor<1x4xi32>\nreturn %0 : "
                        "tensor<1x4xi32>\n}");
  auto floating = with(*integers, {});
  EXPECT_EQ(measure(*integers, *floating, settings).noEffectsReason,
            "no result of it is a tensor of f32 with a batch, whose change "
            "could be measured");

  auto corrected = parse(
      "func.func @main(%x: tensor<1x4x4x2xf32> loc(\"x\")) -> "
      "tensor<1x4x4x2xf32> {\n" +
      std::string(kZero) + constant("k", {2, 1, 1, 2}, 1) +
      constant("s", {2}, 2) +
      "%b = tosa.reduce_max %x {axis = 1 : i32} : (tensor<1x4x4x2xf32>) -> "
      "tensor<1x1x4x2xf32>\n%c = tosa.reduce_max %b {axis = 2 : i32} : "
      "(tensor<1x1x4x2xf32>) -> tensor<1x1x1x2xf32>\n%shape = tosa.const_shape "
      "{values = dense<[2]> : tensor<1xindex>} : () -> !tosa.shape<1>\n%d = "
      "tosa.reshape %c, %shape : (tensor<1x1x1x2xf32>, !tosa.shape<1>) -> "
      "tensor<2xf32>\n%w = tpc.quantize %k as \"c\" weight \"kernel\" axes []" +
      quantizer(1, 4) +
      " corrections(#tpc.corrections<applied = [\"quantized_network\"], "
      "bias_offset = [0.5, 0.25], kernel_scale = [1.0]>) : "
      "tensor<2x1x1x2xf32>\n%0 = tosa.conv2d %x, %w, %d, %zero, %zero "
      "{acc_type "
      "= f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, "
      "stride "
      "= array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, "
      "tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>\n"
      "return %0 : tensor<1x4x4x2xf32>\n}");
  ASSERT_TRUE(corrected);
  report = measure(*corrected, *corrected, makeSettings(*corrected, 7));
  EXPECT_EQ(report.noEffectsReason,
            "the corrections of 'c' cannot be taken back: its bias or its "
            "float kernel cannot be read");
}

// Points that cannot be switched: the rest of the report is there.
TEST_F(EffectsTest, ControlFlowAndCallsHaveNoEffects) {
  const std::string type = "tensor<1x4xf32>",
                    point = "tpc.quantize %0 as \"p\" activation" +
                            quantizer(1, 3) + " : " + type + "\n";
  auto called =
      parse("func.func private @f(%y: " + type + ") -> " + type +
            " {\n%0 = tosa.abs %y : (" + type + ") -> " + type +
            "\nreturn %0 : " + type + "\n}\nfunc.func @main(%x: " + type +
            ") -> " + type + " {\n%0 = call @f(%x) : (" + type + ") -> " +
            type + "\n%1 = " + point + "return %1 : " + type + "\n}");
  ASSERT_TRUE(called);
  auto floating = with(*called, {});
  Report report = measure(*called, *floating, makeSettings(*called, 20));
  EXPECT_EQ(report.noEffectsReason,
            "it calls other functions, and points are switched within one; "
            "run the pass inline before");
  EXPECT_EQ(report.samples, 20);
  ASSERT_TRUE(report.simulated.output);
  EXPECT_FALSE(std::isinf(report.simulated.output->sqnr));
  ASSERT_EQ(report.points.size(), 1u);
  EXPECT_FALSE(report.points[0].effect);
}

// A fixed batch runs on all samples, whatever was asked for.
TEST_F(EffectsTest, FixedBatchesTakeAllSamples) {
  const std::string type = "tensor<4x3xf32>";
  auto quantized =
      parse("func.func @main(%y: " + type + " loc(\"y\")) -> " + type +
            " {\n%0 = tpc.quantize %y as \"y\" activation" + quantizer(1, 3) +
            " : " + type + "\n%1 = tosa.reduce_sum %0 {axis = 0 : i32} : (" +
            type + ") -> tensor<1x3xf32>\n%2 = tosa.add %0, %1 : (" + type +
            ", tensor<1x3xf32>) -> " + type + "\nreturn %2 : " + type + "\n}");
  ASSERT_TRUE(quantized);
  auto floating = with(*quantized, {});
  RunSettings settings = makeSettings(*quantized, 20);
  Report report = measure(*quantized, *floating, settings, 8);
  EXPECT_EQ(report.noEffectsReason, "");
  EXPECT_EQ(report.effectSamples, 20);
  ASSERT_TRUE(report.points[0].effect);
  EXPECT_EQ(report.points[0].effect->own, report.distance);
  EXPECT_EQ(report.points[0].effect->without, 0);
}

// No network that runs makes it fail, and where nothing quantizes nothing is
// far from the float network.
TEST_F(EffectsTest, RandomNetworksAreMeasured) {
  size_t measured = 0, points = 0;
  for (unsigned seed = 1; seed != 40; ++seed) {
    auto network = mct::testing::makeRandomNetwork(context, seed);
    auto function = *findEntryFunction(*network, "");
    if (!llvm::all_of(function.getArgumentTypes(), [](mlir::Type type) {
          auto tensor = mlir::cast<mlir::RankedTensorType>(type);
          return tensor.getElementType().isF32() && tensor.getRank() > 0 &&
                 tensor.hasStaticShape() && tensor.getDimSize(0) == 1;
        }))
      continue;
    auto floating = with(*network, {});
    RunSettings settings = makeSettings(*network, 12);
    diagnostics.clear();
    Report report = measure(*network, *floating, settings);
    for (const Point &point : report.points) {
      EXPECT_TRUE(point.effect || !report.noEffectsReason.empty() ||
                  report.metric == "kl" ||
                  !pointsOf(*network).contains(point.name))
          << seed << " " << point.name;
      points += point.effect.has_value();
    }
    measured += report.noEffectsReason.empty();
    if (HasFailure()) {
      ADD_FAILURE() << "seed " << seed << ": " << llvm::join(diagnostics, "\n");
      break;
    }
  }
  EXPECT_GT(measured, 5u);
  EXPECT_GT(points, 15u);
}

} // namespace
