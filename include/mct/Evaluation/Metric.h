// SPDX-License-Identifier: Apache-2.0
//
// Metrics by which users judge a network: a number for each sample, or for all
// of them, and whether the difference between two networks is beyond chance.
#ifndef MCT_EVALUATION_METRIC_H
#define MCT_EVALUATION_METRIC_H

#include "mct/Evaluation/Precision.h"
#include "mct/Quantization/Confidence.h"
#include "mct/Support/Npy.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mct::execution {

/// Labels of samples: an `.npy` file of shape N x …. Errors name the file.
class MetricLabels {
public:
  static llvm::Expected<MetricLabels> open(llvm::StringRef path);

  llvm::StringRef getPath() const { return file->name(); }
  int64_t getNumSamples() const { return file->shape().front(); }
  /// Returns the shape of the label of one sample; empty for a number.
  llvm::ArrayRef<int64_t> getShape() const {
    return file->shape().drop_front();
  }
  int64_t getNumElements() const { return elements; }
  support::ElementType getType() const { return file->elementType(); }
  bool areIntegers() const;

  /// Reads the elements of the label of a sample.
  llvm::Error read(int64_t sample, std::vector<double> &values) const;

  /// Returns an error that names the file, and the sample if there is one.
  llvm::Error fail(const llvm::Twine &message,
                   std::optional<int64_t> sample = std::nullopt) const;

private:
  std::shared_ptr<const support::NpyFile> file;
  int64_t elements = 1;
};

/// Rows of numbers; each sample contributes one row.
struct MetricRows {
  int64_t length = 1;
  std::vector<double> values;

  int64_t getNumRows() const { return int64_t(values.size()) / length; }
  llvm::ArrayRef<double> operator[](int64_t row) const {
    return llvm::ArrayRef<double>(values).slice(row * length, length);
  }
  llvm::MutableArrayRef<double> operator[](int64_t row) {
    return llvm::MutableArrayRef<double>(values).slice(row * length, length);
  }
};

/// A metric of the results of a network for samples with labels. Each sample
/// contributes a row of numbers, from which the metric of any selection of the
/// samples is computed. Several threads may measure samples.
class Metric {
public:
  enum class Unit {
    /// A number between 0 and 1; printed in percent, differences in points.
    Share,
    Decibels,
    Number
  };

  virtual ~Metric();

  /// Creates a metric from its name. A parameter follows after a colon, and the
  /// result that it applies to, by name or index, after an `@` if it is not the
  /// first one: `top5`, `psnr:255`, `top1@labels`. The error lists the known
  /// metrics.
  static llvm::Expected<std::unique_ptr<Metric>> create(llvm::StringRef text);
  /// Returns a line for each metric: its name and its description.
  static std::vector<std::pair<std::string, std::string>> list();

  /// Returns the text that the metric was created from.
  llvm::StringRef getText() const { return text; }
  /// Returns the result that it applies to; empty for the first.
  llvm::StringRef getResult() const { return result; }
  virtual Unit getUnit() const { return Unit::Share; }
  virtual bool isHigherBetter() const { return true; }
  /// Returns whether a row is one number, 0 or 1, and the metric is their mean.
  virtual bool isShareOfSamples() const { return false; }
  /// Returns whether labels are class numbers, one for each sample, and results
  /// the scores of these classes.
  virtual bool takesClasses() const { return false; }

  /// Checks that outputs of this shape, without the batch, fit the labels. Must
  /// be called before all other functions.
  virtual llvm::Error prepare(llvm::ArrayRef<int64_t> outputShape,
                              const MetricLabels &labels) = 0;
  virtual int64_t getRowLength() const { return 1; }
  /// Computes the row of one sample. `label` has the elements of its label.
  virtual llvm::Error measure(llvm::ArrayRef<float> output,
                              llvm::ArrayRef<double> label,
                              llvm::MutableArrayRef<double> row) const = 0;
  /// Converts rows to those that `aggregate` uses, after all samples were
  /// measured. Rows may be dropped, the same ones for each network.
  virtual llvm::Error finish(MetricRows &rows) const;
  /// Returns the metric of samples that occur `counts` times; NaN if it has no
  /// value. Like `finish`, it depends on the rows alone, which others may have
  /// measured.
  virtual double aggregate(const MetricRows &rows,
                           llvm::ArrayRef<uint32_t> counts) const;

private:
  std::string text, result;
};

/// Returns `share`, `dB` or `number`.
llvm::StringRef getName(Metric::Unit unit);

/// Loss of a network against a reference, in the unit of the metric.
struct MetricLoss {
  /// Positive if the network is worse, whatever the direction of the metric.
  double loss = 0;
  /// Interval of the loss; none if there are too few samples.
  std::optional<quantization::Interval> interval;
  /// Number of samples that would show that there is a loss, or a gain, if it
  /// were as large as the one found; none if these samples do, or if it is 0.
  std::optional<int64_t> samplesNeeded;

  /// Returns whether the interval excludes 0.
  bool isBeyondChance() const { return interval && !interval->contains(0); }
};

/// The metric of a network.
struct MetricResult {
  std::string name;
  Metric::Unit unit = Metric::Unit::Share;
  bool isHigherBetter = true;
  /// Number of samples that count.
  int64_t samples = 0;
  /// False for one number for all samples together, which has no interval.
  bool hasRows = true;
  double value = 0;
  std::optional<quantization::Interval> interval;
  /// Value of the reference, and the loss of the network against it.
  std::optional<double> reference;
  std::optional<MetricLoss> loss;
};

/// Returns the result of finished rows of a network, and of a reference, which
/// may be null.
MetricResult judge(const Metric &metric, const MetricRows &rows,
                   const MetricRows *reference);

/// Upper bound of the loss of a network against a reference.
struct LossLimit {
  /// Loss on the samples; positive if the network is worse.
  double loss = 0;
  /// One-sided confidence of `atMost`.
  double confidence = quantization::kConfidence;
  /// Largest loss with that confidence: exact for shares of samples, by a
  /// bootstrap for others. None if there are too few samples.
  std::optional<double> atMost;
  int64_t samples = 0;
  /// Approximate number of samples that would show that the loss is no larger
  /// than allowed; none if these samples do, or if no number does.
  std::optional<int64_t> samplesNeeded;
};

/// Returns the bound for shares of samples: one number for each, 0 or 1.
LossLimit limitOfShares(llvm::ArrayRef<double> values,
                        llvm::ArrayRef<double> reference, bool isHigherBetter,
                        double allowed,
                        double confidence = quantization::kConfidence);
/// Returns the bound of a loss that `findLoss` computes for samples that occur
/// so often.
LossLimit
limitByBootstrap(int64_t samples,
                 llvm::function_ref<double(llvm::ArrayRef<uint32_t>)> findLoss,
                 double allowed, double confidence = quantization::kConfidence);

/// Returns the bound for finished rows of a network whose loss may be
/// `allowed`.
LossLimit limitLoss(const Metric &metric, const MetricRows &rows,
                    const MetricRows &reference, double allowed,
                    double confidence = quantization::kConfidence);

/// Returns the result of a metric that is the mean of one number for each
/// sample; exact if all are 0 or 1.
MetricResult judgeMeans(llvm::StringRef name, bool isHigherBetter,
                        llvm::ArrayRef<double> values,
                        std::optional<llvm::ArrayRef<double>> reference);

/// Returns the result of a metric with one number for all samples together.
MetricResult judgeNumber(llvm::StringRef name, bool isHigherBetter,
                         int64_t samples, double value,
                         std::optional<double> reference);

/// Returns the result of the average precision of detections. The caller has
/// computed its values, `value` and that of the reference. `reference` may be
/// null.
MetricResult judgeDetections(llvm::StringRef name, int64_t samples,
                             double value, const MatchedDetections &detections,
                             std::optional<double> referenceValue,
                             const MatchedDetections *reference);

/// Returns a value with its unit: `97.50 %`, `31.20 dB`.
std::string describeValue(double value, Metric::Unit unit);
/// Returns a difference of values with its unit: `0.40 points`, `0.10 dB`.
std::string describeDifference(double value, Metric::Unit unit);
/// Returns a description of a loss, without a full stop: `loses 0.40 ± 0.30
/// points (95 %)`; it mentions if there are too few samples to decide.
std::string describeLoss(const MetricResult &result);

/// Writes a JSON object; a number that is infinite or NaN is null.
void print(llvm::json::OStream &stream, const MetricResult &result);

} // namespace mct::execution

#endif // MCT_EVALUATION_METRIC_H
