// SPDX-License-Identifier: Apache-2.0
//
// Interfaces between the parts of a quantization plan.
#ifndef MCT_LIB_PLANNING_PLANPARTS_H
#define MCT_LIB_PLANNING_PLANPARTS_H

#include "mct/Planning/QuantizationPlan.h"

namespace mct::plan {

/// Returns whether a value is a ranked tensor of f32.
bool isQuantizable(mlir::Value value);
/// Returns whether the node only moves or selects values.
bool isPreserving(const tpc::Node &node);

//===--- Alternatives (PlanCandidates.cpp) --------------------------------===//

/// Returns the width of the widest activation that every alternative of the
/// node which reads quantized data can read; none if none does.
std::optional<int64_t> getInputLimit(const tpc::Node &node);
/// Returns the width of the kernel in one alternative; 0 if there is none.
int64_t getKernelBits(const tpc::Node &node, tpc::OpQuantConfigAttr config);
/// Drops alternatives that quantize everything in the same way as an earlier
/// one.
void removeRepetitions(PlannedNode &planned);

//===--- Weights (PlanWeights.cpp) ----------------------------------------===//

/// Returns the constant operands of a node that the target describes.
llvm::SmallVector<PlannedWeight> findWeights(const tpc::Node &node,
                                             tpc::OpQuantConfigAttr base);

//===--- Methods (PlanMethods.cpp) ----------------------------------------===//

/// Returns an alternative whose result has that method; null if it cannot: an
/// alternative for every grid of a method also works for those of a special
/// case.
tpc::OpQuantConfigAttr withActivationMethod(tpc::OpQuantConfigAttr config,
                                            tpc::QuantizationMethod method);

} // namespace mct::plan

#endif // MCT_LIB_PLANNING_PLANPARTS_H
