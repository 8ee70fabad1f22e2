// SPDX-License-Identifier: Apache-2.0

#include "DenseAlgebra.h"
#include "ProductMoments.h"
#include "RoundingGroup.h"
#include "mct/Quantization/Parallel.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace mct::quantization {

namespace {
/// Sums over both halves and all outputs: of the products of the explained and
/// the actual differences, and of the squares of the explained ones.
struct Agreement {
  double product = 0, energy = 0;

  /// Returns the factor by which a function that is fitted to both halves
  /// explains other samples best. `product` is the part of `energy` that the
  /// halves share; twice as many samples halve the rest (Spearman-Brown).
  double findFactor() const {
    return product > 0 ? std::min(2 * product / (product + energy), 1.0) : 0;
  }
};
} // namespace

static double dot(const double *left, const double *right, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i != count; ++i)
    sum += left[i] * right[i];
  return sum;
}

/// Adds how well the function that explains the targets of `fitted` explains
/// those of `other`.
static void addAgreement(const ProductMoments &fitted,
                         const ProductMoments &other, double damping,
                         const support::Threads &threads, Agreement &sum) {
  int64_t columns = fitted.columns, outputs = fitted.outputs;
  std::vector<float> none(columns * outputs, 0.0f);
  std::vector<double> change =
      RoundingGroup(fitted, none, damping, threads).getBest();
  std::vector<double> image(columns * outputs, 0.0);
  ProductAdder().add(1.0, {change.data(), columns, 1},
                     {other.covariance.data(), columns, 1}, columns,
                     {image.data(), outputs, columns, columns});
  auto count = int64_t(change.size());
  sum.product += dot(change.data(), other.cross.data(), count);
  sum.energy += dot(change.data(), image.data(), count);
}

/// Compares the halves of some columns of a group whose targets are the
/// differences.
static Agreement compareHalves(const TargetRows &layer, int64_t firstInput,
                               int64_t numColumns, int64_t firstOutput,
                               double damping,
                               const support::Threads &threads) {
  int64_t inputStride = layer.groups * layer.columns,
          targetStride = layer.groups * layer.outputs;
  auto compute = [&](int64_t begin, int64_t end) {
    return productMoments({layer.inputs + begin * inputStride + firstInput,
                           end - begin, numColumns, inputStride},
                          {layer.targets + begin * targetStride + firstOutput,
                           end - begin, layer.outputs, targetStride},
                          threads);
  };
  ProductMoments first = compute(0, layer.half),
                 second = compute(layer.half, layer.rows);
  Agreement sum;
  addAgreement(first, second, damping, threads, sum);
  addAgreement(second, first, damping, threads, sum);
  return sum;
}

static Agreement compareHalves(const TargetRows &layer, double damping,
                               const support::Threads &threads) {
  // Two sets of moments, a factor in double and one in float.
  auto most = int64_t(
      std::sqrt(double(WideRoundingProblem::kMaxBytes) / 2 / (2 * 8 + 8 + 4)));
  std::vector<Agreement> sums;
  if (layer.groups == 1) {
    for (int64_t first = 0; first < layer.columns; first += most)
      sums.push_back(compareHalves(layer, first,
                                   std::min(most, layer.columns - first), 0,
                                   damping, threads));
  } else {
    sums.resize(layer.groups);
    parallelFor(sums.size(), threads, [&](size_t group) {
      auto number = int64_t(group);
      sums[group] =
          compareHalves(layer, number * layer.columns, layer.columns,
                        number * layer.outputs, damping, /*threads=*/1);
    });
  }
  Agreement all;
  for (const Agreement &each : sums) {
    all.product += each.product;
    all.energy += each.energy;
  }
  return all;
}

double shrinkTargets(const TargetRows &layer, llvm::ArrayRef<float> weights,
                     double damping, const support::Threads &threads) {
  int64_t inputStride = layer.groups * layer.columns,
          channels = layer.groups * layer.outputs;
  auto addOutputs = [&](float factor) {
    ProductAdder products;
    for (int64_t group = 0; group != layer.groups; ++group)
      products.add(factor,
                   {layer.inputs + group * layer.columns, inputStride, 1},
                   {weights.data() + group * layer.outputs * layer.columns, 1,
                    layer.columns},
                   layer.columns,
                   {layer.targets + group * layer.outputs, layer.rows,
                    layer.outputs, channels});
  };
  addOutputs(-1);
  auto getMeans = [&](int64_t begin, int64_t end) {
    return columnMeans(
        {layer.targets + begin * channels, end - begin, channels, channels});
  };
  std::vector<double> means = getMeans(0, layer.rows);
  Agreement agreement, ofMeans;
  if (layer.half > 0 && layer.half < layer.rows) {
    agreement = compareHalves(layer, damping, threads);
    for (auto [first, second] : llvm::zip_equal(
             getMeans(0, layer.half), getMeans(layer.half, layer.rows))) {
      ofMeans.product += 2 * first * second;
      ofMeans.energy += first * first + second * second;
    }
  }
  double factor = agreement.findFactor(), factorOfMeans = ofMeans.findFactor();
  for (double &mean : means)
    mean *= factorOfMeans - factor;
  for (int64_t row = 0; row != layer.rows; ++row)
    for (int64_t channel = 0; channel != channels; ++channel) {
      float &target = layer.targets[row * channels + channel];
      target = float(factor * double(target) + means[channel]);
    }
  addOutputs(1);
  return factor;
}

} // namespace mct::quantization
