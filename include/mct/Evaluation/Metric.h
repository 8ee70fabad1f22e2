// SPDX-License-Identifier: Apache-2.0
//
// Metrics that users judge a network by: a number for each sample, or for all
// of them, and how far two networks are apart in it beyond chance.
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

/// Labels say what is right of each sample: an `.npy` file of shape N x ….
/// Errors name the file.
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

  /// Returns an error that names the file, and the sample if it is one's own.
  llvm::Error fail(const llvm::Twine &message,
                   std::optional<int64_t> sample = std::nullopt) const;

private:
  std::shared_ptr<const support::NpyFile> file;
  int64_t elements = 1;
};

/// Each sample contributes a row of numbers.
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

/// A way to judge the results of a network for samples with labels. Each sample
/// contributes a row of numbers, from which the metric of any choice of the
/// samples follows; several threads may measure samples.
class Metric {
public:
  enum class Unit {
    /// A number between 0 and 1; printed in percent, differences in points.
    Share,
    Decibels,
    Number
  };

  virtual ~Metric();

  /// Makes a metric from its name, its parameter behind a colon where it has
  /// one, and the result that it is about behind an `@`, by name or index,
  /// where that is not the first: `top5`, `psnr:255`, `top1@labels`. The error
  /// lists what there is.
  static llvm::Expected<std::unique_ptr<Metric>> create(llvm::StringRef text);
  /// Returns a line for each metric: the name, and what it is.
  static std::vector<std::pair<std::string, std::string>> list();

  /// Returns what it was made of.
  llvm::StringRef getText() const { return text; }
  /// Returns the result that it is about; empty for the first.
  llvm::StringRef getResult() const { return result; }
  virtual Unit getUnit() const { return Unit::Share; }
  virtual bool isHigherBetter() const { return true; }
  /// Returns whether a row is one number, 0 or 1, and the metric is their mean.
  virtual bool isShareOfSamples() const { return false; }
  /// Returns whether labels are class numbers, one for each sample, and results
  /// the scores of these classes.
  virtual bool takesClasses() const { return false; }

  /// Checks that outputs of this shape, without the batch, go with the labels;
  /// comes before all others.
  virtual llvm::Error prepare(llvm::ArrayRef<int64_t> outputShape,
                              const MetricLabels &labels) = 0;
  virtual int64_t getRowLength() const { return 1; }
  /// Fills the row of one sample. `label`: its elements.
  virtual llvm::Error measure(llvm::ArrayRef<float> output,
                              llvm::ArrayRef<double> label,
                              llvm::MutableArrayRef<double> row) const = 0;
  /// Turns rows into those that `aggregate` reads, when all samples were
  /// measured. Rows may go, the same ones for each network.
  virtual llvm::Error finish(MetricRows &rows) const;
  /// Returns the metric of samples that count so often; NaN where it has none.
  /// Like `finish`, it knows of rows alone: others may have measured them.
  virtual double aggregate(const MetricRows &rows,
                           llvm::ArrayRef<uint32_t> counts) const;

private:
  std::string text, result;
};

/// Returns `share`, `dB` or `number`.
llvm::StringRef getName(Metric::Unit unit);

/// How much a network loses against a reference, in the unit of the metric.
struct MetricLoss {
  /// Positive where the network is worse, whatever the metric counts.
  double loss = 0;
  /// None where there are too few samples for one.
  std::optional<quantization::Interval> interval;
  /// How many samples would show that there is a loss, or a gain, were it as
  /// large as that found; none where these do, or where it is 0.
  std::optional<int64_t> samplesNeeded;

  /// Returns whether the interval leaves out 0.
  bool isBeyondChance() const { return interval && !interval->contains(0); }
};

/// The metric of one network.
struct MetricResult {
  std::string name;
  Metric::Unit unit = Metric::Unit::Share;
  bool isHigherBetter = true;
  /// Number of samples that count.
  int64_t samples = 0;
  /// False of one number for all samples together, which has no interval.
  bool hasRows = true;
  double value = 0;
  std::optional<quantization::Interval> interval;
  /// Value of the reference, and how much the network loses against it.
  std::optional<double> reference;
  std::optional<MetricLoss> loss;
};

/// Returns what finished rows say of a network, and of a reference, which may
/// be null.
MetricResult judge(const Metric &metric, const MetricRows &rows,
                   const MetricRows *reference);

/// How much a network loses against a reference at most.
struct LossLimit {
  /// Loss on the samples; positive where the network is worse.
  double loss = 0;
  /// Largest loss with 95 % confidence on that one side: exact for
  /// shares of samples, by a bootstrap for others. None where there are too few
  /// samples for one.
  std::optional<double> atMost;
  int64_t samples = 0;
  /// Number of samples, about, that would show that it loses no more than it
  /// may; none where these do, or where no number does.
  std::optional<int64_t> samplesNeeded;
};

/// Returns the limit for shares of samples: one number for each, 0 or 1.
LossLimit limitOfShares(llvm::ArrayRef<double> values,
                        llvm::ArrayRef<double> reference, bool isHigherBetter,
                        double allowed);
/// Returns the limit of a loss that is known for samples which count so often.
LossLimit
limitByBootstrap(int64_t samples,
                 llvm::function_ref<double(llvm::ArrayRef<uint32_t>)> findLoss,
                 double allowed);

/// Returns what finished rows say of the loss of a network that may lose so
/// much.
LossLimit limitLoss(const Metric &metric, const MetricRows &rows,
                    const MetricRows &reference, double allowed);

/// Returns what numbers, one for each sample, say, for a metric that is their
/// mean: exact where all are 0 or 1.
MetricResult judgeMeans(llvm::StringRef name, bool isHigherBetter,
                        llvm::ArrayRef<double> values,
                        std::optional<llvm::ArrayRef<double>> reference);

/// Returns what one number for all samples together says.
MetricResult judgeNumber(llvm::StringRef name, bool isHigherBetter,
                         int64_t samples, double value,
                         std::optional<double> reference);

/// Returns what the average precision of detections says, of which others know
/// the value, `value`, and that of the reference. `reference` may be null.
MetricResult judgeDetections(llvm::StringRef name, int64_t samples,
                             double value, const MatchedDetections &detections,
                             std::optional<double> referenceValue,
                             const MatchedDetections *reference);

/// Returns a value in words: `97.50 %`, `31.20 dB`.
std::string describeValue(double value, Metric::Unit unit);
/// Returns a difference of values in words: `0.40 points`, `0.10 dB`.
std::string describeDifference(double value, Metric::Unit unit);
/// Returns a loss in words, without a full stop: `loses 0.40 ± 0.30 points
/// (95 %)`; and whether the samples are too few to tell.
std::string describeLoss(const MetricResult &result);

/// Writes a JSON object; a number that is infinite or not defined is null.
void print(llvm::json::OStream &stream, const MetricResult &result);

} // namespace mct::execution

#endif // MCT_EVALUATION_METRIC_H
