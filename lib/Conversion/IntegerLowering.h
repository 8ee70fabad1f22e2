// SPDX-License-Identifier: Apache-2.0
//
// Builds the integer network next to the simulated one.
#ifndef MCT_LIB_CONVERSION_INTEGERLOWERING_H
#define MCT_LIB_CONVERSION_INTEGERLOWERING_H

#include "mct/Conversion/IntegerContext.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDevices.h"

namespace mct {

/// Creates integer ops for a function whose activation points have parameters:
/// for every point a tensor of the integers that the point simulates. The
/// simulated network is not changed until `finish`, so that values without an
/// integer form can be computed by it, between explicit conversions.
///
/// The function has one block and static shapes. Points in branches and loops
/// are lowered in place.
class IntegerLowering {
public:
  IntegerLowering(mlir::func::FuncOp function, const KernelOps &kernels,
                  const IntegerOptions &options);

  /// Creates the integer forms of the points' results; emits remarks for points
  /// that have none.
  void lower();
  /// Replaces values by their integer forms with a dialect conversion, whose
  /// type converter dequantizes integers where values stay float.
  mlir::LogicalResult finish();

private:
  void lowerPoint(tpc::QuantizeOp point);
  /// Adds an integer argument next to the one that a point quantizes.
  void lowerArgument(tpc::QuantizeOp point, const Encoding &encoding);
  void reportFailure(tpc::QuantizeOp point, const IntegerFailure &failure);
  /// Names an integer value after its point, unless it has the name of another
  /// point.
  void setName(mlir::Value value, tpc::QuantizeOp point);
  /// Replaces each result that is a softmax by the input of the softmax.
  void cutSoftmax();
  /// Creates the integers of values after points that `finish` replaces.
  void lowerReaders();
  mlir::LogicalResult convert();
  /// Erases float arguments that have been replaced by integer ones.
  void eraseArguments();
  /// Records the encodings of the points' integers.
  void recordPoints();

  mlir::func::FuncOp function;
  IntegerForms forms;
  llvm::SmallVector<tpc::QuantizeOp> points;
  llvm::SmallVector<mlir::BlockArgument> replacedArguments;
  llvm::SmallVector<mlir::Attribute> entries;
  llvm::DenseSet<mlir::Value> namedValues;
};

/// Clones convolutions whose sums are read by several rescales, one for each of
/// them, if a device is faster with that: it fuses a convolution with one
/// rescale, while several would each read the sums from memory. The values do
/// not change.
void repeatLayers(mlir::func::FuncOp function, tpc::RepeatedLayersOp costs);

/// Lets 1x1 convolutions of an image without its last rows and columns read the
/// whole image, with larger kernels padded with zeros, if a device is faster
/// with that. The values do not change.
void readWholeImages(mlir::func::FuncOp function, tpc::StridedLayersOp fact);

/// Computes sums over the positions of i8 images by depthwise convolutions with
/// kernels of ones, if a device is faster with that. The values do not change.
void addColumns(mlir::func::FuncOp function, tpc::ColumnSumsOp fact);

/// Copies i8 arguments of convolutions with fewer channels than a burst has
/// bytes, by a 1x1 max pool over rows of a burst. The convolutions would fetch
/// them a few bytes at a time and several times, while the copy is in the
/// memory of the device. The values do not change.
void stageArguments(mlir::func::FuncOp function,
                    tpc::StagedArgumentsOp staging);

} // namespace mct

#endif // MCT_LIB_CONVERSION_INTEGERLOWERING_H
