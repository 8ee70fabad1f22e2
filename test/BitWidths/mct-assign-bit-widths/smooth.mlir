// RUN: mct-opt %s --mct-assign-bit-widths="budget=weights:100% bit-widths-out=%t.json" | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON < %t.json

// A larger tolerance that was measured to cost less did so by chance: without
// need the least error is taken. The file has what was measured.
// CHECK: chosen = 0>
// JSON: "sensitivity": 0.01
// JSON: "sensitivity": 0.00{{89|9}}
// JSON: "sensitivity": 0.008
#w8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#w8_2 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true, error_tolerance = 2>
#w4 = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32>
    attributes {tpc.sensitivities = {metric = "mse", of = {conv = [0.010, 0.009, 0.008]}, samples = 4 : i64}} {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" config(#w8)
    candidates(#tpc.alternatives<of = "conv", configs = [#w8, #w8_2, #w4], chosen = 0>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
