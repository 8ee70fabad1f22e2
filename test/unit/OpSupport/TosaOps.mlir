// SPDX-License-Identifier: Apache-2.0
//
// A function for every op of TOSA, named after it, in a form that networks have. OpSupportTest.cpp tries on each what the
// passes can do.

func.func @abs(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.abs %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @ceil(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.ceil %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @cos(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.cos %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @erf(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.erf %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @exp(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.exp %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @floor(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.floor %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @identity(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.identity %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @log(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.log %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @reciprocal(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.reciprocal %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @rsqrt(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.rsqrt %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @sigmoid(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.sigmoid %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @sin(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.sin %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @tanh(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.tanh %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @add(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.add %x, %y : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @sub(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.sub %x, %y : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @maximum(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.maximum %x, %y : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @minimum(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.minimum %x, %y : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @pow(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.pow %x, %two : (tensor<1x4x4x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @equal(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.equal %x, %y : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xi1>
  %1 = tosa.select %0, %x, %y : (tensor<1x4x4x2xi1>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %1 : tensor<1x4x4x2xf32>
}
func.func @greater(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.greater %x, %y : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xi1>
  %1 = tosa.select %0, %x, %y : (tensor<1x4x4x2xi1>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %1 : tensor<1x4x4x2xf32>
}
func.func @greater_equal(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.greater_equal %x, %y : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xi1>
  %1 = tosa.select %0, %x, %y : (tensor<1x4x4x2xi1>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %1 : tensor<1x4x4x2xf32>
}
func.func @bitwise_and(%x: tensor<1x4x4x2xi32>, %y: tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32> {
  %0 = tosa.bitwise_and %x, %y : (tensor<1x4x4x2xi32>, tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32>
  return %0 : tensor<1x4x4x2xi32>
}
func.func @bitwise_or(%x: tensor<1x4x4x2xi32>, %y: tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32> {
  %0 = tosa.bitwise_or %x, %y : (tensor<1x4x4x2xi32>, tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32>
  return %0 : tensor<1x4x4x2xi32>
}
func.func @bitwise_xor(%x: tensor<1x4x4x2xi32>, %y: tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32> {
  %0 = tosa.bitwise_xor %x, %y : (tensor<1x4x4x2xi32>, tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32>
  return %0 : tensor<1x4x4x2xi32>
}
func.func @intdiv(%x: tensor<1x4x4x2xi32>, %y: tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32> {
  %0 = tosa.intdiv %x, %y : (tensor<1x4x4x2xi32>, tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32>
  return %0 : tensor<1x4x4x2xi32>
}
func.func @logical_left_shift(%x: tensor<1x4x4x2xi32>, %y: tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32> {
  %0 = tosa.logical_left_shift %x, %y : (tensor<1x4x4x2xi32>, tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32>
  return %0 : tensor<1x4x4x2xi32>
}
func.func @logical_right_shift(%x: tensor<1x4x4x2xi32>, %y: tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32> {
  %0 = tosa.logical_right_shift %x, %y : (tensor<1x4x4x2xi32>, tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32>
  return %0 : tensor<1x4x4x2xi32>
}
func.func @arithmetic_right_shift(%x: tensor<1x4x4x2xi32>, %y: tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32> {
  %0 = tosa.arithmetic_right_shift %x, %y {round = false} : (tensor<1x4x4x2xi32>, tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32>
  return %0 : tensor<1x4x4x2xi32>
}
func.func @bitwise_not(%x: tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32> {
  %0 = tosa.bitwise_not %x : (tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32>
  return %0 : tensor<1x4x4x2xi32>
}
func.func @clz(%x: tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32> {
  %0 = tosa.clz %x : (tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32>
  return %0 : tensor<1x4x4x2xi32>
}
func.func @logical_and(%x: tensor<1x4x4x2xi1>, %y: tensor<1x4x4x2xi1>) -> tensor<1x4x4x2xi1> {
  %0 = tosa.logical_and %x, %y : (tensor<1x4x4x2xi1>, tensor<1x4x4x2xi1>) -> tensor<1x4x4x2xi1>
  return %0 : tensor<1x4x4x2xi1>
}
func.func @logical_or(%x: tensor<1x4x4x2xi1>, %y: tensor<1x4x4x2xi1>) -> tensor<1x4x4x2xi1> {
  %0 = tosa.logical_or %x, %y : (tensor<1x4x4x2xi1>, tensor<1x4x4x2xi1>) -> tensor<1x4x4x2xi1>
  return %0 : tensor<1x4x4x2xi1>
}
func.func @logical_xor(%x: tensor<1x4x4x2xi1>, %y: tensor<1x4x4x2xi1>) -> tensor<1x4x4x2xi1> {
  %0 = tosa.logical_xor %x, %y : (tensor<1x4x4x2xi1>, tensor<1x4x4x2xi1>) -> tensor<1x4x4x2xi1>
  return %0 : tensor<1x4x4x2xi1>
}
func.func @logical_not(%x: tensor<1x4x4x2xi1>) -> tensor<1x4x4x2xi1> {
  %0 = tosa.logical_not %x : (tensor<1x4x4x2xi1>) -> tensor<1x4x4x2xi1>
  return %0 : tensor<1x4x4x2xi1>
}
func.func @mul(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %x, %y, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @negate(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.negate %x, %zero, %zero : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @clamp(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.clamp %x {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @cast(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xi8> {
  %0 = tosa.cast %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xi8>
  return %0 : tensor<1x4x4x2xi8>
}
func.func @select(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %c = tosa.greater %x, %y : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xi1>
  %0 = tosa.select %c, %x, %y : (tensor<1x4x4x2xi1>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @table(%x: tensor<1x4xi8>) -> tensor<1x4xi8> {
  %table = "tosa.const"() <{values = dense<1> : tensor<256xi8>}> : () -> tensor<256xi8>
  %0 = tosa.table %x, %table : (tensor<1x4xi8>, tensor<256xi8>) -> tensor<1x4xi8>
  return %0 : tensor<1x4xi8>
}
func.func @rescale(%x: tensor<1x4xi32>) -> tensor<1x4xi8> {
  %multiplier = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<31> : tensor<1xi8>}> : () -> tensor<1xi8>
  %from = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %to = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.rescale %x, %multiplier, %shift, %from, %to {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<1x4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x4xi8>
  return %0 : tensor<1x4xi8>
}
func.func @apply_scale(%x: tensor<1x4xi32>, %m: tensor<1x4xi32>, %s: tensor<1x4xi8>) -> tensor<1x4xi32> {
  %0 = tosa.apply_scale %x, %m, %s {rounding_mode = SINGLE_ROUND} : (tensor<1x4xi32>, tensor<1x4xi32>, tensor<1x4xi8>) -> tensor<1x4xi32>
  return %0 : tensor<1x4xi32>
}
func.func @conv2d(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<0.5> : tensor<3x1x1x2xf32>}> : () -> tensor<3x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.25> : tensor<3xf32>}> : () -> tensor<3xf32>
  %0 = tosa.conv2d %x, %k, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  return %0 : tensor<1x4x4x3xf32>
}
func.func @conv3d(%x: tensor<1x4x4x4x2xf32>) -> tensor<1x4x4x4x3xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<0.5> : tensor<3x1x1x1x2xf32>}> : () -> tensor<3x1x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<0.25> : tensor<3xf32>}> : () -> tensor<3xf32>
  %0 = tosa.conv3d %x, %k, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1, 1>, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>} : (tensor<1x4x4x4x2xf32>, tensor<3x1x1x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x4x3xf32>
  return %0 : tensor<1x4x4x4x3xf32>
}
func.func @depthwise_conv2d(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<0.5> : tensor<1x1x2x1xf32>}> : () -> tensor<1x1x2x1xf32>
  %b = "tosa.const"() <{values = dense<0.25> : tensor<2xf32>}> : () -> tensor<2xf32>
  %0 = tosa.depthwise_conv2d %x, %k, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x2x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @transpose_conv2d(%x: tensor<1x4x4x2xf32>) -> tensor<1x8x8x3xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<0.5> : tensor<3x2x2x2xf32>}> : () -> tensor<3x2x2x2xf32>
  %b = "tosa.const"() <{values = dense<0.25> : tensor<3xf32>}> : () -> tensor<3xf32>
  %0 = tosa.transpose_conv2d %x, %k, %b, %zero, %zero {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>, tensor<3x2x2x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x3xf32>
  return %0 : tensor<1x8x8x3xf32>
}
func.func @matmul(%x: tensor<1x4x8xf32>) -> tensor<1x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<0.5> : tensor<1x8x2xf32>}> : () -> tensor<1x8x2xf32>
  %0 = tosa.matmul %x, %k, %zero, %zero : (tensor<1x4x8xf32>, tensor<1x8x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x2xf32>
  return %0 : tensor<1x4x2xf32>
}
func.func @avg_pool2d(%x: tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.avg_pool2d %x, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  return %0 : tensor<1x2x2x2xf32>
}
func.func @max_pool2d(%x: tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32> {
  %0 = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32>
  return %0 : tensor<1x2x2x2xf32>
}
func.func @resize(%x: tensor<1x4x4x2xf32>) -> tensor<1x8x8x2xf32> {
  %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %offset = tosa.const_shape {values = dense<[-1, -1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.resize %x, %scale, %offset, %border {mode = BILINEAR} : (tensor<1x4x4x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x8x8x2xf32>
  return %0 : tensor<1x8x8x2xf32>
}
func.func @argmax(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4xi32> {
  %0 = tosa.argmax %x {axis = 3 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4xi32>
  return %0 : tensor<1x4x4xi32>
}
func.func @reduce_max(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %0 = tosa.reduce_max %x {axis = 3 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}
func.func @reduce_min(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %0 = tosa.reduce_min %x {axis = 3 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}
func.func @reduce_sum(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %0 = tosa.reduce_sum %x {axis = 3 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}
func.func @reduce_product(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %0 = tosa.reduce_product %x {axis = 3 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}
func.func @reduce_all(%x: tensor<1x4x4x2xi1>) -> tensor<1x4x4x1xi1> {
  %0 = tosa.reduce_all %x {axis = 3 : i32} : (tensor<1x4x4x2xi1>) -> tensor<1x4x4x1xi1>
  return %0 : tensor<1x4x4x1xi1>
}
func.func @reduce_any(%x: tensor<1x4x4x2xi1>) -> tensor<1x4x4x1xi1> {
  %0 = tosa.reduce_any %x {axis = 3 : i32} : (tensor<1x4x4x2xi1>) -> tensor<1x4x4x1xi1>
  return %0 : tensor<1x4x4x1xi1>
}
func.func @concat(%x: tensor<1x4x4x2xf32>, %y: tensor<1x4x4x2xf32>) -> tensor<1x4x4x4xf32> {
  %0 = tosa.concat %x, %y {axis = 3 : i32} : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}
func.func @pad(%x: tensor<1x4x4x2xf32>) -> tensor<1x6x6x2xf32> {
  %sizes = tosa.const_shape {values = dense<[0, 0, 1, 1, 1, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.pad %x, %sizes, %zero : (tensor<1x4x4x2xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x6x6x2xf32>
  return %0 : tensor<1x6x6x2xf32>
}
func.func @reshape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %sizes = tosa.const_shape {values = dense<[1, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %x, %sizes : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @reverse(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %0 = tosa.reverse %x {axis = 1 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @slice(%x: tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32> {
  %start = tosa.const_shape {values = dense<[0, 1, 1, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 2, 2, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.slice %x, %start, %size : (tensor<1x4x4x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x2x2xf32>
  return %0 : tensor<1x2x2x2xf32>
}
func.func @tile(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x6xf32> {
  %times = tosa.const_shape {values = dense<[1, 1, 1, 3]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.tile %x, %times : (tensor<1x4x4x2xf32>, !tosa.shape<4>) -> tensor<1x4x4x6xf32>
  return %0 : tensor<1x4x4x6xf32>
}
func.func @transpose(%x: tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}
func.func @gather(%x: tensor<1x5x2xf32>) -> tensor<1x3x2xf32> {
  %at = "tosa.const"() <{values = dense<[[4, 0, 2]]> : tensor<1x3xi32>}> : () -> tensor<1x3xi32>
  %0 = tosa.gather %x, %at : (tensor<1x5x2xf32>, tensor<1x3xi32>) -> tensor<1x3x2xf32>
  return %0 : tensor<1x3x2xf32>
}
func.func @scatter(%x: tensor<1x5x2xf32>, %at: tensor<1x3xi32>, %y: tensor<1x3x2xf32>) -> tensor<1x5x2xf32> {
  %0 = tosa.scatter %x, %at, %y : (tensor<1x5x2xf32>, tensor<1x3xi32>, tensor<1x3x2xf32>) -> tensor<1x5x2xf32>
  return %0 : tensor<1x5x2xf32>
}
func.func @fft2d(%x: tensor<1x4x4xf32>, %y: tensor<1x4x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x4xf32>) {
  %0, %1 = tosa.fft2d %x, %y {inverse = false} : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x4xf32>)
  return %0, %1 : tensor<1x4x4xf32>, tensor<1x4x4xf32>
}
func.func @rfft2d(%x: tensor<1x4x4xf32>) -> (tensor<1x4x3xf32>, tensor<1x4x3xf32>) {
  %0, %1 = tosa.rfft2d %x : (tensor<1x4x4xf32>) -> (tensor<1x4x3xf32>, tensor<1x4x3xf32>)
  return %0, %1 : tensor<1x4x3xf32>, tensor<1x4x3xf32>
}
func.func @const(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %c = "tosa.const"() <{values = dense<0.5> : tensor<1x4x4x2xf32>}> : () -> tensor<1x4x4x2xf32>
  %0 = tosa.add %x, %c : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
func.func @const_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %sizes = tosa.const_shape {values = dense<[1, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.reshape %x, %sizes : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @cond_if(%c: tensor<i1>, %x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<1x4xf32> {
    %1 = tosa.exp %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
    tosa.yield %1 : tensor<1x4xf32>
  } else {
    tosa.yield %x : tensor<1x4xf32>
  }
  return %0 : tensor<1x4xf32>
}
func.func @yield(%c: tensor<i1>, %x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<1x4xf32> {
    tosa.yield %x : tensor<1x4xf32>
  } else {
    tosa.yield %x : tensor<1x4xf32>
  }
  return %0 : tensor<1x4xf32>
}
func.func @while_loop(%x: tensor<i32>) -> tensor<i32> {
  %0 = tosa.while_loop (%a = %x) : (tensor<i32>) -> tensor<i32> {
    %ten = "tosa.const"() <{values = dense<10> : tensor<i32>}> : () -> tensor<i32>
    %1 = tosa.greater %ten, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %1 : tensor<i1>
  } do {
  ^bb0(%a: tensor<i32>):
    %one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %2 = tosa.add %a, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %2 : tensor<i32>
  }
  return %0 : tensor<i32>
}
func.func @custom(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.custom %x {operator_name = "mine", domain_name = "mine", implementation_attrs = ""} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
tosa.variable @state = dense<0.0> : tensor<1x4xf32>
func.func @variable_read(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.variable_read @state : tensor<1x4xf32>
  %1 = tosa.add %x, %0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
func.func @variable_write(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  tosa.variable_write @state, %x : tensor<1x4xf32>
  return %x : tensor<1x4xf32>
}
func.func @add_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %a = tosa.const_shape {values = dense<[1, 16]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[0, 16]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.add_shape %a, %b : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @sub_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %a = tosa.const_shape {values = dense<[1, 48]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[0, 16]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.sub_shape %a, %b : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @mul_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %a = tosa.const_shape {values = dense<[1, 16]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.mul_shape %a, %b : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @div_ceil_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %a = tosa.const_shape {values = dense<[1, 64]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.div_ceil_shape %a, %b : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @div_floor_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %a = tosa.const_shape {values = dense<[1, 64]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.div_floor_shape %a, %b : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @mod_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %a = tosa.const_shape {values = dense<[1, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[2, 64]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.mod_shape %a, %b : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @max_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %a = tosa.const_shape {values = dense<[1, 16]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[1, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.max_shape %a, %b : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @min_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %a = tosa.const_shape {values = dense<[1, 64]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %b = tosa.const_shape {values = dense<[1, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.min_shape %a, %b : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @exp2_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %a = tosa.const_shape {values = dense<[0, 5]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.exp2_shape %a : (!tosa.shape<2>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @log2_ceil_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %a = tosa.const_shape {values = dense<[2, 4294967296]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.log2_ceil_shape %a : (!tosa.shape<2>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @log2_floor_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %a = tosa.const_shape {values = dense<[2, 4294967296]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %s = tosa.log2_floor_shape %a : (!tosa.shape<2>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @concat_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %a = tosa.const_shape {values = dense<[1]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %b = tosa.const_shape {values = dense<[32]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %s = tosa.concat_shape %a, %b : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @slice_shape(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %a = tosa.const_shape {values = dense<[7, 1, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %b = "tosa.const"() <{values = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
  %n = "tosa.const"() <{values = dense<2> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = tosa.slice_shape %a, %b, %n : (!tosa.shape<3>, tensor<1xi32>, tensor<1xi32>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @dim(%x: tensor<1x4x4x2xf32>) -> tensor<1x32xf32> {
  %d = tosa.dim %x {axis = 0 : i32} : (tensor<1x4x4x2xf32>) -> !tosa.shape<1>
  %b = tosa.const_shape {values = dense<[32]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %s = tosa.concat_shape %d, %b : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<2>
  %0 = tosa.reshape %x, %s : (tensor<1x4x4x2xf32>, !tosa.shape<2>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
func.func @cast_to_block_scaled(%x: tensor<1x4x32xf32>) -> (tensor<1x4x32xf8E4M3FN>, tensor<1x4x1xf8E8M0FNU>) {
  %0, %1 = "tosa.cast_to_block_scaled"(%x) <{block_size = #tosa.block_size<BLOCK_SIZE_32>}> : (tensor<1x4x32xf32>) -> (tensor<1x4x32xf8E4M3FN>, tensor<1x4x1xf8E8M0FNU>)
  return %0, %1 : tensor<1x4x32xf8E4M3FN>, tensor<1x4x1xf8E8M0FNU>
}
func.func @cast_from_block_scaled(%x: tensor<1x4x32xf8E4M3FN>, %s: tensor<1x4x1xf8E8M0FNU>) -> tensor<1x4x32xf32> {
  %0 = "tosa.cast_from_block_scaled"(%x, %s) <{block_size = #tosa.block_size<BLOCK_SIZE_32>}> : (tensor<1x4x32xf8E4M3FN>, tensor<1x4x1xf8E8M0FNU>) -> tensor<1x4x32xf32>
  return %0 : tensor<1x4x32xf32>
}
func.func @matmul_t_block_scaled(%x: tensor<1x4x32xf8E4M3FN>, %s: tensor<1x4x1xf8E8M0FNU>, %y: tensor<1x4x32xf8E4M3FN>, %t: tensor<1x4x1xf8E8M0FNU>) -> tensor<1x4x4xf32> {
  %0 = "tosa.matmul_t_block_scaled"(%x, %s, %y, %t) <{block_size = #tosa.block_size<BLOCK_SIZE_32>}> : (tensor<1x4x32xf8E4M3FN>, tensor<1x4x1xf8E8M0FNU>, tensor<1x4x32xf8E4M3FN>, tensor<1x4x1xf8E8M0FNU>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}
