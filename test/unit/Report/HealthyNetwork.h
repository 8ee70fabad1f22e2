// SPDX-License-Identifier: Apache-2.0
//
// The report of a network with which nothing is wrong, made by hand: layer
// `conv` reads the input `image` and is all there is.
#ifndef MCT_TEST_UNIT_REPORT_HEALTHYNETWORK_H
#define MCT_TEST_UNIT_REPORT_HEALTHYNETWORK_H

#include "mct/Report/Diagnose.h"
#include "gtest/gtest.h"

#include <cmath>
#include <string>
#include <vector>

namespace mct::testing::diagnosis {

using namespace mct::report;
using Rules = std::vector<std::string>;

/// `count` values spread evenly over [min, max], in 64 bins.
inline Statistics spread(Real min, Real max, int64_t count = 64 * 1000) {
  Statistics statistics;
  statistics.count = count;
  statistics.min = min;
  statistics.max = max;
  statistics.histogram =
      Histogram{min, (max - min) / 64, std::vector<int64_t>(64, count / 64)};
  return statistics;
}

inline Statistics constant(Real value, int64_t count = 64 * 1000) {
  Statistics statistics;
  statistics.count = count;
  statistics.zeros = value == 0 ? count : 0;
  statistics.min = statistics.max = value;
  return statistics;
}

inline Parameters grid(Real threshold, bool isSigned, int64_t bits = 8) {
  Parameters parameters;
  parameters.bits = bits;
  parameters.isSigned = isSigned;
  parameters.hasPowersOfTwo = true;
  Real step = threshold / std::exp2(bits - (isSigned ? 1 : 0));
  parameters.threshold = {threshold};
  parameters.step = {step};
  parameters.lowest = {isSigned ? -threshold : 0};
  parameters.highest = {threshold - step};
  return parameters;
}

/// A healthy network: image -> conv -> result, 64 values a sample, 1000 samples
/// in calibration and report.
struct Network {
  Report report;
  Network() {
    report.metric = "mse";
    report.distance = 0.04;
    report.deviation = 0.04;
    report.samples = report.effectSamples = 1000;
    report.calibrationSamples = 1000;
    report.operators.reserve(8);
    Operator &argument = report.operators.emplace_back();
    argument.name = "image";
    argument.ops = {"argument"};
    argument.points = {"image"};
    Operator &op = report.operators.emplace_back();
    op.name = "conv";
    op.ops = {"tosa.conv2d"};
    op.operatorSet = "Conv";
    op.cover = "point";
    op.inputs = {"image"};
    op.points = {"conv/kernel_attr", "conv"};
    op.alternatives = {{8, 8}, {8, 4}, {16, 8}};
    addActivation("image", spread(0, 1), grid(1, false), 0.003);
    Point &kernel = report.points.emplace_back();
    kernel.name = "conv/kernel_attr";
    kernel.owner = "conv";
    kernel.weight = "kernel_attr";
    kernel.shape = {3, 1, 1, 1};
    kernel.axes = {0};
    kernel.parameters = grid(1, true);
    for (auto *each :
         {&kernel.parameters->threshold, &kernel.parameters->lowest,
          &kernel.parameters->highest, &kernel.parameters->step})
      each->assign(3, each->front());
    kernel.channels = {
        {-0.9, 0.9, 1e-6, 50}, {-0.8, 0.8, 1e-6, 50}, {-0.7, 0.7, 1e-6, 50}};
    setGain(kernel, 0.008);
    addActivation("conv", spread(-1, 1), grid(1, true), 0.008);
  }
  Point &addActivation(const char *name, const Statistics &values,
                       Parameters parameters, Real gain) {
    Point &point = report.points.emplace_back();
    point.name = point.owner = name;
    point.shape = {1, 8, 8, 1};
    point.statistics = values;
    point.observed = values;
    point.parameters = std::move(parameters);
    point.own = Distance{45, 1, 0.01};
    setGain(point, gain);
    Selection selection;
    selection.errorMethod = "mse";
    point.selection = selection;
    return point;
  }
  Operator &addOperator(const char *name, const char *op, const char *set,
                        const char *input) {
    Operator &added = report.operators.emplace_back();
    added.name = name;
    added.ops = {op};
    added.operatorSet = set;
    added.inputs = {input};
    added.points = {name};
    added.cover = "point";
    return added;
  }
  Point &image() { return report.points[0]; }
  Point &kernel() { return report.points[1]; }
  Point &conv() { return report.points[2]; }
  Operator &layer() { return report.operators[1]; }
  void setGain(Point &point, Real gain) const {
    point.effect = Effect{report.distance - gain, gain, gain / report.distance};
  }
  void see(Point &point, const Statistics &values) {
    point.statistics = point.observed = values;
  }

  std::vector<std::string> rules() const {
    std::vector<std::string> names;
    for (const Diagnosis &diagnosis : diagnose(report))
      names.push_back(diagnosis.rule);
    return names;
  }
  /// The only diagnosis.
  Diagnosis only() const {
    std::vector<Diagnosis> found = diagnose(report);
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? Diagnosis() : found.front();
  }
};

} // namespace mct::testing::diagnosis

#endif // MCT_TEST_UNIT_REPORT_HEALTHYNETWORK_H
