// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-opt %t/input.mlir --mct-record-preprocessing="input=sound scale=2" --verify-diagnostics
// RUN: mct-opt %t/integers.mlir --mct-record-preprocessing=scale=2 --verify-diagnostics
// RUN: mct-opt %t/type.mlir --mct-record-preprocessing="input=0 scale=2" --verify-diagnostics
// RUN: mct-opt %t/channels.mlir --mct-record-preprocessing="scale=2,3" --verify-diagnostics
// RUN: mct-opt %t/axis.mlir --mct-record-preprocessing="scale=2 axis=3" --verify-diagnostics
// RUN: mct-opt %t/finite.mlir --mct-record-preprocessing="offset=inf" --verify-diagnostics
// RUN: mct-opt %t/zero.mlir --mct-record-preprocessing="scale=0" --verify-diagnostics
// RUN: mct-opt %t/order.mlir --mct-record-preprocessing="permutation=1,2" --verify-diagnostics
// RUN: not mct-run %t/form.mlir --input=%S/../../Execution/Inputs/a.npy 2>&1 | FileCheck %s
// RUN: not mct-run %t/form.mlir --signature 2>&1 | FileCheck %s
// CHECK: form.mlir:1:{{[0-9]+}}: error: 'tpc.preprocessing' of argument #0: expected {scale = array<f64: …>, offset = array<f64: …>, axis = … : i64, permutation = array<i64: …>}, or some of it, but got {scale = 2.000000e+00 : f32}

//--- input.mlir
// expected-error @below {{'func.func' op has no argument 'sound'; its arguments are 'image', '1'}}
func.func @main(%x: tensor<1x2xf32> loc("image"), %y: tensor<1x2xf32>) -> tensor<1x2xf32> {
  return %x : tensor<1x2xf32>
}
//--- integers.mlir
// expected-error @below {{'func.func' op has no argument of real numbers; name one}}
func.func @main(%x: tensor<1x2xi32>) -> tensor<1x2xi32> {
  return %x : tensor<1x2xi32>
}
//--- type.mlir
// expected-error @below {{'tpc.preprocessing' of argument #0: a scale or offset is one of an argument of f32, or of integers that stand for real numbers, but it has type 'tensor<1x2xi32>'}}
func.func @main(%x: tensor<1x2xi32>) -> tensor<1x2xi32> {
  return %x : tensor<1x2xi32>
}
//--- channels.mlir
// expected-error @below {{'tpc.preprocessing' of argument #0: expected one value, or one for each of the 3 channels of 'tensor<1x2x3xf32>', but got 2}}
func.func @main(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  return %x : tensor<1x2x3xf32>
}
//--- axis.mlir
// expected-error @below {{'tpc.preprocessing' of argument #0: the axis of an argument of rank 3 is one behind the first, but got 3}}
func.func @main(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  return %x : tensor<1x2x3xf32>
}
//--- finite.mlir
// expected-error @below {{'tpc.preprocessing' of argument #0: scale and offset are finite, but got INF}}
func.func @main(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  return %x : tensor<1x2x3xf32>
}
//--- zero.mlir
// expected-error @below {{'tpc.preprocessing' of argument #0: a scale of 0 makes all samples equal}}
func.func @main(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  return %x : tensor<1x2x3xf32>
}
//--- order.mlir
// expected-error @below {{'tpc.preprocessing' of argument #0: the permutation of an argument of rank 3 orders the dimensions behind the first, counted from 0, but got [1, 2]}}
func.func @main(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  return %x : tensor<1x2x3xf32>
}
//--- form.mlir
func.func @main(%x: tensor<1x2xf32> {tpc.preprocessing = {scale = 2.0 : f32}}) -> tensor<1x2xf32> {
  return %x : tensor<1x2xf32>
}
