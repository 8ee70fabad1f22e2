// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/QuantizationPlan.h"
#include "mct/Analysis/ConstantEvaluator.h"
#include "mct/Analysis/Constants.h"
#include "mct/Analysis/Names.h"
#include "mct/Analysis/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mct;

std::optional<size_t> QuantizationPlan::nodeOf(Operation *op) const {
  auto found = owner.find(op);
  return found == owner.end() ? std::nullopt
                              : std::optional<size_t>(found->second);
}

SmallVector<StringAttr>
QuantizationPlan::getNames(const FusedGroup &group) const {
  return llvm::map_to_vector(group.nodes,
                             [&](size_t index) { return nodes[index].name; });
}

/// The name under which a node's result is known. Where only reshapes follow
/// the kernel op, the values are the kernel op's, and its name says more than
/// theirs.
static StringAttr getNodeName(const tpc::Node &node) {
  bool onlyReshapes = true;
  for (Operation *op : llvm::reverse(node.ops)) {
    if (op == node.kernelOp)
      break;
    onlyReshapes &= isa<tosa::ReshapeOp>(op);
  }
  return getName((onlyReshapes ? node.kernelOp : node.root())->getLoc());
}

static bool isQuantizable(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

static bool isPreserving(const tpc::Node &node) {
  return node.options.getConfigs().front().getPreserving();
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
        if (isPreserving(nodes[*reader].node))
          pending.push_back(*reader);
  }
  return found.takeVector();
}

//===----------------------------------------------------------------------===//
// Fusing
//===----------------------------------------------------------------------===//

namespace {
/// A fusing pattern with the operator-set names that fit each position.
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

void QuantizationPlan::fuse(tpc::PlatformOp platform) {
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
    // Nodes of other chains are followed too, to see what the target would
    // have done if they were free.
    SmallVector<size_t> chain = {start};
    while (chain.size() < longest) {
      std::optional<size_t> next = onlyConsumer(chain.back());
      if (!next)
        break;
      chain.push_back(*next);
    }
    size_t numFree = llvm::find_if(chain,
                                   [&](size_t index) {
                                     return nodes[index].group.has_value();
                                   }) -
                     chain.begin();
    const FusingPattern *best = nullptr;
    size_t wanted = 0;
    for (const FusingPattern &pattern : patterns) {
      size_t size = pattern.positions.size();
      if (!matches(chain, pattern))
        continue;
      wanted = std::max(wanted, size);
      if (size <= numFree && (!best || size > best->positions.size()))
        best = &pattern;
    }
    if (wanted > numFree)
      nodes[start].contested = chain[numFree];
    if (!best)
      continue;
    chain.truncate(best->positions.size());
    size_t end = chain.front();
    for (size_t index : chain) {
      nodes[index].group = groups.size();
      if (!isPreserving(nodes[index].node))
        end = index;
    }
    groups.push_back({std::move(chain), best->attribute, end});
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

/// Width of the kernel in one alternative, 0 without one.
static int64_t getKernelBits(const tpc::Node &node,
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
  // What stands behind a preserving node limits its producer as well. Readers
  // come after what they read, so that one sweep from the end sees all.
  struct Limits {
    std::optional<int64_t> all, base;
  };
  SmallVector<Limits> limits(nodes.size());
  for (size_t index = nodes.size(); index-- != 0;)
    for (Operation *user : nodes[index].node.result().getUsers()) {
      std::optional<size_t> reader = nodeOf(user);
      if (!reader)
        continue;
      const tpc::Node &node = nodes[*reader].node;
      lower(limits[index].all, getInputLimit(node));
      lower(limits[index].base, node.options.getBaseConfig().getMaxInputBits());
      if (isPreserving(node)) {
        lower(limits[index].all, limits[*reader].all);
        lower(limits[index].base, limits[*reader].base);
      }
    }

  for (size_t index = 0; index != nodes.size(); ++index) {
    PlannedNode &planned = nodes[index];
    const tpc::Node &node = planned.node;
    std::optional<int64_t> limit = limits[index].all;
    std::optional<int64_t> baseLimit = limits[index].base;
    // Descending by the widths, ascending by the place among the options.
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
      SmallVector<size_t> readers = consumers(index);
      if (llvm::none_of(planned.candidates, fits)) {
        // U2
        InFlightDiagnostic diagnostic =
            node.root()->emitOpError()
            << "has no configuration that fits its consumers (at most "
            << *limit << "-bit inputs accepted)";
        for (size_t reader : readers)
          if (getInputLimit(nodes[reader].node) == limit)
            diagnostic.attachNote(nodes[reader].node.root()->getLoc())
                << "read here";
        return diagnostic;
      }
      for (tpc::OpQuantConfigAttr config : planned.candidates) {
        if (fits(config))
          continue;
        DroppedCandidate &dropped = planned.dropped.emplace_back();
        dropped.config = config;
        for (size_t reader : readers)
          if (std::optional<int64_t> own = getInputLimit(nodes[reader].node);
              own && *own < config.getActBits())
            dropped.readers.push_back(reader);
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

/// Whether two alternatives quantize a result in the same way.
static bool haveEqualActivation(tpc::OpQuantConfigAttr lhs,
                                tpc::OpQuantConfigAttr rhs) {
  return lhs.getActMethod() == rhs.getActMethod() &&
         lhs.getActBits() == rhs.getActBits() &&
         lhs.getSignedness() == rhs.getSignedness();
}

/// Drops alternatives that quantize nothing in another way than an earlier one.
static void removeRepetitions(PlannedNode &planned) {
  // The result of a fused chain's inner node has the pattern's quantizer or
  // none, whatever the node's own alternatives say.
  bool ownActivation =
      planned.cover == ResultCover::Point && !planned.activation;
  auto haveEqualEffect = [&](tpc::OpQuantConfigAttr lhs,
                             tpc::OpQuantConfigAttr rhs) {
    return (!ownActivation || haveEqualActivation(lhs, rhs)) &&
           llvm::all_of(planned.weights, [&](const PlannedWeight &weight) {
             return !weight.whyFloat.empty() ||
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

//===----------------------------------------------------------------------===//
// Overrides
//===----------------------------------------------------------------------===//

static bool selects(const OverrideRule &rule, const PlannedNode &planned) {
  const tpc::Node &node = planned.node;
  switch (rule.selector) {
  case OverrideRule::Selector::Name:
    return planned.name && rule.pattern.match(planned.name.getValue());
  case OverrideRule::Selector::Op:
    return llvm::any_of(node.ops, [&](Operation *op) {
      return rule.pattern.match(op->getName().getStringRef());
    });
  case OverrideRule::Selector::Set:
    return node.operatorSet && rule.pattern.match(node.operatorSet.getValue());
  }
  llvm_unreachable("unknown selector");
}

/// `FILE:LINE`.
static std::string describe(FileLineColLoc loc) {
  return (loc.getFilename().getValue() + ":" + Twine(loc.getLine())).str();
}

static std::string getOverrideReason(const OverrideRule &rule) {
  return "the override of " + describe(rule.loc) + " says so";
}

/// "8, 4 and 2", each width once.
static std::string listWidths(ArrayRef<int64_t> widths) {
  llvm::SmallSetVector<int64_t, 4> distinct(widths.begin(), widths.end());
  std::string text;
  for (auto [index, width] : llvm::enumerate(distinct)) {
    if (index > 0)
      text += index + 1 == distinct.size() ? " and " : ", ";
    text += std::to_string(width);
  }
  return text;
}

QuantizationPlan::Wishes
QuantizationPlan::getWishes(const PlannedNode &planned,
                            Overrides &overrides) const {
  Wishes wishes;
  auto hasWeight = [&](StringRef name) {
    return llvm::any_of(planned.weights, [&](const PlannedWeight &weight) {
      return weight.whyFloat.empty() &&
             (name.empty() || weight.genericName == name);
    });
  };
  for (OverrideRule &rule : overrides.rules) {
    if (!selects(rule, planned))
      continue;
    ++rule.numSelected;
    bool isAffected = false;
    if (rule.activationBits && planned.cover == ResultCover::Point) {
      wishes.activation = {*rule.activationBits, &rule};
      isAffected = true;
    }
    if (rule.weightBits) {
      wishes.weights = {*rule.weightBits, &rule};
      wishes.namedWeights.clear();
      isAffected |= hasWeight("");
    }
    for (const auto &[name, bits] : rule.namedWeightBits) {
      wishes.namedWeights[name] = {bits, &rule};
      isAffected |= hasWeight(name);
    }
    rule.numAffected += isAffected;
  }
  return wishes;
}

/// Removes the candidates that do not fit, and finds the base among the rest.
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
    planned.whyFloat = getOverrideReason(*rule);
    return success();
  }
  SmallVector<tpc::OpQuantConfigAttr> offered = planned.candidates;
  if (planned.activation)
    offered = {planned.activation};
  auto fits = [bits = bits](tpc::OpQuantConfigAttr config) {
    return config.getActBits() == bits;
  };
  if (llvm::any_of(offered, fits)) {
    if (!planned.activation)
      keepOnly(planned, *rule, fits);
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
      for (size_t reader : dropped.readers)
        diagnostic.attachNote(nodes[reader].node.root()->getLoc())
            << "this consumer reads at most "
            << *getInputLimit(nodes[reader].node) << " bits";
  return diagnostic;
}

LogicalResult QuantizationPlan::overrideWeights(PlannedNode &planned,
                                                Wishes &wishes) {
  for (PlannedWeight &weight : planned.weights) {
    std::optional<std::pair<int64_t, OverrideRule *>> wish = wishes.weights;
    if (auto named = wishes.namedWeights.find(weight.genericName.getValue());
        named != wishes.namedWeights.end())
      wish = named->second;
    if (wish && wish->first == 0 && weight.isMissed) {
      weight.isMissed = false;
      weight.whyFloat = getOverrideReason(*wish->second);
    }
    if (!wish || !weight.whyFloat.empty())
      continue;
    auto [bits, rule] = *wish;
    if (bits == 0) {
      weight.whyFloat = getOverrideReason(*rule);
      continue;
    }
    auto getBits = [&](tpc::OpQuantConfigAttr config) {
      return config.getWeightConfig(weight.genericName).getBits();
    };
    auto fits = [&, bits = bits](tpc::OpQuantConfigAttr config) {
      return getBits(config) == bits;
    };
    if (llvm::none_of(planned.candidates, fits)) {
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
    keepOnly(planned, *rule, fits);
  }
  return success();
}

LogicalResult QuantizationPlan::overrideInputs(Overrides &overrides) {
  for (PlannedInput &input : inputs) {
    std::pair<int64_t, const OverrideRule *> wish = {0, nullptr};
    for (OverrideRule &rule : overrides.rules) {
      if (rule.selector != OverrideRule::Selector::Name ||
          !rule.pattern.match(input.name.getValue()))
        continue;
      ++rule.numSelected;
      if (!rule.activationBits || !input.whyFloat.empty())
        continue;
      ++rule.numAffected;
      wish = {*rule.activationBits, &rule};
    }
    auto [bits, rule] = wish;
    if (!rule || bits == input.config.getActBits())
      continue;
    if (bits != 0)
      return emitError(rule->loc)
             << "the input '" << input.name.getValue() << "' cannot have "
             << bits << " bits; the target's default has "
             << input.config.getActBits();
    input.whyFloat = getOverrideReason(*rule);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Float values that the node reads, each once, constants apart.
static SmallVector<Value> getFloatInputs(const tpc::Node &node) {
  llvm::SmallSetVector<Value, 4> inputs;
  for (Operation *op : node.ops)
    for (Value operand : op->getOperands())
      if (isQuantizable(operand) && !matchPattern(operand, m_Constant()) &&
          !llvm::is_contained(node.ops, operand.getDefiningOp()))
        inputs.insert(operand);
  return inputs.takeVector();
}

void QuantizationPlan::coverPreserved(PlannedNode &planned) {
  SmallVector<Value> read = getFloatInputs(planned.node);
  if (read.size() != 1) {
    planned.whyFloat = "it is preserving, which needs one float input, and "
                       "reads " +
                       std::to_string(read.size());
    return;
  }
  planned.coveredBy = coverOf.lookup(read.front());
  if (!planned.coveredBy) {
    planned.whyFloat = "it is preserving, and what it reads is not quantized";
    return;
  }
  planned.cover = ResultCover::Preserved;
  coverOf[planned.node.result()] = planned.coveredBy;
}

/// Why what holds a mask is not quantized.
static std::string describe(Mask mask) {
  return mask == Mask::Infinite
             ? "it holds a mask, and no code stands for infinity"
             : "it holds a mask that the softmax behind it reads";
}

void QuantizationPlan::coverResult(PlannedNode &planned, size_t index) {
  const tpc::Node &node = planned.node;
  if (node.info && !node.info.getQuantize()) {
    planned.whyFloat = "tpc.framework says 'quantize = false' of " +
                       node.info.getOpName().str();
    return;
  }
  if (!isQuantizable(node.result())) {
    llvm::raw_string_ostream(planned.whyFloat)
        << "its type is " << node.result().getType()
        << ", and only ranked tensors of f32 are quantized";
    return;
  }
  if (auto mask = masks.find(node.result()); mask != masks.end()) {
    planned.whyFloat = describe(mask->second);
    return;
  }
  if (planned.group && index < groups[*planned.group].end) {
    tpc::OpQuantConfigAttr inner = groups[*planned.group].pattern.getConfig();
    planned.cover = ResultCover::Fused;
    if (inner && inner.getActEnabled()) {
      planned.cover = ResultCover::Point;
      planned.activation = inner;
    }
    return;
  }
  if (planned.base.getPreserving())
    return coverPreserved(planned);
  if (planned.base.getActEnabled()) {
    planned.cover = ResultCover::Point;
    return;
  }
  planned.whyFloat = node.operatorSet
                         ? "operator set '" + node.operatorSet.str() +
                               "' says 'act_enabled = false'"
                         : "no operator set matches, and the default says "
                           "'act_enabled = false'";
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Axes along which a weight has its own parameters, null for none.
static DenseI64ArrayAttr getChannelAxes(const tpc::TpcLookup &lookup,
                                        const tpc::Node &node,
                                        const PlannedWeight &weight) {
  MLIRContext *context = node.kernelOp->getContext();
  tpc::OpInfoAttr info =
      lookup.getOpInfo(node.kernelOp->getName().getStringRef());
  if (!weight.config.getPerChannel())
    return {};
  if (info && info.getKernel() == int64_t(weight.operand->getOperandNumber()))
    return info.getOutAxes().empty()
               ? DenseI64ArrayAttr()
               : DenseI64ArrayAttr::get(context, info.getOutAxes());
  if (weight.genericName != tpc::kPositionalWeight)
    return {};
  // A constant has the channels of the result that it takes part in, unless it
  // is broadcast along them.
  auto type = cast<RankedTensorType>(weight.operand->get().getType());
  auto resultType = dyn_cast<RankedTensorType>(node.result().getType());
  if (!resultType || resultType.getRank() != type.getRank() ||
      type.getRank() == 0)
    return {};
  int64_t axis = info && info.getResultAxis() ? *info.getResultAxis() : -1;
  if (axis < 0)
    axis += type.getRank();
  if (axis < 0 || axis >= type.getRank() || type.getDimSize(axis) <= 1)
    return {};
  return DenseI64ArrayAttr::get(context, axis);
}

/// Why a weight can have no quantizer; empty when it can.
static std::string whyNotQuantizable(Value value) {
  std::string reason;
  llvm::raw_string_ostream os(reason);
  if (matchPattern(value, m_Constant())) {
    std::optional<ConstantTensor> tensor = ConstantTensor::get(value);
    if (!isQuantizable(value))
      os << "its elements are " << getElementTypeOrSelf(value.getType())
         << ", not f32";
    else if (tensor && tensor->isSplat() && !ConstantFloats::exists(value))
      os << "it is one number " << tensor->getNumElements() << " times";
    return reason;
  }
  Operation *maker = value.getDefiningOp();
  if (!maker) {
    os << "it is no constant but an argument";
    return reason;
  }
  os << "it is no constant but the result of '" << maker->getName() << "'";
  if (ConstantEvaluator().evaluate(value))
    os << ", which mct-fold-constants evaluates";
  return reason;
}

/// The constant operands of a node that the target speaks of.
static SmallVector<PlannedWeight> findWeights(const tpc::Node &node,
                                              tpc::OpQuantConfigAttr base) {
  SmallVector<PlannedWeight> weights;
  if (node.info && !node.info.getQuantize())
    return weights;
  auto add = [&](OpOperand &operand, StringAttr genericName, StringAttr name) {
    PlannedWeight &weight = weights.emplace_back();
    weight.operand = &operand;
    weight.genericName = genericName;
    weight.name = name;
    if (!base.getWeightConfig(genericName).getEnabled()) {
      weight.whyFloat = "its configuration is not enabled";
      return;
    }
    weight.whyFloat = whyNotQuantizable(operand.get());
    weight.isMissed = !weight.whyFloat.empty();
  };
  Operation *op = node.kernelOp;
  llvm::SmallDenseSet<unsigned> named;
  if (node.weights)
    for (NamedAttribute entry : node.weights) {
      unsigned number = cast<IntegerAttr>(entry.getValue()).getInt();
      if (number >= op->getNumOperands())
        continue;
      named.insert(number);
      add(op->getOpOperand(number), entry.getName(), entry.getName());
    }
  // What is compared is no number of the result.
  if (node.ops.size() != 1 || !readsPositionalConstants(op) ||
      !isQuantizable(node.result()))
    return weights;
  SmallVector<OpOperand *> positional;
  for (OpOperand &operand :
       op->getOpOperands().take_front(getNumDataOperands(op)))
    if (!named.contains(operand.getOperandNumber()) &&
        isQuantizable(operand.get()) &&
        matchPattern(operand.get(), m_Constant()))
      positional.push_back(&operand);
  auto genericName = StringAttr::get(op->getContext(), tpc::kPositionalWeight);
  for (OpOperand *operand : positional)
    add(*operand, genericName,
        positional.size() == 1
            ? genericName
            : StringAttr::get(op->getContext(),
                              tpc::kPositionalWeight + "_" +
                                  Twine(operand->getOperandNumber())));
  return weights;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

void QuantizationPlan::planInputs(tpc::PlatformOp platform, Block &block) {
  // The target's default speaks for what no operator makes: MCT quantizes the
  // inputs of the network the same way.
  tpc::OpQuantConfigAttr config = platform.getDefaultOptions().getBaseConfig();
  for (BlockArgument argument : block.getArguments()) {
    PlannedInput &input = inputs.emplace_back();
    input.argument = argument;
    input.name = getName(argument);
    input.config = config;
    if (!config.getActEnabled())
      input.whyFloat = "the default says 'act_enabled = false'";
    else if (!isQuantizable(argument))
      input.whyFloat = "it is no ranked tensor of f32";
    else if (argument.use_empty())
      input.whyFloat = "nothing reads it";
  }
}

LogicalResult QuantizationPlan::planNode(const tpc::TpcLookup &lookup,
                                         size_t index, Overrides &overrides) {
  PlannedNode &planned = nodes[index];
  const tpc::Node &node = planned.node;
  // O3
  if (isQuantizable(node.result()) && planned.base.getActEnabled() &&
      planned.base.getPreserving())
    return node.root()->emitOpError()
           << "has a configuration with both 'act_enabled' and 'preserving', "
              "which exclude each other; change "
           << (node.operatorSet
                   ? "operator set '" + node.operatorSet.str() + "'"
                   : std::string("the default options"))
           << " of the target";
  planned.weights = findWeights(node, planned.base);
  for (PlannedWeight &weight : planned.weights)
    if (auto mask = masks.find(weight.operand->get());
        mask != masks.end() && weight.whyFloat.empty())
      weight.whyFloat = describe(mask->second);
  coverResult(planned, index);
  Wishes wishes = getWishes(planned, overrides);
  if (failed(overrideActivation(planned, wishes)) ||
      failed(overrideWeights(planned, wishes)))
    return failure();
  removeRepetitions(planned);

  if (planned.cover == ResultCover::Point) {
    coverOf[node.result()] = planned.name;
    if (planned.activation) {
      planned.activationCandidates = {planned.activation};
    } else {
      planned.activation = planned.base;
      for (tpc::OpQuantConfigAttr config : planned.candidates)
        if (llvm::none_of(planned.activationCandidates, [&](Attribute other) {
              return haveEqualActivation(cast<tpc::OpQuantConfigAttr>(other),
                                         config);
            }))
          planned.activationCandidates.push_back(config);
    }
  }
  for (PlannedWeight &weight : planned.weights) {
    weight.config = planned.base.getWeightConfig(weight.genericName);
    for (tpc::OpQuantConfigAttr candidate : planned.candidates)
      if (Attribute config = candidate.getWeightConfig(weight.genericName);
          !llvm::is_contained(weight.candidates, config))
        weight.candidates.push_back(config);
    if (weight.whyFloat.empty())
      weight.axes = getChannelAxes(lookup, node, weight);
  }
  return success();
}

FailureOr<QuantizationPlan> QuantizationPlan::create(tpc::TpcLookup &lookup,
                                                     func::FuncOp function,
                                                     Overrides &overrides) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "has " << function.getBody().getBlocks().size()
           << " blocks; quantizer points need a network without control flow";
  WalkResult present =
      function.walk([](tpc::QuantizeOp point) {
        point.emitOpError()
            << "is already there; insert points into a module without any";
        return WalkResult::interrupt();
      });
  if (present.wasInterrupted())
    return failure();
  assignNames(function);
  Block &block = function.getBody().front();
  FailureOr<SmallVector<tpc::Node>> matched = lookup.match(block);
  if (failed(matched))
    return failure();
  QuantizationPlan plan;
  plan.nodes.resize(matched->size());
  for (auto [index, node] : llvm::enumerate(*matched)) {
    for (Operation *op : node.ops)
      plan.owner[op] = index;
    plan.nodes[index].name = getNodeName(node);
    plan.nodes[index].node = std::move(node);
  }
  plan.masks = findMasks(block);
  plan.fuse(lookup.platform());
  if (failed(plan.filterCandidates()))
    return failure();
  plan.planInputs(lookup.platform(), block);
  if (failed(plan.overrideInputs(overrides)))
    return failure();
  for (const PlannedInput &input : plan.inputs)
    if (input.whyFloat.empty())
      plan.coverOf[input.argument] = input.name;
  for (size_t index = 0; index != plan.nodes.size(); ++index)
    if (failed(plan.planNode(lookup, index, overrides)))
      return failure();
  return plan;
}
