// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_FINDINGS_H
#define MCT_SUPPORT_FINDINGS_H

#include "mct/Support/ContextScope.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mct::support {

/// What passes find out that stands neither in the module nor in their records,
/// for whoever asks.
struct Findings {
  struct Samples {
    /// 32 hexadecimal digits, as execution::digestSamples; empty where
    /// statistics of samples that nobody knows were added.
    std::string digest;
    int64_t count = 0;
  };
  /// Of the last calibration; none where there was none.
  std::optional<Samples> calibration;

  /// What an assignment of bit widths was chosen from.
  struct BitWidths {
    /// Names of the operators that had a choice.
    std::vector<std::string> operators;
    struct Choice {
      /// Of the weights.
      double bytes = 0;
      /// Sum of the sensitivities, or NaN.
      double sensitivities = 0;
      /// Number of the alternative of each operator.
      std::vector<unsigned> alternatives;
      bool isChosen = false;
    };
    /// By rising bytes: the Pareto front, of which some 256 points are kept,
    /// and what was chosen, which may not be on it.
    std::vector<Choice> front;
  };
  std::optional<BitWidths> bitWidths;
};

/// While it lives, passes on modules of a context tell what they find.
using FindingsScope = ContextScope<Findings>;

} // namespace mct::support

#endif // MCT_SUPPORT_FINDINGS_H
