// What bytecode holds and text cannot spell is in test/Integration/negative-size.test.
// RUN: mct-opt %s --mct-verify-shapes | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK:         %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.exp %arg0 : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
