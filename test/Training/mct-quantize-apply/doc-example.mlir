// RUN: mct-opt %s --mct-quantize-apply | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:.*]]: tensor<1x4x4x3xf32>
// CHECK:         %[[IN:.*]] = tpc.quantize %[[X]] as "arg0" activation
// CHECK-SAME:      trainable(#tpc.observed_range<observer = all_values, bits = 8>) : tensor<1x4x4x3xf32>
// CHECK:         %[[W:.*]] = tpc.quantize %{{.*}} as "conv2d" weight "kernel_attr" axes [0]
// CHECK-SAME:      trainable(#tpc.observed_range<observer = last_value, bits = 8, is_symmetric = true, is_narrow = true>) : tensor<2x1x1x3xf32>
// CHECK:         %[[CONV:.*]] = tosa.conv2d %[[IN]], %[[W]]
// CHECK-NEXT:    %[[CLAMP:.*]] = tosa.clamp %[[CONV]]
// CHECK-NEXT:    %[[OUT:.*]] = tpc.quantize %[[CLAMP]] as "clamp" activation
// CHECK-SAME:      trainable(#tpc.observed_range<observer = moving_average, bits = 8>) : tensor<1x4x4x2xf32>
// CHECK-NEXT:    return %[[OUT]]
func.func @main(%x: tensor<1x4x4x3xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 2.0, -1.0]]], [[[0.5, 0.25, -0.125]]]]> : tensor<2x1x1x3xf32>}> : () -> tensor<2x1x1x3xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tpc.quantize %0 as "conv2d" activation config(#tpc.quantize_config<>) : tensor<1x4x4x2xf32>
  %2 = tosa.clamp %1 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %2 : tensor<1x4x4x2xf32>
}
