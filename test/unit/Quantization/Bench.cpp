// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/ExactSum.h"
#include "mct/Quantization/Histogram.h"
#include "mct/Quantization/Lut.h"
#include "mct/Quantization/Selection.h"
#include "mct/Quantizers/Grid.h"
#include "mct/Quantizers/InstructionSet.h"

#include "benchmark/benchmark.h"

#include <algorithm>
#include <random>

using namespace mct::quantization;

namespace {

std::vector<float> normalValues(size_t count, bool rectified = false,
                                unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values) {
    value = normal(generator);
    if (rectified)
      value = std::max(value, 0.0f);
  }
  return values;
}

/// Forces an instruction set for the life of a benchmark run.
class Forced {
public:
  Forced(benchmark::State &state, int64_t set) {
    if (!forceInstructionSetForTesting(static_cast<InstructionSet>(set)))
      state.SkipWithError("the processor lacks this instruction set");
  }
  ~Forced() { forceInstructionSetForTesting(std::nullopt); }
};

void reportElements(benchmark::State &state, size_t elements) {
  state.counters["ns/element"] = benchmark::Counter(
      double(state.iterations()) * elements * 1e-9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Arguments: elements, rectified, instruction set.
void observeHistogram(benchmark::State &state) {
  Forced forced(state, state.range(2));
  std::vector<float> values = normalValues(state.range(0), state.range(1));
  HistogramScratch scratch;
  Histogram histogram;
  for (auto _ : state)
    histogram.observe(values.data(), values.size(), scratch);
  benchmark::DoNotOptimize(histogram.count());
  reportElements(state, values.size());
}
BENCHMARK(observeHistogram)
    ->ArgsProduct({{8192, 131072, 1 << 24}, {0, 1}, {2}})
    ->ArgsProduct({{131072}, {0, 1}, {0, 1}});

// Arguments: rows, channels, instruction set.
void observeChannels(benchmark::State &state) {
  Forced forced(state, state.range(2));
  size_t rows = state.range(0), channels = state.range(1);
  std::vector<float> values = normalValues(rows * channels);
  ChannelStatistics statistics;
  for (auto _ : state)
    statistics.observe(values.data(), rows, channels);
  reportElements(state, values.size());
}
BENCHMARK(observeChannels)
    ->ArgsProduct({{1024}, {3, 16, 64, 1000}, {2}})
    ->ArgsProduct({{1024}, {64}, {0, 1}});

// Arguments: rounding, instruction set.
void quantizeTensor(benchmark::State &state) {
  Forced forced(state, state.range(1));
  std::vector<float> values = normalValues(1 << 17);
  std::vector<float> output(values.size());
  Grid grid = symmetricGrid(4.0, 8, true);
  grid.rounding = static_cast<Rounding>(state.range(0));
  for (auto _ : state) {
    fakeQuantize(grid, values.data(), output.data(), values.size());
    benchmark::ClobberMemory();
  }
  reportElements(state, values.size());
}
BENCHMARK(quantizeTensor)->ArgsProduct({{0, 1}, {0, 1, 2}});

// Arguments: kind, bits. The kernels of the ResNet8 of MLPerf Tiny.
void selectResNet8Weights(benchmark::State &state) {
  SelectionOptions options;
  options.kind = static_cast<QuantizationMethod>(state.range(0));
  options.bits = state.range(1);
  const std::vector<std::vector<int64_t>> shapes = {
      {16, 3, 3, 3},  {16, 3, 3, 16}, {16, 3, 3, 16}, {32, 3, 3, 16},
      {32, 3, 3, 32}, {32, 1, 1, 16}, {64, 3, 3, 32}, {64, 3, 3, 64},
      {64, 1, 1, 32}, {10, 64}};
  std::vector<std::vector<float>> kernels;
  size_t elements = 0;
  for (const std::vector<int64_t> &shape : shapes) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= size;
    kernels.push_back(normalValues(count, false, kernels.size()));
    elements += count;
  }
  for (auto _ : state)
    for (size_t i = 0; i < kernels.size(); ++i)
      benchmark::DoNotOptimize(
          selectPerChannel(kernels[i], shapes[i], {0}, options, 2));
  reportElements(state, elements);
}
BENCHMARK(selectResNet8Weights)
    ->ArgsProduct({{0, 1, 2}, {2, 4, 8}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Arguments: kind, bits. About as many weights as a ResNet-50 has.
void selectLargeWeights(benchmark::State &state) {
  SelectionOptions options;
  options.kind = static_cast<QuantizationMethod>(state.range(0));
  options.bits = state.range(1);
  std::vector<float> values = normalValues(size_t(512) * 4608);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        selectPerChannel(values, {512, 4608}, {0}, options, 2));
  reportElements(state, values.size());
}
BENCHMARK(selectLargeWeights)
    ->ArgsProduct({{0, 1, 2}, {8}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Arguments: entries of the table, instruction set.
void quantizeTensorWithTable(benchmark::State &state) {
  Forced forced(state, state.range(1));
  std::vector<float> values = normalValues(1 << 17);
  std::vector<float> output(values.size());
  std::vector<int64_t> table;
  for (int64_t i = 0; i < state.range(0); ++i)
    table.push_back(i * 256 / state.range(0) - 128);
  LutQuantizer quantizer(table, 4.0, true);
  for (auto _ : state) {
    quantizer.run({int64_t(values.size())}, {}, values.data(), output.data());
    benchmark::ClobberMemory();
  }
  reportElements(state, values.size());
}
BENCHMARK(quantizeTensorWithTable)->ArgsProduct({{4, 16, 17, 256}, {0, 1, 2}});

// Arguments: kind, bits. Sixteen activations.
void selectActivations(benchmark::State &state) {
  SelectionOptions options;
  options.kind = static_cast<QuantizationMethod>(state.range(0));
  options.bits = state.range(1);
  HistogramScratch scratch;
  std::vector<Histogram> histograms(16);
  for (size_t i = 0; i < histograms.size(); ++i) {
    std::vector<float> values = normalValues(1 << 17, i % 2, i);
    histograms[i].observe(values.data(), values.size(), scratch);
  }
  for (auto _ : state)
    for (const Histogram &histogram : histograms) {
      options.isSigned = histogram.min() < 0;
      benchmark::DoNotOptimize(
          llvm::cantFail(selectForHistogram(histogram, options)));
    }
}
BENCHMARK(selectActivations)
    ->ArgsProduct({{0, 1, 2}, {4, 8}})
    ->Unit(benchmark::kMillisecond);

} // namespace
