// Codes of arguments have as many bits as their records say: the sum fits into 32 bits because of that.
// RUN: mct-opt %s --mct-lower-to-integer=io=integer --mct-check-integer | FileCheck %s
// CHECK: %arg0: tensor<1x1x1x5xi8> {tpc.quantized = {bits = 4 : i64
func.func @main(%x: tensor<1x1x1x5xf32>, %y: tensor<1x1x1x5xf32>) -> tensor<1x1x1x5xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %a = tpc.quantize %x as "a" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 4, is_signed = true, rounding = half_up>) : tensor<1x1x1x5xf32>
  %b = tpc.quantize %y as "b" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 2, is_signed = false, rounding = half_up>) : tensor<1x1x1x5xf32>
  %sl = "tosa.const"() <{values = dense<[[[[-0.5, 0.0, 1.5, 0.25, 0.1]]]]> : tensor<1x1x1x5xf32>}> : () -> tensor<1x1x1x5xf32>
  %ad = "tosa.const"() <{values = dense<[[[[3.0, 0.1, 1.5, 1.5, 0.1]]]]> : tensor<1x1x1x5xf32>}> : () -> tensor<1x1x1x5xf32>
  %m = tosa.mul %a, %sl, %shift : (tensor<1x1x1x5xf32>, tensor<1x1x1x5xf32>, tensor<1xi8>) -> tensor<1x1x1x5xf32>
  %r = tosa.add %m, %ad : (tensor<1x1x1x5xf32>, tensor<1x1x1x5xf32>) -> tensor<1x1x1x5xf32>
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x1x1x5xf32>
  return %out : tensor<1x1x1x5xf32>
}
