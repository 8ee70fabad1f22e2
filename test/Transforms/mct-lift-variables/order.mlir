// Reads see what was written before them, in the order of the program.
// RUN: mct-opt %s --mct-lift-variables --split-input-file | FileCheck %s

// The second read sees the first write, and the result is what the second one wrote.
// CHECK-LABEL: func.func @between_writes
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>, %[[S:.*]]: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK:         %[[FIRST:.*]] = tosa.exp %[[S]]
// CHECK:         %[[SECOND:.*]] = tosa.abs %[[FIRST]]
// CHECK:         %[[SUM:.*]] = tosa.add %[[FIRST]], %[[SECOND]]
// CHECK:         %[[NEXT:.*]] = tosa.identity %[[X]]
// CHECK:         return %[[SUM]], %[[NEXT]]
tosa.variable @s : tensor<2xf32>
func.func @between_writes(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tosa.variable_read @s : tensor<2xf32>
  %1 = tosa.exp %0 : (tensor<2xf32>) -> tensor<2xf32>
  tosa.variable_write @s, %1 : tensor<2xf32>
  %2 = tosa.variable_read @s : tensor<2xf32>
  %3 = tosa.abs %2 : (tensor<2xf32>) -> tensor<2xf32>
  %4 = tosa.add %1, %3 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tosa.variable_write @s, %x : tensor<2xf32>
  return %4 : tensor<2xf32>
}

// -----

// In the order in which they are declared; each has its own value, and they may exchange them.
// CHECK-LABEL: func.func @several
// CHECK-SAME:    (%{{.*}}: tensor<2xf32>, %[[B:.*]]: tensor<3xf32> {tpc.initial_value = dense<1.000000e+00> : tensor<3xf32>}, %[[A:.*]]: tensor<3xf32>)
// CHECK-SAME:    -> (tensor<2xf32>, tensor<3xf32>, tensor<3xf32>)
// CHECK:         %[[NEXT_B:.*]] = tosa.identity %[[A]]
// CHECK:         %[[NEXT_A:.*]] = tosa.identity %[[B]]
// CHECK:         return %{{.*}}, %[[NEXT_B]], %[[NEXT_A]]
tosa.variable @b = dense<1.0> : tensor<3xf32>
tosa.variable @a : tensor<3xf32>
func.func @several(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tosa.variable_read @a : tensor<3xf32>
  %1 = tosa.variable_read @b : tensor<3xf32>
  tosa.variable_write @b, %0 : tensor<3xf32>
  tosa.variable_write @a, %1 : tensor<3xf32>
  return %x : tensor<2xf32>
}

// -----

// What nobody writes is a constant, what nobody reads and writes is gone.
// CHECK-NOT:   tosa.variable
// CHECK-LABEL: func.func @read_only
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>) -> tensor<2xf32>
// CHECK:         %[[C:.*]] = "tosa.const"() <{values = dense<[1.000000e+00, 2.000000e+00]>
// CHECK:         %[[SUM:.*]] = tosa.add %[[X]], %[[C]]
// CHECK:         return %[[SUM]]
tosa.variable @constant = dense<[1.0, 2.0]> : tensor<2xf32>
tosa.variable @unused : tensor<7xf32>
func.func @read_only(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tosa.variable_read @constant : tensor<2xf32>
  %1 = tosa.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @read_only_and_unknown
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>, %[[S:.*]]: tensor<2xf32>) -> tensor<2xf32>
// CHECK:         tosa.add %[[X]], %[[S]]
tosa.variable @given : tensor<2xf32>
func.func @read_only_and_unknown(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tosa.variable_read @given : tensor<2xf32>
  %1 = tosa.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// Reads inside of an op see what was written before it.
// CHECK-LABEL: func.func @inside
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<i1>, %[[S:.*]]: tensor<2xf32>)
// CHECK:         %[[OLD:.*]] = tosa.exp %[[S]]
// CHECK:         tosa.cond_if
// CHECK:           tosa.add %[[X]], %[[OLD]]
tosa.variable @s : tensor<2xf32>
func.func @inside(%x: tensor<2xf32>, %c: tensor<i1>) -> tensor<2xf32> {
  %0 = tosa.variable_read @s : tensor<2xf32>
  %1 = tosa.exp %0 : (tensor<2xf32>) -> tensor<2xf32>
  tosa.variable_write @s, %1 : tensor<2xf32>
  %2 = tosa.cond_if %c : tensor<i1> -> tensor<2xf32> {
    %3 = tosa.variable_read @s : tensor<2xf32>
    %4 = tosa.add %x, %3 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tosa.yield %4 : tensor<2xf32>
  } else {
    tosa.yield %x : tensor<2xf32>
  }
  tosa.variable_write @s, %x : tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----

// Without variables nothing happens, whatever functions there are.
// CHECK-LABEL: func.func @one
// CHECK-LABEL: func.func @two
func.func @one(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @two(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
