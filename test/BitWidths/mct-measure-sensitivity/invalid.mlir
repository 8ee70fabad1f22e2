// RUN: mct-opt %s --mct-measure-sensitivity="calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy activation-error-method=no-clipping compare-points=1" --split-input-file --verify-diagnostics -o /dev/null

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  // expected-error @below {{'tpc.quantize' op has no parameters; run mct-calibrate, mct-select-parameters and mct-select-weight-parameters before}}
  %0 = tpc.quantize %x as "x" activation config(#act8) candidates(#tpc.alternatives<of = "x", configs = [#act8, #act4], chosen = 0>) : tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}

// -----

// expected-error @below {{'func.func' op cannot be measured: its body has several blocks}}
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  cf.br ^next
^next:
  return %x : tensor<1x1x1x2xf32>
}

// -----

func.func private @other(tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  // expected-error @below {{'func.call' op calls another function, and alternatives are measured within one; run the pass inline before}}
  %0 = func.call @other(%x) : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}

// -----

// Integers have no distance of which a sum could be taken.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
// expected-error @below {{no result of the function is a tensor of f32 with a batch, whose change could be measured}}
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1xi32> {
  %0 = tpc.quantize %x as "x" activation config(#act8) candidates(#tpc.alternatives<of = "x", configs = [#act8, #act4], chosen = 0>)
    statistics(#tpc.statistics<count = 16, zeros = 4, min = -1.0, max = 2.0>) parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x2xf32>
  %1 = tosa.argmax %0 {axis = 3 : i32} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1xi32>
  return %1 : tensor<1x1x1xi32>
}

// -----

// A table that is about something else.
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
// expected-error @below {{'func.func' op has 'tpc.sensitivities' with 3 numbers of 'x', which has 2 alternatives; remove it, and run mct-measure-sensitivity again}}
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> attributes {tpc.sensitivities = {of = {x = [0.0, 0.1, 0.2]}}} {
  // expected-note @below {{a point of it is here}}
  %0 = tpc.quantize %x as "x" activation config(#act8) candidates(#tpc.alternatives<of = "x", configs = [#act8, #act4], chosen = 0>) parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
// expected-error @below {{results of the float network are not finite}}
func.func @main(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %0 = tpc.quantize %x as "x" activation config(#act8) candidates(#tpc.alternatives<of = "x", configs = [#act8, #act4], chosen = 0>)
    statistics(#tpc.statistics<count = 16, zeros = 4, min = -1.0, max = 2.0>) parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x2xf32>
  %1 = tosa.log %0 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %1 : tensor<1x1x1x2xf32>
}

// -----

#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
func.func @main(%x: tensor<1x1x1x2xf32>) -> (tensor<1x1x1x2xf32>, tensor<1x1x1x1xi32>) {
  %0 = tpc.quantize %x as "x" activation config(#act8) candidates(#tpc.alternatives<of = "x", configs = [#act8, #act4], chosen = 0>)
    statistics(#tpc.statistics<count = 16, zeros = 4, min = -1.0, max = 2.0>) parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x1x1x2xf32>
  %1 = tosa.cast %0 : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xi32>
  // expected-error @below {{is not a tensor of f32 with the batch first and cannot be compared; measure with compare-points=0}}
  %2 = tosa.add %1, %1 : (tensor<1x1x1x2xi32>, tensor<1x1x1x2xi32>) -> tensor<1x1x1x2xi32>
  %3 = tosa.reduce_sum %2 {axis = 3 : i32} : (tensor<1x1x1x2xi32>) -> tensor<1x1x1x1xi32>
  return %0, %3 : tensor<1x1x1x2xf32>, tensor<1x1x1x1xi32>
}
