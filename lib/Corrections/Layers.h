// SPDX-License-Identifier: Apache-2.0
//
// The layers to which corrections apply, and the application of corrections.
#ifndef MCT_LIB_CORRECTIONS_LAYERS_H
#define MCT_LIB_CORRECTIONS_LAYERS_H

#include "mct/IR/Records.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Quantization/Corrections.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

namespace mct::corrections {

/// A kernel op whose kernel is quantized.
struct Layer {
  KernelOp op;
  /// Point of its kernel, which has parameters.
  tpc::QuantizeOp point;
  /// One value per output channel.
  std::vector<float> bias;

  bool isCorrected(llvm::StringRef how) const {
    tpc::CorrectionsAttr corrections =
        tpc::QuantizeOp(point).getCorrectionsAttr();
    return corrections && corrections.isApplied(how);
  }
};

/// Emits a remark on the reason why a pass skips an op.
void remarkLeftAlone(mlir::Operation *op, llvm::StringRef pass,
                     const Record &why);

/// Returns the reason for skipping a layer in which the correction has been
/// undone.
Record describeRejectedBefore();

/// The layers of one function in program order.
class Layers {
public:
  /// `function` is as for findEntryFunction. Fails, with a diagnostic, if there
  /// is no such function, or if its body has several blocks or calls others.
  /// `remarks` emits a remark of `pass` for each skipped kernel op.
  static mlir::FailureOr<Layers> find(mlir::ModuleOp module,
                                      const KernelOps &kernels,
                                      llvm::StringRef function,
                                      llvm::StringRef pass, bool remarks);

  mlir::func::FuncOp function;
  std::vector<Layer> layers;

  /// Returns a copy of the function, with its name, in a module of its own.
  /// `mapping` maps values to their copies.
  mlir::OwningOpRef<mlir::ModuleOp> clone(mlir::IRMapping &mapping) const;
  /// Returns the same, with the kernels and biases of the float network:
  /// corrections are undone.
  mlir::OwningOpRef<mlir::ModuleOp> cloneFloat(mlir::IRMapping &mapping) const;

  /// Both copies in one module, so that they can be compiled together.
  struct Networks {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    mlir::func::FuncOp floating, quantized;
    mlir::IRMapping floatMapping, mapping;
  };
  Networks cloneBoth() const;

private:
  explicit Layers(KernelOps kernelOps) : kernelOps(std::move(kernelOps)) {}
  KernelOps kernelOps;
};

/// Returns the copies of the results of `layers`.
llvm::SmallVector<mlir::Value> mapResults(llvm::ArrayRef<Layer *> layers,
                                          const mlir::IRMapping &mapping);

/// Returns the quantized kernel.
std::vector<float> quantizedKernel(const Layer &layer);

/// Changes every output channel to scale * output + offset, by kernel,
/// parameters and bias, and records it as the correction `how`, measured on
/// `samples` out of more samples. Parameters and kernel are changed only if a
/// scale is not 1; there are then as many parameters as channels, or one.
/// Fails, with a diagnostic and before anything is changed, if a number of the
/// layer or of the correction is not finite.
mlir::LogicalResult applyCorrection(
    const Layer &layer, llvm::ArrayRef<quantization::Affine> correction,
    llvm::StringRef how, std::optional<int64_t> samples = std::nullopt);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_LAYERS_H
