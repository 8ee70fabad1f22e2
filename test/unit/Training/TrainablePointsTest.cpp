// SPDX-License-Identifier: Apache-2.0
//
// Points that learn, executed, against their definitions on lists of numbers,
// and against the ordinary points that they become.
#include "Differences.h"
#include "ReferenceQuantizers.h"

#include "mct/Quantizers/Channels.h"
#include "mct/Training/Training.h"
#include "mlir/AsmParser/AsmParser.h"

#include <functional>
#include <map>

using namespace mct;
using namespace mct::testing;
using namespace mlir;
using namespace mct::quantization;
using mct::tpc::LearnedRole;
using mct::tpc::QuantizeOp;
using Floats = std::vector<float>;

namespace {
std::string f32Type(const std::vector<int64_t> &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

std::string elementsText(const Floats &values,
                         const std::vector<int64_t> &shape) {
  std::string text = "dense<\"0x";
  for (float value : values) {
    unsigned char bytes[4];
    std::memcpy(bytes, &value, 4);
    for (unsigned char byte : bytes) {
      char hex[3];
      std::snprintf(hex, sizeof(hex), "%02X", byte);
      text += hex;
    }
  }
  return text + "\"> : " + f32Type(shape);
}

/// One point of a network.
struct Point {
  std::string trainable, parameters;
  std::vector<int64_t> shape = {3, 5, 4}, axes = {};
  /// Of a weight point; empty: an activation point, of an argument.
  Floats weights = {};
  std::string corrections = "";

  bool isWeight() const { return !weights.empty(); }
  size_t count() const {
    return size_t(ShapedType::getNumElements(llvm::ArrayRef(shape)));
  }
};

/// What a point with learned values made of some values.
struct Outcome {
  Floats values, result, resultGradient, gradient;
  std::map<LearnedRole, Floats> learned, gradients, states;
  /// What the ordinary point makes of them that it becomes.
  Floats frozen;
  tpc::QuantizerAttrInterface parameters;
};

/// One set of parameters, and what belongs to it.
struct Channel {
  Floats values, result, resultGradient, gradient, frozen;
  size_t number;
};

class TrainablePoints : public GradientTest {
protected:
  float uniform(float low, float high) {
    return low + (high - low) * float(random() >> 8) * 0x1p-24f;
  }
  Floats randomFloats(size_t count, float low, float high) {
    Floats values(count);
    for (float &value : values)
      value = uniform(low, high);
    return values;
  }

  std::string textOf(const std::vector<Point> &points) {
    std::string arguments, body, names, types;
    for (auto [i, point] : llvm::enumerate(points)) {
      std::string number = std::to_string(i), type = f32Type(point.shape);
      if (point.isWeight())
        body += "  %x" + number + " = \"tosa.const\"() <{values = " +
                elementsText(point.weights, point.shape) + "}> : () -> " +
                type + "\n";
      else
        arguments += (arguments.empty() ? "%x" : ", %x") + number + ": " + type;
      std::string axes;
      for (int64_t axis : point.axes)
        axes += (axes.empty() ? "" : ", ") + std::to_string(axis);
      body += "  %" + number + " = tpc.quantize %x" + number + " as \"p" +
              number + (point.isWeight() ? "\" weight \"k\"" : "\" activation");
      if (!axes.empty())
        body += " axes [" + axes + "]";
      if (!point.parameters.empty())
        body += " parameters(" + point.parameters + ")";
      if (!point.corrections.empty())
        body += " corrections(" + point.corrections + ")";
      body += " trainable(" + point.trainable + ") : " + type + "\n";
      names += (i ? ", %" : "%") + number;
      types += (i ? ", " : "") + type;
    }
    return "func.func @main(" + arguments + ") -> (" + types + ") {\n" + body +
           "  return " + names + " : " + types + "\n}\n";
  }

  /// Parses a network of these points and makes a training function of it.
  void build(const std::vector<Point> &of) {
    points = of;
    module = parse(textOf(points));
    ASSERT_TRUE(module);
    network = module->lookupSymbol<func::FuncOp>("main");
    TrainingRequest request;
    request.name = "training";
    FailureOr<TrainingFunction> made = makeTrainingFunction(network, request);
    ASSERT_TRUE(succeeded(made)) << diagnostics;
    training = std::move(*made);
    learned.clear();
    for (const LearnedValue &value : training.learned)
      learned.push_back(value.initial.values);
  }

  /// A learned value of a point, to be changed before `run`.
  Floats &learnedOf(size_t point, LearnedRole role) {
    for (auto [i, value] : llvm::enumerate(training.learned))
      if (value.role == role && value.point == uniqueName(point))
        return learned[i];
    if (role == LearnedRole::Fraction)
      for (auto [i, value] : llvm::enumerate(training.learned))
        if (value.kind == LearnedKind::Schedule)
          return learned[i];
    ADD_FAILURE() << "point " << point << " has no "
                  << tpc::stringifyLearnedRole(role).str();
    return learned.front();
  }
  std::string uniqueName(size_t point) const {
    std::string name = "p" + std::to_string(point);
    return points[point].isWeight() ? name + "/k" : name;
  }

  std::vector<Floats> execute(func::FuncOp function,
                              const std::vector<Floats> &arguments) {
    execution::CompileOptions options;
    options.function = function.getName().str();
    options.keepTypes = true;
    auto executor = execution::Executor::compile(*module, options);
    EXPECT_TRUE(succeeded(executor)) << diagnostics;
    if (failed(executor))
      return {};
    std::vector<Floats> outputs;
    llvm::SmallVector<const void *> inputData;
    llvm::SmallVector<void *> outputData;
    for (const Floats &argument : arguments)
      inputData.push_back(argument.data());
    for (const execution::TensorSpec &spec : (*executor)->outputs())
      outputs.emplace_back(size_t(spec.type.getNumElements()));
    for (Floats &output : outputs)
      outputData.push_back(output.data());
    execution::Worker worker(**executor);
    llvm::cantFail(worker.run(inputData, outputData, (*executor)->unit()));
    return outputs;
  }

  /// Executes everything with the values in `learned`. `spread`: of the
  /// arguments, on both sides of zero.
  std::vector<Outcome> run(float spread = 1.6f) {
    func::FuncOp function = training.function;
    GradientRequest request;
    request.name = "gradient";
    request.withResults = true;
    for (unsigned i = 0; i != function.getNumResults(); ++i)
      (i < training.numResults ? request.results : request.kept).push_back(i);
    for (unsigned i = 0; i != training.numInputs; ++i)
      request.inputs.push_back(function.getArgument(i));
    for (const LearnedValue &value : training.learned)
      if (value.isTrained())
        request.inputs.push_back(function.getArgument(value.argument));
    FailureOr<func::FuncOp> gradient = addGradient(function, request);
    EXPECT_TRUE(succeeded(gradient)) << diagnostics;
    EXPECT_TRUE(succeeded(expandTrainablePoints(*gradient))) << diagnostics;
    EXPECT_TRUE(succeeded(verify(*gradient))) << diagnostics;

    std::vector<Outcome> outcomes(points.size());
    std::vector<Floats> arguments, inputs;
    for (auto [point, outcome] : llvm::zip(points, outcomes)) {
      outcome.values = point.weights;
      if (point.isWeight())
        continue;
      outcome.values = randomFloats(point.count(), -spread, spread);
      inputs.push_back(outcome.values);
    }
    arguments = inputs;
    llvm::append_range(arguments, learned);
    for (auto [point, outcome] : llvm::zip(points, outcomes)) {
      outcome.resultGradient = randomFloats(point.count(), -1, 1);
      arguments.push_back(outcome.resultGradient);
    }
    std::vector<Floats> results = execute(*gradient, arguments);
    size_t next = 0;
    for (Outcome &outcome : outcomes)
      outcome.result = results[next++];
    std::vector<Floats> final = learned;
    for (auto [i, value] : llvm::enumerate(training.learned))
      if (value.kind == LearnedKind::State)
        final[i] = results[next++];
    for (auto [point, outcome] : llvm::zip(points, outcomes))
      if (!point.isWeight())
        outcome.gradient = results[next++];
    for (auto [i, value] : llvm::enumerate(training.learned)) {
      for (auto [number, outcome] : llvm::enumerate(outcomes)) {
        if (value.point != uniqueName(number))
          continue;
        if (value.kind == LearnedKind::Weight) {
          outcome.values = learned[i];
          outcome.gradient = results[next];
        } else if (value.isTrained()) {
          outcome.gradients[*value.role] = results[next];
        } else {
          outcome.states[*value.role] = final[i];
        }
        if (value.role)
          outcome.learned[*value.role] = learned[i];
      }
      if (value.isTrained())
        ++next;
    }
    EXPECT_EQ(next, results.size());
    gradient->erase();

    EXPECT_TRUE(succeeded(writeLearned(network, training, final)))
        << diagnostics;
    EXPECT_TRUE(succeeded(verify(*module))) << diagnostics;
    results = execute(network, inputs);
    next = 0;
    for (auto point : network.getOps<QuantizeOp>()) {
      EXPECT_FALSE(point.getTrainableAttr());
      outcomes[next].parameters = point.getParametersAttr();
      outcomes[next].frozen = results[next];
      ++next;
    }
    EXPECT_EQ(diagnostics, "");
    return outcomes;
  }

  /// What belongs to each of `channels` parameters of a point.
  std::vector<Channel> channelsOf(size_t point, const Outcome &outcome,
                                  size_t channels) {
    const Point &of = points[point];
    llvm::ArrayRef<int64_t> axes;
    if (channels != 1)
      axes = of.axes;
    auto gather = [&](const Floats &values) {
      return values.empty() ? values : gatherChannels(values, of.shape, axes);
    };
    Floats values = gather(outcome.values), result = gather(outcome.result),
           resultGradient = gather(outcome.resultGradient),
           gradient = gather(outcome.gradient), frozen = gather(outcome.frozen);
    size_t size = of.count() / channels;
    std::vector<Channel> found(channels);
    for (size_t c = 0; c != channels; ++c) {
      auto row = [&](const Floats &all) {
        return all.empty() ? all
                           : Floats(all.begin() + ptrdiff_t(c * size),
                                    all.begin() + ptrdiff_t((c + 1) * size));
      };
      found[c] = {row(values),   row(result), row(resultGradient),
                  row(gradient), row(frozen), c};
    }
    return found;
  }

  /// Sums of products in f32 against sums in double: as many roundings as there
  /// are terms, each of at most 1, times the largest of what multiplies them.
  static double sumTolerance(const Channel &channel, double factor) {
    return 1e-6 * double(channel.values.size()) * std::max(factor, 1.0);
  }

  std::mt19937 random{7};
  std::vector<Point> points;
  OwningOpRef<ModuleOp> module;
  func::FuncOp network;
  TrainingFunction training;
  /// One tensor for each of `training.learned`.
  std::vector<Floats> learned;
};

std::string listText(const std::vector<double> &numbers) {
  std::string text = "[";
  for (size_t i = 0; i != numbers.size(); ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return text + "]";
}
} // namespace

//===----------------------------------------------------------------------===//
// Thresholds
//===----------------------------------------------------------------------===//

namespace {
struct ThresholdCase {
  LearnedThreshold quantizer;
  std::optional<double> scale;
};
} // namespace

TEST_F(TrainablePoints, ThresholdsLearnAsTheirDefinition) {
  std::vector<ThresholdCase> cases;
  std::vector<Point> all;
  unsigned number = 0;
  for (bool isWeight : {false, true})
    for (bool isPerChannel : {false, true})
      for (StepGradient gradient :
           {StepGradient::StraightThrough, StepGradient::LearnedStep})
        for (bool isPowerOfTwo : {false, true}) {
          // Activations are quantized per tensor.
          if (isPerChannel && !isWeight)
            continue;
          ThresholdCase next;
          next.quantizer.bits = 2 + number % 7;
          next.quantizer.isSigned = number % 3 != 0;
          next.quantizer.isPowerOfTwo = isPowerOfTwo;
          next.quantizer.gradient = gradient;
          next.quantizer.clip =
              number % 4 < 2 ? ClipGradient::Masked : ClipGradient::Passed;
          if (number % 5 == 0)
            next.scale = 0.25;
          ++number;
          Point point;
          const LearnedThreshold &q = next.quantizer;
          auto isTrue = [](bool value) { return value ? "true" : "false"; };
          point.trainable =
              "#tpc.learned_threshold<bits = " + std::to_string(q.bits) +
              ", is_signed = " + isTrue(q.isSigned) +
              ", power_of_two = " + isTrue(q.isPowerOfTwo) + ", gradient = " +
              (gradient == StepGradient::LearnedStep ? "learned_step"
                                                     : "straight_through") +
              ", clip = " +
              (q.clip == ClipGradient::Masked ? "masked" : "passed") +
              (next.scale ? ", gradient_scale = 0.25>" : ">");
          if (isPerChannel)
            point.axes = {0, 2};
          if (isWeight)
            point.weights = randomFloats(point.count(), -1.6f, 1.6f);
          std::vector<double> thresholds(isPerChannel ? 12 : 1, 1.0);
          point.parameters =
              "#tpc.symmetric<threshold = " + listText(thresholds) +
              ", bits = 4>";
          cases.push_back(next);
          all.push_back(point);
        }
  ASSERT_NO_FATAL_FAILURE(build(all));
  for (size_t i = 0; i != all.size(); ++i)
    for (float &threshold : learnedOf(i, LearnedRole::Threshold))
      threshold = uniform(0.3f, 1.5f);
  // Below the smallest one, and a power of two.
  learnedOf(8, LearnedRole::Threshold)[3] = -1;
  learnedOf(9, LearnedRole::Threshold)[3] = 1e-9f;
  learnedOf(11, LearnedRole::Threshold)[2] = 0.5f;
  std::vector<Outcome> outcomes = run();
  for (auto [i, outcome] : llvm::enumerate(outcomes)) {
    SCOPED_TRACE(all[i].trainable);
    const Floats &thresholds = outcome.learned[LearnedRole::Threshold];
    LearnedThreshold quantizer = cases[i].quantizer;
    int64_t parameters =
        all[i].isWeight() ? int64_t(thresholds.size()) : all[i].shape.back();
    if (cases[i].scale)
      quantizer.gradientScale = *cases[i].scale;
    else if (quantizer.gradient == StepGradient::LearnedStep)
      quantizer.gradientScale = learnedStepGradientScale(
          quantizer.bits, quantizer.isSigned, parameters);
    for (Channel &channel : channelsOf(i, outcome, thresholds.size())) {
      float threshold = thresholds[channel.number];
      Floats result(channel.values.size());
      quantizer.forward(threshold, channel.values, result);
      // The same operations of f32.
      EXPECT_EQ(channel.result, result);
      EXPECT_EQ(channel.frozen, result);
      Floats back = channel.resultGradient;
      double expected = quantizer.backward(threshold, channel.values, back);
      EXPECT_EQ(channel.gradient, back);
      EXPECT_NEAR(outcome.gradients[LearnedRole::Threshold][channel.number],
                  expected,
                  sumTolerance(channel, 2 / std::max(threshold, 0.01f)));
    }
  }
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

TEST_F(TrainablePoints, RangesOfEverySignLearnAsTheirDefinition) {
  // Of both signs, of one, at zero, and what counts as the narrowest.
  const std::vector<TrainedRange> ranges = {
      {-1, 0.9}, {0.25, 1.2}, {-1.3, -0.4}, {0, 1},
      {-0.8, 0}, {-0.1, 1.4}, {0.3, 0.299}, {1e-6, 0}};
  std::vector<Point> all;
  std::vector<LearnedRange> quantizers;
  std::vector<std::vector<TrainedRange>> rangesOf;
  unsigned number = 0;
  auto add = [&](bool isWeight, StepGradient gradient, unsigned bits,
                 const std::vector<TrainedRange> &own) {
    LearnedRange quantizer;
    quantizer.bits = bits;
    quantizer.gradient = gradient;
    quantizer.clip = ++number % 2 ? ClipGradient::Masked : ClipGradient::Passed;
    Point point;
    point.shape = {3, 8, 11};
    point.trainable =
        "#tpc.learned_range<bits = " + std::to_string(bits) + ", gradient = " +
        (gradient == StepGradient::LearnedStep ? "learned_step"
                                               : "straight_through") +
        ", clip = " +
        (quantizer.clip == ClipGradient::Masked ? "masked>" : "passed>");
    if (isWeight) {
      point.axes = {1};
      point.weights = randomFloats(point.count(), -1.6f, 1.6f);
    }
    if (gradient == StepGradient::LearnedStep)
      quantizer.gradientScale = learnedStepGradientScale(
          bits, false, isWeight ? int64_t(own.size()) : point.shape.back());
    std::string scales, zeroPoints;
    for (size_t c = 0; c != own.size(); ++c) {
      scales += c ? ", 0.1" : "0.1";
      zeroPoints += c ? ", 1" : "1";
    }
    point.parameters = "#tpc.uniform<scale = [" + scales + "], zero_point = [" +
                       zeroPoints + "], bits = 4>";
    all.push_back(point);
    quantizers.push_back(quantizer);
    rangesOf.push_back(own);
  };
  for (StepGradient gradient :
       {StepGradient::StraightThrough, StepGradient::LearnedStep})
    for (unsigned bits : {2u, 4u, 8u}) {
      add(/*isWeight=*/true, gradient, bits, ranges);
      for (size_t c = bits % 3; c < ranges.size(); c += 2)
        add(/*isWeight=*/false, gradient, bits, {ranges[c]});
    }
  ASSERT_NO_FATAL_FAILURE(build(all));
  for (size_t i = 0; i != all.size(); ++i)
    for (size_t c = 0; c != rangesOf[i].size(); ++c) {
      learnedOf(i, LearnedRole::Minimum)[c] = float(rangesOf[i][c].min);
      learnedOf(i, LearnedRole::Maximum)[c] = float(rangesOf[i][c].max);
    }
  std::vector<Outcome> outcomes = run();
  for (auto [i, outcome] : llvm::enumerate(outcomes)) {
    SCOPED_TRACE(all[i].trainable);
    const LearnedRange &quantizer = quantizers[i];
    for (Channel &channel : channelsOf(i, outcome, rangesOf[i].size())) {
      SCOPED_TRACE(channel.number);
      TrainedRange range{outcome.learned[LearnedRole::Minimum][channel.number],
                         outcome.learned[LearnedRole::Maximum][channel.number]};
      Floats result(channel.values.size());
      quantizer.forward(range, channel.values, result);
      // The step is the product with a rounded 1 / levels.
      for (size_t j = 0; j != result.size(); ++j)
        EXPECT_NEAR(channel.result[j], result[j], 3e-7 * std::abs(result[j]));
      // What is deployed is what was trained.
      EXPECT_EQ(channel.frozen, channel.result);
      Floats back = channel.resultGradient;
      TrainedRange expected = quantizer.backward(range, channel.values, back);
      EXPECT_EQ(channel.gradient, back);
      double step = quantizer.freeze(range).step;
      // Values of 1.6 divided by the step.
      double tolerance = sumTolerance(channel, 2 / step);
      EXPECT_NEAR(outcome.gradients[LearnedRole::Minimum][channel.number],
                  expected.min, tolerance);
      EXPECT_NEAR(outcome.gradients[LearnedRole::Maximum][channel.number],
                  expected.max, tolerance);
    }
  }
}

TEST_F(TrainablePoints, HalvesStayWhereTheyGo) {
  ASSERT_NO_FATAL_FAILURE(build(
      {{"#tpc.learned_threshold<bits = 4>",
        "#tpc.symmetric<threshold = [0.7], bits = 4, rounding = half_up>"},
       {"#tpc.learned_threshold<bits = 4, power_of_two = true>",
        "#tpc.symmetric<threshold = [0.7], bits = 4>"},
       {"#tpc.learned_range<bits = 4>",
        "#tpc.symmetric<threshold = [0.7], bits = 4, rounding = half_up>"}}));
  std::vector<Outcome> outcomes = run();
  EXPECT_EQ(outcomes[0].parameters.getRoundingMode(), Rounding::HalfUp);
  EXPECT_EQ(outcomes[1].parameters.getRoundingMode(), Rounding::HalfToEven);
  EXPECT_EQ(outcomes[2].parameters.getRoundingMode(), Rounding::HalfUp);
}

TEST_F(TrainablePoints, RangesBeginAtTheGridThatIsThere) {
  Point uniform{"#tpc.learned_range<bits = 8>",
                "#tpc.uniform<scale = [0.013, 0.4, 0.002], zero_point = [128, "
                "0, 255], bits = 8>"};
  uniform.axes = {0};
  uniform.weights = randomFloats(uniform.count(), -1, 1);
  Point symmetric{"#tpc.learned_range<bits = 4>",
                  "#tpc.symmetric<threshold = [0.7], bits = 4>"};
  build({uniform, symmetric});
  // -t to t - t / 8
  EXPECT_FLOAT_EQ(learnedOf(1, LearnedRole::Minimum)[0], -0.7f);
  EXPECT_FLOAT_EQ(learnedOf(1, LearnedRole::Maximum)[0], 0.7f * 0.875f);
  std::vector<Outcome> outcomes = run();
  auto frozen = dyn_cast<tpc::UniformAttr>(outcomes[0].parameters);
  ASSERT_TRUE(frozen);
  EXPECT_EQ(frozen.getZeroPoint(), (llvm::ArrayRef<int64_t>{128, 0, 255}));
  for (auto [found, scale] :
       llvm::zip(frozen.getScale(), std::vector<double>{0.013, 0.4, 0.002}))
    // The roundings of f32 of both ends and of the width.
    EXPECT_NEAR(found, scale, 3e-7 * scale);
  auto shifted = dyn_cast<tpc::UniformAttr>(outcomes[1].parameters);
  ASSERT_TRUE(shifted);
  EXPECT_EQ(shifted.getZeroPoint(), (llvm::ArrayRef<int64_t>{8}));
}

//===----------------------------------------------------------------------===//
// Observed ranges
//===----------------------------------------------------------------------===//

namespace {
const char *nameOf(RangeObserver::Kind kind) {
  switch (kind) {
  case RangeObserver::Kind::LastValue:
    return "last_value";
  case RangeObserver::Kind::MovingAverage:
    return "moving_average";
  case RangeObserver::Kind::AllValues:
    return "all_values";
  case RangeObserver::Kind::Fixed:
    return "fixed";
  }
  return "";
}
} // namespace

TEST_F(TrainablePoints, ObserversFollowWhatTheySee) {
  std::vector<Point> all;
  std::vector<RangeObserver> observers;
  unsigned number = 0;
  for (auto kind :
       {RangeObserver::Kind::LastValue, RangeObserver::Kind::MovingAverage,
        RangeObserver::Kind::AllValues, RangeObserver::Kind::Fixed})
    for (bool isSymmetric : {false, true})
      for (bool isNarrow : {false, true})
        for (bool isWeight : {false, true}) {
          RangeObserver observer;
          observer.kind = kind;
          observer.bits = 3 + number % 6;
          observer.isSymmetric = isSymmetric;
          observer.isNarrow = isNarrow;
          auto isTrue = [](bool value) { return value ? "true" : "false"; };
          Point point;
          point.shape = {4, 9, 3};
          point.trainable = std::string("#tpc.observed_range<observer = ") +
                            nameOf(kind) +
                            ", bits = " + std::to_string(observer.bits) +
                            ", is_symmetric = " + isTrue(isSymmetric) +
                            ", is_narrow = " + isTrue(isNarrow);
          if (kind == RangeObserver::Kind::MovingAverage && number % 3 == 0) {
            observer.decay = 0.75;
            point.trainable += ", decay = 0.75";
          }
          point.trainable += ">";
          if (isWeight && number % 4 == 1)
            point.axes = {2};
          // A grid of as many numbers as there will be.
          point.parameters = point.axes.empty()
                                 ? "#tpc.symmetric<threshold = [1.0], bits = 4>"
                                 : "#tpc.symmetric<threshold = [1.0, 2.0, "
                                   "0.5], bits = 4>";
          if (isWeight) {
            point.weights = randomFloats(point.count(), -0.5f, 1.6f);
            // Nothing but zeros has no range.
            if (!point.axes.empty())
              for (size_t i = 1; i < point.count(); i += 3)
                point.weights[i] = 0;
          }
          ++number;
          all.push_back(point);
          observers.push_back(observer);
        }
  ASSERT_NO_FATAL_FAILURE(build(all));
  for (size_t i = 0; i != all.size(); ++i)
    for (auto [min, max] :
         llvm::zip(learnedOf(i, LearnedRole::ObservedMinimum),
                   learnedOf(i, LearnedRole::ObservedMaximum))) {
      min = uniform(-2, -0.1f);
      max = uniform(0.1f, 1.2f);
    }
  std::vector<Outcome> outcomes = run();
  for (auto [i, outcome] : llvm::enumerate(outcomes)) {
    SCOPED_TRACE(all[i].trainable);
    EXPECT_TRUE(outcome.gradients.empty());
    const Floats &before = outcome.learned[LearnedRole::ObservedMinimum];
    for (Channel &channel : channelsOf(i, outcome, before.size())) {
      SCOPED_TRACE(channel.number);
      RangeObserver observer = observers[i];
      observer.range = {
          before[channel.number],
          outcome.learned[LearnedRole::ObservedMaximum][channel.number]};
      observer.observe(channel.values);
      TrainedRange after{
          outcome.states[LearnedRole::ObservedMinimum][channel.number],
          outcome.states[LearnedRole::ObservedMaximum][channel.number]};
      // A few operations of f32.
      EXPECT_NEAR(after.min, observer.range.min, 4e-7);
      EXPECT_NEAR(after.max, observer.range.max, 4e-7);
      // With the range as it is now.
      NudgedRange quantizer{observer.bits, observer.isNarrow};
      Floats result(channel.values.size());
      quantizer.forward(after, channel.values, result);
      for (size_t j = 0; j != result.size(); ++j)
        EXPECT_NEAR(channel.result[j], result[j], 1e-6) << j;
      Floats back = channel.resultGradient;
      quantizer.backward(after, channel.values, back);
      Grid grid = quantizer.freeze(after);
      double low = grid.step * double(grid.qmin - grid.zeroPoint);
      double high = grid.step * double(grid.qmax - grid.zeroPoint);
      for (size_t j = 0; j != back.size(); ++j)
        // The extremes themselves lie on the ends, up to a rounding.
        if (std::abs(channel.values[j] - low) > 1e-6 &&
            std::abs(channel.values[j] - high) > 1e-6)
          EXPECT_EQ(channel.gradient[j], back[j]) << j;
      // An ordinary activation point has one level more than a narrow one.
      if (!observer.isNarrow || all[i].isWeight()) {
        for (size_t j = 0; j != result.size(); ++j)
          EXPECT_NEAR(channel.frozen[j], channel.result[j], 1e-6) << j;
      }
    }
    // One grid for both signs, where that is what it is.
    if (observers[i].isSymmetric &&
        observers[i].kind == RangeObserver::Kind::LastValue)
      EXPECT_TRUE(isa<tpc::SymmetricAttr>(outcome.parameters));
  }
}

TEST_F(TrainablePoints, ObserversBeginWithTheRangeThatIsThere) {
  auto observed = [](const std::string &observer, const char *more = "") {
    return "#tpc.observed_range<observer = " + observer + ", bits = 8" + more +
           ">";
  };
  const char *grid = "#tpc.symmetric<threshold = [2.0], bits = 8>";
  build({{observed("last_value"), ""},
         {observed("moving_average"), ""},
         {observed("all_values"), ""},
         {observed("all_values"), grid},
         {observed("moving_average"), grid},
         {observed("fixed", ", is_narrow = true"), grid}});
  auto expect = [&](size_t point, double min, double max) {
    EXPECT_EQ(learnedOf(point, LearnedRole::ObservedMinimum),
              Floats{float(min)});
    EXPECT_EQ(learnedOf(point, LearnedRole::ObservedMaximum),
              Floats{float(max)});
  };
  expect(0, -6, 6);
  expect(1, -6, 6);
  // Everything that was seen: nothing.
  expect(2, 0, 0);
  expect(3, 0, 0);
  // Levels from -128 to 127, of 2 / 128; a narrow grid begins at -127.
  expect(4, -2, 2 - 2.0 / 128);
  expect(5, -2 + 2.0 / 128, 2 - 2.0 / 128);
}

// 6 is 127.5 steps; TensorFlow rounds them up.
TEST_F(TrainablePoints, TheRangeThatObserversBeginWithIsMovedUp) {
  build({{"#tpc.observed_range<observer = fixed, bits = 8>",
          "#tpc.uniform<scale = [0.5], zero_point = [3], bits = 8>"}});
  learnedOf(0, LearnedRole::ObservedMinimum) = {-6};
  learnedOf(0, LearnedRole::ObservedMaximum) = {6};
  std::vector<Outcome> outcomes = run(8);
  EXPECT_NEAR(*llvm::min_element(outcomes[0].result), -6.0235294, 1e-6);
  EXPECT_NEAR(*llvm::max_element(outcomes[0].result), 5.9764706, 1e-6);
  EXPECT_EQ(outcomes[0].frozen, outcomes[0].result);
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

namespace {
/// Grids of three channels, or of one tensor, of every method.
struct GridCase {
  std::string parameters;
  std::vector<SoftRounding> soft;
};

std::vector<GridCase> gridCases() {
  return {
      {"#tpc.power_of_two<threshold = [1.0], bits = 4>",
       {SoftRounding::ofThreshold(1, 4)}},
      {"#tpc.power_of_two<threshold = [1.0, 0.5, 2.0], bits = 3>",
       {SoftRounding::ofThreshold(1, 3), SoftRounding::ofThreshold(.5, 3),
        SoftRounding::ofThreshold(2, 3)}},
      {"#tpc.symmetric<threshold = [1.1], bits = 2>",
       {SoftRounding::ofThreshold(1.1, 2)}},
      {"#tpc.symmetric<threshold = [1.3, 0.7, 0.9], bits = 8>",
       {SoftRounding::ofThreshold(1.3, 8), SoftRounding::ofThreshold(.7, 8),
        SoftRounding::ofThreshold(.9, 8)}},
      {"#tpc.uniform<scale = [0.15], zero_point = [6], bits = 4>",
       {SoftRounding{0.15, -0.15 * 6, 0, 15}}},
      {"#tpc.uniform<scale = [0.15, 0.2, 0.3], zero_point = [6, 0, 15], bits = "
       "4>",
       {SoftRounding{0.15, -0.15 * 6, 0, 15}, SoftRounding{0.2, 0, 0, 15},
        SoftRounding{0.3, -0.3 * 15, 0, 15}}},
  };
}

/// Of f32, 2^-16 of what a level of 8 bits is.
constexpr double kOfStep = 4e-5;
} // namespace

TEST_F(TrainablePoints, SoftRoundingLearnsAsItsDefinition) {
  std::vector<Point> all;
  std::vector<GridCase> cases;
  for (const GridCase &grid : gridCases())
    for (bool isMasked : {true, false})
      for (bool learnsScale : {false, true}) {
        if (learnsScale && llvm::StringRef(grid.parameters).contains("power"))
          continue;
        Point point;
        point.shape = {3, 7, 5};
        point.axes = {0};
        point.weights = randomFloats(point.count(), -1.6f, 1.6f);
        point.parameters = grid.parameters;
        point.trainable = std::string("#tpc.soft_rounding<clip = ") +
                          (isMasked ? "masked" : "passed") +
                          (learnsScale ? ", learns_scale = true>" : ">");
        all.push_back(point);
        cases.push_back(grid);
        for (SoftRounding &soft : cases.back().soft)
          soft.clip = isMasked ? ClipGradient::Masked : ClipGradient::Passed;
      }
  ASSERT_NO_FATAL_FAILURE(build(all));
  for (size_t i = 0; i != all.size(); ++i) {
    bool learnsScale = llvm::StringRef(all[i].trainable).contains("scale");
    // As the definition begins.
    size_t channels = cases[i].soft.size();
    Outcome initial;
    initial.values = all[i].weights;
    initial.result = learnedOf(i, LearnedRole::Rounding);
    for (Channel &channel : channelsOf(i, initial, channels)) {
      std::vector<float> expected =
          cases[i].soft[channel.number].initialize(channel.values);
      for (size_t j = 0; j != expected.size(); ++j)
        // A weight on a level may be above the one below.
        EXPECT_NEAR(soften(channel.result[j]), soften(expected[j]), 1e-6) << j;
    }
    for (float &variable : learnedOf(i, LearnedRole::Rounding))
      variable += uniform(-2, 2);
    if (learnsScale)
      for (float &scale : learnedOf(i, LearnedRole::Scale))
        scale = uniform(0.8f, 1.2f);
  }
  learnedOf(9, LearnedRole::Scale)[1] = -0.5f;
  std::vector<Outcome> outcomes = run();
  for (auto [i, outcome] : llvm::enumerate(outcomes)) {
    SCOPED_TRACE(all[i].trainable + " " + all[i].parameters);
    // The weights take no part.
    EXPECT_TRUE(outcome.gradient.empty());
    size_t channels = cases[i].soft.size();
    bool learnsScale = outcome.learned.count(LearnedRole::Scale);
    Outcome variables;
    variables.values = outcome.learned[LearnedRole::Rounding];
    variables.gradient = outcome.gradients[LearnedRole::Rounding];
    std::vector<Channel> ofVariables = channelsOf(i, variables, channels);
    for (Channel &channel : channelsOf(i, outcome, channels)) {
      const SoftRounding &soft = cases[i].soft[channel.number];
      double scale =
          learnsScale ? outcome.learned[LearnedRole::Scale][channel.number] : 1;
      const Floats &own = ofVariables[channel.number].values;
      Floats result(own.size()), hard(own.size());
      soft.forward(channel.values, own, false, result, scale);
      soft.forward(channel.values, own, true, hard, scale);
      for (size_t j = 0; j != result.size(); ++j) {
        EXPECT_NEAR(channel.result[j], result[j], kOfStep * soft.step) << j;
        EXPECT_NEAR(channel.frozen[j], hard[j], kOfStep * soft.step) << j;
      }
      Floats back = channel.resultGradient;
      double ofScale = soft.backward(channel.values, own, back, scale);
      for (size_t j = 0; j != back.size(); ++j)
        EXPECT_NEAR(ofVariables[channel.number].gradient[j], back[j],
                    1e-5 * soft.step)
            << j;
      if (learnsScale)
        EXPECT_NEAR(outcome.gradients[LearnedRole::Scale][channel.number],
                    ofScale, sumTolerance(channel, 2));
    }
  }
}

// The levels that were found stay when nothing is learned, and what is trained
// begins as near to the float weights as that allows.
TEST_F(TrainablePoints, SoftRoundingBeginsAtWeightsThatWereRoundedTogether) {
  std::vector<Point> all;
  std::vector<Floats> floats;
  std::vector<GridCase> cases = gridCases();
  for (const GridCase &grid : cases) {
    Point point;
    point.shape = {3, 7, 5};
    point.axes = {0};
    point.parameters = grid.parameters;
    point.trainable = "#tpc.soft_rounding<>";
    floats.push_back(randomFloats(point.count(), -1.6f, 1.6f));
    point.weights = floats.back();
    for (size_t i = 0; i != point.count(); ++i) {
      const SoftRounding &soft = grid.soft[grid.soft.size() == 1 ? 0 : i / 35];
      double level =
          std::nearbyint((point.weights[i] - soft.offset) / soft.step);
      // Also levels that are no neighbours.
      level += double(random() % 5) - 2;
      level = std::clamp(level, soft.lowest, soft.highest);
      point.weights[i] =
          float(level + std::nearbyint(soft.offset / soft.step)) *
          float(soft.step);
    }
    point.corrections = "#tpc.corrections<applied = [\"rounded_weights\"], "
                        "bias_offset = [0.0], kernel_scale = [1.0], kernel = " +
                        elementsText(floats.back(), point.shape) + ">";
    all.push_back(point);
  }
  ASSERT_NO_FATAL_FAILURE(build(all));
  std::vector<Outcome> outcomes = run();
  for (auto [i, outcome] : llvm::enumerate(outcomes)) {
    SCOPED_TRACE(all[i].parameters);
    EXPECT_EQ(outcome.frozen, all[i].weights);
    for (size_t j = 0; j != floats[i].size(); ++j) {
      const SoftRounding &soft =
          cases[i].soft[cases[i].soft.size() == 1 ? 0 : j / 35];
      double present = (all[i].weights[j] - soft.offset) / soft.step;
      double before = (floats[i][j] - soft.offset) / soft.step;
      double nearest = std::clamp(std::clamp(before, soft.lowest, soft.highest),
                                  present - 0.5, present + 0.5);
      double found = (outcome.result[j] - soft.offset) / soft.step;
      // Rounded down, it stays 3e-4 of a level below the half.
      EXPECT_NEAR(found, nearest, 4e-4) << j;
    }
  }
}

TEST_F(TrainablePoints, PerturbationsLearnAsTheirDefinition) {
  std::vector<Point> all;
  std::vector<std::vector<PerturbedRounding>> quantizers;
  for (bool isPerChannel : {false, true})
    for (double most : {1.0, 2.5}) {
      Point point;
      point.shape = {5, 3, 7};
      point.axes = {1};
      point.weights = randomFloats(point.count(), -1.6f, 1.6f);
      std::vector<double> thresholds = isPerChannel
                                           ? std::vector<double>{1.1, 0.6, 1.7}
                                           : std::vector<double>{1.0};
      point.parameters =
          "#tpc.symmetric<threshold = " + listText(thresholds) + ", bits = 4>";
      point.trainable = most == 1
                            ? "#tpc.perturbed_rounding<>"
                            : "#tpc.perturbed_rounding<most_levels = 2.5>";
      quantizers.emplace_back();
      for (double threshold : thresholds) {
        quantizers.back().push_back(
            PerturbedRounding::ofThreshold(threshold, 4));
        quantizers.back().back().mostLevels = most;
      }
      all.push_back(point);
    }
  ASSERT_NO_FATAL_FAILURE(build(all));
  for (size_t i = 0; i != all.size(); ++i) {
    EXPECT_EQ(learnedOf(i, LearnedRole::Perturbation), Floats(105, 0));
    learnedOf(i, LearnedRole::Perturbation) = randomFloats(105, -0.5f, 0.5f);
  }
  std::vector<Outcome> outcomes = run();
  for (auto [i, outcome] : llvm::enumerate(outcomes)) {
    SCOPED_TRACE(all[i].trainable + " " + all[i].parameters);
    EXPECT_EQ(outcome.gradients[LearnedRole::Perturbation],
              outcome.resultGradient);
    Outcome variables;
    variables.values = outcome.learned[LearnedRole::Perturbation];
    std::vector<Channel> moved = channelsOf(i, variables, quantizers[i].size());
    for (Channel &channel : channelsOf(i, outcome, quantizers[i].size())) {
      const PerturbedRounding &quantizer = quantizers[i][channel.number];
      Floats result(channel.values.size());
      quantizer.forward(channel.values, moved[channel.number].values, result);
      for (size_t j = 0; j != result.size(); ++j)
        EXPECT_NEAR(channel.result[j], result[j], 1e-6);
      EXPECT_EQ(channel.frozen, channel.result);
    }
  }
}

//===----------------------------------------------------------------------===//
// What sets in
//===----------------------------------------------------------------------===//

TEST_F(TrainablePoints, GradualQuantizersBlendWhatTheyCompose) {
  const std::vector<std::pair<std::string, std::string>> inner = {
      {"#tpc.straight_through<>",
       "#tpc.symmetric<threshold = [0.9], bits = 3>"},
      {"#tpc.straight_through<clip = passed>",
       "#tpc.symmetric<threshold = [0.9], bits = 3>"},
      {"#tpc.learned_threshold<bits = 3>",
       "#tpc.symmetric<threshold = [0.9], bits = 3>"},
      {"#tpc.learned_range<bits = 3>",
       "#tpc.uniform<scale = [0.3], zero_point = [3], bits = 3>"},
      {"#tpc.observed_range<observer = last_value, bits = 3>", ""},
      {"#tpc.soft_rounding<>", "#tpc.symmetric<threshold = [0.9], bits = 3>"},
      {"#tpc.perturbed_rounding<>",
       "#tpc.symmetric<threshold = [0.9], bits = 3>"}};
  auto makePoints = [&](bool isGradual) {
    std::vector<Point> all;
    std::mt19937 saved = random;
    for (const auto &[trainable, parameters] : inner) {
      Point point{trainable, parameters};
      if (isGradual)
        point.trainable = "#tpc.gradual<of = " + trainable + ">";
      if (llvm::StringRef(trainable).contains("rounding"))
        point.weights = randomFloats(point.count(), -1.6f, 1.6f);
      all.push_back(point);
    }
    random = saved;
    return all;
  };
  ASSERT_NO_FATAL_FAILURE(build(makePoints(false)));
  random.seed(3);
  std::vector<Outcome> whole = run();
  random.seed(7);
  ASSERT_NO_FATAL_FAILURE(build(makePoints(true)));
  // One for all points; it has set in where no schedule says otherwise.
  EXPECT_EQ(learnedOf(0, LearnedRole::Fraction), Floats{1});
  learnedOf(0, LearnedRole::Fraction) = {0.25f};
  random.seed(3);
  std::vector<Outcome> blended = run();
  for (auto [i, of, blend] : llvm::enumerate(whole, blended)) {
    SCOPED_TRACE(points[i].trainable);
    ASSERT_EQ(of.values, blend.values);
    ASSERT_EQ(of.resultGradient, blend.resultGradient);
    for (size_t j = 0; j != of.values.size(); ++j)
      EXPECT_NEAR(blend.result[j], 0.75 * of.values[j] + 0.25 * of.result[j],
                  1e-6);
    for (size_t j = 0; j != of.gradient.size(); ++j)
      EXPECT_NEAR(blend.gradient[j],
                  0.75 * of.resultGradient[j] + 0.25 * of.gradient[j], 1e-6);
    EXPECT_EQ(of.states, blend.states);
    ASSERT_EQ(of.gradients.size(), blend.gradients.size());
    for (auto &[role, gradients] : of.gradients)
      for (size_t j = 0; j != gradients.size(); ++j)
        EXPECT_NEAR(blend.gradients[role][j], 0.25 * gradients[j],
                    1e-5 * std::max(1.0f, std::abs(gradients[j])));
    // In the end it is the quantizer that has set in.
    EXPECT_EQ(of.frozen, blend.frozen);
    EXPECT_EQ(of.parameters, blend.parameters);
  }
}

TEST_F(TrainablePoints, GradualQuantizersMayBeNested) {
  build({{"#tpc.gradual<of = #tpc.gradual<of = #tpc.learned_threshold<bits = "
          "3>>>",
          "#tpc.symmetric<threshold = [0.9], bits = 3>"}});
  learnedOf(0, LearnedRole::Fraction) = {0.5f};
  std::vector<Outcome> outcomes = run();
  for (size_t j = 0; j != outcomes[0].values.size(); ++j)
    EXPECT_NEAR(outcomes[0].result[j],
                0.75 * outcomes[0].values[j] + 0.25 * outcomes[0].frozen[j],
                1e-6);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

TEST_F(TrainablePoints, WhatHasNoMeaningIsBroughtBack) {
  auto bringBack = [&](const std::string &trainable,
                       std::vector<Floats> values) {
    Attribute attribute = parseAttribute(trainable, &context);
    SmallVector<MutableArrayRef<float>> views(values.begin(), values.end());
    cast<TrainableQuantizerAttrInterface>(attribute).keepValid(views);
    return values;
  };
  constexpr auto kSmallest = float(kSmallestThreshold);
  for (std::string trainable :
       {"#tpc.learned_threshold<bits = 4>",
        "#tpc.gradual<of = #tpc.learned_threshold<bits = 4>>"}) {
    std::vector<Floats> values = {{1, 0, -3, 1e-9f, 2e-5f}};
    std::vector<Floats> expected = {
        {1, kSmallest, kSmallest, kSmallest, 2e-5f}};
    if (llvm::StringRef(trainable).contains("gradual")) {
      values.push_back({0.5f});
      expected.push_back({0.5f});
    }
    EXPECT_EQ(bringBack(trainable, values), expected);
  }
  EXPECT_EQ(bringBack("#tpc.learned_range<bits = 4>",
                      {{-1, 0.5f, 0, 1}, {1, 0.5f, 1e-5f, -1}}),
            (std::vector<Floats>{
                {-1, 0.5f - kSmallest, 5e-6f - kSmallest, -kSmallest},
                {1, 0.5f + kSmallest, 5e-6f + kSmallest, kSmallest}}));
}

TEST_F(TrainablePoints, WhatIsNoNumberIsNotDeployed) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  struct Refused {
    Point point;
    LearnedRole role;
    float value;
    std::string message;
  };
  Point symmetric{"", "#tpc.symmetric<threshold = [0.9], bits = 3>"};
  auto with = [&](const std::string &trainable, bool isWeight = false) {
    Point point = symmetric;
    point.trainable = trainable;
    if (isWeight)
      point.weights = Floats(point.count(), 0.5f);
    return point;
  };
  const std::vector<Refused> all = {
      {with("#tpc.learned_threshold<bits = 4>"), LearnedRole::Threshold, kNan,
       "has learned the threshold nan; train with a smaller learning rate"},
      {with("#tpc.learned_threshold<bits = 4, power_of_two = true>"),
       LearnedRole::Threshold, kInfinity,
       "has learned the threshold inf; train with a smaller learning rate"},
      {with("#tpc.learned_range<bits = 4>"), LearnedRole::Maximum, kInfinity,
       "to inf; train with a smaller learning rate"},
      {with("#tpc.observed_range<observer = fixed, bits = 4>"),
       LearnedRole::ObservedMinimum, kNan,
       "; check the input scale, or train with a smaller learning rate"},
      {with("#tpc.soft_rounding<learns_scale = true>", true),
       LearnedRole::Scale, kNan,
       "has learned the scale nan; train with a smaller learning rate"}};
  for (const Refused &refused : all) {
    build({refused.point});
    learnedOf(0, refused.role).front() = refused.value;
    diagnostics.clear();
    EXPECT_TRUE(failed(writeLearned(network, training, learned)));
    EXPECT_NE(llvm::StringRef(diagnostics).lower().find(refused.message),
              std::string::npos)
        << diagnostics;
  }
}

// The dialect, without what `registerGradientModels` adds.
TEST(TrainablePointsAlone, NeedWhatImplementsThem) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, tpc::TpcDialect>();
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message += diagnostic.str(); });
  auto module = parseSourceString<ModuleOp>(R"(
func.func @main(%x: tensor<1x8xf32>, %t: tensor<1x1xf32>) -> tensor<1x8xf32> {
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.learned_threshold<bits = 2>) learned(%t : tensor<1x1xf32>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
})",
                                            &context);
  ASSERT_TRUE(module) << message;
  EXPECT_TRUE(
      failed(expandTrainablePoints(*module->getOps<func::FuncOp>().begin())));
  EXPECT_NE(message.find("'tpc.quantize' op cannot be trained as "
                         "#tpc.learned_threshold<bits = 2>: nothing implements "
                         "TrainableQuantizerAttrInterface for it"),
            std::string::npos)
      << message;
}
