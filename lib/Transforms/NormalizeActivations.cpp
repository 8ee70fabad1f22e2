// SPDX-License-Identifier: Apache-2.0
#include "ApplyPatterns.h"
#include "mct/IR/Constants.h"
#include "mct/IR/Names.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/Patterns.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace mct {
#define GEN_PASS_DEF_NORMALIZEACTIVATIONSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using mct::ConstantTensor;

namespace {
/// An op that computes min(max(input, lowest), highest).
struct Limiter {
  Operation *op;
  Value input;
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
};
} // namespace

/// Returns the value that all elements of a constant have, if they are equal.
static std::optional<float> getNumber(Value value) {
  std::optional<ConstantTensor> constant = ConstantTensor::get(value);
  ArrayRef<float> stored = constant ? constant->getFloats() : ArrayRef<float>();
  if (stored.empty() || !llvm::all_equal(stored) || std::isnan(stored.front()))
    return std::nullopt;
  return stored.front();
}

/// Returns the op that defines the value if it is of one of these kinds, has no
/// other users, and is not an operator of its own by a tag.
template <typename... Ops> static Operation *getInner(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_present<Ops...>(op) && op->hasOneUse() &&
                 !op->hasAttr(mct::tpc::TpcDialect::kSetAttrName)
             ? op
             : nullptr;
}

/// Returns the bounds of a clamp, or of a maximum or minimum of a tensor and a
/// number. All of them must propagate a NaN.
static std::optional<Limiter> getLimiter(Operation *op) {
  if (!op || !isa<tosa::ClampOp, tosa::MaximumOp, tosa::MinimumOp>(op))
    return std::nullopt;
  if (auto mode = op->getAttrOfType<tosa::NanPropagationModeAttr>("nan_mode");
      mode && mode.getValue() != tosa::NanPropagationMode::PROPAGATE)
    return std::nullopt;
  Limiter limiter{op, op->getOperand(0)};
  if (auto clamp = dyn_cast<tosa::ClampOp>(op)) {
    auto lowest = dyn_cast<FloatAttr>(clamp.getMinVal());
    auto highest = dyn_cast<FloatAttr>(clamp.getMaxVal());
    if (!lowest || !highest || !lowest.getType().isF32())
      return std::nullopt;
    limiter.lowest = lowest.getValue().convertToFloat();
    limiter.highest = highest.getValue().convertToFloat();
  } else {
    std::optional<float> number = getNumber(op->getOperand(1));
    if (!number) {
      number = getNumber(op->getOperand(0));
      limiter.input = op->getOperand(1);
    }
    if (!number)
      return std::nullopt;
    (isa<tosa::MaximumOp>(op) ? limiter.lowest : limiter.highest) = *number;
  }
  // A constant of higher rank would change the shape.
  if (limiter.input.getType() != op->getResult(0).getType() ||
      limiter.lowest > limiter.highest)
    return std::nullopt;
  return limiter;
}

/// Merges `op` and the limiter before it into one clamp.
static LogicalResult normalizeLimiter(Operation *op,
                                      PatternRewriter &rewriter) {
  std::optional<Limiter> outer = getLimiter(op);
  if (!outer)
    return failure();
  std::optional<Limiter> inner = getLimiter(outer->input.getDefiningOp());
  // The value in between stays if it has other users or is an operator of its
  // own by its tag.
  if (!inner || !inner->op->hasOneUse() ||
      inner->op->hasAttr(mct::tpc::TpcDialect::kSetAttrName))
    return failure();
  float lowest = std::clamp(inner->lowest, outer->lowest, outer->highest);
  float highest = std::clamp(inner->highest, outer->lowest, outer->highest);
  // A clamp needs two finite bounds.
  if (!std::isfinite(lowest) || !std::isfinite(highest))
    return failure();
  auto clamp = tosa::ClampOp::create(
      rewriter, op->getLoc(), op->getResult(0).getType(), inner->input,
      rewriter.getF32FloatAttr(lowest), rewriter.getF32FloatAttr(highest));
  clamp->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, clamp.getOutput());
  return success();
}

//===----------------------------------------------------------------------===//
// Sigmoid
//===----------------------------------------------------------------------===//

/// Returns x if `value` is -x.
static Value getNegated(Value value) {
  Operation *op = getInner<tosa::NegateOp, tosa::MulOp, tosa::SubOp>(value);
  if (!op)
    return {};
  Value negated;
  if (isa<tosa::NegateOp>(op))
    negated = op->getOperand(0);
  else if (isa<tosa::SubOp>(op))
    negated =
        getNumber(op->getOperand(0)) == 0.0f ? op->getOperand(1) : Value();
  else
    for (unsigned i : {0, 1})
      if (getNumber(op->getOperand(i)) == -1.0f)
        negated = op->getOperand(1 - i);
  return negated && negated.getType() == value.getType() ? negated : Value();
}

/// Replaces 1 / (1 + exp(-x)) by `tosa.sigmoid`.
static LogicalResult normalizeSigmoid(tosa::ReciprocalOp op,
                                      PatternRewriter &rewriter) {
  Operation *sum = getInner<tosa::AddOp>(op.getInput1());
  if (!sum)
    return failure();
  for (unsigned i : {0, 1}) {
    Value exponential = sum->getOperand(i);
    Operation *exp = getInner<tosa::ExpOp>(exponential);
    Value x = exp ? getNegated(exp->getOperand(0)) : Value();
    if (!x || x.getType() != op.getType() ||
        getNumber(sum->getOperand(1 - i)) != 1.0f)
      continue;
    auto sigmoid =
        tosa::SigmoidOp::create(rewriter, op.getLoc(), op.getType(), x);
    sigmoid->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, sigmoid.getResult());
    return success();
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// HardSwish
//===----------------------------------------------------------------------===//

namespace {
/// number * factors[0] * factors[1] * …
struct Product {
  double number = 1;
  SmallVector<Value, 2> factors;
  /// Multiplications below the outermost one.
  SmallVector<Operation *, 2> inner;
};
} // namespace

/// Returns whether the product is only a factor of another product.
static bool isFactor(tosa::MulOp op) {
  return getInner<tosa::MulOp>(op) && isa<tosa::MulOp>(*op->user_begin());
}

static void addFactors(Operation *mul, Product &product) {
  for (Value operand : mul->getOperands().take_front(2)) {
    if (std::optional<float> number = getNumber(operand)) {
      product.number *= *number;
    } else if (Operation *inner = getInner<tosa::MulOp>(operand);
               inner && product.inner.size() < 2) {
      product.inner.push_back(inner);
      addFactors(inner, product);
    } else {
      product.factors.push_back(operand);
    }
  }
}

/// Returns {a, b} if `value` is a * x + b and no value in between has other
/// users.
static std::optional<std::pair<double, double>> getAffine(Value value,
                                                          Value x) {
  double scale = 1, offset = 0;
  while (value != x) {
    Operation *op = getInner<tosa::AddOp, tosa::SubOp, tosa::MulOp>(value);
    if (!op)
      return std::nullopt;
    std::optional<float> number = getNumber(op->getOperand(1));
    Value input = op->getOperand(0);
    if (!number && !isa<tosa::SubOp>(op)) {
      number = getNumber(op->getOperand(0));
      input = op->getOperand(1);
    }
    if (!number || input.getType() != value.getType())
      return std::nullopt;
    // Invariant: the value is scale * (result of this op) + offset.
    if (isa<tosa::MulOp>(op))
      scale *= *number;
    else
      offset += scale * (isa<tosa::SubOp>(op) ? -*number : *number);
    value = input;
  }
  return std::pair(scale, offset);
}

/// Compares numbers up to the precision of f32.
static bool isClose(double number, double expected) {
  return std::abs(number - expected) <= 1e-6 * expected;
}

/// Replaces another form of hard-swish by `x * (clamp(x + 3, 0, 6) * 1/6)`.
static LogicalResult normalizeHardSwish(tosa::MulOp op,
                                        PatternRewriter &rewriter) {
  if (isFactor(op))
    return rewriter.notifyMatchFailure(op, "is a factor of another product");
  Product product;
  addFactors(op, product);
  if (product.factors.size() != 2)
    return failure();
  for (unsigned i : {0, 1}) {
    Value x = product.factors[i], gate = product.factors[1 - i];
    auto clamp = dyn_cast_or_null<tosa::ClampOp>(getInner<tosa::ClampOp>(gate));
    std::optional<Limiter> limiter = getLimiter(clamp);
    if (!limiter || limiter->lowest != 0 || gate.getType() != x.getType() ||
        op.getType() != x.getType())
      continue;
    std::optional<std::pair<double, double>> affine =
        getAffine(limiter->input, x);
    // number * clamp(scale * x + offset, 0, highest) = clamp(x + 3, 0, 6) / 6
    if (!affine || !isClose(product.number * limiter->highest, 1) ||
        !isClose(product.number * affine->first, 1.0 / 6) ||
        !isClose(product.number * affine->second, 0.5))
      continue;
    // Targets match these forms: the factor is applied last, or to the clamp.
    bool isPlain =
        isa<tosa::AddOp>(limiter->input.getDefiningOp()) &&
        llvm::is_contained(limiter->input.getDefiningOp()->getOperands(), x);
    bool isOutside = getNumber(op.getInput1()) || getNumber(op.getInput2());
    bool isOnClamp =
        product.inner.size() == 1 &&
        llvm::is_contained(product.inner.front()->getOperands(), gate) &&
        !isOutside;
    if (isPlain && product.inner.size() == 1 && (isOutside || isOnClamp))
      return rewriter.notifyMatchFailure(op, "is known as it is");

    auto type = cast<RankedTensorType>(x.getType());
    auto number = [&](float value) {
      return mct::createConstant(
          rewriter, op.getLoc(),
          RankedTensorType::get(SmallVector<int64_t>(type.getRank(), 1),
                                rewriter.getF32Type()),
          {value}, "number");
    };
    // The result keeps the name of the whole; the names of the parts are
    // derived from it.
    StringAttr name = mct::getName(op.getLoc());
    auto part = [&](const char *suffix) -> Location {
      return name ? NameLoc::get(rewriter.getStringAttr(name.strref() + suffix),
                                 op.getLoc())
                  : op.getLoc();
    };
    auto sum =
        tosa::AddOp::create(rewriter, part(".add"), type, x, number(3.0f));
    auto bounded = tosa::ClampOp::create(rewriter, part(".clamp"), type, sum,
                                         rewriter.getF32FloatAttr(0.0f),
                                         rewriter.getF32FloatAttr(6.0f));
    auto scaled = tosa::MulOp::create(rewriter, part(".scale"), type, bounded,
                                      number(1.0f / 6), op.getShift());
    auto result = tosa::MulOp::create(rewriter, op.getLoc(), type, x, scaled,
                                      op.getShift());
    result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, result.getResult());
    return success();
  }
  return failure();
}

namespace {
struct NormalizeLimiter : public RewritePattern {
  explicit NormalizeLimiter(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    return normalizeLimiter(op, rewriter);
  }
};

struct NormalizeActivationsPass
    : public mct::impl::NormalizeActivationsPassBase<NormalizeActivationsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    mct::populateNormalizeActivationsPatterns(patterns);
    if (failed(mct::applyPatterns(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void mct::populateNormalizeActivationsPatterns(RewritePatternSet &patterns) {
  patterns.add<NormalizeLimiter>(patterns.getContext());
  patterns.add(normalizeSigmoid);
  patterns.add(normalizeHardSwish);
}
