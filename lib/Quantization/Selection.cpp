// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/Selection.h"

#include "BlockRange.h"
#include "ClippingRules.h"
#include "DensitySearch.h"
#include "DivergenceSearch.h"
#include "NormSearch.h"
#include "PowerOfTwoSearch.h"
#include "StepSearch.h"
#include "mct/Quantization/Parallel.h"
#include "mct/Quantizers/Channels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace mct::quantization {

namespace {

// MCT's n_iter of the power-of-two searches.
constexpr int kValueCandidates = 10;
constexpr int kHistogramCandidates = 20;

double powerOfTwoNotBelow(double value) {
  int exponent;
  double fraction = std::frexp(value, &exponent);
  return std::ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
}

int64_t levelCount(unsigned bits) { return int64_t(1) << bits; }

LevelRange symmetricLevels(const SelectionOptions &options, bool isSigned) {
  double half = std::ldexp(1.0, static_cast<int>(options.bits) - 1);
  return isSigned ? LevelRange{-half, half - 1} : LevelRange{0, 2 * half - 1};
}

/// The differences between weights and activations.
struct Source {
  bool isSigned;
  bool widen; // no-clipping leaves the largest value on a level
  int powerOfTwoCandidates;
  int divergenceBins; // per unit of the scaled values
  double errorTolerance = 1;
};

/// Returns the bins per unit for values: two to four times as many as there are
/// levels. More would only thin out the histogram of a row of weights.
int valueBins(unsigned bits) {
  return 1 << std::clamp(bits + 1, 8u, kMaxDivergenceBits + 1);
}

/// The distance that a method minimizes, or reports if it minimizes nothing.
enum class Distance { Squared, Norm, Divergence };

/// Atoms, and the distance of a grid from them. Errors are sums in scaled units
/// (Divergence: nats).
class Problem {
public:
  Problem(const ScaledAtoms &atoms, const SelectionOptions &options,
          const Source &source)
      : atoms(atoms),
        norm(options.errorMethod == ErrorMethod::LP ? options.lpNorm : 1) {
    switch (options.errorMethod) {
    case ErrorMethod::MAE:
      distance = Distance::Norm;
      break;
    case ErrorMethod::LP:
      // For p = 2 the search for squared errors is exact.
      distance = norm == 2 ? Distance::Squared : Distance::Norm;
      break;
    case ErrorMethod::KL:
      distance = Distance::Divergence;
      bins.emplace(atoms, source.divergenceBins);
      break;
    default:
      break;
    }
    spread = Density::serves(atoms, options.bits);
    if (distance == Distance::Squared && spread)
      density.emplace(atoms);
  }

  double error(LevelRange levels, double step, bool uniform) const {
    switch (distance) {
    case Distance::Squared:
      if (density)
        return density->error(levels, step);
      return evaluateStep(atoms, levels, step).error;
    case Distance::Norm:
      return evaluateNorm(normProblem(), levels, step);
    case Distance::Divergence:
      break;
    }
    if (bins->empty())
      return 0;
    return uniform ? bins->uniformDivergence(levels, step)
                   : bins->symmetricDivergence(levels, step);
  }

  NormProblem normProblem() const { return {atoms, norm, spread}; }

  /// Returns `error` in the unit of the method.
  double inUnitOfMethod(double error) const {
    double weight = atoms.totalWeight();
    if (distance == Distance::Divergence || weight <= 0)
      return error;
    double exponent = (distance == Distance::Squared ? 2 : norm) *
                      static_cast<double>(atoms.exponent());
    double whole = std::floor(exponent);
    return std::ldexp(error / weight * std::exp2(exponent - whole),
                      static_cast<int>(whole));
  }

  const ScaledAtoms &atoms;
  Distance distance = Distance::Squared;
  double norm;
  bool spread = false;
  std::optional<BinnedDistribution> bins;
  // Replaces the atoms where steps are about as fine as these are wide.
  std::optional<Density> density;
};

Source weightSource(const SelectionOptions &options) {
  return {true, true, kValueCandidates, valueBins(options.bits),
          options.errorTolerance};
}
Source activationSource(const SelectionOptions &options, int divergenceBins) {
  return {options.isSigned, false, kHistogramCandidates, divergenceBins};
}

bool isSearch(ErrorMethod method) {
  return method != ErrorMethod::NoClipping &&
         method != ErrorMethod::Percentile && method != ErrorMethod::OCTAV;
}

void certify(SelectedParameters &result, double bound) {
  result.bound = bound;
  result.certificate = bound == 0          ? Certificate::Exact
                       : std::isinf(bound) ? Certificate::None
                                           : Certificate::Bound;
}

/// Returns the largest scaled step within a tolerance: the largest magnitude
/// gets the code 1, and the threshold, which `shift` converts to a step, is a
/// float.
double largestToleratedStep(const Problem &problem, int shift) {
  return std::min(problem.atoms.largestMagnitude(),
                  std::ldexp(double(std::numeric_limits<float>::max()), shift));
}

/// Returns the smallest power-of-two threshold that covers [lo, hi]. `levels`
/// is set if hi itself must be a level.
double coveringPowerOfTwo(double lo, double hi, const SelectionOptions &options,
                          const Source &source) {
  double minimum = powerOfTwoNotBelow(options.minThreshold);
  if (source.widen && options.bits == 1)
    hi = 0; // a signed grid of one bit has no positive level
  double largest = std::max(-lo, hi);
  double threshold =
      largest > 0 ? std::max(minimum, powerOfTwoNotBelow(largest)) : minimum;
  // Compared as (1 - 2^(1 - bits)) * threshold, which is exact, and not by a
  // rounded widening factor: a largest value exactly on a level must fit.
  double step = std::ldexp(threshold, 1 - static_cast<int>(options.bits));
  return source.widen && hi > threshold - step ? 2 * threshold : threshold;
}

double coveringThreshold(double lo, double hi, const SelectionOptions &options,
                         const Source &source) {
  if (source.widen) {
    double half = std::ldexp(1.0, static_cast<int>(options.bits) - 1);
    hi = options.bits == 1 ? 0.0 : hi * (half / (half - 1));
  }
  return std::max({options.minThreshold, -lo, hi});
}

SelectedParameters selectPowerOfTwo(const Problem &problem, double lo,
                                    double hi, const SelectionOptions &options,
                                    const Source &source) {
  LevelRange levels = symmetricLevels(options, source.isSigned);
  // From a threshold in the caller's unit to a scaled step.
  int shift = -(static_cast<int>(options.bits) - source.isSigned) -
              problem.atoms.exponent();
  auto errorOf = [&](double threshold) {
    return problem.error(levels, std::ldexp(threshold, shift),
                         /*uniform=*/false);
  };
  double minimum = powerOfTwoNotBelow(options.minThreshold);
  double covering = coveringPowerOfTwo(lo, hi, options, source);
  SelectedParameters result;
  result.threshold = covering;
  result.error = errorOf(covering);
  auto offer = [&](double threshold) {
    double error = errorOf(threshold);
    if (error < result.error) {
      result.threshold = threshold;
      result.error = error;
    }
  };
  if (isSearch(options.errorMethod)) {
    // No-clipping came first, so it wins ties; so does the larger of two
    // smaller ones.
    double candidate = 2 * covering;
    for (int i = 0; i < source.powerOfTwoCandidates && candidate >= minimum;
         ++i, candidate *= 0.5)
      if (candidate != covering)
        offer(candidate);
    certify(result, 0);
    if (source.errorTolerance > 1 && problem.distance == Distance::Squared &&
        !countsAsZero(problem.atoms, result.error)) {
      const double least = result.error;
      double last = std::ldexp(largestToleratedStep(problem, shift), -shift);
      for (candidate = 2 * result.threshold; candidate <= last; candidate *= 2)
        if (double error = errorOf(candidate);
            error <= source.errorTolerance * least) {
          result.threshold = candidate;
          result.error = error;
          result.isLarger = true;
          certify(result, std::max(0.0, error / least - 1));
        }
    }
  } else if (options.errorMethod == ErrorMethod::OCTAV &&
             covering / 2 >= minimum) {
    // The power of two below the recursion's threshold may be the better one.
    offer(covering / 2);
  }
  return result;
}

SelectedParameters selectSymmetric(const Problem &problem, double lo, double hi,
                                   const SelectionOptions &options,
                                   const Source &source) {
  LevelRange levels = symmetricLevels(options, source.isSigned);
  // From a threshold in the caller's unit to a scaled step.
  int shift = -(static_cast<int>(options.bits) - source.isSigned) -
              problem.atoms.exponent();
  double covering = coveringThreshold(lo, hi, options, source);
  double step = std::ldexp(covering, shift);
  double minStep = std::ldexp(options.minThreshold, shift);
  SelectedParameters result;
  result.error = problem.error(levels, step, /*uniform=*/false);
  if (isSearch(options.errorMethod)) {
    GridCandidate best = {step, 0, result.error};
    switch (problem.distance) {
    case Distance::Squared: {
      StepCandidate start = {step, result.error};
      StepCandidate found =
          problem.density ? problem.density->searchStep(levels, minStep, start)
                          : searchStep(problem.atoms, levels, minStep, start);
      if (source.errorTolerance > 1) {
        StepCandidate least = found;
        found = searchLargestStep(problem.atoms, levels,
                                  largestToleratedStep(problem, shift), least,
                                  source.errorTolerance);
        result.isLarger = found.step != least.step;
      }
      best = {found.step, 0, found.error, found.bound};
      break;
    }
    case Distance::Norm:
      best = searchNorm(problem.normProblem(), levels, minStep, best);
      break;
    case Distance::Divergence:
      if (!problem.bins->empty())
        best = problem.bins->searchSymmetric(levels, minStep, step);
      best.bound = 0;
      break;
    }
    step = best.step;
    result.error = best.error;
    certify(result, best.bound);
  }
  result.threshold = std::ldexp(step, -shift);
  return result;
}

SelectedParameters selectUniform(const Problem &problem, double lo, double hi,
                                 const SelectionOptions &options,
                                 const Source &source) {
  UniformParameters covering =
      uniformParametersForRange(lo, hi, options.bits, options.minThreshold);
  SelectedParameters result;
  result.step = covering.step;
  result.zeroPoint = covering.zeroPoint;
  bool searched = isSearch(options.errorMethod);
  if (problem.atoms.allZero()) {
    if (searched)
      certify(result, 0);
    return result;
  }
  int last = static_cast<int>(levelCount(options.bits)) - 1;
  int zeroPoint = static_cast<int>(covering.zeroPoint);
  double step = std::ldexp(covering.step, -problem.atoms.exponent());
  result.error =
      problem.error({-double(zeroPoint), double(last - zeroPoint)}, step,
                    /*uniform=*/true);
  if (searched) {
    GridCandidate best = {step, zeroPoint, result.error};
    switch (problem.distance) {
    case Distance::Squared:
      best = problem.density
                 ? problem.density->searchStepAndZeroPoint(last + 1, best)
                 : searchStepAndZeroPoint(problem.atoms, last + 1, best);
      if (source.errorTolerance > 1) {
        StepCandidate larger = searchLargestStep(
            problem.atoms,
            {-double(best.zeroPoint), double(last - best.zeroPoint)},
            largestToleratedStep(problem, -problem.atoms.exponent()),
            {best.step, best.error, best.bound}, source.errorTolerance);
        result.isLarger = larger.step != best.step;
        best = {larger.step, best.zeroPoint, larger.error, larger.bound};
      }
      break;
    case Distance::Norm:
      best = searchNormAndZeroPoint(problem.normProblem(), last + 1, best);
      break;
    case Distance::Divergence:
      best = problem.bins->searchUniform(last + 1, step, zeroPoint);
      best.bound = 0;
      break;
    }
    result.zeroPoint = best.zeroPoint;
    result.error = best.error;
    certify(result, best.bound);
    result.step = std::ldexp(best.step, problem.atoms.exponent());
  }
  return result;
}

/// Moves the ends of the range to cover to the clipping bounds of the method.
void clipRange(const ScaledAtoms &atoms, const SelectionOptions &options,
               const Source &source, double &lo, double &hi) {
  bool uniform = options.kind == QuantizationMethod::Uniform;
  ClippingRange range;
  if (options.errorMethod == ErrorMethod::Percentile) {
    range = uniform ? percentileOfValues(atoms, options.percentile)
                    : percentileOfMagnitudes(atoms, options.percentile);
  } else if (options.errorMethod == ErrorMethod::OCTAV) {
    if (uniform) {
      range = octavRange(atoms, options.bits);
    } else {
      double threshold = octavThreshold(atoms, options.bits, source.isSigned);
      range = {source.isSigned ? -threshold : 0.0, threshold};
    }
  } else {
    return;
  }
  lo = std::ldexp(range.lo, atoms.exponent());
  hi = std::ldexp(range.hi, atoms.exponent());
}

SelectedParameters select(const ScaledAtoms &atoms, double lo, double hi,
                          SelectionOptions options, const Source &source) {
  // A histogram cannot distinguish that many levels.
  if (options.errorMethod == ErrorMethod::KL &&
      options.bits > kMaxDivergenceBits)
    options.errorMethod = ErrorMethod::NoClipping;
  Problem problem(atoms, options, source);
  Source covering = source;
  if (options.errorMethod == ErrorMethod::OCTAV)
    covering.widen = false; // the recursion finds the threshold itself
  clipRange(atoms, options, source, lo, hi);
  SelectedParameters result;
  switch (options.kind) {
  case QuantizationMethod::PowerOfTwo:
    result = selectPowerOfTwo(problem, lo, hi, options, covering);
    break;
  case QuantizationMethod::Symmetric:
    result = selectSymmetric(problem, lo, hi, options, covering);
    break;
  case QuantizationMethod::Uniform:
    result = selectUniform(problem, lo, hi, options, covering);
    break;
  case QuantizationMethod::LutPowerOfTwo:
  case QuantizationMethod::LutSymmetric:
    llvm_unreachable("tables are selected by selectLut");
  }
  result.error = problem.inUnitOfMethod(result.error);
  return result;
}

} // namespace

Grid gridFor(const SelectedParameters &parameters,
             const SelectionOptions &options) {
  return options.kind == QuantizationMethod::Uniform
             ? uniformGrid(parameters.step, parameters.zeroPoint, options.bits)
             : symmetricGrid(parameters.threshold, options.bits,
                             options.isSigned);
}

static ScaledAtoms scaledAtoms(llvm::ArrayRef<float> values,
                               llvm::ArrayRef<float> elementWeights) {
  // Weights of 1 must give the same bits as no weights.
  if (llvm::all_of(elementWeights, [](float weight) { return weight == 1; }))
    return ScaledAtoms(values);
  // Other weights are negligible beside an infinite one. NaN and negative
  // weights count as 0.
  bool anyInfinite = llvm::any_of(
      elementWeights, [](float weight) { return std::isinf(weight); });
  std::vector<double> finite, weights;
  for (auto [value, weight] : llvm::zip_equal(values, elementWeights))
    if (std::isfinite(value)) {
      finite.push_back(value);
      weights.push_back(
          anyInfinite ? double(weight == std::numeric_limits<float>::infinity())
          : weight > 0 ? double(weight)
                       : 0.0);
    }
  return ScaledAtoms(finite, weights);
}

/// Returns the power of two of least mean squared error directly from the
/// values, if no other option applies.
static std::optional<SelectedParameters> powerOfTwoForValues(
    llvm::ArrayRef<float> values, const SelectionOptions &options,
    llvm::ArrayRef<float> elementWeights, const Source &source) {
  bool squared =
      options.errorMethod == ErrorMethod::MSE ||
      options.errorMethod == ErrorMethod::HMSE ||
      (options.errorMethod == ErrorMethod::LP && options.lpNorm == 2);
  bool noClipping = options.errorMethod == ErrorMethod::NoClipping;
  if (options.kind != QuantizationMethod::PowerOfTwo ||
      !(squared || noClipping) || options.errorTolerance > 1 ||
      values.empty() ||
      llvm::any_of(elementWeights, [](float weight) { return weight != 1; }))
    return std::nullopt;
  BlockRange range = blockRange(values.data(), values.size());
  if (!range.allFinite())
    return std::nullopt;
  double lo = std::min(range.min, 0.0f), hi = std::max(range.max, 0.0f);
  int shift = static_cast<int>(options.bits) - source.isSigned;
  double covering = coveringPowerOfTwo(lo, hi, options, source);
  // In order of preference, see selectPowerOfTwo.
  llvm::SmallVector<double> steps = {std::ldexp(covering, -shift)};
  double minimum = powerOfTwoNotBelow(options.minThreshold);
  double candidate = 2 * covering;
  if (squared)
    for (int i = 0; i < source.powerOfTwoCandidates && candidate >= minimum;
         ++i, candidate *= 0.5)
      if (candidate != covering)
        steps.push_back(std::ldexp(candidate, -shift));
  if (!llvm::all_of(steps, servesPowerOfTwoStep))
    return std::nullopt;
  StepCandidate best = powerOfTwoStep(
      values, lo, hi, symmetricLevels(options, source.isSigned), steps);
  SelectedParameters result;
  result.threshold = std::ldexp(best.step, shift);
  result.error = best.error / static_cast<double>(values.size());
  if (squared)
    certify(result, best.bound);
  return result;
}

SelectedParameters selectForValues(llvm::ArrayRef<float> values,
                                   const SelectionOptions &options,
                                   llvm::ArrayRef<float> elementWeights) {
  const Source source = weightSource(options);
  if (auto direct =
          powerOfTwoForValues(values, options, elementWeights, source))
    return *direct;
  ScaledAtoms atoms = scaledAtoms(values, elementWeights);
  double lo = std::ldexp(atoms.min(), atoms.exponent());
  double hi = std::ldexp(atoms.max(), atoms.exponent());
  return select(atoms, lo, hi, options, source);
}

std::vector<SelectedParameters>
selectPerChannel(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> shape,
                 llvm::ArrayRef<int64_t> axes, const SelectionOptions &options,
                 const support::Threads &threads,
                 llvm::ArrayRef<float> elementWeights) {
  size_t channels = channelCount(shape, axes);
  std::vector<SelectedParameters> results(channels);
  if (channels == 0)
    return results;
  ChannelRows rows(values, shape, axes),
      weightRows(elementWeights, shape, axes);
  size_t together = rows.numTogether();
  // A thread costs more to start than a few short rows to search.
  parallelFor((channels + together - 1) / together,
              threads.atMost(values.size() / 2048), [&](size_t block) {
                size_t first = block * together;
                size_t count = std::min(together, channels - first);
                std::vector<float> buffer, weightBuffer;
                llvm::ArrayRef<float> read = rows.read(first, count, buffer);
                llvm::ArrayRef<float> weights = weightRows.read(
                    first, elementWeights.empty() ? 0 : count, weightBuffer);
                auto getRow = [&](llvm::ArrayRef<float> all, size_t i) {
                  return all.empty()
                             ? all
                             : all.slice(i * rows.length(), rows.length());
                };
                for (size_t i = 0; i < count; ++i)
                  results[first + i] = selectForValues(getRow(read, i), options,
                                                       getRow(weights, i));
              });
  return results;
}

std::vector<Atom> withoutOutliers(llvm::ArrayRef<Atom> atoms,
                                  double zThreshold) {
  double weight = 0, mean = 0, variance = 0;
  for (const Atom &atom : atoms) {
    weight += atom.weight;
    mean += atom.weight * atom.value;
  }
  mean /= weight;
  for (const Atom &atom : atoms)
    variance += atom.weight * (atom.value - mean) * (atom.value - mean);
  double limit = zThreshold * std::sqrt(variance / weight);
  std::vector<Atom> kept;
  for (const Atom &atom : atoms)
    // The comparison is negated so that NaN keeps the value.
    if (!(std::fabs(atom.value - mean) > limit))
      kept.push_back(atom);
  return kept;
}

std::vector<Atom> atomsOf(const Histogram &histogram) {
  double lo = histogram.min(), hi = histogram.max();
  std::vector<Atom> atoms;
  auto add = [&](double value, uint64_t count, double width = 0) {
    if (count > 0)
      atoms.push_back({value, static_cast<double>(count), width});
  };
  // The minimum and the maximum are known exactly: one value of their bins each
  // (or all, where they are equal).
  uint64_t atMin = lo != 0, atMax = hi != 0 && hi != lo;
  bool first = true;
  uint64_t binned = histogram.count() - histogram.zeros();
  llvm::ArrayRef<uint64_t> counts = histogram.counts();
  for (int bin = 0, e = static_cast<int>(counts.size()); bin < e; ++bin) {
    uint64_t count = counts[bin];
    // Insert zeros in ascending order, before the positive half.
    if (bin == Histogram::kBins / 2)
      add(0.0, histogram.zeros());
    if (count == 0)
      continue;
    double left = std::max(lo, histogram.binEdge(bin));
    double right = std::min(hi, histogram.binEdge(bin + 1));
    uint64_t least = first ? atMin : 0;
    first = false;
    binned -= count;
    uint64_t most = binned == 0 ? atMax : 0;
    add(lo, least);
    add(0.5 * (left + right), count - least - most, right - left);
    add(hi, most);
  }
  if (counts.empty())
    add(0.0, histogram.zeros());
  return atoms;
}

static ScaledAtoms scaledAtoms(std::vector<Atom> atoms,
                               const SelectionOptions &options) {
  if (std::isfinite(options.zThreshold))
    atoms = withoutOutliers(atoms, options.zThreshold);
  std::vector<double> values, weights, widths;
  for (const Atom &atom : atoms) {
    values.push_back(atom.value);
    weights.push_back(atom.weight);
    widths.push_back(atom.width);
  }
  return ScaledAtoms(values, weights, widths);
}

static SelectedParameters selectForAtoms(std::vector<Atom> unscaled,
                                         const SelectionOptions &options,
                                         int divergenceBins) {
  ScaledAtoms atoms = scaledAtoms(std::move(unscaled), options);
  double lo = std::ldexp(atoms.min(), atoms.exponent());
  double hi = std::ldexp(atoms.max(), atoms.exponent());
  return select(atoms, lo, hi, options,
                activationSource(options, divergenceBins));
}

SelectedParameters selectForAtoms(llvm::ArrayRef<Atom> atoms,
                                  const SelectionOptions &options) {
  return selectForAtoms(atoms.vec(), options, valueBins(options.bits));
}

static llvm::Error nothingObserved(const Histogram &histogram) {
  return llvm::createStringError(
      "no finite value was observed (%llu values that are not finite)",
      static_cast<unsigned long long>(histogram.nonFinite()));
}

llvm::Expected<SelectedParameters>
selectForHistogram(const Histogram &histogram,
                   const SelectionOptions &options) {
  if (histogram.empty())
    return nothingObserved(histogram);
  // The largest magnitude is in the upper half of the range and scaled to [1,
  // 2): a quarter of the bins lies in a unit.
  return selectForAtoms(atomsOf(histogram), options, Histogram::kBins / 4);
}

bool hasNegativeValue(const Histogram &histogram, double zThreshold) {
  if (!std::isfinite(zThreshold) || !(histogram.min() < 0))
    return histogram.min() < 0;
  return llvm::any_of(withoutOutliers(atomsOf(histogram), zThreshold),
                      [](const Atom &atom) { return atom.value < 0; });
}

AxisSelection selectAxis(llvm::ArrayRef<float> values,
                         llvm::ArrayRef<int64_t> shape,
                         const SelectionOptions &options,
                         const support::Threads &threads,
                         llvm::ArrayRef<float> elementWeights) {
  AxisSelection best;
  double bestError = std::numeric_limits<double>::infinity();
  for (int64_t axis = 0, e = static_cast<int64_t>(shape.size()); axis < e;
       ++axis) {
    std::vector<SelectedParameters> parameters = selectPerChannel(
        values, shape, {axis}, options, threads, elementWeights);
    double error = 0;
    for (const SelectedParameters &channel : parameters)
      error += channel.error;
    error /= static_cast<double>(parameters.size());
    if (axis == 0 || error < bestError) {
      best = {axis, std::move(parameters)};
      bestError = error;
    }
  }
  return best;
}

SelectedParameters selectForBounds(double lo, double hi,
                                   const SelectionOptions &options) {
  SelectedParameters result;
  const Source source = {options.isSigned, false, 0, 0};
  switch (options.kind) {
  case QuantizationMethod::PowerOfTwo:
    result.threshold = coveringPowerOfTwo(lo, hi, options, source);
    break;
  case QuantizationMethod::Symmetric:
    result.threshold = coveringThreshold(lo, hi, options, source);
    break;
  case QuantizationMethod::Uniform: {
    UniformParameters uniform =
        uniformParametersForRange(lo, hi, options.bits, options.minThreshold);
    result.step = uniform.step;
    result.zeroPoint = uniform.zeroPoint;
    break;
  }
  case QuantizationMethod::LutPowerOfTwo:
  case QuantizationMethod::LutSymmetric:
    llvm_unreachable("tables are selected by selectLut");
  }
  return result;
}

std::optional<SelectedParameters>
getParametersOfSize(const SelectionOptions &options, double lo, double hi,
                    double size) {
  SelectedParameters selected;
  switch (options.kind) {
  case QuantizationMethod::PowerOfTwo:
    if (!isPowerOfTwo(size))
      return std::nullopt;
    [[fallthrough]];
  case QuantizationMethod::Symmetric:
    selected.threshold = size;
    return selected;
  case QuantizationMethod::Uniform: {
    UniformParameters uniform = uniformParametersForRange(
        std::max(lo, -size), std::min(hi, size), options.bits);
    selected.step = uniform.step;
    selected.zeroPoint = uniform.zeroPoint;
    return selected;
  }
  case QuantizationMethod::LutPowerOfTwo:
  case QuantizationMethod::LutSymmetric:
    return std::nullopt;
  }
  llvm_unreachable("unknown method");
}

} // namespace mct::quantization
