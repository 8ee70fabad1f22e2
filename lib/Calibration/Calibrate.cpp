// SPDX-License-Identifier: Apache-2.0
#include "CalibrationMemory.h"
#include "InputRange.h"
#include "mct/Calibration/Passes.h"
#include "mct/Calibration/PointStatistics.h"
#include "mct/Execution/NetworkPass.h"
#include "mct/Execution/RunCache.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Records.h"
#include "mct/Interfaces/SetBatch.h"
#include "mct/Support/PassSideOutputs.h"
#include "mct/Support/Troubleshooting.h"
#include "mct/Transforms/StatisticsConversion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mct {
#define GEN_PASS_DEF_CALIBRATEPASS
#include "mct/Calibration/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::calibration;
using quantization::HistogramScratch;

namespace {
/// Collects the statistics of one point, for one worker.
class StatisticsObserver : public execution::TensorObserver {
public:
  /// `scratch` belongs to the worker. `lastAxisRows` is the size of one sample
  /// along the last axis if that is the axis of the batch; otherwise 0.
  StatisticsObserver(HistogramScratch &scratch, bool channelStatistics,
                     int64_t lastAxisRows)
      : scratch(scratch), lastAxisRows(lastAxisRows) {
    if (channelStatistics)
      statistics.channels.emplace();
  }

  void observe(const execution::TensorView &values) override {
    ArrayRef<float> data = values.floats();
    ArrayRef<int64_t> shape = values.shape();
    add(data);
    if (statistics.channels) {
      size_t channels = lastAxisRows != 0 ? size_t(lastAxisRows)
                        : shape.empty()   ? 1
                                          : size_t(shape.back());
      statistics.channels->observe(data.data(), data.size() / channels,
                                   channels);
    }
  }

  llvm::Error merge(const StatisticsObserver &other) {
    add(other.few);
    return statistics.merge(other.statistics);
  }

  /// Returns the statistics of all observed values; called once.
  PointStatistics take() {
    count();
    return std::move(statistics);
  }

private:
  /// Values are kept without a histogram up to this number: there may be as
  /// many points as a network has tensors, and a histogram takes 64 KB.
  static constexpr size_t kFew = 1024;

  void add(ArrayRef<float> data) {
    if (statistics.histogram.empty() && few.size() + data.size() <= kFew) {
      few.insert(few.end(), data.begin(), data.end());
      return;
    }
    count();
    statistics.histogram.observe(data.data(), data.size(), scratch);
  }
  void count() {
    statistics.histogram.observe(few.data(), few.size(), scratch);
    few = {};
  }

  PointStatistics statistics;
  /// Values that the histogram does not count yet.
  std::vector<float> few;
  HistogramScratch &scratch;
  int64_t lastAxisRows;
};

/// Returns for each point the size of one sample along the last axis if that is
/// the axis of the batch; 0 otherwise, and if the batch cannot be followed.
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

struct CalibratePass
    : public execution::ShardedNetworkPass<
          EntryFunctionPass<mct::impl::CalibratePassBase<CalibratePass>>> {
  using ShardedNetworkPass::ShardedNetworkPass;

  LogicalResult runOn(func::FuncOp found) override {
    if (failed(checkOutputs(std::string(statisticsOut),
                            {statisticsIn.begin(), statisticsIn.end()},
                            "statistics-out: ")))
      return failure();
    if (!shard.empty() && shardsOut.empty())
      return emitError(getOperation().getLoc())
             << "shard=" << shard
             << " says which of the samples these are; give shards-out=FILE, "
                "too, or leave it out";
    entry = found;
    if (getPoints().empty()) {
      bool hasWeights = false;
      entry.walk([&](tpc::QuantizeOp) { hasWeights = true; });
      if (!hasWeights)
        return entry.emitOpError("has no points to calibrate; run "
                                 "mct-insert-quantizers before");
      InFlightDiagnostic remark = emitRecord(
          entry, getArgument(), {Decision::Noted, Reason::OnlyWeights});
      if (calibrationData.empty())
        remark.attachNote(entry.getLoc())
            << "corrections that run the network do; give calibration-data "
               "where they are wanted";
    }
    if (onlyMissing && llvm::all_of(getPoints(), hasStatistics))
      return success();
    // Nothing is chosen with statistics of these.
    if (calibrationData.empty() && statisticsIn.empty() &&
        llvm::all_of(getPoints(), [](tpc::QuantizeOp point) {
          return point.hasImportedParameters();
        })) {
      emitRecord(entry, getArgument(),
                 Record(Decision::Noted, Reason::ImportedParameters)
                     << "all activations have the parameters of their file, "
                        "and need no samples");
      return success();
    }
    StatisticsFile statistics;
    // Shards provide chosen samples, and not the statistics of their own.
    if (failed(loadStatistics(statistics)) ||
        (maxSamples == 0 && failed(readShards(statistics))))
      return failure();
    SmallVector<tpc::QuantizeOp> missing = findMissing(statistics);
    if (failed(writeFromFiles(statistics, missing)) ||
        (!missing.empty() && failed(runSamples(missing, statistics))))
      return failure();
    warnOfInstructionSets(statistics);
    warnOfInputRanges(entry, getAnalysis<KernelOps>(), statistics.points,
                      /*followsRecord=*/inputScale.empty() &&
                          inputOffset.empty());
    if (statisticsOut.empty())
      return success();
    if (llvm::Error error = statistics.save(statisticsOut))
      return emitError(getOperation().getLoc())
             << "cannot write statistics: " << llvm::toString(std::move(error));
    return success();
  }

private:
  LogicalResult report(llvm::Error error) {
    return emitError(getOperation().getLoc())
           << llvm::toString(std::move(error));
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
  /// True if files have the statistics; samples are then run only for points
  /// that are missing in these.
  bool isFromFiles = false;

  /// Reads the statistics that all shards have of this network, or else
  /// measures those of the present shard and fails. Does nothing without
  /// shards.
  LogicalResult readShards(StatisticsFile &statistics);
  LogicalResult takeParts(const execution::Shards &shards,
                          ArrayRef<const execution::ShardPart *> parts,
                          StatisticsFile &statistics);
  LogicalResult recordPart(execution::Shards &shards, StringRef key);

  /// Warns of statistics of several instruction sets, with which the values of
  /// the network differ in their last bits.
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
    isFromFiles = !statisticsIn.empty();
    for (const std::string &path : statisticsIn) {
      llvm::Expected<StatisticsFile> file = StatisticsFile::load(path);
      if (!file)
        return report(file.takeError());
      if (llvm::Error error = statistics.merge(*file))
        return report(std::move(error));
    }
    return success();
  }

  /// Stores the digest and the number of the samples if they are requested.
  LogicalResult storeDigest(const execution::SampleSource &samples) {
    auto *findings = support::PassSideOutputsScope::find(&getContext());
    if (!findings)
      return success();
    if (isFromFiles)
      return success();
    llvm::Expected<std::string> digest = execution::digestSamples(samples);
    if (!digest)
      return report(digest.takeError());
    findings->calibration->digest = std::move(*digest);
    findings->calibration->count = samples.numSamples();
    return success();
  }

  /// Returns the statistics of a point, or null.
  static const PointStatistics *findStatistics(const StatisticsFile &statistics,
                                               tpc::QuantizeOp point) {
    auto found = statistics.points.find(point.getUniqueName());
    return found == statistics.points.end() || found->second.histogram.empty()
               ? nullptr
               : &found->second;
  }

  /// Returns the points that samples are run for: those without statistics in
  /// the files.
  SmallVector<tpc::QuantizeOp> findMissing(const StatisticsFile &statistics);

  /// Runs the network, unless it has been run before, and writes the statistics
  /// to the points, and to `statistics` if they are written to a file. For a
  /// shard, `samples` is set to the samples of the run; otherwise it is null.
  LogicalResult
  runSamples(ArrayRef<tpc::QuantizeOp> points, StatisticsFile &statistics,
             std::shared_ptr<const execution::SampleSource> *samples = nullptr);

  /// Writes the statistics of a calibration of the same network.
  void writeRemembered(ArrayRef<tpc::QuantizeOp> points,
                       const Calibration &known, StatisticsFile &statistics);

  LogicalResult write(tpc::QuantizeOp point, const PointStatistics *known) {
    if (onlyMissing && hasStatistics(point))
      return success();
    if (!known || known->histogram.empty())
      return point.emitOpError()
             << "has no statistics in the files given; calibrate the same "
                "network, or give calibration-data";
    point.setStatisticsAttr(createStatistics(
        &getContext(), known->histogram,
        known->channels ? &*known->channels : nullptr, point.getPointName()));
    return success();
  }

  /// Writes the statistics of all points but those that samples are run for.
  LogicalResult writeFromFiles(const StatisticsFile &statistics,
                               ArrayRef<tpc::QuantizeOp> missing) {
    llvm::DenseSet<Operation *> later(missing.begin(), missing.end());
    for (tpc::QuantizeOp point : getPoints())
      if (!later.contains(point) &&
          failed(write(point, findStatistics(statistics, point))))
        return failure();
    return success();
  }
};
} // namespace

SmallVector<tpc::QuantizeOp>
CalibratePass::findMissing(const StatisticsFile &statistics) {
  SmallVector<tpc::QuantizeOp> points = getPoints();
  if (points.empty())
    return points;
  auto *findings = support::PassSideOutputsScope::find(&getContext());
  // The samples of shards are known already.
  if (findings && (!isFromFiles || !statisticsIn.empty()))
    findings->calibration.emplace();
  if (!isFromFiles)
    return points;
  llvm::erase_if(points, [&](tpc::QuantizeOp point) {
    return (onlyMissing && hasStatistics(point)) ||
           findStatistics(statistics, point);
  });
  // Without samples that is an error, at the point.
  if (calibrationData.empty())
    points.clear();
  if (!points.empty() && !onlyMissing) {
    InFlightDiagnostic warning = points.front()->emitWarning()
                                 << "'" << points.front().getPointName()
                                 << "' has no statistics in the files given, "
                                    "and is calibrated on the samples";
    if (size_t others = points.size() - 1)
      warning << (others == 1 ? ", as is " : ", as are ") << others
              << (others == 1 ? " other" : " others");
    warning.attachNote() << "files of the same network, prepared for the same "
                            "target in the same way, know all its points"
                         << support::kTroubleshooting
                         << "statistics-of-another-network";
  }
  return points;
}

static constexpr StringLiteral kStatistics = "calibration";

LogicalResult CalibratePass::readShards(StatisticsFile &statistics) {
  if (!isSharded() || isFromFiles || getPoints().empty())
    return success();
  FailureOr<execution::Shards> shards = openShards();
  if (failed(shards))
    return failure();
  std::string key = execution::nameContent(getOperation()) + " " +
                    entry.getSymName().str() +
                    (channelStatistics ? " with channels" : "");
  auto parts = shards->find(kStatistics, key);
  if (failed(parts))
    return failure();
  if (!parts->empty())
    return takeParts(*shards, *parts, statistics);
  if (!shards->canMeasure())
    return shards->reportMissing(kStatistics);
  return recordPart(*shards, key);
}

LogicalResult
CalibratePass::takeParts(const execution::Shards &shards,
                         ArrayRef<const execution::ShardPart *> parts,
                         StatisticsFile &statistics) {
  isFromFiles = true;
  auto *findings = support::PassSideOutputsScope::find(&getContext());
  support::PassSideOutputs::Samples samples;
  auto take = [&](const llvm::json::Object &content) -> llvm::Error {
    const llvm::json::Object *points = content.getObject("points");
    auto digest = content.getString("digest");
    auto count = content.getInteger("samples");
    if (!points || !digest || !count)
      return llvm::createStringError(
          "expected 'points', 'digest' and 'samples'");
    auto read = StatisticsFile::pointsFromJson(*points);
    if (!read)
      return read.takeError();
    for (const auto &[name, point] : *read)
      if (llvm::Error error = statistics.merge(name, point))
        return error;
    samples.count += *count;
    return execution::addDigest(samples.digest, *digest);
  };
  for (const execution::ShardPart *part : parts)
    if (failed(shards.read(*part, take)))
      return failure();
  if (findings)
    findings->calibration = samples;
  return success();
}

LogicalResult CalibratePass::recordPart(execution::Shards &shards,
                                        StringRef key) {
  StatisticsFile own;
  std::shared_ptr<const execution::SampleSource> samples;
  SmallVector<tpc::QuantizeOp> points = getPoints();
  llvm::erase_if(points, [&](tpc::QuantizeOp point) {
    return onlyMissing && hasStatistics(point);
  });
  if (failed(runSamples(points, own, &samples)))
    return failure();
  auto digest = execution::digestSamples(*samples);
  if (!digest)
    return report(digest.takeError());
  shards.record(kStatistics, key,
                llvm::json::Object{{"points", own.pointsToJson()},
                                   {"digest", *digest},
                                   {"samples", samples->numSamples()}});
  // The next question is one of chosen samples.
  FailureOr<execution::RunSettings> settings =
      parseOwnSettings(kStatistics, batchSize, threads);
  if (failed(settings) ||
      failed(execution::recordSampleHashes(shards, entry, *settings, *samples)))
    return failure();
  return shards.stop(kStatistics);
}

void CalibratePass::writeRemembered(ArrayRef<tpc::QuantizeOp> points,
                                    const Calibration &known,
                                    StatisticsFile &statistics) {
  for (tpc::QuantizeOp point : points) {
    if (onlyMissing && hasStatistics(point))
      continue;
    tpc::StatisticsAttr stored = known.points.at(point.getUniqueName());
    // The histogram becomes another resource, as if the network had been run:
    // the number in its name must not depend on what is remembered.
    tpc::StatisticsAttr written =
        createStatistics(&getContext(), llvm::cantFail(readHistogram(stored)),
                         /*channels=*/nullptr, point.getPointName());
    if (channelStatistics)
      written = tpc::StatisticsAttr::get(
          &getContext(), written.getCount(), written.getZeros(),
          written.getMin(), written.getMax(), written.getHistogram(),
          stored.getChannelMean(), stored.getChannelMeanSquare(),
          stored.getChannelMin(), stored.getChannelMax());
    point.setStatisticsAttr(written);
  }
  statistics.points.insert(known.arguments.begin(), known.arguments.end());
}

LogicalResult CalibratePass::runSamples(
    ArrayRef<tpc::QuantizeOp> points, StatisticsFile &statistics,
    std::shared_ptr<const execution::SampleSource> *samples) {
  auto most = int64_t(uint64_t(maxSamples));
  FailureOr<execution::RunSettings> settings =
      most == 0 ? parseOwnSettings(kStatistics, batchSize, threads)
                : parseRunSettings(kStatistics, batchSize, threads,
                                   {most, /*halves=*/false});
  if (failed(settings))
    return failure();
  execution::CompileOptions compileOptions;
  compileOptions.function = entry.getSymName().str();
  compileOptions.simulateQuantization = false;
  compileOptions.observeAfterQuantization = false;
  for (tpc::QuantizeOp point : points)
    compileOptions.observed.push_back(point.getUniqueName());
  FailureOr<execution::NetworkRun> run =
      execution::NetworkRun::prepare(getOperation(), compileOptions, *settings);
  if (failed(run) || failed(run->thin(most)))
    return failure();
  if (samples)
    *samples = run->sharedSamples();
  else if (failed(storeDigest(run->samples())))
    return failure();
  statistics.instructionSets.insert(execution::Executor::instructionSet());
  // A file of statistics needs exact sums, which attributes do not have.
  bool isRemembered = !samples && statisticsOut.empty();
  auto &memory = settings->cache->get<CalibrationMemory>();
  Calibration calibration;
  if (isRemembered) {
    auto known = memory.find(entry, points, run->samples(), channelStatistics);
    if (!known)
      return report(known.takeError());
    if (*known) {
      writeRemembered(points, **known, statistics);
      return success();
    }
    calibration.function = CalibrationMemory::cloneMeasured(entry);
    calibration.samples = run->sharedSamples();
    calibration.hasChannels = channelStatistics;
  }
  // Once: what is remembered is not run again.
  if (most == 0 && !samples &&
      calibrationSamples > uint64_t(run->samples().numSamples()))
    emitWarning(getOperation().getLoc())
        << "calibration-samples is " << uint64_t(calibrationSamples)
        << ", but there are " << run->samples().numSamples() << " samples";
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

  for (auto [index, observed] : llvm::enumerate(points)) {
    tpc::QuantizeOp point = observed;
    PointStatistics known = (*observers)[index]->take();
    (*observers)[index] = nullptr;
    if (uint64_t count = known.histogram.nonFinite())
      return point.emitOpError()
             << "saw " << count
             << " values that are NaN or infinite while calibrating; check the "
                "input scale and the weights, or leave this tensor float by an "
                "overrides file where infinities are meant (a mask)"
             << support::kTroubleshooting << "values-are-nan-or-infinite";
    bool isWritten = !onlyMissing || !hasStatistics(point);
    if (failed(write(point, &known)))
      return failure();
    if (isRemembered && isWritten)
      calibration.points[point.getUniqueName()] = point.getStatisticsAttr();
    // The ranges of the inputs are compared with those that the network
    // expects.
    if (isRemembered) {
      if (!isa<BlockArgument>(point.getInput()))
        continue;
      calibration.arguments[point.getUniqueName()] = known;
    }
    if (llvm::Error error = statistics.merge(point.getUniqueName(), known))
      return report(std::move(error));
  }
  if (isRemembered)
    memory.remember(std::move(calibration));
  return success();
}
