// SPDX-License-Identifier: Apache-2.0
//
// How IntegerRanges traverses a function. IntegerRanges.cpp has the knowledge
// about values, RangeRules.cpp the effects of ops on it.
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

/// If the last axis is longer than this, it is treated as a whole.
inline constexpr int64_t kMaxChannels = 1 << 16;
/// Most terms of a sum that are visited individually; a splat may have any
/// number.
inline constexpr int64_t kMaxTerms = 1 << 26;

/// Facts about the elements of a tensor.
struct Knowledge {
  /// One range for all elements, or one for each index of the last axis.
  std::vector<Interval> channels;
  /// Each element is computed from a single element of `root`, whose range is
  /// split into pieces: if that is in piece i, this is in `pieces[i]`. Null if
  /// there is no such value.
  mlir::Value root;
  std::vector<Interval> pieces;
  /// Value with one element in every row along `axis`, at the position where
  /// `source` has its maximum. Null if there is no such value.
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
/// Tightens the pieces and the channels by each other.
void tighten(Knowledge &knowledge);

/// Returns the size of the last axis, 1 for a scalar.
inline int64_t lastSize(mlir::Value value) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.getRank() > 0 ? type.getShape().back() : 1;
}

/// Traverses a function once.
class RangePropagation {
public:
  RangePropagation(IntegerRanges &result) : result(result) {}

  void run(mlir::func::FuncOp function);
  static bool knows(llvm::StringRef op) { return allRules().contains(op); }

private:
  void readArguments(mlir::func::FuncOp function);
  /// Returns the knowledge about an operand, or null if it is not a tensor of
  /// integers.
  Knowledge *know(mlir::Value value);
  /// Returns the knowledge that follows from the type alone.
  Knowledge fromType(mlir::Value value);
  /// Returns all elements of a constant, including the repetitions of a splat.
  std::optional<std::vector<int64_t>> readIntegers(mlir::Value value);
  /// Visits the stored elements of a constant (a single one for a splat);
  /// returns false if the value is not constant.
  bool visitElements(mlir::Value value,
                     llvm::function_ref<void(int64_t, int64_t)> visitor,
                     bool &isSplat);
  std::optional<int64_t> readScalar(mlir::Value value);

  /// Returns the range of index `channel`, for tensors with one range per index
  /// or one for all.
  static Interval channelOf(const Knowledge &knowledge, int64_t channel) {
    return knowledge.channels.size() == 1 ? knowledge.channels.front()
                                          : knowledge.channels[channel];
  }
  /// Keeps the ranges of the channels if the last axis does not change.
  Knowledge moved(const Knowledge &from, bool keepsLast);
  Knowledge reduced(const Knowledge &from, mlir::Value input, int64_t axis);
  /// Computes the range of the result from that of the operand for an
  /// element-wise function.
  template <typename Function>
  Knowledge map(mlir::Value input, Function function);
  template <typename Function>
  Knowledge combine(mlir::Value a, mlir::Value b, Function function);
  /// Splits the range of a value into its levels, so that other values become
  /// functions of its elements.
  void makeRoot(mlir::Value value);
  /// Splits the range of a value into pieces that are smaller the closer they
  /// follow a power of two, where the number of leading zeros changes.
  void makeOctaves(mlir::Value value);
  /// Returns the axis along which `maximum` is the maximum of `value`.
  std::optional<int64_t> axisOfMaximum(mlir::Value value, mlir::Value maximum);

  void report(RangeViolation::Kind kind, mlir::Operation *op, Interval found,
              Interval allowed, std::optional<int64_t> channel = {});
  /// Reports values that the type cannot hold, and limits the range to the
  /// type.
  Knowledge limit(mlir::Operation *op, Knowledge raw, Interval allowed,
                  RangeViolation::Kind kind);

  /// Functions that compute the knowledge about the results of ops, by op name.
  class Rules {
  public:
    /// Adds `rule(RangePropagation &, Op)`, which returns the knowledge or
    /// none.
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

  /// Returns the knowledge about the result, or none if only its type is known.
  std::optional<Knowledge> visit(mlir::Operation *op);
  /// Reports values that the type of the result cannot hold, and limits the
  /// range to the type.
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

  /// Sums of products with constants, one output channel after the other.
  struct Sums {
    std::vector<Interval> values;
    /// Ranges of the sums if any of the terms may be omitted.
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
  /// Number of users, for each value, that have not been visited.
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
  // If sizes differ otherwise, one element is broadcast.
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
  // An operand with a single element per row does not change the position of
  // the maximum of the other one.
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
