// SPDX-License-Identifier: Apache-2.0
//
// Joint rounding of the weights of one layer, from rows of the product that it
// computes.
#ifndef MCT_LIB_CORRECTIONS_WEIGHTROUNDING_H
#define MCT_LIB_CORRECTIONS_WEIGHTROUNDING_H

#include "Layers.h"
#include "Layerwise.h"
#include "ProductLayout.h"
#include "mct/Quantization/LeastSquaresRounding.h"
#include <variant>

namespace mct::corrections {

/// A layer whose weights are rounded, and the quantizers that it may get.
struct RoundedLayer {
  RoundedLayer(ProductLayout layout, std::vector<size_t> channelParameters)
      : layout(std::move(layout)),
        channelParameters(std::move(channelParameters)) {}

  ProductLayout layout;
  /// Index of the parameter of each output channel.
  std::vector<size_t> channelParameters;
  /// True if no two channels share a parameter.
  bool choosesPerChannel = false;
  /// Factors of the parameters; the first one is 1.
  std::vector<double> factors;
  /// Levels for each of the factors, one entry for the tensor or one for each
  /// output channel; empty before `makeCandidates`.
  std::vector<std::vector<quantization::WeightLevels>> candidates;
  /// Fills in `candidates` for the quantizer that was passed to
  /// `describeRounding`.
  void makeCandidates(tpc::QuantizerAttrInterface quantizer);

  // Results of the rounding.
  tpc::QuantizerAttrInterface parameters;
  std::vector<float> kernel, bias;
  llvm::SmallVector<double> errors;
  double error = 0, nearestError = 0;
};

/// Returns the layer to round, for a point that quantizes by `quantizer`, or
/// the reason why its weights cannot be rounded jointly. Rounding also tries
/// every `stride`-th of the factors by which parameters may be multiplied; none
/// of them if `stride` is 0.
std::variant<Record, RoundedLayer>
describeRounding(const Layer &layer, tpc::QuantizerAttrInterface quantizer,
                 unsigned maxBits, int stride = 1);

/// Rows of the product of one layer: its operands in the quantized network and
/// its results in the float network, minus the error of the other summand. If
/// all would take too much memory, one of every few consecutive rows is kept;
/// the choice depends only on the indices of the rows, so that any number of
/// workers in any order keeps the same ones.
class ProductRows {
public:
  /// `hasSummand` is true if both summands are observed, too.
  ProductRows(const ProductLayout &layout, int64_t unit, int64_t rowsPerUnit,
              int64_t samples, int64_t bytes, bool hasSummand);

  void add(LayerValue kind, const execution::TensorView &values);

  /// Returns how many of the kept numbers are NaN or infinite.
  int64_t countNonFinite() const;

  /// Reduces the targets to what other samples show as well, for weights in the
  /// order of the layout. All rows must have been added. Returns the factor of
  /// `quantization::shrinkTargets`.
  double shrinkTargets(llvm::ArrayRef<float> weights,
                       const support::Threads &threads);

private:
  friend struct ProductSamples;
  /// Drops rows that were not observed, and returns the number of remaining
  /// rows.
  int64_t compact();
  std::vector<quantization::ProductMoments>
  moments(const support::Threads &threads);

  const ProductLayout &layout;
  int64_t unit, rowsPerUnit, total = 0, step = 1;
  /// How many of the rows are those of the first half of the samples.
  int64_t half = 0;
  std::vector<float> inputs, targets;
  /// Bits of the kinds of values that were observed, by kept row; `complete`
  /// has the bits of all kinds.
  std::vector<uint8_t> observed;
  uint8_t complete;
};

/// Samples of a layer in the form that rounding needs.
struct ProductSamples {
  /// Moments of each group of output channels.
  std::vector<quantization::ProductMoments> moments;
  /// Rows in place of moments, if those of all columns would need too much
  /// memory (WideRoundingProblem).
  std::unique_ptr<ProductRows> rows;
  int64_t numRows = 0;

  /// Returns the moments of all rows that were observed.
  static ProductSamples take(std::unique_ptr<ProductRows> rows,
                             const support::Threads &threads);
  bool empty() const { return moments.empty() && !rows; }
  /// Returns whether all squares are finite.
  bool hasFiniteSquares() const;
  /// Returns the views of the rows.
  quantization::MatrixView inputs() const;
  quantization::MatrixView targets() const;
};

/// Returns the result of `roundLayer` for weights in the order of the layout.
/// Several threads may call it at once.
quantization::RoundedWeights roundWeights(const ProductSamples &samples,
                                          llvm::ArrayRef<float> weights,
                                          const RoundedLayer &layer,
                                          const support::Threads &threads);
/// Emits a diagnostic if squares of the observed values are not finite.
mlir::LogicalResult checkSquares(const Layer &layer,
                                 const ProductSamples &samples);
/// Fills in the results, with parameters of the quantizer's kind.
void takeRounded(const Layer &layer, tpc::QuantizerAttrInterface quantizer,
                 const quantization::RoundedWeights &result,
                 RoundedLayer &rounded);
/// Rounds a layer by all three functions above.
mlir::LogicalResult roundLayer(const Layer &layer,
                               tpc::QuantizerAttrInterface quantizer,
                               const ProductSamples &samples,
                               RoundedLayer &rounded,
                               const support::Threads &threads);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_WEIGHTROUNDING_H
