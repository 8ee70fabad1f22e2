// SPDX-License-Identifier: Apache-2.0
//
// How the weights of one layer are rounded together, from rows of the product
// that it computes.
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
  RoundedLayer(ProductLayout layout, std::vector<size_t> parameterOf)
      : layout(std::move(layout)), parameterOf(std::move(parameterOf)) {}

  ProductLayout layout;
  /// Index of the parameter of each output channel.
  std::vector<size_t> parameterOf;
  /// True if no two channels share a parameter.
  bool choosesPerChannel = false;
  /// Factors of the parameters, the first one is 1.
  std::vector<double> factors;
  /// Levels for each of the factors, one entry for the tensor or one for each
  /// output channel; empty before `makeCandidates`.
  std::vector<std::vector<quantization::WeightLevels>> candidates;
  /// Fills in `candidates` for the quantizer that the layer was described with.
  void makeCandidates(tpc::QuantizerAttrInterface quantizer);

  // Results of the rounding.
  tpc::QuantizerAttrInterface parameters;
  std::vector<float> kernel, bias;
  llvm::SmallVector<double> errors;
  double error = 0, nearestError = 0;
};

/// Returns why the weights of a layer cannot be rounded together, or how they
/// are, when its point quantizes by `quantizer` or one with other parameters,
/// of which every `stride`-th is tried; 0: none.
std::variant<Record, RoundedLayer>
describeRounding(const Layer &layer, tpc::QuantizerAttrInterface quantizer,
                 unsigned maxBits, int stride = 1);

/// Rows of the product of one layer: what it reads in the quantized network and
/// what it makes in the float one, less the error of what that is added to.
/// Where all would take too much memory, of
/// every few rows in a row one; which one does not depend on anything else, so
/// that any number of workers in any order keeps the same.
class ProductRows {
public:
  /// `hasSummand`: both summands are seen, too.
  ProductRows(const ProductLayout &layout, int64_t unit, int64_t rowsPerUnit,
              int64_t samples, int64_t bytes, bool hasSummand);

  void add(LayerValue what, const execution::TensorView &values);

  /// Returns the numbers among what was kept that are NaN or infinite.
  int64_t countNonFinite() const;

private:
  friend struct ProductSamples;
  /// Drops rows that were not seen; how many are left.
  int64_t compact();
  std::vector<quantization::ProductMoments>
  moments(const support::Threads &threads);

  const ProductLayout &layout;
  int64_t unit, rowsPerUnit, total = 0, step = 1;
  std::vector<float> inputs, targets;
  /// A bit for each kind of values that was seen, all bits at the end.
  std::vector<uint8_t> seen;
  uint8_t complete;
};

/// Samples of a layer, as rounding needs them.
struct ProductSamples {
  /// Moments of each group of output channels.
  std::vector<quantization::ProductMoments> moments;
  /// Instead of them, where those of all columns would take more memory than
  /// there is for them (WideRoundingProblem).
  std::unique_ptr<ProductRows> rows;
  int64_t numRows = 0;

  /// Returns the moments of all rows that were observed.
  static ProductSamples take(std::unique_ptr<ProductRows> rows,
                             const support::Threads &threads);
  bool empty() const { return moments.empty() && !rows; }
  /// Returns whether squares can be computed with.
  bool hasFiniteSquares() const;
  /// Returns the views of the rows.
  quantization::MatrixView inputs() const;
  quantization::MatrixView targets() const;
};

/// Returns what `roundLayer` computes, for weights in the order of the layout.
/// Several threads may compute it at once.
quantization::RoundedWeights roundWeights(const ProductSamples &samples,
                                          llvm::ArrayRef<float> weights,
                                          const RoundedLayer &layer,
                                          const support::Threads &threads);
/// A diagnostic where squares of what was seen are not finite.
mlir::LogicalResult checkSquares(const Layer &layer,
                                 const ProductSamples &samples);
/// Fills in what was found, with parameters of the quantizer's kind.
void takeRounded(const Layer &layer, tpc::QuantizerAttrInterface quantizer,
                 const quantization::RoundedWeights &result,
                 RoundedLayer &rounded);
/// All three: rounds them.
mlir::LogicalResult roundLayer(const Layer &layer,
                               tpc::QuantizerAttrInterface quantizer,
                               const ProductSamples &samples,
                               RoundedLayer &rounded,
                               const support::Threads &threads);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_WEIGHTROUNDING_H
