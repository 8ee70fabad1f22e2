// The integer network beside its simulation: values compared at each point, those that differ, in steps of the grid; and what
// its answers are.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-run %t/simulated.mlir --input=%S/../Execution/Inputs/ties.npy --compare=%t/float.mlir --integer=%t/integer.mlir --report=%t/r.json | FileCheck %s --check-prefix=TEXT
// RUN: FileCheck %s --input-file=%t/r.json
// RUN: mct-run %t/simulated.mlir --input=%S/../Execution/Inputs/ties.npy --compare=%t/float.mlir --integer=%t/wrong.mlir --report=%t/wrong.json | FileCheck %s --check-prefix=TEXT
// RUN: FileCheck %s --check-prefix=WRONG --input-file=%t/wrong.json
// RUN: mct-run %t/simulated.mlir --input=%S/../Execution/Inputs/ties.npy --compare=%t/float.mlir --report=%t/without.json | FileCheck %s --check-prefix=TEXT
// RUN: FileCheck %s --check-prefix=WITHOUT --input-file=%t/without.json
// What is no integer network is refused, and no file is written.
// RUN: not mct-run %t/simulated.mlir --input=%S/../Execution/Inputs/ties.npy --compare=%t/float.mlir --integer=%t/float.mlir --report=%t/no.json 2>&1 | FileCheck %s --check-prefix=FLOAT
// RUN: not ls %t/no.json 2>&1 | FileCheck %s --check-prefix=NOFILE

// TEXT: samples 6
// CHECK: "integer":{"samples":6,"output":{"sqnr":12.756{{[0-9]+}},"cosine":0.975{{[0-9]+}},"largest":0.5}
// CHECK-SAME: "name":"x","owner":"x"
// CHECK-SAME: "integer":{"values":12,"differing":0,"largest":0}
// CHECK-SAME: "name":"abs","owner":"abs"
// CHECK-SAME: "integer":{"values":12,"differing":0,"largest":0}
// The sum of one more than there is: every value of |x| is one step, or less where it is clipped, away.
// WRONG: "name":"x","owner":"x"
// WRONG-SAME: "integer":{"values":12,"differing":0,"largest":0}
// WRONG-SAME: "name":"abs","owner":"abs"
// WRONG-SAME: "integer":{"values":12,"differing":{{[1-9][0-9]*}},"largest":1}
// WITHOUT-NOT: "integer"
// WITHOUT: "points"
// WITHOUT-NOT: "integer"
// FLOAT: error: {{.*}}float.mlir has no 'tpc.points' and no 'tpc.quantized', which say what the integers of a network stand for; mct-lower-to-integer writes them
// NOFILE: No such file

//--- float.mlir
func.func @main(%x: tensor<1x2xf32> loc("x")) -> tensor<1x2xf32> {
  %0 = tosa.abs %x : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("abs")
  return %0 : tensor<1x2xf32>
}

//--- simulated.mlir
func.func @main(%x: tensor<1x2xf32> loc("x")) -> tensor<1x2xf32> {
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [128.0], bits = 8, rounding = half_up>) : tensor<1x2xf32>
  %1 = tosa.abs %0 : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("abs")
  %2 = tpc.quantize %1 as "abs" activation parameters(#tpc.power_of_two<threshold = [128.0], bits = 8, rounding = half_up>) : tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

//--- integer.mlir
func.func @main(%x: tensor<1x2xi8> {tpc.quantized = {name = "x", scale = 1.0 : f64, zero_point = 0 : i64, bits = 8 : i64}} loc("x"))
    -> (tensor<1x2xi8> {tpc.quantized = {name = "abs", scale = 1.0 : f64, zero_point = 0 : i64, bits = 8 : i64}}) {
  %wide = tosa.cast %x : (tensor<1x2xi8>) -> tensor<1x2xi32>
  %abs = tosa.abs %wide : (tensor<1x2xi32>) -> tensor<1x2xi32>
  %cut = tosa.clamp %abs {min_val = 0 : i32, max_val = 127 : i32} : (tensor<1x2xi32>) -> tensor<1x2xi32>
  %0 = tosa.cast %cut : (tensor<1x2xi32>) -> tensor<1x2xi8> loc("abs")
  return %0 : tensor<1x2xi8>
}

//--- wrong.mlir
func.func @main(%x: tensor<1x2xi8> {tpc.quantized = {name = "x", scale = 1.0 : f64, zero_point = 0 : i64, bits = 8 : i64}} loc("x"))
    -> (tensor<1x2xi8> {tpc.quantized = {name = "abs", scale = 1.0 : f64, zero_point = 0 : i64, bits = 8 : i64}}) {
  %one = "tosa.const"() <{values = dense<1> : tensor<1x1xi32>}> : () -> tensor<1x1xi32>
  %wide = tosa.cast %x : (tensor<1x2xi8>) -> tensor<1x2xi32>
  %abs = tosa.abs %wide : (tensor<1x2xi32>) -> tensor<1x2xi32>
  %more = tosa.add %abs, %one : (tensor<1x2xi32>, tensor<1x1xi32>) -> tensor<1x2xi32>
  %cut = tosa.clamp %more {min_val = 0 : i32, max_val = 127 : i32} : (tensor<1x2xi32>) -> tensor<1x2xi32>
  %0 = tosa.cast %cut : (tensor<1x2xi32>) -> tensor<1x2xi8> loc("abs")
  return %0 : tensor<1x2xi8>
}
