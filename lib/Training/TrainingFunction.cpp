// SPDX-License-Identifier: Apache-2.0
//
// Builds the functions that a training run executes from a network with
// trainable points, and the trained network from their values.
#include "TrainableModels.h"

#include "mct/IR/Constants.h"
#include "mct/IR/HostQuantizers.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/SetBatch.h"
#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace mlir;
using namespace mct;
using mct::tpc::LearnedRole;
using mct::tpc::QuantizeOp;
using mct::tpc::TrainableAttrInterface;

static Location nameLoc(MLIRContext *context, StringRef name) {
  return NameLoc::get(StringAttr::get(context, name));
}

static LearnedKind getKind(LearnedRole role) {
  switch (role) {
  case LearnedRole::Rounding:
  case LearnedRole::Perturbation:
    return LearnedKind::Rounding;
  case LearnedRole::ObservedMinimum:
  case LearnedRole::ObservedMaximum:
    return LearnedKind::State;
  case LearnedRole::Fraction:
    return LearnedKind::Schedule;
  default:
    return LearnedKind::Quantizer;
  }
}

/// Returns the trainable points of a function, in program order.
static SmallVector<QuantizeOp> findTrainable(func::FuncOp function) {
  SmallVector<QuantizeOp> points;
  for (auto point : function.getOps<QuantizeOp>())
    if (point.getTrainableAttr())
      points.push_back(point);
  return points;
}

static LogicalResult refuseLearned(func::FuncOp network) {
  for (auto point : network.getOps<QuantizeOp>())
    if (!point.getLearned().empty())
      return point.emitOpError("has learned values already: '@")
             << network.getName()
             << "' was made for training already; give the network that it was "
                "made of";
  return success();
}

//===----------------------------------------------------------------------===//
// Training functions
//===----------------------------------------------------------------------===//

namespace {
class TrainingFunctionBuilder {
public:
  TrainingFunctionBuilder(func::FuncOp network, const TrainingRequest &request)
      : network(network), request(request) {}

  FailureOr<TrainingFunction> run();

private:
  LogicalResult chooseResults();
  void spreadBiases();
  LogicalResult takePoint(QuantizeOp point);
  void takeBiases();
  std::optional<LearnedTensor> findWeights(QuantizeOp point);
  void returnStates();
  BlockArgument addArgument(LearnedValue value);

  func::FuncOp network;
  const TrainingRequest &request;
  TrainingFunction made;
  /// New values of states.
  SmallVector<Value> states;
  BlockArgument fraction;
  DenseSet<Operation *> biasPoints;
};
} // namespace

BlockArgument TrainingFunctionBuilder::addArgument(LearnedValue value) {
  func::FuncOp function = made.function;
  auto type = RankedTensorType::get(value.initial.shape,
                                    Float32Type::get(function.getContext()));
  value.argument = function.getNumArguments();
  (void)function.insertArgument(value.argument, type, {},
                                nameLoc(function.getContext(), value.name));
  made.learned.push_back(std::move(value));
  return function.getArguments().back();
}

LogicalResult TrainingFunctionBuilder::chooseResults() {
  Operation *terminator = made.function.getBody().front().getTerminator();
  if (!request.compared.empty()) {
    SmallVector<Value> chosen;
    for (StringRef name : request.compared) {
      Value found;
      for (Operation &op : made.function.getBody().front()) {
        auto point = dyn_cast<QuantizeOp>(op);
        if (point && point.isActivation() && point.getUniqueName() == name)
          found = point.getInput();
        // Constants are named after the ops that use them.
        if (!point && !found && op.getNumResults() == 1 &&
            !op.hasTrait<OpTrait::ConstantLike>())
          if (StringAttr given = mct::getName(op.getLoc());
              given && given.getValue() == name)
            found = op.getResult(0);
      }
      if (!found)
        return network.emitOpError()
               << "has neither an activation point nor a value '" << name
               << "' to compare; mct-assign-names names its values";
      chosen.push_back(found);
    }
    terminator->setOperands(chosen);
  }
  for (auto [number, type] : llvm::enumerate(terminator->getOperandTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.getElementType().isF32() || !tensor.hasStaticShape())
      return network.emitOpError()
             << "cannot be trained: what is compared (#" << number << ") is "
             << type << ", and no tensor of f32 of static shape";
  }
  made.numResults = terminator->getNumOperands();
  made.function.setFunctionType(
      FunctionType::get(network.getContext(), made.function.getArgumentTypes(),
                        terminator->getOperandTypes()));
  made.function.setResAttrsAttr({});
  return success();
}

/// Returns the operand that reads the bias of a layer, perhaps through points;
/// null if there is none.
static OpOperand *findBiasOperand(const KernelOp &layer) {
  Value constant = layer.getBiasConstant();
  if (!constant)
    return nullptr;
  Operation *addition = layer.getResult().getDefiningOp();
  for (Operation *user : {layer.getOperation(), addition})
    for (OpOperand &operand : user->getOpOperands()) {
      if (&operand == &layer.getKernelOperand() ||
          &operand == &layer.getInput())
        continue;
      OpOperand *read = &operand;
      while (auto point = read->get().getDefiningOp<QuantizeOp>())
        read = &point.getInputMutable();
      if (read->get() == constant)
        return read;
    }
  return nullptr;
}

static void replaceConstant(OpOperand &operand, Value by) {
  Operation *old = operand.get().getDefiningOp();
  operand.set(by);
  if (old->use_empty())
    old->erase();
}

/// Returns whether the kernel of the layer is trained.
static bool isTrained(const KernelOp &layer) {
  QuantizeOp point = layer.getKernelPoint();
  return point && point.getTrainableAttr();
}

/// Returns the layers whose kernels are trained, in program order.
static SmallVector<KernelOp> findTrainedLayers(func::FuncOp function,
                                               const KernelOps &kernels) {
  SmallVector<KernelOp> layers;
  for (Operation &op : function.getBody().front())
    if (std::optional<KernelOp> layer = kernels.get(&op);
        layer && isTrained(*layer))
      layers.push_back(*layer);
  return layers;
}

/// Returns the names of the layers' biases. If layers share a kernel, the later
/// ones get numbers.
static SmallVector<std::string> nameBiases(ArrayRef<KernelOp> layers) {
  SmallVector<std::string> names;
  llvm::StringMap<unsigned> counts;
  for (const KernelOp &layer : layers) {
    names.push_back((layer.getKernelPoint().getPointName() + "/bias").str());
    if (unsigned count = ++counts[names.back()]; count != 1)
      names.back() += "_" + std::to_string(count);
  }
  return names;
}

/// Returns whether the point learns a number for every element of its constant.
static bool learnsRounding(TrainableAttrInterface trainable) {
  return llvm::any_of(trainable.getRoles(), [](LearnedRole role) {
    return getKind(role) == LearnedKind::Rounding;
  });
}

/// Expands a bias of one number to one for each channel, since they are learned
/// separately, and adds a bias to products that have none.
void TrainingFunctionBuilder::spreadBiases() {
  for (const KernelOp &layer : findTrainedLayers(made.function, made.kernels)) {
    std::optional<std::vector<float>> bias = layer.getBias();
    Value constant = layer.getBiasConstant();
    if (!bias || (constant &&
                  cast<RankedTensorType>(constant.getType()).getNumElements() ==
                      static_cast<int64_t>(bias->size())))
      continue;
    OpBuilder builder(layer.getOperation());
    layer.setBias(builder, *bias, layer.getCorrections());
  }
}

void TrainingFunctionBuilder::takeBiases() {
  SmallVector<KernelOp> layers = findTrainedLayers(made.function, made.kernels);
  for (auto [layer, name] : llvm::zip_equal(layers, nameBiases(layers))) {
    OpOperand *operand = findBiasOperand(layer);
    std::optional<ConstantFloats> values =
        operand ? ConstantFloats::get(operand->get()) : std::nullopt;
    if (!values)
      continue;
    // A point does not turn a bias into a separate weight.
    if (auto point = dyn_cast<QuantizeOp>(operand->getOwner())) {
      biasPoints.insert(point);
      if (point.getTrainableAttr() && learnsRounding(point.getTrainableAttr()))
        continue;
    }
    if (!request.biases)
      continue;
    LearnedValue bias;
    bias.name = name;
    bias.kind = LearnedKind::Bias;
    bias.initial.shape = llvm::to_vector(values->shape());
    bias.initial.values = values->values().vec();
    replaceConstant(*operand, addArgument(std::move(bias)));
  }
}

/// Returns the constant that a weight point quantizes, or the bias that has
/// become an argument; none if it is computed.
std::optional<LearnedTensor>
TrainingFunctionBuilder::findWeights(QuantizeOp point) {
  if (auto constant = ConstantFloats::get(point.getInput()))
    return LearnedTensor{llvm::to_vector(constant->shape()),
                         constant->values().vec()};
  auto argument = dyn_cast<BlockArgument>(point.getInput());
  for (const LearnedValue &value : made.learned)
    if (argument && argument.getArgNumber() == value.argument)
      return value.initial;
  return std::nullopt;
}

LogicalResult TrainingFunctionBuilder::takePoint(QuantizeOp point) {
  TrainableAttrInterface trainable = point.getTrainableAttr();
  SmallVector<LearnedRole> roles = trainable.getRoles();
  std::optional<LearnedTensor> weights = findWeights(point);
  if (point.isWeight() && !weights)
    return point.emitOpError("cannot be trained: its operand is not constant");
  if (!roles.empty()) {
    auto quantizer = dyn_cast<TrainableQuantizerAttrInterface>(trainable);
    if (!quantizer)
      return noImplementation(point);
    FailureOr<SmallVector<LearnedTensor>> initial = quantizer.initialize(
        point, weights ? ArrayRef(weights->values) : ArrayRef<float>());
    if (failed(initial))
      return failure();
    SmallVector<Value> learned;
    bool hasStates = false;
    for (auto [role, tensor] : llvm::zip_equal(roles, *initial)) {
      LearnedValue value;
      value.kind = getKind(role);
      value.initial = std::move(tensor);
      if (role == LearnedRole::Fraction) {
        value.name = "fraction";
        if (!fraction) {
          value.initial.shape = {1};
          fraction = addArgument(std::move(value));
        }
        learned.push_back(fraction);
        continue;
      }
      hasStates |= value.kind == LearnedKind::State;
      value.role = role;
      value.point = point.getUniqueName();
      value.name = value.point + ":" + tpc::stringifyLearnedRole(role).str();
      learned.push_back(addArgument(std::move(value)));
    }
    point.getLearnedMutable().assign(learned);
    if (!trainable.keepsParameters())
      point.removeQuantizer();
    if (hasStates) {
      GradientRules rules;
      GradientBuilder builder(point.getLoc(), point->getNextNode(), rules);
      llvm::append_range(states, quantizer.buildStates(builder, point));
    }
  }
  if (!point.isWeight() || !request.weights || biasPoints.contains(point) ||
      learnsRounding(trainable))
    return success();
  LearnedValue value;
  value.name = value.point = point.getUniqueName();
  value.initial = std::move(*weights);
  replaceConstant(point.getInputMutable(), addArgument(std::move(value)));
  return success();
}

void TrainingFunctionBuilder::returnStates() {
  Operation *terminator = made.function.getBody().front().getTerminator();
  terminator->insertOperands(made.numResults, states);
  made.function.setFunctionType(
      FunctionType::get(network.getContext(), made.function.getArgumentTypes(),
                        terminator->getOperandTypes()));
}

FailureOr<TrainingFunction> TrainingFunctionBuilder::run() {
  OpBuilder builder(network->getContext());
  builder.setInsertionPointAfter(network);
  made.function = cast<func::FuncOp>(builder.clone(*network));
  made.function.setName(request.name);
  made.numInputs = network.getNumArguments();
  made.kernels = request.kernels
                     ? *request.kernels
                     : KernelOps(network->getParentOfType<ModuleOp>());
  auto build = [&]() -> LogicalResult {
    if (request.samples && failed(setBatch(made.function, request.samples)))
      return failure();
    if (failed(chooseResults()))
      return failure();
    if (request.biases)
      spreadBiases();
    takeBiases();
    for (QuantizeOp point : findTrainable(made.function))
      if (failed(takePoint(point)))
        return failure();
    returnStates();
    return success();
  };
  if (succeeded(build()))
    return made;
  made.function.erase();
  return failure();
}

FailureOr<TrainingFunction>
mct::makeTrainingFunction(func::FuncOp network,
                          const TrainingRequest &request) {
  if (!network.getBody().hasOneBlock())
    return network.emitOpError("cannot be trained: it is of several blocks");
  if (Operation *taken =
          network->getParentOfType<ModuleOp>().lookupSymbol(request.name)) {
    InFlightDiagnostic error = network.emitOpError()
                               << "cannot get the training function '@"
                               << request.name << "': the name is taken";
    error.attachNote(taken->getLoc()) << "by this one";
    return failure();
  }
  if (failed(refuseLearned(network)))
    return failure();
  if (findTrainable(network).empty())
    return network.emitOpError(
        "has nothing to train: no point has a 'trainable'; "
        "mct-make-trainable gives points one");
  return TrainingFunctionBuilder(network, request).run();
}

//===----------------------------------------------------------------------===//
// Training steps
//===----------------------------------------------------------------------===//

FailureOr<TrainingStep> mct::makeTrainingStep(const TrainingFunction &training,
                                              const GradientRules &rules) {
  func::FuncOp function = training.function;
  GradientRequest request;
  request.name = (function.getName() + "_step").str();
  request.rules = rules;
  request.withResults = true;
  for (unsigned number = 0; number != function.getNumResults(); ++number)
    (number < training.numResults ? request.results : request.kept)
        .push_back(number);
  for (const LearnedValue &value : training.learned)
    if (value.isTrained())
      request.inputs.push_back(function.getArgument(value.argument));
  FailureOr<func::FuncOp> gradient = addGradient(function, request);
  if (failed(gradient))
    return failure();
  if (failed(expandTrainablePoints(*gradient))) {
    gradient->erase();
    return failure();
  }
  // Gradients repeat computations of the forward part.
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(*gradient);
  eliminateCommonSubExpressions(rewriter, dominance, *gradient);

  TrainingStep step;
  step.function = *gradient;
  Block &body = gradient->getBody().front();
  for (unsigned number = 0; number != training.numResults; ++number) {
    Value result = body.getTerminator()->getOperand(number);
    BlockArgument seed = body.getArgument(function.getNumArguments() + number);
    OpBuilder builder(gradient->getContext());
    builder.setInsertionPointAfterValue(result);
    step.seeds.push_back(tosa::IdentityOp::create(builder, seed.getLoc(),
                                                  seed.getType(), result));
    seed.replaceAllUsesWith(step.seeds.back());
  }
  llvm::BitVector erased(gradient->getNumArguments());
  erased.set(function.getNumArguments(), gradient->getNumArguments());
  (void)gradient->eraseArguments(erased);
  return step;
}

//===----------------------------------------------------------------------===//
// The trained network
//===----------------------------------------------------------------------===//

namespace {
/// Learned tensors of one layer or point.
struct LearnedOfPoint {
  SmallVector<ArrayRef<float>> quantizer;
  ArrayRef<float> weights;
};
} // namespace

/// Replaces the elements of a constant for one user.
static void replaceConstant(OpOperand &operand, ArrayRef<float> values,
                            StringRef name) {
  OpBuilder builder(operand.getOwner());
  Value old = operand.get();
  replaceConstant(operand, createConstant(builder, old.getLoc(),
                                          cast<RankedTensorType>(old.getType()),
                                          values, name));
}

namespace {
/// A layer as it was in the float network, and the corrections made to it.
struct FloatLayer {
  QuantizeOp point;
  KernelOp op;
  std::vector<float> bias;
  ElementsAttr kernel;
  SmallVector<StringAttr> applied;
};
} // namespace

/// Returns the float layer according to the record of corrections or, without a
/// record, the present layer.
static FloatLayer readFloatLayer(const KernelOp &layer) {
  FloatLayer was{layer.getKernelPoint(), layer, *layer.getBias(), {}, {}};
  tpc::CorrectionsAttr corrections = layer.getCorrections();
  ConstantFloats constant = layer.getKernel();
  std::vector<float> kernel(constant.values());
  if (corrections) {
    llvm::append_range(was.applied, corrections.getApplied());
    was.kernel = corrections.getKernel();
    for (auto [channel, bias] : llvm::enumerate(was.bias))
      bias = float((bias - corrections.getBiasOffset()[channel]) /
                   corrections.getScaleOf(channel));
    for (auto [element, value] : llvm::enumerate(kernel))
      value = float(
          value / corrections.getScaleOf(layer.outChannelOf(int64_t(element))));
  }
  if (!was.kernel)
    was.kernel =
        createFloats(cast<RankedTensorType>(was.point.getInput().getType()),
                     kernel, (was.point.getUniqueName() + ".float_kernel"));
  auto rounded =
      StringAttr::get(layer.getOperation()->getContext(), tpc::kRoundedWeights);
  if (!llvm::is_contained(was.applied, rounded))
    was.applied.push_back(rounded);
  return was;
}

/// Records the changes of a layer.
static LogicalResult record(const FloatLayer &was) {
  QuantizeOp point = was.point;
  SmallVector<double> offsets;
  for (auto [now, before] : llvm::zip_equal(*was.op.getBias(), was.bias)) {
    if (!std::isfinite(now))
      return point.emitOpError()
             << "has learned the bias " << now
             << " for its layer; train with a smaller learning rate";
    offsets.push_back(double(now) - double(before));
  }
  point.setCorrectionsAttr(tpc::CorrectionsAttr::get(
      point.getContext(), was.applied, offsets, 1.0, std::nullopt, was.kernel));
  return success();
}

/// Checks layers; quantizers check their own learned values.
static LogicalResult requireFinite(func::FuncOp network,
                                   const LearnedValue &value,
                                   ArrayRef<float> tensor) {
  bool isPlain = value.kind == LearnedKind::Weight ||
                 value.kind == LearnedKind::Bias ||
                 value.role == tpc::LearnedRole::Rounding ||
                 value.role == tpc::LearnedRole::Perturbation;
  const float *odd =
      llvm::find_if(tensor, [](float each) { return !std::isfinite(each); });
  if (!isPlain || odd == tensor.end())
    return success();
  return network.emitOpError("learned ")
         << *odd << " as a value of '" << value.name
         << "'; train with a smaller learning rate";
}

LogicalResult mct::writeLearned(func::FuncOp network,
                                const TrainingFunction &training,
                                ArrayRef<std::vector<float>> values,
                                bool recordsRounding) {
  for (auto [value, tensor] : llvm::zip_equal(training.learned, values))
    if (failed(requireFinite(network, value, tensor)))
      return failure();
  llvm::StringMap<LearnedOfPoint> learned;
  llvm::StringMap<ArrayRef<float>> biases;
  for (auto [value, tensor] : llvm::zip_equal(training.learned, values))
    if (value.kind == LearnedKind::Bias)
      biases[value.name] = tensor;
    else if (value.kind == LearnedKind::Weight)
      learned[value.point].weights = tensor;
    else if (value.kind != LearnedKind::Schedule)
      learned[value.point].quantizer.push_back(tensor);

  SmallVector<KernelOp> layers = findTrainedLayers(network, training.kernels);
  SmallVector<std::string> biasNames = nameBiases(layers);
  std::vector<FloatLayer> floatLayers;
  if (recordsRounding)
    for (const KernelOp &layer : layers)
      floatLayers.push_back(readFloatLayer(layer));
  for (QuantizeOp point : findTrainable(network)) {
    const LearnedOfPoint &own = learned[point.getUniqueName()];
    FrozenQuantizer frozen;
    frozen.parameters = point.getParametersAttr();
    std::optional<ConstantFloats> constant =
        ConstantFloats::get(point.getInput());
    if (!own.quantizer.empty()) {
      auto quantizer =
          cast<TrainableQuantizerAttrInterface>(point.getTrainableAttr());
      ArrayRef<float> weights = own.weights;
      if (weights.empty() && constant)
        weights = constant->values();
      FailureOr<FrozenQuantizer> made =
          quantizer.freeze(point, weights, own.quantizer);
      if (failed(made))
        return failure();
      frozen = std::move(*made);
    } else if (getHostPoint(point)) {
      FailureOr<tpc::QuantizerAttrInterface> made = freezeHostQuantizer(point);
      if (failed(made))
        return failure();
      frozen.parameters = *made;
    }
    ArrayRef<float> weights =
        frozen.weights.empty() ? own.weights : ArrayRef(frozen.weights);
    if (!weights.empty()) {
      point.removeCorrectionsAttr();
      replaceConstant(point.getInputMutable(), weights, point.getUniqueName());
    }
    // Records of the selection of parameters, or of rounding, no longer apply.
    if (!weights.empty() || frozen.parameters != point.getParametersAttr())
      point.setQuantizer(frozen.parameters);
    point.removeTrainableAttr();
  }
  // Do this last: changing the bias drops the record of corrections, which has
  // the float weights.
  for (auto [layer, name] : llvm::zip_equal(layers, biasNames))
    if (auto bias = biases.find(name); bias != biases.end()) {
      OpBuilder builder(layer.getOperation());
      layer.setBias(builder, bias->second);
    }
  for (const FloatLayer &was : floatLayers)
    if (failed(record(was)))
      return failure();
  return success();
}
