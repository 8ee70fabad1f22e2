// RUN: mct-opt %s --mct-lower-to-integer="io=integer profile=pro_int" --split-input-file | FileCheck %s
// RUN: mct-opt %s --mct-lower-to-integer=io=integer --split-input-file 2>/dev/null | FileCheck %s --check-prefix=ANY

// A device that computes no floats returns the parts of a concatenation without a common grid, in their order, also where
// one of them is a concatenation, and after what moves them.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    -> (tensor<2x1xi8> {tpc.quantized = {bits = 8 : i64, name = "boxes", scale = 8.000000e+00 : f64, zero_point = 0 : i64}},
// CHECK-SAME:        tensor<1x1xi8> {tpc.quantized = {bits = 8 : i64, name = "scores", scale = 7.812500e-03 : f64, zero_point = 0 : i64}},
// CHECK-SAME:        tensor<2x1xi8> {tpc.quantized = {bits = 8 : i64, name = "boxes",
// CHECK-NOT:     tosa.concat
// CHECK:         return %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x1xi8>, tensor<1x1xi8>, tensor<2x1xi8>
// Elsewhere there is one result of numbers.
// ANY-LABEL:   func.func @main
// ANY-SAME:      -> tensor<5x1xf32>
func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x1xf32>) -> tensor<5x1xf32> {
  %boxes = tpc.quantize %arg0 as "boxes" activation parameters(#tpc.power_of_two<threshold = [1024.0], bits = 8, rounding = half_up>) : tensor<1x2xf32>
  %scores = tpc.quantize %arg1 as "scores" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x1xf32>
  %0 = tosa.concat %scores, %boxes {axis = 1 : i32} : (tensor<1x1xf32>, tensor<1x2xf32>) -> tensor<1x3xf32>
  %1 = tosa.concat %boxes, %0 {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x3xf32>) -> tensor<1x5xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 1, 0>} : (tensor<1x5xf32>) -> tensor<5x1xf32>
  return %2 : tensor<5x1xf32>
}

// -----

// One grid: codes of the whole.
// CHECK-LABEL: func.func @one_grid
// CHECK-SAME:    -> (tensor<1x3xi8> {tpc.quantized =
// ANY-LABEL:   func.func @one_grid
func.func @one_grid(%arg0: tensor<1x2xf32>, %arg1: tensor<1x1xf32>) -> tensor<1x3xf32> {
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x2xf32>
  %b = tpc.quantize %arg1 as "b" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x1xf32>
  %0 = tosa.concat %a, %b {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}
