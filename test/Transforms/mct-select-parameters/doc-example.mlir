// RUN: mct-opt %s --mct-select-parameters | FileCheck %s

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
// A zero and three times 6.0, whose bin begins at 3072 / 512. 8.0 is the smallest power of two that covers them; nothing
// was negative.
// CHECK-LABEL: func.func @main
// CHECK:         tpc.quantize {{.*}} as "relu6"
// CHECK-SAME:      parameters(#tpc.power_of_two<threshold = [8.000000e+00], bits = 8, is_signed = false>)
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.clamp %arg0 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tpc.quantize %0 as "relu6" activation config(#act8)
    statistics(#tpc.statistics<count = 4, zeros = 1, min = 0.0, max = 6.0,
      histogram = #tpc.histogram<step_exponent = -9, first = 3072, counts = dense<3> : tensor<1xi64>>>) : tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
