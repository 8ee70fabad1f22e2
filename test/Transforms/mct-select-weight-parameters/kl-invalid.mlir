// RUN: mct-opt %s --mct-select-weight-parameters="error-method=kl" --verify-diagnostics

#wide = #tpc.attr_quant_config<method = symmetric, bits = 12, enabled = true>
func.func @too_many_bits() -> tensor<1xf32> {
  %k = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-error @below {{asks for 12 bits; histograms resolve grids of at most 11 bits, use another error-method than kl}}
  %w = tpc.quantize %k as "p" weight "kernel_attr" config(#wide) : tensor<1xf32>
  return %w : tensor<1xf32>
}
