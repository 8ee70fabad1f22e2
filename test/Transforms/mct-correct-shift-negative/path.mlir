// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-correct-shift-negative="ratio=inf remarks=true" --mlir-elide-resource-strings-if-larger=64 2>/dev/null | FileCheck %s

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
#stats_pool = #tpc.statistics<count = 3649, zeros = 0, min = -0.125, max = 7.0, histogram = #tpc.histogram<step_exponent = -9, first = -64, counts = dense<1> : tensor<3649xi64>>>
#stats_sum = #tpc.statistics<count = 7169, zeros = 0, min = -7.0, max = 7.0, histogram = #tpc.histogram<step_exponent = -9, first = -3584, counts = dense<1> : tensor<7169xi64>>>

// The shift is 0.25 everywhere: four unsigned steps of 16 / 256. Kernels are ones, two of them read.

// CHECK-LABEL: func.func @max_pool
// CHECK:         tosa.max_pool2d
// CHECK:         "tosa.const"() <{values = dense<-5.000000e-01>
// CHECK:         tosa.conv2d
func.func @max_pool(%x: tensor<1x4x4x2xf32>) -> tensor<1x5x5x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %p = tosa.max_pool2d %q {kernel = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>) -> tensor<1x5x5x2xf32>
  %c = tosa.conv2d %p, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x5x5x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x1xf32>
  return %c : tensor<1x5x5x1xf32>
}

// An average of TOSA divides by the number of elements that are there: its padding does not count. The minimum of the
// point after the pool, -0.125, is lifted above zero too.
// CHECK-LABEL: func.func @average_pool
// CHECK:         %[[POOL:.*]] = tosa.avg_pool2d
// CHECK-NEXT:    tpc.quantize %[[POOL]] as "pool_shifted" {{.*}} min = 1.250000e-01, max = 7.250000e+00, {{.*}} parameters(#tpc.power_of_two<threshold = [8.000000e+00], bits = 8, is_signed = false>)
// CHECK-NEXT:    "tosa.const"() <{values = dense<-5.000000e-01>
// CHECK-NEXT:    tosa.conv2d
func.func @average_pool(%x: tensor<1x4x4x2xf32>) -> tensor<1x5x5x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %p = tosa.avg_pool2d %q, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x2xf32>
  %r = tpc.quantize %p as "pool" activation config(#act8)
    statistics(#stats_pool) parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x5x5x2xf32>
  %c = tosa.conv2d %r, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x5x5x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x1xf32>
  return %c : tensor<1x5x5x1xf32>
}

// Case 31: the addition stands before the reshape. The product has no bias yet.
// CHECK-LABEL: func.func @reshape_to_dense
// CHECK:         tosa.add
// CHECK-NEXT:    tpc.quantize
// CHECK-NEXT:    tosa.reshape
// CHECK-NEXT:    tosa.transpose
// CHECK-NEXT:    %[[PRODUCT:.*]] = tosa.matmul
// CHECK-NEXT:    %[[BIAS:.*]] = "tosa.const"() <{values = dense<{{\[\[\[}}-8.000000e+00, -1.600000e+01{{\]\]\]}}> : tensor<1x1x2xf32>}>
// CHECK-NEXT:    tosa.add %[[PRODUCT]], %[[BIAS]]
func.func @reshape_to_dense(%x: tensor<1x4x4x2xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]]> : tensor<1x32x2xf32>}> : () -> tensor<1x32x2xf32>
  %rows = tosa.const_shape {values = dense<[1, 32, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %r = tosa.reshape %q, %rows : (tensor<1x4x4x2xf32>, !tosa.shape<3>) -> tensor<1x32x1xf32>
  %t = tosa.transpose %r {perms = array<i32: 0, 2, 1>} : (tensor<1x32x1xf32>) -> tensor<1x1x32xf32>
  %c = tosa.matmul %t, %kernel, %zero, %zero : (tensor<1x1x32xf32>, tensor<1x32x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  return %c : tensor<1x1x2xf32>
}

// The padding on the way takes the shift, and so does that of the convolution.
// CHECK-LABEL: func.func @pad_twice
// CHECK:         %[[Q:.*]] = tpc.quantize
// CHECK-NEXT:    %[[FIRST:.*]] = "tosa.const"() <{values = dense<2.500000e-01> : tensor<1xf32>}>
// CHECK-NEXT:    %[[PAD:.*]] = tosa.pad %[[Q]], %{{.*}}, %[[FIRST]]
// CHECK-NEXT:    %[[SIZES:.*]] = tosa.const_shape {values = dense<[0, 0, 0, 1, 2, 0, 0, 0]>
// CHECK-NEXT:    %[[SECOND:.*]] = "tosa.const"() <{values = dense<2.500000e-01> : tensor<1xf32>}>
// CHECK-NEXT:    tosa.pad %[[PAD]], %[[SIZES]], %[[SECOND]]
// CHECK:         tosa.conv2d {{.*}} pad = array<i64: 0, 0, 0, 0>
func.func @pad_twice(%x: tensor<1x4x4x2xf32>) -> tensor<1x7x8x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %pad_value = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %sizes = tosa.const_shape {values = dense<[0, 0, 1, 1, 1, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %p = tosa.pad %q, %sizes, %pad_value : (tensor<1x4x4x2xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x6x6x2xf32>
  %c = tosa.conv2d %p, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 1, 2, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x7x8x1xf32>
  return %c : tensor<1x7x8x1xf32>
}

// Case 30: SAME with stride 2 pads one row below and one column to the right.
// CHECK-LABEL: func.func @same_padding
// CHECK:         tosa.const_shape {values = dense<[0, 0, 0, 1, 0, 1, 0, 0]>
// CHECK:         tosa.pad {{.*}} -> tensor<1x5x5x2xf32>
func.func @same_padding(%x: tensor<1x4x4x2xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x3x3x2xf32>}> : () -> tensor<1x3x3x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 1, 0, 1>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>, tensor<1x3x3x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %c : tensor<1x2x2x1xf32>
}

// Case 32 with a shift of 0.25: channel sums 4 and 8 take 1 and 2 from a bias of 1.
// CHECK-LABEL: func.func @depthwise
// CHECK:         "tosa.const"() <{values = dense<[0.000000e+00, -1.000000e+00]> : tensor<2xf32>}>
// CHECK:         tosa.depthwise_conv2d
func.func @depthwise(%x: tensor<1x4x4x2xf32>) -> tensor<1x3x3x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[1.0], [2.0]], [[1.0], [2.0]]], [[[1.0], [2.0]], [[1.0], [2.0]]]]> : tensor<2x2x2x1xf32>}> : () -> tensor<2x2x2x1xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.depthwise_conv2d %q, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x2x2x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x2xf32>
  return %c : tensor<1x3x3x2xf32>
}

// A residual: both readers know what to do. The sum is shifted once, its minimum stays below zero and its grid signed.
// CHECK-LABEL: func.func @residual
// CHECK:         %[[C:.*]] = tosa.conv2d
// CHECK:         tosa.add
// CHECK-NEXT:    tpc.quantize {{.*}} as "sum_shifted" {{.*}} min = -6.750000e+00, max = 7.250000e+00, {{.*}} parameters(#tpc.power_of_two<threshold = [8.000000e+00], bits = 8>)
// CHECK:         "tosa.const"() <{values = dense<-5.000000e-01>
// CHECK:         tosa.conv2d
func.func @residual(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %square = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %d = tosa.conv2d %q, %square, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %sum = tosa.add %d, %q : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %r = tpc.quantize %sum as "sum" activation config(#act8)
    statistics(#stats_sum) parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : tensor<1x4x4x2xf32>
  %c = tosa.conv2d %r, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// Twice the value is twice the shift.
// CHECK-LABEL: func.func @added_to_itself
// CHECK:         "tosa.const"() <{values = dense<-1.000000e+00>
// CHECK:         tosa.conv2d
func.func @added_to_itself(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %sum = tosa.add %q, %q : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %c = tosa.conv2d %sum, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// Slices, tiles, reverses and identities move values.
// CHECK-LABEL: func.func @moved
// CHECK:         "tosa.const"() <{values = dense<-5.000000e-01>
// CHECK:         tosa.conv2d
func.func @moved(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %start = tosa.const_shape {values = dense<[0, 0, 1, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 4, 2, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %times = tosa.const_shape {values = dense<[1, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %l = tosa.slice %q, %start, %size : (tensor<1x4x4x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x2x2xf32>
  %m = tosa.tile %l, %times : (tensor<1x4x2x2xf32>, !tosa.shape<4>) -> tensor<1x4x4x2xf32>
  %n = tosa.reverse %m {axis = 1 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %o = tosa.identity %n : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %c = tosa.conv2d %o, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// Two shifts meet in one sum: 0.5 in all.
// CHECK-LABEL: func.func @two_meet
// CHECK:         tpc.quantize {{.*}} as "act_shifted"
// CHECK:         tpc.quantize {{.*}} as "other_shifted"
// CHECK:         "tosa.const"() <{values = dense<-1.000000e+00>
// CHECK:         tosa.conv2d
func.func @two_meet(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %s2 = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %y2 = tosa.mul %x, %s2, %no_shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %q2 = tpc.quantize %y2 as "other" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x4x2xf32>
  %sum = tosa.add %q, %q2 : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %c = tosa.conv2d %sum, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %c : tensor<1x4x4x1xf32>
}

// What is looked up is shifted as it is; the indices are none of its business.
// CHECK-LABEL: func.func @looked_up
// CHECK:         tosa.gather
// CHECK:         tosa.matmul
// CHECK:         dense<-5.000000e-01> : tensor<1x1x1xf32>
func.func @looked_up(%x: tensor<1x4x2xf32>, %at: tensor<1x3xi32>) -> tensor<1x3x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<1x2x1xf32>}> : () -> tensor<1x2x1xf32>
  %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.sigmoid %x : (tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
  %y = tosa.mul %x, %s, %no_shift : (tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1xi8>) -> tensor<1x4x2xf32>
  %q = tpc.quantize %y as "act" activation config(#act8)
    statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4x2xf32>
  %g = tosa.gather %q, %at : (tensor<1x4x2xf32>, tensor<1x3xi32>) -> tensor<1x3x2xf32>
  %c = tosa.matmul %g, %kernel, %zero, %zero : (tensor<1x3x2xf32>, tensor<1x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x1xf32>
  return %c : tensor<1x3x1xf32>
}
