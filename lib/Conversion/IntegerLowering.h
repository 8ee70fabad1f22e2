// SPDX-License-Identifier: Apache-2.0
//
// Builds the integer network beside the simulated one.
#ifndef MCT_LIB_CONVERSION_INTEGERLOWERING_H
#define MCT_LIB_CONVERSION_INTEGERLOWERING_H

#include "mct/Conversion/IntegerContext.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDevices.h"

namespace mct {

/// Creates integer ops for the values of a function whose activation points
/// have parameters: for every point a tensor that holds the simulated values.
/// The simulated network stays until `finish`, so that values without an
/// integer form can be computed by it, between explicit conversions.
///
/// The function has one block and static shapes. Points in branches and loops
/// are lowered in place.
class IntegerLowering {
public:
  IntegerLowering(mlir::func::FuncOp function, const KernelOps &kernels,
                  const IntegerOptions &options);

  /// Creates integer forms of the results of the points; emits remarks at those
  /// that have none.
  void lower();
  /// Replaces the simulated values by integers: a dialect conversion, whose
  /// type converter converts integers to numbers for ops that stay float.
  mlir::LogicalResult finish();

private:
  void lowerPoint(tpc::QuantizeOp point);
  /// Adds an integer argument next to the one that a point quantizes.
  void lowerArgument(tpc::QuantizeOp point, const Encoding &encoding);
  void reportFailure(tpc::QuantizeOp point, const IntegerFailure &failure);
  /// Names an integer value after its point, unless another point has named it.
  void setName(mlir::Value value, tpc::QuantizeOp point);
  /// Replaces results of a softmax by its operand.
  void cutSoftmax();
  /// Creates the integers of values that `finish` replaces after points.
  void lowerUsers();
  mlir::LogicalResult convert();
  /// Erases float arguments that integers have replaced.
  void eraseArguments();
  /// Records the meaning of the integers of the points.
  void recordPoints();

  mlir::func::FuncOp function;
  IntegerForms forms;
  llvm::SmallVector<tpc::QuantizeOp> points;
  llvm::SmallVector<mlir::BlockArgument> replacedArguments;
  llvm::SmallVector<mlir::Attribute> entries;
  llvm::DenseSet<mlir::Value> namedValues;
  /// Names of the results, by number, that are the next values of states: these
  /// keep them, whichever point quantizes them.
  llvm::DenseMap<unsigned, mlir::StringAttr> stateNames;
};

/// Duplicates convolutions whose sums have several rescales as users, one for
/// each, if that is faster on a device: one rescale is part of the convolution
/// there, but several read the sums from memory. The values stay the same.
void repeatLayers(mlir::func::FuncOp function, tpc::RepeatedLayersOp costs);

/// Lets 1x1 convolutions that read all of an image except its last rows and
/// columns read all of it, with larger kernels padded with zeros, if that is
/// faster on a device. The values stay the same.
void readWholeImages(mlir::func::FuncOp function, tpc::StridedLayersOp fact);

/// Sums the positions of images of i8 by depthwise convolutions with kernels of
/// ones, if that is faster on a device. The values stay the same.
void addColumns(mlir::func::FuncOp function, tpc::ColumnSumsOp fact);

/// Copies arguments of i8 with fewer channels than the bytes of a burst, which
/// convolutions read, by a 1x1 maximum pool over rows of a burst: convolutions
/// would fetch them a few bytes at a time and several times over, and the copy
/// is inside the device. The values stay the same.
void stageArguments(mlir::func::FuncOp function,
                    tpc::StagedArgumentsOp staging);

} // namespace mct

#endif // MCT_LIB_CONVERSION_INTEGERLOWERING_H
