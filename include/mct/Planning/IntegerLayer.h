// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_PLANNING_INTEGERLAYER_H
#define MCT_PLANNING_INTEGERLAYER_H

#include "mct/IR/Records.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Quantizers/Grid.h"
#include <cmath>

namespace mct {

/// Returns the grids whose codes are the integers of a kernel, one or one for
/// each channel: those of its quantizer, or, for a table whose entries are
/// 8-bit parts of a threshold, the grids of these parts. Empty if there are
/// none.
llvm::SmallVector<quantization::Grid>
getKernelGrids(tpc::QuantizerAttrInterface quantizer);

/// Returns the grid of all values of a tensor: that of the points that they
/// come from, moved or selected since. None if there is no grid, or several.
std::optional<quantization::Grid> findGrid(mlir::Value value);

/// The convolutions and matrix products of f32 numbers in a network, which a
/// device computes on integers if both factors are quantized: each constant has
/// a point, and every other factor has values of one grid.
struct IntegerLayers {
  int64_t count = 0;
  /// The first factor that is not quantized, of each layer that is not computed
  /// on integers, in program order.
  llvm::SmallVector<mlir::OpOperand *> notInIntegers;

  /// Returns "19 of 20 layers in integers"; empty if there are no layers.
  std::string describe() const;
};

/// Counts the layers below `root`. Points without parameters count as
/// quantizers.
IntegerLayers findIntegerLayers(mlir::Operation *root,
                                const KernelOps &kernels);

/// Returns true for a fully connected layer, whatever its op.
bool isFullyConnected(const KernelOp &layer);

/// A layer in integers: products of the codes of its input and its kernel, both
/// minus their zero points, are summed in an accumulator that has one step for
/// each output channel and starts with the bias in that step.
class IntegerLayer {
public:
  /// Reads the kernel of a layer whose input is on one grid. Returns
  /// KernelNotQuantized, NotEvenlySpaced or NotPerChannel for a kernel that
  /// integers cannot represent.
  static std::variant<IntegerLayer, Reason>
  get(const KernelOp &layer, const quantization::Grid &input);

  /// Returns the codes of the kernel minus their zero points, in the order of
  /// its constant.
  llvm::ArrayRef<int64_t> getKernelCodes() const { return codes; }
  /// Returns one grid, or one for each channel of the quantizer.
  llvm::ArrayRef<quantization::Grid> getKernelGrids() const { return grids; }
  /// Returns the step of the accumulator: the product of the steps of the input
  /// and of the kernel, as the simulation multiplies with them in f32. 0 if the
  /// channel has no weights.
  double getStep(int64_t channel) const { return steps[channel]; }
  /// Returns a bias in steps of the accumulator.
  double getBiasCode(int64_t channel, float bias) const {
    return std::nearbyint(double(bias) / steps[channel]);
  }
  /// Return the largest sums of the products of a channel above and below zero.
  double getReachAbove(int64_t channel) const {
    return positive[channel] * highest + negative[channel] * lowest;
  }
  double getReachBelow(int64_t channel) const {
    return positive[channel] * lowest + negative[channel] * highest;
  }
  /// Returns a bound of their magnitude that holds for any signs.
  double getReach(int64_t channel) const {
    return (positive[channel] + negative[channel]) * std::max(highest, lowest);
  }

private:
  IntegerLayer() = default;

  llvm::SmallVector<quantization::Grid> grids;
  std::vector<int64_t> codes;
  /// Numbers by output channel: steps of the accumulator, and sums of the
  /// magnitudes of positive and of negative codes.
  std::vector<double> steps, positive, negative;
  /// Largest distance of codes of the input above their zero point, and below.
  double highest = 0, lowest = 0;
};

} // namespace mct

#endif // MCT_PLANNING_INTEGERLAYER_H
