// RUN: mct-opt %s --mct-lower-to-integer="io=integer softmax=integer batch=0" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// A softmax: exponentials of 22 bits from three tables, and the reciprocal of
// their sum from a table and two steps of Newton's method.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.reduce_max
// CHECK-COUNT-3: tosa.table
// CHECK:         tosa.reduce_sum
// CHECK:         tosa.clz
// CHECK:         tosa.table
// CHECK-NOT:     tosa.intdiv
// CHECK:         tosa.rescale
func.func @main(%x_float: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [8.0], bits = 8, rounding = half_up>) : tensor<4x64xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = tosa.reduce_max %x {axis = 1 : i32} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %d = tosa.sub %x, %m : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %e = tosa.exp %d : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %s = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %i = tosa.reciprocal %s : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = tosa.mul %e, %i, %shift : (tensor<4x64xf32>, tensor<4x1xf32>, tensor<1xi8>) -> tensor<4x64xf32>
  %out = tpc.quantize %y as "out" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<4x64xf32>
  return %out : tensor<4x64xf32>
}
