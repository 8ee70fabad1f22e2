// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/Selection.h"

#include "StepSearch.h"
#include "mct/Quantization/Channels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

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

bool isSquared(ErrorMethod method) {
  return method == ErrorMethod::MSE || method == ErrorMethod::HMSE;
}

int64_t levelCount(unsigned bits) { return int64_t(1) << bits; }

LevelRange symmetricLevels(const SelectionOptions &options, bool isSigned) {
  double half = std::ldexp(1.0, static_cast<int>(options.bits) - 1);
  return isSigned ? LevelRange{-half, half - 1} : LevelRange{0, 2 * half - 1};
}

/// What separates weights from activations.
struct Source {
  bool isSigned;
  bool widen; // no-clipping leaves the largest value on a level
  int powerOfTwoCandidates;
};

/// Smallest power-of-two threshold that covers [lo, hi]. `levels` is set when
/// hi itself must be a level.
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

SelectedParameters selectPowerOfTwo(const ScaledAtoms &atoms, double lo,
                                    double hi, const SelectionOptions &options,
                                    const Source &source) {
  LevelRange levels = symmetricLevels(options, source.isSigned);
  int shift = static_cast<int>(options.bits) - source.isSigned;
  auto errorOf = [&](double threshold) {
    double step = std::ldexp(threshold, -shift - atoms.exponent());
    return evaluateStep(atoms, levels, step).error;
  };
  double noClipping = coveringPowerOfTwo(lo, hi, options, source);
  double bestThreshold = noClipping;
  double bestError = errorOf(noClipping);
  if (isSquared(options.errorMethod)) {
    double minimum = powerOfTwoNotBelow(options.minThreshold);
    // No-clipping came first, so it wins ties; so does the larger of two
    // smaller ones.
    double candidate = 2 * noClipping;
    for (int i = 0; i < source.powerOfTwoCandidates && candidate >= minimum;
         ++i, candidate *= 0.5) {
      double error = errorOf(candidate);
      if (error < bestError) {
        bestThreshold = candidate;
        bestError = error;
      }
    }
  }
  SelectedParameters result;
  result.threshold = bestThreshold;
  result.error = bestError;
  return result;
}

SelectedParameters selectSymmetric(const ScaledAtoms &atoms, double lo,
                                   double hi, const SelectionOptions &options,
                                   const Source &source) {
  LevelRange levels = symmetricLevels(options, source.isSigned);
  // From a threshold in the caller's unit to a scaled step.
  int shift =
      -(static_cast<int>(options.bits) - source.isSigned) - atoms.exponent();
  double noClipping = coveringThreshold(lo, hi, options, source);
  StepCandidate best =
      evaluateStep(atoms, levels, std::ldexp(noClipping, shift));
  if (isSquared(options.errorMethod))
    best = searchStep(atoms, levels, std::ldexp(options.minThreshold, shift),
                      best);
  SelectedParameters result;
  result.threshold = std::ldexp(best.step, -shift);
  result.error = best.error;
  return result;
}

SelectedParameters selectUniform(const ScaledAtoms &atoms, double lo, double hi,
                                 const SelectionOptions &options) {
  UniformParameters noClipping =
      uniformParametersForRange(lo, hi, options.bits, options.minThreshold);
  SelectedParameters result;
  result.step = noClipping.step;
  result.zeroPoint = noClipping.zeroPoint;
  if (atoms.allZero())
    return result;
  int last = static_cast<int>(levelCount(options.bits)) - 1;
  int zeroPoint = static_cast<int>(noClipping.zeroPoint);
  StepCandidate start =
      evaluateStep(atoms, {-double(zeroPoint), double(last - zeroPoint)},
                   std::ldexp(noClipping.step, -atoms.exponent()));
  UniformCandidate best = {start.step, zeroPoint, start.error};
  if (isSquared(options.errorMethod))
    best = searchStepAndZeroPoint(atoms, last + 1, best);
  result.step = std::ldexp(best.step, atoms.exponent());
  result.zeroPoint = best.zeroPoint;
  result.error = best.error;
  return result;
}

SelectedParameters select(const ScaledAtoms &atoms, double lo, double hi,
                          const SelectionOptions &options,
                          const Source &source) {
  SelectedParameters result;
  switch (options.kind) {
  case QuantizerKind::PowerOfTwo:
    result = selectPowerOfTwo(atoms, lo, hi, options, source);
    break;
  case QuantizerKind::Symmetric:
    result = selectSymmetric(atoms, lo, hi, options, source);
    break;
  case QuantizerKind::Uniform:
    result = selectUniform(atoms, lo, hi, options);
    break;
  case QuantizerKind::LutPowerOfTwo:
  case QuantizerKind::LutSymmetric:
    llvm_unreachable("tables are selected by selectLut");
  }
  // The search sums in scaled units.
  double weight = atoms.totalWeight();
  result.error = weight > 0
                     ? std::ldexp(result.error / weight, 2 * atoms.exponent())
                     : 0.0;
  return result;
}

} // namespace

Grid gridFor(const SelectedParameters &parameters,
             const SelectionOptions &options) {
  return options.kind == QuantizerKind::Uniform
             ? uniformGrid(parameters.step, parameters.zeroPoint, options.bits)
             : symmetricGrid(parameters.threshold, options.bits,
                             options.isSigned);
}

static ScaledAtoms scaledAtoms(llvm::ArrayRef<float> values,
                               llvm::ArrayRef<float> elementWeights) {
  // Ones must give the bits of no weights, whatever the search does with them.
  if (llvm::all_of(elementWeights, [](float weight) { return weight == 1; }))
    return ScaledAtoms(values);
  std::vector<double> finite, weights;
  for (auto [value, weight] : llvm::zip_equal(values, elementWeights))
    if (std::isfinite(value)) {
      finite.push_back(value);
      weights.push_back(weight);
    }
  return ScaledAtoms(finite, weights);
}

SelectedParameters selectForValues(llvm::ArrayRef<float> values,
                                   const SelectionOptions &options,
                                   llvm::ArrayRef<float> elementWeights) {
  ScaledAtoms atoms = scaledAtoms(values, elementWeights);
  double lo = std::ldexp(atoms.min(), atoms.exponent());
  double hi = std::ldexp(atoms.max(), atoms.exponent());
  return select(atoms, lo, hi, options, {true, true, kValueCandidates});
}

std::vector<SelectedParameters>
selectPerChannel(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> shape,
                 llvm::ArrayRef<int64_t> axes, const SelectionOptions &options,
                 unsigned threads, llvm::ArrayRef<float> elementWeights) {
  size_t channels = channelCount(shape, axes);
  std::vector<SelectedParameters> results(channels);
  if (channels == 0)
    return results;
  std::vector<float> gathered, gatheredWeights;
  // Channels that are the outermost axis already lie in rows.
  bool alreadyRows = axes.empty() || (axes.size() == 1 && axes[0] == 0);
  if (!alreadyRows) {
    gathered = gatherChannels(values, shape, axes);
    values = gathered;
    if (!elementWeights.empty()) {
      gatheredWeights = gatherChannels(elementWeights, shape, axes);
      elementWeights = gatheredWeights;
    }
  }
  size_t rowLength = values.size() / channels;

  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t channel; (channel = next.fetch_add(1)) < channels;)
      results[channel] = selectForValues(
          values.slice(channel * rowLength, rowLength), options,
          elementWeights.empty()
              ? elementWeights
              : elementWeights.slice(channel * rowLength, rowLength));
  };
  // A thread costs more to start than a few short rows to search.
  size_t useful = std::min<size_t>({threads, channels, values.size() / 2048});
  std::vector<std::thread> workers;
  for (size_t i = 1; i < useful; ++i)
    workers.emplace_back(work);
  work();
  for (std::thread &worker : workers)
    worker.join();
  return results;
}

SelectedParameters selectForAtoms(llvm::ArrayRef<Atom> atoms,
                                  const SelectionOptions &options) {
  std::vector<double> values, weights;
  double lo = 0, hi = 0;
  for (const Atom &atom : atoms) {
    values.push_back(atom.value);
    weights.push_back(atom.weight);
    lo = std::min(lo, atom.value);
    hi = std::max(hi, atom.value);
  }
  return select(ScaledAtoms(values, weights), lo, hi, options,
                {options.isSigned, false, kHistogramCandidates});
}

llvm::Expected<SelectedParameters>
selectForHistogram(const Histogram &histogram,
                   const SelectionOptions &options) {
  if (histogram.empty())
    return llvm::createStringError(
        "no finite value was observed (%llu values that are not finite)",
        static_cast<unsigned long long>(histogram.nonFinite()));
  double lo = histogram.min(), hi = histogram.max();
  std::vector<double> values, weights;
  auto add = [&](double value, uint64_t count) {
    if (count == 0)
      return;
    values.push_back(value);
    weights.push_back(static_cast<double>(count));
  };
  // The minimum and the maximum are known exactly: one value of their bins each
  // (or all, where they are equal).
  uint64_t atMin = lo != 0, atMax = hi != 0 && hi != lo;
  bool first = true;
  uint64_t binned = histogram.count() - histogram.zeros();
  llvm::ArrayRef<uint64_t> counts = histogram.counts();
  for (int bin = 0, e = static_cast<int>(counts.size()); bin < e; ++bin) {
    uint64_t count = counts[bin];
    if (count == 0)
      continue;
    double left = std::max(lo, histogram.binEdge(bin));
    double right = std::min(hi, histogram.binEdge(bin + 1));
    uint64_t least = first ? atMin : 0;
    first = false;
    binned -= count;
    uint64_t most = binned == 0 ? atMax : 0;
    add(lo, least);
    add(0.5 * (left + right), count - least - most);
    add(hi, most);
  }
  if (histogram.zeros() > 0 || values.empty()) {
    values.push_back(0.0);
    weights.push_back(static_cast<double>(histogram.zeros()));
  }
  return select(ScaledAtoms(values, weights), std::min(lo, 0.0),
                std::max(hi, 0.0), options,
                {options.isSigned, false, kHistogramCandidates});
}

SelectedParameters selectForBounds(double lo, double hi,
                                   const SelectionOptions &options) {
  SelectedParameters result;
  const Source source = {options.isSigned, false, 0};
  switch (options.kind) {
  case QuantizerKind::PowerOfTwo:
    result.threshold = coveringPowerOfTwo(lo, hi, options, source);
    break;
  case QuantizerKind::Symmetric:
    result.threshold = coveringThreshold(lo, hi, options, source);
    break;
  case QuantizerKind::Uniform: {
    UniformParameters uniform =
        uniformParametersForRange(lo, hi, options.bits, options.minThreshold);
    result.step = uniform.step;
    result.zeroPoint = uniform.zeroPoint;
    break;
  }
  case QuantizerKind::LutPowerOfTwo:
  case QuantizerKind::LutSymmetric:
    llvm_unreachable("tables are selected by selectLut");
  }
  return result;
}

} // namespace mct::quantization
