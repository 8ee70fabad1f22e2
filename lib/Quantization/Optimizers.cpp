// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/Optimizers.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace mct;
using namespace mct::quantization;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

void quantization::step(const Adam &adam, AdamState &state,
                        ArrayRef<float> gradients,
                        MutableArrayRef<float> parameters, double rateFactor) {
  state.mean.resize(parameters.size());
  state.square.resize(parameters.size());
  ++state.steps;
  // Both means begin at zero; this is what they are short of.
  double meanShare = 1 - std::pow(adam.beta1, double(state.steps)),
         squareShare = 1 - std::pow(adam.beta2, double(state.steps)),
         rate = adam.rate * rateFactor / meanShare;
  for (auto [gradient, mean, square, parameter] :
       llvm::zip(gradients, state.mean, state.square, parameters)) {
    mean = float(adam.beta1 * mean + (1 - adam.beta1) * gradient);
    square = float(adam.beta2 * square +
                   (1 - adam.beta2) * (double(gradient) * gradient));
    double root = std::sqrt(square / squareShare);
    parameter = float(parameter - rate * mean / (root + adam.epsilon));
  }
}

void quantization::step(const GradientDescent &descent,
                        GradientDescentState &state, ArrayRef<float> gradients,
                        MutableArrayRef<float> parameters, double rateFactor) {
  double rate = descent.rate * rateFactor;
  if (descent.momentum == 0) {
    for (auto [gradient, parameter] : llvm::zip(gradients, parameters))
      parameter = float(parameter - rate * gradient);
    return;
  }
  state.velocity.resize(parameters.size());
  for (auto [gradient, velocity, parameter] :
       llvm::zip(gradients, state.velocity, parameters)) {
    velocity = float(descent.momentum * velocity + gradient);
    parameter = float(parameter - rate * velocity);
  }
}

double RateSchedule::at(int64_t step) const {
  if (step < warmup)
    return double(step + 1) / double(warmup);
  double share = std::clamp(double(step - warmup) /
                                double(std::max<int64_t>(1, steps - warmup)),
                            0.0, 1.0);
  switch (kind) {
  case Kind::Constant:
    return 1;
  case Kind::Cosine:
    return (1 + std::cos(M_PI * share)) / 2;
  case Kind::Linear:
    return 1 - share;
  }
  return 1;
}
