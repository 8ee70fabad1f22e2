// SPDX-License-Identifier: Apache-2.0
#include "InputRange.h"
#include "mct/Analysis/EntryFunction.h"
#include "mct/Analysis/Records.h"
#include "mct/Calibration/Passes.h"
#include "mct/Calibration/PointStatistics.h"
#include "mct/Execution/Run.h"
#include "mct/Execution/RunCache.h"
#include "mct/Support/Findings.h"
#include "mct/Support/InputFile.h"
#include "mct/Transforms/SetBatch.h"
#include "mct/Transforms/StatisticsConversion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct {
#define GEN_PASS_DEF_CALIBRATEPASS
#include "mct/Calibration/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::calibration;
using quantization::HistogramScratch;

namespace {
/// The statistics of one point that one worker has seen.
class StatisticsObserver : public execution::TensorObserver {
public:
  /// `scratch` is the worker's. `lastAxisRows`: what one sample has of the last
  /// axis, where that is the axis of the batch; otherwise 0.
  StatisticsObserver(HistogramScratch &scratch, bool channelStatistics,
                     int64_t lastAxisRows)
      : scratch(scratch), lastAxisRows(lastAxisRows) {
    if (channelStatistics)
      statistics.channels.emplace();
  }

  void observe(const execution::TensorView &values) override {
    ArrayRef<float> data = values.floats();
    ArrayRef<int64_t> shape = values.shape();
    statistics.histogram.observe(data.data(), data.size(), scratch);
    if (statistics.channels) {
      size_t channels = lastAxisRows != 0 ? size_t(lastAxisRows)
                        : shape.empty()   ? 1
                                          : size_t(shape.back());
      statistics.channels->observe(data.data(), data.size() / channels,
                                   channels);
    }
  }

  llvm::Error merge(const StatisticsObserver &other) {
    return statistics.merge(other.statistics);
  }

  PointStatistics statistics;

private:
  HistogramScratch &scratch;
  int64_t lastAxisRows;
};

/// What one sample has of the last axis of each point, where the batch lies
/// there; otherwise, or where it cannot be followed, 0.
SmallVector<int64_t> findLastAxisRows(func::FuncOp function,
                                      ArrayRef<tpc::QuantizeOp> points) {
  SmallVector<int64_t> rows(points.size(), 0);
  FailureOr<BatchDimensions> dimensions =
      followBatch(function, /*emitErrors=*/false);
  if (failed(dimensions))
    return rows;
  for (auto [number, point] : llvm::enumerate(points)) {
    Value input = point->getOperand(0);
    auto batch = dimensions->find(input);
    int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
    if (batch != dimensions->end() && batch->second.dimension == rank - 1)
      rows[number] = batch->second.rows;
  }
  return rows;
}

struct CalibratePass : public mct::impl::CalibratePassBase<CalibratePass> {
  using CalibratePassBase::CalibratePassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tpc::TpcDialect>();
    execution::Executor::registerDependencies(registry);
  }

  void runOnOperation() override {
    FailureOr<func::FuncOp> found = findEntryFunction(getOperation(), function);
    if (failed(found) || failed(checkStatisticsOut()))
      return signalPassFailure();
    entry = *found;
    if (getPoints().empty()) {
      bool hasWeights = false;
      entry.walk([&](tpc::QuantizeOp) { hasWeights = true; });
      if (!hasWeights) {
        entry.emitOpError("has no points to calibrate; run "
                          "mct-insert-quantizers before");
        return signalPassFailure();
      }
      InFlightDiagnostic remark = emitRecord(
          entry, getArgument(), {Decision::Noted, Reason::OnlyWeights});
      if (calibrationData.empty())
        remark.attachNote(entry.getLoc())
            << "corrections that run the network do; give calibration-data "
               "where they are wanted";
    }
    if (onlyMissing && llvm::all_of(getPoints(), hasStatistics))
      return;
    StatisticsFile statistics;
    if (failed(loadStatistics(statistics)) || failed(addSamples(statistics)) ||
        failed(writeToPoints(statistics)))
      return signalPassFailure();
    warnOfInstructionSets(statistics);
    warnOfInputRanges(entry, statistics.points,
                      /*followsRecord=*/inputScale.empty() &&
                          inputOffset.empty());
    if (statisticsOut.empty())
      return;
    if (llvm::Error error = statistics.save(statisticsOut)) {
      emitError(getOperation().getLoc())
          << "cannot write statistics: " << llvm::toString(std::move(error));
      return signalPassFailure();
    }
  }

private:
  LogicalResult report(llvm::Error error) {
    return emitError(getOperation().getLoc())
           << llvm::toString(std::move(error));
  }

  /// Overwriting what is read would lose it.
  LogicalResult checkStatisticsOut() {
    std::vector<std::string> inputs =
        execution::SampleOptions::getPaths(calibrationData);
    inputs.insert(inputs.end(), statisticsIn.begin(), statisticsIn.end());
    if (auto file = getOperation().getLoc()->findInstanceOf<FileLineColLoc>())
      inputs.push_back(file.getFilename().str());
    if (llvm::Error error =
            support::checkOutputFiles(std::string(statisticsOut), inputs))
      return emitError(getOperation().getLoc())
             << "statistics-out: " << llvm::toString(std::move(error));
    return success();
  }

  SmallVector<tpc::QuantizeOp> getPoints() {
    SmallVector<tpc::QuantizeOp> points;
    entry.walk([&](tpc::QuantizeOp point) {
      if (point.isActivation())
        points.push_back(point);
    });
    return points;
  }

  static bool hasStatistics(tpc::QuantizeOp point) {
    return bool(point.getStatisticsAttr());
  }

  func::FuncOp entry;

  /// On another instruction set the network's values have other last bits.
  void warnOfInstructionSets(const StatisticsFile &statistics) {
    if (statistics.instructionSets.size() < 2)
      return;
    InFlightDiagnostic warning = emitWarning(getOperation().getLoc());
    warning << "merges statistics of machines with different instruction sets,"
               " whose last bits may differ: ";
    llvm::interleaveComma(
        statistics.instructionSets, warning,
        [&](const std::string &name) { warning << "'" << name << "'"; });
  }

  LogicalResult loadStatistics(StatisticsFile &statistics) {
    for (const std::string &path : statisticsIn) {
      llvm::Expected<StatisticsFile> file = StatisticsFile::load(path);
      if (!file)
        return report(file.takeError());
      if (llvm::Error error = statistics.merge(*file))
        return report(std::move(error));
    }
    return success();
  }

  /// Tells which samples these are, where somebody asks.
  LogicalResult tell(const execution::SampleSource &samples) {
    auto *findings = support::FindingsScope::find(&getContext());
    if (!findings)
      return success();
    if (!statisticsIn.empty())
      return success();
    llvm::Expected<std::string> digest = execution::digestSamples(samples);
    if (!digest)
      return report(digest.takeError());
    findings->calibration->digest = std::move(*digest);
    findings->calibration->count = samples.numSamples();
    return success();
  }

  /// Runs the network and adds what its points saw.
  LogicalResult addSamples(StatisticsFile &statistics);

  LogicalResult writeToPoints(const StatisticsFile &statistics) {
    for (tpc::QuantizeOp point : getPoints()) {
      if (onlyMissing && hasStatistics(point))
        continue;
      auto found = statistics.points.find(point.getUniqueName());
      if (found == statistics.points.end() || found->second.histogram.empty())
        return point.emitOpError()
               << "has no statistics in the files given; calibrate the same "
                  "network, or give calibration-data";
      const PointStatistics &seen = found->second;
      point.setStatisticsAttr(createStatistics(
          &getContext(), seen.histogram,
          seen.channels ? &*seen.channels : nullptr, point.getPointName()));
    }
    return success();
  }
};
} // namespace

LogicalResult CalibratePass::addSamples(StatisticsFile &statistics) {
  if (getPoints().empty())
    return success();
  if (auto *findings = support::FindingsScope::find(&getContext()))
    findings->calibration.emplace();
  if (calibrationData.empty()) {
    if (statisticsIn.empty())
      return emitError(getOperation().getLoc())
             << "calibration needs samples; give calibration-data=FILE.npy";
    return success();
  }
  SmallVector<tpc::QuantizeOp> points = getPoints();
  execution::CompileOptions compileOptions;
  compileOptions.function = entry.getSymName().str();
  compileOptions.simulateQuantization = false;
  compileOptions.observeAfterQuantization = false;
  compileOptions.observeAllPoints = true;
  FailureOr<execution::RunSettings> settings = execution::RunSettings::parse(
      getOperation().getLoc(), calibrationData, inputScale, inputOffset,
      calibrationSamples, batchSize, threads, maxMemory,
      &getAnalysis<execution::RunCache>());
  if (failed(settings))
    return failure();
  FailureOr<execution::NetworkRun> run =
      execution::NetworkRun::prepare(getOperation(), compileOptions, *settings);
  if (failed(run))
    return failure();
  SmallVector<int64_t> lastAxisRows(points.size(), 0);
  if (channelStatistics)
    lastAxisRows = findLastAxisRows(entry, points);
  std::vector<HistogramScratch> scratch(run->numWorkers());
  auto observers =
      run->observe<StatisticsObserver>([&](size_t worker, size_t point) {
        return std::make_unique<StatisticsObserver>(
            scratch[worker], channelStatistics, lastAxisRows[point]);
      });
  if (failed(observers))
    return failure();

  if (failed(tell(run->samples())))
    return failure();
  statistics.instructionSets.insert(execution::Executor::instructionSet());
  for (auto [index, point] : llvm::enumerate(points)) {
    if (llvm::Error error = statistics.merge(point.getUniqueName(),
                                             (*observers)[index]->statistics))
      return report(std::move(error));
    const quantization::Histogram &seen =
        statistics.points[point.getUniqueName()].histogram;
    if (seen.nonFinite() != 0)
      return point.emitOpError()
             << "saw " << seen.nonFinite()
             << " values that are NaN or infinite while calibrating; check the "
                "input scale and the weights, or leave this tensor float by an "
                "overrides file where infinities are meant (a mask)";
  }
  return success();
}
