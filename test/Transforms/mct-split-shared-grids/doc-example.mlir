// RUN: mct-opt %s --mct-split-shared-grids --verify-diagnostics | FileCheck %s

// Scores from 0 to 1 would have one code in the grid of the boxes.
// CHECK-LABEL: func.func @main
// CHECK-SAME:    tpc.overrides = ["?name \22head\22 activation=float"]
// CHECK:         %[[BOXES:.*]] = tpc.quantize %arg0 as "boxes" activation
// CHECK:         %[[SCORES:.*]] = tpc.quantize %arg1 as "scores" activation
// CHECK:         %[[HEAD:.*]] = tosa.concat %[[BOXES]], %[[SCORES]]
// CHECK-NEXT:    return %[[HEAD]]
func.func @main(%arg0: tensor<1x4xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x6xf32> {
  %boxes = tpc.quantize %arg0 as "boxes" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 3.0, max = 600.0>) : tensor<1x4xf32>
  %scores = tpc.quantize %arg1 as "scores" activation statistics(#tpc.statistics<count = 2, zeros = 0, min = 0.0, max = 1.0>) : tensor<1x2xf32>
  %0 = tosa.concat %boxes, %scores {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x6xf32>
  // expected-remark @+1 {{'head' holds 'scores' up to 1 and 'boxes' up to 600, and gets no common grid: each part keeps its own}}
  %head = tpc.quantize %0 as "head" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.0, max = 600.0>) : tensor<1x6xf32>
  return %head : tensor<1x6xf32>
}
