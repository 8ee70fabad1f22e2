// Shards calibrated apart and merged give the bytes of a run over everything, in any order.
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy,%S/Inputs/half.npy channel-statistics=true statistics-out=%t.whole.json" -o %t.whole.mlir
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy channel-statistics=true statistics-out=%t.a.json" -o /dev/null
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/half.npy channel-statistics=true statistics-out=%t.b.json" -o /dev/null
// RUN: mct-opt %s --mct-calibrate="statistics-in=%t.a.json,%t.b.json statistics-out=%t.ab.json" -o %t.ab.mlir
// RUN: mct-opt %s --mct-calibrate="statistics-in=%t.b.json,%t.a.json statistics-out=%t.ba.json" -o %t.ba.mlir
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
// Machines of two kinds: a warning, and both names, also in what is merged later.
// RUN: sed 's/"instruction_set": ".*"/"instruction_set": "6502"/' %t.a.json > %t.old.json
// RUN: mct-opt %s --mct-calibrate="statistics-in=%t.old.json,%t.b.json statistics-out=%t.mixed.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=KINDS
// KINDS: warning: merges statistics of machines with different instruction sets, whose last bits may differ: '6502', '{{.+}}'
// RUN: FileCheck %s --check-prefix=BOTH < %t.mixed.json
// BOTH:      "instruction_set": [
// BOTH-NEXT:   "6502",
// BOTH-NEXT:   "{{.+}}"
// BOTH-NEXT: ]
// RUN: mct-opt %s --mct-calibrate="statistics-in=%t.mixed.json statistics-out=%t.again.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=KINDS
// RUN: cmp %t.mixed.json %t.again.json

// Files that say something twice, or too deeply, are refused.
// RUN: sed 's/"exp": {/"exp": {}, "exp": {/' %t.a.json > %t.twice.json
// RUN: not mct-opt %s --mct-calibrate="statistics-in=%t.twice.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: '{{.*}}.twice.json': one object has two members 'exp'
// RUN: seq 100000 | sed 's/.*/[/' > %t.deep.json
// RUN: not mct-opt %s --mct-calibrate="statistics-in=%t.deep.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: error: '{{.*}}.deep.json': more than 64 levels of nesting

func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tpc.quantize %0 as "exp" activation : tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
