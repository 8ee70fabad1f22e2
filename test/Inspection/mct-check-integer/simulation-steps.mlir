// Whether a simulation is exact depends on steps, too: the rescale after sums tells those of weights.
// RUN: mct-opt %s --mct-lower-to-integer=io=integer --mct-check-integer=simulation=true --split-input-file -o /dev/null 2>&1 | FileCheck %s

// CHECK: remark: a simulation in f32 computes its sums exactly: they stay within 16439 of
func.func @powers(%x: tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kf = "tosa.const"() <{values = dense<[[[[-1.0]]], [[[0.1]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x1x1x1xf32>
  %k = tpc.quantize %kf as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0, 0.125], bits = 8>) : tensor<2x1x1x1xf32>
  %r = tosa.conv2d %in, %k, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  // The step of the result is not that of a sum.
  %out = tpc.quantize %r as "out" activation parameters(#tpc.symmetric<threshold = [1.7], bits = 8, rounding = half_up>) : tensor<1x1x1x2xf32>
  return %out : tensor<1x1x1x2xf32>
}

// -----

// CHECK: remark: a simulation in f32 may round its sums, as their steps are not powers of two; codes may be one off; they stay within
func.func @weights(%x: tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kf = "tosa.const"() <{values = dense<[[[[-1.0]]], [[[0.1]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x1x1x1xf32>
  %k = tpc.quantize %kf as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 0.11], bits = 8>) : tensor<2x1x1x1xf32>
  %r = tosa.conv2d %in, %k, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x1x1x2xf32>
  return %out : tensor<1x1x1x2xf32>
}

// -----

// CHECK: remark: a simulation in f32 may round its sums, as their steps
func.func @input(%x: tensor<1x4xf32>) -> tensor<1x1xf32> {
  %in = tpc.quantize %x as "in" activation parameters(#tpc.symmetric<threshold = [1.9], bits = 8, rounding = half_up>) : tensor<1x4xf32>
  %r = tosa.reduce_sum %in {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x1xf32>
  return %out : tensor<1x1xf32>
}
