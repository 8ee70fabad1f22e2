// Processes that each have a shard of the samples: the module is that of one process with all of them, byte for byte.
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy,%S/Inputs/half.npy" -o %t.whole.mlir
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy shard=0/2 shards-out=%t.a.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=WRITTEN
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/half.npy shard=1/2 shards-out=%t.b.json" -o %t.no.mlir 2>/dev/null
// RUN: not ls %t.no.mlir
// RUN: mct-opt %s --mct-calibrate="shards-in=%t.b.json,%t.a.json" -o %t.merged.mlir
// RUN: cmp %t.whole.mlir %t.merged.mlir
// RUN: FileCheck %s < %t.a.json
// WRITTEN: {{.*}}.a.json: the calibration of a shard; give it with those of the other shards as shards-in
// CHECK: {"format":"mct-shards","version":1,"instruction_set":"{{.+}}","parts":[
// CHECK-SAME: "kind":"calibration"
// CHECK-SAME: "kind":"sample hashes"

// Without samples a file says what is missing, by an exit status of its own.
// RUN: echo '{"format": "mct-shards", "version": 1, "parts": []}' > %t.none.json
// RUN: sh -c 'mct-opt %s --mct-calibrate="shards-in=%t.none.json shards-out=%t.asked.json" -o %t.no.mlir; test $? = 3'
// RUN: FileCheck %s --check-prefix=ASKED < %t.asked.json
// ASKED: "missing":"calibration"

// RUN: sh -c 'mct-opt %s --mct-calibrate="shards-in=%t.none.json" -o %t.no.mlir; test $? = 3' 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: no file of the shards has the calibration of this network; run all shards again, with these files; see docs/guide/troubleshooting.md#shards-run-in-rounds

// Neither what a shard knows nor what is missing can be written to a folder.
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/half.npy shard=1/2 shards-out=%S" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not mct-opt %s --mct-calibrate="shards-in=%t.none.json shards-out=%S" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: cannot write the file of the shard: '{{.*}}mct-calibrate': Is a directory

// A host that keeps no state of shards gets an error after the file is written, which is that of mct-opt.
// RUN: not mlir-opt %s --load-dialect-plugin=%mct_obj/lib/MctPlugin.so --load-pass-plugin=%mct_obj/lib/MctPlugin.so --pass-pipeline='builtin.module(mct-calibrate{calibration-data=%S/Inputs/half.npy shard=1/2 shards-out=%t.plugin.json})' 2>&1 | FileCheck %s --check-prefix=PLUGIN
// RUN: cmp %t.plugin.json %t.b.json
// PLUGIN: error: has written the calibration of shard 1 of 2 to '{{.*}}.plugin.json', and ends here; give it with those of the other shards

// A shard of another network, one that is not there, one that is there twice, and other divisions.
// RUN: sed 's/tosa.exp/tosa.sigmoid/' %s > %t.other.mlir
// RUN: not mct-opt %t.other.mlir --mct-calibrate="shards-in=%t.a.json,%t.b.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: '{{.*}}.a.json' has the calibration of another network; give all shards the same module, target and options, and leave out files of earlier ones; see docs/guide/troubleshooting.md#shards-of-another-network
// RUN: not mct-opt %s --mct-calibrate="shards-in=%t.a.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: error: no file has the calibration of shard 1 of 2, which '{{.*}}.a.json' belongs to; give the files of all shards
// RUN: cp %t.a.json %t.copy.json
// RUN: not mct-opt %s --mct-calibrate="shards-in=%t.a.json,%t.copy.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: '{{.*}}.copy.json' has the calibration of shard 0 as '{{.*}}.a.json' has; give each shard once
// RUN: not mct-opt %s --mct-calibrate="shards-in=%t.a.json,%t.a.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: error: '{{.*}}.a.json' is '{{.*}}.a.json'; give each file once
// RUN: sed 's/"of":2/"of":3/' %t.b.json > %t.three.json
// RUN: not mct-opt %s --mct-calibrate="shards-in=%t.a.json,%t.three.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=DIVIDED
// DIVIDED: error: '{{.*}}.three.json' is one of 3 shards, and '{{.*}}.a.json' one of 2; divide the samples in one way, and give the files of these shards

// Machines of two kinds are noted.
// RUN: sed 's/"instruction_set":"[^"]*"/"instruction_set":"6502"/' %t.a.json > %t.old.json
// RUN: mct-opt %s --mct-calibrate="shards-in=%t.old.json,%t.b.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=KINDS
// KINDS: warning: merges statistics of machines with different instruction sets, whose last bits may differ: '6502', '{{.+}}'

// Options and files that make no sense.
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/half.npy shard=2/2 shards-out=%t.c.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=SHARD
// SHARD: error: shard: expected I/N with I from 0 to N - 1, found '2/2'
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/half.npy shards-in=%t.a.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: calibration-data beside shards-in is a shard of the samples; give shards-out=FILE, too
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/half.npy calibration-samples=1 shards-out=%t.c.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: error: calibration-samples counts the samples of one process; leave it out where there are shards
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/half.npy shards-in=%t.a.json shards-out=%t.a.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=ONTO
// ONTO: error: shards-out: '{{.*}}.a.json' would overwrite '{{.*}}.a.json', which is read; write to another file
// RUN: not mct-opt %s --mct-calibrate="shards-in=%S/Inputs/garbage.npy" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=GARBAGE
// GARBAGE: error: '{{.*}}garbage.npy':
// RUN: echo '{"format": "mct-statistics", "version": 1}' > %t.format.json
// RUN: not mct-opt %s --mct-calibrate="shards-in=%t.format.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: error: '{{.*}}.format.json': expected an object with "format": "mct-shards"
// RUN: sed 's/"shards":\[0\]/"shards":[2]/' %t.a.json > %t.numbers.json
// RUN: not mct-opt %s --mct-calibrate="shards-in=%t.numbers.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: error: '{{.*}}.numbers.json': expected different numbers below 'of'
// RUN: sed 's/"digest":/"digits":/' %t.a.json > %t.digest.json
// RUN: not mct-opt %s --mct-calibrate="shards-in=%t.digest.json,%t.b.json" -o %t.no.mlir 2>&1 | FileCheck %s --check-prefix=DIGEST
// DIGEST: error: '{{.*}}.digest.json': calibration: expected 'points', 'digest' and 'samples'

func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tpc.quantize %0 as "exp" activation : tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
