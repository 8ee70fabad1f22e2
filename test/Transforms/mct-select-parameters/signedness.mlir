// RUN: mct-opt %s --mct-select-parameters="error-method=no-clipping" | FileCheck %s

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#auto = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#signed = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], signedness = signed, default_weight = #w>
#unsigned = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], signedness = unsigned, default_weight = #w>

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: as "saw_negative" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8>)
  %0 = tpc.quantize %arg0 as "saw_negative" activation config(#auto)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 3.0>) : tensor<4xf32>
  // CHECK: as "saw_none" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, is_signed = false>)
  %1 = tpc.quantize %arg0 as "saw_none" activation config(#auto)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 3.0>) : tensor<4xf32>
  // CHECK: as "target_says_signed" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8>)
  %2 = tpc.quantize %arg0 as "target_says_signed" activation config(#signed)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 3.0>) : tensor<4xf32>
  // CHECK: as "target_says_unsigned" {{.*}} is_signed = false
  %3 = tpc.quantize %arg0 as "target_says_unsigned" activation config(#unsigned)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 3.0>) : tensor<4xf32>
  // A known range wins over the data: tanh may go below zero even if these samples did not.
  // CHECK: as "known_range" {{.*}} parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>)
  %4 = tpc.quantize %arg0 as "known_range" activation config(#auto) range(#tpc.range<-1.0, 1.0>)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 0.75>) : tensor<4xf32>
  // One bound alone does not replace the data.
  // CHECK: as "half_known_range" {{.*}} parameters(#tpc.power_of_two<threshold = [4.000000e+00], bits = 8, is_signed = false>)
  %5 = tpc.quantize %arg0 as "half_known_range" activation config(#auto) range(#tpc.range<0.0, ?>)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 3.0>) : tensor<4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
