// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRANSFORMS_STATISTICSCONVERSION_H
#define MCT_TRANSFORMS_STATISTICSCONVERSION_H

#include "mct/Quantization/ExactSum.h"
#include "mct/Quantization/Histogram.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace mct {

/// Creates the statistics attribute of a point. `name` is the key of the
/// resource that holds a large histogram. `channels` is null if no per-channel
/// statistics were collected.
tpc::StatisticsAttr createStatistics(
    mlir::MLIRContext *context, const quantization::Histogram &histogram,
    const quantization::ChannelStatistics *channels, llvm::StringRef name);

/// Returns the counts of a histogram; none if a resource has no data, if a
/// count is negative, or if there are more counts than a histogram has bins
/// (they are not read then).
std::optional<llvm::SmallVector<int64_t>>
readCounts(tpc::HistogramAttr histogram);

/// Returns the histogram that `createStatistics` stored. Fails if the attribute
/// has none or does not describe one: with a text that begins with "has" and
/// follows the name of an op, or with a diagnostic.
llvm::Expected<quantization::Histogram>
readHistogram(tpc::StatisticsAttr statistics);
mlir::FailureOr<quantization::Histogram>
getHistogram(tpc::StatisticsAttr statistics,
             llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Returns the statistics of the same values plus `offset`; null for null.
/// Counts, minimum, maximum and channels are shifted as far as floats allow;
/// see `shiftHistogram` for the histogram, if there is one. `name` is as for
/// `createStatistics`.
mlir::FailureOr<tpc::StatisticsAttr>
shiftStatistics(tpc::StatisticsAttr statistics, double offset,
                llvm::StringRef name,
                llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace mct

#endif // MCT_TRANSFORMS_STATISTICSCONVERSION_H
