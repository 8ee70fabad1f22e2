// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/EntryFunction.h"
#include "mct/Planning/Overrides.h"
#include "mct/Transforms/Candidates.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcBudget.h"
#include "tpc_dialect/IR/TpcRejections.h"
#include "tpc_dialect/Lookup/TpcLookup.h"

namespace mct {
#define GEN_PASS_DEF_CHOOSECANDIDATESPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

static int64_t getBits(Attribute config) {
  if (auto activation = dyn_cast_or_null<tpc::OpQuantConfigAttr>(config))
    return activation.getActBits();
  auto weight = dyn_cast_or_null<tpc::AttrQuantConfigAttr>(config);
  return weight ? weight.getBits() : 0;
}

static Wishes getWishes(const OperatorPoints &of, const tpc::Node &node,
                        Overrides &overrides) {
  return overrides.getWishes(
      of.name, node, static_cast<bool>(of.getResultPoint()),
      [&](StringRef name) {
        return llvm::any_of(of.points, [&](tpc::QuantizeOp point) {
          return point.isWeight() &&
                 (name.empty() || getGenericWeightName(point) == name);
        });
      });
}

/// Returns the number of those properties compared by MCT that are equal in two
/// alternatives.
static int getSimilarity(const OperatorPoints &of, int64_t lhs, int64_t rhs) {
  return llvm::count_if(of.points, [&](tpc::QuantizeOp point) {
    bool counts =
        point.isActivation() || point.getWeight() == tpc::kKernelWeight;
    return counts && getBits(OperatorPoints::getConfig(point, lhs)) ==
                         getBits(OperatorPoints::getConfig(point, rhs));
  });
}

static Attribute getMethod(Attribute config) {
  if (auto activation = dyn_cast_or_null<tpc::OpQuantConfigAttr>(config))
    return activation.getActMethod();
  auto weight = dyn_cast_or_null<tpc::AttrQuantConfigAttr>(config);
  return weight ? weight.getMethod() : Attribute();
}

/// Keeps only the alternatives in which the point has the method that a rule
/// requests; fails if there are none.
static LogicalResult keepMethod(const OperatorPoints &of, tpc::QuantizeOp point,
                                const Wishes &wishes, StringRef name,
                                SmallVectorImpl<int64_t> &remaining) {
  Wishes::MethodWish wish =
      point.isActivation() ? wishes.activationMethod
                           : wishes.methodOfWeight(getGenericWeightName(point));
  if (!wish)
    return success();
  auto [method, rule] = *wish;
  auto fits = [&, method = method](int64_t index) {
    return tpc::MethodAttr::getKnown(
               getMethod(OperatorPoints::getConfig(point, index))) == method;
  };
  if (llvm::any_of(remaining, fits)) {
    llvm::erase_if(remaining, std::not_fn(fits));
    return success();
  }
  if (rule->appliesWhereOffered())
    return success();
  InFlightDiagnostic diagnostic =
      emitError(rule->loc)
      << name << " cannot get the method '"
      << tpc::stringifyQuantizationMethod(method)
      << "' now that it has a point; insert points with this rule";
  diagnostic.attachNote(point.getLoc()) << "the point is here";
  return diagnostic;
}

/// Returns the alternative that satisfies the rules and differs least from the
/// present one.
static FailureOr<int64_t> findAlternative(const OperatorPoints &of,
                                          const Wishes &wishes) {
  int64_t chosen = of.getChosen();
  auto remaining = llvm::to_vector(llvm::seq<int64_t>(0, of.numAlternatives()));
  // In the same order as for a new module: first the result, then each weight.
  SmallVector<tpc::QuantizeOp> points;
  for (bool isWeight : {false, true})
    llvm::copy_if(
        of.points, std::back_inserter(points),
        [&](tpc::QuantizeOp point) { return point.isWeight() == isWeight; });
  for (tpc::QuantizeOp point : points) {
    Wishes::Wish wish = point.isActivation()
                            ? wishes.activation
                            : wishes.ofWeight(getGenericWeightName(point));
    std::string name =
        point.isWeight()
            ? "'" + point.getWeight()->str() + "' of '" + of.name.str() + "'"
            : "the result of '" + of.name.str() + "'";
    if (failed(keepMethod(of, point, wishes, name, remaining)))
      return failure();
    if (!llvm::is_contained(remaining, chosen))
      chosen = remaining.front();
    if (!wish)
      continue;
    auto [bits, rule] = *wish;
    if (bits == 0) {
      InFlightDiagnostic diagnostic =
          emitError(rule->loc)
          << name << " has a point, which cannot become float; insert points "
          << "with this rule, or run the network without its points";
      diagnostic.attachNote(point.getLoc()) << "the point is here";
      return diagnostic;
    }
    auto getBitsOf = [&](int64_t index) {
      return getBits(OperatorPoints::getConfig(point, index));
    };
    auto fits = [&, bits = bits](int64_t index) {
      return getBitsOf(index) == bits;
    };
    OverrideRule::WidthUse &use = rule->getUse(point.isWeight());
    bool isOffered = llvm::any_of(remaining, fits);
    if (!isOffered && rule->appliesWhereOffered()) {
      use.offered.insert_range(llvm::map_range(remaining, getBitsOf));
      continue;
    }
    if (!isOffered) {
      InFlightDiagnostic diagnostic =
          emitError(rule->loc)
          << name << " cannot have " << bits << " bits; its points offer "
          << listWidths(llvm::map_to_vector(remaining, getBitsOf)) << " here";
      diagnostic.attachNote(point.getLoc()) << "the point is here";
      return diagnostic;
    }
    ++use.numTaken;
    llvm::erase_if(remaining, [&](int64_t index) { return !fits(index); });
    if (!fits(chosen))
      chosen = *llvm::max_element(remaining, [&](int64_t lhs, int64_t rhs) {
        return getSimilarity(of, lhs, chosen) < getSimilarity(of, rhs, chosen);
      });
  }
  return chosen;
}

/// Describes the points of an operator in one of its alternatives.
static std::string describe(const OperatorPoints &of, int64_t index) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << index << ":";
  for (tpc::QuantizeOp point : of.points)
    os << ' '
       << (point.isActivation() ? StringRef("activation") : *point.getWeight())
       << '=' << getBits(OperatorPoints::getConfig(point, index));
  return text;
}

namespace {
struct ChooseCandidatesPass
    : public EntryFunctionPass<
          mct::impl::ChooseCandidatesPassBase<ChooseCandidatesPass>> {
  using EntryFunctionPass::EntryFunctionPass;

  LogicalResult runOn(func::FuncOp entry) override {
    const KernelOps &kernels = getAnalysis<KernelOps>();
    markAnalysesPreserved<KernelOps>();
    FailureOr<Overrides> rules =
        Overrides::read(overrides, getOperation().getLoc());
    if (failed(rules))
      return failure();
    std::vector<OperatorPoints> operators = findOperatorPoints(entry);
    SmallVector<int64_t> indices;
    if (failed(applyRules(entry, operators, *rules, indices)) ||
        failed(applyChoices(entry, operators, indices)))
      return failure();
    for (auto [of, index] : llvm::zip(operators, indices)) {
      // It is unknown whether the new choice keeps to the budget, and so is the
      // benefit of a correction now.
      if (index != of.getChosen()) {
        entry->removeAttr(tpc::kBudgetAttrName);
        entry->removeAttr(tpc::kRejectedCorrectionsAttrName);
      }
      if (failed(chooseCandidate(of, index, kernels)))
        return failure();
    }
    return success();
  }

private:
  LogicalResult applyRules(func::FuncOp entry,
                           ArrayRef<OperatorPoints> operators, Overrides &rules,
                           SmallVector<int64_t> &indices);
  LogicalResult applyChoices(func::FuncOp entry,
                             ArrayRef<OperatorPoints> operators,
                             MutableArrayRef<int64_t> indices);
};
} // namespace

LogicalResult ChooseCandidatesPass::applyRules(
    func::FuncOp entry, ArrayRef<OperatorPoints> operators, Overrides &rules,
    SmallVector<int64_t> &indices) {
  // Rules by name do not depend on the target's names of ops.
  bool needsNodes = llvm::any_of(rules.rules, [](const OverrideRule &rule) {
    return rule.selector != OverrideRule::Selector::Name &&
           rule.selector != OverrideRule::Selector::All;
  });
  // The points of tensors that stay float were removed because of these rules.
  for (OverrideRule &rule : rules.rules)
    rule.isOptional |= rule.asksForFloatAlone();
  rules.findDecoding(entry.getBody().front(), getAnalysis<KernelOps>());
  SmallVector<tpc::Node> nodes;
  llvm::DenseMap<Operation *, size_t> nodeIndices;
  if (needsNodes) {
    FailureOr<tpc::TpcLookup> lookup = tpc::TpcLookup::create(getOperation());
    if (failed(lookup))
      return failure();
    for (Block &block : entry.getBody()) {
      FailureOr<SmallVector<tpc::Node>> matched = lookup->match(block);
      if (failed(matched))
        return failure();
      for (tpc::Node &node : *matched) {
        for (Operation *op : node.ops)
          nodeIndices[op] = nodes.size();
        nodes.push_back(std::move(node));
      }
    }
  }
  // Prefer the user of a weight: corrections may have inserted ops after the
  // result.
  auto getNode = [&](const OperatorPoints &of) -> tpc::Node {
    auto find = [&](Operation *op) -> const tpc::Node * {
      auto found = nodeIndices.find(op);
      return found == nodeIndices.end() ? nullptr : &nodes[found->second];
    };
    for (tpc::QuantizeOp point : of.points)
      if (point.isWeight())
        for (Operation *user : point->getUsers())
          if (const tpc::Node *node = find(user))
            return *node;
    if (tpc::QuantizeOp point = of.getResultPoint())
      if (const tpc::Node *node = find(point.getInput().getDefiningOp()))
        return *node;
    return {};
  };
  for (const OperatorPoints &of : operators) {
    FailureOr<int64_t> index =
        findAlternative(of, getWishes(of, getNode(of), rules));
    if (failed(index))
      return failure();
    indices.push_back(*index);
  }
  return rules.checkUsed();
}

LogicalResult
ChooseCandidatesPass::applyChoices(func::FuncOp entry,
                                   ArrayRef<OperatorPoints> operators,
                                   MutableArrayRef<int64_t> indices) {
  for (StringRef choice : choices) {
    auto [name, number] = choice.rsplit('=');
    int64_t index = 0;
    if (name.empty() || number.getAsInteger(10, index))
      return entry.emitError()
             << "cannot read the choice '" << choice
             << "'; expected NAME=INDEX, for example 'conv1=1'";
    const auto *found =
        llvm::find_if(operators, [&, name = name](const OperatorPoints &of) {
          return of.name.getValue() == name;
        });
    if (found == operators.end()) {
      InFlightDiagnostic diagnostic = entry.emitError()
                                      << "there is no operator '" << name
                                      << "' with points; operators that have "
                                         "alternatives are: ";
      bool any = false;
      for (const OperatorPoints &of : operators)
        if (of.numAlternatives() > 1) {
          diagnostic << (any ? ", " : "") << of.name.getValue();
          any = true;
        }
      if (!any)
        diagnostic << "none, insert points with a target that has some";
      return diagnostic;
    }
    tpc::QuantizeOp point = found->points.front();
    if (index < 0 || index >= found->numAlternatives()) {
      // Points of an earlier version have independent lists of candidates.
      bool isOld = llvm::any_of(found->points, [](tpc::QuantizeOp each) {
        return each.getCandidatesAttr() && !each.getAlternatives();
      });
      InFlightDiagnostic diagnostic =
          entry.emitError() << "'" << name << "' has no alternative " << index;
      if (isOld)
        diagnostic << ": its points do not say which of their candidates go "
                      "together; insert points again";
      else
        for (int64_t each = 0; each != found->numAlternatives(); ++each)
          diagnostic << (each == 0 ? "; it has " : ", ")
                     << describe(*found, each);
      diagnostic.attachNote(point.getLoc()) << "a point of it is here";
      return diagnostic;
    }
    indices[found - operators.begin()] = index;
  }
  return success();
}
