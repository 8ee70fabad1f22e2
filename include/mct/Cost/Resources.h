// SPDX-License-Identifier: Apache-2.0
//
// Resources of the target that a quantized network uses, as a function of the
// widths of its points: memory of weights and activations, and bit operations.
#ifndef MCT_COST_RESOURCES_H
#define MCT_COST_RESOURCES_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>
#include <vector>

namespace mct {

/// Returns the width of the values of a point in bits: that of its parameters,
/// or else the one that the target requires; none if the values stay in float.
std::optional<unsigned> getBits(tpc::QuantizeOp point);

/// Returns `getBits`, or 32 for a point whose values stay in float.
int64_t getPresentBits(tpc::QuantizeOp point);

/// Function that returns the width of a point that quantizes, in bits.
using BitsOfPoint = llvm::function_ref<int64_t(tpc::QuantizeOp)>;

/// Resources that a network uses.
struct ResourceUse {
  /// Bits of all quantized weights.
  int64_t weights = 0;
  /// Bits of the activations that are alive at the same time, at the step where
  /// they are most.
  int64_t activations = 0;
  /// Returns the bits of weights and activations.
  int64_t total() const { return weights + activations; }
  /// Sum over the layers of bits of the input * bits of the kernel *
  /// multiplications.
  int64_t bops = 0;
  /// Estimated bits of the weights in the compressed form of Ethos-U, if the
  /// codes are known.
  int64_t compressed = 0;
  /// Cycles on a device, if there is a table of costs.
  int64_t cycles = 0;
};

/// The quantized tensors of one function, the steps at which its activations
/// are alive, in program order, and the multiplications of its layers.
///
/// A fused chain is one step. The cut of a step consists of all values that are
/// produced at or before it and read at or after it. A value that only moves
/// another one has the width of that; values that are not quantized, including
/// float biases, do not count. A dynamic size counts as 1.
///
/// Source: MCT `ResourceUtilization`, with the schedule of the program, and
/// with moved values, which MCT counts if the target preserves their
/// quantization.
struct ResourceModel {
  struct Tensor {
    std::string name;
    /// Point that quantizes the tensor, or the one that it was moved from.
    tpc::QuantizeOp point;
    int64_t elements = 0;
  };
  /// An argument, an op, or a fused chain by its last op.
  struct Step {
    std::string name, op;
    /// Indices of the weights that it is the first to read, of the activations
    /// that it produces, and of those of its cut.
    std::vector<size_t> weights, made, cut;
    /// A layer in the step; an input without a point counts 32 bits.
    struct Layer {
      int64_t multiplications = 0;
      tpc::QuantizeOp input, kernel;
    };
    std::vector<Layer> layers;
  };
  std::string function;
  std::vector<Tensor> weights, activations;
  std::vector<Step> steps;

  ResourceUse evaluate(BitsOfPoint bits) const;
  /// Evaluates the present widths of the points.
  ResourceUse evaluate() const;
  /// Return the bits of the cut of a step, and the bit operations of a layer.
  int64_t cutBits(const Step &step, BitsOfPoint bits) const;
  static int64_t computeBops(const Step::Layer &layer, BitsOfPoint bits);
};

/// Returns the resource model of a function. The models of ops
/// (`registerOpModels`) must be registered in the context.
ResourceModel computeResources(mlir::func::FuncOp function,
                               const KernelOps &kernels);

} // namespace mct

#endif // MCT_COST_RESOURCES_H
