// RUN: rm -f %t.npy
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b_short.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not mct-run %s --input=%S/Inputs/a.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=WHICH
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels_short.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=LABELS
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels_float.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=FLOAT
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --output=%t.npy,%t.more.npy 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --function=nobody --output=%t.npy 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not mct-run %s.absent --input=0:%S/Inputs/a.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not mct-run %S/Inputs/a.npy --input=0:%S/Inputs/a.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=MODULE
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --input-scale=x --output=%t.npy 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --output=%t.folder/out.npy 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: test ! -e %t.npy

// COUNT: error: {{.*}}expected 3 samples{{.*}}found 1
// MISSING: error: input '{{.*}}' of the network has no data
// WHICH: error: {{.*}}the network has 2 inputs {{.*}}; write NAME:PATH
// LABELS: error: {{.*}}labels_short.npy: expected 3 labels, found 1
// FLOAT: error: {{.*}}labels_float.npy: expected integer labels (u8, i8, i32 or i64), found f32
// OUTPUTS: error: --output: expected 1 files, one for each output, but got 2
// FUNCTION: error: {{.*}}nobody
// ABSENT: error: {{.*}}absent
// MODULE: error:
// SCALE: error: input-scale: expected a number, or numbers separated by ';', but got 'x'
// FOLDER: error: '{{.*}}folder/out.npy': No such file or directory
func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.add %arg0, %arg1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
