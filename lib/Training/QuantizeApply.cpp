// SPDX-License-Identifier: Apache-2.0
#include "QuantizeScheme.h"

#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/QuantizationPlan.h"
#include "mct/Training/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

namespace mct {
#define GEN_PASS_DEF_QUANTIZEAPPLYPASS
#include "mct/Training/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using mct::tpc::QuantizeOp;

namespace {
/// Bits and granularity of the default scheme.
struct SchemeOptions {
  unsigned weightBits = 8, activationBits = 8;
  bool isPerChannel = true;
};

/// The points of one operator.
struct OperatorPoints {
  struct Weight {
    OpOperand *operand;
    StringAttr name;
    DenseI64ArrayAttr axes;
    Attribute quantizer;
  };
  SmallVector<Weight> weights;
  /// Quantizers of its inputs and of its result, in order.
  SmallVector<Attribute, 1> inputs, results;
  /// True if the results only have the scheme's quantizer for outputs.
  bool isSchemeOutput = false;
};

/// Requests for an operator, from its mark or else from the scheme.
struct OperatorRequest {
  DictionaryAttr weights;
  Attribute activation, output;
  /// True if the mark itself requests nothing.
  bool isDefault = true;
  /// True if the mark requests a quantizer for the activation, and for the
  /// output.
  bool hasActivation = false, hasOutput = false;
};

class QuantizeApplier {
public:
  QuantizeApplier(func::FuncOp function, MarkedOperators &all,
                  const SchemeOptions &options)
      : function(function), all(all), options(options),
        context(function.getContext()), requests(all.operators.size()),
        points(all.operators.size()), isSettled(all.operators.size()) {}

  LogicalResult run() {
    for (size_t index = 0; index != all.operators.size(); ++index)
      if (at(index).mark && failed(readMark(index)))
        return failure();
    for (size_t index = 0; index != all.operators.size(); ++index)
      if (at(index).mark && failed(planWeights(index)))
        return failure();
    for (size_t index = 0; index != all.operators.size(); ++index)
      if (at(index).mark && at(index).entry.hasKernel)
        planLayer(index);
    for (size_t index = 0; index != all.operators.size(); ++index)
      if (at(index).mark && !at(index).entry.hasKernel && !isSettled[index]) {
        if (at(index).entry.isBatchNorm && requests[index].isDefault)
          return refuse(index);
        planOther(index);
      }
    for (size_t index = 0; index != all.operators.size(); ++index)
      if (at(index).mark)
        planInputs(index);
    for (size_t index = 0; index != all.operators.size(); ++index)
      if (at(index).mark && at(index).entry.isConcatenation)
        planConcatenation(index);
    insert();
    return success();
  }

private:
  MarkedOperator &at(size_t index) { return all.operators[index]; }
  tpc::TrainableAttrInterface observe(tpc::Observer observer, unsigned bits,
                                      bool isWeight) {
    return tpc::ObservedRangeAttr::get(context, observer, bits,
                                       /*is_symmetric=*/isWeight,
                                       /*is_narrow=*/isWeight,
                                       /*decay=*/std::nullopt);
  }
  Attribute activationQuantizer() {
    return observe(tpc::Observer::MovingAverage, options.activationBits, false);
  }
  /// Returns whether only the scheme determines the quantizers.
  bool isMarkedDefault(size_t index) {
    return at(index).mark && requests[index].isDefault;
  }

  LogicalResult refuse(size_t index);
  LogicalResult readMark(size_t index);
  LogicalResult planWeights(size_t index);
  void planLayer(size_t index);
  void placeActivation(size_t layer, std::optional<size_t> activation,
                       Attribute quantizer);
  void planOther(size_t index);
  void planInputs(size_t index);
  void planUnmarked(size_t index);
  void planConcatenation(size_t index);
  std::optional<size_t> findFunction(size_t layer);
  bool takesBatchNorm(size_t layer);
  void insert();
  QuantizeOp createPoint(OpBuilder &builder, Value value, const Twine &name,
                         Attribute quantizer, StringAttr weight = {},
                         DenseI64ArrayAttr axes = {});
  void insertPointsAfter(OpBuilder &builder, Value value, StringRef name,
                         ArrayRef<Attribute> quantizers);

  func::FuncOp function;
  MarkedOperators &all;
  SchemeOptions options;
  MLIRContext *context;
  std::vector<OperatorRequest> requests;
  std::vector<OperatorPoints> points;
  /// True for operators whose result is determined by an operator before them.
  std::vector<bool> isSettled;
  /// Arguments of the function that get a point.
  llvm::MapVector<Value, Attribute> arguments;
};
} // namespace

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Fails with an error about an operator that `mark` marks.
static LogicalResult fail(InFlightDiagnostic &&error, QuantizeOp mark) {
  error.attachNote(mark.getLoc()) << "annotated here";
  return failure();
}

LogicalResult QuantizeApplier::refuse(size_t index) {
  return fail(at(index).node.root()->emitOpError(
                  "is annotated, and the default scheme has no quantizers for "
                  "it")
                  << (at(index).entry.isBatchNorm
                          ? " without a layer in front of it that is "
                            "annotated, too"
                          : "")
                  << "; give the mark a config that has weights, activations "
                     "or outputs, or remove it",
              at(index).mark);
}

LogicalResult QuantizeApplier::readMark(size_t index) {
  MarkedOperator &each = at(index);
  Operation *root = each.node.root();
  tpc::QuantizeConfigAttrInterface config = each.mark.getOperatorConfig();
  OperatorRequest &own = requests[index];
  own.weights = config.getWeightQuantizers(each.node.kernelOp);
  ArrayAttr activations = config.getActivationQuantizers(each.node.kernelOp);
  ArrayAttr outputs = config.getOutputQuantizers(each.node.kernelOp);
  own.isDefault = !own.weights && !activations && !outputs;
  own.hasActivation = bool(activations);
  own.hasOutput = bool(outputs);
  if (own.isDefault && !each.entry.isSupported && !each.entry.isBatchNorm)
    return refuse(index);
  for (auto [what, list] :
       {std::pair("activation", activations), {"output", outputs}})
    if (list && list.size() > 1)
      return fail(root->emitOpError()
                      << "has " << list.size() << " quantizers of one " << what
                      << "; give one, or none",
                  each.mark);
  if (root->getNumResults() != 1)
    return fail(root->emitOpError()
                    << "has " << root->getNumResults()
                    << " results; an operator that is annotated has one",
                each.mark);
  if (own.hasActivation)
    own.activation = activations.empty() ? Attribute() : activations[0];
  else if (each.entry.hasKernel)
    own.activation = activationQuantizer();
  if (own.hasOutput)
    own.output = outputs.empty() ? Attribute() : outputs[0];
  else if (each.entry.quantizesOutput)
    own.output = activationQuantizer();
  return success();
}

LogicalResult QuantizeApplier::planWeights(size_t index) {
  MarkedOperator &each = at(index);
  Operation *op = each.node.kernelOp;
  // The operands that have names.
  llvm::MapVector<StringAttr, OpOperand *> known;
  SmallVector<unsigned> named;
  if (each.node.weights)
    for (NamedAttribute entry : each.node.weights) {
      unsigned number = cast<IntegerAttr>(entry.getValue()).getInt();
      if (number >= op->getNumOperands())
        continue;
      named.push_back(number);
      known[entry.getName()] = &op->getOpOperand(number);
    }
  if (each.node.ops.size() == 1 && readsPositionalConstants(op))
    for (OpOperand &operand :
         op->getOpOperands().take_front(getNumDataOperands(op)))
      if (!llvm::is_contained(named, operand.getOperandNumber()) &&
          matchPattern(operand.get(), m_Constant()))
        known.insert(
            {StringAttr::get(context, tpc::kPositionalWeight), &operand});

  tpc::QuantizeConfigAttrInterface config = each.mark.getOperatorConfig();
  auto add = [&](StringAttr name, Attribute quantizer, bool isPerChannel) {
    OpOperand *operand = known.lookup(name);
    DenseI64ArrayAttr axes;
    if (isPerChannel && each.kernelInfo &&
        each.kernelInfo.getKernel() == int64_t(operand->getOperandNumber()))
      axes = DenseI64ArrayAttr::get(context, each.kernelInfo.getOutAxes());
    points[index].weights.push_back({operand, name, axes, quantizer});
    return !isPerChannel || axes;
  };
  if (!requests[index].weights) {
    auto kernel = StringAttr::get(context, tpc::kKernelWeight);
    if (each.entry.hasKernel && known.contains(kernel))
      (void)add(kernel,
                observe(tpc::Observer::LastValue, options.weightBits, true),
                each.entry.isPerChannel && options.isPerChannel);
    return success();
  }
  for (NamedAttribute requested : requests[index].weights) {
    if (!known.contains(requested.getName())) {
      InFlightDiagnostic error = op->emitOpError("has no weight '")
                                 << requested.getName().getValue()
                                 << "' to quantize"
                                 << (known.empty() ? "" : "; it has ");
      llvm::interleaveComma(known, error, [&](auto &weight) {
        error << "'" << weight.first.getValue() << "'";
      });
      return fail(std::move(error), each.mark);
    }
    if (!add(requested.getName(), requested.getValue(),
             config.isPerChannel(op, requested.getName())))
      return fail(op->emitOpError("has no known channels of '")
                      << requested.getName().getValue()
                      << "'; leave it out of 'per_channel'",
                  each.mark);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Positions of the quantizers
//===----------------------------------------------------------------------===//

/// Returns the activation function that is fused with a layer.
std::optional<size_t> QuantizeApplier::findFunction(size_t layer) {
  std::optional<size_t> next = all.onlyUser(layer);
  if (!next || !at(*next).entry.isActivation() ||
      getFloatInputs(at(*next).node).size() != 1)
    return std::nullopt;
  return next;
}

/// Returns whether a batch norm after the layer remains to be folded, so that
/// nothing is quantized between them. Settles the batch norm and a ReLU after
/// it.
bool QuantizeApplier::takesBatchNorm(size_t layer) {
  std::optional<size_t> norm = all.onlyUser(layer);
  if (!norm || !at(*norm).entry.isBatchNorm || !isMarkedDefault(layer) ||
      !isMarkedDefault(*norm))
    return false;
  isSettled[*norm] = true;
  std::optional<size_t> relu = all.onlyUser(*norm);
  bool hasRelu = relu && at(*relu).entry.isRelu && isMarkedDefault(*relu);
  size_t end = hasRelu ? *relu : *norm;
  isSettled[end] = true;
  points[end].results.push_back(activationQuantizer());
  points[end].isSchemeOutput = true;
  return true;
}

void QuantizeApplier::placeActivation(size_t layer,
                                      std::optional<size_t> activation,
                                      Attribute quantizer) {
  if (!activation || at(*activation).entry.isBefore)
    points[layer].results.push_back(quantizer);
  if (activation && at(*activation).entry.isAfter)
    points[*activation].results.push_back(quantizer);
}

void QuantizeApplier::planLayer(size_t index) {
  if (takesBatchNorm(index))
    return;
  const OperatorRequest &own = requests[index];
  std::optional<size_t> activation = findFunction(index);
  size_t end = index;
  if (activation && at(*activation).mark && !requests[*activation].isDefault) {
    // The function determines its own quantizer; a ReLU also determines that of
    // the operator before it.
    if (own.activation && (own.hasActivation || !at(*activation).entry.isRelu))
      placeActivation(index, std::nullopt, own.activation);
  } else if (own.activation) {
    placeActivation(index, activation, own.activation);
    if (activation) {
      isSettled[*activation] = true;
      end = *activation;
    }
  }
  if (own.output)
    points[end].results.push_back(own.output);
}

void QuantizeApplier::planOther(size_t index) {
  const OperatorRequest &own = requests[index];
  const SchemeEntry &entry = at(index).entry;
  if (own.activation) {
    if (entry.isBefore)
      points[index].inputs.push_back(own.activation);
    if (!entry.isBefore || entry.isAfter)
      points[index].results.push_back(own.activation);
  }
  if (!own.output)
    return;
  // A ReLU quantizes for a sum before it.
  std::optional<size_t> next = all.onlyUser(index);
  bool isSum = at(index).node.operatorSet &&
               llvm::is_contained({"Add", "AddBias"},
                                  at(index).node.operatorSet.getValue());
  if (!own.hasOutput && isSum && next && at(*next).entry.isRelu &&
      at(*next).mark)
    return;
  points[index].isSchemeOutput =
      !own.hasOutput && points[index].results.empty();
  points[index].results.push_back(own.output);
}

/// Plans an operator without a mark before a marked one: quantizers for its
/// result, but none for its weights.
void QuantizeApplier::planUnmarked(size_t index) {
  if (isSettled[index])
    return;
  isSettled[index] = true;
  const SchemeEntry &entry = at(index).entry;
  if (entry.isActivation()) {
    SmallVector<Value> inputs = getFloatInputs(at(index).node);
    std::optional<size_t> layer =
        inputs.size() == 1 ? all.producerOf(inputs.front()) : std::nullopt;
    if (layer && !at(*layer).mark && at(*layer).entry.hasKernel &&
        all.onlyUser(*layer) == index && !isSettled[*layer]) {
      isSettled[*layer] = true;
      placeActivation(*layer, index, activationQuantizer());
      return;
    }
  }
  if (entry.hasKernel || entry.quantizesOutput)
    points[index].results.push_back(activationQuantizer());
}

void QuantizeApplier::planInputs(size_t index) {
  SmallVector<Value> inputs = getFloatInputs(at(index).node);
  for (Value input : inputs)
    if (isa<BlockArgument>(input))
      arguments.insert(
          {input, observe(tpc::Observer::AllValues, options.activationBits,
                          /*isWeight=*/false)});
  if (inputs.size() != 1)
    return;
  std::optional<size_t> producer = all.producerOf(inputs.front());
  // Ops that only move values have the quantizers of the ops before them.
  while (producer && !at(*producer).mark && at(*producer).entry.isPassThrough) {
    SmallVector<Value> moved = getFloatInputs(at(*producer).node);
    producer = moved.size() == 1 ? all.producerOf(moved.front()) : std::nullopt;
  }
  if (producer && !at(*producer).mark)
    planUnmarked(*producer);
}

/// The operands of a concatenation share its grid.
void QuantizeApplier::planConcatenation(size_t index) {
  if (points[index].results.empty())
    return;
  SmallVector<Value> inputs = getFloatInputs(at(index).node);
  auto readsOnly = [&](Value argument) {
    return llvm::all_of(argument.getUsers(), [&](Operation *user) {
      return llvm::is_contained(at(index).node.ops, user);
    });
  };
  for (Value input : inputs) {
    std::optional<size_t> producer = all.producerOf(input);
    if (producer ? !at(*producer).mark || all.onlyUser(*producer) != index
                 : !arguments.contains(input) || !readsOnly(input))
      return;
  }
  for (Value input : inputs)
    if (std::optional<size_t> producer = all.producerOf(input);
        producer && points[*producer].isSchemeOutput)
      points[*producer].results.clear();
    else if (!producer)
      arguments.erase(input);
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

QuantizeOp QuantizeApplier::createPoint(OpBuilder &builder, Value value,
                                        const Twine &name, Attribute quantizer,
                                        StringAttr weight,
                                        DenseI64ArrayAttr axes) {
  auto point = QuantizeOp::create(
      builder, value.getLoc(), value, builder.getStringAttr(name), weight, axes,
      /*config=*/{}, dyn_cast<tpc::QuantizerAttrInterface>(quantizer));
  point.setTrainableAttr(dyn_cast<tpc::TrainableAttrInterface>(quantizer));
  return point;
}

/// Inserts points after a value; the second one is that of the output.
void QuantizeApplier::insertPointsAfter(OpBuilder &builder, Value value,
                                        StringRef name,
                                        ArrayRef<Attribute> quantizers) {
  builder.setInsertionPointAfterValue(value);
  for (auto [number, quantizer] : llvm::enumerate(quantizers)) {
    QuantizeOp point =
        createPoint(builder, value,
                    number == 0 ? name : (name + "_output").str(), quantizer);
    value.replaceAllUsesExcept(point.getOutput(), point);
    value = point.getOutput();
  }
}

void QuantizeApplier::insert() {
  for (MarkedOperator &each : all.operators)
    if (each.mark) {
      each.mark.getOutput().replaceAllUsesWith(each.mark.getInput());
      each.mark.erase();
    }
  OpBuilder builder(context);
  for (size_t index = 0; index != all.operators.size(); ++index) {
    const MarkedOperator &each = at(index);
    const OperatorPoints &own = points[index];
    for (const OperatorPoints::Weight &weight : own.weights) {
      builder.setInsertionPoint(each.node.kernelOp);
      weight.operand->set(createPoint(builder, weight.operand->get(),
                                      each.name.getValue(), weight.quantizer,
                                      weight.name, weight.axes)
                              .getOutput());
    }
    for (Attribute quantizer : own.inputs) {
      SmallVector<Value> inputs = getFloatInputs(each.node);
      builder.setInsertionPoint(each.node.ops.front());
      QuantizeOp point = createPoint(
          builder, inputs.front(), each.name.getValue() + "_input", quantizer);
      inputs.front().replaceUsesWithIf(
          point.getOutput(), [&](OpOperand &operand) {
            return llvm::is_contained(each.node.ops, operand.getOwner());
          });
    }
    insertPointsAfter(builder, each.node.result(), each.name.getValue(),
                      own.results);
  }
  for (auto &[argument, quantizer] : arguments) {
    StringAttr name = mct::getName(argument);
    insertPointsAfter(builder, argument, name.getValue(), quantizer);
  }
}

namespace {
struct QuantizeApplyPass
    : public WithOpModels<EntryFunctionPass<
          mct::impl::QuantizeApplyPassBase<QuantizeApplyPass>>> {
  using WithOpModels::WithOpModels;

  LogicalResult runOn(func::FuncOp entry) override {
    for (auto [name, bits] : {std::pair("weight-bits", weightBits.getValue()),
                              {"activation-bits", activationBits.getValue()}})
      if (bits < 1 || bits > 16)
        return entry.emitOpError("cannot be quantized with ")
               << name << "=" << bits << "; give 1 to 16";
    FailureOr<MarkedOperators> all = MarkedOperators::find(entry);
    if (failed(all))
      return failure();
    if (llvm::none_of(all->operators, [](const MarkedOperator &each) {
          return bool(each.mark);
        }))
      return entry.emitOpError("has no operator that is annotated; "
                               "mct-quantize-annotate marks them");
    SchemeOptions options;
    options.weightBits = weightBits;
    options.activationBits = activationBits;
    options.isPerChannel = perChannel;
    return QuantizeApplier(entry, *all, options).run();
  }
};
} // namespace
