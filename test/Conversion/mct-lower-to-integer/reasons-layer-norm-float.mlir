// RUN: mct-opt %s --verify-diagnostics --mct-lower-to-integer -o /dev/null

// One with a point after it alone is float, unless it is asked to be integer.

func.func @main(%arg: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %inverse = "tosa.const"() <{values = dense<0.125> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %epsilon = "tosa.const"() <{values = dense<1.000000e-03> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
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
  // expected-remark@below {{stays float: 'tosa.add' op ends a layer norm; layer-norm=integer makes that integer}}
  %out = tpc.quantize %moved as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<4x8xf32>
  return %out : tensor<4x8xf32>
}
