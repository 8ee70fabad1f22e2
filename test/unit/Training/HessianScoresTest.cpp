// SPDX-License-Identifier: Apache-2.0
//
// Scores by random vectors, against Jacobians that are known, and differences.
#include "Differences.h"

#include "mct/IR/Names.h"
#include "mct/Training/HessianScores.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace mct;
using namespace mct::testing;
using namespace mlir;
using support::Threads;

namespace {
/// Samples of one input of f32, one after the other.
class Samples : public execution::SampleSource {
public:
  Samples(std::vector<float> values, int64_t elements)
      : values(std::move(values)), elements(elements) {}
  int64_t numSamples() const override {
    return int64_t(values.size()) / elements;
  }
  int64_t numAvailable() const override { return numSamples(); }
  size_t numInputs() const override { return 1; }
  size_t sampleBytes(size_t) const override {
    return size_t(elements) * sizeof(float);
  }
  llvm::Error load(size_t, int64_t first, int64_t count,
                   void *buffer) const override {
    std::memcpy(buffer, values.data() + first * elements,
                size_t(count * elements) * sizeof(float));
    return llvm::Error::success();
  }
  ArrayRef<float> of(int64_t sample) const {
    return ArrayRef(values).slice(size_t(sample * elements), size_t(elements));
  }

private:
  std::vector<float> values;
  int64_t elements;
};

std::vector<float> randomFloats(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = float(double(random() >> 8) * 0x1p-23 - 1);
  return values;
}

std::shared_ptr<const Samples> randomSamples(int64_t samples, int64_t elements,
                                             unsigned seed = 1) {
  return std::make_shared<Samples>(randomFloats(samples * elements, seed),
                                   elements);
}

/// Row-major numbers as MLIR writes them.
std::string denseText(ArrayRef<float> values) {
  std::string text;
  for (float value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(double(value));
  return text;
}

/// h = x A, y = h B, of four, three and two elements.
std::string linearText(ArrayRef<float> second) {
  return R"mlir(
func.func @f(%x: tensor<1x1x4xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = "tosa.const"() <{values = dense<[[[1.0, 0.0, 2.0], [-1.0, 1.0, 0.0], [0.5, 0.5, 0.5], [0.0, 3.0, 1.0]]]> : tensor<1x4x3xf32>}> : () -> tensor<1x4x3xf32>
  %bs = "tosa.const"() <{values = dense<[)mlir" +
         denseText(second) + R"mlir(]> : tensor<6xf32>}> : () -> tensor<6xf32>
  %shape = tosa.const_shape {values = dense<[1, 3, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %b = tosa.reshape %bs, %shape : (tensor<6xf32>, !tosa.shape<3>) -> tensor<1x3x2xf32>
  %h = tosa.matmul %x, %a, %zero, %zero : (tensor<1x1x4xf32>, tensor<1x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32> loc("h")
  %y = tosa.matmul %h, %b, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32> loc("y")
  return %y : tensor<1x1x2xf32>
}
)mlir";
}

/// An image of 4x4, a layer, a value that is wanted, and a tail with a curve.
std::string curvedText(const std::string &batch = "1",
                       const std::string &point = "") {
  std::string image = "tensor<" + batch + "x4x4x2xf32>",
              layer = "tensor<" + batch + "x4x4x3xf32>",
              sum = "tensor<" + batch + "x1x4x3xf32>";
  std::string text = R"mlir(
#w = #tpc.attr_quant_config<method = symmetric, bits = 2>
#act = #tpc.op_quant_config<act_method = symmetric, act_bits = 2, input_bits = [8], default_weight = #w>
func.func @rest(%h: LAYER) -> (SUM, LAYER) {
  %t = tosa.tanh %h : (LAYER) -> LAYER
  %s = tosa.reduce_sum %t {axis = 1 : i32} : (LAYER) -> SUM
  %e = tosa.exp %s : (SUM) -> SUM
  %g = tosa.sigmoid %t : (LAYER) -> LAYER
  return %e, %g : SUM, LAYER
}
func.func @f(%x: IMAGE) -> (SUM, LAYER) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %bias = "tosa.const"() <{values = dense<0.25> : tensor<3xf32>}> : () -> tensor<3xf32>
  %k = "tosa.const"() <{values = dense<[[[[0.5, -1.0]]], [[[1.0, 0.25]]], [[[-0.75, 0.5]]]]> : tensor<3x1x1x2xf32>}> : () -> tensor<3x1x1x2xf32>
  %c = tosa.conv2d %x, %k, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (IMAGE, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> LAYER loc("h")
POINT
  %t = tosa.tanh %h : (LAYER) -> LAYER loc("t")
  %s = tosa.reduce_sum %t {axis = 1 : i32} : (LAYER) -> SUM
  %e = tosa.exp %s : (SUM) -> SUM
  %g = tosa.sigmoid %t : (LAYER) -> LAYER
  return %e, %g : SUM, LAYER
}
)mlir";
  auto replace = [&](StringRef from, StringRef to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
         at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("POINT",
          point.empty() ? "  %h = tosa.identity %c : (LAYER) -> LAYER" : point);
  replace("IMAGE", image);
  replace("LAYER", layer);
  replace("SUM", sum);
  return text;
}

class Hessian : public GradientTest {
protected:
  static SmallVector<Value> valuesOf(func::FuncOp function,
                                     ArrayRef<StringRef> names) {
    SmallVector<Value> values;
    for (StringRef name : names)
      function.walk([&](Operation *op) {
        StringAttr found = mct::getName(op->getLoc());
        if (op->getNumResults() == 1 && found && found == name)
          values.push_back(op->getResult(0));
      });
    EXPECT_EQ(values.size(), names.size());
    return values;
  }

  /// Returns the scores of the values of these names in @f.
  FailureOr<HessianScores>
  tryScores(const std::string &text, ArrayRef<StringRef> names,
            std::shared_ptr<const execution::SampleSource> samples,
            const HessianOptions &options = {}) {
    module = parse(text);
    auto function = module->lookupSymbol<func::FuncOp>("f");
    std::string before = print();
    auto scores = computeHessianScores(function, valuesOf(function, names),
                                       std::move(samples), options);
    EXPECT_EQ(before, print());
    return scores;
  }
  HessianScores scoresOf(const std::string &text, ArrayRef<StringRef> names,
                         std::shared_ptr<const execution::SampleSource> samples,
                         const HessianOptions &options = {}) {
    auto scores = tryScores(text, names, std::move(samples), options);
    EXPECT_TRUE(succeeded(scores)) << diagnostics;
    return succeeded(scores) ? *scores : HessianScores();
  }
  void expectError(const std::string &text, ArrayRef<StringRef> names,
                   std::shared_ptr<const execution::SampleSource> samples,
                   const std::string &message,
                   const HessianOptions &options = {}) {
    EXPECT_TRUE(failed(tryScores(text, names, std::move(samples), options)));
    EXPECT_NE(diagnostics.find(message), std::string::npos) << diagnostics;
  }
  std::string print() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }

  OwningOpRef<ModuleOp> module;
};
} // namespace

//===----------------------------------------------------------------------===//
// Known Jacobians
//===----------------------------------------------------------------------===//

// The columns of B are orthogonal: whatever the signs, the square of v^T B^T is
// the sum of the squares of the elements of B, 9 + 16 + 1.
TEST_F(Hessian, OrthogonalColumnsGiveTheTraceWithEveryVector) {
  HessianScores scores =
      scoresOf(linearText({3, 0, 0, 4, 0, 1}), {"h"}, randomSamples(3, 4));
  ASSERT_EQ(scores.samples, 3);
  ASSERT_EQ(scores.layers, 1);
  EXPECT_EQ(scores.scores, std::vector<double>(3, 26.0));
  // Nothing changes after the first ten.
  EXPECT_EQ(scores.vectors, std::vector<int64_t>(3, 11));
  EXPECT_EQ(scores.means(), std::vector<double>(1, 26.0));
}

// B = [[1, 2], [3, 4], [5, 6]]: trace of B^T B = 91, and B^T B has 44 beside
// its diagonal, so that one vector says 91 + 2 * 44 * (+-1). The mean of n
// vectors has a standard deviation of 88 / sqrt(n): it is within six of those.
TEST_F(Hessian, TraceOfALinearNetwork) {
  HessianOptions options;
  options.maxVectors = 1000;
  auto samples = randomSamples(8, 4);
  HessianScores scores =
      scoresOf(linearText({1, 2, 3, 4, 5, 6}), {"h"}, samples, options);
  double count = 0;
  for (auto [score, vectors] : llvm::zip(scores.scores, scores.vectors)) {
    EXPECT_GT(vectors, 10);
    EXPECT_LE(vectors, 1000);
    EXPECT_NEAR(score, 91, 6 * 88 / std::sqrt(double(vectors)));
    count += double(vectors);
  }
  EXPECT_NEAR(scores.means().front(), 91, 6 * 88 / std::sqrt(count / 8) / 2);
  // Each sample has vectors of its own.
  EXPECT_NE(scores.scores[0], scores.scores[1]);
}

TEST_F(Hessian, TheSeedChangesTheVectors) {
  HessianOptions options;
  options.maxVectors = 7;
  auto samples = randomSamples(8, 4);
  std::string text = linearText({1, 2, 3, 4, 5, 6});
  HessianScores first = scoresOf(text, {"h"}, samples, options);
  EXPECT_EQ(first.vectors, std::vector<int64_t>(8, 7));
  options.seed = 1;
  EXPECT_NE(scoresOf(text, {"h"}, samples, options).scores, first.scores);
}

// Where the mean of n vectors changes by at most 0.2 of it, it is settled.
TEST_F(Hessian, AToleranceEndsEarlier) {
  HessianOptions options;
  options.tolerance = 0.2;
  auto samples = randomSamples(8, 4);
  std::string text = linearText({1, 2, 3, 4, 5, 6});
  HessianScores coarse = scoresOf(text, {"h"}, samples, options),
                fine = scoresOf(text, {"h"}, samples);
  for (auto [few, many] : llvm::zip(coarse.vectors, fine.vectors)) {
    EXPECT_GE(few, 11);
    EXPECT_LT(few, 30);
    EXPECT_EQ(many, 100);
  }
}

// y = c h element by element: each vector scores c^2. Per channel these are
// [(1 + 9) / 2, (4 + 16) / 2] in the mean over two positions.
TEST_F(Hessian, TheLargestChannelIsAMeanOverPositions) {
  const char *text = R"mlir(
func.func @f(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %c = "tosa.const"() <{values = dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>}> : () -> tensor<1x1x2x2xf32>
  %h = tosa.abs %x : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> loc("h")
  %y = tosa.mul %h, %c, %shift : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1xi8>) -> tensor<1x1x2x2xf32>
  return %y : tensor<1x1x2x2xf32>
}
)mlir";
  HessianOptions options;
  EXPECT_EQ(scoresOf(text, {"h"}, randomSamples(2, 4), options).scores,
            std::vector<double>(2, 30.0));
  options.reduction = ScoreReduction::LargestChannel;
  EXPECT_EQ(scoresOf(text, {"h"}, randomSamples(2, 4), options).scores,
            std::vector<double>(2, 10.0));
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

// The same vectors, and derivatives as differences of the tail, in double. f32
// rounds some tens of numbers on the way of a gradient: 1e-5 of the score.
TEST_F(Hessian, TheScoreIsThatOfDifferencesWithTheSameVectors) {
  HessianOptions options;
  options.maxVectors = 5;
  options.seed = 3;
  auto samples = randomSamples(3, 32);
  HessianScores scores = scoresOf(curvedText(), {"h"}, samples, options);
  auto function = module->lookupSymbol<func::FuncOp>("f");
  auto rest = module->lookupSymbol<func::FuncOp>("rest");
  Value h = valuesOf(function, {"h"}).front();
  for (int64_t sample = 0; sample != 3; ++sample) {
    ArrayRef<float> values = samples->of(sample);
    ReferenceEvaluator evaluator(function, /*simulate=*/false);
    evaluator.real = true;
    ASSERT_TRUE(evaluator.run(
        {tensorOf(function.getArgumentTypes().front(),
                  SmallVector<double>(values.begin(), values.end()))}));
    const ReferenceTensor at = evaluator[h];
    RandomSigns signs(3,
                      {ArrayRef(reinterpret_cast<const char *>(values.data()),
                                values.size() * sizeof(float))},
                      12 + 48);
    double mean = 0;
    for (int64_t vector = 0; vector != 5; ++vector) {
      std::vector<float> first(12), second(48);
      signs.fill(vector, 0, first);
      signs.fill(vector, 12, second);
      auto product = [&](const ReferenceTensor &moved) {
        Tensors results = evaluate(rest, {moved});
        double sum = 0;
        for (auto [number, sign] : llvm::zip(results[0].numbers, first))
          sum += number.value * sign;
        for (auto [number, sign] : llvm::zip(results[1].numbers, second))
          sum += number.value * sign;
        return sum;
      };
      constexpr double kStep = 1e-5;
      for (size_t i = 0; i != at.numbers.size(); ++i) {
        ReferenceTensor up = at, down = at;
        up.numbers[i].value += kStep;
        down.numbers[i].value -= kStep;
        double slope = (product(up) - product(down)) / (2 * kStep);
        mean += slope * slope / 5;
      }
    }
    EXPECT_NEAR(scores.scores[size_t(sample)], mean, 1e-5 * mean);
  }
}

//===----------------------------------------------------------------------===//
// Settings that change nothing
//===----------------------------------------------------------------------===//

TEST_F(Hessian, ThreadsBatchesAndTheOrderOfSamplesMakeNoDifference) {
  constexpr int64_t kSamples = 37, kElements = 32;
  auto samples = randomSamples(kSamples, kElements);
  HessianOptions options;
  options.maxVectors = 13;
  options.run.threads = Threads(1);
  HessianScores expected = scoresOf(curvedText(), {"h", "t"}, samples, options);
  for (unsigned threads : {2U, 5U})
    for (int64_t batch : {0, 3, 64}) {
      options.run.threads = Threads(threads);
      options.run.batchSize = batch;
      HessianScores scores =
          scoresOf(curvedText(), {"h", "t"}, samples, options);
      EXPECT_EQ(scores.scores, expected.scores);
      EXPECT_EQ(scores.vectors, expected.vectors);
    }
  std::vector<float> reversed;
  for (int64_t sample = kSamples; sample-- > 0;)
    llvm::append_range(reversed, samples->of(sample));
  HessianScores other = scoresOf(
      curvedText(), {"h", "t"},
      std::make_shared<Samples>(std::move(reversed), kElements), options);
  for (int64_t sample = 0; sample != kSamples; ++sample)
    for (int64_t layer = 0; layer != 2; ++layer)
      EXPECT_EQ(other.scores[size_t((kSamples - 1 - sample) * 2 + layer)],
                expected.scores[size_t(sample * 2 + layer)]);
  EXPECT_EQ(other.means(), expected.means());
}

TEST_F(Hessian, TheBatchOfTheFunctionMakesNoDifference) {
  auto samples = randomSamples(12, 32);
  HessianScores expected = scoresOf(curvedText("1"), {"h", "t"}, samples);
  for (const char *batch : {"4", "?"})
    EXPECT_EQ(scoresOf(curvedText(batch), {"h", "t"}, samples).scores,
              expected.scores);
}

TEST_F(Hessian, PointsDoNothing) {
  auto samples = randomSamples(2, 32);
  HessianScores expected = scoresOf(curvedText(), {"t"}, samples);
  EXPECT_EQ(
      scoresOf(curvedText("1", "  %h = tpc.quantize %c as \"c\" activation "
                               "config(#act) parameters(#tpc.symmetric<"
                               "threshold = [0.25], bits = 2>) : LAYER"),
               {"t"}, samples)
          .scores,
      expected.scores);
}

TEST_F(Hessian, FewerSamplesAreSomeOfThem) {
  auto samples = randomSamples(20, 32);
  HessianOptions options;
  std::vector<double> all =
      scoresOf(curvedText(), {"h"}, samples, options).scores;
  options.maxSamples = 6;
  HessianScores some = scoresOf(curvedText(), {"h"}, samples, options);
  EXPECT_EQ(some.samples, 6);
  for (double score : some.scores)
    EXPECT_TRUE(llvm::is_contained(all, score));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// A layer of two classes, and what is made of them.
static std::string classesText(const std::string &tail,
                               const std::string &result,
                               const std::string &type) {
  return R"mlir(
func.func @f(%x: tensor<1x4xf32>) -> )mlir" +
         type + R"mlir( {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %c = "tosa.const"() <{values = dense<[[40.0, 1.0, -2.0, 0.5]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
  %h = tosa.tanh %x : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("h")
  %y = tosa.mul %h, %c, %shift : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1xi8>) -> tensor<1x4xf32>
)mlir" + tail +
         "\n  return %" + result + " : " + type + "\n}\n";
}

static const char *const kSoftmax = R"mlir(
  %max = tosa.reduce_max %y {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %below = tosa.sub %y, %max : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %exp = tosa.exp %below : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %sum = tosa.reduce_sum %exp {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %inverse = tosa.reciprocal %sum : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %p = tosa.mul %exp, %inverse, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
)mlir";

TEST_F(Hessian, WhatASoftmaxReadsIsDifferentiated) {
  auto samples = randomSamples(3, 4);
  HessianScores expected =
      scoresOf(classesText("", "y", "tensor<1x4xf32>"), {"h"}, samples);
  EXPECT_EQ(expected.scores, std::vector<double>(3, 1605.25));
  std::string reshape =
      "  %shape = tosa.const_shape {values = dense<[1, 2, 2]> : "
      "tensor<3xindex>} : () -> !tosa.shape<3>\n  %r = tosa.reshape %p, %shape "
      ": (tensor<1x4xf32>, !tosa.shape<3>) -> tensor<1x2x2xf32>";
  EXPECT_EQ(
      scoresOf(classesText(kSoftmax, "p", "tensor<1x4xf32>"), {"h"}, samples)
          .scores,
      expected.scores);
  EXPECT_EQ(scoresOf(classesText(kSoftmax + reshape, "r", "tensor<1x2x2xf32>"),
                     {"h"}, samples)
                .scores,
            expected.scores);
  std::string argmax = "  %a = tosa.argmax %p {axis = 1 : i32} : "
                       "(tensor<1x4xf32>) -> tensor<1xi32>";
  EXPECT_EQ(scoresOf(classesText(kSoftmax + argmax, "a", "tensor<1xi32>"),
                     {"h"}, samples)
                .scores,
            expected.scores);
  std::string linalg =
      "  %e = tensor.empty() : tensor<1x4xf32>\n  %p = linalg.softmax "
      "dimension(1) ins(%y : tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> "
      "tensor<1x4xf32>";
  EXPECT_EQ(
      scoresOf(classesText(linalg, "p", "tensor<1x4xf32>"), {"h"}, samples)
          .scores,
      expected.scores);
}

// With 40 tanh(x) in front of it the answer is certain, or nearly so: after
// the softmax much less is left of 1605.25.
TEST_F(Hessian, ASoftmaxInsideIsDifferentiated) {
  std::string tail =
      std::string(kSoftmax) +
      "  %q = tosa.abs %p : (tensor<1x4xf32>) -> tensor<1x4xf32>";
  HessianScores scores = scoresOf(classesText(tail, "q", "tensor<1x4xf32>"),
                                  {"h"}, randomSamples(3, 4));
  for (double score : scores.scores)
    EXPECT_LT(score, 410);
  // A value after it changes the result, too: |p| by p.
  EXPECT_GT(std::accumulate(scores.scores.begin(), scores.scores.end(), 0.0),
            0);
}

TEST_F(Hessian, AValueThatNothingDependsOnScoresZero) {
  std::string tail = "  %other = tosa.exp %h : (tensor<1x4xf32>) -> "
                     "tensor<1x4xf32> loc(\"other\")";
  HessianScores scores = scoresOf(classesText(tail, "y", "tensor<1x4xf32>"),
                                  {"other", "h"}, randomSamples(2, 4));
  EXPECT_EQ(scores.scores, (std::vector<double>{0, 1605.25, 0, 1605.25}));
  EXPECT_EQ(scores.means(), (std::vector<double>{0, 1605.25}));
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST_F(Hessian, RefusesResultsWithoutRealNumbers) {
  expectError(R"mlir(
func.func @f(%x: tensor<1x4xf32>) -> tensor<1x4xi32> {
  %h = tosa.tanh %x : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("h")
  %y = tosa.cast %h : (tensor<1x4xf32>) -> tensor<1x4xi32>
  return %y : tensor<1x4xi32>
}
)mlir",
              {"h"}, randomSamples(2, 4),
              "has no result that is a tensor of f32, and no Hessian scores");
}

TEST_F(Hessian, RefusesValuesThatAreNoRealNumbers) {
  expectError(R"mlir(
func.func @f(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %h = tosa.cast %x : (tensor<1x4xf32>) -> tensor<1x4xi32> loc("h")
  %y = tosa.abs %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}
)mlir",
              {"h"}, randomSamples(2, 4),
              "has no Hessian score: it is of 'tensor<1x4xi32>', and no tensor "
              "of f32 with the batch first");
}

TEST_F(Hessian, RefusesSeveralBlocks) {
  expectError(R"mlir(
func.func @f(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  cf.br ^next
^next:
  %h = tosa.abs %x : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("h")
  return %h : tensor<1x4xf32>
}
)mlir",
              {"h"}, randomSamples(2, 4),
              "has no Hessian scores, which require a single-block function");
}

TEST_F(Hessian, RefusesOpsWithoutARule) {
  expectError(R"mlir(
func.func @f(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %h = tosa.abs %x : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("h")
  %y = math.cbrt %h : tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}
)mlir",
              {"h"}, randomSamples(2, 4), "has no rule for its gradient");
}

// Two samples are mixed, and the value belongs to both.
TEST_F(Hessian, RefusesValuesWithoutABatch) {
  expectError(R"mlir(
func.func @f(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %h = tosa.reduce_sum %x {axis = 0 : i32} : (tensor<2x4xf32>) -> tensor<1x4xf32> loc("h")
  %y = tosa.add %x, %h : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
)mlir",
              {"h"}, randomSamples(4, 4),
              "its gradients are not those of single samples");
}

TEST_F(Hessian, RefusesValuesThatAreNotReal) {
  expectError(R"mlir(
func.func @f(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %h = tosa.cast %x : (tensor<1x4xf32>) -> tensor<1x4xi32> loc("h")
  %y = tosa.cast %h : (tensor<1x4xi32>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}
)mlir",
              {"h"}, randomSamples(4, 4),
              "has no Hessian score: it is of 'tensor<1x4xi32>', and no tensor "
              "of f32 with the batch first");
}

// The argument has twice as many rows as the result: which of them belong to a
// sample is not known.
TEST_F(Hessian, RefusesGradientsThatAreNotBySample) {
  expectError(
      R"mlir(
func.func @f(%x: tensor<2x4xf32>) -> tensor<1x4xf32> {
  %h = tosa.abs %x : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("h")
  %y = tosa.reduce_sum %h {axis = 0 : i32} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}
)mlir",
      {"h"}, randomSamples(4, 4),
      "its gradients are not those of single samples; give arguments and "
      "results a batch dimension");
}

TEST_F(Hessian, RefusesScoresThatAreNotFinite) {
  expectError(R"mlir(
func.func @f(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %h = tosa.identity %x : (tensor<1x1xf32>) -> tensor<1x1xf32> loc("h")
  %y = tosa.exp %h : (tensor<1x1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}
)mlir",
              {"h"},
              std::make_shared<Samples>(std::vector<float>{1, 2, 1000}, 1),
              "has Hessian scores that are NaN or infinite, of sample 2; "
              "check the input scale and the weights");
  EXPECT_NE(diagnostics.find("by this value"), std::string::npos);
}

TEST_F(Hessian, EndsWhenItIsCancelled) {
  support::Progress progress;
  progress.cancel();
  HessianOptions options;
  options.run.progress = &progress;
  expectError(linearText({1, 2, 3, 4, 5, 6}), {"h"}, randomSamples(8, 4),
              "cancelled", options);
}

/// Cancels when the first vectors have been drawn.
TEST_F(Hessian, EndsBetweenVectors) {
  struct Cancelling : Samples {
    Cancelling(support::Progress &progress)
        : Samples(randomFloats(4, 1), 4), progress(progress) {}
    llvm::Error load(size_t input, int64_t first, int64_t count,
                     void *buffer) const override {
      progress.cancel();
      return Samples::load(input, first, count, buffer);
    }
    support::Progress &progress;
  };
  support::Progress progress;
  HessianOptions options;
  options.run.progress = &progress;
  expectError(linearText({1, 2, 3, 4, 5, 6}), {"h"},
              std::make_shared<Cancelling>(progress), "cancelled", options);
}
