// RUN: mct-opt %s --mct-move-transposes --split-input-file | FileCheck %s
//
// An axis of size 1 that reshapes drop and insert again stays, as importers write convolutions of rows: transpositions move
// through ops that worked without it.

// CHECK-LABEL: func.func @row
// CHECK-DAG:     %[[OFFSET:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00, 2.000000e+00]]]]> : tensor<1x1x1x2xf32>}>
// CHECK:         %[[SUM:.*]] = tosa.add %arg0, %[[OFFSET]] : (tensor<1x1x6x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x1x6x2xf32>
// CHECK-NEXT:    %[[RELU:.*]] = tosa.clamp %[[SUM]]
// CHECK-NEXT:    return %[[RELU]]
func.func @row(%x: tensor<1x1x6x2xf32>) -> tensor<1x1x6x2xf32> {
  %offset = "tosa.const"() <{values = dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>}> : () -> tensor<1x2x1xf32>
  %three = tosa.const_shape {values = dense<[1, 2, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %four = tosa.const_shape {values = dense<[1, 2, 1, 6]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x1x6x2xf32>) -> tensor<1x2x1x6xf32>
  %1 = tosa.reshape %0, %three : (tensor<1x2x1x6xf32>, !tosa.shape<3>) -> tensor<1x2x6xf32>
  %2 = tosa.add %1, %offset : (tensor<1x2x6xf32>, tensor<1x2x1xf32>) -> tensor<1x2x6xf32>
  %3 = tosa.clamp %2 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
  %4 = tosa.reshape %3, %four : (tensor<1x2x6xf32>, !tosa.shape<4>) -> tensor<1x2x1x6xf32>
  %5 = tosa.transpose %4 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x1x6xf32>) -> tensor<1x1x6x2xf32>
  return %5 : tensor<1x1x6x2xf32>
}

// -----

// Axes and sizes are those of the longer tensors.

// CHECK-LABEL: func.func @sizes
// CHECK-NOT:     tosa.transpose
// CHECK-NOT:     tosa.reshape
// CHECK:         %[[CAT:.*]] = tosa.concat %arg0, %arg0 {axis = 3 : i32} : (tensor<1x1x6x2xf32>, tensor<1x1x6x2xf32>) -> tensor<1x1x6x4xf32>
// CHECK:         %[[PADDING:.*]] = tosa.const_shape {values = dense<[0, 0, 0, 0, 2, 3, 0, 1]>
// CHECK:         %[[PADDED:.*]] = tosa.pad %[[CAT]], %[[PADDING]], %{{.*}} -> tensor<1x1x11x5xf32>
// CHECK:         %[[START:.*]] = tosa.const_shape {values = dense<[0, 0, 1, 2]>
// CHECK:         %[[SIZE:.*]] = tosa.const_shape {values = dense<[1, 1, 7, 3]>
// CHECK:         %[[SLICE:.*]] = tosa.slice %[[PADDED]], %[[START]], %[[SIZE]] {{.*}} -> tensor<1x1x7x3xf32>
// CHECK:         %[[TIMES:.*]] = tosa.const_shape {values = dense<[1, 1, 2, 1]>
// CHECK:         %[[TILED:.*]] = tosa.tile %[[SLICE]], %[[TIMES]] {{.*}} -> tensor<1x1x14x3xf32>
// CHECK:         %[[MAX:.*]] = tosa.reduce_max %[[TILED]] {axis = 3 : i32} : (tensor<1x1x14x3xf32>) -> tensor<1x1x14x1xf32>
// CHECK-NEXT:    return %[[MAX]]
func.func @sizes(%x: tensor<1x1x6x2xf32>) -> tensor<1x1x14x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %padding = tosa.const_shape {values = dense<[0, 0, 0, 1, 2, 3]> : tensor<6xindex>} : () -> !tosa.shape<6>
  %start = tosa.const_shape {values = dense<[0, 2, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 3, 7]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %times = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %three = tosa.const_shape {values = dense<[1, 2, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %four = tosa.const_shape {values = dense<[1, 1, 1, 14]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x1x6x2xf32>) -> tensor<1x2x1x6xf32>
  %1 = tosa.reshape %0, %three : (tensor<1x2x1x6xf32>, !tosa.shape<3>) -> tensor<1x2x6xf32>
  %2 = tosa.concat %1, %1 {axis = 1 : i32} : (tensor<1x2x6xf32>, tensor<1x2x6xf32>) -> tensor<1x4x6xf32>
  %3 = tosa.pad %2, %padding, %zero : (tensor<1x4x6xf32>, !tosa.shape<6>, tensor<1xf32>) -> tensor<1x5x11xf32>
  %4 = tosa.slice %3, %start, %size : (tensor<1x5x11xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x3x7xf32>
  %5 = tosa.tile %4, %times : (tensor<1x3x7xf32>, !tosa.shape<3>) -> tensor<1x3x14xf32>
  %6 = tosa.reduce_max %5 {axis = 1 : i32} : (tensor<1x3x14xf32>) -> tensor<1x1x14xf32>
  %7 = tosa.reshape %6, %four : (tensor<1x1x14xf32>, !tosa.shape<4>) -> tensor<1x1x1x14xf32>
  %8 = tosa.transpose %7 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x1x1x14xf32>) -> tensor<1x1x14x1xf32>
  return %8 : tensor<1x1x14x1xf32>
}

// -----

// Other values that the ops read get the axis, and other users of a result read it without: both cost nothing.

// CHECK-LABEL: func.func @others
// CHECK:         %[[OTHER:.*]] = tosa.reshape %arg2, %{{.*}} : (tensor<1x2x6xf32>, !tosa.shape<4>) -> tensor<1x2x1x6xf32>
// CHECK:         %[[MOVED:.*]] = tosa.transpose %[[OTHER]]
// CHECK:         %[[FIRST:.*]] = tosa.add %arg0, %arg1
// CHECK:         %[[SUM:.*]] = tosa.add %[[FIRST]], %[[MOVED]]
// CHECK:         %[[BACK:.*]] = tosa.transpose %[[SUM]]
// CHECK:         %[[FLAT:.*]] = tosa.reshape %[[BACK]], %{{.*}} : (tensor<1x2x1x6xf32>, !tosa.shape<3>) -> tensor<1x2x6xf32>
// CHECK:         %[[EXP:.*]] = tosa.exp %[[SUM]]
// CHECK:         return %[[EXP]], %[[FLAT]]
func.func @others(%x: tensor<1x1x6x2xf32>, %y: tensor<1x1x6x2xf32>, %z: tensor<1x2x6xf32>) -> (tensor<1x1x6x2xf32>, tensor<1x2x6xf32>) {
  %three = tosa.const_shape {values = dense<[1, 2, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %four = tosa.const_shape {values = dense<[1, 2, 1, 6]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x1x6x2xf32>) -> tensor<1x2x1x6xf32>
  %1 = tosa.reshape %0, %three : (tensor<1x2x1x6xf32>, !tosa.shape<3>) -> tensor<1x2x6xf32>
  %2 = tosa.transpose %y {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x1x6x2xf32>) -> tensor<1x2x1x6xf32>
  %3 = tosa.reshape %2, %three : (tensor<1x2x1x6xf32>, !tosa.shape<3>) -> tensor<1x2x6xf32>
  %4 = tosa.add %1, %3 : (tensor<1x2x6xf32>, tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
  %5 = tosa.add %4, %z : (tensor<1x2x6xf32>, tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
  %6 = tosa.exp %5 : (tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
  %7 = tosa.reshape %6, %four : (tensor<1x2x6xf32>, !tosa.shape<4>) -> tensor<1x2x1x6xf32>
  %8 = tosa.transpose %7 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x1x6xf32>) -> tensor<1x1x6x2xf32>
  return %8, %5 : tensor<1x1x6x2xf32>, tensor<1x2x6xf32>
}

// -----

// The reshapes vanish without a transposition, too, so that a layer and its activation are next to each other.

// CHECK-LABEL: func.func @reshapes
// CHECK:         tosa.exp %arg0 : (tensor<1x2x1x6xf32>) -> tensor<1x2x1x6xf32>
// CHECK-NEXT:    return
func.func @reshapes(%x: tensor<1x2x1x6xf32>) -> tensor<1x2x1x6xf32> {
  %three = tosa.const_shape {values = dense<[1, 2, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %four = tosa.const_shape {values = dense<[1, 2, 1, 6]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.reshape %x, %three : (tensor<1x2x1x6xf32>, !tosa.shape<3>) -> tensor<1x2x6xf32>
  %1 = tosa.exp %0 : (tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
  %2 = tosa.reshape %1, %four : (tensor<1x2x6xf32>, !tosa.shape<4>) -> tensor<1x2x1x6xf32>
  return %2 : tensor<1x2x1x6xf32>
}

// -----

// With reshapes on one side only, others would be needed on the other side.

// CHECK-LABEL: func.func @untouched
// CHECK:         tosa.reshape
// CHECK-NEXT:    tosa.exp %{{.*}} : (tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
// CHECK-NEXT:    return
func.func @untouched(%x: tensor<1x2x1x6xf32>) -> tensor<1x2x6xf32> {
  %three = tosa.const_shape {values = dense<[1, 2, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %0 = tosa.reshape %x, %three : (tensor<1x2x1x6xf32>, !tosa.shape<3>) -> tensor<1x2x6xf32>
  %1 = tosa.exp %0 : (tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
  return %1 : tensor<1x2x6xf32>
}
