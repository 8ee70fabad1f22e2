// A softmax that has no integer form.
// RUN: mct-opt %s --mct-lower-to-integer="softmax=integer" --split-input-file --verify-diagnostics

func.func @main(%x: tensor<1x600xf32>) -> tensor<1x600xf32> {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %a = tpc.quantize %x as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x600xf32>
  %m = tosa.reduce_max %a {axis = 1 : i32} : (tensor<1x600xf32>) -> tensor<1x1xf32>
  %d = tosa.sub %a, %m : (tensor<1x600xf32>, tensor<1x1xf32>) -> tensor<1x600xf32>
  %e = tosa.exp %d : (tensor<1x600xf32>) -> tensor<1x600xf32>
  %t = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<1x600xf32>) -> tensor<1x1xf32>
  %i = tosa.reciprocal %t : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %r = tosa.mul %e, %i, %s : (tensor<1x600xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x600xf32>
  // expected-remark @below {{stays float: 'tosa.mul' op has more than 511 values, or values of more than 8 bits}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x600xf32>
  return %out : tensor<1x600xf32>
}

// -----

func.func @main(%a: tensor<1x600xf32>) -> tensor<1x600xf32> {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = tosa.reduce_max %a {axis = 1 : i32} : (tensor<1x600xf32>) -> tensor<1x1xf32>
  %d = tosa.sub %a, %m : (tensor<1x600xf32>, tensor<1x1xf32>) -> tensor<1x600xf32>
  %e = tosa.exp %d : (tensor<1x600xf32>) -> tensor<1x600xf32>
  %t = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<1x600xf32>) -> tensor<1x1xf32>
  %i = tosa.reciprocal %t : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %r = tosa.mul %e, %i, %s : (tensor<1x600xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x600xf32>
  // expected-remark @below {{stays float: 'tosa.mul' op reads an input that is not quantized}}
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x600xf32>
  return %out : tensor<1x600xf32>
}
