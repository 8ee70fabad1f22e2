// RUN: mct-opt %s --mct-select-parameters | FileCheck %s --check-prefixes=CHECK,MSE
// RUN: mct-opt %s --mct-select-parameters=error-method=mae | FileCheck %s --check-prefixes=CHECK,MAE
// RUN: mct-opt %s --mct-select-parameters="error-method=lp lp-norm=3" | FileCheck %s --check-prefixes=CHECK,L3
// RUN: mct-opt %s --mct-select-parameters=error-method=kl | FileCheck %s --check-prefixes=CHECK,KL
// RUN: mct-opt %s --mct-select-parameters=error-method=octav | FileCheck %s --check-prefixes=CHECK,OCTAV
// RUN: mct-opt %s --mct-select-parameters="error-method=percentile percentile=50" | FileCheck %s --check-prefixes=CHECK,PERCENTILE

// What the selection achieved stands beside the parameters, without remarks as well. Four times 10.0; power of two,
// 2 bits: 16 has the levels 0, 4, 8, 12, 8 has 0 to 6 and 32 has 0, 8, 16: 2 off at best.
// CHECK-LABEL: func.func @main
// CHECK:       as "pot"
// MSE-SAME:      selection(#tpc.selection<error_method = mse, error = [4.000000e+00], certificate = exact>)
// MAE-SAME:      selection(#tpc.selection<error_method = mae, error = [2.000000e+00], certificate = exact>)
// L3-SAME:       selection(#tpc.selection<error_method = lp, norm = 3.000000e+00, error = [8.000000e+00], certificate = exact>)
// KL-SAME:       selection(#tpc.selection<error_method = kl, error = [0.000000e+00], certificate = exact>)
// OCTAV-SAME:    selection(#tpc.selection<error_method = octav, error = [4.000000e+00]>)
// PERCENTILE-SAME: selection(#tpc.selection<error_method = percentile, percentile = 5.000000e+01, error = [4.000000e+00]>)
// CHECK:       as "tanh"
// CHECK-SAME:    selection(#tpc.selection<error_method = range, covers = [-1.000000e+00, 1.000000e+00]>)
// CHECK:       as "table"
// CHECK-SAME:    selection(#tpc.selection<error_method = mse, error = [{{.*}}], certificate = exact_at_threshold>)
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#pot = #tpc.op_quant_config<act_method = power_of_two, act_bits = 2, input_bits = [8], default_weight = #w>
#table = #tpc.op_quant_config<act_method = lut_pot_quantizer, act_bits = 2, input_bits = [8], default_weight = #w>
#tens = #tpc.statistics<count = 4, zeros = 0, min = 10.0, max = 10.0, histogram = #tpc.histogram<step_exponent = -8, first = 2560, counts = dense<4> : tensor<1xi64>>>
func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = tpc.quantize %arg0 as "pot" activation config(#pot) statistics(#tens) : tensor<4xf32>
  %1 = tpc.quantize %arg0 as "tanh" activation config(#pot) range(#tpc.range<-1.0, 1.0>)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 0.75>) : tensor<4xf32>
  %2 = tpc.quantize %arg0 as "table" activation config(#table) statistics(#tens) : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
