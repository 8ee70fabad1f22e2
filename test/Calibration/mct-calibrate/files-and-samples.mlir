// What files say of a point is all that is known of it; samples are run for points that no file knows.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: mct-opt %t/both.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy statistics-out=%t/both.json" -o %t/once.mlir
// RUN: mct-opt %t/both.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy statistics-in=%t/both.json statistics-out=%t/again.json" -o %t/twice.mlir --verify-diagnostics
// RUN: cmp %t/once.mlir %t/twice.mlir
// RUN: cmp %t/both.json %t/again.json

// The file of a network with one of the points: the statistics of the other are those of the samples.
// RUN: mct-opt %t/one.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy statistics-out=%t/one.json" -o /dev/null
// RUN: mct-opt %t/both.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy statistics-in=%t/one.json statistics-out=%t/completed.json" -o %t/completed.mlir 2>&1 | FileCheck %s
// RUN: cmp %t/once.mlir %t/completed.mlir
// RUN: cmp %t/both.json %t/completed.json
// CHECK: both.mlir:4:{{[0-9]+}}: warning: 'input' has no statistics in the files given, and is calibrated on the samples{{$}}
// CHECK: note: files of the same network, prepared for the same target in the same way, know all its points

// Twice the file is twice the values, whatever the samples are.
// RUN: mct-opt %t/one.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy statistics-in=%t/one.json,%t/one.json" | FileCheck %s --check-prefix=DOUBLE
// DOUBLE: as "exp" {{.*}} statistics(#tpc.statistics<count = 16,

// The file of another network: one warning for all points.
// RUN: mct-opt %t/other.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy statistics-out=%t/other.json" -o /dev/null
// RUN: mct-opt %t/both.mlir --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy statistics-in=%t/other.json" -o %t/mixed.mlir 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: cmp %t/once.mlir %t/mixed.mlir
// ALL: warning: 'exp' has no statistics in the files given, and is calibrated on the samples, as is 1 other{{$}}
// ALL-NOT: warning

// Without samples there is nothing to calibrate it on.
// RUN: not mct-opt %t/both.mlir --mct-calibrate="statistics-in=%t/one.json" -o %t/no.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: 'tpc.quantize' op has no statistics in the files given; calibrate the same network, or give calibration-data

//--- both.mlir
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tpc.quantize %0 as "exp" activation : tensor<1x4xf32>
  %2 = tpc.quantize %arg0 as "input" activation : tensor<1x4xf32>
  %3 = tosa.add %1, %2 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  return %3 : tensor<1x4xf32>
}
//--- one.mlir
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tpc.quantize %0 as "exp" activation : tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
//--- other.mlir
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.tanh %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tpc.quantize %0 as "tanh" activation : tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
