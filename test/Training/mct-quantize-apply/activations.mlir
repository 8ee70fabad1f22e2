// RUN: mct-opt %s --split-input-file --mct-quantize-annotate --mct-quantize-apply | FileCheck %s

// Which side of its activation function a layer is quantized on. The functions are annotated, too, which changes nothing.
// CHECK-LABEL: func.func @relu_behind
// CHECK:         %[[L:.*]] = tosa.matmul
// CHECK-NEXT:    %[[A:.*]] = tosa.clamp %[[L]]
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[A]] as "relu"
// CHECK-NEXT:    return %[[Q]]
func.func @relu_behind(%x: tensor<1x1x3xf32>) -> tensor<1x1x3xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x3xf32>}> : () -> tensor<1x3x3xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32> loc("relu")
  return %1 : tensor<1x1x3xf32>
}

// -----

// CHECK-LABEL: func.func @tanh_before
// CHECK:         %[[L:.*]] = tosa.matmul
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[L]] as "layer"
// CHECK-NEXT:    %[[A:.*]] = tosa.tanh %[[Q]]
// CHECK-NEXT:    return %[[A]]
func.func @tanh_before(%x: tensor<1x1x3xf32>) -> tensor<1x1x3xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x3xf32>}> : () -> tensor<1x3x3xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32> loc("layer")
  %1 = tosa.tanh %0 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  return %1 : tensor<1x1x3xf32>
}

// -----

// CHECK-LABEL: func.func @swish_behind
// CHECK:         %[[L:.*]] = tosa.matmul
// CHECK-NEXT:    %[[S:.*]] = tosa.sigmoid %[[L]]
// CHECK-NEXT:    %[[A:.*]] = tosa.mul %[[L]], %[[S]]
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[A]] as "swish"
// CHECK-NEXT:    return %[[Q]]
func.func @swish_behind(%x: tensor<1x1x3xf32>) -> tensor<1x1x3xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x3xf32>}> : () -> tensor<1x3x3xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32>
  %1 = tosa.sigmoid %0 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  %2 = tosa.mul %0, %1, %shift : (tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1xi8>) -> tensor<1x1x3xf32> loc("swish")
  return %2 : tensor<1x1x3xf32>
}

// -----

// x * (1 + erf(x / sqrt(2))) / 2
// CHECK-LABEL: func.func @gelu_on_both_sides
// CHECK:         %[[L:.*]] = tosa.matmul
// CHECK-NEXT:    %[[IN:.*]] = tpc.quantize %[[L]] as "layer"
// CHECK-NEXT:    tosa.mul %[[IN]]
// CHECK:         %[[Q:.*]] = tpc.quantize %{{.*}} as "gelu"
// CHECK-NEXT:    return %[[Q]]
func.func @gelu_on_both_sides(%x: tensor<1x1x3xf32>) -> tensor<1x1x3xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x3xf32>}> : () -> tensor<1x3x3xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %root = "tosa.const"() <{values = dense<0.707106769> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32> loc("layer")
  %1 = tosa.mul %0, %root, %shift : (tensor<1x1x3xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x3xf32>
  %2 = tosa.erf %1 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  %3 = tosa.add %2, %one : (tensor<1x1x3xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  %4 = tosa.mul %3, %half, %shift : (tensor<1x1x3xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x3xf32>
  %5 = tosa.mul %0, %4, %shift : (tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1xi8>) -> tensor<1x1x3xf32> loc("gelu")
  return %5 : tensor<1x1x3xf32>
}

// -----

// CHECK-LABEL: func.func @softmax_before
// CHECK:         %[[L:.*]] = tosa.matmul
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[L]] as "layer"
// CHECK-NEXT:    tosa.reduce_max %[[Q]]
// CHECK-NOT:     tpc.quantize
func.func @softmax_before(%x: tensor<1x1x3xf32>) -> tensor<1x1x3xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x3xf32>}> : () -> tensor<1x3x3xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32> loc("layer")
  %1 = tosa.reduce_max %0 {axis = 2 : i32} : (tensor<1x1x3xf32>) -> tensor<1x1x1xf32>
  %2 = tosa.sub %0, %1 : (tensor<1x1x3xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  %3 = tosa.exp %2 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  %4 = tosa.reduce_sum %3 {axis = 2 : i32} : (tensor<1x1x3xf32>) -> tensor<1x1x1xf32>
  %5 = tosa.reciprocal %4 : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %6 = tosa.mul %3, %5, %shift : (tensor<1x1x3xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x3xf32>
  return %6 : tensor<1x1x3xf32>
}

// -----

// Two readers: no activation function runs with the layer.
// CHECK-LABEL: func.func @read_twice
// CHECK:         %[[L:.*]] = tosa.matmul
// CHECK-NEXT:    %[[Q:.*]] = tpc.quantize %[[L]] as "layer"
// CHECK-NEXT:    %[[A:.*]] = tosa.clamp %[[Q]]
// CHECK-NEXT:    %[[QA:.*]] = tpc.quantize %[[A]] as "relu"
// CHECK-NEXT:    return %[[QA]], %[[Q]]
func.func @read_twice(%x: tensor<1x1x3xf32>) -> (tensor<1x1x3xf32>, tensor<1x1x3xf32>) {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x3xf32>}> : () -> tensor<1x3x3xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %kernel, %zero, %zero : (tensor<1x1x3xf32>, tensor<1x3x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32> loc("layer")
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32> loc("relu")
  return %1, %0 : tensor<1x1x3xf32>, tensor<1x1x3xf32>
}
