// SPDX-License-Identifier: Apache-2.0
#include "ChannelAffine.h"
#include "ChannelSizes.h"
#include "ScalingPath.h"
#include "mct/IR/Constants.h"
#include "mct/IR/Records.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/Overrides.h"
#include "mct/Quantizers/Channels.h"
#include "mct/Transforms/ImportedPoints.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>
#include <numeric>

namespace mct {
#define GEN_PASS_DEF_EQUALIZERESIDUALSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// If one channel is this much larger than the median, the others lose two of
/// eight bits.
static constexpr double kOutlierFactor = 4;

/// Most ops between a sum over the channels and the subtraction of the mean
/// that they compute from it.
static constexpr unsigned kMaxMeanOps = 8;

/// Returns the subtraction of the mean over the last axis with which a layer
/// norm begins, or null if the value has other users.
static tosa::SubOp findMeanSubtraction(Value value) {
  tosa::ReduceSumOp sum;
  tosa::SubOp subtraction;
  int64_t last = cast<RankedTensorType>(value.getType()).getRank() - 1;
  for (Operation *user : value.getUsers()) {
    if (auto reduce = dyn_cast<tosa::ReduceSumOp>(user);
        reduce && !sum && int64_t(reduce.getAxis()) == last)
      sum = reduce;
    else if (auto sub = dyn_cast<tosa::SubOp>(user);
             sub && !subtraction && sub.getInput1() == value)
      subtraction = sub;
    else
      return {};
  }
  if (!sum || !subtraction)
    return {};
  Value mean = subtraction.getInput2();
  for (unsigned i = 0; i != kMaxMeanOps && mean != sum.getResult(); ++i) {
    Operation *op = mean.getDefiningOp();
    if (!op || !isa<tosa::MulOp, tosa::ReshapeOp>(op))
      return {};
    mean = op->getOperand(0).getDefiningOp<tosa::ConstOp>() ? op->getOperand(1)
                                                            : op->getOperand(0);
  }
  return mean == sum.getResult() ? subtraction : tosa::SubOp();
}

static double getMedian(std::vector<double> values) {
  auto middle = values.begin() + int64_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Returns the powers of two, at least 1, by which to divide each channel so
/// that it lies below the power of two above the median. `share` is the part of
/// these factors to take, in bits; `roundBits` rounds the number of bits to an
/// integer.
static std::vector<double> getScales(ArrayRef<double> magnitudes, double share,
                                     double (*roundBits)(double)) {
  double wanted = std::ceil(std::log2(getMedian(magnitudes.vec())));
  std::vector<double> scales;
  for (double magnitude : magnitudes) {
    double bits = roundBits(share * (std::log2(magnitude) - wanted));
    scales.push_back(bits > 0 ? std::exp2(std::min(bits, 60.0)) : 1.0);
  }
  return scales;
}

static bool areOnes(ArrayRef<double> scales) {
  return llvm::all_of(scales, [](double scale) { return scale == 1; });
}

/// Creates a constant with one factor per channel along the last axis.
static Value createFactors(OpBuilder &builder, Location loc, int64_t rank,
                           ArrayRef<double> factors, StringRef name) {
  SmallVector<int64_t> shape(rank, 1);
  shape.back() = int64_t(factors.size());
  return createConstant(builder, loc,
                        RankedTensorType::get(shape, builder.getF32Type()),
                        llvm::to_vector_of<float>(factors), name);
}

/// Multiplies each channel of a value by its factor. `name` becomes the name of
/// the product.
static tosa::MulOp multiply(OpBuilder &builder, Value value,
                            ArrayRef<double> factors, StringRef name) {
  auto type = cast<RankedTensorType>(value.getType());
  Location loc = NameLoc::get(builder.getStringAttr(name), value.getLoc());
  Value numbers = createFactors(builder, loc, type.getRank(), factors,
                                (name + ".factors").str());
  return createProduct(builder, loc, type, value, numbers);
}

namespace {
/// A layer, and the points and ops that move its result to a sum, with no other
/// users on the way.
struct AddedLayer {
  KernelOp layer;
  SmallVector<Operation *> path;
};

/// The sum of a layer's result and another value. Only a layer norm uses it.
struct Residual {
  tpc::QuantizeOp point;
  tosa::AddOp sum;
  /// Operands of the sum that are results of layers, and the other operands.
  std::vector<AddedLayer> layers;
  SmallVector<OpOperand *, 2> branches;
};

struct EqualizeResidualsPass
    : public WithOpModels<
          mct::impl::EqualizeResidualsPassBase<EqualizeResidualsPass>> {
  using WithOpModels::WithOpModels;

  void getDependentDialects(DialectRegistry &registry) const override {
    EqualizeResidualsPassBase::getDependentDialects(registry);
    for (const OpPassManager &passes : measuredBy)
      passes.getDependentDialects(registry);
  }

  void runOnOperation() override {
    std::vector<Residual> residuals = findResiduals();
    if (residuals.empty())
      return markAllAnalysesPreserved();
    if (failed(measure(residuals)))
      return signalPassFailure();
    llvm::SetVector<tpc::QuantizeOp> normalized;
    for (Residual &residual : residuals)
      equalize(residual, normalized);
    for (tpc::QuantizeOp point : normalized)
      equalizeNormalized(point);
    renamed.renameInGroups(getOperation());
  }

private:
  std::vector<Residual> findResiduals();
  /// Fills `sizesOf`; runs `measuredBy` on a copy of the module if the sizes
  /// have not been measured.
  LogicalResult measure(ArrayRef<Residual> residuals);
  /// Adds to `normalized` the points of the other operands of the sum.
  void equalize(Residual &residual,
                llvm::SetVector<tpc::QuantizeOp> &normalized);
  /// Scales the result of a layer norm if only layers and products made by this
  /// pass use it.
  void equalizeNormalized(tpc::QuantizeOp point);
  /// Renames an op whose result has changed.
  void rename(Operation *op) {
    if (auto point = dyn_cast<tpc::QuantizeOp>(op))
      point.removeRangeAttr();
    renamed.rename(op);
  }

  /// Factors of the products of branches, which can absorb those of a layer
  /// norm.
  llvm::DenseMap<Operation *, std::vector<double>> factorsOf;
  ScaledNames renamed;
  SizesOfPoints sizesOf;
  const KernelOps *kernels = nullptr;
};
} // namespace

/// Returns the layer whose result `value` is, perhaps moved or quantized, with
/// the output channels along the last axis.
static std::optional<AddedLayer>
findAddedLayer(Value value, const llvm::DenseMap<Value, KernelOp> &layerOf) {
  SmallVector<Operation *> path;
  int64_t axis = cast<RankedTensorType>(value.getType()).getRank() - 1;
  while (value.hasOneUse()) {
    auto layer = layerOf.find(value);
    if (layer != layerOf.end()) {
      if (layer->second.resultAxis() != axis || !layer->second.getBias())
        return std::nullopt;
      return AddedLayer{layer->second, std::move(path)};
    }
    Operation *op = value.getDefiningOp();
    if (auto point = dyn_cast_or_null<tpc::QuantizeOp>(op)) {
      if (!point.isActivation())
        return std::nullopt;
      value = point.getInput();
    } else if (std::optional<int64_t> from =
                   op ? followChannelsBack(op, axis) : std::nullopt) {
      axis = *from;
      value = getMovedOperand(op)->get();
    } else {
      return std::nullopt;
    }
    path.push_back(op);
  }
  return std::nullopt;
}

std::vector<Residual> EqualizeResidualsPass::findResiduals() {
  kernels = &getAnalysis<KernelOps>();
  llvm::DenseMap<Value, KernelOp> layerOf =
      kernels->findByResult(getOperation());
  std::vector<Residual> found;
  getOperation().walk([&](tpc::QuantizeOp point) {
    auto sum = point.getInput().getDefiningOp<tosa::AddOp>();
    auto type = cast<RankedTensorType>(point.getType());
    if (!point.isActivation() || !sum || !sum->hasOneUse() ||
        type.getRank() == 0 || type.isDynamicDim(type.getRank() - 1) ||
        !findMeanSubtraction(point.getResult()))
      return;
    Residual residual{point, sum, {}, {}};
    for (OpOperand &operand : sum->getOpOperands()) {
      if (operand.get().getType() != type || ConstantFloats::get(operand.get()))
        return;
      if (std::optional<AddedLayer> added =
              findAddedLayer(operand.get(), layerOf))
        residual.layers.push_back(std::move(*added));
      else
        residual.branches.push_back(&operand);
    }
    if (!residual.layers.empty())
      found.push_back(std::move(residual));
  });
  return found;
}

LogicalResult EqualizeResidualsPass::measure(ArrayRef<Residual> residuals) {
  FailureOr<SizesOfPoints> sizes = measureChannelSizes(
      getOperation(),
      llvm::map_to_vector(
          residuals, [](const Residual &residual) { return residual.point; }),
      measuredBy);
  if (failed(sizes))
    return failure();
  sizesOf = std::move(*sizes);
  return success();
}

void EqualizeResidualsPass::equalize(
    Residual &residual, llvm::SetVector<tpc::QuantizeOp> &normalized) {
  std::string name = residual.point.getPointName().str();
  auto leave = [&](const Record &why) {
    if (remarks)
      emitRecord(residual.sum, getArgument(), why, "is not equalized: ");
  };
  SmallVector<tpc::QuantizeOp> points = {residual.point};
  for (const AddedLayer &added : residual.layers)
    for (Operation *op : added.path)
      if (auto point = dyn_cast<tpc::QuantizeOp>(op))
        points.push_back(point);
  for (OpOperand *branch : residual.branches)
    if (auto point = branch->get().getDefiningOp<tpc::QuantizeOp>())
      points.push_back(point);
  if (llvm::any_of(points,
                   [](tpc::QuantizeOp point) {
                     return point.hasImportedParameters();
                   }) ||
      llvm::any_of(residual.layers, [](const AddedLayer &added) {
        return hasImportedKernel(added.layer);
      }))
    return leave(Reason::ImportedParameters);
  std::vector<double> magnitudes;
  for (tpc::QuantizeOp point : points) {
    auto each = sizesOf.find(point);
    if (each == sizesOf.end())
      return leave(Reason::NoChannelRanges);
    magnitudes.resize(each->second.magnitudes.size());
    for (auto [magnitude, other] :
         llvm::zip_equal(magnitudes, each->second.magnitudes))
      magnitude = std::max(magnitude, other);
  }
  double largest = *llvm::max_element(magnitudes);
  double median = getMedian(magnitudes);
  if (!(median > 0) || !(largest > kOutlierFactor * median))
    return leave(Reason::NoOutliers);
  std::vector<double> scales = getScales(magnitudes, /*share=*/1, std::ceil);
  SmallVector<Operation *> changed = {residual.sum, residual.point};

  OpBuilder builder(residual.sum);
  for (const AddedLayer &added : residual.layers) {
    builder.setInsertionPoint(added.layer.getOperation());
    scaleOutputs(builder, added.layer, invertFactors(scales));
    changed.append(added.path);
    Value result = added.layer.getResult();
    for (Operation *op = added.layer.getOperation();;
         op = *op->getResult(0).user_begin()) {
      changed.push_back(op);
      if (op->getResult(0) == result)
        break;
    }
  }
  for (Operation *op : changed)
    rename(op);
  builder.setInsertionPoint(residual.sum);
  for (auto [number, branch] : llvm::enumerate(residual.branches)) {
    std::string branchName = name + "_branch";
    if (number != 0)
      branchName += std::to_string(number);
    auto from = branch->get().getDefiningOp<tpc::QuantizeOp>();
    tosa::MulOp product =
        multiply(builder, branch->get(), invertFactors(scales), branchName);
    factorsOf[product] = invertFactors(scales);
    auto point = tpc::QuantizeOp::create(
        builder, product.getLoc(), product.getResult(),
        builder.getStringAttr(branchName), /*weight=*/{}, /*axes=*/{},
        residual.point.getConfigAttr());
    branch->set(point.getOutput());
    if (from)
      normalized.insert(from);
  }
  // The product has the values of the former sum, and takes its name.
  builder.setInsertionPointAfter(residual.point);
  tosa::MulOp product =
      multiply(builder, residual.point.getResult(), scales, name);
  residual.point.getResult().replaceAllUsesExcept(product.getResult(), product);
  Overrides::append(residual.sum->getParentOfType<func::FuncOp>(),
                    {"?name \"" + name + "\" activation=float"});
  emitRecord(residual.point, getArgument(),
             Record(Decision::Applied, Reason::ResidualEqualized)
                 << "'" << name << "' has channels up to "
                 << named("largest", largest, "%.3g") << " with a median of "
                 << named("median", median, "%.3g")
                 << ", and is quantized with "
                 << named("scaled",
                          llvm::count_if(
                              scales, [](double scale) { return scale != 1; }))
                 << " of its " << std::to_string(scales.size())
                 << " channels divided by powers of two, which the layer norm "
                    "behind it takes back");
}

namespace {
/// A layer that uses the result of a layer norm.
struct NormalizedUser {
  KernelOp layer;
  /// Channel of the layer norm that each input channel of the layer holds.
  std::vector<double> channelOf;
};
} // namespace

/// Returns the variance of the rounding error of values of magnitudes up to
/// `magnitude` in `bits` bits, which is uniform within one step.
static double getRoundingVariance(double magnitude, int64_t bits) {
  double step = 2 * magnitude / std::exp2(double(bits));
  return step * step / 12;
}

/// Returns the expected square of a layer's errors divided by that of its
/// results, both summed over output channels, when its input is divided by
/// `scales` and its kernel absorbs them. `variance`: that of the errors of the
/// divided input.
static double getRelativeNoise(const NormalizedUser &user,
                               ArrayRef<double> meanSquares,
                               ArrayRef<double> scales, double variance) {
  const KernelOp &layer = user.layer;
  ConstantFloats floats = layer.getKernel();
  tpc::QuantizeOp point = layer.getKernelPoint();
  tpc::AttrQuantConfigAttr config =
      point ? point.getWeightConfig() : tpc::AttrQuantConfigAttr();
  ArrayRef<int64_t> axes = point ? point.getChannelAxes() : ArrayRef<int64_t>();
  // Index the weights by the grid that they share.
  size_t grids = quantization::channelCount(layer.getKernelShape(), axes);
  std::vector<double> largest(grids, 0.0), squares(grids, 0.0);
  double signal = 0, noise = 0;
  quantization::forEachChannelRun(
      layer.getKernelShape(), axes,
      [&](size_t begin, size_t length, int64_t grid, int64_t gridStep) {
        for (size_t i = begin; i != begin + length; ++i, grid += gridStep) {
          auto channel = size_t(user.channelOf[layer.inChannelOf(i)]);
          double weight = floats.values()[i], scale = scales[channel];
          signal += weight * weight * meanSquares[channel];
          noise += weight * weight * scale * scale * variance;
          largest[grid] = std::max(largest[grid], std::abs(weight * scale));
          squares[grid] += meanSquares[channel] / (scale * scale);
        }
      });
  if (config && config.getEnabled())
    for (auto [magnitude, square] : llvm::zip_equal(largest, squares))
      noise += getRoundingVariance(magnitude, config.getBits()) * square;
  return signal > 0 ? noise / signal : 0;
}

/// Returns the scales of a layer norm's channels that cause the least noise in
/// its users, among those that bring the channels fully or partly into the same
/// range. `branches`: factors of the branches.
static std::vector<double>
chooseScales(tpc::QuantizeOp point, const ChannelSizes &sizes,
             ArrayRef<NormalizedUser> users,
             ArrayRef<std::vector<double>> branches) {
  // Powers of two are rounded anyway, so finer shares hardly change the scales.
  constexpr double kShares[] = {0, 0.25, 0.5, 0.75, 1};
  constexpr int64_t kUsualBits = 8;
  tpc::OpQuantConfigAttr config = point.getActivationConfig();
  std::vector<double> best;
  double least = std::numeric_limits<double>::infinity();
  for (double share : kShares) {
    std::vector<double> scales = getScales(sizes.magnitudes, share, std::round);
    double largest = 0;
    for (auto [magnitude, scale] : llvm::zip_equal(sizes.magnitudes, scales))
      largest = std::max(largest, magnitude / scale);
    double variance =
        getRoundingVariance(largest, config ? config.getActBits() : kUsualBits);
    double noise = 0;
    for (const NormalizedUser &user : users)
      noise += getRelativeNoise(user, sizes.meanSquares, scales, variance);
    for (const std::vector<double> &factors : branches) {
      double signal = 0, error = 0;
      for (auto [factor, scale, square] :
           llvm::zip_equal(factors, scales, sizes.meanSquares)) {
        signal += factor * factor * square;
        error += factor * factor * scale * scale * variance;
      }
      noise += signal > 0 ? error / signal : 0;
    }
    if (noise < least) {
      least = noise;
      best = std::move(scales);
    }
  }
  return best;
}

void EqualizeResidualsPass::equalizeNormalized(tpc::QuantizeOp point) {
  auto sizes = sizesOf.find(point);
  int64_t axis = cast<RankedTensorType>(point.getType()).getRank() - 1;
  if (sizes == sizesOf.end() || !(getMedian(sizes->second.magnitudes) > 0) ||
      point.hasImportedParameters())
    return;

  // Find the gain and the offset of the normalization.
  SmallVector<OpOperand *> constants;
  SmallVector<Operation *> changed;
  Value value = point.getInput();
  bool hasGain = false;
  while (!hasGain) {
    Operation *op = value.getDefiningOp();
    if (!op || !value.hasOneUse() || !isa<tosa::AddOp, tosa::MulOp>(op))
      return;
    std::optional<ChannelStep> step = getChannelStep(op, axis);
    if (!step)
      return;
    constants.push_back(&op->getOpOperand(1 - step->input->getOperandNumber()));
    changed.push_back(op);
    hasGain = isa<tosa::MulOp>(op);
    value = step->input->get();
  }

  // Its users absorb the factors.
  std::vector<double> numbers(sizes->second.magnitudes.size());
  std::iota(numbers.begin(), numbers.end(), 0.0);
  SmallVector<tosa::MulOp> branches;
  std::vector<std::vector<double>> branchFactors;
  std::vector<NormalizedUser> users;
  for (OpOperand &use : point.getResult().getUses()) {
    if (auto branch = factorsOf.find(use.getOwner());
        branch != factorsOf.end()) {
      branches.push_back(cast<tosa::MulOp>(use.getOwner()));
      branchFactors.push_back(branch->second);
      continue;
    }
    ScalingPath path = followScaling(*kernels, use);
    std::optional<std::vector<double>> channelOf =
        carryFactors(path, point.getResult(), axis, numbers);
    if (!channelOf || !path.getClamps().empty() || !path.getPoints().empty() ||
        int64_t(channelOf->size()) != path.consumer->numInputChannels() ||
        hasImportedKernel(*path.consumer))
      return;
    users.push_back({*path.consumer, std::move(*channelOf)});
  }
  std::vector<double> scales =
      chooseScales(point, sizes->second, users, branchFactors);
  if (areOnes(scales))
    return;

  OpBuilder builder(point);
  std::string name = point.getPointName().str();
  for (OpOperand *constant : constants) {
    builder.setInsertionPoint(constant->getOwner());
    std::optional<ConstantFloats> old = ConstantFloats::get(constant->get());
    auto type = cast<RankedTensorType>(constant->get().getType());
    std::vector<double> divided;
    ArrayRef<float> values = old->values();
    for (auto [channel, scale] : llvm::enumerate(scales))
      divided.push_back(values[values.size() == 1 ? 0 : channel] / scale);
    constant->set(createFactors(builder, constant->get().getLoc(),
                                type.getRank(), divided, name + ".affine"));
  }
  for (const NormalizedUser &user : users) {
    std::vector<double> factors;
    for (double channel : user.channelOf)
      factors.push_back(scales[size_t(channel)]);
    scaleInputs(builder, user.layer, factors);
  }
  for (tosa::MulOp branch : branches) {
    std::vector<double> &factors = factorsOf[branch];
    for (auto [factor, scale] : llvm::zip_equal(factors, scales))
      factor *= scale;
    builder.setInsertionPoint(branch);
    branch.getInput2Mutable().assign(createFactors(
        builder, branch.getLoc(), axis + 1, factors, name + ".factors"));
  }
  changed.push_back(point);
  for (Operation *op : changed)
    rename(op);
}
