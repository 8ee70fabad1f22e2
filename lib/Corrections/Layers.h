// SPDX-License-Identifier: Apache-2.0
//
// The layers that corrections speak of, and what was done to them.
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
  /// The point of its kernel; it has parameters.
  tpc::QuantizeOp point;
  /// One value per output channel.
  std::vector<float> bias;

  bool isCorrected(llvm::StringRef how) const {
    tpc::CorrectionsAttr corrections =
        tpc::QuantizeOp(point).getCorrectionsAttr();
    return corrections && corrections.isApplied(how);
  }
};

/// Tells why a pass leaves an op alone.
void remarkLeftAlone(mlir::Operation *op, llvm::StringRef pass,
                     const Record &why);

/// Returns why a layer is left alone in which the correction has been undone.
Record describeRejectedBefore();

/// The layers of one function in program order.
class Layers {
public:
  /// `function` as for findEntryFunction. Fails, with a diagnostic, when there
  /// is no such function, or its body has several blocks or calls others.
  /// `remarks`: one, of `pass`, for each kernel op that is left alone.
  static mlir::FailureOr<Layers> find(mlir::ModuleOp module,
                                      const KernelOps &kernels,
                                      llvm::StringRef function,
                                      llvm::StringRef pass, bool remarks);

  mlir::func::FuncOp function;
  std::vector<Layer> layers;

  /// Returns a copy of the function, with its name, in a module of its own.
  /// `mapping` tells which value became which.
  mlir::OwningOpRef<mlir::ModuleOp> clone(mlir::IRMapping &mapping) const;
  /// Returns the same, with the kernels and biases of the float network:
  /// corrections are taken back.
  mlir::OwningOpRef<mlir::ModuleOp> cloneFloat(mlir::IRMapping &mapping) const;

  /// Both, in one module, so that they are compiled together.
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

/// Returns which values stand for the results of `layers` in a copy.
llvm::SmallVector<mlir::Value> mapResults(llvm::ArrayRef<Layer *> layers,
                                          const mlir::IRMapping &mapping);

/// Returns the kernel as the point quantizes it.
std::vector<float> quantizedKernel(const Layer &layer);

/// Makes every output channel scale * output + offset of what it was, by
/// kernel, parameters and bias, and records it as the correction `how`,
/// measured on so many `samples` of more. Parameters and kernel are touched
/// only when a scale is not 1; there are then as many parameters as channels,
/// or one. Fails, with a diagnostic and before anything is changed, where a
/// number of the layer or of the correction is not finite.
mlir::LogicalResult applyCorrection(
    const Layer &layer, llvm::ArrayRef<quantization::Affine> correction,
    llvm::StringRef how, std::optional<int64_t> samples = std::nullopt);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_LAYERS_H
