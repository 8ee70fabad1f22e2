// Sums, windows and factors that are too large.
// RUN: mct-opt %s --mct-lower-to-integer --split-input-file --verify-diagnostics

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x8x8x2xf32> {
  %c = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %o = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<2> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.resize %x, %c, %o, %b {mode = BILINEAR} : (tensor<1x4x4x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x8x8x2xf32>
  // expected-remark @below {{stays float: 'tosa.resize' op reads an input that is not quantized}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x8x8x2xf32>
  return %out : tensor<1x8x8x2xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %k = "tosa.const"() <{values = dense<0.5> : tensor<3x1x1x2xf32>}> : () -> tensor<3x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %r = tosa.conv2d %in, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  // expected-remark @below {{stays float: 'tosa.conv2d' op has a kernel that is not quantized}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x3xf32>
  return %out : tensor<1x4x4x3xf32>
}

// -----

// The reason is the same for all points of a value.
func.func @main(%x: tensor<1x4x4x2xf32>) -> (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %k = "tosa.const"() <{values = dense<0.5> : tensor<3x1x1x2xf32>}> : () -> tensor<3x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %r = tosa.conv2d %in, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  // expected-remark @below {{stays float: 'tosa.conv2d' op has a kernel that is not quantized}}
  %one = tpc.quantize %r as "one" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x3xf32>
  // expected-remark @below {{stays float: 'tosa.conv2d' op has a kernel that is not quantized}}
  %two = tpc.quantize %r as "two" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x4x4x3xf32>
  return %one, %two : tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>
}

// -----

func.func @main(%x: tensor<1x16777216xf32>) -> tensor<1x1xf32> {
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x16777216xf32>
  %r = tosa.reduce_sum %in {axis = 1 : i32} : (tensor<1x16777216xf32>) -> tensor<1x1xf32>
  // expected-remark @below {{stays float: 'tosa.reduce_sum' op has sums that do not fit into 32 bits}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x1xf32>
  return %out : tensor<1x1xf32>
}

// -----

func.func @main(%x: tensor<1x4096x4096x1xf32>) -> tensor<1x1x1x1xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4096x4096x1xf32>
  %r = tosa.avg_pool2d %in, %z, %z {acc_type = f32, kernel = array<i64: 4096, 4096>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4096x4096x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  // expected-remark @below {{stays float: 'tosa.avg_pool2d' op has sums that do not fit into 32 bits}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x1x1x1xf32>
  return %out : tensor<1x1x1x1xf32>
}

// -----

func.func @main(%x: tensor<1x32x32x1xf32>) -> tensor<1x47x47x1xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x32x32x1xf32>
  %r = tosa.avg_pool2d %in, %z, %z {acc_type = f32, kernel = array<i64: 16, 16>, pad = array<i64: 15, 15, 15, 15>, stride = array<i64: 1, 1>} : (tensor<1x32x32x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x47x47x1xf32>
  // expected-remark @below {{stays float: 'tosa.avg_pool2d' op has windows of too many different sizes}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x47x47x1xf32>
  return %out : tensor<1x47x47x1xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [1099511627776.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %r = tosa.reverse %in {axis = 1 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.reverse' op has a scale that is too large for that of the result}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [0.0009765625], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

// The counts of its windows would be a constant of more numbers than there is memory for.
func.func @main(%x: tensor<1x6x2147483648x2xf32>) -> tensor<1x6x2147483648x2xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x6x2147483648x2xf32>
  %r = tosa.avg_pool2d %in, %z, %z {acc_type = f32, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x6x2147483648x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x2147483648x2xf32>
  // expected-remark @below {{stays float: 'tosa.avg_pool2d' op has more than 2^24 positions}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x6x2147483648x2xf32>
  return %out : tensor<1x6x2147483648x2xf32>
}
