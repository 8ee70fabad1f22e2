// SPDX-License-Identifier: Apache-2.0
#include "mct/Conversion/Passes.h"
#include "mct/IR/Names.h"
#include "mct/IR/QuantizedValues.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"

namespace mct {
#define GEN_PASS_DEF_LOWERTOLINALGPASS
#include "mct/Conversion/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Makes the names in the function's records unique again, and drops records of
/// values that no longer exist.
static void keepNames(func::FuncOp function) {
  // One op became several ops; the last of them computes the value and keeps
  // the name.
  llvm::StringSet<> named;
  auto records = function->getAttrOfType<ArrayAttr>(kPointsAttrName);
  if (!records)
    return;
  for (Attribute entry : records)
    named.insert(
        cast<StringAttr>(cast<DictionaryAttr>(entry).get("name")).getValue());
  llvm::StringSet<> visited;
  for (Operation &each : llvm::reverse(function.front())) {
    Operation *op = &each;
    StringAttr name = getName(op->getLoc());
    if (!name || !named.contains(name.getValue()) ||
        (!op->hasTrait<OpTrait::ConstantLike>() &&
         visited.insert(name.getValue()).second))
      continue;
    op->setLoc(NameLoc::get(
        StringAttr::get(op->getContext(), name.getValue() + "/linalg"),
        op->getLoc()));
  }
  // Some reshapes have been merged, and constants are not of interest.
  SmallVector<Attribute> left;
  for (Attribute entry : records)
    if (visited.contains(
            cast<StringAttr>(cast<DictionaryAttr>(entry).get("name"))
                .getValue()))
      left.push_back(entry);
  function->setAttr(kPointsAttrName,
                    ArrayAttr::get(function.getContext(), left));
}

namespace {
struct LowerToLinalgPass : mct::impl::LowerToLinalgPassBase<LowerToLinalgPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    OpPassManager passes(func::FuncOp::getOperationName());
    passes.addPass(tosa::createTosaMakeBroadcastablePass());
    passes.addPass(tosa::createTosaToLinalgNamed(TosaToLinalgNamedOptions()));
    passes.addPass(tosa::createTosaMakeBroadcastablePass());
    passes.addPass(tosa::createTosaToLinalg());
    passes.addPass(createTosaToTensorPass());
    TosaToArithPassOptions arith;
    arith.includeApplyRescale = true;
    passes.addPass(createTosaToArithPass(arith));
    if (failed(runPipeline(passes, function)))
      return signalPassFailure();
    // Erase shapes that were operands.
    for (auto shape :
         llvm::make_early_inc_range(function.getOps<tosa::ConstShapeOp>()))
      if (shape->use_empty())
        shape->erase();
    keepNames(function);
  }
};
} // namespace
