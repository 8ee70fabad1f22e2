// RUN: mct-opt %s --mct-collapse-residual --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// 1 is added where output and input channel are the same.
// CHECK-LABEL: func.func @main
// CHECK:         dense<{{\[\[\[\[}}1.500000e+00, 0.000000e+00]]], {{\[\[\[}}0.000000e+00, 1.250000e+00]]]]> : tensor<2x1x1x2xf32>
// CHECK:         %[[CONV:.*]] = tosa.conv2d %arg0, {{.*}} loc("sum")
// CHECK-NEXT:    return %[[CONV]]
func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[0.5, 0.0]]], [[[0.0, 0.25]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("conv")
  %1 = tosa.add %0, %arg0 : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("sum")
  return %1 : tensor<1x4x4x2xf32>
}
