// RUN: mct-opt %s --mct-record-preprocessing="scale=0.5,0.25,0.125 offset=-1 axis=1 permutation=2,0,1" | FileCheck %s

// CHECK:      func.func @main(%arg0: tensor<1x3x2x2xf32> {tpc.preprocessing = {axis = 1 : i64, offset = array<f64: -1.000000e+00>, permutation = array<i64: 2, 0, 1>, scale = array<f64: 5.000000e-01, 2.500000e-01, 1.250000e-01>}}) -> tensor<1x3x2x2xf32>
// CHECK-NEXT:   tosa.abs %arg0
func.func @main(%arg0: tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32> {
  %0 = tosa.abs %arg0 : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  return %0 : tensor<1x3x2x2xf32>
}
