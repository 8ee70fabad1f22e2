// SPDX-License-Identifier: Apache-2.0
#include "mct/Conversion/Passes.h"
#include "mct/IR/QuantizedValues.h"

namespace mct {
#define GEN_PASS_DEF_RETURNPOINTSPASS
#include "mct/Conversion/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

namespace {
struct ReturnPointsPass
    : public mct::impl::ReturnPointsPassBase<ReturnPointsPass> {
  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (function->hasAttr(kPointsAttrName) && failed(returnPoints(function)))
        return signalPassFailure();
  }

private:
  LogicalResult returnPoints(func::FuncOp function) {
    std::optional<SymbolTable::UseRange> uses =
        function.getSymbolUses(getOperation());
    if (uses && !uses->empty()) {
      InFlightDiagnostic error = function.emitOpError()
                                 << "is called, so that it cannot get more "
                                    "results";
      error.attachNote(uses->begin()->getUser()->getLoc())
          << "it is called here; inline it first, by the pass inline";
      return failure();
    }
    FailureOr<std::vector<RecordedValue>> recorded =
        findRecordedValues(function);
    FailureOr<QuantizedValues> results = readQuantizedResults(function);
    if (failed(recorded) || failed(results))
      return failure();
    auto end =
        dyn_cast<func::ReturnOp>(function.getBody().front().getTerminator());
    if (!end || !function.getBody().hasOneBlock())
      return function.emitOpError(
          "has several blocks: its points cannot be returned");
    for (const RecordedValue &point : *recorded) {
      auto isReturned = [&](const auto &pair) {
        const std::optional<QuantizedValue> &record = std::get<1>(pair);
        return std::get<0>(pair) == point.value && record &&
               record->name == point.record.name;
      };
      if (isa<BlockArgument>(point.value) ||
          llvm::any_of(llvm::zip(end.getOperands(), *results), isReturned))
        continue;
      auto attributes = DictionaryAttr::get(
          &getContext(),
          NamedAttribute(StringAttr::get(&getContext(), kQuantizedAttrName),
                         point.record.toAttribute(&getContext())));
      if (failed(function.insertResult(function.getNumResults(),
                                       point.value.getType(), attributes)))
        return failure();
      end.getOperandsMutable().append(point.value);
    }
    function->removeAttr(kPointsAttrName);
    return success();
  }
};
} // namespace
