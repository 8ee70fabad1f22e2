// SPDX-License-Identifier: Apache-2.0
//
// Points of logits that become scores.
#ifndef MCT_LIB_TRANSFORMS_SCORELOGITS_H
#define MCT_LIB_TRANSFORMS_SCORELOGITS_H

#include "tpc_dialect/IR/TpcDialect.h"
#include <utility>

namespace mct {

/// Returns whether a point holds the logits of scores: sigmoids, behind ops
/// that move values, are all that reads it, and results of the function all
/// that reads these. Values of other tensors that are moved with them may have
/// other readers.
bool holdsScoreLogits(tpc::QuantizeOp point);

/// Returns the range that logits of scores need, of which `low` to `high` was
/// seen. Scores that count are rare, and the largest of them may be in no
/// sample: up to the logit above which a score of so many bits is 1. What is
/// below a score of one in a million, or as close to 1, is left out.
std::pair<double, double> getScoreRange(double low, double high, unsigned bits);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SCORELOGITS_H
