// SPDX-License-Identifier: Apache-2.0
#include "Teacher.h"
#include "mct/Execution/CallBuffers.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace mct;
using namespace mct::training;
using execution::Executor;

namespace {
/// Copies the teacher's results for the samples of a unit.
class TeacherObserver : public execution::TensorObserver {
public:
  void observe(const execution::TensorView &values) override {
    ArrayRef<float> output = values.floats();
    size_t count = std::min(output.size(), to.size());
    std::copy_n(output.begin(), count, to.begin());
  }
  MutableArrayRef<float> to;
};
} // namespace

struct Teacher::Lane {
  explicit Lane(const Executor &executor) : worker(executor) {
    inputs = call.addInputs(executor.inputs());
    call.addOutputs(executor.outputs());
  }
  execution::Worker worker;
  execution::CallBuffers call;
  SmallVector<void *> inputs;
  std::vector<TeacherObserver> observers;
};

Teacher::Teacher(const CompiledTraining &compiled,
                 const execution::SampleSource &source,
                 ArrayRef<int64_t> chosen, const TrainingSettings &settings,
                 const execution::RunSettings &run)
    : compiled(compiled), source(source), chosen(chosen), settings(run) {
  if (!compiled.teacher)
    return;
  const Executor &executor = *compiled.teacher;
  int64_t units = int64_t(llvm::divideCeil(settings.batch, executor.unit()));
  for (int64_t count = countThreads(executor, units, run); count > 0; --count) {
    Lane &lane = *lanes.emplace_back(std::make_unique<Lane>(executor));
    lane.observers.resize(compiled.results.size());
    if (compiled.observesTeacher)
      for (auto [number, observer] : llvm::enumerate(lane.observers))
        lane.worker.setObserver(number, &observer);
  }
  int64_t perSample = 0;
  for (const ComparedShape &result : compiled.results)
    perSample += result.elements * int64_t(sizeof(float));
  keeps = perSample <= settings.teacherBytes / int64_t(chosen.size());
}

Teacher::~Teacher() = default;

bool Teacher::hasMemory() const {
  return llvm::none_of(lanes, [](const std::unique_ptr<Lane> &lane) {
    return lane->call.missing;
  });
}

llvm::Error Teacher::runUnit(Lane &lane, ArrayRef<int64_t> samples,
                             int64_t first,
                             std::vector<std::vector<float>> &blocks) const {
  const Executor &executor = *compiled.teacher;
  int64_t unit = executor.unit();
  ArrayRef<int64_t> own = samples.slice(
      first, std::min<int64_t>(unit, int64_t(samples.size()) - first));
  if (llvm::Error error = loadSamples(source, own, unit, lane.inputs))
    return error;
  auto target = [&](size_t result) {
    size_t elements = size_t(compiled.results[result].elements);
    return MutableArrayRef<float>(blocks[result])
        .slice(size_t(first) * elements, own.size() * elements);
  };
  for (auto [result, observer] : llvm::enumerate(lane.observers))
    observer.to = target(result);
  if (llvm::Error error = lane.worker.run(
          lane.call.inputs, lane.call.outputs,
          executor.allowsPartialUnits() ? int64_t(own.size()) : unit, first))
    return error;
  if (compiled.observesTeacher)
    return llvm::Error::success();
  for (size_t result = 0; result != compiled.results.size(); ++result) {
    MutableArrayRef<float> to = target(result);
    std::memcpy(to.data(), lane.call.outputs[result],
                to.size() * sizeof(float));
  }
  return llvm::Error::success();
}

llvm::Error Teacher::run(ArrayRef<int64_t> samples,
                         std::vector<std::vector<float>> &blocks) {
  blocks.resize(compiled.results.size());
  for (auto [block, result] : llvm::zip_equal(blocks, compiled.results))
    block.resize(samples.size() * size_t(result.elements));
  int64_t unit = compiled.teacher->unit();
  execution::RunOptions options;
  options.threads = settings.run.threads;
  return execution::shareUnits(
      int64_t(samples.size()), unit, lanes.size(), options,
      [&](size_t number, int64_t index) -> llvm::Error {
        if (isCancelled(settings))
          return llvm::createStringError("cancelled");
        return runUnit(*lanes[number], samples, index * unit, blocks);
      });
}

llvm::Expected<TrainingBatch> Teacher::begin(ArrayRef<int64_t> samples,
                                             ArrayRef<int64_t> places) {
  TrainingBatch made;
  made.samples = samples;
  if (!compiled.teacher)
    return made;
  if (!keeps || places.empty()) {
    if (llvm::Error error = run(samples, batch))
      return std::move(error);
  } else {
    // In the order of the samples, regardless of the first step.
    if (kept.empty())
      if (llvm::Error error = run(chosen, kept)) {
        kept.clear();
        return std::move(error);
      }
    batch.resize(compiled.results.size());
    for (auto [block, from, result] :
         llvm::zip_equal(batch, kept, compiled.results)) {
      block.resize(places.size() * size_t(result.elements));
      for (auto [number, place] : llvm::enumerate(places))
        std::copy_n(from.begin() + place * result.elements, result.elements,
                    block.begin() + int64_t(number) * result.elements);
    }
  }
  views.assign(batch.begin(), batch.end());
  made.teacher = views;
  return made;
}
