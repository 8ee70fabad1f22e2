// The hand-derived cases of MCT's weight bias correction.
// RUN: mct-opt %s --mct-correct-bias="estimate=input-mean calibration-data=%S/../Inputs/means_2_3.npy function=weights" | FileCheck %s --check-prefix=WEIGHTS
// RUN: mct-opt %s --mct-correct-bias="estimate=input-mean calibration-data=%S/../Inputs/shards.npy function=mean" | FileCheck %s --check-prefix=MEAN
// RUN: mct-opt %s --mct-correct-bias="estimate=input-mean calibration-data=%S/../Inputs/shards.npy function=mean batch-size=3" | FileCheck %s --check-prefix=MEAN

// [1, 0.3] with the threshold 128/127 becomes [1, 38/127 = 0.2992126]; the input means are 2 and 3, so the term is
// 3 * (0.2992126 - 0.3) = -0.0023622, which is subtracted.
// WEIGHTS-LABEL: func.func @weights
// WEIGHTS:         corrections(#tpc.corrections<applied = ["input_mean"], bias_offset = [0.002362{{[0-9]*}}],
func.func @weights(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.3]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0078740157480315], bits = 8>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}

// The samples 0, 0, 0 and 6 have the mean 1.5, whatever batches they come in: 0.5 * 1.5 is lost of a kernel of 1 that
// becomes 0.5. MCT takes the mean of the means of its batches, 3 for {0, 0, 0} and {6}: not reproduced.
// MEAN-LABEL: func.func @mean
// MEAN:         corrections(#tpc.corrections<applied = ["input_mean"], bias_offset = [7.500000e-01],
func.func @mean(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
