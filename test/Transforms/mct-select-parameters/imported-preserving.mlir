// RUN: mct-opt %s --mct-select-parameters --verify-diagnostics | FileCheck %s

// An imported point whose operator keeps the grid of its operand takes that
// grid; a warning says so where it is another one.
// CHECK-LABEL: func.func @main
// CHECK:         as "exp" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, is_signed = false>)
// CHECK:         as "same" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, is_signed = false>) selection(#tpc.selection<error_method = imported>)
// CHECK:         as "pool" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, is_signed = false>)
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#moves = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, preserving = true, default_weight = #w>
func.func @main(%x: tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32> {
  %0 = tpc.quantize %x as "exp" activation config(#act8) range(#tpc.range<0.0, 4.0>)
         statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 3.5>) : tensor<1x2x2x1xf32>
  %1 = tosa.reverse %0 {axis = 1 : i32} : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %2 = tpc.quantize %1 as "same" activation config(#moves)
         parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false>) selection(#tpc.selection<error_method = imported>) : tensor<1x2x2x1xf32>
  %3 = tosa.max_pool2d %2 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32>
  // expected-warning @below {{the target cannot hold the parameters that 'pool' has in its file: it keeps the grid of its operand; they become those of 'same'}}
  // expected-note @below {{they are #tpc.power_of_two<threshold = [2.000000e+00], bits = 8, is_signed = false>; take a target where such an operator has a grid of its own}}
  %4 = tpc.quantize %3 as "pool" activation config(#moves)
         parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false>) selection(#tpc.selection<error_method = imported>) : tensor<1x1x1x1xf32>
  return %4 : tensor<1x1x1x1xf32>
}
