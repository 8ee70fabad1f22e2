// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/Metric.h"

#include "JsonNumber.h"
#include "Metrics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mct;
using namespace mct::execution;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
using quantization::Interval;
using support::ElementType;

Error execution::refuse(const Twine &message) {
  return llvm::createStringError(message);
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

Expected<MetricLabels> MetricLabels::open(StringRef path) {
  auto file = support::NpyFile::open(path);
  if (!file)
    return file.takeError();
  MetricLabels labels;
  labels.file = std::move(*file);
  ArrayRef<int64_t> shape = labels.file->shape();
  if (shape.empty())
    return labels.fail("expected labels of shape N or Nx…, found a scalar");
  if (labels.file->isFortranOrder() && shape.size() > 1)
    return labels.fail("expected rows that are contiguous, found the order of "
                       "Fortran; numpy.ascontiguousarray changes it");
  labels.elements = llvm::product_of(shape.drop_front());
  return labels;
}

bool MetricLabels::areIntegers() const {
  ElementType type = getType();
  return type != ElementType::F16 && type != ElementType::F32 &&
         type != ElementType::F64;
}

Error MetricLabels::fail(const Twine &message,
                         std::optional<int64_t> sample) const {
  return refuse(getPath() + ": " +
                (sample ? "label " + std::to_string(*sample) + ": " : "") +
                message);
}

Error MetricLabels::read(int64_t sample, std::vector<double> &values) const {
  auto convert = [&](auto zero) -> Error {
    using T = decltype(zero);
    std::vector<T> raw(static_cast<size_t>(elements));
    if (Error error = file->read(uint64_t(sample * elements) * sizeof(T),
                                 raw.size() * sizeof(T), raw.data()))
      return error;
    values.assign(raw.begin(), raw.end());
    return Error::success();
  };
  switch (getType()) {
  case ElementType::F32:
    return convert(float());
  case ElementType::F64:
    return convert(double());
  case ElementType::I8:
    return convert(int8_t());
  case ElementType::U8:
  case ElementType::Bool:
    return convert(uint8_t());
  case ElementType::I16:
    return convert(int16_t());
  case ElementType::U16:
    return convert(uint16_t());
  case ElementType::I32:
    return convert(int32_t());
  case ElementType::U32:
    return convert(uint32_t());
  case ElementType::I64:
    return convert(int64_t());
  case ElementType::F16:
    break;
  }
  return fail("expected labels of integers, f32 or f64, found " +
              support::getName(getType()));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Metric::~Metric() = default;

Error Metric::finish(MetricRows &) const { return Error::success(); }

double Metric::aggregate(const MetricRows &rows,
                         ArrayRef<uint32_t> counts) const {
  double sum = 0, samples = 0;
  for (auto [row, count] : llvm::enumerate(counts))
    if (count) {
      sum += count * rows[int64_t(row)][0];
      samples += count;
    }
  return sum / samples;
}

std::vector<std::pair<std::string, std::string>> Metric::list() {
  return {
      {"top1", "share of the samples whose label has the largest score"},
      {"topK",
       "share of the samples whose label is among the K largest scores"},
      {"miou",
       "mean over the classes of intersection over union of the pixels; "
       "miou:CLASSES for results that are class numbers"},
      {"psnr", "peak signal-to-noise ratio in dB, mean over the samples; "
               "psnr:PEAK (default: 255 for labels of u8, else 1)"},
      {"cosine", "cosine of result and label, mean over the samples"},
      {"auc", "area under the receiver operating characteristic, for labels 0 "
              "and 1"},
      {"f1",
       "F1 score of decisions, labels 0 or 1 for each score; f1:THRESHOLD "
       "(default: 0.5) says from where on a score is one"},
      {"retrieval", "share of the samples whose nearest other sample has the "
                    "same label"},
      {"error-rate",
       "edits between result and label by the length of the label; "
       "error-rate:BLANK for results that are scores"}};
}

Expected<std::unique_ptr<Metric>> Metric::create(StringRef text) {
  auto [head, result] = text.split('@');
  if (text.contains('@') && result.empty())
    return refuse("metric '" + text +
                  "': expected the name or the index of a result behind '@'");
  auto [name, value] = head.split(':');
  std::optional<double> parameter;
  if (head.contains(':')) {
    double number = 0;
    if (value.getAsDouble(number))
      return refuse("metric '" + text +
                    "': expected a number behind the colon");
    parameter = number;
  }
  auto made = createMetric(name, parameter);
  if (!made)
    return refuse("metric '" + text + "': " + llvm::toString(made.takeError()));
  if (!*made && (name == "ap" || name == "ap50"))
    return refuse("metric '" + text +
                  "' is computed by pycocotools, which Python calls: use mct "
                  "run, mct quantize, or the package");
  if (!*made)
    return refuse(
        "there is no metric '" + text + "'; there are " +
        llvm::join(llvm::map_range(list(),
                                   [](const auto &each) { return each.first; }),
                   ", "));
  (*made)->text = text.str();
  (*made)->result = result.str();
  return made;
}

//===----------------------------------------------------------------------===//
// Judgement
//===----------------------------------------------------------------------===//

/// Returns how many samples would show a loss of that size.
static std::optional<int64_t> findSamplesNeeded(const MetricLoss &loss,
                                                int64_t samples) {
  if (!loss.interval || loss.isBeyondChance() || loss.loss == 0)
    return std::nullopt;
  double width = loss.loss > 0 ? loss.loss - loss.interval->low
                               : loss.interval->high - loss.loss;
  double times = std::pow(width / loss.loss, 2);
  if (!(times * double(samples) < 1e12))
    return std::nullopt;
  return int64_t(std::ceil(times * double(samples)));
}

/// Returns how many samples a network loses against the reference, and how many
/// it gains.
static std::pair<int64_t, int64_t> countChanges(ArrayRef<double> values,
                                                ArrayRef<double> reference,
                                                bool isHigherBetter) {
  int64_t less = 0, more = 0;
  for (auto [own, other] : llvm::zip_equal(values, reference)) {
    less += own < other;
    more += own > other;
  }
  return isHigherBetter ? std::pair(less, more) : std::pair(more, less);
}

/// Judges shares of samples, which have exact intervals.
static void judgeShares(ArrayRef<double> values,
                        std::optional<ArrayRef<double>> reference,
                        MetricResult &result) {
  auto having = int64_t(llvm::count(values, 1.0));
  result.value = double(having) / double(result.samples);
  result.interval = quantization::findShareInterval(having, result.samples);
  if (!reference)
    return;
  result.reference =
      double(llvm::count(*reference, 1.0)) / double(result.samples);
  auto [lost, gained] = countChanges(values, *reference, result.isHigherBetter);
  MetricLoss &loss = result.loss.emplace();
  loss.loss = double(lost - gained) / double(result.samples);
  loss.interval =
      quantization::findPairedInterval(lost, gained, result.samples);
}

/// Computes value and interval by a bootstrap of the samples. The first
/// argument of `aggregate` selects the reference.
static void
judgeByBootstrap(llvm::function_ref<double(bool, ArrayRef<uint32_t>)> aggregate,
                 bool hasReference, MetricResult &result) {
  std::vector<uint32_t> once(size_t(result.samples), 1);
  result.value = aggregate(false, once);
  result.interval =
      quantization::bootstrap(result.samples, [&](ArrayRef<uint32_t> counts) {
        return aggregate(false, counts);
      });
  if (!hasReference)
    return;
  result.reference = aggregate(true, once);
  auto findLoss = [&](ArrayRef<uint32_t> counts) {
    double gain = aggregate(false, counts) - aggregate(true, counts);
    return result.isHigherBetter ? -gain : gain;
  };
  MetricLoss &loss = result.loss.emplace();
  loss.loss = findLoss(once);
  loss.interval = quantization::bootstrap(result.samples, findLoss);
}

MetricResult execution::judge(const Metric &metric, const MetricRows &rows,
                              const MetricRows *reference) {
  MetricResult result;
  result.name = metric.getText().str();
  result.unit = metric.getUnit();
  result.isHigherBetter = metric.isHigherBetter();
  result.samples = rows.getNumRows();
  if (metric.isShareOfSamples())
    judgeShares(rows.values,
                reference ? std::optional(ArrayRef<double>(reference->values))
                          : std::nullopt,
                result);
  else
    judgeByBootstrap(
        [&](bool ofReference, ArrayRef<uint32_t> counts) {
          return metric.aggregate(ofReference ? *reference : rows, counts);
        },
        reference != nullptr, result);
  if (result.loss)
    result.loss->samplesNeeded =
        findSamplesNeeded(*result.loss, result.samples);
  return result;
}

LossLimit execution::limitOfShares(ArrayRef<double> values,
                                   ArrayRef<double> reference,
                                   bool isHigherBetter, double allowed,
                                   double confidence) {
  LossLimit limit;
  limit.confidence = confidence;
  limit.samples = int64_t(values.size());
  auto [lost, gained] = countChanges(values, reference, isHigherBetter);
  limit.loss = double(lost - gained) / double(limit.samples);
  limit.atMost = quantization::findPairedUpperBound(lost, gained, limit.samples,
                                                    confidence);
  if (*limit.atMost > allowed)
    limit.samplesNeeded = quantization::findPairedSamplesNeeded(
        lost, gained, limit.samples, allowed, confidence);
  return limit;
}

LossLimit execution::limitByBootstrap(
    int64_t samples, llvm::function_ref<double(ArrayRef<uint32_t>)> findLoss,
    double allowed, double confidence) {
  LossLimit limit;
  limit.confidence = confidence;
  limit.samples = samples;
  limit.loss = findLoss(std::vector<uint32_t>(size_t(samples), 1));
  limit.atMost =
      quantization::bootstrapUpperBound(samples, findLoss, confidence);
  if (!limit.atMost)
    limit.samplesNeeded = quantization::kLeastBootstrapSamples;
  else if (*limit.atMost > allowed && limit.loss < allowed) {
    // Intervals become narrower with the root of the number of samples.
    double times =
        std::pow((*limit.atMost - limit.loss) / (allowed - limit.loss), 2);
    if (times * double(samples) < 1e12)
      limit.samplesNeeded = int64_t(std::ceil(times * double(samples)));
  }
  return limit;
}

LossLimit execution::limitLoss(const Metric &metric, const MetricRows &rows,
                               const MetricRows &reference, double allowed,
                               double confidence) {
  if (metric.isShareOfSamples())
    return limitOfShares(rows.values, reference.values, metric.isHigherBetter(),
                         allowed, confidence);
  double sign = metric.isHigherBetter() ? 1 : -1;
  return limitByBootstrap(
      rows.getNumRows(),
      [&](ArrayRef<uint32_t> counts) {
        return sign * (metric.aggregate(reference, counts) -
                       metric.aggregate(rows, counts));
      },
      allowed, confidence);
}

MetricResult execution::judgeMeans(StringRef name, bool isHigherBetter,
                                   ArrayRef<double> values,
                                   std::optional<ArrayRef<double>> reference) {
  MetricResult result;
  result.name = name.str();
  result.isHigherBetter = isHigherBetter;
  result.samples = int64_t(values.size());
  auto areShares = [](ArrayRef<double> numbers) {
    return llvm::all_of(numbers, [](double x) { return x == 0 || x == 1; });
  };
  if (areShares(values) && (!reference || areShares(*reference))) {
    judgeShares(values, reference, result);
  } else {
    result.unit = Metric::Unit::Number;
    judgeByBootstrap(
        [&](bool ofReference, ArrayRef<uint32_t> counts) {
          double sum = 0, samples = 0;
          for (auto [value, count] :
               llvm::zip_equal(ofReference ? *reference : values, counts))
            if (count) {
              sum += count * value;
              samples += count;
            }
          return sum / samples;
        },
        reference.has_value(), result);
  }
  if (result.loss)
    result.loss->samplesNeeded =
        findSamplesNeeded(*result.loss, result.samples);
  return result;
}

MetricResult execution::judgeDetections(StringRef name, int64_t samples,
                                        double value,
                                        const MatchedDetections &detections,
                                        std::optional<double> referenceValue,
                                        const MatchedDetections *reference) {
  MetricResult result;
  result.name = name.str();
  result.samples = samples;
  judgeByBootstrap(
      [&](bool ofReference, ArrayRef<uint32_t> counts) {
        return (ofReference ? *reference : detections).aggregate(counts);
      },
      reference != nullptr, result);
  // Both differ in the last digits at most.
  result.value = value;
  if (!result.loss)
    return result;
  result.reference = referenceValue;
  result.loss->loss = *referenceValue - value;
  result.loss->samplesNeeded = findSamplesNeeded(*result.loss, samples);
  return result;
}

MetricResult execution::judgeNumber(StringRef name, bool isHigherBetter,
                                    int64_t samples, double value,
                                    std::optional<double> reference) {
  MetricResult result;
  result.name = name.str();
  result.unit = Metric::Unit::Number;
  result.isHigherBetter = isHigherBetter;
  result.samples = samples;
  result.hasRows = false;
  result.value = value;
  result.reference = reference;
  if (reference)
    result.loss.emplace().loss =
        isHigherBetter ? *reference - value : value - *reference;
  return result;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

StringRef execution::getName(Metric::Unit unit) {
  static constexpr StringRef kUnits[] = {"share", "dB", "number"};
  return kUnits[size_t(unit)];
}

/// Prints a number with `format`.
static std::string printed(const char *format, double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(format, value);
  return text;
}

std::string execution::describeValue(double value, Metric::Unit unit) {
  switch (unit) {
  case Metric::Unit::Share:
    return printed("%.2f %%", 100 * value);
  case Metric::Unit::Decibels:
    return printed("%.2f dB", value);
  case Metric::Unit::Number:
    break;
  }
  return printed("%.4f", value);
}

/// Returns a difference of values as a number in the unit that readers see.
static std::string printDifference(double value, Metric::Unit unit) {
  return printed(unit == Metric::Unit::Number ? "%.4f" : "%.2f",
                 unit == Metric::Unit::Share ? 100 * value : value);
}

/// Returns the unit of differences, after a space.
static StringRef nameDifferences(Metric::Unit unit) {
  static constexpr StringRef kUnits[] = {" points", " dB", ""};
  return kUnits[size_t(unit)];
}

std::string execution::describeDifference(double value, Metric::Unit unit) {
  return printDifference(value, unit) + nameDifferences(unit).str();
}

std::string execution::describeLoss(const MetricResult &result) {
  const MetricLoss &loss = *result.loss;
  auto number = [&](double value) {
    return printDifference(value, result.unit);
  };
  std::string unit = nameDifferences(result.unit).str();
  std::string samples = std::to_string(result.samples) + " samples";
  std::string text =
      (loss.loss < 0 ? "gains " : "loses ") + number(std::abs(loss.loss));
  if (!result.hasRows)
    return text + unit + "; a number for all samples together has no interval";
  if (!loss.interval)
    return text + unit + "; " + samples + " are too few to tell";
  double width =
      std::max(loss.interval->high - loss.loss, loss.loss - loss.interval->low);
  text += " ± " + number(width) + unit + " (95 %)";
  if (loss.isBeyondChance())
    return text;
  text += "; " + samples + " are too few to tell";
  if (loss.loss == 0)
    return text + " a smaller difference";
  return text +
         (loss.samplesNeeded
              ? ", about " + std::to_string(*loss.samplesNeeded) + " would do"
              : "");
}

static void printInterval(llvm::json::OStream &stream, StringRef low,
                          StringRef high,
                          const std::optional<Interval> &interval) {
  if (!interval)
    return;
  stream.attribute(low, jsonNumber(interval->low));
  stream.attribute(high, jsonNumber(interval->high));
}

void execution::print(llvm::json::OStream &stream, const MetricResult &result) {
  stream.object([&] {
    stream.attribute("name", result.name);
    stream.attribute("unit", getName(result.unit));
    stream.attribute("is_higher_better", result.isHigherBetter);
    stream.attribute("samples", result.samples);
    stream.attribute("value", jsonNumber(result.value));
    printInterval(stream, "low", "high", result.interval);
    if (!result.loss)
      return;
    stream.attribute("reference", jsonNumber(*result.reference));
    stream.attribute("loss", jsonNumber(result.loss->loss));
    printInterval(stream, "loss_low", "loss_high", result.loss->interval);
    stream.attribute("is_beyond_chance", result.loss->isBeyondChance());
    if (result.loss->samplesNeeded)
      stream.attribute("samples_needed", *result.loss->samplesNeeded);
    stream.attribute("text", describeLoss(result));
  });
}
