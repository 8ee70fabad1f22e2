// One error that names the file, the sample, what was expected and what was found; no output.
// RUN: rm -f %t.mlir
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/nan.npy" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/five_values.npy" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/empty.npy" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/strings.npy" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/truncated.npy" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=TRUNCATED
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/garbage.npy" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=GARBAGE
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/absent.npy" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not mct-opt %s --mct-calibrate="calibration-data=nobody:%S/Inputs/bytes.npy" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/bytes.npy input-scale=half" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/bytes.npy input-scale=1;2" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SCALES
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/bytes.npy input-scale=1;0" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/bytes.npy shard=3/2" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SHARD
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/bytes.npy calibration-samples=1000" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FEWER
// RUN: not mct-opt %s --mct-calibrate -o %t.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not mct-opt %s --mct-calibrate="statistics-in=%S/Inputs/garbage.npy" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=STATISTICS
// RUN: not mct-opt %s --mct-calibrate="statistics-in=/dev/zero" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/bytes.npy function=nobody" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/bytes.npy function=pointless" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=POINTLESS
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/bytes.npy input-scale=1e30 function=overflowing" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=OVERFLOW
// RUN: not mct-opt %s --mct-calibrate="calibration-data=image:%S/Inputs/bytes.npy statistics-out=%S/../mct-calibrate/Inputs/bytes.npy" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=ONTODATA
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/bytes.npy statistics-out=%t.json" -o /dev/null
// RUN: rm -f %t.link.json && ln -s %t.json %t.link.json
// RUN: not mct-opt %s --mct-calibrate="statistics-in=%t.json statistics-out=%t.link.json" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=ONTOSTATISTICS
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/bytes.npy statistics-out=%s" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=ONTOMODULE
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/bytes.npy statistics-out=%t.out" -o %t.out 2>&1 | FileCheck %s --check-prefix=ONTORESULT
// RUN: rm -f %t.fifo && mkfifo %t.fifo
// RUN: not mct-opt %s --mct-calibrate="calibration-data=%t.fifo" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=PIPE
// RUN: test ! -e %t.mlir

// ZERO: error: input-scale: a scale of 0 makes all samples equal
// SHARD: error: shard=3/2 says which of the samples these are; give shards-out=FILE, too, or leave it out
// FEWER: warning: calibration-samples is 1000, but there are {{[0-9]+}} samples
// NAN: error: {{.*}}nan.npy{{.*}}sample 1{{.*}}nan
// NAN-NOT: error:
// SHAPE: error: {{.*}}five_values.npy{{.*}}4{{.*}}5
// EMPTY: error: {{.*}}empty.npy
// DTYPE: error: {{.*}}strings.npy
// TRUNCATED: error: {{.*}}truncated.npy
// GARBAGE: error: {{.*}}garbage.npy
// ABSENT: error: {{.*}}absent.npy
// INPUT: error: {{.*}}nobody
// SCALE: error: {{.*}}input-scale: expected a number, or numbers separated by ';', but got 'half'
// SCALES: error: {{.*}}one value or 4, {{.*}} found 2
// NOTHING: error: calibration needs samples; give calibration-data=FILE.npy
// STATISTICS: error: {{.*}}garbage.npy
// DEVICE: error: {{.*}}'/dev/zero': expected a file, found a device
// FUNCTION: error: 'builtin.module' op has no function 'nobody' with a body; it has 'main', 'pointless', 'overflowing'
// POINTLESS: error: 'func.func' op has no points to calibrate; run mct-insert-quantizers before
// OVERFLOW: error: {{.*}}'tpc.quantize' op saw {{[0-9]+}} values that are NaN or infinite while calibrating; check the input scale and the weights, or leave this tensor float by an overrides file where infinities are meant (a mask); see docs/guide/troubleshooting.md#values-are-nan-or-infinite
// ONTODATA: error: statistics-out: '{{.*}}bytes.npy' would overwrite '{{.*}}bytes.npy', which is read; write to another file
// ONTOSTATISTICS: error: statistics-out: '{{.*}}.link.json' would overwrite '{{.*}}.json', which is read; write to another file
// ONTOMODULE: error: statistics-out: '{{.*}}samples-invalid.mlir' would overwrite '{{.*}}samples-invalid.mlir', which is read; write to another file
// ONTORESULT: error: statistics-out: '{{.*}}.out' and '{{.*}}.out' are one file; write to two
// PIPE: error: '{{.*}}.fifo': expected a regular file, which can be read more than once, found a pipe
func.func @main(%arg0: tensor<1x4xf32> loc("image")) -> tensor<1x4xf32> {
  %0 = tpc.quantize %arg0 as "in" activation : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

func.func @pointless(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  return %arg0 : tensor<1x4xf32>
}

func.func @overflowing(%arg0: tensor<1x4xf32> loc("image")) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tpc.quantize %0 as "exp" activation : tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
