// SPDX-License-Identifier: Apache-2.0
//
// Reductions, resizes, and ops that only move elements.
#include "ReferenceOps.h"

using namespace mlir;
using namespace mct::testing;
using namespace mct::testing::reference;

void Evaluation::resize(tosa::ResizeOp resizeOp) {
  const ReferenceTensor &x = input(0);
  Index scale = readShape(resizeOp.getScale()),
        offset = readShape(resizeOp.getOffset());
  bool nearest = resizeOp.getMode() == tosa::ResizeMode::NEAREST_NEIGHBOR;
  for (size_t i = 0; i != result.numbers.size(); ++i) {
    Index out = unflatten(result.shape, int64_t(i));
    int64_t from[2][2], rest[2], numerator[2];
    for (int axis : {0, 1}) {
      int64_t n = scale[2 * axis], d = scale[2 * axis + 1];
      int64_t position = out[1 + axis] * d + offset[axis];
      int64_t whole = position >= 0 ? position / n : -((-position + n - 1) / n);
      rest[axis] = position - whole * n;
      numerator[axis] = n;
      from[axis][0] = std::max<int64_t>(whole, 0);
      from[axis][1] = std::min(whole + 1, x.shape[1 + axis] - 1);
    }
    auto at = [&](int y, int column) {
      return x.numbers[flatten(x.shape,
                               {out[0], from[0][y], from[1][column], out[3]})];
    };
    if (nearest) {
      result.numbers[i] = at(2 * rest[0] >= numerator[0] ? 1 : 0,
                             2 * rest[1] >= numerator[1] ? 1 : 0);
      continue;
    }
    Sum sum;
    for (int y : {0, 1})
      for (int column : {0, 1}) {
        double weight = double(y ? rest[0] : numerator[0] - rest[0]) *
                        double(column ? rest[1] : numerator[1] - rest[1]);
        if (isFloat(element()))
          weight /= double(numerator[0] * numerator[1]);
        sum.addProduct(at(y, column), {weight, 0});
      }
    if (!isFloat(element())) {
      result.numbers[i] = {sum.value, sum.propagated == 0 ? 0 : kInfinity};
      continue;
    }
    // A fraction, its complement and their product are rounded too, and the
    // complement of a fraction near 1 in units of 1.
    double outer = 0;
    for (int y : {0, 1})
      for (int column : {0, 1})
        outer = std::max(outer,
                         std::abs(at(y, column).value) + at(y, column).error);
    Number total = sum.finish(6);
    bool exact = rest[0] == 0 && rest[1] == 0;
    result.numbers[i] =
        exact ? at(0, 0)
              : checked(total.value, total.error + 8 * kUnit * outer);
  }
}

void Evaluation::scatter() {
  const ReferenceTensor &values = input(0), &indices = input(1),
                        &updates = input(2);
  result.numbers = values.numbers;
  for (int64_t n = 0; n != indices.shape[0]; ++n)
    for (int64_t w = 0; w != indices.shape[1]; ++w) {
      const Number &k = indices.numbers[flatten(indices.shape, {n, w})];
      for (int64_t c = 0; c != values.shape[2]; ++c) {
        if (!k.isExact()) {
          // It may have gone anywhere.
          for (int64_t row = 0; row != values.shape[1]; ++row)
            result.numbers[flatten(values.shape, {n, row, c})].error =
                kInfinity;
          continue;
        }
        result.numbers[flatten(values.shape, {n, integer(k), c})] =
            updates.numbers[flatten(updates.shape, {n, w, c})];
      }
    }
}

bool Evaluation::reduction() {
  StringRef name = op.getName().stripDialect();
  auto attribute = op.getAttrOfType<IntegerAttr>("axis");
  if (!attribute)
    return false;
  int64_t axis = attribute.getInt();
  bool floats = isFloat(element());

  if (name == "reduce_sum") {
    along(axis, [&](ArrayRef<Number> line) -> Number {
      Sum sum;
      for (const Number &number : line)
        sum.add(number);
      if (floats)
        return line.size() == 1 ? line[0] : sum.finish(0);
      return {double(wrap(int64_t(sum.value), widthOf(element()))),
              sum.propagated == 0 ? 0 : kInfinity};
    });
    return true;
  }
  if (name == "reduce_product") {
    along(axis, [&](ArrayRef<Number> line) {
      Number product{1, 0};
      double roundings = 0;
      for (const Number &number : line) {
        Sum next;
        next.addProduct(product, number);
        product = {next.value, next.propagated};
        roundings += kUnit;
      }
      return checked(product.value,
                     product.error +
                         1.01 * roundings *
                             (std::abs(product.value) + product.error) +
                         (product.value == 0 ? 0 : kTiny));
    });
    return true;
  }
  if (name == "reduce_max" || name == "reduce_min") {
    along(axis, [&](ArrayRef<Number> line) {
      Number best = line[0];
      for (const Number &number : line.drop_front())
        best = name == "reduce_max" ? largest(best, number)
                                    : smallest(best, number);
      return best;
    });
    return true;
  }
  if (name == "reduce_all" || name == "reduce_any") {
    // One number may decide although others are not known.
    double decisive = name == "reduce_any" ? 1 : 0;
    along(axis, [&](ArrayRef<Number> line) -> Number {
      bool known = true;
      for (const Number &number : line) {
        if (number.isExact() && number.value == decisive)
          return number;
        known &= number.isExact();
      }
      return known ? truth(decisive == 0) : kUnknownTruth;
    });
    return true;
  }
  if (name == "argmax") {
    along(axis, [&](ArrayRef<Number> line) -> Number {
      size_t best = 0;
      for (size_t i = 1; i != line.size(); ++i)
        if (line[i].value > line[best].value)
          best = i;
      for (size_t i = 0; i != line.size(); ++i) {
        if (i == best)
          continue;
        Order order = compare(line[best], line[i]);
        if (order != Order::Greater && !(order == Order::Equal && i > best))
          return {double(best), kInfinity};
      }
      return {double(best), 0};
    });
    return true;
  }
  if (name == "reverse") {
    gatherElements([&](Index index) {
      index[axis] = input(0).shape[axis] - 1 - index[axis];
      return index;
    });
    return true;
  }
  if (name == "concat") {
    int64_t begin = 0;
    for (const ReferenceTensor *part : inputs) {
      for (size_t i = 0; i != part->numbers.size(); ++i) {
        Index index = unflatten(part->shape, int64_t(i));
        index[axis] += begin;
        result.numbers[flatten(result.shape, index)] = part->numbers[i];
      }
      begin += part->shape[axis];
    }
    return true;
  }
  return false;
}

bool Evaluation::movement() {
  if (isa<tosa::ReshapeOp>(op)) {
    result.numbers = input(0).numbers;
    // The sums after a reshape may still be in the making.
    result.terms = input(0).terms;
    return true;
  }
  if (auto slice = dyn_cast<tosa::SliceOp>(op)) {
    Index start = readShape(slice.getStart());
    gatherElements([&](Index index) {
      for (size_t d = 0; d != index.size(); ++d)
        index[d] += start[d];
      return index;
    });
    return true;
  }
  if (isa<tosa::TileOp>(op)) {
    gatherElements([&](Index index) {
      for (size_t d = 0; d != index.size(); ++d)
        index[d] %= input(0).shape[d];
      return index;
    });
    return true;
  }
  if (auto transpose = dyn_cast<tosa::TransposeOp>(op)) {
    gatherElements([&](const Index &index) {
      Index source(index.size());
      for (size_t d = 0; d != index.size(); ++d)
        source[transpose.getPerms()[d]] = index[d];
      return source;
    });
    return true;
  }
  if (auto pad = dyn_cast<tosa::PadOp>(op)) {
    Index padding = readShape(pad.getPadding());
    const ReferenceTensor &constant = input(inputs.size() - 1);
    for (size_t i = 0; i != result.numbers.size(); ++i) {
      Index index = unflatten(result.shape, int64_t(i));
      bool inside = true;
      for (size_t d = 0; d != index.size(); ++d) {
        index[d] -= padding[2 * d];
        inside &= index[d] >= 0 && index[d] < input(0).shape[d];
      }
      result.numbers[i] = inside
                              ? input(0).numbers[flatten(input(0).shape, index)]
                              : constant.numbers[0];
    }
    return true;
  }
  if (isa<tosa::GatherOp>(op)) {
    const ReferenceTensor &values = input(0), &indices = input(1);
    for (size_t i = 0; i != result.numbers.size(); ++i) {
      Index out = unflatten(result.shape, int64_t(i));
      const Number &k =
          indices.numbers[flatten(indices.shape, {out[0], out[1]})];
      result.numbers[i] =
          k.isExact() ? values.numbers[flatten(values.shape,
                                               {out[0], integer(k), out[2]})]
                      : Number{0, kInfinity};
    }
    return true;
  }
  if (isa<tosa::ScatterOp>(op)) {
    scatter();
    return true;
  }
  return false;
}
