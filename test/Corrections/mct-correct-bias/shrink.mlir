// The kernel 1 becomes 0.5. The samples 2 (four times) and 0 (four times) lose 0.5 on average, 1 or 0 each: with the
// variance 2/7 over samples, 1/28 of the mean. 0.5 * (1 - 1/28 / 0.25) = 0.4285714. Seven samples, which lose 4/7, are
// too few to tell. Of about one sample those are taken that are equal to it: 2 or 0, four times each.
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/eight_samples.npy" | FileCheck %s
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/eight_samples.npy shrink=false" | FileCheck %s --check-prefix=WHOLE
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/eight_samples.npy calibration-samples=7" | FileCheck %s --check-prefix=SEVEN
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/eight_samples.npy max-samples=1" | FileCheck %s --check-prefix=ONE
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/eight_samples.npy max-samples=0" | FileCheck %s
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/eight_samples.npy estimate=input-mean" | FileCheck %s --check-prefix=WHOLE

// CHECK: bias_offset = [0.428571{{[0-9]*}}]
// WHOLE: bias_offset = [5.000000e-01]
// ONE: bias_offset = [{{0\.0|1\.0}}00000e+00], kernel_scale = [1.000000e+00], samples = 4>
// SEVEN: bias_offset = [0.571428{{[0-9]*}}]
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
