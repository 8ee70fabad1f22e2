// SPDX-License-Identifier: Apache-2.0
//
// How much memory the weights and activations of a network need on its target.
#ifndef MCT_COST_MEMORY_H
#define MCT_COST_MEMORY_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace mct {

/// One tensor: a constant or what an op makes.
struct TensorMemory {
  enum class Kind { Kernel, Bias, Constant, Activation };

  Kind kind = Kind::Constant;
  /// The unique name of its point, else that of the value; may be empty.
  std::string name;
  /// A dynamic size counts as 1.
  int64_t elements = 0;
  /// Bytes with channels that are rounded up, where the target computes several
  /// at once.
  int64_t paddedElements = 0;
  /// Bits of an element: as it is stored, and in the float module.
  unsigned bits = 0, floatBits = 0;
  /// The value stays inside of a fused chain and is not stored.
  bool isFused = false;

  uint64_t storedBits() const {
    return isFused ? 0 : uint64_t(paddedElements) * bits;
  }
  uint64_t storedFloatBits() const { return uint64_t(elements) * floatBits; }
};
llvm::StringRef stringifyKind(TensorMemory::Kind kind);

/// An op, or an argument of the function, with the constants that it is the
/// first to read and what it makes.
struct OpMemory {
  std::string name, op;
  std::vector<TensorMemory> tensors;
};

/// The memory of one function, in program order.
struct MemoryReport {
  std::string function;
  std::vector<OpMemory> ops;

  /// Sums over all tensors of a kind.
  uint64_t totalBits(TensorMemory::Kind kind) const;
  uint64_t totalFloatBits(TensorMemory::Kind kind) const;
};

/// Counts tensors of floating-point numbers. A tensor has the bits of its
/// point: of the parameters, else of what the target asks for; a value that
/// only moves another one has those of that; the rest has those of its type.
/// A constant counts once, with the widest of its points; constants of one
/// element are left out: they are numbers of formulas, which are not stored as
/// tensors. A value inside of the fused chain of a point (`group`) is not
/// stored.
///
/// Where the target pads (`simd_padding`) and says by how much (`simd_size`),
/// the last axis of an activation and the output channels of the kernel that
/// makes it are rounded up.
///
/// The models of ops (`registerOpModels`) must be known to the context.
MemoryReport computeMemory(mlir::func::FuncOp function,
                           const KernelOps &kernels);

} // namespace mct

#endif // MCT_COST_MEMORY_H
