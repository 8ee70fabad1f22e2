// SPDX-License-Identifier: Apache-2.0
//
// A network with trainable points, the function that trains it, and the results
// of one training step.
#ifndef MCT_TEST_UNIT_TRAINING_TRAINABLEPOINTSFIXTURE_H
#define MCT_TEST_UNIT_TRAINING_TRAINABLEPOINTSFIXTURE_H

#include "Differences.h"
#include "mct/Quantizers/Channels.h"
#include "mct/Training/Training.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace mct::testing::trainable {

using namespace mlir;
using namespace mct::quantization;
using mct::tpc::LearnedRole;
using mct::tpc::QuantizeOp;
using Floats = std::vector<float>;

inline std::string f32Type(const std::vector<int64_t> &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

inline std::string elementsText(const Floats &values,
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
  /// Values of a weight point; empty: an activation point, of an argument.
  Floats weights = {};
  std::string corrections = "";

  bool isWeight() const { return !weights.empty(); }
  size_t count() const {
    return size_t(ShapedType::getNumElements(llvm::ArrayRef(shape)));
  }
};

/// Results and gradients of a point with learned values for some values.
struct Outcome {
  Floats values, result, resultGradient, gradient;
  std::map<LearnedRole, Floats> learned, gradients, states;
  /// Results of the ordinary point that it becomes.
  Floats frozen;
  tpc::QuantizerAttrInterface parameters;
};

/// One set of parameters, with its weights.
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

  /// Returns the part that belongs to each of `channels` parameters of a point.
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

inline std::string listText(const std::vector<double> &numbers) {
  std::string text = "[";
  for (size_t i = 0; i != numbers.size(); ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return text + "]";
}

} // namespace mct::testing::trainable

#endif // MCT_TEST_UNIT_TRAINING_TRAINABLEPOINTSFIXTURE_H
