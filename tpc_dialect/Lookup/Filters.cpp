// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/Lookup/Filters.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mct::tpc;

//===----------------------------------------------------------------------===//
// Names derived from types
//===----------------------------------------------------------------------===//

static constexpr StringRef kDerivedNames[] = {"$kernel_h",
                                              "$kernel_w",
                                              "$in_h",
                                              "$in_w",
                                              "$in_channels",
                                              "$out_channels",
                                              "$rank",
                                              "$rank_change",
                                              "$unit_axes",
                                              "$stacked_inputs",
                                              "$const_operand",
                                              "$const_axes",
                                              "$keeps_last_axis",
                                              "$bits",
                                              "$conditions",
                                              "$argument_kernel",
                                              "$centred_enlargement",
                                              "$whole_image"};

ArrayRef<StringRef> mct::tpc::listDerivedNames() { return kDerivedNames; }

/// Returns the size of an axis, counted from the end when negative; none when
/// it is not static or does not exist.
static std::optional<int64_t> getSize(Value value, int64_t axis) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  if (axis < 0)
    axis += type.getRank();
  if (axis < 0 || axis >= type.getRank() || type.isDynamicDim(axis))
    return std::nullopt;
  return type.getDimSize(axis);
}

/// Returns the height (0) or width (1) of the window that the op slides over
/// its input.
static std::optional<int64_t> getKernelSize(Operation *op, unsigned index) {
  // First spatial axis of the weights, operand 1.
  int64_t axis =
      llvm::StringSwitch<int64_t>(op->getName().getStringRef())
          .Cases({"tosa.conv2d", "tosa.transpose_conv2d",
                  "linalg.conv_2d_nhwc_fhwc"},
                 1)
          .Case("tosa.depthwise_conv2d", 0)
          .Case("linalg.conv_2d_nhwc_hwcf", 0)
          .Case("linalg.conv_2d_nchw_fchw", 2)
          .Cases({"linalg.depthwise_conv_2d_nhwc_hwc",
                  "linalg.depthwise_conv_2d_nhwc_hwcm",
                  "linalg.pooling_nhwc_max", "linalg.pooling_nhwc_sum"},
                 0)
          .Default(-1);
  if (axis >= 0 && op->getNumOperands() > 1)
    return getSize(op->getOperand(1), axis + index);
  auto kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel");
  if (kernel && kernel.size() == 2)
    return kernel[index];
  return std::nullopt;
}

/// Returns whether a window without padding covers the whole image; not where
/// its sizes are not known.
static bool isWholeImage(Operation *op) {
  auto pads = op->getAttrOfType<DenseI64ArrayAttr>("pad");
  if (pads && llvm::any_of(pads.asArrayRef(), [](int64_t p) { return p != 0; }))
    return false;
  for (unsigned index = 0; index != 2; ++index) {
    std::optional<int64_t> window = getKernelSize(op, index);
    if (!window || window != getSize(op->getOperand(0), 1 + index))
      return false;
  }
  return true;
}

/// Returns how many operands carry data. The others, such as zero points and
/// the shift of a multiplication, are parameters that TOSA passes as constants.
static unsigned getNumDataOperands(Operation *op) {
  // The results' initial values come last.
  if (auto styled = dyn_cast<DestinationStyleOpInterface>(op))
    return styled.getNumDpsInputs();
  return llvm::StringSwitch<unsigned>(op->getName().getStringRef())
      .Cases({"tosa.conv2d", "tosa.conv3d", "tosa.depthwise_conv2d",
              "tosa.transpose_conv2d"},
             3)
      .Cases({"tosa.matmul", "tosa.mul"}, 2)
      .Cases({"tosa.avg_pool2d", "tosa.negate", "tosa.pad", "tosa.rescale"}, 1)
      .Default(op->getNumOperands());
}

static std::optional<int64_t> getConstOperand(Operation *op) {
  std::optional<int64_t> index;
  for (OpOperand &operand :
       op->getOpOperands().take_front(getNumDataOperands(op))) {
    if (!getConstantOp(operand.get()))
      continue;
    if (index)
      return std::nullopt;
    index = operand.getOperandNumber();
  }
  return index;
}

/// Returns how many axes longer than 1 the only constant operand has.
static std::optional<int64_t> getConstAxes(Operation *op) {
  std::optional<int64_t> operand = getConstOperand(op);
  if (!operand)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(*operand).getType());
  if (!type)
    return std::nullopt;
  return llvm::count_if(type.getShape(), [](int64_t size) { return size > 1; });
}

/// Returns how many axes of size 1 the result has more than the input; none
/// when anything else changes too.
static std::optional<int64_t> getUnitAxes(RankedTensorType input,
                                          RankedTensorType result) {
  if (!input || !result || input.getNumDynamicDims() > 1)
    return std::nullopt;
  auto isLong = [](int64_t size) { return size != 1; };
  auto before = llvm::make_filter_range(input.getShape(), isLong);
  auto after = llvm::make_filter_range(result.getShape(), isLong);
  if (!llvm::equal(before, after))
    return std::nullopt;
  return result.getRank() - input.getRank();
}

/// Returns for a reshape of a concatenation how many inputs that has, when they
/// are alike and the result holds them side by side along an axis of their own.
static std::optional<int64_t> getStackedInputs(Operation *op,
                                               RankedTensorType result) {
  Operation *concat = op->getOperand(0).getDefiningOp();
  if (!concat || concat->getName().getStringRef() != "tosa.concat" || !result ||
      !llvm::all_equal(concat->getOperandTypes()))
    return std::nullopt;
  auto axis = concat->getAttrOfType<IntegerAttr>("axis");
  auto type = dyn_cast<RankedTensorType>(concat->getOperand(0).getType());
  if (!axis || !type || axis.getInt() < 0 || axis.getInt() >= type.getRank())
    return std::nullopt;
  SmallVector<int64_t> stacked(type.getShape());
  stacked.insert(stacked.begin() + axis.getInt(), concat->getNumOperands());
  if (result.getShape() != ArrayRef<int64_t>(stacked))
    return std::nullopt;
  return concat->getNumOperands();
}

/// Returns how many operands and results hold truth values.
static int64_t countConditions(Operation *op) {
  auto isCondition = [](Type type) {
    return getElementTypeOrSelf(type).isInteger(1);
  };
  return llvm::count_if(op->getOperandTypes(), isCondition) +
         llvm::count_if(op->getResultTypes(), isCondition);
}

/// Returns whether a resize enlarges each axis by a power of two, with every
/// element in the middle of its pixel; none if its sizes are not constant.
static std::optional<int64_t> isCentredEnlargement(Operation *op) {
  if (op->getNumOperands() != 4)
    return std::nullopt;
  SmallVector<int64_t, 4> numbers[3];
  constexpr size_t kCounts[] = {4, 2, 2};
  for (auto [numbersOf, operand, count] :
       llvm::zip_equal(numbers, op->getOperands().drop_front(), kCounts)) {
    DenseIntElementsAttr constant;
    if (!matchPattern(operand, m_Constant(&constant)) ||
        size_t(constant.getNumElements()) != count)
      return std::nullopt;
    for (const APInt &number : constant.getValues<APInt>())
      numbersOf.push_back(number.getSExtValue());
  }
  auto &[scale, offset, border] = numbers;
  for (int axis = 0; axis != 2; ++axis) {
    int64_t numerator = scale[2 * axis], denominator = scale[2 * axis + 1];
    if (numerator <= 0 || denominator <= 0 || numerator % denominator != 0 ||
        !llvm::isPowerOf2_64(uint64_t(numerator / denominator)))
      return 0;
    // Both are positive, so that the difference cannot overflow.
    int64_t difference = numerator - denominator;
    if (difference % 2 != 0 || border[axis] != difference / 2 ||
        offset[axis] != -(difference / 2))
      return 0;
  }
  return 1;
}

static std::optional<int64_t> getDerived(StringRef name, Operation *op) {
  if (name == "$conditions")
    return countConditions(op);
  if (op->getNumOperands() == 0 || op->getNumResults() == 0)
    return std::nullopt;
  Value input = op->getOperand(0), result = op->getResult(0);
  if (name == "$kernel_h")
    return getKernelSize(op, 0);
  if (name == "$kernel_w")
    return getKernelSize(op, 1);
  if (name == "$in_h")
    return getSize(input, 1);
  if (name == "$in_w")
    return getSize(input, 2);
  if (name == "$in_channels")
    return getSize(input, -1);
  if (name == "$out_channels")
    return getSize(result, -1);
  auto inputType = dyn_cast<RankedTensorType>(input.getType());
  auto resultType = dyn_cast<RankedTensorType>(result.getType());
  if (name == "$rank")
    return resultType ? std::optional<int64_t>(resultType.getRank())
                      : std::nullopt;
  if (name == "$rank_change")
    return inputType && resultType
               ? std::optional<int64_t>(resultType.getRank() -
                                        inputType.getRank())
               : std::nullopt;
  if (name == "$unit_axes")
    return getUnitAxes(inputType, resultType);
  if (name == "$stacked_inputs")
    return getStackedInputs(op, resultType);
  if (name == "$const_axes")
    return getConstAxes(op);
  if (name == "$const_operand")
    return getConstOperand(op);
  if (name == "$bits") {
    Type element = getElementTypeOrSelf(input.getType());
    return element.isIntOrFloat()
               ? std::optional<int64_t>(element.getIntOrFloatBitWidth())
               : std::nullopt;
  }
  if (name == "$argument_kernel")
    return op->getNumOperands() > 1
               ? std::optional<int64_t>(isa<BlockArgument>(op->getOperand(1)))
               : std::nullopt;
  if (name == "$centred_enlargement")
    return isCentredEnlargement(op);
  if (name == "$whole_image")
    return isWholeImage(op);
  if (name == "$keeps_last_axis") {
    std::optional<int64_t> before = getSize(input, -1);
    return before && before == getSize(result, -1);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

static std::optional<double> getNumber(Attribute attribute) {
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return real.getValueAsDouble();
  auto integer = dyn_cast<IntegerAttr>(attribute);
  if (!integer)
    return std::nullopt;
  // A bool is 0 or 1, not the -1 of its single sign bit.
  bool isSigned =
      !integer.getType().isInteger(1) && !integer.getType().isUnsignedInteger();
  return integer.getValue().roundToDouble(isSigned);
}

static bool compareNumbers(PredicateKind kind, double lhs, double rhs) {
  switch (kind) {
  case PredicateKind::Equal:
    return lhs == rhs;
  case PredicateKind::NotEqual:
    return lhs != rhs;
  case PredicateKind::Greater:
    return lhs > rhs;
  case PredicateKind::GreaterEqual:
    return lhs >= rhs;
  case PredicateKind::Less:
    return lhs < rhs;
  case PredicateKind::LessEqual:
    return lhs <= rhs;
  case PredicateKind::Contains:
  case PredicateKind::And:
  case PredicateKind::Or:
    return false;
  }
  llvm_unreachable("covered switch");
}

static bool compare(PredicateKind kind, Attribute lhs, Attribute rhs) {
  std::optional<double> left = getNumber(lhs), right = getNumber(rhs);
  if (left && right)
    return compareNumbers(kind, *left, *right);
  auto leftText = dyn_cast<StringAttr>(lhs),
       rightText = dyn_cast<StringAttr>(rhs);
  if (leftText && rightText && kind == PredicateKind::Contains)
    return leftText.getValue().contains(rightText.getValue());
  // Anything else is only equal or not, and only to its like.
  if (lhs.getTypeID() != rhs.getTypeID())
    return false;
  bool equal =
      leftText ? leftText.getValue() == rightText.getValue() : lhs == rhs;
  return (kind == PredicateKind::Equal && equal) ||
         (kind == PredicateKind::NotEqual && !equal);
}

bool mct::tpc::matches(PredicateAttr filter, Operation *op) {
  auto holds = [op](PredicateAttr operand) { return matches(operand, op); };
  if (filter.getKind() == PredicateKind::And)
    return llvm::all_of(filter.getOperands(), holds);
  if (filter.getKind() == PredicateKind::Or)
    return llvm::any_of(filter.getOperands(), holds);
  StringRef name = filter.getName().getValue();
  Attribute value;
  if (name.starts_with("$")) {
    if (std::optional<int64_t> derived = getDerived(name, op))
      value =
          IntegerAttr::get(IntegerType::get(op->getContext(), 64), *derived);
  } else {
    value = op->getAttr(name);
  }
  return value && compare(filter.getKind(), value, filter.getValue());
}
