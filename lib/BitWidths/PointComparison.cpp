// SPDX-License-Identifier: Apache-2.0
#include "PointComparison.h"
#include "mct/Training/HessianScores.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;

void PointObserver::observe(const execution::TensorView &values) {
  if (failure || (!keeps && !to))
    return;
  int64_t number = values.samples().first / unit;
  ArrayRef<float> actual = values.floats();
  if (keeps) {
    failure = comparedPoint.reference->write(
        number, {reinterpret_cast<const char *>(actual.data()),
                 actual.size() * sizeof(float)});
    return;
  }
  expected.resize(actual.size());
  failure = comparedPoint.reference->read(
      number, {reinterpret_cast<char *>(expected.data()),
               expected.size() * sizeof(float)});
  if (failure)
    return;
  int64_t count = values.samples().count;
  size_t elements = actual.size() / count;
  for (int64_t sample = 0; sample != count; ++sample)
    (*to)[values.samples().first + sample] = distanceOf(
        comparedPoint.point.distance,
        ArrayRef<float>(expected).slice(sample * elements, elements),
        actual.slice(sample * elements, elements), comparedPoint.rowLength,
        /*isDistribution=*/comparedPoint.isSoftmax);
}

PointComparison::PointComparison(ArrayRef<ComparePoint> compared,
                                 const CandidateRunOptions &options)
    : weighting(options.weighting) {
  for (const ComparePoint &point : compared) {
    ComparedPoint &comparedPoint = points.emplace_back();
    comparedPoint.point = point;
    comparedPoint.isSoftmax = point.distance == SensitivityDistance::KL;
    if (options.distance != SensitivityDistance::Auto)
      comparedPoint.point.distance = options.distance;
  }
}

LogicalResult PointComparison::prepare(const execution::Executor &floating,
                                       int64_t samples) {
  auto units = int64_t(llvm::divideCeil(samples, floating.unit()));
  for (auto [number, comparedPoint] : llvm::enumerate(points)) {
    RankedTensorType type = floating.observed()[number].type;
    if (!type.getElementType().isF32() || type.getRank() == 0 ||
        type.getDimSize(0) % floating.unit() != 0)
      return emitError(comparedPoint.point.value.getLoc())
             << "is not a tensor of f32 with the batch first and cannot be "
                "compared; measure with compare-points=0";
    comparedPoint.rowLength = type.getRank() > 1 ? type.getShape().back() : 1;
    comparedPoint.base.resize(samples);
    comparedPoint.reference = std::make_unique<execution::Frontier>(
        units, type.getNumElements() * int64_t(sizeof(float)),
        kBytes / int64_t(points.size()));
  }
  return success();
}

LogicalResult PointComparison::findScores(
    Location loc, ArrayRef<ComparePoint> floatPoints,
    std::shared_ptr<const execution::SampleSource> samples,
    const execution::RunSettings &settings) {
  // Number of gradients that are computed, as in MCT.
  constexpr int64_t kSamples = 32;
  if (weighting != SensitivityWeighting::Hessian || floatPoints.empty())
    return success();
  SmallVector<Value> values;
  for (const ComparePoint &point : floatPoints)
    values.push_back(point.value);
  HessianOptions hessian;
  hessian.maxSamples = kSamples;
  hessian.run = settings.run;
  hessian.maxMemory = settings.maxMemory;
  hessian.cache = settings.cache;
  auto function =
      values.front().getParentRegion()->getParentOfType<func::FuncOp>();
  auto found =
      computeHessianScores(function, values, std::move(samples), hessian);
  if (failed(found))
    return failure();
  scores = found->means();
  if (llvm::any_of(scores, [](double score) { return score > 0; }))
    return success();
  return emitError(loc) << "has no Hessian scores, and no points to compare "
                           "that change its results; take another weighting, "
                           "or other compare-points";
}

double PointComparison::weigh(ArrayRef<std::vector<double>> distances) const {
  std::vector<double> ofPoints;
  for (const std::vector<double> &each : distances)
    ofPoints.push_back(std::accumulate(each.begin(), each.end(), 0.0) /
                       double(each.size()));
  return bit_widths::weigh(weighting, ofPoints, scores);
}

std::vector<std::vector<double>> PointComparison::getBase() const {
  std::vector<std::vector<double>> distances;
  for (const ComparedPoint &comparedPoint : points)
    distances.push_back(comparedPoint.base);
  return distances;
}
