// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/Preprocessing.h"

#include "mct/IR/QuantizedValues.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/InterleavedRange.h"
#include <cmath>

using namespace mlir;
using namespace mct;

static constexpr StringLiteral kScale = "scale", kOffset = "offset",
                               kAxis = "axis", kPermutation = "permutation";

DictionaryAttr Preprocessing::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<NamedAttribute> entries;
  auto add = [&](StringRef key, Attribute value) {
    entries.push_back(builder.getNamedAttr(key, value));
  };
  if (!scale.empty())
    add(kScale, builder.getDenseF64ArrayAttr(scale));
  if (!offset.empty())
    add(kOffset, builder.getDenseF64ArrayAttr(offset));
  if (axis)
    add(kAxis, builder.getI64IntegerAttr(*axis));
  if (!permutation.empty())
    add(kPermutation, builder.getDenseI64ArrayAttr(permutation));
  return builder.getDictionaryAttr(entries);
}

/// Parses the dictionary; returns none if any part of it has another form.
static std::optional<Preprocessing> parse(Attribute attribute) {
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  if (!entries)
    return std::nullopt;
  Preprocessing result;
  for (NamedAttribute entry : entries) {
    StringRef key = entry.getName();
    if (auto values = dyn_cast<DenseF64ArrayAttr>(entry.getValue());
        values && (key == kScale || key == kOffset))
      (key == kScale ? result.scale : result.offset)
          .append(values.asArrayRef().begin(), values.asArrayRef().end());
    else if (auto axis = dyn_cast<IntegerAttr>(entry.getValue());
             axis && key == kAxis && axis.getType().isSignlessInteger(64))
      result.axis = axis.getInt();
    else if (auto order = dyn_cast<DenseI64ArrayAttr>(entry.getValue());
             order && key == kPermutation)
      result.permutation.append(order.asArrayRef().begin(),
                                order.asArrayRef().end());
    else
      return std::nullopt;
  }
  return result;
}

static LogicalResult
verify(const Preprocessing &record, Type type, bool isReal,
       llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  bool scales = !record.scale.empty() || !record.offset.empty();
  if (!tensor || (scales && !isReal))
    return emitError() << "a scale or offset is one of an argument of f32, or "
                          "of integers that stand for real numbers, but it "
                          "has type "
                       << type;
  int64_t rank = tensor.getRank();
  if (record.axis && (*record.axis < 1 || *record.axis >= rank))
    return emitError() << "the axis of an argument of rank " << rank
                       << " is one behind the first, but got " << *record.axis;
  // A tensor whose only dimension is the batch has no channels.
  int64_t channels =
      rank > 1 ? tensor.getDimSize(record.axis.value_or(rank - 1)) : 1;
  for (ArrayRef<double> values :
       {ArrayRef(record.scale), ArrayRef(record.offset)}) {
    if (values.size() > 1 && int64_t(values.size()) != channels)
      return emitError() << "expected one value, or one for each of the "
                         << channels << " channels of " << type << ", but got "
                         << values.size();
    for (double value : values)
      if (!std::isfinite(value))
        return emitError() << "scale and offset are finite, but got " << value;
  }
  if (llvm::is_contained(record.scale, 0))
    return emitError() << "a scale of 0 makes all samples equal";
  SmallVector<int64_t> sorted(record.permutation);
  llvm::sort(sorted);
  if (!sorted.empty() &&
      !llvm::equal(sorted,
                   llvm::seq<int64_t>(0, std::max<int64_t>(rank, 1) - 1)))
    return emitError() << "the permutation of an argument of rank " << rank
                       << " orders the dimensions behind the first, counted "
                          "from 0, but got "
                       << llvm::interleaved_array(record.permutation);
  return success();
}

FailureOr<Preprocessings> mct::readPreprocessing(func::FuncOp function) {
  Preprocessings records;
  for (BlockArgument argument : function.getArguments()) {
    std::optional<Preprocessing> &record = records.emplace_back();
    unsigned number = argument.getArgNumber();
    Attribute attribute = function.getArgAttr(number, kPreprocessingAttrName);
    if (!attribute)
      continue;
    auto emitError = [&] {
      return function.emitError("'")
             << kPreprocessingAttrName << "' of argument #" << number << ": ";
    };
    record = parse(attribute);
    if (!record)
      return emitError() << "expected {scale = array<f64: …>, offset = "
                            "array<f64: …>, axis = … : i64, permutation = "
                            "array<i64: …>}, or some of it, but got "
                         << attribute;
    Type element = getElementTypeOrSelf(argument.getType());
    bool isReal =
        element.isF32() || function.getArgAttr(number, kQuantizedAttrName);
    if (failed(verify(*record, argument.getType(), isReal, emitError)))
      return failure();
  }
  return records;
}
