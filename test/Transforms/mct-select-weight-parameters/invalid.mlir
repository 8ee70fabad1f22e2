// RUN: mct-opt %s --split-input-file --mct-select-weight-parameters --verify-diagnostics

func.func @no_config() -> tensor<1xf32> {
  %k = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-error @below {{has no config; run mct-insert-quantizers, or give it one}}
  %w = tpc.quantize %k as "p" weight "kernel_attr" : tensor<1xf32>
  return %w : tensor<1xf32>
}

// -----

#lut = #tpc.attr_quant_config<method = lut_sym_quantizer, bits = 8, enabled = true>
func.func @index_as_wide_as_the_entries() -> tensor<1xf32> {
  %k = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-error @below {{asks for a table with an index of 8 bits; tables can be selected for 1 to 7}}
  %w = tpc.quantize %k as "p" weight "kernel_attr" config(#lut) : tensor<1xf32>
  return %w : tensor<1xf32>
}

// -----

#lut = #tpc.attr_quant_config<method = lut_pot_quantizer, bits = 4, enabled = true, lut_values_bits = 6>
func.func @entries_of_another_width() -> tensor<1xf32> {
  %k = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-error @below {{asks for a table with entries of 6 bits ('lut_values_bits'); tables can be selected for 8}}
  %w = tpc.quantize %k as "p" weight "kernel_attr" config(#lut) : tensor<1xf32>
  return %w : tensor<1xf32>
}

// -----

#wide = #tpc.attr_quant_config<method = symmetric, bits = 17, enabled = true>
func.func @too_many_bits() -> tensor<1xf32> {
  %k = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-error @below {{asks for 17 bits; parameters can be selected for 1 to 16}}
  %w = tpc.quantize %k as "p" weight "kernel_attr" config(#wide) : tensor<1xf32>
  return %w : tensor<1xf32>
}

// -----

#sym = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
func.func @not_a_constant(%arg0: tensor<1xf32>) -> tensor<1xf32> {
  // expected-error @below {{quantizes a weight that is not a constant f32 tensor; fold constants first}}
  %w = tpc.quantize %arg0 as "p" weight "kernel_attr" config(#sym) : tensor<1xf32>
  return %w : tensor<1xf32>
}

// -----

#sym = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
func.func @not_a_number() -> tensor<2xf32> {
  %k = "tosa.const"() <{values = dense<[1.0, 0x7FC00000]> : tensor<2xf32>}> : () -> tensor<2xf32>
  // expected-error @below {{quantizes a weight with the value nan at element 1}}
  %w = tpc.quantize %k as "p" weight "kernel_attr" config(#sym) : tensor<2xf32>
  return %w : tensor<2xf32>
}

// -----

// A list of no thresholds could not be read back.
#per_channel = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
func.func @no_channels() -> tensor<0x4xf32> {
  %k = arith.constant dense<> : tensor<0x4xf32>
  // expected-error @below {{quantizes per channel a weight of type 'tensor<0x4xf32>', which has no channels; leave it in float with a rule 'name "p" weights=float' of an overrides file}}
  %w = tpc.quantize %k as "p" weight "kernel_attr" axes [0] config(#per_channel) : tensor<0x4xf32>
  return %w : tensor<0x4xf32>
}
