// SPDX-License-Identifier: Apache-2.0
//
// The table of ops whose ranges are known, with the short rules.
#include "RangePropagation.h"

using namespace mlir;
using namespace mct;

namespace {
using Result = std::optional<Knowledge>;
} // namespace

Knowledge RangePropagation::limitToType(Operation *op, Knowledge raw) {
  return limit(op, std::move(raw),
               *Interval::ofType(op->getResult(0).getType()),
               RangeViolation::Kind::Result);
}

void RangePropagation::addLayerRules(Rules &rules) {
  auto addConv = [&](auto type) {
    using Conv = decltype(type);
    rules.add<Conv>([](RangePropagation &at, Conv op) {
      return at.visitConv(op, llvm::any_of(op.getPad(), [](int64_t size) {
                            return size != 0;
                          }));
    });
  };
  addConv(tosa::Conv2DOp());
  addConv(tosa::Conv3DOp());
  addConv(tosa::DepthwiseConv2DOp());
  rules.add<tosa::TransposeConv2DOp>(
      [](RangePropagation &at, tosa::TransposeConv2DOp op) {
        // Most positions use only a part of the kernel.
        return at.visitConv(op, /*isPadded=*/true);
      });
  rules.add<tosa::MatMulOp>(&RangePropagation::visitMatMul);
  rules.add<tosa::AvgPool2dOp>(&RangePropagation::visitAvgPool);
  rules.add<tosa::ReduceSumOp>(&RangePropagation::visitReduceSum);
  rules.add<tosa::ResizeOp>(&RangePropagation::visitResize);
}

void RangePropagation::addArithmeticRules(Rules &rules) {
  rules.add<tosa::RescaleOp>(&RangePropagation::visitRescale);
  rules.add<tosa::TableOp>(&RangePropagation::visitTable);
  rules.add<tosa::NegateOp>(&RangePropagation::visitNegate);
  rules.add<tosa::SubOp>(&RangePropagation::visitSub);
  rules.add<tosa::MulOp>(&RangePropagation::visitMul);
  rules.add<tosa::AddOp>([](RangePropagation &at, tosa::AddOp op) {
    return at.limitToType(op,
                          at.combine(op.getInput1(), op.getInput2(), mct::add));
  });
  rules.add<tosa::MaximumOp>([](RangePropagation &at, tosa::MaximumOp op) {
    return at.combine(
        op.getInput1(), op.getInput2(), [](Interval a, Interval b) -> Interval {
          return {std::max(a.low, b.low), std::max(a.high, b.high)};
        });
  });
  rules.add<tosa::MinimumOp>([](RangePropagation &at, tosa::MinimumOp op) {
    return at.combine(
        op.getInput1(), op.getInput2(), [](Interval a, Interval b) -> Interval {
          return {std::min(a.low, b.low), std::min(a.high, b.high)};
        });
  });
  rules.add<tosa::IntDivOp>([](RangePropagation &at,
                               tosa::IntDivOp op) -> Result {
    Interval divisor = at.know(op.getInput2())->all();
    if (divisor.contains(0)) {
      at.report(RangeViolation::Kind::Divisor, op, divisor,
                {1, Interval::ofType(op.getType())->high});
      return std::nullopt;
    }
    return at.limitToType(op,
                          at.combine(op.getInput1(), op.getInput2(), divide));
  });
  rules.add<tosa::AbsOp>([](RangePropagation &at, tosa::AbsOp op) {
    return at.limitToType(op, at.map(op.getInput1(), absolute));
  });
  rules.add<tosa::ClampOp>(
      [](RangePropagation &at, tosa::ClampOp op) -> Result {
        auto low = dyn_cast<IntegerAttr>(op.getMinVal()),
             high = dyn_cast<IntegerAttr>(op.getMaxVal());
        if (!low || !high || low.getValue().sgt(high.getValue()))
          return std::nullopt;
        Interval limits = {low.getValue().getSExtValue(),
                           high.getValue().getSExtValue()};
        return at.map(op.getInput(),
                      [&](Interval values) { return clamp(values, limits); });
      });
  rules.add<tosa::CastOp>([](RangePropagation &at, tosa::CastOp op) {
    return at.limit(op, at.map(op.getInput(), [](Interval v) { return v; }),
                    *Interval::ofType(op.getType()),
                    RangeViolation::Kind::Cast);
  });
}

void RangePropagation::addBitRules(Rules &rules) {
  rules.add<tosa::ArithmeticRightShiftOp>(
      [](RangePropagation &at, tosa::ArithmeticRightShiftOp op) {
        return at.visitShift(op, /*left=*/false, op.getRound());
      });
  rules.add<tosa::LogicalLeftShiftOp>(
      [](RangePropagation &at, tosa::LogicalLeftShiftOp op) {
        return at.visitShift(op, /*left=*/true, /*round=*/false);
      });
  rules.add<tosa::LogicalRightShiftOp>(
      [](RangePropagation &at, tosa::LogicalRightShiftOp op) -> Result {
        // Same as the arithmetic shift if there is no sign.
        Result shifted = at.visitShift(op, /*left=*/false, /*round=*/false);
        if (shifted && at.know(op.getInput1())->all().low < 0)
          return std::nullopt;
        return shifted;
      });
  rules.add<tosa::ClzOp>([](RangePropagation &at, tosa::ClzOp op) -> Result {
    if (!getElementTypeOrSelf(op.getType()).isInteger(32))
      return std::nullopt;
    at.makeOctaves(op.getInput1());
    Knowledge to = at.map(op.getInput1(), countLeadingZeros);
    tighten(to);
    return to;
  });
  rules.add<tosa::BitwiseNotOp>(
      [](RangePropagation &at, tosa::BitwiseNotOp op) {
        return at.map(op.getInput1(), [](Interval values) -> Interval {
          return {~values.high, ~values.low};
        });
      });
  rules.add<tosa::BitwiseAndOp>(
      [](RangePropagation &at, tosa::BitwiseAndOp op) {
        Interval type = *Interval::ofType(op.getType());
        return at.combine(op.getInput1(), op.getInput2(),
                          [&](Interval a, Interval b) -> Interval {
                            if (a.low >= 0 && b.low >= 0)
                              return {0, std::min(a.high, b.high)};
                            if (a.low >= 0 || b.low >= 0)
                              return {0, a.low >= 0 ? a.high : b.high};
                            return type;
                          });
      });
  auto orRule = [](RangePropagation &at, Operation *op) {
    Interval type = *Interval::ofType(op->getResult(0).getType());
    return at.combine(op->getOperand(0), op->getOperand(1),
                      [&](Interval a, Interval b) -> Interval {
                        if (a.low < 0 || b.low < 0)
                          return type;
                        uint64_t both = uint64_t(a.high) | uint64_t(b.high);
                        return {0, int64_t(llvm::bit_ceil(both + 1) - 1)};
                      });
  };
  rules.add<tosa::BitwiseOrOp>(orRule);
  rules.add<tosa::BitwiseXorOp>(orRule);
}

void RangePropagation::addMovementRules(Rules &rules) {
  rules.add<tosa::ConcatOp>(&RangePropagation::visitConcat);
  rules.add<tosa::SelectOp>([](RangePropagation &at, tosa::SelectOp op) {
    Knowledge to;
    const Knowledge &a = *at.know(op.getOnTrue()),
                    &b = *at.know(op.getOnFalse());
    if (a.channels.size() == b.channels.size())
      for (size_t i = 0; i != a.channels.size(); ++i)
        to.channels.push_back(unite(a.channels[i], b.channels[i]));
    else
      to.channels = {unite(a.all(), b.all())};
    return to;
  });
  rules.add<tosa::MaxPool2dOp>([](RangePropagation &at, tosa::MaxPool2dOp op) {
    return at.moved(*at.know(op.getInput()), /*keepsLast=*/true);
  });
  rules.add<tosa::IdentityOp>([](RangePropagation &at, tosa::IdentityOp op) {
    return at.map(op.getInput1(), [](Interval values) { return values; });
  });
  auto reduceRule = [](RangePropagation &at, auto op) {
    return at.reduced(*at.know(op.getInput()), op.getInput(), op.getAxis());
  };
  rules.add<tosa::ReduceMaxOp>(reduceRule);
  rules.add<tosa::ReduceMinOp>(reduceRule);
  rules.add<tosa::ArgMaxOp>(
      [](RangePropagation &, tosa::ArgMaxOp op) -> Result {
        auto from = cast<RankedTensorType>(op.getInput().getType());
        int64_t axis = op.getAxis();
        if (axis < 0 || axis >= from.getRank() || from.isDynamicDim(axis))
          return std::nullopt;
        Knowledge to;
        to.channels = {{0, std::max<int64_t>(from.getDimSize(axis) - 1, 0)}};
        return to;
      });
  rules.add<tosa::TransposeOp>([](RangePropagation &at, tosa::TransposeOp op) {
    ArrayRef<int32_t> axes = op.getPerms();
    return at.moved(*at.know(op.getInput1()),
                    axes.empty() || axes.back() + 1 == int64_t(axes.size()));
  });
  rules.add<tosa::ReverseOp>([](RangePropagation &at, tosa::ReverseOp op) {
    auto from = cast<RankedTensorType>(op.getInput1().getType());
    return at.moved(*at.know(op.getInput1()),
                    int64_t(op.getAxis()) + 1 < from.getRank());
  });
  auto moveRule = [](RangePropagation &at, auto op) {
    return at.moved(*at.know(op.getInput1()),
                    lastSize(op.getInput1()) == lastSize(op.getResult()));
  };
  rules.add<tosa::ReshapeOp>(moveRule);
  rules.add<tosa::SliceOp>(moveRule);
  rules.add<tosa::TileOp>(moveRule);
  rules.add<tosa::PadOp>([=](RangePropagation &at, tosa::PadOp op) {
    Knowledge to = moveRule(at, op);
    for (Interval &channel : to.channels)
      channel = unite(channel, at.know(op.getPadConst())->all());
    return to;
  });
  rules.add<tosa::GatherOp>([](RangePropagation &at, tosa::GatherOp op) {
    return at.moved(*at.know(op.getValues()), /*keepsLast=*/true);
  });
  rules.add<tosa::ScatterOp>([](RangePropagation &at, tosa::ScatterOp op) {
    Knowledge to;
    to.channels = {
        unite(at.know(op.getValuesIn())->all(), at.know(op.getInput())->all())};
    return to;
  });
}

const RangePropagation::Rules &RangePropagation::allRules() {
  static const Rules rules = [] {
    Rules all;
    addLayerRules(all);
    addArithmeticRules(all);
    addBitRules(all);
    addMovementRules(all);
    return all;
  }();
  return rules;
}

bool IntegerRanges::knows(OperationName op) {
  return RangePropagation::knows(op.getStringRef());
}

Result RangePropagation::visit(Operation *op) {
  if (auto cast = dyn_cast<tosa::CastOp>(op))
    if (isa<FloatType>(getElementTypeOrSelf(cast.getInput().getType())))
      return visitFloatCast(cast);
  for (Value operand : op->getOperands())
    if (isa<ShapedType>(operand.getType()) && !know(operand))
      return std::nullopt;
  return allRules().visit(*this, op);
}
