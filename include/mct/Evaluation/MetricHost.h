// SPDX-License-Identifier: Apache-2.0
//
// A metric that the calling program computes.
#ifndef MCT_EVALUATION_METRICHOST_H
#define MCT_EVALUATION_METRICHOST_H

#include "mct/Evaluation/Precision.h"
#include "mct/Support/ContextScope.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace mct::execution {

class MetricHost {
public:
  /// A result of the network for some samples, which are the first axis of the
  /// shape.
  struct Result {
    llvm::SmallVector<int64_t> shape;
    std::vector<float> values;
  };
  /// Measurement of some samples: a number for each, the larger the better, or
  /// the detections for an average precision.
  struct Measured {
    std::vector<double> values;
    std::optional<MatchedDetections> detections;
  };

  virtual ~MetricHost();

  virtual std::string getName() const = 0;
  /// Measures all results of a network for the samples at these positions among
  /// all `samples` that have labels.
  virtual llvm::Expected<Measured> measure(llvm::ArrayRef<Result> results,
                                           llvm::ArrayRef<int64_t> positions,
                                           int64_t samples) = 0;
};

/// Makes drops of networks of a context use this metric while it lives.
using MetricHostScope = support::ContextScope<MetricHost>;

} // namespace mct::execution

#endif // MCT_EVALUATION_METRICHOST_H
