// RUN: mct-opt %s --split-input-file --mct-select-weight-parameters="error-method=hmse" --verify-diagnostics

#pot = #tpc.attr_quant_config<method = power_of_two, bits = 2, enabled = true>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #pot>
func.func @no_channel_statistics(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %k = "tosa.const"() <{values = dense<[[[[0.6, 8.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-note @below {{this point has no channel statistics; run mct-calibrate with channel-statistics=true before}}
  %x = tpc.quantize %arg0 as "x" activation config(#act8)
    statistics(#tpc.statistics<count = 32, zeros = 16, min = 0.0, max = 1.0>) : tensor<1x4x4x2xf32>
  // expected-error @below {{needs the mean square of its op's input channels for hmse}}
  %w = tpc.quantize %k as "conv" weight "kernel_attr" config(#pot) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----

#pot = #tpc.attr_quant_config<method = power_of_two, bits = 2, enabled = true>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #pot>
func.func @other_channels(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %k = "tosa.const"() <{values = dense<[[[[0.6, 8.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation config(#act8)
    statistics(#tpc.statistics<count = 32, zeros = 16, min = 0.0, max = 1.0, channel_mean = dense<[0.5]> : tensor<1xf64>, channel_mean_square = dense<[0.4]> : tensor<1xf64>, channel_min = dense<0.0> : tensor<1xf32>, channel_max = dense<[1.0]> : tensor<1xf32>>) : tensor<1x4x4x2xf32>
  // expected-error @below {{has an op with 2 input channels, whose statistics are about 1}}
  %w = tpc.quantize %k as "conv" weight "kernel_attr" config(#pot) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}
