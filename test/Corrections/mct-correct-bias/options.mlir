// Every option changes what is measured in the way its words say; those about threads and batches change nothing.
// The kernel [1, 0.25] is quantized to [0.5, 0] and the channels have the means m0 and m1: 0.5 * m0 + 0.25 * m1 is lost.
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/bytes.npy calibration-samples=2" | FileCheck %s --check-prefix=TWO
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/bytes.npy calibration-samples=2 input-scale=2 input-offset=1" | FileCheck %s --check-prefix=SCALED
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/two_samples.npy,%S/../Inputs/means_2_3.npy" | FileCheck %s --check-prefix=FILES
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/bytes.npy threads=1" -o %t.mlir
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/bytes.npy threads=3 batch-size=2" -o %t.threads.mlir
// RUN: diff %t.mlir %t.threads.mlir
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/two_samples.npy function=other" | FileCheck %s --check-prefix=OTHER
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/eight_pairs.npy shrink=false judge=false half=first" | FileCheck %s --check-prefix=FIRST
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/eight_pairs.npy shrink=false judge=false half=second" | FileCheck %s --check-prefix=SECOND
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/eight_pairs.npy shrink=false judge=false half=none" | FileCheck %s --check-prefix=BOTH

// Means 2 and 1; 5 and 3; 2 and 2.
// TWO:    bias_offset = [1.250000e+00]
// SCALED: bias_offset = [3.250000e+00]
// FILES:  bias_offset = [1.500000e+00]
// Of (1, 2), (-1, 2), (1, 0) and (-1, 0), twice each, (1, 0) is the second half: means -1/3 and 4/3; 1 and 0; 0 and 1.
// FIRST:  bias_offset = [0.16666{{[67][0-9]*}}]
// SECOND: bias_offset = [5.000000e-01]
// BOTH:   bias_offset = [2.500000e-01]
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}

// OTHER-LABEL: func.func @main
// OTHER-NOT:     corrections
// OTHER-LABEL: func.func @other
// OTHER:         corrections
func.func @other(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
