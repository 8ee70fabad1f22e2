// SPDX-License-Identifier: Apache-2.0
//
// Optimizers: update parameters from their gradients. They work element by
// element, so that the result depends neither on threads nor on the order of
// the parameters.
#ifndef MCT_QUANTIZATION_OPTIMIZERS_H
#define MCT_QUANTIZATION_OPTIMIZERS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace mct::quantization {

/// Source: Kingma and Ba, Adam: A Method for Stochastic Optimization (ICLR
/// 2015), with epsilon added where PyTorch adds it: after the corrected root.
struct Adam {
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};

/// Does step `number`, counted from 1. `mean` and `square` are the running
/// moments of the gradients of these parameters, 0 at first; `rateFactor` is
/// the factor of a schedule.
void step(const Adam &adam, int64_t number, llvm::MutableArrayRef<float> mean,
          llvm::MutableArrayRef<float> square, llvm::ArrayRef<float> gradients,
          llvm::MutableArrayRef<float> parameters, double rateFactor = 1);

/// Gradient descent; velocity = momentum * velocity + gradient, as in PyTorch
/// and not as in Nesterov's method.
struct GradientDescent {
  double rate = 1e-3, momentum = 0;
};

/// Does a step. `velocity` is that of these parameters, 0 at first; empty
/// without momentum.
void step(const GradientDescent &descent, llvm::MutableArrayRef<float> velocity,
          llvm::ArrayRef<float> gradients,
          llvm::MutableArrayRef<float> parameters, double rateFactor = 1);

/// Factor of a learning rate at each step.
struct RateSchedule {
  enum class Kind {
    Constant,
    Cosine, // from 1 to 0, half a period of a cosine
    Linear, // from 1 to 0
  };
  Kind kind = Kind::Constant;
  int64_t steps = 1;
  /// Number of steps at the beginning in which the factor grows from 0, in
  /// equal parts.
  int64_t warmup = 0;

  double at(int64_t step) const;
};

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_OPTIMIZERS_H
