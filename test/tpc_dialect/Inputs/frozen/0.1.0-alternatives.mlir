#weight_config = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
#weight_config1 = #tpc.attr_quant_config<method = symmetric, bits = 8, enabled = true>
#weight_config2 = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#op_config = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #weight_config}, default_weight = #weight_config2>
#op_config1 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], weights = {kernel_attr = #weight_config1}, default_weight = #weight_config2>
module {
  func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x2xf32> {
    %0 = tpc.quantize %arg0 as "fc" weight "kernel_attr" config(#weight_config) candidates(#tpc.alternatives<of = "fc", configs = [#weight_config1, #weight_config], chosen = 1>) : tensor<1x2xf32>
    %1 = tpc.quantize %0 as "fc" activation config(#op_config) candidates(#tpc.alternatives<of = "fc", configs = [#op_config1, #op_config], chosen = 1>) : tensor<1x2xf32>
    return %1 : tensor<1x2xf32>
  }
}

