// RUN: mct-opt %s --mct-quantize-annotate --canonicalize --cse | FileCheck %s

// A softmax of five ops is one operator; its mark is after the last one. Two marks are never one.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     tpc.quantize
// CHECK:         %[[SOFTMAX:.*]] = tosa.mul
// CHECK-NEXT:    tpc.quantize %[[SOFTMAX]] as "softmax" activation config(#tpc.quantize_config<>)
// CHECK:         tpc.quantize %{{.*}} as "tanh" activation
// CHECK:         tpc.quantize %{{.*}} as "tanh_1" activation
func.func @main(%x: tensor<1x10xf32>) -> (tensor<1x10xf32>, tensor<1x10xf32>) {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.reduce_max %x {axis = 1 : i32} : (tensor<1x10xf32>) -> tensor<1x1xf32>
  %1 = tosa.sub %x, %0 : (tensor<1x10xf32>, tensor<1x1xf32>) -> tensor<1x10xf32>
  %2 = tosa.exp %1 : (tensor<1x10xf32>) -> tensor<1x10xf32>
  %3 = tosa.reduce_sum %2 {axis = 1 : i32} : (tensor<1x10xf32>) -> tensor<1x1xf32>
  %4 = tosa.reciprocal %3 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %5 = tosa.mul %2, %4, %shift : (tensor<1x10xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x10xf32> loc("softmax")
  %6 = tosa.tanh %5 : (tensor<1x10xf32>) -> tensor<1x10xf32>
  %7 = tosa.tanh %5 : (tensor<1x10xf32>) -> tensor<1x10xf32>
  return %6, %7 : tensor<1x10xf32>, tensor<1x10xf32>
}
