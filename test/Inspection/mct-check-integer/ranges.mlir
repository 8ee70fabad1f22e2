// What is at the edge, and what only the relations between values show, is taken.
// RUN: mct-opt %s --mct-check-integer --split-input-file --verify-diagnostics

func.func @cast_behind_clamp(%arg0: tensor<4xi32>) -> tensor<4xi8> {
  %0 = tosa.clamp %arg0 {min_val = -128 : i32, max_val = 127 : i32} : (tensor<4xi32>) -> tensor<4xi32>
  %1 = tosa.cast %0 : (tensor<4xi32>) -> tensor<4xi8>
  return %1 : tensor<4xi8>
}

// -----

// The multiplier of channel 1 takes 2^10, and only its values are so small.
func.func @channels(%arg0: tensor<1x1x1x1xi8>) -> tensor<1x1x1x2xi8> {
  %kernel = "tosa.const"() <{values = dense<[[[[127]]], [[[7]]]]> : tensor<2x1x1x1xi8>}> : () -> tensor<2x1x1x1xi8>
  %bias = "tosa.const"() <{values = dense<[1000, 0]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.conv2d %arg0, %kernel, %bias, %zp, %zp {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x1x1x1xi8>, tensor<2x1x1x1xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x1x1x2xi32>
  %multiplier = "tosa.const"() <{values = dense<[500, 100]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %shift = "tosa.const"() <{values = dense<[16, 11]> : tensor<2xi8>}> : () -> tensor<2xi8>
  %input_zp = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %1 = tosa.rescale %0, %multiplier, %shift, %input_zp, %zp {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = true, input_unsigned = false, output_unsigned = false} : (tensor<1x1x1x2xi32>, tensor<2xi32>, tensor<2xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x1x1x2xi8>
  return %1 : tensor<1x1x1x2xi8>
}

// -----

// x - max(x) is zero somewhere: its table has a 1 there, and the divisor is no zero.
func.func @divisor_of_softmax(%arg0: tensor<3x4xi32>) -> tensor<3x1xi32> {
  %x = tosa.clamp %arg0 {min_val = -100 : i32, max_val = 27 : i32} : (tensor<3x4xi32>) -> tensor<3x4xi32>
  %max = tosa.reduce_max %x {axis = 1 : i32} : (tensor<3x4xi32>) -> tensor<3x1xi32>
  %difference = tosa.sub %x, %max : (tensor<3x4xi32>, tensor<3x1xi32>) -> tensor<3x4xi32>
  %c1 = "tosa.const"() <{values = dense<1> : tensor<1x1xi32>}> : () -> tensor<1x1xi32>
  %above = tosa.add %difference, %c1 : (tensor<3x4xi32>, tensor<1x1xi32>) -> tensor<3x4xi32>
  %c0 = "tosa.const"() <{values = dense<0> : tensor<1x1xi32>}> : () -> tensor<1x1xi32>
  %count = tosa.maximum %above, %c0 : (tensor<3x4xi32>, tensor<1x1xi32>) -> tensor<3x4xi32>
  %sum = tosa.reduce_sum %count {axis = 1 : i32} : (tensor<3x4xi32>) -> tensor<3x1xi32>
  %one = "tosa.const"() <{values = dense<1> : tensor<3x1xi32>}> : () -> tensor<3x1xi32>
  %0 = tosa.intdiv %one, %sum : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x1xi32>
  return %0 : tensor<3x1xi32>
}

// -----

// Along the other axis there may be no zero.
func.func @other_axis(%arg0: tensor<3x4xi32>) -> tensor<1x4xi32> {
  %x = tosa.clamp %arg0 {min_val = -100 : i32, max_val = 27 : i32} : (tensor<3x4xi32>) -> tensor<3x4xi32>
  %max = tosa.reduce_max %x {axis = 1 : i32} : (tensor<3x4xi32>) -> tensor<3x1xi32>
  %difference = tosa.sub %x, %max : (tensor<3x4xi32>, tensor<3x1xi32>) -> tensor<3x4xi32>
  %c1 = "tosa.const"() <{values = dense<1> : tensor<1x1xi32>}> : () -> tensor<1x1xi32>
  %above = tosa.add %difference, %c1 : (tensor<3x4xi32>, tensor<1x1xi32>) -> tensor<3x4xi32>
  %c0 = "tosa.const"() <{values = dense<0> : tensor<1x1xi32>}> : () -> tensor<1x1xi32>
  %count = tosa.maximum %above, %c0 : (tensor<3x4xi32>, tensor<1x1xi32>) -> tensor<3x4xi32>
  %sum = tosa.reduce_sum %count {axis = 0 : i32} : (tensor<3x4xi32>) -> tensor<1x4xi32>
  %one = "tosa.const"() <{values = dense<1> : tensor<1x4xi32>}> : () -> tensor<1x4xi32>
  // expected-error @below {{may divide by zero: its divisors are from 0 to 3}}
  // expected-note @below {{keep the divisor away from zero}}
  %0 = tosa.intdiv %one, %sum : (tensor<1x4xi32>, tensor<1x4xi32>) -> tensor<1x4xi32>
  return %0 : tensor<1x4xi32>
}

// -----

// What stays float comes back between limits.
func.func @float_between_limits(%arg0: tensor<4xf32>) -> (tensor<4xi8>, tensor<4xi8>) {
  %0 = tosa.clamp %arg0 {min_val = -128.0 : f32, max_val = 127.4 : f32, nan_mode = IGNORE} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.cast %0 : (tensor<4xf32>) -> tensor<4xi32>
  %2 = tosa.cast %1 : (tensor<4xi32>) -> tensor<4xi8>
  %3 = tosa.clamp %arg0 {min_val = 100.0 : f32, max_val = 127.6 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = tosa.cast %3 : (tensor<4xf32>) -> tensor<4xi32>
  // Without a number the cast gives 0.
  // expected-error @below {{may wrap: 'i8' does not hold values from 0 to 128}}
  // expected-note @below {{use tosa.rescale}}
  %5 = tosa.cast %4 : (tensor<4xi32>) -> tensor<4xi8>
  return %2, %5 : tensor<4xi8>, tensor<4xi8>
}
