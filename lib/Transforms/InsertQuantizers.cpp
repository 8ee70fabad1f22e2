// SPDX-License-Identifier: Apache-2.0
#include "KeptPoints.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/IR/QuantizedNetwork.h"
#include "mct/IR/Records.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/Decoding.h"
#include "mct/Planning/IntegerLayer.h"
#include "mct/Planning/QuantizationPlan.h"
#include "mct/Support/Troubleshooting.h"
#include "mct/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"

namespace mct {
#define GEN_PASS_DEF_INSERTQUANTIZERSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Returns the configs of a tensor in the alternatives of its node, or null if
/// the target has only one.
static tpc::AlternativesAttr
getAlternatives(const PlannedNode &planned,
                llvm::function_ref<Attribute(tpc::OpQuantConfigAttr)> get) {
  if (planned.candidates.size() < 2)
    return {};
  MLIRContext *context = planned.name.getContext();
  const auto *base = llvm::find(planned.candidates, planned.base);
  return tpc::AlternativesAttr::get(
      context, planned.name,
      ArrayAttr::get(context, llvm::map_to_vector(planned.candidates, get)),
      base - planned.candidates.begin());
}

static tpc::RangeAttr
getRangeAttr(MLIRContext *context,
             std::pair<std::optional<double>, std::optional<double>> range) {
  if (!range.first && !range.second)
    return {};
  return tpc::RangeAttr::get(context, range.first, range.second);
}

/// Inserts a point after `value`, which all users read instead, except for
/// those that compute masks.
static void insertActivationPoint(OpBuilder &builder, Value value,
                                  const QuantizationPlan &plan, StringAttr name,
                                  tpc::OpQuantConfigAttr config,
                                  tpc::AlternativesAttr alternatives,
                                  ArrayAttr group, tpc::RangeAttr range) {
  auto point = tpc::QuantizeOp::create(builder, value.getLoc(), value, name,
                                       /*weight=*/{}, /*axes=*/{}, config);
  point.setCandidatesAttr(alternatives);
  point.setGroupAttr(group);
  point.setRangeAttr(range);
  value.replaceUsesWithIf(point.getOutput(), [&](OpOperand &use) {
    return use.getOwner() != point && !readsFlags(use.getOwner(), plan.masks);
  });
}

/// Inserts a point between a constant and the op that uses it.
static void insertWeightPoint(OpBuilder &builder, const PlannedWeight &weight,
                              const PlannedNode &planned) {
  Value value = weight.operand->get();
  auto point =
      tpc::QuantizeOp::create(builder, value.getLoc(), value, planned.name,
                              weight.name, weight.axes, weight.config);
  point.setCandidatesAttr(
      getAlternatives(planned, [&](tpc::OpQuantConfigAttr config) {
        return config.getWeightConfig(weight.genericName);
      }));
  weight.operand->set(point.getOutput());
}

/// Warns that a weight stays float although the target quantizes it, so that it
/// runs slowly or not at all.
static void warnOfFloat(Operation *op, const PlannedWeight &weight,
                        StringAttr name) {
  InFlightDiagnostic warning = op->emitWarning()
                               << "'" << weight.name.getValue() << "' of '"
                               << name.getValue()
                               << "' stays float although the target quantizes "
                                  "it: "
                               << weight.floatReason;
  warning.attachNote(weight.operand->get().getLoc()) << "it is made here";
}

/// Warns of layers whose kernel or factors have points but that stay float
/// because a factor has none, unless the target quantizes only weights.
static void warnOfFloatLayers(func::FuncOp function,
                              const QuantizationPlan &plan,
                              const KernelOps &kernels) {
  bool hasActivations = false;
  function.walk(
      [&](tpc::QuantizeOp point) { hasActivations |= point.isActivation(); });
  if (!hasActivations)
    return;
  for (OpOperand *factor : findIntegerLayers(function, kernels).notInIntegers) {
    Operation *layer = factor->getOwner();
    std::optional<size_t> index = plan.findNode(layer);
    bool isConstant =
        llvm::any_of(layer->getOperands().take_front(2), [](Value value) {
          return matchPattern(value, m_Constant());
        });
    // A kernel without a point has its own warning, or the target or a rule
    // keeps the layer float.
    if (isConstant || (index && plan.nodes[*index].isFloatByRule))
      continue;
    auto [source, reason] = plan.findFloatSource(factor->get());
    InFlightDiagnostic warning =
        layer->emitWarning()
        << "'" << getName(layer->getResult(0)).getValue()
        << "' stays float although the target quantizes it: it reads '"
        << getName(source).getValue() << "', which is not quantized: "
        << (reason.empty() ? "its values are on no common grid" : reason)
        << support::kTroubleshooting << "an-operator-stays-float";
    warning.attachNote(source.getLoc()) << "it is made here";
  }
}

static void insertPoints(func::FuncOp function, const QuantizationPlan &plan,
                         Overrides &overrides) {

  MLIRContext *context = function.getContext();
  OpBuilder builder(context);
  for (auto [index, planned] : llvm::enumerate(plan.nodes)) {
    const tpc::Node &node = planned.node;
    if (planned.contested) {
      // U3: a longer chain would need an op that an earlier one has.
      const PlannedNode &other = plan.nodes[*planned.contested];
      InFlightDiagnostic remark = emitRecord(
          node.root(), "mct-insert-quantizers",
          Record(Reason::Contested)
              << "'" << planned.name.getValue() << "' cannot be fused with '"
              << named("other", other.name.getValue())
              << "', which an earlier chain has");
      remark.attachNote(other.node.root()->getLoc()) << "both want this op";
    }
    builder.setInsertionPoint(node.kernelOp);
    for (const PlannedWeight &weight : planned.weights)
      if (weight.floatReason.empty())
        insertWeightPoint(builder, weight, planned);
      else if (weight.isMissed)
        warnOfFloat(node.kernelOp, weight, planned.name);
    if (plan.hasRepeatedPoint(planned)) {
      // Its config names the point whose parameters it takes.
      builder.setInsertionPointAfter(node.root());
      insertActivationPoint(builder, node.result(), plan, planned.name,
                            planned.base,
                            /*alternatives=*/{}, ArrayAttr(), tpc::RangeAttr());
      continue;
    }
    if (planned.cover != ResultCover::Point)
      continue;
    ArrayAttr group;
    if (planned.group && plan.groups[*planned.group].end == index) {
      SmallVector<StringAttr> names =
          plan.getNames(plan.groups[*planned.group]);
      group = builder.getArrayAttr(
          SmallVector<Attribute>(names.begin(), names.end()));
    }
    tpc::AlternativesAttr alternatives;
    if (planned.hasOwnActivation)
      alternatives = getAlternatives(
          planned, [](tpc::OpQuantConfigAttr config) { return config; });
    builder.setInsertionPointAfter(node.root());
    insertActivationPoint(builder, node.result(), plan, planned.name,
                          planned.activation, alternatives, group,
                          getRangeAttr(context, node.range));
  }
  builder.setInsertionPointToStart(&function.getBody().front());
  for (const PlannedInput &input : plan.inputs)
    if (input.floatReason.empty())
      insertActivationPoint(builder, input.argument, plan, input.name,
                            input.config,
                            /*alternatives=*/{}, ArrayAttr(), tpc::RangeAttr());
  overrides.setOn(function);
}

/// Remarks that a decoding part stays float.
static void remarkDecoding(const Decoding &decoding) {
  auto names = llvm::map_range(decoding.heads, [](Value head) {
    return ("'" + getName(head).getValue() + "'").str();
  });
  emitRecord(decoding.ops.front(), "mct-insert-quantizers",
             Record(Decision::Noted, Reason::DecodingStaysFloat)
                 << named("ops", static_cast<int64_t>(decoding.ops.size()))
                 << " ops that decode the places of objects stay float; they "
                    "read "
                 << llvm::join(names, ", ") << " (decode=float|quantize|cut)");
}

namespace {
struct InsertQuantizersPass
    : public WithOpModels<
          mct::impl::InsertQuantizersPassBase<InsertQuantizersPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<tpc::TpcLookup> lookup = tpc::TpcLookup::create(module);
    if (failed(lookup))
      return signalPassFailure();
    FailureOr<Overrides> rules = readRules();
    if (failed(rules))
      return signalPassFailure();
    SmallVector<func::FuncOp> functions;
    if (function == "*") {
      for (auto each : module.getOps<func::FuncOp>())
        if (!each.isExternal())
          functions.push_back(each);
    } else {
      FailureOr<func::FuncOp> entry = findEntryFunction(module, function);
      if (failed(entry))
        return signalPassFailure();
      functions.push_back(*entry);
    }
    // Points on integers, or on values computed from them, would quantize
    // twice.
    for (func::FuncOp each : functions)
      if (Operation *quantized = findQuantizedOp(each)) {
        emitError(quantized->getLoc())
            << "the network is quantized already: '" << quantized->getName()
            << "' makes " << quantized->getResult(0).getType() << " of "
            << quantized->getOperand(0).getType()
            << "; quantize the float network that it was made of, or run this "
               "one as it is"
            << support::kTroubleshooting << "a-network-is-quantized-already";
        return signalPassFailure();
      }
    if (decoding == DecodingMode::Float)
      keepDecodingFloat(functions, *rules);
    for (func::FuncOp each : functions) {
      KeptPoints imported(each);
      assignNames(each);
      const auto &kernels = getAnalysis<KernelOps>();
      FailureOr<QuantizationPlan> plan =
          QuantizationPlan::create(*lookup, each, kernels, *rules);
      if (failed(plan))
        return signalPassFailure();
      insertPoints(each, *plan, *rules);
      if (keepPoints)
        imported.putBack();
      warnOfFloatLayers(each, *plan, kernels);
    }
    if (failed(rules->checkUsed()))
      return signalPassFailure();
  }

private:
  void keepDecodingFloat(ArrayRef<func::FuncOp> functions, Overrides &rules) {
    bool any = false;
    for (func::FuncOp each : functions) {
      if (!each.getBody().hasOneBlock())
        continue;
      std::optional<Decoding> found =
          findDecoding(each.getBody().front(), getAnalysis<KernelOps>());
      if (!found)
        continue;
      assignNames(each);
      remarkDecoding(*found);
      any = true;
    }
    if (any)
      rules.addDecodingFloat(&getContext());
  }

  /// Returns the rules of the options, followed by those of the file, which
  /// take precedence.
  FailureOr<Overrides> readRules() {
    Overrides rules;
    std::string weights = "weights=" + std::to_string(weightBits),
                activations = std::to_string(activationBits);
    if (weightBits != 0 &&
        failed(rules.add("all " + weights, weights, &getContext())))
      return failure();
    if (activationBits != 0 &&
        failed(rules.add("all activation=" + activations,
                         "activations=" + activations, &getContext())))
      return failure();
    for (const std::string &pattern : keepFloat)
      if (failed(rules.add("name \"" + pattern + "\" float",
                           "keep-float=" + pattern, &getContext())))
        return failure();
    FailureOr<Overrides> ofFile =
        Overrides::read(overrides, getOperation().getLoc());
    if (failed(ofFile))
      return failure();
    llvm::append_range(rules.rules, std::move(ofFile->rules));
    return rules;
  }
};
} // namespace
