// SPDX-License-Identifier: Apache-2.0
#include "ParameterUpdates.h"
#include "mct/Quantization/Parallel.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mct;
using namespace mct::training;

void ParameterUpdates::addTensor(size_t value,
                                 const OptimizerSettings &optimizer) {
  constexpr size_t kChunk = 16384;
  Trained &next = trained.emplace_back();
  next.value = value;
  next.optimizer = optimizer;
  next.size = (*values)[value].size();
  next.offset = gradients.size();
  // Align tensors to cache lines.
  gradients.resize(gradients.size() + llvm::alignTo(next.size, 16));
  if (std::holds_alternative<quantization::Adam>(optimizer.method)) {
    next.first.resize(next.size);
    next.second.resize(next.size);
  } else if (std::get<quantization::GradientDescent>(optimizer.method)
                 .momentum != 0) {
    next.first.resize(next.size);
  }
  for (size_t begin = 0; begin < next.size; begin += kChunk)
    chunks.push_back(
        {trained.size() - 1, begin, std::min(kChunk, next.size - begin)});
}

FailureOr<ParameterUpdates>
ParameterUpdates::create(Location loc, const TrainingFunction &function,
                         std::vector<std::vector<float>> &values,
                         const TrainingSettings &settings, int64_t steps) {
  ParameterUpdates updates(values);
  for (auto [number, value] : llvm::enumerate(function.learned))
    if (const OptimizerSettings *found = getOptimizer(settings, value.kind)) {
      OptimizerSettings optimizer = *found;
      optimizer.schedule.steps = steps;
      updates.addTensor(number, optimizer);
    }
  if (updates.trained.empty())
    return fail(loc) << "nothing would be learned: no kind of what the network "
                        "learns has an optimizer";
  for (const Trained &each : updates.trained)
    updates.moved.push_back(
        {&function.learned[each.value], values[each.value],
         ArrayRef(updates.gradients).slice(each.offset, each.size)});
  if (settings.regularizer && failed(updates.setRegularizer(
                                  loc, function, *settings.regularizer, steps)))
    return failure();
  return std::move(updates);
}

LogicalResult
ParameterUpdates::setRegularizer(Location loc, const TrainingFunction &function,
                                 const RegularizerSettings &regularizer,
                                 int64_t steps) {
  auto isRounding = [](const LearnedValue &value) {
    return value.role == tpc::LearnedRole::Rounding;
  };
  size_t numRounding = llvm::count_if(function.learned, isRounding);
  if (numRounding == 0)
    return success();
  std::vector<double> importances = regularizer.importances;
  if (importances.empty())
    importances.assign(numRounding, 1.0);
  auto factors = take(loc, quantization::regularizerFactors(
                               importances, numRounding, regularizer.factor));
  if (failed(factors))
    return failure();
  auto annealing =
      take(loc, quantization::LinearAnnealing::create(
                    int64_t(regularizer.start * double(steps)), steps,
                    regularizer.initial, regularizer.target));
  if (failed(annealing))
    return failure();
  powers = *annealing;
  size_t layer = 0;
  for (auto [number, value] : llvm::enumerate(function.learned))
    if (isRounding(value)) {
      for (Trained &each : trained)
        if (each.value == number)
          each.factor = (*factors)[layer];
      ++layer;
    }
  return success();
}

/// Returns the unit of the learning rate of a tensor with these initial values.
static double measureUnit(ArrayRef<float> values) {
  double sum = 0;
  for (float value : values)
    sum += double(value) * value;
  return sum == 0 ? 1 : std::sqrt(sum / double(values.size()));
}

void ParameterUpdates::measureUnits() {
  for (Trained &each : trained)
    if (each.optimizer.isRelative)
      each.unit = measureUnit((*values)[each.value]);
}

double ParameterUpdates::update(const Chunk &chunk, float *gradients,
                                int64_t step) {
  Trained &own = trained[chunk.tensor];
  MutableArrayRef<float> parameters =
      MutableArrayRef<float>((*values)[own.value])
          .slice(chunk.begin, chunk.count);
  MutableArrayRef<float> of(gradients, chunk.count);
  double regularizer = 0;
  if (own.factor != 0) {
    double power = powers.at(step);
    regularizer =
        own.factor * quantization::roundingRegularizer(parameters, power);
    quantization::addRoundingRegularizerGradient(parameters, power, own.factor,
                                                 of);
  }
  auto part = [&](std::vector<float> &state) {
    return state.empty()
               ? MutableArrayRef<float>()
               : MutableArrayRef<float>(state).slice(chunk.begin, chunk.count);
  };
  double rate = own.unit * own.optimizer.schedule.at(step);
  if (auto *adam = std::get_if<quantization::Adam>(&own.optimizer.method))
    quantization::step(*adam, step + 1, part(own.first), part(own.second), of,
                       parameters, rate);
  else
    quantization::step(
        std::get<quantization::GradientDescent>(own.optimizer.method),
        part(own.first), of, parameters, rate);
  return regularizer;
}

double ParameterUpdates::add(ArrayRef<const float *> shards, bool isFirst,
                             bool isLast, int64_t step,
                             const support::Threads &threads) {
  std::vector<double> parts(chunks.size());
  quantization::parallelFor(chunks.size(), threads, [&](size_t index) {
    const Chunk &chunk = chunks[index];
    size_t offset = trained[chunk.tensor].offset + chunk.begin;
    float *sum = gradients.data() + offset;
    for (auto [number, shard] : llvm::enumerate(shards)) {
      const float *from = shard + offset;
      if (isFirst && number == 0)
        std::copy_n(from, chunk.count, sum);
      else
        for (size_t i = 0; i != chunk.count; ++i)
          sum[i] += from[i];
    }
    if (isLast)
      parts[index] = update(chunk, sum, step);
  });
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}
