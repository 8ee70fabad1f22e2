// A kernel of 8 bits whose channels share one range counts as one of 7 bits; one with a range for each channel does not.
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/two_samples.npy" | FileCheck %s
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/two_samples.npy max-bits=6" | FileCheck %s --check-prefix=FEWER
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/two_samples.npy max-bits=0 function=one_bit" | FileCheck %s --check-prefix=NONE

// CHECK-LABEL: func.func @main
// CHECK:         as "shared" {{.*}} corrections(#tpc.corrections<applied = ["rounded_weights"]
// CHECK:         as "own" {{.*}} corrections(#tpc.corrections<applied = ["quantized_network"]
// CHECK:         as "single" {{.*}} corrections(#tpc.corrections<applied = ["quantized_network"]
// FEWER-NOT:     rounded_weights
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>) {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]], [[[0.1, 0.03]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %row = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shared = tpc.quantize %kernel as "shared" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %shared, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %own = tpc.quantize %kernel as "own" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 0.125], bits = 8>) : tensor<2x1x1x2xf32>
  %1 = tosa.conv2d %arg0, %own, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  // One channel shares its range with no other one.
  %single = tpc.quantize %row as "single" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 8>) : tensor<1x1x1x2xf32>
  %2 = tosa.conv2d %arg0, %single, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0, %1, %2 : tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1x1xf32>
}

// NONE-LABEL: func.func @one_bit
// NONE:         as "bit"
// NONE-NOT:     rounded_weights
func.func @one_bit(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]], [[[0.1, 0.03]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %bit = tpc.quantize %kernel as "bit" weight "kernel_attr" parameters(#tpc.uniform<scale = [1.0], zero_point = [0], bits = 1>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %bit, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}
