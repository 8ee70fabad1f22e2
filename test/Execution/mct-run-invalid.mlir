// RUN: rm -f %t.npy
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b_short.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not mct-run %s --input=%S/Inputs/a.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=WHICH
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels_short.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=LABELS
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels_float.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=FLOAT
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels_onehot.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=ONEHOT
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --labels=%S/Inputs/labels_large.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --output=%t.npy,%S/../Execution/Inputs/a.npy 2>&1 | FileCheck %s --check-prefix=OVERWRITE
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --output=%t.npy,%t.npy 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mct-run %s --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --sort=error --output=%t.npy 2>&1 | FileCheck %s --check-prefix=SORT
// RUN: not mct-run - --compare=- --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --output=%t.npy < %s 2>&1 | FileCheck %s --check-prefix=STDIN
// RUN: not mct-run %s --input=0:/dev/zero,1:%S/Inputs/b.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not mct-run /dev/zero --input=0:%S/Inputs/a.npy,1:%S/Inputs/b.npy --output=%t.npy 2>&1 | FileCheck %s --check-prefix=ENDLESS
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
// FLOAT: error: {{.*}}labels_float.npy: expected integer labels, found f32
// ONEHOT: error: {{.*}}labels_onehot.npy: expected one class number for each sample, shape N or Nx1, found shape 3x2
// LARGE: error: {{.*}}labels_large.npy: expected classes in [0, 2), as many as the output has scores, found 2 at 1
// OVERWRITE: error: --output: '{{.*}}a.npy' would overwrite '{{.*}}Inputs/a.npy', which is read; write to another file
// TWICE: error: --output: '{{.*}}.npy' and '{{.*}}.npy' are one file; write to two
// SORT: error: --sort needs --compare
// STDIN: error: standard input can only be read once
// DEVICE: error: '/dev/zero': expected a regular file, which can be read more than once, found a device
// ENDLESS: error: cannot read '/dev/zero': expected a file, found a device
// OUTPUTS: error: expected 1 output files, one for each output, but got 2
// FUNCTION: error: 'builtin.module' op has no function 'nobody' with a body; it has 'main'
// ABSENT: error: cannot read '{{.*}}absent': No such file or directory
// MODULE: error:
// SCALE: error: input-scale: expected a number, or numbers separated by ';', but got 'x'
// FOLDER: error: '{{.*}}folder/out.npy': No such file or directory
func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tosa.add %arg0, %arg1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
