// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/QuantizedValues.h"

#include "mct/IR/Names.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;
using namespace mct;

DictionaryAttr QuantizedValue::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<NamedAttribute> entries{
      builder.getNamedAttr("name", builder.getStringAttr(name)),
      builder.getNamedAttr("scale", builder.getF64FloatAttr(scale)),
      builder.getNamedAttr("zero_point", builder.getI64IntegerAttr(zeroPoint)),
      builder.getNamedAttr("bits", builder.getI64IntegerAttr(bits))};
  if (!isSigned)
    entries.push_back(
        builder.getNamedAttr("is_signed", builder.getBoolAttr(false)));
  return builder.getDictionaryAttr(entries);
}

quantization::Grid QuantizedValue::getGrid(unsigned storageBits) const {
  quantization::Grid grid;
  grid.step = scale;
  grid.zeroPoint = zeroPoint;
  bool symmetric = isSigned || bits == int64_t(storageBits);
  grid.qmin = symmetric ? -(int64_t(1) << (bits - 1)) : 0;
  grid.qmax = grid.qmin + (int64_t(1) << bits) - 1;
  grid.rounding = quantization::Rounding::HalfUp;
  return grid;
}

FailureOr<QuantizedValue>
mct::readQuantizedValue(Attribute attribute, Type type,
                        llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto entries = dyn_cast_or_null<DictionaryAttr>(attribute);
  auto refuse = [&]() -> FailureOr<QuantizedValue> {
    emitError() << "expected {name = \"…\", scale = … : f64, zero_point = … : "
                   "i64, bits = … : i64}, but got "
                << attribute;
    return failure();
  };
  if (!entries)
    return refuse();
  auto name = entries.getAs<StringAttr>("name");
  auto scale = entries.getAs<FloatAttr>("scale");
  auto zeroPoint = entries.getAs<IntegerAttr>("zero_point");
  auto bits = entries.getAs<IntegerAttr>("bits");
  auto isSigned = entries.getAs<BoolAttr>("is_signed");
  size_t known = 4 + (isSigned ? 1 : 0);
  if (!name || !scale || !scale.getType().isF64() || !zeroPoint ||
      !zeroPoint.getType().isSignlessInteger(64) || !bits ||
      !bits.getType().isSignlessInteger(64) || entries.size() != known)
    return refuse();
  QuantizedValue result{name.str(), scale.getValueAsDouble(),
                        zeroPoint.getInt(), bits.getInt(),
                        !isSigned || isSigned.getValue()};
  auto tensor = dyn_cast<RankedTensorType>(type);
  unsigned width = 0;
  if (tensor && tensor.getElementType().isSignlessInteger())
    width = tensor.getElementTypeBitWidth();
  if (width != 8 && width != 16 && width != 32) {
    emitError() << "'" << result.name
                << "' is stored in a tensor of i8, i16 or i32, but has type "
                << type;
    return failure();
  }
  if (!(result.scale > 0) || !std::isfinite(result.scale)) {
    emitError() << "the scale of '" << result.name
                << "' is a positive number, but got " << result.scale;
    return failure();
  }
  if (result.bits < 1 || result.bits > width) {
    emitError() << "'" << result.name << "' has 1 to " << width
                << " bits in its type, but got " << result.bits;
    return failure();
  }
  quantization::Grid grid = result.getGrid(width);
  if (result.zeroPoint < grid.qmin || result.zeroPoint > grid.qmax) {
    emitError() << "the zero point of '" << result.name << "' is in ["
                << grid.qmin << ", " << grid.qmax << "], but got "
                << result.zeroPoint;
    return failure();
  }
  return result;
}

/// Parses the attributes of values of these types; `what`: their name in
/// errors.
static FailureOr<QuantizedValues>
readQuantizedValues(func::FuncOp function, ArrayRef<Type> types, StringRef what,
                    llvm::function_ref<Attribute(unsigned)> getAttribute) {
  QuantizedValues records(types.size());
  for (auto [number, type] : llvm::enumerate(types)) {
    Attribute attribute = getAttribute(unsigned(number));
    if (!attribute)
      continue;
    FailureOr<QuantizedValue> read =
        readQuantizedValue(attribute, type, [&, index = number] {
          return function.emitError("'") << kQuantizedAttrName << "' of "
                                         << what << " #" << index << ": ";
        });
    if (failed(read))
      return failure();
    records[number] = std::move(*read);
  }
  return records;
}

FailureOr<QuantizedValues> mct::readQuantizedArguments(func::FuncOp function) {
  return readQuantizedValues(
      function, function.getArgumentTypes(), "argument", [&](unsigned number) {
        return function.getArgAttr(number, kQuantizedAttrName);
      });
}

FailureOr<QuantizedValues> mct::readQuantizedResults(func::FuncOp function) {
  return readQuantizedValues(
      function, function.getResultTypes(), "result", [&](unsigned number) {
        return function.getResultAttr(number, kQuantizedAttrName);
      });
}

/// Finds the values of the records in `tpc.points`.
static LogicalResult findPoints(func::FuncOp function, ArrayAttr points,
                                std::vector<RecordedValue> &found) {
  llvm::StringMap<SmallVector<Operation *, 1>> named;
  for (Operation &op : function.getBody().front())
    if (op.getNumResults() == 1 && !matchPattern(&op, m_Constant()))
      if (StringAttr name = getName(op.getLoc()))
        named[name.getValue()].push_back(&op);
  for (Attribute attribute : points) {
    auto entries = dyn_cast<DictionaryAttr>(attribute);
    auto name = entries ? entries.getAs<StringAttr>("name") : StringAttr();
    ArrayRef<Operation *> ops;
    if (name)
      if (auto entry = named.find(name.getValue()); entry != named.end())
        ops = entry->second;
    if (name && ops.empty())
      return function.emitError("'")
             << kPointsAttrName << "' names '" << name.getValue()
             << "', but no op has that name in its location; print the "
                "text with debug info, or write bytecode";
    if (ops.size() > 1) {
      InFlightDiagnostic error = function.emitError("'")
                                 << kPointsAttrName << "' names '"
                                 << name.getValue() << "', but " << ops.size()
                                 << " ops have that name";
      for (Operation *op : ops)
        error.attachNote(op->getLoc()) << "this one";
      return error;
    }
    Type type = ops.empty() ? Type() : ops.front()->getResult(0).getType();
    FailureOr<QuantizedValue> read = readQuantizedValue(attribute, type, [&] {
      return function.emitError("'") << kPointsAttrName << "': ";
    });
    if (failed(read))
      return failure();
    found.push_back({ops.front()->getResult(0), std::move(*read)});
  }
  return success();
}

/// Returns whether a value has the elements of another one in the same order:
/// results that are moved otherwise cannot be compared with the point of that
/// name.
static bool isReshaped(Value value, Value original) {
  while (value != original) {
    auto reshape = value.getDefiningOp<tosa::ReshapeOp>();
    if (!reshape)
      return false;
    value = reshape.getInput1();
  }
  return true;
}

FailureOr<std::vector<RecordedValue>>
mct::findRecordedValues(func::FuncOp function) {
  std::vector<RecordedValue> found;
  FailureOr<QuantizedValues> arguments = readQuantizedArguments(function);
  if (failed(arguments))
    return failure();
  for (auto [argument, record] :
       llvm::zip_equal(function.getArguments(), *arguments))
    if (record)
      found.push_back({argument, *record});
  if (Attribute points = function->getDiscardableAttr(kPointsAttrName)) {
    auto list = dyn_cast<ArrayAttr>(points);
    if (!list)
      return function.emitError("'")
             << kPointsAttrName << "' is an array, but got " << points;
    if (failed(findPoints(function, list, found)))
      return failure();
  }
  FailureOr<QuantizedValues> results = readQuantizedResults(function);
  if (failed(results))
    return failure();
  // Functions with several blocks have no such terminator here.
  auto end =
      dyn_cast<func::ReturnOp>(function.getBody().front().getTerminator());
  if (!end)
    return found;
  for (const auto &pair : llvm::zip_equal(end.getOperands(), *results)) {
    Value value = std::get<0>(pair);
    const std::optional<QuantizedValue> &record = std::get<1>(pair);
    if (record && llvm::none_of(found, [&](const RecordedValue &other) {
          return other.record.name == record->name &&
                 (other.value == value || !isReshaped(value, other.value));
        }))
      found.push_back({value, *record});
  }
  return found;
}
