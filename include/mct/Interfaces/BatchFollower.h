// SPDX-License-Identifier: Apache-2.0
//
// How the samples of a batch lie in the values of a function. What each op does
// with them says its `BatchOpInterface`, in terms of what this offers.
#ifndef MCT_INTERFACES_BATCHFOLLOWER_H
#define MCT_INTERFACES_BATCHFOLLOWER_H

#include "mct/IR/ConstantTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace mct {

/// How the samples of a batch lie in a tensor.
struct BatchDimension {
  /// The dimension whose outermost part is the batch.
  int64_t dimension = 0;
  /// Rows of that dimension per sample: more than one after a reshape that
  /// merged the batch with the dimension behind it.
  int64_t rows = 1;

  bool operator==(const BatchDimension &other) const {
    return dimension == other.dimension && rows == other.rows;
  }
};

/// Place of the batch in every value that depends on the arguments.
using BatchDimensions = llvm::DenseMap<mlir::Value, BatchDimension>;

/// A change of an operand when the batch changes.
struct OperandChange {
  enum Kind {
    /// Depends on the samples: they move to `dimension`.
    Move,
    /// The same for all samples: only what is for one of them stays.
    Take,
    /// The same for all samples: that is repeated along `dimension`.
    Repeat
  };
  unsigned operand;
  Kind kind;
  int64_t dimension;
  /// Number for one sample; 0: there is nothing to take.
  int64_t rows = 0;
};

/// Follows the batch through a function.
///
/// Every value has a shape for one sample, and the batch lies before the rows
/// of one of its dimensions. Any dimension will do, and an op that cannot have
/// it where it lies gets an operand in which it lies elsewhere: nothing but a
/// reshape where all dimensions between have size 1, else a transpose. What
/// works along the dimension itself is understood to work in each sample only
/// where the function has a batch of 1.
class BatchFollower {
public:
  /// `batch`: that of the arguments, or `ShapedType::kDynamic`.
  BatchFollower(int64_t batch, bool emitErrors)
      : batch(batch), emitErrors(emitErrors) {}

  mlir::LogicalResult run(mlir::func::FuncOp function);

  //===--- What is known --------------------------------------------------===//

  int64_t getBatch() const { return batch; }
  /// Returns where the batch is; none for a value that does not depend on the
  /// arguments.
  std::optional<BatchDimension> find(mlir::Value value) const;
  /// Returns the shape for one sample of a value that `find` finds. Valid until
  /// the next `keep`.
  llvm::ArrayRef<int64_t> getSample(mlir::Value value) const {
    return samples.find(value)->second;
  }
  /// The same, or the shape of a value that does not depend on the arguments.
  llvm::ArrayRef<int64_t> getSampleOrShape(mlir::Value value) const;
  /// Returns whether the batch of a value could be moved there.
  bool canMove(mlir::Value value, int64_t dimension) const;
  /// Requires canMove. Free: 0.
  int64_t costOfMove(mlir::Value value, int64_t dimension) const;
  /// Returns whether the samples see the same constant or intermediate value,
  /// of `rows` along `dimension`: it has so many, or as many copies of them as
  /// the batch.
  bool isSameForAll(mlir::Value value, int64_t dimension, int64_t rows) const;
  /// Returns whether the batch lies elsewhere, but a result of the function
  /// should begin with it: the value has one row for each sample.
  bool leadsWhenMoved(mlir::Value value) const;

  //===--- What an op asks for --------------------------------------------===//

  /// Requires canMove.
  void move(mlir::Operation *op, unsigned operand, int64_t dimension);
  /// Repeats an operand that isSameForAll as often as the batch has samples.
  void repeat(mlir::Operation *op, unsigned operand, int64_t dimension,
              int64_t rows);
  /// Takes one copy of an operand that isSameForAll.
  void take(mlir::Operation *op, unsigned operand, int64_t dimension,
            int64_t rows);
  /// Moves the first operand's batch to the cheapest dimension that `isFree`
  /// takes; -1 when there is none.
  int64_t moveAway(mlir::Operation *op,
                   llvm::function_ref<bool(int64_t)> isFree);

  //===--- What an op answers ---------------------------------------------===//

  /// Records that the result has that shape for one sample, and the batch
  /// before the rows of `dimension`.
  mlir::LogicalResult keep(mlir::Operation *op, int64_t dimension,
                           llvm::SmallVector<int64_t> sample);
  /// Records that the result has the batch there, and its other sizes do not
  /// change.
  mlir::LogicalResult keep(mlir::Operation *op, BatchDimension result);
  /// Fails: the batch cannot be followed through the op.
  mlir::LogicalResult fail(mlir::Operation *op, const llvm::Twine &reason);

  //===--- The outcome ----------------------------------------------------===//

  BatchDimensions dimensions;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<OperandChange>> changes;

private:
  mlir::LogicalResult follow(mlir::Operation *op);
  mlir::LogicalResult followElementwise(mlir::Operation *op);

  /// Shapes for one sample of the values in `dimensions`.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> samples;
  int64_t batch;
  bool emitErrors;
};

/// Returns the first of `pieces` equal pieces of a constant along a dimension;
/// none for anything else, and when they differ.
std::optional<ConstantTensor> getFirstPiece(mlir::Value constant,
                                            int64_t dimension, int64_t pieces);

/// Returns the product of the sizes, or none when one is unknown.
std::optional<int64_t> getProduct(llvm::ArrayRef<int64_t> sizes);

} // namespace mct

#endif // MCT_INTERFACES_BATCHFOLLOWER_H
