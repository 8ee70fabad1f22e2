// SPDX-License-Identifier: Apache-2.0
#include "mct/Training/OptimizerOptions.h"

using namespace mct;
using Schedule = mct::quantization::RateSchedule::Kind;

llvm::cl::ValuesClass mct::optimizerKindValues() {
  return llvm::cl::values(
      clEnumValN(OptimizerKind::Adam, "adam", "Adam"),
      clEnumValN(OptimizerKind::GradientDescent, "sgd",
                 "gradient descent, with momentum if there is one"));
}

llvm::cl::ValuesClass mct::rateScheduleValues() {
  return llvm::cl::values(
      clEnumValN(Schedule::Constant, "constant", "the rates stay"),
      clEnumValN(Schedule::Cosine, "cosine", "half a period of a cosine, to 0"),
      clEnumValN(Schedule::Linear, "linear", "to 0 in equal parts"));
}

OptimizerSettings mct::makeOptimizer(OptimizerKind kind, double rate,
                                     double momentum, Schedule schedule) {
  OptimizerSettings made;
  if (kind == OptimizerKind::Adam)
    made.method = quantization::Adam{rate};
  else
    made.method = quantization::GradientDescent{rate, momentum};
  made.schedule.kind = schedule;
  return made;
}
