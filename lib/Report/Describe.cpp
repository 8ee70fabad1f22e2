// SPDX-License-Identifier: Apache-2.0
#include "Describe.h"
#include "DiagnoseParts.h"
#include "mct/Cost/Resources.h"
#include "mct/Cost/StoredValues.h"
#include "mct/IR/Names.h"
#include "mct/IR/Records.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/IntegerLayer.h"
#include "mct/Planning/OperatorPoints.h"
#include "mct/Planning/QuantizationPlan.h"
#include "mct/Quantization/Parallel.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/ScopedPrinter.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace mct;
using namespace mct::report;
using quantization::Grid;

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

namespace {
/// The ops of one operator, and how the target treats them.
struct Members {
  SmallVector<Operation *> ops;
  /// Set instead of `ops` for an argument.
  BlockArgument argument;
  std::string operatorSet, matchedBy, overriddenBy, floatReason;
  /// True if the target would quantize the result.
  bool isWanted = false;
  /// The alternatives that the target offers, even if overrides leave only one.
  SmallVector<tpc::OpQuantConfigAttr> offered;

  Value result() const {
    return argument ? Value(argument) : ops.back()->getResult(0);
  }
};

class Describer {
public:
  Describer(func::FuncOp function, const KernelOps &kernels, Report &report)
      : function(function), report(report), kernels(kernels),
        chains(function, kernels) {}

  void run(const support::Threads &threads);

private:
  bool readPlan();
  void findMembers();
  void findPoints();
  void nameOperators();
  void describeOperator(size_t number);
  void addAlternatives(size_t number);
  void addResources();
  void addDecisions();
  std::optional<Operator::Sums> addUp(const KernelOp &kernel);
  /// Returns the operator that computes a value, or none for constants.
  std::optional<size_t> findProducer(Value value);

  func::FuncOp function;
  Report &report;
  const KernelOps &kernels;
  FusedChains chains;
  std::vector<Members> members;
  llvm::DenseMap<Operation *, size_t> owner;
  /// The points in the order of report.points, and the points of each operator.
  SmallVector<tpc::QuantizeOp> points;
  std::vector<SmallVector<tpc::QuantizeOp>> pointsByOperator;
};
} // namespace

static bool isOperator(Operation &op) {
  return !isa<tpc::QuantizeOp>(op) && op.getNumResults() != 0 &&
         isa<TensorType>(op.getResult(0).getType()) &&
         !matchPattern(&op, m_Constant()) &&
         !op.hasTrait<OpTrait::ConstantLike>();
}

/// Lists the rules that take effect, in the order of activation, weights and
/// named weights.
static std::string listRules(const Wishes &wishes) {
  llvm::SetVector<StringRef> texts;
  auto add = [&](const Wishes::Wish &wish) {
    if (wish)
      texts.insert(wish->second->text);
  };
  add(wishes.activation);
  add(wishes.weights);
  std::map<StringRef, Wishes::Wish> named;
  for (const auto &entry : wishes.namedWeights)
    named.emplace(entry.first(), entry.second);
  for (const auto &entry : named)
    add(entry.second);
  return llvm::join(texts, "\n");
}

/// Finds the operators in the way that the target matches them. Returns false
/// if the module has no target, or does not match it any more.
bool Describer::readPlan() {
  ModuleOp original = function->getParentOfType<ModuleOp>();
  auto platforms = original.getOps<tpc::PlatformOp>();
  if (platforms.empty())
    return false;
  report.target = (*platforms.begin()).getSymName().str();
  ScopedDiagnosticHandler silence(function.getContext(),
                                  [](Diagnostic &) { return success(); });
  IRMapping mapping;
  OwningOpRef<ModuleOp> module(
      cast<ModuleOp>(original->clone(mapping, Operation::CloneOptions::all())));
  llvm::DenseMap<Operation *, Operation *> originals;
  original.walk([&](Operation *op) {
    if (Operation *copy = mapping.lookupOrNull(op))
      originals[copy] = op;
  });
  FailureOr<tpc::TpcLookup> lookup = tpc::TpcLookup::create(*module);
  auto copy = dyn_cast_or_null<func::FuncOp>(
      mapping.lookupOrNull(function.getOperation()));
  if (failed(lookup) || !copy)
    return false;
  FailureOr<Overrides> rules = Overrides::getFrom(copy);
  if (failed(rules))
    return false;
  TakenAlternatives taken = takeOutPoints(copy);
  FailureOr<QuantizationPlan> plan =
      QuantizationPlan::create(*lookup, copy, kernels, *rules, taken);
  if (failed(plan))
    return false;
  for (const PlannedNode &planned : plan->nodes) {
    Members &added = members.emplace_back();
    for (Operation *op : planned.node.ops)
      added.ops.push_back(originals.lookup(op));
    if (llvm::is_contained(added.ops, nullptr)) {
      members.clear();
      return false;
    }
    if (planned.node.operatorSet)
      added.operatorSet = planned.node.operatorSet.str();
    if (planned.node.pattern)
      added.matchedBy = llvm::to_string(planned.node.pattern);
    else if (planned.node.operatorSet)
      added.matchedBy = ("'" + tpc::TpcDialect::kSetAttrName + "'").str();
    added.overriddenBy = listRules(
        rules->getWishes(planned.name, planned.node, /*hasResult=*/true,
                         [](StringRef) { return true; }));
    added.floatReason = planned.floatReason;
    added.isWanted = planned.cover != ResultCover::None;
    added.offered = planned.candidates;
    for (const DroppedCandidate &dropped : planned.dropped)
      if (dropped.rule)
        added.offered.push_back(dropped.config);
  }
  for (const PlannedInput &input : plan->inputs) {
    Members &added = *members.insert(
        members.begin() + input.argument.getArgNumber(), Members());
    added.argument = function.getArgument(input.argument.getArgNumber());
    added.floatReason = input.floatReason;
    added.isWanted = input.floatReason.empty();
  }
  return true;
}

void Describer::findMembers() {
  if (!readPlan()) {
    for (BlockArgument argument : function.getArguments())
      members.emplace_back().argument = argument;
    for (Operation &op : function.getBody().front())
      if (isOperator(op))
        members.emplace_back().ops.push_back(&op);
  }
  for (auto [number, each] : llvm::enumerate(members))
    for (Operation *op : each.ops)
      owner[op] = number;
  pointsByOperator.resize(members.size());
}

std::optional<size_t> Describer::findProducer(Value value) {
  value = tpc::lookThroughPoints(value);
  // The first operators are the arguments.
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &function.getBody().front()
               ? std::optional<size_t>(argument.getArgNumber())
               : std::nullopt;
  auto found = owner.find(value.getDefiningOp());
  return found == owner.end() ? std::nullopt
                              : std::optional<size_t>(found->second);
}

void Describer::findPoints() {
  function.walk([&](tpc::QuantizeOp point) { points.push_back(point); });
  for (tpc::QuantizeOp point : points) {
    std::optional<size_t> number;
    if (point.isActivation())
      number = findProducer(point.getInput());
    else
      for (Operation *user : point->getUsers())
        if (auto found = owner.find(user); found != owner.end())
          number = std::min(number.value_or(found->second), found->second);
    if (number)
      pointsByOperator[*number].push_back(point);
  }
}

/// Gives operators the names of their points or, if they have none, of their
/// ops.
void Describer::nameOperators() {
  llvm::StringSet<> taken;
  for (auto [number, each] : llvm::enumerate(members)) {
    std::string name;
    for (tpc::QuantizeOp point : pointsByOperator[number]) {
      name = point.getPointName().str();
      if (point.isActivation())
        break;
    }
    if (name.empty())
      if (StringAttr own = getName(each.result()))
        name = own.str();
    std::string unique = name;
    for (unsigned count = 1; unique.empty() || !taken.insert(unique).second;
         ++count)
      unique = name + "_" + std::to_string(count);
    report.operators.emplace_back().name = unique;
  }
}

/// Returns the kernel op of an operator, or none.
static std::optional<KernelOp> findKernel(const KernelOps &kernels,
                                          const Members &of) {
  for (Operation *op : of.ops)
    if (std::optional<KernelOp> kernel = kernels.get(op))
      return kernel;
  return std::nullopt;
}

void Describer::describeOperator(size_t number) {
  const Members &of = members[number];
  Operator &result = report.operators[number];
  if (of.argument)
    result.ops.push_back("argument");
  for (Operation *op : of.ops)
    result.ops.push_back(op->getName().getStringRef().str());
  result.operatorSet = of.operatorSet;
  result.matchedBy = of.matchedBy;
  result.overriddenBy = of.overriddenBy;
  Value value = of.result();
  tpc::QuantizeOp point = getActivationPoint(value);
  if (point && getBits(point)) {
    result.cover = "point";
  } else if (chains.isInside(value)) {
    result.cover = "fused";
  } else if (findWidthSource(value).point) {
    result.cover = "preserved";
  } else {
    result.cover = "float";
    result.floatReason =
        !of.floatReason.empty() ? of.floatReason
        : of.isWanted ? "the target would quantize it, and the module does "
                        "not: an override, or something that was changed "
                        "behind it, says so"
                      : "the module has no target that fits it";
  }
  if (!of.ops.empty()) {
    Operation *end = chains.getEnd(of.ops.back());
    bool isEnd =
        point && point.getGroupAttr() && point.getGroupAttr().size() > 1;
    if (auto last = owner.find(end);
        last != owner.end() && (isEnd || end != of.ops.back()))
      result.group = report.operators[last->second].name;
  }
  llvm::SetVector<size_t> inputs;
  for (Operation *op : of.ops)
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (std::optional<size_t> producer = findProducer(operand);
            producer && *producer != number)
          inputs.insert(*producer);
    });
  for (size_t input : inputs)
    result.inputs.push_back(report.operators[input].name);
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (int64_t size : type.getShape())
      result.shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  for (tpc::QuantizeOp each : pointsByOperator[number])
    result.points.push_back(each.getUniqueName());
  addAlternatives(number);
  std::optional<KernelOp> kernel = findKernel(kernels, of);
  if (!kernel)
    return;
  result.isDepthwise = kernel->isDepthwise();
  int64_t elements = llvm::product_of(kernel->getKernelShape());
  auto type = dyn_cast<RankedTensorType>(
      kernel->getOperation()->getResult(0).getType());
  // Every element of the kernel is used at every position of the result.
  if (type)
    result.multiplications =
        elements * (countElements(type) / kernel->numOutputChannels());
  result.sums = addUp(*kernel);
}

void Describer::addAlternatives(size_t number) {
  Operator &result = report.operators[number];
  OperatorPoints of{{}, {}};
  llvm::append_range(of.points, pointsByOperator[number]);
  if (of.points.empty())
    return;
  auto addActivation = [](Operator::Alternative &alternative,
                          tpc::OpQuantConfigAttr config) {
    alternative.activationBits =
        config.getActEnabled() ? config.getActBits() : 0;
  };
  auto addWeight = [](Operator::Alternative &alternative,
                      tpc::AttrQuantConfigAttr config) {
    alternative.weightBits = config.getEnabled() ? config.getBits() : 0;
  };
  result.chosen = of.getChosen();
  for (int64_t index = 0; index != of.numAlternatives(); ++index) {
    Operator::Alternative &alternative = result.alternatives.emplace_back();
    for (tpc::QuantizeOp point : of.points) {
      Attribute config = OperatorPoints::getConfig(point, index);
      // The first of several points in a row quantizes the result.
      if (!config && point.isActivation() && point == of.getResultPoint())
        alternative.activationBits = getBits(point).value_or(0);
      else if (!config && getGenericWeightName(point) == tpc::kKernelWeight)
        alternative.weightBits = getBits(point).value_or(0);
      if (auto activation = dyn_cast_or_null<tpc::OpQuantConfigAttr>(config))
        addActivation(alternative, activation);
      auto weight = dyn_cast_or_null<tpc::AttrQuantConfigAttr>(config);
      if (weight && getGenericWeightName(point) == tpc::kKernelWeight)
        addWeight(alternative, weight);
    }
  }
  if (result.alternatives.size() > 1)
    return;
  // An override has decided, but its line can be changed, so list the
  // alternatives that are offered.
  Operator::Alternative taken = result.alternatives.front();
  auto widths = [](const Operator::Alternative &alternative) {
    return std::make_pair(alternative.weightBits, alternative.activationBits);
  };
  SmallVector<Operator::Alternative> offered;
  for (tpc::OpQuantConfigAttr config : members[number].offered) {
    Operator::Alternative &alternative = offered.emplace_back();
    if (taken.activationBits)
      addActivation(alternative, config);
    if (taken.weightBits)
      addWeight(alternative, config.getWeightConfig(tpc::kKernelWeight));
  }
  // In the order of the plan: the widest first.
  llvm::sort(offered, [&](const auto &lhs, const auto &rhs) {
    return widths(lhs) > widths(rhs);
  });
  const auto *chosen = llvm::find_if(offered, [&](const auto &alternative) {
    return widths(alternative) == widths(taken);
  });
  if (chosen == offered.end())
    return;
  result.alternatives.assign(offered.begin(), offered.end());
  result.chosen = chosen - offered.begin();
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Returns the sums of a layer in integers, or none for other layers.
std::optional<Operator::Sums> Describer::addUp(const KernelOp &kernel) {
  tpc::QuantizeOp weight = kernel.getKernelPoint();
  tpc::QuantizeOp input = findWidthSource(kernel.getInput().get()).point;
  if (!weight || !input || !input.isActivation() ||
      !weight.getParametersAttr() || !input.getParametersAttr())
    return std::nullopt;
  SmallVector<Grid> read = input.getParametersAttr().getGrids();
  if (read.size() != 1 || weight.getParametersAttr().getGrids().empty())
    return std::nullopt;
  std::variant<IntegerLayer, Reason> described =
      IntegerLayer::get(kernel, read.front());
  const auto *layer = std::get_if<IntegerLayer>(&described);
  if (!layer)
    return std::nullopt;
  size_t outputs = kernel.numOutputChannels();
  std::vector<float> bias =
      kernel.getBias().value_or(std::vector<float>(outputs, 0));
  std::optional<Grid> made;
  // Take the grid at the end of the fused chain.
  Value end = chains.getEnd(kernel.getResult().getDefiningOp())->getResult(0);
  if (tpc::QuantizeOp result = getActivationPoint(end);
      result && result.getParametersAttr())
    if (SmallVector<Grid> grids = result.getParametersAttr().getGrids();
        grids.size() == 1)
      made = grids.front();
  Operator::Sums sums;
  // TOSA accumulates products with 16-bit activations in 48 bits.
  sums.bits = input.getParametersAttr().getBits() > 8 ? 48 : 32;
  double squares = 0;
  for (size_t channel = 0; channel != outputs; ++channel) {
    double step = layer->getStep(channel);
    double offset = bias[channel] / step;
    double nearest = layer->getBiasCode(channel, bias[channel]);
    double reach =
        std::max(layer->getReachAbove(channel) + std::max(nearest, 0.0),
                 layer->getReachBelow(channel) - std::min(nearest, 0.0));
    if (reach > sums.largest) {
      sums.largest = reach;
      sums.channel = int64_t(channel);
    }
    if (std::abs(nearest) > sums.largestBias) {
      sums.largestBias = std::abs(nearest);
      sums.biasChannel = int64_t(channel);
    }
    if (made) {
      double error = (offset - nearest) * step / made->step;
      squares += error * error;
    }
  }
  if (outputs)
    sums.biasError = std::sqrt(squares / double(outputs));
  return sums;
}

//===----------------------------------------------------------------------===//
// Memory and operations
//===----------------------------------------------------------------------===//

/// Width of the elements of the float network.
static constexpr int64_t kFloatBits = 32;

static Report::Resources toResources(const ResourceUse &use) {
  return {double(use.weights) / 8, double(use.activations) / 8,
          double(use.total()) / 8, double(use.bops)};
}

void Describer::addResources() {
  llvm::StringMap<Operator *> byName;
  llvm::DenseMap<Operation *, Operator *> byPoint;
  for (size_t number = 0; number != members.size(); ++number) {
    Operator &of = report.operators[number];
    if (members[number].argument)
      if (StringAttr name = getName(Value(members[number].argument)))
        byName[name.getValue()] = &of;
    for (Operation *op : members[number].ops)
      if (StringAttr name = getName(op->getLoc()))
        byName[name.getValue()] = &of;
    for (tpc::QuantizeOp point : pointsByOperator[number])
      byPoint[point] = &of;
  }
  ResourceModel model = computeResources(function, kernels);
  auto toFloat = [](tpc::QuantizeOp) { return kFloatBits; };
  report.resources = toResources(model.evaluate());
  report.eightBit =
      toResources(model.evaluate([](tpc::QuantizeOp) { return 8; }));
  report.floatWeightBytes = toResources(model.evaluate(toFloat)).weightBytes;
  auto toBytes = [](const ResourceModel::Tensor &tensor, int64_t bits) {
    return double(tensor.elements * bits) / 8;
  };
  for (const ResourceModel::Tensor &weight : model.weights)
    if (Operator *of = byPoint.lookup(weight.point)) {
      of->weightBytes += toBytes(weight, getPresentBits(weight.point));
      of->floatWeightBytes += toBytes(weight, kFloatBits);
    }
  for (const ResourceModel::Step &step : model.steps) {
    if (Operator *of = byName.lookup(step.name))
      for (size_t number : step.made) {
        const ResourceModel::Tensor &made = model.activations[number];
        of->activationBytes += toBytes(made, getPresentBits(made.point));
        of->floatActivationBytes += toBytes(made, kFloatBits);
      }
    for (const ResourceModel::Step::Layer &layer : step.layers)
      if (Operator *of = byPoint.lookup(layer.kernel))
        of->bops += ResourceModel::computeBops(layer, getPresentBits);
  }
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// Returns the decision for an entry of `tpc.corrections`.
static report::Decision toDecision(StringRef applied,
                                   tpc::CorrectionsAttr record) {
  report::Decision decision;
  decision.decision = "applied";
  decision.reason = applied.str();
  std::replace(decision.reason.begin(), decision.reason.end(), '_', '-');
  if (applied == "rounded_weights") {
    decision.pass = "mct-round-weights";
    decision.reason = stringifyReason(Reason::RoundedTogether).str();
    decision.text = "its weights are rounded together";
    return decision;
  }
  if (applied == "second_moment") {
    decision.pass = "mct-correct-second-moment";
    auto [least, most] = std::minmax_element(record.getKernelScale().begin(),
                                             record.getKernelScale().end());
    decision.text = "kernel and bias are multiplied by " + brief(*least) +
                    " to " + brief(*most);
    decision.numbers = {{"least_scale", *least}, {"largest_scale", *most}};
    return decision;
  }
  decision.pass = applied == "activation_bias" ? "mct-correct-activation-bias"
                                               : "mct-correct-bias";
  double offset = 0;
  for (double each : record.getBiasOffset())
    offset = std::max(offset, std::abs(each));
  decision.text = "the bias is moved, by at most " + brief(offset) + " in all";
  decision.numbers = {{"largest_offset", offset}};
  if (std::optional<int64_t> samples = record.getSamples())
    decision.numbers.push_back({"samples", double(*samples)});
  return decision;
}

static report::Decision toDecision(const Point::Shift &shift) {
  report::Decision decision;
  decision.pass = "mct-correct-shift-negative";
  decision.decision = "applied";
  decision.reason = stringifyReason(Reason::Shifted).str();
  decision.text = brief(shift.by) +
                  " is added, so that no level is spent on negative values: "
                  "mean squared error " +
                  brief(shift.errorBefore) + " to " + brief(shift.error);
  decision.numbers = {{"shift", shift.by},
                      {"error_before", shift.errorBefore},
                      {"error_after", shift.error}};
  return decision;
}

void Describer::addDecisions() {
  for (auto [point, op] : llvm::zip_equal(report.points, points)) {
    if (tpc::CorrectionsAttr record = op.getCorrectionsAttr())
      for (StringAttr applied : record.getApplied())
        point.decisions.push_back(toDecision(applied.getValue(), record));
    if (point.shift)
      point.decisions.push_back(toDecision(*point.shift));
  }
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

void Describer::run(const support::Threads &threads) {
  report.function = function.getSymName().str();
  findMembers();
  findPoints();
  nameOperators();
  for (size_t number = 0; number != members.size(); ++number)
    describeOperator(number);
  report.points.resize(points.size());
  llvm::DenseMap<Operation *, ArrayRef<int64_t>> channelAxes;
  const std::vector<KernelOp> layers = kernels.findBelow(function);
  for (const KernelOp &layer : layers)
    if (layer.getKernelPoint())
      channelAxes[layer.getKernelPoint()] = layer.getOutAxes();
  quantization::parallelFor(points.size(), threads, [&](size_t number) {
    describePoint(points[number], channelAxes.lookup(points[number]),
                  report.points[number]);
  });
  llvm::DenseMap<Operation *, size_t> owners;
  for (auto [number, each] : llvm::enumerate(pointsByOperator))
    for (tpc::QuantizeOp point : each)
      owners[point] = number;
  for (auto [point, op] : llvm::zip_equal(report.points, points)) {
    if (auto found = owners.find(op); found != owners.end())
      point.owner = report.operators[found->second].name;
    if (ArrayAttr group = op.getGroupAttr())
      for (auto name : group.getAsRange<StringAttr>())
        point.group.push_back(name.str());
  }
  addResources();
  addDecisions();
}

LogicalResult report::describe(func::FuncOp function, const KernelOps &kernels,
                               const support::Threads &threads,
                               Report &report) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "has " << function.getBody().getBlocks().size()
           << " blocks; a report needs a network without control flow";
  Describer(function, kernels, report).run(threads);
  return success();
}
