// RUN: mct-opt %s --mct-equalize-channels --split-input-file | FileCheck %s
// RUN: mct-opt %s --mct-equalize-channels="remarks=true" --split-input-file --verify-diagnostics

#sym = #tpc.attr_quant_config<method = symmetric, bits = 2, per_channel = true, enabled = true>
// Factors 1/2 and 1, mean squares 5 and 1.25. The levels of 2 bits are -2, -1, 0 and 1 steps: [0.5, 1] becomes
// [0.75, 0.75], with an error of (5 + 1.25) / 16; [1, 1] has none.
// CHECK-LABEL: func.func @error_of_the_second_kernel_falls
// CHECK:         as "relu_scaled" activation
func.func @error_of_the_second_kernel_falls(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[0.5, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] config(#sym) : tensor<2x1x1x1xf32>
  %w2 = tpc.quantize %kernel2 as "conv2" weight "kernel_attr" axes [0] config(#sym) : tensor<1x1x1x2xf32>
  // expected-remark@+1 {{is equalized with the layer behind it; error of the kernels: 0.391 before, 0 after}}
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation
    statistics(#tpc.statistics<count = 32, zeros = 0, min = 0.0, max = 9.0, channel_mean = dense<1.0> : tensor<2xf64>, channel_mean_square = dense<[5.0, 1.25]> : tensor<2xf64>, channel_min = dense<0.0> : tensor<2xf32>, channel_max = dense<9.0> : tensor<2xf32>>) : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %w2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

#sym = #tpc.attr_quant_config<method = symmetric, bits = 2, per_channel = true, enabled = true>
// [1, 1] would become [2, 1], quantized [1.5, 1.5]: 0.25 * 5 / 4 + 0.25 * 1.25.
// CHECK-LABEL: func.func @error_of_the_second_kernel_would_rise
// CHECK:         as "relu" activation
func.func @error_of_the_second_kernel_would_rise(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] config(#sym) : tensor<2x1x1x1xf32>
  %w2 = tpc.quantize %kernel2 as "conv2" weight "kernel_attr" axes [0] config(#sym) : tensor<1x1x1x2xf32>
  // expected-remark@+1 {{is not equalized: the error of the kernels would not fall: 0 before, 0.625 after}}
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation
    statistics(#tpc.statistics<count = 32, zeros = 0, min = 0.0, max = 9.0, channel_mean = dense<1.0> : tensor<2xf64>, channel_mean_square = dense<[5.0, 1.25]> : tensor<2xf64>, channel_min = dense<0.0> : tensor<2xf32>, channel_max = dense<9.0> : tensor<2xf32>>) : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %w2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

#pot = #tpc.attr_quant_config<method = power_of_two, bits = 2, per_channel = true, enabled = true>
// Factors 1/3 and 1. With steps that are powers of two 0.75 becomes 0.5 or 1: 0.0625, times the mean square 4 of the
// input and the square 1 of the weight after it. 0.25 is a level.
// CHECK-LABEL: func.func @error_of_the_first_kernel_falls
// CHECK:         as "relu_scaled" activation
func.func @error_of_the_first_kernel_falls(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[0.75]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] config(#pot) : tensor<2x1x1x1xf32>
  %in = tpc.quantize %arg0 as "in" activation
    statistics(#tpc.statistics<count = 32, zeros = 0, min = 0.0, max = 9.0, channel_mean = dense<1.0> : tensor<1xf64>, channel_mean_square = dense<4.0> : tensor<1xf64>, channel_min = dense<0.0> : tensor<1xf32>, channel_max = dense<9.0> : tensor<1xf32>>) : tensor<1x4x4x1xf32>
  // expected-remark@+1 {{is equalized with the layer behind it; error of the kernels: 0.25 before, 0 after}}
  %0 = tosa.conv2d %in, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation
    statistics(#tpc.statistics<count = 32, zeros = 0, min = 0.0, max = 9.0, channel_mean = dense<1.0> : tensor<2xf64>, channel_mean_square = dense<[10.0, 1.25]> : tensor<2xf64>, channel_min = dense<0.0> : tensor<2xf32>, channel_max = dense<9.0> : tensor<2xf32>>) : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

#pot = #tpc.attr_quant_config<method = power_of_two, bits = 2, per_channel = true, enabled = true>
// CHECK-LABEL: func.func @error_of_the_first_kernel_is_unknown
// CHECK:         as "relu" activation
func.func @error_of_the_first_kernel_is_unknown(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[0.5, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] config(#pot) : tensor<2x1x1x1xf32>
  %w2 = tpc.quantize %kernel2 as "conv2" weight "kernel_attr" axes [0] config(#pot) : tensor<1x1x1x2xf32>
  // expected-remark@+1 {{is not equalized: the error of its kernel depends on the mean square of its input; calibrate with channel-statistics=true}}
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation
    statistics(#tpc.statistics<count = 32, zeros = 0, min = 0.0, max = 9.0, channel_mean = dense<1.0> : tensor<2xf64>, channel_mean_square = dense<[5.0, 1.25]> : tensor<2xf64>, channel_min = dense<0.0> : tensor<2xf32>, channel_max = dense<9.0> : tensor<2xf32>>) : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %w2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

// CHECK-LABEL: func.func @kernels_that_stay_float
// CHECK:         as "relu" activation
func.func @kernels_that_stay_float(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[0.5, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{is not equalized: none of the two kernels is quantized}}
  %0 = tosa.conv2d %arg0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation
    statistics(#tpc.statistics<count = 32, zeros = 0, min = 0.0, max = 9.0, channel_mean = dense<1.0> : tensor<2xf64>, channel_mean_square = dense<[5.0, 1.25]> : tensor<2xf64>, channel_min = dense<0.0> : tensor<2xf32>, channel_max = dense<9.0> : tensor<2xf32>>) : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

#lut = #tpc.attr_quant_config<method = lut_sym_quantizer, bits = 4, per_channel = true, enabled = true>
// CHECK-LABEL: func.func @table_of_values
// CHECK:         as "relu" activation
func.func @table_of_values(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[0.5, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] config(#lut) : tensor<2x1x1x1xf32>
  // expected-remark@+1 {{is not equalized: no error can be estimated for the quantization method of a kernel}}
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation
    statistics(#tpc.statistics<count = 32, zeros = 0, min = 0.0, max = 9.0, channel_mean = dense<1.0> : tensor<2xf64>, channel_mean_square = dense<[5.0, 1.25]> : tensor<2xf64>, channel_min = dense<0.0> : tensor<2xf32>, channel_max = dense<9.0> : tensor<2xf32>>) : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

#wide = #tpc.attr_quant_config<method = symmetric, bits = 32, per_channel = true, enabled = true>
// CHECK-LABEL: func.func @width_beyond_the_searches
// CHECK:         as "relu" activation
func.func @width_beyond_the_searches(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[0.5, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] config(#wide) : tensor<2x1x1x1xf32>
  // expected-remark@+1 {{is not equalized: no error can be estimated for the width of a kernel}}
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation
    statistics(#tpc.statistics<count = 32, zeros = 0, min = 0.0, max = 9.0, channel_mean = dense<1.0> : tensor<2xf64>, channel_mean_square = dense<[5.0, 1.25]> : tensor<2xf64>, channel_min = dense<0.0> : tensor<2xf32>, channel_max = dense<9.0> : tensor<2xf32>>) : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}
