// The error is 0.5 of 1.75, 28.57 percent; that of the function `zeros`, where 4 zeros come to it, is half as large, and
// so is the mean.
// RUN: mct-opt %s --mct-correct-activation-bias=threshold=28 | FileCheck %s --check-prefix=BELOW
// RUN: mct-opt %s --mct-correct-activation-bias="threshold=30 remarks=true" 2>&1 | FileCheck %s --check-prefix=ABOVE
// RUN: mct-opt %s --mct-correct-activation-bias=function=zeros | FileCheck %s --check-prefix=ZEROS
// RUN: not mct-opt %s --mct-correct-activation-bias=threshold=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// BELOW:    bias_offset = [1.000000e+00]
// ABOVE:    remark: 'tosa.conv2d' op is not corrected: the error of its input is below the threshold
// ABOVE-NOT: corrections
// NEGATIVE: error: the threshold of mct-correct-activation-bias is a percentage that is not negative, but got -1
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "in" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 2.5, histogram = #tpc.histogram<step_exponent = 0, first = 0, counts = dense<[1, 1, 2]> : tensor<3xi64>>>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 1, is_signed = false>) : tensor<1x1x1x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}

// ZEROS-LABEL: func.func @zeros
// ZEROS:         bias_offset = [5.000000e-01]
func.func @zeros(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "in" activation statistics(#tpc.statistics<count = 8, zeros = 4, min = 0.0, max = 2.5, histogram = #tpc.histogram<step_exponent = 0, first = 0, counts = dense<[1, 1, 2]> : tensor<3xi64>>>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 1, is_signed = false>) : tensor<1x1x1x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
