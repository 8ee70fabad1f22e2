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
  /// Of each output channel its parameter of the quantizer.
  std::vector<size_t> parameterOf;
  /// Whether no two channels share a parameter.
  bool choosesPerChannel = false;
  /// Factors of the parameters, the first one is 1; for each what the levels
  /// are, one entry for the tensor or one for each output channel.
  std::vector<double> factors;
  std::vector<std::vector<quantization::WeightLevels>> candidates;

  // What became of it.
  tpc::QuantizerAttrInterface parameters;
  std::vector<float> kernel, bias;
  llvm::SmallVector<double> errors;
  double error = 0, nearestError = 0;
};

/// Why the weights of a layer cannot be rounded together, or how they are, when
/// its point quantizes by `quantizer` or one with other parameters, of which
/// every `stride`-th is tried.
std::variant<Record, RoundedLayer>
describeRounding(const Layer &layer, tpc::QuantizerAttrInterface quantizer,
                 unsigned maxBits, int stride = 1);

/// Rounds them. `groups`: of the groups of output channels. A diagnostic where
/// the moments are not finite.
mlir::LogicalResult
roundLayer(const Layer &layer, tpc::QuantizerAttrInterface quantizer,
           llvm::ArrayRef<quantization::ProductMoments> groups,
           RoundedLayer &rounded, const support::Threads &threads);

/// Rows of the product of one layer: what it reads in the quantized network and
/// what it makes in the float one. Where all would take too much memory, of
/// every few rows in a row one; which one does not depend on anything else, so
/// that any number of workers in any order keeps the same.
class ProductRows {
public:
  ProductRows(const ProductLayout &layout, int64_t unit, int64_t rowsPerUnit,
              int64_t samples, int64_t bytes);

  void add(LayerValue what, const execution::TensorView &values);

  /// Numbers among what was kept that are NaN or infinite.
  int64_t countNonFinite() const;

  /// Of each group.
  std::vector<quantization::ProductMoments>
  moments(const support::Threads &threads);

private:
  /// Drops rows that were not seen; how many are left.
  int64_t compact();

  const ProductLayout &layout;
  int64_t unit, rowsPerUnit, total = 0, step = 1;
  std::vector<float> inputs, targets;
  /// 1: what is read, 2: what is made.
  std::vector<uint8_t> seen;
};

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_WEIGHTROUNDING_H
