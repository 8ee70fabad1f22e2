// Assignments are run as a whole with the parameters that their alternatives get afterwards.
// RUN: mct-opt %s --mct-assign-bit-widths="budget=weights:75% calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy bit-widths-out=%t.least.json" -o /dev/null
// RUN: mct-opt %s --mct-assign-bit-widths="budget=weights:75% calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy bit-widths-out=%t.json weights-error-tolerance=1e6" -o /dev/null
// RUN: FileCheck %s --check-prefix=LEAST < %t.least.json
// RUN: FileCheck %s --check-prefix=TOLERANT < %t.json

// The second weight of the first kernel is 0.001 off, or 0.251, 63001 times the squared error, which a step of 1 makes. The
// other kernel is exact in 2 bits; the assignment beside that has fewer bits for the first one.
// LEAST:         "measured": [
// LEAST-NEXT:      {
// LEAST:             "distance": 8.36{{[0-9]*}}e-07
// TOLERANT:      "measured": [
// TOLERANT-NEXT:   {
// TOLERANT:          "distance": 0.0526{{[0-9]*}}
#w8 = #tpc.attr_quant_config<method = power_of_two, bits = 8, enabled = true>
#w2 = #tpc.attr_quant_config<method = power_of_two, bits = 2, enabled = true>
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32>
    attributes {tpc.sensitivities = {metric = "mse", of = {conv = [4.0e-07, 1.2e-01], last = [1.0e-08, 1.0e-07]}, samples = 8 : i64}} {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.251]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w2)
    candidates(#tpc.alternatives<of = "conv", configs = [#w8, #w2], chosen = 1>)
    parameters(#tpc.power_of_two<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %sign = "tosa.const"() <{values = dense<-1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %s = tpc.quantize %sign as "last" weight "kernel_attr" config(#w2)
    candidates(#tpc.alternatives<of = "last", configs = [#w8, #w2], chosen = 1>)
    parameters(#tpc.power_of_two<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  %1 = tosa.conv2d %0, %s, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}
