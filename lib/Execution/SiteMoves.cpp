// SPDX-License-Identifier: Apache-2.0
//
// Ops that only move values, and transposed convolutions that become some
// convolutions and a move.
#include "Sites.h"
#include "mct/Support/RowMajor.h"

#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"

using namespace mlir;
using namespace mct;
using namespace mct::execution;

/// Layout of the elements of a value in the memory of another one.
struct SiteFinder::View {
  Value source;
  /// Strides in elements; that of a reversed dimension is negative.
  SmallVector<int64_t, 4> strides;
  int64_t offset = 0;
};

/// Looks through transposes, slices and reversals whose results are neither
/// changed nor observed by others. The value has a static type.
SiteFinder::View SiteFinder::getView(Value value) const {
  // The ops from the last one backwards, and the starts of the slices among
  // them.
  SmallVector<Operation *> ops;
  SmallVector<SmallVector<int64_t>> starts;
  while (Operation *op = value.getDefiningOp()) {
    if (kept.contains(value) ||
        !isa<tosa::TransposeOp, tosa::SliceOp, tosa::ReverseOp>(op))
      break;
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!type || !type.hasStaticShape())
      break;
    SmallVector<int64_t> start;
    if (auto slice = dyn_cast<tosa::SliceOp>(op)) {
      Operation *constant = slice.getStart().getDefiningOp();
      if (!constant || !tosa::getConstShapeValues(constant, start))
        break;
      bool fits = true;
      for (auto [begin, size, whole] :
           llvm::zip(start, cast<RankedTensorType>(slice.getType()).getShape(),
                     type.getShape()))
        fits &= begin >= 0 && begin <= whole - size;
      if (!fits)
        break;
    }
    ops.push_back(op);
    starts.push_back(std::move(start));
    value = op->getOperand(0);
  }
  View view{value,
            support::getRowMajorStrides(
                cast<RankedTensorType>(value.getType()).getShape()),
            0};
  for (auto [op, start] : llvm::reverse(llvm::zip(ops, starts))) {
    if (auto transpose = dyn_cast<tosa::TransposeOp>(op)) {
      SmallVector<int64_t, 4> strides;
      for (int32_t axis : transpose.getPerms())
        strides.push_back(view.strides[axis]);
      view.strides = strides;
    } else if (auto reverse = dyn_cast<tosa::ReverseOp>(op)) {
      int64_t &stride = view.strides[reverse.getAxis()];
      int64_t size = cast<RankedTensorType>(reverse.getType())
                         .getDimSize(reverse.getAxis());
      view.offset += (size - 1) * stride;
      stride = -stride;
    } else {
      for (auto [begin, stride] : llvm::zip(start, view.strides))
        view.offset += begin * stride;
    }
  }
  return view;
}

void SiteFinder::findMove(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return;
  MovingShape shape;
  unsigned bits = type.getElementTypeBitWidth();
  shape.elementBytes = bits == 1 ? 1 : bits / 8;
  if (bits != 1 && !llvm::is_contained({8u, 16u, 32u, 64u}, bits))
    return;
  shape.targetElements = type.getNumElements();
  SmallVector<int64_t, 4> to = support::getRowMajorStrides(type.getShape());
  auto addCopy = [&](unsigned source, ArrayRef<int64_t> sizes,
                     ArrayRef<int64_t> from, int64_t fromOffset,
                     int64_t toOffset) {
    StridedCopy copy;
    copy.source = source;
    copy.sizes.assign(sizes.begin(), sizes.end());
    copy.from.assign(from.begin(), from.end());
    copy.to = to;
    copy.fromOffset = fromOffset;
    copy.toOffset = toOffset;
    copy.simplify();
    shape.copies.push_back(std::move(copy));
  };
  auto typeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType());
  };
  auto constantShape = [](Value value, SmallVector<int64_t> &values) {
    return value.getDefiningOp() &&
           tosa::getConstShapeValues(value.getDefiningOp(), values);
  };

  SmallVector<Value, 2> operands{op->getOperand(0)};
  if (isa<tosa::TransposeOp, tosa::SliceOp, tosa::ReverseOp>(op)) {
    // Look through this op even if its result is kept, since this op is what is
    // computed.
    bool wasKept = kept.erase(op->getResult(0));
    View view = getView(op->getResult(0));
    if (wasKept)
      kept.insert(op->getResult(0));
    if (view.source == op->getResult(0))
      return;
    operands = {view.source};
    addCopy(0, type.getShape(), view.strides, view.offset, 0);
  } else if (auto pad = dyn_cast<tosa::PadOp>(op)) {
    SmallVector<int64_t> padding;
    std::optional<ConstantTensor> value = constants.evaluate(pad.getPadConst());
    if (!constantShape(pad.getPadding(), padding) || !value ||
        value->getElementSize() != shape.elementBytes)
      return;
    ArrayRef<int64_t> inner = typeOf(pad.getInput1()).getShape();
    int64_t offset = 0;
    for (auto [d, stride] : llvm::enumerate(to)) {
      if (padding[2 * d] < 0 || padding[2 * d] + inner[d] > type.getShape()[d])
        return;
      offset += padding[2 * d] * stride;
    }
    shape.fill.assign(value->getBytes().begin(),
                      value->getBytes().begin() + shape.elementBytes);
    addCopy(0, inner, support::getRowMajorStrides(inner), 0, offset);
  } else if (auto concat = dyn_cast<tosa::ConcatOp>(op)) {
    operands.assign(op->operand_begin(), op->operand_end());
    int64_t offset = 0;
    for (auto [number, operand] : llvm::enumerate(operands)) {
      ArrayRef<int64_t> sizes = typeOf(operand).getShape();
      addCopy(number, sizes, support::getRowMajorStrides(sizes), 0, offset);
      offset += sizes[concat.getAxis()] * to[concat.getAxis()];
    }
  } else {
    return;
  }
  program.moves.push_back(std::move(shape));
  sites[op] = {Step::Kind::Move, program.moves.size() - 1, operands, {}};
}

namespace {
/// The elements of the result of a transposed convolution, along one axis, with
/// one remainder modulo the stride. A convolution with every stride-th element
/// of the kernel computes them.
struct Phase {
  /// Index of the last element of the kernel, which is the first in the
  /// convolution, and number of its elements.
  int64_t tap = 0, taps = 0;
  /// Size of its result, and padding of its input.
  int64_t size = 0, padBefore = 0, padAfter = 0;
  /// Range of its result that is part of the whole result.
  int64_t first = 0, count = 0;
  /// Index of the first of these elements in the whole result.
  int64_t target = 0;
};
} // namespace

static SmallVector<Phase> makePhases(int64_t input, int64_t output,
                                     int64_t kernel, int64_t stride,
                                     int64_t cut) {
  SmallVector<Phase> phases;
  for (int64_t remainder = 0; remainder != stride; ++remainder) {
    // Positions count from where the kernel begins at the first input.
    int64_t position = cut + ((remainder - cut) % stride + stride) % stride;
    if (position >= cut + output)
      continue;
    Phase phase;
    phase.target = position - cut;
    phase.count = (cut + output - 1 - position) / stride + 1;
    if (remainder < kernel) {
      phase.taps = (kernel - remainder - 1) / stride + 1;
      phase.tap = remainder + stride * (phase.taps - 1);
      int64_t begin = position / stride, end = begin + phase.count - 1;
      // Pads are not negative.
      int64_t from = std::min(begin, phase.taps - 1),
              to = std::max(end, input - 1);
      phase.padBefore = phase.taps - 1 - from;
      phase.padAfter = to - (input - 1);
      phase.size = to - from + 1;
      phase.first = begin - from;
    }
    phases.push_back(phase);
  }
  return phases;
}

/// Largest number of phases of a transposed convolution; one with more stays
/// whole.
static constexpr int64_t kMostPhases = 16;

/// Returns the convolution that computes one phase in each direction.
static ConvolutionShape getPhaseShape(const ConvolutionShape &whole,
                                      const Phase &row, const Phase &column) {
  ConvolutionShape shape;
  shape.batch = whole.batch;
  shape.inputHeight = whole.inputHeight;
  shape.inputWidth = whole.inputWidth;
  shape.inputChannels = whole.inputChannels;
  shape.outputHeight = row.size;
  shape.outputWidth = column.size;
  shape.outputChannels = whole.outputChannels;
  shape.kernelHeight = row.taps;
  shape.kernelWidth = column.taps;
  shape.padTop = row.padBefore;
  shape.padBottom = row.padAfter;
  shape.padLeft = column.padBefore;
  shape.padRight = column.padAfter;
  return shape;
}

/// Returns the move that creates the kernel of a phase from weights with these
/// strides.
static MovingShape getPhaseKernel(const ConvolutionShape &whole,
                                  const Phase &row, const Phase &column,
                                  ArrayRef<int64_t> strides, int64_t offset) {
  StridedCopy taps;
  taps.sizes = {whole.outputChannels, row.taps, column.taps,
                whole.inputChannels};
  taps.to = support::getRowMajorStrides(taps.sizes);
  taps.from = {strides[0], -strides[1] * whole.strideHeight,
               -strides[2] * whole.strideWidth, strides[3]};
  taps.fromOffset = offset + row.tap * strides[1] + column.tap * strides[2];
  taps.simplify();
  MovingShape kernel;
  kernel.targetElements =
      whole.outputChannels * row.taps * column.taps * whole.inputChannels;
  kernel.copies.push_back(std::move(taps));
  return kernel;
}

/// Returns the copy of the elements of the result that a phase computes.
static StridedCopy getPhaseResults(const ConvolutionShape &whole,
                                   const Phase &row, const Phase &column,
                                   ArrayRef<int64_t> resultShape) {
  StridedCopy part;
  part.sizes = {whole.batch, row.count, column.count, whole.outputChannels};
  part.from = support::getRowMajorStrides(
      {whole.batch, row.size, column.size, whole.outputChannels});
  part.fromOffset = row.first * part.from[1] + column.first * part.from[2];
  SmallVector<int64_t, 4> target = support::getRowMajorStrides(resultShape);
  part.to = {target[0], target[1] * whole.strideHeight,
             target[2] * whole.strideWidth, 1};
  part.toOffset = row.target * target[1] + column.target * target[2];
  return part;
}

/// Returns whether a transposed convolution may be divided into phases.
bool SiteFinder::hasPhases(tosa::TransposeConv2DOp op) {
  if (changing.contains(op) || !isStaticFloat(op.getInput()) ||
      !isStaticFloat(op.getWeight()) || !isStaticFloat(op.getBias()) ||
      !isStaticFloat(op.getResult()) || !isZero(op.getInputZp()) ||
      !isZero(op.getWeightZp()))
    return false;
  auto from = cast<RankedTensorType>(op.getInput().getType());
  auto to = cast<RankedTensorType>(op.getType());
  ConvolutionShape whole = readShape(op);
  return from.getNumElements() != 0 && to.getNumElements() != 0 &&
         !isTooLarge(from) && !isTooLarge(to) &&
         (whole.strideHeight != 1 || whole.strideWidth != 1) &&
         std::max(whole.strideHeight, whole.strideWidth) <= kMostPhases &&
         std::min({whole.padTop, whole.padBottom, whole.padLeft,
                   whole.padRight}) >= 0;
}

/// Divides a transposed convolution into convolutions without strides, whose
/// results are interleaved: oneDNN is fast at these, and slow at transposed
/// ones.
bool SiteFinder::findPhases(tosa::TransposeConv2DOp op) {
  if (!hasPhases(op))
    return false;
  Value input = op.getInput(), bias = op.getBias();
  auto to = cast<RankedTensorType>(op.getType());
  ConvolutionShape whole = readShape(op);
  SmallVector<Phase> rows =
      makePhases(whole.inputHeight, whole.outputHeight, whole.kernelHeight,
                 whole.strideHeight, whole.padTop);
  SmallVector<Phase> columns =
      makePhases(whole.inputWidth, whole.outputWidth, whole.kernelWidth,
                 whole.strideWidth, whole.padLeft);
  auto isEmpty = [](const Phase &phase) { return phase.taps == 0; };
  bool hasEmpty = llvm::any_of(rows, isEmpty) || llvm::any_of(columns, isEmpty);
  std::optional<ConstantFloats> biases = evaluateFloats(bias);
  if (int64_t(rows.size() * columns.size()) > kMostPhases ||
      (hasEmpty && !isZero(bias)) ||
      (!biases && cast<RankedTensorType>(bias.getType()).getNumElements() !=
                      whole.outputChannels))
    return false;

  Epilogue epilogue;
  Operation *last = op;
  if (auto clamp = dyn_cast_or_null<tosa::ClampOp>(soleUser(op.getResult()));
      clamp && !hasEmpty && readClamp(clamp, epilogue))
    last = clamp;

  View weights = getView(op.getWeight());
  Site site{Step::Kind::Move, 0, {input, weights.source}, {}};
  if (!biases)
    site.operands.push_back(bias);
  MovingShape interleave;
  interleave.targetElements = to.getNumElements();
  if (hasEmpty)
    interleave.fill.assign(sizeof(float), 0);
  size_t numMoves = program.moves.size();
  SmallVector<size_t> added;
  auto giveUp = [&] {
    for (size_t number = 0; number != added.size(); ++number)
      program.primitives.removeLast();
    program.moves.resize(numMoves);
    return false;
  };
  for (const Phase &row : rows)
    for (const Phase &column : columns) {
      if (isEmpty(row) || isEmpty(column))
        continue;
      llvm::Expected<size_t> primitive = program.primitives.addConvolution(
          getPhaseShape(whole, row, column), {},
          biases ? biases->values() : ArrayRef<float>(), epilogue);
      if (!primitive) {
        llvm::consumeError(primitive.takeError());
        return giveUp();
      }
      added.push_back(*primitive);
      if (program.primitives.isReference(*primitive))
        return giveUp();

      MovingShape kernel =
          getPhaseKernel(whole, row, column, weights.strides, weights.offset);
      StridedCopy part = getPhaseResults(whole, row, column, to.getShape());
      part.source = interleave.copies.size();
      int64_t made = whole.batch * part.from[0];
      part.simplify();
      interleave.copies.push_back(std::move(part));

      unsigned kernelNumber = site.operands.size() + site.before.size();
      site.before.push_back({Step::Kind::Move,
                             program.moves.size(),
                             {1},
                             kernel.targetElements * int64_t(sizeof(float))});
      program.moves.push_back(std::move(kernel));
      Site::Call call{Step::Kind::Primitive,
                      *primitive,
                      {0, kernelNumber},
                      made * int64_t(sizeof(float))};
      if (!biases)
        call.reads.push_back(2);
      site.before.push_back(std::move(call));
      site.reads.push_back(kernelNumber + 1);
    }
  program.primitiveInfos.push_back(
      {describeOp(op), program.primitives.implementation(added.back())});
  site.index = program.moves.size();
  program.moves.push_back(std::move(interleave));
  if (last != op.getOperation())
    covered.insert(op);
  sites[last] = std::move(site);
  return true;
}
