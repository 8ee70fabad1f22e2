// SPDX-License-Identifier: Apache-2.0
//
// Follows the layout of the samples of a batch through the values of a
// function. The `BatchOpInterface` of an op describes its effect on the layout
// by means of this class.
#ifndef MCT_INTERFACES_BATCHFOLLOWER_H
#define MCT_INTERFACES_BATCHFOLLOWER_H

#include "mct/IR/ConstantTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace mct {

/// Layout of the samples of a batch in a tensor.
struct BatchDimension {
  /// The dimension whose outermost part is the batch.
  int64_t dimension = 0;
  /// Rows of that dimension per sample: more than one after a reshape that
  /// merged the batch with the dimension after it.
  int64_t rows = 1;

  bool operator==(const BatchDimension &other) const {
    return dimension == other.dimension && rows == other.rows;
  }
};

/// Dimension of the batch in every value that depends on the arguments.
using BatchDimensions = llvm::DenseMap<mlir::Value, BatchDimension>;

/// A change of an operand when the batch changes.
struct OperandChange {
  enum Kind {
    /// The operand depends on the samples: they move to `dimension`.
    Move,
    /// The operand is the same for all samples: only the part for one of them
    /// stays.
    Take,
    /// The operand is the same for all samples: it is repeated along
    /// `dimension`.
    Repeat
  };
  unsigned operand;
  Kind kind;
  int64_t dimension;
  /// Number of rows for one sample; 0 if there is nothing to take.
  int64_t rows = 0;
};

/// Follows the batch through a function.
///
/// Every value has a shape for one sample, and the batch is before the rows of
/// one of its dimensions. That may be any dimension. If an op cannot handle an
/// operand's batch where it is, the operand is replaced by one with the batch
/// elsewhere: by a reshape if all dimensions between have size 1, else by a
/// transpose. An op that works along the dimension itself is taken to work
/// within each sample only if the function has a batch of 1.
class BatchFollower {
public:
  /// `batch` is that of the arguments, or `ShapedType::kDynamic`.
  BatchFollower(int64_t batch, bool emitErrors)
      : batch(batch), emitErrors(emitErrors) {}

  mlir::LogicalResult run(mlir::func::FuncOp function);

  //===--- What is known --------------------------------------------------===//

  int64_t getBatch() const { return batch; }
  /// Returns the dimension of the batch; none for a value that does not depend
  /// on the arguments.
  std::optional<BatchDimension> find(mlir::Value value) const;
  /// Returns the shape for one sample of a value for which `find` returns a
  /// dimension. Valid until the next `keep`.
  llvm::ArrayRef<int64_t> getSample(mlir::Value value) const {
    return samples.find(value)->second;
  }
  /// The same, or the shape of a value that does not depend on the arguments.
  llvm::ArrayRef<int64_t> getSampleOrShape(mlir::Value value) const;
  /// Returns whether the batch of a value could be moved to `dimension`.
  bool canMove(mlir::Value value, int64_t dimension) const;
  /// Returns the cost of moving the batch; 0 if it is free. Requires `canMove`.
  int64_t costOfMove(mlir::Value value, int64_t dimension) const;
  /// Returns whether a constant or intermediate value is the same for all
  /// samples, with `rows` rows along `dimension`: it has that many rows, or a
  /// copy of them for each sample of the batch.
  bool isSameForAll(mlir::Value value, int64_t dimension, int64_t rows) const;
  /// Returns whether the batch is in another dimension although a result of the
  /// function should begin with it: the value has one row for each sample.
  bool leadsWhenMoved(mlir::Value value) const;

  //===--- What an op requires --------------------------------------------===//

  /// Moves the batch of an operand. Requires `canMove`.
  void move(mlir::Operation *op, unsigned operand, int64_t dimension);
  /// Repeats an operand for which `isSameForAll` holds, once for each sample of
  /// the batch.
  void repeat(mlir::Operation *op, unsigned operand, int64_t dimension,
              int64_t rows);
  /// Takes one copy of an operand for which `isSameForAll` holds.
  void take(mlir::Operation *op, unsigned operand, int64_t dimension,
            int64_t rows);
  /// Moves the first operand's batch to the cheapest dimension that `isFree`
  /// accepts; returns -1 if there is none.
  int64_t moveAway(mlir::Operation *op,
                   llvm::function_ref<bool(int64_t)> isFree);

  //===--- What an op answers ---------------------------------------------===//

  /// Records that the result has that shape for one sample, and the batch
  /// before the rows of `dimension`.
  mlir::LogicalResult keep(mlir::Operation *op, int64_t dimension,
                           llvm::SmallVector<int64_t> sample);
  /// Records that the result has the batch at `result`, and that its other
  /// sizes do not change.
  mlir::LogicalResult keep(mlir::Operation *op, BatchDimension result);
  /// Fails, because the batch cannot be followed through the op.
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
/// none if the pieces differ, or if it is not a constant.
std::optional<ConstantTensor> getFirstPiece(mlir::Value constant,
                                            int64_t dimension, int64_t pieces);

/// Returns the product of the sizes, or none if one is unknown.
std::optional<int64_t> getProduct(llvm::ArrayRef<int64_t> sizes);

} // namespace mct

#endif // MCT_INTERFACES_BATCHFOLLOWER_H
