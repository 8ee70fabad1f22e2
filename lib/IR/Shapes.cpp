// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/Shapes.h"
#include "mct/IR/Intervals.h"
#include "mct/IR/Saturating.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mct;

/// Returns the size of a dimension; kDynamic, which is compatible with every
/// size, if it is not known.
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

/// Checks that all dimensions of the result are those of a value.
static LogicalResult expectSameShape(Operation *op, Value value) {
  Value result = op->getResult(0);
  auto type = dyn_cast<RankedTensorType>(result.getType());
  for (int64_t i = 0, rank = type ? type.getRank() : 0; i != rank; ++i)
    if (failed(expectSize(op, "result", result, i, sizeOf(value, i))))
      return failure();
  return success();
}

/// Checks the same, and that the element types are equal.
static LogicalResult expectSameType(Operation *op, Value value) {
  Type from = getElementTypeOrSelf(value.getType()),
       to = getElementTypeOrSelf(op->getResult(0).getType());
  if (from != to)
    return op->emitOpError("makes elements of type ")
           << to << " of those of type " << from
           << ", which it only moves; use tosa.cast";
  return expectSameShape(op, value);
}

/// Type of sums and products of sizes and attributes, which have 64 bits each.
using Wide = __int128;

/// Returns a computed size. A size that no type can express does not become
/// kDynamic.
static int64_t toSize(Wide size) {
  return mct::saturate(std::max(size, Wide(ShapedType::kDynamic) + 1));
}

/// Returns the product of two sizes, or kDynamic if one is not known.
static int64_t multiply(int64_t left, int64_t right) {
  if (ShapedType::isDynamic(left) || ShapedType::isDynamic(right))
    return ShapedType::kDynamic;
  return toSize(Wide(left) * right);
}

/// Returns the product of the known sizes.
static int64_t multiplyKnown(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    if (!ShapedType::isDynamic(size))
      product = multiply(product, size);
  return product;
}

/// Returns the values of a `!tosa.shape`, or none if it is not constant.
static std::optional<SmallVector<int64_t>> readShape(Value value) {
  DenseIntElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  SmallVector<int64_t> sizes;
  for (const APInt &size : constant.getValues<APInt>())
    sizes.push_back(size.getSExtValue());
  return sizes;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {
/// A window that moves along one dimension of an image.
struct Window {
  /// Dimension of the image, and of the result.
  unsigned dimension = 0;
  /// kDynamic if it is not known.
  int64_t kernel = 1;
  int64_t stride = 1, dilation = 1, before = 0, after = 0;
};
} // namespace

static std::string describe(const Window &window) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "a window";
  if (!ShapedType::isDynamic(window.kernel))
    os << " of " << window.kernel;
  os << " in dimension " << window.dimension << ", with stride "
     << window.stride << ", dilation " << window.dilation << " and pads "
     << window.before << " and " << window.after;
  return text;
}

/// Checks that each position of the window gives one element of the result.
static LogicalResult verifyWindow(Operation *op, Value image,
                                  const Window &window) {
  if (window.stride < 1 || window.dilation < 1 || window.before < 0 ||
      window.after < 0 ||
      (!ShapedType::isDynamic(window.kernel) && window.kernel < 1)) {
    InFlightDiagnostic diagnostic = op->emitOpError("has ") << describe(window);
    diagnostic.attachNote() << "windows, strides and dilations are at least 1, "
                               "pads at least 0; a slice cuts rows off";
    return diagnostic;
  }
  int64_t size = sizeOf(image, window.dimension);
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(window.kernel))
    return success();
  Wide room = Wide(size) - 1 + window.before + window.after -
              (Wide(window.kernel) - 1) * window.dilation;
  if (room < 0 || room % window.stride != 0) {
    InFlightDiagnostic diagnostic =
        op->emitOpError("has ")
        << describe(window) << ", which does not fit into a size of " << size;
    diagnostic.attachNote() << "its last position has to end where the padded "
                               "image does; change the pad behind it";
    return diagnostic;
  }
  return expectSize(op, "result", op->getResult(0), window.dimension,
                    toSize(room / window.stride + 1));
}

/// Checks the windows of an op with `stride`, `pad` and images `[N, ..., C]`.
template <typename Op>
static LogicalResult verifyWindows(Op op, ArrayRef<int64_t> kernel,
                                   ArrayRef<int64_t> dilation) {
  ArrayRef<int64_t> stride = op.getStride(), pad = op.getPad();
  for (unsigned i = 0; i != kernel.size(); ++i)
    if (failed(verifyWindow(op, op.getInput(),
                            {i + 1, kernel[i], stride[i],
                             dilation.empty() ? 1 : dilation[i], pad[2 * i],
                             pad[2 * i + 1]})))
      return failure();
  return success();
}

/// Checks a transposed convolution: each element of the image becomes a window
/// of the result, one stride apart; `out_pad` is added around them, or cut off
/// if it is negative.
static LogicalResult verifyWindows(tosa::TransposeConv2DOp op) {
  for (unsigned i = 0; i != 2; ++i) {
    int64_t stride = op.getStride()[i], before = op.getOutPad()[2 * i],
            after = op.getOutPad()[2 * i + 1],
            size = sizeOf(op.getInput(), i + 1),
            kernel = sizeOf(op.getWeight(), i + 1);
    bool isKnown =
        !ShapedType::isDynamic(size) && !ShapedType::isDynamic(kernel);
    Wide whole = (Wide(size) - 1) * stride + kernel + before + after;
    if (stride < 1 || (isKnown && (before <= -kernel || after <= -kernel))) {
      InFlightDiagnostic diagnostic = op.emitOpError("has stride ")
                                      << stride << " and pads " << before
                                      << " and " << after << " in dimension "
                                      << i + 1;
      diagnostic.attachNote()
          << "strides are at least 1; pads remove less than the kernel, "
          << op.getWeight().getType() << ", has";
      return failure();
    }
    if (isKnown &&
        failed(expectSize(op, "result", op.getResult(), i + 1, toSize(whole))))
      return failure();
  }
  return success();
}

/// Returns the sizes of the kernel along the image, from a dimension of the
/// weights on.
static SmallVector<int64_t, 3> kernelOf(Value weight, unsigned first,
                                        unsigned count) {
  SmallVector<int64_t, 3> sizes;
  for (unsigned i = 0; i != count; ++i)
    sizes.push_back(sizeOf(weight, first + i));
  return sizes;
}

/// `last`: axis of the channels of input and result. `inputChannels`,
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
  if constexpr (std::is_same_v<ConvOp, tosa::TransposeConv2DOp>)
    return verifyWindows(op);
  else
    return verifyWindows(
        op,
        kernelOf(weight, isa<tosa::DepthwiseConv2DOp>(op) ? 0 : 1, last - 1),
        op.getDilation());
}

static LogicalResult verifyMatMul(tosa::MatMulOp op) {
  Value a = op.getA(), b = op.getB(), result = op.getResult();
  return success(succeeded(expectSize(op, "factor b", b, 0, sizeOf(a, 0))) &&
                 succeeded(expectSize(op, "factor b", b, 1, sizeOf(a, 2))) &&
                 succeeded(expectSize(op, "result", result, 0, sizeOf(a, 0))) &&
                 succeeded(expectSize(op, "result", result, 1, sizeOf(a, 1))) &&
                 succeeded(expectSize(op, "result", result, 2, sizeOf(b, 2))));
}

/// Checks that batch and channels do not change.
static LogicalResult verifyImageOp(Operation *op, Value input) {
  Value result = op->getResult(0);
  return success(
      succeeded(expectSize(op, "result", result, 0, sizeOf(input, 0))) &&
      succeeded(expectSize(op, "result", result, 3, sizeOf(input, 3))));
}

template <typename PoolOp> static LogicalResult verifyPool(PoolOp op) {
  if (failed(verifyImageOp(op, op.getInput())))
    return failure();
  return verifyWindows(op, op.getKernel(), {});
}

static LogicalResult verifyResize(tosa::ResizeOp op) {
  std::optional<SmallVector<int64_t>> scale = readShape(op.getScale()),
                                      offset = readShape(op.getOffset()),
                                      border = readShape(op.getBorder());
  if (failed(verifyImageOp(op, op.getInput())))
    return failure();
  if (!scale || !offset || !border || scale->size() != 4 ||
      offset->size() != 2 || border->size() != 2)
    return success();
  for (unsigned i = 0; i != 2; ++i) {
    int64_t numerator = (*scale)[2 * i], denominator = (*scale)[2 * i + 1],
            size = sizeOf(op.getInput(), i + 1);
    Wide room = (Wide(size) - 1) * numerator - (*offset)[i] + (*border)[i];
    bool isKnown = !ShapedType::isDynamic(size);
    if (numerator < 1 || denominator < 1 ||
        (isKnown && (room < 0 || room % denominator != 0))) {
      InFlightDiagnostic diagnostic =
          op.emitOpError("resizes dimension ")
          << i + 1 << " of " << op.getInput().getType() << " by " << numerator
          << " / " << denominator << " from offset " << (*offset)[i]
          << " to border " << (*border)[i];
      diagnostic.attachNote()
          << "both numbers of a scale are at least 1; (size - 1) * numerator - "
             "offset + border is a multiple of the denominator";
      return diagnostic;
    }
    if (isKnown && failed(expectSize(op, "result", op.getResult(), i + 1,
                                     toSize(room / denominator + 1))))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes that are spelled
//===----------------------------------------------------------------------===//

static LogicalResult verifySlice(tosa::SliceOp op) {
  std::optional<SmallVector<int64_t>> starts = readShape(op.getStart()),
                                      sizes = readShape(op.getSize());
  if (!starts || !sizes)
    return success();
  for (auto [i, start, size] : llvm::enumerate(*starts, *sizes)) {
    // -1 means up to the end.
    int64_t whole = sizeOf(op.getInput1(), i);
    bool isKnown = !ShapedType::isDynamic(whole);
    if (start < 0 || (size < 1 && size != -1) ||
        (isKnown && (Wide(start) + std::max<int64_t>(size, 1) > whole))) {
      InFlightDiagnostic diagnostic = op.emitOpError("reads ")
                                      << size << " from " << start
                                      << " on in dimension " << i << " of "
                                      << op.getInput1().getType();
      diagnostic.attachNote() << "starts are at least 0, and what is read ends "
                                 "within the tensor; a size of -1 reads up to "
                                 "its end";
      return diagnostic;
    }
    int64_t expected = size == -1 && isKnown ? whole - start
                       : size == -1          ? ShapedType::kDynamic
                                             : size;
    if (failed(expectSize(op, "result", op.getResult(), i, expected)))
      return failure();
  }
  return success();
}

static LogicalResult verifyTile(tosa::TileOp op) {
  std::optional<SmallVector<int64_t>> multiples = readShape(op.getMultiples());
  if (!multiples)
    return success();
  for (auto [i, multiple] : llvm::enumerate(*multiples)) {
    if (multiple < 1) {
      InFlightDiagnostic diagnostic = op.emitOpError("repeats dimension ")
                                      << i << " of " << op.getInput1().getType()
                                      << " " << multiple << " times";
      diagnostic.attachNote(op.getMultiples().getLoc())
          << "write how often, which is at least 1; no number stands for one "
             "that is not known";
      return diagnostic;
    }
    if (failed(expectSize(op, "result", op.getResult(), i,
                          multiply(sizeOf(op.getInput1(), i), multiple))))
      return failure();
  }
  return success();
}

/// `before`, `after`: none if they are not constant.
static LogicalResult verifyPadding(Operation *op, Value input, unsigned i,
                                   std::optional<int64_t> before,
                                   std::optional<int64_t> after) {
  if (before.value_or(0) < 0 || after.value_or(0) < 0) {
    InFlightDiagnostic diagnostic = op->emitOpError("pads dimension ")
                                    << i << " of " << input.getType() << " by ";
    if (before)
      diagnostic << *before;
    else
      diagnostic << "an unknown number";
    diagnostic << " before and ";
    if (after)
      diagnostic << *after;
    else
      diagnostic << "an unknown number";
    diagnostic << " behind";
    diagnostic.attachNote() << "write how much is added, which is at least 0; "
                               "a slice cuts rows off";
    return diagnostic;
  }
  int64_t size = sizeOf(input, i);
  if (!before || !after || ShapedType::isDynamic(size))
    return success();
  return expectSize(op, "result", op->getResult(0), i,
                    toSize(Wide(size) + *before + *after));
}

static LogicalResult verifyPad(tosa::PadOp op) {
  std::optional<SmallVector<int64_t>> padding = readShape(op.getPadding());
  if (!padding)
    return success();
  for (unsigned i = 0; 2 * i + 1 < padding->size(); ++i)
    if (failed(verifyPadding(op, op.getInput1(), i, (*padding)[2 * i],
                             (*padding)[2 * i + 1])))
      return failure();
  return success();
}

static LogicalResult verifyPad(tensor::PadOp op) {
  for (auto [i, before, after] :
       llvm::enumerate(op.getMixedLowPad(), op.getMixedHighPad()))
    if (failed(verifyPadding(op, op.getSource(), i, getConstantIntValue(before),
                             getConstantIntValue(after))))
      return failure();
  return success();
}

/// Checks that the number of elements does not change.
static LogicalResult verifyReshape(tosa::ReshapeOp op) {
  auto from = dyn_cast<RankedTensorType>(op.getInput1().getType());
  std::optional<SmallVector<int64_t>> sizes = readShape(op.getShape());
  if (!from || !sizes)
    return success();
  bool isBad = llvm::count(*sizes, -1) > 1;
  for (int64_t &size : *sizes) {
    isBad |= size < 1 && size != -1;
    if (size == -1)
      size = ShapedType::kDynamic;
  }
  int64_t present = multiplyKnown(from.getShape()),
          required = multiplyKnown(*sizes);
  if (isBad || present == 0 || required == 0) {
    InFlightDiagnostic diagnostic = op.emitOpError("cannot make ")
                                    << op.getType() << " of " << from;
    diagnostic.attachNote(op.getShape().getLoc())
        << "write sizes of at least 1, and -1 for one of them at most";
    return diagnostic;
  }
  auto inferred = llvm::find(*sizes, ShapedType::kDynamic);
  bool isStatic = from.hasStaticShape();
  if (inferred != sizes->end() && isStatic && present % required == 0)
    *inferred = present / required;
  // An unknown size may be any number from 1 on.
  bool fits = inferred == sizes->end()
                  ? (isStatic ? required == present : required % present == 0)
                  : (!isStatic || present % required == 0);
  if (!fits) {
    InFlightDiagnostic diagnostic = op.emitOpError("cannot make ")
                                    << op.getType() << " of " << from
                                    << ", which has ";
    diagnostic << (isStatic ? "" : "a multiple of ") << present << " elements";
    diagnostic.attachNote(op.getShape().getLoc())
        << "write sizes whose product is the number of its elements; it is a "
           "multiple of "
        << required << " now";
    return diagnostic;
  }
  for (auto [i, size] : llvm::enumerate(*sizes))
    if (failed(expectSize(op, "result", op.getResult(), i, size)))
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

/// Checks that a table has an entry for each value of its index.
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

/// Returns the range of an index, or none if the expression is neither linear
/// nor a division by a constant, or if numbers overflow.
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

/// The verifier of linalg only checks the first and the last iteration, between
/// which a remainder may be larger.
static LogicalResult verifyIndexing(linalg::LinalgOp op) {
  // Named ops keep their maps beside the strides that they follow from, and
  // bytecode carries both. Rebuilding the op loses them.
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

/// Checks that the dimension exists.
static LogicalResult verifyDim(tensor::DimOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
  std::optional<int64_t> index = op.getConstantIndex();
  if (!type || !index || (*index >= 0 && *index < type.getRank()))
    return success();
  return op.emitOpError("asks for dimension ") << *index << " of " << type;
}

/// Checks sizes that upstream verifiers do not check and on which computations
/// with sizes rely.
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
      .Case<tosa::MaxPool2dOp, tosa::AvgPool2dOp>(
          [](auto op) { return verifyPool(op); })
      .Case([](tosa::ResizeOp op) { return verifyResize(op); })
      .Case<tosa::PadOp, tensor::PadOp>([](auto op) { return verifyPad(op); })
      .Case([](tosa::ReshapeOp op) { return verifyReshape(op); })
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

bool mct::isF32Tensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

bool mct::exceedsMemory(ShapedType type) {
  // Small enough to count the bits of all elements, and sums of several such
  // sizes.
  constexpr int64_t kMostBytes = int64_t(1) << 57;
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  int64_t bytes = 8;
  if (element.isIntOrFloat())
    bytes = std::max<int64_t>(bytes, element.getIntOrFloatBitWidth() / 4);
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size) &&
        (llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes) ||
         bytes > kMostBytes))
      return true;
  return false;
}

LogicalResult mct::verifyShapes(Operation *root) {
  ShapedType bad, large;
  DenseElementsAttr damaged;
  // Each type and attribute is visited once, however often it is used.
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
    if (!exceedsMemory(shaped))
      return WalkResult::advance();
    large = shaped;
    return WalkResult::interrupt();
  });
  // The elements in bytecode are bytes, of which there may be too few.
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
    if (large) {
      (op->emitOpError("has the type ")
       << large << ", which has more elements than fit into memory")
              .attachNote()
          << "write the sizes that the network has, or let "
             "tosa-infer-shapes find those that are not known";
      return WalkResult::interrupt();
    }
    op->emitOpError() << "has the type " << bad
                      << ", which has a size below zero; the file is damaged";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
