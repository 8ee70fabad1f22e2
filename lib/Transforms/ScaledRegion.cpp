// SPDX-License-Identifier: Apache-2.0
#include "ScaledRegion.h"
#include "ScalingPath.h"
#include "mct/IR/Shapes.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Transforms/ImportedPoints.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mct;

/// Most values of a region; a larger one is given up.
static constexpr size_t kMaxRegionValues = 4096;

Layers::Layers(const KernelOps &kernels, Operation *root)
    : kernels(kernels), byResult(kernels.findByResult(root)) {}

std::optional<KernelOp> Layers::getConsumer(OpOperand &use) const {
  std::optional<KernelOp> layer = kernels.get(use.getOwner());
  return layer && &layer->getInput() == &use ? layer : std::nullopt;
}

OpOperand *mct::findConstant(OpOperand &operand) {
  auto point = operand.get().getDefiningOp<tpc::QuantizeOp>();
  if (!point)
    return ConstantFloats::exists(operand.get()) ? &operand : nullptr;
  if (!point.isWeight() || !point->hasOneUse() ||
      point.hasImportedParameters() || point.getCorrectionsAttr() ||
      !ConstantFloats::exists(point.getInput()))
    return nullptr;
  return &point.getInputMutable();
}

void mct::replaceConstant(OpOperand &operand, RankedTensorType type,
                          ArrayRef<float> values) {
  OpBuilder builder(operand.getOwner()->getContext());
  builder.setInsertionPointAfterValue(operand.get());
  Value old = operand.get();
  operand.set(createConstant(builder, old.getLoc(), type, values, "scaled"));
  if (old.use_empty())
    old.getDefiningOp()->erase();
  if (auto point = dyn_cast<tpc::QuantizeOp>(operand.getOwner()))
    point.removeQuantizer();
}

bool mct::scalesExactly(ArrayRef<float> values, double factor) {
  return llvm::all_of(values, [&](float value) {
    return value == 0 || std::isnormal(float(factor * value));
  });
}

std::optional<SmallVector<OpOperand *>> mct::getScaledOperands(Operation *op) {
  SmallVector<OpOperand *> operands;
  if (op->getNumResults() != 1 || !isF32Tensor(op->getResult(0)))
    return std::nullopt;
  if (auto point = dyn_cast<tpc::QuantizeOp>(op)) {
    if (!point.isActivation() || point.hasImportedParameters() ||
        !point.getLearned().empty())
      return std::nullopt;
    return operands = {&point.getInputMutable()};
  }
  if (auto clamp = dyn_cast<tosa::ClampOp>(op)) {
    auto lowest = dyn_cast<FloatAttr>(clamp.getMinVal());
    if (!isUnbounded(clamp) || !lowest.getValue().isZero())
      return std::nullopt;
    return operands = {&clamp.getInputMutable()};
  }
  if (isa<tosa::AddOp, tosa::SubOp, tosa::MaximumOp, tosa::MinimumOp>(op))
    return operands = {&op->getOpOperand(0), &op->getOpOperand(1)};
  auto moving = dyn_cast<DataMovementOpInterface>(op);
  std::optional<Movement> movement =
      moving ? moving.getMovement() : std::nullopt;
  if (!movement || (*movement == Movement::Fill && moving.getFill() != 0.0f))
    return std::nullopt;
  for (unsigned number : moving.getMovedOperands())
    operands.push_back(&op->getOpOperand(number));
  return operands;
}

std::pair<OpOperand *, OpOperand *> mct::getProductWithConstant(Operation *op) {
  if (!isa<tosa::MulOp>(op) || !isF32Tensor(op->getResult(0)))
    return {};
  for (unsigned number : {1u, 0u})
    if (OpOperand *constant = findConstant(op->getOpOperand(number)))
      return {constant, &op->getOpOperand(1 - number)};
  return {};
}

void ScaledRegion::addOperand(OpOperand &operand) {
  if (OpOperand *constant = findConstant(operand))
    constants.insert(constant);
  else
    values.insert(operand.get());
}

bool ScaledRegion::addSources(const Layers &layers, Value value) {
  auto layer = layers.byResult.find(value);
  if (layer != layers.byResult.end()) {
    if (!layer->second.getBias() || hasImportedKernel(layer->second))
      return false;
    producers.insert({layer->second.getOperation(), layer->second});
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (getProductWithConstant(op).first)
    return products.insert(op), true;
  std::optional<SmallVector<OpOperand *>> operands = getScaledOperands(op);
  if (!operands)
    return false;
  for (OpOperand *operand : *operands)
    addOperand(*operand);
  return true;
}

bool ScaledRegion::addUser(const Layers &layers, OpOperand &use) {
  Operation *user = use.getOwner();
  if (std::optional<KernelOp> layer = layers.getConsumer(use)) {
    if (hasImportedKernel(*layer))
      return false;
    consumers.insert({user, *layer});
    return true;
  }
  auto [constant, other] = getProductWithConstant(user);
  if (constant && other == &use)
    return products.insert(user), true;
  std::optional<SmallVector<OpOperand *>> operands = getScaledOperands(user);
  if (!operands || !llvm::is_contained(*operands, &use))
    return false;
  values.insert(user->getResult(0));
  return true;
}

std::optional<ScaledRegion> ScaledRegion::find(const Layers &layers,
                                               Value value, Operation *end,
                                               Operation *&obstacle) {
  ScaledRegion region;
  region.values.insert(value);
  for (size_t next = 0; next != region.values.size(); ++next) {
    Value each = region.values[next];
    obstacle = each.getDefiningOp();
    if (obstacle == end || !isF32Tensor(each) ||
        region.values.size() > kMaxRegionValues ||
        !region.addSources(layers, each))
      return std::nullopt;
    for (OpOperand &use : each.getUses()) {
      obstacle = use.getOwner();
      if (obstacle != end && !region.addUser(layers, use))
        return std::nullopt;
    }
  }
  obstacle = nullptr;
  return region;
}

double ScaledRegion::getFactor(Operation *product, double factor) const {
  double result = contains(product->getResult(0)) ? factor : 1;
  OpOperand *input = getProductWithConstant(product).second;
  return contains(input->get()) ? result / factor : result;
}

bool ScaledRegion::scalesExactly(double factor) const {
  auto isExact = [](OpOperand *constant, double by) {
    return mct::scalesExactly(ConstantFloats::get(constant->get())->values(),
                              by);
  };
  for (const auto &[op, layer] : producers)
    if (!mct::scalesExactly(layer.getKernel().values(), factor) ||
        !mct::scalesExactly(*layer.getBias(), factor))
      return false;
  for (const auto &[op, layer] : consumers)
    if (!mct::scalesExactly(layer.getKernel().values(), 1 / factor))
      return false;
  return llvm::all_of(
             constants,
             [&](OpOperand *constant) { return isExact(constant, factor); }) &&
         llvm::all_of(products, [&](Operation *product) {
           return isExact(getProductWithConstant(product).first,
                          getFactor(product, factor));
         });
}

static void scaleConstant(OpOperand &operand, double factor) {
  std::optional<ConstantFloats> old = ConstantFloats::get(operand.get());
  std::vector<float> values;
  for (float value : old->values())
    values.push_back(float(factor * value));
  replaceConstant(operand, cast<RankedTensorType>(operand.get().getType()),
                  values);
}

void ScaledRegion::apply(double factor,
                         llvm::function_ref<void(Operation *)> changed) const {
  for (const auto &[op, layer] : producers) {
    OpBuilder builder(op);
    // Ops between the product and the addition of its bias.
    Value result = layer.getResult();
    for (Operation *next = op; next->getResult(0) != result;
         next = *next->getResult(0).user_begin())
      changed(next);
    scaleOutputs(
        builder, layer,
        std::vector<double>(size_t(layer.numOutputChannels()), factor));
  }
  for (const auto &[op, layer] : consumers) {
    OpBuilder builder(op);
    scaleInputs(
        builder, layer,
        std::vector<double>(size_t(layer.numInputChannels()), 1 / factor));
  }
  for (OpOperand *constant : constants)
    scaleConstant(*constant, factor);
  for (Operation *product : products)
    if (double each = getFactor(product, factor); each != 1)
      scaleConstant(*getProductWithConstant(product).first, each);
  for (Value value : values)
    changed(value.getDefiningOp());
}
