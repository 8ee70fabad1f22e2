// A table follows the distribution; the error method and a known range change nothing but the sign.
// RUN: mct-opt %s --mct-select-parameters | FileCheck %s
// RUN: mct-opt %s --mct-select-parameters="error-method=no-clipping" | FileCheck %s

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#table = #tpc.op_quant_config<act_method = lut_pot_quantizer, act_bits = 2, input_bits = [8], default_weight = #w>

// CHECK-LABEL: func.func @main
func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // 3 = 192 / 256 * 4. Nothing was zero, so zero is no entry.
  // CHECK: as "one_value" {{.*}} parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [4.000000e+00], table = [192], bits = 2, is_signed = false>)
  %0 = tpc.quantize %arg0 as "one_value" activation config(#table)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 3.0, max = 3.0, histogram = #tpc.histogram<step_exponent = -10, first = 3072, counts = dense<4> : tensor<1xi64>>>) : tensor<4xf32>
  // CHECK: as "and_zero" {{.*}} table = [0, 192], bits = 2, is_signed = false>)
  %1 = tpc.quantize %arg0 as "and_zero" activation config(#table)
    statistics(#tpc.statistics<count = 4, zeros = 3, min = 0.0, max = 3.0, histogram = #tpc.histogram<step_exponent = -10, first = 3072, counts = dense<1> : tensor<1xi64>>>) : tensor<4xf32>
  // 0.75 = 96 / 128.
  // CHECK: as "known_range" {{.*}} parameters(#tpc.lookup_table<method = lut_pot_quantizer, threshold = [1.000000e+00], table = [96], bits = 2>)
  %2 = tpc.quantize %arg0 as "known_range" activation config(#table) range(#tpc.range<-8.0, 8.0>)
    statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.75, max = 0.75, histogram = #tpc.histogram<step_exponent = -12, first = 3072, counts = dense<4> : tensor<1xi64>>>) : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
