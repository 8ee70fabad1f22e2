// SPDX-License-Identifier: Apache-2.0
#include "Remedies.h"

#include "DiagnoseParts.h"
#include "MeasureCorrections.h"
#include "PlannedChanges.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mct;
using namespace mct::report;
using execution::ResultDistance;

// Limits for trials of tensors that no diagnosis mentions.
static constexpr size_t kMaxSingle = 8, kMaxJoint = 2, kSearched = 3;
// A quarter of the distance; half of it if there is only one sample.
static constexpr double kLargeGain = 0.25, kGainOfOneSample = 0.5;
// A hundredth of the distance, or half a dB of the worst result, is worth
// changing a network.
static constexpr double kLeastGain = 0.01, kBetterBy = 1.122;
// Distance above which a result is lost.
static constexpr Real kLostAt = 0.1;

namespace {
/// Lines of overrides, and the changes that they make.
struct Candidate {
  std::string kind;
  /// Words for each of the lines if no diagnosis proposes it.
  std::vector<std::string> lines, words, points;
  Switches switches;
  RunDistance found;
  std::optional<size_t> trial;
  /// Indices of the two candidates that it joins; empty for one line.
  SmallVector<size_t> joined;
};

class RemedySearch {
public:
  RemedySearch(ModuleOp quantized, const KernelOps &kernels, StringRef function,
               EffectRun &run, Report &report)
      : run(run), report(report), network(report),
        planner(quantized, kernels, function) {
    for (auto [number, name] : llvm::enumerate(run.points()))
      numbers[name] = number;
  }

  LogicalResult search();

private:
  void leaveOutHarmful();
  void addCorrectionTrial(Diagnosis &diagnosis);
  std::optional<Candidate> resolve(StringRef line, StringRef subject);
  bool addCandidate(StringRef line, StringRef subject, StringRef words = "");
  void addDiagnosed(size_t most);
  void addSearched(size_t most);
  /// Runs the candidates from index `first` on, and adds trials for them.
  LogicalResult measure(size_t first);
  bool isWorthwhile(const RunDistance &before, const RunDistance &after) const;
  void addTrial(Candidate &candidate);
  std::optional<Candidate> join(size_t one, size_t other) const;
  void addPairs();
  void describeTrials();
  void addFound();

  EffectRun &run;
  Report &report;
  DiagnosisContext network;
  ChangePlanner planner;
  llvm::StringMap<size_t> numbers;
  /// Corrections that are switched off because they are harmful.
  SmallVector<size_t> without;
  RunDistance base;
  std::vector<Candidate> candidates;
  /// Lines of diagnoses that cannot be tried.
  llvm::StringSet<> untriable;
  size_t numTried = 0;
};
} // namespace

/// Returns whether a remedy concerns effects of integers, which the simulation
/// does not show.
static bool isAboutIntegers(const Diagnosis &diagnosis) {
  return diagnosis.rule == "bias-off-grid" ||
         diagnosis.rule == "saturated-accumulator";
}

static bool isTriable(const Diagnosis &diagnosis) {
  return diagnosis.kind == "overrides" && !diagnosis.paste.empty() &&
         !isAboutIntegers(diagnosis);
}

/// Switches off the correction that is the most harmful as a whole, since no
/// remedy compensates for it.
void RemedySearch::leaveOutHarmful() {
  const CorrectionEffect *worst = nullptr;
  for (const CorrectionEffect &effect : report.corrections)
    if (effect.isWhole && effect.isHarmful && effect.loss > 0 &&
        (!worst || effect.loss > worst->loss))
      worst = &effect;
  if (worst)
    without = findCorrections(run, *worst);
}

/// Adds a trial for switching a correction off, whose gain has been measured.
void RemedySearch::addCorrectionTrial(Diagnosis &diagnosis) {
  for (const CorrectionEffect &effect : report.corrections) {
    if (!effect.isWhole || getSwitchOff(effect.correction) != diagnosis.paste)
      continue;
    Trial trial;
    trial.kind = diagnosis.kind;
    trial.lines = {diagnosis.paste};
    trial.points = effect.layers;
    trial.before = report.distance;
    trial.after = effect.without;
    trial.gain = effect.loss;
    trial.standardError = effect.standardError;
    trial.worst = effect.worst;
    trial.worstBefore = effect.worstWith;
    trial.worstAfter = effect.worstWithout;
    if (!report.comparesByDivergence())
      trial.worstGain = 10 * std::log10(effect.worstWith / effect.worstWithout);
    trial.isWorthwhile = effect.isHarmful;
    diagnosis.trial = int64_t(report.trials.size());
    report.trials.push_back(std::move(trial));
    ++numTried;
    return;
  }
}

/// `subject` is the point to leave float if the target has no plan for the
/// line.
std::optional<Candidate> RemedySearch::resolve(StringRef line,
                                               StringRef subject) {
  std::optional<std::vector<PlannedChange>> changes = planner.plan(line);
  if (!changes && line.ends_with("=float") && numbers.contains(subject))
    changes = {{subject.str(), {}}};
  if (!changes)
    return std::nullopt;
  Candidate candidate;
  candidate.kind = "overrides";
  candidate.lines = {line.str()};
  for (const PlannedChange &change : *changes) {
    auto found = numbers.find(change.point);
    if (found == numbers.end() || !run.isSwitched(found->second))
      continue;
    candidate.points.push_back(change.point);
    if (change.quantizer)
      candidate.switches.quantizers.push_back(
          {found->second, change.quantizer});
    else
      candidate.switches.points.push_back(found->second);
  }
  if (candidate.points.empty())
    return std::nullopt;
  return candidate;
}

bool RemedySearch::addCandidate(StringRef line, StringRef subject,
                                StringRef words) {
  for (const Candidate &candidate : candidates)
    if (candidate.lines.front() == line)
      return true;
  std::optional<Candidate> candidate = resolve(line, subject);
  if (!candidate)
    return false;
  candidate->words = {words.str()};
  candidates.push_back(std::move(*candidate));
  return true;
}

/// Returns the name of the point to which a diagnosis refers.
static std::string getPointOf(const DiagnosisContext &network,
                              StringRef subject) {
  const Point *result = network.getResultPoint(subject);
  return result ? result->name : subject.str();
}

void RemedySearch::addDiagnosed(size_t most) {
  for (const Diagnosis &diagnosis : report.diagnoses) {
    if (candidates.size() + numTried >= most)
      return;
    if (isTriable(diagnosis) &&
        !addCandidate(diagnosis.paste, getPointOf(network, diagnosis.subject)))
      untriable.insert(diagnosis.paste);
  }
}

/// Returns a number by which points can be ordered, the ones whose quantizers
/// add most error to their values first.
static Real getOwnError(const Point &point) {
  return point.own && !std::isnan(point.own->sqnr) ? -point.own->sqnr
                                                   : -HUGE_VAL;
}

/// Adds trials that give tensors more bits, first those that cause the largest
/// distances. If several tensors are lost, none of them gains by itself; then
/// those with the largest errors come first.
void RemedySearch::addSearched(size_t most) {
  std::vector<std::tuple<Real, Real, const Point *>> points;
  for (const Point &point : report.points) {
    Real share = network.getShare(point);
    // Points are in one array, so the first of equal ones comes first.
    if (point.parameters && point.effect)
      points.push_back(
          {share > kLeastGain ? -share : 0, -getOwnError(point), &point});
  }
  llvm::sort(points);
  for (auto [share, error, point] : points) {
    if (candidates.size() + numTried >= most)
      return;
    MoreBits more = proposeMoreBits(network, *point);
    addCandidate(more.line, point->name, more.words);
  }
}

LogicalResult RemedySearch::measure(size_t first) {
  std::vector<Switches> switches;
  for (const Candidate &candidate : ArrayRef(candidates).drop_front(first))
    switches.push_back(candidate.switches);
  std::vector<RunDistance> found(switches.size());
  FailureOr<RunDistance> whole =
      run.measure(without, switches, found, /*keepsSamples=*/true);
  if (failed(whole))
    return failure();
  base = std::move(*whole);
  for (auto [candidate, each] :
       llvm::zip_equal(MutableArrayRef(candidates).drop_front(first), found)) {
    candidate.found = std::move(each);
    addTrial(candidate);
  }
  return success();
}

static size_t findWorstPart(const RunDistance &run) {
  return size_t(llvm::max_element(run.parts) - run.parts.begin());
}

/// Returns whether the results, or the part of them that is the worst without a
/// remedy, gain beyond chance.
bool RemedySearch::isWorthwhile(const RunDistance &before,
                                const RunDistance &after) const {
  const ResultDistance &results = run.results();
  // A remedy that removes much of the distance and helps most samples is not
  // chance, even if a few samples account for most of the gain.
  auto isSure = [&](const ResultDistance::Gain &of, double distance) {
    if (!std::isfinite(of.standardError))
      return of.mean > kGainOfOneSample * distance;
    double changed = double(of.better + of.worse);
    return of.mean > kStandardErrors * of.standardError ||
           (of.mean > kLargeGain * distance &&
            double(of.better - of.worse) >
                kStandardErrors * std::sqrt(changed));
  };
  ResultDistance::Gain gain =
      results.compareRuns(before.samples, after.samples);
  size_t worst = findWorstPart(base);
  bool gainsAll =
      isSure(gain, before.distance) && gain.mean > kLeastGain * base.distance;
  bool gainsWorst =
      isSure(results.compareRuns(before.samples, after.samples, worst),
             before.parts[worst]) &&
      before.parts[worst] > kBetterBy * after.parts[worst] &&
      gain.mean > -kStandardErrors * gain.standardError;
  return gainsAll || gainsWorst;
}

void RemedySearch::addTrial(Candidate &candidate) {
  const ResultDistance &results = run.results();
  const RunDistance &found = candidate.found;
  ResultDistance::Gain gain = results.compareRuns(base.samples, found.samples);
  Trial trial;
  trial.kind = candidate.kind;
  trial.lines = candidate.lines;
  trial.points = candidate.points;
  trial.before = base.distance;
  trial.after = found.distance;
  trial.gain = gain.mean;
  trial.standardError = gain.standardError;
  size_t worst = findWorstPart(base);
  const ResultDistance::Part &part = results.getParts()[worst];
  trial.worst = namePart(part, report);
  trial.worstBefore = base.parts[worst];
  trial.worstAfter = found.parts[worst];
  if (results.getMetric(part.output) == execution::ResultMetric::MSE)
    trial.worstGain = 10 * std::log10(trial.worstBefore / trial.worstAfter);
  // A pair has to gain beyond each of its remedies.
  trial.isWorthwhile = isWorthwhile(base, found) &&
                       llvm::all_of(candidate.joined, [&](size_t single) {
                         return isWorthwhile(candidates[single].found, found);
                       });
  candidate.trial = report.trials.size();
  report.trials.push_back(std::move(trial));
}

/// Combines two remedies if they are about different points; returns none
/// otherwise.
std::optional<Candidate> RemedySearch::join(size_t one, size_t other) const {
  const Candidate &first = candidates[one], &second = candidates[other];
  if (llvm::any_of(second.points, [&](const std::string &point) {
        return llvm::is_contained(first.points, point);
      }))
    return std::nullopt;
  Candidate joined = first;
  joined.trial.reset();
  joined.joined = {one, other};
  llvm::append_range(joined.lines, second.lines);
  llvm::append_range(joined.words, second.words);
  llvm::append_range(joined.points, second.points);
  llvm::append_range(joined.switches.points, second.switches.points);
  llvm::append_range(joined.switches.quantizers, second.switches.quantizers);
  return joined;
}

/// Adds the pair that gains most, and the pair with the largest errors of their
/// own: if two tensors are lost, leaving only one of them float gains nothing.
void RemedySearch::addPairs() {
  size_t count = candidates.size();
  if (count < 2)
    return;
  auto getOwn = [&](size_t number) {
    double own = -HUGE_VAL;
    for (const Point &point : report.points)
      if (llvm::is_contained(candidates[number].points, point.name))
        own = std::max(own, double(getOwnError(point)));
    return own;
  };
  auto sortBy = [&](llvm::function_ref<double(size_t)> value) {
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t(0));
    llvm::sort(order, [&](size_t lhs, size_t rhs) {
      return std::pair(-value(lhs), lhs) < std::pair(-value(rhs), rhs);
    });
    return order;
  };
  std::vector<size_t> byGain = sortBy([&](size_t number) {
    return report.trials[*candidates[number].trial].gain;
  });
  std::vector<size_t> byOwn = sortBy(getOwn);
  llvm::SmallSetVector<std::pair<size_t, size_t>, 4> pairs;
  auto addPair = [&](size_t one, size_t other) {
    if (one != other && pairs.size() < kMaxJoint &&
        join(std::min(one, other), std::max(one, other)))
      pairs.insert({std::min(one, other), std::max(one, other)});
  };
  auto addFirst = [&](const std::vector<size_t> &order, size_t most) {
    for (size_t number = 1; number < count && pairs.size() < most; ++number)
      addPair(order.front(), order[number]);
  };
  addFirst(byGain, 1);
  addFirst(byOwn, kMaxJoint);
  addFirst(byGain, kMaxJoint);
  for (auto [one, other] : pairs)
    candidates.push_back(*join(one, other));
}

/// Adds the measured gains to remedies, and removes remedies that gain nothing.
void RemedySearch::describeTrials() {
  for (Diagnosis &diagnosis : report.diagnoses) {
    bool isOverride = isTriable(diagnosis);
    for (const Candidate &candidate : candidates)
      if (isOverride && candidate.lines.size() == 1 &&
          candidate.lines.front() == diagnosis.paste)
        diagnosis.trial = int64_t(*candidate.trial);
    if (!diagnosis.trial) {
      // There was no room to try it; remedies that cannot be tried stay.
      if (isOverride && !untriable.contains(diagnosis.paste)) {
        diagnosis.remedy.clear();
        diagnosis.paste.clear();
        diagnosis.kind = "data";
      }
      continue;
    }
    const Trial &trial = report.trials[size_t(*diagnosis.trial)];
    if (trial.isWorthwhile) {
      diagnosis.remedy += " Tried: " + describeGain(trial) + ".";
      continue;
    }
    diagnosis.remedy.clear();
    diagnosis.paste.clear();
    diagnosis.kind = "data";
  }
}

static std::string listLines(ArrayRef<std::string> lines) {
  std::string text;
  for (const std::string &line : lines)
    text += (text.empty() ? "" : "\n") + line;
  return text;
}

/// Adds diagnoses for remedies that gain but are not proposed by a diagnosis.
void RemedySearch::addFound() {
  std::vector<Diagnosis> added;
  for (const Candidate &candidate : candidates) {
    const Trial &trial = report.trials[*candidate.trial];
    bool isJoint = candidate.lines.size() > 1;
    bool isReported =
        llvm::any_of(report.diagnoses, [&](const Diagnosis &other) {
          return other.trial == int64_t(*candidate.trial);
        });
    if (!trial.isWorthwhile || isReported)
      continue;
    Diagnosis diagnosis;
    diagnosis.rule = kMeasuredRemedy.str();
    // Trials are made without a harmful correction, which the distance has.
    Real share = report.distance > 0
                     ? std::clamp<Real>(trial.gain / report.distance, 0, 1)
                     : 0;
    diagnosis.severity = network.getSeverity(share);
    if (diagnosis.severity < kWorthALine && !(trial.worstBefore > kLostAt))
      continue;
    diagnosis.subject = candidate.points.front();
    std::string names = quoted(candidate.points.front());
    if (isJoint)
      names += " and " + quoted(candidate.points.back()) + " together";
    diagnosis.cause = names + (isJoint ? " make " : " makes ") +
                      percent(share) + " of the error.";
    diagnosis.remedy = candidate.words.front();
    if (isJoint)
      diagnosis.remedy = quoted(candidate.points.front()) + ": " +
                         candidate.words.front() + ", and " +
                         quoted(candidate.points.back()) + ": " +
                         candidate.words.back();
    diagnosis.remedy.front() = llvm::toUpper(diagnosis.remedy.front());
    diagnosis.remedy += ". Tried: " + describeGain(trial) + ".";
    diagnosis.kind = "overrides";
    diagnosis.paste = listLines(candidate.lines);
    diagnosis.trial = int64_t(*candidate.trial);
    diagnosis.numbers = {{"share", share}, {"gain", trial.gain}};
    added.push_back(std::move(diagnosis));
  }
  for (Diagnosis &diagnosis : added) {
    auto place = llvm::find_if(report.diagnoses, [&](const Diagnosis &other) {
      return other.severity < diagnosis.severity;
    });
    report.diagnoses.insert(place, std::move(diagnosis));
  }
}

LogicalResult RemedySearch::search() {
  leaveOutHarmful();
  for (Diagnosis &diagnosis : report.diagnoses)
    if (diagnosis.kind == "option" && !diagnosis.paste.empty())
      addCorrectionTrial(diagnosis);
  addDiagnosed(kMaxSingle - kSearched);
  addSearched(kMaxSingle);
  addDiagnosed(kMaxSingle);
  if (candidates.empty()) {
    describeTrials();
    return success();
  }
  if (failed(measure(0)))
    return failure();
  size_t single = candidates.size();
  addPairs();
  if (candidates.size() != single && failed(measure(single)))
    return failure();
  describeTrials();
  addFound();
  return success();
}

LogicalResult mct::report::tryRemedies(ModuleOp quantized,
                                       const KernelOps &kernels,
                                       StringRef function, EffectRun &run,
                                       Report &report) {
  return RemedySearch(quantized, kernels, function, run, report).search();
}
