// RUN: mct-opt %s --mct-select-parameters | FileCheck %s
// RUN: mct-opt %s --mct-select-parameters="z-threshold=5" | FileCheck %s --check-prefix=Z

// 63 values about 2.0 and one of -2.0, whose score is 7.9: without it the grid has no negative levels.
// CHECK: parameters(#tpc.power_of_two<threshold = [{{.*}}], bits = 4>)
// Z:     parameters(#tpc.power_of_two<threshold = [{{.*}}], bits = 4, is_signed = false>)
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tpc.quantize %arg0 as "p" activation config(#act4)
    statistics(#tpc.statistics<count = 64, zeros = 0, min = -2.0, max = 2.0, histogram = #tpc.histogram<step_exponent = -10, first = -2048, counts = sparse<[[0], [4096]], [1, 63]> : tensor<4097xi64>>>) : tensor<4xf32>
  return %0 : tensor<4xf32>
}
