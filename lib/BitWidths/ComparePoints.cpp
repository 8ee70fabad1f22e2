// SPDX-License-Identifier: Apache-2.0
#include "ComparePoints.h"

#include "mct/Evaluation/ResultDistance.h"
#include "mct/Planning/IntegerLayer.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;
using execution::divergence;
using execution::energy;
using execution::squaredError;

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

double mct::bit_widths::distanceOf(SensitivityDistance distance,
                                   ArrayRef<float> expected,
                                   ArrayRef<float> actual, int64_t rowLength,
                                   bool isDistribution) {
  constexpr double kTiny = 1e-8;
  switch (distance) {
  case SensitivityDistance::Auto:
  case SensitivityDistance::MSE: {
    auto count = double(expected.size());
    return squaredError(expected, actual) / count /
           (energy(expected) / count + kTiny);
  }
  case SensitivityDistance::Cosine: {
    double product = 0, left = energy(expected), right = energy(actual);
    if (left == 0 && right == 0)
      return 0;
    for (auto [exactValue, found] : llvm::zip(expected, actual))
      product += double(exactValue) * found;
    return (1 - product / (std::sqrt(left) * std::sqrt(right) + kTiny)) / 2;
  }
  case SensitivityDistance::KL:
    return divergence(expected, actual, rowLength, isDistribution);
  }
  llvm_unreachable("all distances are covered");
}

double mct::bit_widths::weigh(SensitivityWeighting weighting,
                              ArrayRef<double> distances,
                              ArrayRef<double> scores) {
  // Scale of the distances above which points have similar weights.
  constexpr double kSigma = 0.1;
  if (distances.empty())
    return 0;
  if (weighting == SensitivityWeighting::LastLayer)
    return distances.back();
  auto getWeight = [&](size_t point) {
    if (weighting == SensitivityWeighting::Average)
      return 1.0;
    return weighting == SensitivityWeighting::Hessian
               ? scores[point]
               : -std::expm1(-distances[point] / kSigma);
  };
  double sum = 0, weights = 0;
  for (auto [point, distance] : llvm::enumerate(distances)) {
    sum += getWeight(point) * distance;
    weights += getWeight(point);
  }
  return weights > 0 ? sum / weights : 0;
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

static bool readsConstant(Operation *op) {
  return llvm::any_of(op->getOperands(), [](Value operand) {
    return tpc::getConstantOp(operand) != nullptr;
  });
}

static bool isResult(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>();
  });
}

SmallVector<ComparePoint>
mct::bit_widths::findComparePoints(func::FuncOp function,
                                   const KernelOps &kernels, double fraction) {
  Block &body = function.getBody().front();
  llvm::DenseSet<Operation *> softmax;
  for (const tpc::FormulaMatch &match : tpc::findFormulas(body))
    if (match.name == "softmax")
      softmax.insert(match.ops.back());
  std::vector<ComparePoint> all;
  for (Operation &op : body) {
    if (op.getNumResults() != 1)
      continue;
    std::optional<KernelOp> layer = kernels.get(&op);
    ComparePoint point{op.getResult(0)};
    if (softmax.contains(&op) || isa<linalg::SoftmaxOp>(op))
      point.distance = SensitivityDistance::KL;
    else if (layer ? isFullyConnected(*layer) : isa<tosa::SigmoidOp>(op))
      point.distance = SensitivityDistance::Cosine;
    else if (!layer && !isa<tosa::ConcatOp, tensor::ConcatOp>(op) &&
             (!isa<tosa::AddOp, linalg::AddOp>(op) || readsConstant(&op)))
      continue;
    if (point.value.hasOneUse())
      if (auto quantizer =
              dyn_cast<tpc::QuantizeOp>(*point.value.getUsers().begin()))
        point.value = quantizer.getResult();
    all.push_back(point);
  }
  auto count = size_t(fraction * double(all.size()));
  SmallVector<ComparePoint> chosen;
  for (size_t number = 0; number != count; ++number) {
    double spacing =
        count > 1 ? double(all.size() - 1) / double(count - 1) : 0.0;
    const ComparePoint &point =
        all[size_t(std::nearbyint(double(number) * spacing))];
    if (!isResult(point.value))
      chosen.push_back(point);
  }
  return chosen;
}
