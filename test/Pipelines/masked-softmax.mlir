// Scores that are masked with minus infinity are quantized before the mask is put on them, and what is masked has no
// weight at all: of the probabilities, 8-bit numbers, the last stays 0.
// RUN: mct-opt %s --mct-ptq="target=imx500 calibration-data=%S/../Corrections/Inputs/one_channel.npy" -o %t.mlir
// RUN: mct-run %t.mlir --input=%S/../Corrections/Inputs/one_channel.npy --compare=%s | FileCheck %s

// CHECK: scores
// CHECK: probabilities {{[2-9][0-9]\..*}}
// CHECK: masked inf {{.*}} 0
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %scale = "tosa.const"() <{values = dense<[[[[-0.3, 0.1, 0.2, 0.3]]]]> : tensor<1x1x1x4xf32>}> : () -> tensor<1x1x1x4xf32>
  %last = "tosa.const"() <{values = dense<[[[[false, false, false, true]]]]> : tensor<1x1x1x4xi1>}> : () -> tensor<1x1x1x4xi1>
  %infinity = "tosa.const"() <{values = dense<0xFF800000> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 0, 3]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %one = tosa.const_shape {values = dense<1> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.mul %arg0, %scale, %shift : (tensor<1x1x1x1xf32>, tensor<1x1x1x4xf32>, tensor<1xi8>) -> tensor<1x1x1x4xf32> loc("scores")
  %1 = tosa.select %last, %infinity, %0 : (tensor<1x1x1x4xi1>, tensor<1x1x1x1xf32>, tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  %2 = tosa.reduce_max %1 {axis = 3 : i32} : (tensor<1x1x1x4xf32>) -> tensor<1x1x1x1xf32>
  %3 = tosa.sub %1, %2 : (tensor<1x1x1x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x4xf32>
  %4 = tosa.exp %3 : (tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  %5 = tosa.reduce_sum %4 {axis = 3 : i32} : (tensor<1x1x1x4xf32>) -> tensor<1x1x1x1xf32>
  %6 = tosa.reciprocal %5 : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %7 = tosa.mul %4, %6, %shift : (tensor<1x1x1x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x4xf32> loc("probabilities")
  %8 = tosa.slice %7, %start, %one : (tensor<1x1x1x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x1x1xf32> loc("slice")
  %9 = tosa.negate %8, %zero, %zero : (tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32> loc("masked")
  return %9 : tensor<1x1x1x1xf32>
}
