// SPDX-License-Identifier: Apache-2.0
//
// How parameters follow their gradients. Element by element, so that the result
// depends neither on threads nor on how parameters lie beside each other.
#ifndef MCT_QUANTIZATION_OPTIMIZERS_H
#define MCT_QUANTIZATION_OPTIMIZERS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace mct::quantization {

/// Source: Kingma and Ba, Adam: A Method for Stochastic Optimization (ICLR
/// 2015), with epsilon where PyTorch has it: behind the corrected root.
struct Adam {
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};

/// Does the step of that number, from 1 on. `mean`, `square`: of the gradients
/// of these parameters, 0 at first; `rateFactor`: of a schedule.
void step(const Adam &adam, int64_t number, llvm::MutableArrayRef<float> mean,
          llvm::MutableArrayRef<float> square, llvm::ArrayRef<float> gradients,
          llvm::MutableArrayRef<float> parameters, double rateFactor = 1);

/// Gradient descent; velocity = momentum * velocity + gradient, as PyTorch and
/// unlike Nesterov.
struct GradientDescent {
  double rate = 1e-3, momentum = 0;
};

/// Does a step. `velocity`: of these parameters, 0 at first; empty without
/// momentum.
void step(const GradientDescent &descent, llvm::MutableArrayRef<float> velocity,
          llvm::ArrayRef<float> gradients,
          llvm::MutableArrayRef<float> parameters, double rateFactor = 1);

/// Factors of a learning rate by step.
struct RateSchedule {
  enum class Kind {
    Constant,
    Cosine, // from 1 to 0, half a period of a cosine
    Linear, // from 1 to 0
  };
  Kind kind = Kind::Constant;
  int64_t steps = 1;
  /// Steps at the beginning in which the factor grows from 0, in equal parts.
  int64_t warmup = 0;

  double at(int64_t step) const;
};

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_OPTIMIZERS_H
