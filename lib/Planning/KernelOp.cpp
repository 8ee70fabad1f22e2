// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/KernelOp.h"
#include "mct/IR/EraseUnused.h"
#include "mct/IR/Names.h"
#include "mct/Planning/KernelRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "tpc_dialect/targets/LoadTarget.h"
#include <cmath>

using namespace mlir;
using namespace mct;

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

KernelOps KernelOps::forModule(ModuleOp module) {
  KernelOps ops;
  auto addAll = [&](ModuleOp from) {
    for (auto framework : from.getOps<tpc::FrameworkOp>())
      for (auto info : framework.getEntries().getAsRange<tpc::OpInfoAttr>())
        ops.infos.try_emplace(info.getOpName().getValue(), info);
  };
  addAll(module);
  if (!module->hasAttr(tpc::TpcDialect::kTargetAttrName))
    if (OwningOpRef<ModuleOp> stock =
            tpc::loadStockVocabularies(module.getContext()))
      addAll(*stock);
  return ops;
}

static RankedTensorType getF32TensorType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32() ? type : RankedTensorType();
}

/// Returns the non-negative index of `axis`, which may count from the end, or
/// none if there is no such axis.
static std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < 0)
    axis += rank;
  return axis >= 0 && axis < rank ? std::optional(axis) : std::nullopt;
}

/// Returns the integers of an array attribute in the form of any dialect.
static SmallVector<int64_t, 2> getIntegers(Operation *op, StringRef name) {
  Attribute attribute = op->getAttr(name);
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attribute))
    return SmallVector<int64_t, 2>(array.asArrayRef());
  if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attribute)) {
    SmallVector<int64_t, 2> values;
    for (const APInt &value : elements.getValues<APInt>())
      values.push_back(value.getSExtValue());
    return values;
  }
  return {};
}

std::optional<KernelOp> KernelOps::get(Operation *op) const {
  tpc::OpInfoAttr info = infos.lookup(op->getName().getStringRef());
  if (!info || !info.getKernel() || info.getOutAxes().empty() ||
      !info.getResultAxis() || op->getNumResults() != 1)
    return std::nullopt;
  KernelOp kernelOp;
  kernelOp.op = op;
  int64_t numOperands = op->getNumOperands();
  if (*info.getKernel() < 0 || *info.getKernel() >= numOperands ||
      numOperands < 2 || info.getBias().value_or(0) < 0 ||
      info.getBias().value_or(0) >= numOperands)
    return std::nullopt;
  kernelOp.kernelNumber = *info.getKernel();
  kernelOp.inputNumber = kernelOp.kernelNumber == 0 ? 1 : 0;
  if (info.getBias())
    kernelOp.biasNumber = *info.getBias();

  Value kernel = op->getOperand(kernelOp.kernelNumber);
  RankedTensorType type = getF32TensorType(kernel);
  RankedTensorType input =
      getF32TensorType(op->getOperand(kernelOp.inputNumber));
  RankedTensorType result = getF32TensorType(op->getResult(0));
  if (!type || !input || !result || !type.hasStaticShape())
    return std::nullopt;
  Operation *constant = tpc::getConstantOp(kernel);
  if (!constant || !ConstantFloats::exists(constant->getResult(0)))
    return std::nullopt;

  kernelOp.numOutputs = 1;
  for (int64_t described : info.getOutAxes()) {
    std::optional<int64_t> axis = normalizeAxis(described, type.getRank());
    if (!axis)
      return std::nullopt;
    kernelOp.outAxes.push_back(*axis);
    kernelOp.numOutputs *= type.getDimSize(*axis);
  }
  if (info.getInAxis()) {
    kernelOp.inAxis = normalizeAxis(*info.getInAxis(), type.getRank());
    if (!kernelOp.inAxis)
      return std::nullopt;
  }
  kernelOp.channelAxis = *info.getResultAxis();
  std::optional<int64_t> inputAxis =
      normalizeAxis(kernelOp.channelAxis, input.getRank());
  std::optional<int64_t> resultAxis =
      normalizeAxis(kernelOp.channelAxis, result.getRank());
  if (!inputAxis || !resultAxis ||
      result.getDimSize(*resultAxis) != kernelOp.numOutputs ||
      (kernelOp.inAxis &&
       input.getDimSize(*inputAxis) != type.getDimSize(*kernelOp.inAxis)))
    return std::nullopt;

  // The other axes are spatial axes or a batch.
  SmallVector<int64_t, 2> others;
  for (int64_t axis = 0; axis != type.getRank(); ++axis)
    if (!llvm::is_contained(kernelOp.outAxes, axis) && kernelOp.inAxis != axis)
      others.push_back(type.getDimSize(axis));
  kernelOp.strides = getIntegers(op, "stride");
  if (kernelOp.strides.empty())
    kernelOp.strides = getIntegers(op, "strides");
  // linalg omits the attribute if all strides are 1.
  if (kernelOp.strides.empty() && isa<linalg::ConvolutionOpInterface>(op))
    kernelOp.strides.assign(others.size(), 1);
  if (kernelOp.strides.empty()) {
    if (!llvm::all_of(others, [](int64_t size) { return size == 1; }))
      return std::nullopt;
    return kernelOp;
  }
  kernelOp.window = others;
  kernelOp.dilations = getIntegers(op, "dilation");
  if (kernelOp.dilations.empty())
    kernelOp.dilations = getIntegers(op, "dilations");
  if (kernelOp.dilations.empty())
    kernelOp.dilations.assign(others.size(), 1);
  kernelOp.padding = getIntegers(op, "pad");
  if (kernelOp.padding.empty())
    kernelOp.padding = getIntegers(op, "out_pad");
  if (kernelOp.padding.empty())
    kernelOp.padding.assign(2 * others.size(), 0);
  if (kernelOp.strides.size() != others.size() ||
      kernelOp.dilations.size() != others.size() ||
      kernelOp.padding.size() != 2 * others.size())
    return std::nullopt;
  return kernelOp;
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

Value KernelOp::getKernelConstant() const {
  return tpc::getConstantOp(getKernelOperand().get())->getResult(0);
}

tpc::QuantizeOp KernelOp::getKernelPoint() const {
  return getKernelOperand().get().getDefiningOp<tpc::QuantizeOp>();
}

ArrayRef<int64_t> KernelOp::getKernelShape() const {
  return cast<RankedTensorType>(getKernelOperand().get().getType()).getShape();
}

bool KernelOp::isDepthwise() const {
  return inAxis && llvm::is_contained(outAxes, *inAxis);
}

int64_t KernelOp::inputAxis() const {
  return *normalizeAxis(
      channelAxis,
      cast<RankedTensorType>(getInput().get().getType()).getRank());
}

int64_t KernelOp::resultAxis() const {
  return *normalizeAxis(
      channelAxis, cast<RankedTensorType>(getResult().getType()).getRank());
}

int64_t KernelOp::numInputChannels() const {
  return cast<RankedTensorType>(getInput().get().getType())
      .getDimSize(inputAxis());
}

/// Returns the distance of neighbouring elements along `axis`.
static int64_t getStep(ArrayRef<int64_t> shape, int64_t axis) {
  return llvm::product_of(shape.drop_front(axis + 1));
}

int64_t KernelOp::outChannelOf(int64_t element) const {
  ArrayRef<int64_t> shape = getKernelShape();
  int64_t channel = 0;
  for (int64_t axis : outAxes)
    channel =
        channel * shape[axis] + element / getStep(shape, axis) % shape[axis];
  return channel;
}

int64_t KernelOp::inChannelOf(int64_t element) const {
  ArrayRef<int64_t> shape = getKernelShape();
  return inAxis ? element / getStep(shape, *inAxis) % shape[*inAxis] : 0;
}

std::vector<double> KernelOp::contract(ArrayRef<float> kernel,
                                       ArrayRef<double> input) const {
  std::vector<double> result(numOutputs, 0.0);
  forEachKernelElement(*this, [&](int64_t element, int64_t to, int64_t from) {
    result[to] += kernel[element] * input[from];
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Kernel and bias
//===----------------------------------------------------------------------===//

ConstantFloats KernelOp::getKernel() const {
  return *ConstantFloats::get(getKernelConstant());
}

std::optional<std::vector<float>>
mct::getChannelConstant(Value value, int64_t axis, int64_t channels) {
  Operation *op = value.getDefiningOp();
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(op)) {
    FloatAttr number;
    if (!matchPattern(fill.getInputs().front(), m_Constant(&number)))
      return std::nullopt;
    return std::vector<float>(channels, number.getValue().convertToFloat());
  }
  if (auto broadcast = dyn_cast_or_null<linalg::BroadcastOp>(op)) {
    int64_t rank = broadcast.getInit().getType().getRank();
    if (int64_t(broadcast.getDimensions().size()) != rank - 1 ||
        llvm::is_contained(broadcast.getDimensions(), axis))
      return std::nullopt;
    return getChannelConstant(broadcast.getInput(), 0, channels);
  }
  std::optional<ConstantTensor> tensor = ConstantTensor::get(value);
  if (!tensor || !tensor->getType().getElementType().isF32())
    return std::nullopt;
  ArrayRef<float> values = tensor->getFloats();
  ArrayRef<int64_t> shape = tensor->getShape();
  if (values.size() == 1)
    return std::vector<float>(channels, values.front());
  if (axis >= int64_t(shape.size()) || values.empty())
    return std::nullopt;
  int64_t step = getStep(shape, axis), size = shape[axis];
  if (size != channels && size != 1)
    return std::nullopt;
  std::vector<float> result(channels);
  for (int64_t channel = 0; channel != channels; ++channel)
    result[channel] = values[size == 1 ? 0 : channel * step];
  for (auto [element, single] : llvm::enumerate(values))
    // Compare bits, so that a NaN is equal to itself.
    if (llvm::bit_cast<uint32_t>(single) !=
        llvm::bit_cast<uint32_t>(result[element / step % size]))
      return std::nullopt;
  return result;
}

/// Same as `getChannelConstant`, but looks through weight points.
static std::optional<std::vector<float>>
getConstantThroughPoints(Value value, int64_t axis, int64_t channels) {
  if (Operation *constant = tpc::getConstantOp(value))
    value = constant->getResult(0);
  return getChannelConstant(value, axis, channels);
}

/// Returns the addition of a constant per channel after an op without a bias
/// operand, and the index of the constant operand; null if there is none.
static std::pair<Operation *, unsigned> findBiasAddition(Value result,
                                                         int64_t channels) {
  while (result.hasOneUse()) {
    Operation *user = *result.user_begin();
    if (auto reshape = dyn_cast<tosa::ReshapeOp>(user)) {
      auto type = dyn_cast<RankedTensorType>(reshape.getType());
      if (!type || type.getRank() == 0 || type.getShape().back() != channels)
        return {};
      result = reshape.getResult();
      continue;
    }
    if (!isa<tosa::AddOp>(user) ||
        user->getResult(0).getType() != result.getType())
      return {};
    unsigned number = user->getOperand(0) == result ? 1 : 0;
    Value other = user->getOperand(number);
    auto type = dyn_cast<RankedTensorType>(other.getType());
    if (!tpc::getConstantOp(other) || !type || type.getRank() == 0 ||
        type.getNumElements() != channels || type.getShape().back() != channels)
      return {};
    return {user, number};
  }
  return {};
}

static bool addsBiasSeparately(const KernelOp &kernelOp) {
  return isa<tosa::MatMulOp>(kernelOp.getOperation());
}

Value KernelOp::getResult() const {
  if (!biasNumber && addsBiasSeparately(*this))
    if (Operation *add = findBiasAddition(op->getResult(0), numOutputs).first)
      return add->getResult(0);
  return op->getResult(0);
}

std::optional<std::vector<float>> KernelOp::getBias() const {
  if (biasNumber)
    return getConstantThroughPoints(op->getOperand(*biasNumber), 0, numOutputs);
  if (addsBiasSeparately(*this)) {
    auto [add, number] = findBiasAddition(op->getResult(0), numOutputs);
    if (!add)
      return std::vector<float>(numOutputs, 0.0f);
    Value constant = add->getOperand(number);
    return getConstantThroughPoints(
        constant, cast<RankedTensorType>(constant.getType()).getRank() - 1,
        numOutputs);
  }
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  if (!destination || destination.getNumDpsInits() != 1)
    return std::nullopt;
  // linalg adds to the initial value of the result.
  Value initial = destination.getDpsInits().front();
  int64_t axis = *normalizeAxis(
      channelAxis, cast<RankedTensorType>(initial.getType()).getRank());
  return getConstantThroughPoints(initial, axis, numOutputs);
}

Value KernelOp::getBiasConstant() const {
  Value bias;
  if (biasNumber) {
    bias = op->getOperand(*biasNumber);
  } else if (addsBiasSeparately(*this)) {
    auto [add, number] = findBiasAddition(op->getResult(0), numOutputs);
    if (add)
      bias = add->getOperand(number);
  } else if (auto destination = dyn_cast<DestinationStyleOpInterface>(op);
             destination && destination.getNumDpsInits() == 1) {
    bias = destination.getDpsInits().front();
    if (auto broadcast = bias.getDefiningOp<linalg::BroadcastOp>())
      bias = broadcast.getInput();
  }
  Operation *constant = bias ? tpc::getConstantOp(bias) : nullptr;
  return constant ? constant->getResult(0) : Value();
}

/// Creates a constant in the dialect of `like`.
static Value createLike(Operation *like, OpBuilder &builder, Location loc,
                        RankedTensorType type, ArrayRef<float> values,
                        StringRef name) {
  if (isa_and_present<arith::ConstantOp>(like))
    return arith::ConstantOp::create(
        builder, loc, cast<TypedAttr>(createFloats(type, values, name)));
  return createConstant(builder, loc, type, values, name);
}

/// Replaces the constant before the points of `operand`, for this operand only.
static void replaceConstant(OpBuilder &builder, OpOperand &operand,
                            Value constant) {
  OpOperand *use = &operand;
  while (auto point = use->get().getDefiningOp<tpc::QuantizeOp>()) {
    if (!point->hasOneUse()) {
      builder.setInsertionPoint(use->getOwner());
      point = cast<tpc::QuantizeOp>(builder.clone(*point));
      use->set(point.getResult());
    }
    use = &point.getInputMutable();
  }
  Operation *old = use->get().getDefiningOp();
  use->set(constant);
  eraseUnused(old, builder.getListener());
}

/// Returns the op before which a constant must be inserted so that all points
/// of `operand` can use it.
static Operation *getFirstUser(OpOperand &operand) {
  Operation *user = operand.getOwner();
  Value value = operand.get();
  while (auto point = value.getDefiningOp<tpc::QuantizeOp>()) {
    user = point;
    value = point.getInput();
  }
  return user;
}

Value KernelOp::createKernelConstant(OpBuilder &builder, RankedTensorType type,
                                     ArrayRef<float> values) const {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(getFirstUser(getKernelOperand()));
  return createLike(getKernelConstant().getDefiningOp(), builder, getLoc(),
                    type, values, getNameOrKind(op) + ".kernel");
}

tpc::CorrectionsAttr KernelOp::getCorrections() const {
  tpc::QuantizeOp point = getKernelPoint();
  return point ? point.getCorrectionsAttr() : tpc::CorrectionsAttr();
}

/// Returns the kernel before its weights were rounded, or none if its data are
/// missing.
static std::optional<ConstantFloats>
getFloatKernel(tpc::CorrectionsAttr corrections) {
  std::optional<ConstantTensor> tensor =
      ConstantTensor::get(corrections.getKernel());
  return tensor ? ConstantFloats::convert(*std::move(tensor)) : std::nullopt;
}

tpc::CorrectionsAttr
KernelOp::getCorrectionsAfter(ArrayRef<float> bias, ArrayRef<double> scale,
                              ArrayRef<double> offset) const {
  tpc::CorrectionsAttr corrections = getCorrections();
  if (!corrections || int64_t(corrections.getBiasOffset().size()) != numOutputs)
    return {};
  std::vector<float> before = *getBias();
  SmallVector<double> offsets;
  for (auto [channel, old] : llvm::enumerate(corrections.getBiasOffset())) {
    double factor = scale.empty() ? 1 : scale[channel];
    double addend = offset.empty() ? 0 : offset[channel];
    // The float bias times the scale of the kernel, before and after the
    // change.
    double scaled = double(before[channel]) - old;
    scaled = factor * scaled + corrections.getScaleOf(channel) * addend;
    offsets.push_back(double(bias[channel]) - scaled);
    if (!std::isfinite(offsets.back()))
      return {};
  }
  auto after = tpc::CorrectionsAttr::get(
      corrections.getContext(), corrections.getApplied(), offsets,
      corrections.getKernelScale(), corrections.getSamples(),
      corrections.getKernel());
  if (scale.empty())
    return after;
  return withScaledFloatKernel(after, [&](size_t element) {
    return scale[outChannelOf(int64_t(element))];
  });
}

tpc::CorrectionsAttr KernelOp::withScaledFloatKernel(
    tpc::CorrectionsAttr corrections,
    llvm::function_ref<double(size_t)> factorOf) const {
  if (!corrections || !corrections.getKernel())
    return corrections;
  std::optional<ConstantFloats> old = getFloatKernel(corrections);
  if (!old)
    return {};
  std::vector<float> kernel(old->values().begin(), old->values().end());
  for (auto [element, value] : llvm::enumerate(kernel))
    value = float(factorOf(element) * value);
  return tpc::CorrectionsAttr::get(
      corrections.getContext(), corrections.getApplied(),
      corrections.getBiasOffset(), corrections.getKernelScale(),
      corrections.getSamples(),
      createFloats(cast<RankedTensorType>(corrections.getKernel().getType()),
                   kernel, getNameOrKind(op) + ".float_kernel"));
}

/// Sets the corrections of a point, or removes them if several ops use it,
/// since it cannot describe only one of them.
static void setCorrections(tpc::QuantizeOp point,
                           tpc::CorrectionsAttr corrections) {
  if (!point)
    return;
  if (corrections && point->hasOneUse())
    point.setCorrectionsAttr(corrections);
  else
    point.removeCorrectionsAttr();
}

void KernelOp::setKernel(OpBuilder &builder, ArrayRef<float> kernel,
                         tpc::CorrectionsAttr corrections) const {
  OpBuilder::InsertionGuard guard(builder);
  replaceConstant(
      builder, getKernelOperand(),
      createKernelConstant(
          builder, cast<RankedTensorType>(getKernelOperand().get().getType()),
          kernel));
  for (Value value = getKernelOperand().get();
       auto point = value.getDefiningOp<tpc::QuantizeOp>();
       value = point.getInput())
    point.removeQuantizer();
  setCorrections(getKernelPoint(), corrections);
}

/// Adds a bias after `op`, whose result is then the product without bias.
static void addBias(OpBuilder &builder, Operation *op, ArrayRef<float> bias) {
  Value product = op->getResult(0);
  auto type = cast<RankedTensorType>(product.getType());
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape.back() = bias.size();
  builder.setInsertionPointAfter(op);
  Value constant =
      createConstant(builder, op->getLoc(),
                     RankedTensorType::get(shape, type.getElementType()), bias,
                     getNameOrKind(op) + ".bias");
  auto add =
      tosa::AddOp::create(builder, op->getLoc(), type, product, constant);
  product.replaceAllUsesExcept(add.getResult(), add);
  // The sum takes the name, which identifies the value for users.
  if (StringAttr name = mct::getName(op->getLoc()))
    op->setLoc(NameLoc::get(builder.getStringAttr(name.getValue() + ".product"),
                            op->getLoc()));
}

void KernelOp::setBias(OpBuilder &builder, ArrayRef<float> bias,
                       tpc::CorrectionsAttr corrections) const {
  OpBuilder::InsertionGuard guard(builder);
  setCorrections(getKernelPoint(), corrections);
  auto createVector = [&](Operation *like, OpOperand &user,
                          ArrayRef<int64_t> shape) {
    builder.setInsertionPoint(getFirstUser(user));
    return createLike(like, builder, op->getLoc(),
                      RankedTensorType::get(shape, builder.getF32Type()), bias,
                      getNameOrKind(op) + ".bias");
  };
  if (biasNumber) {
    OpOperand &operand = op->getOpOperand(*biasNumber);
    Value constant =
        createVector(tpc::getConstantOp(operand.get()), operand, numOutputs);
    // Points keep the element type; one value for all channels is replaced by
    // one for each.
    for (Value value = operand.get();
         auto point = value.getDefiningOp<tpc::QuantizeOp>();
         value = point.getInput())
      point.getResult().setType(cast<RankedTensorType>(constant.getType()));
    return replaceConstant(builder, operand, constant);
  }
  if (addsBiasSeparately(*this)) {
    auto [add, number] = findBiasAddition(op->getResult(0), numOutputs);
    if (!add)
      return addBias(builder, op, bias);
    OpOperand &operand = add->getOpOperand(number);
    return replaceConstant(
        builder, operand,
        createVector(
            tpc::getConstantOp(operand.get()), operand,
            cast<RankedTensorType>(operand.get().getType()).getShape()));
  }
  auto destination = cast<DestinationStyleOpInterface>(op);
  OpOperand &initial = destination.getDpsInitsMutable()[0];
  auto type = cast<RankedTensorType>(initial.get().getType());
  int64_t axis = *normalizeAxis(channelAxis, type.getRank());
  Value vector =
      createVector(getKernelConstant().getDefiningOp(), initial, numOutputs);
  Operation *old = initial.get().getDefiningOp();
  Value empty;
  if (isa_and_present<linalg::FillOp, linalg::BroadcastOp>(old))
    empty = cast<DestinationStyleOpInterface>(old).getDpsInits().front();
  else
    empty = tensor::EmptyOp::create(builder, op->getLoc(), type.getShape(),
                                    type.getElementType());
  SmallVector<int64_t> others;
  for (int64_t other = 0; other != type.getRank(); ++other)
    if (other != axis)
      others.push_back(other);
  auto broadcast =
      linalg::BroadcastOp::create(builder, op->getLoc(), vector, empty, others);
  initial.set(broadcast->getResult(0));
  eraseUnused(old, builder.getListener());
}

bool KernelOp::canTakeBackCorrections() const {
  tpc::CorrectionsAttr corrections = getCorrections();
  // If several layers share a point, its record does not identify the layer to
  // which the bias belongs.
  return int64_t(corrections.getBiasOffset().size()) == numOutputs &&
         getKernelPoint()->hasOneUse() && getBias() &&
         (!corrections.getKernel() || getFloatKernel(corrections));
}

void KernelOp::takeBackCorrections(OpBuilder &builder) const {
  // Setting the bias drops the record.
  tpc::CorrectionsAttr corrections = getCorrections();
  std::vector<float> bias = *getBias();
  for (auto [channel, value] : llvm::enumerate(bias))
    value = float((value - corrections.getBiasOffset()[channel]) /
                  corrections.getScaleOf(channel));
  setBias(builder, bias);
  if (corrections.getKernel())
    return setKernel(builder, getFloatKernel(corrections)->values());
  if (llvm::all_of(corrections.getKernelScale(),
                   [](double scale) { return scale == 1; }))
    return;
  ConstantFloats corrected = getKernel();
  std::vector<float> kernel(corrected.values());
  for (auto [element, value] : llvm::enumerate(kernel))
    value = float(value / corrections.getScaleOf(outChannelOf(element)));
  setKernel(builder, kernel);
}

std::vector<KernelOp> KernelOps::findBelow(Operation *root) const {
  std::vector<KernelOp> found;
  root->walk([&](Operation *op) {
    if (std::optional<KernelOp> layer = get(op))
      found.push_back(std::move(*layer));
  });
  return found;
}

llvm::DenseMap<Value, KernelOp> KernelOps::findByResult(Operation *root) const {
  llvm::DenseMap<Value, KernelOp> found;
  for (KernelOp &layer : findBelow(root))
    found.try_emplace(layer.getResult(), std::move(layer));
  return found;
}

void mct::takeBackCorrectionsBelow(Operation *root, const KernelOps &kernels) {
  OpBuilder builder(root->getContext());
  for (const KernelOp &found : kernels.findBelow(root)) {
    // An earlier layer may have changed constants that it shares with this one.
    std::optional<KernelOp> layer = kernels.get(found.getOperation());
    if (layer && layer->getCorrections() && layer->canTakeBackCorrections())
      layer->takeBackCorrections(builder);
  }
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

bool KernelOp::isTransposed() const { return isa<tosa::TransposeConv2DOp>(op); }

void KernelOp::setPadding(ArrayRef<int64_t> newPadding) {
  StringRef name = isTransposed() ? "out_pad" : "pad";
  op->setAttr(name, DenseI64ArrayAttr::get(op->getContext(), newPadding));
  padding.assign(newPadding.begin(), newPadding.end());
}

bool KernelOp::hasPadding() const {
  return llvm::any_of(padding, [](int64_t size) { return size != 0; });
}

bool KernelOp::isPointwise() const {
  return llvm::all_of(window, [](int64_t size) { return size == 1; });
}

bool KernelOp::isPositionwise() const {
  return isPointwise() && !hasPadding() &&
         llvm::all_of(strides, [](int64_t stride) { return stride == 1; });
}
