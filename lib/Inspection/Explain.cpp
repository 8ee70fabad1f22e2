// SPDX-License-Identifier: Apache-2.0
#include "mct/Inspection/Explain.h"
#include "FunctionReports.h"
#include "mct/Conversion/Patterns.h"
#include "mct/Inspection/Passes.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/Decoding.h"
#include "mct/Planning/Device.h"
#include "mct/Planning/QuantizationPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ScopedPrinter.h"
#include "llvm/Support/raw_ostream.h"

namespace mct {
#define GEN_PASS_DEF_EXPLAINPASS
#include "mct/Inspection/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Contents of both formats
//===----------------------------------------------------------------------===//

/// Returns why an alternative is not considered.
static std::string getReason(const QuantizationPlan &plan,
                             const DroppedCandidate &dropped) {
  if (dropped.rule)
    return ("the override of " + dropped.rule->getFilename().getValue() + ":" +
            Twine(dropped.rule->getLine()) + " excludes it")
        .str();
  if (dropped.consumers.empty())
    return "it quantizes nothing in another way than one before it";
  std::string consumers;
  llvm::raw_string_ostream stream(consumers);
  llvm::interleaveComma(dropped.consumers, stream, [&](size_t consumer) {
    stream << '\'' << plan.nodes[consumer].name.getValue() << '\'';
  });
  return "too wide to be read by " + consumers;
}

static const DroppedCandidate *findDropped(const PlannedNode &planned,
                                           tpc::OpQuantConfigAttr config) {
  auto found = llvm::find_if(planned.dropped, [&](const auto &other) {
    return other.config == config;
  });
  return found == planned.dropped.end() ? nullptr : &*found;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printChain(const QuantizationPlan &plan, const FusedGroup &group,
                       raw_ostream &os) {
  llvm::interleave(
      plan.getNames(group), os, [&](StringAttr name) { os << name.getValue(); },
      " -> ");
}

static void printActivation(tpc::OpQuantConfigAttr config, raw_ostream &os) {
  os << config.getActBits() << "-bit " << config.getActMethod().getMethodName();
  if (config.getSignedness() != tpc::Signedness::Auto)
    os << ' ' << stringifySignedness(config.getSignedness());
}

static void printOption(tpc::OpQuantConfigAttr config, raw_ostream &os) {
  if (config.getPreserving())
    os << "preserving";
  else if (config.getActEnabled())
    printActivation(config, os);
  else
    os << "float";
  os << " result, reads ";
  llvm::interleave(config.getInputBits(), os, "/");
  os << "-bit inputs";
  if (!config.getWeights())
    return;
  for (NamedAttribute entry : config.getWeights()) {
    auto weight = cast<tpc::AttrQuantConfigAttr>(entry.getValue());
    os << ", " << entry.getName().getValue() << ' ';
    if (weight.getEnabled())
      os << weight.getBits() << "-bit " << weight.getMethod().getMethodName();
    else
      os << "float";
  }
}

static void printResult(const QuantizationPlan &plan,
                        const PlannedNode &planned, raw_ostream &os) {
  os << "    result: ";
  switch (planned.cover) {
  case ResultCover::Point:
    os << "point, ";
    printActivation(planned.activation, os);
    break;
  case ResultCover::Fused:
    os << "no point, it stays inside of the fused chain ";
    printChain(plan, plan.groups[*planned.group], os);
    break;
  case ResultCover::Preserved:
    os << (plan.hasRepeatedPoint(planned)
               ? "point, with the parameters of point "
               : "no point, its values are those of point ")
       << planned.coveredBy.getValue();
    break;
  case ResultCover::None:
    os << "float, because " << planned.floatReason;
    break;
  }
  os << '\n';
}

/// Returns why an op of the node is not raised to TOSA, or an empty text.
static StringRef findNotRaisedReason(const tpc::Node &node,
                                     const RaiseFailures &failures) {
  for (Operation *op : node.ops)
    if (auto failure = failures.find(op); failure != failures.end())
      return failure->second;
  return "";
}

static void printNode(const QuantizationPlan &plan, const PlannedNode &planned,
                      const RaiseFailures &failures, raw_ostream &os) {
  const tpc::Node &node = planned.node;
  os << "  " << planned.name.getValue() << " (";
  llvm::interleaveComma(node.ops, os,
                        [&](Operation *op) { os << op->getName(); });
  os << ")\n    operator set: ";
  if (node.operatorSet)
    os << node.operatorSet.getValue();
  else
    os << "none matches, the default applies";
  if (node.pattern)
    os << ", matched by " << node.pattern;
  else if (node.operatorSet)
    os << ", named by the op's '" << tpc::TpcDialect::kSetAttrName << "'";
  os << '\n';
  if (StringRef why = findNotRaisedReason(node, failures); !why.empty())
    os << "    not raised to TOSA: it " << why << '\n';
  for (auto [number, config] : llvm::enumerate(node.options.getConfigs())) {
    os << "    option " << number;
    const DroppedCandidate *dropped = findDropped(planned, config);
    if (config == planned.base)
      os << " (base)";
    else if (dropped)
      os << " (dropped)";
    os << ": ";
    printOption(config, os);
    if (dropped && config != planned.base)
      os << "; " << getReason(plan, *dropped);
    os << '\n';
  }
  if (planned.group) {
    os << "    fused: ";
    printChain(plan, plan.groups[*planned.group], os);
    os << '\n';
  }
  if (planned.contested)
    os << "    not fused further: another chain has "
       << plan.nodes[*planned.contested].name.getValue() << '\n';
  printResult(plan, planned, os);
  for (const PlannedWeight &weight : planned.weights) {
    os << "    weight " << weight.name.getValue() << ": ";
    if (!weight.floatReason.empty()) {
      os << "float, because " << weight.floatReason << '\n';
      continue;
    }
    os << "point, " << weight.config.getBits() << "-bit "
       << weight.config.getMethod().getMethodName();
    if (weight.axes) {
      os << ", per channel of axes ";
      llvm::interleaveComma(weight.axes.asArrayRef(), os);
    }
    os << '\n';
  }
}

static void printText(StringRef function, const QuantizationPlan &plan,
                      const RaiseFailures &failures, raw_ostream &os) {
  os << "function " << function << '\n';
  for (const PlannedInput &input : plan.inputs) {
    os << "  " << input.name.getValue() << " (input)\n    ";
    if (input.floatReason.empty()) {
      os << "point, ";
      printActivation(input.config, os);
      os << '\n';
    } else {
      os << "float, because " << input.floatReason << '\n';
    }
  }
  for (const PlannedNode &planned : plan.nodes)
    printNode(plan, planned, failures, os);
  for (const FusedGroup &group : plan.groups) {
    os << "  group ";
    printChain(plan, group, os);
    os << ", by " << group.pattern << '\n';
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static json::Value toJSON(StringAttr text) {
  return text ? json::Value(text.getValue()) : json::Value(nullptr);
}

/// Returns the results of `convert` for all elements.
template <typename Range, typename Convert>
static json::Array toArray(const Range &range, Convert convert) {
  json::Array array;
  for (const auto &element : range)
    array.push_back(convert(element));
  return array;
}

static json::Array toJSON(ArrayRef<int64_t> numbers) {
  return json::Array(numbers);
}

static void addActivation(json::Object &object, tpc::OpQuantConfigAttr config) {
  object["bits"] = config.getActBits();
  object["method"] = config.getActMethod().getMethodName();
  object["signedness"] = stringifySignedness(config.getSignedness());
}

static json::Object optionToJSON(const QuantizationPlan &plan,
                                 const PlannedNode &planned,
                                 tpc::OpQuantConfigAttr config) {
  json::Object weights;
  if (config.getWeights())
    for (NamedAttribute entry : config.getWeights()) {
      auto weight = cast<tpc::AttrQuantConfigAttr>(entry.getValue());
      weights[entry.getName().getValue()] =
          json::Object{{"bits", weight.getBits()},
                       {"method", weight.getMethod().getMethodName()},
                       {"per_channel", weight.getPerChannel()},
                       {"enabled", weight.getEnabled()}};
    }
  json::Object option{{"state", "candidate"},
                      {"act_enabled", config.getActEnabled()},
                      {"preserving", config.getPreserving()},
                      {"input_bits", toJSON(config.getInputBits())},
                      {"weights", std::move(weights)}};
  addActivation(option, config);
  if (config == planned.base) {
    option["state"] = "base";
  } else if (const DroppedCandidate *dropped = findDropped(planned, config)) {
    option["state"] = "dropped";
    option["why"] = getReason(plan, *dropped);
    if (!dropped->consumers.empty()) {
      option["users"] = toArray(dropped->consumers, [&](size_t consumer) {
        return toJSON(plan.nodes[consumer].name);
      });
      // The key had this name before version 0.2.
      option["readers"] = *option.get("users");
    }
  }
  return option;
}

static json::Object resultToJSON(const PlannedNode &planned) {
  json::Object result;
  switch (planned.cover) {
  case ResultCover::Point:
    result["cover"] = "point";
    addActivation(result, planned.activation);
    break;
  case ResultCover::Fused:
    result["cover"] = "fused";
    break;
  case ResultCover::Preserved:
    result["cover"] = "preserved";
    result["covered_by"] = toJSON(planned.coveredBy);
    break;
  case ResultCover::None:
    result["cover"] = "none";
    result["why_float"] = planned.floatReason;
    break;
  }
  return result;
}

static json::Object weightToJSON(const PlannedWeight &weight) {
  json::Object object{{"name", toJSON(weight.name)},
                      {"operand", int64_t(weight.operand->getOperandNumber())},
                      {"point", weight.floatReason.empty()}};
  if (!weight.floatReason.empty()) {
    object["why_float"] = weight.floatReason;
    return object;
  }
  object["bits"] = weight.config.getBits();
  object["method"] = weight.config.getMethod().getMethodName();
  object["axes"] =
      toJSON(weight.axes ? weight.axes.asArrayRef() : ArrayRef<int64_t>());
  return object;
}

static json::Object nodeToJSON(const QuantizationPlan &plan,
                               const PlannedNode &planned,
                               const RaiseFailures &failures) {
  const tpc::Node &node = planned.node;
  json::Object object{
      {"name", toJSON(planned.name)},
      {"ops",
       toArray(node.ops,
               [](Operation *op) { return op->getName().getStringRef(); })},
      {"location", llvm::to_string(node.root()->getLoc())},
      {"operator_set", toJSON(node.operatorSet)},
      {"pattern", node.pattern ? json::Value(llvm::to_string(node.pattern))
                               : json::Value(nullptr)},
      {"options", toArray(node.options.getConfigs(),
                          [&](tpc::OpQuantConfigAttr config) {
                            return optionToJSON(plan, planned, config);
                          })},
      {"group", planned.group ? json::Value(int64_t(*planned.group))
                              : json::Value(nullptr)},
      {"contested_by", planned.contested
                           ? toJSON(plan.nodes[*planned.contested].name)
                           : json::Value(nullptr)},
      {"result", resultToJSON(planned)},
      {"weights", toArray(planned.weights, weightToJSON)}};
  if (StringRef why = findNotRaisedReason(node, failures); !why.empty())
    object["why_not_raised"] = why.str();
  return object;
}

static json::Object functionToJSON(StringRef name, const QuantizationPlan &plan,
                                   const RaiseFailures &failures) {
  json::Array inputs, nodes, groups;
  for (const PlannedInput &input : plan.inputs) {
    json::Object object{{"name", toJSON(input.name)},
                        {"point", input.floatReason.empty()}};
    if (input.floatReason.empty())
      addActivation(object, input.config);
    else
      object["why_float"] = input.floatReason;
    inputs.push_back(std::move(object));
  }
  for (const PlannedNode &planned : plan.nodes)
    nodes.push_back(nodeToJSON(plan, planned, failures));
  for (const FusedGroup &group : plan.groups)
    groups.push_back(json::Object{
        {"nodes", toArray(plan.getNames(group),
                          [](StringAttr name) { return toJSON(name); })},
        {"pattern", llvm::to_string(group.pattern)}});
  return json::Object{{"name", name},
                      {"inputs", std::move(inputs)},
                      {"nodes", std::move(nodes)},
                      {"groups", std::move(groups)}};
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

static std::string joinOps(tpc::RefuseOp refusal) {
  if (refusal.getOps().empty())
    return "tosa.*";
  return llvm::join(llvm::map_range(refusal.getOps().getAsRange<StringAttr>(),
                                    [](StringAttr name) -> StringRef {
                                      return name.getValue();
                                    }),
                    ", ");
}

static void printText(Device &device, raw_ostream &os) {
  os << "device " << device.getDisplayName() << '\n';
  if (device.isIntegerOnly())
    os << "  computes no floating-point numbers\n";
  for (auto refusal : device.get().getBody().getOps<tpc::RefuseOp>()) {
    os << "  refuses " << joinOps(refusal);
    if (refusal.getFilter())
      os << " where " << *refusal.getFilter();
    os << ", which " << refusal.getReason() << ": " << refusal.getRemedy()
       << '\n';
  }
  if (auto costs = device.getFact<tpc::CostTableOp>())
    os << "  knows the cycles of layers by " << costs.getPath() << '\n';
  if (auto operators = device.getFact<tpc::OnnxOperatorsOp>();
      operators && !operators.getMissing().empty())
    os << "  has no ONNX operators " << operators.getMissing() << '\n';
  if (auto limits = device.getFact<tpc::OnnxLimitsOp>())
    os << "  runs ONNX files of batch " << limits.getBatch() << " within "
       << limits.getBytes() << " bytes; " << limits.describeWeights() << ", "
       << limits.describeActivations() << '\n';
}

static json::Value toJSON(tpc::OnnxLimitsOp limits) {
  if (!limits)
    return nullptr;
  return json::Object{
      {"batch", int64_t(limits.getBatch())},
      {"bytes", int64_t(limits.getBytes())},
      {"signed_widths", json::Array(limits.getSignedWidths())},
      {"unsigned_widths", json::Array(limits.getUnsignedWidths())},
      {"power_of_two", limits.getPowerOfTwo()},
      {"weight_widths", json::Array(limits.getWeightWidths())},
      {"symmetric", limits.getSymmetric()},
      {"tables_with_zero", limits.getTablesWithZero()}};
}

static json::Object deviceToJSON(Device &device) {
  json::Array refused, missing;
  for (auto refusal : device.get().getBody().getOps<tpc::RefuseOp>()) {
    json::Array ops;
    for (StringAttr name : refusal.getOps().getAsRange<StringAttr>())
      ops.push_back(name.getValue());
    refused.push_back(json::Object{
        {"ops", std::move(ops)},
        {"where", refusal.getFilter()
                      ? json::Value(llvm::to_string(*refusal.getFilter()))
                      : json::Value(nullptr)},
        {"reason", refusal.getReason()},
        {"remedy", refusal.getRemedy()}});
  }
  if (auto operators = device.getFact<tpc::OnnxOperatorsOp>())
    for (StringAttr name : operators.getMissing().getAsRange<StringAttr>())
      missing.push_back(name.getValue());
  json::Object object{
      {"name", device.getDisplayName()},
      {"integer_only", device.isIntegerOnly()},
      {"refuses", std::move(refused)},
      {"missing_onnx_operators", std::move(missing)},
      {"onnx_limits", toJSON(device.getFact<tpc::OnnxLimitsOp>())}};
  if (auto costs = device.getFact<tpc::CostTableOp>())
    object["cost_table"] = costs.getPath();
  return object;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Returns whether a function without points has a decoding part, which stays
/// float. Functions with points have a rule for it.
static bool hasDecoding(func::FuncOp function, const KernelOps &kernels) {
  if (!function.getBody().hasOneBlock())
    return false;
  Block &block = function.getBody().front();
  return block.getOps<tpc::QuantizeOp>().empty() &&
         findDecoding(block, kernels).has_value();
}

/// Plans a function. Points were inserted by the rules that the function has;
/// those in `rules` follow them.
static FailureOr<QuantizationPlan> createPlan(tpc::TpcLookup &lookup,
                                              func::FuncOp function,
                                              const KernelOps &kernels,
                                              Overrides &rules) {
  FailureOr<Overrides> recorded = Overrides::getFrom(function);
  if (failed(recorded))
    return failure();
  size_t count = recorded->rules.size();
  rules.rules.insert(rules.rules.begin(), recorded->rules.begin(),
                     recorded->rules.end());
  TakenAlternatives taken = takeOutPoints(function);
  FailureOr<QuantizationPlan> plan =
      QuantizationPlan::create(lookup, function, kernels, rules, taken);
  rules.rules.erase(rules.rules.begin(), rules.rules.begin() + count);
  return plan;
}

LogicalResult mct::explain(ModuleOp original, ExplainFormat format,
                           StringRef overrides, llvm::raw_ostream &stream) {
  // Work on a copy, since names are locations of the ops and the module must
  // not change.
  OwningOpRef<ModuleOp> module = original.clone();
  FailureOr<tpc::TpcLookup> lookup = tpc::TpcLookup::create(*module);
  if (failed(lookup))
    return failure();
  FailureOr<Overrides> rules =
      Overrides::read(overrides.str(), module->getLoc());
  if (failed(rules))
    return failure();
  KernelOps kernels = KernelOps::forModule(*module);
  if (llvm::any_of(module->getOps<func::FuncOp>(), [&](func::FuncOp function) {
        return hasDecoding(function, kernels);
      }))
    rules->addDecodingFloat(module->getContext());
  FailureOr<Device> device = Device::find("", *module);
  if (failed(device))
    return failure();
  json::Object document;
  if (device->get())
    document["device"] = deviceToJSON(*device);
  std::string text;
  llvm::raw_string_ostream textStream(text);
  if (failed(writeFunctionReports(
          *module, format, textStream,
          [&](func::FuncOp function) -> FailureOr<json::Object> {
            FailureOr<QuantizationPlan> plan =
                createPlan(*lookup, function, kernels, *rules);
            if (failed(plan))
              return failure();
            return functionToJSON(function.getSymName(), *plan,
                                  findRaiseFailures(function));
          },
          [&](func::FuncOp function, raw_ostream &os) -> LogicalResult {
            FailureOr<QuantizationPlan> plan =
                createPlan(*lookup, function, kernels, *rules);
            if (failed(plan))
              return failure();
            printText(function.getSymName(), *plan, findRaiseFailures(function),
                      os);
            return success();
          },
          std::move(document))) ||
      failed(rules->checkUsed()))
    return failure();
  if (device->get() && format == ExplainFormat::Text)
    printText(*device, textStream);
  stream << text;
  return success();
}

namespace {
struct ExplainPass
    : public WithOpModels<mct::impl::ExplainPassBase<ExplainPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    if (failed(explain(getOperation(), format, overrides, llvm::outs())))
      return signalPassFailure();
    llvm::outs().flush();
    markAllAnalysesPreserved();
  }
};
} // namespace
