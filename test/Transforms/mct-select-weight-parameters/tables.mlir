// One table for the tensor, a threshold for each channel; the error method is not read.
// RUN: mct-opt %s --mct-select-weight-parameters | FileCheck %s
// RUN: mct-opt %s --mct-select-weight-parameters="error-method=no-clipping threads=3" | FileCheck %s

#pot = #tpc.attr_quant_config<method = lut_pot_quantizer, bits = 2, per_channel = true, enabled = true, lut_values_bits = 8>
#sym = #tpc.attr_quant_config<method = lut_sym_quantizer, bits = 2, enabled = true>

// The second channel is four times the first: -1, -1/2, 0 and 1/4 of the threshold.
// CHECK-LABEL: func.func @power_of_two
// CHECK:         parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [1.000000e+00, 4.000000e+00], table = [-128, -64, 0, 32], bits = 2>)
func.func @power_of_two() -> tensor<4x2xf32> {
  %k = "tosa.const"() <{values = dense<[[-1.0, -4.0], [-0.5, -2.0], [0.0, 0.0], [0.25, 1.0]]> : tensor<4x2xf32>}> : () -> tensor<4x2xf32>
  %w = tpc.quantize %k as "p" weight "kernel_attr" axes [1] config(#pot) : tensor<4x2xf32>
  return %w : tensor<4x2xf32>
}

// 127 / 128 of the threshold 128 / 127; zero is always an entry, and no third one gains anything.
// CHECK-LABEL: func.func @symmetric
// CHECK:         parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0078740157480315], table = [0, 127], bits = 2>)
func.func @symmetric() -> tensor<3xf32> {
  %k = "tosa.const"() <{values = dense<1.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %w = tpc.quantize %k as "s" weight "kernel_attr" config(#sym) : tensor<3xf32>
  return %w : tensor<3xf32>
}

// No axis is known: columns fit one table exactly, rows would need five levels.
// CHECK-LABEL: func.func @positional
// CHECK:         weight "pos_attr" axes [1]
// CHECK-SAME:      parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [1.000000e+00, 4.000000e+00], table = [-128, -64, 0, 32], bits = 2>)
func.func @positional() -> tensor<4x2xf32> {
  %k = "tosa.const"() <{values = dense<[[-1.0, -4.0], [-0.5, -2.0], [0.0, 0.0], [0.25, 1.0]]> : tensor<4x2xf32>}> : () -> tensor<4x2xf32>
  %w = tpc.quantize %k as "c" weight "pos_attr" config(#pot) : tensor<4x2xf32>
  return %w : tensor<4x2xf32>
}
