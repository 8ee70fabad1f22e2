// SPDX-License-Identifier: Apache-2.0
//
// Weights on or between the levels of their quantizer, which learn the level to
// take.
#include "TrainableModels.h"

#include "mct/IR/Constants.h"
#include "mct/Quantizers/Channels.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mct;
using mct::quantization::Grid;
using mct::tpc::PerturbedRoundingAttr;
using mct::tpc::QuantizeOp;
using mct::tpc::SoftRoundingAttr;

//===----------------------------------------------------------------------===//
// Parts of both
//===----------------------------------------------------------------------===//

/// Returns the grids of the point, which its trainable keeps. Fails with a
/// diagnostic if there are none.
static FailureOr<SmallVector<Grid>> requireGrids(QuantizeOp point,
                                                 ArrayRef<float> weights) {
  if (!point.isWeight() || weights.empty())
    return point.emitOpError()
           << "cannot learn where to round: only constant weights are rounded "
              "once and for all";
  SmallVector<Grid> grids;
  if (tpc::QuantizerAttrInterface parameters = point.getParametersAttr())
    grids = parameters.getGrids();
  if (grids.empty())
    return point.emitOpError()
           << "has no levels to round to; select parameters of evenly spaced "
              "levels first";
  return grids;
}

/// Returns the lowest code of a grid, counted from its zero point.
static double getLowestLevel(const Grid &grid) {
  return double(grid.qmin - grid.zeroPoint);
}
static double getHighestLevel(const Grid &grid) {
  return double(grid.qmax - grid.zeroPoint);
}

/// Returns one number for each grid, as a constant that is broadcast.
static Value buildOfGrids(GradientBuilder &b, QuantizeOp point,
                          ArrayRef<Grid> grids,
                          llvm::function_ref<double(const Grid &)> number) {
  return b.constant(llvm::map_to_vector(grids, number),
                    getParameterShape(point, grids.size()), point.getInput());
}

/// Returns the values in levels, counted from the zero points and clipped.
static Value buildCutOff(GradientBuilder &b, QuantizeOp point,
                         ArrayRef<Grid> grids, Value levels) {
  if (llvm::all_of(grids, [&](const Grid &grid) {
        return getLowestLevel(grid) == getLowestLevel(grids.front()) &&
               getHighestLevel(grid) == getHighestLevel(grids.front());
      }))
    return buildClamp(b, levels, getLowestLevel(grids.front()),
                      getHighestLevel(grids.front()));
  levels = b.binary("tosa.maximum", levels,
                    buildOfGrids(b, point, grids, getLowestLevel));
  return b.binary("tosa.minimum", levels,
                  buildOfGrids(b, point, grids, getHighestLevel));
}

static Value buildStep(GradientBuilder &b, QuantizeOp point,
                       ArrayRef<Grid> grids) {
  return buildOfGrids(b, point, grids,
                      [](const Grid &grid) { return grid.step; });
}

/// Returns the level of a code, as the deployed quantizer computes it.
static float valueOf(double code, const Grid &grid) {
  return static_cast<float>(code) * static_cast<float>(grid.step);
}

//===----------------------------------------------------------------------===//
// Soft rounding
//===----------------------------------------------------------------------===//

namespace {
/// Initial state from which the rounding of each weight is learned.
struct SoftStart {
  /// The lower of the two levels to choose from, as a code counted from the
  /// zero point.
  std::vector<float> base;
  /// Value for which the result is the float weight, or as close to it as
  /// possible while hard rounding gives the present weight.
  std::vector<float> variables;
};
} // namespace

/// Variable of a weight that is to be rounded down: that of the largest h below
/// one half which f32 does not round to a half.
static constexpr double kUndecided = -0x1p-10;

static SoftStart getSoftStart(QuantizeOp point, ArrayRef<Grid> grids,
                              ArrayRef<float> weights) {
  // Weights that were rounded together are levels already; the record has their
  // float values.
  std::optional<ConstantFloats> floating;
  if (tpc::CorrectionsAttr record = point.getCorrectionsAttr();
      record && record.getKernel())
    if (auto tensor = ConstantTensor::get(record.getKernel()))
      floating = ConstantFloats::convert(*tensor);
  SoftStart start;
  start.base.resize(weights.size());
  start.variables.resize(weights.size());
  forEachWeight(point, grids, [&](size_t i, const Grid &grid) {
    auto cutOff = [&](double level) {
      return std::clamp(level, getLowestLevel(grid), getHighestLevel(grid));
    };
    double level = weights[i] / grid.step;
    if (!floating) {
      start.base[i] = static_cast<float>(std::floor(level));
      double rest = cutOff(level) - std::floor(cutOff(level));
      start.variables[i] = static_cast<float>(quantization::unsoften(rest));
      return;
    }
    double present = cutOff(std::nearbyint(level));
    double before = cutOff(floating->values()[i] / grid.step);
    // Up from the lower level or down from the upper one, whichever is closer
    // to the float value.
    bool isUp = present > before;
    double base = isUp ? present - 1 : present;
    start.base[i] = static_cast<float>(base);
    double rest = std::clamp(before - base, 0.0, 1.0);
    double variable = quantization::unsoften(rest);
    start.variables[i] = static_cast<float>(
        isUp ? std::max(variable, 0.0) : std::min(variable, kUndecided));
  });
  return start;
}

namespace {
struct SoftRoundingModel
    : TrainableQuantizerAttrInterface::ExternalModel<SoftRoundingModel,
                                                     SoftRoundingAttr> {
  /// Ends of the stretched sigmoid.
  static constexpr double kGamma = -0.1, kZeta = 1.1;
  /// Same as in quantization::softenDerivative: the gradient of a weight on a
  /// level does not vanish.
  static constexpr double kEndTolerance = 1e-6;

  struct Built {
    Value sigmoid, stretched; // of the variables
    Value level, cutOff;      // codes, counted from the zero points
    Value step;               // with the scale
    Value unscaled;           // without
  };

  static Built build(SoftRoundingAttr attr, GradientBuilder &b,
                     QuantizeOp point) {
    SmallVector<Grid> grids = point.getParametersAttr().getGrids();
    Built built;
    built.unscaled = buildStep(b, point, grids);
    Value base;
    if (std::optional<ConstantFloats> weights =
            ConstantFloats::get(point.getInput()))
      base = createConstant(b, b.getLoc(), b.typeOf(point.getInput()),
                            getSoftStart(point, grids, weights->values()).base,
                            "rounded_down");
    else
      base = b.unary("tosa.floor",
                     b.mul(point.getInput(), b.reciprocal(built.unscaled)));
    built.sigmoid = b.unary("tosa.sigmoid", point.getLearned()[0]);
    built.stretched = b.add(b.mul(built.sigmoid, kZeta - kGamma),
                            b.number(kGamma, built.sigmoid));
    built.level = b.add(base, buildClamp(b, built.stretched, 0, 1));
    built.cutOff = buildCutOff(b, point, grids, built.level);
    built.step = attr.getLearnsScale()
                     ? b.mul(built.unscaled, buildScale(b, point))
                     : built.unscaled;
    return built;
  }

  static Value buildIsValid(GradientBuilder &b, Value scale) {
    return b.greater(scale, b.number(0, scale));
  }
  static Value buildScale(GradientBuilder &b, QuantizeOp point) {
    Value scale = point.getLearned()[1];
    return b.select(buildIsValid(b, scale), scale,
                    b.number(quantization::kSmallestThreshold, scale));
  }

  Value buildForward(Attribute trainable, GradientBuilder &b,
                     QuantizeOp point) const {
    Built built = build(cast<SoftRoundingAttr>(trainable), b, point);
    return b.mul(built.cutOff, built.step);
  }

  void buildGradients(Attribute trainable, GradientBuilder &b, QuantizeOp point,
                      Value g, OperandGradients &gradients) const {
    auto attr = cast<SoftRoundingAttr>(trainable);
    Built built = build(attr, b, point);
    if (gradients.isRequested(1)) {
      Value slope = b.mul(b.mul(built.sigmoid, b.sub(b.number(1, built.sigmoid),
                                                     built.sigmoid)),
                          kZeta - kGamma);
      Value isAlive =
          b.both(b.greaterEqual(built.stretched,
                                b.number(-kEndTolerance, built.stretched)),
                 b.greaterEqual(b.number(1 + kEndTolerance, built.stretched),
                                built.stretched));
      if (attr.getClip() == tpc::ClipGradient::Masked)
        isAlive = b.both(isAlive, b.equal(built.level, built.cutOff));
      gradients.set(1, b.where(isAlive, b.mul(b.mul(g, built.step), slope)));
    }
    if (!attr.getLearnsScale() || !gradients.isRequested(2))
      return;
    Value scale = point.getLearned()[1];
    Value sum = b.sumTo(b.mul(g, b.mul(built.cutOff, built.unscaled)),
                        GradientBuilder::shapeOf(scale));
    gradients.set(2, b.where(buildIsValid(b, scale), sum));
  }

  FailureOr<SmallVector<LearnedTensor>>
  initialize(Attribute trainable, QuantizeOp point,
             ArrayRef<float> weights) const {
    FailureOr<SmallVector<Grid>> grids = requireGrids(point, weights);
    if (failed(grids))
      return failure();
    SmallVector<LearnedTensor> learned(1);
    learned[0].shape =
        llvm::to_vector(GradientBuilder::shapeOf(point.getInput()));
    learned[0].values = getSoftStart(point, *grids, weights).variables;
    if (!cast<SoftRoundingAttr>(trainable).getLearnsScale())
      return learned;
    if (!point.getParametersAttr().takesFactors())
      return point.emitOpError()
             << "cannot learn a scale: that of " << point.getParametersAttr()
             << " is not free; train it without 'learns_scale'";
    learned.push_back({getParameterShape(point, grids->size()),
                       std::vector<float>(grids->size(), 1.0f)});
    return learned;
  }

  FailureOr<FrozenQuantizer> freeze(Attribute trainable, QuantizeOp point,
                                    ArrayRef<float> weights,
                                    ArrayRef<ArrayRef<float>> learned) const {
    FrozenQuantizer frozen;
    frozen.parameters = point.getParametersAttr();
    SmallVector<Grid> grids = frozen.parameters.getGrids();
    SoftStart start = getSoftStart(point, grids, weights);
    if (cast<SoftRoundingAttr>(trainable).getLearnsScale()) {
      SmallVector<double> scales;
      for (float scale : learned[1]) {
        if (!std::isfinite(scale))
          return point.emitOpError() << "has learned the scale " << scale
                                     << "; train with a smaller learning rate";
        scales.push_back(scale > 0 ? double(scale)
                                   : quantization::kSmallestThreshold);
      }
      frozen.parameters = frozen.parameters.scaledBy(scales);
      grids = frozen.parameters.getGrids();
    }
    frozen.weights.resize(weights.size());
    forEachWeight(point, grids, [&](size_t i, const Grid &grid) {
      double up = quantization::soften(learned[0][i]) >= 0.5 ? 1 : 0;
      frozen.weights[i] =
          valueOf(std::clamp(double(start.base[i]) + up, getLowestLevel(grid),
                             getHighestLevel(grid)),
                  grid);
    });
    return frozen;
  }
};

//===----------------------------------------------------------------------===//
// Perturbations
//===----------------------------------------------------------------------===//

struct PerturbedRoundingModel
    : TrainableQuantizerAttrInterface::ExternalModel<PerturbedRoundingModel,
                                                     PerturbedRoundingAttr> {
  static double getMostLevels(PerturbedRoundingAttr attr) {
    return attr.getMostLevels() ? double(*attr.getMostLevels()) : 1;
  }

  Value buildForward(Attribute trainable, GradientBuilder &b,
                     QuantizeOp point) const {
    double most = getMostLevels(cast<PerturbedRoundingAttr>(trainable));
    SmallVector<Grid> grids = point.getParametersAttr().getGrids();
    Value step = buildStep(b, point, grids), inverse = b.reciprocal(step);
    Value present = buildRound(b, b.mul(point.getInput(), inverse));
    Value moved =
        buildClamp(b, b.mul(point.getLearned()[0], inverse), -most, most);
    Value level = buildRound(b, b.add(present, moved));
    return b.mul(buildCutOff(b, point, grids, level), step);
  }

  void buildGradients(Attribute, GradientBuilder &, QuantizeOp, Value g,
                      OperandGradients &gradients) const {
    gradients.set(1, g);
  }

  FailureOr<SmallVector<LearnedTensor>>
  initialize(Attribute, QuantizeOp point, ArrayRef<float> weights) const {
    if (failed(requireGrids(point, weights)))
      return failure();
    LearnedTensor learned;
    learned.shape = llvm::to_vector(GradientBuilder::shapeOf(point.getInput()));
    learned.values.resize(weights.size());
    return SmallVector<LearnedTensor>{learned};
  }

  FailureOr<FrozenQuantizer> freeze(Attribute trainable, QuantizeOp point,
                                    ArrayRef<float> weights,
                                    ArrayRef<ArrayRef<float>> learned) const {
    FrozenQuantizer frozen;
    frozen.parameters = point.getParametersAttr();
    frozen.weights.resize(weights.size());
    double most = getMostLevels(cast<PerturbedRoundingAttr>(trainable));
    auto mostFloat = static_cast<float>(most);
    // Computed in f32, as in training.
    forEachWeight(
        point, frozen.parameters.getGrids(), [&](size_t i, const Grid &grid) {
          float inverse = 1 / static_cast<float>(grid.step);
          float moved =
              std::clamp(learned[0][i] * inverse, -mostFloat, mostFloat);
          float present = std::nearbyint(weights[i] * inverse);
          frozen.weights[i] = valueOf(
              std::clamp<double>(std::nearbyint(present + moved),
                                 getLowestLevel(grid), getHighestLevel(grid)),
              grid);
        });
    return frozen;
  }
};
} // namespace

void mct::attachRoundingQuantizers(MLIRContext *context) {
  SoftRoundingAttr::attachInterface<SoftRoundingModel>(*context);
  PerturbedRoundingAttr::attachInterface<PerturbedRoundingModel>(*context);
}
