// RUN: mct-opt %s --allow-unregistered-dialect --mct-raise-linalg | FileCheck %s

// An op of a dialect that is not registered stays, and what is beside it is raised.
// CHECK-LABEL: func.func @main
// CHECK: %[[ABS:.*]] = tosa.abs
// CHECK: "mine.spline"(%[[ABS]])
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %e = tensor.empty() : tensor<1x4xf32>
  %0 = linalg.abs ins(%x : tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = "mine.spline"(%0) {degree = 3 : i64} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
