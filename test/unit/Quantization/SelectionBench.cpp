// SPDX-License-Identifier: Apache-2.0
//
// Times of parameter selection on one thread, one line per row of the table
// below, with two counters beside it:
//   MCT_recorded_ms  CPU time of MCT for the same search as recorded in
//                    timing.json of the golden vectors (MCT_GOLDEN_DIR, or
//                    ../shared/golden beside the source); absent without them.
//   MCT_here_ms      CPU time of MCT on this machine in this run, when the
//                    variable MCT_PYTHON names a Python that can import
//                    model_compression_toolkit:
//                    MCT_PYTHON=/path/to/python build/bench/MctSelectionBench
// A new line is one more entry of kLines (and, if MCT has such a search that is
// timed differently, a branch of mct_selection_times.py).

#include "TestPaths.h"
#include "mct/Quantization/ExactSum.h"
#include "mct/Quantization/Histogram.h"
#include "mct/Quantization/Lut.h"
#include "mct/Quantization/Selection.h"
#include "mct/Quantizers/InstructionSet.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include "benchmark/benchmark.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

using namespace mct::quantization;
namespace json = llvm::json;

namespace {

constexpr char kSmallWeights[] = "weight search 64x3x3x64 per channel (axis 0)";
constexpr char kLargeWeights[] =
    "weight search 512x3x3x512 per channel (axis 0)";
constexpr char kActivation[] = "activation histogram search";

/// One benchmark: a search of ours and the names timing.json gives to MCT's.
struct Line {
  const char *name;
  const char *mctWhat;
  const char *mctMethod;
  const char *mctErrorMethod;
  unsigned bits;
  void (*run)(benchmark::State &state, const Line &line);

  std::string mctKey() const {
    return std::string(mctWhat) + "|" + mctMethod + "|" + mctErrorMethod + "|" +
           std::to_string(bits);
  }
};

/// Normal values, as MCT's were when timing.json was recorded.
std::vector<float> normalValues(size_t count, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(generator);
  return values;
}

void reportElements(benchmark::State &state, size_t elements) {
  state.counters["ns_per_element"] = benchmark::Counter(
      double(state.iterations()) * elements * 1e-9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

SelectionOptions optionsFor(const Line &line, QuantizationMethod kind) {
  SelectionOptions options;
  options.kind = kind;
  options.bits = line.bits;
  llvm::StringRef errorMethod = line.mctErrorMethod;
  options.errorMethod = errorMethod == "MAE"  ? ErrorMethod::MAE
                        : errorMethod == "LP" ? ErrorMethod::LP
                        : errorMethod == "KL" ? ErrorMethod::KL
                                              : ErrorMethod::MSE;
  options.lpNorm = 3;
  return options;
}

template <QuantizationMethod Kind, int64_t Channels>
void weights(benchmark::State &state, const Line &line) {
  std::vector<int64_t> shape = {Channels, 3, 3, Channels};
  std::vector<float> values = normalValues(Channels * 9 * Channels);
  SelectionOptions options = optionsFor(line, Kind);
  for (auto _ : state)
    benchmark::DoNotOptimize(selectPerChannel(values, shape, {0}, options, 1));
  reportElements(state, values.size());
}

/// A quarter of a million normal values, rectified or not.
Histogram activation(bool rectified) {
  std::vector<float> values = normalValues(1 << 18, 3);
  if (rectified)
    for (float &value : values)
      value = std::max(value, 0.0f);
  HistogramScratch scratch;
  Histogram histogram;
  histogram.observe(values.data(), values.size(), scratch);
  return histogram;
}

template <QuantizationMethod Kind, bool Rectified>
void activations(benchmark::State &state, const Line &line) {
  Histogram histogram = activation(Rectified);
  SelectionOptions options = optionsFor(line, Kind);
  options.isSigned = !Rectified;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        llvm::cantFail(selectForHistogram(histogram, options)));
}

template <QuantizationMethod Kind, int64_t Channels>
void weightTables(benchmark::State &state, const Line &line) {
  std::vector<int64_t> shape = {Channels, 3, 3, Channels};
  std::vector<float> values = normalValues(Channels * 9 * Channels);
  SelectionOptions options = optionsFor(line, Kind);
  double error = 0;
  for (auto _ : state)
    error = selectLut(values, shape, {0}, options, 1).error;
  state.counters["error"] = error;
  reportElements(state, values.size());
}

void activationTable(benchmark::State &state, const Line &line) {
  Histogram histogram = activation(false);
  SelectionOptions options =
      optionsFor(line, QuantizationMethod::LutPowerOfTwo);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        llvm::cantFail(selectLutForHistogram(histogram, options)));
}

const Line kLines[] = {
    {"weights_64x3x3x64/symmetric/mse", kSmallWeights, "SYMMETRIC", "MSE", 8,
     weights<QuantizationMethod::Symmetric, 64>},
    {"weights_64x3x3x64/symmetric/mse", kSmallWeights, "SYMMETRIC", "MSE", 4,
     weights<QuantizationMethod::Symmetric, 64>},
    {"weights_512x3x3x512/symmetric/mse", kLargeWeights, "SYMMETRIC", "MSE", 8,
     weights<QuantizationMethod::Symmetric, 512>},
    {"weights_512x3x3x512/symmetric/mse", kLargeWeights, "SYMMETRIC", "MSE", 4,
     weights<QuantizationMethod::Symmetric, 512>},
    {"weights_64x3x3x64/uniform/mse", kSmallWeights, "UNIFORM", "MSE", 8,
     weights<QuantizationMethod::Uniform, 64>},
    {"weights_64x3x3x64/uniform/mse", kSmallWeights, "UNIFORM", "MSE", 4,
     weights<QuantizationMethod::Uniform, 64>},
    {"weights_64x3x3x64/power_of_two/mse", kSmallWeights, "POT", "MSE", 8,
     weights<QuantizationMethod::PowerOfTwo, 64>},
    {"weights_64x3x3x64/power_of_two/mse", kSmallWeights, "POT", "MSE", 4,
     weights<QuantizationMethod::PowerOfTwo, 64>},
    {"weights_512x3x3x512/power_of_two/mse", kLargeWeights, "POT", "MSE", 8,
     weights<QuantizationMethod::PowerOfTwo, 512>},
    {"activation/symmetric/mse", kActivation, "SYMMETRIC", "MSE", 8,
     activations<QuantizationMethod::Symmetric, false>},
    {"activation_rectified/symmetric/mse", kActivation, "SYMMETRIC", "MSE", 8,
     activations<QuantizationMethod::Symmetric, true>},
    {"activation/uniform/mse", kActivation, "UNIFORM", "MSE", 8,
     activations<QuantizationMethod::Uniform, false>},
    {"activation_rectified/uniform/mse", kActivation, "UNIFORM", "MSE", 8,
     activations<QuantizationMethod::Uniform, true>},
    {"activation/power_of_two/mse", kActivation, "POT", "MSE", 8,
     activations<QuantizationMethod::PowerOfTwo, false>},
    {"weights_64x3x3x64/lut_symmetric", kSmallWeights, "LUT_SYM", "-", 4,
     weightTables<QuantizationMethod::LutSymmetric, 64>},
    {"weights_64x3x3x64/lut_power_of_two", kSmallWeights, "LUT_POT", "-", 4,
     weightTables<QuantizationMethod::LutPowerOfTwo, 64>},
    {"weights_64x3x3x64/lut_symmetric", kSmallWeights, "LUT_SYM", "-", 2,
     weightTables<QuantizationMethod::LutSymmetric, 64>},
    {"weights_512x3x3x512/lut_symmetric", kLargeWeights, "LUT_SYM", "-", 4,
     weightTables<QuantizationMethod::LutSymmetric, 512>},
    {"activation/lut_power_of_two", kActivation, "LUT_POT", "-", 4,
     activationTable},
    {"weights_64x3x3x64/symmetric/mae", kSmallWeights, "SYMMETRIC", "MAE", 8,
     weights<QuantizationMethod::Symmetric, 64>},
    {"weights_64x3x3x64/symmetric/l3", kSmallWeights, "SYMMETRIC", "LP", 8,
     weights<QuantizationMethod::Symmetric, 64>},
    {"weights_64x3x3x64/symmetric/kl", kSmallWeights, "SYMMETRIC", "KL", 8,
     weights<QuantizationMethod::Symmetric, 64>},
    {"weights_64x3x3x64/uniform/mae", kSmallWeights, "UNIFORM", "MAE", 8,
     weights<QuantizationMethod::Uniform, 64>},
    {"weights_64x3x3x64/uniform/l3", kSmallWeights, "UNIFORM", "LP", 8,
     weights<QuantizationMethod::Uniform, 64>},
    {"weights_64x3x3x64/uniform/kl", kSmallWeights, "UNIFORM", "KL", 8,
     weights<QuantizationMethod::Uniform, 64>},
    {"activation/symmetric/mae", kActivation, "SYMMETRIC", "MAE", 8,
     activations<QuantizationMethod::Symmetric, false>},
    {"activation/symmetric/kl", kActivation, "SYMMETRIC", "KL", 8,
     activations<QuantizationMethod::Symmetric, false>},
    {"activation/uniform/mae", kActivation, "UNIFORM", "MAE", 8,
     activations<QuantizationMethod::Uniform, false>},
    {"activation/uniform/kl", kActivation, "UNIFORM", "KL", 8,
     activations<QuantizationMethod::Uniform, false>},
    // Above 8 bits MCT's times are not recorded; the certified searches are
    // shown for their price.
    {"weights_64x3x3x64/symmetric/mse", kSmallWeights, "SYMMETRIC", "MSE", 12,
     weights<QuantizationMethod::Symmetric, 64>},
    {"weights_64x3x3x64/uniform/mse", kSmallWeights, "UNIFORM", "MSE", 16,
     weights<QuantizationMethod::Uniform, 64>},
    {"activation/symmetric/mse", kActivation, "SYMMETRIC", "MSE", 16,
     activations<QuantizationMethod::Symmetric, false>},
};

std::string nameOf(const Line &line) {
  return std::string(line.name) + "/" + std::to_string(line.bits) + "_bits";
}

std::map<std::string, double> recordedSeconds() {
  std::map<std::string, double> seconds;
  auto buffer =
      llvm::MemoryBuffer::getFile(mct::testing::getGoldenPath("timing.json"));
  if (!buffer)
    return seconds;
  auto parsed = json::parse((*buffer)->getBuffer());
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return seconds;
  }
  const json::Object *root = parsed->getAsObject();
  const json::Array *results = root ? root->getArray("results") : nullptr;
  if (!results)
    return seconds;
  for (const json::Value &value : *results) {
    const json::Object *entry = value.getAsObject();
    if (!entry)
      continue;
    auto what = entry->getString("what"), method = entry->getString("method"),
         errorMethod = entry->getString("error_method");
    auto bits = entry->getInteger("n_bits");
    auto cpu = entry->getNumber("cpu_seconds_min");
    if (what && method && errorMethod && bits && cpu)
      seconds[(*what + "|" + *method + "|" + *errorMethod + "|").str() +
              std::to_string(*bits)] = *cpu;
  }
  return seconds;
}

/// Runs MCT on all searches of the table: the script reads keys line by line
/// and prints "key<tab>seconds".
std::map<std::string, double> secondsHere() {
  std::map<std::string, double> seconds;
  const char *python = std::getenv("MCT_PYTHON");
  if (!python)
    return seconds;
  std::string command = std::string(python) + " " +
                        mct::testing::getSourcePath(
                            "test/unit/Quantization/mct_selection_times.py");
  for (const Line &line : kLines)
    command += " '" + line.mctKey() + "'";
  std::FILE *pipe = popen(command.c_str(), "r");
  if (!pipe)
    return seconds;
  char text[512];
  while (std::fgets(text, sizeof(text), pipe)) {
    std::string row = text;
    size_t tab = row.find('\t');
    if (tab != std::string::npos)
      seconds[row.substr(0, tab)] = std::strtod(row.c_str() + tab, nullptr);
  }
  if (pclose(pipe) != 0)
    std::fprintf(stderr, "MCT_PYTHON: %s failed\n", command.c_str());
  return seconds;
}

void addCounter(benchmark::State &state, const char *name,
                const std::map<std::string, double> &seconds,
                const Line &line) {
  auto found = seconds.find(line.mctKey());
  if (found != seconds.end())
    state.counters[name] = 1e3 * found->second;
}

bool registerLines() {
  for (const Line &line : kLines)
    benchmark::RegisterBenchmark(nameOf(line).c_str(), [&line](benchmark::State
                                                                   &state) {
      static const std::map<std::string, double> recorded = recordedSeconds();
      static const std::map<std::string, double> here = secondsHere();
      line.run(state, line);
      addCounter(state, "MCT_recorded_ms", recorded, line);
      addCounter(state, "MCT_here_ms", here, line);
    })->Unit(benchmark::kMillisecond);
  return true;
}
const bool registered = registerLines();

/// Forces an instruction set for the life of a benchmark run.
class Forced {
public:
  Forced(benchmark::State &state, int64_t set) {
    if (!forceInstructionSetForTesting(static_cast<InstructionSet>(set)))
      state.SkipWithError("the processor lacks this instruction set");
  }
  ~Forced() { forceInstructionSetForTesting(std::nullopt); }
};

constexpr int64_t kPortable = static_cast<int64_t>(InstructionSet::Portable);
constexpr int64_t kAvx2 = static_cast<int64_t>(InstructionSet::AVX2);
constexpr int64_t kAvx512 = static_cast<int64_t>(InstructionSet::AVX512);

// The searches of the table with each instruction set.
void symmetricWeights(benchmark::State &state) {
  Forced forced(state, state.range(0));
  weights<QuantizationMethod::Symmetric, 64>(state, kLines[0]);
}
BENCHMARK(symmetricWeights)
    ->ArgName("set")
    ->Arg(kPortable)
    ->Arg(kAvx2)
    ->Arg(kAvx512)
    ->Unit(benchmark::kMillisecond);

// Arguments: bits, instruction set. One tensor, so that the ten candidates
// dominate.
void powerOfTwoPerTensor(benchmark::State &state) {
  Forced forced(state, state.range(1));
  std::vector<float> values = normalValues(1 << 20);
  SelectionOptions options;
  options.kind = QuantizationMethod::PowerOfTwo;
  options.bits = state.range(0);
  for (auto _ : state)
    benchmark::DoNotOptimize(selectForValues(values, options));
  reportElements(state, values.size());
}
BENCHMARK(powerOfTwoPerTensor)
    ->ArgNames({"bits", "set"})
    ->ArgsProduct({{2, 4, 8}, {kPortable, kAvx2, kAvx512}});

// Argument: instruction set. Minimum and maximum come with the counts.
void histogramObserve(benchmark::State &state) {
  Forced forced(state, state.range(0));
  std::vector<float> values = normalValues(1 << 17);
  HistogramScratch scratch;
  Histogram histogram;
  for (auto _ : state)
    histogram.observe(values.data(), values.size(), scratch);
  reportElements(state, values.size());
}
BENCHMARK(histogramObserve)
    ->ArgName("set")
    ->Arg(kPortable)
    ->Arg(kAvx2)
    ->Arg(kAvx512);

// Does the same as histogramObserve and also sums the channels of [2048, 64]
// exactly; the difference is the cost of that.
void histogramObserveWithChannelSums(benchmark::State &state) {
  Forced forced(state, state.range(0));
  constexpr size_t kRows = 2048, kChannels = 64;
  std::vector<float> values = normalValues(kRows * kChannels);
  HistogramScratch scratch;
  Histogram histogram;
  ChannelStatistics statistics;
  for (auto _ : state) {
    histogram.observe(values.data(), values.size(), scratch);
    statistics.observe(values.data(), kRows, kChannels);
  }
  reportElements(state, values.size());
}
BENCHMARK(histogramObserveWithChannelSums)
    ->ArgName("set")
    ->Arg(kPortable)
    ->Arg(kAvx2)
    ->Arg(kAvx512);

} // namespace
