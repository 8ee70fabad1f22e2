// SPDX-License-Identifier: Apache-2.0
#include "RaiseBody.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <numeric>

using namespace mlir;
using namespace mct;

Value BodyRaiser::raiseIndex(linalg::IndexOp index) {
  int64_t loop = index.getDim(), size = loops[loop];
  // There are no constants of dynamic size.
  if (ShapedType::isDynamic(size) || size > (int64_t(1) << 24))
    return nullptr;
  SmallVector<int64_t> values(size), shape(loops.size(), 1);
  std::iota(values.begin(), values.end(), 0);
  shape[loop] = size;
  return builder.reshape(builder.createVector(values), shape);
}

bool BodyRaiser::holds(Value condition) {
  if (Value tensor = get(condition)) {
    ConstantEvaluator evaluator;
    if (std::optional<ConstantTensor> value = evaluator.evaluate(tensor))
      return llvm::all_of(value->decode<int64_t>(),
                          [](int64_t each) { return each != 0; });
  }
  // Every gather assumes that positions are within the tensor.
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  std::optional<double> bound =
      compare ? TosaBuilder::getNumber(compare.getRhs()) : std::nullopt;
  if (!bound)
    return false;
  auto getSource = [](Value value) {
    while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
      value = cast.getIn();
    return value;
  };
  Value place = getSource(compare.getLhs());
  for (auto extraction : op.getBlock()->getOps<tensor::ExtractOp>())
    for (auto [axis, index] : llvm::enumerate(extraction.getIndices())) {
      if (getSource(index) != place)
        continue;
      int64_t size = extraction.getTensor().getType().getDimSize(axis);
      if (compare.getPredicate() == arith::CmpIPredicate::slt
              ? *bound == double(size)
              : compare.getPredicate() == arith::CmpIPredicate::sge &&
                    *bound == 0)
        return true;
    }
  return false;
}

namespace {
/// Describes how one axis of a tensor is read.
struct AxisPlaces {
  /// The loop along which the position varies, or none if it does not vary.
  std::optional<int64_t> loop;
  /// Positions along the loop if they are constants.
  std::vector<int64_t> places;
  /// Tensor of the positions otherwise.
  Value tensor;
};
} // namespace

/// Returns how many times each position of an axis is repeated if the positions
/// are consecutive and all repeated equally often, or in reverse order without
/// repetitions; 0 otherwise.
static int64_t getRepetitions(ArrayRef<int64_t> places, int64_t size) {
  int64_t times =
      llvm::find_if(places,
                    [&](int64_t place) { return place != places.front(); }) -
      places.begin();
  if (int64_t(places.size()) % times != 0)
    return 0;
  bool isBackwards = times == 1 && places.size() > 1 && places[1] < places[0];
  for (auto [i, place] : llvm::enumerate(places)) {
    int64_t expected =
        places.front() + int64_t(i) / times * (isBackwards ? -1 : 1);
    if (place != expected || place < 0 || place >= size)
      return 0;
  }
  return times;
}

/// Returns the elements of `value` at constant positions of an axis, or null if
/// the positions have no such order.
static Value take(TosaBuilder &builder, Value value, int64_t axis,
                  ArrayRef<int64_t> places) {
  RankedTensorType type = getTensorType(value);
  int64_t times = getRepetitions(places, type.getDimSize(axis));
  if (times == 0)
    return nullptr;
  SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape());
  offsets[axis] = std::min(places.front(), places.back());
  sizes[axis] = int64_t(places.size()) / times;
  value = builder.slice(value, offsets, sizes);
  if (places.front() > places.back())
    return tosa::ReverseOp::create(builder, value.getType(), value,
                                   uint32_t(axis));
  if (times == 1)
    return value;
  SmallVector<int64_t> apart(sizes), repeated;
  apart.insert(apart.begin() + axis + 1, 1);
  repeated = apart;
  repeated[axis + 1] = times;
  sizes[axis] *= times;
  return builder.reshape(
      builder.broadcast(builder.reshape(value, apart), repeated), sizes);
}

/// Looks up rows of `value`. Only `axis` is indexed by a tensor, `places`; the
/// other axes run along loops. The result has the axes of `places` before the
/// others.
static Value gather(TosaBuilder &builder, Value value, int64_t axis,
                    Value places) {
  RankedTensorType type = getTensorType(value), indices = getTensorType(places);
  SmallVector<int64_t> order = {axis}, shape(indices.getShape());
  int64_t rest = 1;
  for (int64_t other = 0; other != type.getRank(); ++other) {
    if (other == axis)
      continue;
    order.push_back(other);
    shape.push_back(type.getDimSize(other));
    rest *= type.getDimSize(other);
  }
  int64_t count = indices.getNumElements();
  Value rows = builder.reshape(builder.transpose(value, order),
                               {1, type.getDimSize(axis), rest});
  Value found =
      tosa::GatherOp::create(builder, type.clone({1, count, rest}), rows,
                             builder.reshape(places, {1, count}));
  return builder.reshape(found, shape);
}

Value BodyRaiser::raiseExtraction(tensor::ExtractOp extraction) {
  Value value = builder.read(extraction.getTensor());
  if (!value || !getTensorType(value).hasStaticShape() ||
      llvm::any_of(loops, ShapedType::isDynamic))
    return nullptr;
  SmallVector<AxisPlaces> axes;
  std::optional<size_t> looked;
  SmallVector<bool> taken(loops.size(), false);
  ConstantEvaluator evaluator;
  for (auto [axis, index] : llvm::enumerate(extraction.getIndices())) {
    Value tensor = get(index);
    if (!tensor)
      return nullptr;
    AxisPlaces &places = axes.emplace_back();
    SmallVector<int64_t> along;
    for (auto [loop, size] : llvm::enumerate(getTensorType(tensor).getShape()))
      if (size != 1)
        along.push_back(int64_t(loop));
    std::optional<ConstantTensor> constant = evaluator.evaluate(tensor);
    if (constant) {
      places.places = constant->decode<int64_t>();
      // Equal positions are a single position.
      if (llvm::all_equal(places.places)) {
        places.places.resize(1);
        continue;
      }
    }
    int64_t size = extraction.getTensor().getType().getDimSize(axis);
    if (!constant || along.size() > 1 ||
        getRepetitions(places.places, size) == 0) {
      if (looked)
        return nullptr;
      looked = axis;
      places.tensor = tensor;
    } else {
      places.loop = along.front();
    }
    for (int64_t loop : along) {
      if (taken[loop])
        return nullptr;
      taken[loop] = true;
    }
  }
  for (auto [axis, places] : llvm::enumerate(axes))
    if (!places.tensor &&
        !(value = take(builder, value, int64_t(axis), places.places)))
      return nullptr;
  // The loop of each axis of `value` now; an axis without a loop has size 1.
  SmallVector<std::pair<int64_t, int64_t>> order;
  if (looked) {
    Value places = axes[*looked].tensor;
    value = gather(builder, value, int64_t(*looked), places);
    for (int64_t loop = 0; loop != int64_t(loops.size()); ++loop)
      order.push_back(
          {getTensorType(places).getDimSize(loop) == 1 ? -1 : loop, loop});
  }
  for (auto [axis, places] : llvm::enumerate(axes))
    if (!places.tensor)
      order.push_back({places.loop.value_or(-1), int64_t(order.size())});
  llvm::sort(order);
  SmallVector<int64_t> shape(loops.size(), 1);
  for (auto [loop, axis] : order)
    if (loop >= 0)
      shape[loop] = getTensorType(value).getDimSize(axis);
  return builder.rearrange(
      value, llvm::to_vector(llvm::make_second_range(order)), shape);
}
