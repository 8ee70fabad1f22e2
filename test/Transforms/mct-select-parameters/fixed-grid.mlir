// RUN: mct-opt %s --mct-select-parameters="remarks=true" --verify-diagnostics | FileCheck %s

// A grid that the target has for every network is not searched for, whatever
// the statistics say.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#probability = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], fixed_scale = 0.00390625, fixed_zero_point = -128, default_weight = #w>
#unsigned = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], signedness = unsigned, fixed_scale = 0.00390625, fixed_zero_point = 3, default_weight = #w>
#symmetric = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], fixed_scale = 0.0078125, fixed_zero_point = 0, default_weight = #w>
#positive = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], fixed_scale = 0.0078125, fixed_zero_point = -128, default_weight = #w>
#odd = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], fixed_scale = 0.0625, fixed_zero_point = 127, default_weight = #w>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // The zero point of signed integers; ours count from 0.
  // CHECK: as "softmax" {{.*}} parameters(#tpc.uniform<scale = [3.906250e-03], zero_point = [0], bits = 8>) selection(#tpc.selection<error_method = given
  // expected-remark @below {{'softmax' takes the grid that its target fixes}}
  %0 = tpc.quantize %x as "softmax" activation config(#probability) statistics(#tpc.statistics<count = 3905, zeros = 0, min = 0.25, max = 15.5, histogram = #tpc.histogram<step_exponent = -8, first = 64, counts = dense<1> : tensor<3905xi64>>>) : tensor<4xf32>
  // CHECK: as "unsigned" {{.*}} parameters(#tpc.uniform<scale = [3.906250e-03], zero_point = [3], bits = 8>)
  // expected-remark @below {{'unsigned' takes the grid that its target fixes}}
  %1 = tpc.quantize %x as "unsigned" activation config(#unsigned) statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.0, max = 3.0>) : tensor<4xf32>
  // CHECK: as "tanh" {{.*}} parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>)
  // expected-remark @below {{'tanh' takes the grid that its target fixes}}
  %2 = tpc.quantize %x as "tanh" activation config(#symmetric) statistics(#tpc.statistics<count = 4, zeros = 0, min = -0.25, max = 0.25>) : tensor<4xf32>
  // CHECK: as "positive" {{.*}} parameters(#tpc.power_of_two<threshold = [2.000000e+00], bits = 8, is_signed = false>)
  // expected-remark @below {{'positive' takes the grid that its target fixes}}
  %3 = tpc.quantize %x as "positive" activation config(#positive) statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.0, max = 3.0>) : tensor<4xf32>
  // One that the method does not have, and one for numbers of the other sign.
  // CHECK: as "odd" {{.*}} parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>)
  // expected-remark @below {{'odd' is searched for: it has a fixed zero point that no grid of its method has}}
  // expected-remark @below {{covers -1.000000e+00 to 1.000000e+00 without a search}}
  %4 = tpc.quantize %x as "odd" activation config(#odd) range(#tpc.range<-1.0, 1.0>) statistics(#tpc.statistics<count = 4, zeros = 0, min = -0.25, max = 0.0>) : tensor<4xf32>
  // CHECK: as "negative" {{.*}} parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 8>)
  // expected-remark @below {{'negative' is searched for: it has a fixed grid without the sign that its values have}}
  // expected-remark @below {{covers -1.000000e+00 to 1.000000e+00 without a search}}
  %5 = tpc.quantize %x as "negative" activation config(#positive) range(#tpc.range<-1.0, 1.0>) statistics(#tpc.statistics<count = 4, zeros = 0, min = -0.25, max = 0.0>) : tensor<4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
