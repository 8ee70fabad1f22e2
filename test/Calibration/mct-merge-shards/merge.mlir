// Files that are merged two by two say what all files say.
// RUN: split-file %s %t
// RUN: mct-opt %t/net.mlir --mct-calibrate="calibration-data=%mct_data/digits_calib.npy shard=0/3 shards-out=%t/a.json" -o /dev/null 2>/dev/null
// RUN: sed 's/"shards":\[0\]/"shards":[1]/g' %t/a.json > %t/b.json
// RUN: sed 's/"shards":\[0\]/"shards":[2]/g' %t/a.json > %t/c.json
// RUN: mct-opt %t/empty.mlir --mct-merge-shards="shards-in=%t/c.json,%t/a.json shards-out=%t/ac.json" -o /dev/null
// RUN: mct-opt %t/empty.mlir --mct-merge-shards="shards-in=%t/b.json,%t/ac.json shards-out=%t/abc.json" -o /dev/null
// RUN: FileCheck %s < %t/abc.json
// CHECK: "kind":"calibration"
// CHECK-SAME: "shards":[0,1,2],"of":3
// RUN: mct-opt %t/net.mlir --mct-calibrate="shards-in=%t/a.json,%t/b.json,%t/c.json" -o %t/flat.mlir
// RUN: mct-opt %t/net.mlir --mct-calibrate="shards-in=%t/abc.json" -o %t/tree.mlir
// RUN: cmp %t/flat.mlir %t/tree.mlir
// RUN: FileCheck %s --check-prefix=IR < %t/tree.mlir
// IR: count = 57600,

// RUN: not mct-opt %t/empty.mlir --mct-merge-shards="shards-in=%t/a.json,%t/ac.json shards-out=%t/no.json" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: '{{.*}}ac.json': has the calibration of shard 0, as '{{.*}}a.json' has; merge each shard once
// RUN: sed 's/"of":3/"of":4/g' %t/b.json > %t/four.json
// RUN: not mct-opt %t/empty.mlir --mct-merge-shards="shards-in=%t/a.json,%t/four.json shards-out=%t/no.json" 2>&1 | FileCheck %s --check-prefix=DIVIDED
// DIVIDED: error: '{{.*}}four.json': is one of 4 shards, and '{{.*}}a.json' one of 3; merge files of the same shards
// RUN: not mct-opt %t/empty.mlir --mct-merge-shards="shards-in=%t/a.json" 2>&1 | FileCheck %s --check-prefix=OUT
// OUT: error: merging shards needs files and a file to write; give shards-in=A,B and shards-out=C
// RUN: not mct-opt %t/empty.mlir --mct-merge-shards="shards-in=%t/a.json,%t/b.json shards-out=%t/a.json" 2>&1 | FileCheck %s --check-prefix=ONTO
// ONTO: error: '{{.*}}a.json' would overwrite '{{.*}}a.json', which is read; write to another file
// RUN: sed 's/"smallest":/"little":/' %t/b.json > %t/hashes.json
// RUN: not mct-opt %t/empty.mlir --mct-merge-shards="shards-in=%t/a.json,%t/hashes.json shards-out=%t/no.json" 2>&1 | FileCheck %s --check-prefix=HASHES
// HASHES: error: '{{.*}}hashes.json': expected hexadecimal hashes of two halves in 'smallest' and 'largest', and 'samples'
// RUN: ls %t | FileCheck %s --check-prefix=FILES
// FILES-NOT: no.json

//--- empty.mlir
module {
}

//--- net.mlir
func.func @main(%arg0: tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32>
  %1 = tpc.quantize %0 as "exp" activation : tensor<1x8x8x1xf32>
  return %1 : tensor<1x8x8x1xf32>
}
