// Which ops may stand between a point and the concatenation: those whose results are values of the point.
// RUN: mct-opt %s --mct-update-concat-thresholds --split-input-file | FileCheck %s

// The zeros beside them are quantized after the concatenation only, as before.
// CHECK-LABEL: func.func @padded
// CHECK:         as "a" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8>)
func.func @padded(%arg0: tensor<1x1xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %padding = tosa.const_shape {values = dense<[0, 0, 1, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1xf32>
  %p = tosa.pad %a, %padding, %zero : (tensor<1x1xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<1x2xf32>
  %c = tosa.concat %p, %arg1 {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// CHECK-LABEL: func.func @looked_up
// CHECK:         as "a" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8>)
func.func @looked_up(%arg0: tensor<1x5x2xf32>, %at: tensor<1x3xi32>, %arg1: tensor<1x3x2xf32>) -> tensor<1x6x2xf32> {
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x5x2xf32>
  %g = tosa.gather %a, %at : (tensor<1x5x2xf32>, tensor<1x3xi32>) -> tensor<1x3x2xf32>
  %c = tosa.concat %g, %arg1 {axis = 1 : i32} : (tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x6x2xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x6x2xf32>
  return %0 : tensor<1x6x2xf32>
}

// -----

// CHECK-LABEL: func.func @moved_by_linalg
// CHECK:         as "a" activation parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 8>)
func.func @moved_by_linalg(%arg0: tensor<2x1xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x4xf32> {
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<2x1xf32>
  %empty = tensor.empty() : tensor<1x2xf32>
  %t = linalg.transpose ins(%a : tensor<2x1xf32>) outs(%empty : tensor<1x2xf32>) permutation = [1, 0]
  %c = tensor.concat dim(1) %t, %arg1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// Means are new values.
// CHECK-LABEL: func.func @averaged
// CHECK:         as "a" activation parameters(#tpc.power_of_two<threshold = [2.000000e+00], bits = 8>)
func.func @averaged(%arg0: tensor<1x2x2x1xf32>, %arg1: tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2x2x1xf32>
  %m = tosa.avg_pool2d %a, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %c = tosa.concat %m, %arg1 {axis = 3 : i32} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}
