// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/Training/Gradients.h"
#include "mct/Training/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/StringExtras.h"

namespace mct {
#define GEN_PASS_DEF_ADDGRADIENTPASS
#include "mct/Training/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

static bool isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

namespace {
struct AddGradientPass
    : public WithGradientModels<
          EntryFunctionPass<mct::impl::AddGradientPassBase<AddGradientPass>>> {
  using WithGradientModels::WithGradientModels;

  LogicalResult runOn(func::FuncOp entry) override {
    if (!entry.getBody().hasOneBlock())
      return entry.emitOpError("has no gradient: it is of several blocks");
    GradientRequest request;
    request.withResults = withResults;
    request.rules.maskPoints = maskPoints;
    request.rules.closedClamps = closedClamps;
    request.remarks = remarks;
    request.name =
        name.empty() ? (entry.getName() + "_gradient").str() : name.getValue();
    if (Operation *taken = getOperation().lookupSymbol(request.name)) {
      InFlightDiagnostic error = entry.emitOpError()
                                 << "cannot get the gradient '@" << request.name
                                 << "': the name is taken; give another one "
                                    "with name=";
      error.attachNote(taken->getLoc()) << "by this one";
      return failure();
    }
    if (failed(findInputs(entry, request)) ||
        failed(findResults(entry, request)))
      return failure();
    return addGradient(entry, request);
  }

private:
  LogicalResult findInputs(func::FuncOp entry, GradientRequest &request);
  LogicalResult findResults(func::FuncOp entry, GradientRequest &request);
};
} // namespace

LogicalResult AddGradientPass::findInputs(func::FuncOp entry,
                                          GradientRequest &request) {
  if (inputs.empty()) {
    for (BlockArgument argument : entry.getArguments())
      if (isFloatTensor(argument))
        request.inputs.push_back(argument);
    if (request.inputs.empty())
      return entry.emitOpError(
          "has no argument of real numbers; name the values whose gradients "
          "are asked for with inputs=");
    return success();
  }
  for (const std::string &requestedName : inputs) {
    Value found;
    for (BlockArgument argument : entry.getArguments())
      if (requestedName == getNameOrNumber(argument) ||
          requestedName == std::to_string(argument.getArgNumber())) {
        found = argument;
        break;
      }
    for (Operation &op : entry.getBody().front())
      // Constants are named after the ops that use them.
      if (!found && op.getNumResults() == 1 &&
          !op.hasTrait<OpTrait::ConstantLike>())
        if (StringAttr opName = mct::getName(op.getLoc());
            opName && opName == requestedName)
          found = op.getResult(0);
    if (!found)
      return entry.emitOpError()
             << "has neither an argument nor a value '" << requestedName
             << "'; its arguments are "
             << llvm::join(llvm::map_range(entry.getArguments(),
                                           [](BlockArgument argument) {
                                             return "'" +
                                                    getNameOrNumber(argument) +
                                                    "'";
                                           }),
                           ", ")
             << ", and mct-assign-names names its values";
    if (!isFloatTensor(found))
      return entry.emitOpError()
             << "has no gradient with respect to '" << requestedName
             << "': it is of " << found.getType()
             << ", and no tensor of real numbers";
    request.inputs.push_back(found);
  }
  return success();
}

LogicalResult AddGradientPass::findResults(func::FuncOp entry,
                                           GradientRequest &request) {
  Operation *terminator = entry.getBody().front().getTerminator();
  unsigned count = terminator->getNumOperands();
  for (unsigned number = 0; results.empty() && number != count; ++number)
    if (isFloatTensor(terminator->getOperand(number)))
      request.results.push_back(number);
  for (unsigned number : results) {
    if (number >= count)
      return entry.emitOpError()
             << "has no result #" << number << "; it has " << count;
    if (!isFloatTensor(terminator->getOperand(number)))
      return entry.emitOpError()
             << "has no gradient of result #" << number << ": it is of "
             << terminator->getOperand(number).getType()
             << ", and no tensor of real numbers";
    request.results.push_back(number);
  }
  if (request.results.empty())
    return entry.emitOpError("has no result of real numbers, and no gradient");
  return success();
}
