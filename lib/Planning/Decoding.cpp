// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/Decoding.h"
#include "mct/IR/ConstantTensor.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mct;

/// A constant with fewer consecutive numbers than this may be any small kernel.
static constexpr int64_t kLeastBins = 4;
/// Anchors, cells and strides have at least this many values, of which at least
/// this many are distinct, and each of these occurs this many times on average.
static constexpr size_t kLeastPlaces = 16;
static constexpr size_t kLeastDistinct = 3;
static constexpr size_t kLeastRepetitions = 4;

/// Returns the f32 elements of a constant (a single element for a splat), or
/// none for any other value.
static std::optional<ConstantTensor> getFloatConstant(Value value) {
  if (!getElementTypeOrSelf(value.getType()).isF32() ||
      !matchPattern(value, m_Constant()))
    return std::nullopt;
  return ConstantTensor::get(value);
}

/// Returns whether the elements are 0, 1, …, n - 1.
static bool areBins(ArrayRef<float> elements) {
  if (static_cast<int64_t>(elements.size()) < kLeastBins)
    return false;
  return llvm::all_of(llvm::enumerate(elements), [](auto element) {
    return element.value() == static_cast<float>(element.index());
  });
}

/// Returns whether a few values are repeated, as in the coordinates of cells.
static bool repeatsFewValues(ArrayRef<float> elements) {
  if (elements.size() < kLeastPlaces)
    return false;
  // Compare bits, which are ordered even if a value is NaN.
  SmallVector<uint32_t> distinct =
      llvm::map_to_vector(elements, [](float element) {
        return llvm::bit_cast<uint32_t>(element);
      });
  llvm::sort(distinct);
  distinct.erase(llvm::unique(distinct), distinct.end());
  return distinct.size() >= kLeastDistinct &&
         distinct.size() * kLeastRepetitions <= elements.size();
}

/// Returns whether neighbouring elements differ along an axis other than
/// `channels`, which may be none.
static bool variesBeside(ArrayRef<float> elements, ArrayRef<int64_t> shape,
                         std::optional<int64_t> channels) {
  size_t step = elements.size();
  for (auto [axis, size] : llvm::enumerate(shape)) {
    size_t slab = step;
    step /= size;
    if (channels == static_cast<int64_t>(axis))
      continue;
    for (size_t index = 0; index != elements.size(); ++index)
      if (index % slab >= step && elements[index] != elements[index - step])
        return true;
  }
  return false;
}

namespace {
class DecodingFinder {
public:
  DecodingFinder(Block &block, const KernelOps &kernels)
      : block(block), kernels(kernels) {}

  std::optional<Decoding> find();

private:
  /// Returns the kernel op if it is a layer, which does not have a kernel of
  /// bins.
  std::optional<KernelOp> getLayer(Operation *op) const;
  void findPart();
  void leaveEndOfLayer(const KernelOp &layer);
  void followChannels();
  std::optional<int64_t> getChannels(Operation *op) const;
  bool usesPlaces(Operation *op) const;
  bool usesBins(Operation *op) const;

  Block &block;
  const KernelOps &kernels;
  llvm::SetVector<Operation *> part;
  /// Channel axis of the layer from which a value is computed, if the value has
  /// its channels along one axis.
  llvm::DenseMap<Value, int64_t> channels;
};
} // namespace

std::optional<KernelOp> DecodingFinder::getLayer(Operation *op) const {
  std::optional<KernelOp> kernelOp = kernels.get(op);
  if (!kernelOp)
    return std::nullopt;
  std::optional<ConstantTensor> kernel =
      ConstantTensor::get(kernelOp->getKernelConstant());
  if (kernelOp->numOutputChannels() == 1 && kernel &&
      areBins(kernel->getFloats()))
    return std::nullopt;
  return kernelOp;
}

void DecodingFinder::findPart() {
  SmallVector<Operation *> backwards;
  llvm::DenseSet<Operation *> found;
  SmallVector<KernelOp> layers;
  Operation *terminator = block.getTerminator();
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (std::optional<KernelOp> layer = getLayer(&op)) {
      layers.push_back(*layer);
      continue;
    }
    if (op.hasTrait<OpTrait::ConstantLike>() || op.getNumRegions() != 0 ||
        op.use_empty())
      continue;
    bool isInPart = llvm::all_of(op.getUsers(), [&](Operation *user) {
      return user == terminator || found.contains(user);
    });
    if (!isInPart)
      continue;
    found.insert(&op);
    backwards.push_back(&op);
  }
  for (Operation *op : llvm::reverse(backwards))
    part.insert(op);
  for (const KernelOp &layer : layers)
    leaveEndOfLayer(layer);
}

/// Removes the bias and the clamp of a layer from the part, together with the
/// ops that move values in between.
void DecodingFinder::leaveEndOfLayer(const KernelOp &layer) {
  Operation *bias = layer.getResult().getDefiningOp();
  SmallVector<Operation *> passed;
  for (Value value = layer.getOperation()->getResult(0); value.hasOneUse();
       value = passed.back()->getResult(0)) {
    Operation *user = *value.getUsers().begin();
    if (!part.contains(user) || user->getNumResults() != 1)
      return;
    passed.push_back(user);
    if (isa<tosa::ClampOp>(user) || user == bias) {
      for (Operation *op : passed)
        part.remove(op);
      passed = {user};
    } else if (!isa<tpc::QuantizeOp, tosa::ReshapeOp>(user)) {
      return;
    }
  }
}

void DecodingFinder::followChannels() {
  for (Operation &op : block.without_terminator()) {
    if (std::optional<KernelOp> layer = getLayer(&op))
      channels[layer->getResult()] = layer->resultAxis();
    else if (op.getNumResults() == 1 && !channels.contains(op.getResult(0)))
      if (std::optional<int64_t> axis = getChannels(&op))
        channels[op.getResult(0)] = *axis;
  }
}

/// Returns the axis of the result along which all operands have the channels of
/// layers, or none if there is no such axis.
std::optional<int64_t> DecodingFinder::getChannels(Operation *op) const {
  std::optional<int64_t> axis;
  auto add = [&](std::optional<int64_t> of) {
    bool agrees = of && (!axis || axis == of);
    axis = of;
    return agrees;
  };
  if (isa<ElementwiseOpInterface>(op)) {
    for (Value operand : op->getOperands().take_front(getNumDataOperands(op))) {
      if (matchPattern(operand, m_Constant()))
        continue;
      auto known = channels.find(operand);
      if (!add(known == channels.end() ? std::nullopt
                                       : std::optional(known->second)))
        return std::nullopt;
    }
    return axis;
  }
  auto moving = dyn_cast<DataMovementOpInterface>(op);
  if (!moving || !moving.getMovement())
    return std::nullopt;
  for (unsigned number : moving.getMovedOperands()) {
    auto known = channels.find(op->getOperand(number));
    if (known == channels.end())
      return std::nullopt;
    std::optional<ChannelMap> map = moving.mapChannels(number, known->second);
    if (!add(map ? std::optional(map->axis) : std::nullopt))
      return std::nullopt;
  }
  return axis;
}

bool DecodingFinder::usesPlaces(Operation *op) const {
  if (!isa<tosa::AddOp, tosa::SubOp, tosa::MulOp>(op))
    return false;
  auto known = channels.find(op->getResult(0));
  std::optional<int64_t> axis;
  if (known != channels.end())
    axis = known->second;
  return llvm::any_of(op->getOperands().take_front(2), [&](Value operand) {
    std::optional<ConstantTensor> constant = getFloatConstant(operand);
    return constant && repeatsFewValues(constant->getFloats()) &&
           variesBeside(constant->getFloats(), constant->getShape(), axis);
  });
}

bool DecodingFinder::usesBins(Operation *op) const {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    std::optional<ConstantTensor> constant = getFloatConstant(operand);
    return constant && areBins(constant->getFloats()) &&
           (isa<tosa::MulOp>(op) || kernels.get(op));
  });
}

static bool findsPeaks(Operation *op) {
  if (!isa<tosa::EqualOp, tosa::GreaterEqualOp>(op))
    return false;
  auto isPoolOf = [](Value pooled, Value value) {
    auto pool = pooled.getDefiningOp<tosa::MaxPool2dOp>();
    return pool && pool.getInput() == value &&
           llvm::all_of(pool.getStride(),
                        [](int64_t stride) { return stride == 1; });
  };
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  return isPoolOf(lhs, rhs) || isPoolOf(rhs, lhs);
}

std::optional<Decoding> DecodingFinder::find() {
  findPart();
  followChannels();
  if (llvm::none_of(part, [&](Operation *op) {
        return usesPlaces(op) || usesBins(op) || findsPeaks(op);
      }))
    return std::nullopt;
  Decoding decoding;
  llvm::SetVector<Value> heads;
  for (Operation *op : part) {
    decoding.ops.push_back(op);
    for (Value operand : op->getOperands())
      if (!part.contains(operand.getDefiningOp()) &&
          !matchPattern(operand, m_Constant()) &&
          !isa<tosa::shapeType>(operand.getType()))
        heads.insert(operand);
  }
  decoding.heads = heads.takeVector();
  return decoding;
}

std::optional<Decoding> mct::findDecoding(Block &block,
                                          const KernelOps &kernels) {
  return DecodingFinder(block, kernels).find();
}
