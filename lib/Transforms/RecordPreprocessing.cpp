// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/IR/Preprocessing.h"
#include "mct/IR/QuantizedValues.h"
#include "mct/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

namespace mct {
#define GEN_PASS_DEF_RECORDPREPROCESSINGPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

namespace {
struct RecordPreprocessingPass
    : public EntryFunctionPass<
          mct::impl::RecordPreprocessingPassBase<RecordPreprocessingPass>> {
  using EntryFunctionPass::EntryFunctionPass;

  LogicalResult runOn(func::FuncOp entry) override {
    Preprocessing record;
    record.scale.append(scale.begin(), scale.end());
    record.offset.append(offset.begin(), offset.end());
    record.permutation.append(permutation.begin(), permutation.end());
    if (axis != -1)
      record.axis = axis;
    DictionaryAttr attribute = record.toAttribute(&getContext());
    bool isFound = false;
    for (BlockArgument argument : entry.getArguments()) {
      if (!isMeant(entry, argument))
        continue;
      isFound = true;
      if (attribute.empty())
        entry.removeArgAttr(argument.getArgNumber(), kPreprocessingAttrName);
      else
        entry.setArgAttr(argument.getArgNumber(), kPreprocessingAttrName,
                         attribute);
    }
    if (!isFound) {
      InFlightDiagnostic error = entry.emitOpError();
      if (input.empty())
        error << "has no argument of real numbers; name one";
      else
        error << "has no argument '" << input << "'; its arguments are "
              << llvm::join(names(entry), ", ");
      return failure();
    }
    if (failed(readPreprocessing(entry)))
      return failure();
    markAllAnalysesPreserved();
    return success();
  }

private:
  static SmallVector<std::string> names(func::FuncOp entry) {
    return llvm::map_to_vector(entry.getArguments(),
                               [](BlockArgument argument) {
                                 return "'" + getNameOrNumber(argument) + "'";
                               });
  }
  bool isMeant(func::FuncOp entry, BlockArgument argument) {
    unsigned number = argument.getArgNumber();
    if (input.empty())
      return getElementTypeOrSelf(argument.getType()).isF32() ||
             entry.getArgAttr(number, kQuantizedAttrName);
    return input == getNameOrNumber(argument) ||
           input == std::to_string(number);
  }
};
} // namespace
