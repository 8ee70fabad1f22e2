// SPDX-License-Identifier: Apache-2.0
//
// The smallest network that shows what a larger one does.
#include "RandomNetworks.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mlir;
using namespace mct::testing;

namespace {

/// Another index could lie outside of the tensor.
bool isIndex(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    return isa<tosa::GatherOp, tosa::ScatterOp>(use.getOwner()) &&
           use.getOperandNumber() == 1;
  });
}

void removeDead(func::FuncOp function) {
  Block &body = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

func::FuncOp mainOf(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("main");
}

void updateType(func::FuncOp function) {
  Block &body = function.getBody().front();
  function.setFunctionType(FunctionType::get(
      function.getContext(), body.getArgumentTypes(),
      SmallVector<Type>(body.getTerminator()->getOperandTypes())));
}

} // namespace

OwningOpRef<ModuleOp>
mct::testing::shrink(ModuleOp module,
                     llvm::function_ref<bool(ModuleOp)> fails) {
  OwningOpRef<ModuleOp> best = cast<ModuleOp>(module->clone());
  // Applies one change to a copy, and keeps it if the copy still fails.
  auto attempt = [&](llvm::function_ref<bool(func::FuncOp)> change) {
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>((*best)->clone());
    func::FuncOp function = mainOf(*copy);
    if (!change(function))
      return false;
    removeDead(function);
    updateType(function);
    if (failed(verify(*copy)) || !fails(*copy))
      return false;
    best = std::move(copy);
    return true;
  };
  auto numOps = [&] {
    return mainOf(*best).getBody().front().getOperations().size();
  };
  auto nth = [](func::FuncOp function, size_t n) {
    return &*std::next(function.getBody().front().begin(), int64_t(n));
  };

  for (bool changed = true; changed;) {
    changed = false;
    size_t results =
        mainOf(*best).getBody().front().getTerminator()->getNumOperands();
    for (size_t i = results; i-- > 0;)
      changed |= attempt([&](func::FuncOp function) {
        Operation *end = function.getBody().front().getTerminator();
        if (end->getNumOperands() == 1 || i >= end->getNumOperands())
          return false;
        end->eraseOperand(unsigned(i));
        return true;
      });
    for (size_t i = numOps(); i-- > 0;) {
      if (i >= numOps() - 1)
        continue;
      // An operand of the same type takes the place of the result.
      bool gone = false;
      size_t operands = nth(mainOf(*best), i)->getNumOperands();
      for (size_t operand = 0; operand != operands && !gone; ++operand)
        gone = attempt([&](func::FuncOp function) {
          Operation *op = nth(function, i);
          if (op->getNumResults() != 1 || isIndex(op->getResult(0)) ||
              op->getOperand(unsigned(operand)).getType() !=
                  op->getResult(0).getType())
            return false;
          op->getResult(0).replaceAllUsesWith(
              op->getOperand(unsigned(operand)));
          return true;
        });
      // Otherwise, a new argument replaces it.
      if (!gone)
        gone = attempt([&](func::FuncOp function) {
          Operation *op = nth(function, i);
          if (op->getNumResults() != 1 ||
              isa<tosa::ConstOp, tosa::ConstShapeOp>(op) ||
              isIndex(op->getResult(0)) ||
              !isa<RankedTensorType>(op->getResult(0).getType()))
            return false;
          Block &body = function.getBody().front();
          Value argument =
              body.addArgument(op->getResult(0).getType(), op->getLoc());
          op->getResult(0).replaceAllUsesWith(argument);
          return true;
        });
      changed |= gone;
    }
    for (size_t i = 0; i < numOps(); ++i)
      changed |= attempt([&](func::FuncOp function) {
        auto point = dyn_cast<tpc::QuantizeOp>(nth(function, i));
        if (!point || !point.getParametersAttr())
          return false;
        point.removeQuantizer();
        return true;
      });
    size_t arguments = mainOf(*best).getBody().front().getNumArguments();
    for (size_t i = arguments; i-- > 0;)
      changed |= attempt([&](func::FuncOp function) {
        Block &body = function.getBody().front();
        if (body.getNumArguments() == 1 || !body.getArgument(i).use_empty())
          return false;
        body.eraseArgument(unsigned(i));
        return true;
      });
  }
  return best;
}
