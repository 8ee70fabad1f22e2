// The samples are [-1, 1] twice, and [-2, 4] twice.
// DEFINE: %{data} = calibration-data=%S/Inputs/two_batches.npy
// RUN: mct-opt %s --mct-observe-ranges="%{data} batch=2" | FileCheck %s
// RUN: mct-opt %s --mct-observe-ranges="%{data} batch=2 from-first-batch=false" | FileCheck %s --check-prefix=INITIAL
// RUN: mct-opt %s --mct-observe-ranges="%{data} batch=3" | FileCheck %s --check-prefix=THREE
// RUN: mct-opt %s --mct-observe-ranges="%{data}" | FileCheck %s --check-prefix=ALL
// RUN: mct-opt %s --mct-observe-ranges="%{data} batch=2 calibration-samples=2" | FileCheck %s --check-prefix=FEWER
// RUN: mct-opt %s --mct-observe-ranges="%{data} batch=2 input-scale=2" | FileCheck %s --check-prefix=SCALE
// RUN: mct-opt %s --mct-observe-ranges="%{data} batch=2 input-offset=1" | FileCheck %s --check-prefix=OFFSET
// RUN: mct-opt %s --mct-observe-ranges="%{data} batch=2 function=other" | FileCheck %s --check-prefix=OTHER

// [-1, 1], then half of the way to [-2, 4]: [-1.5, 2.5].
// CHECK-LABEL: func.func @main
// CHECK: parameters(#tpc.uniform<scale = [{{0.01568627|1.568627}}{{.*}}], zero_point = [96], bits = 8, rounding = half_up>)
// From [-6, 6] it is [-3.5, 3.5] and [-2.75, 3.75].
// INITIAL: parameters(#tpc.uniform<scale = [{{0.0254901|2.54901}}{{.*}}], zero_point = [108], bits = 8, rounding = half_up>)
// [-2, 4] is in both batches, the second of which has one sample.
// THREE: parameters(#tpc.uniform<scale = [{{0.023529|2.3529}}{{.*}}], zero_point = [85], bits = 8, rounding = half_up>)
// ALL: parameters(#tpc.uniform<scale = [{{0.023529|2.3529}}{{.*}}], zero_point = [85], bits = 8, rounding = half_up>)
// FEWER: parameters(#tpc.uniform<scale = [{{0.0078431|7.8431}}{{.*}}], zero_point = [128], bits = 8, rounding = half_up>)
// [-3, 5]
// SCALE: parameters(#tpc.uniform<scale = [{{0.0313725|3.13725}}{{.*}}], zero_point = [96], bits = 8, rounding = half_up>)
// [0, 2], then half of the way to [-1, 5]
// OFFSET: parameters(#tpc.uniform<scale = [{{0.01568627|1.568627}}{{.*}}], zero_point = [32], bits = 8, rounding = half_up>)
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.observed_range<observer = moving_average, bits = 8, decay = 0.5>) : tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// OTHER-LABEL: func.func @main
// OTHER-NOT:   parameters
// OTHER-LABEL: func.func @other
// OTHER:       parameters(#tpc.uniform<
func.func @other(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.observed_range<observer = all_values, bits = 8>) : tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
