// SPDX-License-Identifier: Apache-2.0
//
// Functions that the parts of the quantization planner share.
#ifndef MCT_LIB_PLANNING_PLANPARTS_H
#define MCT_LIB_PLANNING_PLANPARTS_H

#include "mct/Planning/QuantizationPlan.h"

namespace mct::plan {

/// Returns whether a value is a ranked tensor of f32.
bool isQuantizable(mlir::Value value);
/// Returns whether the node only moves or selects values.
bool isPreserving(const tpc::Node &node);

//===--- Alternatives (PlanCandidates.cpp) --------------------------------===//

/// Returns the width of the widest activation that all alternatives of the node
/// that read quantized data can read, or none if none of them does.
std::optional<int64_t> getInputLimit(const tpc::Node &node);
/// Returns the width of the kernel in an alternative, 0 if it has none.
int64_t getKernelBits(const tpc::Node &node, tpc::OpQuantConfigAttr config);
/// Drops alternatives that do not differ in effect from an earlier one.
void removeRepetitions(PlannedNode &planned);

//===--- Weights (PlanWeights.cpp) ----------------------------------------===//

/// Returns the constant operands of a node for which the target has a config.
llvm::SmallVector<PlannedWeight> findWeights(const tpc::Node &node,
                                             tpc::OpQuantConfigAttr base);

//===--- Methods (PlanMethods.cpp) ----------------------------------------===//

/// Returns the alternative with another method for the result, or null if it
/// does not allow it: ops that run on every grid of a method also run on those
/// of a special case.
tpc::OpQuantConfigAttr withActivationMethod(tpc::OpQuantConfigAttr config,
                                            tpc::QuantizationMethod method);

} // namespace mct::plan

#endif // MCT_LIB_PLANNING_PLANPARTS_H
