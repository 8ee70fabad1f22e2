// SPDX-License-Identifier: Apache-2.0
#include "IntegerLowering.h"
#include "IntegerModels.h"
#include "mct/IR/ConstantTensor.h"
#include "mct/IR/Names.h"
#include "mct/IR/Records.h"
#include "mct/Transforms/LiftVariables.h"

using namespace mlir;
using namespace mct;

static constexpr StringLiteral kPass = "mct-lower-to-integer";

IntegerLowering::IntegerLowering(func::FuncOp function,
                                 const KernelOps &kernels,
                                 const IntegerOptions &options)
    : function(function), forms(function, kernels, options) {
  function.walk([&](tpc::QuantizeOp point) { points.push_back(point); });
  for (NetworkState state : findStates(function))
    stateNames[state.next->getOperandNumber()] = getName(state.next->get());
}

void IntegerLowering::setName(Value value, tpc::QuantizeOp point) {
  Operation *op = value.getDefiningOp();
  if (op && namedValues.insert(value).second)
    op->setLoc(NameLoc::get(point.getPointNameAttr(), point.getLoc()));
}

void IntegerLowering::reportFailure(tpc::QuantizeOp point,
                                    const IntegerFailure &failure) {
  Operation *cause = failure.cause == point ? nullptr : failure.cause;
  Record record(Decision::Declined, Reason::StaysFloat, cause);
  record << "stays float: ";
  if (cause)
    record << "'" + cause->getName().getStringRef() + "' op ";
  record << failure.getText();
  emitRecord(point, kPass, record);
}

/// Returns the codes of the initial value of a state, whose elements are known.
static Attribute quantizeInitialValue(ElementsAttr initial,
                                      const Encoding &encoding,
                                      RankedTensorType type, StringRef name) {
  std::optional<ConstantTensor> tensor = ConstantTensor::get(initial);
  assert(tensor && "the pass checks it");
  std::vector<int64_t> codes;
  for (float value : tensor->decode<float>())
    codes.push_back(encoding.quantize(value));
  return ConstantTensor::create(type, std::move(codes)).toAttribute(name);
}

void IntegerLowering::lowerArgument(tpc::QuantizeOp point,
                                    const Encoding &encoding) {
  auto argument = cast<BlockArgument>(point.getInput());
  IntegerBuilder &b = forms.getBuilder();
  NamedAttrList attributes(function.getArgAttrDict(argument.getArgNumber()));
  attributes.set(
      kQuantizedAttrName,
      encoding.describe(point.getPointName()).toAttribute(b.getContext()));
  RankedTensorType type = b.getType(argument, encoding.storageBits);
  if (auto initial =
          dyn_cast_or_null<ElementsAttr>(attributes.get(kInitialValueAttrName)))
    attributes.set(
        kInitialValueAttrName,
        quantizeInitialValue(initial, encoding, type, point.getPointName()));
  unsigned number = argument.getArgNumber() + 1;
  if (failed(function.insertArgument(number, type,
                                     attributes.getDictionary(b.getContext()),
                                     argument.getLoc())))
    return;
  replacedArguments.push_back(argument);
  forms.setStored(point.getResult(), {function.getArgument(number), encoding});
}

void IntegerLowering::lowerPoint(tpc::QuantizeOp point) {
  if (!point.isActivation() || !point.getParametersAttr())
    return;
  IntegerBuilder &b = forms.getBuilder();
  const IntegerOptions &options = forms.getOptions();
  b.setInsertionPoint(point);
  b.setLoc(NameLoc::get(b.getStringAttr(point.getPointName() + "/integer"),
                        point.getLoc()));
  std::optional<Encoding> encoding = Encoding::get(point.getParametersAttr());
  if (!encoding)
    return reportFailure(point, {IntegerReason::LevelsNotStored, nullptr});
  if (encoding->storageBits == 16 && !options.allowsInt16)
    return reportFailure(point, {IntegerReason::NeedsInt16, nullptr});
  Value input = point.getInput();
  auto argument = dyn_cast<BlockArgument>(input);
  // The arguments of branches and loops are computed from other values.
  if (argument && argument.getOwner() != &function.front())
    argument = nullptr;
  if (argument && options.boundary == IntegerBoundary::Integer &&
      argument.hasOneUse())
    return lowerArgument(point, *encoding);
  // A softmax that is cut does not have to be computed.
  if (options.softmax == IntegerSoftmax::Cut && point->hasOneUse() &&
      isa<func::ReturnOp>(*point->user_begin()) && getSoftmaxInput(input))
    return;
  IntegerDeviations deviations;
  IntegerOr<Value> codes =
      IntegerContext(forms, deviations).getCodes(input, *encoding);
  if (codes && !deviations.roundHalfUpReason.empty())
    emitRecord(
        point, kPass,
        Record(Decision::Noted, Reason::RoundsItsOwnWay, input.getDefiningOp())
            << "halves go up in it, not to the even code: it has "
            << deviations.roundHalfUpReason);
  if (!codes) {
    // A float argument has to be converted; other values might have had an
    // integer form.
    if (!argument)
      reportFailure(point, codes.getFailure());
    codes = b.quantize(input, *encoding);
  }
  setName(*codes, point);
  forms.setStored(point.getResult(), {*codes, *encoding});
  entries.push_back(
      encoding->describe(point.getPointName()).toAttribute(b.getContext()));
}

void IntegerLowering::lower() {
  Region *body = &function.getBody(), *region = body;
  for (tpc::QuantizeOp point : points) {
    for (; !region->isAncestor(point->getParentRegion());
         region = region->getParentRegion())
      forms.leave(*region);
    region = point->getParentRegion();
    lowerPoint(point);
  }
  for (; region != body; region = region->getParentRegion())
    forms.leave(*region);
}
