// SPDX-License-Identifier: Apache-2.0
//
// Runs a network with other alternatives of its operators, without compiling it
// again, and measures the distance of its results from those of the float
// network.
#ifndef MCT_LIB_BITWIDTHS_CANDIDATERUN_H
#define MCT_LIB_BITWIDTHS_CANDIDATERUN_H

#include "Candidates.h"
#include "mct/BitWidths/Passes.h"
#include "mct/Execution/Run.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include <string>
#include <vector>

namespace mct::bit_widths {

struct CandidateRunOptions {
  SensitivityMetric metric = SensitivityMetric::Auto;
  /// Approximate number of samples to use; 0: all.
  int64_t maxSamples = 0;
  /// Kernels of up to this many bits are rounded as by mct-round-weights.
  unsigned roundMaxBits = 0;
  /// Fraction of the points inside of the network that are compared as well;
  /// only used by `measureEach`.
  double comparePoints = 0;
  SensitivityDistance distance = SensitivityDistance::Auto;
  SensitivityWeighting weighting = SensitivityWeighting::Average;
  /// True if the base network has the corrections of the module.
  bool keepsCorrections = false;
  /// True for each operator whose alternatives are measured; all are if empty.
  std::vector<bool> measured = {};
};

class CandidateRunImpl;

/// A function that is run on samples. In the base network, the kernels of
/// operators with candidates are float, and everything else is as in the
/// module. Results of the function without candidates are compared before they
/// are quantized. The distances do not depend on threads and batch sizes.
class CandidateRun {
public:
  ~CandidateRun();

  /// Compiles the function and runs the float network, without corrections.
  /// `kernels` belong to the function's module. All failures, here and later,
  /// emit a diagnostic.
  static mlir::FailureOr<std::unique_ptr<CandidateRun>>
  create(mlir::func::FuncOp function, const KernelOps &kernels,
         llvm::ArrayRef<OperatorCandidates> candidates,
         const execution::RunSettings &settings,
         const CandidateRunOptions &options);

  /// Returns KL, or MSE if no result of the function is a distribution.
  SensitivityMetric usedMetric() const;
  int64_t numSamples() const;
  /// Returns the distance of the base network from the float one; valid after
  /// `measureEach`.
  double baseDistance() const;

  /// Returns for each operator the distance of each of its alternatives when
  /// only this operator has it; zeros for operators that are not measured. The
  /// network before the operator is run once for all of them. Biases compensate
  /// for changes in the means of layers whose kernels change.
  mlir::FailureOr<std::vector<std::vector<double>>> measureEach();

private:
  CandidateRun();
  std::unique_ptr<CandidateRunImpl> impl;
};

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_CANDIDATERUN_H
