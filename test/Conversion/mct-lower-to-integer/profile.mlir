// RUN: mct-opt %s --mct-lower-to-integer="io=integer softmax=integer profile=ethos-u85" | FileCheck %s
// RUN: mct-opt %s --mct-lower-to-integer="io=integer softmax=integer profile=ethos-u55" | FileCheck %s
// RUN: not mct-opt %s --mct-lower-to-integer="io=integer softmax=integer rounding=half-even profile=ethos-u55" 2>&1 | FileCheck %s --check-prefix=EVEN
// RUN: not mct-opt %S/doc-example.mlir --mct-lower-to-integer="profile=pro_int" 2>&1 | FileCheck %s --check-prefix=FLOAT

// A softmax runs on both devices; what rounds its codes to even does not on the
// smaller one. Float arguments are converted by float ops.
// CHECK: tosa.clz
// EVEN: error: 'tosa.bitwise_and' op computes with bits, which ethos-u55 cannot
// EVEN: note: round halves up, which a rescale alone does
// EVEN: error: 'tosa.select' op computes with conditions, which ethos-u55 cannot
// EVEN: note: write a maximum, a minimum, a clamp or a table instead
// FLOAT: error: 'tosa.mul' op computes with floating-point numbers, which pro_int cannot
// FLOAT: note: io=integer leaves arguments and results as codes; quantize what is float even then, or split the network before it
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %a = tpc.quantize %x as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x8xf32>
  %m = tosa.reduce_max %a {axis = 1 : i32} : (tensor<1x8xf32>) -> tensor<1x1xf32>
  %d = tosa.sub %a, %m : (tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
  %e = tosa.exp %d : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %t = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<1x8xf32>) -> tensor<1x1xf32>
  %i = tosa.reciprocal %t : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %r = tosa.mul %e, %i, %s : (tensor<1x8xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<1x8xf32>
  %out = tpc.quantize %r as "out" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x8xf32>
  return %out : tensor<1x8xf32>
}
