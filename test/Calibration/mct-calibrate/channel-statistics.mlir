// The channels are the last axis of one sample, also where the samples of a batch lie along that axis.
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/three_numbers.npy function=number channel-statistics=true" | FileCheck %s --check-prefix=NUMBER
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy function=flattened channel-statistics=true" | FileCheck %s --check-prefix=FLAT
// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy function=mixed_samples channel-statistics=true" | FileCheck %s --check-prefix=MIXED

// NUMBER-LABEL: func.func @number
// NUMBER: as "in" {{.*}}count = 3, {{.*}} channel_mean = dense<3.000000e+00> : tensor<1xf64>, {{.*}} channel_min = dense<1.000000e+00> : tensor<1xf32>, channel_max = dense<6.000000e+00> : tensor<1xf32>>
func.func @number(%arg0: tensor<1xf32>) -> tensor<1xf32> {
  %0 = tpc.quantize %arg0 as "in" activation : tensor<1xf32>
  return %0 : tensor<1xf32>
}

// FLAT-LABEL: func.func @flattened
// FLAT: as "flat" {{.*}}count = 8, {{.*}} channel_mean = dense<[1.250000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00]> : tensor<4xf64>,
func.func @flattened(%arg0: tensor<1x4xf32>) -> tensor<4xf32> {
  %shape = tosa.const_shape {values = dense<4> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.reshape %arg0, %shape : (tensor<1x4xf32>, !tosa.shape<1>) -> tensor<4xf32>
  %1 = tpc.quantize %0 as "flat" activation : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// What sums over the samples has no batch: the axis is taken as it is.
// MIXED-LABEL: func.func @mixed_samples
// MIXED: as "in" {{.*}}count = 8, {{.*}} channel_mean = dense<[1.250000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00]> : tensor<4xf64>,
func.func @mixed_samples(%arg0: tensor<2x4xf32>) -> tensor<1x4xf32> {
  %0 = tpc.quantize %arg0 as "in" activation : tensor<2x4xf32>
  %1 = tosa.reduce_sum %0 {axis = 0 : i32} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
