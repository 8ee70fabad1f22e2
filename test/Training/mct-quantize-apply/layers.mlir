// RUN: mct-opt %s --split-input-file --mct-quantize-annotate --mct-quantize-apply | FileCheck %s

// A batch norm that is still there: the kernel has a quantizer, the ReLU's output another one, and nothing between.
// CHECK-LABEL: func.func @convolution_batch_norm_relu
// CHECK:         tpc.quantize %{{.*}} as "arg0" activation
// CHECK:         %[[W:.*]] = tpc.quantize %{{.*}} as "conv" weight "kernel_attr" axes [0]
// CHECK-NEXT:    %[[CONV:.*]] = tosa.conv2d %{{.*}}, %[[W]]
// CHECK-NEXT:    tosa.mul %[[CONV]]
// CHECK-NEXT:    %[[NORM:.*]] = tosa.add
// CHECK-NEXT:    %[[RELU:.*]] = tosa.clamp %[[NORM]]
// CHECK-NEXT:    %[[OUT:.*]] = tpc.quantize %[[RELU]] as "relu" activation trainable(#tpc.observed_range<observer = moving_average, bits = 8>)
// CHECK-NEXT:    return %[[OUT]]
func.func @convolution_batch_norm_relu(%arg0: tensor<1x4x4x3xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x3xf32>}> : () -> tensor<2x1x1x3xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %gamma = "tosa.const"() <{values = dense<[[[[2.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %beta = "tosa.const"() <{values = dense<[[[[1.0, -1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32> loc("conv")
  %1 = tosa.mul %0, %gamma, %shift : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %2 = tosa.add %1, %beta : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32> loc("norm")
  %3 = tosa.clamp %2 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> loc("relu")
  return %3 : tensor<1x4x4x2xf32>
}

// -----

// Without the ReLU the output of the batch norm has it.
// CHECK-LABEL: func.func @dense_batch_norm
// CHECK:         as "dense" weight "kernel_attr" trainable(#tpc.observed_range<observer = last_value, bits = 8, is_symmetric = true, is_narrow = true>)
// CHECK-NEXT:    tosa.matmul
// CHECK-NEXT:    tosa.mul
// CHECK-NEXT:    %[[NORM:.*]] = tosa.add
// CHECK-NEXT:    %[[OUT:.*]] = tpc.quantize %[[NORM]] as "norm" activation
// CHECK-NEXT:    return %[[OUT]]
func.func @dense_batch_norm(%x: tensor<1x1x3xf32>) -> tensor<1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x2xf32>}> : () -> tensor<1x3x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %gamma = "tosa.const"() <{values = dense<[[[2.0, 3.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %beta = "tosa.const"() <{values = dense<[[[1.0, -1.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32> loc("dense")
  %1 = tosa.mul %0, %gamma, %shift : (tensor<1x1x2xf32>, tensor<1x1x2xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  %2 = tosa.add %1, %beta : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32> loc("norm")
  return %2 : tensor<1x1x2xf32>
}

// -----

// Operands of a concatenation are quantized with it, and once.
// CHECK-LABEL: func.func @concatenation_of_sums
// CHECK:         tpc.quantize %{{.*}} as "arg1" activation trainable(#tpc.observed_range<observer = all_values, bits = 8>)
// CHECK-NEXT:    tpc.quantize %{{.*}} as "arg0" activation trainable(#tpc.observed_range<observer = all_values, bits = 8>)
// CHECK-NEXT:    %[[A:.*]] = tosa.add
// CHECK-NEXT:    %[[B:.*]] = tosa.add
// CHECK-NEXT:    %[[C:.*]] = tosa.concat %[[A]], %[[B]]
// CHECK-NEXT:    %[[OUT:.*]] = tpc.quantize %[[C]] as "concat" activation trainable(#tpc.observed_range<observer = moving_average, bits = 8>)
// CHECK-NEXT:    return %[[OUT]]
func.func @concatenation_of_sums(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4xf32>) -> tensor<1x8xf32> {
  %0 = tosa.add %arg0, %arg1 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tosa.add %arg0, %arg0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = tosa.concat %0, %1 {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x8xf32> loc("concat")
  return %2 : tensor<1x8xf32>
}

// -----

// An argument that it alone reads, too; but all keep theirs where something else reads one of them.
// CHECK-LABEL: func.func @concatenation_of_arguments
// CHECK-NEXT:    %[[C:.*]] = tosa.concat
// CHECK-NEXT:    tpc.quantize %[[C]] as "concat" activation
func.func @concatenation_of_arguments(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4xf32>) -> tensor<1x8xf32> {
  %0 = tosa.concat %arg0, %arg1 {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x8xf32> loc("concat")
  return %0 : tensor<1x8xf32>
}

// -----

// CHECK-LABEL: func.func @concatenation_of_what_others_read
// CHECK:         %[[A:.*]] = tosa.add
// CHECK-NEXT:    %[[QA:.*]] = tpc.quantize %[[A]] as "sum" activation
// CHECK-NEXT:    %[[B:.*]] = tosa.add
// CHECK-NEXT:    %[[QB:.*]] = tpc.quantize %[[B]]
// CHECK-NEXT:    %[[C:.*]] = tosa.concat %[[QA]], %[[QB]]
// CHECK-NEXT:    %[[OUT:.*]] = tpc.quantize %[[C]] as "concat" activation
// CHECK-NEXT:    return %[[OUT]], %[[QA]]
func.func @concatenation_of_what_others_read(%arg0: tensor<1x4xf32>) -> (tensor<1x8xf32>, tensor<1x4xf32>) {
  %0 = tosa.add %arg0, %arg0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32> loc("sum")
  %1 = tosa.add %arg0, %arg0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = tosa.concat %0, %1 {axis = 1 : i32} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x8xf32> loc("concat")
  return %2, %0 : tensor<1x8xf32>, tensor<1x4xf32>
}

// -----

// The quantizer of a sum is that of the ReLU after it; what moves values has none.
// CHECK-LABEL: func.func @sum_relu_reshape
// CHECK:         %[[SUM:.*]] = tosa.add
// CHECK-NEXT:    %[[RELU:.*]] = tosa.clamp %[[SUM]]
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[RELU]] as "relu6" activation
// CHECK-NEXT:    %[[OUT:.*]] = tosa.reshape %[[Q]]
// CHECK-NEXT:    return %[[OUT]]
func.func @sum_relu_reshape(%arg0: tensor<1x4xf32>) -> tensor<2x2xf32> {
  %shape = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.add %arg0, %arg0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4xf32>) -> tensor<1x4xf32> loc("relu6")
  %2 = tosa.reshape %1, %shape : (tensor<1x4xf32>, !tosa.shape<2>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
