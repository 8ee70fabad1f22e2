// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZATION_SELECTION_H
#define MCT_QUANTIZATION_SELECTION_H

#include "mct/Quantization/Grid.h"
#include "mct/Quantization/Histogram.h"
#include "mct/Quantization/Kinds.h"

#include "mct/Support/Threads.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace mct::quantization {

/// A value that occurs `weight` times, or as many values spread evenly over
/// `width` around it. The width is read by searches of grids above 8 bits
/// (DensitySearch.h, NormSearch.h).
struct Atom {
  double value = 0;
  double weight = 0;
  double width = 0;
};

/// Widest grid the KL method can tell apart: histograms have 2^11 bins and more
/// on each side of zero.
inline constexpr unsigned kMaxDivergenceBits = 11;

struct SelectionOptions {
  QuantizationMethod kind = QuantizationMethod::PowerOfTwo;
  /// Width of the stored integer, sign included; 1..16.
  unsigned bits = 8;
  /// True if a symmetric grid has negative levels. The uniform kind and the
  /// weight functions do not read it: weights are always signed.
  bool isSigned = true;
  ErrorMethod errorMethod = ErrorMethod::MSE;
  /// p of the LP method, 1..64.
  double lpNorm = 2;
  /// Percentile method: the part of the weight, in percent above 0 up to 100,
  /// whose magnitudes are covered (uniform: on each side of zero).
  double percentile = 99.99;
  /// Activations: values further than this many standard deviations from the
  /// mean are left out, of the range and of the error. Infinity: none.
  double zThreshold = std::numeric_limits<double>::infinity();
  /// Smallest threshold of the symmetric kinds, and the step of a uniform grid
  /// when every value is zero. Positive. Rounded up to a power of two for
  /// PowerOfTwo.
  double minThreshold = 0x1p-16;
  /// Weights, where the mean squared error is minimized: the largest threshold
  /// (or step) is taken whose error is at most so many times the least one.
  /// Codes are smaller then, and compress better. At least 1.
  double errorTolerance = 1;
};

struct SelectedParameters {
  /// Symmetric kinds, else 0.
  double threshold = 0;
  /// Uniform kind, else 0. Real value = step * (q - zeroPoint).
  double step = 0;
  int64_t zeroPoint = 0;
  /// Error of the selected grid over the given values, in the unit of the error
  /// method: mean |e|^p in the unit of the values to the p (p = 1 for MAE, 2
  /// for MSE and HMSE and for the methods that minimize nothing), nats for KL.
  /// selectForBounds: 0, there are no values.
  double error = 0;
  Certificate certificate = Certificate::None;
  /// Certificate::Bound: no parameters of the kind have an error below error /
  /// (1 + bound). 0 for the exact ones, infinity for None.
  double bound = std::numeric_limits<double>::infinity();
  /// True if the step is a larger one than that of the least error, as
  /// `errorTolerance` allows.
  bool isLarger = false;
};

/// Returns the grid that `parameters` describe under `options`.
Grid gridFor(const SelectedParameters &parameters,
             const SelectionOptions &options);

/// Returns the parameters for one row of weights. Values that are not finite
/// are left out; a row without other values is treated as zeros.
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
/// * percentile: no-clipping of what is left of the range (ClippingRules.h);
/// * octav: the threshold of the recursion without widening, for a power of two
///   the better one of its neighbours (ClippingRules.h).
///
/// `errorTolerance` above 1 is about mse, hmse, and lp with p = 2; other
/// methods do not read it. The largest threshold within it is taken: among all
/// powers of two, or all thresholds (StepSearch.h: exact up to 8 bits), or all
/// steps with the zero point of the least error; up to the one under which the
/// largest magnitude has the code 1. Where the least error is zero, its
/// parameters stay. `bound` includes the distance from the least error that was
/// found.
///
/// Certificate::Exact of a power of two is about the named candidates, and that
/// of a search for the mean squared error up to 1e-9 of the error and 1e-14 of
/// the mean square.
///
/// `elementWeights` holds one weight >= 0 per value, in the same order, and
/// multiplies its error; empty means ones, which give the same bits. It is what
/// HMSE minimizes with; the other methods accept it as well. Beside infinite
/// weights the finite ones count as 0, as NaN does.
SelectedParameters selectForValues(llvm::ArrayRef<float> values,
                                   const SelectionOptions &options,
                                   llvm::ArrayRef<float> elementWeights = {});

/// Returns selectForValues for each channel of a row-major tensor (see
/// fakeQuantizePerChannel for `shape` and `axes`), one result per channel. Runs
/// on up to `threads` threads; the result does not depend on how many.
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

/// Returns selectPerChannel for every axis of a tensor of at least one axis;
/// the smallest mean error of the channels wins, the first of equal ones.
/// Source: MCT (`get_weights_qparams` without a channel axis).
AxisSelection selectAxis(llvm::ArrayRef<float> values,
                         llvm::ArrayRef<int64_t> shape,
                         const SelectionOptions &options,
                         const support::Threads &threads,
                         llvm::ArrayRef<float> elementWeights = {});

/// Returns the values a search sees of a histogram. Each bin stands for its
/// midpoint (the outer ones, cut at the exact minimum and maximum, for the
/// middle of what is left) with its width, except that the minimum and the
/// maximum are one value each.
std::vector<Atom> atomsOf(const Histogram &histogram);

/// Returns the atoms at most `zThreshold` standard deviations from the mean;
/// all of them where the deviation is zero. Source: MCT `z_score_filter`.
std::vector<Atom> withoutOutliers(llvm::ArrayRef<Atom> atoms,
                                  double zThreshold);

/// Returns whether a negative value remains without the outliers: the
/// signedness of the activation, where the target leaves it open.
bool hasNegativeValue(const Histogram &histogram, double zThreshold);

/// Returns the parameters for an activation, from atomsOf(histogram) without
/// its outliers. No widening: no-clipping is the exact range. Power of two
/// tries twenty thresholds, a divergence has the histogram's own bins. Fails
/// when nothing finite was observed.
///
/// Source: MCT `qparams_selection_histogram_search`, with the
/// decisions of selectForValues.
llvm::Expected<SelectedParameters>
selectForHistogram(const Histogram &histogram, const SelectionOptions &options);

/// Selects as selectForHistogram, for any weighted values; weights are
/// positive, values finite. The range to cover is that of the atoms.
SelectedParameters selectForAtoms(llvm::ArrayRef<Atom> atoms,
                                  const SelectionOptions &options);

/// Returns the parameters for a tensor known to lie in [lo, hi] (a softmax,
/// say): the no-clipping ones for max(|lo|, |hi|), whatever the error method.
/// MCT reads |hi| only.
SelectedParameters selectForBounds(double lo, double hi,
                                   const SelectionOptions &options);

/// Returns the parameters with this threshold, or, for a range, those of what
/// [lo, hi] has in [-size, size]. None where the method has no such threshold,
/// and for tables.
std::optional<SelectedParameters>
getParametersOfSize(const SelectionOptions &options, double lo, double hi,
                    double size);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_SELECTION_H
