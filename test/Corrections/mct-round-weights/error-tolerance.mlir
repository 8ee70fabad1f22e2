// Kernels with an error tolerance are rounded whatever their bits, and keep their thresholds.
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/eight_pairs.npy" | FileCheck %s
// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/eight_pairs.npy max-bits=0" | FileCheck %s --check-prefix=NONE

// A step of 1, at which 0.4 and 0.4 are 0 and 0, or 1 and 0.
// CHECK: as "tolerant" weight "kernel_attr" {{.*}}parameters(#tpc.symmetric<threshold = [1.280000e+02], bits = 8>) {{.*}}applied = ["rounded_weights"
// CHECK: as "exact" weight "kernel_attr"
// CHECK-NOT: rounded_weights
// NONE-NOT: rounded_weights
#tolerant = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true, error_tolerance = 64>
#exact = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) {
  %kernel = "tosa.const"() <{values = dense<[[[[0.4, 0.4]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "tolerant" weight "kernel_attr" config(#tolerant) parameters(#tpc.symmetric<threshold = [128.0], bits = 8>) : tensor<1x1x1x2xf32>
  %v = tpc.quantize %kernel as "exact" weight "kernel_attr" config(#exact) parameters(#tpc.symmetric<threshold = [128.0], bits = 8>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tosa.conv2d %arg0, %v, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0, %1 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
}
