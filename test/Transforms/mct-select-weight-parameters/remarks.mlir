// RUN: mct-opt %s --split-input-file --mct-select-weight-parameters="remarks=true" --verify-diagnostics

// Every channel lies on its own grid.
#kernel2 = #tpc.attr_quant_config<method = symmetric, bits = 2, per_channel = true, enabled = true>
func.func @on_the_grid() -> tensor<2x2xf32> {
  %k = "tosa.const"() <{values = dense<[[0.25, -0.5], [0.5, -1.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  // expected-remark @below {{mean squared error 0.000000e+00, the least there is}}
  %w = tpc.quantize %k as "p" weight "kernel_attr" axes [0] config(#kernel2) : tensor<2x2xf32>
  return %w : tensor<2x2xf32>
}

// -----

// The mean squared error is 10/27.
#sym = #tpc.attr_quant_config<method = symmetric, bits = 2, enabled = true>
func.func @squared() -> tensor<6xf32> {
  %k = "tosa.const"() <{values = dense<[-4.0, -2.0, 1.0, 1.0, 1.0, 1.0]> : tensor<6xf32>}> : () -> tensor<6xf32>
  // expected-remark @below {{mean squared error 3.703704e-01, the least there is}}
  %w = tpc.quantize %k as "s" weight "kernel_attr" config(#sym) : tensor<6xf32>
  return %w : tensor<6xf32>
}

// -----

// Tables are optimal for their thresholds.
#table = #tpc.attr_quant_config<method = lut_sym_quantizer, bits = 2, enabled = true>
func.func @table() -> tensor<2xf32> {
  %k = "tosa.const"() <{values = dense<[0.0, 1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  // expected-remark @below {{, the least there is at these thresholds}}
  %w = tpc.quantize %k as "t" weight "kernel_attr" config(#table) : tensor<2xf32>
  return %w : tensor<2xf32>
}
