// SPDX-License-Identifier: Apache-2.0
//
// Rules about samples: those of the calibration, on which every other number
// depends, and those of the report.
#include "DiagnoseParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mct;
using namespace mct::report;
using llvm::ArrayRef;
using llvm::StringRef;

// All of these are above kWorthless. A cause comes before its consequences:
// four black images are, first of all, black.
static constexpr Real kFloatFails = 5, kOneValue = 4, kOtherRange = 3,
                      kTooFew = 2.5, kUnlike = 1.1;

// One bit of the grid is wasted or missing.
static constexpr Real kOtherRangeFactor = 2;

// After n samples, the next one exceeds all of them with probability 1 / (n +
// 1), for any distribution. With fewer samples than this, more than one in 16
// leaves the range that calibration saw, independently at every point.
static constexpr int64_t kFewestSamples = 15;

// Limit of the Kolmogorov-Smirnov test: the distance of two samples of the same
// distribution exceeds this, divided by the root of their (harmonic) number,
// once in a thousand times. The values of one sample of the network depend on
// each other and count as one.
static constexpr Real kKolmogorov = 1.95;
// A tenth of the values is elsewhere, regardless of the number of samples.
static constexpr Real kLeastDistance = 0.1;

static bool isConstant(const Statistics &statistics) {
  return statistics.count > 0 && statistics.min == statistics.max;
}

static std::string describeRange(const Statistics &statistics) {
  return brief(statistics.min) + " to " + brief(statistics.max);
}

/// Returns the distance if it is larger than expected when calibration and
/// report use samples of the same kind.
static std::optional<Real> getDistance(const DiagnosisContext &network,
                                       const Point &point) {
  auto calibration = Real(network.getCalibrationSamples()),
       observed = Real(network.getObservedSamples(point));
  if (!point.statistics || calibration < 1 || observed < 1)
    return std::nullopt;
  std::optional<Real> distance =
      compareDistributions(*point.statistics, *point.observed);
  if (!distance ||
      *distance <
          std::max(kLeastDistance,
                   kKolmogorov * std::sqrt(1 / calibration + 1 / observed)))
    return std::nullopt;
  return distance;
}

static void findFloatNetworkFails(const DiagnosisContext &network,
                                  Diagnoses &found) {
  const Report &report = network.report;
  size_t classes = report.confusion.size();
  if (!report.floating.top1 || classes < 2 || report.floating.samples < 1)
    return;
  // Three standard deviations above the accuracy of guessing.
  Real chance = 1 / Real(classes),
       bound = chance + 3 * std::sqrt(chance * (1 - chance) /
                                      Real(report.floating.samples));
  if (*report.floating.top1 > bound)
    return;
  Diagnosis diagnosis;
  diagnosis.severity = kFloatFails;
  diagnosis.cause =
      "The float network meets " + percent(*report.floating.top1) +
      " of the labels, no more than guessing among " + std::to_string(classes) +
      " classes: samples, labels and network do not belong together.";
  diagnosis.remedy = "Give the samples as the network was trained on them "
                     "(scale, offset, order of channels), and the labels in "
                     "their order.";
  diagnosis.kind = "data";
  diagnosis.numbers = {{"top1", *report.floating.top1}, {"bound", bound}};
  found.push_back(std::move(diagnosis));
}

static void findOneValue(const DiagnosisContext &network, Diagnoses &found) {
  for (const Point *input : network.getInputs()) {
    if (!input->statistics || !isConstant(*input->statistics) ||
        (input->observed && isConstant(*input->observed)))
      continue;
    Diagnosis diagnosis;
    diagnosis.severity = kOneValue;
    diagnosis.subject = input->name;
    diagnosis.cause = "All calibration samples of " + quoted(input->name) +
                      " are " + brief(input->statistics->min) +
                      " everywhere, as all-black images are" +
                      (input->observed ? "; those of the report go from " +
                                             describeRange(*input->observed)
                                       : "") +
                      ".";
    diagnosis.remedy =
        "Calibrate with samples as the network meets them; no parameter of "
        "this network means anything.";
    diagnosis.kind = "data";
    diagnosis.numbers = {{"min", input->statistics->min},
                         {"max", input->statistics->max}};
    found.push_back(std::move(diagnosis));
  }
}

/// Returns the number after the last `key` in a command, or none.
static std::optional<Real> readOption(StringRef command, StringRef key) {
  size_t position = command.rfind(key);
  if (position == StringRef::npos)
    return std::nullopt;
  StringRef word =
      command.drop_front(position + key.size()).take_while([](char c) {
        return llvm::isDigit(c) || c == '.' || c == '-' || c == '+' || c == 'e';
      });
  double value = 0;
  if (word.getAsDouble(value))
    return std::nullopt;
  return value;
}

/// Formats a number with as many digits as it needs.
static std::string asOption(Real value) {
  for (int digits = 1; digits < 9; ++digits) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    if (std::abs(std::strtod(text, nullptr) - value) <= 1e-7 * std::abs(value))
      return text;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

static bool isOtherRange(const Statistics &one, const Statistics &other) {
  auto isFactor = [](Real lhs, Real rhs) {
    return lhs >= kOtherRangeFactor * rhs || rhs >= kOtherRangeFactor * lhs;
  };
  // Two criteria are needed: only the width distinguishes -1 to 1 from 0 to 1,
  // and only the magnitude 0 to 1 from 254 to 255.
  return isFactor(one.max - one.min, other.max - other.min) ||
         isFactor(getMagnitude(one), getMagnitude(other));
}

static void findOtherRange(const DiagnosisContext &network, Diagnoses &found) {
  for (const Point *input : network.getInputs()) {
    if (!input->statistics || isConstant(*input->statistics) ||
        !input->observed || isConstant(*input->observed) ||
        !isOtherRange(*input->statistics, *input->observed))
      continue;
    std::optional<Real> distance = getDistance(network, *input);
    if (!distance)
      continue;
    const Statistics &calibration = *input->statistics,
                     &observed = *input->observed;
    Real scale = (observed.max - observed.min) /
                 (calibration.max - calibration.min),
         offset = observed.min - scale * calibration.min;
    Diagnosis diagnosis;
    diagnosis.severity = kOtherRange;
    diagnosis.subject = input->name;
    diagnosis.cause = "Calibration samples of " + quoted(input->name) +
                      " go from " + describeRange(calibration) +
                      ", those of the report from " + describeRange(observed) +
                      ".";
    diagnosis.numbers = {
        {"distance", *distance}, {"scale", scale}, {"offset", offset}};
    if (network.getInputs().size() > 1) {
      diagnosis.remedy = "Prepare the samples of both in the same way.";
      diagnosis.kind = "data";
    } else {
      Real before =
          readOption(network.report.reproduce, "input-scale=").value_or(1);
      Real shift =
          readOption(network.report.reproduce, "input-offset=").value_or(0);
      diagnosis.remedy =
          "Calibrate with this scale, which brings the samples to the range "
          "of those of the report.";
      diagnosis.kind = "option";
      diagnosis.paste = "input-scale=" + asOption(scale * before);
      // An offset of less than an 8-bit step does not matter.
      offset += scale * shift;
      if (std::abs(offset) > (observed.max - observed.min) / 256)
        diagnosis.paste += " input-offset=" + asOption(offset);
    }
    found.push_back(std::move(diagnosis));
  }
}

static void findTooFewSamples(const DiagnosisContext &network,
                              Diagnoses &found) {
  int64_t samples = network.getCalibrationSamples();
  if (samples < 1)
    return;
  Real error = network.getStandardError(samples);
  bool areFew = samples < kFewestSamples;
  if (!areFew && !(error > kLargestStandardError))
    return;
  Diagnosis diagnosis;
  diagnosis.severity =
      areFew ? kTooFew : std::min<Real>(1, error) / 2 * network.getHarm();
  diagnosis.cause =
      "Calibration saw " + std::to_string(samples) +
      (samples == 1 ? " sample" : " samples") + ": one sample in " +
      std::to_string(samples + 1) +
      " exceeds the range that it saw at a point, and the mean distance of the "
      "results is known to +-" +
      percent(error) + ".";
  // The number for which the standard error is a quarter, half of the bound:
  // two of them are half of the distance. At least 64, where one sample in 65
  // leaves the range.
  auto enough = std::max<int64_t>(
      64, int64_t(std::ceil(Real(samples) * error * error * 16)));
  diagnosis.remedy = "Calibrate with " + std::to_string(enough) +
                     " samples or more, all different.";
  diagnosis.kind = "data";
  diagnosis.numbers = {{"samples", Real(samples)},
                       {"relative standard error", error}};
  found.push_back(std::move(diagnosis));
}

static void findUnlikeSamples(const DiagnosisContext &network,
                              Diagnoses &found) {
  const Point *worst = nullptr;
  Real largest = 0;
  bool isWorstInput = false;
  for (const Point &point : network.report.points) {
    if (point.isWeight())
      continue;
    // Other diagnoses are about such samples.
    if (point.statistics && isConstant(*point.statistics))
      continue;
    std::optional<Real> distance = getDistance(network, point);
    bool isInput = network.isInput(point);
    if (distance && (!worst || isInput > isWorstInput ||
                     (isInput == isWorstInput && *distance > largest))) {
      worst = &point;
      largest = *distance;
      isWorstInput = isInput;
    }
  }
  if (!worst)
    return;
  Diagnosis diagnosis;
  diagnosis.severity = kUnlike + largest;
  diagnosis.subject = worst->name;
  diagnosis.cause =
      "Calibration saw other samples than the report: " + percent(largest) +
      " of the values of " + quoted(worst->name) +
      " lie elsewhere, and their root mean square is " +
      brief(getRootMeanSquare(*worst->statistics)) + " instead of " +
      brief(getRootMeanSquare(*worst->observed)) + ".";
  diagnosis.remedy = "Calibrate with samples of the kind that the network "
                     "meets, prepared in the same way.";
  diagnosis.kind = "data";
  diagnosis.numbers = {
      {"distance", largest},
      {"bound",
       kKolmogorov * std::sqrt(1 / Real(network.getCalibrationSamples()) +
                               1 / Real(network.getObservedSamples(*worst)))}};
  // A different range is worse than a different distribution, and the rule
  // about ranges has reported it.
  bool isReported = llvm::any_of(found, [&](const Diagnosis &other) {
    return other.severity == kOtherRange && other.subject == worst->name;
  });
  if (!isReported)
    found.push_back(std::move(diagnosis));
}

static void findFewReportSamples(const DiagnosisContext &network,
                                 Diagnoses &found) {
  const Report &report = network.report;
  if (!network.isUncertain())
    return;
  Real error = network.getStandardError(report.effectSamples);
  Diagnosis diagnosis;
  diagnosis.cause = "Errors and effects are means over " +
                    std::to_string(report.effectSamples) +
                    " samples and known to +-" + percent(error) +
                    ": the order of points is uncertain.";
  diagnosis.remedy = "Make the report with more samples, or let it take more "
                     "of them for the effects.";
  diagnosis.kind = "data";
  diagnosis.numbers = {{"effect samples", Real(report.effectSamples)},
                       {"relative standard error", error}};
  found.push_back(std::move(diagnosis));
}

static void findSameSamples(const DiagnosisContext &network, Diagnoses &found) {
  const Report &report = network.report;
  if (report.digest.empty() || report.digest != report.calibrationDigest)
    return;
  Diagnosis diagnosis;
  diagnosis.cause = "The report runs on the samples of the calibration: what "
                    "was fitted to them looks better than it is.";
  diagnosis.remedy = "Make the report with samples that calibration has not "
                     "seen.";
  diagnosis.kind = "data";
  found.push_back(std::move(diagnosis));
}

ArrayRef<Rule> mct::report::getSampleRules() {
  static const Rule kRules[] = {
      {{"float-network-fails",
        "the float network meets no more labels than guessing, plus three "
        "standard deviations",
        "samples and labels as the network was trained"},
       findFloatNetworkFails},
      {{"one-value", "calibration saw one value at an input, the report others",
        "samples as the network meets them"},
       findOneValue},
      {{"other-range",
        "an input's range is half or twice as wide in the calibration as in "
        "the report, and their distributions differ",
        "`input-scale`, `input-offset`"},
       findOtherRange},
      {{"too-few-samples",
        "fewer than 15 calibration samples (one in 16 exceeds the range of the "
        "others), or fewer than bring the standard error of the distance of "
        "the results below half of it",
        "more samples"},
       findTooFewSamples},
      {{"unlike-samples",
        "the distribution of an activation in the report differs from that in "
        "the calibration, by a tenth of the values and by more than chance "
        "makes of samples of one kind once in a thousand times",
        "samples as the network meets them"},
       findUnlikeSamples},
      {{"few-report-samples",
        "two standard errors of the distance of the results are more than the "
        "distance itself",
        "a report with more samples"},
       findFewReportSamples},
      {{"same-samples", "the report runs on the samples of the calibration",
        "a report with others"},
       findSameSamples},
  };
  return kRules;
}
