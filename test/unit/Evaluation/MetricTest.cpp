// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/Metric.h"
#include "mct/Support/Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace mct;
using namespace mct::execution;
using llvm::ArrayRef;
using support::ElementType;

namespace {
class MetricTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("metric", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  template <typename T>
  MetricLabels store(ElementType type, ArrayRef<int64_t> shape,
                     std::vector<T> values) {
    std::string path = (folder + "/labels.npy").str();
    auto writer = llvm::cantFail(support::NpyWriter::create(path, type, shape));
    writer->write(values.data(), values.size() * sizeof(T));
    llvm::cantFail(writer->commit());
    return llvm::cantFail(MetricLabels::open(path));
  }

  /// Measures all samples, whose results have that shape.
  static llvm::Expected<MetricRows> measure(Metric &metric,
                                            ArrayRef<int64_t> shape,
                                            const std::vector<float> &outputs,
                                            const MetricLabels &labels) {
    if (llvm::Error error = metric.prepare(shape, labels))
      return std::move(error);
    int64_t samples = labels.getNumSamples();
    size_t length = outputs.size() / size_t(samples);
    MetricRows rows;
    rows.length = metric.getRowLength();
    rows.values.resize(size_t(rows.length * samples));
    std::vector<double> label;
    for (int64_t sample = 0; sample != samples; ++sample) {
      if (llvm::Error error = labels.read(sample, label))
        return std::move(error);
      if (llvm::Error error = metric.measure(
              ArrayRef<float>(outputs).slice(size_t(sample) * length, length),
              label, rows[sample]))
        return std::move(error);
    }
    if (llvm::Error error = metric.finish(rows))
      return std::move(error);
    return rows;
  }

  static double find(llvm::StringRef name, ArrayRef<int64_t> shape,
                     const std::vector<float> &outputs,
                     const MetricLabels &labels) {
    auto metric = llvm::cantFail(Metric::create(name));
    MetricRows rows = llvm::cantFail(measure(*metric, shape, outputs, labels));
    return judge(*metric, rows, nullptr).value;
  }

  static std::string errorOf(llvm::StringRef name, ArrayRef<int64_t> shape,
                             const std::vector<float> &outputs,
                             const MetricLabels &labels) {
    auto metric = llvm::cantFail(Metric::create(name));
    auto rows = measure(*metric, shape, outputs, labels);
    if (rows)
      return "";
    std::string text = llvm::toString(rows.takeError());
    std::string path = labels.getPath().str() + ": ";
    return text.substr(text.find(path) == 0 ? path.size() : 0);
  }

  llvm::SmallString<128> folder;
};
} // namespace

// Ranks of the labels: 0; 1; 1 (equal scores: the first one is ahead); 2; and
// none beside a NaN.
TEST_F(MetricTest, TopClassesCountsLabelsAmongTheLargestScores) {
  MetricLabels labels = store<int64_t>(ElementType::I64, {5}, {2, 0, 1, 1, 3});
  std::vector<float> scores = {0, 1, 5,   2, /**/ 4, 1, 5, 0, /**/
                               7, 7, 0,   1, /**/ 3, 1, 2, 0, /**/
                               0, 0, NAN, 9};
  EXPECT_EQ(find("top1", {4}, scores, labels), 1.0 / 5);
  EXPECT_EQ(find("top2", {1, 4}, scores, labels), 3.0 / 5);
  EXPECT_EQ(find("top3", {1, 1, 4}, scores, labels), 4.0 / 5);
  EXPECT_EQ(errorOf("top4", {4}, scores, labels),
            "the class of every sample is among the largest 4 of 4 scores; "
            "take fewer: top1");
  EXPECT_EQ(errorOf("top1", {2, 2}, scores, labels),
            "expected results with one score for each class of a sample, found "
            "shape 2x2 for each");
  EXPECT_EQ(errorOf("top1", {3}, std::vector<float>(15), labels),
            "expected classes in [0, 3), as many as the output has scores, "
            "found 3");
  EXPECT_EQ(errorOf("top1", {4}, scores,
                    store<float>(ElementType::F32, {5}, {1, 2, 3, 4, 5})),
            "expected one class number for each sample, an integer, found f32");
  EXPECT_EQ(errorOf("top1", {4}, scores,
                    store<int32_t>(ElementType::I32, {2, 2}, {1, 2, 3, 1})),
            "expected one class number for each sample, an integer, found "
            "shape 2 for each");
}

// Two samples of 1x3 pixels. Classes of the results: 0 1 2, 1 1 0. Labels:
// 0 1 1, 1 255 -1: intersections 1, 2, 0 and unions 1, 3, 1.
TEST_F(MetricTest, MeanOverlapSumsOverSamplesAndLeavesOutVoidPixels) {
  MetricLabels labels =
      store<int16_t>(ElementType::I16, {2, 1, 3}, {0, 1, 1, 1, 255, -1});
  double expected = (1.0 + 2.0 / 3 + 0.0) / 3;
  std::vector<float> last = {9, 0, 0, /**/ 0, 9, 0, /**/ 0, 0, 9,
                             0, 9, 0, /**/ 0, 9, 0, /**/ 9, 0, 0};
  EXPECT_DOUBLE_EQ(find("miou", {1, 3, 3}, last, labels), expected);
  EXPECT_DOUBLE_EQ(find("miou:3", {3, 3}, last, labels), expected);
  // The same as `last` with the four classes on the first axis: no pixel has
  // the last class, which does not count.
  std::vector<float> first = {9,      0, 0, /**/ 0, 9, 0, /**/ 0, 0, 9,
                              /**/ 0, 0, 0, 0,      0, 9, /**/ 9, 9, 0,
                              /**/ 0, 0, 0, /**/ 0, 0, 0};
  EXPECT_DOUBLE_EQ(find("miou", {4, 1, 3}, first, labels), expected);
  EXPECT_DOUBLE_EQ(find("miou:3", {1, 3}, {0, 1, 2, 1, 1, 0}, labels),
                   expected);
  EXPECT_EQ(errorOf("miou", {1, 3}, {0, 1, 2, 1, 1, 0}, labels),
            "the results are class numbers; say of how many classes: miou:21");
  EXPECT_EQ(errorOf("miou:5", {1, 3, 3}, last, labels),
            "the results have scores of 3 classes, not of 5");
  EXPECT_EQ(errorOf("miou", {2, 3, 3}, std::vector<float>(36), labels),
            "expected one class number for each pixel of the results, which "
            "have shape 2x3x3 for each sample, classes last or first, found "
            "shape 1x3");
  EXPECT_EQ(errorOf("miou", {1, 3, 3}, last,
                    store<float>(ElementType::F32, {1, 1, 3}, {0, 1, 2})),
            "expected the class number of each pixel, an integer, found f32");
  EXPECT_EQ(
      errorOf("miou", {1, 3, 3}, last,
              store<uint8_t>(ElementType::U8, {2, 1, 3}, {0, 1, 3, 0, 0, 0})),
      "expected classes in [0, 3), or a negative number or 255 where "
      "none counts, found 3");
}

// A mean squared error of 0.01 is 20 dB below a peak of 1, one of 0.0001 40 dB.
TEST_F(MetricTest, PeakRatioIsTheMeanOfTheSamples) {
  MetricLabels labels =
      store<float>(ElementType::F32, {2, 2}, {0.5, 0.25, 0.5, 1});
  std::vector<float> outputs = {0.6f, 0.15f, 0.51f, 0.99f};
  EXPECT_NEAR(find("psnr", {2}, outputs, labels), 30, 1e-4);
  EXPECT_NEAR(find("psnr:10", {2}, outputs, labels), 50, 1e-4);
  MetricLabels bytes = store<uint8_t>(ElementType::U8, {1, 2}, {200, 10});
  // An error of 25.5 everywhere.
  EXPECT_NEAR(find("psnr", {1, 2}, {225.5, 35.5}, bytes), 20, 1e-9);
  MetricLabels wide = store<double>(ElementType::F64, {1, 2}, {-1, 1});
  EXPECT_EQ(errorOf("psnr", {2}, {0, 0}, wide),
            "expected values in [0, 1], found -1; say how far the smallest and "
            "the largest value may be apart: psnr:2");
  EXPECT_EQ(errorOf("psnr", {3}, {0, 0, 0}, wide),
            "expected labels of the shape of the results, 3 for each sample, "
            "found 2");
}

TEST_F(MetricTest, CosineIsTheMeanOfTheSamples) {
  MetricLabels labels =
      store<float>(ElementType::F32, {4, 2}, {1, 0, 1, 1, 0, 0, 0, 0});
  // 45 degrees; the same direction; zeros beside zeros, and beside others.
  EXPECT_NEAR(find("cosine", {2}, {3, 3, 2, 2, 0, 0, 1, 0}, labels),
              (std::sqrt(0.5) + 1 + 1 + 0) / 4, 1e-12);
}

// All pairs, one by one, however often a sample counts.
TEST_F(MetricTest, CurveAreaIsTheShareOfOrderedPairs) {
  constexpr int kSamples = 60;
  std::mt19937 random(5);
  std::vector<float> scores, pairs;
  std::vector<uint8_t> classes;
  std::vector<uint32_t> counts;
  for (int index = 0; index != kSamples; ++index) {
    classes.push_back(random() % 3 == 0);
    scores.push_back(float(random() % 12) + 2 * classes.back());
    pairs.insert(pairs.end(), {1, 1 + scores.back()});
    counts.push_back(random() % 4);
  }
  MetricLabels labels = store<uint8_t>(ElementType::U8, {kSamples}, classes);
  auto metric = llvm::cantFail(Metric::create("auc"));
  MetricRows rows = llvm::cantFail(measure(*metric, {1}, scores, labels));
  auto count = [&](ArrayRef<uint32_t> times) {
    double ordered = 0, all = 0;
    for (int one = 0; one != kSamples; ++one)
      for (int other = 0; other != kSamples; ++other)
        if (classes[one] && !classes[other]) {
          double weight = double(times[one]) * times[other];
          all += weight;
          ordered += scores[one] > scores[other]    ? weight
                     : scores[one] == scores[other] ? weight / 2
                                                    : 0;
        }
    return ordered / all;
  };
  std::vector<uint32_t> once(kSamples, 1);
  EXPECT_DOUBLE_EQ(metric->aggregate(rows, once), count(once));
  EXPECT_DOUBLE_EQ(metric->aggregate(rows, counts), count(counts));
  // Two classes: their difference orders the samples.
  EXPECT_DOUBLE_EQ(find("auc", {2}, pairs, labels), count(once));
  EXPECT_EQ(errorOf("auc", {3}, std::vector<float>(180), labels),
            "expected results with one score for each sample, or those of two "
            "classes, found shape 3 for each");
  EXPECT_EQ(
      errorOf("auc", {}, {1, 2}, store<uint8_t>(ElementType::U8, {2}, {1, 1})),
      "expected samples of both classes, found 2 positive ones of 2");
  EXPECT_EQ(
      errorOf("auc", {}, {1, 2}, store<uint8_t>(ElementType::U8, {2}, {1, 2})),
      "expected 0 or 1, found 2");
  EXPECT_EQ(errorOf("auc", {}, {1, NAN},
                    store<uint8_t>(ElementType::U8, {2}, {1, 0})),
            "the score is not a number");
}

// Two classes, three samples. From 0.5 on: the first sample has a right
// decision and a wrong one, the second misses its class, the third is right.
TEST_F(MetricTest, DecisionsAtAThreshold) {
  std::vector<float> scores = {0.9f, 0.6f, 0.2f, 0.4f, 0.1f, 0.5f};
  MetricLabels labels =
      store<uint8_t>(ElementType::U8, {3, 2}, {1, 0, 0, 1, 0, 1});
  // Two of three decisions are right, and two of three labels are found.
  EXPECT_DOUBLE_EQ(find("f1", {2}, scores, labels), 2.0 / 3);
  EXPECT_DOUBLE_EQ(find("f1:0.3", {2}, scores, labels), 6.0 / 7);
  EXPECT_DOUBLE_EQ(find("f1:0.55", {2}, scores, labels), 0.4);
  EXPECT_DOUBLE_EQ(find("f1", {2}, {NAN, 0, 0, 1, 0, 1}, labels), 0.8);
  auto metric = llvm::cantFail(Metric::create("f1"));
  MetricRows rows = llvm::cantFail(measure(*metric, {2}, scores, labels));
  EXPECT_DOUBLE_EQ(metric->aggregate(rows, {1, 0, 2}), 6.0 / 7);
  EXPECT_EQ(errorOf("f1", {2}, {1, 2},
                    store<uint8_t>(ElementType::U8, {1, 2}, {1, 2})),
            "expected 0 or 1, found 2");
  EXPECT_EQ(errorOf("f1", {2}, {0, 0},
                    store<uint8_t>(ElementType::U8, {1, 2}, {0, 0})),
            "no label is 1, and no score reaches 0.5");
  EXPECT_EQ(
      errorOf("f1", {2}, {0, 0}, store<uint8_t>(ElementType::U8, {1}, {0})),
      "expected 0 or 1 for each score of a sample, 2 integers, found shape a "
      "scalar of u8");
}

// By direction the first two are nearest to each other, and so are the next
// two, of different labels; the last one is alone with its label.
TEST_F(MetricTest, RetrievalFindsTheNearestOtherSample) {
  std::vector<float> embeddings = {1, 0, 9, 1, 0, 2, 1, 8, -1, 0};
  EXPECT_EQ(find("retrieval", {2}, embeddings,
                 store<int32_t>(ElementType::I32, {5}, {4, 4, 4, 6, 7})),
            1.0 * 2 / 3);
  EXPECT_EQ(find("retrieval", {2}, embeddings,
                 store<int32_t>(ElementType::I32, {5}, {4, 4, 6, 6, 7})),
            1);
  EXPECT_EQ(errorOf("retrieval", {2}, embeddings,
                    store<int32_t>(ElementType::I32, {5}, {1, 2, 3, 4, 5})),
            "every sample is alone with its label; retrieval needs two samples "
            "that show the same");
}

/// Returns the number of edits, by trying all of them.
static int countEdits(ArrayRef<int> from, ArrayRef<int> to) {
  if (from.empty() || to.empty())
    return int(from.size() + to.size());
  int changed = countEdits(from.drop_front(), to.drop_front()) +
                (from.front() != to.front());
  return std::min({changed, 1 + countEdits(from.drop_front(), to),
                   1 + countEdits(from, to.drop_front())});
}

TEST_F(MetricTest, ErrorRateCountsTheFewestEdits) {
  constexpr int kSamples = 40, kLength = 5;
  std::mt19937 random(9);
  std::vector<float> outputs;
  std::vector<int32_t> codes;
  int edits = 0, length = 0;
  for (int sample = 0; sample != kSamples; ++sample) {
    std::vector<int> found, wanted;
    for (int step = 0; step != kLength; ++step) {
      outputs.push_back(float(random() % 4) - 1);
      codes.push_back(int32_t(random() % 4) - 1);
      if (outputs.back() >= 0)
        found.push_back(int(outputs.back()));
      if (codes.back() >= 0)
        wanted.push_back(codes.back());
    }
    edits += countEdits(found, wanted);
    length += int(wanted.size());
  }
  MetricLabels labels =
      store<int32_t>(ElementType::I32, {kSamples, kLength}, codes);
  EXPECT_DOUBLE_EQ(find("error-rate", {kLength}, outputs, labels),
                   double(edits) / length);
  EXPECT_FALSE(llvm::cantFail(Metric::create("error-rate"))->isHigherBetter());
  // Steps say 1 1 0 1 2 2, which is 1 1 2 where 0 is the blank, and 1 0 1 where
  // 2 is; the label is 1 2.
  std::vector<float> scores = {0, 1, 0, 0, 1, 0, 1, 0, 0,
                               0, 1, 0, 0, 0, 1, 0, 0, 1};
  MetricLabels label = store<int64_t>(ElementType::I64, {1, 3}, {1, 2, -1});
  EXPECT_EQ(find("error-rate:0", {6, 3}, scores, label), 1.0 / 2);
  EXPECT_EQ(find("error-rate:2", {6, 3}, scores, label), 2.0 / 2);
  EXPECT_EQ(errorOf("error-rate", {6, 3}, scores, label),
            "the results are scores of 3 codes; say which of them is the "
            "blank: error-rate:0");
  EXPECT_EQ(errorOf("error-rate:3", {6, 3}, scores, label),
            "the results are scores of 3 codes; say which of them is the "
            "blank: error-rate:0");
  EXPECT_EQ(errorOf("error-rate", {2, 3, 3}, scores, label),
            "expected results with a row of codes, or of scores of all codes, "
            "found shape 2x3x3 for each sample");
  EXPECT_EQ(errorOf("error-rate", {3}, {1, 2, 3},
                    store<float>(ElementType::F32, {1, 1}, {1})),
            "expected a row of integer codes for each sample, negative ones "
            "behind its end, found f32 of shape 1 for each");
}

TEST_F(MetricTest, NamesThatAreNoneAreRefused) {
  auto error = [](llvm::StringRef text) {
    auto made = Metric::create(text);
    return made ? "" : llvm::toString(made.takeError());
  };
  EXPECT_EQ(error("top5"), "");
  EXPECT_EQ(error("accuracy"),
            "there is no metric 'accuracy'; there are top1, topK, miou, psnr, "
            "cosine, auc, f1, retrieval, error-rate");
  EXPECT_EQ(error("error-rate:0.5"), "metric 'error-rate:0.5': expected the "
                                     "code of the blank: error-rate:0");
  EXPECT_EQ(error("top0").substr(0, 26), "there is no metric 'top0';");
  EXPECT_EQ(error("psnr:x"),
            "metric 'psnr:x': expected a number behind the colon");
  EXPECT_EQ(error("psnr:0"), "metric 'psnr:0': expected a peak above 0: "
                             "psnr:255");
  EXPECT_EQ(error("miou:1"), "metric 'miou:1': expected a number of classes, "
                             "at least 2: miou:21");
  EXPECT_EQ(error("f1:inf"),
            "metric 'f1:inf': expected the score from which on there is a "
            "decision: f1:0.3");
  EXPECT_EQ(error("auc:2"), "metric 'auc:2': 'auc' has no parameter");
}

TEST_F(MetricTest, LabelsMustHaveARowForEachSample) {
  std::string path = (folder + "/bad.npy").str();
  auto writer =
      llvm::cantFail(support::NpyWriter::create(path, ElementType::F32, {}));
  float zero = 0;
  writer->write(&zero, sizeof(zero));
  llvm::cantFail(writer->commit());
  auto opened = MetricLabels::open(path);
  ASSERT_FALSE(opened);
  EXPECT_EQ(llvm::toString(opened.takeError()),
            path + ": expected labels of shape N or Nx…, found a scalar");
  std::vector<double> values;
  EXPECT_EQ(llvm::toString(
                store<uint16_t>(ElementType::F16, {1}, {0}).read(0, values)),
            (folder + "/labels.npy: expected labels of integers, f32 or f64, "
                      "found f16")
                .str());
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// Returns `count` numbers, the first `ones` of which are 1.
static std::vector<double> makeShares(size_t count, size_t ones) {
  std::vector<double> values(count, 0);
  std::fill_n(values.begin(), ones, 1);
  return values;
}

TEST(MetricLoss, SharesHaveExactIntervals) {
  std::vector<double> network = makeShares(1000, 900),
                      reference = makeShares(1000, 940);
  MetricResult found = judgeMeans("mine", true, network, reference);
  EXPECT_EQ(found.value, 0.9);
  EXPECT_EQ(*found.reference, 0.94);
  EXPECT_DOUBLE_EQ(found.loss->loss, 0.04);
  EXPECT_TRUE(found.loss->isBeyondChance());
  quantization::Interval expected =
      quantization::findPairedInterval(40, 0, 1000);
  EXPECT_EQ(found.loss->interval->low, expected.low);
  EXPECT_EQ(found.loss->interval->high, expected.high);
  EXPECT_FALSE(found.loss->samplesNeeded);
  std::string text = describeLoss(found);
  EXPECT_EQ(text.substr(0, 15), "loses 4.00 ± 1");
  EXPECT_EQ(text.substr(text.size() - 14), " points (95 %)");
  // Where little is good, the same is a gain.
  found = judgeMeans("mine", false, network, reference);
  EXPECT_DOUBLE_EQ(found.loss->loss, -0.04);
  EXPECT_EQ(describeLoss(found).substr(0, 10), "gains 4.00");
}

// 3 of 100 samples lost and 1 gained say nothing: about how many would do.
TEST(MetricLoss, TooFewSamplesAreTold) {
  std::vector<double> network = makeShares(100, 50), reference = network;
  for (int sample : {0, 1, 2})
    network[sample] = 0;
  reference[3] = 0;
  MetricResult found = judgeMeans("mine", true, network, reference);
  EXPECT_DOUBLE_EQ(found.loss->loss, 0.02);
  EXPECT_FALSE(found.loss->isBeyondChance());
  double times = std::pow(1 - found.loss->interval->low / 0.02, 2);
  EXPECT_NEAR(double(*found.loss->samplesNeeded), 100 * times, 1);
  std::string text = describeLoss(found);
  EXPECT_NE(
      text.find(" points (95 %); 100 samples are too few to tell, about " +
                std::to_string(*found.loss->samplesNeeded) + " would do"),
      std::string::npos)
      << text;
  found = judgeMeans("mine", true, network, network);
  EXPECT_NE(describeLoss(found).find(
                "; 100 samples are too few to tell a smaller difference"),
            std::string::npos);
}

/// Returns rows of one number each.
static MetricRows makeRows(std::vector<double> values) {
  MetricRows rows;
  rows.values = std::move(values);
  return rows;
}

// 40 of 1000 samples are lost: at most so many more with 95 % confidence.
TEST(MetricLoss, SharesHaveExactLimits) {
  auto metric = llvm::cantFail(Metric::create("top1"));
  MetricRows network = makeRows(makeShares(1000, 900)),
             reference = makeRows(makeShares(1000, 940));
  LossLimit found = limitLoss(*metric, network, reference, 0.06);
  EXPECT_EQ(found.samples, 1000);
  EXPECT_DOUBLE_EQ(found.loss, 0.04);
  EXPECT_EQ(*found.atMost, quantization::findPairedUpperBound(40, 0, 1000));
  EXPECT_FALSE(found.samplesNeeded);
  // A smaller limit needs more samples, and one below the loss is never shown.
  found = limitLoss(*metric, network, reference, 0.045);
  EXPECT_EQ(*found.samplesNeeded,
            *quantization::findPairedSamplesNeeded(40, 0, 1000, 0.045));
  EXPECT_FALSE(limitLoss(*metric, network, reference, 0.03).samplesNeeded);
  EXPECT_DOUBLE_EQ(limitLoss(*metric, reference, network, 0.03).loss, -0.04);
}

// The mean of 400 losses of 0 to 0.4 dB with their standard error; of errors,
// where little is good, more is a loss.
TEST(MetricLoss, NumbersHaveLimitsByABootstrap) {
  constexpr int kSamples = 400;
  std::vector<double> reference, network;
  for (int index = 0; index != kSamples; ++index) {
    reference.push_back(std::sin(index));
    network.push_back(reference.back() - 0.1 * (index % 5));
  }
  double error = 0.1 * std::sqrt(2.0 / kSamples);
  auto ratio = llvm::cantFail(Metric::create("psnr"));
  LossLimit found =
      limitLoss(*ratio, makeRows(network), makeRows(reference), 0.205);
  EXPECT_NEAR(found.loss, 0.2, 1e-12);
  EXPECT_NEAR(*found.atMost, 0.2 + 1.645 * error, 0.15 * error);
  double times = (*found.atMost - 0.2) / 0.005;
  EXPECT_NEAR(double(*found.samplesNeeded), kSamples * times * times, 2);
  EXPECT_FALSE(limitLoss(*ratio, makeRows(network), makeRows(reference), 0.25)
                   .samplesNeeded);
  network.resize(19);
  reference.resize(19);
  found = limitLoss(*ratio, makeRows(network), makeRows(reference), 0.25);
  EXPECT_FALSE(found.atMost);
  EXPECT_EQ(*found.samplesNeeded, quantization::kLeastBootstrapSamples);
  EXPECT_EQ(describeDifference(0.004, Metric::Unit::Share), "0.40 points");
  EXPECT_EQ(describeDifference(0.25, Metric::Unit::Decibels), "0.25 dB");
  EXPECT_EQ(describeDifference(0.25, Metric::Unit::Number), "0.2500");
}

// Numbers that all lose 0.25 do so in every draw; of few there is no interval.
TEST(MetricLoss, NumbersAreDrawnAgain) {
  std::vector<double> reference, network;
  for (int index = 0; index != 50; ++index) {
    reference.push_back(std::sin(index) + 2);
    network.push_back(reference.back() - 0.25);
  }
  MetricResult found = judgeMeans("mine", true, network, reference);
  EXPECT_EQ(found.unit, Metric::Unit::Number);
  EXPECT_NEAR(found.loss->interval->low, 0.25, 1e-12);
  EXPECT_NEAR(found.loss->interval->high, 0.25, 1e-12);
  EXPECT_EQ(describeLoss(found), "loses 0.2500 ± 0.0000 (95 %)");
  found = judgeMeans("mine", true, ArrayRef(network).take_front(10),
                     ArrayRef(reference).take_front(10));
  EXPECT_EQ(describeLoss(found),
            "loses 0.2500; 10 samples are too few to tell");
}

TEST(MetricLoss, NumbersForAllSamplesHaveNoInterval) {
  MetricResult found = judgeNumber("mine", false, 100, 0.75, 0.5);
  EXPECT_FALSE(found.interval);
  EXPECT_EQ(describeLoss(found), "loses 0.2500; a number for all samples "
                                 "together has no interval");
  EXPECT_EQ(describeLoss(judgeNumber("mine", true, 100, 0.75, 0.5)),
            "gains 0.2500; a number for all samples together has no interval");
  EXPECT_FALSE(judgeNumber("mine", true, 100, 0.75, {}).loss);
}
