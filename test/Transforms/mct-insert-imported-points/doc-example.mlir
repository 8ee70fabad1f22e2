// RUN: mct-opt %s --mct-insert-imported-points | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
// CHECK-NEXT:    %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT:    %1 = tpc.quantize %0 as "exp" activation parameters(#tpc.uniform<scale = [5.000000e-01], zero_point = [131], bits = 8>) selection(#tpc.selection<error_method = imported>) : tensor<1x4xf32>
// CHECK-NEXT:    %2 = tosa.tanh %1 : (tensor<1x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT:    return %2 : tensor<1x4xf32>
module {
  func.func @main(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4xf32> {tpc.imported = {point = "p", scale = array<f64: 0.5>, zero_point = array<i64: 3>, bits = 8 : i64, is_signed = true}}) -> (tensor<1x4xf32>, tensor<1x4xf32> {tpc.imported = "p"}) {
    %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %1 = tosa.tanh %arg1 : (tensor<1x4xf32>) -> tensor<1x4xf32>
    return %1, %0 : tensor<1x4xf32>, tensor<1x4xf32>
  }
}
