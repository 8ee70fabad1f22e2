// Channels are followed wherever an op puts them: channel 0 of the first layer is multiplied by 0.428215, what reads it
// by 2.33527.
// RUN: mct-opt %s --mct-equalize-channels="only-if-better=false" --split-input-file | FileCheck %s

// A flattening of channels first: four elements of channel 0, then four of channel 1.
// CHECK-LABEL: func.func @flattened_channels_first
// CHECK:         dense<{{.*}}2.3352{{[0-9]*}}], [2.3352{{[0-9]*}}], [2.3352{{[0-9]*}}], [2.3352{{[0-9]*}}], [1.000000e+00], [1.000000e+00], [1.000000e+00], [1.000000e+00]{{.*}}> : tensor<1x8x1xf32>
func.func @flattened_channels_first(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x2x2x2xf32>
  %3 = tosa.transpose %2 {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %4 = tosa.reshape %3, %shape : (tensor<1x2x2x2xf32>, !tosa.shape<3>) -> tensor<1x1x8xf32>
  %m = "tosa.const"() <{values = dense<1.0> : tensor<1x8x1xf32>}> : () -> tensor<1x8x1xf32>
  %5 = tosa.matmul %4, %m, %zero, %zero : (tensor<1x1x8xf32>, tensor<1x8x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  return %5 : tensor<1x1x1xf32>
}

// -----

// CHECK-LABEL: func.func @reversed
// CHECK:         dense<{{.*}}1.000000e+00, 7.0058{{[0-9]*}}{{.*}}> : tensor<1x1x1x2xf32>
func.func @reversed(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x2x2x2xf32>
  %3 = tosa.reverse %2 {axis = 3 : i32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %4 = tosa.conv2d %3, %kernel2, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %4 : tensor<1x2x2x1xf32>
}

// -----

// Channel 1 is dropped.
// CHECK-LABEL: func.func @sliced
// CHECK:         dense<7.0058{{[0-9]*}}> : tensor<1x1x1x1xf32>
func.func @sliced(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x2x2x2xf32>
  %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 2, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %3 = tosa.slice %2, %start, %size : (tensor<1x2x2x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x2x1xf32>
  %kernel2 = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %4 = tosa.conv2d %3, %kernel2, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %4 : tensor<1x2x2x1xf32>
}

// -----

// A border of ones would have to be scaled with each channel.
// CHECK-LABEL: func.func @padded_with_ones
// CHECK-DAG:     dense<{{.*}}1.000000e+00, 3.000000e+00{{.*}}> : tensor<1x1x1x2xf32>
func.func @padded_with_ones(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x3x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x2x2x2xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %padding = tosa.const_shape {values = dense<[0, 0, 1, 0, 0, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %3 = tosa.pad %2, %padding, %one : (tensor<1x2x2x2xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x3x2x2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %4 = tosa.conv2d %3, %kernel2, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2x1xf32>
  return %4 : tensor<1x3x2x1xf32>
}
