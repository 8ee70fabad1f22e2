// RUN: mct-opt %s --mct-cut-decoding | FileCheck %s

// The network ends with the points of its last layers, whose integers a device returns.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    -> (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) {
// CHECK:         %[[LAYER:.*]] = tosa.conv2d
// CHECK:         %[[HEAD:.*]] = tpc.quantize %[[LAYER]] as "head"
// CHECK:         %[[SCORES:.*]] = tpc.quantize %{{.*}} as "scores"
// CHECK-NEXT:    return %[[HEAD]], %[[SCORES]]
// CHECK-LABEL: func.func @decode(
// CHECK-SAME:    %[[FIRST:.*]]: tensor<1x4x4x2xf32>, %[[SECOND:.*]]: tensor<1x4x4x2xf32>)
// CHECK-NOT:     tpc.quantize
// CHECK:         %[[SUM:.*]] = tosa.add %[[FIRST]], %{{.*}}
// CHECK:         %[[SIGMOID:.*]] = tosa.sigmoid %[[SECOND]]
// CHECK:         return %[[SUM]], %[[SIGMOID]]
func.func @main(%arg0: tensor<1x4x4x1xf32>) -> (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %cells = "tosa.const"() <{values = dense<[[[[0.5, 0.5], [1.5, 0.5], [2.5, 0.5], [3.5, 0.5]], [[0.5, 1.5], [1.5, 1.5], [2.5, 1.5], [3.5, 1.5]], [[0.5, 2.5], [1.5, 2.5], [2.5, 2.5], [3.5, 2.5]], [[0.5, 3.5], [1.5, 3.5], [2.5, 3.5], [3.5, 3.5]]]]> : tensor<1x4x4x2xf32>}> : () -> tensor<1x4x4x2xf32>
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %head = tpc.quantize %0 as "head" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x4x4x2xf32>
  %1 = tosa.conv2d %arg0, %kernel, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %scores = tpc.quantize %1 as "scores" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4x4x2xf32>
  %2 = tosa.add %head, %cells : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %3 = tosa.sigmoid %scores : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %2, %3 : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>
}
