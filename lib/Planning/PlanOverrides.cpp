// SPDX-License-Identifier: Apache-2.0
//
// Applies the user's rules to a plan.
#include "PlanParts.h"

using namespace mlir;
using namespace mct;

using namespace mct::plan;

static std::string getOverrideReason(const OverrideRule &rule) {
  return ("the override of " + rule.loc.getFilename().getValue() + ":" +
          Twine(rule.loc.getLine()) + " says so")
      .str();
}

Wishes QuantizationPlan::getWishes(const PlannedNode &planned,
                                   Overrides &overrides) const {
  return overrides.getWishes(
      planned.name, planned.node, planned.cover == ResultCover::Point,
      [&](StringRef name) {
        return llvm::any_of(planned.weights, [&](const PlannedWeight &weight) {
          return weight.floatReason.empty() &&
                 (name.empty() || weight.genericName == name);
        });
      });
}

/// Removes the candidates that do not fit, and chooses the base from the
/// others.
static void keepOnly(PlannedNode &planned, const OverrideRule &rule,
                     llvm::function_ref<bool(tpc::OpQuantConfigAttr)> fits) {
  for (tpc::OpQuantConfigAttr config : planned.candidates)
    if (!fits(config))
      planned.dropped.push_back({config, {}, rule.loc});
  llvm::erase_if(planned.candidates,
                 [&](tpc::OpQuantConfigAttr config) { return !fits(config); });
  if (fits(planned.base))
    return;
  auto similarity = [&](tpc::OpQuantConfigAttr config) {
    return int(config.getActBits() == planned.base.getActBits()) +
           int(getKernelBits(planned.node, config) ==
               getKernelBits(planned.node, planned.base));
  };
  planned.base =
      *llvm::max_element(planned.candidates, [&](auto lhs, auto rhs) {
        return similarity(lhs) < similarity(rhs);
      });
}

LogicalResult QuantizationPlan::overrideActivation(PlannedNode &planned,
                                                   Wishes &wishes) {
  if (!wishes.activation)
    return success();
  auto [bits, rule] = *wishes.activation;
  if (bits == 0) {
    planned.cover = ResultCover::None;
    planned.floatReason = getOverrideReason(*rule);
    planned.isFloatByRule = true;
    return success();
  }
  SmallVector<tpc::OpQuantConfigAttr> offered = planned.candidates;
  if (planned.activation)
    offered = {planned.activation};
  auto fits = [bits = bits](tpc::OpQuantConfigAttr config) {
    return config.getActBits() == bits;
  };
  if (llvm::any_of(offered, fits)) {
    ++rule->activationUse.numTaken;
    if (!planned.activation)
      keepOnly(planned, *rule, fits);
    return success();
  }
  if (rule->appliesWhereOffered()) {
    for (tpc::OpQuantConfigAttr config : offered)
      rule->activationUse.offered.insert(config.getActBits());
    return success();
  }
  InFlightDiagnostic diagnostic =
      emitError(rule->loc)
      << "the result of '" << planned.name.getValue() << "' cannot have "
      << bits << " bits; the target offers "
      << listWidths(llvm::map_to_vector(
             offered, [](auto config) { return config.getActBits(); }))
      << " here";
  diagnostic.attachNote(planned.node.root()->getLoc()) << "the op is here";
  for (const DroppedCandidate &dropped : planned.dropped)
    if (fits(dropped.config))
      for (size_t consumer : dropped.consumers)
        diagnostic.attachNote(nodes[consumer].node.root()->getLoc())
            << "this user reads at most "
            << *getInputLimit(nodes[consumer].node) << " bits";
  return diagnostic;
}

LogicalResult QuantizationPlan::overrideWeights(PlannedNode &planned,
                                                Wishes &wishes) {
  for (PlannedWeight &weight : planned.weights) {
    Wishes::Wish wish = wishes.ofWeight(weight.genericName.getValue());
    if (wish && wish->first == 0 && weight.isMissed) {
      weight.isMissed = false;
      weight.floatReason = getOverrideReason(*wish->second);
    }
    if (!wish || !weight.floatReason.empty())
      continue;
    auto [bits, rule] = *wish;
    if (bits == 0) {
      weight.floatReason = getOverrideReason(*rule);
      continue;
    }
    auto getBits = [&](tpc::OpQuantConfigAttr config) {
      return config.getWeightConfig(weight.genericName).getBits();
    };
    auto fits = [&, bits = bits](tpc::OpQuantConfigAttr config) {
      return getBits(config) == bits;
    };
    bool isOffered = llvm::any_of(planned.candidates, fits);
    if (!isOffered && rule->appliesWhereOffered()) {
      rule->weightUse.offered.insert_range(
          llvm::map_range(planned.candidates, getBits));
      continue;
    }
    if (!isOffered) {
      InFlightDiagnostic diagnostic =
          emitError(rule->loc)
          << "'" << weight.genericName.getValue() << "' of '"
          << planned.name.getValue() << "' cannot have " << bits
          << " bits; the target offers "
          << listWidths(llvm::map_to_vector(planned.candidates, getBits))
          << " here";
      diagnostic.attachNote(planned.node.kernelOp->getLoc())
          << "the op is here";
      return diagnostic;
    }
    ++rule->weightUse.numTaken;
    keepOnly(planned, *rule, fits);
  }
  return success();
}

/// Changes the method of an input if a rule requests one.
static LogicalResult overrideInputMethod(PlannedInput &input,
                                         const OverrideRule &rule) {
  if (!rule.activationMethod)
    return success();
  if (tpc::OpQuantConfigAttr made =
          withActivationMethod(input.config, *rule.activationMethod)) {
    input.config = made;
    return success();
  }
  if (rule.appliesWhereOffered())
    return success();
  return emitError(rule.loc)
         << "the input '" << input.name.getValue()
         << "' cannot have the method '"
         << tpc::stringifyQuantizationMethod(*rule.activationMethod)
         << "'; the target's default has "
         << input.config.getActMethod().getMethodName();
}

LogicalResult QuantizationPlan::overrideInputs(Overrides &overrides) {
  for (PlannedInput &input : inputs) {
    std::pair<int64_t, const OverrideRule *> wish = {0, nullptr};
    for (OverrideRule &rule : overrides.rules) {
      bool selects = rule.selector == OverrideRule::Selector::All ||
                     (rule.selector == OverrideRule::Selector::Name &&
                      rule.pattern.match(input.name.getValue())) ||
                     (rule.selector == OverrideRule::Selector::Decoding &&
                      overrides.isReadByDecodingAlone(input.argument));
      if (!selects)
        continue;
      ++rule.numSelected;
      if (!input.floatReason.empty() ||
          (!rule.activationBits && !rule.activationMethod))
        continue;
      ++rule.numAffected;
      if (rule.activationBits)
        wish = {*rule.activationBits, &rule};
      if (failed(overrideInputMethod(input, rule)))
        return failure();
    }
    auto [bits, rule] = wish;
    if (!rule || bits == input.config.getActBits())
      continue;
    // The target offers only one width for inputs.
    if (bits != 0 && rule->appliesWhereOffered())
      continue;
    if (bits != 0)
      return emitError(rule->loc)
             << "the input '" << input.name.getValue() << "' cannot have "
             << bits << " bits; the target's default has "
             << input.config.getActBits();
    input.floatReason = getOverrideReason(*rule);
  }
  return success();
}
