// SPDX-License-Identifier: Apache-2.0
#include "ShiftRewriter.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mct;

ShiftRewriter::ShiftRewriter(func::FuncOp function, bool biasCorrectionFollows)
    : builder(function.getContext()),
      biasCorrectionFollows(biasCorrectionFollows) {
  for (BlockArgument argument : function.getArguments())
    if (StringAttr name = getName(argument))
      names.insert(name.getValue());
  function.walk([&](Operation *op) {
    if (StringAttr name = getName(op->getLoc()))
      names.insert(name.getValue());
    auto point = dyn_cast<tpc::QuantizeOp>(op);
    if (!point || !point.isActivation())
      return;
    names.insert(point.getPointName());
    if (ArrayAttr group = point.getGroupAttr())
      for (auto member : group.getAsValueRange<StringAttr>())
        pointOfMember[member] = point;
    else
      pointOfMember[point.getPointName()] = point;
  });
}

bool ShiftRewriter::canAdd(Value value) {
  Dialect *dialect = value.getDefiningOp()->getDialect();
  return isa_and_present<tosa::TosaDialect>(dialect) ||
         (isa_and_present<linalg::LinalgDialect>(dialect) &&
          cast<RankedTensorType>(value.getType()).hasStaticShape());
}

StringAttr ShiftRewriter::makeName(const Twine &base) {
  std::string name = base.str();
  for (unsigned number = 1; !names.insert(name).second; ++number)
    name = (base + "_" + Twine(number)).str();
  return builder.getStringAttr(name);
}

/// Replaces `member` by `replacement` in the list of fused ops that contains
/// it.
void ShiftRewriter::replaceInGroup(StringRef member,
                                   ArrayRef<StringRef> replacement) {
  tpc::QuantizeOp point = pointOfMember.lookup(member);
  if (!point)
    return;
  SmallVector<StringRef> group;
  if (ArrayAttr present = point.getGroupAttr())
    llvm::append_range(group, present.getAsValueRange<StringAttr>());
  else
    group.push_back(point.getPointName());
  SmallVector<StringRef> changed;
  for (StringRef other : group)
    if (other == member)
      llvm::append_range(changed, replacement);
    else
      changed.push_back(other);
  for (StringRef added : replacement)
    pointOfMember[added] = point;
  if (changed.size() > 1)
    point.setGroupAttr(builder.getStrArrayAttr(changed));
}

void ShiftRewriter::rename(Operation *op) {
  StringAttr old = getName(op->getLoc());
  if (!old || namesOfShifted.contains(old.getValue()))
    return;
  StringAttr name = makeName(old.getValue() + kShiftedSuffix);
  namesOfShifted.insert(name.getValue());
  shiftedNames[old.getValue()] = name;
  op->setLoc(NameLoc::get(name, op->getLoc()));
  replaceInGroup(old.getValue(), {name.getValue()});
}

/// Creates a tensor of rank `rank` with one element.
static Value createNumber(OpBuilder &builder, Location loc, double value,
                          int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  return createConstant(builder, loc,
                        RankedTensorType::get(shape, builder.getF32Type()),
                        static_cast<float>(value), "shift");
}

/// Creates `value + shift` in the dialect of the op that defines the value.
static Value createSum(OpBuilder &builder, Location loc, Value value,
                       double shift) {
  auto type = cast<RankedTensorType>(value.getType());
  if (isa_and_present<tosa::TosaDialect>(value.getDefiningOp()->getDialect()))
    return tosa::AddOp::create(
        builder, loc, type, value,
        createNumber(builder, loc, shift, type.getRank()));
  Value number = arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(shift)));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  auto filled = linalg::FillOp::create(builder, loc, ValueRange(number),
                                       ValueRange(empty));
  auto sum = linalg::AddOp::create(builder, loc, TypeRange(type),
                                   ValueRange{value, filled->getResult(0)},
                                   ValueRange(empty));
  return sum->getResult(0);
}

void ShiftRewriter::pad(const KernelOp &kernel, double value) {
  OpOperand &input = kernel.getInput();
  auto type = cast<RankedTensorType>(input.get().getType());
  SmallVector<int64_t> shape(type.getShape());
  // Pad between the batch and the channels.
  SmallVector<int64_t> sizes(2 * type.getRank(), 0);
  for (auto [index, size] : llvm::enumerate(kernel.getPadding())) {
    sizes[2 + index] = size;
    int64_t &extent = shape[1 + index / 2];
    if (!ShapedType::isDynamic(extent))
      extent += size;
  }
  builder.setInsertionPoint(kernel.getOperation());
  Location loc = kernel.getLoc();
  StringAttr name = getName(loc);
  if (name) {
    StringAttr padName = makeName(name.getValue() + "_pad");
    loc = NameLoc::get(padName, loc);
    replaceInGroup(name.getValue(), {padName.getValue(), name.getValue()});
  }
  auto shapeType =
      tosa::shapeType::get(builder.getContext(), int64_t(sizes.size()));
  Value amounts = tosa::ConstShapeOp::create(builder, loc, shapeType,
                                             builder.getIndexTensorAttr(sizes));
  auto padded = tosa::PadOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()),
      input.get(), amounts, createNumber(builder, loc, value, 1));
  input.set(padded.getOutput());
  KernelOp unpadded = kernel;
  unpadded.setPadding(SmallVector<int64_t>(kernel.getPadding().size(), 0));
}

void ShiftRewriter::compensate(const KernelOp &kernel, double offset) {
  ConstantFloats constant = kernel.getKernel();
  std::vector<float> quantized;
  ArrayRef<float> values = constant.values();
  tpc::QuantizeOp point = kernel.getKernelPoint();
  if (!biasCorrectionFollows && point && point.getParametersAttr()) {
    quantized.resize(values.size());
    point.getParametersAttr().fakeQuantize(kernel.getKernelShape(),
                                           point.getChannelAxes(),
                                           values.data(), quantized.data());
    values = quantized;
  }
  std::vector<double> shift(kernel.numInputChannels(), offset);
  std::vector<float> bias = *kernel.getBias();
  for (auto [channel, sum] : llvm::enumerate(kernel.contract(values, shift)))
    bias[channel] = static_cast<float>(bias[channel] - sum);
  tpc::CorrectionsAttr corrections = kernel.getCorrections();
  if (corrections) {
    // The result of the float layer does not change: the shift is compensated
    // with its own kernel.
    std::vector<double> inFloat = kernel.contract(constant.values(), shift);
    for (auto [channel, sum] : llvm::enumerate(inFloat))
      sum /= -corrections.getScaleOf(channel);
    corrections = kernel.getCorrectionsAfter(bias, /*scale=*/{}, inFloat);
  }
  kernel.setBias(builder, bias, corrections);
}

void ShiftRewriter::apply(const tpc::Node &node, tpc::QuantizeOp point,
                          double shift, const ShiftReach &reach) {
  // Insert the addition after the non-linearity and fuse it with it.
  Value result = node.result();
  StringAttr oldName = point.getPointNameAttr();
  StringAttr name = makeName(oldName.getValue() + kShiftedSuffix);
  namesOfShifted.insert(name.getValue());
  Location loc = NameLoc::get(name, node.root()->getLoc());
  builder.setInsertionPointAfter(node.root());
  point.getInputMutable().set(createSum(builder, loc, result, shift));
  SmallVector<Attribute> group;
  if (ArrayAttr present = point.getGroupAttr())
    llvm::append_range(group, present);
  else
    group.push_back(oldName);
  group.push_back(name);
  point.setGroupAttr(builder.getArrayAttr(group));
  point.setPointNameAttr(name);
  pointOfMember[oldName.getValue()] = point;
  pointOfMember[name.getValue()] = point;

  for (Operation *op : reach.moved)
    rename(op);
  for (tpc::QuantizeOp other : llvm::make_first_range(reach.points)) {
    StringRef old = other.getPointName();
    if (namesOfShifted.contains(old))
      continue;
    StringAttr &renamed = shiftedNames[old];
    if (!renamed) {
      renamed = makeName(old + kShiftedSuffix);
      namesOfShifted.insert(renamed.getValue());
    }
    other.setPointNameAttr(renamed);
  }
  for (auto [op, times] : reach.pads) {
    auto pad = cast<DataMovementOpInterface>(op);
    pad.setFill(builder, static_cast<float>(*pad.getFill() + times * shift));
  }
  for (const auto &[kernel, times] : reach.kernels) {
    if (kernel.hasPadding())
      pad(kernel, times * shift);
    compensate(kernel, times * shift);
  }
}
