// RUN: mct-opt %s --mct-refine-thresholds="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy" --split-input-file --verify-diagnostics -o /dev/null

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  // expected-error @below {{'tpc.quantize' op has no parameters; run mct-calibrate, mct-select-parameters and mct-select-weight-parameters before}}
  %0 = tpc.quantize %x as "x" activation config(#act) : tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  // expected-error @below {{'tpc.quantize' op has no statistics; run mct-calibrate before}}
  %0 = tpc.quantize %x as "x" activation config(#act) parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}
