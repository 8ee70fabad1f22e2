// Biases go onto the grid of the accumulator; the remark tells where f32 may not add exactly.
// RUN: mct-opt %s --mct-simulate-integers | FileCheck %s
// RUN: mct-opt %s --mct-simulate-integers=rounding=half-even | FileCheck %s --check-prefix=EVEN
// RUN: mct-opt %s --mct-simulate-integers=remarks=true --verify-diagnostics -o /dev/null

// One step for each output channel: 0.25 * 0.5 and 0.25 * 1. Halves go to the even code: 0.3125 is 2.5 steps, 0.375 is
// 1.5. Two layers share the constant and get one each: with other steps, 0.25 * 0.075 and 0.25 * 0.025, it is 16.67 and 60
// of them. The grid of the input is still that after a reshape.
// CHECK-LABEL: func.func @shared
// CHECK:         tpc.quantize %{{.*}} as "x" activation parameters(#tpc.symmetric<threshold = [3.200000e+01], bits = 8, rounding = half_up>)
// CHECK:         "tosa.const"() <{values = dense<[2.500000e-01, 5.000000e-01]> : tensor<2xf32>}>
// CHECK:         tosa.conv2d
// CHECK:         "tosa.const"() <{values = dense<[0.318750024, 3.750000e-01]> : tensor<2xf32>}>
// EVEN-LABEL:  func.func @shared
// EVEN:          tpc.quantize %{{.*}} as "x" activation parameters(#tpc.symmetric<threshold = [3.200000e+01], bits = 8>)
// EVEN:          "tosa.const"() <{values = dense<[2.500000e-01, 5.000000e-01]> : tensor<2xf32>}>
func.func @shared(%arg0: tensor<1x2xf32>) -> (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>) {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 2.0]]], [[[3.0, 4.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.3125, 0.375]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 1, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.symmetric<threshold = [32.0], bits = 8>) : tensor<1x2xf32>
  %moved = tosa.reshape %x, %shape : (tensor<1x2xf32>, !tosa.shape<4>) -> tensor<1x1x1x2xf32>
  %w = tpc.quantize %kernel as "a" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [64.0, 128.0], bits = 8>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %moved, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %v = tpc.quantize %kernel as "b" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [9.6, 3.2], bits = 8>) : tensor<2x1x1x2xf32>
  %1 = tosa.conv2d %moved, %v, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  return %0, %1 : tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>
}

// Unsigned codes of the input go to 255, those of the kernel are 100 and 27; the bias is 200 steps and half a step of the
// output 2^15 * 512 of the accumulator's: 255 * 127 + 200 + 2^24 / 2 = 8421193, and 16809801 with twice the threshold.
// CHECK-LABEL: func.func @bounds
func.func @bounds(%arg0: tensor<1x1x2xf32>) -> (tensor<1x1x1xf32>, tensor<1x1x1xf32>) {
  %kernel = "tosa.const"() <{values = dense<[[[100.0], [-27.0]]]> : tensor<1x2x1xf32>}> : () -> tensor<1x2x1xf32>
  %bias = "tosa.const"() <{values = dense<200.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [256.0], bits = 8, is_signed = false>) : tensor<1x1x2xf32>
  %w = tpc.quantize %kernel as "matmul" weight "kernel_attr" axes [2] parameters(#tpc.power_of_two<threshold = [128.0], bits = 8>) : tensor<1x2x1xf32>
  %0 = tosa.matmul %x, %w, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  %1 = tosa.add %0, %bias : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %2 = tosa.clamp %1 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %3 = tpc.quantize %2 as "small" activation parameters(#tpc.power_of_two<threshold = [2147483648.0], bits = 8>) : tensor<1x1x1xf32>
  // expected-remark @below {{adds up to 16809801 in integers, and f32 adds exactly below 2^24: the simulation may differ from an integer network}}
  %4 = tosa.matmul %x, %w, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  %5 = tosa.add %4, %bias : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %6 = tpc.quantize %5 as "large" activation parameters(#tpc.power_of_two<threshold = [4294967296.0], bits = 8>) : tensor<1x1x1xf32>
  return %3, %6 : tensor<1x1x1xf32>, tensor<1x1x1xf32>
}

// The record of a correction speaks of the new bias: its float bias stays 0.125.
// CHECK-LABEL: func.func @corrected
// CHECK:         corrections(#tpc.corrections<applied = ["quantized_network"], bias_offset = [3.750000e-01], kernel_scale = [1.000000e+00]>)
func.func @corrected(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<0.625> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [64.0], bits = 8>) : tensor<1x1x1x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [128.0], bits = 8>)
         corrections(#tpc.corrections<applied = ["quantized_network"], bias_offset = [0.5], kernel_scale = [1.0]>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}

// Entries of a table are 128th parts of its threshold, and so codes: 0.3 is 4915.2 steps of 2^-14.
// CHECK-LABEL: func.func @table
// CHECK:         "tosa.const"() <{values = dense<0.299987793> : tensor<1xf32>}>
func.func @table(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<0.3> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<1x1x1x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0]
         parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [-128, -16, 0, 64], bits = 2>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
         : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
