// RUN: mct-opt %s --mct-set-batch=size=0 --split-input-file | FileCheck %s --check-prefix=TO
// RUN: mct-opt %s --mct-set-batch=size=0 --mct-set-batch=size=2 --split-input-file | FileCheck %s --check-prefix=BACK

// TO-LABEL:   func.func @slice_and_reshape
// TO-SAME:      (%[[ARG:.*]]: tensor<?x4x3xf32>) -> tensor<?x6xf32>
// TO-DAG:       %[[SIZE:.*]] = tosa.const_shape {values = dense<[-1, 2, 3]>
// TO-DAG:       %[[SHAPE:.*]] = tosa.const_shape {values = dense<[-1, 6]>
// TO:           %[[SLICE:.*]] = tosa.slice %[[ARG]], %{{.*}}, %[[SIZE]] {{.*}} -> tensor<?x2x3xf32>
// TO:           tosa.reshape %[[SLICE]], %[[SHAPE]] {{.*}} -> tensor<?x6xf32>
// BACK-LABEL: func.func @slice_and_reshape
// BACK-SAME:    (%[[ARG:.*]]: tensor<2x4x3xf32>) -> tensor<2x6xf32>
// BACK-DAG:     %[[SIZE:.*]] = tosa.const_shape {values = dense<[2, 2, 3]>
// BACK-DAG:     %[[SHAPE:.*]] = tosa.const_shape {values = dense<[2, 6]>
func.func @slice_and_reshape(%arg0: tensor<1x4x3xf32>) -> tensor<1x6xf32> {
  %start = tosa.const_shape {values = dense<[0, 1, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 2, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %shape = tosa.const_shape {values = dense<[1, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.slice %arg0, %start, %size : (tensor<1x4x3xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x2x3xf32>
  %1 = tosa.reshape %0, %shape : (tensor<1x2x3xf32>, !tosa.shape<2>) -> tensor<1x6xf32>
  return %1 : tensor<1x6xf32>
}

// -----

// Sizes beside the batch that the importer left open follow from the operands.
// BACK-LABEL: func.func @unknown_sizes_are_inferred
// BACK:         tosa.transpose {{.*}} -> tensor<2x3x4xf32>
func.func @unknown_sizes_are_inferred(%arg0: tensor<?x4x3xf32>) -> tensor<?x?x?xf32> {
  %0 = tosa.transpose %arg0 {perms = array<i32: 0, 2, 1>} : (tensor<?x4x3xf32>) -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
