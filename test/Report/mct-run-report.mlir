// The report of a run beside the float network says what the run prints, too. Sums are 11, 22, 33, 44, 55 and 6; on the coarse grid they become 16, 16, 32, 48, 48 and 0.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-run %t/quantized.mlir --input=0:%S/../Execution/Inputs/a.npy,1:%S/../Execution/Inputs/b.npy --compare=%t/float.mlir --report=%t/r.json | FileCheck %s --check-prefix=TEXT
// RUN: FileCheck %s --input-file=%t/r.json
// RUN: mct-run %t/quantized.mlir --input=0:%S/../Execution/Inputs/a.npy,1:%S/../Execution/Inputs/b.npy --compare=%t/float.mlir --report=%t/one.json --samples=1 --json | FileCheck %s --check-prefix=ONE
// RUN: FileCheck %s --input-file=%t/one.json --check-prefix=ONEFILE

// TEXT-NOT: agreement
// TEXT: result
// TEXT: coarse 16.
// CHECK: {"format":"mct-report","version":3,
// CHECK-SAME: "model":"{{.*}}quantized.mlir","function":"main","target":"",
// CHECK-SAME: "samples":3,
// CHECK-SAME: "has_labels":false,
// CHECK-SAME: "simulated":{"samples":3,"output":{"sqnr":16.{{[0-9]+}},
// CHECK-SAME: "results":[{"number":0,"name":"coarse","is_scores":false,"simulated":{"sqnr":16.{{[0-9]+}},
// CHECK-SAME: "worst_point":"coarse","worst_share":1,"axis":1,"groups":[],"verdict":"'coarse' is at 16.
// CHECK-SAME: "operators":[{"name":"arg0","ops":["argument"]
// CHECK-SAME: "name":"fine","ops":["tosa.add"],
// CHECK-SAME: "alternatives":[{"activation_bits":8,"weight_bits":0}]
// CHECK-SAME: "points":[{"name":"fine","owner":"fine"
// CHECK-SAME: "parameters":{"method":"power_of_two","bits":8,"is_signed":false,"has_powers_of_two":true,"threshold":[64],"lowest":[0],"highest":[63.75],"step":[0.25]
// CHECK-SAME: "total":{"sqnr":null,"cosine":1,"largest":0}
// CHECK-SAME: "name":"coarse"
// CHECK-SAME: "total":{"sqnr":16.{{[0-9]+}},"cosine":0.98{{[0-9]+}},"largest":7}
// ONE: "results": [
// ONEFILE: "simulated":{"samples":1,"output":

//--- float.mlir
func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.add %arg0, %arg1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc("fine")
  %1 = tosa.identity %0 : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("coarse")
  return %1 : tensor<1x2xf32>
}

//--- quantized.mlir
func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.add %arg0, %arg1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %1 = tpc.quantize %0 as "fine" activation parameters(#tpc.power_of_two<threshold = [64.0], bits = 8, is_signed = false>) : tensor<1x2xf32>
  %2 = tpc.quantize %1 as "coarse" activation parameters(#tpc.power_of_two<threshold = [64.0], bits = 2, is_signed = false>) : tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}
