// RUN: mct-opt %s --mct-bound-relu-to-power-of-two | FileCheck %s

// The factor 6/8 moves from the first to the second layer.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[K1:.*]] = "tosa.const"() <{values = dense<1.33333337> : tensor<1x1x1x1xf32>}>
// CHECK-DAG:     %[[B1:.*]] = "tosa.const"() <{values = dense<4.000000e+00> : tensor<1xf32>}>
// CHECK-DAG:     %[[K2:.*]] = "tosa.const"() <{values = dense<7.500000e-01> : tensor<1x1x1x1xf32>}>
// CHECK-DAG:     %[[B2:.*]] = "tosa.const"() <{values = dense<1.000000e+00> : tensor<1xf32>}>
// CHECK-DAG:     %[[X:.*]] = tosa.conv2d %arg0, %[[K1]], %[[B1]]
// CHECK-DAG:     %[[Y:.*]] = tosa.clamp %[[X]] {max_val = 8.000000e+00 : f32, min_val = 0.000000e+00 : f32}
// CHECK-DAG:     tosa.conv2d %[[Y]], %[[K2]], %[[B2]]
func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel2 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %2 = tosa.conv2d %1, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %2 : tensor<1x4x4x1xf32>
}
