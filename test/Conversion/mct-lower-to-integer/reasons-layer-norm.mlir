// RUN: mct-opt %s --split-input-file --verify-diagnostics --mct-lower-to-integer="layer-norm=integer extensions=int16" -o /dev/null

// Layer norms that stay float even so, and why.

func.func @not_quantized(%arg: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %inverse = "tosa.const"() <{values = dense<0.125> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<1.000000e-03> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %gain = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %offset = "tosa.const"() <{values = dense<0.25> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %sum = tosa.reduce_sum %arg {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %mean = tosa.mul %sum, %inverse, %shift : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %centred = tosa.sub %arg, %mean : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %square = tosa.mul %centred, %centred, %shift : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %squares = tosa.reduce_sum %square {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %variance = tosa.mul %squares, %inverse, %shift : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %safe = tosa.add %variance, %epsilon : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %root = tosa.rsqrt %safe : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %normal = tosa.mul %centred, %root, %shift : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %scaled = tosa.mul %normal, %gain, %shift : (tensor<4x8xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %moved = tosa.add %scaled, %offset : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{stays float: 'tosa.add' op reads an input that is not quantized}}
  %out = tpc.quantize %moved as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<4x8xf32>
  return %out : tensor<4x8xf32>
}

// -----

func.func @sixteen_bits(%arg: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %inverse = "tosa.const"() <{values = dense<0.125> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<1.000000e-03> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %gain = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %offset = "tosa.const"() <{values = dense<0.25> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %x = tpc.quantize %arg as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 16, rounding = half_up>) : tensor<4x8xf32>
  %sum = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %mean = tosa.mul %sum, %inverse, %shift : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %centred = tosa.sub %x, %mean : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %square = tosa.mul %centred, %centred, %shift : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %squares = tosa.reduce_sum %square {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %variance = tosa.mul %squares, %inverse, %shift : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %safe = tosa.add %variance, %epsilon : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %root = tosa.rsqrt %safe : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %normal = tosa.mul %centred, %root, %shift : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %scaled = tosa.mul %normal, %gain, %shift : (tensor<4x8xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %moved = tosa.add %scaled, %offset : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{stays float: 'tosa.add' op normalizes values of more than 8 bits}}
  %out = tpc.quantize %moved as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<4x8xf32>
  return %out : tensor<4x8xf32>
}

// -----

func.func @first_axis(%arg: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %inverse = "tosa.const"() <{values = dense<0.25> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<1.000000e-03> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %gain = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %offset = "tosa.const"() <{values = dense<0.25> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %x = tpc.quantize %arg as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<4x8xf32>
  %sum = tosa.reduce_sum %x {axis = 0 : i32} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %mean = tosa.mul %sum, %inverse, %shift : (tensor<1x8xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x8xf32>
  %centred = tosa.sub %x, %mean : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %square = tosa.mul %centred, %centred, %shift : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %squares = tosa.reduce_sum %square {axis = 0 : i32} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %variance = tosa.mul %squares, %inverse, %shift : (tensor<1x8xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x8xf32>
  %safe = tosa.add %variance, %epsilon : (tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
  %root = tosa.rsqrt %safe : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %normal = tosa.mul %centred, %root, %shift : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %scaled = tosa.mul %normal, %gain, %shift : (tensor<4x8xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %moved = tosa.add %scaled, %offset : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{stays float: 'tosa.mul' op ends a layer norm that is not a sum of squared differences over the last axis}}
  %out = tpc.quantize %moved as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<4x8xf32>
  return %out : tensor<4x8xf32>
}

// -----

func.func @large_epsilon(%arg: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %inverse = "tosa.const"() <{values = dense<0.125> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<1.000000e+06> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %gain = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %offset = "tosa.const"() <{values = dense<0.25> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %x = tpc.quantize %arg as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<4x8xf32>
  %sum = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %mean = tosa.mul %sum, %inverse, %shift : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %centred = tosa.sub %x, %mean : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %square = tosa.mul %centred, %centred, %shift : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %squares = tosa.reduce_sum %square {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %variance = tosa.mul %squares, %inverse, %shift : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %safe = tosa.add %variance, %epsilon : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %root = tosa.rsqrt %safe : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %normal = tosa.mul %centred, %root, %shift : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %scaled = tosa.mul %normal, %gain, %shift : (tensor<4x8xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %moved = tosa.add %scaled, %offset : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{stays float: 'tosa.add' op has rows that are too long, or an epsilon that is too large, for sums of 32 bits}}
  %out = tpc.quantize %moved as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<4x8xf32>
  return %out : tensor<4x8xf32>
}

// -----

func.func @large_offset(%arg: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %inverse = "tosa.const"() <{values = dense<0.125> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<1.000000e-03> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %gain = "tosa.const"() <{values = dense<1.000000e-08> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %offset = "tosa.const"() <{values = dense<1.000000e+00> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %x = tpc.quantize %arg as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<4x8xf32>
  %sum = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %mean = tosa.mul %sum, %inverse, %shift : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %centred = tosa.sub %x, %mean : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %square = tosa.mul %centred, %centred, %shift : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %squares = tosa.reduce_sum %square {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %variance = tosa.mul %squares, %inverse, %shift : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %safe = tosa.add %variance, %epsilon : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %root = tosa.rsqrt %safe : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %normal = tosa.mul %centred, %root, %shift : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %scaled = tosa.mul %normal, %gain, %shift : (tensor<4x8xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %moved = tosa.add %scaled, %offset : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{stays float: 'tosa.add' op has an offset that is too large beside its gain for sums of 32 bits}}
  %out = tpc.quantize %moved as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<4x8xf32>
  return %out : tensor<4x8xf32>
}

// -----

func.func @offset_that_is_no_number(%arg: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %inverse = "tosa.const"() <{values = dense<0.125> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<1.000000e-03> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %gain = "tosa.const"() <{values = dense<1.000000e+00> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %offset = "tosa.const"() <{values = dense<0x7FC00000> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %x = tpc.quantize %arg as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<4x8xf32>
  %sum = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %mean = tosa.mul %sum, %inverse, %shift : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %centred = tosa.sub %x, %mean : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %square = tosa.mul %centred, %centred, %shift : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %squares = tosa.reduce_sum %square {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %variance = tosa.mul %squares, %inverse, %shift : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %safe = tosa.add %variance, %epsilon : (tensor<4x1xf32>, tensor<1x1xf32>) -> tensor<4x1xf32>
  %root = tosa.rsqrt %safe : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %normal = tosa.mul %centred, %root, %shift : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %scaled = tosa.mul %normal, %gain, %shift : (tensor<4x8xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %moved = tosa.add %scaled, %offset : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  // expected-remark@below {{stays float: 'tosa.add' op has an offset that is too large beside its gain for sums of 32 bits}}
  %out = tpc.quantize %moved as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<4x8xf32>
  return %out : tensor<4x8xf32>
}
