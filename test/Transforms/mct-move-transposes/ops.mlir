// RUN: mct-opt %s --mct-move-transposes --split-input-file | FileCheck %s --implicit-check-not=tosa.transpose
//
// Ops whose axes, sizes and paddings follow the order of the axes.

// CHECK-LABEL: func.func @axes
// CHECK:         %[[CAT:.*]] = tosa.concat %arg0, %arg0 {axis = 3 : i32} : (tensor<1x4x6x2xf32>, tensor<1x4x6x2xf32>) -> tensor<1x4x6x4xf32>
// CHECK:         %[[BACK:.*]] = tosa.reverse %[[CAT]] {axis = 2 : i32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
// CHECK:         %[[SUM:.*]] = tosa.reduce_sum %[[BACK]] {axis = 1 : i32} : (tensor<1x4x6x4xf32>) -> tensor<1x1x6x4xf32>
// CHECK-NEXT:    return %[[SUM]]
func.func @axes(%x: tensor<1x4x6x2xf32>) -> tensor<1x1x6x4xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %1 = tosa.concat %0, %0 {axis = 1 : i32} : (tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x4x6xf32>
  %2 = tosa.reverse %1 {axis = 3 : i32} : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32>
  %3 = tosa.reduce_sum %2 {axis = 2 : i32} : (tensor<1x4x4x6xf32>) -> tensor<1x4x1x6xf32>
  %4 = tosa.transpose %3 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x4x1x6xf32>) -> tensor<1x1x6x4xf32>
  return %4 : tensor<1x1x6x4xf32>
}

// -----

// CHECK-LABEL: func.func @sizes
// CHECK:         %[[START:.*]] = tosa.const_shape {values = dense<[0, 1, 2, 0]>
// CHECK:         %[[SIZE:.*]] = tosa.const_shape {values = dense<[1, 2, 3, 2]>
// CHECK:         %[[SLICE:.*]] = tosa.slice %arg0, %[[START]], %[[SIZE]]
// CHECK:         %[[PADDING:.*]] = tosa.const_shape {values = dense<[0, 0, 1, 2, 3, 4, 0, 0]>
// CHECK:         %[[PADDED:.*]] = tosa.pad %[[SLICE]], %[[PADDING]], %{{.*}} -> tensor<1x5x10x2xf32>
// CHECK:         %[[TIMES:.*]] = tosa.const_shape {values = dense<[1, 1, 2, 3]>
// CHECK:         %[[TILED:.*]] = tosa.tile %[[PADDED]], %[[TIMES]] {{.*}} -> tensor<1x5x20x6xf32>
// CHECK-NEXT:    return %[[TILED]]
func.func @sizes(%x: tensor<1x4x6x2xf32>) -> tensor<1x5x20x6xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 1, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 2, 2, 3]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %padding = tosa.const_shape {values = dense<[0, 0, 0, 0, 1, 2, 3, 4]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %times = tosa.const_shape {values = dense<[1, 3, 1, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %1 = tosa.slice %0, %start, %size : (tensor<1x2x4x6xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x2x3xf32>
  %2 = tosa.pad %1, %padding, %zero : (tensor<1x2x2x3xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x2x5x10xf32>
  %3 = tosa.tile %2, %times : (tensor<1x2x5x10xf32>, !tosa.shape<4>) -> tensor<1x6x5x20xf32>
  %4 = tosa.transpose %3 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x6x5x20xf32>) -> tensor<1x5x20x6xf32>
  return %4 : tensor<1x5x20x6xf32>
}

// -----

// A quantizer point for the whole tensor has no order of the axes.
// CHECK-LABEL: func.func @point
// CHECK:         tpc.quantize %arg0 as "x" activation : tensor<1x4x6x2xf32>
func.func @point(%x: tensor<1x4x6x2xf32>) -> tensor<1x4x6x2xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %1 = tpc.quantize %0 as "x" activation : tensor<1x2x4x6xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x4x6xf32>) -> tensor<1x4x6x2xf32>
  return %2 : tensor<1x4x6x2xf32>
}

// -----

// A reshape reads the elements of a mean in the same order with channels last.
// CHECK-LABEL: func.func @mean_before_a_reshape
// CHECK:         %[[ROWS:.*]] = tosa.reduce_sum %arg0 {axis = 1 : i32}
// CHECK:         %[[SUM:.*]] = tosa.reduce_sum %[[ROWS]] {axis = 2 : i32} : (tensor<1x1x6x2xf32>) -> tensor<1x1x1x2xf32>
// CHECK:         tosa.reshape %[[SUM]], %{{.*}} : (tensor<1x1x1x2xf32>, !tosa.shape<2>) -> tensor<1x2xf32>
func.func @mean_before_a_reshape(%x: tensor<1x4x6x2xf32>) -> tensor<1x2xf32> {
  %shape = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %1 = tosa.reduce_sum %0 {axis = 2 : i32} : (tensor<1x2x4x6xf32>) -> tensor<1x2x1x6xf32>
  %2 = tosa.reduce_sum %1 {axis = 3 : i32} : (tensor<1x2x1x6xf32>) -> tensor<1x2x1x1xf32>
  %3 = tosa.reshape %2, %shape : (tensor<1x2x1x1xf32>, !tosa.shape<2>) -> tensor<1x2xf32>
  return %3 : tensor<1x2xf32>
}

// -----

// Factors of a squeeze-and-excitation block come from a reshape.
// CHECK-LABEL: func.func @factors_behind_a_reshape
// CHECK:         %[[SHAPE:.*]] = tosa.const_shape {values = dense<[1, 1, 1, 2]>
// CHECK:         %[[FACTORS:.*]] = tosa.reshape %arg1, %[[SHAPE]]
// CHECK-NOT:     tosa.reshape
// CHECK:         tosa.mul %arg0, %[[FACTORS]], %{{.*}} -> tensor<1x4x6x2xf32>
func.func @factors_behind_a_reshape(%x: tensor<1x4x6x2xf32>, %s: tensor<1x2xf32>) -> tensor<1x4x6x2xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %shape = tosa.const_shape {values = dense<[1, 2, 1, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %1 = tosa.reshape %s, %shape : (tensor<1x2xf32>, !tosa.shape<4>) -> tensor<1x2x1x1xf32>
  %2 = tosa.mul %0, %1, %shift : (tensor<1x2x4x6xf32>, tensor<1x2x1x1xf32>, tensor<1xi8>) -> tensor<1x2x4x6xf32>
  %3 = tosa.transpose %2 {perms = array<i32: 0, 2, 3, 1>} : (tensor<1x2x4x6xf32>) -> tensor<1x4x6x2xf32>
  return %3 : tensor<1x4x6x2xf32>
}
