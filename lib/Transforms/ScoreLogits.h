// SPDX-License-Identifier: Apache-2.0
//
// Points of logits from which scores are computed.
#ifndef MCT_LIB_TRANSFORMS_SCORELOGITS_H
#define MCT_LIB_TRANSFORMS_SCORELOGITS_H

#include "tpc_dialect/IR/TpcDialect.h"
#include <utility>

namespace mct {

/// Returns whether a point holds the logits of scores: its only users are
/// sigmoids, perhaps after ops that move values, and the users of these are
/// only results of the function. Values of other tensors that are moved
/// together with them may have other users.
bool holdsScoreLogits(tpc::QuantizeOp point);

/// Returns the range to cover for logits of scores observed between `low` and
/// `high`. High scores are rare, and the highest may not occur in any sample,
/// so the range extends to the logit whose score rounds to 1 in `bits` bits. It
/// does not cover scores closer to 0 or 1 than one in a million.
std::pair<double, double> getScoreRange(double low, double high, unsigned bits);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SCORELOGITS_H
