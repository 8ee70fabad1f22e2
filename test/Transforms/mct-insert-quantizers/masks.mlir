// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers | FileCheck %s
// RUN: mct-opt %s --tpc-attach-target=target=imx500_v4_0 --tpc-explain=format=text -o /dev/null | FileCheck %s --check-prefix=WHY

// The scores have a point before the mask is put on them, and none after it: minus infinity has no code, and clamped to
// the range of the scores it would mask nothing.
// CHECK-LABEL: func.func @infinity_is_selected
// CHECK:         tpc.quantize {{.*}} as "arg0" activation
// CHECK:         tosa.select
// CHECK-NOT:     tpc.quantize
// CHECK:         tosa.reciprocal
// CHECK:         tpc.quantize {{.*}} as "mul" activation
// WHY-LABEL: function infinity_is_selected
// WHY:         (tosa.select)
// WHY:           result: float, because it holds a mask, and no code stands for infinity
func.func @infinity_is_selected(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4xi1>) -> tensor<1x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %infinity = "tosa.const"() <{values = dense<0xFF800000> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.select %arg1, %infinity, %arg0 : (tensor<1x4xi1>, tensor<1x1xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %s1 = tosa.reduce_max %0 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s2 = tosa.sub %0, %s1 : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %s3 = tosa.exp %s2 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %s4 = tosa.reduce_sum %s3 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s5 = tosa.reciprocal %s4 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %s6 = tosa.mul %s3, %s5, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  return %s6 : tensor<1x4xf32>
}

// The constant that is added stays float as well; what moves the masked scores changes nothing.
// CHECK-LABEL: func.func @infinity_is_added
// CHECK:         tosa.add %{{.*}}, %[[MASK:.*]] :
// CHECK-NEXT:    tosa.reverse
// CHECK-NEXT:    tosa.reduce_max
// WHY-LABEL: function infinity_is_added
// WHY:           weight pos_attr: float, because it holds a mask, and no code stands for infinity
// WHY:         (tosa.reverse)
// WHY:           result: float, because it holds a mask, and no code stands for infinity
func.func @infinity_is_added(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %mask = "tosa.const"() <{values = dense<[[0.0, 0.0, 0.0, 0xFF800000]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
  %0 = tosa.add %arg0, %mask : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tosa.reverse %0 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %s1 = tosa.reduce_max %1 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s2 = tosa.sub %1, %s1 : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %s3 = tosa.exp %s2 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %s4 = tosa.reduce_sum %s3 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s5 = tosa.reciprocal %s4 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %s6 = tosa.mul %s3, %s5, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  return %s6 : tensor<1x4xf32>
}

// (1 - mask) * -10000, as text networks have it: with a grid that holds -10000 all scores would be 0.
// CHECK-LABEL: func.func @large_number_in_place_of_infinity
// CHECK:         tosa.cast
// CHECK-NEXT:    tosa.sub
// CHECK-NEXT:    tosa.mul
// CHECK-NEXT:    tosa.add
// CHECK-NEXT:    tosa.reduce_max
// WHY-LABEL: function large_number_in_place_of_infinity
// WHY:         (tosa.add)
// WHY:           result: float, because it holds a mask that the softmax behind it reads
func.func @large_number_in_place_of_infinity(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4xi32>) -> tensor<1x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %large = "tosa.const"() <{values = dense<-10000.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.cast %arg1 : (tensor<1x4xi32>) -> tensor<1x4xf32>
  %1 = tosa.sub %one, %0 : (tensor<1x1xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = tosa.mul %1, %large, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  %3 = tosa.add %arg0, %2 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %s1 = tosa.reduce_max %3 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s2 = tosa.sub %3, %s1 : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %s3 = tosa.exp %s2 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %s4 = tosa.reduce_sum %s3 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s5 = tosa.reciprocal %s4 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %s6 = tosa.mul %s3, %s5, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  return %s6 : tensor<1x4xf32>
}

// A scale of scores is no mask, and large numbers that something else reads are numbers.
// CHECK-LABEL: func.func @large_numbers_without_a_mask
// CHECK:         tosa.mul
// CHECK-NEXT:    tpc.quantize {{.*}} as "mul" activation
// CHECK:         tosa.add
// CHECK-NEXT:    tpc.quantize {{.*}} as "add" activation
func.func @large_numbers_without_a_mask(%arg0: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %large = "tosa.const"() <{values = dense<2000.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.mul %arg0, %large, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  %s1 = tosa.reduce_max %0 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s2 = tosa.sub %0, %s1 : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %s3 = tosa.exp %s2 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %s4 = tosa.reduce_sum %s3 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s5 = tosa.reciprocal %s4 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %s6 = tosa.mul %s3, %s5, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  %7 = tosa.add %arg0, %large : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %t1 = tosa.reduce_max %7 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %t2 = tosa.sub %7, %t1 : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %t3 = tosa.exp %t2 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %t4 = tosa.reduce_sum %t3 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %t5 = tosa.reciprocal %t4 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %t6 = tosa.mul %t3, %t5, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  %8 = tosa.tanh %7 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %9 = tosa.add %t6, %8 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  return %s6, %9 : tensor<1x4xf32>, tensor<1x4xf32>
}

// A mask that is an argument of f32 stays float as well: a code a little below 1 would mask everything.
// CHECK-LABEL: func.func @mask_is_an_argument
// CHECK:         %[[SCORES:.*]] = tpc.quantize %arg0 as "arg0" activation
// CHECK-NOT:     tpc.quantize
// CHECK:         %[[INVERSE:.*]] = tosa.sub %{{.*}}, %arg1
// CHECK:         %[[BIAS:.*]] = tosa.mul %[[INVERSE]],
// CHECK-NEXT:    %[[ADDED:.*]] = tosa.add %[[SCORES]], %[[BIAS]]
// CHECK-NEXT:    tosa.reduce_max %[[ADDED]]
// WHY-LABEL: function mask_is_an_argument
// WHY:         result: float, because a mask is computed from it, and nothing else
func.func @mask_is_an_argument(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %large = "tosa.const"() <{values = dense<-3.40282347E+38> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.sub %one, %arg1 : (tensor<1x1xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tosa.mul %0, %large, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  %2 = tosa.add %arg0, %1 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %s1 = tosa.reduce_max %2 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s2 = tosa.sub %2, %s1 : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %s3 = tosa.exp %s2 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %s4 = tosa.reduce_sum %s3 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s5 = tosa.reciprocal %s4 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %s6 = tosa.mul %s3, %s5, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  return %s6 : tensor<1x4xf32>
}

// What pools the tokens reads the mask quantized, what masks the scores reads it as it is.
// CHECK-LABEL: func.func @mask_is_read_elsewhere
// CHECK:         %[[MASK:.*]] = tpc.quantize %arg1 as "arg1" activation
// CHECK:         tosa.sub %{{.*}}, %arg1
// CHECK:         tosa.mul %{{.*}}, %[[MASK]],
func.func @mask_is_read_elsewhere(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %large = "tosa.const"() <{values = dense<-10000.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.sub %one, %arg1 : (tensor<1x1xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tosa.mul %0, %large, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  %2 = tosa.add %arg0, %1 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %s1 = tosa.reduce_max %2 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s2 = tosa.sub %2, %s1 : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %s3 = tosa.exp %s2 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %s4 = tosa.reduce_sum %s3 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s5 = tosa.reciprocal %s4 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %s6 = tosa.mul %s3, %s5, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  %3 = tosa.mul %s6, %arg1, %shift : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  return %3 : tensor<1x4xf32>
}

// masked_fill of the inverse by its own truth values, as newer exports have it.
// CHECK-LABEL: func.func @filled_mask
// CHECK:         tpc.quantize %arg0 as "arg0" activation
// CHECK:         %[[INVERSE:.*]] = tosa.sub
// CHECK-NEXT:    %[[IS_MASKED:.*]] = tosa.cast %[[INVERSE]]
// CHECK-NEXT:    %[[FILLED:.*]] = tosa.select %[[IS_MASKED]], %{{.*}}, %[[INVERSE]]
// CHECK-NEXT:    tosa.add %{{.*}}, %[[FILLED]]
// CHECK-NEXT:    tosa.reduce_max
func.func @filled_mask(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4xi32>) -> tensor<1x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %large = "tosa.const"() <{values = dense<-3.40282347E+38> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %m = tosa.cast %arg1 : (tensor<1x4xi32>) -> tensor<1x4xf32>
  %0 = tosa.sub %one, %m : (tensor<1x1xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %p = tosa.cast %0 : (tensor<1x4xf32>) -> tensor<1x4xi1>
  %1 = tosa.select %p, %large, %0 : (tensor<1x4xi1>, tensor<1x1xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = tosa.add %arg0, %1 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %s1 = tosa.reduce_max %2 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s2 = tosa.sub %2, %s1 : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %s3 = tosa.exp %s2 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %s4 = tosa.reduce_sum %s3 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s5 = tosa.reciprocal %s4 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %s6 = tosa.mul %s3, %s5, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  return %s6 : tensor<1x4xf32>
}

// where(mask > 0, scores, smallest number): the comparison is exact.
// CHECK-LABEL: func.func @compared_mask
// CHECK:         %[[SCORES:.*]] = tpc.quantize %arg0 as "arg0" activation
// CHECK-NOT:     tpc.quantize
// CHECK:         %[[IS_TOKEN:.*]] = tosa.greater %arg1,
// CHECK-NEXT:    %[[MASKED:.*]] = tosa.select %[[IS_TOKEN]], %[[SCORES]],
// CHECK-NEXT:    tosa.reduce_max %[[MASKED]]
func.func @compared_mask(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %large = "tosa.const"() <{values = dense<-3.40282347E+38> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %p = tosa.greater %arg1, %zero : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xi1>
  %0 = tosa.select %p, %arg0, %large : (tensor<1x4xi1>, tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %s1 = tosa.reduce_max %0 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s2 = tosa.sub %0, %s1 : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %s3 = tosa.exp %s2 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %s4 = tosa.reduce_sum %s3 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s5 = tosa.reciprocal %s4 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %s6 = tosa.mul %s3, %s5, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  return %s6 : tensor<1x4xf32>
}

// 1 - x is no mask where nothing but scores is made of it.
// CHECK-LABEL: func.func @difference_without_a_mask
// CHECK:         tpc.quantize %arg0 as "arg0" activation
// CHECK:         tosa.sub
// CHECK-NEXT:    tpc.quantize {{.*}} as "sub" activation
func.func @difference_without_a_mask(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.sub %one, %arg0 : (tensor<1x1xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %s1 = tosa.reduce_max %0 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s2 = tosa.sub %0, %s1 : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  %s3 = tosa.exp %s2 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %s4 = tosa.reduce_sum %s3 {axis = 1 : i32} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %s5 = tosa.reciprocal %s4 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %s6 = tosa.mul %s3, %s5, %shift : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x4xf32>
  return %s6 : tensor<1x4xf32>
}
