// SPDX-License-Identifier: Apache-2.0
#include "Constants.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

#include <cstring>

using namespace mlir;
using namespace mct::execution;
using mct::tpc::QuantizeOp;

/// The stored bytes of a constant that is not a splat, or nothing.
ArrayRef<char> mct::execution::rawData(ElementsAttr attribute) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? blob->getData() : ArrayRef<char>();
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute))
    if (!dense.isSplat())
      return dense.getRawData();
  return {};
}

namespace {

/// Whether the elements take at most so many bytes as floats.
bool fits(RankedTensorType type, int64_t maxBytes) {
  int64_t bytes = sizeof(float);
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes) || bytes > maxBytes)
      return size == 0 || type.getNumElements() == 0;
  return true;
}

template <typename Integer>
std::vector<float> convert(ArrayRef<char> bytes, int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) {
    Integer value;
    std::memcpy(&value, bytes.data() + i * sizeof(Integer), sizeof(Integer));
    values[i] = static_cast<float>(value);
  }
  return values;
}

/// `maxBytes`: of the values as floats.
std::optional<ConstantTensor> readElements(ElementsAttr attribute,
                                           int64_t maxBytes) {
  auto type = dyn_cast<RankedTensorType>(attribute.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  ConstantTensor tensor;
  tensor.shape.assign(type.getShape().begin(), type.getShape().end());
  if (!fits(type, maxBytes))
    return std::nullopt;
  int64_t count = type.getNumElements();
  Type element = type.getElementType();
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute);
      dense && dense.isSplat()) {
    if (element.isF32())
      tensor.own(std::vector<float>(count, dense.getSplatValue<float>()));
    else if (element.isSignlessInteger())
      tensor.own(std::vector<float>(
          count,
          static_cast<float>(dense.getSplatValue<APInt>().getSExtValue())));
    else
      return std::nullopt;
    return tensor;
  }
  ArrayRef<char> bytes = rawData(attribute);
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (width % 8 != 0 || static_cast<int64_t>(bytes.size()) != count * width / 8)
    return std::nullopt;
  bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % 4 == 0;
  if (element.isF32() && aligned)
    tensor.values =
        ArrayRef<float>(reinterpret_cast<const float *>(bytes.data()), count);
  else if (element.isF32())
    tensor.own(convert<float>(bytes, count));
  else if (element.isSignlessInteger(8))
    tensor.own(convert<int8_t>(bytes, count));
  else if (element.isSignlessInteger(16))
    tensor.own(convert<int16_t>(bytes, count));
  else if (element.isSignlessInteger(32))
    tensor.own(convert<int32_t>(bytes, count));
  else
    return std::nullopt;
  return tensor;
}

/// Calls `visit(result index, source index)` for every element of a tensor of
/// shape `result` whose dimension d advances the source by strides[d].
template <typename Visit>
void forEachStrided(ArrayRef<int64_t> result, ArrayRef<int64_t> strides,
                    Visit visit) {
  int64_t count = 1;
  for (int64_t size : result)
    count *= size;
  SmallVector<int64_t> index(result.size(), 0);
  int64_t source = 0;
  for (int64_t i = 0; i < count; ++i) {
    visit(i, source);
    for (int64_t d = result.size() - 1; d >= 0; --d) {
      source += strides[d];
      if (++index[d] < result[d])
        break;
      source -= strides[d] * result[d];
      index[d] = 0;
    }
  }
}

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t d = static_cast<int64_t>(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

/// Values of `tensor`, repeated to the shape of a larger one of the same rank.
std::vector<float> broadcast(const ConstantTensor &tensor,
                             ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides = rowMajorStrides(tensor.shape);
  for (auto [stride, size] : llvm::zip(strides, tensor.shape))
    if (size == 1)
      stride = 0;
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  std::vector<float> values(count);
  forEachStrided(shape, strides, [&](int64_t i, int64_t source) {
    values[i] = tensor.values[source];
  });
  return values;
}

} // namespace

QuantizeSite mct::execution::makeQuantizer(QuantizeOp op) {
  QuantizeSite site;
  site.quantizer = *op.getParameters();
  auto type = cast<RankedTensorType>(op.getType());
  llvm::append_range(site.shape, type.getShape());
  llvm::append_range(site.axes, op.getChannelAxes());
  site.elements = type.getNumElements();
  SmallVector<mct::quantization::Grid> grids = site.quantizer.getGrids();
  if (grids.size() == 1)
    site.grid = grids.front();
  if (auto lookup =
          dyn_cast<mct::tpc::LookupTableAttr>(Attribute(site.quantizer)))
    site.table.emplace(lookup.getTable(), lookup.getThreshold(),
                       lookup.getIsSigned(), lookup.getTableBits());
  return site;
}

static bool isArithmetic(Operation *op) {
  return isa<tosa::AddOp, tosa::SubOp, tosa::MulOp>(op);
}
static bool isKnown(Operation *op) {
  return isArithmetic(op) || isa<QuantizeOp, tosa::CastOp, tosa::ReshapeOp,
                                 tosa::TransposeOp, tosa::IdentityOp>(op);
}
/// The operands that hold data.
static OperandRange dataOperands(Operation *op) {
  return op->getOperands().take_front(isArithmetic(op) ? 2 : 1);
}

std::optional<ConstantTensor> ConstantEvaluator::compute(Value value) {
  ElementsAttr attribute;
  if (matchPattern(value, m_Constant(&attribute)))
    return readElements(attribute, maxBytes);
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!op || !isKnown(op) || !type || !type.hasStaticShape() ||
      !type.getElementType().isF32() || !fits(type, maxBytes))
    return std::nullopt;
  SmallVector<const ConstantTensor *, 2> operands;
  for (Value operand : dataOperands(op)) {
    auto found = known.find(operand);
    if (found == known.end() || !found->second)
      return std::nullopt;
    operands.push_back(found->second.get());
  }

  ConstantTensor result;
  llvm::append_range(result.shape, type.getShape());
  if (isArithmetic(op)) {
    if (llvm::any_of(operands, [&](const ConstantTensor *operand) {
          return operand->shape.size() != result.shape.size();
        }))
      return std::nullopt;
    std::vector<float> a = broadcast(*operands[0], type.getShape());
    std::vector<float> b = broadcast(*operands[1], type.getShape());
    for (auto [x, y] : llvm::zip(a, b))
      x = isa<tosa::AddOp>(op) ? x + y : isa<tosa::SubOp>(op) ? x - y : x * y;
    result.own(std::move(a));
    return result;
  }
  const ConstantTensor &source = *operands.front();
  if (auto quantize = dyn_cast<QuantizeOp>(op);
      quantize && simulate && quantize.getParameters()) {
    std::vector<float> values(source.values.size());
    makeQuantizer(quantize).run(source.values.data(), values.data());
    result.own(std::move(values));
  } else if (auto transpose = dyn_cast<tosa::TransposeOp>(op)) {
    SmallVector<int64_t> from = rowMajorStrides(source.shape), strides;
    for (int32_t axis : transpose.getPerms())
      strides.push_back(from[axis]);
    std::vector<float> values(source.values.size());
    forEachStrided(type.getShape(), strides, [&](int64_t i, int64_t at) {
      values[i] = source.values[at];
    });
    result.own(std::move(values));
  } else {
    // The evaluator owns the source as long as the result.
    result.values = source.values;
  }
  return result;
}

const ConstantTensor *ConstantEvaluator::evaluate(Value value) {
  // Expressions may be deep: no recursion.
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.back();
    if (known.contains(next)) {
      pending.pop_back();
      continue;
    }
    Operation *op = next.getDefiningOp();
    size_t before = pending.size();
    if (op && isKnown(op))
      for (Value operand : dataOperands(op))
        if (!known.contains(operand))
          pending.push_back(operand);
    if (pending.size() != before)
      continue;
    std::optional<ConstantTensor> result = compute(next);
    known[next] =
        result ? std::make_unique<ConstantTensor>(std::move(*result)) : nullptr;
    pending.pop_back();
  }
  return known.find(value)->second.get();
}

bool ConstantEvaluator::isZero(Value value) {
  const ConstantTensor *constant = evaluate(value);
  return constant &&
         llvm::all_of(constant->values, [](float v) { return v == 0; });
}
