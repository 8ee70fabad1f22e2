// SPDX-License-Identifier: Apache-2.0
//
// Resources of its target that a quantized network uses, as a function of the
// widths of its points: memory of weights and activations, and operations on
// bits.
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

/// Returns the bits of the values of a point: of its parameters, else of what
/// the target asks for; none when it leaves them in float.
std::optional<unsigned> getBits(tpc::QuantizeOp point);

/// Returns `getBits`, or 32 for a point whose values stay in float.
int64_t getPresentBits(tpc::QuantizeOp point);

/// Bits of the values of a point that quantizes.
using BitsOfPoint = llvm::function_ref<int64_t(tpc::QuantizeOp)>;

/// Width in bits.
struct ResourceUse {
  /// Bits of all weights that are quantized.
  int64_t weights = 0;
  /// Bits of the activations that live at the same time, at the step where they
  /// need most.
  int64_t activations = 0;
  /// Returns the bits of both.
  int64_t total() const { return weights + activations; }
  /// Sum over the layers of bits of the input * bits of the kernel *
  /// multiplications.
  int64_t bops = 0;
  /// Estimated bits of the weights in the compressed form of Ethos-U, where
  /// whoever evaluates knows their codes.
  int64_t compressed = 0;
  /// Cycles on a device, where whoever evaluates has a table of costs.
  int64_t cycles = 0;
};

/// The quantized tensors of one function, the steps at which its activations
/// live, in program order, and the multiplications of its layers.
///
/// A fused chain is one step. A step's cut is everything that is made at it or
/// before and read at it or behind. A value that only moves another one has the
/// bits of that; values that are not quantized, biases in float among them, do
/// not count. A dynamic size counts as 1.
///
/// Source: MCT `ResourceUtilization`, with the schedule of the program, and
/// with values that are moved, which MCT counts where the target preserves
/// their quantization.
struct ResourceModel {
  struct Tensor {
    std::string name;
    /// Quantizes it, or what it was moved from.
    tpc::QuantizeOp point;
    int64_t elements = 0;
  };
  /// An argument, an op, or a fused chain by its last op.
  struct Step {
    std::string name, op;
    /// Weights that it is the first to read, activations that it makes and
    /// those of its cut, by number.
    std::vector<size_t> weights, made, cut;
    /// A layer in the step; without a point its input counts 32 bits.
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
  /// Uses the bits that the points have.
  ResourceUse evaluate() const;
  /// Return the bits of the cut of a step, and its operations on bits.
  int64_t cutBits(const Step &step, BitsOfPoint bits) const;
  static int64_t bopsOf(const Step::Layer &layer, BitsOfPoint bits);
};

/// Returns what the ops of a function use. The models of ops
/// (`registerOpModels`) must be known to the context.
ResourceModel computeResources(mlir::func::FuncOp function,
                               const KernelOps &kernels);

} // namespace mct

#endif // MCT_COST_RESOURCES_H
