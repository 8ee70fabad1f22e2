// RUN: mct-opt %s --mct-assign-names --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME:    loc("arg0")
func.func @main(%arg0: tensor<4xf32> loc(unknown)) -> tensor<4xf32> {
  // CHECK: tosa.exp {{.*}} loc("exp"
  %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  // CHECK: tosa.exp {{.*}} loc("tail")
  %1 = tosa.exp %0 : (tensor<4xf32>) -> tensor<4xf32> loc("tail")
  // CHECK: tosa.exp {{.*}} loc("exp_1"
  %2 = tosa.exp %1 : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  return %2 : tensor<4xf32>
}
