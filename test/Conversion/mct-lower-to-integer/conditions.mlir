// RUN: mct-opt %s --split-input-file --mct-lower-to-integer="io=integer" | FileCheck %s

// What no code of x can be: conditions that are never met, and the other branch alone. So PyTorch's attention masks rows
// that are minus infinity everywhere.

// CHECK-LABEL: func.func @never
// CHECK-NOT:     tosa.equal
// CHECK-NOT:     tosa.select
// CHECK:         return
func.func @never(%arg: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %x = tpc.quantize %arg as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<2x8xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<2x8xf32>}> : () -> tensor<2x8xf32>
  %infinite = "tosa.const"() <{values = dense<0xFFF0000000000000> : tensor<1x1xf64>}> : () -> tensor<1x1xf64>
  %between = "tosa.const"() <{values = dense<3.000000e-01> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %wide = tosa.cast %x : (tensor<2x8xf32>) -> tensor<2x8xf64>
  %equal = tosa.equal %wide, %infinite : (tensor<2x8xf64>, tensor<1x1xf64>) -> tensor<2x8xi1>
  %all = tosa.reduce_all %equal {axis = 1 : i32} : (tensor<2x8xi1>) -> tensor<2x1xi1>
  %masked = tosa.select %all, %zero, %x : (tensor<2x1xi1>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %0 = tpc.quantize %masked as "masked" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<2x8xf32>
  %met = tosa.equal %between, %x : (tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xi1>
  %other = tosa.logical_not %met : (tensor<2x8xi1>) -> tensor<2x8xi1>
  %kept = tosa.select %other, %x, %zero : (tensor<2x8xi1>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = tpc.quantize %kept as "kept" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<2x8xf32>
  return %0, %1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// 0.25 is a code, and compared with.
// CHECK-LABEL: func.func @sometimes
// CHECK:         tosa.equal {{.*}} -> tensor<2x8xi1>
// CHECK:         tosa.select {{.*}} -> tensor<2x8xi8>
func.func @sometimes(%arg: tensor<2x8xf32>, %arg1: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %x = tpc.quantize %arg as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<2x8xf32>
  %y = tpc.quantize %arg1 as "y" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<2x8xf32>
  %code = "tosa.const"() <{values = dense<2.500000e-01> : tensor<1x1xf64>}> : () -> tensor<1x1xf64>
  %wide = tosa.cast %x : (tensor<2x8xf32>) -> tensor<2x8xf64>
  %met = tosa.equal %wide, %code : (tensor<2x8xf64>, tensor<1x1xf64>) -> tensor<2x8xi1>
  %masked = tosa.select %met, %y, %x : (tensor<2x8xi1>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %0 = tpc.quantize %masked as "masked" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// So with a condition that is constant.
// CHECK-LABEL: func.func @constant
// CHECK-NOT:     tosa.select
// CHECK:         return
func.func @constant(%arg: tensor<2x8xf32>, %arg1: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %x = tpc.quantize %arg as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<2x8xf32>
  %y = tpc.quantize %arg1 as "y" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<2x8xf32>
  %met = "tosa.const"() <{values = dense<true> : tensor<1x1xi1>}> : () -> tensor<1x1xi1>
  %chosen = tosa.select %met, %y, %x : (tensor<1x1xi1>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %0 = tpc.quantize %chosen as "chosen" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
