// SPDX-License-Identifier: Apache-2.0
//
// Networks with points and corrections, and networks that are made of them by
// hand, for tests of effects.
#ifndef MCT_TEST_UNIT_REPORT_EFFECTSFIXTURE_H
#define MCT_TEST_UNIT_REPORT_EFFECTSFIXTURE_H

#include "../Execution/Fixture.h"
#include "../Execution/RandomNetworks.h"
#include "mct/Evaluation/Evaluation.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Planning/OperatorPoints.h"
#include "mct/Report/Effects.h"
#include "mct/Support/Npy.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <map>
#include <mutex>

namespace mct::testing::effects {

using namespace mct::support;
using namespace mct::execution;
using namespace mct::report;

/// Results of the function, one after the other, of each sample.
using Results = std::vector<std::vector<Floats>>;

/// Replaces a constant of f32 by these values.
inline void setConstant(mlir::Value constant, llvm::ArrayRef<float> values) {
  auto type = mlir::cast<mlir::RankedTensorType>(constant.getType());
  mlir::Operation *op = constant.getDefiningOp();
  op->setAttr(op->hasAttr("values") ? "values" : "value",
              mlir::DenseElementsAttr::get(type, values));
}

/// Layers of `branched` whose biases were corrected for the error of a point:
/// those that have the kernel or the bias, or read the tensor before another
/// point.
inline std::map<std::string, std::vector<std::string>> correctedFor() {
  return {{"x", {"one"}},
          {"one/kernel", {"one"}},
          {"one", {"two"}},
          {"two/kernel", {"two"}},
          {"two/bias", {"two"}},
          {"sum", {"three"}},
          {"three/kernel", {"three"}}};
}

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

  /// Mean over all samples and positions of each channel, of the last axis, of
  /// the result of a layer.
  std::vector<double> meansOf(mlir::ModuleOp module, const std::string &layer,
                              const RunSettings &settings) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
    auto function = *findEntryFunction(*copy, "");
    mlir::Value result = findLayer(*copy, layer).getResult();
    function.walk([&](mlir::func::ReturnOp op) { op->setOperands(result); });
    function.setType(mlir::FunctionType::get(
        &context, function.getArgumentTypes(), result.getType()));
    std::vector<double> means(
        mlir::cast<mlir::RankedTensorType>(result.getType()).getShape().back());
    size_t count = 0;
    for (const std::vector<Floats> &sample : run(*copy, settings))
      for (size_t i = 0; i != sample[0].size(); ++i, ++count)
        means[i % means.size()] += sample[0][i];
    for (double &mean : means)
      mean *= double(means.size()) / double(count);
    return means;
  }

  KernelOp findLayer(mlir::ModuleOp module, const std::string &name) {
    KernelOps kernels = KernelOps::forModule(module);
    std::optional<KernelOp> found;
    module.walk([&](mlir::Operation *op) {
      if (auto layer = kernels.get(op);
          layer && layer->getKernelPoint().getPointName() == name)
        found = layer;
    });
    return *found;
  }

  /// Returns the network in which these points do not quantize, with the float
  /// values of their kernels, and with the biases that were corrected for their
  /// error fitted again, one layer after the other.
  mlir::OwningOpRef<mlir::ModuleOp> without(mlir::ModuleOp quantized,
                                            mlir::ModuleOp floating,
                                            llvm::ArrayRef<std::string> names,
                                            const RunSettings &settings) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = quantized.clone();
    copy->walk([&](tpc::QuantizeOp point) {
      if (llvm::is_contained(names, point.getUniqueName()))
        point.removeQuantizer();
    });
    std::map<std::string, std::vector<std::string>> corrected = correctedFor();
    for (const std::string layer : {"one", "two", "three"}) {
      KernelOp own = findLayer(*copy, layer);
      if (llvm::is_contained(names, layer + "/kernel")) {
        // The rounded values stay a record, which nothing reads.
        mlir::Value constant =
            tpc::lookThroughPoints(own.getKernelOperand().get());
        setConstant(constant,
                    findLayer(floating, layer).getKernel().values().vec());
      }
      if (llvm::any_of(names, [&](const std::string &name) {
            return llvm::is_contained(corrected[name], layer);
          })) {
        std::vector<double> wanted = meansOf(quantized, layer, settings),
                            now = meansOf(*copy, layer, settings);
        std::vector<float> bias = *own.getBias();
        for (size_t channel = 0; channel != bias.size(); ++channel)
          bias[channel] += float(wanted[channel] - now[channel]);
        setConstant(own.getBiasConstant(), bias);
      }
    }
    return copy;
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

inline std::string quantizer(double threshold, unsigned bits) {
  return llvm::formatv(
      " parameters(#tpc.power_of_two<threshold = [{0}], bits = {1}, is_signed "
      "= true>)",
      llvm::formatv("{0:e}", threshold), bits);
}

/// A network with a shortcut. Points on its argument, on every kernel, on a
/// bias, on a constant that is added, and on what is made; the first layer was
/// rounded, the others got other biases. `isSoftmax`: the result is a
/// distribution; else there are two results.
inline std::string branched(bool isSoftmax) {
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

} // namespace mct::testing::effects

#endif // MCT_TEST_UNIT_REPORT_EFFECTSFIXTURE_H
