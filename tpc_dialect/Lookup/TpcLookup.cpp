// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "tpc_dialect/Lookup/Filters.h"
#include "tpc_dialect/Lookup/Subgraphs.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <functional>
#include <map>
#include <vector>

using namespace mlir;
using namespace mct::tpc;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Operation *mct::tpc::getConstantOp(Value value) {
  Operation *op = value.getDefiningOp();
  while (auto point = dyn_cast_or_null<QuantizeOp>(op)) {
    if (!point.isWeight())
      return nullptr;
    op = point.getInput().getDefiningOp();
  }
  return op && op->hasTrait<OpTrait::ConstantLike>() ? op : nullptr;
}

ElementsAttr mct::tpc::getConstant(Value value) {
  ElementsAttr elements;
  if (Operation *op = getConstantOp(value))
    matchPattern(op->getResult(0), m_Constant(&elements));
  return elements;
}

//===----------------------------------------------------------------------===//
// Reading the target
//===----------------------------------------------------------------------===//

FailureOr<TpcLookup> TpcLookup::create(ModuleOp module) {
  TpcLookup lookup;
  auto name =
      module->getAttrOfType<FlatSymbolRefAttr>(TpcDialect::kTargetAttrName);
  if (!name)
    return emitError(module.getLoc())
           << "module has no target; run tpc-attach-target first";
  lookup.platformOp = module.lookupSymbol<PlatformOp>(name);
  if (!lookup.platformOp)
    return emitError(module.getLoc())
           << "target " << name
           << " is not a tpc.platform of the module; run tpc-attach-target";

  for (auto framework : module.getOps<FrameworkOp>())
    for (auto info : framework.getEntries().getAsRange<OpInfoAttr>())
      lookup.infos.try_emplace(info.getOpName().getValue(), info);

  llvm::StringMap<QCOptionsAttr> optionsOfSet;
  llvm::StringSet<> setsOneByOne;
  for (auto set :
       lookup.platformOp.getOperatorSets().getAsRange<OperatorSetAttr>())
    if (set.getOneByOne())
      setsOneByOne.insert(set.getName().getValue());
    else
      optionsOfSet[set.getName().getValue()] =
          set.getOptions() ? set.getOptions()
                           : lookup.platformOp.getDefaultOptions();

  SmallVector<BindingOp> bindings, stockBindings;
  for (auto binding : module.getOps<BindingOp>())
    if (binding.getPlatformAttr() == name)
      bindings.push_back(binding);
    else if (!binding.getPlatformAttr())
      stockBindings.push_back(binding);
  if (bindings.empty())
    bindings = std::move(stockBindings);
  for (BindingOp binding : bindings)
    for (auto entry : binding.getEntries().getAsRange<OpsOfAttr>()) {
      if (setsOneByOne.contains(entry.getSet().getValue())) {
        for (Attribute pattern : entry.getPatterns())
          if (auto subgraph = dyn_cast<SubgraphAttr>(pattern))
            lookup.subgraphsOneByOne.insert(subgraph.getName().getValue());
        continue;
      }
      // Only a stock binding names sets that the platform does not have.
      QCOptionsAttr options = optionsOfSet.lookup(entry.getSet().getValue());
      if (!options)
        continue;
      for (Attribute pattern : entry.getPatterns()) {
        Claim claim{pattern, entry, options, binding};
        if (auto subgraph = dyn_cast<SubgraphAttr>(pattern)) {
          lookup.claimsBySubgraph[subgraph.getName().getValue()].push_back(
              claim);
          continue;
        }
        auto op = cast<OpPatternAttr>(pattern);
        Claims &claims = lookup.claimsByOp[op.getOpName().getValue()];
        (op.getWhere() ? claims.filtered : claims.plain).push_back(claim);
      }
    }
  if (bindings.empty())
    return emitError(lookup.platformOp.getLoc())
           << "platform " << name
           << " has no tpc.binding in the module; run tpc-attach-target, or "
              "add "
              "a tpc.binding for "
           << name;

  for (const SubgraphForm &form : listSubgraphs(module.getContext())) {
    auto variants = compileSubgraph(form, module.getLoc());
    if (failed(variants))
      return failure();
    for (auto &variant : *variants)
      lookup.subgraphsByRoot[variant->steps.back().opName].push_back(variant);
  }
  return lookup;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// Returns the first of several claims on an op, once they are known not to
/// contradict each other.
static FailureOr<const TpcLookup::Claim *>
choose(Operation *op, StringRef what,
       ArrayRef<const TpcLookup::Claim *> claims) {
  const TpcLookup::Claim *first = claims.front();
  for (const TpcLookup::Claim *other : claims.drop_front()) {
    if (other->options == first->options)
      continue;
    // U1
    InFlightDiagnostic diagnostic =
        op->emitError() << "'" << what << "' matches operator sets "
                        << first->entry.getSet() << " and "
                        << other->entry.getSet() << " with different options";
    for (const TpcLookup::Claim *claim : {first, other})
      diagnostic.attachNote(claim->binding->getLoc())
          << "set " << claim->entry.getSet() << " is bound here to "
          << claim->pattern;
    return diagnostic;
  }
  return first;
}

/// Returns the known bounds of the result: those of the description, and those
/// that an attribute of the op states.
static std::pair<std::optional<double>, std::optional<double>>
getRange(OpInfoAttr info, Operation *root) {
  std::pair<std::optional<double>, std::optional<double>> range;
  if (info)
    range = {info.getRangeMin(), info.getRangeMax()};
  if (root->getName().getStringRef() != "tosa.clamp")
    return range;
  // Only a lower bound of zero or more is a promise about the grid (unsigned).
  // The upper one is left open on purpose: two known bounds replace the
  // threshold search, and few activations come near the 6 of a ReLU6.
  if (auto lower = root->getAttrOfType<FloatAttr>("min_val");
      lower && lower.getValueAsDouble() >= 0)
    range.first = lower.getValueAsDouble();
  return range;
}

/// Returns the operand numbers of the kernel op's weights by generic name.
static DictionaryAttr getWeights(const TpcLookup::Claim *claim,
                                 OpInfoAttr kernelInfo, MLIRContext *context) {
  if (claim && claim->entry.getWeights())
    return claim->entry.getWeights();
  if (!kernelInfo || !kernelInfo.getKernel())
    return {};
  Builder builder(context);
  SmallVector<NamedAttribute> weights;
  weights.push_back(builder.getNamedAttr(
      kKernelWeight, builder.getI64IntegerAttr(*kernelInfo.getKernel())));
  if (kernelInfo.getBias())
    weights.push_back(builder.getNamedAttr(
        kBiasWeight, builder.getI64IntegerAttr(*kernelInfo.getBias())));
  return builder.getDictionaryAttr(weights);
}

static bool belongsToNode(Operation &op) {
  if (op.hasTrait<OpTrait::ConstantLike>() || isa<QuantizeOp>(op))
    return false;
  return llvm::any_of(op.getResultTypes(),
                      [](Type type) { return isa<TensorType>(type); });
}

namespace {
/// A place where a subgraph fits.
struct Candidate {
  StringRef name;
  SmallVector<Operation *> ops;
  Operation *kernelOp;
};
} // namespace

LogicalResult TpcLookup::fill(Node &node, StringRef what,
                              ArrayRef<const Claim *> claims) {
  const Claim *claim = nullptr;
  if (!claims.empty()) {
    FailureOr<const Claim *> chosen = choose(node.root(), what, claims);
    if (failed(chosen))
      return failure();
    claim = *chosen;
  }
  node.operatorSet = claim ? claim->entry.getSet() : StringAttr();
  if (claim)
    node.pattern = claim->pattern;
  node.options = claim ? claim->options : platformOp.getDefaultOptions();
  node.info = getOpInfo(what);
  node.weights =
      getWeights(claim, getOpInfo(node.kernelOp->getName().getStringRef()),
                 platformOp->getContext());
  node.range = getRange(node.info, node.root());
  return success();
}

/// Returns the operator set that the op is tagged with; null without a tag.
static StringAttr getTag(Operation *op) {
  return op->getAttrOfType<StringAttr>(TpcDialect::kSetAttrName);
}

bool mct::tpc::matches(Attribute pattern, const Node &node) {
  // The point of an argument has no ops.
  if (node.ops.empty())
    return false;
  auto ofNode = dyn_cast_or_null<SubgraphAttr>(node.pattern);
  if (auto subgraph = dyn_cast<SubgraphAttr>(pattern))
    return ofNode && ofNode.getName() == subgraph.getName();
  auto op = cast<OpPatternAttr>(pattern);
  return !ofNode && !getTag(node.root()) &&
         node.root()->getName().getStringRef() == op.getOpName().getValue() &&
         (!op.getWhere() || matches(op.getWhere(), node.root()));
}

LogicalResult TpcLookup::fillTagged(Node &node, StringAttr tag) {
  Operation *op = node.root();
  if (!platformOp.lookupOperatorSet(tag.getValue())) {
    InFlightDiagnostic diagnostic =
        op->emitError() << "is tagged with operator set " << tag
                        << ", which the target does not define; correct '"
                        << TpcDialect::kSetAttrName << "' or remove it";
    diagnostic.attachNote(platformOp.getLoc())
        << "sets of '@" << platformOp.getSymName() << "': "
        << llvm::join(
               llvm::map_range(
                   platformOp.getOperatorSets().getAsRange<OperatorSetAttr>(),
                   [](OperatorSetAttr set) {
                     return set.getName().getValue();
                   }),
               ", ");
    return diagnostic;
  }
  StringRef name = op->getName().getStringRef();
  node.operatorSet = tag;
  node.options = platformOp.getOptionsOf(tag.getValue());
  node.info = getOpInfo(name);
  // Names of the op's weights in the binding, if it binds the op to that set.
  const Claim *ofThisSet = nullptr;
  if (auto it = claimsByOp.find(name); it != claimsByOp.end())
    for (const Claim &claim :
         llvm::concat<const Claim>(it->second.filtered, it->second.plain))
      if (!ofThisSet && claim.entry.getSet() == tag)
        ofThisSet = &claim;
  node.weights = getWeights(ofThisSet, node.info, platformOp->getContext());
  node.range = getRange(node.info, op);
  return success();
}

FailureOr<SmallVector<Node>> TpcLookup::match(Block &block) {
  // By size, largest first; among equally large ones the first in the program
  // wins, then the first in the table.
  std::map<size_t, std::vector<Candidate>, std::greater<>> candidates;
  for (Operation &op : block) {
    auto it = subgraphsByRoot.find(op.getName().getStringRef());
    if (it == subgraphsByRoot.end())
      continue;
    for (const auto &subgraph : it->second) {
      if (subgraphsOneByOne.contains(subgraph->name))
        continue;
      // A single op that no set claims by this name is classified by its form.
      if (subgraph->steps.size() == 1 &&
          !claimsBySubgraph.contains(subgraph->name))
        continue;
      if (std::optional<CompiledSubgraph::Match> match =
              subgraph->match(&op, &visited);
          match && llvm::none_of(match->ops, getTag))
        candidates[match->ops.size()].push_back(
            {subgraph->name, match->ops, match->kernelOp});
    }
  }
  std::vector<FormulaMatch> formulas = findFormulas(block, &visited);
  for (const FormulaMatch &match : formulas)
    if (!subgraphsOneByOne.contains(match.name) &&
        llvm::none_of(match.ops, getTag))
      candidates[match.ops.size()].push_back(
          {match.name, match.ops, match.ops.back()});
  llvm::DenseMap<Operation *, const Candidate *> claimed;
  for (const auto &[size, ofThisSize] : candidates)
    for (const Candidate &candidate : ofThisSize)
      if (llvm::none_of(candidate.ops,
                        [&](Operation *op) { return claimed.contains(op); }))
        for (Operation *op : candidate.ops)
          claimed[op] = &candidate;

  SmallVector<Node> nodes;
  for (Operation &op : block) {
    if (!belongsToNode(op))
      continue;
    Node node;
    SmallVector<const Claim *> claims;
    if (const Candidate *candidate = claimed.lookup(&op)) {
      if (candidate->ops.back() != &op)
        continue;
      node.ops = candidate->ops;
      node.kernelOp = candidate->kernelOp;
      // The lines of a form follow their operands, but two independent ones may
      // come the other way in a program.
      llvm::sort(node.ops, [](Operation *lhs, Operation *rhs) {
        return lhs->isBeforeInBlock(rhs);
      });
      node.pattern = SubgraphAttr::get(
          platformOp->getContext(),
          StringAttr::get(platformOp->getContext(), candidate->name));
      if (auto it = claimsBySubgraph.find(candidate->name);
          it != claimsBySubgraph.end())
        for (const Claim &claim : it->second)
          claims.push_back(&claim);
      if (failed(fill(node, (kSubgraphPrefix + candidate->name).str(), claims)))
        return failure();
      nodes.push_back(std::move(node));
      continue;
    }
    node.ops = {&op};
    node.kernelOp = &op;
    if (StringAttr tag = getTag(&op)) {
      if (failed(fillTagged(node, tag)))
        return failure();
      nodes.push_back(std::move(node));
      continue;
    }
    StringRef name = op.getName().getStringRef();
    if (auto it = claimsByOp.find(name); it != claimsByOp.end()) {
      for (const Claim &claim : it->second.filtered)
        if (matches(cast<OpPatternAttr>(claim.pattern).getWhere(), &op))
          claims.push_back(&claim);
      if (claims.empty())
        for (const Claim &claim : it->second.plain)
          claims.push_back(&claim);
    }
    if (failed(fill(node, name, claims)))
      return failure();
    nodes.push_back(std::move(node));
  }
  return nodes;
}
