// RUN: mct-opt %s --mct-judge-correction="correction=input_mean made-by=builtin.module(mct-correct-bias{estimate=input-mean calibration-data=%S/../Inputs/short_tail.npy}) calibration-data=%S/../Inputs/short_tail.npy" | FileCheck %s

// The kernel 1 becomes 0.5. The samples, six of 1 and two of 13, have the mean 4, so that MCT's formula adds 2 to the bias:
// of 1 it makes 2.5 instead of 0.5, and the clamp hides what it does for 13. (1.5 / 0.5)^2 is 9.54 dB.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    attributes {tpc.rejected_corrections = [{correction = "input_mean", loss = 9.54{{[0-9]*}} : f64, output = 0 : i64, samples = 8 : i64, standard_error = {{.*}} : f64}]}
// CHECK-NOT:     corrections(
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %one as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 4.0 : f32} : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}
