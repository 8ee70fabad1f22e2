// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers | FileCheck %s

// Softmax is one operator: a point on its result, none inside, with its known range.
// CHECK-LABEL: func.func @softmax_is_one_operator
// CHECK:         %[[IN:.*]] = tpc.quantize %{{.*}} as "arg0"
// CHECK-NOT:     tpc.quantize
// CHECK:         %[[OUT:.*]] = tosa.mul
// CHECK-NEXT:    tpc.quantize %[[OUT]] as "mul" activation {{.*}} range(#tpc.range<0.000000e+00, 1.000000e+00>)
func.func @softmax_is_one_operator(%arg0: tensor<1x10xf32>) -> tensor<1x10xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.reduce_max %arg0 {axis = 1 : i32} : (tensor<1x10xf32>) -> tensor<1x1xf32>
  %1 = tosa.sub %arg0, %0 : (tensor<1x10xf32>, tensor<1x1xf32>) -> tensor<1x10xf32>
  %2 = tosa.exp %1 : (tensor<1x10xf32>) -> tensor<1x10xf32>
  %3 = tosa.reduce_sum %2 {axis = 1 : i32} : (tensor<1x10xf32>) -> tensor<1x1xf32>
  %4 = tosa.reciprocal %3 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %5 = tosa.mul %2, %4, %shift : (tensor<1x10xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x10xf32>
  return %5 : tensor<1x10xf32>
}

// A fully connected layer written as reshape, 1x1 convolution, reshape fuses with the ReLU after it; the group names
// the convolution, whose values the reshape only moves.
// CHECK-LABEL: func.func @fully_connected_fuses_through_reshapes
// CHECK:         tpc.quantize {{.*}} as "conv2d" weight "kernel_attr" axes [0]
// CHECK:         tosa.conv2d
// CHECK-NEXT:    tosa.reshape
// CHECK-NEXT:    tosa.clamp
// CHECK-NEXT:    tpc.quantize {{.*}} as "clamp" activation {{.*}} group(["conv2d", "clamp"])
func.func @fully_connected_fuses_through_reshapes(%arg0: tensor<1x4xf32>) -> tensor<1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x4xf32>}> : () -> tensor<2x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %to4 = tosa.const_shape {values = dense<[1, 1, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %to2 = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %arg0, %to4 : (tensor<1x4xf32>, !tosa.shape<4>) -> tensor<1x1x1x4xf32>
  %1 = tosa.conv2d %0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x4xf32>, tensor<2x1x1x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %2 = tosa.reshape %1, %to2 : (tensor<1x1x1x2xf32>, !tosa.shape<2>) -> tensor<1x2xf32>
  %3 = tosa.clamp %2 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %3 : tensor<1x2xf32>
}

// A reshape moves values and gets no quantizer on this target; integers get none anywhere.
// CHECK-LABEL: func.func @moved_and_integer_values_get_none
// CHECK:         tpc.quantize {{.*}} as "arg0"
// CHECK-NOT:     tpc.quantize
func.func @moved_and_integer_values_get_none(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4xi8>) -> (tensor<4xf32>, tensor<1x4xi8>) {
  %to1 = tosa.const_shape {values = dense<[4]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.reshape %arg0, %to1 : (tensor<1x4xf32>, !tosa.shape<1>) -> tensor<4xf32>
  %1 = tosa.abs %arg1 : (tensor<1x4xi8>) -> tensor<1x4xi8>
  return %0, %1 : tensor<4xf32>, tensor<1x4xi8>
}
