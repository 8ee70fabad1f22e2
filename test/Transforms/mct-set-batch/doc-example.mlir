// RUN: mct-opt %s --mct-set-batch=size=8 | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[ARG:.*]]: tensor<8x4x4x2xf32>) -> tensor<8x32xf32>
// CHECK:         %[[SHAPE:.*]] = tosa.const_shape {values = dense<[8, 32]>
// CHECK:         %[[RESULT:.*]] = tosa.reshape %[[ARG]], %[[SHAPE]] : (tensor<8x4x4x2xf32>, !tosa.shape<2>) -> tensor<8x32xf32>
// CHECK:         return %[[RESULT]] : tensor<8x32xf32>
func.func @main(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %shape = tosa.const_shape {values = dense<[1, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %arg0, %shape : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
