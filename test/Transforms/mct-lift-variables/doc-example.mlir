// RUN: mct-opt %s --mct-lift-variables | FileCheck %s
// RUN: mct-opt %s --mct-lift-variables --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=NAMES

// CHECK-NOT:   tosa.variable
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32> {tpc.initial_value = dense<0.000000e+00> : tensor<1x2xf32>}) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
// CHECK-NEXT:    %0 = tosa.add %arg1, %arg0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %1 = tosa.tanh %0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %2 = tosa.identity %0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:    return %1, %2 : tensor<1x2xf32>, tensor<1x2xf32>
// NAMES:       %arg1: tensor<1x2xf32> {{.*}} loc("sum"(
// NAMES:       tosa.identity {{.*}} loc("sum_next"(
module {
  tosa.variable @sum = dense<0.000000e+00> : tensor<1x2xf32>
  func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
    %0 = tosa.variable_read @sum : tensor<1x2xf32>
    %1 = tosa.add %0, %arg0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    tosa.variable_write @sum, %1 : tensor<1x2xf32>
    %2 = tosa.tanh %1 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    return %2 : tensor<1x2xf32>
  }
}
