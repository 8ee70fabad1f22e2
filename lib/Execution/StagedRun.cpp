// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/StagedRun.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mct;
using namespace mct::execution;

StagedRun::StagedRun(const Executor &executor,
                     std::shared_ptr<const SampleSource> samples,
                     const RunOptions &options)
    : executor(executor), samples(std::move(samples)), options(options) {
  for (unsigned stage = 0; stage != executor.numStages(); ++stage)
    largest = std::max(largest, executor.savedBytes(stage));
}

TensorEditor execution::addToChannels(std::vector<float> offsets,
                                      int64_t axis) {
  return
      [offsets = std::move(offsets), axis](llvm::MutableArrayRef<float> values,
                                           llvm::ArrayRef<int64_t> shape) {
        int64_t inner = 1;
        for (int64_t size : shape.drop_front(axis + 1))
          inner *= size;
        float *value = values.begin();
        if (inner == 1)
          for (; value != values.end(); value += offsets.size())
            for (size_t channel = 0; channel != offsets.size(); ++channel)
              value[channel] += offsets[channel];
        while (value != values.end())
          for (float offset : offsets)
            for (int64_t i = 0; i != inner; ++i)
              *value++ += offset;
      };
}

llvm::Expected<std::unique_ptr<StagedRun>>
StagedRun::create(const Executor &executor,
                  std::shared_ptr<const SampleSource> samples,
                  const RunOptions &options, int64_t passes) {
  if (llvm::Error error = checkUnits(executor, *samples))
    return std::move(error);
  std::unique_ptr<StagedRun> run(
      new StagedRun(executor, std::move(samples), options));
  size_t workers =
      execution::numWorkers(executor, *run->samples, options, passes);
  for (size_t number = 0; number != workers; ++number) {
    Lane &lane = *run->lanes.emplace_back(std::make_unique<Lane>(executor));
    bool hasMemory = true;
    auto add = [&](std::vector<support::AlignedBuffer> &buffers,
                   int64_t bytes) {
      void *data = buffers.emplace_back(bytes).get();
      hasMemory &= data != nullptr || bytes == 0;
      return data;
    };
    for (size_t input = 0; input != run->samples->numInputs(); ++input)
      lane.inputPointers.push_back(
          add(lane.inputs,
              int64_t(run->samples->sampleBytes(input)) * executor.unit()));
    for (const TensorSpec &spec : executor.outputs())
      lane.outputPointers.push_back(
          add(lane.outputs, spec.type.getNumElements() *
                                getElementBytes(spec.type.getElementType())));
    lane.crossing = support::AlignedBuffer(run->largest);
    if (!hasMemory || (run->largest && !lane.crossing.get()))
      return llvm::createStringError(
          "there is no memory for the values between the stages");
  }
  return run;
}

int64_t StagedRun::numUnits() const {
  return int64_t(llvm::divideCeil(samples->numSamples(), executor.unit()));
}

std::unique_ptr<Frontier> StagedRun::createFrontier(int64_t budget) const {
  return std::make_unique<Frontier>(numUnits(), largest, budget);
}

llvm::Error StagedRun::runUnit(const Pass &pass, size_t worker,
                               int64_t number) {
  Lane &lane = *lanes[worker];
  if (lane.entered != &pass) {
    if (pass.enter)
      pass.enter(worker);
    lane.entered = &pass;
  }
  int64_t unit = executor.unit();
  SampleRange range;
  range.first = number * unit;
  range.count = std::min(unit, samples->numSamples() - range.first);
  for (unsigned stage = pass.first; stage <= pass.last; ++stage)
    if (executor.readsInputs(stage)) {
      for (auto [input, buffer] : llvm::enumerate(lane.inputs))
        if (llvm::Error error = loadUnit(*samples, input, range.first,
                                         range.count, unit, buffer.get()))
          return error;
      break;
    }
  const char *crossing = nullptr;
  if (pass.first != 0) {
    llvm::MutableArrayRef<char> block(lane.crossing.get(),
                                      executor.savedBytes(pass.first - 1));
    auto found = pass.from->view(number, block);
    if (!found)
      return found.takeError();
    crossing = *found;
  }
  if (llvm::Error error =
          lane.worker.runStages(pass.first, pass.last, crossing,
                                lane.inputPointers, lane.outputPointers, range))
    return error;
  if (pass.to) {
    llvm::MutableArrayRef<char> block(lane.crossing.get(),
                                      executor.savedBytes(pass.last));
    if (llvm::Error error = pass.to->write(
            number, block, [&](char *to) { lane.worker.save(pass.last, to); }))
      return error;
  }
  if (!pass.done)
    return llvm::Error::success();
  return pass.done(Unit{worker, number, range.first, range.count,
                        lane.inputPointers, lane.outputPointers});
}

llvm::Error StagedRun::run(llvm::ArrayRef<Pass> passes) {
  for (std::unique_ptr<Lane> &lane : lanes)
    lane->entered = nullptr;
  // Run the passes successively, as if there were that many samples.
  int64_t units = numUnits(), size = executor.unit();
  return shareUnits(int64_t(passes.size()) * units * size, size, lanes.size(),
                    options, [&](size_t worker, int64_t number) {
                      return runUnit(passes[number / units], worker,
                                     number % units);
                    });
}
