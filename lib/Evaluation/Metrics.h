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

/// Returns the metric with that name, or null if there is none.
llvm::Expected<std::unique_ptr<Metric>>
createMetric(llvm::StringRef name, std::optional<double> parameter);

} // namespace mct::execution

#endif // MCT_LIB_EVALUATION_METRICS_H
