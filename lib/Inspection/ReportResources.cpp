// SPDX-License-Identifier: Apache-2.0
#include "mct/Inspection/ReportResources.h"
#include "FunctionReports.h"
#include "mct/Cost/Resources.h"
#include "mct/Inspection/Passes.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "tpc_dialect/IR/TpcBudget.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

namespace mct {
#define GEN_PASS_DEF_REPORTRESOURCESPASS
#include "mct/Inspection/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
namespace json = llvm::json;

static int64_t toBytes(int64_t bits) {
  return int64_t(llvm::divideCeil(uint64_t(bits), 8));
}

namespace {
/// Resources that a step uses, in bits.
struct StepUse {
  int64_t weights = 0, made = 0, cut = 0, bops = 0;
};
} // namespace

static StepUse evaluate(const ResourceModel &model,
                        const ResourceModel::Step &step) {
  StepUse use;
  for (size_t number : step.weights)
    use.weights += model.weights[number].elements *
                   getPresentBits(model.weights[number].point);
  for (size_t number : step.made)
    use.made += model.activations[number].elements *
                getPresentBits(model.activations[number].point);
  use.cut = model.cutBits(step, getPresentBits);
  for (const ResourceModel::Step::Layer &layer : step.layers)
    use.bops += ResourceModel::computeBops(layer, getPresentBits);
  return use;
}

/// Returns the resources with eight bits everywhere, of which budgets are
/// fractions.
static ResourceUse evaluateAt8Bits(const ResourceModel &model) {
  return model.evaluate([](tpc::QuantizeOp) { return 8; });
}

static json::Object toJSON(const ResourceUse &use) {
  return json::Object{{"weights_bytes", toBytes(use.weights)},
                      {"activations_bytes", toBytes(use.activations)},
                      {"total_bytes", toBytes(use.total())},
                      {"bops", use.bops}};
}

/// Returns the limits in the budget of a function, in the order of the keys.
static SmallVector<std::pair<StringRef, int64_t>>
getBudget(func::FuncOp function) {
  SmallVector<std::pair<StringRef, int64_t>> budget;
  if (auto limits =
          function->getAttrOfType<DictionaryAttr>(tpc::kBudgetAttrName))
    for (StringRef key : tpc::kBudgetKeys)
      if (auto limit = limits.getAs<IntegerAttr>(key))
        budget.emplace_back(key, limit.getInt());
  return budget;
}

static json::Object describeFunction(const ResourceModel &model,
                                     func::FuncOp function) {
  json::Array ops;
  for (const ResourceModel::Step &step : model.steps) {
    StepUse use = evaluate(model, step);
    json::Array live;
    for (size_t number : step.cut)
      live.push_back(json::fixUTF8(model.activations[number].name));
    ops.push_back(json::Object{{"name", json::fixUTF8(step.name)},
                               {"op", step.op},
                               {"weights_bytes", toBytes(use.weights)},
                               {"result_bytes", toBytes(use.made)},
                               {"cut_bytes", toBytes(use.cut)},
                               {"cut", std::move(live)},
                               {"bops", use.bops}});
  }
  json::Object object{{"name", model.function},
                      {"ops", std::move(ops)},
                      {"totals", toJSON(model.evaluate())},
                      {"totals_at_8_bits", toJSON(evaluateAt8Bits(model))}};
  json::Object limits;
  for (auto [key, limit] : getBudget(function))
    limits.try_emplace(key, limit);
  if (!limits.empty())
    object.try_emplace("budget", std::move(limits));
  return object;
}

static void printFunction(const ResourceModel &model, func::FuncOp function,
                          raw_ostream &os) {
  auto number = [](int64_t value) { return static_cast<long long>(value); };
  os << "function " << model.function << '\n';
  os << llvm::format("  %12s %12s %12s %16s  %s\n", "weights", "results", "cut",
                     "bops", "name");
  for (const ResourceModel::Step &step : model.steps) {
    StepUse use = evaluate(model, step);
    if (use.weights == 0 && use.made == 0 && use.bops == 0)
      continue;
    os << llvm::format("  %12lld %12lld %12lld %16lld  ",
                       number(toBytes(use.weights)), number(toBytes(use.made)),
                       number(toBytes(use.cut)), number(use.bops))
       << (step.name.empty() ? step.op : step.name) << '\n';
  }
  auto printTotals = [&](StringRef title, const ResourceUse &use) {
    os << "  " << title << ": weights " << toBytes(use.weights)
       << " B, activations " << toBytes(use.activations) << " B, total "
       << toBytes(use.total()) << " B, " << use.bops << " BOPS\n";
  };
  printTotals("in total", model.evaluate());
  printTotals("at 8 bits", evaluateAt8Bits(model));
  for (auto [key, limit] : getBudget(function))
    os << "  budget: " << key << ' ' << limit << '\n';
}

/// Fails with a diagnostic if the order of a function's ops is not a schedule.
static FailureOr<ResourceModel> computeSchedule(func::FuncOp function,
                                                const KernelOps &kernels) {
  if (llvm::hasSingleElement(function.getBody()))
    return computeResources(function, kernels);
  return function.emitOpError("has several blocks, so that the order of its "
                              "ops is not a schedule; its resources are not "
                              "known");
}

LogicalResult mct::reportResources(ModuleOp module, const KernelOps &kernels,
                                   ExplainFormat format, raw_ostream &stream) {
  return writeFunctionReports(
      module, format, stream,
      [&](func::FuncOp function) -> FailureOr<json::Object> {
        FailureOr<ResourceModel> model = computeSchedule(function, kernels);
        if (failed(model))
          return failure();
        return describeFunction(*model, function);
      },
      [&](func::FuncOp function, raw_ostream &os) -> LogicalResult {
        FailureOr<ResourceModel> model = computeSchedule(function, kernels);
        if (failed(model))
          return failure();
        printFunction(*model, function, os);
        return success();
      });
}

namespace {
struct ReportResourcesPass
    : public WithOpModels<
          mct::impl::ReportResourcesPassBase<ReportResourcesPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    if (failed(reportResources(getOperation(), getAnalysis<KernelOps>(), format,
                               llvm::outs())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
