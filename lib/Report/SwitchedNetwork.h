// SPDX-License-Identifier: Apache-2.0
//
// The points and corrections of a quantized network that can be switched
// without compiling it again.
#ifndef MCT_LIB_REPORT_SWITCHEDNETWORK_H
#define MCT_LIB_REPORT_SWITCHEDNETWORK_H

#include "mct/Evaluation/Comparison.h"
#include "mct/Execution/Executor.h"
#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <string>
#include <vector>

namespace mct::report {

/// A correction of a layer that can be switched off.
struct SwitchedCorrection {
  /// Index of the point of the layer's kernel.
  size_t point = 0;
  /// True for weights that were rounded jointly; otherwise the change of the
  /// bias and the factors of the kernel.
  bool isRounding = false;
  /// The applied corrections, as in `tpc.corrections`.
  std::vector<std::string> applied;
};

/// Values of a constant that is switched.
struct Switched {
  /// Values in the float network, and after corrections.
  std::vector<float> floats, corrected;
};

/// The values of a kernel that is switched.
struct SwitchedKernel : Switched {
  /// Values before the weights were rounded together, or empty if they were
  /// not.
  std::vector<float> unrounded;
  /// Factor of each element that a correction introduced, or empty if there are
  /// none.
  std::vector<float> scale;
};

/// A layer whose kernel or bias is switched.
struct SwitchedLayer {
  SwitchedKernel kernel;
  /// Bias of its channels; empty if it has none.
  Switched bias;
  /// True if the correction of the bias, and the rounding of the weights, are
  /// in effect.
  bool isCorrected = true, isRounded = true;
  /// Indices of the replaceable constants; none for those that are not
  /// switched.
  std::optional<size_t> kernelNumber, biasNumber;
  /// Set if the bias is not a constant operand: index of the observed value to
  /// which it is added.
  std::optional<size_t> edited;
  /// Set if the bias is corrected: index of the observed result.
  std::optional<size_t> observed;
  /// Axis of the channels of the result.
  int64_t resultAxis = 0;
  /// Means of the channels of the result in the network as it is, and what is
  /// added to the corrected bias at present; empty if there are none.
  std::vector<double> means;
  std::vector<float> refit;
  /// Indices of the points; none if there is no point.
  std::optional<size_t> kernelPoint, biasPoint;
  /// Index among the values observed before an op.
  size_t stageNumber = 0;
};

struct SwitchedPoint {
  tpc::QuantizerAttrInterface quantizer;
  llvm::SmallVector<int64_t> shape, axes;
  /// Index of the replaceable point; none for a kernel or bias of a layer.
  std::optional<size_t> number;
  /// Layers whose kernel or bias it quantizes, and layers that read its values
  /// before another point quantizes them.
  llvm::SmallVector<size_t> layers, readers;
  std::optional<execution::ErrorSums> sums;
  /// Indices of the function's results that are the point's value.
  llvm::SmallVector<unsigned> outputs;
  bool isSwitched = true, isOn = false, isWeight = false;
  /// Quantizer that replaces its own, or null.
  tpc::QuantizerAttrInterface replacement;

  tpc::QuantizerAttrInterface getQuantizer() const {
    return replacement ? replacement : quantizer;
  }
};

/// The switched parts of one function.
struct SwitchedNetwork {
  std::vector<std::string> names;
  std::vector<SwitchedPoint> points;
  std::vector<SwitchedLayer> layers;
  std::vector<SwitchedCorrection> corrections;
  execution::CompileOptions options;

  /// Describes `function`, whose points of kernels and biases lose their
  /// quantizers, and prepares to compile it. `takenBack` is a copy of it, whose
  /// corrections are taken back.
  void describe(mlir::func::FuncOp function, mlir::func::FuncOp takenBack,
                const KernelOps &kernels);

private:
  void describeLayer(const KernelOp &layer, const KernelOp &takenBack,
                     llvm::DenseMap<mlir::Operation *, size_t> &numbers);
  void findReaders(tpc::QuantizeOp point, SwitchedPoint &described) const;
  size_t addPoint(tpc::QuantizeOp point,
                  llvm::DenseMap<mlir::Operation *, size_t> &numbers);
  void cutIntoStages(mlir::func::FuncOp function);
  void addCorrections(const KernelOp &layer, const SwitchedLayer &described);

  /// While the network is described: indices of the layers by their op, and the
  /// results of those whose bias is corrected.
  llvm::DenseMap<mlir::Operation *, size_t> layerNumbers;
  std::vector<std::pair<size_t, mlir::Value>> correctedResults;
};

} // namespace mct::report

#endif // MCT_LIB_REPORT_SWITCHEDNETWORK_H
