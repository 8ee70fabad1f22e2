// RUN: mct-opt %s --split-input-file --mct-quantize-annotate="layers=second*" --mct-quantize-apply | FileCheck %s

// What is in front of an annotated dense layer gets the quantizer of its output alone, and the argument none: it is
// read by a layer that nobody has annotated.
// CHECK-LABEL: func.func @dense_behind_dense
// CHECK-SAME:    %[[X:.*]]: tensor<1x1x3xf32>
// CHECK-NOT:     tpc.quantize
// CHECK:         %[[FIRST:.*]] = tosa.matmul %[[X]]
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[FIRST]] as "first" activation trainable(#tpc.observed_range<observer = moving_average, bits = 8>)
// CHECK-NEXT:    %[[W:.*]] = tpc.quantize %{{.*}} as "second" weight "kernel_attr"
// CHECK-NEXT:    %[[SECOND:.*]] = tosa.matmul %[[Q]], %[[W]]
// The sigmoid is computed from codes.
// CHECK-NEXT:    %[[IN:.*]] = tpc.quantize %[[SECOND]] as "second" activation trainable(#tpc.observed_range<observer = moving_average, bits = 8>)
// CHECK-NEXT:    %[[OUT:.*]] = tosa.sigmoid %[[IN]]
// CHECK-NEXT:    return %[[OUT]]
func.func @dense_behind_dense(%x: tensor<1x1x3xf32>) -> tensor<1x1x3xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x3xf32>}> : () -> tensor<1x3x3xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32> loc("first")
  %1 = tosa.matmul %0, %kernel, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32> loc("second")
  %2 = tosa.sigmoid %1 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32> loc("sigmoid")
  return %2 : tensor<1x1x3xf32>
}

// -----

// The same where an activation function and a reshape come between.
// CHECK-LABEL: func.func @dense_behind_tanh_and_reshape
// CHECK:         %[[FIRST:.*]] = tosa.matmul
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[FIRST]] as "first" activation
// CHECK-NEXT:    tosa.tanh %[[Q]]
// CHECK-NEXT:    tosa.transpose
// CHECK-NEXT:    tpc.quantize %{{.*}} as "second" weight "kernel_attr"
func.func @dense_behind_tanh_and_reshape(%x: tensor<1x3x3xf32>) -> tensor<1x3x3xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x3xf32>}> : () -> tensor<1x3x3xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x3x3xf32>, tensor<1x3x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3xf32> loc("first")
  %1 = tosa.tanh %0 : (tensor<1x3x3xf32>) -> tensor<1x3x3xf32> loc("tanh")
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 1>} : (tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
  %3 = tosa.matmul %2, %kernel, %zero, %zero : (tensor<1x3x3xf32>, tensor<1x3x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3xf32> loc("second")
  return %3 : tensor<1x3x3xf32>
}

// -----

// An operator that the scheme does not know stays float.
// CHECK-LABEL: func.func @sum_behind_product
// CHECK:         %[[FIRST:.*]] = tosa.mul
// CHECK-NEXT:    %[[SECOND:.*]] = tosa.add %[[FIRST]]
// CHECK-NEXT:    tpc.quantize %[[SECOND]] as "second" activation
func.func @sum_behind_product(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %x, %shift : (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1xi8>) -> tensor<1x3xf32> loc("first")
  %1 = tosa.add %0, %0 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("second")
  return %1 : tensor<1x3xf32>
}

// -----

// CHECK-LABEL: func.func @argument
// CHECK-NEXT:    %[[X:.*]] = tpc.quantize %{{.*}} as "arg0" activation trainable(#tpc.observed_range<observer = all_values, bits = 8>)
// CHECK-NEXT:    %[[SECOND:.*]] = tosa.add %[[X]], %[[X]]
func.func @argument(%arg0: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %0 = tosa.add %arg0, %arg0 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32> loc("second")
  return %0 : tensor<1x3xf32>
}
