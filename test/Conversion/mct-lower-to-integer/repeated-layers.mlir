// Ethos-U keeps the sums of a convolution inside where one rescale reads them: two points with different parameters get a
// convolution each where that is faster.
// RUN: mct-opt %s --mct-lower-to-integer="io=integer profile=ethos-u55" --verify-diagnostics | FileCheck %s --check-prefixes=CHECK,TWICE
// RUN: mct-opt %s --mct-lower-to-integer="io=integer profile=ethos-u85" | FileCheck %s --check-prefixes=CHECK,TWICE
// RUN: mct-opt %s --mct-lower-to-integer="io=integer" | FileCheck %s --check-prefixes=CHECK,ONCE

// CHECK-LABEL: func.func @main
// CHECK:         %[[A:.*]] = tosa.conv2d
// CHECK:         tosa.rescale %[[A]]
// TWICE:         %[[B:.*]] = tosa.conv2d
// TWICE:         tosa.rescale %[[B]]
// ONCE-NOT:      tosa.conv2d
// ONCE:          tosa.rescale %[[A]]
func.func @main(%arg0: tensor<1x8x8x4xf32>) -> (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) {
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<8x1x1x4xf32>}> : () -> tensor<8x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<0.25> : tensor<8xf32>}> : () -> tensor<8xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x8x8x4xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<8x1x1x4xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x8x8x4xf32>, tensor<8x1x1x4xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x8xf32>
  // expected-remark @below {{is computed 2 times, once for each of the points that read it with other parameters: so its sums stay inside of the device}}
  %a = tpc.quantize %0 as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x8x8x8xf32>
  %b = tpc.quantize %0 as "b" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x8x8x8xf32>
  return %a, %b : tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>
}
