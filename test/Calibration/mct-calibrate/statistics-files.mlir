// Shards calibrated apart and merged give the bytes of a run over everything, in any order.
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy,%S/Inputs/half.npy channel-statistics=true statistics-out=%t.whole.json" -o %t.whole.mlir
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy channel-statistics=true statistics-out=%t.a.json" -o /dev/null
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/half.npy channel-statistics=true statistics-out=%t.b.json" -o /dev/null
// RUN: mct-opt %s --mct-calibrate="statistics-in=%t.a.json,%t.b.json statistics-out=%t.ab.json" -o %t.ab.mlir
// RUN: mct-opt %s --mct-calibrate="statistics-in=%t.b.json calibration-data=%S/Inputs/two_samples.npy channel-statistics=true statistics-out=%t.ba.json" -o %t.ba.mlir
// RUN: cmp %t.whole.json %t.ab.json
// RUN: cmp %t.whole.json %t.ba.json
// RUN: cmp %t.whole.mlir %t.ab.mlir
// RUN: cmp %t.whole.mlir %t.ba.mlir
// RUN: FileCheck %s < %t.whole.json
// RUN: FileCheck %s --check-prefix=IR < %t.whole.mlir

// CHECK: "format": "mct-statistics"
// CHECK: "instruction_set": "{{.+}}"
// CHECK: "exp": {

// IR: as "exp" {{.*}} statistics(#tpc.statistics<count = 12,
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tpc.quantize %0 as "exp" activation : tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
