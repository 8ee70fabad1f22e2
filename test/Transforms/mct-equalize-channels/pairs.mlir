// RUN: mct-opt %s --mct-equalize-channels="only-if-better=false" --split-input-file | FileCheck %s

// Deviations that calibration saw: sqrt(5 - 1) = 2 and sqrt(1.25 - 1) = 0.5. What was selected for the values of before
// is gone.
// CHECK-LABEL: func.func @deviation_from_calibration
// CHECK-DAG:     %[[K1:.*]] = "tosa.const"() <{values = dense<{{.*}}5.000000e-01{{.*}}2.000000e+00{{.*}}> : tensor<2x1x1x1xf32>}>
// CHECK-DAG:     %[[B1:.*]] = "tosa.const"() <{values = dense<[5.000000e-01, 2.000000e+00]> : tensor<2xf32>}>
// CHECK-DAG:     %[[K2:.*]] = "tosa.const"() <{values = dense<{{.*}}2.000000e+00, 3.000000e+00{{.*}}> : tensor<1x1x1x2xf32>}>
// CHECK-DAG:     %[[W1:.*]] = tpc.quantize %[[K1]] as "conv" weight "kernel_attr" axes [0] : tensor<2x1x1x1xf32>
// CHECK-DAG:     %[[W2:.*]] = tpc.quantize %[[K2]] as "conv2" weight "kernel_attr" axes [0] : tensor<1x1x1x2xf32>
// CHECK-DAG:     %[[X:.*]] = tosa.conv2d %arg0, %[[W1]], %[[B1]]
// CHECK-DAG:     tpc.quantize %{{.*}} as "relu_scaled" activation range(#tpc.range<0.000000e+00, ?>) : tensor<1x4x4x2xf32>
// CHECK-DAG:     tosa.conv2d %{{.*}}, %[[W2]]
func.func @deviation_from_calibration(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 2.0], bits = 8>) : tensor<2x1x1x1xf32>
  %w2 = tpc.quantize %kernel2 as "conv2" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [3.0], bits = 8>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation range(#tpc.range<0.0, ?>)
    statistics(#tpc.statistics<count = 32, zeros = 0, min = 0.0, max = 9.0, channel_mean = dense<1.0> : tensor<2xf64>, channel_mean_square = dense<[5.0, 1.25]> : tensor<2xf64>, channel_min = dense<0.0> : tensor<2xf32>, channel_max = dense<9.0> : tensor<2xf32>>)
    parameters(#tpc.power_of_two<threshold = [16.0], bits = 8, is_signed = false>) : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %w2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

// mu = 2, sigma = 2 gives s = 0.576932; beta = 0, sigma = 1.7 stays.
// CHECK-LABEL: func.func @mean_that_is_not_zero
// CHECK-DAG:     "tosa.const"() <{values = dense<{{.*}}5.76932{{[0-9]*}}e-01{{.*}}2.000000e+00{{.*}}> : tensor<2x1x1x1xf32>}>
// CHECK-DAG:     "tosa.const"() <{values = dense<{{.*}}1.73330{{[0-9]*}}, 3.000000e+00{{.*}}> : tensor<1x1x1x2xf32>}>
func.func @mean_that_is_not_zero(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<[2.0, 0.0]> : tensor<2xf32>) deviation(dense<[2.0, 1.7]> : tensor<2xf32>) : tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x4x4x2xf32>
  %3 = tosa.conv2d %2, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %3 : tensor<1x4x4x1xf32>
}

// -----

// Through pooling, zeros and a flattening, after which the channels repeat: the rows of the product that read channel 0
// are divided by 0.428215.
// CHECK-LABEL: func.func @ops_in_between
// CHECK-DAG:     dense<{{.*}}0.42821{{[0-9]*}}{{.*}}2.000000e+00{{.*}}> : tensor<2x1x1x1xf32>
// CHECK-DAG:     dense<{{.*}}2.3352{{[0-9]*}}], [1.000000e+00], [2.3352{{[0-9]*}}], [1.000000e+00], [2.3352{{[0-9]*}}], [1.000000e+00], [2.3352{{[0-9]*}}], [1.000000e+00]{{.*}}> : tensor<1x8x1xf32>
func.func @ops_in_between(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %m = "tosa.const"() <{values = dense<1.0> : tensor<1x8x1xf32>}> : () -> tensor<1x8x1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x4x4x2xf32>
  %3 = tosa.avg_pool2d %2, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %4 = tpc.quantize %3 as "pool" activation : tensor<1x2x2x2xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %5 = tosa.reshape %4, %shape : (tensor<1x2x2x2xf32>, !tosa.shape<3>) -> tensor<1x1x8xf32>
  %6 = tosa.matmul %5, %m, %zero, %zero : (tensor<1x1x8xf32>, tensor<1x8x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  return %6 : tensor<1x1x1xf32>
}

// -----

// A depthwise kernel [KH, KW, C, M]: input channel 0 has the first two elements.
// CHECK-LABEL: func.func @depthwise_second_layer
// CHECK-DAG:     dense<{{.*}}2.3352{{[0-9]*}}, 2.3352{{[0-9]*}}], [1.000000e+00, 1.000000e+00]{{.*}}> : tensor<1x1x2x2xf32>
func.func @depthwise_second_layer(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0, 2.0]> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>) deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<1x1x2x2xf32>}> : () -> tensor<1x1x2x2xf32>
  %b2 = "tosa.const"() <{values = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x4x4x2xf32>
  %3 = tosa.depthwise_conv2d %2, %k2, %b2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x2x2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x4xf32>
  return %3 : tensor<1x4x4x4xf32>
}
