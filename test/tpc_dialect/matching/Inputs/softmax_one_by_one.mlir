// SPDX-License-Identifier: Apache-2.0
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
tpc.platform @chip default(#tpc.qc_options<[#act8]>)
  operator_sets [#tpc.operator_set<"Softmax", one_by_one>]
