#float = #tpc.attr_quant_config<method = symmetric, bits = 8>
#kernel3 = #tpc.attr_quant_config<method = #toy.logarithmic, bits = 3, per_channel = true, enabled = true>
#log3 = #tpc.op_quant_config<act_method = #toy.logarithmic, act_bits = 3, input_bits = [3], weights = {kernel_attr = #kernel3}, default_weight = #float>

tpc.platform @shifter type("shifter") version 1, 0 default(#tpc.qc_options<[#log3]>)
  operator_sets [#tpc.operator_set<"Conv", options = #tpc.qc_options<[#log3]>>]
tpc.binding @shifter_on_tosa for @shifter [#tpc.ops_of<"Conv", [#tpc.op<"tosa.conv2d">], weights = {kernel_attr = 1}>]
