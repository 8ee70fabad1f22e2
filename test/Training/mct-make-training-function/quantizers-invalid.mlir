// RUN: mct-opt %s --split-input-file --mct-make-training-function --verify-diagnostics

// What kinds of trainable quantizers cannot take over.

func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  // expected-error @below {{has no thresholds to learn from; select parameters of a symmetric grid first}}
  %0 = tpc.quantize %x as "x" activation
         parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0], table = [-8, 0, 8], bits = 2, is_signed = true, table_bits = 8>)
         trainable(#tpc.learned_threshold<bits = 4>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  // expected-error @below {{has no range to learn from; select parameters of evenly spaced levels first}}
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.learned_range<bits = 4>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  // expected-error @below {{has no range to learn from; select parameters of evenly spaced levels first}}
  %0 = tpc.quantize %x as "x" activation trainable(#tpc.observed_range<observer = fixed, bits = 4>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  // expected-error @below {{cannot learn where to round: only constant weights are rounded once and for all}}
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.symmetric<threshold = [1.0], bits = 4>) trainable(#tpc.soft_rounding<>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  // expected-error @below {{cannot learn where to round: only constant weights are rounded once and for all}}
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.symmetric<threshold = [1.0], bits = 4>) trainable(#tpc.perturbed_rounding<>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %k = "tosa.const"() <{values = dense<0.5> : tensor<1x8xf32>}> : () -> tensor<1x8xf32>
  // expected-error @below {{has no levels to round to; select parameters of evenly spaced levels first}}
  %0 = tpc.quantize %k as "k" weight "kernel_attr" trainable(#tpc.soft_rounding<>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %k = "tosa.const"() <{values = dense<0.5> : tensor<1x8xf32>}> : () -> tensor<1x8xf32>
  // expected-error @below {{cannot learn a scale: that of #tpc.power_of_two<threshold = [1.000000e+00], bits = 4> is not free; train it without 'learns_scale'}}
  %0 = tpc.quantize %k as "k" weight "kernel_attr" parameters(#tpc.power_of_two<threshold = [1.0], bits = 4>) trainable(#tpc.soft_rounding<learns_scale = true>) : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
