// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy only-missing=true" | FileCheck %s
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy" | FileCheck %s --check-prefix=ALL
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy" --mct-calibrate=only-missing=true | FileCheck %s --check-prefix=ALL

// The second call of the last command needs no samples: nothing is missing.
// CHECK: tpc.quantize {{.*}} as "exp" {{.*}} statistics(#tpc.statistics<count = 5, zeros = 0, min = 1.000000e+00, max = 2.000000e+00>)
// CHECK: tpc.quantize {{.*}} as "abs" {{.*}} statistics(#tpc.statistics<count = 8,
// ALL: tpc.quantize {{.*}} as "exp" {{.*}} statistics(#tpc.statistics<count = 8,
// ALL: tpc.quantize {{.*}} as "abs" {{.*}} statistics(#tpc.statistics<count = 8,
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tpc.quantize %0 as "exp" activation statistics(#tpc.statistics<count = 5, zeros = 0, min = 1.0, max = 2.0>) : tensor<1x4xf32>
  %2 = tosa.abs %1 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %3 = tpc.quantize %2 as "abs" activation : tensor<1x4xf32>
  return %3 : tensor<1x4xf32>
}
