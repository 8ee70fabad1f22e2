// RUN: mct-opt %s --mct-cut-decoding | FileCheck %s
// RUN: mct-opt %s --mct-cut-decoding --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=NAMES

// The layer is the end of the network, and its result the argument of what decodes it, under its name.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
// CHECK-NOT:     tosa.add
// CHECK:         %[[HEAD:.*]] = tosa.conv2d
// CHECK-NEXT:    return %[[HEAD]]
// CHECK-LABEL: func.func @decode(
// CHECK-SAME:    %[[HEAD:.*]]: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
// CHECK:         %[[SUM:.*]] = tosa.add %[[HEAD]], %{{.*}}
// CHECK-NEXT:    return %[[SUM]]
// NAMES:       func.func @decode(%arg0: tensor<1x4x4x2xf32> loc("head"))
func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %cells = "tosa.const"() <{values = dense<[[[[0.5, 0.5], [1.5, 0.5], [2.5, 0.5], [3.5, 0.5]], [[0.5, 1.5], [1.5, 1.5], [2.5, 1.5], [3.5, 1.5]], [[0.5, 2.5], [1.5, 2.5], [2.5, 2.5], [3.5, 2.5]], [[0.5, 3.5], [1.5, 3.5], [2.5, 3.5], [3.5, 3.5]]]]> : tensor<1x4x4x2xf32>}> : () -> tensor<1x4x4x2xf32>
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("head")
  %1 = tosa.add %0, %cells : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("boxes")
  return %1 : tensor<1x4x4x2xf32>
}
