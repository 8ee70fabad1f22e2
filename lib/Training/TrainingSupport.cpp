// SPDX-License-Identifier: Apache-2.0
#include "TrainingSupport.h"
#include "mct/Execution/HostCalls.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include <cstring>

using namespace mlir;
using namespace mct;
using namespace mct::training;
using execution::Executor;

std::string training::hashText(StringRef bytes) {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(
      {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
  return llvm::formatv("{0:x-16}{1:x-16}", hash.high64, hash.low64).str();
}

std::string training::hashValues(ArrayRef<float> values) {
  return hashText({reinterpret_cast<const char *>(values.data()),
                   values.size() * sizeof(float)});
}

const OptimizerSettings *
training::getOptimizer(const TrainingSettings &settings, LearnedKind kind) {
  const std::optional<OptimizerSettings> *found = nullptr;
  switch (kind) {
  case LearnedKind::Weight:
    found = &settings.weights;
    break;
  case LearnedKind::Bias:
    found = &settings.biases;
    break;
  case LearnedKind::Quantizer:
    found = &settings.quantizers;
    break;
  case LearnedKind::Rounding:
    found = &settings.rounding;
    break;
  case LearnedKind::State:
  case LearnedKind::Schedule:
    return nullptr;
  }
  return *found ? &**found : nullptr;
}

llvm::Error training::loadSamples(const execution::SampleSource &source,
                                  ArrayRef<int64_t> samples, int64_t unit,
                                  ArrayRef<void *> buffers) {
  for (auto [input, buffer] : llvm::enumerate(buffers)) {
    size_t bytes = source.sampleBytes(input);
    auto *to = static_cast<char *>(buffer);
    for (int64_t sample : samples) {
      if (llvm::Error error = source.load(input, sample, 1, to))
        return error;
      to += bytes;
    }
    // The results for copies are ignored.
    for (int64_t copy = int64_t(samples.size()); copy < unit; ++copy) {
      std::memcpy(to, to - bytes, bytes);
      to += bytes;
    }
  }
  return llvm::Error::success();
}

int64_t training::countThreads(const Executor &executor, int64_t units,
                               const execution::RunSettings &run) {
  int64_t count = execution::callsHost(executor)
                      ? 1
                      : std::min<int64_t>(run.run.threads.count(), units);
  return executor.limitWorkers(std::max<int64_t>(1, count));
}
