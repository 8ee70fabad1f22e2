// SPDX-License-Identifier: Apache-2.0
//
// A step: the teacher computes its values for a batch; the shards of the batch
// are run up to the results, where the loss replaces them by its gradients, and
// on to the gradients of learned values. These are summed in the order of the
// shards and update the values. Everything that is rounded is computed in an
// order that does not depend on the number of threads.
#include "mct/Training/TrainingRun.h"

#include "CompiledTraining.h"
#include "ParameterUpdates.h"
#include "ShardRun.h"
#include "Teacher.h"
#include "TrainingCheckpoint.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mct;
using namespace mct::training;
using execution::SampleSource;
using execution::TensorSpec;

//===----------------------------------------------------------------------===//
// The order of samples
//===----------------------------------------------------------------------===//

namespace {
/// Based on Steele, Lea and Flood, Fast splittable pseudorandom number
/// generators (OOPSLA 2014), as in java.util.SplittableRandom.
struct SplitMix64 {
  uint64_t state;

  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t next() { return mix(state += 0x9e3779b97f4a7c15); }
  /// Returns a uniformly distributed number below `bound`: numbers that would
  /// favour some results are dropped.
  uint64_t below(uint64_t bound) {
    uint64_t reject = (0 - bound) % bound, number;
    do
      number = next();
    while (number < reject);
    return number % bound;
  }
};
} // namespace

std::vector<int64_t> mct::shuffleSamples(int64_t count, uint64_t seed,
                                         int64_t epoch) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  SplitMix64 random{SplitMix64::mix(SplitMix64::mix(seed) + uint64_t(epoch))};
  for (int64_t last = count; last > 1; --last)
    std::swap(order[last - 1], order[random.below(uint64_t(last))]);
  return order;
}

struct TrainingRun::State {
  State(const TrainingProblem &problem, const TrainingSettings &settings,
        const execution::RunSettings &run)
      : loc(func::FuncOp(problem.network).getLoc()), settings(settings),
        run(run), loss(problem.loss), source(problem.samples),
        chosen(problem.chosen) {}

  InFlightDiagnostic fail() { return training::fail(loc); }
  LogicalResult report(llvm::Error error) {
    return fail() << llvm::toString(std::move(error));
  }

  LogicalResult prepare(const TrainingProblem &problem);
  LogicalResult checkSettings();
  LogicalResult openSamples();
  std::string describeSettings() const;
  llvm::Expected<std::string> digestSamples() const;

  LogicalResult train();
  LogicalResult resume();
  LogicalResult save();
  FailureOr<TrainingStepInfo> runStep();
  FailureOr<double> evaluate(ArrayRef<int64_t> samples, float fraction);
  void setFraction(double fraction);
  /// Returns the samples of the next step, as indices into the chosen ones.
  std::vector<int64_t> nextBatch();

  Location loc;
  TrainingSettings settings;
  execution::RunSettings run;
  std::shared_ptr<TrainingLoss> loss;
  std::shared_ptr<const SampleSource> source;
  std::vector<int64_t> chosen;

  CompiledTraining compiled;
  int64_t stepsPerEpoch = 0, steps = 0;
  std::string networkDigest;
  /// Digests of a run that has a checkpoint.
  std::string settingsDigest, samplesDigest, startDigest;

  /// All learned values.
  std::vector<std::vector<float>> values;
  std::optional<size_t> fractionValue;
  quantization::LinearAnnealing fraction;
  std::optional<ParameterUpdates> updates;
  std::unique_ptr<Teacher> teacher;
  std::unique_ptr<ShardRun> shards;
  /// Samples of the present epoch.
  std::vector<int64_t> order;
  int64_t orderedEpoch = -1;

  int64_t step = 0;
};

//===----------------------------------------------------------------------===//
// Making a run
//===----------------------------------------------------------------------===//

LogicalResult TrainingRun::State::checkSettings() {
  auto atLeast = [&](StringRef what, int64_t value,
                     int64_t least) -> LogicalResult {
    if (value >= least)
      return success();
    return fail() << what << " must be at least " << least << ", but "
                  << (what == "epochs" ? "are " : "is ") << value;
  };
  if (failed(atLeast("epochs", settings.epochs, 1)) ||
      failed(atLeast("the batch", settings.batch, 1)) ||
      failed(atLeast("a shard", settings.shard, 1)) ||
      failed(atLeast("the number of steps between checkpoints",
                     settings.checkpointEvery, 0)))
    return failure();
  for (auto [name, optimizer] : {std::pair("weights", &settings.weights),
                                 std::pair("biases", &settings.biases),
                                 std::pair("quantizers", &settings.quantizers),
                                 std::pair("rounding", &settings.rounding)}) {
    if (!*optimizer)
      continue;
    auto isFactor = [](double value) { return value >= 0 && value < 1; };
    double rate;
    bool isValid;
    if (auto *adam = std::get_if<quantization::Adam>(&(*optimizer)->method)) {
      rate = adam->rate;
      isValid = isFactor(adam->beta1) && isFactor(adam->beta2) &&
                adam->epsilon > 0 && std::isfinite(adam->epsilon);
    } else {
      const auto &descent =
          std::get<quantization::GradientDescent>((*optimizer)->method);
      rate = descent.rate;
      isValid = isFactor(descent.momentum);
    }
    if (!isValid || !(rate >= 0) || std::isinf(rate))
      return fail() << "the optimizer of " << name
                    << " needs a finite rate from 0 on, betas or a momentum "
                       "from 0 to below 1, and a positive epsilon";
  }
  return success();
}

LogicalResult TrainingRun::State::openSamples() {
  ArrayRef<TensorSpec> inputs =
      compiled.executor->inputs().take_front(compiled.function.numInputs);
  if (!source) {
    auto opened =
        take(loc, SampleSource::open(run.samples, inputs, compiled.shard,
                                     run.cache.get()));
    if (failed(opened))
      return failure();
    auto half = take(loc, execution::takeHalf(std::move(*opened), run.half));
    if (failed(half))
      return failure();
    source = std::move(*half);
  }
  auto check = [&](ArrayRef<TensorSpec> inputs, int64_t unit,
                   StringRef whose) -> LogicalResult {
    if (source->numInputs() != inputs.size())
      return fail() << "samples have " << source->numInputs()
                    << " tensors, and " << whose << " has " << inputs.size()
                    << " inputs";
    for (auto [number, spec] : llvm::enumerate(inputs))
      if (int64_t bytes = int64_t(source->sampleBytes(number)) * unit;
          bytes != int64_t(execution::getByteSize(spec.type)))
        return fail() << "a sample has " << source->sampleBytes(number)
                      << " bytes, and input '" << spec.name << "' of " << whose
                      << ", " << spec.type << ", is not " << unit << " of them";
    return success();
  };
  if (failed(check(inputs, compiled.shard, "the network")) ||
      (compiled.teacher &&
       failed(check(compiled.teacher->inputs(), compiled.teacher->unit(),
                    "the teacher"))))
    return failure();
  if (source->numSamples() == 0)
    return fail() << "there are no samples";
  for (int64_t number : chosen)
    if (number < 0 || number >= source->numSamples())
      return fail() << "sample " << number << " is none of "
                    << source->numSamples();
  if (chosen.empty()) {
    chosen.resize(source->numSamples());
    std::iota(chosen.begin(), chosen.end(), 0);
  }
  if (llvm::Error error = loss->check(compiled.results, source->numSamples(),
                                      source->numAvailable()))
    return report(std::move(error));
  stepsPerEpoch =
      int64_t(llvm::divideCeil(chosen.size(), uint64_t(settings.batch)));
  steps = settings.epochs * stepsPerEpoch;
  return success();
}

LogicalResult TrainingRun::State::prepare(const TrainingProblem &problem) {
  if (failed(checkSettings()))
    return failure();
  FailureOr<CompiledTraining> made =
      CompiledTraining::create(problem, settings, run);
  if (failed(made))
    return failure();
  compiled = std::move(*made);
  networkDigest = hashText(compiled.description);
  for (auto [number, value] : llvm::enumerate(compiled.function.learned)) {
    values.push_back(value.initial.values);
    if (value.kind == LearnedKind::Schedule)
      fractionValue = number;
  }
  if (failed(openSamples()))
    return failure();
  FailureOr<ParameterUpdates> trained =
      ParameterUpdates::create(loc, compiled.function, values, settings, steps);
  if (failed(trained))
    return failure();
  updates.emplace(std::move(*trained));
  fraction =
      settings.fraction.value_or(quantization::LinearAnnealing{0, steps, 0, 1});
  FailureOr<std::unique_ptr<ShardRun>> network = ShardRun::create(
      loc, compiled, *source, values, *updates, settings.batch, run);
  if (failed(network))
    return failure();
  shards = std::move(*network);
  teacher = std::make_unique<Teacher>(compiled, *source, chosen, settings, run);
  if (!teacher->hasMemory())
    return fail() << "there is no memory for a batch";
  return success();
}

//===----------------------------------------------------------------------===//
// Contents of a checkpoint
//===----------------------------------------------------------------------===//

std::string TrainingRun::State::describeSettings() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  auto number = [&](double value) { out << llvm::format("%a ", value); };
  out << settings.epochs << " " << settings.batch << " " << compiled.shard
      << " " << settings.isShuffled << " " << settings.seed << " "
      << teacher->keepsResults() << " ";
  for (const auto &optimizer : {settings.weights, settings.biases,
                                settings.quantizers, settings.rounding}) {
    out << "; ";
    if (!optimizer)
      continue;
    if (auto *adam = std::get_if<quantization::Adam>(&optimizer->method)) {
      out << "adam ";
      for (double each : {adam->rate, adam->beta1, adam->beta2, adam->epsilon})
        number(each);
    } else {
      const auto &descent =
          std::get<quantization::GradientDescent>(optimizer->method);
      out << "descent ";
      number(descent.rate);
      number(descent.momentum);
    }
    out << int(optimizer->schedule.kind) << " " << optimizer->schedule.warmup
        << " " << optimizer->isRelative;
  }
  out << "; " << fraction.start << " " << fraction.end << " ";
  number(fraction.initial);
  number(fraction.target);
  if (settings.regularizer) {
    out << "; " << updates->powers.start << " ";
    number(updates->powers.initial);
    number(updates->powers.target);
    for (const Trained &each : updates->trained)
      number(each.factor);
  }
  out << "; " << loss->describe();
  return text;
}

/// Returns a digest of the samples that depends on their order, unlike
/// execution::digestSamples.
llvm::Expected<std::string> TrainingRun::State::digestSamples() const {
  std::string hashes;
  std::vector<char> sample;
  for (size_t input = 0; input != source->numInputs(); ++input) {
    sample.resize(source->sampleBytes(input));
    for (int64_t number : chosen) {
      if (llvm::Error error = source->load(input, number, 1, sample.data()))
        return std::move(error);
      uint64_t hash =
          llvm::xxh3_64bits(StringRef(sample.data(), sample.size()));
      hashes.append(reinterpret_cast<const char *>(&hash), sizeof(hash));
    }
  }
  // Labels and scores refer to samples by number.
  hashes.append(reinterpret_cast<const char *>(chosen.data()),
                chosen.size() * sizeof(int64_t));
  return hashText(hashes);
}

LogicalResult TrainingRun::State::save() {
  if (settings.checkpoint.empty())
    return success();
  TrainingCheckpoint checkpoint;
  checkpoint.network = networkDigest;
  checkpoint.settings = settingsDigest;
  checkpoint.samples = samplesDigest;
  checkpoint.step = step;
  checkpoint.values = values;
  for (const Trained &each : updates->trained) {
    checkpoint.states.push_back(each.first);
    checkpoint.states.push_back(each.second);
  }
  if (llvm::Error error = checkpoint.write(settings.checkpoint))
    return report(std::move(error));
  return success();
}

LogicalResult TrainingRun::State::resume() {
  if (settings.checkpoint.empty())
    return success();
  // Include the initial values, which are set after the run has been created.
  if (startDigest.empty())
    for (const std::vector<float> &tensor : values)
      startDigest += hashValues(tensor);
  std::string described = hashText(describeSettings());
  settingsDigest = described + hashText(startDigest);
  auto digest = take(loc, digestSamples());
  if (failed(digest))
    return failure();
  samplesDigest = *digest;
  if (!llvm::sys::fs::exists(settings.checkpoint))
    return success();
  auto checkpoint = take(loc, TrainingCheckpoint::read(settings.checkpoint));
  if (failed(checkpoint))
    return failure();
  auto other = [&](StringRef what) {
    InFlightDiagnostic error = fail() << "'" << settings.checkpoint
                                      << "' was made with " << what;
    error.attachNote() << "a run continues with the options that it began "
                          "with; remove the file to start again";
    return error;
  };
  if (!StringRef(checkpoint->settings).starts_with(described))
    return other("other settings");
  if (checkpoint->network != networkDigest)
    return other("another network");
  // Check this after the network, which also determines the initial values.
  if (checkpoint->settings != settingsDigest)
    return other("other settings");
  if (checkpoint->samples != samplesDigest)
    return other("other samples");
  // Workers use the values in place.
  for (auto [own, kept] : llvm::zip_equal(values, checkpoint->values))
    llvm::copy(kept, own.begin());
  for (auto [number, each] : llvm::enumerate(updates->trained)) {
    each.first = std::move(checkpoint->states[2 * number]);
    each.second = std::move(checkpoint->states[2 * number + 1]);
  }
  step = checkpoint->step;
  return success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

std::vector<int64_t> TrainingRun::State::nextBatch() {
  int64_t epoch = step / stepsPerEpoch;
  if (epoch != orderedEpoch) {
    int64_t count = int64_t(chosen.size());
    order =
        shuffleSamples(settings.isShuffled ? count : 0, settings.seed, epoch);
    if (!settings.isShuffled) {
      order.resize(count);
      std::iota(order.begin(), order.end(), 0);
    }
    orderedEpoch = epoch;
  }
  int64_t first = (step % stepsPerEpoch) * settings.batch;
  int64_t last =
      std::min<int64_t>(first + settings.batch, int64_t(order.size()));
  return std::vector<int64_t>(order.begin() + first, order.begin() + last);
}

void TrainingRun::State::setFraction(double value) {
  if (fractionValue)
    llvm::fill(values[*fractionValue], float(value));
}

FailureOr<TrainingStepInfo> TrainingRun::State::runStep() {
  std::vector<int64_t> places = nextBatch(), samples;
  for (int64_t place : places)
    samples.push_back(chosen[place]);
  setFraction(fraction.at(step));

  auto batch = teacher->begin(samples, places);
  if (!batch)
    return report(batch.takeError());
  BatchLoss batchLoss = loss->begin(*batch);

  TrainingStepInfo info;
  info.step = step;
  info.steps = steps;
  info.stepsPerEpoch = stepsPerEpoch;
  info.trained = updates->moved;
  int64_t count = shards->numShards(samples), wave = shards->numSlots();
  std::vector<double> losses(count);
  for (int64_t begin = 0; begin < count; begin += wave) {
    int64_t end = std::min(begin + wave, count);
    if (llvm::Error error =
            shards->run(*batch, batchLoss, begin,
                        MutableArrayRef(losses).slice(begin, end - begin),
                        /*gradients=*/true))
      return report(std::move(error));
    if (end == count) {
      info.loss = std::accumulate(losses.begin(), losses.end(), 0.0);
      if (!std::isfinite(info.loss))
        return fail() << "the loss of step " << step << " of " << steps
                      << " is " << info.loss
                      << "; train with a smaller learning rate";
    }
    info.regularizer +=
        updates->add(shards->getGradients(end - begin), begin == 0,
                     end == count, step, run.run.threads);
  }
  shards->takeStates(values);
  for (const ValidPoint &point : compiled.points) {
    SmallVector<MutableArrayRef<float>> learned;
    for (size_t number : point.values)
      learned.push_back(values[number]);
    if (!learned.empty())
      point.quantizer.keepValid(learned);
  }
  ++step;
  if (run.run.progress)
    run.run.progress->add(int64_t(samples.size()));
  return info;
}

LogicalResult TrainingRun::State::train() {
  updates->measureUnits();
  if (failed(resume()))
    return failure();
  support::Progress *progress = run.run.progress;
  int64_t savedStep = step;
  if (progress) {
    int64_t count = int64_t(chosen.size());
    progress->begin(settings.epochs * count);
    progress->add(step / stepsPerEpoch * count +
                  step % stepsPerEpoch * settings.batch);
  }
  auto trainSteps = [&]() -> LogicalResult {
    while (step != steps) {
      FailureOr<TrainingStepInfo> info = runStep();
      if (failed(info)) {
        // Keep the values that have been learned.
        if (isCancelled(run) && step != savedStep)
          (void)save();
        return failure();
      }
      if (settings.afterStep && !settings.afterStep(*info))
        break;
      if (settings.checkpointEvery != 0 &&
          step % settings.checkpointEvery == 0 && step != steps) {
        if (failed(save()))
          return failure();
        savedStep = step;
      }
    }
    return step == savedStep ? success() : save();
  };
  LogicalResult done = trainSteps();
  if (progress)
    progress->end();
  return done;
}

FailureOr<double> TrainingRun::State::evaluate(ArrayRef<int64_t> samples,
                                               float fraction) {
  for (int64_t number : samples)
    if (number < 0 || number >= source->numSamples())
      return fail() << "sample " << number << " is none of "
                    << source->numSamples();
  setFraction(fraction);
  double sum = 0;
  for (size_t first = 0; first < samples.size();
       first += size_t(settings.batch)) {
    ArrayRef<int64_t> part = samples.slice(
        first, std::min(size_t(settings.batch), samples.size() - first));
    auto batch = teacher->begin(part, /*places=*/{});
    if (!batch)
      return report(batch.takeError());
    BatchLoss batchLoss = loss->begin(*batch);
    std::vector<double> losses(shards->numShards(part));
    if (llvm::Error error = shards->run(*batch, batchLoss, 0, losses,
                                        /*gradients=*/false))
      return report(std::move(error));
    sum += std::accumulate(losses.begin(), losses.end(), 0.0) *
           double(part.size());
  }
  return samples.empty() ? 0 : sum / double(samples.size());
}

//===----------------------------------------------------------------------===//
// TrainingRun
//===----------------------------------------------------------------------===//

TrainingRun::TrainingRun(std::unique_ptr<State> state)
    : state(std::move(state)) {}
TrainingRun::~TrainingRun() = default;

FailureOr<std::unique_ptr<TrainingRun>>
TrainingRun::create(const TrainingProblem &problem,
                    const TrainingSettings &settings,
                    const execution::RunSettings &run) {
  auto state = std::make_unique<State>(problem, settings, run);
  if (failed(state->prepare(problem)))
    return failure();
  return std::unique_ptr<TrainingRun>(new TrainingRun(std::move(state)));
}

LogicalResult TrainingRun::train() { return state->train(); }
int64_t TrainingRun::numStepsDone() const { return state->step; }
int64_t TrainingRun::numSteps() const { return state->steps; }
const TrainingFunction &TrainingRun::function() const {
  return state->compiled.function;
}
ArrayRef<std::vector<float>> TrainingRun::values() const {
  return state->values;
}

void TrainingRun::setValues(ArrayRef<std::vector<float>> values) {
  // Workers use this memory in place.
  for (auto [own, other] : llvm::zip_equal(state->values, values))
    llvm::copy(other, own.begin());
}

FailureOr<double> TrainingRun::evaluate(ArrayRef<int64_t> samples,
                                        float fraction) {
  return state->evaluate(samples, fraction);
}

LogicalResult TrainingRun::write(func::FuncOp network) const {
  return writeLearned(network, state->compiled.function, state->values);
}
