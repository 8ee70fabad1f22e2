// SPDX-License-Identifier: Apache-2.0
//
// Training runs of small networks: against the same steps in double precision,
// and against themselves with other threads and interruptions.
#include "TrainingRunFixture.h"
#include "mct/Support/Progress.h"

#include <cmath>
#include <set>

using namespace mct;
using namespace mct::testing::training;
using quantization::GradientDescent;

namespace {

/// The same in double precision.
struct Reference {
  Tensors learned;
  Tensors gradients;

  explicit Reference(const Network &network) {
    learned["hidden/kernel"] = network.hidden;
    learned["hidden/bias"] = network.hiddenBias;
    learned["hidden/kernel:threshold"] = {1.0, float(0.9), 1.0, float(0.8)};
    learned["relu:threshold"] = {1.25};
    learned["classes/kernel"] = network.classes;
    learned["classes/bias"] = network.classesBias;
    learned["classes/kernel:threshold"] = {1, 1};
  }

  struct Level {
    double result, levels, clipped, n;
    bool inside;
  };
  static Level quantize(double value, double threshold, int bits,
                        bool isSigned) {
    double n = std::ldexp(1.0, bits - int(isSigned));
    double low = isSigned ? -n : 0, high = n - 1, step = threshold / n;
    double levels = value / step, rounded = std::nearbyint(levels);
    double clipped = std::min(std::max(rounded, low), high);
    return {clipped * step, levels, clipped, n, rounded == clipped};
  }
  /// Learned step sizes: what passes to the value, and to the threshold, whose
  /// part is divided by sqrt(highest code * parameters).
  static double pass(const Level &level, double gradient, double parameters,
                     double &threshold) {
    threshold += gradient *
                 (level.clipped - (level.inside ? level.levels : 0)) / level.n /
                 std::sqrt((level.n - 1) * parameters);
    return level.inside ? gradient : 0;
  }

  /// Adds the gradients of a sample's cross entropy / count; returns that.
  double addSample(const float *x, int64_t label, double count) {
    Tensor &hidden = learned["hidden/kernel"],
           &hiddenBias = learned["hidden/bias"],
           &hiddenStep = learned["hidden/kernel:threshold"],
           &classes = learned["classes/kernel"],
           &classesBias = learned["classes/bias"],
           &classesStep = learned["classes/kernel:threshold"];
    double &relu = learned["relu:threshold"][0];
    double made[kHidden], scores[kClasses];
    Level levels[kHidden];
    for (unsigned h = 0; h != kHidden; ++h) {
      made[h] = hiddenBias[h];
      for (unsigned i = 0; i != kInputs; ++i)
        made[h] +=
            x[i] *
            quantize(hidden[h * kInputs + i], hiddenStep[h], 6, true).result;
      levels[h] = quantize(std::max(0.0, made[h]), relu, 8, false);
    }
    double sum = 0;
    for (unsigned c = 0; c != kClasses; ++c) {
      scores[c] = classesBias[c];
      for (unsigned h = 0; h != kHidden; ++h)
        scores[c] +=
            levels[h].result *
            quantize(classes[c * kHidden + h], classesStep[c], 6, true).result;
      sum += std::exp(scores[c]);
    }
    double back[kHidden] = {};
    for (unsigned c = 0; c != kClasses; ++c) {
      double g =
          (std::exp(scores[c]) / sum - (int64_t(c) == label ? 1 : 0)) / count;
      gradients["classes/bias"][c] += g;
      for (unsigned h = 0; h != kHidden; ++h) {
        Level weight =
            quantize(classes[c * kHidden + h], classesStep[c], 6, true);
        back[h] += g * weight.result;
        gradients["classes/kernel"][c * kHidden + h] +=
            pass(weight, g * levels[h].result, kClasses,
                 gradients["classes/kernel:threshold"][c]);
      }
    }
    for (unsigned h = 0; h != kHidden; ++h) {
      double g =
          pass(levels[h], back[h], kHidden, gradients["relu:threshold"][0]);
      if (made[h] <= 0)
        g = 0;
      gradients["hidden/bias"][h] += g;
      for (unsigned i = 0; i != kInputs; ++i)
        gradients["hidden/kernel"][h * kInputs + i] +=
            pass(quantize(hidden[h * kInputs + i], hiddenStep[h], 6, true),
                 g * x[i], kHidden, gradients["hidden/kernel:threshold"][h]);
    }
    return -std::log(std::exp(scores[label]) / sum) / count;
  }
};

/// Steps of the reference, of the learned values of one name.
struct ReferenceOptimizer {
  Tensor first, second;

  void step(const OptimizerSettings &settings, int64_t number, double factor,
            const Tensor &gradients, Tensor &values) {
    first.resize(values.size());
    second.resize(values.size());
    for (size_t i = 0; i != values.size(); ++i) {
      double g = gradients[i];
      if (auto *adam = std::get_if<Adam>(&settings.method)) {
        first[i] = adam->beta1 * first[i] + (1 - adam->beta1) * g;
        second[i] = adam->beta2 * second[i] + (1 - adam->beta2) * g * g;
        values[i] -=
            factor * adam->rate *
            (first[i] / (1 - std::pow(adam->beta1, number))) /
            (std::sqrt(second[i] / (1 - std::pow(adam->beta2, number))) +
             adam->epsilon);
      } else {
        const auto &descent = std::get<GradientDescent>(settings.method);
        first[i] = descent.momentum * first[i] + g;
        values[i] -= factor * descent.rate * first[i];
      }
    }
  }
};

/// Expects the run to follow the reference for its 12 steps, the last batch of
/// an epoch having 2 samples of 4.
class SameSteps : public TrainingRunTest {
protected:
  void expectSameSteps() {
    Network network(1);
    Reference reference(network);
    std::map<std::string, ReferenceOptimizer> optimizers;
    std::vector<double> expected;
    for (int64_t epoch = 0, step = 0; epoch != settings.epochs; ++epoch) {
      std::vector<int64_t> order = shuffleSamples(10, settings.seed, epoch);
      for (int64_t first = 0; first < 10; first += 4, ++step) {
        int64_t count = std::min<int64_t>(4, 10 - first);
        for (auto &[name, values] : reference.learned)
          reference.gradients[name].assign(values.size(), 0);
        expected.push_back(0);
        for (int64_t number = first; number != first + count; ++number)
          expected.back() +=
              reference.addSample(data.images.data() + order[number] * kInputs,
                                  data.labels[order[number]], double(count));
        for (auto &[name, values] : reference.learned) {
          bool isBias = llvm::StringRef(name).ends_with("bias"),
               isThreshold = llvm::StringRef(name).ends_with("threshold");
          const OptimizerSettings &optimizer = isBias ? *settings.biases
                                               : isThreshold
                                                   ? *settings.quantizers
                                                   : *settings.weights;
          quantization::RateSchedule schedule = optimizer.schedule;
          schedule.steps = 12;
          optimizers[name].step(optimizer, step + 1, schedule.at(step),
                                reference.gradients[name], values);
        }
      }
    }
    auto training = create(classify());
    ASSERT_TRUE(training) << diagnostics;
    EXPECT_EQ(training->numSteps(), 12);
    auto values = train(classify());
    ASSERT_EQ(values.size(), reference.learned.size()) << diagnostics;
    ASSERT_EQ(losses.size(), expected.size());
    // Sums in f32 instead of double, over a dozen steps.
    for (auto [loss, wanted] : llvm::zip(losses, expected))
      EXPECT_NEAR(loss, wanted, 1e-5);
    for (auto [learned, tensor] :
         llvm::zip(training->function().learned, values)) {
      const Tensor &wanted = reference.learned[learned.name];
      ASSERT_EQ(tensor.size(), wanted.size()) << learned.name;
      for (size_t i = 0; i != wanted.size(); ++i)
        EXPECT_NEAR(tensor[i], wanted[i], 1e-5) << learned.name;
    }
  }
};

TEST_F(SameSteps, AdamFollowsTheReference) {
  settings.weights->schedule.kind = quantization::RateSchedule::Kind::Cosine;
  settings.weights->schedule.warmup = 3;
  expectSameSteps();
}

TEST_F(SameSteps, GradientDescentFollowsTheReference) {
  settings.weights = OptimizerSettings{GradientDescent{0.1, 0.9}};
  settings.biases = OptimizerSettings{GradientDescent{0.2}};
  settings.quantizers = OptimizerSettings{GradientDescent{0.5, 0.5}};
  expectSameSteps();
}

TEST_F(TrainingRunTest, LossGoesDown) {
  take(Data(64));
  settings.epochs = 20;
  settings.batch = 16;
  ASSERT_FALSE(train(classify()).empty()) << diagnostics;
  EXPECT_LT(losses.back(), 0.5 * losses.front());
}

TEST_F(TrainingRunTest, ThreadsChangeNothing) {
  take(Data(50));
  settings.batch = 20;
  for (bool hasTeacher : {false, true}) {
    run.run.threads = support::Threads(1);
    auto problem = [&] { return hasTeacher ? distil() : classify(); };
    auto expected = train(problem());
    ASSERT_FALSE(expected.empty()) << diagnostics;
    for (unsigned threads : {2, 3}) {
      run.run.threads = support::Threads(threads);
      EXPECT_EQ(train(problem()), expected) << threads;
    }
  }
}

TEST_F(TrainingRunTest, StoppedAfterAnyStepItGoesOnToTheSameBytes) {
  for (bool hasTeacher : {false, true}) {
    auto problem = [&] { return hasTeacher ? distil() : classify(); };
    settings.biases = OptimizerSettings{GradientDescent{0.1, 0.9}};
    settings.checkpoint.clear();
    auto expected = train(problem());
    ASSERT_FALSE(expected.empty()) << diagnostics;
    for (int64_t last = 0; last != 12; ++last) {
      settings.checkpoint = path("stopped");
      settings.afterStep = [&](const TrainingStepInfo &info) {
        return info.step != last;
      };
      auto stopped = train(problem());
      EXPECT_EQ(losses.size(), size_t(last + 1));
      EXPECT_EQ(stopped == expected, last == 11);
      settings.afterStep = nullptr;
      EXPECT_EQ(train(problem()), expected) << "stopped behind step " << last;
      EXPECT_EQ(losses.size(), size_t(11 - last));
      llvm::sys::fs::remove(settings.checkpoint);
    }
  }
}

TEST_F(TrainingRunTest, EndedAtAnyStepItGoesOnFromTheLastCheckpoint) {
  auto expected = train(classify());
  settings.checkpoint = path("every");
  settings.checkpointEvery = 5;
  settings.afterStep = [&](const TrainingStepInfo &info) {
    // A copy of the present files, as if the process had been killed here.
    if (info.step == 8)
      EXPECT_FALSE(llvm::sys::fs::copy_file(settings.checkpoint, path("copy")));
    return true;
  };
  EXPECT_EQ(train(classify()), expected);
  settings.afterStep = nullptr;
  settings.checkpoint = path("copy");
  EXPECT_EQ(train(classify()), expected);
  // Step 5 is the first one after the checkpoint.
  EXPECT_EQ(losses.size(), 7u);
}

TEST_F(TrainingRunTest, CancelledItFailsAndGoesOnLater) {
  auto expected = train(classify());
  settings.checkpoint = path("cancelled");
  support::Progress progress;
  run.run.progress = &progress;
  settings.afterStep = [&](const TrainingStepInfo &info) {
    if (info.step == 4)
      progress.cancel();
    // Four samples of each of five steps but of the third, which has two.
    EXPECT_EQ(progress.counts().total, 40);
    if (info.step == 4)
      EXPECT_EQ(progress.counts().done, 18);
    return true;
  };
  expectFails(classify(), "training: cancelled");
  run.run.progress = nullptr;
  settings.afterStep = nullptr;
  EXPECT_EQ(train(classify()), expected);
  EXPECT_EQ(losses.size(), 7u);
}

TEST_F(TrainingRunTest, ShardsAreOnlyRounding) {
  std::vector<std::vector<float>> expected;
  for (int64_t shard : {1, 2, 3, 4, 100}) {
    settings.shard = shard;
    auto values = train(classify());
    ASSERT_FALSE(values.empty()) << diagnostics;
    if (expected.empty())
      expected = values;
    for (auto [tensor, wanted] : llvm::zip(values, expected))
      for (auto [value, other] : llvm::zip(tensor, wanted))
        EXPECT_NEAR(value, other, 1e-5) << shard;
  }
}

TEST_F(TrainingRunTest, SeedsOrderSamples) {
  auto first = train(classify());
  settings.seed = 8;
  EXPECT_NE(train(classify()), first);
  settings.isShuffled = false;
  auto ordered = train(classify());
  settings.seed = 7;
  EXPECT_EQ(train(classify()), ordered);
  EXPECT_NE(ordered, first);
}

TEST(ShuffleSamples, ArePermutationsOfTheirSeedAndEpoch) {
  std::vector<int64_t> order = shuffleSamples(100, 1, 0);
  EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), 100u);
  EXPECT_EQ(*std::min_element(order.begin(), order.end()), 0);
  EXPECT_EQ(*std::max_element(order.begin(), order.end()), 99);
  EXPECT_EQ(shuffleSamples(100, 1, 0), order);
  EXPECT_NE(shuffleSamples(100, 2, 0), order);
  EXPECT_NE(shuffleSamples(100, 1, 1), order);
  EXPECT_TRUE(shuffleSamples(0, 1, 1).empty());
  // Every order of three is as likely.
  std::map<std::vector<int64_t>, int> counts;
  for (int64_t epoch = 0; epoch != 6000; ++epoch)
    ++counts[shuffleSamples(3, 5, epoch)];
  EXPECT_EQ(counts.size(), 6u);
  for (auto &[each, count] : counts)
    EXPECT_NEAR(count, 1000, 150);
}

TEST_F(TrainingRunTest, ValuesWithoutAnOptimizerStay) {
  settings.weights = settings.quantizers = std::nullopt;
  auto before = create(classify())->values().vec();
  auto made = create(classify());
  ASSERT_TRUE(succeeded(made->train())) << diagnostics;
  for (auto [learned, old, now] :
       llvm::zip(made->function().learned, before, made->values()))
    EXPECT_EQ(old == now, learned.kind != LearnedKind::Bias) << learned.name;
}

TEST_F(TrainingRunTest, TeachersMakeTheSameValuesKeptOrNot) {
  settings.shard = 4;
  auto kept = train(distil());
  ASSERT_FALSE(kept.empty()) << diagnostics;
  settings.teacherBytes = 0;
  auto made = train(distil());
  for (auto [tensor, wanted] : llvm::zip(made, kept))
    for (auto [value, other] : llvm::zip(tensor, wanted))
      EXPECT_NEAR(value, other, 1e-6);
}

TEST_F(TrainingRunTest, TheNetworkItselfIsItsTeacher) {
  // The only error left is that of quantization.
  TrainingProblem problem = distil();
  problem.teacher = nullptr;
  settings.weights = settings.biases = settings.quantizers =
      OptimizerSettings{Adam{/*rate=*/0}};
  ASSERT_FALSE(train(problem).empty()) << diagnostics;
  EXPECT_GT(losses.front(), 0);
  EXPECT_LT(losses.front(), 0.01);
}

TEST_F(TrainingRunTest, EvaluatesSamplesByNumber) {
  TrainingProblem problem = classify();
  // Trained on some, judged on the others.
  problem.chosen = {0, 1, 2, 3, 4, 5, 6};
  auto made = create(problem);
  ASSERT_TRUE(made) << diagnostics;
  Reference reference((Network(1)));
  for (auto &[name, values] : reference.learned)
    reference.gradients[name].assign(values.size(), 0);
  double expected = 0;
  for (int64_t sample : {9, 7, 8, 2, 5})
    expected += reference.addSample(data.images.data() + sample * kInputs,
                                    data.labels[sample], 5);
  auto loss = made->evaluate({9, 7, 8, 2, 5});
  ASSERT_TRUE(succeeded(loss)) << diagnostics;
  EXPECT_NEAR(*loss, expected, 1e-6);
  EXPECT_EQ(made->numSteps(), 8);
  EXPECT_TRUE(failed(made->evaluate({10})));
  EXPECT_EQ(diagnostics, "training: sample 10 is none of 10\n");
}

TEST_F(TrainingRunTest, WritesWhatWasLearned) {
  TrainingProblem problem = classify();
  auto made = create(problem);
  ASSERT_TRUE(made && succeeded(made->train())) << diagnostics;
  ASSERT_TRUE(succeeded(made->write(problem.network))) << diagnostics;
  // The network computes what the training function did.
  auto loss = made->evaluate({0, 1, 2, 3});
  execution::CompileOptions options;
  auto executor = execution::Executor::compile(*modules.back(), options);
  ASSERT_TRUE(succeeded(executor)) << diagnostics;
  auto source = llvm::cantFail(execution::SampleSource::open(
      run.samples, (*executor)->inputs(), (*executor)->unit()));
  double sum = 0;
  execution::RunOptions runOptions;
  llvm::cantFail(execution::forEachUnit(
      **executor, *source, runOptions, [](size_t, execution::Worker &) {},
      [&](const execution::Unit &unit) {
        for (int64_t i = 0; i != unit.validSamples; ++i) {
          int64_t sample = unit.firstSample + i;
          if (sample > 3)
            continue;
          const float *scores =
              static_cast<const float *>(unit.outputs[0]) + i * kClasses;
          sum += std::log(std::exp(scores[0]) + std::exp(scores[1])) -
                 scores[data.labels[sample]];
        }
        return llvm::Error::success();
      }));
  EXPECT_NEAR(*loss, sum / 4, 1e-5);
}

//===----------------------------------------------------------------------===//
// Rounding, fractions and ranges
//===----------------------------------------------------------------------===//

class RoundingTest : public TrainingRunTest {
protected:
  RoundingTest() {
    settings.rounding = OptimizerSettings{Adam{/*rate=*/0.1}};
    settings.weights = std::nullopt;
    settings.epochs = 50;
  }
  TrainingProblem round() {
    TrainingProblem problem = distil();
    problem.request.weights = false;
    problem.network = parse(replaceAll(Network(1).text(), kWeight,
                                       "trainable(#tpc.soft_rounding<>)"));
    problem.teacher = nullptr;
    return problem;
  }
  /// The largest distance of what softens the rounding from 0 and 1, of a
  /// layer's weights.
  static double undecided(const TrainingRun &training, llvm::StringRef layer) {
    double largest = 0;
    for (auto [learned, tensor] :
         llvm::zip(training.function().learned, training.values()))
      if (learned.role == tpc::LearnedRole::Rounding &&
          llvm::StringRef(learned.name).starts_with(layer))
        for (float value : tensor) {
          double h = quantization::soften(value);
          largest = std::max(largest, std::min(h, 1 - h));
        }
    return largest;
  }
};

TEST_F(RoundingTest, TheRegularizerDecides) {
  auto without = create(round());
  ASSERT_TRUE(without && succeeded(without->train())) << diagnostics;
  EXPECT_GT(undecided(*without, "hidden"), 0.1);

  std::vector<TrainingStepInfo> infos;
  settings.regularizer = RegularizerSettings();
  settings.regularizer->factor = 0.1;
  settings.afterStep = [&](const TrainingStepInfo &info) {
    infos.push_back(info);
    return true;
  };
  auto with = create(round());
  ASSERT_TRUE(with && succeeded(with->train())) << diagnostics;
  EXPECT_LT(undecided(*with, "hidden"), 0.01);
  EXPECT_LT(undecided(*with, "classes"), 0.01);
  // The power stays at 20 for a fifth of the run, and then decreases to 2.
  double first = 0, last = 0;
  auto beginning = create(round());
  for (auto [learned, tensor] :
       llvm::zip(with->function().learned, beginning->values()))
    if (learned.role == tpc::LearnedRole::Rounding)
      first += 0.1 * quantization::roundingRegularizer(tensor, 20);
  EXPECT_NEAR(infos.front().regularizer, first, 1e-9);
  for (auto [learned, tensor] :
       llvm::zip(with->function().learned, with->values()))
    if (learned.role == tpc::LearnedRole::Rounding)
      last += 0.1 * quantization::roundingRegularizer(tensor, 2);
  EXPECT_NEAR(infos.back().regularizer, last, 0.01);
}

TEST_F(RoundingTest, ImportancesAreOfTheLayers) {
  settings.regularizer = RegularizerSettings();
  settings.regularizer->factor = 0.1;
  settings.regularizer->importances = {0, 2};
  auto made = create(round());
  ASSERT_TRUE(made && succeeded(made->train())) << diagnostics;
  EXPECT_GT(undecided(*made, "hidden"), 0.1);
  EXPECT_LT(undecided(*made, "classes"), 0.1);

  settings.regularizer->importances = {1, 2, 3};
  expectFails(round(),
              "training: expected the importances of 2 layers, found 3");
}

TEST_F(TrainingRunTest, ActivationsAreQuantizedMoreAndMore) {
  auto gradual = [&] {
    TrainingProblem problem = classify();
    problem.network = parse(
        replaceAll(replaceAll(Network(1).text(), "bits = 8", "bits = 1"),
                   "trainable(#tpc.learned_threshold<bits = 1, is_signed = "
                   "false>)",
                   "trainable(#tpc.gradual<of = #tpc.straight_through<>>)"));
    return problem;
  };
  auto made = create(gradual());
  ASSERT_TRUE(made) << diagnostics;
  auto before = made->evaluate({0, 1, 2}, 0),
       half = made->evaluate({0, 1, 2}, 0.5), after = made->evaluate({0, 1, 2});
  EXPECT_NE(*before, *half);
  EXPECT_NE(*after, *half);
  EXPECT_NE(*after, *before);
  // From 0 on, in equal parts.
  std::vector<float> fractions;
  TrainingRun *running = made.get();
  settings.afterStep = [&](const TrainingStepInfo &) {
    for (auto [learned, tensor] :
         llvm::zip(running->function().learned, running->values()))
      if (learned.kind == LearnedKind::Schedule)
        fractions.push_back(tensor[0]);
    return true;
  };
  made = create(gradual());
  running = made.get();
  ASSERT_TRUE(succeeded(made->train())) << diagnostics;
  ASSERT_EQ(fractions.size(), 12u);
  for (auto [step, fraction] : llvm::enumerate(fractions))
    EXPECT_EQ(fraction, float(double(step) / 12));
  fractions.clear();
  settings.fraction = quantization::LinearAnnealing{2, 4, 0.5, 1};
  made = create(gradual());
  running = made.get();
  ASSERT_TRUE(succeeded(made->train())) << diagnostics;
  EXPECT_EQ(llvm::ArrayRef(fractions).take_front(6),
            llvm::ArrayRef<float>({0.5, 0.5, 0.5, 0.75, 1, 1}));
}

class ObservedTest : public TrainingRunTest {
protected:
  TrainingProblem observe() {
    TrainingProblem problem = classify();
    problem.network = parse(replaceAll(
        Network(1).text(), kActivation,
        "trainable(#tpc.observed_range<observer = last_value, bits = 8>)"));
    return problem;
  }
  static float largest(const TrainingRun &training) {
    for (auto [learned, tensor] :
         llvm::zip(training.function().learned, training.values()))
      if (learned.role == tpc::LearnedRole::ObservedMaximum)
        return tensor[0];
    return -1;
  }
};

TEST_F(ObservedTest, ARangeIsThatOfTheWholeBatch) {
  // Nothing moves but the range.
  settings.weights = settings.biases = settings.quantizers =
      OptimizerSettings{Adam{/*rate=*/0}};
  Network network(1);
  Reference reference(network);
  std::vector<float> expected, found;
  for (int64_t epoch = 0; epoch != settings.epochs; ++epoch) {
    std::vector<int64_t> order = shuffleSamples(10, settings.seed, epoch);
    for (int64_t first = 0; first < 10; first += 4) {
      double most = 0;
      for (int64_t i = first; i != std::min<int64_t>(10, first + 4); ++i)
        for (unsigned h = 0; h != kHidden; ++h) {
          double made = network.hiddenBias[h];
          for (unsigned c = 0; c != kInputs; ++c)
            made +=
                data.images[size_t(order[i]) * kInputs + c] *
                Reference::quantize(
                    network.hidden[h * kInputs + c],
                    reference.learned["hidden/kernel:threshold"][h], 6, true)
                    .result;
          most = std::max(most, made);
        }
      expected.push_back(float(most));
    }
  }
  TrainingRun *running = nullptr;
  settings.afterStep = [&](const TrainingStepInfo &) {
    found.push_back(largest(*running));
    return true;
  };
  auto made = create(observe());
  running = made.get();
  ASSERT_TRUE(made && succeeded(made->train())) << diagnostics;
  ASSERT_EQ(found.size(), expected.size());
  for (auto [range, wanted] : llvm::zip(found, expected))
    EXPECT_NEAR(range, wanted, 1e-6);
}

TEST_F(ObservedTest, RangesGoOnFromACheckpoint) {
  auto expected = train(observe());
  ASSERT_FALSE(expected.empty()) << diagnostics;
  run.run.threads = support::Threads(3);
  settings.checkpoint = path("observed");
  settings.afterStep = [](const TrainingStepInfo &info) {
    return info.step != 6;
  };
  EXPECT_NE(train(observe()), expected);
  settings.afterStep = nullptr;
  EXPECT_EQ(train(observe()), expected);
}

} // namespace
