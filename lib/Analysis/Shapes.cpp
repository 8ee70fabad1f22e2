// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/Shapes.h"
#include "mct/Analysis/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mct {
#define GEN_PASS_DEF_VERIFYSHAPESPASS
#include "mct/Analysis/Passes.h.inc"
} // namespace mct

using namespace mlir;

/// Size of a dimension, or kDynamic: one that nothing is known about agrees
/// with all.
static int64_t sizeOf(Value value, unsigned dimension) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || dimension >= type.getRank())
    return ShapedType::kDynamic;
  return type.getDimSize(dimension);
}

static LogicalResult expectSize(Operation *op, StringRef name, Value value,
                                unsigned dimension, int64_t expected) {
  int64_t found = sizeOf(value, dimension);
  if (ShapedType::isDynamic(found) || ShapedType::isDynamic(expected) ||
      found == expected)
    return success();
  return op->emitOpError("expected size ")
         << expected << " in dimension " << dimension << " of its " << name
         << ", " << value.getType() << ", as its other shapes have it";
}

/// All dimensions of the result are those of a value.
static LogicalResult expectSameShape(Operation *op, Value value) {
  Value result = op->getResult(0);
  auto type = dyn_cast<RankedTensorType>(result.getType());
  for (int64_t i = 0, rank = type ? type.getRank() : 0; i != rank; ++i)
    if (failed(expectSize(op, "result", result, i, sizeOf(value, i))))
      return failure();
  return success();
}

/// The same, and the elements are of one type, too.
static LogicalResult expectSameType(Operation *op, Value value) {
  Type from = getElementTypeOrSelf(value.getType()),
       to = getElementTypeOrSelf(op->getResult(0).getType());
  if (from != to)
    return op->emitOpError("makes elements of type ")
           << to << " of those of type " << from
           << ", which it only moves; use tosa.cast";
  return expectSameShape(op, value);
}

/// The product of two sizes, or kDynamic where one is not known or it is too
/// large.
static int64_t multiply(int64_t left, int64_t right) {
  int64_t product = 0;
  if (ShapedType::isDynamic(left) || ShapedType::isDynamic(right) ||
      llvm::MulOverflow(left, right, product))
    return ShapedType::kDynamic;
  return product;
}

/// The values of a `!tosa.shape`; none where it is not constant.
static SmallVector<int64_t> readShape(Value value) {
  SmallVector<int64_t> sizes;
  DenseIntElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    for (const APInt &size : constant.getValues<APInt>())
      sizes.push_back(size.getSExtValue());
  return sizes;
}

/// `last`: the channels of input and result. `inputChannels`,
/// `outputChannels`: those of the weights.
template <typename ConvOp>
static LogicalResult verifyConvolution(ConvOp op, unsigned last,
                                       unsigned inputChannels,
                                       unsigned outputChannels) {
  Value input = op.getInput(), weight = op.getWeight(), result = op.getResult();
  int64_t channels = sizeOf(weight, outputChannels);
  if (isa<tosa::DepthwiseConv2DOp>(op))
    channels = multiply(channels, sizeOf(weight, inputChannels));
  if (failed(expectSize(op, "weight", weight, inputChannels,
                        sizeOf(input, last))) ||
      failed(expectSize(op, "result", result, 0, sizeOf(input, 0))) ||
      failed(expectSize(op, "result", result, last, channels)))
    return failure();
  return success();
}

static LogicalResult verifyMatMul(tosa::MatMulOp op) {
  Value a = op.getA(), b = op.getB(), result = op.getResult();
  return success(succeeded(expectSize(op, "factor b", b, 0, sizeOf(a, 0))) &&
                 succeeded(expectSize(op, "factor b", b, 1, sizeOf(a, 2))) &&
                 succeeded(expectSize(op, "result", result, 0, sizeOf(a, 0))) &&
                 succeeded(expectSize(op, "result", result, 1, sizeOf(a, 1))) &&
                 succeeded(expectSize(op, "result", result, 2, sizeOf(b, 2))));
}

/// Batch and channels go through.
static LogicalResult verifyImageOp(Operation *op, Value input) {
  Value result = op->getResult(0);
  return success(
      succeeded(expectSize(op, "result", result, 0, sizeOf(input, 0))) &&
      succeeded(expectSize(op, "result", result, 3, sizeOf(input, 3))));
}

static LogicalResult verifySlice(tosa::SliceOp op) {
  SmallVector<int64_t> starts = readShape(op.getStart()),
                       sizes = readShape(op.getSize());
  for (size_t i = 0, end = std::min(starts.size(), sizes.size()); i != end;
       ++i) {
    // -1: up to the end.
    int64_t whole = sizeOf(op.getInput1(), i), last = 0;
    if (starts[i] < 0 || sizes[i] < -1 ||
        llvm::AddOverflow(starts[i], std::max<int64_t>(sizes[i], 0), last) ||
        (!ShapedType::isDynamic(whole) && last > whole))
      return op.emitOpError("reads ")
             << sizes[i] << " from " << starts[i] << " on in dimension " << i
             << " of " << op.getInput1().getType();
    int64_t expected = sizes[i];
    if (expected < 0)
      expected = ShapedType::isDynamic(whole) ? whole : whole - starts[i];
    if (failed(expectSize(op, "result", op.getResult(), i, expected)))
      return failure();
  }
  return success();
}

static LogicalResult verifyTile(tosa::TileOp op) {
  for (auto [i, multiple] : llvm::enumerate(readShape(op.getMultiples())))
    if (multiple > 0 &&
        failed(expectSize(op, "result", op.getResult(), i,
                          multiply(sizeOf(op.getInput1(), i), multiple))))
      return failure();
  return success();
}

static LogicalResult verifyMul(tosa::MulOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  for (int64_t i = 0, rank = type ? type.getRank() : 0; i != rank; ++i) {
    int64_t left = sizeOf(op.getInput1(), i), right = sizeOf(op.getInput2(), i);
    if (failed(expectSize(op, "result", op.getResult(), i,
                          left == 1                                   ? right
                          : ShapedType::isDynamic(left) && right != 1 ? right
                                                                      : left)))
      return failure();
  }
  return success();
}

/// A table has an entry for each value of its index.
static LogicalResult verifyTable(tosa::TableOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getInput1().getType());
  if (!type)
    return success();
  int64_t expected = type.getElementType().isInteger(8)    ? 256
                     : type.getElementType().isInteger(16) ? 513
                                                           : 0;
  return expected == 0 ? success()
                       : expectSize(op, "table", op.getTable(), 0, expected);
}

namespace {
/// What an index may be, both ends included.
struct Interval {
  int64_t low = 0, high = 0;
};
} // namespace

/// Nothing for an expression that is not linear and no division by a constant,
/// and where numbers overflow.
static std::optional<Interval> evaluate(AffineExpr expression,
                                        ArrayRef<Interval> dimensions) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return Interval{constant.getValue(), constant.getValue()};
  if (auto dimension = dyn_cast<AffineDimExpr>(expression))
    return dimensions[dimension.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return std::nullopt;
  std::optional<Interval> left = evaluate(binary.getLHS(), dimensions),
                          right = evaluate(binary.getRHS(), dimensions);
  if (!left || !right)
    return std::nullopt;
  Interval result;
  if (expression.getKind() == AffineExprKind::Add) {
    if (llvm::AddOverflow(left->low, right->low, result.low) ||
        llvm::AddOverflow(left->high, right->high, result.high))
      return std::nullopt;
    return result;
  }
  int64_t factor = right->low;
  if (factor != right->high)
    return std::nullopt;
  if (expression.getKind() == AffineExprKind::Mul) {
    if (llvm::MulOverflow(left->low, factor, result.low) ||
        llvm::MulOverflow(left->high, factor, result.high))
      return std::nullopt;
    if (factor < 0)
      std::swap(result.low, result.high);
    return result;
  }
  if (factor <= 0)
    return std::nullopt;
  if (expression.getKind() == AffineExprKind::Mod)
    return left->low >= 0 && left->high < factor ? *left
                                                 : Interval{0, factor - 1};
  if (expression.getKind() == AffineExprKind::FloorDiv)
    return Interval{llvm::divideFloorSigned(left->low, factor),
                    llvm::divideFloorSigned(left->high, factor)};
  return Interval{llvm::divideCeilSigned(left->low, factor),
                  llvm::divideCeilSigned(left->high, factor)};
}

/// The verifier of linalg looks at the first and the last iteration; a
/// remainder is larger between them.
static LogicalResult verifyIndexing(linalg::LinalgOp op) {
  // Named ops keep their maps beside the strides that they follow from, and
  // bytecode carries both. Whoever rebuilds the op loses what is kept.
  if (op->hasAttr(linalg::LinalgDialect::kMemoizedIndexingMapsAttrName)) {
    linalg::LinalgOp fresh = op.clone();
    fresh->removeAttr(linalg::LinalgDialect::kMemoizedIndexingMapsAttrName);
    bool isSame = fresh.getIndexingMaps() == op.getIndexingMaps();
    fresh->erase();
    if (!isSame) {
      InFlightDiagnostic diagnostic =
          op.emitOpError("keeps other indexing maps than follow from it");
      diagnostic.attachNote()
          << "remove its attribute '"
          << linalg::LinalgDialect::kMemoizedIndexingMapsAttrName << "'";
      return diagnostic;
    }
  }
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<Interval> dimensions;
  for (int64_t range : ranges) {
    if (ShapedType::isDynamic(range))
      return success();
    if (range == 0)
      return success();
    dimensions.push_back({0, range - 1});
  }
  for (OpOperand &operand : op->getOpOperands()) {
    ArrayRef<int64_t> shape = op.getShape(&operand);
    for (auto [index, expression] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      if (isa<AffineDimExpr>(expression) || ShapedType::isDynamic(shape[index]))
        continue;
      std::optional<Interval> reach = evaluate(expression, dimensions);
      if (reach && reach->low >= 0 && reach->high < shape[index])
        continue;
      return op.emitOpError("may read dimension ")
             << index << " of its operand " << operand.getOperandNumber()
             << ", of type " << operand.get().getType()
             << ", outside of its size";
    }
  }
  return success();
}

/// A dimension that there is.
static LogicalResult verifyDim(tensor::DimOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
  std::optional<int64_t> index = op.getConstantIndex();
  if (!type || !index || (*index >= 0 && *index < type.getRank()))
    return success();
  return op.emitOpError("asks for dimension ") << *index << " of " << type;
}

/// What the verifiers of upstream leave open, and all that computes with sizes
/// relies on.
static LogicalResult verifySizes(Operation *root) {
  return TypeSwitch<Operation *, LogicalResult>(root)
      .Case([](tosa::Conv2DOp op) { return verifyConvolution(op, 3, 3, 0); })
      .Case([](tosa::Conv3DOp op) { return verifyConvolution(op, 4, 4, 0); })
      .Case([](tosa::DepthwiseConv2DOp op) {
        return verifyConvolution(op, 3, 2, 3);
      })
      .Case([](tosa::TransposeConv2DOp op) {
        return verifyConvolution(op, 3, 3, 0);
      })
      .Case([](tosa::MatMulOp op) { return verifyMatMul(op); })
      .Case<tosa::MaxPool2dOp, tosa::AvgPool2dOp, tosa::ResizeOp>(
          [](auto op) { return verifyImageOp(op, op.getInput()); })
      .Case([](tosa::SliceOp op) { return verifySlice(op); })
      .Case([](tosa::TileOp op) { return verifyTile(op); })
      .Case([](tosa::MulOp op) { return verifyMul(op); })
      .Case<tosa::IdentityOp, tosa::ReverseOp>(
          [](auto op) { return expectSameType(op, op.getInput1()); })
      .Case(
          [](tosa::RescaleOp op) { return expectSameShape(op, op.getInput()); })
      .Case([](tosa::TableOp op) { return verifyTable(op); })
      .Case([](linalg::LinalgOp op) { return verifyIndexing(op); })
      .Case([](tensor::DimOp op) { return verifyDim(op); })
      .Default([](Operation *) { return success(); });
}

LogicalResult mct::verifyShapes(Operation *root) {
  ShapedType bad;
  DenseElementsAttr damaged;
  // Each type and attribute is looked at once, however often it is used.
  AttrTypeWalker walker;
  walker.addWalk([&](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank())
      return WalkResult::advance();
    for (int64_t size : shaped.getShape())
      if (size < 0 && !ShapedType::isDynamic(size)) {
        bad = shaped;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  // The elements of bytecode are bytes, of which there may be too few.
  walker.addWalk([&](DenseElementsAttr elements) {
    auto numbers = dyn_cast<DenseIntOrFPElementsAttr>(elements);
    if (!numbers || numbers.isSplat())
      return WalkResult::advance();
    Type element = numbers.getElementType();
    uint64_t bits = 0;
    if (auto complex = dyn_cast<ComplexType>(element))
      bits = 2 *
             llvm::alignTo<8>(complex.getElementType().getIntOrFloatBitWidth());
    else
      bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    bits = bits == 1 ? 1 : llvm::alignTo<8>(bits);
    uint64_t size = numbers.getRawData().size(),
             count = numbers.getNumElements();
    if (count <= 8 * size && llvm::divideCeil(count * bits, 8) == size)
      return WalkResult::advance();
    damaged = elements;
    return WalkResult::interrupt();
  });
  auto isBad = [&](auto element) {
    return walker.walk<WalkOrder::PreOrder>(element).wasInterrupted();
  };
  WalkResult result = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (failed(verifySizes(op)))
      return WalkResult::interrupt();
    bool found = isBad(Attribute(op->getAttrDictionary()));
    for (Type type : op->getResultTypes())
      found = found || isBad(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          found = found || isBad(type);
    if (!found)
      return WalkResult::advance();
    if (damaged) {
      op->emitOpError("has elements of type ")
          << damaged.getType()
          << ", of which some are missing; the file is damaged";
      return WalkResult::interrupt();
    }
    op->emitOpError() << "has the type " << bad
                      << ", which has a size below zero; the file is damaged";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyShapesPass
    : public mct::impl::VerifyShapesPassBase<VerifyShapesPass> {
  void runOnOperation() override {
    if (failed(mct::verifyShapes(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
