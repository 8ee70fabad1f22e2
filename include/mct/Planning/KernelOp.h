// SPDX-License-Identifier: Apache-2.0
//
// Uniform view of all ops with a constant kernel: convolutions and matrix
// products, in every IR that a `tpc.framework` describes.
#ifndef MCT_PLANNING_KERNELOP_H
#define MCT_PLANNING_KERNELOP_H

#include "mct/IR/Constants.h"
#include "mlir/IR/BuiltinOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <vector>

namespace mct {

/// An op with a constant f32 kernel. Channels are numbered as in the result:
/// for a depthwise kernel [KH, KW, C, M], the output channel is c * M + m.
///
/// Weight points (`tpc.quantize … weight`) between a constant and its op are
/// skipped: the functions read and write the constant before them.
///
/// Holds no state of the IR except the op: valid until the op is erased or gets
/// a kernel of another shape.
class KernelOp {
public:
  mlir::Operation *getOperation() const { return op; }
  mlir::Location getLoc() const { return op->getLoc(); }
  mlir::OpOperand &getInput() const { return op->getOpOperand(inputNumber); }
  /// Returns the result of the op including its bias. The bias of an op without
  /// a bias operand (`tosa.matmul`) is added by a separate `tosa.add`, directly
  /// after it or after a reshape; the result is then that of the addition.
  mlir::Value getResult() const;
  mlir::OpOperand &getKernelOperand() const {
    return op->getOpOperand(kernelNumber);
  }
  /// Returns the constant of the kernel, before its points.
  mlir::Value getKernelConstant() const;
  /// Returns the point of the kernel, or null.
  tpc::QuantizeOp getKernelPoint() const;

  //===--- Channels -------------------------------------------------------===//

  llvm::ArrayRef<int64_t> getKernelShape() const;
  /// Returns the axes of the kernel that run over output channels, the slowest
  /// first.
  llvm::ArrayRef<int64_t> getOutAxes() const { return outAxes; }
  /// Returns the axis of the kernel that runs over input channels, or none.
  std::optional<int64_t> getInAxis() const { return inAxis; }
  /// Returns whether each input channel has output channels of its own.
  bool isDepthwise() const;
  /// Return the channel axis of the input, and of `getResult()`; not negative.
  int64_t inputAxis() const;
  int64_t resultAxis() const;
  int64_t numInputChannels() const;
  int64_t numOutputChannels() const { return numOutputs; }
  /// Return the channels of an element of the row-major kernel.
  int64_t outChannelOf(int64_t element) const;
  int64_t inChannelOf(int64_t element) const;

  //===--- Kernel and bias ------------------------------------------------===//

  /// Returns the kernel, row-major, in the layout of its constant.
  ConstantFloats getKernel() const;
  /// Returns for every output channel the sum over its elements e of kernel[e]
  /// * input[inChannelOf(e)]: the result of a convolution without bias, away
  ///   from borders, for an input that is constant per channel (stride 1 if it
  ///   is transposed).
  std::vector<double> contract(llvm::ArrayRef<float> kernel,
                               llvm::ArrayRef<double> input) const;
  /// Returns one value per output channel, zeros if the op has no bias. None if
  /// the bias is not constant, or does not depend on the channel alone.
  std::optional<std::vector<float>> getBias() const;
  /// Returns the constant of the bias, before its points; null if there is
  /// none.
  mlir::Value getBiasConstant() const;
  /// Replaces the constant of the kernel by one with these elements, of the
  /// same type, for this op alone; the old constant is erased if it has no
  /// users left. The parameters of the kernel's points were chosen for the old
  /// constant, and are dropped. The record of corrections refers to the old
  /// constants; it is replaced by `corrections`, which is null unless the
  /// caller provides a new record.
  void setKernel(mlir::OpBuilder &builder, llvm::ArrayRef<float> kernel,
                 tpc::CorrectionsAttr corrections = {}) const;
  /// Does the same for the bias, one value per output channel; parameters stay.
  /// An op without a bias gets one; the addition that `tosa.matmul` needs takes
  /// the name of the op. Requires `getBias()`.
  void setBias(mlir::OpBuilder &builder, llvm::ArrayRef<float> bias,
               tpc::CorrectionsAttr corrections = {}) const;
  /// Returns the record of corrections on the kernel's point, or null.
  tpc::CorrectionsAttr getCorrections() const;
  /// Returns the record for a bias that becomes `bias`, and for a result of the
  /// float layer that becomes scale * result + offset per channel; empty scales
  /// are ones, empty offsets are zeros. Null if there is no record, or if it
  /// would not be finite. Must be called before the bias or the kernel is set.
  /// Requires `getBias()`.
  tpc::CorrectionsAttr getCorrectionsAfter(llvm::ArrayRef<float> bias,
                                           llvm::ArrayRef<double> scale,
                                           llvm::ArrayRef<double> offset) const;
  /// Returns `corrections` with every element of its float kernel, if it has
  /// one, multiplied by factorOf(element). Null if its data are missing.
  tpc::CorrectionsAttr
  withScaledFloatKernel(tpc::CorrectionsAttr corrections,
                        llvm::function_ref<double(size_t)> factorOf) const;
  /// Returns whether there is a record of corrections that determines kernel
  /// and bias of the float network.
  bool canTakeBackCorrections() const;
  /// Restores kernel and bias of the float network, and drops the record:
  /// bias_offset is removed from the bias exactly, kernel_scale up to one
  /// rounding, and rounded weights are restored exactly. Requires
  /// `canTakeBackCorrections()`.
  void takeBackCorrections(mlir::OpBuilder &builder) const;
  /// Creates a constant for a new kernel of this op, of the same kind as the
  /// old one, before the op. It has no uses yet.
  mlir::Value createKernelConstant(mlir::OpBuilder &builder,
                                   mlir::RankedTensorType type,
                                   llvm::ArrayRef<float> values) const;

  //===--- Convolutions ---------------------------------------------------===//

  bool isConvolution() const { return !strides.empty(); }
  bool isTransposed() const;
  /// Returns the spatial size of the kernel: {height, width}; empty for a
  /// matrix product.
  llvm::ArrayRef<int64_t> getWindow() const { return window; }
  llvm::ArrayRef<int64_t> getStrides() const { return strides; }
  llvm::ArrayRef<int64_t> getDilations() const { return dilations; }
  /// Returns {top, bottom, left, right}; zeros if the op has no padding of its
  /// own. For a transposed convolution, this is TOSA's `out_pad`, which applies
  /// to the result.
  llvm::ArrayRef<int64_t> getPadding() const { return padding; }
  /// Writes the attribute that `getPadding` reads. Requires an op that has it.
  void setPadding(llvm::ArrayRef<int64_t> padding);
  bool hasPadding() const;
  /// Returns whether every result position reads one input position: a matrix
  /// product, or a kernel of spatial size 1.
  bool isPointwise() const;
  /// Returns whether the op is pointwise and reads the same position: no
  /// padding, strides of 1.
  bool isPositionwise() const;

private:
  friend class KernelOps;
  KernelOp() = default;

  mlir::Operation *op = nullptr;
  unsigned kernelNumber = 0, inputNumber = 0;
  std::optional<unsigned> biasNumber;
  llvm::SmallVector<int64_t, 2> outAxes;
  std::optional<int64_t> inAxis;
  /// Axis as described: a negative one counts from the end.
  int64_t channelAxis = -1;
  int64_t numOutputs = 0;
  llvm::SmallVector<int64_t, 2> window, strides, dilations;
  llvm::SmallVector<int64_t, 4> padding;
};

/// Returns the values of a constant for `channels` channels along `axis`, if it
/// varies at most along that axis: a constant of any shape that broadcasts, or
/// the result of `linalg.fill` and `linalg.broadcast` for one.
std::optional<std::vector<float>>
getChannelConstant(mlir::Value value, int64_t axis, int64_t channels);

/// Finds kernel ops by the descriptions in `tpc.framework`. It is an analysis
/// of a module, which passes preserve if they do not change the descriptions.
///
/// It holds the descriptions by op name and nothing of the ops, so that it is
/// valid for every copy of the module in the same context, whatever changes in
/// its ops. A pass gets it from its analysis manager and passes it on, also
/// with copies. A caller that has a module and no pass manager (`exportOnnx`,
/// `exportTflite`, `report::analyse`) creates its own at the beginning by
/// `forModule`, and passes that on.
class KernelOps {
public:
  KernelOps() = default;
  explicit KernelOps(mlir::ModuleOp module) : KernelOps(forModule(module)) {}

  /// Returns the module's descriptions, and the stock ones for all ops that the
  /// module does not describe. Requires the tpc dialect to be loaded. The stock
  /// descriptions are read if the module has no target; with a target it
  /// contains them already.
  static KernelOps forModule(mlir::ModuleOp module);

  /// Returns none if the op has no description with a kernel and its output
  /// channels, if its kernel is not an f32 constant, if shapes of channels are
  /// unknown or contradict the description, or if a matrix product has several
  /// kernels (a batch).
  std::optional<KernelOp> get(mlir::Operation *op) const;
  /// Returns all kernel ops below `root`, in the order of a walk. Passes that
  /// replace their constants do so after the walk.
  std::vector<KernelOp> findBelow(mlir::Operation *root) const;
  /// Returns all kernel ops below `root` by their results.
  llvm::DenseMap<mlir::Value, KernelOp>
  findByResult(mlir::Operation *root) const;
  /// Returns the description of an op, or null.
  tpc::OpInfoAttr getInfo(llvm::StringRef opName) const {
    return infos.lookup(opName);
  }

private:
  llvm::StringMap<tpc::OpInfoAttr> infos;
};

/// Restores kernel and bias of the float network for all layers below `root`
/// whose `canTakeBackCorrections()` is true.
void takeBackCorrectionsBelow(mlir::Operation *root, const KernelOps &kernels);

} // namespace mct

#endif // MCT_PLANNING_KERNELOP_H
