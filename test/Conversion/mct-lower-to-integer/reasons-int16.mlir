// What is not done with 16 bits.
// RUN: mct-opt %s --mct-lower-to-integer="extensions=int16" --split-input-file --verify-diagnostics

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 16, rounding = half_up>) : tensor<1x4x4x2xf32>
  %r = tosa.tanh %in : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.tanh' op has more than 8 bits: no table is exact}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x3x3x2xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 16, rounding = half_up>) : tensor<1x4x4x2xf32>
  %r = tosa.avg_pool2d %in, %z, %z {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x2xf32>
  // expected-remark @below {{stays float: 'tosa.avg_pool2d' op adds values of more than 8 bits}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x3x3x2xf32>
  return %out : tensor<1x3x3x2xf32>
}

// -----

func.func @main(%x: tensor<1x3x2xf32>, %y: tensor<1x2x3xf32>) -> tensor<1x3x3xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %a = tpc.quantize %x as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 16, rounding = half_up>) : tensor<1x3x2xf32>
  %b = tpc.quantize %y as "b" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x2x3xf32>
  %r = tosa.matmul %a, %b, %z, %z : (tensor<1x3x2xf32>, tensor<1x2x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3xf32>
  // expected-remark @below {{stays float: 'tosa.matmul' op multiplies values of more than 8 bits}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x3x3xf32>
  return %out : tensor<1x3x3xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x8x8x2xf32> {
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 16, rounding = half_up>) : tensor<1x4x4x2xf32>
  %c = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %o = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<2> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.resize %in, %c, %o, %b {mode = BILINEAR} : (tensor<1x4x4x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x8x8x2xf32>
  // expected-remark @below {{stays float: 'tosa.resize' op interpolates values of more than 8 bits}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x8x8x2xf32>
  return %out : tensor<1x8x8x2xf32>
}

// -----

func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %in = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 16, rounding = half_up>) : tensor<1x4x4x2xf32>
  %kf = "tosa.const"() <{values = dense<0.5> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %k = tpc.quantize %kf as "conv" weight "kernel_attr" axes [] parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %c = tosa.conv2d %in, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %r = tosa.add %c, %in : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // expected-remark @below {{stays float: 'tosa.add' op reads sums of more than 32 bits}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  return %out : tensor<1x4x4x2xf32>
}
