// RUN: mct-opt %s --mct-quantize-annotate | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK:         %[[CONV:.*]] = tosa.conv2d
// CHECK-NEXT:    %[[MARKED:.*]] = tpc.quantize %[[CONV]] as "conv2d" activation config(#tpc.quantize_config<>) : tensor<1x4x4x2xf32>
// CHECK-NEXT:    %[[CLAMP:.*]] = tosa.clamp %[[MARKED]]
// CHECK-NEXT:    %[[OUT:.*]] = tpc.quantize %[[CLAMP]] as "clamp" activation config(#tpc.quantize_config<>) : tensor<1x4x4x2xf32>
// CHECK-NEXT:    return %[[OUT]]
func.func @main(%x: tensor<1x4x4x3xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 2.0, -1.0]]], [[[0.5, 0.25, -0.125]]]]> : tensor<2x1x1x3xf32>}> : () -> tensor<2x1x1x3xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %1 : tensor<1x4x4x2xf32>
}
