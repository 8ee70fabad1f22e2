// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_BITWIDTHS_BESTASSIGNMENTS_H
#define MCT_LIB_BITWIDTHS_BESTASSIGNMENTS_H

#include "BitWidthModel.h"
#include "BitWidthsFile.h"

namespace mct::bit_widths {

/// Returns up to `count` assignments within a budget. These are the optima
/// under the assumption that operators compensate for a share of the errors of
/// those before them, for several shares: sensitivities are measured with the
/// other operators in float, which compensate for nothing. If too few of them
/// differ, adds the assignments with the next best sums, except for those that
/// are nowhere cheaper than another one: these can only appear to be closer,
/// because more of their weights are rounded to the samples.
/// The budget must allow an assignment. Distances are not measured.
llvm::Expected<std::vector<Assignment::Measured>>
findBestAssignments(const BitWidthModel &model, const Budget &within,
                    size_t count);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_BESTASSIGNMENTS_H
