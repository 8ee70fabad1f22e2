// RUN: rm -rf %t.folder
// RUN: mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(func.func(mct-assign-names))" --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: tosa.exp {{.*}} loc("exp"
  %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  return %0 : tensor<4xf32>
}
