// SPDX-License-Identifier: Apache-2.0

#include "PowerOfTwoSearch.h"

#include "FloatErrors.h"
#include "mct/Quantizers/Simd.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cmath>

namespace mct::quantization {

namespace {

// Values between two looks at the sums; a few blocks fit the first-level cache.
constexpr size_t kValuesPerLook = 4096;

/// Sums (v - level)^2 in two parts: multiples of the first unit, and the
/// remainders as multiples of the second. Both sums are exact as long as no
/// partial sum reaches 2^52 units.
MCT_VECTOR_BODY void sumInUnits(const float *values, size_t count,
                                double inverse, LevelRange range,
                                const double *units, double *sums) {
  using Float8 = float __attribute__((vector_size(32)));
  const Double8 scale = Double8{} + inverse, lo = Double8{} + range.lo,
                hi = Double8{} + range.hi, rounder = Double8{} + kRounder,
                coarse = Double8{} + kRounder * units[0],
                fine = Double8{} + kRounder * units[1];
  Double8 coarseSum{}, fineSum{};
  for (size_t i = 0; i < count; i += 8) {
    Double8 v =
        __builtin_convertvector(loadVector<Float8>(values + i), Double8) *
        scale;
    Double8 clamped = v > lo ? v : lo;
    clamped = clamped < hi ? clamped : hi;
    Double8 residual = v - ((clamped + rounder) - rounder);
    Double8 square = residual * residual;
    Double8 part = (square + coarse) - coarse;
    coarseSum += part;
    square -= part;
    fineSum += (square + fine) - fine;
  }
  for (int lane = 0; lane < 8; ++lane) {
    sums[0] += coarseSum[lane];
    sums[1] += fineSum[lane];
  }
}

/// Values in memory, and the remaining ones that do not fill a vector, followed
/// by zeros.
struct Blocks {
  explicit Blocks(llvm::ArrayRef<float> values)
      : whole(values.take_front(values.size() / 16 * 16)) {
    std::copy(values.begin() + whole.size(), values.end(), rest);
  }
  llvm::ArrayRef<float> whole;
  float rest[16] = {};
};

/// Returns the largest distance of a value from its level, in steps.
double largestResidual(double min, double max, LevelRange levels, double step) {
  return std::max({0.5, max / step - levels.hi, levels.lo - min / step});
}

double exactError(const Blocks &blocks, size_t count, double largestResidual,
                  LevelRange levels, double step) {
  double terms = static_cast<double>(std::max<size_t>(count, 1)) + 16;
  double units[2], sums[2] = {};
  int exponent = std::ilogb(terms * largestResidual * largestResidual) + 1;
  units[0] = std::ldexp(1.0, exponent - 51);
  units[1] = std::ldexp(units[0], std::ilogb(terms) + 1 - 51);
  runVectorLoop<sumInUnits>(blocks.whole.data(), blocks.whole.size(), 1 / step,
                            levels, units, sums);
  runVectorLoop<sumInUnits>(blocks.rest, 16, 1 / step, levels, units, sums);
  return step * step * (sums[0] + sums[1]);
}

} // namespace

bool servesPowerOfTwoStep(double step) {
  // Squares of a level's worth of values stay finite, too.
  return step >= 0x1p-100 && step <= 0x1p100;
}

StepCandidate powerOfTwoStep(llvm::ArrayRef<float> values, double min,
                             double max, LevelRange levels,
                             llvm::ArrayRef<double> candidates) {
  struct Candidate {
    double step;
    double residual; // the largest
    double error;
  };
  llvm::SmallVector<Candidate> active;
  for (double step : candidates)
    active.push_back({step, largestResidual(min, max, levels, step), 0});
  auto squared = [](double x) { return x * x; };
  // The error of the first candidate is at most this.
  const Candidate first = active.front();
  double limit =
      static_cast<double>(values.size()) * squared(first.residual * first.step);
  llvm::erase_if(active, [&](const Candidate &candidate) {
    // The outermost value alone may cost more than that. If the first candidate
    // clips nothing, larger steps have no levels that it lacks.
    return (candidate.residual > 0.5 &&
            squared(candidate.residual * candidate.step) > limit) ||
           (first.residual <= 0.5 && candidate.step > first.step);
  });

  Blocks blocks(values);
  auto addBlock = [&](llvm::ArrayRef<float> block) {
    for (size_t begin = 0; begin < active.size(); begin += kBatch) {
      GridBatch batch;
      auto candidates = llvm::MutableArrayRef(active).slice(
          begin, std::min<size_t>(kBatch, active.size() - begin));
      for (const Candidate &candidate : candidates)
        batch.add(1 / candidate.step, levels.lo, levels.hi);
      double errors[kBatch];
      sumFloatErrors(block.data(), block.size(), batch, errors);
      for (auto [candidate, error] : llvm::zip(candidates, errors))
        candidate.error += squared(candidate.step) * error;
    }
  };
  for (size_t begin = 0; begin < blocks.whole.size() && active.size() > 1;
       begin += kValuesPerLook) {
    addBlock(blocks.whole.slice(
        begin, std::min(kValuesPerLook, blocks.whole.size() - begin)));
    llvm::erase_if(active, [&](const Candidate &candidate) {
      return candidate.error * (1 - kFloatSumLoss) > limit;
    });
  }
  if (active.size() > 1)
    addBlock(blocks.rest);

  double smallest = active.front().error;
  for (const Candidate &candidate : active)
    smallest = std::min(smallest, candidate.error);
  llvm::erase_if(active, [&](const Candidate &candidate) {
    return candidate.error > smallest * (1 + 4 * kFloatSumLoss);
  });
  StepCandidate best;
  bool found = false;
  for (const Candidate &candidate : active) {
    double error = exactError(blocks, values.size(), candidate.residual, levels,
                              candidate.step);
    if (!found || error < best.error)
      best = {candidate.step, error, 0};
    found = true;
  }
  return best;
}

} // namespace mct::quantization
