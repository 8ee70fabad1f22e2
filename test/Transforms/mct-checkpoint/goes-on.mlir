// The second stage fails. What the first has done is kept, with its remarks and the keys of its constants.
// RUN: rm -rf %t.folder %t.mlir
// RUN: not mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(mct-bound-relu-to-power-of-two{remarks=true}),builtin.module(mct-calibrate{threads=1 calibration-data=%S/../../Corrections/Inputs/two_samples.npy})" -o %t.mlir 2>&1 | FileCheck %s --check-prefixes=REMARK,POINTS
// RUN: not ls %t.mlir
// RUN: mct-opt %t.folder/module.mlirbc | FileCheck %s --check-prefix=KEPT

// Names of files and options that change no result may be others. The first stage is not run again: the remark is repeated.
// RUN: not mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(mct-bound-relu-to-power-of-two{remarks=false}),builtin.module(mct-calibrate{threads=2 batch-size=1 calibration-data=%S/../../Corrections/Inputs/two_samples.npy})" 2>&1 | FileCheck %s --check-prefixes=REMARK,POINTS

// Files that have the name of a target or of a number are not read, and change nothing; nor do other files of the folder.
// RUN: rm -rf %t.folder %t.work && mkdir %t.work
// RUN: cd %t.work && mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(tpc-attach-target{target=imx500},mct-record-preprocessing{scale=2})" -o %t.first.mlir
// RUN: touch %t.work/imx500 %t.work/2 %t.folder/2 %t.folder/readme
// RUN: cd %t.work && mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(tpc-attach-target{target=imx500},mct-record-preprocessing{scale=2})" | diff - %t.first.mlir

// A run that has ended is its result.
// RUN: rm -rf %t.folder
// RUN: mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(mct-bound-relu-to-power-of-two),builtin.module(mct-record-preprocessing{scale=2})" -o %t.first.mlir
// RUN: mct-opt %s --mct-bound-relu-to-power-of-two --mct-record-preprocessing=scale=2 | diff - %t.first.mlir
// RUN: mct-opt %s --mct-checkpoint="directory=%t.folder stages=builtin.module(mct-bound-relu-to-power-of-two),builtin.module(mct-record-preprocessing{scale=2})" | diff - %t.first.mlir

// REMARK: remark: its bound goes from 1.200000e+01 to 8.000000e+00
// POINTS: error: {{.*}}has no points to calibrate
// KEPT:       module attributes {mct.checkpoint = {
// KEPT-SAME:    stage = 1 : i64
func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %1 = tosa.clamp %0 {max_val = 12.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %2 = tosa.conv2d %1, %k2, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %2 : tensor<1x4x4x1xf32>
}
