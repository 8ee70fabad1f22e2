// RUN: mct-opt %s --mct-select-parameters | FileCheck %s

// Points that preserve take the parameters of the one whose values they read,
// whatever their own statistics are; one after the other, and without any.
// CHECK-LABEL: func.func @main
// CHECK:         as "exp" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, is_signed = false>)
// CHECK:         as "max_pool" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, is_signed = false>)
// CHECK:         as "reverse" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, is_signed = false>)
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#moves = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, preserving = true, default_weight = #w>
func.func @main(%x: tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32> {
  %0 = tpc.quantize %x as "exp" activation config(#act8) range(#tpc.range<0.0, 4.0>)
         statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 3.5>) : tensor<1x2x2x1xf32>
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32>
  %2 = tpc.quantize %1 as "max_pool" activation config(#moves)
         statistics(#tpc.statistics<count = 1, zeros = 0, min = 0.5, max = 0.5>) : tensor<1x1x1x1xf32>
  %3 = tosa.reverse %2 {axis = 1 : i32} : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %4 = tpc.quantize %3 as "reverse" activation config(#moves) : tensor<1x1x1x1xf32>
  return %4 : tensor<1x1x1x1xf32>
}
