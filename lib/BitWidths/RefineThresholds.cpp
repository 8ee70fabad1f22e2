// SPDX-License-Identifier: Apache-2.0
#include "CandidateRun.h"
#include "ShardedOperators.h"
#include "mct/BitWidths/Passes.h"
#include "mct/Execution/NetworkPass.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Records.h"
#include "mct/Quantization/HistogramShift.h"
#include "mct/Transforms/SelectedParameters.h"
#include "mct/Transforms/StatisticsConversion.h"

namespace mct {
#define GEN_PASS_DEF_REFINETHRESHOLDSPASS
#include "mct/BitWidths/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;

/// Returns the quantizers to try at a point: its own, and those with other
/// thresholds. Has one element if the point keeps its parameters.
static SmallVector<tpc::QuantizerAttrInterface>
findQuantizers(tpc::QuantizeOp point, ArrayRef<quantization::Atom> values) {
  tpc::QuantizerAttrInterface present = point.getParametersAttr();
  SmallVector<tpc::QuantizerAttrInterface> found = {present};
  tpc::OpQuantConfigAttr config = point.getActivationConfig();
  if (point.hasImportedParameters() || (config && config.getFixedScale()) ||
      present.getNumChannels() != 1 || present.getGrids().size() != 1)
    return found;
  auto getError = [&](tpc::QuantizerAttrInterface quantizer) {
    return quantization::meanSquaredError(values, quantizer.getGrids().front());
  };
  // The double step has up to four times the error. If there is much more,
  // most values are clipped.
  static constexpr double kMostError = 8;
  double most = kMostError * getError(present);
  // Thresholds that are powers of two accept no other factors.
  static constexpr double kFactors[] = {0.5, 0.75, 1.5, 2};
  for (double factor : kFactors) {
    if (!present.takesFactors() && factor != 0.5 && factor != 2)
      continue;
    tpc::QuantizerAttrInterface scaled = present.scaledBy(factor);
    if (scaled && succeeded(scaled.verifyParameters([] {
          return InFlightDiagnostic();
        })) &&
        getError(scaled) <= most)
      found.push_back(scaled);
  }
  return found;
}

namespace {
/// A point, the quantizers to try, the first of which is its own, and its
/// values.
struct RefinedPoint {
  tpc::QuantizeOp point;
  SmallVector<tpc::QuantizerAttrInterface> quantizers;
  std::vector<quantization::Atom> values;
};

/// Distances of the results from those of the float network.
struct Measured {
  /// Number of parts of the results.
  size_t parts = 1;
  /// Distances of all parts, of one quantizer after the other, for each point.
  std::vector<std::vector<double>> distances;

  /// Replaces the distances of each quantizer by the mean of its shares of the
  /// parts' totals over all points with their own quantizers.
  void divideByTotals();
};

struct RefineThresholdsPass
    : public execution::ShardedNetworkPass<EntryFunctionPass<
          mct::impl::RefineThresholdsPassBase<RefineThresholdsPass>>> {
  using ShardedNetworkPass::ShardedNetworkPass;

  LogicalResult runOn(func::FuncOp entry) override {
    if (failed(checkSamples("refining")) || failed(checkMeasurable(entry)))
      return failure();
    std::vector<RefinedPoint> points;
    WalkResult walked = entry.walk([&](tpc::QuantizeOp point) {
      if (!point.isActivation())
        return WalkResult::advance();
      if (!point.getStatisticsAttr()) {
        point.emitOpError("has no statistics; run mct-calibrate before");
        return WalkResult::interrupt();
      }
      FailureOr<quantization::Histogram> histogram = getHistogram(
          point.getStatisticsAttr(), [&] { return point.emitOpError(); });
      if (failed(histogram))
        return WalkResult::interrupt();
      std::vector<quantization::Atom> values =
          quantization::getAtoms(*histogram);
      if (auto quantizers = findQuantizers(point, values);
          quantizers.size() > 1)
        points.push_back({point, std::move(quantizers), std::move(values)});
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
    if (points.empty())
      return success();
    std::vector<OperatorCandidates> candidates;
    for (RefinedPoint &each : points) {
      OperatorCandidates &added = candidates.emplace_back();
      added.name = each.point.getUniqueName();
      for (tpc::QuantizerAttrInterface quantizer : each.quantizers)
        added.alternatives.push_back(
            {{added.name, {quantizer, {}, /*keepsThresholds=*/false}}});
    }
    FailureOr<Measured> measured =
        isSharded() ? measureInShards(entry, candidates)
                    : measure(entry, candidates, std::vector<bool>());
    if (failed(measured))
      return failure();
    measured->divideByTotals();
    for (auto [each, shares] : llvm::zip_equal(points, measured->distances))
      refine(each, shares);
    return success();
  }

private:
  FailureOr<Measured> measure(func::FuncOp entry,
                              ArrayRef<OperatorCandidates> candidates,
                              std::vector<bool> which);
  FailureOr<Measured> measureInShards(func::FuncOp entry,
                                      ArrayRef<OperatorCandidates> candidates);
  /// Gives a point the quantizer with the smallest of `shares`.
  void refine(RefinedPoint &refined, ArrayRef<double> shares);
};
} // namespace

void Measured::divideByTotals() {
  std::vector<double> totals(parts);
  for (const std::vector<double> &of : distances)
    for (size_t part = 0; part != parts; ++part)
      totals[part] += of[part];
  for (std::vector<double> &of : distances) {
    std::vector<double> shares(of.size() / parts);
    for (auto [number, distance] : llvm::enumerate(of))
      if (double total = totals[number % parts]; total > 0)
        shares[number / parts] += distance / total / double(parts);
    of = std::move(shares);
  }
}

FailureOr<Measured>
RefineThresholdsPass::measure(func::FuncOp entry,
                              ArrayRef<OperatorCandidates> candidates,
                              std::vector<bool> which) {
  FailureOr<execution::RunSettings> settings =
      parseRunSettings("refining", batchSize, threads,
                       {int64_t(uint64_t(maxSamples)), /*halves=*/false});
  if (failed(settings))
    return failure();
  CandidateRunOptions options;
  options.maxSamples = int64_t(uint64_t(maxSamples));
  options.measuresParts = true;
  options.measured = std::move(which);
  auto run = CandidateRun::create(entry, getAnalysis<KernelOps>(), candidates,
                                  *settings, options);
  if (failed(run))
    return failure();
  auto distances = (*run)->measureParts();
  if (failed(distances))
    return failure();
  return Measured{(*run)->numParts(), std::move(*distances)};
}

FailureOr<Measured>
RefineThresholdsPass::measureInShards(func::FuncOp entry,
                                      ArrayRef<OperatorCandidates> candidates) {
  static constexpr StringLiteral kThresholds = "thresholds";
  FailureOr<execution::Shards> shards = openShards();
  if (failed(shards))
    return failure();
  std::string key = execution::nameContent(getOperation()) + " " +
                    entry.getSymName().str() + " " +
                    std::to_string(uint64_t(maxSamples));
  auto parts = shards->find(kThresholds, key);
  if (failed(parts))
    return failure();
  std::vector<MeasuredOperator> operators;
  for (const OperatorCandidates &of : candidates)
    operators.push_back({of.name, of.alternatives.size()});
  Measured all;
  all.distances.resize(operators.size());
  if (parts->empty()) {
    if (!shards->canMeasure())
      return shards->reportMissing(kThresholds);
    std::vector<bool> own = selectForShard(operators, shards->getShard());
    FailureOr<Measured> found = measure(entry, candidates, own);
    if (failed(found))
      return failure();
    shards->record(
        kThresholds, key,
        llvm::json::Object{
            {"result_parts", int64_t(found->parts)},
            {"of", writeDistances(operators, own, found->distances)}});
    return shards->stop(kThresholds);
  }
  auto read = [&](const llvm::json::Object &content) -> llvm::Error {
    auto count = content.getInteger("result_parts");
    const llvm::json::Object *of = content.getObject("of");
    if (!count || *count < 1 || !of)
      return llvm::createStringError("expected 'result_parts' and 'of'");
    all.parts = size_t(*count);
    std::vector<MeasuredOperator> recorded = operators;
    for (MeasuredOperator &each : recorded)
      each.alternatives *= all.parts;
    return readDistances(*of, recorded, all.distances);
  };
  for (const execution::ShardPart *part : *parts)
    if (failed(shards->read(*part, read)))
      return failure();
  for (const std::vector<double> &of : all.distances)
    if (of.empty())
      return entry.emitOpError()
             << "has points whose thresholds no file of shards-in compares; "
                "let all shards measure again";
  return all;
}

void RefineThresholdsPass::refine(RefinedPoint &refined,
                                  ArrayRef<double> shares) {
  // Equal shares keep the present quantizer.
  size_t least = size_t(llvm::min_element(shares) - shares.begin());
  tpc::QuantizeOp point = refined.point;
  if (least == 0) {
    if (remarks)
      emitRecord(point, getArgument(),
                 Record(Reason::ThresholdKept)
                     << "no other threshold has less than its share of the "
                        "error of the results, "
                     << named("share", shares.front(), "%.4g"),
                 "'" + point.getPointName() + "' keeps its parameters: ");
    return;
  }
  tpc::QuantizerAttrInterface chosen = refined.quantizers[least];
  quantization::Grid before = refined.quantizers.front().getGrids().front(),
                     after = chosen.getGrids().front();
  point.setQuantizer(
      chosen,
      describeError(&getContext(), tpc::ErrorMethod::Given,
                    quantization::meanSquaredError(refined.values, after)));
  if (remarks)
    emitRecord(point, getArgument(),
               Record(Decision::Applied, Reason::ThresholdRefined)
                   << "'" << point.getPointName() << "' has a step of "
                   << named("step", after.step, "%.6g") << " instead of "
                   << named("step_before", before.step, "%.6g")
                   << ": its share of the error of the results goes from "
                   << named("share_before", shares.front(), "%.4g") << " to "
                   << named("share", shares[least], "%.4g"));
}
