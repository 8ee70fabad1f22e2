// RUN: not mct-opt %s --mct-checkpoint="stages=builtin.module(mct-fold-batch-norm)" 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not mct-opt %s --mct-checkpoint="directory=%s stages=builtin.module(mct-fold-batch-norm)" 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not mct-opt %s --mct-checkpoint="directory=%t.absent/folder stages=builtin.module(mct-fold-batch-norm)" 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not mct-opt %s --mct-checkpoint="directory=%t.folder stages=func.func(mct-assign-names)" 2>&1 | FileCheck %s --check-prefix=ANCHOR
// RUN: not mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(mct-calibrate{calibration-data=a.npy shard=0/2 shards-out=a.json})" 2>&1 | FileCheck %s --check-prefix=SHARDS

// A folder belongs to one run.
// RUN: rm -rf %t.folder
// RUN: printf 'op tosa.exp float' > %t.rules
// RUN: mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(tpc-attach-target{target=imx500},mct-insert-quantizers{overrides=%t.rules})" -o %t.mlir
// RUN: test -f %t.mlir
// RUN: not mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(tpc-attach-target{target=imx500_v1_pot},mct-insert-quantizers{overrides=%t.rules})" 2>&1 | FileCheck %s --check-prefix=OPTIONS
// RUN: not mct-opt %t.mlir --mct-checkpoint="directory=%t.folder stages=builtin.module(tpc-attach-target{target=imx500},mct-insert-quantizers{overrides=%t.rules})" 2>&1 | FileCheck %s --check-prefix=NETWORK
// RUN: printf 'name "exp" float' > %t.rules
// RUN: not mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(tpc-attach-target{target=imx500},mct-insert-quantizers{overrides=%t.rules})" 2>&1 | FileCheck %s --check-prefix=SAMPLES

// RUN: rm -rf %t.folder
// RUN: not sh -c 'ulimit -f 0; mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(mct-fold-batch-norm)" -o /dev/null' 2>&1 | FileCheck %s --check-prefix=WRITTEN
// RUN: not ls %t.folder/module.mlirbc

// RUN: rm -rf %t.folder
// RUN: mkdir %t.folder
// RUN: printf 'something else' > %t.folder/module.mlirbc
// RUN: not mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(mct-fold-batch-norm)" 2>&1 | FileCheck %s --check-prefix=DAMAGED
// RUN: cp %s %t.folder/module.mlirbc
// RUN: not mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(mct-fold-batch-norm)" 2>&1 | FileCheck %s --check-prefix=DAMAGED

// FOLDER: error: a checkpoint needs a folder; give directory=DIR
// FILE: error: checkpoint: '{{.*}}invalid.mlir' is not a folder, and cannot be made one: Not a directory
// ABSENT: error: checkpoint: '{{.*}}absent/folder' is not a folder, and cannot be made one: No such file or directory
// ANCHOR: error: runs passes on the module, but got some for 'func.func'; write builtin.module(PASSES)
// SHARDS: error: files of shards keep what was measured, and a checkpoint does not know of the others; give either checkpoint or shards-out
// OPTIONS: error: '{{.*}}module.mlirbc' was made with other options
// OPTIONS: note: a run goes on with what it began with; remove the folder, or give another one
// NETWORK: error: '{{.*}}module.mlirbc' was made with another network
// SAMPLES: error: '{{.*}}module.mlirbc' was made with other samples, or with another content of a file that options name
// WRITTEN: error: cannot write the checkpoint: '{{.*}}module.mlirbc': File too large
// DAMAGED: error: '{{.*}}module.mlirbc' is damaged, or no checkpoint of this version of mct; remove it to start again
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
