// RUN: mct-opt %s --mct-simulate-integers | FileCheck %s
// RUN: mct-opt %s --mct-simulate-integers --mct-lower-to-integer="io=integer" | FileCheck %s --check-prefix=INTEGER

// A mean that is said to preserve what it reads has the grid of that, also
// where that was changed later, and so it is a mean of codes.
// CHECK-LABEL: func.func @main
// CHECK:         as "mean" {{.*}} parameters(#tpc.power_of_two<threshold = [2.000000e+00], bits = 8, is_signed = false, rounding = half_up>)
// INTEGER:       tosa.avg_pool2d {{.*}} -> tensor<1x1x1x2xi8>
// INTEGER-NEXT:  return
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#moves = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, preserving = true, default_weight = #w>
func.func @main(%x: tensor<1x2x2x2xf32>) -> tensor<1x1x1x2xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false>) : tensor<1x2x2x2xf32>
  %1 = tosa.avg_pool2d %0, %z, %z {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %2 = tpc.quantize %1 as "mean" activation config(#moves) parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, is_signed = false>) : tensor<1x1x1x2xf32>
  return %2 : tensor<1x1x1x2xf32>
}
