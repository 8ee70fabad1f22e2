// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/Optimizers.h"

#include <algorithm>
#include <cmath>

using namespace mct;
using namespace mct::quantization;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

void quantization::step(const Adam &adam, int64_t number,
                        MutableArrayRef<float> mean,
                        MutableArrayRef<float> square,
                        ArrayRef<float> gradients,
                        MutableArrayRef<float> parameters, double rateFactor) {
  // Both means begin at zero, so they are divided by these shares.
  double meanShare = 1 - std::pow(adam.beta1, double(number)),
         squareShare = 1 - std::pow(adam.beta2, double(number)),
         rate = adam.rate * rateFactor / meanShare;
  for (size_t i = 0; i != parameters.size(); ++i) {
    double gradient = gradients[i];
    mean[i] = float(adam.beta1 * mean[i] + (1 - adam.beta1) * gradient);
    square[i] = float(adam.beta2 * square[i] +
                      (1 - adam.beta2) * (gradient * gradient));
    // std::sqrt may set errno, which would prevent vectorization.
    double root = __builtin_elementwise_sqrt(square[i] / squareShare);
    parameters[i] =
        float(parameters[i] - rate * mean[i] / (root + adam.epsilon));
  }
}

void quantization::step(const GradientDescent &descent,
                        MutableArrayRef<float> velocity,
                        ArrayRef<float> gradients,
                        MutableArrayRef<float> parameters, double rateFactor) {
  double rate = descent.rate * rateFactor;
  if (descent.momentum == 0) {
    for (size_t i = 0; i != parameters.size(); ++i)
      parameters[i] = float(parameters[i] - rate * gradients[i]);
    return;
  }
  for (size_t i = 0; i != parameters.size(); ++i) {
    velocity[i] = float(descent.momentum * velocity[i] + gradients[i]);
    parameters[i] = float(parameters[i] - rate * velocity[i]);
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
