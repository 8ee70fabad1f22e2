// SPDX-License-Identifier: Apache-2.0
#include "mct/Cost/Resources.h"
#include "mct/Cost/StoredValues.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mct;

/// Width of an operand of a multiplication that is not quantized.
static constexpr int64_t kFloatBits = 32;

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

namespace {
class Collector {
public:
  Collector(func::FuncOp function, const KernelOps &kernels)
      : function(function), kernels(kernels), chains(function, kernels) {}
  ResourceModel run();

private:
  size_t getStep(Operation *op);
  void addActivation(Value value, size_t step);
  void addWeights(Operation *op, size_t step);
  void addLayer(Operation *op, size_t step);
  /// Returns the last step that uses a value, directly or through points.
  size_t findLastUse(Value value, size_t made);

  func::FuncOp function;
  const KernelOps &kernels;
  FusedChains chains;
  ResourceModel model;
  llvm::DenseMap<Operation *, size_t> steps;
  llvm::DenseSet<Operation *> counted;
  /// The steps that define each activation and that use it last.
  std::vector<std::pair<size_t, size_t>> lives;
};
} // namespace

/// Returns the step of an op; a fused chain belongs to the step of its last op.
size_t Collector::getStep(Operation *op) {
  // Ops inside of a loop or branch belong to the step of that op.
  while (op->getBlock() != &function.getBody().front())
    op = op->getParentOp();
  return steps.lookup(chains.getEnd(op));
}

void Collector::addActivation(Value value, size_t step) {
  if (!getFloatTensor(value) || chains.isInside(value))
    return;
  WidthSource source = findWidthSource(value);
  if (!source.point || source.point.isWeight())
    return;
  tpc::QuantizeOp own = getActivationPoint(value);
  StringAttr name = getName(value);
  model.steps[step].made.push_back(model.activations.size());
  model.activations.push_back({own    ? own.getUniqueName()
                               : name ? name.str()
                                      : "",
                               source.point,
                               countElements(getFloatTensor(value))});
  lives.push_back({step, 0});
}

size_t Collector::findLastUse(Value value, size_t made) {
  size_t last = made;
  SmallVector<Value> pending = {value};
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (auto point = dyn_cast<tpc::QuantizeOp>(user))
        pending.push_back(point.getResult());
      else if (user->hasTrait<OpTrait::IsTerminator>() &&
               user->getBlock() == &function.getBody().front())
        last = model.steps.size() - 1;
      else
        last = std::max(last, getStep(user));
    }
  return last;
}

void Collector::addWeights(Operation *op, size_t step) {
  for (Value operand : op->getOperands()) {
    auto point = operand.getDefiningOp<tpc::QuantizeOp>();
    if (!point || !point.isWeight() || !getBits(point) ||
        !counted.insert(point).second)
      continue;
    model.steps[step].weights.push_back(model.weights.size());
    model.weights.push_back(
        {point.getUniqueName(), point,
         countElements(cast<RankedTensorType>(point.getType()))});
  }
}

void Collector::addLayer(Operation *op, size_t step) {
  std::optional<KernelOp> kernel = kernels.get(op);
  if (!kernel)
    return;
  tpc::QuantizeOp point = kernel->getKernelPoint();
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!point || !getBits(point) || !result)
    return;
  int64_t elements = llvm::product_of(kernel->getKernelShape());
  // Every element of the kernel is used at every position of the result.
  int64_t positions = countElements(result) / kernel->numOutputChannels();
  WidthSource input = findWidthSource(kernel->getInput().get());
  model.steps[step].layers.push_back(
      {elements * positions, input.point, point});
}

ResourceModel Collector::run() {
  model.function = function.getSymName().str();
  Block &body = function.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    StringAttr name = getName(Value(argument));
    model.steps.push_back({name ? name.str() : "", "argument", {}, {}, {}, {}});
  }
  for (Operation &op : body) {
    if (isa<tpc::QuantizeOp>(op) || matchPattern(&op, m_Constant()) ||
        op.hasTrait<OpTrait::IsTerminator>() || chains.getEnd(&op) != &op)
      continue;
    steps[&op] = model.steps.size();
    StringAttr name = getName(op.getLoc());
    model.steps.push_back({name ? name.str() : "",
                           op.getName().getStringRef().str(),
                           {},
                           {},
                           {},
                           {}});
  }
  SmallVector<Value> values;
  for (auto [step, argument] : llvm::enumerate(body.getArguments())) {
    size_t before = model.activations.size();
    addActivation(argument, step);
    if (model.activations.size() != before)
      values.push_back(argument);
  }
  for (Operation &op : body) {
    if (isa<tpc::QuantizeOp>(op) || matchPattern(&op, m_Constant()) ||
        op.hasTrait<OpTrait::IsTerminator>())
      continue;
    size_t step = getStep(&op);
    op.walk([&](Operation *nested) {
      addWeights(nested, step);
      addLayer(nested, step);
    });
    for (Value result : op.getResults()) {
      size_t before = model.activations.size();
      addActivation(result, step);
      if (model.activations.size() != before)
        values.push_back(result);
    }
  }
  for (auto [number, value] : llvm::enumerate(values)) {
    auto &[made, last] = lives[number];
    last = findLastUse(value, made);
    for (size_t step = made; step <= last; ++step)
      model.steps[step].cut.push_back(number);
  }
  return std::move(model);
}

ResourceModel mct::computeResources(func::FuncOp function,
                                    const KernelOps &kernels) {
  return Collector(function, kernels).run();
}

//===----------------------------------------------------------------------===//
// Evaluating
//===----------------------------------------------------------------------===//

int64_t ResourceModel::cutBits(const Step &step, BitsOfPoint bits) const {
  int64_t sum = 0;
  for (size_t number : step.cut)
    sum += activations[number].elements * bits(activations[number].point);
  return sum;
}

int64_t ResourceModel::computeBops(const Step::Layer &layer, BitsOfPoint bits) {
  return layer.multiplications * bits(layer.kernel) *
         (layer.input ? bits(layer.input) : kFloatBits);
}

ResourceUse ResourceModel::evaluate(BitsOfPoint bits) const {
  ResourceUse use;
  for (const Tensor &weight : weights)
    use.weights += weight.elements * bits(weight.point);
  for (const Step &step : steps) {
    use.activations = std::max(use.activations, cutBits(step, bits));
    for (const Step::Layer &layer : step.layers)
      use.bops += computeBops(layer, bits);
  }
  return use;
}

int64_t mct::getPresentBits(tpc::QuantizeOp point) {
  return getBits(point).value_or(kFloatBits);
}

ResourceUse ResourceModel::evaluate() const { return evaluate(getPresentBits); }
