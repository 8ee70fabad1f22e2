// SPDX-License-Identifier: Apache-2.0
//
// Finds chains of operators that are executed as one.
#include "PlanParts.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mct;

std::optional<size_t> QuantizationPlan::onlyConsumer(size_t index) const {
  std::optional<size_t> consumer;
  for (Operation *user : nodes[index].node.result().getUsers()) {
    std::optional<size_t> next = findNode(user);
    // The user is the terminator or an op whose semantics are unknown.
    if (!next || (consumer && *consumer != *next))
      return std::nullopt;
    consumer = next;
  }
  return consumer;
}

namespace {
/// A fusing pattern with the operator sets that each position accepts.
struct FusingPattern {
  tpc::FusingAttr attribute;
  SmallVector<llvm::StringSet<>> positions;
};
} // namespace

static SmallVector<FusingPattern> getPatterns(tpc::PlatformOp platform) {
  SmallVector<FusingPattern> patterns;
  for (auto fusing : platform.getFusing().getAsRange<tpc::FusingAttr>()) {
    FusingPattern &pattern = patterns.emplace_back();
    pattern.attribute = fusing;
    for (Attribute group : fusing.getGroups()) {
      llvm::StringSet<> &names = pattern.positions.emplace_back();
      if (auto name = dyn_cast<StringAttr>(group))
        names.insert(name.getValue());
      else
        for (StringAttr name : cast<tpc::OperatorSetGroupAttr>(group).getSets())
          names.insert(name.getValue());
    }
  }
  return patterns;
}

void QuantizationPlan::fuse(tpc::PlatformOp platform,
                            const Overrides &overrides) {
  auto staysApart = [&](size_t index) {
    return overrides.keepsFloatAsDecoding(nodes[index].node.root());
  };
  SmallVector<FusingPattern> patterns = getPatterns(platform);
  size_t longest = 0;
  for (const FusingPattern &pattern : patterns)
    longest = std::max(longest, pattern.positions.size());
  auto matches = [&](ArrayRef<size_t> chain, const FusingPattern &pattern) {
    return chain.size() >= pattern.positions.size() &&
           llvm::all_of(llvm::zip_first(pattern.positions, chain),
                        [&](auto position) {
                          auto &[names, index] = position;
                          StringAttr set = nodes[index].node.operatorSet;
                          return set && names.contains(set.getValue());
                        });
  };
  for (size_t start = 0; start != nodes.size(); ++start) {
    if (nodes[start].group || !nodes[start].node.operatorSet)
      continue;
    // Also follow nodes of other chains, to find out what the target would have
    // fused if they were free.
    SmallVector<size_t> chain = {start};
    while (chain.size() < longest) {
      std::optional<size_t> next = onlyConsumer(chain.back());
      // The result of a last layer is quantized before it is decoded.
      if (!next || staysApart(*next) != staysApart(chain.back()))
        break;
      chain.push_back(*next);
    }
    size_t numFree = llvm::find_if(chain,
                                   [&](size_t index) {
                                     return nodes[index].group.has_value();
                                   }) -
                     chain.begin();
    const FusingPattern *best = nullptr;
    size_t numRequired = 0;
    for (const FusingPattern &pattern : patterns) {
      size_t size = pattern.positions.size();
      if (!matches(chain, pattern))
        continue;
      numRequired = std::max(numRequired, size);
      if (size <= numFree && (!best || size > best->positions.size()))
        best = &pattern;
    }
    if (numRequired > numFree)
      nodes[start].contested = chain[numFree];
    if (!best)
      continue;
    chain.truncate(best->positions.size());
    size_t end = chain.front();
    for (size_t index : chain) {
      nodes[index].group = groups.size();
      if (!plan::isPreserving(nodes[index].node))
        end = index;
    }
    groups.push_back({std::move(chain), best->attribute, end});
  }
}
