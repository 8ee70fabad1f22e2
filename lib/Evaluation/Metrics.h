// SPDX-License-Identifier: Apache-2.0
//
// The metrics that there are.
#ifndef MCT_LIB_EVALUATION_METRICS_H
#define MCT_LIB_EVALUATION_METRICS_H

#include "mct/Evaluation/Metric.h"

namespace mct::execution {

/// Returns an error with that message.
llvm::Error refuse(const llvm::Twine &message);
/// Returns sizes as `2x3`, or `a scalar`.
std::string describeShape(llvm::ArrayRef<int64_t> shape);

std::unique_ptr<Metric> createTopClasses(int64_t most);
/// `classes`: number of classes, where results are class numbers.
std::unique_ptr<Metric> createMeanOverlap(std::optional<int64_t> classes);
std::unique_ptr<Metric> createPeakRatio(std::optional<double> peak);
std::unique_ptr<Metric> createCosine();
std::unique_ptr<Metric> createCurveArea();
std::unique_ptr<Metric> createRetrieval();
/// `threshold`: scores from there on are decisions.
std::unique_ptr<Metric> createDecisions(double threshold);
/// `blank`: code that results which are scores have between others.
std::unique_ptr<Metric> createErrorRate(std::optional<int64_t> blank);

} // namespace mct::execution

#endif // MCT_LIB_EVALUATION_METRICS_H
