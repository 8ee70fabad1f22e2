// SPDX-License-Identifier: Apache-2.0
//
// The function that computes gradients is a copy of the float function,
// followed by the gradient rules of its ops from the last to the first.
#include "GradientModels.h"

#include "mct/IR/ConstantEvaluator.h"
#include "mct/IR/Names.h"
#include "mct/IR/Records.h"
#include "mct/Support/Troubleshooting.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/SetVector.h"

#include "mct/Training/DifferentiableOp.cpp.inc"
#include "mct/Training/TrainableQuantizer.cpp.inc"

using namespace mlir;
using namespace mct;

void mct::registerGradientModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *) {
    attachElementwiseGradients(context);
    attachMovementGradients(context);
    attachReductionGradients(context);
    attachConvolutionGradients(context);
    attachPoolingGradients(context);
  });
  registry.addExtension(+[](MLIRContext *context, tpc::TpcDialect *) {
    attachPointGradients(context);
  });
  registerTrainableQuantizers(registry);
}

LogicalResult mct::requireZero(Operation *op, ValueRange zeroPoints) {
  ConstantEvaluator constants;
  for (Value zeroPoint : zeroPoints) {
    std::optional<ConstantTensor> constant = constants.evaluate(zeroPoint);
    if (!constant || !constant->isUniformly(0))
      return op->emitOpError("has no gradient: a zero point is not 0");
  }
  return success();
}

SmallVector<int64_t> mct::readSizes(Value shape) {
  SmallVector<int64_t> sizes;
  tosa::getConstShapeValues(shape.getDefiningOp(), sizes);
  return sizes;
}

static bool hasFloatElements(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// Returns all values that an op uses, including in its regions.
static SetVector<Value> readBy(Operation *op) {
  SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

static bool isPiecewiseConstant(Operation *op) {
  // Integers change in steps.
  if (llvm::none_of(op->getResults(), hasFloatElements))
    return true;
  auto rule = dyn_cast<DifferentiableOpInterface>(op);
  return rule && rule.isPiecewiseConstant();
}

/// Returns whether a tensor has a known, nonzero number of elements.
static bool hasElements(Type type) {
  auto tensor = dyn_cast<ShapedType>(type);
  return !tensor || (tensor.hasStaticShape() && tensor.getNumElements() != 0);
}
static constexpr StringLiteral
    kShapeMustBeKnown("tensors must have a known number of elements, but one "
                      "is "),
    kRemedy("; run mct-set-batch=size=N before");

namespace {
/// Builds one function.
class Reverser {
public:
  Reverser(func::FuncOp function, const GradientRequest &request)
      : function(function), request(request) {}

  LogicalResult run();
  func::FuncOp result;

private:
  void copyForward();
  void findActive();
  LogicalResult checkActive();
  LogicalResult reverse(Operation *op);
  void addTo(Value value, Value gradient);
  void finish();

  func::FuncOp function;
  const GradientRequest &request;
  IRMapping copies;
  SmallVector<Value> inputs, results, kept;
  /// Ops of the copy, in order.
  SmallVector<Operation *> forward;
  /// Values that depend on an input, and ops on which a result depends.
  DenseSet<Value> varied;
  DenseSet<Operation *> useful;
  DenseMap<Value, Value> gradients;
};
} // namespace

static Location gradientLoc(Value value) {
  StringAttr name = mct::getName(value);
  Location loc = withoutName(value.getLoc());
  if (!name)
    return loc;
  return NameLoc::get(
      StringAttr::get(value.getContext(), name.getValue() + "_gradient"), loc);
}

void Reverser::copyForward() {
  Block &body = function.getBody().front();
  Operation *terminator = body.getTerminator();
  SmallVector<Type> argumentTypes(function.getArgumentTypes());
  SmallVector<Attribute> argumentAttributes;
  for (unsigned i = 0; i != function.getNumArguments(); ++i) {
    DictionaryAttr attributes = function.getArgAttrDict(i);
    argumentAttributes.push_back(
        attributes ? attributes : DictionaryAttr::get(function.getContext()));
  }
  for (unsigned number : request.results) {
    argumentTypes.push_back(terminator->getOperand(number).getType());
    argumentAttributes.push_back(DictionaryAttr::get(function.getContext()));
  }
  SmallVector<Type> resultTypes;
  if (request.withResults)
    for (unsigned number : request.results)
      resultTypes.push_back(terminator->getOperand(number).getType());
  for (unsigned number : request.kept)
    resultTypes.push_back(terminator->getOperand(number).getType());
  for (Value input : request.inputs)
    resultTypes.push_back(input.getType());

  OpBuilder builder(function);
  builder.setInsertionPointAfter(function);
  result = func::FuncOp::create(
      builder, withoutName(function.getLoc()), request.name,
      builder.getFunctionType(argumentTypes, resultTypes));
  result.setVisibility(function.getVisibility());
  Block *copy = result.addEntryBlock();
  result.setArgAttrsAttr(builder.getArrayAttr(argumentAttributes));
  for (BlockArgument argument : body.getArguments()) {
    BlockArgument copied = copy->getArgument(argument.getArgNumber());
    copied.setLoc(argument.getLoc());
    copies.map(argument, copied);
  }
  builder.setInsertionPointToEnd(copy);
  for (Operation &op : body.without_terminator())
    forward.push_back(builder.clone(op, copies));
  for (Value input : request.inputs)
    inputs.push_back(copies.lookup(input));
  for (auto [i, number] : llvm::enumerate(request.results)) {
    results.push_back(copies.lookup(terminator->getOperand(number)));
    copy->getArgument(body.getNumArguments() + static_cast<unsigned>(i))
        .setLoc(gradientLoc(results.back()));
  }
  for (unsigned number : request.kept)
    kept.push_back(copies.lookup(terminator->getOperand(number)));
}

void Reverser::findActive() {
  varied.insert(inputs.begin(), inputs.end());
  for (Operation *op : forward) {
    if (isPiecewiseConstant(op))
      continue;
    SetVector<Value> operands = readBy(op);
    if (llvm::any_of(operands,
                     [&](Value value) { return varied.contains(value); }))
      for (Value value : op->getResults())
        if (hasFloatElements(value))
          varied.insert(value);
  }
  DenseSet<Value> needed(results.begin(), results.end());
  for (Operation *op : llvm::reverse(forward)) {
    if (llvm::none_of(op->getResults(),
                      [&](Value value) { return needed.contains(value); }))
      continue;
    useful.insert(op);
    // No gradient passes, regardless of the users of the result.
    if (isPiecewiseConstant(op))
      continue;
    for (Value value : readBy(op))
      needed.insert(value);
  }
}

LogicalResult Reverser::checkActive() {
  std::optional<InFlightDiagnostic> error;
  for (Operation *op : forward) {
    SetVector<Value> operands = readBy(op);
    bool reads = llvm::any_of(
        operands, [&](Value value) { return varied.contains(value); });
    if (!reads || !useful.contains(op))
      continue;
    if (isPiecewiseConstant(op)) {
      if (request.remarks)
        emitRecord(op, "mct-add-gradient", Reason::PiecewiseConstant,
                   "passes no gradient: ");
      continue;
    }
    if (!isa<DifferentiableOpInterface>(op)) {
      if (request.remarks)
        emitRecord(op, "mct-add-gradient", Reason::NoGradientRule);
      if (!error)
        error.emplace(
            op->emitOpError(
                "has no rule for its gradient, and lies between an input and a "
                "result; implement DifferentiableOpInterface for it, or choose "
                "inputs behind it")
            << support::kTroubleshooting << "an-op-has-no-gradient");
      else
        error->attachNote(op->getLoc())
            << "this '" << op->getName().getStringRef() << "' op has none, too";
      continue;
    }
    for (ValueRange values :
         {ValueRange(op->getOperands()), ValueRange(op->getResults())})
      for (Value value : values) {
        if (hasElements(value.getType()))
          continue;
        if (error)
          return failure();
        return op->emitOpError("has no gradient: ")
               << kShapeMustBeKnown << value.getType() << kRemedy;
      }
  }
  return failure(error.has_value());
}

void Reverser::addTo(Value value, Value gradient) {
  auto [place, isNew] = gradients.try_emplace(value, gradient);
  if (isNew)
    return;
  GradientBuilder builder(withoutName(gradient.getLoc()),
                          result.getBody().front().getTerminator(),
                          request.rules);
  place->second = builder.add(place->second, gradient);
}

LogicalResult Reverser::reverse(Operation *op) {
  auto rule = dyn_cast<DifferentiableOpInterface>(op);
  if (!rule || rule.isPiecewiseConstant() || op->getNumResults() != 1)
    return success();
  Value gradient = gradients.lookup(op->getResult(0));
  if (!gradient)
    return success();
  SmallVector<bool> requested;
  for (Value operand : op->getOperands())
    requested.push_back(varied.contains(operand));
  if (llvm::none_of(requested, [](bool is) { return is; }))
    return success();
  GradientBuilder builder(withoutName(op->getLoc()),
                          result.getBody().front().getTerminator(),
                          request.rules);
  auto take = [&](unsigned operand, Value value) {
    addTo(op->getOperand(operand), value);
  };
  OperandGradients taken(requested, take);
  return rule.buildGradients(builder, gradient, taken);
}

void Reverser::finish() {
  Block &body = result.getBody().front();
  Operation *terminator = body.getTerminator();
  SmallVector<Value> returned;
  if (request.withResults)
    returned = results;
  llvm::append_range(returned, kept);
  for (auto [input, original] : llvm::zip(inputs, request.inputs)) {
    GradientBuilder builder(gradientLoc(original), terminator, request.rules);
    Value gradient = gradients.lookup(input);
    // Give the result its own name, even if the gradient is another value's.
    if (!gradient)
      gradient = builder.splat(0, GradientBuilder::typeOf(input));
    returned.push_back(builder.unary("tosa.identity", gradient));
  }
  terminator->setOperands(returned);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

LogicalResult Reverser::run() {
  copyForward();
  findActive();
  OpBuilder builder = OpBuilder::atBlockEnd(&result.getBody().front());
  func::ReturnOp::create(builder, result.getLoc());
  if (failed(checkActive()))
    return failure();
  unsigned first = function.getNumArguments();
  for (auto [i, value] : llvm::enumerate(results))
    if (varied.contains(value))
      addTo(value, result.getArgument(first + static_cast<unsigned>(i)));
  for (Operation *op : llvm::reverse(forward))
    if (failed(reverse(op)))
      return failure();
  finish();
  return success();
}

FailureOr<func::FuncOp> mct::addGradient(func::FuncOp function,
                                         const GradientRequest &request) {
  SmallVector<Value> ends = request.inputs;
  Operation *terminator = function.getBody().front().getTerminator();
  for (unsigned number : request.results)
    ends.push_back(terminator->getOperand(number));
  for (Value end : ends)
    if (!hasElements(end.getType()))
      return function.emitOpError("has no gradient: ")
             << kShapeMustBeKnown << end.getType() << kRemedy;
  Reverser reverser(function, request);
  if (succeeded(reverser.run()))
    return reverser.result;
  reverser.result.erase();
  return failure();
}
