// SPDX-License-Identifier: Apache-2.0
//
// Memory that the weights and activations of a network need on its target.
#ifndef MCT_COST_MEMORY_H
#define MCT_COST_MEMORY_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace mct {

/// A tensor: a constant or the result of an op.
struct TensorMemory {
  enum class Kind { Kernel, Bias, Constant, Activation };

  Kind kind = Kind::Constant;
  /// Unique name of its point, or else the name of the value; may be empty.
  std::string name;
  /// A dynamic size counts as 1.
  int64_t elements = 0;
  /// Number of elements with the channels rounded up, if the target computes
  /// several at once.
  int64_t paddedElements = 0;
  /// Bits of a stored element, and of an element in the float module.
  unsigned bits = 0, floatBits = 0;
  /// True if the value stays inside a fused chain and is not stored.
  bool isFused = false;

  uint64_t storedBits() const {
    return isFused ? 0 : uint64_t(paddedElements) * bits;
  }
  uint64_t storedFloatBits() const { return uint64_t(elements) * floatBits; }
};
llvm::StringRef stringifyKind(TensorMemory::Kind kind);

/// An op, or an argument of the function, with its result and the constants
/// that it is the first to read.
struct OpMemory {
  std::string name, op;
  std::vector<TensorMemory> tensors;
};

/// The memory of one function, in program order.
struct MemoryReport {
  std::string function;
  std::vector<OpMemory> ops;

  /// Return the sums over all tensors of a kind.
  uint64_t totalBits(TensorMemory::Kind kind) const;
  uint64_t totalFloatBits(TensorMemory::Kind kind) const;
};

/// Counts tensors of floating-point numbers. A tensor has the width of its
/// point: that of the parameters, or else the one that the target requires; a
/// value that only moves another one has the width of that; all others have the
/// width of their type. A constant counts once, with the widest of its points;
/// constants of one element are ignored: they are numbers in formulas, which
/// are not stored as tensors. A value inside the fused chain of a point
/// (`group`) is not stored.
///
/// If the target pads (`simd_padding`) and gives the size (`simd_size`), the
/// last axis of an activation and the output channels of the kernel that
/// produces it are rounded up.
///
/// The models of ops (`registerOpModels`) must be registered in the context.
MemoryReport computeMemory(mlir::func::FuncOp function,
                           const KernelOps &kernels);

} // namespace mct

#endif // MCT_COST_MEMORY_H
