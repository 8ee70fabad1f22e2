// SPDX-License-Identifier: Apache-2.0
//
// Determines the remaining alternatives of an operator, and which of them is
// the base.
#include "PlanParts.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mct;
using namespace mct::plan;

SmallVector<size_t> QuantizationPlan::consumers(size_t index) const {
  llvm::SetVector<size_t> found;
  SmallVector<size_t> pending = {index};
  while (!pending.empty()) {
    size_t producer = pending.pop_back_val();
    for (Operation *user : nodes[producer].node.result().getUsers())
      if (std::optional<size_t> consumer = findNode(user);
          consumer && found.insert(*consumer))
        if (isPreserving(nodes[*consumer].node))
          pending.push_back(*consumer);
  }
  return found.takeVector();
}

std::optional<int64_t> plan::getInputLimit(const tpc::Node &node) {
  std::optional<int64_t> limit;
  for (tpc::OpQuantConfigAttr config : node.options.getConfigs())
    if (config.getActEnabled() || config.getPreserving())
      limit = std::min(limit.value_or(config.getMaxInputBits()),
                       config.getMaxInputBits());
  return limit;
}

int64_t plan::getKernelBits(const tpc::Node &node,
                            tpc::OpQuantConfigAttr config) {
  if (!node.weights || !node.weights.contains(tpc::kKernelWeight))
    return 0;
  tpc::AttrQuantConfigAttr kernel = config.getWeightConfig(tpc::kKernelWeight);
  return kernel.getEnabled() ? kernel.getBits() : 0;
}

static void lower(std::optional<int64_t> &limit, std::optional<int64_t> other) {
  if (other)
    limit = std::min(limit.value_or(*other), *other);
}

LogicalResult QuantizationPlan::filterCandidates() {
  // An operator after a preserving node also limits the producer. Users come
  // after the values that they use, so one backward pass visits all.
  struct Limits {
    std::optional<int64_t> all, base;
  };
  SmallVector<Limits> limits(nodes.size());
  for (size_t index = nodes.size(); index-- != 0;)
    for (Operation *user : nodes[index].node.result().getUsers()) {
      std::optional<size_t> consumer = findNode(user);
      if (!consumer)
        continue;
      const tpc::Node &node = nodes[*consumer].node;
      lower(limits[index].all, getInputLimit(node));
      lower(limits[index].base, node.options.getBaseConfig().getMaxInputBits());
      if (isPreserving(node)) {
        lower(limits[index].all, limits[*consumer].all);
        lower(limits[index].base, limits[*consumer].base);
      }
    }

  for (size_t index = 0; index != nodes.size(); ++index) {
    PlannedNode &planned = nodes[index];
    const tpc::Node &node = planned.node;
    std::optional<int64_t> limit = limits[index].all;
    std::optional<int64_t> baseLimit = limits[index].base;
    // In descending order of widths, then in the order of the options.
    ArrayRef<tpc::OpQuantConfigAttr> options = node.options.getConfigs();
    SmallVector<std::tuple<int64_t, int64_t, size_t>> order;
    for (auto [place, config] : llvm::enumerate(options))
      order.emplace_back(-getKernelBits(node, config), -config.getActBits(),
                         place);
    llvm::sort(order);
    for (auto [kernelBits, bits, place] : order)
      planned.candidates.push_back(options[place]);
    auto fits = [&](tpc::OpQuantConfigAttr config) {
      return !limit || config.getActBits() <= *limit;
    };
    if (!llvm::all_of(planned.candidates, fits)) {
      SmallVector<size_t> users = consumers(index);
      if (llvm::none_of(planned.candidates, fits)) {
        // U2: no alternative is narrow enough for all users.
        InFlightDiagnostic diagnostic =
            node.root()->emitOpError()
            << "has no configuration that fits its users (at most " << *limit
            << "-bit inputs accepted)";
        for (size_t user : users)
          if (getInputLimit(nodes[user].node) == limit)
            diagnostic.attachNote(nodes[user].node.root()->getLoc())
                << "read here";
        return diagnostic;
      }
      for (tpc::OpQuantConfigAttr config : planned.candidates) {
        if (fits(config))
          continue;
        DroppedCandidate &dropped = planned.dropped.emplace_back();
        dropped.config = config;
        for (size_t user : users)
          if (std::optional<int64_t> own = getInputLimit(nodes[user].node);
              own && *own < config.getActBits())
            dropped.consumers.push_back(user);
      }
      llvm::erase_if(planned.candidates, std::not_fn(fits));
    }
    planned.base = node.options.getBaseConfig();
    if ((baseLimit && planned.base.getActBits() > *baseLimit) ||
        !llvm::is_contained(planned.candidates, planned.base)) {
      planned.base = planned.candidates.front();
      for (tpc::OpQuantConfigAttr config : planned.candidates)
        if (config.getActBits() > planned.base.getActBits())
          planned.base = config;
    }
  }
  return success();
}

bool mct::haveEqualActivation(tpc::OpQuantConfigAttr lhs,
                              tpc::OpQuantConfigAttr rhs) {
  return lhs.getActMethod() == rhs.getActMethod() &&
         lhs.getActBits() == rhs.getActBits() &&
         lhs.getSignedness() == rhs.getSignedness();
}

void plan::removeRepetitions(PlannedNode &planned) {
  // The result of an inner node of a fused chain has the pattern's quantizer or
  // none, regardless of the node's own alternatives.
  bool ownActivation =
      planned.cover == ResultCover::Point && !planned.activation;
  auto haveEqualEffect = [&](tpc::OpQuantConfigAttr lhs,
                             tpc::OpQuantConfigAttr rhs) {
    return (!ownActivation || haveEqualActivation(lhs, rhs)) &&
           llvm::all_of(planned.weights, [&](const PlannedWeight &weight) {
             return !weight.floatReason.empty() ||
                    lhs.getWeightConfig(weight.genericName) ==
                        rhs.getWeightConfig(weight.genericName);
           });
  };
  SmallVector<tpc::OpQuantConfigAttr> distinct;
  for (tpc::OpQuantConfigAttr config : planned.candidates) {
    auto equal = llvm::find_if(distinct, [&](tpc::OpQuantConfigAttr other) {
      return haveEqualEffect(config, other);
    });
    if (equal == distinct.end()) {
      distinct.push_back(config);
      continue;
    }
    if (config == planned.base)
      std::swap(*equal, config);
    planned.dropped.push_back({config, {}, std::nullopt});
  }
  planned.candidates = std::move(distinct);
}
