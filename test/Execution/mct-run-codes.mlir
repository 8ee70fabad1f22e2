// A file of the type that an argument is stored in holds its codes; with a scale it holds numbers, as any other file.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-run %t/same.mlir --input=%S/Inputs/stored.npy --output=%t/out.npy && cmp %t/out.npy %S/Inputs/stored.npy
// RUN: mct-run %t/same.mlir --input=%S/Inputs/stored.npy --input-scale=1 --output=%t/scaled.npy && not cmp %t/scaled.npy %S/Inputs/stored.npy
// RUN: mct-run %t/same.mlir --input=%S/Inputs/stored.npy --compare=%t/simulated.mlir --exact | FileCheck %s
// CHECK: x     {{ *[0-9]+ +0 +0$}}
// CHECK: total {{ *[0-9]+ +0 +0$}}

// What is true or not is written as such.
// RUN: mct-run %t/positive.mlir --input=%S/Inputs/ties.npy --output=%t/positive.npy && cmp %t/positive.npy %S/Inputs/positive.npy

//--- same.mlir
func.func @main(%x: tensor<1x1x1x2xi8> {tpc.quantized = {name = "x", scale = 0.5, zero_point = 3 : i64, bits = 8 : i64}})
    -> (tensor<1x1x1x2xi8> {tpc.quantized = {name = "x", scale = 0.5, zero_point = 3 : i64, bits = 8 : i64}}) {
  %0 = tosa.identity %x : (tensor<1x1x1x2xi8>) -> tensor<1x1x1x2xi8>
  return %0 : tensor<1x1x1x2xi8>
}

//--- simulated.mlir
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.uniform<scale = [0.5], zero_point = [131], bits = 8, rounding = half_up>) : tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}

//--- positive.mlir
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xi1> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %0 = tosa.greater %x, %zero : (tensor<1x2xf32>, tensor<1x1xf32>) -> tensor<1x2xi1>
  return %0 : tensor<1x2xi1>
}
