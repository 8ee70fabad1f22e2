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
  /// Approximate number of samples to use; 0 for all.
  int64_t maxSamples = 0;
  /// Kernels of at most this many bits are rounded as by mct-round-weights.
  unsigned roundMaxBits = 0;
  /// Fraction of the points inside the network that are compared, too; only by
  /// measureEach.
  double comparePoints = 0;
  SensitivityDistance distance = SensitivityDistance::Auto;
  SensitivityWeighting weighting = SensitivityWeighting::Average;
  /// True if the base network has the corrections recorded in the module.
  bool keepsCorrections = false;
  /// True for measureParts: everything is float in the base network, so that
  /// only the quantizers of an operator's alternative act, and the groups of
  /// channels of a result are its parts.
  bool measuresParts = false;
  /// Flag for each operator: true if its alternatives are measured; if empty,
  /// all are.
  std::vector<bool> measured = {};
};

class CandidateRunImpl;

/// A function on samples. In the base network the kernels of operators that
/// have candidates are float, everything else is as in the module, unless
/// `measuresParts` makes it float; results of the function that have no
/// candidates are compared before they are quantized.
/// Results do not depend on threads and batch sizes.
class CandidateRun {
public:
  ~CandidateRun();

  /// Compiles the function and runs the float network, whose corrections are
  /// undone; `kernels` are those of its module. Every failure, here and later,
  /// is a diagnostic.
  static mlir::FailureOr<std::unique_ptr<CandidateRun>>
  create(mlir::func::FuncOp function, const KernelOps &kernels,
         llvm::ArrayRef<OperatorCandidates> candidates,
         const execution::RunSettings &settings,
         const CandidateRunOptions &options);

  /// Returns KL, or MSE if no result of the function is a distribution.
  SensitivityMetric usedMetric() const;
  int64_t numSamples() const;
  /// Returns the distance of the base network from the float one. Requires
  /// `measureEach`.
  double baseDistance() const;

  /// Returns for each operator one distance for each alternative, with that
  /// alternative taken by it alone; zeros for operators that are not measured.
  /// The network before the operator runs once for all of them. Biases of
  /// layers whose kernels change are corrected by their means.
  mlir::FailureOr<std::vector<std::vector<double>>> measureEach();
  /// The same for each of `numParts` parts of the results: one alternative
  /// after the other. Points inside the network do not count.
  mlir::FailureOr<std::vector<std::vector<double>>> measureParts();
  /// Returns the number of results, or of groups of their channels, whose
  /// distances are measured.
  size_t numParts() const;

private:
  CandidateRun();
  std::unique_ptr<CandidateRunImpl> impl;
};

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_CANDIDATERUN_H
