// RUN: mct-opt %s --mct-correct-activation-bias=remarks=true --split-input-file --verify-diagnostics

// An offset that is infinite could not be read back.
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<0x7F800000> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "in" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 2.5, histogram = #tpc.histogram<step_exponent = 0, first = 0, counts = dense<[1, 1, 2]> : tensor<3xi64>>>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 1, is_signed = false>) : tensor<1x1x1x1xf32>
  // expected-error @below {{cannot be corrected: channel 0 of its layer would get the bias INF and the scale 1.000000e+00}}
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<1x1x1x1xf32>
  // expected-note @below {{check this layer's kernel, bias and statistics for numbers that are not finite}}
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}

// -----

// The counts of a huge splat are not read: the point has none.
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "in" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 2.5, histogram = #tpc.histogram<step_exponent = 0, first = 0, counts = dense<1> : tensor<4000000000xi64>>>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 1, is_signed = false>) : tensor<1x1x1x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<1x1x1x1xf32>
  // expected-remark @below {{'tosa.conv2d' op is not corrected: the point of its input has no histogram}}
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
