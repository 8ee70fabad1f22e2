// RUN: mct-opt %s --mct-equalize-channels="remarks=true only-if-better=false" --split-input-file --verify-diagnostics

// Nothing is known of the channels.
func.func @no_batch_norm_and_no_calibration(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{is not equalized: neither a folded batch norm nor calibration tells the deviation of its channels; calibrate with channel-statistics=true}}
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

// There is no point.
func.func @relu_that_is_not_quantized(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{is not equalized: its ReLU is not quantized}}
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %1, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

// MCT equalizes it and does not scale the bound.
func.func @relu_with_a_bound(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{is not equalized: the ReLU behind it has one bound for all channels; per-channel-bounds=true gives each its own, where the target computes a minimum with a constant}}
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  // expected-note@+1 {{this op}}
  %1 = tosa.clamp %0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

func.func @two_readers(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{is not equalized: no layer reads its ReLU, and it alone}}
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %4 = tosa.add %3, %2 : (tensor<1x4x4x1xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %4 : tensor<1x4x4x2xf32>
}

// -----

func.func @channels_that_deviate_little(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[1.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{is not equalized: no channel has a deviation above 1}}
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

// Channels become rows.
func.func @channels_that_move(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x2x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k3 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x4xf32>}> : () -> tensor<1x1x1x4xf32>
  // expected-remark@+1 {{is not equalized: its channels are not those that the next layer reads}}
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x4x4x2xf32>
  %3 = tosa.transpose %2 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  // expected-note@+1 {{this op}}
  %4 = tosa.conv2d %3, %k3, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<1x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4x1xf32>
  return %4 : tensor<1x2x4x1xf32>
}

// -----

func.func @pooling_before_the_relu(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{is not equalized: its output is pooled or padded before the ReLU}}
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  // expected-note@+1 {{this op}}
  %p = tosa.max_pool2d %0 {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %p {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

func.func @bias_from_outside(%arg0: tensor<1x4x4x1xf32>, %arg1: tensor<2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-remark@+1 {{is not equalized: its bias is not constant along its channels}}
  %0 = tosa.conv2d %arg0, %kernel, %arg1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation
    statistics(#tpc.statistics<count = 32, zeros = 0, min = 0.0, max = 9.0, channel_mean = dense<1.0> : tensor<2xf64>, channel_mean_square = dense<[5.0, 1.25]> : tensor<2xf64>, channel_min = dense<0.0> : tensor<2xf32>, channel_max = dense<9.0> : tensor<2xf32>>) : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

// Statistics that say the same of every channel are no list of them; what nobody can compute is no layer, and has no remark.
func.func @more_channels_than_memory(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<2.0> : tensor<1099511627776x1x1x1xf32>}> : () -> tensor<1099511627776x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<2.0> : tensor<1099511627776xf32>}> : () -> tensor<1099511627776xf32>
  %kernel2 = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x1099511627776xf32>}> : () -> tensor<1x1x1x1099511627776xf32>
  %0 = tosa.conv2d %arg0, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1099511627776x1x1x1xf32>, tensor<1099511627776xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1099511627776xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x1099511627776xf32>) -> tensor<1x4x4x1099511627776xf32>
  %2 = tpc.quantize %1 as "relu" activation
    statistics(#tpc.statistics<count = 32, zeros = 0, min = 0.0, max = 9.0, channel_mean = dense<1.0> : tensor<1099511627776xf64>, channel_mean_square = dense<1.25> : tensor<1099511627776xf64>, channel_min = dense<0.0> : tensor<1099511627776xf32>, channel_max = dense<9.0> : tensor<1099511627776xf32>>) : tensor<1x4x4x1099511627776xf32>
  %3 = tosa.conv2d %2, %kernel2, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1099511627776xf32>, tensor<1x1x1x1099511627776xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}
