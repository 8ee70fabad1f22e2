// Every option changes what is recorded in the way its words say.
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy calibration-samples=1" | FileCheck %s --check-prefix=ONE
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/bytes.npy input-scale=0.5 input-offset=-1" | FileCheck %s --check-prefix=SCALED
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/bytes.npy input-scale=1;1;1;100" | FileCheck %s --check-prefix=CHANNEL
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/half.npy" | FileCheck %s --check-prefix=HALF
// RUN: mct-opt %s --mct-calibrate="calibration-data=image:%S/Inputs/half.npy,0:%S/Inputs/two_samples.npy" | FileCheck %s --check-prefix=SHARDS
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy function=other" | FileCheck %s --check-prefix=OTHER
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy channel-statistics=true" | FileCheck %s --check-prefix=PER

// Samples are chosen by their values: the same ones in another order.
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy,%S/Inputs/half.npy max-samples=1" -o %t.few.mlir
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/half.npy,%S/Inputs/two_samples.npy max-samples=1" -o %t.order.mlir
// RUN: cmp %t.few.mlir %t.order.mlir
// RUN: FileCheck %s --check-prefix=FEW < %t.few.mlir
// FEW:     as "in" {{.*}} statistics(#tpc.statistics<count = 4,

// ONE:     as "in" {{.*}} statistics(#tpc.statistics<count = 4, zeros = 2, min = -1.000000e+00, max = 5.000000e-01,
// SCALED:  as "in" {{.*}} statistics(#tpc.statistics<count = 8, zeros = 1, min = -1.000000e+00, max = 2.500000e+00,
// CHANNEL: as "in" {{.*}} statistics(#tpc.statistics<count = 8, zeros = 1, min = 0.000000e+00, max = 7.000000e+02,
// HALF:    as "in" {{.*}} statistics(#tpc.statistics<count = 4, zeros = 1, min = -1.000000e+00, max = 2.000000e+00,
// SHARDS:  as "in" {{.*}} statistics(#tpc.statistics<count = 12, zeros = 5, min = -1.000000e+00, max = 2.000000e+00,
// PER:     as "in" {{.*}} channel_mean = dense<[1.250000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00]> : tensor<4xf64>, channel_mean_square = dense<[3.125000e-02, 0.000000e+00, 1.250000e-01, 1.000000e+00]> : tensor<4xf64>, channel_min = dense<[0.000000e+00, 0.000000e+00, 0.000000e+00, -1.000000e+00]> : tensor<4xf32>, channel_max = dense<[2.500000e-01, 0.000000e+00, 5.000000e-01, 1.000000e+00]> : tensor<4xf32>
func.func @main(%arg0: tensor<1x4xf32> loc("image")) -> tensor<1x4xf32> {
  %0 = tpc.quantize %arg0 as "in" activation : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// ONE-LABEL: func.func @other
// ONE-NOT:     statistics
// OTHER-LABEL: func.func @other
// OTHER:       as "in" {{.*}} statistics(#tpc.statistics<count = 8,
func.func @other(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = tpc.quantize %arg0 as "in" activation : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
