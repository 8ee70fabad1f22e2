// SPDX-License-Identifier: Apache-2.0
//
// Rules about tensors and their quantizers.
#include "DiagnoseParts.h"
#include "mct/Quantizers/Kinds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mct;
using namespace mct::report;
using llvm::ArrayRef;
using llvm::StringRef;

// 3 dB: neither a user nor a test can notice a smaller improvement.
static constexpr Real kWorthwhile = 0.5;
// Three of eight bits: the median channel has five of them.
static constexpr Real kOutlierFactor = 8;
// Share of the negative levels that is used: at least three eighths of all
// levels are unused.
static constexpr Real kShortTail = 0.25;
// If scaled down by this factor, the values have twice the resolution.
static constexpr Real kJustAbove = 1.125;
// 20 dB: the error is a tenth of the values, while a grid has 50 dB for
// uniformly distributed values.
static constexpr Real kLeastSqnr = 20;
// This many bits, or fewer, are a deliberate choice.
static constexpr int64_t kFewBits = 4;

static Diagnosis aboutPoint(const DiagnosisContext &network,
                            const Point &point) {
  Diagnosis diagnosis;
  diagnosis.subject = point.name;
  diagnosis.severity = network.getSeverity(point);
  return diagnosis;
}

static void pasteMoreBits(const DiagnosisContext &network, const Point &point,
                          Diagnosis &diagnosis, StringRef why) {
  MoreBits more = proposeMoreBits(network, point);
  diagnosis.kind = "overrides";
  diagnosis.paste = more.line;
  diagnosis.remedy = (why + more.words + ".").str();
  diagnosis.remedy.front() = llvm::toUpper(diagnosis.remedy.front());
}

/// Calls `function` for each point that has parameters.
template <typename Function>
static void forEachPoint(const DiagnosisContext &network, Function function) {
  for (const Point &point : network.report.points)
    if (point.parameters)
      function(point);
}

/// Applies a rule to each point.
template <std::optional<Diagnosis> (*find)(const DiagnosisContext &,
                                           const Point &)>
static void eachPoint(const DiagnosisContext &network, Diagnoses &found) {
  forEachPoint(network, [&](const Point &point) {
    if (std::optional<Diagnosis> diagnosis = find(network, point))
      found.push_back(std::move(*diagnosis));
  });
}

static bool isEvenlySpaced(const Point &point) {
  return point.parameters->step.size() == 1 &&
         point.parameters->lowest.size() == 1 &&
         point.parameters->highest.size() == 1;
}

/// Returns whether a single threshold determines the limits of an evenly spaced
/// grid on both sides of zero, so that the sign takes half of the levels.
static bool isSymmetric(const Parameters &parameters) {
  return parameters.step.size() == 1 && parameters.threshold.size() == 1 &&
         parameters.threshold.front() > 0;
}

/// Returns whether all values of a point are equal; a grid for one value has a
/// rule of its own.
static bool isConstant(const Point &point) {
  return point.statistics && point.statistics->min == point.statistics->max;
}

static Real getMin(const Point &point) {
  Real min = point.statistics->min;
  return point.observed ? std::min(min, point.observed->min) : min;
}
static Real getMax(const Point &point) {
  Real max = point.statistics->max;
  return point.observed ? std::max(max, point.observed->max) : max;
}

//===----------------------------------------------------------------------===//
// Grid and values
//===----------------------------------------------------------------------===//

/// Returns the power of two by which a grid has to be wider for the least
/// error, and that error divided by the present one. Returns factor 1 if the
/// grid is already as wide as its values.
static std::pair<Real, Real> findBestWidth(const Statistics &statistics,
                                           const Parameters &parameters,
                                           const GridError &now) {
  std::pair<Real, Real> best = {1, 1};
  if (!(now.clipping > 0))
    return best;
  // Beyond this factor, only the step grows.
  constexpr Real kWidest = 0x1p24;
  for (Real scale = 2; scale <= kWidest; scale *= 2) {
    std::optional<GridError> error =
        estimateError(statistics, parameters, scale);
    Real share = error->total() / now.total();
    if (share < best.second)
      best = {scale, share};
    if (error->clipping == 0)
      break;
  }
  return best;
}

static std::optional<Diagnosis> findClippedTail(const DiagnosisContext &network,
                                                const Point &point) {
  if (!isEvenlySpaced(point) || !point.statistics)
    return std::nullopt;
  GridError error;
  std::pair<Real, Real> best;
  auto isClipped = [&](const Statistics &statistics) {
    auto now = estimateError(statistics, *point.parameters);
    if (!now)
      return false;
    error = *now;
    best = findBestWidth(statistics, *point.parameters, *now);
    return best.second < kWorthwhile;
  };
  bool clipsStatistics = isClipped(*point.statistics);
  bool clipsObserved =
      point.observed ? isClipped(*point.observed) : clipsStatistics;
  if (!clipsObserved)
    return std::nullopt;
  Diagnosis diagnosis = aboutPoint(network, point);
  diagnosis.cause = quoted(point.name) + " goes from " + brief(getMin(point)) +
                    " to " + brief(getMax(point)) + " and is clipped to " +
                    brief(point.parameters->lowest.front()) + " to " +
                    brief(point.parameters->highest.front()) +
                    ", which makes " + percent(error.clipping / error.total()) +
                    " of its error; a grid " + brief(best.first) +
                    " times as wide has " + percent(best.second) + " of it.";
  diagnosis.numbers = {{"clipping", error.clipping},
                       {"rounding", error.rounding},
                       {"scale", best.first},
                       {"error share", best.second}};
  StringRef method =
      point.selection ? StringRef(point.selection->errorMethod) : "";
  std::optional<quantization::ErrorMethod> search =
      quantization::symbolizeErrorMethod(method);
  bool isSearch = search && quantization::isSearched(*search);
  StringRef prefix = point.isWeight() ? "weights" : "activation";
  if (clipsStatistics && isSearch &&
      *search != quantization::ErrorMethod::MSE) {
    diagnosis.kind = "option";
    diagnosis.paste = (prefix + "-error-method=mse").str();
    diagnosis.remedy = ("Choose thresholds by their mean squared error "
                        "instead of by " +
                        method + ".")
                           .str();
  } else if (clipsStatistics && isSearch && !point.isWeight()) {
    diagnosis.kind = "option";
    diagnosis.paste = "z-threshold=0";
    diagnosis.remedy = "Leave no outliers out where thresholds are chosen.";
  } else {
    pasteMoreBits(network, point, diagnosis, "");
  }
  return diagnosis;
}

static const report::Decision *findShiftDecision(const Point &point) {
  for (const report::Decision &decision : llvm::reverse(point.decisions))
    if (decision.pass == "mct-correct-shift-negative")
      return &decision;
  return nullptr;
}

static std::optional<Diagnosis> findWastedSign(const DiagnosisContext &network,
                                               const Point &point) {
  if (point.isWeight() || !point.statistics || isConstant(point) ||
      !isSymmetric(*point.parameters) || !point.parameters->isSigned)
    return std::nullopt;
  Real threshold = point.parameters->threshold.front();
  Real min = getMin(point), max = getMax(point);
  if (!(min >= -kShortTail * threshold) || max <= 0)
    return std::nullopt;
  // The unsigned grid of the same threshold has half the step, and the shift is
  // a multiple of it.
  Parameters lifted = *point.parameters;
  Real step = lifted.step.front() / 2,
       shift = std::ceil(std::max<Real>(0, -min) / step) * step;
  lifted.step = {step};
  lifted.lowest = {-shift};
  lifted.highest = {threshold - step - shift};
  const Statistics &values =
      point.observed ? *point.observed : *point.statistics;
  std::optional<GridError> now = estimateError(values, *point.parameters),
                           then = estimateError(values, lifted);
  if (!now || !(then->total() < kWorthwhile * now->total()))
    return std::nullopt;
  Diagnosis diagnosis = aboutPoint(network, point);
  bool hasTail = min < 0;
  diagnosis.numbers = {{"min", min},
                       {"threshold", threshold},
                       {"error", now->total()},
                       {"error without sign", then->total()}};
  if (!hasTail) {
    diagnosis.cause = quoted(point.name) +
                      " is never negative, and half of the levels of its "
                      "signed grid are.";
    pasteMoreBits(network, point, diagnosis,
                  "let the target give it an unsigned grid (is_signed), or ");
    return diagnosis;
  }
  Real ratio = -min / threshold;
  diagnosis.cause =
      quoted(point.name) + " goes down to " + brief(min) + " only, " +
      percent(ratio) + " of its threshold " + brief(threshold) +
      ": nearly half of the levels of its signed grid are not used, and "
      "without them its error would be " +
      percent(then->total() / now->total()) + " of what it is.";
  const report::Decision *decision = findShiftDecision(point);
  if (!decision || decision->reason == "long-tail") {
    diagnosis.kind = "option";
    // Round up to two digits.
    diagnosis.paste = "shift-negative-activation-correction=true "
                      "shift-negative-ratio=" +
                      brief(std::ceil(ratio * 100) / 100);
    diagnosis.remedy = "Let it be shifted above zero.";
  } else {
    pasteMoreBits(network, point, diagnosis,
                  "it cannot be shifted above zero (" + decision->reason +
                      "): ");
  }
  return diagnosis;
}

static std::optional<Diagnosis> findMissingSign(const DiagnosisContext &network,
                                                const Point &point) {
  if (point.isWeight() || !point.statistics ||
      !isSymmetric(*point.parameters) || point.parameters->isSigned)
    return std::nullopt;
  // The error of clipping below zero has to exceed that of rounding.
  const Statistics &values =
      point.observed ? *point.observed : *point.statistics;
  std::optional<GridError> error = estimateError(values, *point.parameters);
  if (!(values.min < 0) || !error)
    return std::nullopt;
  Parameters below = *point.parameters;
  below.lowest = {-getMagnitude(values)};
  std::optional<GridError> signedError = estimateError(values, below);
  if (!(signedError->total() < kWorthwhile * error->total()))
    return std::nullopt;
  Diagnosis diagnosis = aboutPoint(network, point);
  diagnosis.cause = quoted(point.name) + " goes down to " + brief(values.min) +
                    ", and its unsigned grid clips all negative values: " +
                    percent(1 - signedError->total() / error->total()) +
                    " of its error.";
  diagnosis.numbers = {{"min", values.min}, {"error", error->total()}};
  if (point.statistics->min >= 0) {
    diagnosis.kind = "data";
    diagnosis.remedy = "Calibrate with samples that make it negative, too; "
                       "calibration saw none below " +
                       brief(point.statistics->min) + ".";
  } else {
    diagnosis.kind = "overrides";
    diagnosis.paste = leaveFloat(getInsertedName(point));
    diagnosis.remedy =
        "Let the target give it a signed grid (is_signed), or leave it in "
        "float.";
  }
  return diagnosis;
}

static std::optional<Diagnosis>
findJustAbovePowerOfTwo(const DiagnosisContext &network, const Point &point) {
  const Parameters &parameters = *point.parameters;
  if (!parameters.hasPowersOfTwo.value_or(false) || parameters.step.empty() ||
      !point.statistics || isConstant(point))
    return std::nullopt;
  auto isJustAbove = [](Real magnitude, Real threshold) {
    return magnitude > threshold / 2 && magnitude <= kJustAbove * threshold / 2;
  };
  Real magnitude = getMagnitude(*point.statistics);
  size_t above = 0, channels = parameters.threshold.size();
  if (channels == 1) {
    above = isJustAbove(magnitude, parameters.threshold.front());
  } else {
    if (point.channels.size() != channels)
      return std::nullopt;
    for (auto [channel, threshold] :
         llvm::zip_equal(point.channels, parameters.threshold))
      above += isJustAbove(
          std::max(std::abs(channel.min), std::abs(channel.max)), threshold);
  }
  // By chance, this applies to one channel in six (log2 of the factor).
  if (2 * above <= channels)
    return std::nullopt;
  Diagnosis diagnosis = aboutPoint(network, point);
  diagnosis.cause =
      channels == 1
          ? quoted(point.name) + " reaches " + brief(magnitude) +
                ", just above a power of two: its threshold is " +
                brief(parameters.threshold.front()) +
                ", and nearly half of its levels are not used."
          : std::to_string(above) + " of " + std::to_string(channels) +
                " channels of " + quoted(point.name) +
                " are just above a power of two: nearly half of their levels "
                "are not used.";
  diagnosis.numbers = {{"magnitude", magnitude},
                       {"threshold", parameters.threshold.front()},
                       {"channels", Real(above)}};
  if (network.isInput(point)) {
    diagnosis.kind = "option";
    diagnosis.paste = "input-scaling=true";
    diagnosis.remedy = "Let the input be scaled so that it fills its "
                       "threshold; the first layer takes the factor out.";
  } else {
    pasteMoreBits(network, point, diagnosis,
                  "quantize it with the method symmetric where the target "
                  "can, or ");
  }
  return diagnosis;
}

static std::optional<Diagnosis> findWideRange(const DiagnosisContext &network,
                                              const Point &point) {
  if (point.parameters->bits < 8 || !point.own || isConstant(point) ||
      !(point.own->sqnr < kLeastSqnr))
    return std::nullopt;
  // Clipping has a rule of its own.
  if (point.statistics && isEvenlySpaced(point)) {
    std::optional<GridError> error =
        estimateError(point.observed ? *point.observed : *point.statistics,
                      *point.parameters);
    if (error && error->clipping > error->rounding)
      return std::nullopt;
  }
  Diagnosis diagnosis = aboutPoint(network, point);
  diagnosis.cause =
      quoted(point.name) + " is only " + brief(point.own->sqnr) +
      " dB above its own error with " + std::to_string(point.parameters->bits) +
      " bits: most of its values are small against the few that its grid has "
      "to reach, as inside of normalizations.";
  diagnosis.numbers = {{"sqnr", point.own->sqnr}};
  pasteMoreBits(network, point, diagnosis, "");
  return diagnosis;
}

static std::optional<Diagnosis>
findConstantActivation(const DiagnosisContext &network, const Point &point) {
  if (point.isWeight() || !point.statistics || point.statistics->count == 0 ||
      point.statistics->min != point.statistics->max)
    return std::nullopt;
  bool varies = point.observed && point.observed->min != point.observed->max;
  // Another rule has reported an input that varies.
  if (varies && network.isInput(point))
    return std::nullopt;
  Diagnosis diagnosis = aboutPoint(network, point);
  diagnosis.cause =
      quoted(point.name) + " was always " + brief(point.statistics->min) +
      " in the calibration" +
      (varies ? ", and goes from " + brief(point.observed->min) + " to " +
                    brief(point.observed->max) + " in the report"
              : "") +
      ": its grid was chosen for one value.";
  diagnosis.remedy =
      varies ? "Calibrate with samples that make it vary; until then leave "
               "it in float."
             : "Leave it in float, or replace it by a constant.";
  diagnosis.kind = "overrides";
  diagnosis.paste = leaveFloat(getInsertedName(point));
  diagnosis.numbers = {{"value", point.statistics->min}};
  return diagnosis;
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

/// Returns the magnitudes of channels, 0 for channels that never change; empty
/// if they are not known.
static std::vector<Real> getMagnitudes(const Point &point) {
  std::vector<Real> magnitudes;
  if (point.isWeight()) {
    for (const WeightChannel &channel : point.channels)
      magnitudes.push_back(
          std::max(std::abs(channel.min), std::abs(channel.max)));
    return magnitudes;
  }
  const std::optional<Statistics> &values =
      point.observed ? point.observed : point.statistics;
  if (values && values->channelMin.size() == values->channelMax.size())
    for (auto [min, max] : llvm::zip(values->channelMin, values->channelMax))
      magnitudes.push_back(min == max ? 0
                                      : std::max(std::abs(min), std::abs(max)));
  return magnitudes;
}

static std::optional<Diagnosis>
findOutlierChannels(const DiagnosisContext &network, const Point &point) {
  std::vector<Real> magnitudes = getMagnitudes(point);
  // All channels share one threshold.
  if (point.parameters->highest.size() != 1 || magnitudes.size() < 2)
    return std::nullopt;
  std::vector<Real> sorted = magnitudes;
  llvm::erase(sorted, 0);
  llvm::sort(sorted);
  if (sorted.size() < 2)
    return std::nullopt;
  Real median = sorted[(sorted.size() - 1) / 2];
  if (!(sorted.back() >= kOutlierFactor * median))
    return std::nullopt;
  std::vector<int64_t> outliers;
  for (auto [channel, magnitude] : llvm::enumerate(magnitudes))
    if (magnitude >= kOutlierFactor * median)
      outliers.push_back(int64_t(channel));
  Diagnosis diagnosis = aboutPoint(network, point);
  diagnosis.cause =
      (outliers.size() == 1 ? "Channel " : "Channels ") +
      listNumbers(outliers) + " of " + quoted(point.name) +
      (outliers.size() == 1 ? " reaches " : " reach up to ") +
      brief(sorted.back()) + ", " + brief(sorted.back() / median) +
      " times the median magnitude, and one threshold serves all channels.";
  diagnosis.numbers = {{"largest", sorted.back()}, {"median", median}};
  pasteMoreBits(
      network, point, diagnosis,
      point.isWeight()
          ? "take a target with a threshold for each channel, or "
          : "try activation-channel-equalization=true where a ReLU lies "
            "between two layers, or ");
  return diagnosis;
}

/// Returns the channels without effect, and the number of all channels.
static std::vector<int64_t> getDeadChannels(const Point &point,
                                            size_t &channels) {
  std::vector<int64_t> dead;
  channels = 0;
  if (point.isWeight()) {
    channels = point.channels.size();
    for (auto [index, channel] : llvm::enumerate(point.channels))
      if (channel.min == 0 && channel.max == 0)
        dead.push_back(int64_t(index));
  } else if (point.observed && point.observed->min != point.observed->max) {
    const Statistics &observed = *point.observed;
    channels = std::min(observed.channelMin.size(), observed.channelMax.size());
    // Calibration may have seen them change.
    bool isKnown = point.statistics &&
                   point.statistics->channelMin.size() == channels &&
                   point.statistics->channelMax.size() == channels;
    for (size_t index = 0; index != channels; ++index)
      if (observed.channelMin[index] == observed.channelMax[index] &&
          (!isKnown || point.statistics->channelMin[index] ==
                           point.statistics->channelMax[index]))
        dead.push_back(int64_t(index));
  }
  if (channels < 2)
    dead.clear();
  return dead;
}

/// Emits one diagnosis for all weights and one for all activations, since a
/// network that has some dead channels has many.
static void findDeadChannels(const DiagnosisContext &network,
                             Diagnoses &found) {
  for (bool areWeights : {true, false}) {
    const Point *worst = nullptr;
    std::vector<int64_t> most;
    size_t count = 0, channelsOfWorst = 0;
    forEachPoint(network, [&](const Point &point) {
      if (point.isWeight() != areWeights)
        return;
      size_t channels = 0;
      std::vector<int64_t> dead = getDeadChannels(point, channels);
      if (dead.empty())
        return;
      ++count;
      if (dead.size() > most.size()) {
        worst = &point;
        most = std::move(dead);
        channelsOfWorst = channels;
      }
    });
    if (!worst)
      continue;
    // They cause no error, so the severity is 0.
    Diagnosis diagnosis;
    diagnosis.subject = worst->name;
    diagnosis.cause =
        (most.size() == 1 ? "Channel " : "Channels ") + listNumbers(most) +
        " of the " + std::to_string(channelsOfWorst) + " of " +
        quoted(worst->name) +
        (areWeights ? (most.size() == 1 ? " makes zero" : " make zero")
                    : (most.size() == 1 ? " never changes" : " never change")) +
        (count == 1 ? "."
                    : "; so do some of " + std::to_string(count - 1) +
                          " other tensors.");
    diagnosis.remedy = "Remove them from the network: they take memory and "
                       "time, and make no difference.";
    diagnosis.kind = "data";
    diagnosis.numbers = {{"dead", Real(most.size())},
                         {"channels", Real(channelsOfWorst)},
                         {"tensors", Real(count)}};
    found.push_back(std::move(diagnosis));
  }
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

static bool isSensitive(const DiagnosisContext &network, const Operator &op) {
  return op.isDepthwise || network.getLayers().front() == &op ||
         network.getLayers().back() == &op;
}

static std::optional<Diagnosis>
findFewBitsInSensitiveLayer(const DiagnosisContext &network,
                            const Point &point) {
  const Operator *owner = network.getOwner(point);
  // The share is larger than the average of all layers.
  if (!point.isWeight() || !owner || point.parameters->bits > kFewBits ||
      !isSensitive(network, *owner) ||
      !(network.getShare(point) * Real(network.getLayers().size()) > 1))
    return std::nullopt;
  StringRef which = owner->isDepthwise                     ? "depthwise"
                    : network.getLayers().front() == owner ? "first"
                                                           : "last";
  Diagnosis diagnosis = aboutPoint(network, point);
  diagnosis.cause =
      ("The " + which + " layer, " + quoted(owner->name) + ", has weights of " +
       llvm::Twine(point.parameters->bits) + " bits, which make " +
       percent(network.getShare(point)) + " of the error.")
          .str();
  diagnosis.numbers = {{"bits", Real(point.parameters->bits)},
                       {"share", network.getShare(point)}};
  pasteMoreBits(network, point, diagnosis, "");
  return diagnosis;
}

static std::optional<Diagnosis> findFewBits(const DiagnosisContext &network,
                                            const Point &point) {
  const Operator *owner = network.getOwner(point);
  if (point.parameters->bits > kFewBits ||
      network.getShare(point) < kWorthALine)
    return std::nullopt;
  if (point.isWeight() && owner && isSensitive(network, *owner))
    return std::nullopt;
  Diagnosis diagnosis = aboutPoint(network, point);
  diagnosis.cause = quoted(point.name) + " has " +
                    std::to_string(point.parameters->bits) +
                    " bits, which make " + percent(network.getShare(point)) +
                    " of the error.";
  diagnosis.numbers = {{"bits", Real(point.parameters->bits)},
                       {"share", network.getShare(point)}};
  pasteMoreBits(network, point, diagnosis, "");
  return diagnosis;
}

static void findSensitive(const DiagnosisContext &network, Diagnoses &found) {
  forEachPoint(network, [&](const Point &point) {
    bool isReported = llvm::any_of(found, [&](const Diagnosis &other) {
      return other.severity > 0 &&
             (other.subject == point.name || other.subject == point.owner);
    });
    if (isReported || network.getShare(point) < kGrave ||
        network.getSeverity(point) < kWorthALine)
      return;
    Diagnosis diagnosis = aboutPoint(network, point);
    diagnosis.cause =
        quoted(point.name) + " makes " + percent(network.getShare(point)) +
        " of the error with " + std::to_string(point.parameters->bits) +
        " bits: what is behind it is sensitive, as normalizations are.";
    diagnosis.numbers = {{"share", network.getShare(point)}};
    pasteMoreBits(network, point, diagnosis, "");
    found.push_back(std::move(diagnosis));
  });
}

static void findRoundedOneByOne(const DiagnosisContext &network,
                                Diagnoses &found) {
  Diagnosis diagnosis;
  size_t count = 0;
  Real largest = 0;
  for (const Point &point : network.report.points) {
    if (!point.isWeight() || !point.parameters || point.parameters->bits >= 8)
      continue;
    // Weights that were rounded together, or deliberately not, have a decision
    // about it.
    bool isKnown =
        llvm::any_of(point.decisions, [](const report::Decision &decision) {
          return decision.pass == "mct-round-weights";
        });
    if (isKnown)
      continue;
    ++count;
    diagnosis.severity += network.getSeverity(point);
    if (diagnosis.subject.empty() || network.getShare(point) > largest) {
      diagnosis.subject = point.name;
      largest = network.getShare(point);
    }
  }
  if (count == 0)
    return;
  diagnosis.severity = std::min<Real>(1, diagnosis.severity);
  diagnosis.cause = (count == 1 ? "The weights of one layer, "
                                : "The weights of " + std::to_string(count) +
                                      " layers, first of all ") +
                    quoted(diagnosis.subject) +
                    ", have few bits and were rounded one by one.";
  diagnosis.remedy = "Round the weights of a layer together, so that their "
                     "errors make up for each other.";
  diagnosis.kind = "option";
  diagnosis.paste = "round-weights=true";
  diagnosis.numbers = {{"layers", Real(count)}};
  found.push_back(std::move(diagnosis));
}

/// Returns whether the threshold of an activation was selected by the error of
/// its values. Shifts select those of their results.
static bool isSelected(const Point &point) {
  return point.selection &&
         (point.selection->errorMethod != "given" || point.shift);
}

/// Returns whether mct-refine-thresholds has compared thresholds, by its
/// records. A report without a trace has no records; then a threshold that was
/// not selected may come from the pass.
static bool areThresholdsCompared(const Report &report) {
  auto isCompared = [&](const Point &point) {
    if (report.passes.empty() && !point.isWeight() && point.selection &&
        !isSelected(point))
      return true;
    return llvm::any_of(point.decisions, [](const report::Decision &decision) {
      return decision.pass == "mct-refine-thresholds";
    });
  };
  return llvm::any_of(report.points, isCompared) ||
         llvm::any_of(report.rejectedCorrections,
                      [](const RejectedCorrection &rejected) {
                        return rejected.correction == "threshold_refinement";
                      });
}

static void findUnrefined(const DiagnosisContext &network, Diagnoses &found) {
  // With few activations, more bits are the better advice.
  static constexpr size_t kLeastCount = 3;
  static constexpr Real kLeastShare = 0.5;
  Diagnosis diagnosis;
  const Point *largest = nullptr;
  Real share = 0;
  size_t count = 0;
  for (const Point &point : network.report.points) {
    if (point.isWeight() || !point.parameters || !isSelected(point))
      continue;
    ++count;
    share += network.getShare(point);
    diagnosis.severity += network.getSeverity(point);
    if (!largest || network.getShare(point) > network.getShare(*largest))
      largest = &point;
  }
  if (count < kLeastCount || share < kLeastShare ||
      diagnosis.severity < kGrave || areThresholdsCompared(network.report))
    return;
  // On real networks, between nothing and three quarters of the error of the
  // results was removed.
  diagnosis.severity = std::min<Real>(1, diagnosis.severity) / 2;
  diagnosis.cause = std::to_string(count) + " activations, first of all " +
                    quoted(largest->name) + ", make " + percent(share) +
                    " of the error, each with the threshold that is best for "
                    "its own values.";
  diagnosis.remedy = "Compare thresholds by the results of the network, which "
                     "takes several times as long.";
  diagnosis.kind = "option";
  diagnosis.paste = "refine-thresholds=true";
  diagnosis.numbers = {{"activations", Real(count)}, {"share", share}};
  found.push_back(std::move(diagnosis));
}

//===----------------------------------------------------------------------===//
// Corrections
//===----------------------------------------------------------------------===//

static std::optional<Diagnosis> findShifted(const DiagnosisContext &network,
                                            const Point &point) {
  if (!point.shift)
    return std::nullopt;
  const Point::Shift &shift = *point.shift;
  Diagnosis diagnosis = aboutPoint(network, point);
  diagnosis.severity = 0;
  diagnosis.cause =
      quoted(point.name) + " was shifted above zero by " + brief(shift.by) +
      " and needs no sign: its mean squared error went from " +
      brief(shift.errorBefore) + " to " + brief(shift.error) +
      (shift.error > 0 && shift.errorBefore > 0
           ? ", a gain of " +
                 brief(10 * std::log10(shift.errorBefore / shift.error)) +
                 " dB."
           : ".");
  diagnosis.remedy = "Nothing to do; shift-negative-activation-correction is "
                     "what does it.";
  diagnosis.kind = "data";
  diagnosis.numbers = {{"shift", shift.by},
                       {"error before", shift.errorBefore},
                       {"error", shift.error}};
  return diagnosis;
}

ArrayRef<Rule> mct::report::getPointRules() {
  static const Rule kRules[] = {
      {{"clipped-tail",
        "a grid wider by a power of two has less than half of the error of a "
        "tensor",
        "the option that clips less (`activation-error-method=mse`, "
        "`z-threshold=0`), or more bits"},
       eachPoint<findClippedTail>},
      {{"wasted-sign",
        "a signed grid on values >= 0, or on values whose negative ones reach "
        "at most a quarter of the threshold, where an unsigned grid of the "
        "same "
        "threshold, moved, has less than half of the error",
        "`shift-negative-ratio`; more bits where it cannot be shifted"},
       eachPoint<findWastedSign>},
      {{"missing-sign",
        "an unsigned grid on values below zero, which make more than half of "
        "its error",
        "other samples, or float"},
       eachPoint<findMissingSign>},
      {{"above-power-of-two",
        "the values exceed half of a power-of-two threshold by at most an "
        "eighth, in more than half of the channels",
        "`input-scaling=true` for an input; more bits"},
       eachPoint<findJustAbovePowerOfTwo>},
      {{"wide-range", "8 bits and more leave less than 20 dB, without clipping",
        "more bits, or float"},
       eachPoint<findWideRange>},
      {{"constant-activation", "calibration saw one value inside the network",
        "float"},
       eachPoint<findConstantActivation>},
      {{"outlier-channels",
        "the largest channel of a tensor with one threshold is 8 times the one "
        "in the middle",
        "more bits"},
       eachPoint<findOutlierChannels>},
      {{"dead-channels",
        "some channels of a kernel are zero, or some of an activation never "
        "change",
        "a smaller network"},
       findDeadChannels},
      {{"few-bits-in-sensitive-layer",
        "at most 4 bits for the weights of the first, the last or a depthwise "
        "layer, with more than its equal part of the error",
        "more bits"},
       eachPoint<findFewBitsInSensitiveLayer>},
      {{"few-bits",
        "at most 4 bits for another tensor with a tenth of the error",
        "more bits"},
       eachPoint<findFewBits>},
      {{"rounded-one-by-one",
        "weights of less than 8 bits that mct-round-weights has not seen",
        "`round-weights=true`"},
       findRoundedOneByOne},
      {{"unrefined-thresholds",
        "activations make half of an error that matters with thresholds that "
        "mct-refine-thresholds has not compared with others",
        "`refine-thresholds=true`"},
       findUnrefined},
      {{"shifted-activation", "an activation was shifted above zero",
        "none: says what that gained"},
       eachPoint<findShifted>},
  };
  return kRules;
}

ArrayRef<Rule> mct::report::getLastRules() {
  static const Rule kRules[] = {
      {{"sensitive-tensor",
        "a tensor makes a quarter of an error that matters, and no other rule "
        "applies to it",
        "more bits, or float"},
       findSensitive},
      // Remedies.cpp finds these by trials.
      {{kMeasuredRemedy,
        "one tensor, or two together, gain in float, and no other rule "
        "proposes it; with a tenth of an error that matters, or while a result "
        "is below 10 dB",
        "float"},
       [](const DiagnosisContext &, Diagnoses &) {}},
  };
  return kRules;
}
