// SPDX-License-Identifier: Apache-2.0
//
// Points whose rounding is learned and those that quantize gradually, against
// their definitions; and values that training brings back or refuses.
#include "ReferenceQuantizers.h"
#include "TrainablePointsFixture.h"
#include "mlir/AsmParser/AsmParser.h"

#include <functional>

using namespace mct;
using namespace mlir;
using namespace mct::testing;
using namespace mct::testing::trainable;

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

namespace {
/// Grids of three channels, or of one tensor, of every method.
struct GridCase {
  std::string parameters;
  std::vector<SoftRounding> soft;
};

std::vector<GridCase> gridCases() {
  return {
      {"#tpc.power_of_two<threshold = [1.0], bits = 4>",
       {SoftRounding::ofThreshold(1, 4)}},
      {"#tpc.power_of_two<threshold = [1.0, 0.5, 2.0], bits = 3>",
       {SoftRounding::ofThreshold(1, 3), SoftRounding::ofThreshold(.5, 3),
        SoftRounding::ofThreshold(2, 3)}},
      {"#tpc.symmetric<threshold = [1.1], bits = 2>",
       {SoftRounding::ofThreshold(1.1, 2)}},
      {"#tpc.symmetric<threshold = [1.3, 0.7, 0.9], bits = 8>",
       {SoftRounding::ofThreshold(1.3, 8), SoftRounding::ofThreshold(.7, 8),
        SoftRounding::ofThreshold(.9, 8)}},
      {"#tpc.uniform<scale = [0.15], zero_point = [6], bits = 4>",
       {SoftRounding{0.15, -0.15 * 6, 0, 15}}},
      {"#tpc.uniform<scale = [0.15, 0.2, 0.3], zero_point = [6, 0, 15], bits = "
       "4>",
       {SoftRounding{0.15, -0.15 * 6, 0, 15}, SoftRounding{0.2, 0, 0, 15},
        SoftRounding{0.3, -0.3 * 15, 0, 15}}},
  };
}

/// Error of f32, 2^-16 of a level of 8 bits.
constexpr double kOfStep = 4e-5;
} // namespace

TEST_F(TrainablePoints, SoftRoundingLearnsAsItsDefinition) {
  std::vector<Point> all;
  std::vector<GridCase> cases;
  for (const GridCase &grid : gridCases())
    for (bool isMasked : {true, false})
      for (bool learnsScale : {false, true}) {
        if (learnsScale && llvm::StringRef(grid.parameters).contains("power"))
          continue;
        Point point;
        point.shape = {3, 7, 5};
        point.axes = {0};
        point.weights = randomFloats(point.count(), -1.6f, 1.6f);
        point.parameters = grid.parameters;
        point.trainable = std::string("#tpc.soft_rounding<clip = ") +
                          (isMasked ? "masked" : "passed") +
                          (learnsScale ? ", learns_scale = true>" : ">");
        all.push_back(point);
        cases.push_back(grid);
        for (SoftRounding &soft : cases.back().soft)
          soft.clip = isMasked ? ClipGradient::Masked : ClipGradient::Passed;
      }
  ASSERT_NO_FATAL_FAILURE(build(all));
  for (size_t i = 0; i != all.size(); ++i) {
    bool learnsScale = llvm::StringRef(all[i].trainable).contains("scale");
    // The initial values are those of the definition.
    size_t channels = cases[i].soft.size();
    Outcome initial;
    initial.values = all[i].weights;
    initial.result = learnedOf(i, LearnedRole::Rounding);
    for (Channel &channel : channelsOf(i, initial, channels)) {
      std::vector<float> expected =
          cases[i].soft[channel.number].initialize(channel.values);
      for (size_t j = 0; j != expected.size(); ++j)
        // A weight on a level may be above the one below.
        EXPECT_NEAR(soften(channel.result[j]), soften(expected[j]), 1e-6) << j;
    }
    for (float &variable : learnedOf(i, LearnedRole::Rounding))
      variable += uniform(-2, 2);
    if (learnsScale)
      for (float &scale : learnedOf(i, LearnedRole::Scale))
        scale = uniform(0.8f, 1.2f);
  }
  learnedOf(9, LearnedRole::Scale)[1] = -0.5f;
  std::vector<Outcome> outcomes = run();
  for (auto [i, outcome] : llvm::enumerate(outcomes)) {
    SCOPED_TRACE(all[i].trainable + " " + all[i].parameters);
    // The weights take no part.
    EXPECT_TRUE(outcome.gradient.empty());
    size_t channels = cases[i].soft.size();
    bool learnsScale = outcome.learned.count(LearnedRole::Scale);
    Outcome variables;
    variables.values = outcome.learned[LearnedRole::Rounding];
    variables.gradient = outcome.gradients[LearnedRole::Rounding];
    std::vector<Channel> ofVariables = channelsOf(i, variables, channels);
    for (Channel &channel : channelsOf(i, outcome, channels)) {
      const SoftRounding &soft = cases[i].soft[channel.number];
      double scale =
          learnsScale ? outcome.learned[LearnedRole::Scale][channel.number] : 1;
      const Floats &own = ofVariables[channel.number].values;
      Floats result(own.size()), hard(own.size());
      soft.forward(channel.values, own, false, result, scale);
      soft.forward(channel.values, own, true, hard, scale);
      for (size_t j = 0; j != result.size(); ++j) {
        EXPECT_NEAR(channel.result[j], result[j], kOfStep * soft.step) << j;
        EXPECT_NEAR(channel.frozen[j], hard[j], kOfStep * soft.step) << j;
      }
      Floats back = channel.resultGradient;
      double ofScale = soft.backward(channel.values, own, back, scale);
      for (size_t j = 0; j != back.size(); ++j)
        EXPECT_NEAR(ofVariables[channel.number].gradient[j], back[j],
                    1e-5 * soft.step)
            << j;
      if (learnsScale)
        EXPECT_NEAR(outcome.gradients[LearnedRole::Scale][channel.number],
                    ofScale, sumTolerance(channel, 2));
    }
  }
}

// The levels that were found stay when nothing is learned, and what is trained
// begins as near to the float weights as that allows.
TEST_F(TrainablePoints, SoftRoundingBeginsAtWeightsThatWereRoundedTogether) {
  std::vector<Point> all;
  std::vector<Floats> floats;
  std::vector<GridCase> cases = gridCases();
  for (const GridCase &grid : cases) {
    Point point;
    point.shape = {3, 7, 5};
    point.axes = {0};
    point.parameters = grid.parameters;
    point.trainable = "#tpc.soft_rounding<>";
    floats.push_back(randomFloats(point.count(), -1.6f, 1.6f));
    point.weights = floats.back();
    for (size_t i = 0; i != point.count(); ++i) {
      const SoftRounding &soft = grid.soft[grid.soft.size() == 1 ? 0 : i / 35];
      double level =
          std::nearbyint((point.weights[i] - soft.offset) / soft.step);
      // Levels need not be neighbours.
      level += double(random() % 5) - 2;
      level = std::clamp(level, soft.lowest, soft.highest);
      point.weights[i] =
          float(level + std::nearbyint(soft.offset / soft.step)) *
          float(soft.step);
    }
    point.corrections = "#tpc.corrections<applied = [\"rounded_weights\"], "
                        "bias_offset = [0.0], kernel_scale = [1.0], kernel = " +
                        elementsText(floats.back(), point.shape) + ">";
    all.push_back(point);
  }
  ASSERT_NO_FATAL_FAILURE(build(all));
  std::vector<Outcome> outcomes = run();
  for (auto [i, outcome] : llvm::enumerate(outcomes)) {
    SCOPED_TRACE(all[i].parameters);
    EXPECT_EQ(outcome.frozen, all[i].weights);
    for (size_t j = 0; j != floats[i].size(); ++j) {
      const SoftRounding &soft =
          cases[i].soft[cases[i].soft.size() == 1 ? 0 : j / 35];
      double present = (all[i].weights[j] - soft.offset) / soft.step;
      double before = (floats[i][j] - soft.offset) / soft.step;
      double nearest = std::clamp(std::clamp(before, soft.lowest, soft.highest),
                                  present - 0.5, present + 0.5);
      double found = (outcome.result[j] - soft.offset) / soft.step;
      // Rounded down, it stays 3e-4 of a level below the half.
      EXPECT_NEAR(found, nearest, 4e-4) << j;
    }
  }
}

TEST_F(TrainablePoints, PerturbationsLearnAsTheirDefinition) {
  std::vector<Point> all;
  std::vector<std::vector<PerturbedRounding>> quantizers;
  for (bool isPerChannel : {false, true})
    for (double most : {1.0, 2.5}) {
      Point point;
      point.shape = {5, 3, 7};
      point.axes = {1};
      point.weights = randomFloats(point.count(), -1.6f, 1.6f);
      std::vector<double> thresholds = isPerChannel
                                           ? std::vector<double>{1.1, 0.6, 1.7}
                                           : std::vector<double>{1.0};
      point.parameters =
          "#tpc.symmetric<threshold = " + listText(thresholds) + ", bits = 4>";
      point.trainable = most == 1
                            ? "#tpc.perturbed_rounding<>"
                            : "#tpc.perturbed_rounding<most_levels = 2.5>";
      quantizers.emplace_back();
      for (double threshold : thresholds) {
        quantizers.back().push_back(
            PerturbedRounding::ofThreshold(threshold, 4));
        quantizers.back().back().mostLevels = most;
      }
      all.push_back(point);
    }
  ASSERT_NO_FATAL_FAILURE(build(all));
  for (size_t i = 0; i != all.size(); ++i) {
    EXPECT_EQ(learnedOf(i, LearnedRole::Perturbation), Floats(105, 0));
    learnedOf(i, LearnedRole::Perturbation) = randomFloats(105, -0.5f, 0.5f);
  }
  std::vector<Outcome> outcomes = run();
  for (auto [i, outcome] : llvm::enumerate(outcomes)) {
    SCOPED_TRACE(all[i].trainable + " " + all[i].parameters);
    EXPECT_EQ(outcome.gradients[LearnedRole::Perturbation],
              outcome.resultGradient);
    Outcome variables;
    variables.values = outcome.learned[LearnedRole::Perturbation];
    std::vector<Channel> moved = channelsOf(i, variables, quantizers[i].size());
    for (Channel &channel : channelsOf(i, outcome, quantizers[i].size())) {
      const PerturbedRounding &quantizer = quantizers[i][channel.number];
      Floats result(channel.values.size());
      quantizer.forward(channel.values, moved[channel.number].values, result);
      for (size_t j = 0; j != result.size(); ++j)
        EXPECT_NEAR(channel.result[j], result[j], 1e-6);
      EXPECT_EQ(channel.frozen, channel.result);
    }
  }
}

//===----------------------------------------------------------------------===//
// Gradual quantizers
//===----------------------------------------------------------------------===//

TEST_F(TrainablePoints, GradualQuantizersBlendWhatTheyCompose) {
  const std::vector<std::pair<std::string, std::string>> inner = {
      {"#tpc.straight_through<>",
       "#tpc.symmetric<threshold = [0.9], bits = 3>"},
      {"#tpc.straight_through<clip = passed>",
       "#tpc.symmetric<threshold = [0.9], bits = 3>"},
      {"#tpc.learned_threshold<bits = 3>",
       "#tpc.symmetric<threshold = [0.9], bits = 3>"},
      {"#tpc.learned_range<bits = 3>",
       "#tpc.uniform<scale = [0.3], zero_point = [3], bits = 3>"},
      {"#tpc.observed_range<observer = last_value, bits = 3>", ""},
      {"#tpc.soft_rounding<>", "#tpc.symmetric<threshold = [0.9], bits = 3>"},
      {"#tpc.perturbed_rounding<>",
       "#tpc.symmetric<threshold = [0.9], bits = 3>"}};
  auto makePoints = [&](bool isGradual) {
    std::vector<Point> all;
    std::mt19937 saved = random;
    for (const auto &[trainable, parameters] : inner) {
      Point point{trainable, parameters};
      if (isGradual)
        point.trainable = "#tpc.gradual<of = " + trainable + ">";
      if (llvm::StringRef(trainable).contains("rounding"))
        point.weights = randomFloats(point.count(), -1.6f, 1.6f);
      all.push_back(point);
    }
    random = saved;
    return all;
  };
  ASSERT_NO_FATAL_FAILURE(build(makePoints(false)));
  random.seed(3);
  std::vector<Outcome> whole = run();
  random.seed(7);
  ASSERT_NO_FATAL_FAILURE(build(makePoints(true)));
  // All points share one fraction, which is 1 without a schedule.
  EXPECT_EQ(learnedOf(0, LearnedRole::Fraction), Floats{1});
  learnedOf(0, LearnedRole::Fraction) = {0.25f};
  random.seed(3);
  std::vector<Outcome> blended = run();
  for (auto [i, of, blend] : llvm::enumerate(whole, blended)) {
    SCOPED_TRACE(points[i].trainable);
    ASSERT_EQ(of.values, blend.values);
    ASSERT_EQ(of.resultGradient, blend.resultGradient);
    for (size_t j = 0; j != of.values.size(); ++j)
      EXPECT_NEAR(blend.result[j], 0.75 * of.values[j] + 0.25 * of.result[j],
                  1e-6);
    for (size_t j = 0; j != of.gradient.size(); ++j)
      EXPECT_NEAR(blend.gradient[j],
                  0.75 * of.resultGradient[j] + 0.25 * of.gradient[j], 1e-6);
    EXPECT_EQ(of.states, blend.states);
    ASSERT_EQ(of.gradients.size(), blend.gradients.size());
    for (auto &[role, gradients] : of.gradients)
      for (size_t j = 0; j != gradients.size(); ++j)
        EXPECT_NEAR(blend.gradients[role][j], 0.25 * gradients[j],
                    1e-5 * std::max(1.0f, std::abs(gradients[j])));
    // In the end it is the quantizer that has set in.
    EXPECT_EQ(of.frozen, blend.frozen);
    EXPECT_EQ(of.parameters, blend.parameters);
  }
}

TEST_F(TrainablePoints, GradualQuantizersMayBeNested) {
  build({{"#tpc.gradual<of = #tpc.gradual<of = #tpc.learned_threshold<bits = "
          "3>>>",
          "#tpc.symmetric<threshold = [0.9], bits = 3>"}});
  learnedOf(0, LearnedRole::Fraction) = {0.5f};
  std::vector<Outcome> outcomes = run();
  for (size_t j = 0; j != outcomes[0].values.size(); ++j)
    EXPECT_NEAR(outcomes[0].result[j],
                0.75 * outcomes[0].values[j] + 0.25 * outcomes[0].frozen[j],
                1e-6);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

TEST_F(TrainablePoints, WhatHasNoMeaningIsBroughtBack) {
  auto bringBack = [&](const std::string &trainable,
                       std::vector<Floats> values) {
    Attribute attribute = parseAttribute(trainable, &context);
    SmallVector<MutableArrayRef<float>> views(values.begin(), values.end());
    cast<TrainableQuantizerAttrInterface>(attribute).keepValid(views);
    return values;
  };
  constexpr auto kSmallest = float(kSmallestThreshold);
  for (std::string trainable :
       {"#tpc.learned_threshold<bits = 4>",
        "#tpc.gradual<of = #tpc.learned_threshold<bits = 4>>"}) {
    std::vector<Floats> values = {{1, 0, -3, 1e-9f, 2e-5f}};
    std::vector<Floats> expected = {
        {1, kSmallest, kSmallest, kSmallest, 2e-5f}};
    if (llvm::StringRef(trainable).contains("gradual")) {
      values.push_back({0.5f});
      expected.push_back({0.5f});
    }
    EXPECT_EQ(bringBack(trainable, values), expected);
  }
  EXPECT_EQ(bringBack("#tpc.learned_range<bits = 4>",
                      {{-1, 0.5f, 0, 1}, {1, 0.5f, 1e-5f, -1}}),
            (std::vector<Floats>{
                {-1, 0.5f - kSmallest, 5e-6f - kSmallest, -kSmallest},
                {1, 0.5f + kSmallest, 5e-6f + kSmallest, kSmallest}}));
}

TEST_F(TrainablePoints, WhatIsNoNumberIsNotDeployed) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  struct Refused {
    Point point;
    LearnedRole role;
    float value;
    std::string message;
  };
  Point symmetric{"", "#tpc.symmetric<threshold = [0.9], bits = 3>"};
  auto with = [&](const std::string &trainable, bool isWeight = false) {
    Point point = symmetric;
    point.trainable = trainable;
    if (isWeight)
      point.weights = Floats(point.count(), 0.5f);
    return point;
  };
  const std::vector<Refused> all = {
      {with("#tpc.learned_threshold<bits = 4>"), LearnedRole::Threshold, kNan,
       "has learned the threshold nan; train with a smaller learning rate"},
      {with("#tpc.learned_threshold<bits = 4, power_of_two = true>"),
       LearnedRole::Threshold, kInfinity,
       "has learned the threshold inf; train with a smaller learning rate"},
      {with("#tpc.learned_range<bits = 4>"), LearnedRole::Maximum, kInfinity,
       "to inf; train with a smaller learning rate"},
      {with("#tpc.observed_range<observer = fixed, bits = 4>"),
       LearnedRole::ObservedMinimum, kNan,
       "; check the input scale, or train with a smaller learning rate"},
      {with("#tpc.soft_rounding<learns_scale = true>", true),
       LearnedRole::Scale, kNan,
       "has learned the scale nan; train with a smaller learning rate"}};
  for (const Refused &refused : all) {
    build({refused.point});
    learnedOf(0, refused.role).front() = refused.value;
    diagnostics.clear();
    EXPECT_TRUE(failed(writeLearned(network, training, learned)));
    EXPECT_NE(llvm::StringRef(diagnostics).lower().find(refused.message),
              std::string::npos)
        << diagnostics;
  }
}

// The dialect, without what `registerGradientModels` adds.
TEST(TrainablePointsAlone, NeedWhatImplementsThem) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, tpc::TpcDialect>();
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message += diagnostic.str(); });
  auto module = parseSourceString<ModuleOp>(R"(
func.func @main(%x: tensor<1x8xf32>, %t: tensor<1x1xf32>) -> tensor<1x8xf32> {
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.learned_threshold<bits = 2>) learned(%t : tensor<1x1xf32>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
})",
                                            &context);
  ASSERT_TRUE(module) << message;
  EXPECT_TRUE(
      failed(expandTrainablePoints(*module->getOps<func::FuncOp>().begin())));
  EXPECT_NE(message.find("'tpc.quantize' op cannot be trained as "
                         "#tpc.learned_threshold<bits = 2>: nothing implements "
                         "TrainableQuantizerAttrInterface for it"),
            std::string::npos)
      << message;
}
