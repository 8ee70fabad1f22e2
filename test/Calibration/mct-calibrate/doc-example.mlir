// RUN: mct-opt %s --mct-calibrate="calibration-data=%S/Inputs/two_samples.npy" | FileCheck %s

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
// The samples are [0, 0, 0.5, -1] and [0.25, 0, 0, 1]; the exponentials are 1 (four times), e^0.5, e^-1, e^0.25 and e.
// CHECK-LABEL: func.func @main
// CHECK:         tpc.quantize {{.*}} as "exp"
// CHECK-SAME:      statistics(#tpc.statistics<count = 8, zeros = 0, min = 0.36787{{[0-9]*}}, max = 2.71828{{[0-9]*}},
// CHECK-SAME:      histogram = #tpc.histogram<step_exponent = -10,
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tpc.quantize %0 as "exp" activation config(#act8) : tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
