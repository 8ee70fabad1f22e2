// SPDX-License-Identifier: Apache-2.0
#include "Metrics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace mct;
using namespace mct::execution;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::MutableArrayRef;
using llvm::StringRef;
using llvm::Twine;

std::string execution::describeShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "a scalar";
  return llvm::join(
      llvm::map_range(shape, [](int64_t size) { return std::to_string(size); }),
      "x");
}

/// Prints a number with up to six digits.
static std::string plain(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", value);
  return text;
}

/// Returns an error for labels that are not one integer for each sample.
static Error checkNumbers(const MetricLabels &labels,
                          const llvm::Twine &meaning) {
  if (labels.areIntegers() && labels.getNumElements() == 1)
    return Error::success();
  return labels.fail(
      "expected " + meaning + " for each sample, an integer, found " +
      (labels.getNumElements() == 1
           ? support::getName(labels.getType()).str()
           : "shape " + describeShape(labels.getShape()) + " for each"));
}

/// Returns the sums of the first two numbers of the rows, weighted by the
/// counts of the rows.
static std::pair<double, double> sumColumns(const MetricRows &rows,
                                            ArrayRef<uint32_t> counts) {
  double first = 0, second = 0;
  for (auto [row, count] : llvm::enumerate(counts)) {
    first += count * rows[int64_t(row)][0];
    second += count * rows[int64_t(row)][1];
  }
  return {first, second};
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

namespace {
/// Share of the samples whose class has one of the largest scores.
class TopClasses : public Metric {
public:
  explicit TopClasses(int64_t most) : most(most) {}

  bool isShareOfSamples() const override { return true; }
  bool takesClasses() const override { return true; }

  Error prepare(ArrayRef<int64_t> shape, const MetricLabels &labels) override {
    classes = llvm::product_of(shape);
    if (!llvm::is_contained(shape, classes))
      return refuse("expected results with one score for each class of a "
                    "sample, found shape " +
                    describeShape(shape) + " for each");
    if (classes <= most)
      return refuse("the class of every sample is among the largest " +
                    Twine(most) + " of " + Twine(classes) +
                    " scores; take fewer: top1");
    return checkNumbers(labels, "one class number");
  }

  /// The first one of equal scores is the larger one; a result with a NaN has
  /// no right answer.
  Error measure(ArrayRef<float> output, ArrayRef<double> label,
                MutableArrayRef<double> row) const override {
    if (label[0] < 0 || label[0] >= double(classes))
      return refuse("expected classes in [0, " + Twine(classes) +
                    "), as many as the output has scores, found " +
                    plain(label[0]));
    auto own = size_t(label[0]);
    int64_t ahead = 0;
    for (auto [index, score] : llvm::enumerate(output)) {
      if (std::isnan(score))
        ahead = classes;
      ahead += score > output[own] || (score == output[own] && index < own);
    }
    row[0] = ahead < most;
    return Error::success();
  }

private:
  int64_t most, classes = 0;
};

/// Mean over the classes of the pixels that both the result and the label
/// assign to the class, divided by those that at least one of them does.
class MeanOverlap : public Metric {
public:
  explicit MeanOverlap(std::optional<int64_t> given) : given(given) {}

  Error prepare(ArrayRef<int64_t> shape, const MetricLabels &labels) override {
    if (!labels.areIntegers())
      return labels.fail("expected the class number of each pixel, an integer, "
                         "found " +
                         support::getName(labels.getType()));
    pixels = labels.getNumElements();
    auto withoutOnes = [](ArrayRef<int64_t> sizes) {
      return llvm::filter_to_vector(sizes,
                                    [](int64_t size) { return size != 1; });
    };
    auto own = withoutOnes(shape), theirs = withoutOnes(labels.getShape());
    ArrayRef<int64_t> sizes(own), expected(theirs);
    if (sizes == expected) {
      if (!given)
        return refuse("the results are class numbers; say of how many classes: "
                      "miou:21");
      classes = *given;
      areScores = false;
      return Error::success();
    }
    isLast = !sizes.empty() && sizes.drop_back() == expected;
    if (!isLast && (sizes.empty() || sizes.drop_front() != expected))
      return labels.fail("expected one class number for each pixel of the "
                         "results, which have shape " +
                         describeShape(shape) +
                         " for each sample, classes last or first, found "
                         "shape " +
                         describeShape(labels.getShape()));
    classes = isLast ? sizes.back() : sizes.front();
    if (given && *given != classes)
      return refuse("the results have scores of " + Twine(classes) +
                    " classes, not of " + Twine(*given));
    return Error::success();
  }

  int64_t getRowLength() const override { return 2 * classes; }

  /// A row has for each class the pixels of both, and then those of either.
  Error measure(ArrayRef<float> output, ArrayRef<double> label,
                MutableArrayRef<double> row) const override {
    std::fill(row.begin(), row.end(), 0);
    for (auto [pixel, expected] : llvm::enumerate(label)) {
      // In many data sets, 255 marks pixels without a class.
      if (expected < 0 || (expected == 255 && classes <= 255))
        continue;
      if (expected >= double(classes))
        return refuse("expected classes in [0, " + Twine(classes) +
                      "), or a negative number or 255 where none counts, "
                      "found " +
                      plain(expected));
      auto own = int64_t(expected), found = findClass(output, int64_t(pixel));
      row[classes + own] += 1;
      if (found == own)
        row[own] += 1;
      else if (found >= 0)
        row[classes + found] += 1;
    }
    return Error::success();
  }

  double aggregate(const MetricRows &rows,
                   ArrayRef<uint32_t> counts) const override {
    int64_t rowClasses = rows.length / 2;
    std::vector<double> sums(size_t(rows.length), 0);
    for (auto [row, count] : llvm::enumerate(counts))
      if (count)
        for (auto [sum, value] : llvm::zip_equal(sums, rows[int64_t(row)]))
          sum += count * value;
    double total = 0;
    int64_t present = 0;
    for (int64_t index = 0; index != rowClasses; ++index)
      if (double any = sums[size_t(rowClasses + index)]; any > 0) {
        total += sums[size_t(index)] / any;
        ++present;
      }
    return total / double(present);
  }

private:
  /// Returns the class of a pixel, or -1 if it has none.
  int64_t findClass(ArrayRef<float> output, int64_t pixel) const {
    if (!areScores) {
      float found = output[pixel];
      return found >= 0 && found < float(classes) ? int64_t(found) : -1;
    }
    int64_t best = -1;
    float largest = 0;
    for (int64_t index = 0; index != classes; ++index) {
      float score =
          output[isLast ? pixel * classes + index : index * pixels + pixel];
      if (std::isnan(score))
        return -1;
      if (best < 0 || score > largest) {
        best = index;
        largest = score;
      }
    }
    return best;
  }

  std::optional<int64_t> given;
  int64_t classes = 0, pixels = 0;
  bool areScores = true, isLast = true;
};

/// Share of the pairs of a positive and a negative sample of which the positive
/// one has the larger score; equal scores count half.
class CurveArea : public Metric {
public:
  Error prepare(ArrayRef<int64_t> shape, const MetricLabels &labels) override {
    scores = llvm::product_of(shape);
    if (scores != 1 && scores != 2)
      return refuse("expected results with one score for each sample, or those "
                    "of two classes, found shape " +
                    describeShape(shape) + " for each");
    return checkNumbers(labels, "0 or 1");
  }

  int64_t getRowLength() const override { return 2; }

  /// A row has the score, and whether the sample is positive.
  Error measure(ArrayRef<float> output, ArrayRef<double> label,
                MutableArrayRef<double> row) const override {
    if (label[0] != 0 && label[0] != 1)
      return refuse("expected 0 or 1, found " + plain(label[0]));
    row[0] =
        scores == 1 ? double(output[0]) : double(output[1]) - double(output[0]);
    row[1] = label[0];
    if (std::isnan(row[0]))
      return refuse("the score is not a number");
    return Error::success();
  }

  /// Scores become their ranks, so that draws need not sort.
  Error finish(MetricRows &rows) const override {
    std::vector<double> sorted;
    int64_t positive = 0;
    for (int64_t row = 0; row != rows.getNumRows(); ++row) {
      sorted.push_back(rows[row][0]);
      positive += rows[row][1] == 1;
    }
    if (positive == 0 || positive == rows.getNumRows())
      return refuse("expected samples of both classes, found " +
                    Twine(positive) + " positive ones of " +
                    Twine(rows.getNumRows()));
    llvm::sort(sorted);
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    for (int64_t row = 0; row != rows.getNumRows(); ++row)
      rows[row][0] =
          double(llvm::lower_bound(sorted, rows[row][0]) - sorted.begin());
    return Error::success();
  }

  double aggregate(const MetricRows &rows,
                   ArrayRef<uint32_t> counts) const override {
    // Positive and negative samples by rank.
    std::vector<std::pair<double, double>> ranks(counts.size());
    for (auto [row, count] : llvm::enumerate(counts)) {
      auto &[positive, negative] = ranks[size_t(rows[int64_t(row)][0])];
      (rows[int64_t(row)][1] == 1 ? positive : negative) += count;
    }
    double ordered = 0, positives = 0, negatives = 0;
    for (auto [positive, negative] : ranks) {
      ordered += positive * (negatives + negative / 2);
      positives += positive;
      negatives += negative;
    }
    return ordered / (positives * negatives);
  }

private:
  int64_t scores = 1;
};

/// F1 score of decisions: twice the number of right ones, divided by the number
/// of decisions plus that of labels that are 1. NaN is not a decision.
class Decisions : public Metric {
public:
  explicit Decisions(double threshold) : threshold(threshold) {}

  Error prepare(ArrayRef<int64_t> shape, const MetricLabels &labels) override {
    if (labels.areIntegers() &&
        llvm::product_of(shape) == labels.getNumElements())
      return Error::success();
    return labels.fail("expected 0 or 1 for each score of a sample, " +
                       describeShape(shape) + " integers, found shape " +
                       describeShape(labels.getShape()) + " of " +
                       support::getName(labels.getType()));
  }

  int64_t getRowLength() const override { return 2; }

  /// A row has the right decisions, then all decisions and all labels that are
  /// 1.
  Error measure(ArrayRef<float> output, ArrayRef<double> label,
                MutableArrayRef<double> row) const override {
    row[0] = row[1] = 0;
    for (auto [score, expected] : llvm::zip_equal(output, label)) {
      if (expected != 0 && expected != 1)
        return refuse("expected 0 or 1, found " + plain(expected));
      bool isDecided = double(score) >= threshold;
      row[0] += isDecided && expected == 1;
      row[1] += double(isDecided) + expected;
    }
    return Error::success();
  }

  Error finish(MetricRows &rows) const override {
    for (int64_t row = 0; row != rows.getNumRows(); ++row)
      if (rows[row][1] > 0)
        return Error::success();
    return refuse("no label is 1, and no score reaches " + plain(threshold));
  }

  double aggregate(const MetricRows &rows,
                   ArrayRef<uint32_t> counts) const override {
    auto [right, all] = sumColumns(rows, counts);
    return 2 * right / all;
  }

private:
  double threshold;
};

/// Share of the samples whose nearest other sample, by the cosine of their
/// results, has the same label. Samples that are alone with their label do not
/// count, but may be the nearest one.
class Retrieval : public Metric {
public:
  bool isShareOfSamples() const override { return true; }

  Error prepare(ArrayRef<int64_t> shape, const MetricLabels &labels) override {
    length = llvm::product_of(shape);
    return checkNumbers(labels, "the number of what a sample shows");
  }

  int64_t getRowLength() const override { return length + 1; }

  /// A row has the result, of length 1, and the label.
  Error measure(ArrayRef<float> output, ArrayRef<double> label,
                MutableArrayRef<double> row) const override {
    double square = 0;
    for (float value : output)
      square += double(value) * double(value);
    double scale = square > 0 ? 1 / std::sqrt(square) : 0;
    for (auto [index, value] : llvm::enumerate(output))
      row[index] = double(value) * scale;
    row[size_t(length)] = label[0];
    return Error::success();
  }

  Error finish(MetricRows &rows) const override {
    std::map<double, int64_t> sizes;
    for (int64_t row = 0; row != rows.getNumRows(); ++row)
      ++sizes[rows[row].back()];
    std::vector<double> right;
    for (int64_t row = 0; row != rows.getNumRows(); ++row)
      if (sizes[rows[row].back()] > 1)
        right.push_back(rows[findNearest(rows, row)].back() ==
                        rows[row].back());
    if (right.empty())
      return refuse("every sample is alone with its label; retrieval needs two "
                    "samples that show the same");
    rows.length = 1;
    rows.values = std::move(right);
    return Error::success();
  }

private:
  static int64_t findNearest(const MetricRows &rows, int64_t of) {
    int64_t nearest = -1;
    double largest = -HUGE_VAL;
    for (int64_t row = 0; row != rows.getNumRows(); ++row) {
      ArrayRef<double> own = rows[of].drop_back(), other = rows[row];
      double product = 0;
      for (size_t index = 0; index != own.size(); ++index)
        product += own[index] * other[index];
      // A NaN is nearer than no sample.
      if (row != of && (nearest < 0 || product > largest)) {
        nearest = row;
        largest = std::isnan(product) ? -HUGE_VAL : product;
      }
    }
    return nearest;
  }

  int64_t length = 1;
};

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// Number of codes that must be inserted, deleted or replaced to turn results
/// into labels, divided by the number of codes of all labels.
class ErrorRate : public Metric {
public:
  explicit ErrorRate(std::optional<int64_t> blank) : blank(blank) {}

  bool isHigherBetter() const override { return false; }

  Error prepare(ArrayRef<int64_t> shape, const MetricLabels &labels) override {
    if (!labels.areIntegers() || labels.getShape().size() != 1)
      return labels.fail("expected a row of integer codes for each sample, "
                         "negative ones behind its end, found " +
                         support::getName(labels.getType()) + " of shape " +
                         describeShape(labels.getShape()) + " for each");
    if (shape.size() == 1)
      return Error::success();
    if (shape.size() != 2)
      return refuse("expected results with a row of codes, or of scores of all "
                    "codes, found shape " +
                    describeShape(shape) + " for each sample");
    codes = shape.back();
    if (!blank || *blank >= codes)
      return refuse("the results are scores of " + Twine(codes) +
                    " codes; say which of them is the blank: error-rate:0");
    return Error::success();
  }

  int64_t getRowLength() const override { return 2; }

  /// A row has the number of edits, and of codes of the label.
  Error measure(ArrayRef<float> output, ArrayRef<double> label,
                MutableArrayRef<double> row) const override {
    std::vector<int64_t> found = readCodes(output), expected;
    for (double code : label)
      if (code >= 0)
        expected.push_back(int64_t(code));
    // Number of edits from the codes so far to each prefix of the label.
    std::vector<int64_t> edits(expected.size() + 1);
    std::iota(edits.begin(), edits.end(), 0);
    for (int64_t code : found) {
      int64_t before = edits[0]++;
      for (size_t index = 0; index != expected.size(); ++index) {
        int64_t changed = before + (code != expected[index]);
        before = edits[index + 1];
        edits[index + 1] = std::min({changed, before + 1, edits[index] + 1});
      }
    }
    row[0] = double(edits.back());
    row[1] = double(expected.size());
    return Error::success();
  }

  double aggregate(const MetricRows &rows,
                   ArrayRef<uint32_t> counts) const override {
    auto [edits, length] = sumColumns(rows, counts);
    return edits / length;
  }

private:
  /// Returns the codes of a result: those that are not negative, or the code
  /// with the largest score of each step, without repetitions and blanks.
  std::vector<int64_t> readCodes(ArrayRef<float> output) const {
    std::vector<int64_t> found;
    if (codes == 0) {
      for (float code : output)
        if (code >= 0)
          found.push_back(int64_t(code));
      return found;
    }
    int64_t last = -1;
    for (; !output.empty(); output = output.drop_front(size_t(codes))) {
      ArrayRef<float> step = output.take_front(size_t(codes));
      auto best = int64_t(llvm::max_element(step) - step.begin());
      if (best != last && best != *blank)
        found.push_back(best);
      last = best;
    }
    return found;
  }

  std::optional<int64_t> blank;
  /// Number of codes that have scores; 0 where results are codes.
  int64_t codes = 0;
};

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Base of metrics whose labels are the expected results.
class Reconstruction : public Metric {
public:
  Error prepare(ArrayRef<int64_t> shape, const MetricLabels &labels) override {
    if (llvm::product_of(shape) == labels.getNumElements())
      return Error::success();
    return labels.fail("expected labels of the shape of the results, " +
                       describeShape(shape) + " for each sample, found " +
                       describeShape(labels.getShape()));
  }
};

/// Mean over the samples of the ratio of the squared peak to the mean squared
/// error, in dB.
class PeakRatio : public Reconstruction {
public:
  explicit PeakRatio(std::optional<double> given) : given(given) {}

  Unit getUnit() const override { return Unit::Decibels; }

  Error prepare(ArrayRef<int64_t> shape, const MetricLabels &labels) override {
    peak = given                                          ? *given
           : labels.getType() == support::ElementType::U8 ? 255
                                                          : 1;
    return Reconstruction::prepare(shape, labels);
  }

  Error measure(ArrayRef<float> output, ArrayRef<double> label,
                MutableArrayRef<double> row) const override {
    double error = 0;
    for (auto [value, expected] : llvm::zip_equal(output, label)) {
      if (!given && (expected < 0 || expected > peak))
        return refuse("expected values in [0, " + plain(peak) + "], found " +
                      plain(expected) +
                      "; say how far the smallest and the largest value may be "
                      "apart: psnr:2");
      error += (double(value) - expected) * (double(value) - expected);
    }
    row[0] = 10 * std::log10(peak * peak * double(label.size()) / error);
    return Error::success();
  }

private:
  std::optional<double> given;
  double peak = 1;
};

/// Mean over the samples of the cosine of result and label.
class Cosine : public Reconstruction {
public:
  Unit getUnit() const override { return Unit::Number; }

  Error measure(ArrayRef<float> output, ArrayRef<double> label,
                MutableArrayRef<double> row) const override {
    double own = 0, other = 0, product = 0;
    for (auto [value, expected] : llvm::zip_equal(output, label)) {
      own += double(value) * double(value);
      other += expected * expected;
      product += double(value) * expected;
    }
    // Zeros have no direction: they are similar only to zeros.
    bool isZero = own == 0 || other == 0;
    row[0] = isZero ? double(own == other) : product / std::sqrt(own * other);
    return Error::success();
  }
};
} // namespace

Expected<std::unique_ptr<Metric>>
execution::createMetric(StringRef name, std::optional<double> parameter) {
  auto takesNone =
      [&](std::unique_ptr<Metric> made) -> Expected<std::unique_ptr<Metric>> {
    if (parameter)
      return refuse("'" + name + "' has no parameter");
    return made;
  };
  int64_t most = 0;
  if (StringRef rest = name;
      rest.consume_front("top") && !rest.getAsInteger(10, most) && most > 0)
    return takesNone(std::make_unique<TopClasses>(most));
  if (name == "miou") {
    if (parameter && (*parameter < 2 || *parameter != std::floor(*parameter)))
      return refuse("expected a number of classes, at least 2: miou:21");
    return std::make_unique<MeanOverlap>(
        parameter ? std::optional(int64_t(*parameter)) : std::nullopt);
  }
  if (name == "psnr") {
    if (parameter && !(*parameter > 0 && std::isfinite(*parameter)))
      return refuse("expected a peak above 0: psnr:255");
    return std::make_unique<PeakRatio>(parameter);
  }
  if (name == "cosine")
    return takesNone(std::make_unique<Cosine>());
  if (name == "auc")
    return takesNone(std::make_unique<CurveArea>());
  if (name == "f1") {
    if (parameter && !std::isfinite(*parameter))
      return refuse("expected the score from which on there is a decision: "
                    "f1:0.3");
    return std::make_unique<Decisions>(parameter.value_or(0.5));
  }
  if (name == "error-rate") {
    if (parameter && (*parameter < 0 || *parameter != std::floor(*parameter)))
      return refuse("expected the code of the blank: error-rate:0");
    return std::make_unique<ErrorRate>(
        parameter ? std::optional(int64_t(*parameter)) : std::nullopt);
  }
  if (name == "retrieval")
    return takesNone(std::make_unique<Retrieval>());
  return std::unique_ptr<Metric>();
}
