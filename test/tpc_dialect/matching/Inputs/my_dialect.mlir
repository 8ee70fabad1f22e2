// SPDX-License-Identifier: Apache-2.0
//
// A chip, and how its operators are spelled in a dialect that is registered nowhere.

#float = #tpc.attr_quant_config<method = symmetric, bits = 32>
#kernel = #tpc.attr_quant_config<method = symmetric, bits = 4, per_channel = true, enabled = true>
#table = #tpc.attr_quant_config<method = power_of_two, bits = 8, enabled = true>
#act8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], default_weight = #float>
#conv8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], weights = {kernel_attr = #kernel}, default_weight = #float>
#lookup8 = #tpc.op_quant_config<act_method = uniform, act_bits = 8, input_bits = [8], weights = {table_attr = #table}, default_weight = #float>

tpc.platform @my_chip default(#tpc.qc_options<[#act8]>) operator_sets [
  #tpc.operator_set<"Conv", options = #tpc.qc_options<[#conv8]>>,
  #tpc.operator_set<"Lookup", options = #tpc.qc_options<[#lookup8]>>,
  #tpc.operator_set<"ReLU">
] fusing [#tpc.fusing<["Conv", "ReLU"]>]
tpc.binding @on_mine for @my_chip [
  #tpc.ops_of<"Conv", [#tpc.op<"mine.conv" where groups eq 1>]>,
  #tpc.ops_of<"Lookup", [#tpc.op<"mine.lookup">], weights = {table_attr = 1}>,
  #tpc.ops_of<"ReLU", [#tpc.op<"mine.relu">]>
]
tpc.framework @mine [
  #tpc.op_info<"mine.conv", kernel = 1, out_axes = [3], in_axis = 2, result_axis = -1>,
  #tpc.op_info<"mine.relu", range = [0.0, ?]>,
  #tpc.op_info<"mine.index", quantize = false>
]
