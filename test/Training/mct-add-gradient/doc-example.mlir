// RUN: mct-opt %s --mct-add-gradient | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK:         tosa.mul
// CHECK-LABEL: func.func @main_gradient(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>, %[[SCALE:.*]]: tensor<1x3xf32>, %[[G:.*]]: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<1x3xf32>)
// CHECK:         %[[DX:.*]] = tosa.mul %[[G]], %[[SCALE]], %{{.*}} : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
// CHECK:         %[[PRODUCT:.*]] = tosa.mul %[[G]], %[[X]], %{{.*}} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
// CHECK:         %[[DSCALE:.*]] = tosa.reduce_sum %[[PRODUCT]] {axis = 0 : i32} : (tensor<2x3xf32>) -> tensor<1x3xf32>
// CHECK:         %[[FIRST:.*]] = tosa.identity %[[DX]]
// CHECK:         %[[SECOND:.*]] = tosa.identity %[[DSCALE]]
// CHECK:         return %[[FIRST]], %[[SECOND]] : tensor<2x3xf32>, tensor<1x3xf32>
func.func @main(%x: tensor<2x3xf32>, %scale: tensor<1x3xf32>) -> tensor<2x3xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %scale, %shift : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
