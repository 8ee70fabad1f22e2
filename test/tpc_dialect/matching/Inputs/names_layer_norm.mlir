// Like imx500, with layer norms in float.
#attr = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #attr>
#float_result = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], act_enabled = false, default_weight = #attr>

tpc.platform @chip type("chip") version 1, 0 default(#tpc.qc_options<[#act8]>)
  operator_sets [#tpc.operator_set<"LayerNorm", options = #tpc.qc_options<[#float_result]>>]
