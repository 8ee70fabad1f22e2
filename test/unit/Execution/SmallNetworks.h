// SPDX-License-Identifier: Apache-2.0
//
// Networks of a few layers, as text.
#ifndef MCT_TEST_UNIT_EXECUTION_SMALLNETWORKS_H
#define MCT_TEST_UNIT_EXECUTION_SMALLNETWORKS_H

#include "Fixture.h"

namespace mct::execution {

/// One function body that ends in a value, with its argument and result types.
inline std::string function(const std::string &arguments,
                            const std::string &result,
                            const std::string &body) {
  return "func.func @main(" + arguments + ") -> " + result + " {\n" + kZero +
         body + "\n}";
}

/// An MLP as importers write it: reshape, pointwise convolution, reshape,
/// clamp.
inline std::string fullyConnected() {
  return function("%x: tensor<1x20xf32>", "tensor<1x11xf32>",
                  constant("w", {11, 1, 1, 20}, 1) + constant("b", {11}, 2) +
                      R"(
    %s = tosa.const_shape {values = dense<[1, 1, 1, 20]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %t = tosa.const_shape {values = dense<[1, 11]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %0 = tosa.reshape %x, %s : (tensor<1x20xf32>, !tosa.shape<4>) -> tensor<1x1x1x20xf32>
    %1 = tosa.conv2d %0, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x1x1x20xf32>, tensor<11x1x1x20xf32>, tensor<11xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x11xf32>
    %2 = tosa.reshape %1, %t : (tensor<1x1x1x11xf32>, !tosa.shape<2>) -> tensor<1x11xf32>
    %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x11xf32>) -> tensor<1x11xf32>
    return %3 : tensor<1x11xf32>)");
}

/// Two convolutions whose sum is clamped; every op has a name.
inline std::string residual() {
  return function("%x: tensor<1x6x6x8xf32>", "tensor<1x6x6x8xf32>",
                  constant("w", {8, 3, 3, 8}, 1) + constant("b", {8}, 2) +
                      constant("v", {8, 1, 1, 8}, 3) + R"(
    %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
      : (tensor<1x6x6x8xf32>, tensor<8x3x3x8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x8xf32> loc("left")
    %1 = tosa.conv2d %x, %v, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x6x6x8xf32>, tensor<8x1x1x8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x8xf32> loc("right")
    %2 = tosa.add %0, %1 : (tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32> loc("sum")
    %3 = tosa.clamp %2 {min_val = -1.0 : f32, max_val = 6.0 : f32} : (tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32> loc("clamp")
    return %3 : tensor<1x6x6x8xf32>)");
}

} // namespace mct::execution

#endif // MCT_TEST_UNIT_EXECUTION_SMALLNETWORKS_H
