// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_PASSSIDEOUTPUTS_H
#define MCT_SUPPORT_PASSSIDEOUTPUTS_H

#include "mct/Support/ContextScope.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mct::support {

/// Results of passes that are neither in the module nor in their records.
struct PassSideOutputs {
  struct Samples {
    /// Digest of the samples (execution::digestSamples); empty if statistics of
    /// unknown samples were added.
    std::string digest;
    int64_t count = 0;
  };
  /// Samples of the last calibration, if there was one.
  std::optional<Samples> calibration;

  /// Alternatives of an assignment of bit widths.
  struct BitWidths {
    /// Names of the operators with several alternatives.
    std::vector<std::string> operators;
    struct Choice {
      /// Size of the weights in bytes.
      double bytes = 0;
      /// Sum of the sensitivities, or NaN.
      double sensitivities = 0;
      /// Index of the alternative of each operator.
      std::vector<unsigned> alternatives;
      bool isChosen = false;
    };
    /// Up to about 256 points of the Pareto front, in ascending order of bytes,
    /// and the choice, which may not be on it.
    std::vector<Choice> front;
  };
  std::optional<BitWidths> bitWidths;
};

/// Lets passes on modules of a context fill in the object while it lives.
using PassSideOutputsScope = ContextScope<PassSideOutputs>;

} // namespace mct::support

#endif // MCT_SUPPORT_PASSSIDEOUTPUTS_H
