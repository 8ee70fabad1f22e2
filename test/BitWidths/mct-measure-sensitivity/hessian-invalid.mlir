// RUN: mct-opt %s --mct-measure-sensitivity="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy activation-error-method=no-clipping compare-points=1 weighting=hessian" --split-input-file --verify-diagnostics -o /dev/null

// The sum changes the integers alone, whose gradient is 0 or not defined.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
// expected-error @below {{has no Hessian scores, and no points to compare that change its results; take another weighting, or other compare-points}}
func.func @main(%x: tensor<1x1x1x2xf32>) -> (tensor<1x1x1x2xf32>, tensor<1x1x1x2xi32>) {
  %0 = tpc.quantize %x as "x" activation config(#act8) candidates(#tpc.alternatives<of = "x", configs = [#act8, #act4], chosen = 0>)
    statistics(#tpc.statistics<count = 16, zeros = 4, min = -1.0, max = 2.0>) parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x2xf32>
  %1 = tosa.add %0, %0 : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %2 = tosa.cast %1 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xi32>
  return %0, %2 : tensor<1x1x1x2xf32>, tensor<1x1x1x2xi32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %0 = tpc.quantize %x as "x" activation config(#act8) candidates(#tpc.alternatives<of = "x", configs = [#act8, #act4], chosen = 0>)
    statistics(#tpc.statistics<count = 16, zeros = 4, min = -1.0, max = 2.0>) parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x2xf32>
  %1 = tosa.add %0, %0 : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %empty = tensor.empty() : tensor<1x1x1x2xf32>
  // expected-error @below {{'linalg.abs' op has no rule for its gradient, and lies between an input and a result}}
  %2 = linalg.abs ins(%1 : tensor<1x1x1x2xf32>) outs(%empty : tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %2 : tensor<1x1x1x2xf32>
}
