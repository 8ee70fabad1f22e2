// RUN: mct-opt %s --mct-shift-softmax --split-input-file | FileCheck %s
// RUN: mct-opt %s --mct-shift-softmax="remarks=true" --split-input-file --verify-diagnostics

// CHECK-LABEL: func.func @layer_without_bias
// CHECK-DAG:     %[[BIAS:.*]] = "tosa.const"() <{values = dense<-2.000000e+00> : tensor<1x1x2xf32>}>
// CHECK-DAG:     %[[P:.*]] = tosa.matmul
// CHECK-DAG:     %[[X:.*]] = tosa.add %[[P]], %[[BIAS]]
// CHECK-DAG:     tpc.quantize %[[X]] as "dense_shifted"
func.func @layer_without_bias(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %bias = "tosa.const"() <{values = dense<[[[1.0, -1.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-remark@+1 {{is shifted before its softmax by -2.000000e+00}}
  %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %0 as "dense" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 5.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
  %m = tosa.reduce_max %2 {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %d = tosa.sub %2, %m : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %e = tosa.exp %d : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %s = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @convolution_on_one_pixel
// CHECK:         dense<[-1.000000e+00, -3.000000e+00]> : tensor<2xf32>
// CHECK:         as "dense_shifted" activation
func.func @convolution_on_one_pixel(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %bias = "tosa.const"() <{values = dense<[[[1.0, -1.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<[1.0, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  // expected-remark@+1 {{is shifted before its softmax by -2.000000e+00}}
  %0 = tosa.conv2d %arg0, %k, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %sh = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %1 = tosa.reshape %0, %sh : (tensor<1x1x1x2xf32>, !tosa.shape<3>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %1 as "dense" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 5.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
  %m = tosa.reduce_max %2 {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %d = tosa.sub %2, %m : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %e = tosa.exp %d : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %s = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @range_that_is_symmetric
// CHECK:         as "dense" activation {{.*}} parameters(#tpc.power_of_two<threshold = [8.000000e+00]
func.func @range_that_is_symmetric(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %bias = "tosa.const"() <{values = dense<[[[1.0, -1.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.add %0, %bias : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %1 as "dense" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 1.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
  %m = tosa.reduce_max %2 {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %d = tosa.sub %2, %m : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %e = tosa.exp %d : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %s = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @reader_beside_the_softmax
// CHECK:         as "dense" activation {{.*}} parameters(
func.func @reader_beside_the_softmax(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %bias = "tosa.const"() <{values = dense<[[[1.0, -1.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.add %0, %bias : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %1 as "dense" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 5.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
  %m = tosa.reduce_max %2 {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %d = tosa.sub %2, %m : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %e = tosa.exp %d : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %s = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  %z = tosa.add %y, %2 : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  return %z : tensor<1x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @no_softmax
// CHECK:         as "dense" activation {{.*}} parameters(
func.func @no_softmax(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %bias = "tosa.const"() <{values = dense<[[[1.0, -1.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.add %0, %bias : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %1 as "dense" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 5.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
  %y = tosa.exp %2 : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @no_statistics
// CHECK:         as "dense" activation : tensor<1x1x2xf32>
func.func @no_statistics(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %bias = "tosa.const"() <{values = dense<[[[1.0, -1.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-remark@+1 {{is not shifted before its softmax: no statistics tell the range of its output; run mct-calibrate before}}
  %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.add %0, %bias : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %1 as "dense" activation : tensor<1x1x2xf32>
  %m = tosa.reduce_max %2 {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %d = tosa.sub %2, %m : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %e = tosa.exp %d : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %s = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @bias_from_outside
// CHECK:         as "dense" activation {{.*}} parameters(
func.func @bias_from_outside(%arg0: tensor<1x1x1x2xf32>, %arg1: tensor<2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %bias = "tosa.const"() <{values = dense<[[[1.0, -1.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  // expected-remark@+1 {{is not shifted before its softmax: its bias is not constant along its channels}}
  %0 = tosa.conv2d %arg0, %k, %arg1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %sh = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %1 = tosa.reshape %0, %sh : (tensor<1x1x1x2xf32>, !tosa.shape<3>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %1 as "dense" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 5.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
  %m = tosa.reduce_max %2 {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %d = tosa.sub %2, %m : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %e = tosa.exp %d : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %s = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}

// -----

// CHECK-LABEL: func.func @linalg_softmax
// CHECK-DAG:     "tosa.const"() <{values = dense<{{.*}}-1.000000e+00, -3.000000e+00{{.*}}> : tensor<1x1x2xf32>}>
// CHECK:         as "dense_shifted" activation
func.func @linalg_softmax(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %bias = "tosa.const"() <{values = dense<[[[1.0, -1.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-remark@+1 {{is shifted before its softmax by -2.000000e+00}}
  %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.add %0, %bias : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %1 as "dense" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 5.0>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
  %init = tensor.empty() : tensor<1x1x2xf32>
  %y = linalg.softmax dimension(2) ins(%2 : tensor<1x1x2xf32>) outs(%init : tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}

// -----

// Every value was 3; now it is 0.
// CHECK-LABEL: func.func @histogram_and_channels
// CHECK:         as "dense_shifted" activation statistics(#tpc.statistics<count = 4, zeros = 4, min = 0.000000e+00, max = 0.000000e+00, channel_mean = dense<0.000000e+00> : tensor<2xf64>, channel_mean_square = dense<0.000000e+00> : tensor<2xf64>, channel_min = dense<0.000000e+00> : tensor<2xf32>, channel_max = dense<0.000000e+00> : tensor<2xf32>>) : tensor<1x1x2xf32>
func.func @histogram_and_channels(%arg0: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %bias = "tosa.const"() <{values = dense<[[[1.0, -1.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-remark@+1 {{is shifted before its softmax by -3.000000e+00}}
  %0 = tosa.matmul %arg0, %kernel, %zero, %zero : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.add %0, %bias : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %2 = tpc.quantize %1 as "dense" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 3.0, max = 3.0,
      histogram = #tpc.histogram<step_exponent = -10, first = 3072, counts = dense<4> : tensor<1xi64>>,
      channel_mean = dense<3.0> : tensor<2xf64>, channel_mean_square = dense<9.0> : tensor<2xf64>, channel_min = dense<3.0> : tensor<2xf32>, channel_max = dense<3.0> : tensor<2xf32>>)
    parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x1x2xf32>
  %m = tosa.reduce_max %2 {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %d = tosa.sub %2, %m : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %e = tosa.exp %d : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %s = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %r = tosa.reciprocal %s : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<1x1x2xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
}
