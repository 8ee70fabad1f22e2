// SPDX-License-Identifier: Apache-2.0
//
// Propagation of ranges through a function: IntegerRanges.cpp has the knowledge
// of values, RangeRules.cpp the rules of ops.
#ifndef MCT_LIB_INTEGERRANGES_RANGEPROPAGATION_H
#define MCT_LIB_INTEGERRANGES_RANGEPROPAGATION_H

#include "mct/IR/ConstantEvaluator.h"
#include "mct/IR/Saturating.h"
#include "mct/IntegerRanges/IntegerRanges.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace mct {

/// Limit on the last axis up to which its indices are treated separately.
inline constexpr int64_t kMaxChannels = 1 << 16;
/// Limit on the terms of a sum that are treated one by one; a splat may have
/// any number.
inline constexpr int64_t kMaxTerms = 1 << 26;

/// Facts about the elements of a tensor.
struct Knowledge {
  /// One range for all, or one for each index of the last axis.
  std::vector<Interval> channels;
  /// Each element is computed from one element of `root` alone, whose range is
  /// divided into pieces: if that is in piece i, this is in `pieces[i]`. Null
  /// if unknown.
  mlir::Value root;
  std::vector<Interval> pieces;
  /// Value with an element in every row along `axis`, at which `source` has its
  /// maximum. Null if unknown.
  mlir::Value source;
  int64_t axis = 0;
  Interval witness;

  Interval all() const {
    Interval result = channels.front();
    for (Interval channel : llvm::ArrayRef(channels).drop_front())
      result = unite(result, channel);
    return result;
  }
};
/// Intersects the pieces and the channels with each other.
void tighten(Knowledge &knowledge);

/// Returns the size of the last axis; 1 for a scalar.
inline int64_t lastSize(mlir::Value value) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.getRank() > 0 ? type.getShape().back() : 1;
}

/// Visits a function once.
class RangePropagation {
public:
  RangePropagation(IntegerRanges &result) : result(result) {}

  void run(mlir::func::FuncOp function);
  static bool knows(llvm::StringRef op) { return allRules().contains(op); }

private:
  void readArguments(mlir::func::FuncOp function);
  /// Returns the knowledge of an operand; null unless it is a tensor of
  /// integers.
  Knowledge *know(mlir::Value value);
  /// Returns the knowledge from the type alone.
  Knowledge fromType(mlir::Value value);
  /// Returns all elements of a constant; those of a splat once for each.
  std::optional<std::vector<int64_t>> readIntegers(mlir::Value value);
  /// Visits the stored elements of a constant, one for a splat; returns false
  /// if it is not a constant.
  bool visitElements(mlir::Value value,
                     llvm::function_ref<void(int64_t, int64_t)> visitor,
                     bool &isSplat);
  std::optional<int64_t> readScalar(mlir::Value value);

  /// Returns the range of index `channel`, for tensors that have one or all.
  static Interval channelOf(const Knowledge &knowledge, int64_t channel) {
    return knowledge.channels.size() == 1 ? knowledge.channels.front()
                                          : knowledge.channels[channel];
  }
  /// Keeps the ranges of the channels if the last axis is the same.
  Knowledge moved(const Knowledge &from, bool keepsLast);
  Knowledge reduced(const Knowledge &from, mlir::Value input, int64_t axis);
  /// Maps the ranges of the operand to those of the result, element by element.
  template <typename Function>
  Knowledge map(mlir::Value input, Function function);
  template <typename Function>
  Knowledge combine(mlir::Value a, mlir::Value b, Function function);
  /// Makes values functions of the elements of this one, level by level.
  void makeRoot(mlir::Value value);
  /// Makes the numbers of leading zeros levels: they change slowly after a
  /// power of two.
  void makeOctaves(mlir::Value value);
  /// Returns the axis along which `maximum` has the maximum of `value`.
  std::optional<int64_t> axisOfMaximum(mlir::Value value, mlir::Value maximum);

  void report(RangeViolation::Kind kind, mlir::Operation *op, Interval found,
              Interval allowed, std::optional<int64_t> channel = {});
  /// Reports values outside `allowed`, and limits the range to it.
  Knowledge limit(mlir::Operation *op, Knowledge raw, Interval allowed,
                  RangeViolation::Kind kind);

  /// Functions that find the knowledge of the results of ops, by name.
  class Rules {
  public:
    /// `rule(RangePropagation &, Op)` returns the knowledge, or none.
    template <typename Op, typename Function> void add(Function rule) {
      rules[Op::getOperationName()] =
          [rule](RangePropagation &at,
                 mlir::Operation *op) -> std::optional<Knowledge> {
        return std::invoke(rule, at, mlir::cast<Op>(op));
      };
    }
    std::optional<Knowledge> visit(RangePropagation &at,
                                   mlir::Operation *op) const {
      auto rule = rules.find(op->getName().getStringRef());
      return rule == rules.end() ? std::nullopt : rule->second(at, op);
    }
    bool contains(llvm::StringRef op) const { return rules.contains(op); }

  private:
    llvm::StringMap<std::function<std::optional<Knowledge>(RangePropagation &,
                                                           mlir::Operation *)>>
        rules;
  };
  static const Rules &allRules();
  static void addLayerRules(Rules &rules);
  static void addArithmeticRules(Rules &rules);
  static void addBitRules(Rules &rules);
  static void addMovementRules(Rules &rules);

  /// Returns the knowledge of the result; none if only its type is known.
  std::optional<Knowledge> visit(mlir::Operation *op);
  /// Reports values that the type of the result does not hold, and limits the
  /// range to it.
  Knowledge limitToType(mlir::Operation *op, Knowledge raw);
  std::optional<Knowledge> visitRescale(mlir::tosa::RescaleOp op);
  std::optional<Knowledge> visitSub(mlir::tosa::SubOp op);
  std::optional<Knowledge> visitMul(mlir::tosa::MulOp op);
  std::optional<Knowledge> visitShift(mlir::Operation *op, bool left,
                                      bool round);
  std::optional<Knowledge> visitTable(mlir::tosa::TableOp op);
  std::optional<Knowledge> visitReduceSum(mlir::tosa::ReduceSumOp op);
  std::optional<Knowledge> visitAvgPool(mlir::tosa::AvgPool2dOp op);
  std::optional<Knowledge> visitConcat(mlir::tosa::ConcatOp op);
  std::optional<Knowledge> visitResize(mlir::tosa::ResizeOp op);
  std::optional<Knowledge> visitMatMul(mlir::tosa::MatMulOp op);
  std::optional<Knowledge> visitNegate(mlir::tosa::NegateOp op);
  std::optional<Knowledge> visitFloatCast(mlir::tosa::CastOp op);
  template <typename ConvOp>
  std::optional<Knowledge> visitConv(ConvOp op, bool isPadded);

  /// Sums of products with constants, for one output channel after another.
  struct Sums {
    std::vector<Interval> values;
    /// Range of the sum of any subset of the terms.
    std::vector<Interval> partial;
    std::vector<int64_t> magnitudes;

    explicit Sums(int64_t size)
        : values(size), partial(size), magnitudes(size) {}
    void add(int64_t channel, Interval term) {
      values[channel] = mct::add(values[channel], term);
      partial[channel] =
          mct::add(partial[channel], {std::min<int64_t>(term.low, 0),
                                      std::max<int64_t>(term.high, 0)});
      magnitudes[channel] =
          addSaturating(magnitudes[channel],
                        std::max(saturate(-__int128(term.low)), term.high));
    }
  };
  Knowledge finish(mlir::Operation *op, Sums sums, bool mayLeaveOut);

  IntegerRanges &result;
  ConstantEvaluator constants;
  llvm::DenseMap<mlir::Value, Knowledge> known;
  /// Number of users of values that have not been visited yet.
  llvm::DenseMap<mlir::Value, size_t> unread;
};

template <typename Function>
Knowledge RangePropagation::map(mlir::Value input, Function function) {
  const Knowledge &from = *know(input);
  Knowledge to;
  for (Interval channel : from.channels)
    to.channels.push_back(function(channel));
  if (from.root) {
    to.root = from.root;
    for (Interval piece : from.pieces)
      to.pieces.push_back(function(piece));
  }
  if (from.source) {
    to.source = from.source;
    to.axis = from.axis;
    to.witness = function(from.witness);
  }
  return to;
}

template <typename Function>
Knowledge RangePropagation::combine(mlir::Value left, mlir::Value right,
                                    Function function) {
  const Knowledge &a = *know(left), &b = *know(right);
  Knowledge to;
  size_t size = std::max(a.channels.size(), b.channels.size());
  // Sizes that differ in another way are a broadcast of one element.
  bool fits = llvm::all_of(llvm::ArrayRef<const Knowledge *>{&a, &b},
                           [&](const Knowledge *operand) {
                             return operand->channels.size() == 1 ||
                                    operand->channels.size() == size;
                           });
  if (fits)
    for (size_t i = 0; i != size; ++i)
      to.channels.push_back(function(channelOf(a, i), channelOf(b, i)));
  else
    to.channels = {function(a.all(), b.all())};
  bool sameRoot = a.root && a.root == b.root;
  if (a.root && (sameRoot || !b.root)) {
    to.root = a.root;
    for (size_t i = 0; i != a.pieces.size(); ++i)
      to.pieces.push_back(
          function(a.pieces[i], sameRoot ? b.pieces[i] : b.all()));
  } else if (b.root && !a.root) {
    to.root = b.root;
    for (Interval piece : b.pieces)
      to.pieces.push_back(function(a.all(), piece));
  }
  // An operand with one element per row keeps the position of the other.
  auto isConstantAlong = [](mlir::Value operand, int64_t axis) {
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(operand.getType());
    return type && axis < type.getRank() && type.getDimSize(axis) == 1;
  };
  bool sameSource = a.source && a.source == b.source;
  if (a.source && (sameSource || isConstantAlong(right, a.axis))) {
    to.source = a.source;
    to.axis = a.axis;
    to.witness = function(a.witness, sameSource ? b.witness : b.all());
  } else if (b.source && isConstantAlong(left, b.axis)) {
    to.source = b.source;
    to.axis = b.axis;
    to.witness = function(a.all(), b.witness);
  }
  return to;
}

} // namespace mct

#endif // MCT_LIB_INTEGERRANGES_RANGEPROPAGATION_H
