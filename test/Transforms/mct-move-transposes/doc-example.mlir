// RUN: mct-opt %s --mct-move-transposes | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT:     tosa.transpose
// CHECK:         %[[OFFSET:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00, 2.000000e+00]]]]> : tensor<1x1x1x2xf32>
// CHECK:         %[[SUM:.*]] = tosa.add %arg0, %[[OFFSET]] : (tensor<1x4x6x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x6x2xf32>
// CHECK-NEXT:    return %[[SUM]]
func.func @main(%arg0: tensor<1x4x6x2xf32>) -> tensor<1x4x6x2xf32> {
  %offset = "tosa.const"() <{values = dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf32>}> : () -> tensor<1x2x1x1xf32>
  %0 = tosa.transpose %arg0 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %1 = tosa.add %0, %offset : (tensor<1x2x4x6xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x6xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x4x6xf32>) -> tensor<1x4x6x2xf32>
  return %2 : tensor<1x4x6x2xf32>
}
