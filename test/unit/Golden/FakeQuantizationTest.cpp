// SPDX-License-Identifier: Apache-2.0
//
// fakequant_*.json: bit for bit, but for the sign of zero.
#include "Golden.h"

#include "mct/Quantizers/Grid.h"
#include "mct/Quantizers/LutQuantizer.h"

using namespace mct::quantization;
using namespace mct::golden;

namespace {

std::vector<float> fakeQuantized(const json::Object &recorded,
                                 llvm::ArrayRef<float> input) {
  std::string method = text(recorded, "method");
  unsigned bits = *recorded.getInteger("n_bits");
  bool isSigned = recorded.getBoolean("signed").value_or(true);
  std::vector<int64_t> axes;
  if (recorded.getBoolean("per_channel").value_or(false))
    axes.push_back(*recorded.getInteger("channel_axis"));
  std::vector<int64_t> shape = integers(recorded.get("shape"));
  std::vector<float> output(input.size());
  if (llvm::StringRef(method).starts_with("LUT")) {
    LutQuantizer(integers(recorded.get("lut_values")),
                 numbers(recorded.get("threshold")), isSigned)
        .run(shape, axes, input.data(), output.data());
    return output;
  }
  std::vector<Grid> grids;
  if (method == "UNIFORM") {
    std::vector<double> steps = numbers(recorded.get("scale"));
    std::vector<int64_t> zeroPoints = integers(recorded.get("zero_point"));
    for (size_t i = 0; i != steps.size(); ++i)
      grids.push_back(uniformGrid(steps[i], zeroPoints[i], bits));
  } else {
    for (double threshold : numbers(recorded.get("threshold")))
      grids.push_back(symmetricGrid(threshold, bits, isSigned));
  }
  fakeQuantizePerChannel(grids, shape, axes, input.data(), output.data());
  return output;
}

void checkFile(llvm::StringRef name) {
  File file(name);
  MCT_REQUIRE_GOLDEN(file);
  Report report;
  for (const json::Object *recorded : file.objects("cases")) {
    std::string family = "fake quantization " + text(*recorded, "target") +
                         " " + text(*recorded, "method");
    report.check(family, text(*recorded, "id"), [&] {
      std::vector<float> expected = floats(recorded->get("output"));
      std::vector<float> actual =
          fakeQuantized(*recorded, floats(recorded->get("input")));
      ASSERT_EQ(actual.size(), expected.size());
      int mismatches = 0;
      for (size_t i = 0; i != actual.size(); ++i)
        mismatches += actual[i] != expected[i]; // -0 == +0
      EXPECT_EQ(mismatches, 0);
    });
  }
}

TEST(GoldenFakeQuantization, ActivationsMatchBitForBit) {
  checkFile("fakequant_activations.json");
}

TEST(GoldenFakeQuantization, WeightsMatchBitForBit) {
  checkFile("fakequant_weights.json");
}

} // namespace
