// RUN: mct-opt %s --mct-correct-second-moment="calibration-data=%S/../Inputs/one_channel.npy" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: mct-opt %t.mlir --mct-correct-second-moment -o %t.twice.mlir
// RUN: diff %t.mlir %t.twice.mlir

// The kernel 0.75 becomes 0.5, so the deviation is 1.5 times too small. 1.125 is quantized with the threshold 1.5 to
// 0.75, which is 0.375 off. The bias needs nothing: 1.5 * the mean 2 * 0.5 is what the float layer makes of it. A second
// run does nothing, for which it needs no samples.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[SCALED:.*]] = "tosa.const"() <{values = dense<1.125000e+00> : tensor<1x1x1x1xf32>
// CHECK:         %[[W:.*]] = tpc.quantize %[[SCALED]] as "conv" {{.*}} parameters(#tpc.symmetric<threshold = [1.500000e+00], bits = 2>)
// CHECK-SAME:      selection(#tpc.selection<error_method = given, error = [1.406250e-01]>)
// CHECK-SAME:      corrections(#tpc.corrections<applied = ["second_moment"], bias_offset = [0.000000e+00], kernel_scale = [1.500000e+00]>)
// CHECK:         tosa.conv2d %{{.*}}, %[[W]], %{{.*}}
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<0.75> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
