// RUN: mct-opt %s --canonicalize --cse --split-input-file | FileCheck %s

// Equal points of different tensors are different decisions.
// CHECK-LABEL: func.func @equal_points_with_different_names
// CHECK:         tpc.quantize %{{.*}} as "a" activation : tensor<4xf32>
// CHECK:         tpc.quantize %{{.*}} as "b" activation : tensor<4xf32>
func.func @equal_points_with_different_names(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = tpc.quantize %x as "a" activation : tensor<4xf32>
  %b = tpc.quantize %x as "b" activation : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// One constant may be two weights, quantized in two ways.
// CHECK-LABEL: func.func @weights_that_share_a_constant
// CHECK-COUNT-1: "tosa.const"
// CHECK-NOT:     "tosa.const"
// CHECK:         tpc.quantize %{{.*}} as "a" weight "kernel_attr" parameters({{.*}}bits = 8
// CHECK:         tpc.quantize %{{.*}} as "b" weight "kernel_attr" parameters({{.*}}bits = 4
func.func @weights_that_share_a_constant(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = "tosa.const"() <{values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %c1 = "tosa.const"() <{values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %a = tpc.quantize %c0 as "a" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<4xf32>
  %b = tpc.quantize %c1 as "b" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [4.0], bits = 4>) : tensor<4xf32>
  %0 = tosa.add %x, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.add %x, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Without the point the two clamps fold into one.
// CHECK-LABEL: func.func @clamps_with_a_point_between
// CHECK:         %[[FIRST:.*]] = tosa.clamp
// CHECK:         %[[POINT:.*]] = tpc.quantize %[[FIRST]] as "relu"
// CHECK:         tosa.clamp %[[POINT]]
func.func @clamps_with_a_point_between(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 8.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tpc.quantize %0 as "relu" activation : tensor<4xf32>
  %2 = tosa.clamp %1 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: func.func @clamps_without_a_point
// CHECK-COUNT-1: tosa.clamp
// CHECK-NOT:     tosa.clamp
// CHECK:         return
func.func @clamps_without_a_point(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 8.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A point on the result of a point is a second decision, not the same one twice.
// CHECK-LABEL: func.func @point_after_point
// CHECK:         %[[FIRST:.*]] = tpc.quantize %{{.*}} as "a"
// CHECK:         tpc.quantize %[[FIRST]] as "b"
func.func @point_after_point(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = tpc.quantize %x as "a" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<4xf32>
  %b = tpc.quantize %a as "b" activation parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

// Equal ops after different points compute on different values.
// CHECK-LABEL: func.func @equal_ops_behind_different_points
// CHECK-COUNT-2: tosa.exp
func.func @equal_ops_behind_different_points(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = tpc.quantize %x as "a" activation : tensor<4xf32>
  %b = tpc.quantize %x as "b" activation : tensor<4xf32>
  %0 = tosa.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.exp %b : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Statistics and parameters of a constant operand stay with it: nothing folds through a point.
// CHECK-LABEL: func.func @constant_behind_a_point_is_not_folded
// CHECK:         tpc.quantize
// CHECK:         tosa.add
func.func @constant_behind_a_point_is_not_folded() -> tensor<4xf32> {
  %c = "tosa.const"() <{values = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %q = tpc.quantize %c as "add" weight "pos_attr" : tensor<4xf32>
  %0 = tosa.add %q, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A bias with moments is a constant; nobody reads this one.
// CHECK-LABEL: func.func @unread_bias
// CHECK-NEXT:    return
func.func @unread_bias() {
  %b = tpc.bias values(dense<1.0> : tensor<4xf32>) mean(dense<0.0> : tensor<4xf32>) deviation(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @bias_that_is_read
// CHECK:         %[[B:.*]] = tpc.bias values(dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>) mean(dense<0.000000e+00> : tensor<2xf32>) deviation(dense<[1.000000e+00, 3.000000e+00]> : tensor<2xf32>) : tensor<2xf32>
// CHECK:         tosa.add %{{.*}}, %[[B]]
func.func @bias_that_is_read(%x: tensor<2xf32>) -> tensor<2xf32> {
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[1.0, 3.0]> : tensor<2xf32>) : tensor<2xf32>
  %0 = tosa.add %x, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
