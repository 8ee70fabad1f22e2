// SPDX-License-Identifier: Apache-2.0
//
// The definitions of what is trained, which lib/Training builds as networks, on
// lists of numbers: what learned quantizers make of values, what passes back,
// and the ordinary quantizer that they become. Tests compare the two.
//
// Rounding has no derivative that helps; each of them says which one stands in
// for it. Values are f32; parameters and sums over values are double. All
// functions use one set of parameters, that of a channel or of a whole tensor.
#ifndef MCT_TEST_UNIT_QUANTIZATION_REFERENCEQUANTIZERS_H
#define MCT_TEST_UNIT_QUANTIZATION_REFERENCEQUANTIZERS_H

#include "mct/Quantization/TrainableQuantizers.h"
#include "mct/Quantization/TrainingLosses.h"
#include "mct/Quantizers/Grid.h"

#include <vector>

namespace mct::quantization {

/// Gradient of a value that is clipped.
enum class ClipGradient {
  Masked, // nothing
  Passed, // as if it were not cut off: PyTorch's quantizers of MCT
};

/// Substitute for the derivative by the distance of levels.
enum class StepGradient {
  /// Rounding and cutting off count as the identity.
  StraightThrough,
  /// Rounding counts as the identity, cutting off as what it is.
  /// Source: Esser et al., Learned Step Size Quantization (ICLR 2020).
  LearnedStep,
};

/// Levels from -threshold (or 0) to threshold - step, step = threshold /
/// 2^(bits - signed); as `symmetricGrid`.
struct LearnedThreshold {
  unsigned bits = 8;
  bool isSigned = true;
  /// The threshold counts as the next power of two, so that what is trained is
  /// what is deployed; back through the rounding of its exponent comes p / t.
  bool isPowerOfTwo = false;
  StepGradient gradient = StepGradient::LearnedStep;
  /// Gradient of clipped values, for StraightThrough; LearnedStep masks.
  ClipGradient clip = ClipGradient::Masked;
  /// Multiplies what comes back to the threshold.
  double gradientScale = 1;

  /// Computes what the deployed quantizer makes of the values.
  void forward(double threshold, llvm::ArrayRef<float> values,
               llvm::MutableArrayRef<float> results) const;
  /// `gradients`: of the results, and then of the values. Returns that of the
  /// threshold.
  double backward(double threshold, llvm::ArrayRef<float> values,
                  llvm::MutableArrayRef<float> gradients) const;
  Grid freeze(double threshold) const;
};

/// Levels over [min, max], moved so that zero is one of them; as
/// `uniformParametersForRange`.
struct LearnedRange {
  unsigned bits = 8;
  StepGradient gradient = StepGradient::LearnedStep;
  ClipGradient clip = ClipGradient::Masked;
  double gradientScale = 1;

  using Range = TrainedRange;
  void forward(Range range, llvm::ArrayRef<float> values,
               llvm::MutableArrayRef<float> results) const;
  /// Computes, as LearnedThreshold::backward, the gradients of both ends.
  Range backward(Range range, llvm::ArrayRef<float> values,
                 llvm::MutableArrayRef<float> gradients) const;
  Grid freeze(Range range) const;
};

/// The quantizer of TensorFlow's FakeQuantWithMinMaxVars: the range is moved so
/// that zero is a level, halves go up.
struct NudgedRange {
  unsigned bits = 8;
  /// Leaves out the lowest level.
  bool isNarrow = false;

  void forward(LearnedRange::Range range, llvm::ArrayRef<float> values,
               llvm::MutableArrayRef<float> results) const;
  /// Returns the values outside pass theirs to the end that they were cut off
  /// at.
  LearnedRange::Range backward(LearnedRange::Range range,
                               llvm::ArrayRef<float> values,
                               llvm::MutableArrayRef<float> gradients) const;
  Grid freeze(LearnedRange::Range range) const;

private:
  struct Nudged {
    double step = 1, min = 0, max = 0;
  };
  Nudged nudge(LearnedRange::Range range) const;
};

/// Place of a weight between two levels: floor((w - offset) / step) + h(a), a
/// learned for every weight, h a stretched sigmoid that reaches 0 and 1.
/// Source: Nagel et al., Up or Down? Adaptive Rounding for Post-Training
/// Quantization (ICML 2020).
struct SoftRounding {
  double step = 1, offset = 0;
  /// Levels, from the offset on.
  double lowest = 0, highest = 0;
  ClipGradient clip = ClipGradient::Masked;

  static SoftRounding ofThreshold(double threshold, unsigned bits);
  static SoftRounding ofRange(LearnedRange::Range range, unsigned bits);

  /// Returns the variables with which nothing is rounded yet: the float
  /// weights, cut off.
  std::vector<float> initialize(llvm::ArrayRef<float> weights) const;
  /// `isHard`: every weight is on a level, up where h >= 1/2. `scale`
  /// multiplies the results; not above zero it counts as kSmallestThreshold.
  void forward(llvm::ArrayRef<float> weights, llvm::ArrayRef<float> variables,
               bool isHard, llvm::MutableArrayRef<float> results,
               double scale = 1) const;
  /// `gradients`: of the results, and then of the variables. Returns that of
  /// the scale.
  double backward(llvm::ArrayRef<float> weights,
                  llvm::ArrayRef<float> variables,
                  llvm::MutableArrayRef<float> gradients,
                  double scale = 1) const;
  /// Returns what comes back to the step when everything else stays.
  double stepGradient(llvm::ArrayRef<float> weights,
                      llvm::ArrayRef<float> variables,
                      llvm::ArrayRef<float> gradients) const;

private:
  double base(float weight) const;
};

/// Levels that are moved by what is learned, by at most `mostLevels` of them.
/// Source: MCT `STEWeightGPTQQuantizer`.
struct PerturbedRounding {
  double step = 1;
  double lowest = 0, highest = 0;
  double mostLevels = 1;

  static PerturbedRounding ofThreshold(double threshold, unsigned bits);
  /// One perturbation for each weight, in its unit. All gradients of the
  /// results pass to them.
  void forward(llvm::ArrayRef<float> weights,
               llvm::ArrayRef<float> perturbations,
               llvm::MutableArrayRef<float> results) const;
};

/// The range of a quantizer follows what it sees in training. Source:
/// TensorFlow Model Optimization, `quantize.quantizers`.
struct RangeObserver {
  enum class Kind {
    LastValue,     // the range of the last values
    MovingAverage, // an exponential mean of ranges
    AllValues,     // of everything, and zero
    Fixed,         // as it was set
  };
  Kind kind = Kind::LastValue;
  unsigned bits = 8;
  /// The range is as wide on both sides of zero, in levels.
  bool isSymmetric = false, isNarrow = false;
  double decay = 0.999;
  LearnedRange::Range range = {-6, 6};

  /// Returns an observer of a kind, with its initial range.
  static RangeObserver create(Kind kind);
  /// Takes the next values into account; without any it stays.
  void observe(llvm::ArrayRef<float> values);
};

/// Returns the sum over the layers of the mean over samples of attention * d,
/// divided by the largest mean attention of a layer; d is the sum over channels
/// of (y - x)^2, its mean over all positions. Fails where sizes do not fit or
/// all attention is zero. Source: MCT `sample_layer_attention_loss`, with the
/// channels on the last axis.
llvm::Expected<double>
sampleLayerAttention(llvm::ArrayRef<ComparedLayer> layers);
} // namespace mct::quantization

#endif // MCT_TEST_UNIT_QUANTIZATION_REFERENCEQUANTIZERS_H
