// RUN: mct-opt %s --mct-collapse-linear --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// 3 * 1 + 4 * 2, and 3 * 1 + 4 * 1 + 5.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     dense<1.100000e+01> : tensor<1x1x1x1xf32>
// CHECK-DAG:     dense<1.200000e+01> : tensor<1xf32>
// CHECK:         %[[CONV:.*]] = tosa.conv2d %arg0, {{.*}} loc("second")
// CHECK-NEXT:    return %[[CONV]]
func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel1 = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias1 = "tosa.const"() <{values = dense<[1.0, 1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[3.0, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<[5.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %kernel1, %bias1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("first")
  %1 = tosa.conv2d %0, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32> loc("second")
  return %1 : tensor<1x4x4x1xf32>
}
