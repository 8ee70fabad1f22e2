// Two points with different parameters read the sums of one convolution.
// RUN: mct-opt %s --mct-lower-to-integer="io=integer profile=ethos-u55" --verify-diagnostics | FileCheck %s
// RUN: mct-opt %s --mct-lower-to-integer="io=integer profile=ethos-u85" | FileCheck %s

// Reading so many weights twice takes longer.
// CHECK-LABEL: func.func @main
// CHECK:         %[[A:.*]] = tosa.conv2d
// CHECK:         tosa.rescale %[[A]]
// CHECK-NOT:     tosa.conv2d
// CHECK:         tosa.rescale %[[A]]
func.func @main(%arg0: tensor<1x2x2x256xf32>) -> (tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>) {
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<8x1x1x256xf32>}> : () -> tensor<8x1x1x256xf32>
  %bias = "tosa.const"() <{values = dense<0.25> : tensor<8xf32>}> : () -> tensor<8xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x2x2x256xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<8x1x1x256xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x2x2x256xf32>, tensor<8x1x1x256xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x8xf32>
  // expected-remark @below {{points with different parameters read it, so that its sums leave the device's accumulators, and computing it again would take longer; points with the same parameters share one rescale}}
  %a = tpc.quantize %0 as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x2x2x8xf32>
  %b = tpc.quantize %0 as "b" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x2x2x8xf32>
  return %a, %b : tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>
}
