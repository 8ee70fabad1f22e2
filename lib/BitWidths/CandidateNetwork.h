// SPDX-License-Identifier: Apache-2.0
//
// A function whose points and kernels can be replaced by those of candidates.
#ifndef MCT_LIB_BITWIDTHS_CANDIDATENETWORK_H
#define MCT_LIB_BITWIDTHS_CANDIDATENETWORK_H

#include "../Corrections/ChannelRun.h"
#include "../Corrections/WeightRounding.h"
#include "CandidateRun.h"
#include "ComparePoints.h"
#include "mct/Execution/Executor.h"
#include "llvm/ADT/StringMap.h"

namespace mct::bit_widths {

/// A layer whose kernel has candidates.
struct CandidateLayer {
  /// The layer in the compiled copy, where its kernel has no quantizer.
  corrections::Layer layer;
  /// True if its bias can be changed.
  bool hasBias = false;
  /// Channel summary of its result in the base network, and an empty one.
  std::optional<corrections::ChannelSummary> base, empty;
  corrections::ChannelValue result;
  /// The layer as a matrix product, if its weights can be rounded together, and
  /// the operands of the product while candidates are measured.
  std::optional<corrections::ProductLayout> layout;
  corrections::ProductSamples products;
};

/// A point that has candidates.
struct CandidatePoint {
  std::vector<float> kernel;
  llvm::SmallVector<int64_t> shape;
  /// Indices of the layers that use the kernel, which are also those of the
  /// replaceable constants.
  llvm::SmallVector<size_t> layers;
  /// Index of the replaceable point; none for a kernel.
  std::optional<size_t> number;
};

struct CandidateNetwork {
  /// Compiles the function twice: in float, and quantized but with the kernels
  /// of candidates in float.
  static mlir::FailureOr<CandidateNetwork>
  compile(mlir::func::FuncOp function, const KernelOps &kernels,
          llvm::ArrayRef<OperatorCandidates> candidates,
          const execution::RunSettings &settings,
          const CandidateRunOptions &options);

  /// The compiled copies.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<execution::Executor> floating, quantized;
  llvm::StringMap<CandidatePoint> points;
  std::vector<CandidateLayer> layers;
  /// Points inside of both networks that are compared, in program order. In the
  /// float network, they are the first observed values; in the quantized one,
  /// they follow those of the layers.
  llvm::SmallVector<ComparePoint> comparedPoints, floatPoints;

private:
  bool addKernel(tpc::QuantizeOp point, CandidatePoint &candidate,
                 const KernelOps &kernels, const CandidateRunOptions &options,
                 execution::CompileOptions &own);
};

/// Changes the channel axes of a point.
void setAxes(tpc::QuantizeOp point, llvm::ArrayRef<int64_t> axes);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_CANDIDATENETWORK_H
