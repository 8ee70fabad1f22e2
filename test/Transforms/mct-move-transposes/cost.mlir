// RUN: mct-opt %s --mct-move-transposes --split-input-file | FileCheck %s
//
// A region is turned only where fewer elements are moved then.

// Three transpositions come in, and one leaves: it is turned, and one is left for the second result.
// CHECK-LABEL: func.func @several_readers
// CHECK:         %[[SUM:.*]] = tosa.add %arg0, %arg1 : (tensor<1x4x6x2xf32>, tensor<1x4x6x2xf32>)
// CHECK:         %[[BACK:.*]] = tosa.transpose %[[SUM]] {perms = array<i32: 0, 3, 1, 2>}
// CHECK-NOT:     tosa.transpose
// CHECK:         return %[[SUM]], %[[BACK]]
func.func @several_readers(%x: tensor<1x4x6x2xf32>, %y: tensor<1x4x6x2xf32>) -> (tensor<1x4x6x2xf32>, tensor<1x2x4x6xf32>) {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %1 = tosa.transpose %y {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %2 = tosa.add %0, %1 : (tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>) -> tensor<1x2x4x6xf32>
  %3 = tosa.transpose %2 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x4x6xf32>) -> tensor<1x4x6x2xf32>
  return %3, %2 : tensor<1x4x6x2xf32>, tensor<1x2x4x6xf32>
}

// -----

// As many after as before: nothing is gained.
// CHECK-LABEL: func.func @nothing_to_gain
// CHECK:         %[[MOVED:.*]] = tosa.transpose %arg0
// CHECK:         %[[EXP:.*]] = tosa.exp %[[MOVED]] : (tensor<1x2x4x6xf32>) -> tensor<1x2x4x6xf32>
// CHECK-NEXT:    return %[[EXP]]
func.func @nothing_to_gain(%x: tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %1 = tosa.exp %0 : (tensor<1x2x4x6xf32>) -> tensor<1x2x4x6xf32>
  return %1 : tensor<1x2x4x6xf32>
}

// -----

// The mean is smaller than what it is made of: it is transposed instead.
// CHECK-LABEL: func.func @behind_a_reduction
// CHECK:         %[[SUM:.*]] = tosa.reduce_sum %arg0 {axis = 1 : i32} : (tensor<1x4x6x2xf32>) -> tensor<1x1x6x2xf32>
// CHECK:         %[[MOVED:.*]] = tosa.transpose %[[SUM]] {perms = array<i32: 0, 3, 1, 2>}
// CHECK-NEXT:    return %[[MOVED]]
func.func @behind_a_reduction(%x: tensor<1x4x6x2xf32>) -> tensor<1x2x1x6xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %1 = tosa.reduce_sum %0 {axis = 2 : i32} : (tensor<1x2x4x6xf32>) -> tensor<1x2x1x6xf32>
  return %1 : tensor<1x2x1x6xf32>
}

// -----

// Somebody else reads the transposition: it stays, and the sum would need one more for its result.
// CHECK-LABEL: func.func @transposition_with_readers
// CHECK:         tosa.transpose
// CHECK:         tosa.exp
// CHECK-NOT:     tosa.transpose
// CHECK:         return
func.func @transposition_with_readers(%x: tensor<1x4x6x2xf32>) -> (tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>) {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %1 = tosa.exp %0 : (tensor<1x2x4x6xf32>) -> tensor<1x2x4x6xf32>
  return %0, %1 : tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>
}

// -----

// Transpositions in a row are one, or none.
// CHECK-LABEL: func.func @in_a_row
// CHECK-NEXT:    %[[ONE:.*]] = tosa.transpose %arg0 {perms = array<i32: 0, 1, 3, 2>}
// CHECK-NEXT:    return %[[ONE]], %arg0
func.func @in_a_row(%x: tensor<1x4x6x2xf32>) -> (tensor<1x4x2x6xf32>, tensor<1x4x6x2xf32>) {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x2x4x6xf32>) -> tensor<1x4x2x6xf32>
  %2 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %3 = tosa.transpose %2 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x4x6xf32>) -> tensor<1x4x6x2xf32>
  return %1, %3 : tensor<1x4x2x6xf32>, tensor<1x4x6x2xf32>
}

// -----

// Height and width of one summand are swapped: a transposition between two values that are both turned.
// CHECK-LABEL: func.func @inside
// CHECK:         %[[EXP:.*]] = tosa.exp %arg0 : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
// CHECK:         %[[SWAPPED:.*]] = tosa.transpose %[[EXP]] {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
// CHECK-NEXT:    %[[SUM:.*]] = tosa.add %[[EXP]], %[[SWAPPED]]
// CHECK-NEXT:    return %[[SUM]]
func.func @inside(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  %1 = tosa.exp %0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 1, 3, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = tosa.add %1, %2 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %4 = tosa.transpose %3 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x4x4xf32>) -> tensor<1x4x4x2xf32>
  return %4 : tensor<1x4x4x2xf32>
}

// -----

// The same where the sum wants the one in the order that the other vanishes with: all sizes are equal, and only the
// function says which is right: exp(x) + exp(x) rotated.
// CHECK-LABEL: func.func @inside_of_a_cube
// CHECK:         %[[EXP:.*]] = tosa.exp %arg0
// CHECK:         %[[ROTATED:.*]] = tosa.transpose %[[EXP]] {perms = array<i32: 0, 2, 3, 1>}
// CHECK-NEXT:    %[[SUM:.*]] = tosa.add %[[EXP]], %[[ROTATED]]
// CHECK-NEXT:    return %[[SUM]]
func.func @inside_of_a_cube(%x: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %1 = tosa.exp %0 : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %3 = tosa.add %1, %2 : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %4 = tosa.transpose %3 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %4 : tensor<1x4x4x4xf32>
}
