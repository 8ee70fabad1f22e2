// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/Names.h"
#include "mct/Transforms/Passes.h"

namespace mct {
#define GEN_PASS_DEF_ASSIGNNAMESPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;

namespace {
struct AssignNamesPass
    : public mct::impl::AssignNamesPassBase<AssignNamesPass> {
  void runOnOperation() override { mct::assignNames(getOperation()); }
};
} // namespace
