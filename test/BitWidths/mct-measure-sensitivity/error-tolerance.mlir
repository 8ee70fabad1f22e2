// Alternatives are measured with the parameters that they get when they are chosen.
// RUN: mct-opt %s --mct-measure-sensitivity="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy" | FileCheck %s --check-prefix=LEAST
// RUN: mct-opt %s --mct-measure-sensitivity="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy weights-error-tolerance=1e6" | FileCheck %s --check-prefix=TOLERANT

// The steps of least error are 1/64, 0.001 off in the second weight. Up to a step of 1 it is 0.251 off at most, 63001 times
// the squared error, and the outputs are so far from their mean then: 0.063 of 2.63, the mean of their squares.
// LEAST:    tpc.sensitivities = {metric = "mse", of = {conv = [3.80{{[0-9]*}}E-7,
// TOLERANT: tpc.sensitivities = {metric = "mse", of = {conv = [0.02397{{[0-9]*}},
#w8 = #tpc.attr_quant_config<method = power_of_two, bits = 8, enabled = true>
#w2 = #tpc.attr_quant_config<method = power_of_two, bits = 2, enabled = true>
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.251]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w2)
    candidates(#tpc.alternatives<of = "conv", configs = [#w8, #w2], chosen = 1>)
    parameters(#tpc.power_of_two<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
