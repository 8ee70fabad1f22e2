// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/QuantizationPlan.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mct;

std::optional<size_t> QuantizationPlan::nodeOf(Operation *op) const {
  auto found = owner.find(op);
  return found == owner.end() ? std::nullopt
                              : std::optional<size_t>(found->second);
}

std::optional<size_t> QuantizationPlan::onlyConsumer(size_t index) const {
  std::optional<size_t> consumer;
  for (Operation *user : nodes[index].node.result().getUsers()) {
    std::optional<size_t> reader = nodeOf(user);
    // A reader outside of all nodes is the function's terminator or an op that
    // we do not see into.
    if (!reader || (consumer && *consumer != *reader))
      return std::nullopt;
    consumer = reader;
  }
  return consumer;
}

SmallVector<size_t> QuantizationPlan::consumers(size_t index) const {
  llvm::SetVector<size_t> found;
  SmallVector<size_t> pending = {index};
  while (!pending.empty()) {
    size_t producer = pending.pop_back_val();
    for (Operation *user : nodes[producer].node.result().getUsers())
      if (std::optional<size_t> reader = nodeOf(user);
          reader && found.insert(*reader))
        if (nodes[*reader].node.options.getConfigs().front().getPreserving())
          pending.push_back(*reader);
  }
  return found.takeVector();
}

//===----------------------------------------------------------------------===//
// Fusing
//===----------------------------------------------------------------------===//

namespace {
/// A fusing pattern as sets of operator-set names, one set per position.
using FusingPattern = SmallVector<llvm::StringSet<>>;
} // namespace

static SmallVector<FusingPattern> getPatterns(tpc::PlatformOp platform) {
  SmallVector<FusingPattern> patterns;
  for (auto fusing : platform.getFusing().getAsRange<tpc::FusingAttr>()) {
    FusingPattern &pattern = patterns.emplace_back();
    for (Attribute group : fusing.getGroups()) {
      llvm::StringSet<> &names = pattern.emplace_back();
      if (auto name = dyn_cast<StringAttr>(group))
        names.insert(name.getValue());
      else
        for (StringAttr name : cast<tpc::OperatorSetGroupAttr>(group).getSets())
          names.insert(name.getValue());
    }
  }
  return patterns;
}

void QuantizationPlan::fuse(tpc::PlatformOp platform) {
  SmallVector<FusingPattern> patterns = getPatterns(platform);
  size_t longest = 0;
  for (const FusingPattern &pattern : patterns)
    longest = std::max(longest, pattern.size());
  auto matches = [&](ArrayRef<size_t> chain, const FusingPattern &pattern) {
    return chain.size() >= pattern.size() &&
           llvm::all_of(llvm::zip_first(pattern, chain), [&](auto position) {
             auto &[names, index] = position;
             StringAttr set = nodes[index].node.operatorSet;
             return set && names.contains(set.getValue());
           });
  };
  for (size_t start = 0; start != nodes.size(); ++start) {
    if (nodes[start].group || !nodes[start].node.operatorSet)
      continue;
    SmallVector<size_t> chain = {start};
    while (chain.size() < longest) {
      std::optional<size_t> next = onlyConsumer(chain.back());
      if (!next || nodes[*next].group)
        break;
      chain.push_back(*next);
    }
    size_t length = 0;
    for (const FusingPattern &pattern : patterns)
      if (pattern.size() > length && matches(chain, pattern))
        length = pattern.size();
    if (length == 0)
      continue;
    chain.truncate(length);
    for (size_t index : chain)
      nodes[index].group = groups.size();
    groups.push_back(std::move(chain));
  }
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

/// Widest activation that every alternative of the node which reads quantized
/// data can read, or none when none does.
static std::optional<int64_t> getInputLimit(const tpc::Node &node) {
  std::optional<int64_t> limit;
  for (tpc::OpQuantConfigAttr config : node.options.getConfigs())
    if (config.getActEnabled() || config.getPreserving())
      limit = std::min(limit.value_or(config.getMaxInputBits()),
                       config.getMaxInputBits());
  return limit;
}

LogicalResult QuantizationPlan::filterCandidates() {
  for (size_t index = 0; index != nodes.size(); ++index) {
    PlannedNode &planned = nodes[index];
    SmallVector<size_t> readers = consumers(index);
    std::optional<int64_t> limit, baseLimit;
    for (size_t reader : readers) {
      if (std::optional<int64_t> own = getInputLimit(nodes[reader].node))
        limit = std::min(limit.value_or(*own), *own);
      int64_t ownBase =
          nodes[reader].node.options.getBaseConfig().getMaxInputBits();
      baseLimit = std::min(baseLimit.value_or(ownBase), ownBase);
    }
    for (tpc::OpQuantConfigAttr config : planned.node.options.getConfigs())
      if (!limit || config.getActBits() <= *limit)
        planned.candidates.push_back(config);
    if (planned.candidates.empty()) {
      // U2
      InFlightDiagnostic diagnostic =
          planned.node.root()->emitOpError()
          << "has no configuration that fits its consumers (at most " << *limit
          << "-bit inputs accepted)";
      for (size_t reader : readers)
        if (getInputLimit(nodes[reader].node) == limit)
          diagnostic.attachNote(nodes[reader].node.root()->getLoc())
              << "read here";
      return diagnostic;
    }
    planned.base = planned.node.options.getBaseConfig();
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

FailureOr<QuantizationPlan> QuantizationPlan::create(tpc::TpcLookup &lookup,
                                                     Block &block) {
  FailureOr<SmallVector<tpc::Node>> matched = lookup.match(block);
  if (failed(matched))
    return failure();
  QuantizationPlan plan;
  for (tpc::Node &node : *matched) {
    for (Operation *op : node.ops)
      plan.owner[op] = plan.nodes.size();
    plan.nodes.push_back({std::move(node), {}, {}, std::nullopt});
  }
  plan.fuse(lookup.platform());
  if (failed(plan.filterCandidates()))
    return failure();
  return plan;
}
