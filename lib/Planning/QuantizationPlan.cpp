// SPDX-License-Identifier: Apache-2.0
#include "PlanParts.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/OperatorPoints.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mct;

using namespace mct::plan;

std::optional<size_t> QuantizationPlan::findNode(Operation *op) const {
  auto found = owner.find(op);
  return found == owner.end() ? std::nullopt
                              : std::optional<size_t>(found->second);
}

SmallVector<StringAttr>
QuantizationPlan::getNames(const FusedGroup &group) const {
  return llvm::map_to_vector(group.nodes,
                             [&](size_t index) { return nodes[index].name; });
}

/// Returns whether an op computes numbers between the elements of its operand,
/// which are rounded to the grid of that.
static bool isInterpolating(Operation *op) {
  auto moving = dyn_cast<DataMovementOpInterface>(op);
  return isa<tosa::ResizeOp>(op) ||
         (moving && moving.getMovement() == Movement::Average);
}

/// Returns whether an op whose values are on a grid has results on that grid,
/// perhaps after rounding: it moves or interpolates values, and adds no number
/// except 0.
static bool keepsGrid(Operation *op) {
  if (isInterpolating(op))
    return true;
  auto moving = dyn_cast<DataMovementOpInterface>(op);
  std::optional<Movement> movement =
      moving ? moving.getMovement() : std::nullopt;
  if (!movement)
    return false;
  if (*movement == Movement::Fill)
    return moving.getFill() == 0.0f;
  return llvm::none_of(moving.getMovedOperands(), [&](unsigned number) {
    return matchPattern(op->getOperand(number), m_Constant());
  });
}

std::pair<Value, StringRef>
QuantizationPlan::findFloatSource(Value value) const {
  while (true) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      const auto *input = llvm::find_if(inputs, [&](const PlannedInput &input) {
        return input.argument == argument;
      });
      // Not a conditional expression with "", which would copy the text.
      if (input == inputs.end())
        return {value, ""};
      return {value, input->floatReason};
    }
    std::optional<size_t> index = findNode(value.getDefiningOp());
    if (!index)
      return {value, ""};
    const PlannedNode &planned = nodes[*index];
    if (planned.node.result() != value)
      return {value, "only the first result of an operator has a point"};
    if (planned.cover == ResultCover::Fused)
      return {value, "it is inside of a fused chain"};
    SmallVector<Value> read = getFloatInputs(planned.node);
    if (planned.isFloatByRule || !llvm::all_of(planned.node.ops, keepsGrid) ||
        read.size() != 1 || read.front().getDefiningOp<tpc::QuantizeOp>())
      return {value, planned.floatReason};
    value = read.front();
  }
}

/// Returns the name of the kernel op if it is only followed by reshapes, since
/// it computes the values and its name is more informative.
StringAttr mct::getNodeName(const tpc::Node &node) {
  bool onlyReshapes = true;
  for (Operation *op : llvm::reverse(node.ops)) {
    if (op == node.kernelOp)
      break;
    onlyReshapes &= isa<tosa::ReshapeOp>(op);
  }
  return getName((onlyReshapes ? node.kernelOp : node.root())->getLoc());
}

bool plan::isQuantizable(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

bool plan::isPreserving(const tpc::Node &node) {
  return node.options.getConfigs().front().getPreserving();
}

SmallVector<Value> mct::getFloatInputs(const tpc::Node &node) {
  llvm::SmallSetVector<Value, 4> inputs;
  for (Operation *op : node.ops)
    for (Value operand : op->getOperands())
      if (isQuantizable(operand) && !matchPattern(operand, m_Constant()) &&
          !llvm::is_contained(node.ops, operand.getDefiningOp()))
        inputs.insert(operand);
  return inputs.takeVector();
}

/// Returns the quantizer of a result that no other grid covers, although the
/// target describes its operator as preserving.
static tpc::OpQuantConfigAttr withOwnPoint(tpc::OpQuantConfigAttr config) {
  return tpc::OpQuantConfigAttr::get(
      config.getContext(), config.getActMethod(), config.getActBits(),
      config.getInputBits(), /*act_enabled=*/true, /*preserving=*/false,
      config.getSignedness(), config.getFixedScale(),
      config.getFixedZeroPoint(), config.getSimdSize(), config.getWeights(),
      config.getDefaultWeight());
}

void QuantizationPlan::coverPreserved(PlannedNode &planned) {
  SmallVector<Value> read = getFloatInputs(planned.node);
  if (read.size() == 1) {
    planned.coveredBy = coveringPoints.lookup(read.front());
    if (!planned.coveredBy) {
      planned.floatReason =
          "it is preserving, and its operand is not quantized";
      return;
    }
    if (llvm::all_of(planned.node.ops, keepsGrid)) {
      planned.cover = ResultCover::Preserved;
      coveringPoints[planned.node.result()] = planned.coveredBy;
      return;
    }
    planned.coveredBy = {};
  }
  if (llvm::all_of(planned.node.kernelOp->getOperands(), [](Value operand) {
        return matchPattern(operand, m_Constant());
      })) {
    planned.floatReason = "it is constant";
    return;
  }
  planned.cover = ResultCover::Point;
  planned.activation = withOwnPoint(planned.base);
}

bool QuantizationPlan::hasRepeatedPoint(const PlannedNode &planned) const {
  return planned.cover == ResultCover::Preserved &&
         (repeatsPreserved || llvm::any_of(planned.node.ops, isInterpolating));
}

/// Returns why a value that belongs to a mask is not quantized.
static std::string describe(Mask mask) {
  switch (mask) {
  case Mask::Infinite:
    return "it holds a mask, and no code stands for infinity";
  case Mask::Large:
    return "it holds a mask that the softmax behind it reads";
  case Mask::Flag:
    return "a mask is computed from it, and nothing else";
  }
  llvm_unreachable("all masks are described");
}

void QuantizationPlan::coverResult(PlannedNode &planned, size_t index) {
  const tpc::Node &node = planned.node;
  if (node.info && !node.info.getQuantize()) {
    planned.floatReason = "tpc.framework says 'quantize = false' of " +
                          node.info.getOpName().str();
    return;
  }
  if (!isQuantizable(node.result())) {
    llvm::raw_string_ostream(planned.floatReason)
        << "its type is " << node.result().getType()
        << ", and only ranked tensors of f32 are quantized";
    return;
  }
  if (isa<linalg::FillOp, linalg::BroadcastOp>(node.root()) &&
      matchPattern(node.root()->getOperand(0), m_Constant())) {
    planned.floatReason = "it is constant";
    return;
  }
  if (auto mask = masks.find(node.result()); mask != masks.end()) {
    planned.floatReason = describe(mask->second);
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
  planned.floatReason = node.operatorSet
                            ? "operator set '" + node.operatorSet.str() +
                                  "' says 'act_enabled = false'"
                            : "no operator set matches, and the default says "
                              "'act_enabled = false'";
}

void QuantizationPlan::planInputs(tpc::PlatformOp platform, Block &block) {
  // The target's default applies to values that no operator computes: MCT
  // quantizes network inputs in this way, too.
  tpc::OpQuantConfigAttr config = platform.getDefaultOptions().getBaseConfig();
  for (BlockArgument argument : block.getArguments()) {
    PlannedInput &input = inputs.emplace_back();
    input.argument = argument;
    input.name = getName(argument);
    input.config = config;
    if (!config.getActEnabled())
      input.floatReason = "the default says 'act_enabled = false'";
    else if (!isQuantizable(argument))
      input.floatReason = "it is not a ranked tensor of f32";
    else if (argument.use_empty())
      input.floatReason = "it has no users";
    else if (auto mask = masks.find(argument); mask != masks.end())
      input.floatReason = describe(mask->second);
  }
}

/// Updates everything that depends on the chosen alternative.
void QuantizationPlan::takeBase(const tpc::TpcLookup &lookup,
                                PlannedNode &planned,
                                tpc::OpQuantConfigAttr base) {
  const tpc::Node &node = planned.node;
  planned.base = base;
  if (planned.hasOwnActivation)
    planned.activation = base;
  for (PlannedWeight &weight : planned.weights) {
    weight.config = base.getWeightConfig(weight.genericName);
    if (weight.floatReason.empty())
      weight.axes = getChannelAxes(
          lookup.getOpInfo(node.kernelOp->getName().getStringRef()),
          *weight.operand, weight.genericName, node.result(), weight.config);
  }
}

LogicalResult QuantizationPlan::planNode(const tpc::TpcLookup &lookup,
                                         size_t index, Overrides &overrides) {
  PlannedNode &planned = nodes[index];
  const tpc::Node &node = planned.node;
  // O3: `act_enabled` and `preserving` exclude each other.
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
        mask != masks.end() && weight.floatReason.empty())
      weight.floatReason = describe(mask->second);
  coverResult(planned, index);
  Wishes wishes = getWishes(planned, overrides);
  if (failed(overrideActivation(planned, wishes)) ||
      failed(overrideWeights(planned, wishes)) ||
      failed(overrideMethods(planned, wishes)))
    return failure();
  removeRepetitions(planned);

  if (planned.cover == ResultCover::Point) {
    coveringPoints[node.result()] = planned.name;
    planned.hasOwnActivation = !planned.activation;
  }
  takeBase(lookup, planned, planned.base);
  return success();
}

FailureOr<QuantizationPlan>
QuantizationPlan::create(tpc::TpcLookup &lookup, func::FuncOp function,
                         const KernelOps &kernels, Overrides &overrides,
                         const TakenAlternatives &taken) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "has " << function.getBody().getBlocks().size()
           << " blocks; quantization points need a network without control "
              "flow";
  WalkResult present =
      function.walk([](tpc::QuantizeOp point) {
        point.emitOpError()
            << "is already there; insert points into a module without any";
        return WalkResult::interrupt();
      });
  if (present.wasInterrupted())
    return failure();
  Block &block = function.getBody().front();
  FailureOr<SmallVector<tpc::Node>> matched = lookup.match(block);
  if (failed(matched))
    return failure();
  QuantizationPlan plan;
  plan.repeatsPreserved = lookup.platform().getInsertPreservingQuantizers();
  plan.nodes.resize(matched->size());
  for (auto [index, node] : llvm::enumerate(*matched)) {
    for (Operation *op : node.ops)
      plan.owner[op] = index;
    plan.nodes[index].name = getNodeName(node);
    plan.nodes[index].node = std::move(node);
  }
  plan.masks = findMasks(block);
  overrides.findDecoding(block, kernels);
  plan.fuse(lookup.platform(), overrides);
  if (failed(plan.filterCandidates()))
    return failure();
  plan.planInputs(lookup.platform(), block);
  if (failed(plan.overrideInputs(overrides)))
    return failure();
  for (const PlannedInput &input : plan.inputs)
    if (input.floatReason.empty())
      plan.coveringPoints[input.argument] = input.name;
  for (size_t index = 0; index != plan.nodes.size(); ++index)
    if (failed(plan.planNode(lookup, index, overrides)))
      return failure();
  plan.takeBases(lookup, taken);
  return plan;
}

TakenAlternatives mct::takeOutPoints(func::FuncOp function) {
  TakenAlternatives taken;
  for (const OperatorPoints &of : findOperatorPoints(function))
    for (tpc::QuantizeOp point : of.points)
      if (point.getAlternatives())
        taken[of.name.getValue()].push_back(
            {point.getWeightAttr(), point.getConfigAttr()});
  function.walk([](tpc::QuantizeOp point) {
    point.getOutput().replaceAllUsesWith(point.getInput());
    point.erase();
  });
  assignNames(function);
  return taken;
}

void QuantizationPlan::takeBases(const tpc::TpcLookup &lookup,
                                 const TakenAlternatives &taken) {
  for (PlannedNode &planned : nodes) {
    auto found = taken.find(planned.name.getValue());
    if (found == taken.end())
      continue;
    auto isTaken = [&](tpc::OpQuantConfigAttr candidate) {
      return llvm::all_of(found->second, [&](const auto &entry) {
        const auto &[name, config] = entry;
        if (!name)
          return config == candidate;
        const auto *weight = llvm::find_if(
            planned.weights, [&, name = name](const PlannedWeight &each) {
              return each.name == name;
            });
        return weight == planned.weights.end() ||
               config == candidate.getWeightConfig(weight->genericName);
      });
    };
    if (const auto *candidate = llvm::find_if(planned.candidates, isTaken);
        candidate != planned.candidates.end())
      takeBase(lookup, planned, *candidate);
  }
}
