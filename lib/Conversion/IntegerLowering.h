// SPDX-License-Identifier: Apache-2.0
//
// Builds the integer network beside the simulated one.
#ifndef MCT_LIB_CONVERSION_INTEGERLOWERING_H
#define MCT_LIB_CONVERSION_INTEGERLOWERING_H

#include "mct/Conversion/IntegerContext.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDevices.h"

namespace mct {

/// Writes integer ops for the values of a function whose activation points have
/// parameters: for every point a tensor that holds what the point simulates.
/// The simulated network stays where it is until `finish`, so that whatever has
/// no integer form can be computed by it, between explicit conversions.
///
/// The function has one block and static shapes. Points in branches and loops
/// are lowered where they stand.
class IntegerLowering {
public:
  IntegerLowering(mlir::func::FuncOp function, const KernelOps &kernels,
                  const IntegerOptions &options);

  /// Creates integer forms of what the points make; remarks at those that have
  /// none.
  void lower();
  /// Puts them in the place of what they stand for: a dialect conversion, whose
  /// type converter makes numbers of integers for whatever stays float.
  mlir::LogicalResult finish();

private:
  void lowerPoint(tpc::QuantizeOp point);
  /// Adds an argument of integers beside the one that a point quantizes.
  void lowerArgument(tpc::QuantizeOp point, const Encoding &encoding);
  void reportFailure(tpc::QuantizeOp point, const IntegerFailure &failure);
  /// Names an integer value after its point, unless another point has named it.
  void setName(mlir::Value value, tpc::QuantizeOp point);
  /// Replaces results that are a softmax by what it reads.
  void cutSoftmax();
  /// Creates the integers of values that `finish` replaces behind points.
  void lowerReaders();
  mlir::LogicalResult convert();
  /// Erases float arguments that integers have replaced.
  void eraseArguments();
  /// Records what the integers of the points stand for.
  void recordPoints();

  mlir::func::FuncOp function;
  IntegerForms forms;
  llvm::SmallVector<tpc::QuantizeOp> points;
  llvm::SmallVector<mlir::BlockArgument> replacedArguments;
  llvm::SmallVector<mlir::Attribute> entries;
  llvm::DenseSet<mlir::Value> namedValues;
};

/// Computes convolutions whose sums several rescales read once for each of
/// them, where a device is faster so: one rescale is part of the convolution
/// there, of several each reads the sums from memory. The values are the same.
void repeatLayers(mlir::func::FuncOp function, tpc::RepeatedLayersOp costs);

/// Makes 1x1 convolutions that read a part of an image, but for its last rows
/// and columns, read all of it, with larger kernels of zeros, where a device is
/// faster so. The values are the same.
void readWholeImages(mlir::func::FuncOp function, tpc::StridedLayersOp fact);

/// Adds up the positions of images of i8 by depthwise convolutions with kernels
/// of ones, where a device is faster so. The values are the same.
void addColumns(mlir::func::FuncOp function, tpc::ColumnSumsOp fact);

/// Copies arguments of i8 with fewer channels than a burst has bytes, which
/// convolutions read, by a 1x1 maximum pool over rows of a burst: convolutions
/// would fetch them a few bytes at a time and several times over, and the copy
/// lies inside of the device. The values are the same.
void stageArguments(mlir::func::FuncOp function,
                    tpc::StagedArgumentsOp staging);

} // namespace mct

#endif // MCT_LIB_CONVERSION_INTEGERLOWERING_H
