// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the corrections against transforms.json. Rewrites of the
// graph are compared in FoldingTest.cpp and ScalingTest.cpp.
#include "Golden.h"

#include "mct/Quantization/Corrections.h"
#include "mct/Quantization/Selection.h"

#include <algorithm>
#include <cmath>

using namespace mct::quantization;
using namespace mct::golden;

namespace {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> data;
};

Tensor tensor(const json::Object &object, llvm::StringRef key) {
  const json::Object *value = object.getObject(key);
  if (!value)
    return {};
  return {integers(value->get("shape")), floats(value->get("data"))};
}

/// Returns the sums of a kernel of PyTorch, [O, I / groups, …], per output
/// channel.
std::vector<double> kernelSums(llvm::ArrayRef<float> kernel,
                               llvm::ArrayRef<int64_t> shape) {
  std::vector<double> sums(shape.front(), 0.0);
  size_t perChannel = kernel.size() / sums.size();
  for (size_t element = 0; element != kernel.size(); ++element)
    sums[element / perChannel] += kernel[element];
  return sums;
}

/// 1e-5 of the largest entry, as the rules say.
void expectClose(llvm::ArrayRef<double> actual,
                 llvm::ArrayRef<double> expected) {
  ASSERT_EQ(actual.size(), expected.size());
  double largest = 0;
  for (double value : expected)
    largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i != actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 1e-5 * largest) << i;
}

void checkShiftNegative(const json::Object &recorded) {
  const json::Object &statistics = *recorded.getObject("activation_stats");
  double minimum = number(statistics.get("min"));
  double maximum = number(statistics.get("max"));
  double threshold =
      number(recorded.getObject("activation_params_before")->get("threshold"));
  unsigned bits = *recorded.getInteger("activation_n_bits_before");
  double ratio = number(recorded.get("ratio"));
  bool applied = recorded.getBoolean("applied").value_or(true);
  EXPECT_EQ(isShortNegativeTail(minimum, threshold, ratio), applied);
  if (!applied)
    return;
  if (recorded.getBoolean("params_search").value_or(false)) {
    // MCT takes the shift that rounds best, however large: its 7.4375 for a
    // minimum of -0.17. Ours lifts the minimum by less than one step too much.
    std::vector<Atom> atoms;
    const int count = 1000;
    for (int i = 0; i <= count; ++i)
      atoms.push_back({minimum + (maximum - minimum) * i / count, 1});
    NegativeShift found = searchNegativeShift(atoms, threshold, bits);
    EXPECT_LT(found.shift + minimum, std::ldexp(found.threshold, -int(bits)));
    return;
  }
  std::optional<double> shift = shiftForNegative(minimum, threshold, bits);
  ASSERT_TRUE(shift);
  if (recorded.getString("mct_exception"))
    return; // MCT fails after it knows the shift
  EXPECT_EQ(*shift, number(recorded.get("shift")));
  if (const json::Object *pad = recorded.getObject("pad"))
    EXPECT_EQ(*shift, number(pad->get("value")));

  std::vector<double> bias = numbers(recorded.get("bias_after"));
  std::vector<double> before = numbers(recorded.get("bias_before"));
  std::vector<float> kernel = floats(recorded.get("kernel_before"));
  // Summed over everything but the output channel, so groups do not matter.
  std::vector<double> sums =
      kernelSums(kernel, integers(recorded.get("kernel_shape")));
  ASSERT_EQ(sums.size(), bias.size());
  for (size_t i = 0; i != sums.size(); ++i)
    sums[i] = (before.size() == sums.size() ? before[i] : 0) - *shift * sums[i];
  expectClose(sums, bias);
}

void checkActivationBias(const json::Object &recorded) {
  const json::Object &histogram = *recorded.getObject("histogram");
  std::vector<double> counts = numbers(histogram.get("counts")), edges;
  double lo = number(histogram.get("edge_lo"));
  double hi = number(histogram.get("edge_hi"));
  for (size_t i = 0; i <= counts.size(); ++i)
    edges.push_back(i == counts.size() ? hi
                                       : lo + i * ((hi - lo) / counts.size()));
  const json::Object &parameters = *recorded.getObject("activation_params");
  Grid grid = symmetricGrid(number(parameters.get("threshold")), 8,
                            *parameters.getBoolean("is_signed"));
  double difference = meanQuantizationError(edges, counts, grid);
  Tensor kernel = tensor(*recorded.getObject("state"), "l2.weight");
  std::vector<double> term = kernelSums(kernel.data, kernel.shape);
  for (double &value : term)
    value *= difference;
  expectClose(term, numbers(recorded.get("term")));
}

/// Checks what a batch norm in training mode sees after the quantized kernel
/// of the first layer, and how it is folded back.
void checkSecondMoment(const json::Object &recorded) {
  const json::Object &before = *recorded.getObject("before");
  const json::Object &after = *recorded.getObject("after");
  for (llvm::StringRef layer : {"l0_bn", "l3_bn"}) {
    const json::Object &folded = *before.getObject(layer);
    const json::Object &norm =
        *before.getObject(layer.str() + "_reconstructed");
    const json::Object &refused = *after.getObject(layer.str() + "_refused");
    std::vector<double> weight = numbers(folded.get("weight"));
    std::vector<double> scaled = numbers(refused.get("weight"));
    std::vector<double> gamma = numbers(norm.get("weight"));
    std::vector<double> beta = numbers(norm.get("bias"));
    std::vector<double> bias = numbers(folded.get("bias"));
    std::vector<double> newBias = numbers(refused.get("bias"));
    size_t perChannel = weight.size() / gamma.size();
    for (size_t channel = 0; channel != gamma.size(); ++channel) {
      // The scale that MCT's statistics led to, from the kernel.
      size_t largest = channel * perChannel;
      for (size_t i = 0; i != perChannel; ++i)
        if (std::fabs(weight[channel * perChannel + i]) >
            std::fabs(weight[largest]))
          largest = channel * perChannel + i;
      double scale = scaled[largest] / weight[largest];
      // The mean that they led to, from the bias; the formula must then give
      // kernel and bias from the two moments.
      double mean = bias[channel] - (newBias[channel] - beta[channel]) / scale;
      Affine affine = secondMomentCorrection({beta[channel], gamma[channel]},
                                             {mean, gamma[channel] / scale});
      EXPECT_NEAR(affine.scale * bias[channel] + affine.offset,
                  newBias[channel], 1e-4 * std::fabs(newBias[channel]));
      for (size_t i = 0; i != perChannel; ++i) {
        size_t element = channel * perChannel + i;
        EXPECT_NEAR(affine.scale * weight[element], scaled[element],
                    1e-4 * std::fabs(weight[largest]));
      }
    }
  }
}

void checkSoftmaxShift(const json::Object &recorded) {
  Tensor weight = tensor(*recorded.getObject("state"), "l1.weight");
  std::vector<double> before = numbers(recorded.get("bias_before"));
  double lo = INFINITY, hi = -INFINITY;
  for (const json::Value &value : *recorded.getArray("inputs")) {
    std::vector<float> input = floats(value.getAsObject()->get("data"));
    size_t in = weight.shape[1];
    for (size_t row = 0; row != input.size() / in; ++row)
      for (size_t out = 0; out != before.size(); ++out) {
        double sum = before[out];
        for (size_t i = 0; i != in; ++i)
          sum += double(weight.data[out * in + i]) * input[row * in + i];
        lo = std::min(lo, sum);
        hi = std::max(hi, sum);
      }
  }
  // MCT reads the maximum off the left edge of the last of 2048 bins.
  double bin = (hi - lo) / 2048;
  std::vector<double> expected = numbers(recorded.get("bias_after"));
  for (size_t i = 0; i != before.size(); ++i)
    EXPECT_NEAR(before[i] + softmaxShift(lo, hi), expected[i],
                1e-5 * std::fabs(expected[i]) + bin / 2);
}

TEST(GoldenCorrections, ArithmeticMatches) {
  File file("transforms.json");
  MCT_REQUIRE_GOLDEN(file);
  Report report;
  const std::map<std::string, void (*)(const json::Object &)> rules = {
      {"shift_negative", checkShiftNegative},
      {"activation_bias_correction", checkActivationBias},
      {"second_moment_correction", checkSecondMoment},
      {"softmax_shift", checkSoftmaxShift},
      {"channel_equalization_scale",
       [](const json::Object &recorded) {
         std::vector<double> gamma = numbers(recorded.get("gamma"));
         std::vector<double> beta = numbers(recorded.get("beta"));
         std::vector<double> scale = numbers(recorded.get("scale"));
         for (size_t i = 0; i != gamma.size(); ++i)
           EXPECT_NEAR(equalizationFactor({beta[i], std::fabs(gamma[i])}),
                       scale[i], 1e-6);
       }},
  };
  for (const json::Object *recorded : file.objects("cases")) {
    std::string kind = text(*recorded, "kind");
    auto rule = rules.find(kind);
    if (rule != rules.end())
      report.check("transforms " + kind, text(*recorded, "id"),
                   [&] { rule->second(*recorded); });
  }
}

} // namespace
