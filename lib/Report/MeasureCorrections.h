// SPDX-License-Identifier: Apache-2.0
//
// Effects of the corrections of a quantized network on its results.
#ifndef MCT_LIB_REPORT_MEASURECORRECTIONS_H
#define MCT_LIB_REPORT_MEASURECORRECTIONS_H

#include "EffectRun.h"
#include "mct/Report/Report.h"

namespace mct::report {

/// Number of standard errors, of the differences between samples, from which on
/// a gain counts.
inline constexpr double kStandardErrors = 2;

/// Returns the name of a part of the results for a sentence: the result or the
/// group of its channels.
std::string namePart(const execution::ResultDistance::Part &part,
                     const Report &report);

/// Runs the network without the corrections of each layer, and without each
/// kind of correction. Sets `distance`, `deviation` and `corrections`.
mlir::LogicalResult measureCorrections(EffectRun &run, Report &report);

/// Returns the indices of the run's corrections to which `found` refers.
llvm::SmallVector<size_t> findCorrections(const EffectRun &run,
                                          const CorrectionEffect &found);

} // namespace mct::report

#endif // MCT_LIB_REPORT_MEASURECORRECTIONS_H
