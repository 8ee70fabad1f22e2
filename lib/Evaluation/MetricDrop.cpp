// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/MetricDrop.h"

#include "HostedRun.h"
#include "MetricRun.h"
#include "mct/IR/EntryFunction.h"

using namespace mlir;
using namespace mct;
using namespace mct::execution;

/// Reports an error of the samples or of the metric at the network, as all
/// other failures are.
static LogicalResult fail(ModuleOp network, llvm::Error error) {
  return network.emitError() << llvm::toString(std::move(error));
}

FailureOr<std::unique_ptr<MetricDrop>>
MetricDrop::create(ModuleOp network, RunSettings settings,
                   const Options &options) {
  std::unique_ptr<MetricDrop> made(
      new MetricDrop(std::move(settings), options));
  if (failed(made->prepare(network)))
    return failure();
  return made;
}

LogicalResult MetricDrop::prepare(ModuleOp network) {
  host = MetricHostScope::find(network.getContext());
  auto prepared = prepareRun(network, /*simulatesQuantization=*/false, nullptr);
  if (failed(prepared) || failed(checkNotCalibrated(network, *prepared)))
    return failure();
  all = prepared->sharedSamples();
  if (!host) {
    auto rows = run(network, *prepared, {});
    if (failed(rows))
      return failure();
    reference = std::move(*rows);
    name = metric->getText().str();
    unit = metric->getUnit();
    return divide(network);
  }
  auto results = runHosted(network, *prepared);
  if (failed(results) || failed(divide(network)))
    return failure();
  name = host->getName();
  for (Part part : {Part::Search, Part::HeldOut}) {
    auto measured = runHostMetric(
        network, takeSamples(*results, getPositions(part)), getPositions(part));
    if (failed(measured))
      return failure();
    hostedReference[size_t(part)] = std::move(*measured);
  }
  unit = findUnit(hostedReference[size_t(Part::HeldOut)]);
  return success();
}

LogicalResult MetricDrop::divide(ModuleOp network) {
  // Judging needs more samples than the search for networks to judge.
  auto divided = holdOut(all, all->numSamples() - all->numSamples() / 10);
  if (!divided)
    return fail(network, divided.takeError());
  if (!*divided)
    return network.emitError()
           << all->numSamples()
           << " samples are too few to find an assignment with some and to "
              "judge it with others; give hundreds";
  parts = std::move(**divided);
  return success();
}

/// Rejects samples on which the network was calibrated.
LogicalResult MetricDrop::checkNotCalibrated(ModuleOp network,
                                             const NetworkRun &prepared) const {
  if (options.calibration.files.empty())
    return success();
  const Executor &executor = prepared.executor();
  auto calibrationSamples = SampleSource::open(
      options.calibration, executor.inputs(), executor.unit());
  if (!calibrationSamples)
    return fail(network, calibrationSamples.takeError());
  auto shared = countShared(prepared.samples(), **calibrationSamples);
  if (!shared)
    return fail(network, shared.takeError());
  if (*shared == 0)
    return success();
  return network.emitError()
         << *shared << " of the " << prepared.samples().numSamples()
         << " samples that judge the network are among those that calibrated "
            "it; give others, which it was not fitted to";
}

/// Prepares a run on `samples`, or, if these are null, on all samples, which it
/// opens.
FailureOr<NetworkRun>
MetricDrop::prepareRun(ModuleOp network, bool simulatesQuantization,
                       std::shared_ptr<const SampleSource> samples) {
  FailureOr<func::FuncOp> entry = findEntryFunction(network, options.function);
  if (failed(entry))
    return failure();
  CompileOptions compile;
  compile.function = entry->getSymName().str();
  compile.simulateQuantization = simulatesQuantization;
  auto prepared =
      NetworkRun::prepare(network, compile, settings, std::move(samples));
  if (failed(prepared))
    return failure();
  const Executor &executor = prepared->executor();
  if (!executor.allowsPartialUnits() && executor.unit() > 1)
    return network.emitError()
           << "samples cannot be divided, as the network has a fixed batch of "
           << executor.unit()
           << " that cannot be changed; give a network for one sample";
  return prepared;
}

FailureOr<MetricRows> MetricDrop::run(ModuleOp network,
                                      const NetworkRun &prepared,
                                      ArrayRef<int64_t> positions) {
  FailureOr<func::FuncOp> entry = findEntryFunction(network, options.function);
  if (failed(entry))
    return failure();
  const Executor &executor = prepared.executor();
  MetricRun::Inputs inputs;
  auto made = Metric::create(options.metric);
  if (!made)
    return fail(network, made.takeError());
  inputs.metric = std::move(*made);
  inputs.labelsFile = options.labelsFile;
  inputs.samples = &prepared.samples();
  inputs.specs = executor.outputs();
  inputs.names = readResultNames(*entry, {});
  inputs.unit = executor.unit();
  inputs.positions = positions.vec();
  inputs.labelled = positions.empty() ? 0 : all->numSamples();
  auto measured = MetricRun::create(std::move(inputs));
  if (!measured)
    return fail(network, measured.takeError());
  if (failed(prepared.run(
          [](size_t, Worker &) {},
          [&](const Unit &unit) { return (*measured)->measure(unit, {}); })))
    return failure();
  MetricRows rows = (*measured)->getRows();
  metric = (*measured)->takeMetric();
  return rows;
}

FailureOr<HostedResults> MetricDrop::runHosted(ModuleOp network,
                                               const NetworkRun &prepared) {
  const Executor &executor = prepared.executor();
  auto made = HostedRun::create(executor.outputs(), executor.unit(),
                                prepared.samples().numSamples());
  if (!made)
    return fail(network, made.takeError());
  if (failed(prepared.run([](size_t, Worker &) {},
                          [&](const Unit &unit) {
                            made->collect(unit);
                            return llvm::Error::success();
                          })))
    return failure();
  return made->takeResults();
}

/// Returns the measurement of the program's metric, with a number for each
/// sample.
FailureOr<MetricHost::Measured>
MetricDrop::runHostMetric(ModuleOp network,
                          ArrayRef<MetricHost::Result> results,
                          ArrayRef<int64_t> positions) {
  auto measured = host->measure(results, positions, all->numSamples());
  if (!measured)
    return fail(network, measured.takeError());
  if (!measured->detections && measured->values.size() != positions.size())
    return network.emitError()
           << "metric '" << host->getName() << "' says "
           << measured->values.size() << " numbers of " << positions.size()
           << " samples; chance is known by a number for each";
  return std::move(*measured);
}

FailureOr<LossLimit> MetricDrop::measure(ModuleOp network, Part part,
                                         double confidence) {
  ArrayRef<int64_t> positions = getPositions(part);
  auto prepared =
      prepareRun(network, /*simulatesQuantization=*/true,
                 part == Part::Search ? parts.fitted : parts.judging);
  if (failed(prepared))
    return failure();
  if (host) {
    auto results = runHosted(network, *prepared);
    if (failed(results))
      return failure();
    auto measured = runHostMetric(network, *results, positions);
    if (failed(measured))
      return failure();
    return limitLoss(*measured, hostedReference[size_t(part)],
                     int64_t(positions.size()), options.allowed, confidence);
  }
  auto rows = run(network, *prepared, positions);
  if (failed(rows))
    return failure();
  MetricRows others;
  others.length = reference.length;
  for (int64_t position : positions)
    llvm::append_range(others.values, std::as_const(reference)[position]);
  for (MetricRows *each : {&*rows, &others})
    if (llvm::Error error = metric->finish(*each))
      return fail(network,
                  llvm::createStringError("metric '" + options.metric + "': " +
                                          llvm::toString(std::move(error))));
  return limitLoss(*metric, *rows, others, options.allowed, confidence);
}
