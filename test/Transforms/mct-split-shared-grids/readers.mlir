// RUN: mct-opt %s --mct-split-shared-grids=remarks=true --split-input-file --verify-diagnostics | FileCheck %s

// What only moves values leaves each part on its grid, points after it go as well.
// CHECK-LABEL: func.func @moved_values
// CHECK-SAME:    tpc.overrides = ["?name \22head\22 activation=float", "?name \22flat\22 activation=float"]
// CHECK:         %[[CONCAT:.*]] = tosa.concat
// CHECK:         %[[FLAT:.*]] = tosa.reshape %[[CONCAT]]
// CHECK-NEXT:    tosa.transpose %[[FLAT]]
// CHECK-NEXT:    return
func.func @moved_values(%arg0: tensor<1x4x2xf32>, %arg1: tensor<1x4x1xf32>) -> tensor<3x4xf32> {
  %boxes = tpc.quantize %arg0 as "boxes" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -600.0, max = 3.0>) : tensor<1x4x2xf32>
  %scores = tpc.quantize %arg1 as "scores" activation statistics(#tpc.statistics<count = 2, zeros = 0, min = 0.0, max = 1.0>) : tensor<1x4x1xf32>
  %0 = tosa.concat %boxes, %scores {axis = 2 : i32} : (tensor<1x4x2xf32>, tensor<1x4x1xf32>) -> tensor<1x4x3xf32>
  // expected-remark @+1 {{'head' holds 'scores' up to 1 and 'boxes' up to 600, and gets no common grid}}
  %head = tpc.quantize %0 as "head" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.0, max = 600.0>) : tensor<1x4x3xf32>
  %shape = tosa.const_shape {values = dense<[4, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %1 = tosa.reshape %head, %shape : (tensor<1x4x3xf32>, !tosa.shape<2>) -> tensor<4x3xf32>
  // expected-remark @+1 {{'flat' holds 'scores' up to 1 and 'boxes' up to 600, and gets no common grid}}
  %flat = tpc.quantize %1 as "flat" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.0, max = 600.0>) : tensor<4x3xf32>
  %2 = tosa.transpose %flat {perms = array<i32: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}

// -----

// What one concatenation hands to another.
// CHECK-LABEL: func.func @nested
// CHECK:         %[[INNER:.*]] = tosa.concat
// CHECK-NEXT:    %[[OUTER:.*]] = tosa.concat %[[INNER]]
// CHECK-NEXT:    return %[[OUTER]]
func.func @nested(%arg0: tensor<1x4xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x8xf32> {
  %boxes = tpc.quantize %arg0 as "boxes" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 3.0, max = 600.0>) : tensor<1x4xf32>
  %scores = tpc.quantize %arg1 as "scores" activation statistics(#tpc.statistics<count = 2, zeros = 0, min = 0.0, max = 1.0>) : tensor<1x2xf32>
  %0 = tosa.concat %boxes, %scores {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x6xf32>
  // expected-remark @+1 {{'inner' holds}}
  %inner = tpc.quantize %0 as "inner" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.0, max = 600.0>) : tensor<1x6xf32>
  %1 = tosa.concat %inner, %scores {axis = 1 : i32} : (tensor<1x6xf32>, tensor<1x2xf32>) -> tensor<1x8xf32>
  // expected-remark @+1 {{'outer' holds}}
  %outer = tpc.quantize %1 as "outer" activation statistics(#tpc.statistics<count = 8, zeros = 0, min = 0.0, max = 600.0>) : tensor<1x8xf32>
  return %outer : tensor<1x8xf32>
}

// -----

// A sum needs one grid of what it reads and keeps it; the result of the network does not.
// CHECK-LABEL: func.func @computed_with
// CHECK-NOT:     tpc.overrides
// CHECK:         %[[CONCAT:.*]] = tosa.concat
// CHECK:         %[[HEAD:.*]] = tpc.quantize %[[CONCAT]] as "head"
// CHECK:         %[[SUM:.*]] = tosa.add %[[HEAD]], %[[HEAD]]
// CHECK:         return %[[CONCAT]], %[[SUM]]
func.func @computed_with(%arg0: tensor<1x4xf32>, %arg1: tensor<1x2xf32>) -> (tensor<1x6xf32>, tensor<1x6xf32>) {
  %boxes = tpc.quantize %arg0 as "boxes" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 3.0, max = 600.0>) : tensor<1x4xf32>
  %scores = tpc.quantize %arg1 as "scores" activation statistics(#tpc.statistics<count = 2, zeros = 0, min = 0.0, max = 1.0>) : tensor<1x2xf32>
  %0 = tosa.concat %boxes, %scores {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x6xf32>
  // expected-remark @+2 {{'head' holds 'scores' up to 1 and 'boxes' up to 600, and keeps one grid for both: 'tosa.add' reads it}}
  // expected-remark @+1 {{'head' holds 'scores' up to 1 and 'boxes' up to 600, and what moves it past its quantizer gets no common grid}}
  %head = tpc.quantize %0 as "head" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.0, max = 600.0>) : tensor<1x6xf32>
  // expected-note @+1 {{it is read here}}
  %1 = tosa.add %head, %head : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32>
  return %head, %1 : tensor<1x6xf32>, tensor<1x6xf32>
}

// -----

// Slices that separate the parts read them directly, whatever is computed of them; a part of a part is cut from it.
// CHECK-LABEL: func.func @separated
// CHECK:         %[[BOXES:.*]] = tpc.quantize %arg0 as "boxes"
// CHECK:         %[[SCORES:.*]] = tpc.quantize %arg1 as "scores"
// CHECK-NOT:     as "head"
// CHECK:         %[[SIGMOID:.*]] = tosa.sigmoid %[[SCORES]]
// CHECK:         %[[WIDTH:.*]] = tosa.slice %[[BOXES]],
// CHECK:         tosa.exp %[[WIDTH]]
func.func @separated(%arg0: tensor<1x4xf32>, %arg1: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x3xf32>) {
  %boxes = tpc.quantize %arg0 as "boxes" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 3.0, max = 600.0>) : tensor<1x4xf32>
  %scores = tpc.quantize %arg1 as "scores" activation statistics(#tpc.statistics<count = 2, zeros = 0, min = 0.0, max = 1.0>) : tensor<1x2xf32>
  %0 = tosa.concat %boxes, %scores {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x6xf32>
  // expected-remark @+1 {{'head' holds}}
  %head = tpc.quantize %0 as "head" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.0, max = 600.0>) : tensor<1x6xf32>
  %start = tosa.const_shape {values = dense<[0, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %1 = tosa.slice %head, %start, %size : (tensor<1x6xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x2xf32>
  %2 = tosa.sigmoid %1 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %start2 = tosa.const_shape {values = dense<[0, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size2 = tosa.const_shape {values = dense<[1, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %3 = tosa.slice %head, %start2, %size2 : (tensor<1x6xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x3xf32>
  %4 = tosa.exp %3 : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return %2, %4 : tensor<1x2xf32>, tensor<1x3xf32>
}

// -----

// A slice across the parts does not separate them.
// CHECK-LABEL: func.func @cut_across
// CHECK:         %[[HEAD:.*]] = tpc.quantize %{{.*}} as "head"
// CHECK:         tosa.slice %[[HEAD]]
func.func @cut_across(%arg0: tensor<1x4xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %boxes = tpc.quantize %arg0 as "boxes" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 3.0, max = 600.0>) : tensor<1x4xf32>
  %scores = tpc.quantize %arg1 as "scores" activation statistics(#tpc.statistics<count = 2, zeros = 0, min = 0.0, max = 1.0>) : tensor<1x2xf32>
  %0 = tosa.concat %boxes, %scores {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x6xf32>
  // expected-remark @+1 {{keeps one grid for both: 'tosa.tanh' reads it}}
  %head = tpc.quantize %0 as "head" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = 0.0, max = 600.0>) : tensor<1x6xf32>
  %start = tosa.const_shape {values = dense<[0, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %1 = tosa.slice %head, %start, %size : (tensor<1x6xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x2xf32>
  // expected-note @+1 {{it is read here}}
  %2 = tosa.tanh %1 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

// -----

// Exactly 8 times is not more than 8 times; zeros that are filled in have no range.
// CHECK-LABEL: func.func @similar_ranges
// CHECK:         tpc.quantize %{{.*}} as "head"
func.func @similar_ranges(%arg0: tensor<1x4xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x7xf32> {
  %zeros = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %a = tpc.quantize %arg0 as "a" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -8.0, max = 1.0>) : tensor<1x4xf32>
  %b = tpc.quantize %arg1 as "b" activation statistics(#tpc.statistics<count = 2, zeros = 0, min = 0.0, max = 1.0>) : tensor<1x2xf32>
  %0 = tosa.concat %a, %b, %zeros {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x7xf32>
  %head = tpc.quantize %0 as "head" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = -8.0, max = 1.0>) : tensor<1x7xf32>
  return %head : tensor<1x7xf32>
}

// -----

// A part without a quantizer of its own would have none at all.
// CHECK-LABEL: func.func @part_without_point
// CHECK:         tpc.quantize %{{.*}} as "head"
func.func @part_without_point(%arg0: tensor<1x4xf32>, %arg1: tensor<1x2xf32>, %arg2: tensor<1x1xf32>) -> tensor<1x7xf32> {
  %a = tpc.quantize %arg0 as "a" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -8.0, max = 100.0>) : tensor<1x4xf32>
  %b = tpc.quantize %arg1 as "b" activation statistics(#tpc.statistics<count = 2, zeros = 0, min = 0.0, max = 1.0>) : tensor<1x2xf32>
  %0 = tosa.concat %a, %b, %arg2 {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x7xf32>
  // expected-remark @+1 {{and keeps one grid for both, as another part has no quantizer of its own}}
  %head = tpc.quantize %0 as "head" activation statistics(#tpc.statistics<count = 6, zeros = 0, min = -8.0, max = 100.0>) : tensor<1x7xf32>
  return %head : tensor<1x7xf32>
}
