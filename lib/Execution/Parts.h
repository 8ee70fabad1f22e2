// SPDX-License-Identifier: Apache-2.0
//
// The compiled parts of networks: the ops between the calls of primitives,
// divided into small functions.
#ifndef MCT_LIB_EXECUTION_PARTS_H
#define MCT_LIB_EXECUTION_PARTS_H

#include "ConstantPool.h"
#include "Pipeline.h"
#include "Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace mct::execution {

/// The indices of a part that are checked against the sizes at run time: none,
/// those that depend on data (of ops whose other indices follow from verified
/// sizes), or all that are not known to be right.
enum class IndexChecks { None, OfData, All };

/// A set of functions from tensors to tensors. Equal functions are one part and
/// are compiled once, so that repetitions in networks cost nothing, and no
/// analysis ever visits more than a few ops.
///
/// For one network after the other: parts are added, the new ones lowered, code
/// requested, and the new code compiled. After a failure nothing can be added.
class PartSet {
public:
  explicit PartSet(mlir::Location loc)
      : all(mlir::ModuleOp::create(loc)), added(mlir::ModuleOp::create(loc)),
        originals(mlir::ModuleOp::create(loc)), loc(loc) {}

  /// Adds a part that computes `function`, and takes ownership of the function;
  /// returns the index of the part. Its ops have no discardable attributes.
  size_t add(mlir::func::FuncOp function, IndexChecks checks);

  /// Lowers the new parts to linalg on tensors. On failure there is one error,
  /// at the op that cannot be executed.
  mlir::LogicalResult lowerToLinalg();

  /// Returns whether the part may write its result over an operand: each
  /// element is read only for the element at the same position.
  bool canUpdate(size_t part, unsigned operand) const {
    return parts[part].updatable[operand];
  }

  /// Returns the index of the code for a part that has buffers of its own for
  /// its results
  /// (`updated` is none), or writes its result over an operand.
  size_t getCode(size_t part, std::optional<unsigned> updated);

  /// Compiles the code that `getCode` requested and that is new.
  mlir::LogicalResult compile();

  /// Returns the code by the indices of `getCode`, after `compile`.
  const std::shared_ptr<const std::vector<CompiledPart>> &code() const {
    return compiled;
  }
  llvm::ArrayRef<std::shared_ptr<mlir::ExecutionEngine>> engines() const {
    return jit;
  }

  /// Returns the pool of the constants of the networks.
  const std::shared_ptr<ConstantPool> &constants() const { return pool; }

private:
  struct Part {
    /// The function in linalg, once it is lowered.
    mlir::func::FuncOp function;
    /// The function as it was added.
    mlir::func::FuncOp original;
    IndexChecks checks = IndexChecks::None;
    llvm::SmallVector<bool> updatable;
  };
  struct Code {
    size_t part;
    std::optional<unsigned> updated;
    /// The function while it is compiled.
    mlir::func::FuncOp function;
  };
  llvm::SmallVector<bool> findUpdatable(mlir::func::FuncOp function) const;
  mlir::func::FuncOp takeDestinations(const Code &code, size_t number);

  /// The parts in linalg, those that are not yet lowered, and all as they were
  /// added.
  mlir::OwningOpRef<mlir::ModuleOp> all, added, originals;
  mlir::Location loc;
  OpNames names;
  std::vector<Part> parts;
  std::vector<Code> codes;
  std::map<std::pair<size_t, int64_t>, size_t> codeByPart;
  /// Parts by the hash of their function.
  llvm::DenseMap<size_t, llvm::SmallVector<size_t, 1>> byHash;
  size_t numLowered = 0;
  std::shared_ptr<ConstantPool> pool = std::make_shared<ConstantPool>();
  std::shared_ptr<const std::vector<CompiledPart>> compiled =
      std::make_shared<std::vector<CompiledPart>>();
  llvm::SmallVector<std::shared_ptr<mlir::ExecutionEngine>> jit;
};

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_PARTS_H
