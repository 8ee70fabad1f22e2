// RUN: mct-opt %s --mct-assign-bit-widths=budget=weights:50% --split-input-file --verify-diagnostics -o /dev/null

#w8 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w8>
#act4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w8>
// expected-error @below {{'func.func' op has no 'tpc.sensitivities'; run mct-measure-sensitivity before}}
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tpc.quantize %x as "x" activation config(#act8) candidates(#tpc.alternatives<of = "x", configs = [#act8, #act4], chosen = 0>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// expected-error @below {{'func.func' op has several blocks, so that its resources are not known}}
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  cf.br ^next
^next:
  return %x : tensor<1x4xf32>
}
