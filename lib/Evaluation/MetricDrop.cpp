// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/MetricDrop.h"

#include "MetricRun.h"
#include "mct/IR/EntryFunction.h"

using namespace mlir;
using namespace mct;
using namespace mct::execution;

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
  auto rows = run(network, /*simulatesQuantization=*/false, nullptr, {});
  if (failed(rows))
    return failure();
  reference = std::move(*rows);
  // Judging takes more samples than finding what is to be judged.
  auto divided = holdOut(all, all->numSamples() - all->numSamples() / 10);
  if (!divided)
    return network.emitError() << llvm::toString(divided.takeError());
  if (!*divided)
    return network.emitError()
           << "max-drop: " << all->numSamples()
           << " samples of validation-data are too few to find an assignment "
              "with some and to judge it with others; give hundreds";
  parts = std::move(**divided);
  return success();
}

/// Refuses samples that the network was calibrated on.
LogicalResult MetricDrop::checkUnseen(ModuleOp network,
                                      const NetworkRun &prepared) const {
  if (options.calibration.files.empty())
    return success();
  const Executor &executor = prepared.executor();
  auto seen = SampleSource::open(options.calibration, executor.inputs(),
                                 executor.unit());
  if (!seen)
    return network.emitError() << llvm::toString(seen.takeError());
  auto shared = countShared(prepared.samples(), **seen);
  if (!shared)
    return network.emitError() << llvm::toString(shared.takeError());
  if (*shared == 0)
    return success();
  return network.emitError()
         << "max-drop: " << *shared << " of the "
         << prepared.samples().numSamples()
         << " samples of validation-data are among those of calibration-data; "
            "give others, which the network was not fitted to";
}

/// Runs on all samples, which it opens, where `samples` are null.
FailureOr<MetricRows>
MetricDrop::run(ModuleOp network, bool simulatesQuantization,
                std::shared_ptr<const SampleSource> samples,
                ArrayRef<int64_t> positions) {
  auto fail = [&](llvm::Error error) {
    return network.emitError()
           << "max-drop: " << llvm::toString(std::move(error));
  };
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
           << "max-drop divides samples, and the network has a fixed batch of "
           << executor.unit()
           << " that cannot be changed; give a network for one sample";
  if (!all && failed(checkUnseen(network, *prepared)))
    return failure();
  MetricRun::Inputs inputs;
  auto made = Metric::create(options.metric);
  if (!made)
    return fail(made.takeError());
  inputs.metric = std::move(*made);
  inputs.labelsFile = options.labelsFile;
  inputs.samples = &prepared->samples();
  inputs.specs = executor.outputs();
  inputs.names = readResultNames(*entry, {});
  inputs.unit = executor.unit();
  inputs.positions = positions.vec();
  inputs.labelled = all ? all->numSamples() : 0;
  auto measured = MetricRun::create(std::move(inputs));
  if (!measured)
    return fail(measured.takeError());
  if (failed(prepared->run(
          [](size_t, Worker &) {},
          [&](const Unit &unit) { return (*measured)->measure(unit, {}); })))
    return failure();
  if (!all)
    all = prepared->sharedSamples();
  MetricRows rows = (*measured)->getRows();
  metric = (*measured)->takeMetric();
  return rows;
}

FailureOr<LossLimit> MetricDrop::measure(ModuleOp network, Part part) {
  ArrayRef<int64_t> positions = getPositions(part);
  auto rows =
      run(network, /*simulatesQuantization=*/true,
          part == Part::Search ? parts.fitted : parts.judging, positions);
  if (failed(rows))
    return failure();
  MetricRows others;
  others.length = reference.length;
  for (int64_t position : positions)
    llvm::append_range(others.values, std::as_const(reference)[position]);
  for (MetricRows *each : {&*rows, &others})
    if (llvm::Error error = metric->finish(*each))
      return network.emitError() << "max-drop: metric '" << options.metric
                                 << "': " << llvm::toString(std::move(error));
  return limitLoss(*metric, *rows, others, options.allowed);
}
