// RUN: mct-opt %s --mct-fold-constants | FileCheck %s

// The column [1, 2] and the row [10, 20, 30] meet in a 2x3 tensor.
// CHECK-LABEL: func.func @broadcast_both_sides
// CHECK:         dense<{{\[\[}}1.100000e+01, 2.100000e+01, 3.100000e+01], [1.200000e+01, 2.200000e+01, 3.200000e+01]]> : tensor<2x3xf32>
// CHECK-NOT:     tosa.add
func.func @broadcast_both_sides() -> tensor<2x3xf32> {
  %column = "tosa.const"() <{values = dense<[[1.0], [2.0]]> : tensor<2x1xf32>}> : () -> tensor<2x1xf32>
  %row = "tosa.const"() <{values = dense<[[10.0, 20.0, 30.0]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
  %0 = tosa.add %column, %row : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// One side alone is not a constant expression.
// CHECK-LABEL: func.func @argument_stays
// CHECK:         tosa.sub
func.func @argument_stays(%arg0: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %column = "tosa.const"() <{values = dense<[[1.0], [2.0]]> : tensor<2x1xf32>}> : () -> tensor<2x1xf32>
  %0 = tosa.sub %column, %arg0 : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// reciprocal(2 * 2 - 3.5) = 2; a chain folds in one run, and the constants it read go away.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    "tosa.const"() <{values = dense<2.000000e+00>
// CHECK-NEXT:    return
func.func @chain() -> tensor<1xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %three = "tosa.const"() <{values = dense<3.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.mul %two, %two, %shift : (tensor<1xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<1xf32>
  %1 = tosa.sub %0, %three : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %2 = tosa.reciprocal %1 : (tensor<1xf32>) -> tensor<1xf32>
  return %2 : tensor<1xf32>
}
