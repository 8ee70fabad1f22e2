// SPDX-License-Identifier: Apache-2.0
#include "QuantizeScheme.h"

#include "mct/IR/EntryFunction.h"
#include "mct/IR/Shapes.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/QuantizationPlan.h"
#include "mct/Training/Passes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/Support/GlobPattern.h"

namespace mct {
#define GEN_PASS_DEF_QUANTIZEANNOTATEPASS
#include "mct/Training/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using mct::tpc::QuantizeOp;

/// Returns whether the scheme has an entry for the operator. A batch norm is
/// quantized together with the layer before it.
static bool isSupported(const MarkedOperators &all, size_t index) {
  const MarkedOperator &each = all.operators[index];
  if (!each.entry.isBatchNorm)
    return each.entry.isSupported;
  SmallVector<Value> inputs = getFloatInputs(each.node);
  std::optional<size_t> producer =
      inputs.size() == 1 ? all.producerOf(inputs.front()) : std::nullopt;
  return producer && all.operators[*producer].entry.hasKernel &&
         all.onlyUser(*producer) == index;
}

namespace {
struct QuantizeAnnotatePass
    : public WithOpModels<EntryFunctionPass<
          mct::impl::QuantizeAnnotatePassBase<QuantizeAnnotatePass>>> {
  using WithOpModels::WithOpModels;

  LogicalResult runOn(func::FuncOp entry) override;

private:
  FailureOr<tpc::QuantizeConfigAttrInterface> readConfig(func::FuncOp entry);
};
} // namespace

FailureOr<tpc::QuantizeConfigAttrInterface>
QuantizeAnnotatePass::readConfig(func::FuncOp entry) {
  MLIRContext *context = &getContext();
  if (config.empty())
    return cast<tpc::QuantizeConfigAttrInterface>(Attribute(
        tpc::QuantizeConfigAttr::get(context, DictionaryAttr(), ArrayAttr(),
                                     ArrayAttr(), ArrayAttr(), StringAttr(),
                                     DictionaryAttr())));
  Attribute read;
  {
    // The parser's diagnostics refer to positions in the text of the option.
    ScopedDiagnosticHandler silent(context,
                                   [](Diagnostic &) { return success(); });
    read = parseAttribute(config, context);
  }
  auto requested = dyn_cast_or_null<tpc::QuantizeConfigAttrInterface>(read);
  if (!requested)
    return entry.emitOpError("cannot be annotated: config is '")
           << config << "', and no attribute such as #tpc.quantize_config<>";
  return requested;
}

LogicalResult QuantizeAnnotatePass::runOn(func::FuncOp entry) {
  FailureOr<tpc::QuantizeConfigAttrInterface> requested = readConfig(entry);
  if (failed(requested))
    return failure();
  SmallVector<llvm::GlobPattern> patterns;
  for (const std::string &layer : layers) {
    llvm::Expected<llvm::GlobPattern> pattern =
        llvm::GlobPattern::create(layer);
    if (!pattern)
      return entry.emitOpError("cannot be annotated: '")
             << layer << "' of layers: " << llvm::toString(pattern.takeError());
    patterns.push_back(std::move(*pattern));
  }
  FailureOr<MarkedOperators> all = MarkedOperators::find(entry);
  if (failed(all))
    return failure();
  SmallVector<size_t> chosen;
  std::vector<bool> isUsed(patterns.size());
  for (auto [index, each] : llvm::enumerate(all->operators)) {
    bool isNamed = patterns.empty();
    for (auto [number, pattern] : llvm::enumerate(patterns))
      if (each.name && pattern.match(each.name.getValue()))
        isNamed = isUsed[number] = true;
    if (isNamed && !each.mark && isF32Tensor(each.node.result()) &&
        (!supportedOnly || isSupported(*all, index)))
      chosen.push_back(index);
  }
  for (auto [number, layer] : llvm::enumerate(layers))
    if (!isUsed[number])
      return entry.emitOpError("has no operator '")
             << layer << "' to annotate; mct-assign-names names its values";
  for (size_t index : chosen) {
    Value value = all->operators[index].node.result();
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(value);
    auto mark = QuantizeOp::create(builder, value.getLoc(), value,
                                   all->operators[index].name, /*weight=*/{},
                                   /*axes=*/{}, *requested);
    value.replaceAllUsesExcept(mark.getOutput(), mark);
  }
  return success();
}
