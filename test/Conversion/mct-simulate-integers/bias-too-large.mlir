// A bias that 32 bits do not hold stays as it is, and its neighbours with it. The warning needs no remarks.
// RUN: mct-opt %s --mct-simulate-integers --verify-diagnostics | FileCheck %s

// CHECK: dense<[1.000000e+00, 1.000000e+01]> : tensor<2xf32>
func.func @bias_too_large(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 10.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x1x1x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0, 1.1920928955078125e-7], bits = 8>) : tensor<2x1x1x1xf32>
  // expected-warning @below {{keeps its bias in float: that of channel 1, 1.000000e+01, is 1.374390e+12 steps of the accumulator, more than 32 bits hold}}
  // expected-note @below {{the step is 7.275958e-12, that of the input times that of the kernel; a larger threshold of the kernel makes it larger: min-threshold of mct-select-weight-parameters}}
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}
