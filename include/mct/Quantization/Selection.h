// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZATION_SELECTION_H
#define MCT_QUANTIZATION_SELECTION_H

#include "mct/Quantization/Histogram.h"
#include "mct/Quantizers/Grid.h"
#include "mct/Quantizers/Parameters.h"

#include "mct/Support/Threads.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace mct::quantization {

/// A value that occurs `weight` times, or as many values spread evenly over
/// `width` around it. The width is used by searches of grids above 8 bits
/// (DensitySearch.h, NormSearch.h).
struct Atom {
  double value = 0;
  double weight = 0;
  double width = 0;
};

/// Widest grid that the KL method can distinguish: histograms have 2^11 bins
/// and more on each side of zero.
inline constexpr unsigned kMaxDivergenceBits = 11;

/// Returns the grid that `parameters` describe under `options`.
Grid gridFor(const SelectedParameters &parameters,
             const SelectionOptions &options);

/// Returns the parameters for one row of weights. Values that are not finite
/// are ignored; a row without finite values is treated as zeros.
///
/// Source: MCT `qparams_search` and `power_of_two_selection_tensor`, with
/// these decisions:
/// * no-clipping widens the threshold so that the largest value is a level
///   (factor 2^(bits-1) / (2^(bits-1) - 1)); the uniform range is
///   [min(0, smallest), max(0, largest)];
/// * power of two, mse: the best of ten thresholds from twice the no-clipping
///   one downwards; of equal errors the smallest threshold not below
///   no-clipping;
/// * symmetric and uniform, mse and hmse: the global optimum over all steps and
///   zero points (StepSearch.h), up to 8 bits; for wider grids the best of a
///   bounded search that never loses to no-clipping; the same for lp with p =
///   2;
/// * symmetric and uniform, mae and lp: certified within 1e-5 of the global
///   optimum up to 8 bits and p = 4, then moved to a local one within 1e-7
///   (NormSearch.h);
/// * kl: DivergenceSearch.h; exact over the candidates named there. Above
///   kMaxDivergenceBits it is no-clipping;
/// * percentile: no-clipping of the remaining range (ClippingRules.h);
/// * octav: the threshold of the recursion without widening; for a power of
///   two, the better of its two neighbours (ClippingRules.h).
///
/// `errorTolerance` above 1 applies to mse, hmse, and lp with p = 2; other
/// methods ignore it. The largest threshold within it is taken: among all
/// powers of two, or all thresholds (StepSearch.h: exact up to 8 bits), or all
/// steps with the zero point of the least error; up to the one under which the
/// largest magnitude has the code 1. If the least error is zero, its parameters
/// stay. `bound` includes the distance from the least error that was found.
///
/// Certificate::Exact of a power of two refers to the named candidates; that of
/// a search for the mean squared error holds up to 1e-9 of the error and 1e-14
/// of the mean square.
///
/// `elementWeights` holds one weight >= 0 per value, in the same order, which
/// multiplies its error; empty means ones, which give the same bits. HMSE
/// minimizes the weighted error; the other methods accept weights as well. If
/// some weights are infinite, the finite ones count as 0, as NaN does.
SelectedParameters selectForValues(llvm::ArrayRef<float> values,
                                   const SelectionOptions &options,
                                   llvm::ArrayRef<float> elementWeights = {});

/// Returns the result of `selectForValues` for each channel of a row-major
/// tensor (see `fakeQuantizePerChannel` for `shape` and `axes`). Runs on up to
/// `threads` threads; the result does not depend on how many.
std::vector<SelectedParameters>
selectPerChannel(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> shape,
                 llvm::ArrayRef<int64_t> axes, const SelectionOptions &options,
                 const support::Threads &threads,
                 llvm::ArrayRef<float> elementWeights = {});

/// The axis whose thresholds (or scales) fit best, for tensors with no known
/// channel axis, and the parameters of its channels.
struct AxisSelection {
  int64_t axis = 0;
  std::vector<SelectedParameters> parameters;
};

/// Returns the result of `selectPerChannel` for the best axis of a tensor of at
/// least one axis: the one with the smallest mean error of the channels, the
/// first of equal ones. Source: MCT (`get_weights_qparams` without a channel
/// axis).
AxisSelection selectAxis(llvm::ArrayRef<float> values,
                         llvm::ArrayRef<int64_t> shape,
                         const SelectionOptions &options,
                         const support::Threads &threads,
                         llvm::ArrayRef<float> elementWeights = {});

/// Returns the atoms by which searches represent a histogram. The midpoint of
/// each bin represents it, with its width; the outer bins are first clipped to
/// the exact minimum and maximum. The minimum and the maximum are one value
/// each.
std::vector<Atom> atomsOf(const Histogram &histogram);

/// Returns the atoms at most `zThreshold` standard deviations from the mean;
/// all of them if the deviation is zero. Source: MCT `z_score_filter`.
std::vector<Atom> withoutOutliers(llvm::ArrayRef<Atom> atoms,
                                  double zThreshold);

/// Returns whether a negative value remains without the outliers: the
/// signedness of the activation if the target leaves it open.
bool hasNegativeValue(const Histogram &histogram, double zThreshold);

/// Returns the parameters for an activation, from atomsOf(histogram) without
/// its outliers. There is no widening: no-clipping is the exact range. Power of
/// two tries twenty thresholds; a divergence uses the bins of the histogram.
/// Fails if no finite value was observed.
///
/// Source: MCT `qparams_selection_histogram_search`, with the
/// decisions of selectForValues.
llvm::Expected<SelectedParameters>
selectForHistogram(const Histogram &histogram, const SelectionOptions &options);

/// Selects as `selectForHistogram` does, for any weighted values; weights are
/// positive, values finite. The range to cover is that of the atoms.
SelectedParameters selectForAtoms(llvm::ArrayRef<Atom> atoms,
                                  const SelectionOptions &options);

/// Returns the parameters for a tensor known to lie in [lo, hi] (a softmax, for
/// example): the no-clipping ones for max(|lo|, |hi|), whatever the error
/// method. MCT uses |hi| only.
SelectedParameters selectForBounds(double lo, double hi,
                                   const SelectionOptions &options);

/// Returns the parameters with threshold `size`, or, for a range, those of the
/// part of [lo, hi] within [-size, size]. Returns none if the method has no
/// such threshold, and for tables.
std::optional<SelectedParameters>
getParametersOfSize(const SelectionOptions &options, double lo, double hi,
                    double size);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_SELECTION_H
