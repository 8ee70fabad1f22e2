// RUN: mct-opt %s --mct-record-preprocessing=scale=2 | FileCheck %s --check-prefix=ALL
// RUN: mct-opt %s --mct-record-preprocessing="input=image scale=2" | FileCheck %s --check-prefix=NAME
// RUN: mct-opt %s --mct-record-preprocessing="input=1 offset=3" | FileCheck %s --check-prefix=NUMBER
// RUN: mct-opt %s --mct-record-preprocessing=scale=2 --mct-record-preprocessing=input=0 | FileCheck %s --check-prefix=REMOVED
// RUN: mct-opt %s --mct-record-preprocessing="function=other permutation=1,0" | FileCheck %s --check-prefix=FUNCTION

// Real numbers, and integers that stand for such; indices are left alone.
// ALL:      func.func @main(%arg0: tensor<1x2xf32> {tpc.preprocessing = {scale = array<f64: 2.000000e+00>}},
// ALL-SAME:   %arg1: tensor<1x2xi8> {tpc.preprocessing = {scale = array<f64: 2.000000e+00>}, tpc.quantized = {{{.*}}}},
// ALL-SAME:   %arg2: tensor<1x2xi32>)
// NAME:      func.func @main(%arg0: tensor<1x2xf32> {tpc.preprocessing = {scale = array<f64: 2.000000e+00>}},
// NAME-SAME:   %arg1: tensor<1x2xi8> {tpc.quantized
// NUMBER:      func.func @main(%arg0: tensor<1x2xf32>,
// NUMBER-SAME:   %arg1: tensor<1x2xi8> {tpc.preprocessing = {offset = array<f64: 3.000000e+00>}, tpc.quantized
// REMOVED:      func.func @main(%arg0: tensor<1x2xf32>,
// REMOVED-SAME:   %arg1: tensor<1x2xi8> {tpc.preprocessing
// FUNCTION: func.func @main(%arg0: tensor<1x2xf32>,
// FUNCTION: func.func @other(%arg0: tensor<1x2x3xf32> {tpc.preprocessing = {permutation = array<i64: 1, 0>}})
func.func @main(%image: tensor<1x2xf32> loc("image"),
                %codes: tensor<1x2xi8> {tpc.quantized = {name = "codes", scale = 0.5 : f64, zero_point = 0 : i64, bits = 8 : i64}},
                %indices: tensor<1x2xi32>) -> tensor<1x2xf32> {
  return %image : tensor<1x2xf32>
}
func.func @other(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  return %x : tensor<1x2x3xf32>
}
