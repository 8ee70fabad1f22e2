// SPDX-License-Identifier: Apache-2.0
//
// One view of all ops that have a constant kernel: convolutions and matrix
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

/// An op with a constant f32 kernel. Channels are numbered as in the result: of
/// a depthwise kernel [KH, KW, C, M] output channel c * M + m.
///
/// Weight points (`tpc.quantize … weight`) between a constant and its op are
/// looked through: what is read and written is the constant behind them.
///
/// Holds no state of the IR but the op: valid until the op is erased or gets a
/// kernel of another shape.
class KernelOp {
public:
  mlir::Operation *getOperation() const { return op; }
  mlir::Location getLoc() const { return op->getLoc(); }
  mlir::OpOperand &getInput() const { return op->getOpOperand(inputNumber); }
  /// Returns what the op computes with its bias. That of an op without a place
  /// for a bias (`tosa.matmul`) is added by a `tosa.add` of its own, directly
  /// behind it or behind a reshape; the result then is that of the addition.
  mlir::Value getResult() const;
  mlir::OpOperand &getKernelOperand() const {
    return op->getOpOperand(kernelNumber);
  }
  /// Returns the constant behind the points.
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
  /// * input[inChannelOf(e)]: what a convolution without bias makes, away from
  /// borders, of an input that is constant per channel (stride 1 where it is
  /// transposed).
  std::vector<double> contract(llvm::ArrayRef<float> kernel,
                               llvm::ArrayRef<double> input) const;
  /// Returns one value per output channel, zeros when the op has no bias. None
  /// when it is not constant, or does not depend on the channel alone.
  std::optional<std::vector<float>> getBias() const;
  /// Returns the constant, behind its points, that the bias comes from; null
  /// when there is none.
  mlir::Value getBiasConstant() const;
  /// Puts a constant with these elements, of the type of the present one, in
  /// its place for this op alone; a constant that nobody reads any more is
  /// erased. The parameters of the kernel's points were chosen for what was
  /// there, and are dropped. The record of corrections speaks of the constants
  /// that were there, so that it becomes `corrections`: none, unless the caller
  /// knows better.
  void setKernel(mlir::OpBuilder &builder, llvm::ArrayRef<float> kernel,
                 tpc::CorrectionsAttr corrections = {}) const;
  /// The same for the bias, one value per output channel; parameters stay. An
  /// op without one gets one; the addition that `tosa.matmul` needs takes the
  /// name of the op. Requires `getBias()`.
  void setBias(mlir::OpBuilder &builder, llvm::ArrayRef<float> bias,
               tpc::CorrectionsAttr corrections = {}) const;
  /// Returns the record of corrections on the kernel's point, or null.
  tpc::CorrectionsAttr getCorrections() const;
  /// Returns that record when the bias becomes `bias`, and the result of the
  /// float layer scale * result + offset per channel of what it was; no scales
  /// stand for ones, no offsets for zeros. Null where there is none, or where
  /// it would not be finite. Ask before anything is set. Requires `getBias()`.
  tpc::CorrectionsAttr getCorrectionsAfter(llvm::ArrayRef<float> bias,
                                           llvm::ArrayRef<double> scale,
                                           llvm::ArrayRef<double> offset) const;
  /// `corrections`, with every element of the float kernel in it, if there is
  /// one, multiplied by factorOf(element). Null where its data are missing.
  tpc::CorrectionsAttr
  withScaledFloatKernel(tpc::CorrectionsAttr corrections,
                        llvm::function_ref<double(size_t)> factorOf) const;
  /// Returns whether kernel and bias of the float network can be told from the
  /// record of corrections; there is one.
  bool canTakeBackCorrections() const;
  /// Gives the layer kernel and bias of the float network again, and drops the
  /// record: bias_offset is taken out of the bias exactly, kernel_scale up to
  /// one rounding, and a kernel whose weights were rounded is what it was.
  /// Requires `canTakeBackCorrections()`.
  void takeBackCorrections(mlir::OpBuilder &builder) const;
  /// Creates a constant for a new kernel of this op, of the kind of the present
  /// one, before the op. Not yet used.
  mlir::Value createKernelConstant(mlir::OpBuilder &builder,
                                   mlir::RankedTensorType type,
                                   llvm::ArrayRef<float> values) const;

  //===--- Convolutions ---------------------------------------------------===//

  bool isConvolution() const { return !strides.empty(); }
  bool isTransposed() const;
  /// Returns the size of the kernel in space: {height, width}; empty for a
  /// matrix product.
  llvm::ArrayRef<int64_t> getWindow() const { return window; }
  llvm::ArrayRef<int64_t> getStrides() const { return strides; }
  llvm::ArrayRef<int64_t> getDilations() const { return dilations; }
  /// Returns {top, bottom, left, right}; zeros where the op has none of its
  /// own. Of a transposed convolution TOSA's `out_pad`, which is about the
  /// result.
  llvm::ArrayRef<int64_t> getPadding() const { return padding; }
  /// Writes the attribute that `getPadding` reads. Requires an op that has it.
  void setPadding(llvm::ArrayRef<int64_t> padding);
  bool hasPadding() const;
  /// Returns whether every result position reads one input position: a matrix
  /// product, or a kernel of size 1 in space.
  bool isPointwise() const;
  /// Returns whether it is pointwise, and that position is the same: no
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

/// Returns the values of a constant for `channels` channels along `axis`, when
/// it varies along that axis at most: a constant of any shape that broadcasts,
/// or what `linalg.fill` and `linalg.broadcast` make of one.
std::optional<std::vector<float>>
getChannelConstant(mlir::Value value, int64_t axis, int64_t channels);

/// Finds kernel ops by what `tpc.framework` says of them. An analysis of a
/// module, which passes preserve that leave the descriptions alone.
///
/// It holds the descriptions by op name and nothing of the ops, so that it is
/// as good for every copy of the module in the same context, whatever became of
/// the ops there. A pass asks its analysis manager and hands the answer on,
/// with copies, too. A caller that has a module and no pass manager
/// (`exportOnnx`, `exportTflite`, `report::analyse`) makes one of its own at
/// its beginning by `forModule`, and hands that on.
class KernelOps {
public:
  KernelOps() = default;
  explicit KernelOps(mlir::ModuleOp module) : KernelOps(forModule(module)) {}

  /// Returns the module's descriptions, and the stock ones for all ops that
  /// those do not speak of. Needs the tpc dialect loaded. The stock
  /// descriptions are read when the module has no target; with one it holds
  /// them already.
  static KernelOps forModule(mlir::ModuleOp module);

  /// Returns none when the op has no description with a kernel and its output
  /// channels, its kernel is not an f32 constant, shapes of channels are
  /// unknown or contradict the description, or a matrix product has several
  /// kernels (a batch).
  std::optional<KernelOp> get(mlir::Operation *op) const;
  /// Returns all kernel ops below `root`, in the order of a walk: passes that
  /// replace their constants do so when the walk is over.
  std::vector<KernelOp> findBelow(mlir::Operation *root) const;
  /// Returns the same by their results.
  llvm::DenseMap<mlir::Value, KernelOp>
  findByResult(mlir::Operation *root) const;
  /// Returns the description of an op, or null.
  tpc::OpInfoAttr getInfo(llvm::StringRef opName) const {
    return infos.lookup(opName);
  }

private:
  llvm::StringMap<tpc::OpInfoAttr> infos;
};

/// Gives all layers below `root` kernel and bias of the float network again
/// where `canTakeBackCorrections()`.
void takeBackCorrectionsBelow(mlir::Operation *root, const KernelOps &kernels);

} // namespace mct

#endif // MCT_PLANNING_KERNELOP_H
