// SPDX-License-Identifier: Apache-2.0
#include "SwitchedNetwork.h"

#include "mct/IR/Constants.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mct;
using namespace mct::report;

/// Returns the operand by which a layer, or the op that adds its bias, reads
/// the bias constant with one value per channel; null if it is read in another
/// way.
static OpOperand *findBiasOperand(const KernelOp &layer) {
  Value constant = layer.getBiasConstant();
  if (!constant ||
      cast<RankedTensorType>(constant.getType()).getNumElements() !=
          layer.numOutputChannels())
    return nullptr;
  for (Operation *op :
       {layer.getOperation(), layer.getResult().getDefiningOp()})
    for (OpOperand &operand : op->getOpOperands())
      if (&operand != &layer.getInput() &&
          &operand != &layer.getKernelOperand() &&
          tpc::lookThroughPoints(operand.get()) == constant)
        return &operand;
  return nullptr;
}

size_t SwitchedNetwork::addPoint(tpc::QuantizeOp point,
                                 llvm::DenseMap<Operation *, size_t> &numbers) {
  auto [found, isNew] = numbers.try_emplace(point, points.size());
  if (!isNew)
    return found->second;
  names.push_back(point.getUniqueName());
  SwitchedPoint &added = points.emplace_back();
  added.quantizer = point.getParametersAttr();
  added.isSwitched = bool(added.quantizer);
  added.isWeight = point.isWeight();
  llvm::append_range(added.shape,
                     cast<RankedTensorType>(point.getType()).getShape());
  llvm::append_range(added.axes, point.getChannelAxes());
  return found->second;
}

static SwitchedKernel describeKernel(const KernelOp &layer,
                                     const KernelOp &takenBack) {
  SwitchedKernel kernel;
  kernel.floats = takenBack.getKernel().values().vec();
  kernel.corrected = layer.getKernel().values().vec();
  tpc::CorrectionsAttr record = layer.getCorrections();
  if (!record)
    return kernel;
  // Rounded weights have no scale.
  if (record.getKernel())
    kernel.unrounded = kernel.floats;
  else if (llvm::any_of(record.getKernelScale(),
                        [](double scale) { return scale != 1; }))
    for (size_t element = 0; element != kernel.floats.size(); ++element)
      kernel.scale.push_back(
          float(record.getScaleOf(layer.outChannelOf(int64_t(element)))));
  return kernel;
}

void SwitchedNetwork::addCorrections(const KernelOp &layer,
                                     const SwitchedLayer &described) {
  tpc::CorrectionsAttr record = layer.getCorrections();
  if (!record || !described.kernelPoint)
    return;
  auto add = [&](bool isRounding) {
    SwitchedCorrection &added = corrections.emplace_back();
    added.point = *described.kernelPoint;
    added.isRounding = isRounding;
    for (StringAttr applied : record.getApplied())
      if (record.getApplied().size() == 1 ||
          (applied == tpc::kRoundedWeights) == isRounding)
        added.applied.push_back(applied.str());
  };
  if (described.bias.floats != described.bias.corrected ||
      !described.kernel.scale.empty())
    add(/*isRounding=*/false);
  if (!described.kernel.unrounded.empty())
    add(/*isRounding=*/true);
}

void SwitchedNetwork::describeLayer(
    const KernelOp &layer, const KernelOp &takenBack,
    llvm::DenseMap<Operation *, size_t> &numbers) {
  SwitchedLayer described;
  described.kernel = describeKernel(layer, takenBack);
  described.bias = {takenBack.getBias().value_or(std::vector<float>()),
                    layer.getBias().value_or(std::vector<float>())};
  tpc::QuantizeOp point = layer.getKernelPoint();
  OpOperand *bias = findBiasOperand(layer);
  auto biasPoint =
      bias ? bias->get().getDefiningOp<tpc::QuantizeOp>() : tpc::QuantizeOp();
  bool isCorrected = described.bias.floats != described.bias.corrected;
  if (point && (point.getParametersAttr() || layer.getCorrections())) {
    described.kernelPoint = addPoint(point, numbers);
    described.kernelNumber = options.replaceable.size();
    options.replaceable.push_back(&layer.getKernelOperand());
  }
  if (biasPoint && biasPoint.getParametersAttr())
    described.biasPoint = addPoint(biasPoint, numbers);
  if (!described.kernelPoint && !described.biasPoint)
    return;
  if (bias && (isCorrected || described.biasPoint)) {
    described.biasNumber = options.replaceable.size();
    options.replaceable.push_back(bias);
  } else if (isCorrected) {
    // The index is relative until the values of all layers are known.
    described.edited = options.observedValues.size();
    options.observedValues.push_back(layer.getResult());
  }
  if (isCorrected) {
    described.resultAxis = layer.resultAxis();
    correctedResults.push_back({layers.size(), layer.getResult()});
  }
  described.stageNumber = options.observedBefore.size();
  options.observedBefore.push_back(
      {layer.getInput().get(), layer.getOperation()});
  for (std::optional<size_t> of : {described.kernelPoint, described.biasPoint})
    if (of)
      points[*of].layers.push_back(layers.size());
  addCorrections(layer, described);
  layerNumbers[layer.getOperation()] = layers.size();
  layers.push_back(std::move(described));
}

/// Finds the layers that read the values of a point. Their biases were
/// corrected for its error; the errors of other points have their own readers.
void SwitchedNetwork::findReaders(tpc::QuantizeOp point,
                                  SwitchedPoint &described) const {
  SmallVector<Value> pending = {point.getResult()};
  llvm::DenseSet<Operation *> visited;
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (!visited.insert(user).second)
        continue;
      auto other = dyn_cast<tpc::QuantizeOp>(user);
      if (auto found = layerNumbers.find(user); found != layerNumbers.end())
        described.readers.push_back(found->second);
      else if (!other || !other.getParametersAttr())
        llvm::append_range(pending, user->getResults());
    }
}

void SwitchedNetwork::describe(func::FuncOp function, func::FuncOp takenBack,
                               const KernelOps &kernels) {
  std::vector<KernelOp> floats = kernels.findBelow(takenBack);
  OpBuilder builder(takenBack.getContext());
  for (const KernelOp &layer : floats)
    if (layer.getCorrections())
      layer.takeBackCorrections(builder);
  llvm::DenseMap<Operation *, size_t> numbers;
  for (auto [layer, floating] :
       llvm::zip_equal(kernels.findBelow(function), floats))
    describeLayer(layer, floating, numbers);
  for (SwitchedPoint &point : points) {
    const SwitchedLayer &layer = layers[point.layers.front()];
    bool isKernel = layer.kernelPoint == size_t(&point - points.data());
    const Switched &values = isKernel ? layer.kernel : layer.bias;
    std::vector<float> quantized(values.corrected);
    if (point.quantizer)
      point.quantizer.fakeQuantize(point.shape, point.axes, quantized.data(),
                                   quantized.data());
    point.sums.emplace().add(quantized, values.floats);
  }
  function.walk([&](tpc::QuantizeOp point) {
    if (numbers.contains(point)) {
      point.removeQuantizer();
      return;
    }
    if (!point.getParametersAttr())
      return;
    SwitchedPoint &added = points[addPoint(point, numbers)];
    for (OpOperand &use : point->getUses())
      if (use.getOwner()->hasTrait<OpTrait::IsTerminator>())
        added.outputs.push_back(use.getOperandNumber());
    added.number = options.replaceablePoints.size();
    options.replaceablePoints.push_back(point);
    findReaders(point, added);
    Operation *constant =
        point.isWeight() ? tpc::getConstantOp(point.getInput()) : nullptr;
    if (!constant)
      return;
    if (auto values = ConstantFloats::get(constant->getResult(0))) {
      std::vector<float> quantized(values->values().size());
      added.quantizer.fakeQuantize(added.shape, added.axes,
                                   values->values().data(), quantized.data());
      added.sums.emplace().add(quantized, values->values());
    }
  });
  if (!points.empty())
    cutIntoStages(function);
}

/// Divides the network into stages at results that are edited and at inputs of
/// activation points, so that a point can be switched without computing its
/// input again.
void SwitchedNetwork::cutIntoStages(func::FuncOp function) {
  llvm::SetVector<Value> cuts(options.observedValues.begin(),
                              options.observedValues.end());
  function.walk([&](tpc::QuantizeOp point) {
    Value input = point.getInput();
    if (point.isActivation() && point.getParametersAttr() &&
        input.getDefiningOp() && !tpc::getConstantOp(input) &&
        !input.getDefiningOp<tpc::QuantizeOp>() &&
        cast<RankedTensorType>(input.getType()).getElementType().isF32())
      cuts.insert(input);
  });
  options.numEdited = cuts.size();
  for (auto [layer, result] : correctedResults) {
    cuts.insert(result);
    layers[layer].observed = llvm::find(cuts, result) - cuts.begin();
  }
  options.observedValues.assign(cuts.begin(), cuts.end());
}
