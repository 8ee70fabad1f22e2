// What a module says of its integers is checked before anything runs.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: not mct-run %t/form.mlir --input=%S/Inputs/ties.npy 2> %t/errors
// RUN: not mct-run %t/scale.mlir --input=%S/Inputs/ties.npy 2>> %t/errors
// RUN: not mct-run %t/infinite.mlir --input=%S/Inputs/ties.npy 2>> %t/errors
// RUN: not mct-run %t/zero_point.mlir --input=%S/Inputs/ties.npy 2>> %t/errors
// RUN: not mct-run %t/bits.mlir --input=%S/Inputs/ties.npy 2>> %t/errors
// RUN: not mct-run %t/type.mlir --input=%S/Inputs/ties.npy 2>> %t/errors
// RUN: not mct-run %t/points.mlir --input=%S/Inputs/ties.npy 2>> %t/errors
// RUN: not mct-run %t/unknown.mlir --input=%S/Inputs/ties.npy 2>> %t/errors
// RUN: FileCheck %s < %t/errors
// RUN: not mct-run %t/twice.mlir --input=%S/Inputs/ties.npy 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mct-run %t/result.mlir --signature 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: not mct-run %t/form.mlir --signature 2>&1 | FileCheck %s --check-prefix=FORM

// CHECK: form.mlir:1:{{[0-9]+}}: error: 'tpc.quantized' of argument #0: expected {name = "…", scale = … : f64, zero_point = … : i64, bits = … : i64}, but got {name = "x", scale = 1.000000e+00 : f32}
// CHECK: scale.mlir:1:{{[0-9]+}}: error: 'tpc.quantized' of argument #0: the scale of 'x' is a positive number, but got 0.000000e+00
// CHECK: infinite.mlir:1:{{[0-9]+}}: error: 'tpc.quantized' of argument #0: the scale of 'x' is a positive number, but got INF
// CHECK: zero_point.mlir:1:{{[0-9]+}}: error: 'tpc.quantized' of argument #0: the zero point of 'x' is in [-128, 127], but got 128
// CHECK: bits.mlir:1:{{[0-9]+}}: error: 'tpc.quantized' of argument #0: 'x' has 1 to 8 bits in its type, but got 9
// CHECK: type.mlir:1:{{[0-9]+}}: error: 'tpc.quantized' of argument #0: 'x' is stored in a tensor of i8, i16 or i32, but has type 'tensor<1x2xf32>'
// CHECK: points.mlir:1:{{[0-9]+}}: error: 'tpc.points' is an array, but got "abs"
// CHECK: unknown.mlir:1:{{[0-9]+}}: error: 'tpc.points' names 'abs', but no op has that name in its location; print the text with debug info, or write bytecode
// TWICE: twice.mlir:1:{{[0-9]+}}: error: 'tpc.points' names 'abs', but 2 ops have that name
// TWICE: note: loc("abs"): this one
// RESULT: result.mlir:1:{{[0-9]+}}: error: 'tpc.quantized' of result #0: 'x' is stored in a tensor of i8, i16 or i32, but has type 'tensor<1x2xi64>'
// FORM: error: 'tpc.quantized' of argument #0: expected

//--- form.mlir
func.func @main(%x: tensor<1x2xi8> {tpc.quantized = {name = "x", scale = 1.0 : f32}}) -> tensor<1x2xi8> {
  return %x : tensor<1x2xi8>
}
//--- scale.mlir
func.func @main(%x: tensor<1x2xi8> {tpc.quantized = {name = "x", scale = 0.0 : f64, zero_point = 0 : i64, bits = 8 : i64}}) -> tensor<1x2xi8> {
  return %x : tensor<1x2xi8>
}
//--- infinite.mlir
func.func @main(%x: tensor<1x2xi8> {tpc.quantized = {name = "x", scale = 0x7FF0000000000000 : f64, zero_point = 0 : i64, bits = 8 : i64}}) -> tensor<1x2xi8> {
  return %x : tensor<1x2xi8>
}
//--- zero_point.mlir
func.func @main(%x: tensor<1x2xi8> {tpc.quantized = {name = "x", scale = 1.0 : f64, zero_point = 128 : i64, bits = 8 : i64}}) -> tensor<1x2xi8> {
  return %x : tensor<1x2xi8>
}
//--- bits.mlir
func.func @main(%x: tensor<1x2xi8> {tpc.quantized = {name = "x", scale = 1.0 : f64, zero_point = 0 : i64, bits = 9 : i64}}) -> tensor<1x2xi8> {
  return %x : tensor<1x2xi8>
}
//--- type.mlir
func.func @main(%x: tensor<1x2xf32> {tpc.quantized = {name = "x", scale = 1.0 : f64, zero_point = 0 : i64, bits = 8 : i64}}) -> tensor<1x2xf32> {
  return %x : tensor<1x2xf32>
}
//--- points.mlir
func.func @main(%x: tensor<1x2xi8>) -> tensor<1x2xi8> attributes {tpc.points = "abs"} {
  return %x : tensor<1x2xi8>
}
//--- unknown.mlir
func.func @main(%x: tensor<1x2xi8>) -> tensor<1x2xi8>
    attributes {tpc.points = [{name = "abs", scale = 1.0 : f64, zero_point = 0 : i64, bits = 8 : i64}]} {
  return %x : tensor<1x2xi8>
}
//--- twice.mlir
func.func @main(%x: tensor<1x2xi32>) -> tensor<1x2xi32>
    attributes {tpc.points = [{name = "abs", scale = 1.0 : f64, zero_point = 0 : i64, bits = 8 : i64}]} {
  %0 = tosa.abs %x : (tensor<1x2xi32>) -> tensor<1x2xi32> loc("abs")
  %1 = tosa.abs %0 : (tensor<1x2xi32>) -> tensor<1x2xi32> loc("abs")
  return %1 : tensor<1x2xi32>
}
//--- result.mlir
func.func @main(%x: tensor<1x2xi64>) -> (tensor<1x2xi64> {tpc.quantized = {name = "x", scale = 1.0 : f64, zero_point = 0 : i64, bits = 8 : i64}}) {
  return %x : tensor<1x2xi64>
}
