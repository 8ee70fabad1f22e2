// A table that is there is kept where it was measured as it is asked for, or a person has written it: that one tells of no samples.
// DEFINE: %{measure} = mct-opt %s --split-input-file --verify-diagnostics --mct-measure-sensitivity
// RUN: %{measure}="compare-points=0.5 distance=cosine weighting=hessian metric=mse" | FileCheck %s

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
// CHECK-LABEL: @same
// CHECK-SAME:    tpc.sensitivities = {metric = "mse", of = {x = [0.000000e+00, 1.000000e-01]}, points = {distance = "cosine", fraction = 5.000000e-01 : f64, weighting = "hessian"}, samples = 4 : i64}
func.func @same(%x: tensor<1x2xf32>) -> tensor<1x2xf32>
    attributes {tpc.sensitivities = {metric = "mse", of = {x = [0.0, 0.1]}, samples = 4 : i64, points = {fraction = 0.5, distance = "cosine", weighting = "hessian"}}} {
  %0 = tpc.quantize %x as "x" activation config(#act8) candidates(#tpc.alternatives<of = "x", configs = [#act8, #act4], chosen = 0>) parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
// CHECK-LABEL: @by_hand
// CHECK-SAME:    tpc.sensitivities = {of = {x = [0.000000e+00, 1.000000e-01]}}
func.func @by_hand(%x: tensor<1x2xf32>) -> tensor<1x2xf32> attributes {tpc.sensitivities = {of = {x = [0.0, 0.1]}}} {
  %0 = tpc.quantize %x as "x" activation config(#act8) candidates(#tpc.alternatives<of = "x", configs = [#act8, #act4], chosen = 0>) parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
