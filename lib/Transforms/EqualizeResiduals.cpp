// SPDX-License-Identifier: Apache-2.0
#include "ChannelAffine.h"
#include "ScalingPath.h"
#include "mct/Analysis/Constants.h"
#include "mct/Analysis/Names.h"
#include "mct/Analysis/OpInterfaces.h"
#include "mct/Analysis/Overrides.h"
#include "mct/Analysis/Records.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace mct {
#define GEN_PASS_DEF_EQUALIZERESIDUALSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Two of eight bits: where one channel is so much larger than the median, the
/// others have six of them.
static constexpr double kOutlierFactor = 4;

/// Ops between a sum along the channels and the subtraction of the mean that is
/// made of it.
static constexpr unsigned kMaxMeanOps = 8;

/// Returns the subtraction of the mean over the last axis that a layer norm
/// begins with, or null where something else uses the value as well.
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

/// Returns the largest magnitude that calibration saw of each channel, or
/// nothing where it has not been measured.
static std::optional<std::vector<double>>
getChannelMagnitudes(tpc::QuantizeOp point) {
  tpc::StatisticsAttr statistics = point.getStatisticsAttr();
  auto type = cast<RankedTensorType>(point.getType());
  int64_t channels = type.getRank() == 0 ? 0 : type.getShape().back();
  std::vector<double> magnitudes(size_t(std::max<int64_t>(channels, 0)), 0.0);
  if (!statistics || channels <= 0)
    return std::nullopt;
  for (ElementsAttr bounds :
       {statistics.getChannelMin(), statistics.getChannelMax()}) {
    auto dense = dyn_cast_or_null<DenseElementsAttr>(bounds);
    if (!dense || dense.getNumElements() != channels ||
        !dense.getElementType().isF32())
      return std::nullopt;
    for (auto [magnitude, bound] :
         llvm::zip_equal(magnitudes, dense.getValues<float>()))
      magnitude = std::max(magnitude, std::abs(double(bound)));
  }
  return magnitudes;
}

static double getMedian(std::vector<double> values) {
  auto middle = values.begin() + int64_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Returns powers of two, at least 1, by which each channel has to be divided
/// to reach twice the median; that part of it, in bits, which `share` says.
static std::vector<double> getScales(ArrayRef<double> magnitudes,
                                     double share) {
  double wanted = 2 * getMedian(magnitudes.vec());
  std::vector<double> scales;
  for (double magnitude : magnitudes) {
    double bits = std::round(share * std::log2(magnitude / wanted));
    scales.push_back(bits > 0 ? std::exp2(std::min(bits, 60.0)) : 1.0);
  }
  return scales;
}

static std::vector<double> inverse(ArrayRef<double> scales) {
  std::vector<double> factors;
  for (double scale : scales)
    factors.push_back(1 / scale);
  return factors;
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

/// Multiplies each channel of a value; the product has the name `name`.
static tosa::MulOp multiply(OpBuilder &builder, Value value,
                            ArrayRef<double> factors, StringRef name) {
  auto type = cast<RankedTensorType>(value.getType());
  Location loc = NameLoc::get(builder.getStringAttr(name), value.getLoc());
  Value numbers = createFactors(builder, loc, type.getRank(), factors,
                                (name + ".factors").str());
  auto shiftType = RankedTensorType::get({1}, builder.getI8Type());
  Value shift = tosa::ConstOp::create(
      builder, loc, shiftType,
      DenseElementsAttr::get(shiftType, builder.getI8IntegerAttr(0)));
  return tosa::MulOp::create(builder, loc, type, value, numbers, shift);
}

namespace {
/// A layer, and the points and the ops that move its result up to a sum, which
/// nothing else uses.
struct AddedLayer {
  KernelOp layer;
  SmallVector<Operation *> path;
};

/// The sum of a layer's result and something else, which only a layer norm
/// reads.
struct Residual {
  tpc::QuantizeOp point;
  tosa::AddOp sum;
  /// Operands of the sum: results of layers, and others.
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
    renameInGroups();
  }

private:
  std::vector<Residual> findResiduals();
  /// Fills `magnitudesOf`, from a copy of the module where `measuredBy` has to
  /// find them out.
  LogicalResult measure(ArrayRef<Residual> residuals);
  /// `normalized`: gets the points whose values the sum adds to layers'.
  void equalize(Residual &residual,
                llvm::SetVector<tpc::QuantizeOp> &normalized);
  /// Scales the result of a layer norm where all that use it are layers and
  /// factors of this pass.
  void equalizeNormalized(tpc::QuantizeOp point);
  /// An op whose values are others; a point loses what was chosen for them.
  void rename(Operation *op) {
    auto point = dyn_cast<tpc::QuantizeOp>(op);
    if (!point)
      return renameChanged(op, kSuffix);
    std::string name = point.getPointName().str();
    renamed[name] = name + kSuffix.str();
    point.setPointName(renamed[name]);
    point.removeStatisticsAttr();
    point.removeQuantizer();
    point.removeRangeAttr();
  }
  void renameInGroups();

  static constexpr StringLiteral kSuffix = "_scaled";
  /// The factors of branches, which may take those of a layer norm.
  llvm::DenseMap<Operation *, std::vector<double>> factorsOf;
  llvm::StringMap<std::string> renamed;
  /// The largest magnitude in each channel of a point's values; no entry where
  /// it is not known.
  llvm::DenseMap<Operation *, std::vector<double>> magnitudesOf;
  const KernelOps *kernels = nullptr;
};
} // namespace

/// Returns the layer whose result the value is, moved or quantized, with its
/// output channels along the last axis.
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
  llvm::DenseMap<Value, KernelOp> layerOf;
  getOperation().walk([&](Operation *op) {
    if (std::optional<KernelOp> layer = kernels->get(op))
      layerOf.try_emplace(layer->getResult(), *layer);
  });
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
  bool isKnown = llvm::all_of(residuals, [](const Residual &residual) {
    return getChannelMagnitudes(residual.point).has_value();
  });
  OwningOpRef<ModuleOp> copy;
  if (!isKnown && !measuredBy.empty()) {
    // What is measured for this pass alone is not left on the module.
    copy = getOperation().clone();
    for (const OpPassManager &each : measuredBy) {
      PassManager passes(&getContext(), ModuleOp::getOperationName());
      static_cast<OpPassManager &>(passes) = each;
      if (failed(passes.run(*copy)))
        return failure();
    }
  }
  SmallVector<tpc::QuantizeOp> points, measured;
  getOperation().walk([&](tpc::QuantizeOp point) { points.push_back(point); });
  if (copy)
    copy->walk([&](tpc::QuantizeOp point) { measured.push_back(point); });
  else
    measured = points;
  magnitudesOf.clear();
  if (points.size() != measured.size())
    return getOperation().emitError()
           << "'measured-by' changes the points of the module; give passes "
              "that only calibrate";
  for (auto [point, from] : llvm::zip_equal(points, measured))
    if (point.isActivation())
      if (std::optional<std::vector<double>> each = getChannelMagnitudes(from))
        magnitudesOf.try_emplace(point, std::move(*each));
  return success();
}

void EqualizeResidualsPass::equalize(
    Residual &residual, llvm::SetVector<tpc::QuantizeOp> &normalized) {
  std::string name = residual.point.getPointName().str();
  auto leave = [&](const Record &why) {
    if (remarks)
      emitRecord(residual.sum, getArgument(), why, "is not equalized: ");
  };
  SmallVector<tpc::QuantizeOp> seen = {residual.point};
  for (const AddedLayer &added : residual.layers)
    for (Operation *op : added.path)
      if (auto point = dyn_cast<tpc::QuantizeOp>(op))
        seen.push_back(point);
  for (OpOperand *branch : residual.branches)
    if (auto point = branch->get().getDefiningOp<tpc::QuantizeOp>())
      seen.push_back(point);
  std::vector<double> magnitudes;
  for (tpc::QuantizeOp point : seen) {
    auto each = magnitudesOf.find(point);
    if (each == magnitudesOf.end())
      return leave(Reason::NoChannelRanges);
    magnitudes.resize(each->second.size());
    for (auto [magnitude, other] : llvm::zip_equal(magnitudes, each->second))
      magnitude = std::max(magnitude, other);
  }
  double largest = *llvm::max_element(magnitudes);
  double median = getMedian(magnitudes);
  if (!(median > 0) || !(largest > kOutlierFactor * median))
    return leave(Reason::NoOutliers);
  std::vector<double> scales = getScales(magnitudes, /*share=*/1);
  SmallVector<Operation *> changed = {residual.sum, residual.point};

  OpBuilder builder(residual.sum);
  for (const AddedLayer &added : residual.layers) {
    builder.setInsertionPoint(added.layer.getOperation());
    scaleOutputs(builder, added.layer, inverse(scales));
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
        multiply(builder, branch->get(), inverse(scales), branchName);
    factorsOf[product] = inverse(scales);
    auto point = tpc::QuantizeOp::create(
        builder, product.getLoc(), product.getType(), product.getResult(),
        /*learned=*/ValueRange(), builder.getStringAttr(branchName),
        /*weight=*/StringAttr(), /*axes=*/DenseI64ArrayAttr(),
        residual.point.getConfigAttr(), /*candidates=*/tpc::AlternativesAttr(),
        /*group=*/ArrayAttr(), /*range=*/tpc::RangeAttr(),
        /*statistics=*/tpc::StatisticsAttr(),
        /*parameters=*/tpc::QuantizerAttrInterface(),
        /*selection=*/tpc::SelectionAttr(),
        /*corrections=*/tpc::CorrectionsAttr(),
        /*trainable=*/tpc::TrainableAttrInterface());
    branch->set(point.getOutput());
    if (from)
      normalized.insert(from);
  }
  // The product has the values, and the name, that the sum had.
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

void EqualizeResidualsPass::equalizeNormalized(tpc::QuantizeOp point) {
  auto magnitudes = magnitudesOf.find(point);
  int64_t axis = cast<RankedTensorType>(point.getType()).getRank() - 1;
  if (magnitudes == magnitudesOf.end() || !(getMedian(magnitudes->second) > 0))
    return;
  // Half of the bits: the kernels that read it have to take the other half.
  std::vector<double> scales = getScales(magnitudes->second, /*share=*/0.5);
  if (areOnes(scales))
    return;

  // Gain and offset of the normalization.
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

  // What uses it takes the factors.
  SmallVector<tosa::MulOp> branches;
  std::vector<std::pair<ScalingPath, std::vector<double>>> readers;
  for (OpOperand &use : point.getResult().getUses()) {
    if (auto branch = factorsOf.find(use.getOwner());
        branch != factorsOf.end()) {
      branches.push_back(cast<tosa::MulOp>(use.getOwner()));
      continue;
    }
    ScalingPath path = followScaling(*kernels, use);
    std::optional<std::vector<double>> carried =
        carryFactors(path, point.getResult(), axis, scales);
    if (!carried || !path.getClamps().empty() || !path.getPoints().empty() ||
        int64_t(carried->size()) != path.consumer->numInputChannels())
      return;
    readers.push_back({std::move(path), std::move(*carried)});
  }

  OpBuilder builder(point);
  std::string name = point.getPointName().str();
  for (OpOperand *constant : constants) {
    builder.setInsertionPoint(constant->getOwner());
    std::optional<ConstantFloats> old = ConstantFloats::get(constant->get());
    auto type = cast<RankedTensorType>(constant->get().getType());
    std::vector<double> numbers;
    ArrayRef<float> values = old->values();
    for (auto [channel, scale] : llvm::enumerate(scales))
      numbers.push_back(values[values.size() == 1 ? 0 : channel] / scale);
    constant->set(createFactors(builder, constant->get().getLoc(),
                                type.getRank(), numbers, name + ".affine"));
  }
  for (auto &[path, factors] : readers)
    scaleInputs(builder, *path.consumer, factors);
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

void EqualizeResidualsPass::renameInGroups() {
  getOperation().walk([&](tpc::QuantizeOp point) {
    ArrayAttr group = point.getGroupAttr();
    if (!group)
      return;
    point.setGroupAttr(ArrayAttr::get(
        &getContext(),
        llvm::map_to_vector(
            group.getAsRange<StringAttr>(), [&](StringAttr name) -> Attribute {
              auto found = renamed.find(name.getValue());
              return found == renamed.end()
                         ? name
                         : StringAttr::get(&getContext(), found->second);
            })));
  });
}
