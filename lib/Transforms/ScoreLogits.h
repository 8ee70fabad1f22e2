// SPDX-License-Identifier: Apache-2.0
//
// Points of logits that become scores.
#ifndef MCT_LIB_TRANSFORMS_SCORELOGITS_H
#define MCT_LIB_TRANSFORMS_SCORELOGITS_H

#include "tpc_dialect/IR/TpcDialect.h"
#include <utility>

namespace mct {

/// Returns whether a point holds the logits of scores: its only users, through
/// ops that move values, are sigmoids, and the only users of these are results
/// of the function. Values of other tensors that are moved with them may have
/// other users.
bool holdsScoreLogits(tpc::QuantizeOp point);

/// Returns the range that logits of scores need, where calibration observed
/// `low` to `high`. Important scores are rare, and the largest of them may be
/// in no sample: the range reaches up to the logit above which a score of
/// `bits` bits is 1. Logits of scores below one in a million, or as close to 1,
/// are excluded.
std::pair<double, double> getScoreRange(double low, double high, unsigned bits);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SCORELOGITS_H
