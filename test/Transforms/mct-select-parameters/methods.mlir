// RUN: mct-opt %s --mct-select-parameters="error-method=no-clipping" | FileCheck %s
// RUN: mct-opt %s --mct-select-parameters="error-method=mse" | FileCheck %s --check-prefix=MSE

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#pot = #tpc.op_quant_config<act_method = power_of_two, act_bits = 2, input_bits = [8], default_weight = #w>
#sym = #tpc.op_quant_config<act_method = symmetric, act_bits = 2, input_bits = [8], default_weight = #w>
#uni = #tpc.op_quant_config<act_method = uniform, act_bits = 2, input_bits = [8], default_weight = #w>

// All values are 10.0. Without clipping the threshold is 10 or the next power of two, whose levels (0, 2.5, 5, 7.5 or 0,
// 4, 8, 12) miss the value. The symmetric search finds a threshold that has it: 20, with a step of 5.
// CHECK-LABEL: func.func @constant
// MSE-LABEL:   func.func @constant
func.func @constant(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: as "pot" {{.*}} parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 2, is_signed = false>)
  // MSE:   as "pot" {{.*}} parameters(#tpc.power_of_two<threshold = [1.600000e+01], bits = 2, is_signed = false>)
  %0 = tpc.quantize %arg0 as "pot" activation config(#pot)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 10.0, max = 10.0, histogram = #tpc.histogram<step_exponent = -8, first = 2560, counts = dense<4> : tensor<1xi64>>>) : tensor<4xf32>
  // CHECK: as "sym" {{.*}} parameters(#tpc.symmetric<threshold = [1.000000e+01], bits = 2, is_signed = false>)
  // MSE:   as "sym" {{.*}} parameters(#tpc.symmetric<threshold = [2.000000e+01]
  %1 = tpc.quantize %arg0 as "sym" activation config(#sym)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 10.0, max = 10.0, histogram = #tpc.histogram<step_exponent = -8, first = 2560, counts = dense<4> : tensor<1xi64>>>) : tensor<4xf32>
  // CHECK: as "uni" {{.*}} parameters(#tpc.uniform<scale = [3.33333{{[0-9]*}}], zero_point = [0], bits = 2>)
  %2 = tpc.quantize %arg0 as "uni" activation config(#uni)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 10.0, max = 10.0, histogram = #tpc.histogram<step_exponent = -8, first = 2560, counts = dense<4> : tensor<1xi64>>>) : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
