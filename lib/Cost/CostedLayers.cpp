// SPDX-License-Identifier: Apache-2.0
#include "mct/Cost/CostTable.h"
#include "mct/Cost/EncodedWeights.h"
#include "mct/Cost/Resources.h"
#include "mct/Cost/StoredValues.h"
#include "mct/IR/Names.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mct;
namespace json = llvm::json;

static std::string joinSizes(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") +
            std::to_string(ShapedType::isDynamic(size) ? 1 : size);
  return text.empty() ? "scalar" : text;
}

/// Returns shape and width of a value, for example `1x32x32x16xi8`; values that
/// are not quantized have their own element type.
static std::string describeValue(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!type) {
    stream << value.getType();
    return text;
  }
  stream << joinSizes(type.getShape()) << 'x';
  if (tpc::QuantizeOp point = findWidthSource(value).point)
    stream << 'i' << getPresentBits(point);
  else
    stream << type.getElementType();
  return text;
}

/// Returns whether an attribute describes the structure of the computation
/// rather than its numbers.
static bool isPartOfForm(NamedAttribute attribute) {
  return !attribute.getName().getValue().contains('.') &&
         !isa<FloatAttr, TypeAttr, StringAttr, SymbolRefAttr>(
             attribute.getValue());
}

/// Returns whether an op adds or multiplies by a single number: devices fuse
/// this with the op before it, and corrections insert such ops.
static bool isShiftOrScale(Operation *op) {
  Value shifted;
  unsigned numNumbers = 0;
  for (Value operand : op->getOperands()) {
    Operation *producer = tpc::lookThroughPoints(operand).getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!producer || !producer->hasTrait<OpTrait::ConstantLike>()) {
      if (shifted)
        return false;
      shifted = operand;
    } else if (type && type.hasStaticShape() && type.getNumElements() == 1) {
      ++numNumbers;
    } else {
      return false;
    }
  }
  return shifted && numNumbers != 0 && op->getNumResults() == 1 &&
         op->getNumRegions() == 0 &&
         op->getResult(0).getType() == shifted.getType();
}

namespace {
/// Describes the ops of one chain.
class FormBuilder {
public:
  FormBuilder(ArrayRef<Operation *> ops, const KernelOps &kernels)
      : ops(ops), kernels(kernels) {}

  CostedLayer make();

private:
  void addOperand(OpOperand &operand);
  void addAttributes(Operation *op);

  ArrayRef<Operation *> ops;
  const KernelOps &kernels;
  CostedLayer layer;
  json::Array names, operands, constants;
  json::Object attributes;
};
} // namespace

void FormBuilder::addOperand(OpOperand &operand) {
  Value value = tpc::lookThroughPoints(operand.get());
  Operation *producer = value.getDefiningOp();
  if (producer && llvm::is_contained(ops, producer))
    return;
  auto point = operand.get().getDefiningOp<tpc::QuantizeOp>();
  bool isWeight = point && point.isWeight();
  if (isWeight) {
    std::optional<KernelOp> kernel = kernels.get(operand.getOwner());
    if (!kernel || kernel->getKernelPoint() != point)
      kernel = std::nullopt;
    layer.weights.push_back({point, kernel});
  }
  if (!isa<TensorType>(value.getType())) {
    // The elements of a shape are part of the structure.
    if (producer && producer->hasTrait<OpTrait::ConstantLike>())
      if (auto values =
              producer->getAttrOfType<DenseIntElementsAttr>("values")) {
        SmallVector<int64_t> sizes;
        for (const APInt &size : values.getValues<APInt>())
          sizes.push_back(size.getSExtValue());
        constants.push_back("shape " + joinSizes(sizes));
      }
    return;
  }
  if (!isWeight && !(producer && producer->hasTrait<OpTrait::ConstantLike>())) {
    operands.push_back(describeValue(operand.get()));
    return;
  }
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && (isWeight || type.getNumElements() > 1))
    constants.push_back(joinSizes(type.getShape()));
}

void FormBuilder::addAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    if (!isPartOfForm(attribute))
      continue;
    std::string key = attribute.getName().str();
    if (op != ops.front())
      key = (op->getName().getStringRef() + "." + key).str();
    attributes.try_emplace(std::move(key),
                           llvm::to_string(attribute.getValue()));
  }
}

CostedLayer FormBuilder::make() {
  layer.op = ops.back();
  StringAttr name = getName(layer.op->getLoc());
  layer.name = name ? name.str() : "";
  for (Operation *op : ops) {
    if (op != ops.front() && isShiftOrScale(op))
      continue;
    names.push_back(op->getName().getStringRef());
    for (OpOperand &operand : op->getOpOperands())
      addOperand(operand);
    addAttributes(op);
    op->walk([&](Operation *nested) {
      if (nested != op && !nested->hasTrait<OpTrait::IsTerminator>())
        names.push_back(nested->getName().getStringRef());
    });
  }
  layer.form =
      json::Object{{"ops", std::move(names)},
                   {"operands", std::move(operands)},
                   {"constants", std::move(constants)},
                   {"result", layer.op->getNumResults() == 0
                                  ? std::string()
                                  : describeValue(layer.op->getResult(0))},
                   {"attributes", std::move(attributes)}};
  return std::move(layer);
}

std::vector<CostedLayer> mct::findCostedLayers(func::FuncOp function,
                                               const KernelOps &kernels) {
  FusedChains chains(function, kernels);
  llvm::MapVector<Operation *, SmallVector<Operation *>> ops;
  SmallVector<Operation *> ends;
  for (Operation &op : function.getBody().front()) {
    if (isa<tpc::QuantizeOp>(op) || op.hasTrait<OpTrait::ConstantLike>() ||
        op.hasTrait<OpTrait::IsTerminator>() || matchPattern(&op, m_Constant()))
      continue;
    Operation *end = chains.getEnd(&op);
    ops[end].push_back(&op);
    if (end == &op)
      ends.push_back(end);
  }
  std::vector<CostedLayer> layers;
  for (Operation *end : ends)
    layers.push_back(FormBuilder(ops[end], kernels).make());
  return layers;
}

std::optional<int64_t> CostedLayer::getKernelBits() const {
  for (const Weight &weight : weights)
    if (weight.layer)
      return getPresentBits(weight.point);
  return std::nullopt;
}

int64_t CostedLayer::getCompressedBytes() const {
  int64_t bits = 0;
  for (const Weight &weight : weights)
    if (tpc::QuantizerAttrInterface parameters =
            tpc::QuantizeOp(weight.point).getParametersAttr())
      bits += estimateEncodedBits(
          weight.point, parameters,
          tpc::QuantizeOp(weight.point).getChannelAxes(), weight.layer);
  return llvm::divideCeil(uint64_t(bits), 8);
}
