// RUN: mct-opt %s --split-input-file --mct-select-weight-parameters="error-method=hmse" --verify-diagnostics | FileCheck %s
// RUN: mct-opt %s --split-input-file --mct-select-weight-parameters="error-method=mse" | FileCheck %s --check-prefix=MSE

// The second input channel is always 0, so only 0.6 counts: power of two with 2 bits, errors .36 at 16, 8 and 4, .16 at
// 2, .01 at 1 and .1225 at 0.5. For mse the 8.0 must not be clipped.
// CHECK-LABEL: func.func @dead_channel
// CHECK:         weight "kernel_attr" {{.*}} parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 2>)
// MSE-LABEL:   func.func @dead_channel
// MSE:           weight "kernel_attr" {{.*}} parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 2>)
#pot = #tpc.attr_quant_config<method = power_of_two, bits = 2, enabled = true>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #pot>
func.func @dead_channel(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %k = "tosa.const"() <{values = dense<[[[[0.6, 8.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "x" activation config(#act8)
    statistics(#tpc.statistics<count = 32, zeros = 16, min = 0.0, max = 1.0, channel_mean = dense<[0.5, 0.0]> : tensor<2xf64>, channel_mean_square = dense<[0.4, 0.0]> : tensor<2xf64>, channel_min = dense<0.0> : tensor<2xf32>, channel_max = dense<[1.0, 0.0]> : tensor<2xf32>>) : tensor<1x4x4x2xf32>
  %w = tpc.quantize %k as "conv" weight "kernel_attr" config(#pot) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----

// Another weight than a kernel takes mse.
// CHECK-LABEL: func.func @constant
// CHECK:         parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 2>)
#pot = #tpc.attr_quant_config<method = power_of_two, bits = 2, enabled = true>
func.func @constant() -> tensor<2xf32> {
  %k = "tosa.const"() <{values = dense<[0.6, 8.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %w = tpc.quantize %k as "add" weight "pos_attr" config(#pot) : tensor<2xf32>
  return %w : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @no_point_before
// CHECK:         parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 2>)
#pot = #tpc.attr_quant_config<method = power_of_two, bits = 2, enabled = true>
func.func @no_point_before(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %k = "tosa.const"() <{values = dense<[[[[0.6, 8.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-warning @below {{takes mse instead of hmse}}
  %w = tpc.quantize %k as "conv" weight "kernel_attr" config(#pot) : tensor<1x1x1x2xf32>
  // expected-note @below {{the op reads no activation point whose last axis has its input channels}}
  %0 = tosa.conv2d %arg0, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}
