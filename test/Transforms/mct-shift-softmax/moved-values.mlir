// The same number may be added before any op that moves values: the softmax sees it after the op too.
// RUN: mct-opt %s --mct-shift-softmax --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @reversed
// CHECK:         dense<-2.000000e+00> : tensor<1x1x2xf32>
// CHECK:         as "dense_shifted"
func.func @reversed(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tpc.quantize %0 as "dense" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 5.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
  %2 = tosa.reverse %1 {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %m = tosa.reduce_max %2 {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %d = tosa.sub %2, %m : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %e = tosa.exp %d : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %s = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @repeated
// CHECK:         dense<-2.000000e+00> : tensor<1x1x2xf32>
// CHECK:         as "dense_shifted"
func.func @repeated(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tpc.quantize %0 as "dense" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 5.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
  %multiples = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %2 = tosa.tile %1, %multiples : (tensor<1x1x2xf32>, !tosa.shape<3>) -> tensor<1x1x4xf32>
  %m = tosa.reduce_max %2 {axis = 2 : i32} : (tensor<1x1x4xf32>) -> tensor<1x1x1xf32>
  %d = tosa.sub %2, %m : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %e = tosa.exp %d : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %s = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x1x4xf32>) -> tensor<1x1x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x4xf32>
  return %y : tensor<1x1x4xf32>
}

// -----

// What is filled in would not be shifted.
// CHECK-LABEL: func.func @padded
// CHECK:         as "dense" activation
func.func @padded(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tpc.quantize %0 as "dense" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 5.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
  %padding = tosa.const_shape {values = dense<[0, 0, 0, 0, 1, 1]> : tensor<6xindex>} : () -> !tosa.shape<6>
  %2 = tosa.pad %1, %padding, %zero : (tensor<1x1x2xf32>, !tosa.shape<6>, tensor<1xf32>) -> tensor<1x1x4xf32>
  %m = tosa.reduce_max %2 {axis = 2 : i32} : (tensor<1x1x4xf32>) -> tensor<1x1x1xf32>
  %d = tosa.sub %2, %m : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %e = tosa.exp %d : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %s = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x1x4xf32>) -> tensor<1x1x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x4xf32>
  return %y : tensor<1x1x4xf32>
}
