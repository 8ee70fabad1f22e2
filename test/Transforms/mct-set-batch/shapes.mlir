// RUN: mct-opt %s --mct-set-batch=size=5 --split-input-file | FileCheck %s

// A reshape may merge the batch with the dimension after it and split it again.
// CHECK-LABEL: func.func @batch_in_rows
// CHECK-DAG:     tosa.const_shape {values = dense<[20, 6]>
// CHECK-DAG:     tosa.const_shape {values = dense<[5, 24]>
// CHECK:         tosa.reshape {{.*}} -> tensor<20x6xf32>
// CHECK:         tosa.exp {{.*}} -> tensor<20x6xf32>
// CHECK:         tosa.reshape {{.*}} -> tensor<5x24xf32>
func.func @batch_in_rows(%arg0: tensor<1x4x6xf32>) -> tensor<1x24xf32> {
  %a = tosa.const_shape {values = dense<[4, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[1, 24]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %arg0, %a : (tensor<1x4x6xf32>, !tosa.shape<2>) -> tensor<4x6xf32>
  %1 = tosa.exp %0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = tosa.reshape %1, %b : (tensor<4x6xf32>, !tosa.shape<2>) -> tensor<1x24xf32>
  return %2 : tensor<1x24xf32>
}

// -----

// The same shape operand means weights in one op and the batch in another.
// CHECK-LABEL: func.func @shape_of_a_constant_stays
// CHECK-DAG:     %[[OLD:.*]] = tosa.const_shape {values = dense<[1, 6]>
// CHECK-DAG:     %[[NEW:.*]] = tosa.const_shape {values = dense<[5, 6]>
// CHECK:         tosa.reshape %{{.*}}, %[[OLD]] {{.*}} -> tensor<1x6xf32>
// CHECK:         tosa.reshape %{{.*}}, %[[NEW]] {{.*}} -> tensor<5x6xf32>
// CHECK:         tosa.add {{.*}} : (tensor<5x6xf32>, tensor<1x6xf32>) -> tensor<5x6xf32>
func.func @shape_of_a_constant_stays(%arg0: tensor<1x2x3xf32>) -> tensor<1x6xf32> {
  %shape = tosa.const_shape {values = dense<[1, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %c = "tosa.const"() <{values = dense<1.0> : tensor<6x1xf32>}> : () -> tensor<6x1xf32>
  %0 = tosa.reshape %c, %shape : (tensor<6x1xf32>, !tosa.shape<2>) -> tensor<1x6xf32>
  %1 = tosa.reshape %arg0, %shape : (tensor<1x2x3xf32>, !tosa.shape<2>) -> tensor<1x6xf32>
  %2 = tosa.add %1, %0 : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32>
  return %2 : tensor<1x6xf32>
}

// -----

// With a batch of 1 either leading dimension could carry it; only the second can
// grow beside constant weights.
// CHECK-LABEL: func.func @fully_connected_as_matrix_product
// CHECK:         tosa.matmul {{.*}} -> tensor<1x5x4xf32>
// CHECK:         return {{.*}} : tensor<5x4xf32>
func.func @fully_connected_as_matrix_product(%arg0: tensor<1x3xf32>) -> tensor<1x4xf32> {
  %a = tosa.const_shape {values = dense<[1, 1, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %b = tosa.const_shape {values = dense<[1, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = "tosa.const"() <{values = dense<1.0> : tensor<1x3x4xf32>}> : () -> tensor<1x3x4xf32>
  %0 = tosa.reshape %arg0, %a : (tensor<1x3xf32>, !tosa.shape<3>) -> tensor<1x1x3xf32>
  %1 = tosa.matmul %0, %w, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  %2 = tosa.reshape %1, %b : (tensor<1x1x4xf32>, !tosa.shape<2>) -> tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}

// -----

// Points are followed too; a shape inference would stop at them.
// CHECK-LABEL: func.func @points
// CHECK:         tpc.quantize {{.*}} : tensor<5x4xf32>
// CHECK:         tosa.argmax {{.*}} -> tensor<5xi32>
func.func @points(%arg0: tensor<1x4xf32>) -> tensor<1xi32> {
  %0 = tpc.quantize %arg0 as "input" activation : tensor<1x4xf32>
  %1 = tosa.argmax %0 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1xi32>
  return %1 : tensor<1xi32>
}

// -----

// All samples share the matrix: their rows stand below each other.
// CHECK-LABEL: func.func @rows_times_a_constant_matrix
// CHECK:         %[[ROWS:.*]] = tosa.reshape %arg0, {{.*}} : (tensor<5x7x3xf32>, !tosa.shape<3>) -> tensor<1x35x3xf32>
// CHECK:         %[[PRODUCT:.*]] = tosa.matmul %[[ROWS]], {{.*}} -> tensor<1x35x4xf32>
// CHECK:         %[[BACK:.*]] = tosa.reshape %[[PRODUCT]], {{.*}} -> tensor<5x7x4xf32>
// CHECK:         return %[[BACK]] : tensor<5x7x4xf32>
func.func @rows_times_a_constant_matrix(%arg0: tensor<1x7x3xf32>) -> tensor<1x7x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = "tosa.const"() <{values = dense<1.0> : tensor<1x3x4xf32>}> : () -> tensor<1x3x4xf32>
  %0 = tosa.matmul %arg0, %w, %zero, %zero : (tensor<1x7x3xf32>, tensor<1x3x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x7x4xf32>
  return %0 : tensor<1x7x4xf32>
}

// -----

// CHECK-LABEL: func.func @class_token
// CHECK:         %[[TOKEN:.*]] = "tosa.const"()
// CHECK:         tosa.const_shape {values = dense<[5, 1, 1]>
// CHECK:         %[[TOKENS:.*]] = tosa.tile %[[TOKEN]], {{.*}} -> tensor<5x1x3xf32>
// CHECK:         tosa.concat %[[TOKENS]], %arg0 {axis = 1 : i32} : (tensor<5x1x3xf32>, tensor<5x7x3xf32>) -> tensor<5x8x3xf32>
func.func @class_token(%arg0: tensor<1x7x3xf32>) -> tensor<1x8x3xf32> {
  %token = "tosa.const"() <{values = dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>}> : () -> tensor<1x1x3xf32>
  %0 = tosa.concat %token, %arg0 {axis = 1 : i32} : (tensor<1x1x3xf32>, tensor<1x7x3xf32>) -> tensor<1x8x3xf32>
  return %0 : tensor<1x8x3xf32>
}

// -----

// What a batch of 2 had repeated is repeated 5 times.
// CHECK-LABEL: func.func @repeated_constant
// CHECK:         %[[ROW:.*]] = "tosa.const"() <{values = dense<{{\[\[}}1.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>}>
// CHECK:         %[[ROWS:.*]] = tosa.tile %[[ROW]], {{.*}} -> tensor<5x2xf32>
// CHECK:         tosa.concat %arg0, %[[ROWS]] {axis = 1 : i32} : (tensor<5x3xf32>, tensor<5x2xf32>) -> tensor<5x5xf32>
func.func @repeated_constant(%arg0: tensor<2x3xf32>) -> tensor<2x5xf32> {
  %rows = "tosa.const"() <{values = dense<[[1.0, 2.0], [1.0, 2.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  %0 = tosa.concat %arg0, %rows {axis = 1 : i32} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
