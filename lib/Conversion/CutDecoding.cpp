// SPDX-License-Identifier: Apache-2.0
#include "mct/Conversion/Passes.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/EraseUnused.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/Decoding.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace mct {
#define GEN_PASS_DEF_CUTDECODINGPASS
#include "mct/Conversion/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Name of the new function; the symbol table makes it unique.
static constexpr StringLiteral kDecodingFunction = "decode";

/// Clones the decoding part and the constants that it reads into a function
/// that takes `inputs` and returns the results of `entry`.
static func::FuncOp makeFunction(func::FuncOp entry, const Decoding &decoding,
                                 ArrayRef<Value> inputs) {
  OpBuilder builder(entry.getContext());
  auto function = func::FuncOp::create(
      builder, entry.getLoc(), kDecodingFunction,
      builder.getFunctionType(ValueRange(inputs).getTypes(),
                              entry.getFunctionType().getResults()));
  function.setAllResultAttrs(entry.getAllResultAttrs());
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  IRMapping mapping;
  for (auto [input, argument] : llvm::zip(inputs, body->getArguments())) {
    argument.setLoc(input.getLoc());
    mapping.map(input, argument);
  }
  auto addConstants = [&](ValueRange values) {
    for (Value value : values)
      if (!mapping.contains(value))
        builder.clone(*value.getDefiningOp(), mapping);
  };
  for (Operation *op : decoding.ops) {
    addConstants(op->getOperands());
    builder.clone(*op, mapping);
  }
  Operation *terminator = entry.getBody().front().getTerminator();
  addConstants(terminator->getOperands());
  builder.clone(*terminator, mapping);
  return function;
}

/// Replaces the results of a function by `results`.
static void returnInstead(func::FuncOp function, ArrayRef<Value> results,
                          ArrayRef<Operation *> unused) {
  Operation *terminator = function.getBody().front().getTerminator();
  terminator->setOperands(results);
  function.setAllResultAttrs(SmallVector<DictionaryAttr>());
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(),
                                     ValueRange(results).getTypes()));
  eraseUnused(unused);
}

/// Leaves the points of the heads at the end of the network.
static void keepPoints(Decoding &decoding) {
  llvm::SmallPtrSet<Operation *, 8> points;
  for (Value &head : decoding.heads)
    while (head.hasOneUse()) {
      auto point = dyn_cast<tpc::QuantizeOp>(*head.user_begin());
      if (!point || !point.isActivation())
        break;
      points.insert(point);
      head = point.getResult();
    }
  llvm::erase_if(decoding.ops,
                 [&](Operation *op) { return points.contains(op); });
}

namespace {
struct CutDecodingPass
    : public WithOpModels<
          EntryFunctionPass<mct::impl::CutDecodingPassBase<CutDecodingPass>>> {
  using WithOpModels::WithOpModels;

  LogicalResult runOn(func::FuncOp entry) override {
    std::optional<Decoding> decoding;
    if (entry.getBody().hasOneBlock())
      decoding =
          findDecoding(entry.getBody().front(), getAnalysis<KernelOps>());
    if (!decoding) {
      entry.emitWarning("no part of the network decodes places of objects, "
                        "and the function stays whole")
              .attachNote()
          << "mct-cut-decoding says what such a part is";
      return success();
    }
    if (function.empty() && entry.getSymName() != "main") {
      InFlightDiagnostic diagnostic =
          entry.emitOpError("cannot be told from its decoding part, which "
                            "becomes a public function, too");
      diagnostic.attachNote()
          << "call the function 'main', or name it by the option 'function'";
      return diagnostic;
    }
    keepPoints(*decoding);
    // Other results of the function pass through the new one.
    llvm::SetVector<Value> inputs(llvm::from_range, decoding->heads);
    llvm::SmallPtrSet<Operation *, 16> part(llvm::from_range, decoding->ops);
    for (Value result : entry.getBody().front().getTerminator()->getOperands())
      if (!part.contains(result.getDefiningOp()) &&
          !matchPattern(result, m_Constant()))
        inputs.insert(result);
    func::FuncOp cut = makeFunction(entry, *decoding, inputs.getArrayRef());
    SymbolTable(getOperation()).insert(cut, std::next(entry->getIterator()));
    returnInstead(entry, inputs.getArrayRef(),
                  llvm::to_vector(llvm::reverse(decoding->ops)));
    return success();
  }
};
} // namespace
