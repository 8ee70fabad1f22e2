// RUN: mct-opt %s --mct-set-batch=size=5 --split-input-file | FileCheck %s

// A reshape may merge the batch with the dimension behind it and split it again.
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
