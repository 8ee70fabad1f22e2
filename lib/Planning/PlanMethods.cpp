// SPDX-License-Identifier: Apache-2.0
//
// Applies the user's rules that request a quantization method.
#include "PlanParts.h"

using namespace mlir;
using namespace mct;
using namespace mct::plan;

using Method = tpc::QuantizationMethod;

tpc::OpQuantConfigAttr plan::withActivationMethod(tpc::OpQuantConfigAttr config,
                                                  Method method) {
  std::optional<Method> own = tpc::MethodAttr::getKnown(config.getActMethod());
  if (own == method)
    return config;
  // A fixed grid belongs to its method.
  if (!own || !isMethodWithin(method, *own) || config.getFixedScale())
    return {};
  return tpc::OpQuantConfigAttr::get(
      config.getContext(), tpc::MethodAttr::get(config.getContext(), method),
      config.getActBits(), config.getInputBits(), config.getActEnabled(),
      config.getPreserving(), config.getSignedness(), config.getFixedScale(),
      config.getFixedZeroPoint(), config.getSimdSize(), config.getWeights(),
      config.getDefaultWeight());
}

/// Returns the alternative with another method for the weight of that generic
/// name, or null if the weight does not allow it.
static tpc::OpQuantConfigAttr withWeightMethod(tpc::OpQuantConfigAttr config,
                                               StringAttr name, Method method) {
  tpc::AttrQuantConfigAttr weight = config.getWeightConfig(name);
  std::optional<Method> own = tpc::MethodAttr::getKnown(weight.getMethod());
  if (own == method)
    return config;
  if (!own || !isMethodWithin(method, *own))
    return {};
  MLIRContext *context = config.getContext();
  auto changed = tpc::AttrQuantConfigAttr::get(
      context, tpc::MethodAttr::get(context, method), weight.getBits(),
      weight.getPerChannel(), weight.getEnabled(), weight.getLutValuesBits(),
      weight.getErrorTolerance());
  NamedAttrList weights(config.getWeights());
  weights.set(name, changed);
  return tpc::OpQuantConfigAttr::get(
      context, config.getActMethod(), config.getActBits(),
      config.getInputBits(), config.getActEnabled(), config.getPreserving(),
      config.getSignedness(), config.getFixedScale(),
      config.getFixedZeroPoint(), config.getSimdSize(),
      weights.getDictionary(context), config.getDefaultWeight());
}

using Change =
    llvm::function_ref<tpc::OpQuantConfigAttr(tpc::OpQuantConfigAttr)>;

/// Changes the alternatives that can be changed and drops the others. Returns
/// false, without changes, if none can be changed.
static bool changeAll(PlannedNode &planned, const OverrideRule &rule,
                      Change change) {
  SmallVector<tpc::OpQuantConfigAttr> changed;
  SmallVector<DroppedCandidate> dropped;
  tpc::OpQuantConfigAttr base;
  for (tpc::OpQuantConfigAttr config : planned.candidates) {
    tpc::OpQuantConfigAttr made = change(config);
    if (!made) {
      dropped.push_back({config, {}, rule.loc});
      continue;
    }
    if (config == planned.base)
      base = made;
    if (!llvm::is_contained(changed, made))
      changed.push_back(made);
  }
  if (changed.empty())
    return false;
  planned.candidates = std::move(changed);
  llvm::append_range(planned.dropped, dropped);
  planned.base = base ? base : planned.candidates.front();
  return true;
}

static std::string listMethods(ArrayRef<Attribute> methods) {
  llvm::SmallSetVector<Attribute, 4> distinct(methods.begin(), methods.end());
  return llvm::join(
      llvm::map_range(distinct,
                      [](Attribute method) {
                        return cast<tpc::QuantizationMethodAttrInterface>(
                                   method)
                            .getMethodName();
                      }),
      ", ");
}

static LogicalResult refuse(const PlannedNode &planned, const Twine &tensor,
                            Method method, const OverrideRule &rule,
                            ArrayRef<Attribute> offered) {
  // A rule for all operators applies where it can.
  if (rule.appliesWhereOffered())
    return success();
  InFlightDiagnostic diagnostic =
      emitError(rule.loc) << tensor << " cannot have the method '"
                          << tpc::stringifyQuantizationMethod(method)
                          << "'; the target offers " << listMethods(offered)
                          << " here, and a rule takes one of these or a "
                             "special case; derive a target that offers it";
  diagnostic.attachNote(planned.node.root()->getLoc()) << "the op is here";
  return diagnostic;
}

LogicalResult QuantizationPlan::overrideMethods(PlannedNode &planned,
                                                const Wishes &wishes) {
  if (wishes.activationMethod && planned.cover == ResultCover::Point) {
    auto [method, rule] = *wishes.activationMethod;
    auto change = [&, method = method](tpc::OpQuantConfigAttr config) {
      return withActivationMethod(config, method);
    };
    bool isChanged = true;
    SmallVector<Attribute> offered;
    if (planned.activation) {
      offered.push_back(planned.activation.getActMethod());
      if (tpc::OpQuantConfigAttr made = change(planned.activation))
        planned.activation = made;
      else
        isChanged = false;
    } else {
      for (tpc::OpQuantConfigAttr config : planned.candidates)
        offered.push_back(config.getActMethod());
      isChanged = changeAll(planned, *rule, change);
    }
    if (!isChanged &&
        failed(refuse(planned,
                      "the result of '" + planned.name.getValue() + "'", method,
                      *rule, offered)))
      return failure();
  }
  for (PlannedWeight &weight : planned.weights) {
    Wishes::MethodWish wish =
        wishes.methodOfWeight(weight.genericName.getValue());
    if (!wish || !weight.floatReason.empty())
      continue;
    auto [method, rule] = *wish;
    SmallVector<Attribute> offered;
    for (tpc::OpQuantConfigAttr config : planned.candidates)
      offered.push_back(config.getWeightConfig(weight.genericName).getMethod());
    bool isChanged = changeAll(
        planned, *rule, [&, method = method](tpc::OpQuantConfigAttr config) {
          return withWeightMethod(config, weight.genericName, method);
        });
    if (!isChanged &&
        failed(refuse(planned,
                      "'" + weight.genericName.getValue() + "' of '" +
                          planned.name.getValue() + "'",
                      method, *rule, offered)))
      return failure();
  }
  return success();
}
